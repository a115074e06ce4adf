"""Randomised response on equal bins: its closed form, its privacy, and the number of bins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.exact.privacy import prove_privacy
from mechdesign.mechanisms import catalogue
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power

UNIT = Interval(0, 1)


def error_at_an_end(ratio: float, bins: int, power: int) -> Fraction:
    """``[sum_b y_b^p + (c - 1) y_1^p] / (c + k - 1)`` in rationals, centres ``y_b = (b - 1/2) / k``."""
    c = Fraction(ratio)
    centres = [Fraction(2 * b - 1, 2 * bins) for b in range(1, bins + 1)]
    return (sum(y**power for y in centres) + (c - 1) * centres[0] ** power) / (c + bins - 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 7.0])
@pytest.mark.parametrize("power", [1, 2])
def test_the_worst_case_is_the_closed_form_at_an_end(epsilon: float, power: int) -> None:
    mechanism = catalogue.randomised_response_on_bins(epsilon, UNIT, Power(float(power)))
    expected = error_at_an_end(mechanism.ratio, mechanism.points.size, power)
    assert mechanism.worst_case(Power(float(power)))[0] == pytest.approx(float(expected), rel=1e-12)
    grid = np.linspace(0, 1, 2001)
    assert mechanism.expected_loss(grid, Power(float(power))).max() <= float(expected) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("power", [1, 2])
def test_no_other_number_of_bins_has_a_smaller_worst_case(epsilon: float, power: int) -> None:
    best = catalogue.randomised_response_on_bins(epsilon, UNIT, Power(float(power)))
    others = [error_at_an_end(best.ratio, bins, power) for bins in range(1, 60)]
    assert float(min(others)) == pytest.approx(best.worst_case(Power(float(power)))[0], rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-12, 0.3, 1.0, 16.0, 24.0, 64.0])
@pytest.mark.parametrize("domain", [UNIT, Interval(-5, 3), Interval(1e6, 1e6 + 1)])
def test_privacy_holds_as_rationals_at_every_epsilon(epsilon: float, domain: Interval) -> None:
    prove_privacy(catalogue.randomised_response_on_bins(epsilon, domain), epsilon)


def test_the_likelihood_ratio_is_used_up() -> None:
    assert catalogue.randomised_response_on_bins(2.0).privacy_loss() == pytest.approx(2.0, abs=1e-12)


def test_an_output_is_reported_with_the_probability_of_randomised_response() -> None:
    mechanism = catalogue.randomised_response_on_bins(1.0, UNIT, bins=4)
    law = mechanism.mass(mechanism.points, 0.3)
    assert law == pytest.approx(np.array([1, np.e, 1, 1]) / (np.e + 3), rel=1e-12)


@pytest.mark.parametrize("bins", [0, -1, 257, 2.0, True])
def test_a_senseless_number_of_bins_is_refused(bins: int) -> None:
    with pytest.raises(InvalidInput, match="bins must be a whole number from 1 to 256"):
        catalogue.randomised_response_on_bins(1.0, UNIT, bins=bins)
