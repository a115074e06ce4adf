"""Pictures of budgets: the epsilon selected by protocol or over thresholds, and what it buys and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mechdesign.plot.canvas import (
    BLACK,
    BLUE,
    COLOURS,
    GREY,
    VERMILION,
    draw_lines,
    drawable,
    empty_figure,
    legend_right,
    mark,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = Sequence[tuple[float, float]]
Bands = Sequence[tuple[float, float, float]]

_ROW, _MARGIN = 0.3, 1.7  # inches
_LETTERS = 24
_LEAST_SPAN = 0.1  # of the largest epsilon: what is closer together looks so


@dataclass(frozen=True, slots=True)
class Selection:
    """What a search selected: an epsilon, or None if none in range will do, and the bracket that is certified."""

    name: str
    method: str
    epsilon: float | None
    bracket: tuple[float, float] | None = None


def selections(rows: Sequence[Selection], title: str) -> Figure:
    """A row a selection, from top to bottom: its marker, the bracket as a bar, and the numbers beside it."""
    from matplotlib.transforms import blended_transform_factory

    figure = empty_figure(8.0, _MARGIN + _ROW * len(rows))
    axes = figure.subplots()
    methods = list(dict.fromkeys(row.method for row in rows))
    beside = blended_transform_factory(axes.transAxes, axes.transData)
    for place, row in enumerate(rows):
        k = methods.index(row.method)
        if row.bracket is not None:
            axes.plot(row.bracket, [place, place], color=BLACK, linewidth=4.0, solid_capstyle="butt", marker="|")
        if row.epsilon is not None:
            colour = COLOURS[k % len(COLOURS)]
            axes.plot(row.epsilon, place, mark(k), color=colour, markersize=7.0, markeredgecolor="white")
        axes.text(1.02, place, _numbers(row), transform=beside, va="center", fontsize="small")
        if place and rows[place - 1].name != row.name:
            axes.axhline(place - 0.5, color=GREY, linewidth=0.6)
    labels = [drawable(f"{row.name}, {row.method}" if len(methods) > 1 else row.name, _LETTERS) for row in rows]
    axes.set_yticks(range(len(rows)), labels)
    axes.set(xlabel="selected privacy parameter ε", ylim=(len(rows) - 0.5, -0.5))
    axes.grid(axis="x", linewidth=0.5, alpha=0.5)
    _show_all(axes, rows)
    if any(row.bracket is not None for row in rows):
        axes.plot([], [], color=BLACK, linewidth=4.0, label="certified: fails below, holds above")
        figure.legend(loc="outside lower center", frameon=False, fontsize="small")
    figure.suptitle(drawable(title))
    return figure


def _numbers(row: Selection) -> str:
    if row.epsilon is None:
        return "none in range"
    low, high = (f"{end:.4g}" for end in row.bracket or (row.epsilon, row.epsilon))
    return high if low == high else f"{low} to {high}"


def _show_all(axes: Axes, rows: Sequence[Selection]) -> None:
    """Wide enough for every end, and no narrower than a tenth of the largest."""
    ends = [row.epsilon for row in rows if row.epsilon is not None]
    ends += [end for row in rows if row.bracket is not None for end in row.bracket]
    if not ends:
        axes.set_xticks([])
        return
    low, high = min(ends), max(ends)
    span = max(high - low, _LEAST_SPAN * high)
    middle = (low + high) / 2
    axes.set_xlim(max(0.0, middle - 0.6 * span), middle + 0.6 * span)


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
        lines = {name: ([x for x, _ in points], [y for _, y in points]) for name, points in panel.lines.items()}
        draw_lines(axes, lines)
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
