"""What is proved of optima, put together from the `guarantee.md` beside every proof."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from mechdesign.methods.registry import EVIDENCE


def text() -> str:
    """Markdown: the guarantees of every folder with a proof, in the order of the registry."""
    folders = dict.fromkeys(Path(str(import_module(kind.__module__).__file__)).parent for kind in EVIDENCE)
    pages = (folder / "guarantee.md" for folder in folders)
    said = [page.read_text(encoding="utf-8") for page in pages if page.exists()]
    claims = ", ".join(f"`{kind.__module__}.{kind.__name__}` (kind `{kind.kind}`)" for kind in EVIDENCE if kind.claimed)
    return "\n".join([*said, _CLAIMED.replace("KINDS", claims)])


_CLAIMED = Path(__file__).with_name("claimed.txt").read_text(encoding="utf-8")


def write_page(app: Sphinx) -> None:
    path = Path(app.srcdir) / "guarantees_of_methods.txt"
    if not path.exists() or path.read_text(encoding="utf-8") != text():
        path.write_text(text(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
