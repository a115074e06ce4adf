"""Noise laws: densities, partial moments, quantiles."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, stats

from mechdesign.mechanisms import Gaussian, Laplace, Staircase

NOISES = [Laplace(0.7), Gaussian(1.3), Staircase(1.0, 2.0, 0.3), Staircase(4.0, 0.5, 0.9), Staircase(0.05, 1.0, 0.5)]


def edges(noise, stop):
    if not isinstance(noise, Staircase):
        return [0.0, stop]
    steps = [
        (k + part) * noise.sensitivity for k in range(int(stop / noise.sensitivity) + 1) for part in (0, noise.share)
    ]
    return sorted({0.0, stop, *(edge for edge in steps if edge < stop)})


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0, 3.5])
@pytest.mark.parametrize("stop", [0.1, 1.0, 7.3])
def test_partial_moments_are_integrals_of_the_density(noise, power, stop, tanh_sinh):
    expected = tanh_sinh(lambda z: z**power * noise.density(z), edges(noise, stop))
    assert float(noise.partial(power, np.float64(stop))) == pytest.approx(expected, rel=1e-11, abs=0)


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_whole_moments_are_the_limits_of_partial_ones(noise, power):
    far = np.float64(1000.0 / getattr(noise, "epsilon", 1.0))
    assert float(noise.partial(power, np.float64(np.inf))) == pytest.approx(
        float(noise.partial(power, far)), rel=1e-11, abs=0
    )


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_half_the_mass_lies_on_each_side(noise):
    assert float(noise.partial(0.0, np.float64(np.inf))) == pytest.approx(0.5, rel=1e-13, abs=0)


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_densities_are_symmetric(noise):
    z = np.linspace(0.01, 9, 333)
    np.testing.assert_array_equal(noise.density(z), noise.density(-z))


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("u", [1e-15, 1e-3, 0.2, 0.5, 0.9, 1 - 1e-12])
def test_quantiles_invert_the_mass(noise, u):
    z = noise.quantile(np.float64(u))
    assert 0.5 + np.sign(z) * float(noise.partial(0.0, np.abs(z))) == pytest.approx(u, abs=1e-15)


@settings(max_examples=200)
@given(st.floats(1e-2, 30), st.floats(1e-3, 1e3), st.floats(1e-3, 0.99), st.floats(0, 5))
def test_a_staircase_drops_by_e_to_the_epsilon_a_sensitivity(epsilon, sensitivity, share, place):
    noise = Staircase(epsilon, sensitivity, share)
    z = (math.floor(place) + 0.999 * (share if place % 1 < 0.5 else 1)) * sensitivity
    drop = float(noise.density(np.float64(z))) * math.exp(-epsilon)
    assert float(noise.density(np.float64(z + sensitivity))) == pytest.approx(drop, rel=1e-9, abs=0)


def test_laplace_and_gaussian_are_scipys():
    z = np.linspace(-5, 5, 41)
    np.testing.assert_allclose(Laplace(0.7).density(z), stats.laplace(scale=0.7).pdf(z), rtol=1e-12)
    np.testing.assert_allclose(Gaussian(1.3).density(z), stats.norm(scale=1.3).pdf(z), rtol=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "deviation"), [(0.1, 1.0, 1.0), (1.0, 1.0, 1.0), (2.0, 3.0, 1.0), (0.5, 1.0, 4.0)]
)
def test_delta_is_the_mass_the_ratio_of_densities_exceeds_e_to_the_epsilon_by(epsilon, sensitivity, deviation):
    law = stats.norm(scale=deviation)

    def excess(z):
        return max(0.0, law.pdf(z) - math.exp(epsilon) * law.pdf(z + sensitivity))

    cross = -sensitivity / 2 - epsilon * deviation**2 / sensitivity  # where excess leaves 0, from the other side
    start, stop = -12 * deviation - sensitivity, 12 * deviation
    points = [p for p in (cross, -cross - sensitivity) if start < p < stop]
    expected, _ = integrate.quad(excess, start, stop, points=points, limit=300, epsabs=1e-13)
    assert Gaussian(deviation).delta(epsilon, sensitivity) == pytest.approx(expected, abs=1e-10)


def test_delta_is_never_negative():
    assert Gaussian(1e6).delta(1.0, 1e-6) == 0.0
    assert 0 <= Gaussian(3.0).delta(64.0, 1.0) <= 1e-300


def test_outputs_far_beyond_memory_have_the_whole_mass_below_them():
    assert float(Staircase(1e-9, 1.0, 0.5).partial(0.0, np.float64(1e15))) == pytest.approx(0.5)
    assert float(Staircase(1e-9, 1.0, 0.5).partial(0.0, np.float64(1e9))) == pytest.approx(
        0.5 * -math.expm1(-1), rel=1e-6
    )
