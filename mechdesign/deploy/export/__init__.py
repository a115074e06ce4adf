"""Samplers of a table in other languages: sources without dependencies, and test vectors they must reproduce."""

from mechdesign.deploy.export.languages import LANGUAGES, Difference, export_table, source_difference

__all__ = ["LANGUAGES", "Difference", "export_table", "source_difference"]
