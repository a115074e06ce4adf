"""Average gains over epsilon, bins and users, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mechdesign.plot.canvas import draw_lines, drawable, empty_figure, legend_right

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Lines = Mapping[str, tuple[Sequence[float], Sequence[float]]]


def gains(panels: Mapping[str, Lines], unit: str, title: str) -> Figure:
    """A panel for each thing that varies, by its name; all have one scale."""
    figure = empty_figure(2.2 + 3.0 * len(panels), 4.2)
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (name, lines) in zip(all_axes, panels.items(), strict=True):
        axes.set(xlabel=drawable(name))
        axes.margins(x=0.08)
        draw_lines(axes, lines)
    all_axes[0].set_ylabel(drawable(unit))
    legend_right(all_axes[-1])
    figure.suptitle(drawable(title))
    return figure
