"""The glossary's page, made from `mechdesign.glossary`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from mechdesign.glossary import KINDS, NONE, Entry, of_kind


def text() -> str:
    """Markdown: a section a kind, a definition a name."""
    lines = []
    for kind in KINDS:
        lines += [f"## {kind[0].upper()}{kind[1:]}", "", *(line for found in of_kind(kind) for line in _entry(found))]
    return "\n".join(lines)


def _entry(found: Entry) -> list[str]:
    also = f", also `{'`, `'.join(found.also)}`" if found.also else ""
    formula = [f"  Law: `{found.formula}`.", ""] if found.formula != NONE else []
    use = [f"  Good for: {found.good_for}.", ""] if found.good_for != NONE else []
    source = [f"  *{found.citation}*.", ""] if found.citation != NONE else []
    return [
        f"(name-{found.name.replace(' ', '-')})=",
        "",
        f"`{found.name}` ({found.title}{also})",
        f": {found.what}",
        "",
        *formula,
        *use,
        *source,
    ]


def write_page(app: Sphinx) -> None:
    path = Path(app.srcdir) / "reference" / "glossary_entries.txt"
    if not path.exists() or path.read_text(encoding="utf-8") != text():
        path.write_text(text(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
