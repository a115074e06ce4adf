"""Privacy proofs decided in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from mechdesign import CheckFailed, Interval, catalogue
from mechdesign.exact.privacy import PrivacyProof, prove_privacy
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.mechanisms import LikelihoodRatio, Piecewise


def _with_ratio(low: float, high: float) -> Piecewise:
    return Piecewise(1.0, Interval(0, 1), Interval(0, 1), low, high)


def test_a_ratio_one_ulp_above_e_to_epsilon_is_refused() -> None:
    low = 0.5
    high = low * math.e
    while Fraction(high) / Fraction(low) <= exp_upper(1.0):
        high = math.nextafter(high, math.inf)
    with pytest.raises(CheckFailed, match="privacy loss"):
        prove_privacy(_with_ratio(low, high), 1.0)


def test_a_ratio_one_ulp_below_e_to_epsilon_is_accepted() -> None:
    low = 0.5
    high = low * math.e
    while Fraction(high) / Fraction(low) >= exp_lower(1.0):
        high = math.nextafter(high, 0.0)
    assert prove_privacy(_with_ratio(low, high), 1.0).holds


def test_an_infinite_ratio_is_never_private() -> None:
    assert not PrivacyProof(5.0, LikelihoodRatio(None)).holds


def test_an_exponent_equal_to_epsilon_is_private_exactly() -> None:
    assert PrivacyProof(1.5, LikelihoodRatio(Fraction(1), Fraction(1.5))).holds


def test_an_exponent_above_epsilon_is_not_private() -> None:
    above = Fraction(1.5) + Fraction(1, 10**30)
    assert not PrivacyProof(1.5, LikelihoodRatio(Fraction(1), above)).holds


def test_ratio_and_exponent_are_added_up() -> None:
    two = LikelihoodRatio(Fraction(2), Fraction(1, 4))
    assert PrivacyProof(math.log(2) + 0.25 + 1e-12, two).holds
    assert not PrivacyProof(math.log(2) + 0.25 - 1e-12, two).holds


def test_gaussian_noise_has_no_pure_privacy_proof() -> None:
    with pytest.raises(CheckFailed):
        prove_privacy(catalogue.gaussian(1.0, 1.0), 60.0)
