"""The gallery's pages, made from the package `mechdesign.gallery`: statement, the two numbers, picture, program.

A picture is drawn again only if its file has changed. Without the package the index says that there is nothing yet.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)
_SIZE = 7.0, 4.2


def write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "gallery" / "pages"
    folder.mkdir(parents=True, exist_ok=True)
    # Until the gallery is part of the package on every branch, its pages are left out where it is missing.
    if importlib.util.find_spec("mechdesign.gallery") is None:
        _replace(folder / "index.txt", "The gallery is not part of this version of the package.\n")
        return
    from mechdesign import gallery

    index = []
    for chapter, names in gallery.CHAPTERS:
        index += [f"## {chapter}", "", "```{toctree}", ":hidden:", *(f"pages/{name}" for name in names), "```", ""]
        index += ["::::{div} cards"]
        for name in names:
            entry = gallery.entry(name)
            _LOGGER.info("gallery: %s", name)
            _replace(folder / f"{name}.md", _page(entry, folder))
            picture = f"[![](pages/{name}.png)](pages/{name}.md)"
            index += [":::{div} card", picture, "", f"[{_in_markdown(entry.title)}](pages/{name}.md)", ":::"]
        index += ["::::", ""]
    _replace(folder / "index.txt", "\n".join(index))


def _page(entry: Any, folder: Path) -> str:
    ours, reference, printed = _numbers(entry, folder)
    _, _, more = entry.statement.partition("\n")
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
            f"The two agree: {entry.exhibit().TOLERANCE}. The test suite checks it.",
            "",
            f"![The picture of {entry.name}]({entry.name}.png)",
            "",
            "## The program",
            "",
            "```python",
            entry.source.strip(),
            "```",
            "",
        ]
    )


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

    exhibit = entry.exhibit()
    ours, reference = (f"{float(value):.10g}" for value in exhibit.answer())
    printed = "None" if entry.printed is None else f"{float(entry.printed):.10g}"
    figure = Figure(figsize=_SIZE, layout="constrained")
    exhibit.picture(figure.subplots())
    figure.savefig(picture, dpi=110)
    kept.write_text("\n".join([stamp, ours, reference, printed]) + "\n", encoding="utf-8")
    return ours, reference, printed


def _replace(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
