"""Windows without rounding: their laws, worst errors and averages against the mechanism itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import Interval, Power
from mechdesign.exact.window import ExactLaws, exact_average, exact_worst_error
from mechdesign.mechanisms import Window
from mechdesign.words.cells import Cells

UNIT = Interval(0, 1)


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("ratio", [1.0, 1.7, 20.0])
def test_the_exact_average_is_that_of_the_mechanism(exponent: int, ratio: float) -> None:
    """Against the laws themselves, for uneven bases, outputs at inputs, and windows that cut outputs."""
    rng = np.random.default_rng(3)
    for count in (1, 2, 7):
        points = np.sort(rng.random(count))
        base = rng.random(count)
        base *= 1.0 / base.sum() if ratio == 1 else rng.uniform(1.01 / ratio, 0.99) / base.sum()
        if ratio == 1:
            points, base = points[:1], np.ones(1)
        mechanism = Window(3.5, Interval(0, 1), points, base, ratio)
        places = np.unique(np.concatenate([rng.random(20), points]))
        weights = rng.random(places.size)
        exact = exact_average(mechanism, Cells.of_atoms(places, weights), exponent)
        plain = np.average(mechanism.expected_loss(places, Power(float(exponent))), weights=weights)
        assert float(exact) == pytest.approx(float(plain), rel=1e-11)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count, ratio = draw(st.integers(1, 9)), draw(st.floats(1.01, 30.0))
    points = np.sort(rng.choice(65, count, replace=False)) / 64
    base = rng.random(count) + 1e-3
    base *= rng.uniform(1 / ratio + 1e-9, 1 - 1e-9) / base.sum()
    return Window(3.5, UNIT, points, base, ratio)


@given(windows(), st.lists(st.integers(0, 1024), min_size=1, max_size=8))
@settings(deadline=None, max_examples=80)
def test_the_laws_are_the_mechanism_s_own_rows(mechanism: Window, places: list[int]) -> None:
    """Against the rows that the mechanism fills from the nearest output; at a turn two laws are as good."""
    inputs = [place / 1024 for place in places]
    laws = ExactLaws(mechanism, inputs, 1)
    for x, place in zip(inputs, laws.places, strict=True):
        stretch = laws.stretch_at(place)
        masses = [laws.mass(stretch, k) for k in range(mechanism.points.size)]
        row = [Fraction(mass, sum(masses)) for mass in masses]
        errors = [
            sum(q * abs(Fraction(y) - Fraction(x)) for q, y in zip(law, mechanism.points.tolist(), strict=True))
            for law in (row, mechanism.exact_row(x))
        ]
        assert errors[0] == errors[1]
        assert Fraction(laws.error(stretch, place), laws.unit) == errors[1]
        if place not in laws.turns:
            assert row == mechanism.exact_row(x)


@given(windows(), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=80)
def test_the_worst_error_is_the_largest_over_many_inputs(mechanism: Window, exponent: int) -> None:
    loss = Power(float(exponent))
    inputs = np.concatenate([np.linspace(0, 1, 2001), mechanism.turns])
    worst = float(exact_worst_error(mechanism, exponent))
    assert worst >= mechanism.expected_loss(inputs, loss).max() * (1 - 1e-12)
    assert worst == pytest.approx(mechanism.worst_case(loss)[0], rel=1e-11)
