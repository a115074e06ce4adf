"""Pictures of errors: over inputs, over epsilon, and how far each mechanism is from the certified optimum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.plot.canvas import (
    BLACK,
    BLUE,
    GREY,
    draw_lines,
    drawable,
    empty_figure,
    legend_right,
    line_style,
    mark,
    plain_numbers,
)
from mechdesign.plot.laws import continuous_inputs
from mechdesign.words.losses import Loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Bounds = tuple[float, float]

_MOST_LINES = 8
_LETTERS = 80
_ASIDE = 0.002
"""Between bars of one epsilon, as a share of the largest."""
_VISIBLE_GAP = 0.005
_INTERVAL = "where the optimum is"


def errors_over_inputs(mechanisms: Mapping[str, Mechanism], loss: Loss, title: str = "") -> Figure:
    """Expected loss against the input, a line a mechanism."""
    figure = empty_figure(7.5, 4.6)
    axes = figure.subplots()
    draw_errors(axes, mechanisms, loss)
    axes.set_title(title or f"Expected {loss.name} error over the inputs")
    legend_right(axes)
    return figure


def draw_errors(axes: Axes, mechanisms: Mapping[str, Mechanism], loss: Loss) -> None:
    """The lines of `errors_over_inputs` on given axes."""
    lines = {}
    for name, mechanism in mechanisms.items():
        domain = continuous_inputs(mechanism)
        grid = np.unique([*np.linspace(domain.lower, domain.upper, 401), *mechanism.breakpoints(loss)])
        lines[name] = grid, mechanism.expected_loss(grid, loss)
    draw_lines(axes, lines)
    axes.set(xlabel="input x", ylabel=f"expected {loss.name} error")
    axes.set_ylim(bottom=0)


def draw_over_epsilon(
    axes: Axes, epsilons: Sequence[float], values: Mapping[str, Sequence[float]], what: str, unit: str = ""
) -> None:
    """A quantity against epsilon on a logarithmic scale, a line a mechanism."""
    axes.set(xlabel="privacy parameter ε", ylabel=what + unit, yscale="log")
    draw_lines(axes, {name: (epsilons, line) for name, line in values.items()})
    plain_numbers(axes)


@dataclass(frozen=True, slots=True)
class Measured:
    """A mean over runs at one epsilon, and where the expectation is, if that is known."""

    epsilon: float
    mean: float
    interval: Bounds | None = None


def measured_over_epsilon(lines: Mapping[str, Sequence[Measured]], what: str, title: str) -> Figure:
    """A line a name, with its intervals as bars side by side; logarithmic if nothing is 0 or below."""
    figure = empty_figure(8.6, 5.0)
    axes = figure.subplots()
    means = [point.mean for line in lines.values() for point in line]
    logarithmic = bool(means) and min(means) > 0
    axes.set(xlabel="privacy parameter ε", ylabel=drawable(what), yscale="log" if logarithmic else "linear")
    draw_lines(axes, {name: ([p.epsilon for p in line], [p.mean for p in line]) for name, line in lines.items()})
    reach = max((point.epsilon for line in lines.values() for point in line), default=1.0)
    for k, (drawn, line) in enumerate(zip(list(axes.lines), lines.values(), strict=True)):
        known = [(point.epsilon, *point.interval) for point in line if point.interval is not None]
        if known:
            places, low, high = (np.array(column) for column in zip(*known, strict=True))
            # on a logarithmic scale nothing is drawn below a third of the lowest mean
            low = np.maximum(low, min(means) / 3) if logarithmic else low
            aside = places + (k - (len(lines) - 1) / 2) * _ASIDE * reach
            axes.vlines(aside, low, high, color=str(drawn.get_color()), alpha=0.6, linewidth=1.0, zorder=1.5)
    if logarithmic:
        plain_numbers(axes)
    legend_right(axes)
    axes.set_title("\n".join(map(drawable, fill(title, _LETTERS).split("\n"))))
    return figure


def draw_floor(axes: Axes, epsilons: Sequence[float], floor: Sequence[Bounds], name: str | None = None) -> None:
    """The certified optimum below the field; where its interval is wide enough to be seen, the interval."""
    lower, upper = [low for low, _ in floor], [high for _, high in floor]
    widest = max(floor, key=lambda ends: ends[1] - ends[0])
    label, marker = name or _floor_label(widest), "o" if len(epsilons) == 1 else ""
    axes.plot(epsilons, upper, color=BLACK, linewidth=2.6, label=label, marker=marker, zorder=3)
    if any(_is_wide(ends) for ends in floor):
        axes.fill_between(epsilons, lower, upper, color=BLACK, alpha=0.2, linewidth=0, label=_INTERVAL)


def comparison(
    epsilons: Sequence[float],
    worst: Mapping[str, Sequence[float]],
    mechanisms: Mapping[str, Mechanism],
    loss: Loss,
    epsilon: float,
    floor: Sequence[Bounds] | None = None,
) -> Figure:
    """Worst case against epsilon (for one epsilon: the leaderboard), beside the error over all inputs at one epsilon.

    Of the mechanisms, the eight best at that epsilon; the certified optimum, if given, is the black line beneath them.
    """
    position = list(epsilons).index(epsilon)
    ranked = sorted(worst, key=lambda name: worst[name][position])[:_MOST_LINES]
    figure = empty_figure(13.0, 5.0)
    left, right = figure.subplots(1, 2)
    if len(epsilons) == 1 and floor is not None:
        draw_leaderboard(
            left, {name: line[0] for name, line in worst.items()}, floor[0], f"worst-case {loss.name} error"
        )
        left.set_title(f"How far above the optimum, ε = {epsilon:g}")
    else:
        draw_over_epsilon(left, epsilons, {name: worst[name] for name in ranked}, f"worst-case {loss.name} error")
        if floor is not None:
            draw_floor(left, epsilons, floor)
        left.set_title("Worst case over the inputs" + _of_how_many(len(ranked), len(worst)))
    draw_errors(right, {name: mechanisms[name] for name in ranked}, loss)
    if floor is not None:
        lower, upper = floor[position]
        right.axhline(upper, color=BLACK, linewidth=2.6, label=f"{_floor_label((lower, upper))}\n(worst case)")
        if _is_wide((lower, upper)):
            right.axhspan(lower, upper, color=BLACK, alpha=0.15, linewidth=0, label=_INTERVAL)
    right.set_title(f"Over the inputs, ε = {epsilon:g}" + _of_how_many(len(ranked), len(worst)))
    legend_right(right)
    return figure


def worst_cases(
    epsilons: Sequence[float], worst: Mapping[str, Sequence[float]], what: str, floor: Sequence[Bounds]
) -> Figure:
    """The left half of a `comparison` alone: where inputs are rows of a matrix there is nothing to draw errors over."""
    figure = empty_figure(8.6, 5.0)
    axes = figure.subplots()
    if len(epsilons) == 1:
        draw_leaderboard(axes, {name: line[0] for name, line in worst.items()}, floor[0], what)
        axes.set_title(f"How far above the optimum, ε = {epsilons[0]:g}")
    else:
        draw_over_epsilon(axes, epsilons, worst, what)
        draw_floor(axes, epsilons, floor)
        legend_right(axes)
    return figure


def draw_leaderboard(axes: Axes, values: Mapping[str, float], floor: Bounds, what: str) -> None:
    """A bar a mechanism, best on top, each with how far it is above the certified optimum (at least)."""
    from matplotlib.transforms import blended_transform_factory

    names = sorted(values, key=lambda name: values[name], reverse=True)
    places = range(len(names))
    optimum = floor[1]
    axes.barh(places, [values[name] for name in names], color=[GREY] * (len(names) - 1) + [BLUE], height=0.7)
    axes.axvline(optimum, color=BLACK, linewidth=2.2, label=_floor_label(floor))
    if _is_wide(floor):
        axes.axvspan(floor[0], optimum, color=BLACK, alpha=0.2, linewidth=0, label=_INTERVAL)
    ends = blended_transform_factory(axes.transAxes, axes.transData)
    for place, name in zip(places, names, strict=True):
        wide = _is_wide(floor)
        text = ("≥ " if wide else "") + above(values[name], optimum, at_least=wide)
        axes.text(1.02, place, text, transform=ends, va="center", fontsize="small")
    most = max(values[name] for name in names)
    if most > 12 * optimum:
        axes.set_xscale("log")
    axes.set(xlabel=what, yticks=list(places), yticklabels=names)
    axes.tick_params(axis="y", labelsize="small")
    axes.legend(frameon=False, fontsize="small", loc="upper right")


def sweep(
    epsilons: Sequence[float],
    floor: Sequence[Bounds],
    field: Mapping[str, Sequence[float]],
    what: str,
    title: str,
    name: str | None = None,
) -> Figure:
    """The certified optimum against the field over epsilon, beside how many per cent each mechanism is above it.

    ``name`` is what ``floor`` is if it is not the certified optimum but, say, the worst case of a design.
    """
    middle = len(epsilons) // 2
    ranked = sorted(field, key=lambda name: field[name][middle])[:_MOST_LINES]
    figure = empty_figure(13.0, 5.0)
    left, right = figure.subplots(1, 2)
    shown = {name: field[name] for name in ranked}
    draw_over_epsilon(left, epsilons, shown, what)
    draw_floor(left, epsilons, floor, name)
    black = name or "the certified optimum"
    label = black.removeprefix("the ")
    left.set_title(f"{label.capitalize()} against the field" + _of_how_many(len(ranked), len(field)))
    excess = {
        name: [100 * (value / high - 1) for value, (_, high) in zip(line, floor, strict=True)]
        for name, line in shown.items()
    }
    draw_lines(right, {name: (epsilons, line) for name, line in excess.items()})
    right.axhline(0.0, color=BLACK, linewidth=2.6, label=label)
    best = sorted(max(line) for line in excess.values())
    right.set(xlabel="privacy parameter ε", ylabel=f"above {black} (%)", title=f"Distance to {black}")
    right.set_ylim(-2, min(1.1 * best[-1], max(3 * best[0], 60)) if best else 10)
    legend_right(right)
    figure.suptitle(drawable(title))
    return figure


def pareto(
    curve: Sequence[tuple[float, float]], field: Mapping[str, tuple[float, float]], loss: Loss, title: str
) -> Figure:
    """Average against worst case: certified trade-offs (each proven at its dot), and where the published ones are."""
    figure = empty_figure(8.0, 5.4)
    axes = figure.subplots()
    worst, average = [point[0] for point in curve], [point[1] for point in curve]
    axes.plot(worst, average, color=BLACK, marker="o", linewidth=2.2, label="certified trade-off")
    reach = 2.2 * max(*worst, 1e-300), 2.2 * max(*average, 1e-300)
    near = {name: place for name, place in field.items() if place[0] <= reach[0] and place[1] <= reach[1]}
    for k, (name, place) in enumerate(sorted(near.items(), key=lambda item: sum(item[1]))):
        axes.plot(*place, marker=mark(k), linestyle="", label=name, color=line_style(k)["color"])
    axes.set(xlabel=f"worst-case {loss.name} error", ylabel=f"average {loss.name} error under the prior")
    hidden = "" if len(near) == len(field) else f"\n{len(near)} of {len(field)} published mechanisms in sight"
    axes.set_title(drawable(title) + hidden)
    legend_right(axes)
    return figure


def above(value: float, optimum: float, *, at_least: bool = False) -> str:
    """How far a value is above an optimum, short enough for a table; ``at_least`` rounds down.

    >>> above(0.2689, 0.2008), above(5.0, 0.2), above(0.2689, 0.2008, at_least=True)
    ('+33.9%', '25 x', '+33.9%')
    >>> above(0.26798, 0.2), above(0.26798, 0.2, at_least=True)
    ('+34.0%', '+33.9%')
    """
    if optimum <= 0:
        return ""
    ratio = value / optimum
    if at_least and math.isfinite(ratio):
        last = 1e-3 if ratio < 10 else 10.0 ** (math.floor(math.log10(ratio)) - 2)
        ratio = math.floor((ratio - 1) / last) * last + 1 if ratio < 10 else math.floor(ratio / last) * last
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f}%" if ratio < 10 else f"{ratio:.3g} x"


def _is_wide(floor: Bounds) -> bool:
    return floor[1] - floor[0] > _VISIBLE_GAP * floor[1]


def _floor_label(floor: Bounds) -> str:
    return "best known" if _is_wide(floor) else "certified optimum"


def _of_how_many(shown: int, total: int) -> str:
    return "" if shown == total else f" (best {shown} of {total})"
