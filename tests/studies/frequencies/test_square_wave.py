"""Square wave reports and EM: exact channels, likelihoods that rise, and independent optima."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, optimize

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.mechanisms import catalogue as c
from mechdesign.studies.frequencies.mean import mean_of_reports
from mechdesign.studies.frequencies.square_wave import (
    em,
    ems,
    estimate_by_em,
    estimate_by_ems,
    report_counts,
    smoothed,
    square_wave_channel,
)
from mechdesign.words.domains import Circle, Interval

BOUNDS = Interval(-2, 6)


@pytest.mark.parametrize("name", ["sw", "pm"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_channel_is_the_law_averaged_over_a_bin(name, epsilon):
    mechanism, bins = c.build(name, epsilon, BOUNDS), 5
    channel = square_wave_channel(mechanism, bins)
    outputs = mechanism.outputs
    reports, cuts = np.linspace(outputs.lower, outputs.upper, bins + 1), np.linspace(-2, 6, bins + 1)
    for i in (0, 2, 4):
        for j in (0, 1, 4):

            def chance(x, j=j):
                return float(mechanism.cdf(reports[j + 1], x) - mechanism.cdf(reports[j], x))

            by_hand = integrate.quad(chance, cuts[i], cuts[i + 1], limit=200)[0] / (cuts[1] - cuts[0])
            assert channel[i, j] == pytest.approx(by_hand, abs=1e-7)


def test_the_channel_s_rows_differ_by_at_most_e_to_the_eps():
    channel = square_wave_channel(c.sw(1.5, BOUNDS), 64)
    assert (channel.max(axis=0) / channel.min(axis=0)).max() <= math.exp(1.5) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [1.0, 20.0, 40.0, 64.0])
def test_the_channel_is_exact_for_narrow_windows_too(epsilon):
    """Against rational arithmetic on the mechanism's own doubles."""
    mechanism, bins = c.sw(epsilon, BOUNDS), 5
    low, high, width = map(Fraction, (mechanism.low, mechanism.high, mechanism.width))
    window, outputs = mechanism.window, mechanism.outputs
    pivot, slope, offset = map(Fraction, (window.pivot, window.slope, window.offset))
    cuts = [Fraction(cut) for cut in np.linspace(-2, 6, bins + 1).tolist()]
    starts = [pivot + slope * (cut - pivot) + offset - width / 2 for cut in cuts]
    reports = [Fraction(cut) for cut in np.linspace(outputs.lower, outputs.upper, bins + 1).tolist()]

    def primitive(length):
        return (max(length, 0) ** 2 - max(length - width, 0) ** 2) / 2

    channel = square_wave_channel(mechanism, bins)
    for i in range(bins):
        rate = (high - low) / (starts[i + 1] - starts[i])
        below = [low * y + rate * (primitive(y - starts[i]) - primitive(y - starts[i + 1])) for y in reports]
        row = [b - a for a, b in pairwise(below)]
        assert channel[i] == pytest.approx([float(entry / sum(row)) for entry in row], abs=1e-14)


@pytest.mark.parametrize("epsilon", [8.0, 12.0, 20.0, 40.0])
def test_em_does_not_stop_before_it_has_moved_where_epsilon_is_large(epsilon):
    """2000 users, whose reports all but show the values: the mean of the histogram is within a quarter of a bin."""
    rng = np.random.default_rng(1)
    mechanism, values = c.sw(epsilon, BOUNDS), rng.normal(2.4, 0.8, 2000).clip(-2, 6)
    reports = mechanism.sample(values, rng)
    found = estimate_by_em(reports, mechanism, 64)
    counts, channel = report_counts(reports, mechanism, 64), square_wave_channel(mechanism, 64)
    best = em(counts, channel, BOUNDS, tolerance=1e-6)
    assert found.log_likelihood == pytest.approx(best.log_likelihood, abs=3)
    assert found.mean == pytest.approx(values.mean(), abs=8 / 64 / 4)


@pytest.mark.parametrize("estimate", [estimate_by_em, estimate_by_ems])
def test_one_bin_is_refused(estimate):
    """Its mean is the middle, whatever the reports are."""
    with pytest.raises(InvalidInput, match="bins"):
        estimate([0.0, 1.0], c.sw(1.0, BOUNDS), 1)


def test_every_step_of_em_raises_the_likelihood():
    rng = np.random.default_rng(0)
    mechanism = c.sw(1.0, BOUNDS)
    counts = report_counts(mechanism.sample(rng.uniform(-2, 1, 5000), rng), mechanism, 16)
    channel = square_wave_channel(mechanism, 16)
    seen = counts > 0
    weights, reached = np.full(16, 1 / 16), -math.inf
    for _ in range(200):  # the textbook's step
        expected = weights @ channel
        likelihood = float(counts[seen] @ np.log(expected[seen]))
        assert likelihood >= reached - 1e-9
        reached = likelihood
        weights = weights * (channel @ (counts / expected)) / counts.sum()
    found = em(counts, channel, BOUNDS, tolerance=1e-6, steps=10**6)
    assert found.log_likelihood >= reached - 1e-3
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)


