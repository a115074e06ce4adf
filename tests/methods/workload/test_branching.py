"""Trees and splits prove what trying every row proves."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mechdesign as md
from mechdesign.methods.workload import WorkloadBound
from mechdesign.methods.workload.branching import Tree
from mechdesign.methods.workload.cone import splits_of
from mechdesign.methods.workload.interior import Interior
from mechdesign.methods.workload.pricing import Prices, all_rows
from mechdesign.values.clock import Clock
from mechdesign.words.workloads import Parity, Prefix
from tests.methods.problems import workload_problem

UNLIMITED = Clock(None)


def _relaxed(workload, epsilon: float, rounds: int) -> WorkloadBound:  # type: ignore[no-untyped-def]
    size, matrix = workload.size, workload.matrix
    interior = Interior(matrix.T @ matrix, math.exp(epsilon), np.full(size, 1 / size), 1e-6)
    splits, start = (), interior.even()
    for _ in range(rounds):
        found = interior.run(start, splits, 1e-7, UNLIMITED)
        splits += tuple(splits_of(found.lifted, splits, 8))
        if interior.turns:
            splits = tuple(dict.fromkeys(each for split in splits for each in (split, split.turned())))
        start = 0.7 * found.lifted + 0.3 * interior.even()
    dual = found.inverse @ matrix.T
    return WorkloadBound(dual, found.prices, multipliers=found.multipliers, splits=found.splits)


def test_splits_leave_nothing_between_the_relaxation_and_the_optimum() -> None:
    problem = workload_problem(2.0, Prefix(20))
    best = md.solve(problem, gap=1e-6).certificate
    without, within = (float(_relaxed(problem.loss.queries, 2.0, rounds).value(problem)) for rounds in (1, 2))
    assert without < best.lower * (1 - 4e-3)
    assert best.lower * (1 - 1e-5) < within <= best.upper


@pytest.mark.parametrize("workload", [Prefix(6), Parity(3, 1)])
def test_what_the_relaxation_says_is_what_its_evidence_proves(workload) -> None:  # type: ignore[no-untyped-def]
    problem = workload_problem(1.0, workload)
    proven = float(_relaxed(workload, 1.0, 2).value(problem))
    best = md.solve(workload_problem(1.0, workload), gap=1e-6).certificate
    assert 0.9 * best.lower < proven <= best.upper


def test_a_tree_proves_what_trying_every_row_proves() -> None:
    problem = workload_problem(3.0, Prefix(18))
    design = md.solve(problem, gap=1e-2)
    found, ratio, prior = design.evidence, math.exp(3.0), problem.weights
    prices = 0.999 * found.prices  # then some rows are not paid for
    asked = Prices(found.dual @ found.dual.T, prices, prior, ratio)
    tree = Tree(asked, float(prices.sum()), all_rows(18)[::37]).grown(0.0, UNLIMITED)
    exact = float(asked.excess(all_rows(18)).max())
    assert len(tree.leaves) > 1
    assert exact * (1 - 1e-9) <= tree.wanting <= exact + 1e-4 * float(prices.sum())
    proven = WorkloadBound(found.dual, prices + tree.wanting * prior, leaves=tree.leaves).value(problem)
    every = WorkloadBound(found.dual, prices + tree.wanting * prior).value(problem)
    assert float(proven) == pytest.approx(float(every), rel=1e-6)


@pytest.mark.slow
def test_beyond_what_can_be_tried_a_tree_closes_what_the_relaxation_leaves() -> None:
    design = md.solve(workload_problem(3.0, Prefix(28)), gap=1e-4)
    assert design.evidence.leaves is not None
    assert design.certificate.relative_gap <= 1e-4
