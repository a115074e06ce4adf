"""The lower bound for unbiased piecewise mechanisms, against mechanisms in the class."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import InvalidInput, Squared, catalogue
from mechdesign.errors import CheckFailed
from mechdesign.exact.piecewise import exact_bias, exact_error
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.methods.unbiased_piecewise.proof import UnbiasedBound, _larger_root, _stretches
from mechdesign.values.declare import evolved
from mechdesign.words.classes import UnbiasedPiecewise
from mechdesign.words.domains import Interval
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

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


# -- term by term, as the page says ------------------------------------------------------------------------------------


def _asked(epsilon: float = 1.0, inputs: Interval = SYMMETRIC) -> Problem:
    return Problem(inputs=inputs, loss="squared", privacy=Pure(epsilon), among=UnbiasedPiecewise())


def _integral(a: Fraction, r: Fraction, ratio: Fraction, y: Fraction) -> Fraction:
    """Of ``g = (phi((y - a)(y - r)) + phi((y + a)(y + r))) / 2`` from 0 to y, at most r."""

    def first(t: Fraction) -> Fraction:
        return t**3 / 3 - (a + r) * t**2 / 2 + a * r * t

    def second(t: Fraction) -> Fraction:
        return t**3 / 3 + (a + r) * t**2 / 2 + a * r * t

    outside = first(min(a, y)) + ratio * (first(y) - first(min(a, y)))
    return (outside + second(y)) / 2


def _root(square: Fraction) -> Fraction:
    """The square root, to 300 bits."""
    return Fraction(math.isqrt((square.numerator << 600) // square.denominator), 1 << 300)


def _least_integral(a: Fraction, r: Fraction, ratio: Fraction) -> Fraction:
    """At the larger zero of g between a and r, or at 0."""
    half = (ratio - 1) * (a + r) / (2 * (ratio + 1))
    if half**2 <= a * r:
        return Fraction(0)
    zero = half + _root(half**2 - a * r)
    return min(Fraction(0), _integral(a, r, ratio, zero)) if a < zero < r else Fraction(0)


@given(st.floats(0.01, 12.0), st.floats(0.0, 1.0), st.floats(1.0, 40.0))
@settings(deadline=None, max_examples=300)
def test_the_bound_is_that_of_the_page_and_hardly_less(epsilon: float, start: float, stop: float) -> None:
    a, r = Fraction(start), Fraction(stop)
    exact = (1 - a) * (r - 1) + _least_integral(a, r, exp_upper(epsilon))
    found = UnbiasedBound(start, stop).value(epsilon)
    assert exact - Fraction(1, 10**25) <= found <= exact + Fraction(1, 10**60)


@pytest.mark.parametrize("near", [0.0, 1.0, 100.0])
def test_a_guess_of_the_root_changes_nothing(monkeypatch: pytest.MonkeyPatch, near: float) -> None:
    """What doubles know of it only saves work."""
    a, r = Fraction(0.125), Fraction(4)
    exact = (1 - a) * (r - 1) + _least_integral(a, r, exp_upper(3.0))
    monkeypatch.setattr("mechdesign.methods.unbiased_piecewise.proof._larger_root", lambda *_: near)
    found = UnbiasedBound(0.125, 4.0).value(3.0)
    assert exact - Fraction(1, 10**25) <= found <= exact


def test_the_larger_root_is_one() -> None:
    for ratio, a, r in ((20.0, 0.125, 4.0), (5.0, 0.01, 2.0)):
        y = _larger_root(ratio, a, r)
        assert (ratio + 1) * (y * y + a * r) == pytest.approx((ratio - 1) * (a + r) * y, rel=1e-12)
        assert y > (ratio - 1) * (a + r) / (2 * (ratio + 1))
    assert _larger_root(2.0, 0.9, 1.0) == pytest.approx(1.9 / 6)


@pytest.mark.parametrize("inputs", [SYMMETRIC, Interval(0, 1), Interval(2, 7)], ids=str)
def test_the_bound_scales_with_the_square_of_the_domain_and_is_rounded_down(inputs: Interval) -> None:
    bound = UnbiasedBound(0.2, 4.0)
    exact = bound.value(1.0) * (Fraction(inputs.upper) - Fraction(inputs.lower)) ** 2 / 4
    found = bound.bound(_asked(inputs=inputs), None)
    assert 0 < Fraction(found) <= exact < Fraction(math.nextafter(found, math.inf))


@pytest.mark.parametrize("inputs", [SYMMETRIC, Interval(2, 7)], ids=str)
def test_what_is_attained_is_the_worst_variance_rounded_up(inputs: Interval) -> None:
    law = catalogue.pm(1.5, inputs)
    places = [inputs.lower + inputs.length * Fraction(i, 50) for i in range(51)]
    worst = max(exact_error(law, x, 2) for x in places)
    found = UnbiasedBound(0.2, 4.0).attained(_asked(1.5, inputs), law)
    assert worst <= Fraction(found) <= worst * (1 + Fraction(1, 2**50))


def test_a_window_that_stands_still_is_biased() -> None:
    """At the middle of the inputs nothing is wrong with this law: where its window stops is looked at, too."""
    law = Piecewise(1.0, SYMMETRIC, Interval(-4, 4), 0.0625, 0.15, AffineWindow(slope=6.0))
    assert exact_bias(law, 0) == 0
    with pytest.raises(CheckFailed, match="bias at"):
        UnbiasedBound(0.2, 4.0).attained(_asked(), law)


def _biased(law: Piecewise, size: Fraction) -> Piecewise:
    """The same law with a bias of about this size at every input at which the window moves."""
    assert isinstance(law.window, AffineWindow)
    middle = Fraction(law.inputs.middle)
    per_offset = exact_bias(evolved(law, window=evolved(law.window, offset=0.125)), middle) * 8
    return evolved(law, window=evolved(law.window, offset=float(size / per_offset)))


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("inputs", "allowed", "margin"),
    [
        (SYMMETRIC, 2e-12 + 16 * math.ulp(4.0), 3),
        (Interval(3.1, 5.1), 2e-12 + 16 * math.ulp(8.1), Fraction(3, 5)),
        (Interval(-5.1, -3.1), 2e-12 + 16 * math.ulp(8.1), Fraction(3, 5)),
        (Interval(1e6, 1e6 + 1), 1e-12 + 16 * math.ulp(1e6), 10),
        (Interval(4e9, 4e9 + 4), 4e-6, 30),
    ],
    ids=["length", "upper end", "lower end", "spacing", "far"],
)
def test_a_bias_beyond_rounding_is_refused(inputs: Interval, allowed: float, margin: Fraction, sign: int) -> None:
    """Of 16 spacings of the outputs' doubles and a trillionth of the inputs, but never of a millionth of them."""
    law, bound, problem = catalogue.pm(1.0, inputs), UnbiasedBound(0.2, 4.0), _asked(inputs=inputs)
    assert bound.attained(problem, _biased(law, Fraction(sign * allowed) * (100 - margin) / 100)) > 0
    with pytest.raises(CheckFailed, match="bias at"):
        bound.attained(problem, _biased(law, Fraction(sign * allowed) * (100 + margin) / 100))


