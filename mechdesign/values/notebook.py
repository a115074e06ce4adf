"""What notebooks show of a value: its words, and its picture where one can be drawn."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def page(words: str, picture: Callable[[], Figure] | None = None) -> str:
    """Words as they are, and the picture under them as a PNG that is part of the page; without one if it fails.

    >>> page("a < b")
    '<pre>a &lt; b</pre>'
    """
    said = f"<pre>{html.escape(words)}</pre>"
    if picture is None:
        return said
    file = io.BytesIO()
    try:
        picture().savefig(file, format="png", dpi=100)
    except Exception:  # of whatever kind: a picture that cannot be drawn is no reason to keep the words back
        return said
    return f'{said}<img alt="" src="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}">'


def grid(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table: the first column is text, the others are numbers.

    >>> grid("Errors", ["name", "worst"], [["pm", "0.25"]]).count("<td")
    2
    """

    def line(tag: str, cells: Sequence[str]) -> str:
        styles = ("left", *["right"] * (len(cells) - 1))
        inside = (
            f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>'
            for side, cell in zip(styles, cells, strict=True)
        )
        return f"<tr>{''.join(inside)}</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><caption>{html.escape(title)}</caption>{line('th', headings)}{body}</table>"
