"""The papers' numbers beside ours as a folder to be shown: a page, a table, and what was computed, claim by claim.

`part_of` computes what the folder does not hold yet and keeps each claim as soon as it is done, so that a run that was
killed goes on where it stopped. `write` makes the page and the table of what there is.
"""

from mechdesign.report.folder import PAGE, PARTS, TABLE, make, part_of, require_folder, write
from mechdesign.report.parts import Part, keep, kept
from mechdesign.report.tables import lines_of, markdown, spreadsheet, summary

__all__ = [
    "PAGE",
    "PARTS",
    "TABLE",
    "Part",
    "keep",
    "kept",
    "lines_of",
    "make",
    "markdown",
    "part_of",
    "require_folder",
    "spreadsheet",
    "summary",
    "write",
]
