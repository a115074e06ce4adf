"""Pictures of budgets: the epsilon selected over thresholds, and what it buys and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mechdesign.plot.canvas import BLACK, BLUE, GREY, VERMILION, drawable, empty_figure, legend_right, line_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = Sequence[tuple[float, float]]
Bands = Sequence[tuple[float, float, float]]

_MARKERS = "osD^v<>pP"


@dataclass(frozen=True, slots=True)
class BudgetPanel:
    """One panel: lines of (threshold, epsilon) by name, and the certified (threshold, lower, upper)."""

    title: str
    lines: Mapping[str, Points]
    bands: Bands = field(default=())


def budgets(panels: Sequence[BudgetPanel], threshold: str, title: str) -> Figure:
    """The selected epsilon against the threshold, panels side by side: certified brackets as black bars."""
    across = min(len(panels), 2)
    down = -(-len(panels) // across)
    figure = empty_figure(6.2 * across + 1.4, 3.7 * down + 0.5)
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid, panels, strict=False):
        for k, (name, points) in enumerate(panel.lines.items()):
            style = line_style(k) | {"marker": _MARKERS[k % len(_MARKERS)], "markersize": 5}
            axes.plot([x for x, _ in points], [y for _, y in points], label=drawable(name), **style)
        if panel.bands:
            places, lower, upper = zip(*panel.bands, strict=True)
            middles = [(low + high) / 2 for low, high in zip(lower, upper, strict=True)]
            reach = [(high - low) / 2 for low, high in zip(lower, upper, strict=True)]
            axes.errorbar(
                places, middles, yerr=reach, fmt="none", ecolor=BLACK, elinewidth=2.5, capsize=5, label="certified"
            )
        axes.set(xlabel=drawable(threshold), ylabel="selected privacy parameter ε", title=drawable(panel.title))
        axes.set_ylim(bottom=0)
    shown = grid[: len(panels)]
    if all(list(panel.lines) == list(panels[0].lines) for panel in panels):
        legend_right(grid[across - 1])
    else:  # the same colour means something else in every panel
        for axes, panel in zip(shown, panels, strict=True):
            if panel.lines or panel.bands:
                axes.legend(frameon=False, fontsize="small")
    figure.suptitle(drawable(title))
    return figure


@dataclass(frozen=True, slots=True)
class Curve:
    """Over epsilon: the metric (mean, and the band that holds the middle 80% of collections), and the adversary."""

    epsilons: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    success: Sequence[float]


def trade_off(curve: Curve, metric: str, threshold: float, interval: tuple[float, float], title: str) -> Figure:
    """Utility above, the adversary's success below, with the selected epsilon marked in both."""
    figure = empty_figure(8.4, 6.0)
    top, bottom = figure.subplots(2, 1, sharex=True)
    top.fill_between(curve.epsilons, curve.low, curve.high, color=BLUE, alpha=0.2, linewidth=0, label="80% of runs")
    top.plot(curve.epsilons, curve.mean, color=BLUE, label="mean")
    top.axhline(threshold, color=GREY, linestyle="--", label="threshold")
    top.set(ylabel=drawable(metric), title="What the data collector gets")
    bottom.plot(curve.epsilons, [100 * share for share in curve.success], color=VERMILION, label="success rate")
    bottom.set(xlabel="privacy parameter ε", ylabel="right guesses (%)", title="What a Bayesian adversary guesses")
    bottom.set_ylim(bottom=0)
    for axes in (top, bottom):
        axes.set_xscale("log")
        axes.axvspan(*interval, color=BLACK, alpha=0.25, linewidth=0)
        axes.axvline(interval[1], color=BLACK, linewidth=1.8, label=f"selected ε = {interval[1]:.4g}")
        legend_right(axes)
    bottom.xaxis.set_major_formatter("{x:.3g}")
    figure.suptitle(drawable(title))
    return figure
