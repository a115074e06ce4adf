"""A field as bars: the designs and the published mechanisms, best on top, each with how far it is above the optimum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mechdesign.field import THIS, Field, Rank
from mechdesign.plot.canvas import BLUE, GREY, VERMILION, empty_figure, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDE = 12.0  # times the best: beyond that the axis is logarithmic
_MEASURED = {
    Rank.WORST: "expected loss at the worst input",
    Rank.AVERAGE: "expected loss on average",
    Rank.AT: "expected loss at the input asked about",
}


def ranking(field: Field) -> Figure:
    """A bar a mechanism by what it is ranked by: the design blue, others of one's own red, published ones grey."""
    rows = [row for row in reversed(field.rows) if math.isfinite(row.by(field.rank))]
    figure = empty_figure(8.6, 1.6 + 0.36 * max(len(rows), 1))
    axes = figure.subplots()
    places = range(len(rows))
    colours = [GREY if row.published else BLUE if row.name == THIS else VERMILION for row in rows]
    values = [row.by(field.rank) for row in rows]
    axes.barh(places, values, color=colours, height=0.7)
    for place, row in zip(places, rows, strict=True):
        axes.text(1.02, place, row.excess, transform=axes.get_yaxis_transform(), va="center", fontsize="small")
    positive = [value for value in values if value > 0]
    if positive and max(positive) > _WIDE * min(positive):
        axes.set_xscale("log")
    axes.set(xlabel=_MEASURED[field.rank], yticks=list(places), yticklabels=[printable(row.name) for row in rows])
    what = f"beside the optimum of {field.among}" if field.among else "and how far it is above the optimum"
    axes.set_title(f"Each mechanism, {what}")
    axes.tick_params(axis="y", labelsize="small")
    return figure
