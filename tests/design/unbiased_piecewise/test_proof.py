"""The lower bound for unbiased piecewise mechanisms, against mechanisms in the class."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import InvalidInput, Squared, catalogue
from mechdesign.design.unbiased_piecewise.proof import UnbiasedBound, _stretches
from mechdesign.domains import Interval
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise

SYMMETRIC = catalogue.SYMMETRIC


@given(st.floats(0.1, 6.0), st.floats(0.0, 1.0), st.floats(1.0, 20.0))
@settings(deadline=None)
def test_pm_and_theorem_10_are_never_below_any_bound(epsilon: float, start: float, stop: float) -> None:
    bound = float(UnbiasedBound(start, stop).value(epsilon))
    for mechanism in (catalogue.pm(epsilon), catalogue.ogpm_unbiased(epsilon, SYMMETRIC)):
        assert bound <= mechanism.worst_case(Squared())[0] * (1 + 1e-12)


@given(st.floats(0.2, 4.0), st.floats(0.0, 0.999), st.floats(1.001, 8.0))
@settings(deadline=None, max_examples=60)
def test_the_shortfall_is_a_lower_bound_of_the_integral_on_a_grid(epsilon: float, start: float, stop: float) -> None:
    ratio = math.exp(epsilon)
    y = np.linspace(0, 1.5 * stop, 60_001)

    def phi(values: np.ndarray) -> np.ndarray:
        return np.minimum(values, ratio * values)

    density = (phi((y - start) * (y - stop)) + phi((y + start) * (y + stop))) / 2
    running = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(y))])
    least = min(0.0, float(running.min()))
    shortfall = float(UnbiasedBound(start, stop).value(epsilon)) - (1 - start) * (stop - 1)
    assert shortfall <= least + 1e-6 * (1 + abs(least)) * ratio
    assert shortfall >= least - 1e-5 * (1 + abs(least)) * ratio * stop**2


@pytest.mark.parametrize(("start", "stop"), [(-0.1, 2.0), (1.1, 2.0), (0.5, 0.9), (math.nan, 2.0)])
def test_windows_that_miss_the_input_are_rejected(start: float, stop: float) -> None:
    with pytest.raises(InvalidInput):
        UnbiasedBound(start, stop)


@pytest.mark.parametrize(
    ("inputs", "window"),
    [
        (Interval(-1, 1), AffineWindow()),
        (Interval(2, 3), AffineWindow(pivot=2.5)),
        (Interval(2, 3), AffineWindow(slope=1.5, offset=0.25, pivot=2.25)),
        (Interval(-7, -5), AffineWindow(slope=0.75, offset=0.0625, pivot=-6.0)),
    ],
)
def test_stretches_end_where_the_window_meets_an_end_of_the_outputs(inputs: Interval, window: AffineWindow) -> None:
    mechanism = Piecewise(math.log(4), inputs, inputs, 0.5 / inputs.length, 2 / inputs.length, window)
    half = mechanism.exact_width() / 2
    first, *inner, last = _stretches(mechanism)
    assert (first, last) == (inputs.lower, inputs.upper)
    assert len(inner) == 2
    centres = [Fraction(window.pivot) + Fraction(window.slope) * (x - Fraction(window.pivot)) for x in inner]
    centres = [centre + Fraction(window.offset) for centre in centres]
    assert [centres[0] - half, centres[1] + half] == [inputs.lower, inputs.upper]
