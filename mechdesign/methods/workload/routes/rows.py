"""The average where prices of rows prove themselves: all can be tried, or types are alike, or one query is asked."""

from __future__ import annotations

from mechdesign.exact.bits import MOST_BITS
from mechdesign.methods.result import Design
from mechdesign.methods.workload.channel import channel_table
from mechdesign.methods.workload.columns import Columns, Rows
from mechdesign.methods.workload.multipliers import multipliers
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.task import Task
from mechdesign.words.criteria import Worst

INSIDE = 0.4  # of the gap, for the rows; the rest is for the proof and for rounding


def fits(task: Task) -> bool:
    if isinstance(task.problem.criterion, Worst):
        return False
    return task.size <= MOST_BITS or len(task.queries) == 1 or task.is_alike(task.prior)


def answer(task: Task) -> Design:
    columns, prior = task.columns(), task.prior
    rows = columns.run(prior, INSIDE * task.gap, task.known(prior), task.clock, task.say)
    return design_of(task, columns, rows, multipliers(task, rows, prior))


def design_of(task: Task, columns: Columns, rows: Rows, evidence: WorkloadBound) -> Design:
    """The channel of these rows for the problem's own prior."""
    task.details["rounds"] = columns.rounds
    mechanism = channel_table(task, rows.bits, rows.weights(task.ratio, task.prior), task.prior)
    return task.designed(mechanism, evidence, "interior point on rows")
