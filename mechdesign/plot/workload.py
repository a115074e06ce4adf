"""A mechanism for a workload: its rows as a heat map, and the noise of each query beside the field, with the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from mechdesign.field import THIS, Field, Rank
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.result import Design
from mechdesign.methods.workload.estimator import query_noises
from mechdesign.methods.workload.supports import workload_of
from mechdesign.plot.canvas import BLACK, BLUE, GREY, HEAT, draw_lines, drawable, empty_figure
from mechdesign.words.criteria import Worst

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ROWS = 60
_MOST_RIVALS = 8


def workload_design(design: Design, field: Field) -> Figure:
    """Rows, most used first: each report's chances relative to its least one; queries; mechanisms."""
    from matplotlib.ticker import MaxNLocator

    problem, law, workload = design.problem, cast(Discrete, design.mechanism), workload_of(design.problem)
    figure = empty_figure(13.0, 4.4)
    rows, queries, ranks = figure.subplots(1, 3)
    channel = law.probabilities
    order = np.argsort(-channel.sum(axis=0), kind="stable")[:_MOST_ROWS]
    ratios = (channel / channel.min(axis=0))[:, order].T
    types, reports = (np.arange(count + 1) - 0.5 for count in ratios.T.shape)
    mesh = rows.pcolormesh(types, reports, ratios, cmap=HEAT, rasterized=True)
    figure.colorbar(mesh, ax=rows, label="chance, times the least")
    more = "" if channel.shape[1] <= _MOST_ROWS else f" of {channel.shape[1]}"
    rows.set(xlabel="type", ylabel=f"report, most frequent first ({order.size}{more})", title="Rows")
    rows.invert_yaxis()
    noises = query_noises(design)
    places = np.arange(len(noises))
    queries.set(xlabel="query", ylabel="variance of one user's answer", title="Noise of each query")
    draw_lines(queries, {"average over types": (places, noises[:, 0]), "worst type": (places, noises[:, 1])})
    queries.set_ylim(0, 1.06 * float(noises.max()))
    for axis in (rows.xaxis, queries.xaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    queries.legend(loc="lower left")
    shown = [row for row in field.rows if row.name == THIS or row.published][: _MOST_RIVALS + 1]
    worst = isinstance(problem.criterion, Worst)
    values = [row.by(Rank.WORST if worst else Rank.AVERAGE) for row in shown]
    colours = [BLUE if row.name == THIS else GREY for row in shown]
    ranks.barh([drawable(row.name) for row in shown], values, color=colours, height=0.7)
    ranks.axvline(design.certificate.lower, linestyle="--", color=BLACK, label="proven floor")
    ranks.invert_yaxis()
    ranks.set(xlabel=f"noise, {workload.summed}", title="Worst type" if worst else "Average")
    ranks.legend()
    figure.suptitle(drawable(f"{workload.queries.words}, ε = {problem.epsilon:g}"))
    return figure
