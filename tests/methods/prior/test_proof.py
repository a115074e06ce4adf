"""The bound for priors: against brute force over partitions, linear programs, mechanisms, and finer cells."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from mechdesign import Absolute, Finite, Interval, InvalidInput, Power, Squared, catalogue
from mechdesign.errors import CheckFailed
from mechdesign.exact.bins import least_average
from mechdesign.exact.cuts import cells_of
from mechdesign.mechanisms import Window
from mechdesign.methods.prior import BinsBound
from mechdesign.methods.registry import CODEC
from mechdesign.values.codec import encoded
from mechdesign.words import priors
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Average
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem
from tests.methods.problems import numbers
from tests.oracles.window_laws import average_error

UNIT = Interval(0, 1)


TWO = Atoms([0.0, 1.0], [0.5, 0.5])
MANY = Atoms(np.linspace(0, 1, 12), np.full(12, 1 / 12))
HALF = Window(1.0, UNIT, [0.5], [1.0], 2.0)
CUT = BinsBound([float(MANY.points[4]), float(MANY.points[8])])


def test_evidence_and_cells_survive_their_files() -> None:
    for evidence in (BinsBound(), CUT):
        assert CODEC.decoded(BinsBound, encoded(evidence), "evidence") == evidence
    cells = Cells([0.0, 0.5], [0.4, 0.9], [0.2, 0.7], [0.5, 0.5], [0.01, 0.02])
    assert CODEC.decoded(Cells, encoded(cells), "prior") == cells


def test_the_scope_says_when_only_cells_are_known() -> None:
    assert BinsBound().scope(numbers(1.0, criterion=Average(MANY)), HALF).words == "all mechanisms"
    wide = Cells(*(np.array([value]) for value in (0.0, 1.0, 0.5, 1.0, 0.1)))
    for problem, evidence in (
        (numbers(1.0, criterion=Average(wide)), BinsBound()),
        (numbers(1.0, criterion=Average(MANY)), CUT),
    ):
        assert evidence.scope(problem, HALF).words == "all mechanisms, under every prior with these cells"


def test_values_between_cuts_are_gathered() -> None:
    cells = CUT.cells(MANY)
    assert cells.lows.tolist() == MANY.points[[0, 4, 8]].tolist()
    assert cells.highs.tolist() == MANY.points[[3, 7, 11]].tolist()
    assert cells.weights == pytest.approx([1 / 3] * 3)
    assert CUT.bound(numbers(1.0, criterion=Average(MANY)), HALF) < BinsBound().bound(
        numbers(1.0, criterion=Average(MANY)), HALF
    )


@pytest.mark.parametrize("cuts", [[0.5], [0.0], [1.5], [-1.0]])
def test_cuts_at_places_that_are_no_values_prove_nothing(cuts: list[float]) -> None:
    with pytest.raises(CheckFailed, match="no values"):
        BinsBound(cuts).bound(numbers(1.0, criterion=Average(MANY)), HALF)


@pytest.mark.parametrize("cuts", [[0.5, 0.5], [0.6, 0.5], [math.nan], [[0.5]]])
def test_cuts_are_increasing(cuts: list[float]) -> None:
    with pytest.raises(InvalidInput, match="cuts"):
        BinsBound(cuts)


def test_more_values_than_a_proof_takes_must_be_gathered() -> None:
    prior = Atoms.of_data(np.arange(5000) / 5000)
    with pytest.raises(CheckFailed, match="does not gather"):
        BinsBound().bound(numbers(1.0, criterion=Average(prior)), HALF)


def test_cells_are_not_cut_again() -> None:
    wide = Cells([0.0, 0.5], [0.5, 1.0], [0.25, 0.75], [0.5, 0.5], [0.02, 0.02])
    with pytest.raises(CheckFailed, match="cuts it again"):
        BinsBound([0.5]).bound(numbers(1.0, criterion=Average(wide)), HALF)


NARROW = priors.normal(0.3, 0.001, UNIT)


@pytest.mark.parametrize("prior", [NARROW, priors.Density(lambda x: 2 * x, UNIT)], ids=["narrow", "function"])
def test_cells_that_doubles_do_not_give_prove_nothing(prior: priors.Density) -> None:
    """One cell over a narrow law would have the mass that a rule of twenty nodes finds there."""
    with pytest.raises(CheckFailed, match="cells"):
        BinsBound([0.5]).bound(numbers(1.0, criterion=Average(prior)), HALF)


@pytest.mark.parametrize("cuts", [[0.0], [0.5, 1.0], [-0.5], [2.0]])
def test_a_law_is_cut_inside_its_domain(cuts: list[float]) -> None:
    with pytest.raises(CheckFailed, match="does not cut"):
        BinsBound(cuts).bound(numbers(1.0, criterion=Average(priors.uniform(UNIT))), HALF)


@pytest.mark.parametrize(
    "problem",
    [
        numbers(1.0, Absolute(), Interval(0, 3), Average(Atoms([0.5, 2.0], [0.5, 0.5]))),
        numbers(2.0, criterion=Average(TWO)),
    ],
    ids=["inputs", "epsilon"],
)
def test_mechanisms_for_another_problem_are_refused(problem: Problem) -> None:
    with pytest.raises(CheckFailed, match="problem"):
        BinsBound().attained(problem, HALF)


def test_other_mechanisms_and_problems_are_refused() -> None:
    with pytest.raises(CheckFailed, match="about Window mechanisms"):
        BinsBound().attained(numbers(1.0, criterion=Average(TWO)), catalogue.laplace(1.0, UNIT))
    for other in (Finite((0, 1)),):
        with pytest.raises(CheckFailed, match="evidence is about"):
            BinsBound().bound(other, HALF)


@pytest.mark.parametrize("other", [Atoms([0.0, 1.0], [0.4, 0.6]), Atoms([0.0, 0.5, 1.0], [0.3, 0.4, 0.3])])
def test_the_bound_is_that_of_the_problem_s_own_prior(other: Atoms) -> None:
    """Priors with the same ends, and with the same mean: nothing of a prior stands in the evidence."""
    expected = [float(least_average(1.0, 2, cells_of(prior, None))) for prior in (TWO, other)]
    found = [BinsBound().bound(numbers(1.0, Squared(), criterion=Average(prior)), HALF) for prior in (TWO, other)]
    assert found == pytest.approx(expected, rel=1e-15)
    assert found[0] != found[1]


@pytest.mark.parametrize("exponent", [1, 2])
def test_wide_cells_still_bound_by_the_best_single_output(exponent: int) -> None:
    """Edges in two wide cells could save all there is: what is left is the least error without information, over c."""
    cells = Cells([0.0, 0.5], [0.5, 1.0], [0.25, 0.75], [0.5, 0.5], [0.02, 0.02])
    bound = BinsBound().bound(numbers(9.0, Power(float(exponent)), criterion=Average(cells)), None)
    assert 0.25**exponent * math.exp(-9.0) * (1 - 1e-9) <= bound
    assert bound <= 0.25**exponent * math.exp(-9.0)


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("prior", [TWO, MANY, Atoms([0.1, 0.35, 0.9], [0.2, 0.7, 0.1])], ids=["two", "many", "three"])
def test_both_ends_are_those_of_the_page_rounded_outwards(prior: Atoms, exponent: int) -> None:
    """From below the best bins: of three values every partition is tried."""
    problem = numbers(1.0, Power(float(exponent)), criterion=Average(prior))
    window = Window(1.0, UNIT, [0.1, 0.45, 0.8], [0.1, 0.3, 0.2], 2.6)
    exact, found = (
        average_error(window, BinsBound().cells(problem.criterion.prior), exponent),
        BinsBound().attained(problem, window),
    )
    assert Fraction(math.nextafter(found, 0.0)) < exact <= Fraction(found)
    below, bound = least_average(1.0, exponent, cells_of(prior, None)), BinsBound().bound(problem, None)
    assert Fraction(bound) <= below < Fraction(math.nextafter(bound, math.inf))
    if prior.points.size <= 3:
        assert bound == pytest.approx(_least_of_bins(prior, exponent), rel=1e-12)


def _least_of_bins(prior: Atoms, exponent: int) -> float:
    points, weights = prior.points, prior.weights / prior.weights.sum()
    found = []
    for cuts in itertools.product((False, True), repeat=points.size - 1):
        bins = np.append(0, np.cumsum(cuts))
        total = 0.0
        for of in range(bins[-1] + 1):
            counted = weights * np.where(bins == of, math.e, 1.0)
            best = np.average(points, weights=counted)
            total += min(counted @ abs(y - points) ** exponent for y in (*points, best))
        found.append(total / (math.e + bins[-1]))
    return min(found)


@pytest.mark.parametrize("cuts", [[math.inf], [-math.inf, 0.5], [math.nan]])
def test_cuts_are_finite(cuts: list[float]) -> None:
    with pytest.raises(InvalidInput, match="cuts"):
        BinsBound(cuts)


def test_of_wide_cells_the_most_that_any_prior_with_them_has_is_attained() -> None:
    """With one output the error is known: for p = 2 the variance is added, for p = 1 all mass at the ends."""
    wide = Cells(*(np.array([value]) for value in (0.25, 1.0, 0.5, 1.0, 0.0625)))
    for exponent, expected in (
        (1, Fraction(1, 3) * Fraction(1, 2) + Fraction(2, 3) * Fraction(1, 4)),
        (2, Fraction(1, 16)),
    ):
        found = BinsBound().attained(numbers(1.0, Power(float(exponent)), criterion=Average(wide)), HALF)
        assert Fraction(math.nextafter(found, 0.0)) < expected <= Fraction(found)


def test_nothing_is_claimed() -> None:
    assert not BinsBound.claimed
