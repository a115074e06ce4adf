"""The error of several numbers of each person over epsilon: what is proven of the least, and published ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.methods.registry import solve
from mechdesign.methods.sign_patterns.rivals import vector_rivals
from mechdesign.plot.canvas import draw_lines, empty_figure, legend_right, plain_numbers
from mechdesign.words.classes import Unbiased
from mechdesign.words.domains import cube_of
from mechdesign.words.losses import Squared
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EPSILONS = tuple(np.linspace(0.5, 8.0, 31).tolist())
_SHOWN = ("hm, sampled", "laplace, split", "duchi's for several numbers", "privunit on the ball around")


def vector_errors(counts: Sequence[int]) -> Figure:
    """A panel for so many numbers in [-1, 1]: variances of one report, all numbers together, at the worst values."""
    figure = empty_figure(2.6 + 3.4 * len(counts), 4.4)
    all_axes = figure.subplots(1, len(counts), squeeze=False)[0]
    for axes, count in zip(all_axes, counts, strict=True):
        asked = [
            Problem(inputs=cube_of(count), loss=Squared(), privacy=Pure(one), among=Unbiased()) for one in _EPSILONS
        ]
        proven = [solve(one, method="sign_patterns").certificate for one in asked]
        ways: dict[str, list[float]] = {name: [] for name in _SHOWN}
        for one in _EPSILONS:
            worst = {rival.name: rival.worst([1.0] * count) for rival in vector_rivals(one, count)}
            for name, line in ways.items():
                line.append(worst.get(name, worst["hm, split"]))  # all of the numbers are drawn
        lower, upper = [one.lower for one in proven], [one.upper for one in proven]
        axes.fill_between(_EPSILONS, lower, upper, color="0.85", label="where the optimum is proven to be")
        draw_lines(axes, {name: (_EPSILONS, line) for name, line in {"sign patterns": upper, **ways}.items()})
        axes.set_yscale("log")
        axes.set_ylim(max(min(lower), min(upper) / 30), 1.2 * max(ways["hm, sampled"]))
        axes.set(xlabel="privacy parameter ε", title=f"{count} numbers of each person")
        plain_numbers(axes)
    all_axes[0].set_ylabel("worst variance of one report, all numbers")
    legend_right(all_axes[-1])
    return figure
