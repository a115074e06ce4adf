"""Pictures of paths, and of errors of path mechanisms over epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.plot.canvas import (
    BLACK,
    BLUE,
    COLOURS,
    GREY,
    VERMILION,
    drawable,
    empty_figure,
    legend_right,
    line_style,
)
from mechdesign.trajectory.paths import Paths
from mechdesign.trajectory.regions import Region
from mechdesign.trajectory.study import CONSTANT, Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_PATHS = len(COLOURS) - 1
_MARKERS = "os^Dv<>pPX"


def map_of_paths(
    region: Region, true: Paths, told: Paths, names: Sequence[str], *, title: str, of: int | None = None
) -> Figure:
    """The first few paths as they were (solid) and as they were reported (dashed, lighter), one colour each.

    Many locations of one path are a tangle; what a report does to a place is seen best on short ones.
    """
    figure = empty_figure(7.5, 5.5)
    axes = figure.add_subplot()
    west, east, south, north = region.bounds
    axes.plot([west, east, east, west, west], [south, south, north, north, south], color=GREY, linewidth=0.8)
    shown, total = min(len(told), _MOST_PATHS), len(told) if of is None else of
    reported, original = list(told), list(true)
    for k in range(shown):
        colour = COLOURS[k % len(COLOURS)]
        label = drawable(str(names[k]), 20)
        axes.plot(*original[k].T, color=colour, linewidth=1.6, marker="o", markersize=4, label=f"{label}, true")
        style: dict[str, Any] = {"linestyle": "--", "marker": "x", "markersize": 5, "alpha": 0.75, "linewidth": 1.0}
        axes.plot(*reported[k].T, color=colour, label=f"{label}, reported", **style)
    axes.set_aspect("equal" if (north - south) / 8 < east - west < 8 * (north - south) else "auto")
    axes.set_xlabel("x (units of the map)")
    axes.set_ylabel("y (units of the map)")
    axes.set_title(drawable(title) if shown == total else f"{drawable(title)} ({shown} of {total} paths)")
    legend_right(axes)
    return figure


def error_curves(cells: Sequence[Cell], constant: float, *, title: str, words: str = "average error") -> Figure:
    """The average of each method over epsilon with its interval, and the constant answer as a line."""
    figure = empty_figure(9.0, 5.0)
    axes = figure.add_subplot()
    names = list(dict.fromkeys(cell.method for cell in cells))
    for k, name in enumerate(names):
        mine = sorted((cell for cell in cells if cell.method == name), key=lambda cell: cell.epsilon)
        x, y = [cell.epsilon for cell in mine], np.array([cell.mean for cell in mine])
        spread = np.array([[cell.mean - cell.low for cell in mine], [cell.high - cell.mean for cell in mine]])
        axes.errorbar(x, y, spread, marker=_MARKERS[k % len(_MARKERS)], markersize=4, label=name, **line_style(k))
    axes.axhline(constant, color=BLACK, linewidth=1.0, label=f"{CONSTANT}: spends nothing")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("epsilon of a location")
    axes.set_ylabel(f"{words} (units of the map)" if words == "average error" else words)
    axes.set_title(drawable(title))
    legend_right(axes)
    return figure


def dominant_sectors(epsilons: Sequence[float]) -> Figure:
    """Width of the sector that is reported most and the chance of it: TraCS-D's and those of 3, 6 and 12 sectors."""
    figure = empty_figure(8.0, 3.6)
    left, right = figure.subplots(1, 2)
    values = np.linspace(min(epsilons), max(epsilons), 120)
    root = np.exp(values / 2)
    left.plot(values, 360 * (root - 1) / (root**2 - 1), color=BLUE, label="TraCS-D")
    right.plot(values, root * (root - 1) / (root**2 - 1), color=BLUE, label="TraCS-D")
    for sectors, dashes in ((3, ":"), (6, "--"), (12, "-.")):
        style: dict[str, Any] = {"color": VERMILION, "linestyle": dashes, "label": f"{sectors} sectors"}
        left.plot(values, np.full(len(values), 360 / sectors), **style)
        right.plot(values, np.exp(values) / (np.exp(values) + sectors - 1), **style)
    left.set_ylabel("width (degrees)")
    right.set_ylabel("chance of the right sector")
    for axes in (left, right):
        axes.set_xlabel("epsilon for the direction")
        axes.set_ylim(bottom=0)
    left.set_title("What is reported most: how wide")
    right.set_title("... and how often")
    left.legend(frameon=False, fontsize="small")
    return figure
