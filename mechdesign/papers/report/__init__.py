"""The papers' numbers beside ours as a folder to be shown: a page, a table, and what was computed, claim by claim.

`part_of` computes what the folder does not hold yet and keeps each claim as soon as it is done, so that a run that was
killed goes on where it stopped. `write` makes the page and the table of what there is.
"""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.papers.report.folder import (
        PAGE as PAGE,
        PARTS as PARTS,
        TABLE as TABLE,
        make as make,
        part_of as part_of,
        require_folder as require_folder,
        write as write,
    )
    from mechdesign.papers.report.parts import Part as Part, keep as keep, kept as kept
    from mechdesign.papers.report.tables import (
        lines_of as lines_of,
        markdown as markdown,
        spreadsheet as spreadsheet,
        summary as summary,
    )
else:
    __getattr__, __dir__ = facade(__name__)
