"""Unbiased window mechanisms against their definition, in rationals, and against brute-force linear programs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from mechdesign_solvers import Highs, LinearProgram
from scipy import stats

from mechdesign import Absolute, Interval, InvalidInput, Squared
from mechdesign.errors import FileProblem
from mechdesign.exact.privacy import prove_privacy
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.values.codec import Codec, encoded

DOMAIN = Interval(-1, 1)
GRID = np.linspace(-1, 1, 401)


def _reach(points: np.ndarray, base: np.ndarray, ratio: float) -> float:
    """The largest mean: fill from the right."""
    left, mean = 1 - base.sum(), float(base @ points)
    for y, m in zip(points[::-1], base[::-1], strict=True):
        top = min(left, (ratio - 1) * m)
        mean, left = mean + top * y, left - top
    return mean


@st.composite
def windows(draw: st.DrawFn) -> UnbiasedWindow:
    count = draw(st.integers(2, 9))
    places = np.sort(draw(st.lists(st.integers(-40, 40), min_size=count, max_size=count, unique=True))) / 10
    masses = np.array(draw(st.lists(st.integers(1, 50), min_size=count, max_size=count)), dtype=float)
    ratio = math.exp(draw(st.floats(0.1, 4.0)))
    total = (1 / ratio) ** (1 - draw(st.floats(0.05, 0.95))) * (1 - 1e-13)
    base = masses * (total / masses.sum())
    low, high = -_reach(-places[::-1], base[::-1], ratio), _reach(places, base, ratio)
    assume(high - low > 1e-3)
    # move and stretch the outputs until the means cover the domain
    points = (places - (low + high) / 2) * (2.02 / (high - low))
    return UnbiasedWindow(4.0, DOMAIN, points, base, ratio)


@given(windows(), st.fractions(-1, 1))
@settings(deadline=None, max_examples=200)
def test_rows_are_in_the_band_sum_to_one_and_have_mean_x_exactly(mechanism: UnbiasedWindow, x: Fraction) -> None:
    row = mechanism.exact_row(x)
    assert sum(row) == 1
    assert sum(q * Fraction(y) for q, y in zip(row, mechanism.points.tolist(), strict=True)) == x
    for probability, base in zip(row, mechanism.base.tolist(), strict=True):
        assert Fraction(base) <= probability <= Fraction(mechanism.ratio) * Fraction(base)


@given(windows(), st.floats(-1, 1))
@settings(deadline=None)
def test_the_exact_variance_is_that_of_the_exact_row(mechanism: UnbiasedWindow, x: float) -> None:
    row = zip(mechanism.exact_row(x), mechanism.points.tolist(), strict=True)
    assert mechanism.exact_variance(x) == sum(q * (Fraction(y) - Fraction(x)) ** 2 for q, y in row)


@given(windows(), st.floats(-1, 1))
@settings(deadline=None)
def test_rows_in_doubles_are_the_exact_ones_rounded(mechanism: UnbiasedWindow, x: float) -> None:
    exact = np.array([float(value) for value in mechanism.exact_row(x)])
    assert np.abs(mechanism.rows(x) - exact).max() < 1e-11
    assert np.abs(mechanism.mass(mechanism.points, x) - exact).max() < 1e-11
    assert float(mechanism.mean(x)) == pytest.approx(x, abs=1e-10)
    assert float(mechanism.variance(x)) == pytest.approx(float(mechanism.exact_variance(x)), rel=1e-9, abs=1e-10)


@given(windows(), st.floats(-1, 1))
@settings(deadline=None, max_examples=40)
def test_no_law_in_the_band_with_this_mean_has_less_variance(mechanism: UnbiasedWindow, x: float) -> None:
    base, points = mechanism.base, mechanism.points
    program = LinearProgram.of(
        (points - x) ** 2, np.stack([np.ones_like(points), points]), [1, x], [1, x], base, mechanism.ratio * base
    )
    least = Highs().solve(program).require_optimal().objective
    assert least is not None
    assert float(mechanism.exact_variance(x)) == pytest.approx(least, rel=1e-6, abs=1e-7)


@given(windows())
@settings(deadline=None)
def test_the_likelihood_ratio_is_the_largest_over_inputs(mechanism: UnbiasedWindow) -> None:
    exact = mechanism.likelihood_ratio().ratio
    assert exact is not None
    assert exact <= Fraction(mechanism.ratio)
    inputs = np.unique(np.concatenate([GRID, mechanism.breakpoints(Squared())]))
    rows = mechanism.rows(inputs)
    assert float(exact) == pytest.approx(float((rows.max(axis=0) / rows.min(axis=0)).max()), rel=1e-8)


def test_epsilon_is_proven_from_the_exact_ratio() -> None:
    ratio = math.exp(2.0) * (1 - 2.0**-50)
    mechanism = UnbiasedWindow(2.0, DOMAIN, [-2.0, 0.0, 2.0], [0.12, 0.1, 0.12], ratio)
    assert prove_privacy(mechanism, 2.0).holds
    assert mechanism.privacy_loss() <= 2.0


@given(windows(), st.floats(-1, 1))
@settings(deadline=None)
def test_cdf_and_quantile_follow_the_row(mechanism: UnbiasedWindow, x: float) -> None:
    row = mechanism.rows(x)
    cumulative = mechanism.cdf(mechanism.points, x)
    assert np.abs(cumulative - np.cumsum(row)).max() < 1e-11
    assert cumulative[-1] == 1.0
    assert mechanism.quantile(np.cumsum(row) - row / 2, x).tolist() == mechanism.points.tolist()


@given(windows(), st.floats(-1, 1))
@settings(deadline=None)
def test_the_quantile_is_the_least_output_that_the_cdf_allows(mechanism: UnbiasedWindow, x: float) -> None:
    levels = mechanism.cdf(mechanism.points, x)
    assert mechanism.quantile(levels, x).tolist() == mechanism.points.tolist()
    beyond = np.nextafter(levels[:-1], 1.0)
    assert mechanism.quantile(beyond, x).tolist() == mechanism.points[1:].tolist()


@given(windows())
@settings(deadline=None, max_examples=30)
def test_between_breakpoints_the_second_moment_is_linear(mechanism: UnbiasedWindow) -> None:
    cuts = np.array(mechanism.breakpoints(Squared()))
    left, right = cuts[:-1], cuts[1:]
    middle = mechanism.moment((left + right) / 2, 2)
    assert np.abs(middle - (mechanism.moment(left, 2) + mechanism.moment(right, 2)) / 2).max() < 1e-10


@given(windows())
@settings(deadline=None, max_examples=20)
def test_the_worst_case_is_not_below_any_input(mechanism: UnbiasedWindow) -> None:
    for loss in (Squared(), Absolute()):
        worst, at = mechanism.worst_case(loss)
        assert mechanism.expected_loss(GRID, loss).max() <= worst * (1 + 1e-9)
        assert float(mechanism.expected_loss(at, loss)) == pytest.approx(worst)


def test_the_average_is_the_integral_over_inputs() -> None:
    mechanism = UnbiasedWindow(2.0, DOMAIN, [-2.0, 0.1, 2.2], [0.1, 0.1, 0.12], math.exp(2))
    cells = np.linspace(-1, 1, 200_001)
    expected = float(mechanism.expected_loss((cells[1:] + cells[:-1]) / 2, Absolute()).mean())
    assert mechanism.average_loss(Absolute()) == pytest.approx(expected, rel=1e-8)


def test_samples_follow_the_row() -> None:
    """Chi-square, seed 5, n = 200,000, false-positive rate 1e-6, power > 0.999 for 0.01 of mass in the wrong place."""
    mechanism = UnbiasedWindow(2.0, DOMAIN, [-2.0, -0.3, 0.4, 2.0], [0.11, 0.04, 0.05, 0.11], math.exp(2))
    outputs = mechanism.sample(0.37, np.random.default_rng(5), size=200_000)
    counts = [(outputs == point).sum() for point in mechanism.points]
    statistic = stats.chisquare(counts, mechanism.rows(0.37) * 200_000).statistic
    assert statistic < stats.chi2.isf(1e-6, df=3)


def test_far_from_zero_the_mean_keeps_the_digits_of_the_domain() -> None:
    inputs = Interval(1.7e9, 1.7e9 + 86_400)
    mechanism = UnbiasedWindow(2.0, inputs, 1.7e9 + np.array([-9e4, 4e4, 1.8e5]), [0.12, 0.05, 0.12], math.exp(2))
    x = np.linspace(inputs.lower, inputs.upper, 50)
    bias = np.sum(mechanism.rows(x) * (mechanism.points - x[:, None]), axis=1)
    assert np.abs(bias).max() < 1e-6
    assert mechanism.exact_row(1.7e9 + 1)  # exists


def test_a_file_round_trip_keeps_every_double() -> None:
    mechanism = UnbiasedWindow(2.0, Interval(-1, 2), [-3.1, 0.7, 4.3], [0.1, 1 / 13, 0.12], math.exp(2))
    again = Codec().decoded(UnbiasedWindow, encoded(mechanism), "mechanism")
    assert again == mechanism
    assert hash(again) == hash(mechanism)


@pytest.mark.parametrize("change", [{"outputs": "ab"}, {"base": [True, 0.1, 0.1]}, {"name": 3}, {"ratio": math.nan}])
def test_dictionaries_of_other_things_are_refused(change: dict[str, object]) -> None:
    mechanism = UnbiasedWindow(2.0, DOMAIN, [-3.0, 0.0, 3.0], [0.1, 0.1, 0.1], math.exp(2))
    with pytest.raises(FileProblem, match=f"mechanism {next(iter(change))}"):
        Codec().decoded(UnbiasedWindow, encoded(mechanism) | change, "mechanism")


@pytest.mark.parametrize(
    ("points", "base", "ratio", "word"),
    [
        ([0.0, 1.0], [0.5], 2.0, "one entry"),
        ([1.0, 0.0], [0.4, 0.4], 2.0, "increasing"),
        ([-9.0, 9.0], [0.4, 0.0], 4.0, "above 0"),
        ([-9.0, 9.0], [0.6, 0.6], 2.0, "between 1/ratio"),
        ([-1.0, 1.0], [0.3, 0.3], 2.0, "every mean"),
        ([-9.0, 9.0], [0.5, 0.5], 2.0, "every mean"),
        ([0.0], [0.5], 2.0, "every mean"),
        ([-9.0, 9.0], [0.5, 0.5], 1.0, "every mean"),
    ],
)
def test_bases_that_carry_no_unbiased_mechanism_are_rejected(
    points: list[float], base: list[float], ratio: float, word: str
) -> None:
    with pytest.raises(InvalidInput, match=word):
        UnbiasedWindow(1.0, DOMAIN, points, base, ratio)


@pytest.mark.parametrize("x", [1.1, Fraction(-3, 2), math.nan])
def test_exact_rows_exist_on_the_domain_only(x: float | Fraction) -> None:
    mechanism = UnbiasedWindow(2.0, DOMAIN, [-3.0, 0.0, 3.0], [0.1, 0.1, 0.1], math.exp(2))
    with pytest.raises(InvalidInput):
        mechanism.exact_row(x)
