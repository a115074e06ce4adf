"""Pictures of hidden joint responses: how many lie, and the variance of each law against how many collude."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import NoAnswer
from mechdesign.mechanisms.hidden import PeakedResponse
from mechdesign.methods.hidden_joint.crowd import Crowd
from mechdesign.methods.hidden_joint.search import parts
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Design
from mechdesign.plot.canvas import BLACK, BLUE, GREEN, GREY, VERMILION, Floats, empty_figure
from mechdesign.values.declare import evolved
from mechdesign.words.classes import Together
from mechdesign.words.privacy import Collusion, Hidden
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PLACES = 9
_SEEN = 1e-4
_LARGER = {4: "s", 8: "^"}
_FEW_PARTS = (0.0, 1 / 16, 1 / 8, 1.0)
"""Where larger groups are drawn: a search in between can take minutes."""
_GROUPS_GAP, _GROUPS_SECONDS = 0.02, 1.0


def hidden_design(design: Design) -> Figure:
    """How many lie beside the variance of each law, against how many collude."""
    figure = empty_figure(12.6, 5.0)
    left, right = figure.subplots(1, 2)
    draw_liars(left, design)
    draw_variances(right, design)
    return figure


def draw_liars(axes: Axes, design: Design) -> None:
    """The law of the number of liars, and that of users who answer on their own."""
    problem, law, _ = parts(design)
    alone = PeakedResponse(problem.users, 0, problem.ratio(up=False), problem.answers)
    for name, one, colour in ((f"each on their own, ε = {problem.epsilon:g}", alone, GREY), ("this law", law, BLUE)):
        least, chances = one.liars_law()
        seen = np.flatnonzero(chances > _SEEN * chances.max())
        places = least + np.arange(seen[0], seen[-1] + 1)
        axes.fill_between(places, chances[seen[0] : seen[-1] + 1], step="mid", color=colour, alpha=0.6, label=name)
    axes.set(xlabel="users who lie", ylabel="probability", ylim=(0, None))
    axes.set_title(f"How many of {problem.users} users lie")
    axes.legend(frameon=False, fontsize="small")


def draw_variances(axes: Axes, design: Design) -> None:
    """Variance against the number of colluders: groups keep eps on average only, this law whoever colludes."""
    problem, _, _ = parts(design)
    base = problem.independent_variance
    colluders = np.unique(np.linspace(0, problem.users - 1, _PLACES).astype(int))
    axes.axhline(1.0, color=GREY, linestyle="--", label="each on their own")
    if _has_groups(problem, 2):
        pairs = _pairs(design.problem, colluders) / base
        axes.plot(colluders, pairs, "o-", color=VERMILION, label="pairs, eps on average only")
    for group, mark in _LARGER.items():
        if _has_groups(problem, group):
            label = f"groups of {group}, eps on average only"
            axes.plot(*_larger(design.problem, group, base), mark, color=GREEN, linestyle="none", label=label)
    axes.axhline(
        design.certificate.upper / base, color=BLUE, linewidth=2, label="this law, eps whoever colludes: the optimum"
    )
    if problem.floor is not None:
        axes.axhline(problem.floor, color=BLACK, linestyle=":", label="4 s (1-s): the floor of many users")
    axes.set(xlabel="others who collude", ylabel="variance / variance of independent answers", ylim=(0, 1.1))
    axes.set_title(f"ε = {problem.epsilon:g}, n = {problem.users}")
    axes.legend(frameon=False, fontsize="small", loc="best")


def _has_groups(problem: Crowd, group: int) -> bool:
    return problem.answers == 2 and problem.encoding == "response" and problem.users % group == 0


def _in_groups(problem: Problem, colluders: int, group: int) -> Problem:
    """The same count by groups that keep eps on average over the grouping."""
    assert isinstance(problem.privacy, Hidden)
    privacy = Collusion(problem.epsilon, problem.privacy.users, colluders)
    return evolved(problem, privacy=privacy, among=Together(group=group))


def _pairs(problem: Problem, colluders: Floats) -> Floats:
    """The variance of the best pairs."""
    return np.array([solve(_in_groups(problem, int(m), 2)).certificate.upper for m in colluders])


def _larger(problem: Problem, group: int, base: float) -> tuple[list[int], list[float]]:
    """Some numbers of colluders and the variance of larger groups there, as a share of independent answers'.

    What is drawn is attained, and within `_GROUPS_GAP` of the best; a place whose search takes long is left out.
    """
    assert isinstance(problem.privacy, Hidden)
    places, heights = [], []
    for part in _FEW_PARTS:
        colluders = int(part * (problem.privacy.users - 1))
        try:
            best = solve(_in_groups(problem, colluders, group), _GROUPS_SECONDS, gap=_GROUPS_GAP).certificate.upper
        except NoAnswer:
            continue
        places.append(colluders)
        heights.append(best / base)
    return places, heights
