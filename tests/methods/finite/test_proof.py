"""Bounds for loss matrices: true for every mechanism, whatever the atoms, and exact."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import float_down
from mechdesign.mechanisms import Discrete, catalogue as c
from mechdesign.methods.finite import FiniteBound, LexicographicBound
from mechdesign.methods.result import Design, Report
from mechdesign.values.codec import Codec, encoded
from mechdesign.words.criteria import Average, Lexicographic
from mechdesign.words.domains import Finite
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods import problems

LOSSES = 1 - np.eye(3)
LEVEL = 2 / (math.e + 2)
ATOMS = np.full(3, LEVEL), np.full(3, 1 / 3)
WORST, AVERAGE = FiniteBound(*ATOMS), FiniteBound(ATOMS[0], np.zeros(3))
ASKED = Problem(loss=LOSSES, privacy=Pure(1.0))
ASKED_AVERAGE = Problem(loss=LOSSES, privacy=Pure(1.0), criterion=Average(ATOMS[1]))
ASKED_BOTH = Problem(loss=LOSSES, privacy=Pure(1.0), criterion=Lexicographic(ATOMS[1], slack=0.01))
BOTH = LexicographicBound(WORST, WORST)
TRUTH = c.randomised_response(1.0, Finite((0, 1, 2)))


numbers = st.floats(0, 8, allow_subnormal=True)


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
    prior = rng.dirichlet(np.ones(inputs))
    worst, bound = Problem(loss=losses, privacy=Pure(2 * epsilon)), FiniteBound(levels, weights)
    assert bound.bound(worst, law) <= bound.attained(worst, law)
    average, free = (
        Problem(loss=losses, privacy=Pure(2 * epsilon), criterion=Average(prior)),
        FiniteBound(levels, 0 * weights),
    )
    assert free.bound(average, law) <= free.attained(average, law)
    capped = Problem(loss=losses, privacy=Pure(2 * epsilon), criterion=Lexicographic(prior, slack=1e9))
    both = LexicographicBound(bound, bound)
    assume(both.cap(capped) >= bound.attained(worst, law))
    assert both.bound(capped, law) <= both.attained(capped, law)


def test_randomised_response_meets_its_bound() -> None:
    for bound, asked in ((WORST, ASKED), (AVERAGE, ASKED_AVERAGE)):
        assert bound.bound(asked, TRUTH) == pytest.approx(LEVEL, rel=1e-15)
        assert bound.attained(asked, TRUTH) == pytest.approx(LEVEL, rel=1e-15)
        assert bound.bound(asked, TRUTH) <= bound.attained(asked, TRUTH)


def test_the_cap_is_what_the_slack_allows_above_the_proven_least() -> None:
    assert BOTH.cap(ASKED_BOTH) == float_down(WORST.value(ASKED) * (1 + Fraction(0.01)))
    assert BOTH.scope(ASKED_BOTH, TRUTH).words == (
        f"all mechanisms with these outputs and worst case <= {BOTH.cap(ASKED_BOTH)!r}, at most 1.01 times the least"
    )


@pytest.mark.parametrize(
    "law",
    [
        c.randomised_response(1.0, Finite((0, 1))),
        c.randomised_response(1.0, Finite((1, 2, 3))),
        c.randomised_response(1.0, Finite((0, 1, 2, 3))),
        c.randomised_response(0.5, Finite((0, 1, 2))),
        Discrete(1.0, Finite((0, 1, 2)), Finite((0, 3)), np.full((3, 2), 0.5)),
        c.laplace(1.0),
    ],
    ids=["two inputs", "other numbers", "four inputs", "another epsilon", "an output too many", "another kind"],
)
def test_other_mechanisms_are_refused(law: Any) -> None:
    for bound, asked in ((WORST, ASKED), (AVERAGE, ASKED_AVERAGE), (BOTH, ASKED_BOTH)):
        with pytest.raises(CheckFailed):
            bound.attained(asked, law)


def test_a_mechanism_above_the_cap_is_refused() -> None:
    worse = c.randomised_response(0.9, Finite((0, 1, 2)))
    law = Discrete(1.0, worse.inputs, worse.outputs, worse.probabilities)
    with pytest.raises(CheckFailed, match="above the cap"):
        BOTH.attained(ASKED_BOTH, law)


@pytest.mark.parametrize(
    ("bound", "asked"),
    [
        (WORST, ASKED_AVERAGE),  # multipliers of a cap, and there is none
        (WORST, ASKED_BOTH),
        (AVERAGE, ASKED),  # weights that prove nothing
        (AVERAGE, ASKED_BOTH),
        (BOTH, ASKED),
        (BOTH, ASKED_AVERAGE),
        (LexicographicBound(AVERAGE, AVERAGE), ASKED_BOTH),
        (FiniteBound(ATOMS[0], [1.0, -1.0, 1.0]), ASKED),
        (FiniteBound(ATOMS[0][:2], ATOMS[1][:2]), ASKED),
        (WORST, problems.piecewise(1.0)),
    ],
)
def test_evidence_that_does_not_fit_the_problem_is_refused(bound: Any, asked: Any) -> None:
    with pytest.raises(CheckFailed):
        bound.bound(asked, TRUTH)


@pytest.mark.parametrize("bound", [WORST, AVERAGE, BOTH])
def test_bounds_come_back_from_files(bound: Any) -> None:
    again = Codec().decoded(type(bound), encoded(bound), "evidence")
    assert again == bound
    assert hash(again) == hash(bound)


@pytest.mark.parametrize("numbers", [[1.0, math.inf], ["a", "b"], [[1.0]], None, 1.0], ids=str)
@pytest.mark.parametrize("name", ["levels", "weights"])
def test_nonsense_is_refused_by_name(name: str, numbers: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        FiniteBound(**({"levels": [1.0], "weights": [1.0]} | {name: numbers}))
    assert refused.value.field.startswith(name)


def test_what_is_proven_beyond_the_reach_of_the_search_is_called_what_it_is() -> None:
    """A file may hold it: evidence is about any epsilon, a search about those that doubles resolve."""
    problem = Problem(loss=1 - np.eye(2), privacy=Pure(17.0))
    least = 1 / (1 + math.exp(17))
    design = Design(
        problem, c.randomised_response(17.0, Finite((0, 1))), FiniteBound([least] * 2, [0.5] * 2), Report(0.0, "", {})
    )
    assert design.certificate.relative_gap < 1e-6
    assert "finite optimum" in design.summary()
