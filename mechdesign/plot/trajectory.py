"""Pictures of paths, and of errors of path mechanisms over epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.plot.canvas import (
    BLACK,
    BLUE,
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

_MOST_PATHS = 4
_MARKERS = "os^Dv<>pPX"


def map_of_paths(
    region: Region, true: Paths, told: Paths, names: Sequence[str], *, title: str, of: int | None = None
) -> Figure:
    """The first few paths, a panel each: as they were (solid) and as they were reported (dashed)."""
    shown, total = min(len(told), _MOST_PATHS), len(told) if of is None else of
    columns = min(shown, 2)
    rows = -(-shown // columns)
    figure = empty_figure(4.2 * columns, 3.6 * rows + 0.6)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    west, east, south, north = region.bounds
    for k, (path, reported) in enumerate(zip(list(true)[:shown], list(told)[:shown], strict=True)):
        axes = panels.flat[k]
        axes.plot([west, east, east, west, west], [south, south, north, north, south], color=GREY, linewidth=0.8)
        axes.plot(*path.T, color=BLUE, linewidth=1.6, marker="o", markersize=4, label="true")
        style: dict[str, Any] = {"linestyle": "--", "marker": "x", "markersize": 5, "linewidth": 1.0}
        axes.plot(*reported.T, color=VERMILION, label="reported", **style)
        axes.set_title(drawable(str(names[k]), 30), fontsize="medium")
    for axes in panels.flat[shown:]:
        axes.set_visible(False)
    figure.supxlabel("x (units of the map)", fontsize="medium")
    figure.supylabel("y (units of the map)", fontsize="medium")
    figure.suptitle(drawable(title) if shown == total else f"{drawable(title)} ({shown} of {total} paths)")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower right", ncols=2, frameon=False)
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
