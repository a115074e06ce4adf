"""Estimated means with their intervals, beside the mean without privacy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mechdesign.collect.mean import MeanEstimate
from mechdesign.plot.canvas import BLACK, BLUE, GREY, drawable, empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def mean_intervals(estimates: Mapping[str, MeanEstimate], plain: MeanEstimate, what: str, title: str) -> Figure:
    """An interval a method from top to bottom; the band is the interval without privacy, the line the users' mean."""
    figure = empty_figure(7.5, 1.6 + 0.36 * len(estimates))
    axes = figure.subplots()
    level = f"{100 * plain.confidence:g}%"
    if plain.lower is not None and plain.upper is not None:
        label = f"{level} interval without privacy"
        axes.axvspan(plain.lower, plain.upper, color=GREY, alpha=0.35, linewidth=0, label=label)
    axes.axvline(plain.value, color=BLACK, linewidth=1, label="mean of these users")
    places = range(len(estimates))
    interval_label = f"{level} interval"
    for k, estimate in zip(places, estimates.values(), strict=True):
        if estimate.lower is not None and estimate.upper is not None:
            ends = [estimate.lower, estimate.upper]
            axes.plot(ends, [k, k], color=BLUE, linewidth=1.6, label=interval_label)
            interval_label = ""
        axes.plot(estimate.value, k, "o", color=BLUE, markersize=5, label="" if k else "estimate")
    axes.set_yticks(list(places), [drawable(name) for name in estimates])
    axes.set(xlabel=drawable(what, 60), title=drawable(title, 90), ylim=(len(estimates) - 0.4, -0.6))
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    return figure
