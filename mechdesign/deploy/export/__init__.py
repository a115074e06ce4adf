"""Samplers of a table in other languages: sources without dependencies, and test vectors they must reproduce."""

from mechdesign.deploy.export.languages import LANGUAGES, export_table

__all__ = ["LANGUAGES", "export_table"]
