"""The bound for all unbiased mechanisms, against brute force over its definition and over mechanisms."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mechdesign import Interval, InvalidInput, catalogue
from mechdesign.design.unbiased.proof import CRITERION, UnbiasedPriorBound, average_variance
from mechdesign.errors import CheckFailed, FileProblem
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow

UNBIASED = [entry for entry in catalogue.ON_INTERVALS if entry.unbiased]


def _terms(bound: UnbiasedPriorBound, y: np.ndarray) -> np.ndarray:
    far = y[:, None] - np.linspace(-1, 1, bound.weights.size)
    return np.asarray((far - bound.offsets) * (bound.weights * far + bound.slopes))


def _brute(bound: UnbiasedPriorBound) -> float:
    """The definition, least on a fine grid and then in the cell of that least value."""
    grid = np.linspace(-60, 60, 24_001)
    for _ in range(4):
        terms = _terms(bound, grid)
        values = np.minimum(terms, math.exp(bound.epsilon) * terms).sum(axis=1)
        k = int(np.argmin(values))
        grid = np.linspace(grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)], 2001)
    return float((bound.offsets @ bound.slopes + min(0.0, values.min())) / bound.weights.sum())


@st.composite
def bounds(draw: st.DrawFn) -> UnbiasedPriorBound:
    """Windows around the inputs, and lines for inputs without weight."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count = draw(st.integers(3, 9))
    weights = rng.random(count) * (rng.random(count) < 0.7)
    assume(weights.max() > 0.1)
    left, right = -3 * rng.random(count), 3 * rng.random(count)
    lines = (rng.random(count) - 0.5) * weights.mean()
    slopes = np.where(weights > 0, -weights * left, lines)
    return UnbiasedPriorBound(draw(st.floats(0.05, 5.0)), -1.0, 1.0, weights, right, slopes)


@given(bounds())
@settings(deadline=None, max_examples=100)
def test_the_value_is_the_definition_s(bound: UnbiasedPriorBound) -> None:
    value, brute = float(bound.value()), _brute(bound)
    scale = 1 + abs(brute)
    assert value <= brute + 1e-9 * scale
    # several pieces may be least within a hair of each other, and brute force follows one of them only
    assert value >= brute - 2e-3 * scale * math.exp(bound.epsilon)


@given(bounds())
@settings(deadline=None, max_examples=60)
def test_no_published_unbiased_mechanism_beats_the_bound(bound: UnbiasedPriorBound) -> None:
    inputs = np.linspace(-1, 1, bound.weights.size)
    for entry in UNBIASED:
        mechanism = catalogue.build(entry.key, bound.epsilon, Interval(-1, 1))
        average = float(bound.weights @ mechanism.variance(inputs) / bound.weights.sum())
        assert average >= float(bound.value()) * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 10.0])
def test_two_inputs_prove_duchi_s_variance(epsilon: float) -> None:
    """With half the prior at each end and R = coth(eps/2), G touches 0 at R and -R for windows between the roots of
    ``z^2 - 2 R^2 z + R^2``, and the bound is ``R^2 - 1``."""
    reach = 1 / math.tanh(epsilon / 2)
    far = reach**2 + reach * math.sqrt(reach**2 - 1)
    near = reach**2 / far
    bound = UnbiasedPriorBound(epsilon, -1, 1, [0.5, 0.5], [1 - near, near - 1], [(far - 1) / 2, (1 - far) / 2])
    assert float(bound.value()) == pytest.approx(reach**2 - 1, rel=1e-9)


def test_scaling_the_weights_with_the_slopes_changes_nothing() -> None:
    weights, offsets, slopes = np.array([0.25, 0.5, 0.25]), np.array([1.0, 0.5, -1.0]), np.array([0.4, 0.25, -0.4])
    first, second = (UnbiasedPriorBound(1.0, -1, 1, k * weights, offsets, k * slopes).value() for k in (1.0, 8.0))
    assert first == second


def test_the_bound_scales_with_the_square_of_the_interval() -> None:
    mechanism = catalogue.duchi(1.0)
    fields = ([0.5, 0.0, 0.5], [1.0, 0.0, -1.0], [1.5, 0.0, -1.5])
    near, wide = (UnbiasedPriorBound(1.0, *ends, *fields) for ends in ((-1, 1), (1e9, 1e9 + 6)))
    assert wide.bound(mechanism) == pytest.approx(9 * near.bound(mechanism), rel=1e-15)
    assert Fraction(near.bound(mechanism)) <= near.value()


def test_hopeless_quadratics_prove_zero_and_not_less() -> None:
    bound = UnbiasedPriorBound(1.0, -1, 1, [0.5, 0.5], [9.0, -9.0], [9.0, -9.0])
    assert bound.value() < 0
    assert bound.bound(catalogue.duchi(1.0)) == 0.0


