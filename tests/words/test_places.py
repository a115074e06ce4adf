"""Distances on the globe are enclosed wherever places are: compared with decimals of fifty digits."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from mechdesign.words.places import EARTH, GREAT_CIRCLE, distances_down, distances_up

_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_METRE = 180 / (np.pi * EARTH * 1000)
"""Degrees of latitude."""


def _sine(x: Decimal) -> Decimal:
    """The series, after turns were taken away: exact to the digits of the context."""
    x = x % (2 * _PI)
    term, total, k = x, x, 1
    while abs(term) > Decimal(10) ** -60:
        term *= -x * x / ((k + 1) * (k + 2))
        total, k = total + term, k + 2
    return total


def _arcsine(y: Decimal) -> Decimal:
    """By Newton's method from the double."""
    angle = Decimal(float(np.arcsin(float(y))))
    for _ in range(4):
        sine = _sine(angle)
        angle -= (sine - y) / (1 - sine * sine).sqrt()
    return angle


def _true(first: np.ndarray, second: np.ndarray) -> Decimal:
    """The haversine of these doubles."""
    with localcontext() as context:
        context.prec = 70
        (a, b), (c, d) = ([Decimal(float(degrees)) * _PI / 180 for degrees in place] for place in (first, second))
        cosines = _sine(_PI / 2 - a) * _sine(_PI / 2 - c)
        half = _sine((a - c) / 2) ** 2 + cosines * _sine((b - d) / 2) ** 2
        if half < Decimal("0.5"):
            return 2 * Decimal(EARTH) * _arcsine(half.sqrt())
        return Decimal(EARTH) * (_PI - 2 * _arcsine((1 - half).sqrt()))


def _require_enclosed(first: np.ndarray, second: np.ndarray) -> None:
    low = distances_down(first[None], second[None], GREAT_CIRCLE).item()
    high = distances_up(first[None], second[None], GREAT_CIRCLE).item()
    true = _true(first, second)
    assert Decimal(low) <= true <= Decimal(high)
    assert high - low <= 1e-10 * high


@pytest.mark.parametrize("metres", [1e-2, 1.0, 11.0, 100.0, 1e5])
@pytest.mark.parametrize("pole", [90.0, -90.0])
def test_distances_near_a_pole_are_enclosed(metres: float, pole: float) -> None:
    """At 1 cm from a pole 60 of 60 were not, by 7e-8: a cosine of nearly 90 degrees has few digits."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        away = metres * _METRE * rng.uniform(0.5, 2, 2)
        first, second = (np.array([np.sign(pole) * (90 - d), rng.uniform(-180, 180)]) for d in away)
        _require_enclosed(first, second)


@pytest.mark.parametrize("metres", [1e-2, 1.0, 100.0, 1e5])
def test_distances_across_the_antimeridian_are_enclosed(metres: float) -> None:
    rng = np.random.default_rng(1)
    for latitude in rng.uniform(-80, 80, 20):
        first, second = (180 - metres * _METRE * rng.uniform(0.5, 2, 2)).tolist()
        _require_enclosed(np.array([latitude, first]), np.array([latitude, -second]))


def test_distances_anywhere_are_enclosed_and_so_are_those_of_opposite_places() -> None:
    rng = np.random.default_rng(2)
    for _ in range(30):
        first, second = (np.array([rng.uniform(-90, 90), rng.uniform(-180, 180)]) for _ in range(2))
        _require_enclosed(first, second)
        near = first + rng.normal(0, 1e-6, 2) * np.array([0.1, 1.0])
        _require_enclosed(first, np.array([np.clip(near[0], -90, 90), np.clip(near[1], -180, 180)]))
    for away in (1e-3, 1e-9):
        _require_enclosed(np.array([10.0, 20.0]), np.array([-10.0 + away, -160.0]))


def test_a_pole_is_one_place_whatever_its_longitude() -> None:
    _require_enclosed(np.array([90.0, 0.0]), np.array([89.0, 120.0]))
    assert distances_up(np.array([[90.0, 0.0]]), np.array([[90.0, 77.0]]), GREAT_CIRCLE).item() == 0.0
