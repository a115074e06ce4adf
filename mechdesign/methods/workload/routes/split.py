"""The average with hundreds of types: rows and a relaxation by splitting, in turn."""

from __future__ import annotations

from mechdesign.methods.result import Design
from mechdesign.methods.workload.multipliers import ENOUGH, split_bound
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.routes.rows import design_of
from mechdesign.methods.workload.task import COLUMNS_SHARE, Task
from mechdesign.words.criteria import Worst

_INSIDE_RELAXED = (3.0, 0.6, 0.15)  # rows found by climbing are far better than their own prices can show


def fits(task: Task) -> bool:
    return not isinstance(task.problem.criterion, Worst)


def answer(task: Task) -> Design:
    """The nearer a matrix is to the best one, the tighter is the relaxation."""
    columns, prior, gap = task.columns(), task.prior, task.gap
    known = task.known(prior)
    bounds: list[tuple[float, WorkloadBound]] = []
    for inside in _INSIDE_RELAXED:
        rows = columns.run(prior, inside * gap, known, task.part(COLUMNS_SHARE), task.say)
        bounds.append(split_bound(task, rows, prior, None))
        bound, evidence = max(bounds, key=lambda found: found[0])
        if rows.value - bound <= ENOUGH * gap * (rows.value - known) or task.clock.is_over:
            break
    return design_of(task, columns, rows, evidence)
