"""The bound for priors: against brute force over partitions, linear programs, mechanisms, and finer cells."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechdesign import Absolute, Finite, Interval, InvalidInput, Power, Squared, catalogue, priors
from mechdesign.design.prior import BinsBound, PriorProblem
from mechdesign.design.registry import CODEC
from mechdesign.errors import CheckFailed
from mechdesign.exact.bins import least_average
from mechdesign.exact.cells import Cells, as_held, cells_of, density_cells, rounded_to_atoms
from mechdesign.exact.window import exact_average
from mechdesign.mechanisms import Window
from mechdesign.priors import Atoms
from mechdesign.values.codec import encoded

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
def drawn_priors(draw: st.DrawFn, most: int = 9) -> tuple[np.ndarray, np.ndarray]:
    count = draw(st.integers(1, most))
    places = draw(st.lists(st.integers(0, 1000), min_size=count, max_size=count, unique=True))
    masses = draw(st.lists(st.integers(1, 100), min_size=count, max_size=count))
    return np.sort(places) / 1000, np.array(masses) / sum(masses)


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
    cells = _gathered(points, weights, data.draw(st.integers(1, 5)))
    inside = least_average(epsilon, exponent, Cells.of_atoms(points, weights))
    assert least_average(epsilon, exponent, cells) <= inside + Fraction(1, 10**12)


@given(st.data(), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=80)
def test_the_most_over_cells_is_at_least_the_average_of_any_prior_inside(data: st.DataObject, exponent: int) -> None:
    points, weights = data.draw(drawn_priors(12))
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
    near = least_average(2.0, 2, Cells.of_atoms(points, weights))
    far = least_average(2.0, 2, Cells.of_atoms(1024 + 4 * points, weights))
    assert float(far / near) == pytest.approx(16, rel=1e-12)


TWO = Atoms([0.0, 1.0], [0.5, 0.5])
MANY = Atoms(np.linspace(0, 1, 12), np.full(12, 1 / 12))
HALF = Window(1.0, UNIT, [0.5], [1.0], 2.0)
CUT = BinsBound([float(MANY.points[4]), float(MANY.points[8])])


def test_evidence_and_cells_survive_their_files() -> None:
    for evidence in (BinsBound(), CUT):
        assert CODEC.decoded(BinsBound, encoded(evidence), "evidence") == evidence
    cells = _gathered(MANY.points, MANY.weights, 3)
    assert CODEC.decoded(Cells, encoded(cells), "prior") == cells


def test_the_scope_says_when_only_cells_are_known() -> None:
    assert BinsBound().scope(PriorProblem(1.0, MANY), HALF).words == "all mechanisms"
    wide = Cells(*(np.array([value]) for value in (0.0, 1.0, 0.5, 1.0, 0.1)))
    for problem, evidence in ((PriorProblem(1.0, wide), BinsBound()), (PriorProblem(1.0, MANY), CUT)):
        assert evidence.scope(problem, HALF).words == "all mechanisms, under every prior with these cells"


def test_values_between_cuts_are_gathered() -> None:
    cells = CUT.cells(PriorProblem(1.0, MANY))
    assert cells.lows.tolist() == MANY.points[[0, 4, 8]].tolist()
    assert cells.highs.tolist() == MANY.points[[3, 7, 11]].tolist()
    assert cells.weights == pytest.approx([1 / 3] * 3)
    assert CUT.bound(PriorProblem(1.0, MANY), HALF) < BinsBound().bound(PriorProblem(1.0, MANY), HALF)


@pytest.mark.parametrize("cuts", [[0.5], [0.0], [1.5], [-1.0]])
def test_cuts_at_places_that_are_no_values_prove_nothing(cuts: list[float]) -> None:
    with pytest.raises(CheckFailed, match="no values"):
        BinsBound(cuts).bound(PriorProblem(1.0, MANY), HALF)


@pytest.mark.parametrize("cuts", [[0.5, 0.5], [0.6, 0.5], [math.nan], [[0.5]]])
def test_cuts_are_increasing(cuts: list[float]) -> None:
    with pytest.raises(InvalidInput, match="cuts"):
        BinsBound(cuts)


def test_more_values_than_a_proof_takes_must_be_gathered() -> None:
    prior = Atoms.of_data(np.arange(5000) / 5000)
    with pytest.raises(CheckFailed, match="does not gather"):
        BinsBound().bound(PriorProblem(1.0, prior), HALF)


def test_cells_are_not_cut_again() -> None:
    wide = Cells([0.0, 0.5], [0.5, 1.0], [0.25, 0.75], [0.5, 0.5], [0.02, 0.02])
    with pytest.raises(CheckFailed, match="cuts it again"):
        BinsBound([0.5]).bound(PriorProblem(1.0, wide), HALF)


NARROW = priors.normal(0.3, 0.001, UNIT)


@pytest.mark.parametrize("prior", [NARROW, priors.Density(lambda x: 2 * x, UNIT)], ids=["narrow", "function"])
def test_cells_that_doubles_do_not_give_prove_nothing(prior: priors.Density) -> None:
    """One cell over a narrow law would have the mass that a rule of twenty nodes finds there."""
    with pytest.raises(CheckFailed, match="cells"):
        BinsBound([0.5]).bound(PriorProblem(1.0, prior), HALF)


@pytest.mark.parametrize("cuts", [[0.0], [0.5, 1.0], [-0.5], [2.0]])
def test_a_law_is_cut_inside_its_domain(cuts: list[float]) -> None:
    with pytest.raises(CheckFailed, match="does not cut"):
        BinsBound(cuts).bound(PriorProblem(1.0, priors.uniform(UNIT)), HALF)


def test_a_law_is_held_as_it_is_and_a_function_as_its_cells() -> None:
    law, function = priors.normal(0.3, 0.1, UNIT), priors.Density(lambda x: 2 * x, UNIT)
    cuts = np.linspace(0, 1, 33)
    assert as_held(law, density_cells(law, cuts)) == law
    assert as_held(MANY, cells_of(MANY, None)) == MANY
    cells = density_cells(function, cuts)
    assert as_held(function, cells) == cells
    coarse = density_cells(NARROW, np.array([0.0, 0.5, 1.0]))
    assert as_held(NARROW, coarse) == coarse


def test_rounding_cells_rounds_what_they_were_cut_from() -> None:
    function = priors.Density(lambda x: 2 * x, UNIT)
    atoms = rounded_to_atoms(function, 256)
    assert atoms.are_atoms
    assert atoms.mean == pytest.approx(2 / 3, abs=1e-12)
    assert atoms == rounded_to_atoms(as_held(function, density_cells(function, np.linspace(0, 1, 193))), 256)


@pytest.mark.parametrize(
    "problem",
    [PriorProblem(1.0, Atoms([0.5, 2.0], [0.5, 0.5]), Absolute(), Interval(0, 3)), PriorProblem(2.0, TWO)],
    ids=["inputs", "epsilon"],
)
def test_mechanisms_for_another_problem_are_refused(problem: PriorProblem) -> None:
    with pytest.raises(CheckFailed, match="problem"):
        BinsBound().attained(problem, HALF)


def test_other_mechanisms_and_problems_are_refused() -> None:
    with pytest.raises(CheckFailed, match="about Window mechanisms"):
        BinsBound().attained(PriorProblem(1.0, TWO), catalogue.laplace(1.0, UNIT))
    for other in (Finite((0, 1)), PriorProblem(1.0, TWO, Squared(), Finite((0, 1)))):
        with pytest.raises(CheckFailed, match="evidence is about"):
            BinsBound().bound(other, HALF)


@pytest.mark.parametrize("other", [Atoms([0.0, 1.0], [0.4, 0.6]), Atoms([0.0, 0.5, 1.0], [0.3, 0.4, 0.3])])
def test_the_bound_is_that_of_the_problem_s_own_prior(other: Atoms) -> None:
    """Priors with the same ends, and with the same mean: nothing of a prior stands in the evidence."""
    expected = [float(least_average(1.0, 2, cells_of(prior, None))) for prior in (TWO, other)]
    found = [BinsBound().bound(PriorProblem(1.0, prior, Squared()), HALF) for prior in (TWO, other)]
    assert found == pytest.approx(expected, rel=1e-15)
    assert found[0] != found[1]


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


@pytest.mark.parametrize("exponent", [1, 2])
def test_wide_cells_still_bound_by_the_best_single_output(exponent: int) -> None:
    """Edges in two wide cells could save all there is: what is left is the least error without information, over c."""
    cells = Cells([0.0, 0.5], [0.5, 1.0], [0.25, 0.75], [0.5, 0.5], [0.02, 0.02])
    bound = BinsBound().bound(PriorProblem(9.0, cells, Power(float(exponent))), None)
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
