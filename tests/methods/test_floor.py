"""The interval on the optimum over all mechanisms."""

from __future__ import annotations

import math

import pytest

from mechdesign import Absolute, Circle, Interval, Power, Squared, floor_of

# reference minimax values on [0, 1]: exponent, epsilon, optimum over all mechanisms
REFERENCE = [
    (1, 0.5, 0.39526992), (1, 1, 0.31616897), (1, 2, 0.2008202), (1, 4, 0.0780888),
    (2, 0.5, 0.23500371), (2, 1, 0.19661193), (2, 2, 0.1068830), (2, 4, 0.0260599),
]  # fmt: skip


@pytest.mark.parametrize(("exponent", "epsilon", "optimum"), REFERENCE)
def test_the_floor_brackets_the_reference_optimum(exponent: float, epsilon: float, optimum: float) -> None:
    floor = floor_of(epsilon, Power(float(exponent)), Interval(0, 1))
    assert floor.lower <= optimum * (1 + 1e-6)
    assert floor.upper >= optimum * (1 - 1e-6)


def test_the_floor_is_exact_on_a_circle() -> None:
    floor = floor_of(2.0, Squared(2 * math.pi), Circle())
    assert floor.upper - floor.lower < 1e-12


def test_the_floor_scales_with_the_domain() -> None:
    unit, wide = floor_of(1.0, Absolute(), Interval(0, 1)), floor_of(1.0, Absolute(), Interval(-3, 7))
    assert wide.lower == pytest.approx(10 * unit.lower)
    assert wide.upper == pytest.approx(10 * unit.upper)


def test_a_concave_loss_gets_the_trivial_lower_end() -> None:
    assert floor_of(1.0, Power(0.5), Interval(0, 1)).lower == 0.0
