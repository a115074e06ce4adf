"""Caps of spheres: their bounds hold what other formulas say, and no cap of a grid leans further than the bound."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betainc, gammaln

from mechdesign.exact.caps import best_height, cap_above, lean_by_caps

HEIGHTS = (0.0, 1e-4, 0.1, 0.5, 0.9, 0.999)


def _by_scipy(count: int, height: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """The share and the lean of caps, in doubles."""
    rest = 1 - np.asarray(height) ** 2
    density = math.exp(gammaln(count / 2) - gammaln((count - 1) / 2)) / math.sqrt(math.pi)
    return betainc((count - 1) / 2, 0.5, rest) / 2, density * rest ** ((count - 1) / 2) / (count - 1)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 10, 101, 1024])
@pytest.mark.parametrize("height", HEIGHTS)
def test_a_cap_is_as_large_and_leans_as_far_as_incomplete_beta_functions_say(count: int, height: float) -> None:
    cap = cap_above(count, height)
    share, lean = _by_scipy(count, height)
    assert cap.share.lower <= cap.share.upper
    assert cap.lean.lower <= cap.lean.upper
    for found, wanted in ((cap.share, share), (cap.lean, lean)):
        assert float(found.lower) == pytest.approx(float(wanted), rel=1e-9, abs=1e-28)
        assert float(found.upper) == pytest.approx(float(wanted), rel=1e-9, abs=1e-28)


@pytest.mark.parametrize("count", [3, 5, 7, 31])
@pytest.mark.parametrize("height", HEIGHTS)
def test_polynomials_lie_between_the_bounds(count: int, height: float) -> None:
    """For an odd number of coordinates the density is a polynomial: both integrals are rational."""
    half, t = (count - 3) // 2, Fraction(height)
    terms = [(math.comb(half, k) * (-1) ** k, 2 * k) for k in range(half + 1)]
    whole = 2 * sum(Fraction(times, power + 1) for times, power in terms)
    share = sum(times * (1 - t ** (power + 1)) / (power + 1) for times, power in terms) / whole
    lean = sum(times * (1 - t ** (power + 2)) / (power + 2) for times, power in terms) / whole
    cap = cap_above(count, height)
    assert cap.share.lower <= share <= cap.share.upper
    assert cap.lean.lower <= lean <= cap.lean.upper
    assert cap.share.upper - cap.share.lower < Fraction(1, 10**30)


@pytest.mark.parametrize("count", [2, 3, 7, 64, 1000])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 2.0, 8.0])
def test_no_cap_leans_further_than_the_bound_and_one_nearly_does(count: int, epsilon: float) -> None:
    share, lean = _by_scipy(count, np.linspace(0, 1, 20_001))
    gain = math.expm1(epsilon)
    most, found = float((gain * lean / (gain * share + 1)).max()), float(lean_by_caps(count, epsilon))
    assert most * (1 - 1e-12) <= found <= most * (1 + 1e-5)
    assert found == pytest.approx(best_height(count, epsilon), rel=1e-14)


@pytest.mark.parametrize(("epsilon", "noise"), [(1.0, 6.3265), (2.0, 1.6154), (4.0, 0.4346)])
def test_1024_coordinates_have_the_noise_of_privunit(epsilon: float, noise: float) -> None:
    assert float(1 / lean_by_caps(1024, epsilon) ** 2 - 1) / 1024 == pytest.approx(noise, abs=5e-5)


def test_a_cap_that_is_nearly_empty_has_bounds_too() -> None:
    cap = cap_above(10_000, 0.5)
    assert 0 <= cap.share.lower <= cap.share.upper < Fraction(1, 10**50)
