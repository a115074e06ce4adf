"""Conditional noise on a grid against its definition: in rationals where there is one, else by summing its masses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import stats

from mechdesign import Absolute, Interval, InvalidInput, Squared
from mechdesign.errors import FileProblem
from mechdesign.exact.privacy import prove_privacy
from mechdesign.mechanisms.conditional import LARGEST, ConditionalNoise, column_places
from mechdesign.values.codec import Codec, encoded
from mechdesign.values.declare import evolved
from mechdesign.words.domains import Line
from mechdesign.words.losses import Power
from mechdesign.words.priors import Atoms, uniform

DOMAIN = Interval(-1, 1)
FAR = 80  # steps into the tails: 2^-80 of them is beyond


def _mechanism(inputs: Interval = DOMAIN, tail: int = 1) -> ConditionalNoise:
    base = [0.05, 0.15, 0.02, 0.02, 0.04, 0.02, 0.02, 0.15, 0.05]
    return ConditionalNoise(1.0, inputs, 2, 3, tail, np.array(base), 2.7, "example")


def _reports(mechanism: ConditionalNoise, far: int = FAR) -> np.ndarray:
    """All reports down to where the tails are nothing."""
    steps = np.arange(-mechanism.reach - far, mechanism.bins + mechanism.reach + far + 1.0)
    return mechanism.inputs.lower + mechanism.inputs.length * steps / mechanism.bins


@st.composite
def mechanisms(draw: st.DrawFn) -> ConditionalNoise:
    bins, reach, tail = draw(st.integers(1, 4)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    size = bins + 2 * reach + 1
    masses = np.array(draw(st.lists(st.integers(1, 20), min_size=size, max_size=size)), dtype=float)
    masses[[0, -1]] += masses.sum()  # or few of them would reach far enough
    ratio = math.exp(draw(st.floats(0.8, 5.0)))
    total = (1 / ratio) ** (1 - draw(st.floats(0.2, 0.8)))
    try:
        return ConditionalNoise(5.0, DOMAIN, bins, reach, tail, masses * (total / masses.sum()), ratio)
    except InvalidInput:
        assume(False)
        raise


@given(mechanisms())
@settings(deadline=None, max_examples=60)
def test_exact_rows_are_in_the_band_sum_to_one_and_have_the_input_as_their_mean(mechanism: ConditionalNoise) -> None:
    places = column_places(mechanism.bins, mechanism.reach, mechanism.tail).tolist()
    for k in range(mechanism.bins + 1):
        row = mechanism.exact_row(k)
        assert sum(row) == 1
        assert sum(q * Fraction(y) for q, y in zip(row, places, strict=True)) == k
        for probability, base in zip(row, mechanism.base.tolist(), strict=True):
            assert Fraction(base) <= probability <= Fraction(mechanism.ratio) * Fraction(base)


def test_a_tail_has_its_mean_and_its_variance_in_whole_steps() -> None:
    for tail in (1, 2, 7):
        r = tail / (tail + 1)
        n = np.arange(2000)
        law = (1 - r) * r**n
        assert law @ n == pytest.approx(tail, rel=1e-12)
        assert law @ (n - tail) ** 2 == pytest.approx(tail * (tail + 1), rel=1e-12)


@given(mechanisms(), st.integers(0, 4))
@settings(deadline=None, max_examples=60)
def test_the_exact_variance_is_the_sum_over_all_reports(mechanism: ConditionalNoise, k: int) -> None:
    k = min(k, mechanism.bins)
    x = mechanism.grid[k]
    reports = _reports(mechanism, 400)
    summed = float(np.sum(mechanism.mass(reports, x) * (reports - x) ** 2))
    assert float(mechanism.exact_variance(k)) == pytest.approx(summed, rel=1e-9)
    assert float(mechanism.variance(x)) == pytest.approx(summed, rel=1e-9)


@given(mechanisms(), st.floats(-1, 1), st.floats(-1, 1))
@settings(deadline=None, max_examples=60)
def test_no_report_tells_inputs_apart_by_more_than_the_ratio_tails_included(
    mechanism: ConditionalNoise, one: float, other: float
) -> None:
    reports = _reports(mechanism)
    most = float(np.max(mechanism.mass(reports, one) / mechanism.mass(reports, other)))
    bound = mechanism.likelihood_ratio().ratio
    assert bound is not None
    assert most <= float(bound) * (1 + 1e-9)
    assert bound <= Fraction(mechanism.ratio)
    assert prove_privacy(mechanism, 5.0).holds


@given(mechanisms())
@settings(deadline=None, max_examples=60)
def test_the_likelihood_ratio_is_the_largest_quotient_of_exact_rows(mechanism: ConditionalNoise) -> None:
    rows = [mechanism.exact_row(k) for k in range(mechanism.bins + 1)]
    worst = max(max(column) / min(column) for column in zip(*rows, strict=True))
    assert mechanism.likelihood_ratio().ratio == worst


@given(mechanisms(), st.floats(-1, 1))
@settings(deadline=None, max_examples=60)
def test_masses_add_up_to_the_cdf_and_to_one(mechanism: ConditionalNoise, x: float) -> None:
    reports = _reports(mechanism, 400)
    sums = np.cumsum(mechanism.mass(reports, x))
    assert sums[-1] == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(mechanism.cdf(reports, x), sums, atol=1e-12)
    between = reports[:-1] + 0.3 / mechanism.bins
    np.testing.assert_array_equal(mechanism.cdf(between, x), mechanism.cdf(reports[:-1], x))
    assert not mechanism.mass(between, x).any()


@given(mechanisms(), st.floats(-1, 1), st.floats(1e-290, 1, exclude_max=True))
@settings(deadline=None, max_examples=100)
def test_the_quantile_is_the_least_report_that_reaches_the_probability(
    mechanism: ConditionalNoise, x: float, u: float
) -> None:
    y = float(mechanism.quantile(u, x))
    step = mechanism.inputs.length / mechanism.bins
    assert float(mechanism.cdf(y, x)) >= u
    # next to 1 the sums of probabilities of several reports of a tail are one double
    assert float(mechanism.cdf(y - step / 2, x)) < u + 2**-52 * (u > 1 - 1e-12)


def test_the_quantile_of_nothing_and_of_everything_is_infinite() -> None:
    assert _mechanism().quantile([0.0, 1.0], 0.3).tolist() == [-math.inf, math.inf]
    assert _mechanism().cdf([-math.inf, math.inf], 0.3).tolist() == [0.0, 1.0]
    assert _mechanism().mass([-math.inf, math.inf, 1e300], 0.3).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("inputs", [DOMAIN, Interval(0.1, 0.7), Interval(1000, 1007), Interval(-3e-5, 1e-5)])
def test_the_mean_is_the_input_for_ten_thousand_real_inputs(inputs: Interval) -> None:
    mechanism = _mechanism(inputs)
    x = np.random.default_rng(5).uniform(inputs.lower, inputs.upper, 10_000)
    size = max(abs(inputs.lower), abs(inputs.upper), inputs.length)
    assert np.abs(mechanism.mean(x) - x).max() <= 1e-12 * size
    reports = _reports(mechanism)
    summed = np.array([mechanism.mass(reports, value) @ reports for value in x[:200]])
    assert np.abs(summed - x[:200]).max() <= 1e-12 * size


@given(mechanisms(), st.floats(-1, 1))
@settings(deadline=None, max_examples=60)
def test_rounding_adds_the_product_of_the_distances_to_the_neighbours(mechanism: ConditionalNoise, x: float) -> None:
    grid = mechanism.grid
    k = min(int((x + 1) / 2 * mechanism.bins), mechanism.bins - 1)
    share = (x - grid[k]) / (grid[k + 1] - grid[k])
    noise = (1 - share) * mechanism.variance(grid[k]) + share * mechanism.variance(grid[k + 1])
    rounding = (x - grid[k]) * (grid[k + 1] - x)
    assert float(mechanism.variance(x)) == pytest.approx(noise + rounding, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("loss", [Absolute(), Squared(), Power(1.5), Power(3.0)])
@pytest.mark.parametrize("tail", [1, 3])
def test_expected_losses_are_sums_over_all_reports(loss: Power, tail: int) -> None:
    mechanism = _mechanism(Interval(2, 5), tail)
    reports = _reports(mechanism, 700)
    x = np.array([2.0, 2.3, 3.5, 4.9, 5.0])
    summed = [mechanism.mass(reports, value) @ loss(reports, value) for value in x]
    np.testing.assert_allclose(mechanism.expected_loss(x, loss), summed, rtol=1e-9)


def test_moments_are_sums_over_all_reports() -> None:
    mechanism = _mechanism(tail=2)
    reports = _reports(mechanism, 700)
    for order in (0, 1, 2, 3, 6):
        summed = mechanism.mass(reports, 0.3) @ reports**order
        assert float(mechanism.moment(0.3, order)) == pytest.approx(summed, rel=1e-9)


def test_averages_over_priors_include_what_rounding_costs() -> None:
    mechanism = _mechanism()
    inside = (np.arange(20_000) + 0.5) / 10_000 - 1
    assert mechanism.average_loss(Squared(), uniform(DOMAIN)) == pytest.approx(
        float(mechanism.variance(inside).mean()), rel=1e-6
    )
    two = Atoms([-0.5, 0.25], [0.25, 0.75])
    at = mechanism.variance([-0.5, 0.25])
    assert mechanism.average_loss(Squared(), two) == pytest.approx(float(0.25 * at[0] + 0.75 * at[1]))


def test_samples_follow_the_law_tails_included() -> None:
    """Chi-square over reports pooled to at least 50 expected, n = 200 000, false positives 1e-6, seed fixed.

    A sampler that cut the tails (5% of the mass, half of it beyond the first report of a tail) would be refused surely.
    """
    mechanism, count = _mechanism(tail=2), 200_000
    for x, seed in ((0.3, 1), (-1.0, 2), (1.0, 3)):
        drawn = mechanism.sample(x, np.random.default_rng(seed), count)
        reports = _reports(mechanism, 40)
        expected = count * mechanism.mass(reports, x)
        kept = expected >= 50
        position = np.searchsorted(reports, drawn - 1e-9)
        seen = np.bincount(np.minimum(position, reports.size - 1), minlength=reports.size)
        seen_all = np.append(seen[kept], count - seen[kept].sum())
        expected_all = np.append(expected[kept], count - expected[kept].sum())
        statistic = float(np.sum((seen_all - expected_all) ** 2 / expected_all))
        assert statistic < stats.chi2.ppf(1 - 1e-6, kept.sum())
        assert (drawn == np.round(drawn)).all()
        assert drawn.max() > mechanism.points[-2] + 1  # beyond the first report of the tail


def test_samples_are_reproducible_and_have_the_shape_of_their_inputs() -> None:
    mechanism = _mechanism()
    x = np.linspace(-1, 1, 12).reshape(3, 4)
    one, other = (mechanism.sample(x, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert one.shape == (3, 4)
    assert mechanism.sample(0.5, np.random.default_rng(9), 0).shape == (0,)
    assert set(mechanism.mass(one, x).ravel() > 0) == {True}


def test_it_is_a_value_and_survives_a_file() -> None:
    mechanism = _mechanism()
    again = Codec().decoded(ConditionalNoise, encoded(mechanism), "mechanism")
    assert again == mechanism
    assert hash(again) == hash(mechanism)
    assert mechanism != evolved(mechanism, tail=2)
    assert mechanism.outputs == Line()
    assert mechanism.density([0.0, 0.3], 0.1).tolist() == [0.0, 0.0]
    assert mechanism.breakpoints(Squared()) == (-1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.base[0] = 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"bins": "2"},
        {"bins": 10**400},
        {"reach": 3.0},
        {"tail": None},
        {"base": [0.1, True]},
        {"base": "0.1"},
        {"base": []},
        {"base": [10**400] * 9},
        {"base": [-0.1] * 9},
        {"ratio": "2.7"},
        {"ratio": 1e300},
        {"epsilon": None},
        {"name": 3},
        {"inputs": {"kind": "circle", "period": 1.0}},
    ],
)
def test_a_document_that_was_changed_is_refused_with_a_typed_error(change: dict[str, object]) -> None:
    document = encoded(_mechanism())
    with pytest.raises(FileProblem, match=r"^mechanism "):
        Codec().decoded(ConditionalNoise, document | change, "mechanism")
    left = {name: value for name, value in document.items() if name not in change}
    with pytest.raises(FileProblem, match=f"mechanism {next(iter(change))} must be there"):
        Codec().decoded(ConditionalNoise, left, "mechanism")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"epsilon": 0.0}, "eps"),
        ({"bins": 0}, "bins"),
        ({"bins": 2.0}, "bins"),
        ({"bins": 3}, "base"),
        ({"reach": 0}, "reach"),
        ({"tail": 0}, "tail"),
        ({"tail": True}, "tail"),
        ({"tail": 10_001}, "tail"),
        ({"bins": 2000, "reach": 2000}, "bins and reach"),
        ({"ratio": 3.0}, "ratio"),
        ({"ratio": 1.5}, "base"),
        ({"base": np.full(9, 0.0)}, "base"),
        ({"base": np.array([0.01] * 4 + [0.4] + [0.01] * 4)}, "base"),
        ({"inputs": Line()}, "inputs"),
    ],
)
def test_bad_parameters_are_refused_by_name(change: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        evolved(_mechanism(), **change)
    assert refused.value.field == field


def test_bad_arguments_are_refused() -> None:
    mechanism = _mechanism()
    for call in (
        lambda: mechanism.mean(1.5),
        lambda: mechanism.cdf(math.nan, 0.0),
        lambda: mechanism.quantile(1.1, 0.0),
        lambda: mechanism.moment(0.0, -1),
        lambda: mechanism.sample(0.0, 3),  # type: ignore[arg-type]
        lambda: mechanism.sample([0.0], np.random.default_rng(1), 2),
    ):
        with pytest.raises(InvalidInput):
            call()
    assert LARGEST >= 101 * 703  # the grid of the paper fits
