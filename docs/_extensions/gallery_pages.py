"""The gallery's pages, made from the package `mechdesign.papers.gallery`: statement, the two numbers, picture, program.

A picture is drawn again only if its file has changed.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)
_SIZE = 7.0, 4.2


def write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "gallery" / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    from mechdesign.papers import gallery

    index = []
    for chapter, names in gallery.CHAPTERS:
        index += [f"## {chapter}", "", "```{toctree}", ":hidden:", *(f"pages/{name}" for name in names), "```", ""]
        index += ["::::{container} cards"]
        for name in names:
            entry = gallery.entry(name)
            _LOGGER.info("gallery: %s", name)
            _replace(folder / f"{name}.md", _page(entry, folder))
            picture = f"[![](pages/{name}.png)](pages/{name}.md)"
            index += [":::{container} card", picture, "", f"[{_in_markdown(entry.title)}](pages/{name}.md)", ":::"]
        index += ["::::", ""]
    _keep_only(folder, [name for _, names in gallery.CHAPTERS for name in names])
    _replace(folder / "index.txt", "\n".join(index))


def _keep_only(folder: Path, names: Collection[str]) -> None:
    """Remove the pages of files that are gone."""
    for path in folder.glob("*.md"):
        if path.stem not in names:
            path.unlink()


def _page(entry: Any, folder: Path) -> str:
    ours, reference, printed = _numbers(entry, folder)
    _, _, more = entry.statement.partition("\n")
    tolerance = entry.exhibit().TOLERANCE
    relation = "is" if tolerance.relation == "is" else f"is {tolerance.relation}"
    rows = ["| what | number |", "|---|---|", f"| computed here | {ours} |", f"| held against | {reference} |"]
    if printed != "None":
        rows.append(f"| printed in the literature | {printed} |")
    return "\n".join(
        [
            f"# {_in_markdown(entry.title.rstrip('.'))}",
            "",
            "```{eval-rst}",
            more.strip(),
            "```",
            "",
            *rows,
            "",
            f"The test suite asserts that the number computed {relation} the one it is held against, up to a share of",
            f"{tolerance.share:g} of it.",
            "",
            f"![The picture of {entry.name}]({entry.name}.png)",
            "",
            "## The program",
            "",
            "```python",
            _program(entry.source),
            "```",
            "",
        ]
    )


def _program(source: str) -> str:
    """The file without its docstring, which stands above it on the page."""
    statement = ast.parse(source).body[0]
    return "\n".join(source.splitlines()[statement.end_lineno :]).strip()


def _in_markdown(text: str) -> str:
    """Docstrings set code in two backticks or one; in Markdown one does."""
    return text.replace("``", "`")


def _numbers(entry: Any, folder: Path) -> tuple[str, str, str]:
    """What the file answers, and its picture beside: computed where the file has changed since."""
    stamp = hashlib.sha256(entry.source.encode()).hexdigest()
    kept, picture = folder / f"{entry.name}.numbers", folder / f"{entry.name}.png"
    if kept.exists() and picture.exists():
        before, *numbers = kept.read_text(encoding="utf-8").splitlines()
        if before == stamp:
            return numbers[0], numbers[1], numbers[2]
    from matplotlib.figure import Figure

    outcome = entry.judge()
    if not outcome.agrees:
        _LOGGER.warning("gallery: %s does not agree with its reference", entry.name)
    known = (outcome.ours, outcome.reference, outcome.printed)
    ours, reference, printed = ("None" if number is None else f"{number:.10g}" for number in known)
    figure = Figure(figsize=_SIZE, layout="constrained")
    entry.exhibit().picture(figure.subplots())
    figure.savefig(picture, dpi=110)
    kept.write_text("\n".join([stamp, ours, reference, printed]) + "\n", encoding="utf-8")
    return ours, reference, printed


def _replace(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
