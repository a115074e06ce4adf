"""The least average by bins: against brute force over partitions, mechanisms, and finer cells."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import Interval, Power, catalogue
from mechdesign.exact.bins import least_average
from mechdesign.exact.window import exact_average
from mechdesign.mechanisms import Window
from mechdesign.words.cells import Cells
from mechdesign.words.priors import Atoms

UNIT = Interval(0, 1)


@st.composite
def drawn_priors(draw: st.DrawFn, most: int = 9) -> tuple[np.ndarray, np.ndarray]:
    count = draw(st.integers(1, most))
    places = draw(st.lists(st.integers(0, 1000), min_size=count, max_size=count, unique=True))
    masses = draw(st.lists(st.integers(1, 100), min_size=count, max_size=count))
    return np.sort(places) / 1000, np.array(masses) / sum(masses)


def gathered(points: np.ndarray, weights: np.ndarray, size: int) -> Cells:
    """Neighbours gathered in cells of ``size`` points."""
    starts = np.arange(0, points.size, size)
    masses = np.add.reduceat(weights, starts)
    lows, highs = points[starts], np.maximum.reduceat(points, starts)
    means = np.clip(np.add.reduceat(weights * points, starts) / masses, lows, highs)
    around = points - np.repeat(means, np.diff(np.append(starts, points.size)))
    return Cells(lows, highs, means, masses, np.add.reduceat(weights * around**2, starts) / masses)


def _best_of_all_partitions(epsilon: float, exponent: int, points: np.ndarray, weights: np.ndarray) -> float:
    """Every partition into intervals, each bin's output found by minimising its cost itself."""
    ratio, count = math.exp(epsilon), points.size
    best = math.inf
    for size in range(1, count + 1):
        for inner in itertools.combinations(range(1, count), size - 1):
            edges = (0, *inner, count)
            total = 0.0
            for a, b in itertools.pairwise(edges):
                mass = weights.copy()
                mass[a:b] *= ratio
                candidates = points if exponent == 1 else np.array([mass @ points / mass.sum()])
                total += float((np.abs(candidates[:, None] - points) ** exponent @ mass).min())
            best = min(best, total / (ratio + size - 1))
    return best


@given(drawn_priors(), st.floats(0.01, 8.0), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=80)
def test_the_bound_is_the_best_of_all_partitions(
    prior: tuple[np.ndarray, np.ndarray], epsilon: float, exponent: int
) -> None:
    proven = float(least_average(epsilon, exponent, Cells.of_atoms(*prior)))
    expected = _best_of_all_partitions(epsilon, exponent, *prior)
    assert proven == pytest.approx(expected, rel=1e-9, abs=1e-15)


@given(drawn_priors(), st.floats(0.05, 5.0), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=40)
def test_no_published_mechanism_beats_the_bound(
    prior: tuple[np.ndarray, np.ndarray], epsilon: float, exponent: int
) -> None:
    loss, value = Power(float(exponent)), float(least_average(epsilon, exponent, Cells.of_atoms(*prior)))
    for entry in catalogue.ON_INTERVALS:
        assert entry.build(epsilon, UNIT, loss).average_loss(loss, Atoms(*prior)) >= value - 1e-12


@given(st.data(), st.floats(0.05, 6.0), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=80)
def test_cells_bound_every_prior_inside_them(data: st.DataObject, epsilon: float, exponent: int) -> None:
    points, weights = data.draw(drawn_priors(12))
    cells = gathered(points, weights, data.draw(st.integers(1, 5)))
    inside = least_average(epsilon, exponent, Cells.of_atoms(points, weights))
    assert least_average(epsilon, exponent, cells) <= inside + Fraction(1, 10**12)


def test_the_bound_follows_a_shift_and_a_stretch_of_the_line() -> None:
    rng = np.random.default_rng(5)
    points, weights = np.sort(rng.integers(0, 2**20, 60)) / 2**20, rng.integers(1, 99, 60) / 64.0
    near = least_average(2.0, 2, Cells.of_atoms(points, weights))
    far = least_average(2.0, 2, Cells.of_atoms(1024 + 4 * points, weights))
    assert float(far / near) == pytest.approx(16, rel=1e-12)


@given(st.data(), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=80)
def test_the_most_over_cells_is_at_least_the_average_of_any_prior_inside(data: st.DataObject, exponent: int) -> None:
    points, weights = data.draw(drawn_priors(12))
    cells = gathered(points, weights, data.draw(st.integers(1, 5)))
    outputs = np.unique(np.array(data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=6))) / 50)
    ratio = math.exp(data.draw(st.floats(0.2, 3.0)))
    masses = np.array(data.draw(st.lists(st.integers(1, 9), min_size=outputs.size, max_size=outputs.size)), dtype=float)
    base = masses / masses.sum() * data.draw(st.floats(1 / ratio + 1e-9, 1 - 1e-9))
    mechanism = Window(4.0, UNIT, outputs, base, ratio)
    inside = exact_average(mechanism, Cells.of_atoms(points, weights), exponent)
    assert exact_average(mechanism, cells, exponent) >= inside - Fraction(1, 10**12)
    assert float(inside) == pytest.approx(mechanism.average_loss(Power(float(exponent)), Atoms(points, weights)))
