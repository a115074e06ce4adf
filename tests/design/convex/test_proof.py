"""Bounds for linear objectives under linear constraints: true for every private table, and exact."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechdesign.design.convex.proof import LinearBound
from mechdesign.design.finite.proof import FiniteBound, matrix_digest
from mechdesign.domains import Finite
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput
from mechdesign.mechanisms import Discrete
from mechdesign.mechanisms import catalogue as c
from mechdesign.mechanisms.serialise import domain_to_dict

PAIR = Finite((0, 1))
COSTS = 1 - np.eye(2)
TRUTH = c.randomised_response(1.0, PAIR)
CAPPED = LinearBound(
    1.0, PAIR, PAIR, COSTS, 0.0, np.array([0.1, 0.2]), [[[1.0, 0.0], [0.0, 0.0]]], [0.8], (False,), [0.5], 1e-6
)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.floats(0.1, 4.0))
def test_no_multipliers_whatever_exceed_what_a_private_table_attains(
    seed: int, inputs: int, outputs: int, count: int, epsilon: float
) -> None:
    rng = np.random.default_rng(seed)
    shape = inputs, outputs
    table = rng.dirichlet(np.ones(outputs)) * np.exp(epsilon / 4 * (2 * rng.random(shape) - 1))
    table /= table.sum(axis=1, keepdims=True)
    domains = Finite(tuple(range(inputs))), Finite(tuple(range(outputs)))
    law = Discrete(epsilon, *domains, table)
    rows, equal = rng.normal(size=(count, *shape)), tuple((rng.random(count) < 0.5).tolist())
    values = (rows * table).sum(axis=(1, 2))
    limits = np.where(equal, values, values + rng.random(count) * 0.1)
    multipliers = np.where(equal, rng.normal(size=count), rng.random(count))
    costs, levels = rng.normal(size=shape), rng.normal(size=inputs)
    bound = LinearBound(epsilon, *domains, costs, 1.0, levels, rows, limits, equal, multipliers, 1e-9)
    assert bound.bound(law) <= bound.attained(law)
    assert bound.attained(law) == pytest.approx(1 + (costs * table).sum())


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.sampled_from([0.1, 1.0, 8.0]))
def test_without_constraints_it_is_the_bound_of_a_sum_of_losses(
    seed: int, inputs: int, outputs: int, epsilon: float
) -> None:
    rng = np.random.default_rng(seed)
    domains = Finite(tuple(range(inputs))), Finite(tuple(range(outputs)))
    costs, levels = rng.random((inputs, outputs)), rng.random(inputs)
    average = FiniteBound(epsilon, costs, levels, np.zeros(inputs), np.ones(inputs))
    linear = LinearBound(epsilon, *domains, costs, 0.0, levels)
    plain = sum(min(map(Fraction, row)) for row in costs.tolist())
    assert linear.value() == max(average.value() * inputs, plain)


def test_outputs_left_out_have_probability_zero() -> None:
    law = Discrete(1.0, PAIR, Finite((1,)), [[1.0], [1.0]])
    bound = LinearBound(1.0, PAIR, PAIR, np.array([[5.0, 1.0], [7.0, 2.0]]), 0.5, np.zeros(2))
    assert bound.attained(law) == 3.5


def test_a_table_that_breaks_a_constraint_is_refused() -> None:
    assert CAPPED.attained(TRUTH) == pytest.approx(2 / (1 + math.e))
    with pytest.raises(CheckFailed, match="constraint 0"):
        CAPPED.attained(c.randomised_response(2.0, PAIR))


def test_equalities_bind_from_both_sides() -> None:
    for limit in (0.7, 0.8):
        bound = LinearBound(
            1.0, PAIR, PAIR, COSTS, 0.0, np.zeros(2), [[[1.0, 0.0], [0.0, 0.0]]], [limit], (True,), [-0.5], 1e-6
        )
        with pytest.raises(CheckFailed, match="constraint 0"):
            bound.attained(TRUTH)


def test_evidence_about_other_tables_is_refused() -> None:
    for law in (c.randomised_response(1.0, Finite((0, 2))), c.laplace(1.0)):
        with pytest.raises(CheckFailed, match="about tables"):
            CAPPED.bound(law)


def test_bounds_survive_json() -> None:
    again = LinearBound.from_dict(json.loads(json.dumps(CAPPED.to_dict())))
    assert again.value() == CAPPED.value()
    assert again.to_dict() == CAPPED.to_dict()


BAD: list[dict[str, Any]] = [
    {"epsilon": 0.0},
    {"costs": [[0.0, 1.0]]},
    {"costs": [[0.0, math.nan], [1.0, 0.0]]},
    {"levels": [1.0]},
    {"offset": math.inf},
    {"tolerance": -1.0},
    {"multipliers": [-0.5]},
    {"multipliers": []},
    {"limits": [0.1, 0.2]},
    {"equal": ["yes"]},
    {"equal": []},
    {"inputs": [1, 0]},
    {"inputs": ["a", "b"]},
]


def _said() -> dict[str, Any]:
    """A saved problem that `CAPPED` is about."""
    return {
        "kind": "custom",
        "epsilon": CAPPED.epsilon,
        "inputs": domain_to_dict(CAPPED.inputs),
        "outputs": domain_to_dict(CAPPED.outputs),
        "costs": matrix_digest(CAPPED.costs),
        "offset": 0.0,
        "rows": matrix_digest(np.array([[1.0, 0.0, 0.0, 0.0]])),
        "limits": [0.8],
        "equal": [False],
        "tolerance": 1e-6,
    }


@pytest.mark.parametrize("fields", BAD, ids=str)
def test_nonsense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        LinearBound.from_dict(CAPPED.to_dict() | fields)


def test_a_problem_without_its_constraints_is_refused() -> None:
    said = _said()
    del said["costs"]
    with pytest.raises(FileProblem, match="costs"):
        CAPPED.statement(said, TRUTH)


def test_the_tolerance_is_paid_for_with_every_multiplier() -> None:
    strict, loose = (LinearBound.from_dict(CAPPED.to_dict() | {"tolerance": t}) for t in (0.0, 2.0**-10))
    assert strict.value() - loose.value() == Fraction(1, 2**11)


@pytest.mark.parametrize(
    "field", ["kind", "epsilon", "inputs", "outputs", "costs", "offset", "rows", "limits", "equal", "tolerance"]
)
def test_a_problem_about_something_else_is_refused(field: str) -> None:
    said = _said()
    CAPPED.statement(said, TRUTH)
    with pytest.raises(FileProblem, match=field):
        CAPPED.statement(said | {field: "another"}, TRUTH)