def _mechanism(inputs: Interval = catalogue.SYMMETRIC) -> UnbiasedWindow:
    return UnbiasedWindow(2.0, inputs, [-2.0, 0.1, 2.2], [0.12, 0.1, 0.12], math.exp(2) * (1 - 1e-15))


def test_the_average_variance_is_that_of_the_rows() -> None:
    mechanism, weights = _mechanism(), np.array([0.1, 0.2, 0.4, 0.3])
    inputs = [Fraction(k, 3) * 2 - 1 for k in range(4)]
    exact = sum(Fraction(p) * mechanism.exact_variance(x) for p, x in zip(weights.tolist(), inputs, strict=True))
    exact /= sum(map(Fraction, weights.tolist()))
    assert exact <= average_variance(mechanism, weights) <= exact * (1 + Fraction(1, 10**15))


def test_evidence_is_about_unbiased_windows_on_its_own_inputs() -> None:
    bound = UnbiasedPriorBound(2.0, -1, 1, [0.5, 0.5], [1.0, -1.0], [0.5, -0.5])
    assert bound.attained(_mechanism()) > bound.bound(_mechanism())
    for other in (catalogue.pm(2.0), _mechanism(Interval(-0.9, 1))):
        with pytest.raises(CheckFailed, match="other mechanisms"):
            bound.attained(other)


def test_a_json_round_trip_keeps_the_evidence() -> None:
    bound = UnbiasedPriorBound(2.0, -1, 1 / 3, [0.1, 0.0, 0.9], [0.1, 0.0, -1 / 7], [1e-22, 0.0, -0.5])
    again = UnbiasedPriorBound.from_dict(json.loads(json.dumps(bound.to_dict())))
    assert again == bound
    assert again.value() == bound.value()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epsilon", 1.0),
        ("loss", "absolute"),
        ("criterion", "worst case"),
        ("inputs", {"kind": "interval", "lower": -2.0, "upper": 1.0}),
        ("weights", [0.4, 0.6]),
        ("rounded", True),
        ("prior", "uniform"),
        ("prior", "density"),
        ("size", 3),
    ],
)
def test_a_problem_that_says_something_else_is_refused(field: str, value: object) -> None:
    bound = UnbiasedPriorBound(2.0, -1.0, 1.0, [0.5, 0.5], [1.0, -1.0], [0.5, -0.5])
    inputs = {"kind": "interval", "lower": -1.0, "upper": 1.0}
    said = {"epsilon": 2.0, "loss": "squared", "criterion": CRITERION, "inputs": inputs, "weights": [0.5, 0.5]}
    said |= {"kind": "unbiased", "rounded": False, "prior": "atoms", "size": 2}
    bound.statement(said, _mechanism())
    with pytest.raises(FileProblem, match=field):
        bound.statement(said | {field: value}, _mechanism())


def test_weights_may_stand_for_a_density_but_for_none_by_name() -> None:
    bound = UnbiasedPriorBound(2.0, -1.0, 1.0, [0.5, 0.5], [1.0, -1.0], [0.5, -0.5], rounded=True)
    inputs = {"kind": "interval", "lower": -1.0, "upper": 1.0}
    said = {"epsilon": 2.0, "loss": "squared", "criterion": CRITERION, "inputs": inputs, "weights": [0.5, 0.5]}
    said |= {"kind": "unbiased", "rounded": True, "size": 2}
    for prior in ("atoms", "density"):
        bound.statement(said | {"prior": prior}, _mechanism())
    with pytest.raises(FileProblem, match="problem prior"):
        bound.statement(said | {"prior": "normal(0, 0.2)"}, _mechanism())


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"weights": [0.5, -0.5, 1.0]}, "at least 0"),
        ({"weights": [0.0, 0.0, 0.0]}, "positive sum"),
        ({"weights": [math.nan, 0.0, 1.0]}, "finite"),
        ({"offsets": [1.0, 2.0]}, "one entry"),
        ({"slopes": [1.0, 2.0, math.inf]}, "finite"),
        ({"slopes": [[1.0, 2.0, 3.0]]}, "one entry"),
        ({"upper": -1.0}, "below"),
        ({"epsilon": 0.0}, "eps"),
    ],
)
def test_malformed_evidence_is_rejected(change: dict[str, object], word: str) -> None:
    fields = {
        "epsilon": 1.0,
        "lower": -1.0,
        "upper": 1.0,
        "weights": [0.5, 0.0, 0.5],
        "offsets": [1.0, 0.0, -1.0],
        "slopes": [1.0, 0.0, -1.0],
    }
    with pytest.raises(InvalidInput, match=word):
        UnbiasedPriorBound(**(fields | change))  # type: ignore[arg-type]
