"""Bounds for loss matrices: true for every mechanism, whatever the atoms, and exact."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechdesign.design.finite.proof import FiniteBound, LexicographicBound, exact_errors, least_weighted_loss
from mechdesign.domains import Finite
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms import Discrete
from mechdesign.mechanisms import catalogue as c

LOSSES = 1 - np.eye(3)
LEVEL = 2 / (math.e + 2)
ATOMS = np.full(3, LEVEL), np.full(3, 1 / 3)
WORST = FiniteBound(1.0, LOSSES, *ATOMS)
AVERAGE = FiniteBound(1.0, LOSSES, ATOMS[0], np.zeros(3), ATOMS[1])
TRUTH = c.randomised_response(1.0, Finite((0, 1, 2)))


def naive(bound: FiniteBound) -> Fraction:
    """The formula of the docstring, one Fraction at a time."""
    rows = [[Fraction(entry) for entry in row] for row in bound.losses.tolist()]
    levels, free = ([Fraction(v) for v in array.tolist()] for array in (bound.levels, bound.weights))
    prior = [Fraction(0)] * len(rows) if bound.prior is None else [Fraction(v) for v in bound.prior.tolist()]
    weights = [a + b for a, b in zip(free, prior, strict=True)]
    ratio = exp_upper(bound.epsilon)
    terms = [
        sum(w * min(row[y] - v, ratio * (row[y] - v)) for w, row, v in zip(weights, rows, levels, strict=True))
        for y in range(len(rows[0]))
    ]
    least = min(terms) if min(terms) < 0 else min(terms) / ratio
    value = sum(w * v for w, v in zip(weights, levels, strict=True)) + least - sum(free) * Fraction(bound.cap or 0)
    value = value / sum(free) if bound.prior is None else value / sum(prior)
    return max(value, min(map(min, rows)))


numbers = st.floats(0, 8, allow_subnormal=True)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.sampled_from([1e-3, 0.5, 2.0, 10.0]))
def test_the_value_is_the_formula_exactly(data: st.DataObject, inputs: int, outputs: int, epsilon: float) -> None:
    losses = np.array(data.draw(st.lists(numbers, min_size=inputs * outputs, max_size=inputs * outputs)))
    vectors = [np.array(data.draw(st.lists(numbers, min_size=inputs, max_size=inputs))) for _ in range(3)]
    levels, weights, prior = vectors[0], vectors[1] + 1e-3, vectors[2] + 1e-3
    table = losses.reshape(inputs, outputs)
    for bound in (
        FiniteBound(epsilon, table, levels, weights),
        FiniteBound(epsilon, table, levels, weights, prior, 3.0),
    ):
        assert bound.value() == naive(bound)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(2, 4), st.floats(0.05, 5.0))
def test_no_atoms_whatever_exceed_what_a_private_mechanism_attains(
    data: st.DataObject, inputs: int, outputs: int, epsilon: float
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    base = rng.dirichlet(np.ones(outputs))
    table = base * np.exp(epsilon / 2 * (2 * rng.random((inputs, outputs)) - 1))
    table /= table.sum(axis=1, keepdims=True)  # divides by at least e^(-eps/2): private at twice that spread
    losses, levels, weights = rng.random((inputs, outputs)), rng.normal(0.4, 0.4, inputs), rng.random(inputs) + 0.01
    law = Discrete(2 * epsilon, Finite(tuple(range(inputs))), Finite(tuple(range(outputs))), table)
    worst = FiniteBound(2 * epsilon, losses, levels, weights)
    assert worst.bound(law) <= worst.attained(law)
    prior = rng.dirichlet(np.ones(inputs))
    capped = FiniteBound(2 * epsilon, losses, levels, weights, prior, worst.attained(law))
    assert capped.bound(law) <= capped.attained(law)
    average = FiniteBound(2 * epsilon, losses, levels, 0 * weights, prior)
    assert average.bound(law) <= average.attained(law)


def test_randomised_response_meets_its_bound() -> None:
    for bound in (WORST, AVERAGE):
        assert bound.bound(TRUTH) == pytest.approx(LEVEL, rel=1e-15)
        assert bound.attained(TRUTH) == pytest.approx(LEVEL, rel=1e-15)
        assert bound.bound(TRUTH) <= bound.attained(TRUTH)


def test_losses_next_to_overflow_and_underflow_are_exact() -> None:
    losses = np.array([[1e300, 5e-324], [0.0, 1e300]])
    bound = FiniteBound(1.0, losses, np.array([5e-324, 0.0]), np.array([1.0, 1e-300]))
    assert bound.value() == naive(bound)


def test_errors_are_exact_for_rows_that_do_not_sum_to_one_in_doubles() -> None:
    table = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    law = Discrete(5.0, Finite((0, 1)), Finite((0, 1, 2)), table)
    rows = [[Fraction(p) for p in row] for row in table]
    losses = np.array([[0.3, 1.0, 2.0], [1.0, 0.1, 0.7]])
    expected = [
        sum(p * Fraction(v) for p, v in zip(row, costs, strict=True)) / sum(row)
        for row, costs in zip(rows, losses.tolist(), strict=True)
    ]
    assert exact_errors(law, losses) == expected


def test_outputs_are_columns_by_number() -> None:
    law = Discrete(5.0, Finite((0,)), Finite((1, 2)), [[0.25, 0.75]])
    assert exact_errors(law, np.array([[100.0, 1.0, 2.0]])) == [Fraction(7, 4)]


def test_weights_add_up_without_rounding() -> None:
    one, tiny = np.array([1.0]), np.array([2.0**-80])
    losses = np.array([[1.0]])
    assert least_weighted_loss(1.0, losses, np.array([1.0]), one, tiny) == 1 + Fraction(1, 2**80)


@pytest.mark.parametrize(
    "law",
    [
        c.randomised_response(1.0, Finite((0, 1))),
        c.randomised_response(1.0, Finite((1, 2, 3))),
        c.randomised_response(1.0, Finite((0, 1, 2, 3))),
        c.laplace(1.0),
    ],
    ids=["two inputs", "other numbers", "four inputs", "another kind"],
)
def test_evidence_about_other_mechanisms_is_refused(law: Any) -> None:
    with pytest.raises(CheckFailed, match="about tables"):
        WORST.bound(law)
    with pytest.raises(CheckFailed, match="about tables"):
        WORST.attained(law)


def test_a_mechanism_above_the_cap_is_refused() -> None:
    bound = FiniteBound(1.0, LOSSES, *ATOMS, ATOMS[1], 0.99 * LEVEL)
    with pytest.raises(CheckFailed, match="cap"):
        bound.attained(TRUTH)


def test_a_cap_far_from_the_least_worst_case_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cap"):
        LexicographicBound(FiniteBound(1.0, LOSSES, *ATOMS, ATOMS[1], 2 * LEVEL), WORST, 0.5)


@pytest.mark.parametrize("bound", [WORST, AVERAGE, FiniteBound(1.0, LOSSES, *ATOMS, ATOMS[1], 0.5)])
def test_bounds_survive_json(bound: FiniteBound) -> None:
    assert FiniteBound.from_dict(json.loads(json.dumps(bound.to_dict()))) == bound


def test_lexicographic_bounds_survive_json() -> None:
    bound = LexicographicBound(FiniteBound(1.0, LOSSES, *ATOMS, ATOMS[1], 1.01 * LEVEL), WORST, 0.02)
    again = LexicographicBound.from_dict(json.loads(json.dumps(bound.to_dict())))
    assert again == bound
    assert again.bound(TRUTH) == bound.bound(TRUTH)


BAD: list[dict[str, Any]] = [
    {"epsilon": 0.0},
    {"epsilon": "1"},
    {"losses": [[0.0, math.nan]]},
    {"losses": [1.0]},
    {"losses": []},
    {"levels": [1.0]},
    {"levels": [1.0, 1.0, math.inf]},
    {"levels": ["a", "b", "c"]},
    {"weights": [1.0, -1.0, 1.0]},
    {"weights": [0.0, 0.0, 0.0]},
    {"weights": None},
    {"prior": [1.0, 0.0]},
    {"prior": [0.3, 0.3, 0.4]},  # with weights but without a cap
    {"cap": 1.0},
    {"cap": math.nan, "prior": [1.0, 1.0, 1.0]},
]


@pytest.mark.parametrize("fields", BAD, ids=str)
def test_nonsense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        FiniteBound.from_dict(WORST.to_dict() | fields)


@pytest.mark.parametrize("field", ["kind", "criterion", "loss_matrix", "prior"])
def test_a_problem_about_something_else_is_refused(field: str) -> None:
    from mechdesign.design.finite.search import FiniteProblem

    problem = FiniteProblem(1.0, LOSSES).to_dict()
    WORST.statement(problem, TRUTH)
    with pytest.raises(FileProblem, match=field):
        WORST.statement(problem | {field: "another"}, TRUTH)


def test_a_bound_among_capped_mechanisms_is_none_for_a_plain_average() -> None:
    from mechdesign.design.finite.search import FiniteProblem

    problem = FiniteProblem(1.0, LOSSES, "prior", ATOMS[1]).to_dict()
    capped = FiniteBound(1.0, LOSSES, *ATOMS, ATOMS[1], 1.01 * LEVEL)
    FiniteBound(1.0, LOSSES, ATOMS[0], np.zeros(3), problem["prior"]).statement(problem, TRUTH)
    with pytest.raises(FileProblem, match="cap"):
        capped.statement(problem | {"prior": capped.prior.tolist()}, TRUTH)
