"""The picture of a gallery file, on axes whose colours can be told apart by everyone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mechdesign.gallery import Entry
from mechdesign.plot.canvas import COLOURS, empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def exhibit(entry: Entry) -> Figure:
    """The picture that a gallery file draws."""
    figure = empty_figure(6.8, 4.4)
    axes = figure.add_subplot()
    axes.set_prop_cycle(color=COLOURS)
    entry.exhibit().picture(axes)
    return figure
