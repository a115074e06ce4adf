"""What every picture shares: lines of which no two are alike, an empty figure, a legend beside it, and files.

Matplotlib comes on use.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.values import files
from mechdesign.values.tables import printable as printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

# six of Okabe and Ito's colours and two dark ones, told apart with every common kind of colour blindness
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#800000", "#332288")
BLUE, VERMILION, GREEN = COLOURS[:3]
GREY = "#7F7F7F"
BLACK = "#000000"
"""Kept for the certified optimum."""
_STYLES = ("-", "--", ":", "-.")
_MARKERS = "osD^v<>pPX*"
_FORMATS = ("png", "pdf", "svg")
_WIDTH = 0.005  # of a line, as a share of the height of the axes
_SHARED = 0.7  # of their points that two lines have in common if they are said to run together
_STRIPE = 3.0  # the length of a dash of lines that run together, in widths of a line
_FEW = 12  # points that are all marked
_MOST_TITLE, _LEAST_SIZE, _MOST_SIZE = 200, 1.0, 60.0
_LETTERS_PER_INCH = 10  # of a title

HEAT = "cividis"
"""Colour map of densities; reversed where nothing must look like paper."""


def require_plot_format(path: Path | str) -> str:
    """The picture format a file name asks for."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in _FORMATS:
        raise InvalidInput("plot file", str(path), f"end in .{', .'.join(_FORMATS)}", "for example errors.png")
    return suffix


def require_title(text: str) -> str:
    """A title of one line that can be drawn.

    >>> require_title(" Reports of one day ")
    'Reports of one day'
    """
    title = text.strip()
    if not title or len(title) > _MOST_TITLE or not title.isprintable():
        raise InvalidInput("title", printable(text, 40), f"be 1 to {_MOST_TITLE} letters without control characters")
    return title


def require_size(width: float, height: float) -> tuple[float, float]:
    """Width and height of a picture in inches."""
    for side in (width, height):
        if not _LEAST_SIZE <= side <= _MOST_SIZE:
            rule = f"be a width and a height from {_LEAST_SIZE:g} to {_MOST_SIZE:g} inches"
            raise InvalidInput("size", f"{width:g},{height:g}", rule, "for example 8,5")
    return width, height


def retitle(figure: Figure, title: str) -> None:
    """Put a title of one's own in the place of the figure's: above it, or above its only panel."""
    shown = [axes for axes in figure.axes if axes.get_visible() and axes.get_title()]
    lines = fill(require_title(title), max(20, int(_LETTERS_PER_INCH * figure.get_figwidth()))).split("\n")
    heading = "\n".join(map(drawable, lines))
    if not figure.get_suptitle() and len(shown) == 1:
        shown[0].set_title(heading)
    else:
        figure.suptitle(heading)


def fit_titles(figure: Figure) -> None:
    """Break titles that are wider than their panel, or than the figure that has no other panel beside it."""
    figure.draw_without_rendering()
    titled = [axes for axes in figure.axes if axes.get_visible() and axes.get_title()]
    rooms = [(axes.title, axes.bbox.width if len(titled) > 1 else figure.bbox.width) for axes in titled]
    above = getattr(figure, "_suptitle", None)
    for heading, room in [*rooms, *([] if above is None else [(above, figure.bbox.width)])]:
        width = heading.get_window_extent().width
        if width > room:
            text = heading.get_text().replace("\n", " ")
            heading.set_text(fill(text, max(10, int(0.9 * len(text) * room / width))))


def save(
    figure: Figure,
    path: Path | str,
    *,
    overwrite: bool = False,
    title: str | None = None,
    size: tuple[float, float] | None = None,
) -> Path:
    """Write a figure in the format its file name asks for, all of it or nothing; with a title and size of one's own."""
    if size is not None:
        figure.set_size_inches(*require_size(*size))
    if title is not None:
        retitle(figure, title)
    if size is not None:
        fit_titles(figure)
    content = rendered(figure, require_plot_format(path), 150)
    return files.write_atomically(path, content, overwrite=overwrite)


