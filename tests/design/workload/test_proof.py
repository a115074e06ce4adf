"""The bound of a workload holds whatever its multipliers are; what a mechanism attains is what its law says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.design.workload import (
    Histogram,
    Prefix,
    Queries,
    Ranges,
    WorkloadBound,
    WorkloadProblem,
    optimal_workload,
)
from mechdesign.design.workload.proof import Leaf, attained_noise
from mechdesign.domains import Finite
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms.catalogue import randomised_response
from mechdesign.mechanisms.discrete import Discrete
from tests.oracles.staircase_rows import least_noise, noise_of

SMALL = st.floats(-3, 3)
BEST = {"prefix": least_noise(np.tri(3), 1.0, np.full(3, 1 / 3))}


@settings(max_examples=60)
@given(st.lists(SMALL, min_size=9, max_size=9), st.lists(SMALL, min_size=3, max_size=3), st.booleans())
def test_no_multipliers_prove_more_than_the_optimum(dual: list[float], prices: list[float], by_squares: bool) -> None:
    problem = WorkloadProblem(1.0, Prefix(3))
    multipliers = np.abs(np.array([dual, dual, dual])).reshape(3, 3, 3) if by_squares else None
    bound = WorkloadBound(np.array(dual).reshape(3, 3), prices, None, multipliers).value(problem)
    assert float(bound) <= BEST["prefix"] * (1 + 1e-6)


NOTHING = np.array([np.zeros((2, 2)), np.eye(2), np.zeros((2, 2))])


@settings(max_examples=40)
@given(st.lists(SMALL, min_size=9, max_size=9), st.lists(SMALL, min_size=3, max_size=3), st.integers(0, 3))
def test_no_tree_proves_more_than_the_optimum(dual: list[float], prices: list[float], least: int) -> None:
    problem = WorkloadProblem(1.0, Prefix(3))
    squares = np.abs(np.array([dual[:4], dual[1:5], dual[2:6]])).reshape(3, 2, 2)
    split = [[abs(dual[8]), least, 1.0, 1.0]]
    leaves = (Leaf("?0?", squares, split), Leaf("11?"), Leaf("01?"))
    bound = WorkloadBound(np.array(dual).reshape(3, 3), prices, leaves=leaves).value(problem)
    assert float(bound) <= BEST["prefix"] * (1 + 1e-6)


@pytest.mark.parametrize(
    ("leaves", "words"),
    [
        ((Leaf("0??"),), "a branch of 1 fixed bits is missing"),
        ((Leaf("0??"), Leaf("10?")), "a branch of 2 fixed bits is missing"),
        ((Leaf("0??"), Leaf("?1?")), "part no bit"),
        ((Leaf("0??"), Leaf("0??")), "missing|part no bit"),
        ((Leaf("0?"), Leaf("1?")), "3 signs"),
        ((Leaf("0??", NOTHING), Leaf("1??", np.zeros((3, 3, 3)))), "2 x 2"),
        ((Leaf("0??", splits=[[1.0, 0.0, 1.0, 1.0]]), Leaf("1??")), "no multipliers beside"),
        ((Leaf("0??", NOTHING, [[1.0, 0.0, 1.0, 0.5]]), Leaf("1??")), "whole numbers"),
        ((Leaf("0??", -NOTHING - 1), Leaf("1??")), "at least 0"),
    ],
)
def test_trees_that_are_none_prove_nothing(leaves: tuple[Leaf, ...], words: str) -> None:
    bound = WorkloadBound(np.eye(3), [9.0, 9.0, 9.0], leaves=leaves)
    with pytest.raises(CheckFailed, match=words):
        bound.value(WorkloadProblem(1.0, Prefix(3)))


def test_leaves_that_are_too_wide_to_be_tried_need_multipliers() -> None:
    size = 26
    leaves = (Leaf("0" + "?" * (size - 1)), Leaf("1" + "?" * (size - 1)))
    bound = WorkloadBound(np.eye(size), np.ones(size), leaves=leaves)
    with pytest.raises(CheckFailed, match="a leaf of the evidence needs multipliers"):
        bound.value(WorkloadProblem(1.0, Prefix(size)))


def test_a_whole_and_leaves_are_not_both_there() -> None:
    both = WorkloadBound(np.eye(3), np.ones(3), multipliers=np.zeros((3, 3, 3)), leaves=(Leaf("???"),))
    with pytest.raises(CheckFailed, match="and leaves"):
        both.value(WorkloadProblem(1.0, Prefix(3)))


def test_a_symmetric_matrix_stands_for_many_queries() -> None:
    problem = WorkloadProblem(1.0, Ranges(3))
    best = least_noise(Ranges(3).matrix, 1.0, np.full(3, 1 / 3))
    found = optimal_workload(problem).evidence
    matrix = found.dual
    assert best * (1 - 1e-3) <= float(WorkloadBound(matrix, found.prices).value(problem)) <= best * (1 + 1e-6)
    with pytest.raises(CheckFailed, match="symmetric"):
        WorkloadBound(np.triu(matrix), [9.0, 9.0, 9.0]).value(problem)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (4, 4)])
def test_evidence_of_another_shape_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(CheckFailed, match="shape"):
        WorkloadBound(np.ones(shape), [1.0, 1.0, 1.0]).value(WorkloadProblem(1.0, Prefix(3)))


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 7))
def test_what_is_attained_is_what_the_law_says(seed: int, size: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    queries = rng.integers(-4, 5, (count, size)).astype(float)
    queries[0] = np.arange(size)
    queries = queries[queries.any(axis=1)]
    channel = np.exp(rng.uniform(-1, 1, (size, size + 3)))
    channel /= channel.sum(axis=1, keepdims=True)
    table = Discrete(4.0, Finite(range(size)), Finite(range(size + 3)), channel)
    prior = rng.dirichlet(np.full(size, 5.0))
    problem = WorkloadProblem(4.0, Queries(queries), prior=prior)
    exact = float(attained_noise(problem, table, problem.prior))  # type: ignore[arg-type]
    own = noise_of(queries, np.asarray(table.probabilities), np.asarray(problem.prior))
    assert exact == pytest.approx(float(own @ np.asarray(problem.prior)), rel=1e-6)
    worst = WorkloadProblem(4.0, Queries(queries), criterion="worst")
    assert float(attained_noise(worst, table, prior)) == pytest.approx(own.max(), rel=1e-6)


def test_a_channel_that_does_not_tell_the_types_apart_is_refused() -> None:
    blind = Discrete(1.0, Finite((0, 1, 2)), Finite((0, 1)), [[0.5, 0.5], [0.5, 0.5], [0.6, 0.4]])
    problem = WorkloadProblem(1.0, Histogram(3))
    with pytest.raises(CheckFailed, match="apart"):
        attained_noise(problem, blind, problem.prior)  # type: ignore[arg-type]


def test_randomised_response_has_the_noise_of_its_formula() -> None:
    size, epsilon = 5, 1.5
    law = randomised_response(epsilon, Finite(range(size)))
    problem = WorkloadProblem(epsilon, Histogram(size))
    p = np.exp(epsilon) / (np.exp(epsilon) + size - 1)
    q = 1 / (np.exp(epsilon) + size - 1)
    formula = (p * (1 - p) + (size - 1) * q * (1 - q)) / (p - q) ** 2
    assert float(attained_noise(problem, law, problem.prior)) == pytest.approx(formula, rel=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize("leaves", [(), [], ("???",), (Leaf("???"), "???"), 3])
def test_leaves_are_leaves_and_at_least_one(leaves: Any) -> None:
    with pytest.raises(InvalidInput, match="be leaves of a tree, at least one"):
        WorkloadBound(np.eye(3), np.ones(3), leaves=leaves)
