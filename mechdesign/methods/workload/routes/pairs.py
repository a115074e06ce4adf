"""Tables of several attributes and parities: everything by counts of pairs of types, whatever their number."""

from __future__ import annotations

from mechdesign.exact.bits import MOST_BITS
from mechdesign.methods.result import Design
from mechdesign.methods.workload.grid_search import GridSearch, shape_of
from mechdesign.methods.workload.task import Task


def fits(task: Task) -> bool:
    return shape_of(task.problem) is not None


def leads(task: Task) -> bool:
    """Where all rows can be tried these come nearer."""
    return fits(task) and task.size > MOST_BITS


def answer(task: Task) -> Design:
    shape = shape_of(task.problem)
    assert shape is not None
    return GridSearch(task.problem, shape, task.gap, task.clock, task.say).run()
