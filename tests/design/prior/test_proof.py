"""The bound for priors: against brute force over partitions, linear programs, mechanisms, and finer cells."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechdesign import Interval, InvalidInput, Power, catalogue
from mechdesign.design.prior.proof import BinsBound
from mechdesign.errors import CheckFailed, FileProblem
from mechdesign.exact.cells import Cells, exact_average
from mechdesign.mechanisms import Window
from mechdesign.priors import Atoms

UNIT = Interval(0, 1)


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


@st.composite
def priors(draw: st.DrawFn, most: int = 9) -> tuple[np.ndarray, np.ndarray]:
    count = draw(st.integers(1, most))
    places = draw(st.lists(st.integers(0, 1000), min_size=count, max_size=count, unique=True))
    masses = draw(st.lists(st.integers(1, 100), min_size=count, max_size=count))
    return np.sort(places) / 1000, np.array(masses) / sum(masses)


@given(priors(), st.floats(0.01, 8.0), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=80)
def test_the_bound_is_the_best_of_all_partitions(
    prior: tuple[np.ndarray, np.ndarray], epsilon: float, exponent: int
) -> None:
    proven = float(BinsBound(epsilon, exponent, Cells.of_atoms(*prior)).value())
    expected = _best_of_all_partitions(epsilon, exponent, *prior)
    assert proven == pytest.approx(expected, rel=1e-9, abs=1e-15)


@given(priors(), st.floats(0.05, 5.0), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=40)
def test_no_published_mechanism_beats_the_bound(
    prior: tuple[np.ndarray, np.ndarray], epsilon: float, exponent: int
) -> None:
    loss, value = Power(float(exponent)), float(BinsBound(epsilon, exponent, Cells.of_atoms(*prior)).value())
    for entry in catalogue.ON_INTERVALS:
        assert entry.build(epsilon, UNIT, loss).average_loss(loss, Atoms(*prior)) >= value - 1e-12


@given(st.data(), st.floats(0.05, 6.0), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=80)
def test_cells_bound_every_prior_inside_them(data: st.DataObject, epsilon: float, exponent: int) -> None:
    points, weights = data.draw(priors(12))
    cells = _gathered(points, weights, data.draw(st.integers(1, 5)))
    inside = BinsBound(epsilon, exponent, Cells.of_atoms(points, weights)).value()
    assert BinsBound(epsilon, exponent, cells).value() <= inside + Fraction(1, 10**12)


@given(st.data(), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=80)
def test_the_most_over_cells_is_at_least_the_average_of_any_prior_inside(data: st.DataObject, exponent: int) -> None:
    points, weights = data.draw(priors(12))
    cells = _gathered(points, weights, data.draw(st.integers(1, 5)))
    outputs = np.unique(np.array(data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=6))) / 50)
    ratio = math.exp(data.draw(st.floats(0.2, 3.0)))
    masses = np.array(data.draw(st.lists(st.integers(1, 9), min_size=outputs.size, max_size=outputs.size)), dtype=float)
    base = masses / masses.sum() * data.draw(st.floats(1 / ratio + 1e-9, 1 - 1e-9))
    mechanism = Window(4.0, UNIT, outputs, base, ratio)
    inside = exact_average(mechanism, Cells.of_atoms(points, weights), exponent)
    assert exact_average(mechanism, cells, exponent) >= inside - Fraction(1, 10**12)
    assert float(inside) == pytest.approx(mechanism.average_loss(Power(float(exponent)), Atoms(points, weights)))


def _gathered(points: np.ndarray, weights: np.ndarray, size: int) -> Cells:
    """Neighbours gathered in cells of ``size`` points."""
    starts = np.arange(0, points.size, size)
    masses = np.add.reduceat(weights, starts)
    lows, highs = points[starts], np.maximum.reduceat(points, starts)
    means = np.clip(np.add.reduceat(weights * points, starts) / masses, lows, highs)
    around = points - np.repeat(means, np.diff(np.append(starts, points.size)))
    return Cells(lows, highs, means, masses, np.add.reduceat(weights * around**2, starts) / masses)


def test_the_bound_follows_a_shift_and_a_stretch_of_the_line() -> None:
    rng = np.random.default_rng(5)
    points, weights = np.sort(rng.integers(0, 2**20, 60)) / 2**20, rng.integers(1, 99, 60) / 64.0
    near = BinsBound(2.0, 2, Cells.of_atoms(points, weights)).value()
    far = BinsBound(2.0, 2, Cells.of_atoms(1024 + 4 * points, weights)).value()
    assert float(far / near) == pytest.approx(16, rel=1e-12)


def test_a_bound_survives_its_dictionary() -> None:
    cells = _gathered(np.linspace(0, 1, 12), np.full(12, 1 / 12), 3)
    for bound in (BinsBound(1.0, 1, cells), BinsBound(1.0, 2, Cells.of_atoms([0.0, 0.3], [0.5, 0.5]))):
        assert BinsBound.from_dict(bound.to_dict()) == bound


def test_the_scope_says_when_only_cells_are_known() -> None:
    assert BinsBound(1.0, 1, Cells.of_atoms([0.5], [1.0])).scope(None) == "all mechanisms"
    wide = Cells(*(np.array([value]) for value in (0.0, 1.0, 0.5, 1.0, 0.1)))
    assert "every prior with these cells" in BinsBound(1.0, 1, wide).scope(None)


def test_other_mechanisms_and_inputs_are_refused() -> None:
    bound = BinsBound(1.0, 1, Cells.of_atoms([0.5, 2.0], [0.5, 0.5]))
    for mechanism in (catalogue.laplace(1.0, Interval(0, 3)), Window(1.0, UNIT, [0.5], [1.0], 2.0)):
        with pytest.raises(CheckFailed):
            bound.attained(mechanism)


def test_a_problem_about_another_prior_is_refused() -> None:
    from mechdesign.design.prior.search import PriorProblem

    problem = PriorProblem(1.0, Atoms([0.0, 1.0], [0.5, 0.5])).to_dict()
    mechanism = Window(1.0, UNIT, [0.5], [1.0], 2.0)
    BinsBound(1.0, 1, Cells.of_atoms([0.0, 1.0], [0.5, 0.5])).statement(problem, mechanism)
    others = [
        BinsBound(1.0, 1, Cells.of_atoms([0.0, 1.0], [0.4, 0.6])),
        BinsBound(1.0, 2, Cells.of_atoms([0, 1], [1, 1])),
    ]
    for other in others:
        with pytest.raises(FileProblem):
            other.statement(problem, mechanism)


GOOD = {"lows": [0.0, 0.5], "highs": [0.4, 0.9], "means": [0.2, 0.7], "weights": [0.5, 0.5], "variances": [0.01, 0.02]}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"means": [0.5, 0.7]}, "lie in the ranges"),
        ({"weights": [0.5, 0.0]}, "above 0"),
        ({"weights": [0.5, math.nan]}, "finite"),
        ({"lows": [0.0, 0.3]}, "sorted and apart"),
        ({"variances": [0.05, 0.02]}, "lie between 0"),
        ({"variances": [-0.01, 0.02]}, "lie between 0"),
        ({"weights": [0.5]}, "one a cell"),
    ],
)
def test_impossible_cells_are_refused(change: dict[str, list[float]], word: str) -> None:
    Cells(**{name: np.array(value) for name, value in GOOD.items()})
    with pytest.raises(InvalidInput, match=word):
        Cells(**{name: np.array(value) for name, value in (GOOD | change).items()})


@pytest.mark.parametrize(("epsilon", "exponent"), [(0.0, 1), (math.nan, 2), (1.0, 3), (1.0, True)])
def test_impossible_bounds_are_refused(epsilon: float, exponent: int) -> None:
    with pytest.raises(InvalidInput):
        BinsBound(epsilon, exponent, Cells.of_atoms([0.5], [1.0]))


@pytest.mark.parametrize("exponent", [1, 2])
def test_wide_cells_still_bound_by_the_best_single_output(exponent: int) -> None:
    """Edges in two wide cells could save all there is: what is left is the least error without information, over c."""
    cells = Cells([0.0, 0.5], [0.5, 1.0], [0.25, 0.75], [0.5, 0.5], [0.02, 0.02])
    bound = BinsBound(9.0, exponent, cells).bound(None)
    assert 0.25**exponent * math.exp(-9.0) * (1 - 1e-9) <= bound
    assert bound <= 0.25**exponent * math.exp(-9.0)


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