@pytest.mark.parametrize("law", [catalogue.laplace(1.0), catalogue.pm(2.0), catalogue.pm(1.0, Interval(0, 1))], ids=str)
def test_other_mechanisms_are_refused(law: object) -> None:
    with pytest.raises(CheckFailed):
        UnbiasedBound(0.2, 4.0).attained(_asked(), law)


def test_it_is_about_unbiased_piecewise_mechanisms_on_intervals() -> None:
    bound = UnbiasedBound(0.2, 4.0)
    assert bound.scope(_asked(), None).words == "unbiased piecewise mechanisms"
    assert not UnbiasedBound.claimed
    other = Problem(inputs=SYMMETRIC, loss="absolute", privacy=Pure(1.0))
    for method in (bound.bound, bound.attained):
        with pytest.raises(CheckFailed, match="variance of unbiased"):
            method(other, catalogue.pm(1.0))


@pytest.mark.parametrize(("start", "stop"), [(0.0, 1.0), (1.0, 1.0), (0.0, 5.0)])
def test_windows_may_begin_at_nothing_and_end_at_the_input(start: float, stop: float) -> None:
    assert UnbiasedBound(start, stop).value(1.0) <= (1 - Fraction(start)) * (Fraction(stop) - 1)


def test_of_both_ends_of_the_inputs_the_worse_one_counts() -> None:
    """Outputs that reach farther to the right, and a window moved to the left for it."""
    low, high, outputs = 0.05, 0.1359, Interval(-7, 7.5)
    mass = 1 - low * outputs.length
    window = AffineWindow(slope=1 / mass, offset=-low * (7.5**2 - 49) / 2 / mass)
    law = Piecewise(1.0, SYMMETRIC, outputs, low, high, window)
    first, last = (exact_error(law, x, 2) for x in (-1, 1))
    assert abs(first - last) > Fraction(1, 100)
    assert Fraction(UnbiasedBound(0.2, 4.0).attained(_asked(), law)) >= max(first, last)
