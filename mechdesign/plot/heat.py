"""Heat maps: a number for every pair of a row and a column, the best one marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.plot.canvas import BLACK, HEAT, VERMILION, drawable, empty_figure, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_LETTERS = 14
_LEAST_WIDTH = 3.2  # inches of a panel
_LETTERS_PER_INCH = 10  # of a figure's title
_WIDE = 20.0  # a range of more than this factor is coloured by its logarithm


@dataclass(frozen=True, slots=True)
class HeatMap:
    """One panel: values by (row, column); pairs that are missing stay empty."""

    title: str
    values: Mapping[tuple[str, str], float]


def heat_maps(
    panels: Sequence[HeatMap],
    rows: Sequence[str],
    columns: Sequence[str],
    unit: str,
    title: str,
    *,
    more_is_better: bool = False,
) -> Figure:
    """Panels, two side by side, in one colour scale; every cell with its number and the best one of a panel framed."""
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.patches import Rectangle

    known = [value for panel in panels for value in panel.values.values()]
    least, most = min(known, default=0.0), max(known, default=1.0)
    logarithmic = least > 0 and most > _WIDE * least
    scale = LogNorm(least, most) if logarithmic else Normalize(least, most if most > least else least + 1)
    across = 1 if len(panels) == 1 else 2
    down = -(-len(panels) // across)
    width, height = max(1.2 + 0.62 * len(columns), _LEAST_WIDTH), 1.5 + 0.34 * len(rows)
    full_width = width * across + 1.2
    heading = fill(printable(title), int(_LETTERS_PER_INCH * full_width))
    figure = empty_figure(full_width, max(height * down, 2.8) + 0.5 + 0.2 * heading.count("\n"))
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid, panels, strict=False):
        table = np.array([[panel.values.get((row, column), math.nan) for column in columns] for row in rows])
        image = axes.imshow(table, cmap=HEAT, norm=scale, aspect="auto")
        for (row, column), value in np.ndenumerate(table):
            if math.isnan(value):
                axes.text(column, row, "-", ha="center", va="center", fontsize=7, color=BLACK)
                continue
            # numbers on the dark half of the map are white
            ink = "white" if float(scale(value)) < 0.5 else BLACK
            axes.text(column, row, f"{value:.2g}", ha="center", va="center", fontsize=7, color=ink)
        if panel.values:
            best = (max if more_is_better else min)(panel.values, key=lambda pair: panel.values[pair])
            corner = (columns.index(best[1]) - 0.5, rows.index(best[0]) - 0.5)
            # at the edge of the map half of the frame is outside of it
            frame = Rectangle(corner, 1, 1, fill=False, edgecolor=VERMILION, linewidth=2.5, clip_on=False, zorder=3)
            axes.add_patch(frame)
        names = [drawable(column, _MOST_LETTERS) for column in columns]
        axes.set_xticks(range(len(columns)), names, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(rows)), [drawable(row, _MOST_LETTERS) for row in rows])
        axes.set(title=drawable(panel.title), xlabel="post-processing", ylabel="protocol")
    figure.colorbar(image, ax=list(grid[: len(panels)]), label=drawable(unit), pad=0.01)
    figure.suptitle("\n".join(map(drawable, heading.split("\n"))))
    return figure
