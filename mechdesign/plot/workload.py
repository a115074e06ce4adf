"""A mechanism for a workload: its rows as a heat map, and the noise of each query beside the field, with the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from mechdesign.criteria import Aim
from mechdesign.design import Design, WorkloadProblem
from mechdesign.design.workload import query_noises
from mechdesign.field import THIS, Field, Rank
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.plot.canvas import HEAT, drawable, empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ROWS = 60
_MOST_RIVALS = 8


def workload_design(design: Design, field: Field) -> Figure:
    """Rows, most used first: each report's chances relative to its least one; queries; mechanisms."""
    problem, law = cast(WorkloadProblem, design.problem), cast(Discrete, design.mechanism)
    figure = empty_figure(13.0, 4.4)
    rows, queries, ranks = figure.subplots(1, 3)
    channel = law.probabilities
    order = np.argsort(-channel.sum(axis=0), kind="stable")[:_MOST_ROWS]
    ratios = (channel / channel.min(axis=0))[:, order].T
    mesh = rows.pcolormesh(ratios, cmap=HEAT, rasterized=True)
    figure.colorbar(mesh, ax=rows, label="chance, times the least")
    more = "" if channel.shape[1] <= _MOST_ROWS else f" of {channel.shape[1]}"
    rows.set(xlabel="type", ylabel=f"report, most frequent first ({order.size}{more})", title="Rows")
    rows.invert_yaxis()
    noises = query_noises(design)
    places = np.arange(len(noises))
    queries.plot(places, noises[:, 0], "o-", markersize=3, label="average over types")
    queries.plot(places, noises[:, 1], "--", label="worst type")
    queries.set(xlabel="query", ylabel="variance of one user's answer", title="Noise of each query")
    queries.set_ylim(bottom=0)
    queries.legend()
    shown = [row for row in field.rows if row.name == THIS or row.published][: _MOST_RIVALS + 1]
    worst = problem.criterion.aim is Aim.WORKLOAD_WORST
    values = [row.by(Rank.WORST if worst else Rank.AVERAGE) for row in shown]
    ranks.barh([drawable(row.name) for row in shown], values)
    ranks.axvline(design.certificate.lower, linestyle="--", color="black", label="proven floor")
    ranks.invert_yaxis()
    ranks.set(xlabel="noise, all queries", title="Worst type" if worst else "Average")
    ranks.legend()
    figure.suptitle(drawable(f"{problem.workload.words}, ε = {problem.epsilon:g}"))
    return figure
