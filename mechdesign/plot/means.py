"""Estimated means with their intervals, beside the mean without privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.plot.canvas import BLACK, BLUE, GREY, drawable, empty_figure
from mechdesign.studies.frequencies.mean import EstimatedMean

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FAR = 5.0
"""Times the reach of half of the intervals: what is wider is not shown whole."""


def mean_intervals(estimates: Mapping[str, EstimatedMean], plain: EstimatedMean, what: str, title: str) -> Figure:
    """An interval a method from top to bottom; the band is the interval without privacy, the line the users' mean.

    Intervals many times as wide as most would press the others together: they run off the picture, with their numbers.
    """
    return means_of_columns([(estimates, plain, what)], title)


Panel = tuple[Mapping[str, EstimatedMean], EstimatedMean, str]


def means_of_columns(panels: Sequence[Panel], title: str) -> Figure:
    """`mean_intervals` of several columns, one below the other."""
    rows = sum(len(estimates) for estimates, _, _ in panels)
    figure = empty_figure(7.5, 0.6 + len(panels) + 0.36 * rows)
    heights = [1 + 0.36 * len(estimates) for estimates, _, _ in panels]
    grid = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for axes, panel in zip(grid[:, 0], panels, strict=True):
        _draw(axes, *panel)
    grid[0, 0].set_title(drawable(title, 90))
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    return figure


def _draw(axes: Any, estimates: Mapping[str, EstimatedMean], plain: EstimatedMean, what: str) -> None:
    from matplotlib.transforms import blended_transform_factory

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
    low, high = _in_sight([*estimates.values(), plain])
    axes.set_xlim(low, high)
    beside = blended_transform_factory(axes.transAxes, axes.transData)
    for k, estimate in zip(places, estimates.values(), strict=True):
        first, last = _ends(estimate)
        for end, outside, side in ((low, first < low, 0.0), (high, last > high, 1.0)):
            if outside:
                axes.plot(end, k, "<" if side == 0 else ">", color=BLUE, markersize=7, clip_on=False)
        if first < low or last > high:
            text = f"{estimate.value:.3g} [{first:.3g}, {last:.3g}]"
            axes.text(1.02, k, text, transform=beside, va="center", fontsize="small")
    axes.set_yticks(list(places), [drawable(name) for name in estimates])
    axes.set(xlabel=drawable(what, 60), ylim=(len(estimates) - 0.4, -0.6))


def _ends(estimate: EstimatedMean) -> tuple[float, float]:
    """The interval and the estimate, which need not lie in it."""
    known = [end for end in (estimate.lower, estimate.value, estimate.upper) if end is not None]
    return min(known), max(known)


def _in_sight(estimates: Sequence[EstimatedMean]) -> tuple[float, float]:
    """The range of those whose reach from the middle of all is at most some times that of half of them."""
    ends = np.array([_ends(estimate) for estimate in estimates])
    middle = float(np.median(ends.mean(axis=1)))
    reach = np.abs(ends - middle).max(axis=1)
    shown = ends[reach <= _FAR * float(np.median(reach))]
    low, high = float(shown.min()), float(shown.max())
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin
