"""The sliding window against rows filled output by output."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from mechdesign import Interval, Power
from mechdesign.mechanisms import Window
from mechdesign.mechanisms.sliding import Sliding


@st.composite
def bases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float]:
    count = draw(st.integers(1, 12))
    places = np.sort(draw(st.lists(st.integers(0, 64), min_size=count, max_size=count, unique=True))) / 64
    masses = np.array(draw(st.lists(st.integers(1, 30), min_size=count, max_size=count)), dtype=float)
    ratio = draw(st.floats(1.2, 40.0))
    share = draw(st.floats(0.05, 0.95))
    total = (1 / ratio) ** share * (1 - 1e-12)
    assume(total > 1 / ratio)
    return places, masses * total / masses.sum(), ratio


@given(bases(), st.floats(0, 1), st.sampled_from([1, 2, 3]))
@settings(deadline=None, max_examples=200)
def test_running_sums_give_the_error_of_the_row(
    base: tuple[np.ndarray, np.ndarray, float], x: float, exponent: int
) -> None:
    points, masses, ratio = base
    mechanism = Window(4.0, Interval(0, 1), points, masses, ratio)
    fast = Sliding.over(points, masses, ratio).power_error(np.array([x]), exponent)[0]
    assert fast == pytest.approx(float(mechanism.expected_loss(x, Power(float(exponent)))), abs=1e-13)


@given(bases(), st.floats(0, 1))
@settings(deadline=None, max_examples=200)
def test_every_level_between_the_two_is_a_multiplier_of_the_fill(
    base: tuple[np.ndarray, np.ndarray, float], x: float
) -> None:
    """``max over v of v + sum mu phi(|y - x| - v)`` is the error, attained on the whole stretch of levels."""
    points, masses, ratio = base
    window = Sliding.over(points, masses, ratio)
    least, most = (float(value[0]) for value in window.levels(np.array([x])))
    error = float(window.power_error(np.array([x]), 1)[0])
    distances = np.abs(points - x)
    assert least <= most
    for level in (least, min(most, 2.0), (least + min(most, 2.0)) / 2):
        gap = distances - level
        assert level + masses @ np.minimum(gap, ratio * gap) == pytest.approx(error, abs=1e-9)


def test_many_inputs_take_the_fast_path_and_agree() -> None:
    rng = np.random.default_rng(5)
    points, masses = np.sort(rng.random(2000)), rng.random(2000)
    mechanism = Window(2.0, Interval(0, 1), points, masses * 0.3 / masses.sum(), np.exp(2.0))
    inputs = rng.random(3000)
    together = mechanism.expected_loss(inputs, Power(1.0))
    alone = [float(mechanism.expected_loss(x, Power(1.0))) for x in inputs[:50]]
    np.testing.assert_allclose(together[:50], alone, rtol=1e-11)
