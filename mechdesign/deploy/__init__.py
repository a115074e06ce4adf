"""What leaves the notebook: tables of whole numbers, their file, their checker, and samplers from OS randomness."""

from mechdesign.deploy.channels import Repaired, repair
from mechdesign.deploy.table import BITS, Table, load_table, make_table

__all__ = ["BITS", "Repaired", "Table", "load_table", "make_table", "repair"]
