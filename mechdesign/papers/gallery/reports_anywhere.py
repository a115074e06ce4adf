"""Reports anywhere in the plane are worth little more than reports at the places.

Where reports are not bound to the places, the least ``sum_x p_x E|Y - x|`` over laws on the whole plane with
``q(y|x) <= e^(eps |x - x'|) q(y|x')`` is an infinite program. A report in a rectangle may be moved at random to its
corners with the report as their mean: that costs no privacy, and no more loss than the cut costs. So finitely many
columns bound all of them.

Ours is the proven lower end over all mechanisms, for nine places on a square grid with spacing 1, eps = 1 a unit and
equal shares; the reference is the least mean distance with reports on a grid four times as fine, from a linear program:
it is one of those mechanisms, and not far above.

From: this package.
"""

import itertools
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy import sparse

import mechdesign as md
from mechdesign.papers.gallery.agreement import at_most
from mechdesign.papers.gallery.reference import program, sums

CHAPTER = "Directions and places"
TOLERANCE = at_most(0)
EPSILON, SIDE, FINER = 1.0, 3, 4
PLACES = np.array(list(itertools.product(range(SIDE), repeat=2)), dtype=float)


def on_a_grid(finer: int) -> float:
    """The least mean distance with reports on a grid."""
    line = np.linspace(0, SIDE - 1, (SIDE - 1) * finer + 1)
    reports = np.array(list(itertools.product(line, repeat=2)))
    inputs, outputs = len(PLACES), len(reports)
    far = np.linalg.norm(PLACES[:, None] - PLACES, axis=2)
    unit = sparse.identity(outputs)
    rows: list[Any] = []
    for one, other in itertools.permutations(range(inputs), 2):
        blocks: list[Any] = [sparse.csr_array((outputs, outputs))] * inputs
        blocks[one], blocks[other] = unit, -np.exp(EPSILON * far[one, other]) * unit
        rows.append(sparse.hstack(blocks))
    cost = np.linalg.norm(PLACES[:, None] - reports, axis=2).ravel() / inputs
    return program(cost, sums(inputs, np.ones(outputs)), np.ones(inputs), sparse.vstack(rows))[0]


def anywhere() -> md.Design:
    problem = md.Problem(
        loss=md.Distances(), privacy=md.Metric(PLACES, EPSILON), criterion=md.Average(), among=md.InPlane()
    )
    return md.solve(problem, gap=1e-3)


def answer() -> tuple[float, float]:
    return anywhere().certificate.lower, on_a_grid(FINER)


def picture(axes: Axes) -> None:
    finer = (1, 2, 3, 4)
    axes.plot(finer, [on_a_grid(k) for k in finer], "o-", label="reports on a grid")
    found = anywhere().certificate
    axes.axhline(found.lower, color="black", linestyle="--", label="proven floor, reports anywhere")
    axes.set(title="Nine places, eps = 1 a unit of distance", xlabel="points of the grid a unit", ylabel="mean error")
    axes.set_xticks(finer)
    axes.legend(loc="upper right")
