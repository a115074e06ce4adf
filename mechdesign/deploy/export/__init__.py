"""Samplers of a table in other languages: sources without dependencies or packages, and vectors they reproduce."""

from mechdesign.deploy.export.languages import LANGUAGES, Difference, export_table, source_difference
from mechdesign.deploy.export.packages import PACKAGED, PackageDifference, export_package, package_difference

__all__ = [
    "LANGUAGES",
    "PACKAGED",
    "Difference",
    "PackageDifference",
    "export_package",
    "export_table",
    "package_difference",
    "source_difference",
]
