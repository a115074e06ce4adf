"""Pictures of joint randomised response: variance over (p, rho), what the budget allows, and the privacy profile."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods.joint.grouping import Grouping, grouping_of
from mechdesign.methods.joint.search import heuristic, parts, ratio
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Design
from mechdesign.plot.canvas import BLACK, BLUE, GREY, HEAT, VERMILION, Floats, draw_lines, empty_figure, line_style
from mechdesign.values.declare import evolved
from mechdesign.words.classes import Together
from mechdesign.words.privacy import Collusion
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELLS = 400
_RANGE = (0.1, 10.0)  # variances are drawn in multiples of independent responses'
_SIGN = 11  # the height of an infinity sign in points


def joint_design(design: Design) -> Figure:
    """The law beside its privacy profile: pairs in the heat map of all pairs, groups by how many answer truthfully."""
    problem, _, told = parts(design)
    profiles = {f"this design (groups of {problem.group})": told.conditional}
    figure = empty_figure(12.6, 5.0)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    if problem.is_pair:
        draw_heat_map(left, design.problem)
    else:
        draw_law(left, design)
    if problem.categories == 2 and problem.users % 2 == 0:
        pairs = _pairs(design.problem)
        if problem.group > 2:
            profiles["best pairs, same budget"] = parts(solve(pairs))[2].conditional
        profiles["paper's heuristic (pairs)"] = heuristic(pairs).privacy.conditional
    draw_profile(right, profiles, problem.epsilon)
    return figure


def draw_law(axes: Axes, design: Design) -> None:
    """How many of a group answer truthfully, with what probability: this design, and users who answer on their own."""
    problem, chosen, _ = parts(design)
    group, limit = problem.group, math.exp(problem.epsilon)
    alone = JointResponse.independent(limit / (limit + problem.categories - 1), group, problem.categories)
    places = np.arange(group + 1)
    for shift, label, law, colour in (
        (-0.2, "this design", chosen, BLUE),
        (0.2, f"each on their own, ε = {problem.epsilon:g}", alone, GREY),
    ):
        axes.bar(places + shift, [float(weight) for weight in law.weights], width=0.4, color=colour, label=label)
    axes.set(xlabel=f"truthful answers in a group of {group}", ylabel="probability")
    axes.set_xticks(places[:: max(1, (group + 1) // 12)])
    axes.set_title(
        f"Groups of {group}: ε = {problem.epsilon:g}, n = {problem.users}, {_share(problem)}, m = {problem.colluders}; "
        f"variance {ratio(design):.3g} of RR's"
    )
    axes.legend(frameon=False, fontsize="small", loc="upper left")


def joint_heat_map(problems: Sequence[Problem]) -> Figure:
    """Figure 4.1: a panel a problem."""
    figure = empty_figure(6.4 * len(problems), 4.8)
    for axes, problem in zip(figure.subplots(1, len(problems), squeeze=False)[0], problems, strict=True):
        draw_heat_map(axes, problem)
    return figure


def joint_profile(profiles: Mapping[str, Sequence[float]], epsilon: float) -> Figure:
    """Epsilon against the number of known partners, a line a law."""
    figure = empty_figure(7.0, 4.6)
    draw_profile(figure.subplots(), profiles, epsilon)
    return figure


def draw_heat_map(axes: Axes, asked: Problem) -> None:
    """The variance of pairs over (p, rho): hatched where the budget forbids it, white where no table exists."""
    problem = grouping_of(asked)
    if not problem.is_pair:
        raise InvalidInput("group", problem.group, "be 2, with two categories, to be drawn as a heat map")
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Patch

    p = np.linspace(0.5, 1, _CELLS + 1)[1:-1]
    rho = np.linspace(-1, 1, _CELLS + 1)
    across, along = np.meshgrid(p, rho)
    variance, possible, allowed = _surface(problem, across, along)
    base = problem.independent_variance
    shown = np.where(possible, variance / base, np.nan)
    mesh = axes.pcolormesh(p, rho, np.clip(shown, *_RANGE), cmap=f"{HEAT}_r", norm=LogNorm(*_RANGE), rasterized=True)
    bar = axes.figure.colorbar(mesh, ax=axes, label="variance / variance of independent RR", extend="both")
    bar.ax.yaxis.set_major_formatter("{x:g}")
    forbidden = np.where(possible & ~allowed, 1.0, np.nan)
    axes.contourf(across, along, forbidden, levels=[0.5, 1.5], colors="none", hatches=["////"])
    axes.contour(across, along, np.where(possible, allowed, np.nan), levels=[0.5], colors=[BLACK], linewidths=1.2)
    best, rule = parts(solve(asked))[1], heuristic(asked)
    independent = math.exp(problem.epsilon) / (1 + math.exp(problem.epsilon))
    # these three may be one point: each marker leaves something to see of the ones below it
    for name, x, y, marker, size, colour in (
        ("optimum", float(best.truth), float(best.rho), "*", 22, BLUE),
        ("independent RR", independent, 0.0, "o", 8, GREY),
        ("paper's heuristic", float(rule.law.truth), float(rule.law.rho), "D", 5, VERMILION),
    ):
        axes.plot(x, y, marker, color=colour, markersize=size, markeredgecolor="white", label=name)
    handles, _ = axes.get_legend_handles_labels()
    handles.append(Patch(facecolor="white", edgecolor=BLACK, hatch="////", label="beyond the budget"))
    axes.legend(handles=handles, loc="upper right", fontsize="small", framealpha=0.9)
    axes.set(xlabel="p, probability of a truthful report", ylabel="correlation ρ of the truths of a pair")
    axes.set(xlim=(0.5, 1), ylim=(-1, 1))
    axes.set_title(f"Pairs: ε = {problem.epsilon:g}, n = {problem.users}, {_share(problem)}, m = {problem.colluders}")


def _surface(problem: Grouping, p: Floats, rho: Floats) -> tuple[Floats, np.ndarray, np.ndarray]:
    """Variance, whether a table exists, and whether the budgets allow it, over a grid."""
    goal, q = problem.goal(), 1 - p
    extra = np.maximum(float(goal.low) * rho, float(goal.high) * rho)
    variance = p * q * (problem.users + extra) / (p - q) ** 2
    possible = (q * q + rho * p * q >= 0) & (p * p + rho * p * q >= 0)
    known = np.maximum(p + rho * q, (1 - rho) * p)
    chance = problem.colluders / (problem.users - 1)
    limit = math.exp(problem.epsilon)
    allowed = (1 - chance) * p + chance * known <= limit / (1 + limit)
    caps = problem.privacy.caps
    if caps and caps[0] is not None:
        cap = math.exp(caps[0])
        allowed &= known <= cap / (1 + cap)
    return variance, possible, allowed


def draw_profile(axes: Axes, profiles: Mapping[str, Sequence[float]], epsilon: float) -> None:
    """Epsilon once c partners of one's own group are known; lines end at the last finite value, infinite ones are
    infinity signs on the upper edge."""
    finite = [value for line in profiles.values() for value in line if math.isfinite(value)]
    top = 1.25 * max([*finite, epsilon])
    signs: Counter[int] = Counter()
    shown = {name: [value if math.isfinite(value) else math.nan for value in line] for name, line in profiles.items()}
    draw_lines(axes, {name: (range(len(line)), line) for name, line in shown.items()}, clip_on=False)
    for k, line in enumerate(profiles.values()):
        style = line_style(k)
        endless = [c for c, value in enumerate(line) if not math.isfinite(value)]
        for c in endless:
            # one above the other, or the signs of two laws would hide each other
            lift = (0, 3 + _SIGN * signs[c])
            signs[c] += 1
            axes.annotate(
                "∞", (c, top), lift, textcoords="offset points", ha="center", color=style["color"], fontsize="x-large"
            )
    axes.axhline(epsilon, color=BLACK, linewidth=1.0, linestyle=":", label=f"ε asked for = {epsilon:g}")
    longest = max(len(line) for line in profiles.values())
    axes.set(ylim=(0, top), xlim=(-0.1, longest - 1 + 0.1), xlabel="partners of your group that collude")
    step = max(1, longest // 8)
    axes.set_xticks(range(0, longest, step))
    axes.set_ylabel("your ε, given what they know")
    axes.set_title("What your partners can learn about you", pad=6 + _SIGN * max(signs.values(), default=0))
    axes.legend(frameon=False, fontsize="small", loc="best")


def _pairs(problem: Problem) -> Problem:
    assert isinstance(problem.privacy, Collusion)
    return evolved(problem, privacy=evolved(problem.privacy, caps=problem.privacy.caps[:1]), among=Together(group=2))


def _share(problem: Grouping) -> str:
    if problem.count is not None:
        return f"$n_1$ = {problem.count}"
    return f"$n_1/n$ in {list(problem.share)}" if isinstance(problem.share, tuple) else "$n_1/n$ from a prior"
