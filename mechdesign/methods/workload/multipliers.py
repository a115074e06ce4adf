"""The multipliers that prove a bound for one prior: those of rows, of a semidefinite relaxation, or of a tree."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.exact.bits import MOST_BITS
from mechdesign.methods.workload.branching import Tree
from mechdesign.methods.workload.columns import Rows
from mechdesign.methods.workload.cone import Split, splits_of
from mechdesign.methods.workload.interior import MOST_INTERIOR, Interior
from mechdesign.methods.workload.pricing import Prices
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.relaxation import Relaxation
from mechdesign.methods.workload.task import Task
from mechdesign.values.declare import Floats

_INSIDE_TREE = 0.2  # of the gap
_BLUR = 1e-3  # of the gap
_ACCURATE = 3e-2  # of the gap, for the relaxation
_NEAR = 0.7  # to known moments; the rest are those of coins, which are far from all edges
_SPLIT_ROUNDS, _MOST_SPLITS = 12, 12
_RELAXED_STEPS = 500
_MOST_TURNS = 400
_TURNS = 10  # of the relaxation for one matrix, in which it has to get on
ENOUGH = 0.8  # of the gap
_GETS_ON = 0.1  # of the gap that is left


def multipliers(task: Task, rows: Rows, prior: Floats, told: Floats | None = None) -> WorkloadBound:
    """The multipliers for one prior; ``told`` is the prior where the evidence has to say it."""
    if task.is_alike(prior):
        return _alike(task, told)
    if len(task.queries) == 1 or task.size <= MOST_BITS:
        # the proof may pay far more for what is wanting: its row may be one with large entries
        priced = rows.priced
        return WorkloadBound(task.dual(priced.inverse), priced.prices + rows.wanting * prior, told)
    return relaxation_bound(task, rows, prior, told)[1]


def _alike(task: Task, told: Floats | None) -> WorkloadBound:
    """Where types are alike M is ``a I + b J``, and the best rows have m or m + 1 entries c each.

    With ``M 1 = k 1``, ``tr(GM^-1)`` falls in the trace of M, which is that of the rows with the best m.
    """
    size, gain = task.size, task.ratio - 1
    counts = np.arange(size + 1)
    traces = (size + (task.ratio**2 - 1) * counts) / (1 + gain * counts / size) ** 2
    a = (float(traces.max()) - size) / (size - 1)  # eigenvalues: a (k - 1 times), and k for the vector of ones
    inverse = np.eye(size) / a + (1 / size - 1 / a) / size
    dual = task.dual(inverse)
    square = inverse @ task.gram @ inverse
    prices = np.full(size, float(np.sum(task.gram * inverse)) / size)
    excess = Prices(square, prices, np.full(size, 1 / size), task.ratio).excess(np.tri(size, size, -1, dtype=bool))
    return WorkloadBound(dual, prices + max(0.0, float(excess.max())) / size, told)


def relaxation_bound(task: Task, rows: Rows, prior: Floats, told: Floats | None) -> tuple[float, WorkloadBound]:
    """The bound of the relaxation at its own optimum, with splits as long as these matter."""
    if task.size > MOST_INTERIOR:
        return split_bound(task, rows, prior, told)
    known, gap = task.known(prior), task.gap
    # of queries that do not ask for all shares a little of the histogram is asked beside them: M is decided then
    unit = float(np.trace(task.gram)) / task.size
    interior = Interior(task.gram, task.ratio, prior, _BLUR * gap * unit)
    lifted = _lifted(task, rows, prior)
    splits: tuple[Split, ...] = ()
    best, best_bound = None, -math.inf
    for _ in range(_SPLIT_ROUNDS):
        start = _NEAR * lifted + (1 - _NEAR) * interior.even()
        found = interior.run(start, splits, _ACCURATE * gap, task.clock)
        bound, before = found.bound, best_bound
        if bound > best_bound or best is None:
            best_bound, lifted = bound, found.lifted
            best = WorkloadBound(task.dual(found.inverse), found.prices, told, found.multipliers, found.splits)
        task.details["relaxed"] = task.details.get("relaxed", 0) + 1
        task.say(best_bound - known, rows.value - known)
        fresh = splits_of(found.lifted, splits, _MOST_SPLITS)
        is_slow = best_bound - before < _GETS_ON * gap * (rows.value - known)
        if not fresh or is_slow or task.clock.is_over:
            break
        both = [(split, split.turned()) if interior.turns else (split,) for split in fresh]
        splits = splits + tuple(dict.fromkeys(split for pair in both for split in pair))
    assert best is not None
    return best_bound, best


def tree_bound(task: Task, rows: Rows, prior: Floats) -> tuple[float, WorkloadBound]:
    """The bound of the prices of rows, and the tree that shows how much is wanting in them at most."""
    found, known = rows.found, task.known(prior)
    square = found.inverse @ task.gram @ found.inverse
    asked = Prices((square + square.T) / 2, found.prices, prior, task.ratio)
    enough = _INSIDE_TREE * task.gap * (rows.value - known)
    grown = Tree(asked, found.value, rows.bits).grown(enough, task.clock)
    task.details["leaves"] = len(grown.leaves)
    prices = found.prices + grown.wanting * prior
    value = float(np.sum(task.gram * found.inverse))
    return value**2 / float(prices.sum()), WorkloadBound(task.dual(found.inverse), prices, None, leaves=grown.leaves)


def split_bound(task: Task, rows: Rows, prior: Floats, told: Floats | None) -> tuple[float, WorkloadBound]:
    """The best bound of a relaxation, at the matrix that mixes its own moments with those of the rows.

    The relaxation allows a little more than rows do: at the least point of the larger set its multipliers fit.
    """
    relaxation = Relaxation(task.ratio, prior, _lifted(task, rows, prior))
    moment = np.asarray(np.linalg.inv(rows.found.inverse), dtype=np.float64)
    known, best, best_bound = task.known(prior), None, -math.inf
    stage_bound = best_bound
    for turn in range(1, _MOST_TURNS + 1):
        inverse = np.linalg.inv(moment)
        inverse = (inverse + inverse.T) / 2
        value = float(np.sum(task.gram * inverse))
        account = relaxation.improved(inverse @ task.gram @ inverse, value, _RELAXED_STEPS, 1e-9)
        bound = value**2 / account.total
        if bound > best_bound:
            best_bound, best = bound, WorkloadBound(task.dual(inverse), account.prices, told, account.multipliers)
        task.say(best_bound - known, rows.value - known)
        open_gap = rows.value - best_bound
        if open_gap <= ENOUGH * task.gap * (rows.value - known) or task.clock.is_over:
            break
        if turn % _TURNS == 0:
            if best_bound - stage_bound < _GETS_ON * open_gap and turn > _TURNS:
                break
            stage_bound = best_bound
            moment = np.asarray(_nearer(task, moment, account.moment))
    assert best is not None
    task.details["relaxed"] = task.details.get("relaxed", 0) + turn
    return best_bound, best


def _lifted(task: Task, rows: Rows, prior: Floats) -> Floats:
    """The moments of rows as bits, ``sum u yy' / (p.z)^2`` with ``y = (1, b)``."""
    bits = rows.bits
    lifted = np.column_stack([np.ones(len(bits)), bits]) / ((1 + (task.ratio - 1) * bits) @ prior)[:, None]
    return np.asarray((lifted * rows.found.shares[:, None]).T @ lifted)


def _nearer(task: Task, moment: Floats, other: Floats) -> Floats:
    """The best mixture of two moment matrices."""
    from scipy.optimize import minimize_scalar

    def value(share: float) -> float:
        mixed = (1 - share) * moment + share * other
        try:
            np.linalg.cholesky(mixed)
        except np.linalg.LinAlgError:
            return math.inf
        return float(np.sum(task.gram * np.linalg.inv(mixed)))

    found = minimize_scalar(value, bounds=(0.0, 0.999), method="bounded", options={"xatol": 1e-4})
    share = float(found.x) if found.fun < value(0.0) else 0.0
    return (1 - share) * moment + share * other
