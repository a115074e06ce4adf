"""The worst type of queries that do not ask for all shares: mechanism and prior at once, then the rows of its proof."""

from __future__ import annotations

import numpy as np

from mechdesign.methods.result import Design
from mechdesign.methods.workload.channel import channel_table, mixture_of
from mechdesign.methods.workload.multipliers import multipliers
from mechdesign.methods.workload.pricing import MOST_TRIED
from mechdesign.methods.workload.saddle import MOST_UNKNOWNS, basis_of, worst_saddle
from mechdesign.methods.workload.task import COLUMNS_SHARE, Task
from mechdesign.words.criteria import Worst

_INSIDE_SADDLE = 0.2  # of the gap, for the rows of a prior
_FLOOR = 0.1  # of the gap: the least prior of a type, relative to an even one


def fits(task: Task) -> bool:
    if not isinstance(task.problem.criterion, Worst):
        return False
    basis = basis_of(task.queries)
    is_small = len(basis) < task.size or task.size <= MOST_TRIED
    return is_small and task.size * (len(basis) + 2) <= MOST_UNKNOWNS


def answer(task: Task) -> Design:
    gap, clock = task.gap, task.part(COLUMNS_SHARE)
    columns = task.columns()
    saddle = worst_saddle(basis_of(task.queries), task.ratio, _FLOOR * gap, _INSIDE_SADDLE * gap, columns, clock)
    prior, rows = saddle.prior, saddle.rows
    # a little of the rows of the proof, which tell all types apart
    parts = [(saddle.bits, saddle.weights), (rows.bits, rows.weights(task.ratio, prior))]
    weighted = [{row.tobytes(): own for row, own in zip(bits, each.tolist(), strict=True)} for bits, each in parts]
    share = _FLOOR * gap
    bits, weights = mixture_of(weighted, np.array([1 - share, share]))
    task.details |= {"rounds": columns.rounds + saddle.rounds}
    table = channel_table(task, bits, weights, prior)
    return task.designed(table, multipliers(task, rows, prior, prior), "cones on rows, interior point on rows")
