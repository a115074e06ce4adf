"""The notebooks as pages of the site, executed: prose, programs, what these printed and drew.

A notebook is executed again only if it has changed; ``make notebooks`` executes all of them anew.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "notebooks"))

import execute


def write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "notebooks"
    pages = folder / "pages"
    sources = sorted(execute.FOLDER.glob("*.ipynb"))
    failed = execute.failing([one for one in sources if not execute.is_current(one, pages / one.name)], pages)
    if failed:
        raise ExtensionError(f"{', '.join(failed)}: does not run; cell and error stand above")
    for page in pages.glob("*.ipynb"):
        if page.name not in {source.name for source in sources}:
            page.unlink()
    (folder / "pages.txt").write_text("\n".join(_index(sources)), encoding="utf-8")


def _index(sources: list[Path]) -> list[str]:
    lines = ["```{toctree}", ":hidden:", *(f"pages/{source.stem}" for source in sources), "```", ""]
    return [*lines, *(f"- [{_title(source)}](pages/{source.name})" for source in sources), ""]


def _title(source: Path) -> str:
    first = nbformat.read(source, as_version=4).cells[0].source
    return first.splitlines()[0].lstrip("# ")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
