"""The bound for all mechanisms, against brute force over its definition and over mechanisms."""

from __future__ import annotations

import pytest

from mechdesign import Absolute, CheckFailed, Finite, Interval, MinimaxProblem, Power, Squared, catalogue
from mechdesign.design.minimax import MinimaxBound
from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.mechanisms import Window

UNIT = Interval(0, 1)


ATOMS = MinimaxBound(LevelledPrior([0.0, 1.0], [0.3, 0.3], [0.5, 0.5]))
HALF = Window(1.0, UNIT, [0.25, 0.75], [0.25, 0.25], 2.5)


def test_atoms_at_places_that_are_no_inputs_bound_nothing() -> None:
    """An input that nobody has would raise the bound: it could be as hard as one likes."""
    outside = MinimaxBound(LevelledPrior([0.0, 1.5], [0.3, 0.3], [0.5, 0.5]))
    assert outside.bound(MinimaxProblem(1.0, Absolute(), Interval(0, 2)), None) > 0
    with pytest.raises(CheckFailed, match="not among the inputs"):
        outside.bound(MinimaxProblem(1.0), None)


@pytest.mark.parametrize(
    "problem",
    [MinimaxProblem(1.0, Power(1.5)), MinimaxProblem(1.0, Squared(), Finite((0, 1))), Interval(0, 1)],
    ids=str,
)
def test_evidence_for_the_absolute_and_squared_error_on_intervals_is_for_no_other_problem(problem: object) -> None:
    with pytest.raises(CheckFailed, match="about"):
        ATOMS.bound(problem, HALF)


@pytest.mark.parametrize("problem", [MinimaxProblem(2.0), MinimaxProblem(1.0, Absolute(), Interval(0, 2))], ids=str)
def test_what_a_mechanism_attains_counts_for_its_own_epsilon_and_inputs_only(problem: MinimaxProblem) -> None:
    assert ATOMS.attained(MinimaxProblem(1.0), HALF) == 7 / 16
    with pytest.raises(CheckFailed, match="window"):
        ATOMS.attained(problem, HALF)


def test_other_mechanisms_than_windows_are_refused() -> None:
    with pytest.raises(CheckFailed, match="about Window mechanisms"):
        ATOMS.attained(MinimaxProblem(1.0), catalogue.pm(1.0))
