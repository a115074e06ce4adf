"""The pictures of gallery files and of claims, on axes whose colours can be told apart by everyone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mechdesign.plot.canvas import COLOURS, empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mechdesign.papers.claims.claim import Picture
    from mechdesign.papers.gallery import Entry


def exhibit(entry: Entry) -> Figure:
    """The picture that a gallery file draws."""
    return drawn_by(entry.exhibit().picture)


def drawn_by(picture: Picture) -> Figure:
    """What a function draws on a pair of axes."""
    figure = empty_figure(6.8, 4.4)
    axes = figure.add_subplot()
    axes.set_prop_cycle(color=COLOURS)
    picture(axes)
    return figure
