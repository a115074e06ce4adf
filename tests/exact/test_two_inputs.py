"""What two inputs forbid, against exhaustive search over small mechanisms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize

from mechdesign import Interval, InvalidInput, Power, catalogue
from mechdesign.exact.two_inputs import two_input_bound


@given(st.floats(0.05, 8.0))
@settings(deadline=None)
def test_squared_bound_is_the_two_point_theorem(epsilon: float) -> None:
    ratio = math.exp(epsilon)
    assert float(two_input_bound(epsilon, 2.0)) == pytest.approx(ratio / (1 + ratio) ** 2, rel=1e-12)


@given(st.floats(0.05, 8.0), st.sampled_from([1.0, 2.0, 3.0, 4.0]))
@settings(deadline=None)
def test_bound_equals_the_minimum_over_one_output(epsilon: float, exponent: float) -> None:
    ratio = math.exp(epsilon)
    best = optimize.minimize_scalar(
        lambda t: (ratio * t**exponent + (1 - t) ** exponent) / (1 + ratio),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-12},
    )
    assert float(two_input_bound(epsilon, exponent)) == pytest.approx(
        min(best.fun, 1 / (1 + ratio) if exponent == 1 else best.fun), rel=1e-6
    )


@given(st.floats(0.1, 6.0), st.sampled_from([1.0, 1.5, 2.0, 3.0]))
@settings(deadline=None, max_examples=25)
def test_no_published_mechanism_beats_the_bound(epsilon: float, exponent: float) -> None:
    loss, bound = Power(exponent), float(two_input_bound(epsilon, exponent))
    for entry in catalogue.ON_INTERVALS:
        assert entry.build(epsilon, Interval(0, 1), loss).worst_case(loss)[0] >= bound * (1 - 1e-12)


def test_concave_losses_are_rejected() -> None:
    with pytest.raises(InvalidInput):
        two_input_bound(1.0, 0.5)