def test_em_reaches_the_maximum_another_method_finds():
    rng = np.random.default_rng(1)
    channel, counts = rng.dirichlet(np.ones(6), 4), rng.integers(1, 50, 6).astype(float)

    def loss(weights):
        return -float(counts @ np.log(weights @ channel))

    total = {"type": "eq", "fun": lambda weights: weights.sum() - 1}
    best = optimize.minimize(loss, np.full(4, 0.25), method="SLSQP", bounds=[(0, 1)] * 4, constraints=total, tol=1e-12)
    found = em(counts, channel, Interval(0, 1), tolerance=1e-10, steps=100_000)
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-5)


def test_smoothing_keeps_totals_and_flat_histograms():
    assert smoothed(np.full(7, 1 / 7)) == pytest.approx(np.full(7, 1 / 7))
    rough = np.random.default_rng(2).dirichlet(np.full(30, 0.2))
    assert smoothed(rough).sum() == pytest.approx(1)
    assert np.abs(np.diff(smoothed(rough))).sum() < np.abs(np.diff(rough)).sum()
    assert smoothed(np.ones(1)).tolist() == [1.0]


def test_ems_is_smoother_and_less_likely_than_em():
    rng = np.random.default_rng(3)
    mechanism = c.sw(1.0, BOUNDS)
    reports = mechanism.sample(rng.normal(2, 1, 20_000).clip(-2, 6), rng)
    by_em, by_ems = estimate_by_em(reports, mechanism, 64), estimate_by_ems(reports, mechanism, 64)
    assert by_em.log_likelihood > by_ems.log_likelihood
    assert np.abs(np.diff(by_ems.weights)).sum() < np.abs(np.diff(by_em.weights)).sum()


def test_the_histogram_finds_a_normal_law_and_its_mean():
    """10^5 users at eps = 3; the mean's standard error is 0.01, its bias below 0.02."""
    rng = np.random.default_rng(4)
    values = rng.normal(1, 1, 10**5).clip(-2, 6)
    mechanism = c.sw(3.0, BOUNDS)
    found = estimate_by_ems(mechanism.sample(values, rng), mechanism, 64)
    truth = np.histogram(values, 64, (-2, 6))[0] / values.size
    assert found.mean == pytest.approx(values.mean(), abs=0.08)
    assert np.abs(np.cumsum(found.weights) - np.cumsum(truth)).max() < 0.02


def test_the_mean_of_a_histogram_is_biased_towards_the_middle_near_an_end():
    """40 collections of 300 users at an end: the average error is 5 standard errors above 0, the reports' is not."""
    mechanism, errors = c.sw(0.5, BOUNDS), []
    for seed in range(40):
        reports = mechanism.sample(np.full(300, -2.0), np.random.default_rng(seed))
        errors.append([estimate_by_em(reports, mechanism, 64).mean + 2, mean_of_reports(reports, mechanism).value + 2])
    histogram, plain = np.mean(errors, axis=0) / (np.std(errors, axis=0, ddof=1) / math.sqrt(40))
    assert histogram > 5
    assert abs(plain) < 5


def test_counts_are_of_equal_bins_of_the_outputs():
    mechanism = c.sw(1.0, BOUNDS)
    outputs = mechanism.outputs
    reports = [outputs.lower, outputs.upper, outputs.middle + 1e-6]
    assert report_counts(reports, mechanism, 4).tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize("reports", [[], [99.0], [math.nan], [math.inf], ["a"], None], ids=str)
def test_reports_that_are_not_the_mechanism_s_are_refused(reports):
    with pytest.raises(InvalidInput):
        report_counts(reports, c.sw(1.0, BOUNDS))


@pytest.mark.parametrize(
    "law", [c.ogpm(1.0, BOUNDS), c.ogpm_circle(1.0, Circle(3.0)), c.redesigned_sw(1.0, BOUNDS)], ids=lambda m: m.name
)
def test_windows_that_do_not_move_with_the_input_are_refused(law):
    with pytest.raises(InvalidInput, match="mechanism"):
        square_wave_channel(law)


@pytest.mark.parametrize(
    "arguments",
    [
        ([0, 0], np.eye(2)),
        ([-1, 2], np.eye(2)),
        ([1, math.nan], np.eye(2)),
        ([1, 1, 1], np.eye(2)),
        ([1, 1], np.ones((2, 2))),
        ([1, 1], [[2, -1], [0, 1]]),
        ([1, 1], [[1, 0], [1, 0]]),
        ([[1, 1]], np.eye(2)),
    ],
    ids=str,
)
def test_counts_and_channels_that_do_not_fit_are_refused(arguments):
    for climb in (em, ems):
        with pytest.raises(InvalidInput):
            climb(*arguments, BOUNDS)


@pytest.mark.parametrize("options", [{"tolerance": 0}, {"tolerance": math.nan}, {"steps": 0}, {"steps": 1.5}], ids=str)
def test_limits_that_are_none_are_refused(options):
    with pytest.raises(InvalidInput):
        em([1, 1], np.eye(2), BOUNDS, **options)


def test_too_few_steps_give_bounds_and_no_answer():
    channel = square_wave_channel(c.sw(0.5, BOUNDS), 16)
    counts = np.arange(1.0, 17.0)
    best = em(counts, channel, BOUNDS, tolerance=1e-9, steps=10**6).log_likelihood
    with pytest.raises(NoAnswer, match="3 steps") as caught:
        em(counts, channel, BOUNDS, tolerance=1e-9, steps=3)
    assert caught.value.lower <= best <= caught.value.upper
