"""Window mechanisms against their definition: fill the nearest outputs first, in rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from scipy import stats

from mechdesign import Absolute, Interval, InvalidInput, Power, Squared
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms import Window
from mechdesign.values.codec import Codec, encoded

UNIT = Interval(0, 1)
GRID = np.linspace(0, 1, 501)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    count = draw(st.integers(1, 9))
    places = draw(st.lists(st.integers(-20, 120), min_size=count, max_size=count, unique=True))
    masses = np.array(draw(st.lists(st.integers(1, 50), min_size=count, max_size=count)), dtype=float)
    ratio = math.exp(draw(st.floats(0.1, 4.0)))
    share = draw(st.floats(0.01, 0.99))
    total = (1 / ratio) ** (1 - share)
    assume(1 / ratio < total < 1)
    return Window(4.0, UNIT, np.sort(places) / 100, masses * (total / masses.sum()) * (1 - 1e-13), ratio)


@given(windows(), st.floats(0, 1))
@settings(deadline=None, max_examples=200)
def test_rows_are_the_nearest_first_fill(mechanism: Window, x: float) -> None:
    exact = np.array([float(value) for value in mechanism.exact_row(x)])
    nearest_turn = np.abs(mechanism.turns - x).min(initial=1.0)
    assume(nearest_turn > 1e-9)
    assert np.abs(mechanism.rows(x) - exact).max() < 1e-12


@given(windows(), st.floats(0, 1))
@settings(deadline=None)
def test_rows_stay_in_the_band_and_sum_to_one_exactly(mechanism: Window, x: float) -> None:
    row = mechanism.exact_row(x)
    assert sum(row) == 1
    for probability, base in zip(row, mechanism.base.tolist(), strict=True):
        assert Fraction(base) <= probability <= Fraction(mechanism.ratio) * Fraction(base)


@given(windows())
@example(
    Window(
        4.0,
        UNIT,
        np.array([-0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03, 0.82, 1.18]),
        np.array([1.0, 1, 1, 2, 2, 2, 2, 2, 1]) * 0.06303549,
        math.e,
    )
)
@settings(deadline=None)
def test_the_likelihood_ratio_is_the_largest_over_a_grid_of_inputs(mechanism: Window) -> None:
    inputs = np.unique(
        np.concatenate([GRID[::10], mechanism.points[(mechanism.points >= 0) & (mechanism.points <= 1)]])
    )
    # in rationals: doubles may take an input just beyond the middle of two outputs for one in the middle
    rows = [mechanism.exact_row(x) for x in inputs.tolist()]
    found = max(max(column) / min(column) for column in zip(*rows, strict=True))
    exact = mechanism.likelihood_ratio().ratio
    assert exact == found
    assert exact <= Fraction(mechanism.ratio)


@given(windows(), st.sampled_from([1.0, 1.5, 2.0, 3.0]))
@settings(deadline=None)
def test_the_worst_case_is_at_a_turn_or_an_end(mechanism: Window, exponent: float) -> None:
    worst, at = mechanism.worst_case(Power(exponent))
    errors = mechanism.expected_loss(np.linspace(0, 1, 2001), Power(exponent))
    assert errors.max() <= worst + 1e-12
    assert errors.max() >= worst - 5e-3
    assert float(mechanism.expected_loss(at, Power(exponent))) == pytest.approx(worst)


@given(windows(), st.integers(1, 3))
@settings(deadline=None)
def test_the_exact_worst_error_agrees_with_the_float_one(mechanism: Window, exponent: int) -> None:
    worst, _ = mechanism.worst_case(Power(float(exponent)))
    assert float(exact_worst_error(mechanism, exponent)) == pytest.approx(worst, rel=1e-11)


@given(windows(), st.floats(0, 1))
@settings(deadline=None)
def test_no_other_law_in_the_band_has_a_smaller_error(mechanism: Window, x: float) -> None:
    row = mechanism.rows(x)
    distances = np.abs(mechanism.points - x)
    spare, room = row - mechanism.base, mechanism.ratio * mechanism.base - row
    for giver in np.flatnonzero(spare > 1e-12):
        for taker in np.flatnonzero(room > 1e-12):
            assert distances[giver] <= distances[taker] + 1e-9


@given(windows(), st.floats(0, 1))
@settings(deadline=None)
def test_cdf_and_quantile_follow_the_row(mechanism: Window, x: float) -> None:
    row = mechanism.rows(x)
    cumulative = mechanism.cdf(mechanism.points, x)
    assert np.abs(cumulative - np.cumsum(row)).max() < 1e-12
    assert cumulative[-1] == 1.0
    levels = np.cumsum(row) - row / 2
    assert mechanism.quantile(levels, x).tolist() == mechanism.points.tolist()
    assert np.abs(mechanism.mass(mechanism.points, x) - row).max() < 1e-12


@given(windows(), st.floats(0, 1))
@settings(deadline=None)
def test_moments_and_average_follow_the_rows(mechanism: Window, x: float) -> None:
    row = mechanism.rows(x)
    assert float(mechanism.mean(x)) == pytest.approx(float(row @ mechanism.points), abs=1e-12)
    assert float(mechanism.expected_loss(x, Squared())) == pytest.approx(float(row @ (mechanism.points - x) ** 2))


def test_the_average_is_the_integral_over_inputs() -> None:
    mechanism = Window(2.0, UNIT, [0.1, 0.5, 0.9], [0.1, 0.2, 0.1], math.exp(2))
    inputs = np.linspace(0, 1, 400_001)
    middles = (inputs[1:] + inputs[:-1]) / 2
    expected = float(mechanism.expected_loss(middles, Absolute()).mean())
    assert mechanism.average_loss(Absolute()) == pytest.approx(expected, rel=1e-8)


def test_samples_follow_the_row() -> None:
    """Chi-square, seed 3, n = 200,000, false-positive rate 1e-6, power > 0.999 for 0.01 of mass in the wrong place."""
    mechanism = Window(2.0, UNIT, [0.0, 0.3, 0.5, 1.0], [0.05, 0.1, 0.15, 0.1], math.exp(2))
    outputs = mechanism.sample(0.37, np.random.default_rng(3), size=200_000)
    counts = [(outputs == point).sum() for point in mechanism.points]
    statistic = stats.chisquare(counts, mechanism.rows(0.37) * 200_000).statistic
    assert statistic < stats.chi2.isf(1e-6, df=3)


def test_a_file_round_trip_keeps_every_double() -> None:
    mechanism = Window(2.0, Interval(-3, 4), [-2.9, 0.1, 1.7], [0.1, 1 / 3, 0.1], math.exp(2))
    assert Codec().decoded(Window, encoded(mechanism), "mechanism") == mechanism


@pytest.mark.parametrize(
    ("points", "base", "ratio", "word"),
    [
        ([0.0, 1.0], [0.5], 2.0, "one entry"),
        ([1.0, 0.0], [0.4, 0.4], 2.0, "increasing"),
        ([0.0, math.nan], [0.4, 0.4], 2.0, "finite"),
        ([0.0, 1.0], [0.4, 0.0], 4.0, "above 0"),
        ([0.0, 1.0], [0.6, 0.6], 2.0, "between 1/ratio"),
        ([0.0, 1.0], [0.1, 0.1], 2.0, "between 1/ratio"),
        ([0.0, 1.0], [0.5, 0.5], 0.5, "between 1 and e"),
        ([0.0, 1.0], [0.4, 0.4], 2.8, "between 1 and e"),
    ],
)
def test_bases_that_are_no_mechanism_are_rejected(
    points: list[float], base: list[float], ratio: float, word: str
) -> None:
    with pytest.raises(InvalidInput, match=word):
        Window(1.0, UNIT, points, base, ratio)
