"""Pictures of paths, and of errors of path mechanisms over epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.plot.canvas import (
    BLACK,
    BLUE,
    GREY,
    VERMILION,
    draw_lines,
    drawable,
    empty_figure,
    legend_right,
    line_style,
)
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Disc, Parallelogram, Polygon, Region
from mechdesign.studies.places.study import CONSTANT, Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_PATHS = 4


def map_of_paths(
    region: Region, true: Paths, told: Paths, names: Sequence[str], *, title: str, of: int | None = None
) -> Figure:
    """The first few paths, a panel each: as they were (solid) and as they were reported (dashed)."""
    shown, total = min(len(told), _MOST_PATHS), len(told) if of is None else of
    columns = min(shown, 2)
    rows = -(-shown // columns)
    figure = empty_figure(4.2 * columns, 3.6 * rows + 0.6)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for k, (path, reported) in enumerate(zip(list(true)[:shown], list(told)[:shown], strict=True)):
        axes = panels.flat[k]
        axes.plot(*_outline(region).T, color=GREY, linewidth=0.8)
        axes.plot(*path.T, color=BLUE, linewidth=1.6, marker="o", markersize=4, label="true")
        style: dict[str, Any] = {"linestyle": "--", "marker": "x", "markersize": 5, "linewidth": 1.0}
        axes.plot(*reported.T, color=VERMILION, label="reported", **style)
        axes.set_title(drawable(str(names[k]), 30), fontsize="medium")
        if isinstance(region, Disc):
            axes.set_aspect("equal", adjustable="box")
    for axes in panels.flat[shown:]:
        axes.set_visible(False)
    figure.supxlabel("x (units of the map)", fontsize="medium")
    figure.supylabel("y (units of the map)", fontsize="medium")
    figure.suptitle(drawable(title) if shown == total else f"{drawable(title)} ({shown} of {total} paths)")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower right", ncols=2, frameon=False)
    return figure


def _outline(region: Region) -> np.ndarray:
    """The boundary of a region as a closed line."""
    if isinstance(region, Disc):
        turn = np.linspace(0, 2 * math.pi, 181)
        return np.array(region.centre) + region.radius * np.column_stack([np.cos(turn), np.sin(turn)])
    if isinstance(region, Polygon):
        return np.array([*region.corners, region.corners[0]])
    if isinstance(region, Parallelogram):
        s, t = np.array([0.0, 1.0, 1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0, 0.0])
        return region.from_parts(s, t)
    west, east, south, north = region.bounds
    return np.array([(west, south), (east, south), (east, north), (west, north), (west, south)])


def error_curves(
    cells: Sequence[Cell], constant: float, *, title: str, words: str = "average error", per: str = "location"
) -> Figure:
    """The average of each method over epsilon with its interval, and the constant answer as a line."""
    figure = empty_figure(9.0, 5.0)
    axes = figure.add_subplot()
    names = list(dict.fromkeys(cell.method for cell in cells))
    own = {
        name: sorted((cell for cell in cells if cell.method == name), key=lambda cell: cell.epsilon) for name in names
    }
    x = {name: [cell.epsilon for cell in mine] for name, mine in own.items()}
    draw_lines(axes, {name: (x[name], [cell.mean for cell in mine]) for name, mine in own.items()})
    for k, (name, mine) in enumerate(own.items()):
        ends = [(cell.mean, cell.mean) if cell.low is None else (cell.low, cell.high) for cell in mine]
        axes.vlines(x[name], *zip(*ends, strict=True), color=line_style(k)["color"])
    axes.axhline(constant, color=BLACK, linewidth=1.0, label=f"{CONSTANT}: spends nothing")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"epsilon of a {per}")
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
    share = (root - 1) / (root**2 - 1)
    widths, chances = {"TraCS-D": (values, 360 * share)}, {"TraCS-D": (values, root * share)}
    for sectors in (3, 6, 12):
        widths[f"{sectors} sectors"] = values, np.full(len(values), 360 / sectors)
        chances[f"{sectors} sectors"] = values, np.exp(values) / (np.exp(values) + sectors - 1)
    draw_lines(left, widths)
    draw_lines(right, chances)
    left.set_ylabel("width (degrees)")
    right.set_ylabel("chance of the right sector")
    for axes in (left, right):
        axes.set_xlabel("epsilon for the direction")
        axes.set_ylim(bottom=0)
    left.set_title("What is reported most: how wide")
    right.set_title("... and how often")
    left.legend(frameon=False, fontsize="small")
    return figure
