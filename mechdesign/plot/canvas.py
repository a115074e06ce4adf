"""What every picture shares: the palette, an empty figure, a legend beside it, and files. Matplotlib comes on use."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mechdesign import files
from mechdesign.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

# Okabe and Ito's palette, told apart with every common kind of colour blindness; line styles tell apart the rest
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
BLUE, VERMILION, GREEN, GREY = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[6]
BLACK = "#000000"
"""Kept for the certified optimum."""
_STYLES = ("-", "--", ":", "-.")
_FORMATS = ("png", "pdf", "svg")

HEAT = "cividis"
"""Colour map of densities; reversed where nothing must look like paper."""


def require_plot_format(path: Path | str) -> str:
    """The picture format a file name asks for."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in _FORMATS:
        raise InvalidInput("plot file", str(path), f"end in .{', .'.join(_FORMATS)}", "for example errors.png")
    return suffix


def save(figure: Figure, path: Path | str, *, overwrite: bool = False) -> Path:
    """Write a figure in the format its file name asks for, all of it or nothing."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=require_plot_format(path), dpi=150)
    return files.write_atomically(path, buffer.getvalue(), overwrite=overwrite)


def printable(text: str, most: int | None = None) -> str:
    """Text on one line without control characters, which could reach a terminal or break a picture; shortened if asked.

    >>> printable("a\\x1b[31m"), printable("a very long name", 6)
    ('a?[31m', 'a ver…')
    """
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return plain if most is None or len(plain) <= most else plain[: most - 1] + "…"


def drawable(text: str, most: int | None = None) -> str:
    """`printable` text as a picture takes it: dollars are dollars, not formulas."""
    return printable(text, most).replace("$", r"\$")


def empty_figure(width: float, height: float) -> Figure:
    """A figure of that many inches whose parts make room for each other."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def line_style(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th line."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": _STYLES[k % len(_STYLES)]}


def legend_right(axes: Axes) -> None:
    """The legend outside, where it covers nothing."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")


def plain_numbers(axes: Axes) -> None:
    """Numbers on a logarithmic y axis as people write them, between powers of ten only as many as there is room for."""

    def minor(value: float, _: float) -> str:
        low, high = axes.get_ylim()
        first = f"{value:.0e}"[0]
        return f"{value:.3g}" if high < 8 * low or (first in "25" and high < 2000 * low) else ""

    axes.yaxis.set_major_formatter("{x:.3g}")
    axes.yaxis.set_minor_formatter(minor)
