"""Directions as their cosines with one's own: how often each is reported, beside uniform reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.mechanisms.directions import DirectionResponse, SignedSets
from mechdesign.plot.canvas import COLOURS, GREY, drawable, empty_figure, legend_right

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SEEN = 4.5  # standard deviations of the cosine of a uniform direction


def cosines(mechanism: DirectionResponse) -> Figure:
    """The density of the cosine, or of signed sets the chances of what they say of one's own coordinate."""
    figure = empty_figure(8.0, 4.0)
    axes = figure.subplots()
    reports, count, ratio = mechanism.reports, mechanism.inputs.count, mechanism.ratio
    least = mechanism.favoured / ratio / reports.share(count)
    if isinstance(reports, SignedSets):
        uniform = np.array([reports.share(count), 1 - 2 * reports.share(count), reports.share(count)])
        places = np.arange(3)
        axes.bar(places - 0.2, least * uniform * [1.0, 1.0, ratio], 0.4, color=COLOURS[0], label="reported")
        axes.bar(places + 0.2, uniform, 0.4, color=GREY, label="uniform")
        axes.set_xticks(places, ["the other sign", "not in the set", "one's own sign"])
        axes.set(xlabel="one's own coordinate", ylabel="chance")
    else:
        end = min(1.0, _SEEN / math.sqrt(count)) if count > 3 else 1 - 1e-3
        end = max(end, min(1.0, 1.3 * reports.height))
        along = np.linspace(-end, end, 2001)[1:-1]
        uniform = (1 - along**2) ** ((count - 3) / 2)
        uniform *= 1 / (uniform.sum() * (along[1] - along[0]))
        law = least * uniform * np.where(along > reports.height, ratio, 1.0)
        axes.plot(along, law, color=COLOURS[0], label="reported")
        axes.plot(along, uniform, "--", color=GREY, label="uniform")
        axes.set(xlabel="cosine of the report and one's own direction", ylabel="density")
        axes.set_ylim(0.0, 1.05 * float(law[np.abs(along) < 0.99].max()))
    axes.set_title(f"{drawable(mechanism.name)} for {mechanism.inputs}, ε = {mechanism.epsilon:g}")
    legend_right(axes)
    return figure
