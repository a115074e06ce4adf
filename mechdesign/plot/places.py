"""Maps of mechanisms on places: where one place is reported, what each place loses, and the pairs that bind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.pairwise.proof import errors_up, output_columns
from mechdesign.plot.canvas import HEAT, Floats, drawable, empty_figure
from mechdesign.words.pairs import Metric
from mechdesign.words.places import GREAT_CIRCLE
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NEAR = 1e-6  # of a pair's epsilon: so little left is none that a picture shows
_MOST_LINES = 4000
_AREA = 500.0  # square points, of the output that is reported most


def places_map(problem: Problem, mechanism: Discrete, place: int | None = None) -> Figure:
    """The law of the report of one place (the most central unless given), errors of all places, and binding pairs."""
    assert isinstance(problem.privacy, Metric)
    points, places = problem.privacy.points, problem.table.places
    assert places is not None
    flip = problem.privacy.distance == GREAT_CIRCLE
    inputs, outputs = (at[:, ::-1] if flip else at for at in (points, places[output_columns(mechanism, problem)]))
    shown = int(np.argmin(((inputs - inputs.mean(axis=0)) ** 2).sum(axis=1))) if place is None else place
    figure = empty_figure(13.5, 4.8)
    law, errors, pairs = figure.subplots(1, 3)
    table = mechanism.probabilities / mechanism.probabilities.sum(axis=1, keepdims=True)
    row = table[shown]
    marks = law.scatter(*outputs.T, s=_AREA * row / row.max() + 2, c=row, cmap=HEAT, vmin=0.0)
    law.plot(*inputs[shown], "x", color="black", markersize=9)
    figure.colorbar(marks, ax=law, label="probability")
    name = (problem.table.names[0] or tuple(map(str, range(len(points)))))[shown]
    law.set_title(f"Reports of {drawable(name, 24)}")
    lost = errors.scatter(*inputs.T, c=errors_up(mechanism, problem), cmap=HEAT, s=60)
    figure.colorbar(lost, ax=errors, label="expected loss")
    errors.set_title("What each place loses")
    _draw_pairs(pairs, inputs, table, problem.privacy.epsilons)
    for axes in (law, errors, pairs):
        axes.set(xlabel="longitude" if flip else "x", ylabel="latitude" if flip else "y")
        axes.margins(0.15)
        axes.set_aspect("equal", adjustable="datalim")
    figure.suptitle(f"{drawable(mechanism.name)}, {problem.words.privacy.replace('eps', 'ε')}")
    return figure


def _draw_pairs(axes: Axes, inputs: Floats, table: Floats, epsilons: Floats) -> None:
    """Lines between places whose ratio reaches its limit in some output, the nearest pairs if they are very many."""
    found = []
    for first in range(len(table)):
        with np.errstate(divide="ignore", invalid="ignore"):
            used = np.nanmax(np.where(table[first] > 0, np.log(table[first] / table), -np.inf), axis=1)
        for second in np.flatnonzero(used >= epsilons[first] * (1 - _NEAR)).tolist():
            if first != second:
                found.append((float(epsilons[first, second]), first, second))
    for _, first, second in sorted(found)[:_MOST_LINES]:
        axes.plot(*inputs[[first, second]].T, color="C0", linewidth=0.7, alpha=0.5)
    axes.plot(*inputs.T, "o", color="black", markersize=3)
    axes.set_title(f"Pairs that bind: {len(found)} of {len(table) * (len(table) - 1)}")
