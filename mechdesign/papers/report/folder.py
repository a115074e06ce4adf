"""The folder of a report: parts as they are computed, and the page and the table made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mechdesign import plot
from mechdesign.errors import FileProblem
from mechdesign.papers.claims.claim import Claim, judge
from mechdesign.papers.report.page import page
from mechdesign.papers.report.parts import Part, keep, kept
from mechdesign.papers.report.tables import markdown
from mechdesign.values import files

PAGE, TABLE, PARTS = "index.html", "report.md", "parts"
_INCHES, _DOTS_PER_INCH, _TITLE_POINTS = (5.2, 3.6), 140, 10


def require_folder(folder: Path, *, overwrite: bool = False) -> None:
    """Refuse what is no place for a report: a file, or a folder with other things in it."""
    if folder.is_dir():
        is_report = (folder / PARTS).is_dir()
        if not overwrite and not is_report and any(folder.iterdir()):
            rule = "be new, empty, or the folder of an earlier report"
            raise FileProblem("output folder", str(folder), rule, "choose another name or pass --force")
        files.require_writable(folder / PAGE, overwrite=True)
    else:
        files.require_writable(folder)


def make(folder: Path) -> None:
    """The folder and the place of its parts."""
    try:
        (folder / PARTS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"have a folder {PARTS} in it: {(error.strerror or str(error)).lower()}"
        raise FileProblem("output folder", str(folder), rule, files.remedy(error, "choose another name")) from None


def part_of(claim: Claim, folder: Path) -> Part:
    """What was computed for a claim: as the folder holds it already; if it does not, it is computed and kept."""
    found = kept(claim, folder / PARTS)
    if found is not None:
        return found
    part = Part(judge(claim), picture_of(claim))
    keep(part, folder / PARTS)
    return part


def picture_of(claim: Claim) -> bytes | None:
    """The picture of a claim as a PNG file, if it has one."""
    if claim.picture is None:
        return None
    figure = plot.drawn_by(claim.picture)
    figure.set_size_inches(*_INCHES)
    for axes in figure.axes:
        axes.title.set_fontsize(_TITLE_POINTS)
    plot.fit_titles(figure)
    return plot.rendered(figure, "png", _DOTS_PER_INCH)


def write(parts: Sequence[Part], folder: Path, missing: Sequence[tuple[Claim, str]]) -> None:
    """The page and the table of these parts; ``missing`` are the claims that are not among them, and why."""
    taken = [part.outcome.claim.key for part in parts if part.is_taken]
    table = markdown([part.outcome for part in parts], missing, taken)
    files.write_atomically(folder / TABLE, table.encode(), overwrite=True)
    files.write_atomically(folder / PAGE, page(parts, missing).encode(), overwrite=True)