def rendered(figure: Figure, suffix: str, dots_per_inch: int) -> bytes:
    """A figure as the content of a file of that format."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=suffix, dpi=dots_per_inch)
    return buffer.getvalue()


def drawable(text: str, most: int | None = None) -> str:
    """`printable` text as a picture takes it: dollars are dollars, not formulas."""
    return printable(text, most).replace("$", r"\$")


def empty_figure(width: float, height: float) -> Figure:
    """A figure of that many inches whose parts make room for each other."""
    from mechdesign.plot.page import Page

    return Page(figsize=(width, height), layout="constrained")


def line_style(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th line, of which no two of the first 32 are alike.

    >>> len({tuple(line_style(k).values()) for k in range(32)})
    32
    """
    turn, colour = divmod(k, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": _STYLES[turn % len(_STYLES)]}


def nested_style(k: int, count: int) -> dict[str, Any]:
    """The k-th of a few lines with long stretches in common: the later ones are thinner, so that all are seen."""
    return line_style(k) | {"linewidth": 1.4 + 1.7 * (count - 1 - k)}


def mark(k: int) -> str:
    """The k-th line's marker: lines of one colour have different ones.

    >>> mark(0), mark(8), mark(16)
    ('o', 'X', 'p')
    """
    return _MARKERS[(k + k // len(COLOURS)) % len(_MARKERS)]


def draw_lines(axes: Axes, lines: Mapping[str, tuple[ArrayLike, ArrayLike]], **more: Any) -> None:
    """Lines by name, no two of which share colour, dashes and marker.

    Lines that run together would hide each other: they take turns, a dash each, so that every one of them is seen.
    The scale of the axes has to be set before.
    """
    points = [(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)) for x, y in lines.values()]
    groups = _together(points, logarithmic=axes.get_yscale() == "log")
    for k, (name, (x, y)) in enumerate(zip(lines, points, strict=True)):
        style = line_style(k) | {"marker": mark(k), "markersize": 6.0, "markeredgecolor": "white", "zorder": 2.0}
        style["markeredgewidth"] = 0.5
        group = groups[k]
        turn, count = group.index(k), len(group)
        if count > 1:
            style["linestyle"] = ((count - turn) % count * _STRIPE, (_STRIPE, (count - 1) * _STRIPE))
            style["zorder"] = 2.1  # where a whole line crosses, the dashes are seen
        if x.size > _FEW:
            style["markevery"] = ((k + 0.5) / len(lines) * 0.16, 0.16)
        elif 1 < count <= x.size:
            style["markevery"] = (turn, count)
        elif count > 1:  # more lines than places: markers of one place, the later ones smaller
            style |= {"markersize": 6.0 + 3.0 * (count - 1 - turn), "markeredgecolor": style["color"]}
            style |= {"markeredgewidth": 1.0, "markerfacecolor": style["color"] if turn == count - 1 else "white"}
        else:  # lines that only meet: what is drawn later is smaller there
            style["markersize"] += 3.0 * sum(_meet((x, y), later) for later in points[k + 1 :])
        axes.plot(x, y, label=drawable(name), **(style | more))


def _together(lines: Sequence[tuple[Floats, Floats]], *, logarithmic: bool) -> list[list[int]]:
    """For each line those that run together with it, itself included: closer than a line is wide at many points."""
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = [(x, np.log(y) if logarithmic else y) for x, y in lines]
    heights = np.concatenate([y[np.isfinite(y)] for _, y in drawn]) if drawn else np.zeros(0)
    reach = _WIDTH * float(np.ptp(heights)) if heights.size else 0.0
    groups: list[list[int]] = []
    for k, (x, y) in enumerate(drawn):
        near = (group for group in groups if _shared(drawn[group[0]], (x, y), reach) >= _SHARED)
        found = next(near, None)
        if found is None:
            groups.append([k])
        else:
            found.append(k)
    return [next(group for group in groups if k in group) for k in range(len(drawn))]


def _meet(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> bool:
    """Whether two lines have a point in common that both mark."""
    (x, y), (places, heights) = one, other
    same = np.isclose(x[:, None], places, rtol=1e-6) & np.isclose(y[:, None], heights, rtol=1e-6)
    return bool(same.any())


def _shared(one: tuple[Floats, Floats], other: tuple[Floats, Floats], reach: float) -> float:
    """The share of the second line's points that lie on the first."""
    (x, y), (places, heights) = one, other
    inside = (places >= x.min()) & (places <= x.max()) if x.size else np.zeros(places.size, dtype=bool)
    if not inside.any():
        return 0.0
    return float(np.mean(np.abs(np.interp(places[inside], x, y) - heights[inside]) <= reach))


def legend_right(axes: Axes) -> None:
    """The legend outside, where it covers nothing."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small", handlelength=3.0)


def plain_numbers(axes: Axes) -> None:
    """Numbers on a logarithmic y axis as people write them, between powers of ten only as many as there is room for."""

    def minor(value: float, _: float) -> str:
        low, high = axes.get_ylim()
        first = f"{value:.0e}"[0]
        return f"{value:.3g}" if high < 8 * low or (first in "25" and high < 2000 * low) else ""

    axes.yaxis.set_major_formatter("{x:.3g}")
    axes.yaxis.set_minor_formatter(minor)
