"""The private descriptor: exact privacy, unbiased shares and means, and any protocol of the right shape."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.privacy import prove_privacy
from mechdesign.studies.frequencies.descriptor import EdgeResponse, describe, describe_support, report_edges
from mechdesign.studies.frequencies.quantise import edges_of, quantised
from mechdesign.words.domains import Interval

BOUNDS = Interval(-1, 3)
RATE = 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("bins", [1, 2, 16])
def test_the_response_is_epsilon_private_in_rational_arithmetic(epsilon, bins):
    response = EdgeResponse(epsilon, BOUNDS, bins)
    assert prove_privacy(response.mechanism, epsilon).holds
    assert response.privacy_loss() == pytest.approx(epsilon, rel=1e-12)
    assert response.p == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + bins), rel=1e-12)


def test_reports_have_the_law_of_the_mechanism():
    """60 000 reports of each of 3 edges out of 5; chi-square with false-positive rate 1e-6 each."""
    response = EdgeResponse(1.0, BOUNDS, 4)
    for held in (0, 2, 4):
        reports = response.report(np.full(60_000, held), np.random.default_rng(held))
        expected = 60_000 * response.mechanism.mass(edges_of(BOUNDS, 4), edges_of(BOUNDS, 4)[held])
        statistic = float(((response.support(reports) - expected) ** 2 / expected).sum())
        assert statistic < stats.chi2.ppf(1 - RATE, 4)


def law_of_reports(response, x):
    """The chances of the reports of a value, the rounding included, by enumeration."""
    return quantised([x], response.inputs, response.bins).weights @ response.mechanism.probabilities


@pytest.mark.parametrize("x", [-1.0, -0.3, 1.0, 2.9, 3.0])
@pytest.mark.parametrize("bins", [1, 2, 7])
def test_the_debiased_report_has_the_value_for_mean_and_the_stated_variance(x, bins):
    response = EdgeResponse(1.3, BOUNDS, bins)
    law, numbers = law_of_reports(response, x), response.debiased()
    assert law @ numbers == pytest.approx(x, abs=1e-12)
    assert law @ (numbers - x) ** 2 == pytest.approx(float(response.variance(x)[0]), rel=1e-12)


def test_with_two_edges_the_response_is_duchi_s_mechanism():
    from mechdesign.mechanisms.catalogue import duchi

    values = np.linspace(-1, 3, 9)
    assert EdgeResponse(1.0, BOUNDS, 1).variance(values) == pytest.approx(duchi(1.0, BOUNDS).variance(values), rel=1e-9)


def test_estimated_shares_are_unbiased():
    response = EdgeResponse(0.7, BOUNDS, 6)
    for x in (-1.0, 0.1, 2.2):
        expected = law_of_reports(response, x)
        assert response.estimate(expected, 1) == pytest.approx(quantised([x], BOUNDS, 6).weights, abs=1e-12)


def test_a_descriptor_is_a_distribution_on_the_edges_even_of_few_reports():
    rng = np.random.default_rng(0)
    response = EdgeResponse(0.2, BOUNDS, 16)
    for users in (1, 2, 30):
        reports = report_edges(response, rng.uniform(-1, 3, users), BOUNDS, rng)
        found = describe(response, reports, users, BOUNDS)
        assert found.estimate.min() < 0
        assert found.prior.weights.sum() == pytest.approx(1, abs=1e-12)
        assert found.prior.points.tolist() == edges_of(BOUNDS, 16).tolist()
        assert int(found.support.sum()) == users


def test_many_users_show_their_distribution():
    """10^6 users at eps = 4: each share has a standard error below 0.001, six of which are allowed."""
    rng = np.random.default_rng(1)
    values = np.clip(rng.normal(1, 0.5, 10**6), -1, 3)
    response = EdgeResponse(4.0, BOUNDS, 8)
    found = describe(response, report_edges(response, values, BOUNDS, rng), values.size, BOUNDS)
    assert np.abs(found.prior.weights - quantised(values, BOUNDS, 8).weights).max() < 6e-3


@dataclass(frozen=True)
class Unary:
    """Optimised unary encoding, the least that is needed of another protocol."""

    epsilon: float
    size: int

    @property
    def q(self):
        return 1 / (math.exp(self.epsilon) + 1)

    def privacy_loss(self):
        return self.epsilon

    def report(self, values, rng):
        own = np.arange(self.size) == np.asarray(values)[:, None]
        return rng.random(own.shape) < np.where(own, 0.5, self.q)

    def support(self, reports):
        return reports.sum(axis=0)

    def estimate(self, support, n):
        return (support / n - self.q) / (0.5 - self.q)


def test_any_protocol_of_the_shape_may_describe():
    rng = np.random.default_rng(2)
    values = rng.choice([-1.0, 3.0], 20_000, p=[0.25, 0.75])
    protocol = Unary(3.0, 5)
    found = describe(protocol, report_edges(protocol, values, BOUNDS, rng), values.size, BOUNDS)
    assert found.prior.weights == pytest.approx([0.25, 0, 0, 0, 0.75], abs=0.03)


@pytest.mark.parametrize("reports", [[5], [-1], [0.5], [[0, 1]], [], ["a"], [math.nan], [None]], ids=str)
def test_reports_that_are_no_edges_are_refused(reports):
    with pytest.raises(InvalidInput, match="histogram reports"):
        describe(EdgeResponse(1.0, BOUNDS, 4), np.array(reports), 1, BOUNDS)


def test_a_protocol_whose_estimates_are_no_shares_is_withheld():
    class Broken(Unary):
        def estimate(self, support, n):
            return np.full(self.size, math.nan)

    with pytest.raises(CheckFailed, match="histogram protocol"):
        describe_support(Broken(1.0, 3), np.ones(3, dtype=np.int64), 3, BOUNDS)


@pytest.mark.parametrize("arguments", [(0.0, BOUNDS, 4), (1.0, "x", 4), (1.0, BOUNDS, 0), (1.0, BOUNDS, 600)], ids=str)
def test_responses_that_cannot_be_are_refused(arguments):
    with pytest.raises(InvalidInput):
        EdgeResponse(*arguments)
