"""The average beyond rows that can be tried: a semidefinite relaxation bounds, rows come near, a tree closes it."""

from __future__ import annotations

from mechdesign.methods.result import Design
from mechdesign.methods.workload.branching import MOST_BRANCHED
from mechdesign.methods.workload.interior import MOST_INTERIOR
from mechdesign.methods.workload.multipliers import ENOUGH, relaxation_bound, tree_bound
from mechdesign.methods.workload.routes.rows import design_of
from mechdesign.methods.workload.task import COLUMNS_SHARE, Task
from mechdesign.words.criteria import Worst

_ROUGH, _ROUGH_SHARE = 0.1, 0.2  # the gap of rows at which the relaxation starts, and their share of the time
_INSIDE_ROWS = 0.6  # of the gap


def fits(task: Task) -> bool:
    return task.size <= MOST_INTERIOR and not isinstance(task.problem.criterion, Worst)


def answer(task: Task) -> Design:
    columns, prior, gap = task.columns(), task.prior, task.gap
    known = task.known(prior)
    rows = columns.run(prior, max(gap, _ROUGH), known, task.part(_ROUGH_SHARE), task.say)
    bound, evidence = relaxation_bound(task, rows, prior, None)
    rows = columns.run(prior, _INSIDE_ROWS * gap, known, task.part(COLUMNS_SHARE), task.say, bound)
    is_open = rows.value - bound > ENOUGH * gap * (rows.value - known)
    if is_open and task.size <= MOST_BRANCHED and not task.clock.is_over:
        bound, evidence = max((bound, evidence), tree_bound(task, rows, prior), key=lambda found: found[0])
    return design_of(task, columns, rows, evidence)
