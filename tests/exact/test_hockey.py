"""What a table exceeds an epsilon by, against enumeration of events."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from mechdesign.errors import CheckFailed
from mechdesign.exact.hockey import hockey_excess, prove_approximate
from mechdesign.exact.privacy import prove
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms import Discrete, catalogue
from mechdesign.words.domains import Finite
from mechdesign.words.privacy import Approximate


def table(rows: object) -> Discrete:
    shares = np.asarray(rows, dtype=float)
    inputs, outputs = (Finite(tuple(range(size))) for size in shares.shape)
    return Discrete(1.0, inputs, outputs, shares / shares.sum(axis=1, keepdims=True))


def test_the_excess_is_the_largest_over_all_events() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        inputs, outputs = rng.integers(1, 4), rng.integers(1, 5)
        mechanism, ratio = table(rng.random((inputs, outputs)) ** 3), Fraction(int(rng.integers(4, 30)), 4)
        rows = mechanism.exact_rows()
        events = [event for size in range(outputs + 1) for event in itertools.combinations(range(outputs), size)]
        worst = max(
            sum((x[y] - ratio * other[y] for y in event), Fraction(0))
            for x in rows
            for other in rows
            for event in events
        )
        assert hockey_excess(mechanism, ratio) == worst


def test_a_delta_just_below_the_excess_is_refused_and_the_excess_is_accepted() -> None:
    mechanism = table([[0.75, 0.25], [0.25, 0.75]])
    excess = hockey_excess(mechanism, exp_lower(1.0))
    enough = math.nextafter(float(excess), 1)
    assert prove_approximate(mechanism, Approximate(1.0, enough)).excess <= enough
    with pytest.raises(CheckFailed, match=r"exceeds epsilon 1\.0 with a probability of 0\.0704"):
        prove_approximate(mechanism, Approximate(1.0, math.nextafter(float(excess), 0) - 1e-17))


def test_the_loss_with_the_same_delta_is_kept_and_next_to_the_least() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        mechanism = table(rng.random((3, 4)) + 0.05)
        delta = float(rng.choice([1e-6, 1e-2, 0.1]))
        loss = prove_approximate(mechanism, Approximate(8.0, delta)).loss
        assert hockey_excess(mechanism, exp_lower(loss)) <= Fraction(delta)
        if loss > 1e-6:
            assert hockey_excess(mechanism, exp_lower(loss - 1e-7)) > Fraction(delta)


def test_without_a_delta_it_is_pure_privacy() -> None:
    response = catalogue.randomised_response(1.0, Finite((0, 1, 2)))
    assert prove(Approximate(1.0, 0.0), response).loss <= 1.0
    with pytest.raises(CheckFailed):
        prove(Approximate(0.999, 0.0), response)


def test_a_density_has_no_account_with_a_delta() -> None:
    with pytest.raises(CheckFailed, match="tables of probabilities"):
        prove(Approximate(1.0, 0.1), catalogue.pm(1.0))
