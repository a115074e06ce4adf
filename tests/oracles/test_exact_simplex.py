"""The exact simplex proves each of its answers in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import event, given, settings, strategies as st
from mechdesign_solvers import Limits, LinearProgram, ProgramError, Status

from tests.oracles.exact_simplex import ExactSimplex, RationalProgram

NUMBERS = st.fractions(min_value=-3, max_value=3, max_denominator=4)
BOUNDS = st.one_of(st.none(), NUMBERS)


@st.composite
def programs(draw: st.DrawFn) -> RationalProgram:
    columns, rows = draw(st.integers(1, 4)), draw(st.integers(0, 4))

    def pairs(size: int) -> list[tuple[Fraction | None, Fraction | None]]:
        drawn = [(draw(BOUNDS), draw(BOUNDS)) for _ in range(size)]
        return [(high, low) if None not in (low, high) and low > high else (low, high) for low, high in drawn]

    row_pairs, column_pairs = pairs(rows), pairs(columns)
    return RationalProgram(
        tuple(draw(NUMBERS) for _ in range(columns)),
        tuple(tuple(draw(NUMBERS) for _ in range(columns)) for _ in range(rows)),
        tuple(low for low, _ in row_pairs),
        tuple(high for _, high in row_pairs),
        tuple(low for low, _ in column_pairs),
        tuple(high for _, high in column_pairs),
    )


@settings(max_examples=400, deadline=None)
@given(programs())
def test_every_answer_carries_an_exact_proof(program: RationalProgram) -> None:
    solution = ExactSimplex().solve_exactly(program)
    event(solution.status.value)
    if solution.status is Status.OPTIMAL:
        assert program.is_feasible(solution.primal)
        assert program.objective_at(solution.primal) == solution.objective
        assert program.bound_at(solution.row_duals) == solution.objective
        assert program.reduced_costs(solution.row_duals) == solution.reduced_costs
    elif solution.status is Status.INFEASIBLE:
        assert program.proves_infeasible(solution.ray)
    else:
        assert solution.status is Status.UNBOUNDED
        assert program.proves_unbounded(solution.ray)


def test_beale_example_does_not_cycle() -> None:
    beale = LinearProgram.of(
        [-0.75, 150, -0.02, 6],
        [[0.25, -60, -0.04, 9], [0.5, -90, -0.02, 3], [0, 0, 1, 0]],
        row_upper=[0, 0, 1],
        lower=0,
    )
    # The floats 0.02 and 0.04 are not these decimals, so the optimum is close to -1/20 and no more.
    assert float(ExactSimplex().solve_exactly(beale).objective) == pytest.approx(-0.05, abs=1e-12)


def test_redundant_equalities_are_no_obstacle() -> None:
    twice = LinearProgram.of([1, 1], [[1, 2], [2, 4], [1, 2]], [3, 6, 3], [3, 6, 3], lower=0)
    assert ExactSimplex().solve_exactly(twice).objective == Fraction(3, 2)


def test_difference_below_float_resolution_is_seen() -> None:
    tiny = Fraction(1, 10**30)
    program = RationalProgram((Fraction(1),), ((Fraction(1),),), (1 + tiny,), (None,), (Fraction(0),), (None,))
    assert ExactSimplex().solve_exactly(program).objective - 1 == tiny


def test_contradiction_below_float_resolution_is_proven() -> None:
    tiny = Fraction(1, 10**30)
    program = RationalProgram((Fraction(0),), ((Fraction(1),),), (1 + tiny,), (None,), (Fraction(0),), (Fraction(1),))
    solution = ExactSimplex().solve_exactly(program)
    assert solution.status is Status.INFEASIBLE
    assert program.proves_infeasible(solution.ray)


def test_rounded_bound_never_exceeds_the_exact_optimum() -> None:
    for denominator in range(3, 60):
        program = LinearProgram.of([1], [[denominator]], row_lower=1, lower=0)
        assert Fraction(ExactSimplex().solve(program).bound) <= Fraction(1, denominator)


def test_limits_stop_it_with_a_status() -> None:
    rng = np.random.default_rng(1)
    program = LinearProgram.of(rng.integers(1, 9, 12), rng.integers(0, 5, (12, 12)), 1, lower=0)
    assert ExactSimplex().solve(program, Limits(iterations=2)).status is Status.ITERATION_LIMIT
    assert ExactSimplex().solve(program, Limits(seconds=1e-9)).status is Status.TIME_LIMIT
    assert ExactSimplex().solve(program).status is Status.OPTIMAL


@pytest.mark.parametrize(
    "fields",
    [
        {"matrix": ((Fraction(1), Fraction(2)),)},
        {"row_lower": ()},
        {"lower": (Fraction(2),), "upper": (Fraction(1),)},
        {"row_lower": (Fraction(2),), "row_upper": (Fraction(1),)},
    ],
)
def test_malformed_rational_program_is_rejected(fields: dict[str, tuple[object, ...]]) -> None:
    one = (Fraction(1),)
    sound = {"cost": one, "matrix": (one,), "row_lower": one, "row_upper": (None,), "lower": one, "upper": (None,)}
    with pytest.raises(ProgramError):
        RationalProgram(**(sound | fields))


def test_float_program_is_taken_at_its_exact_value() -> None:
    program = RationalProgram.of(LinearProgram.of([0.1], [[0.3]], row_upper=math.inf, lower=-math.inf))
    assert program.cost == (Fraction(0.1),)
    assert program.cost != (Fraction(1, 10),)
    assert program.lower == (None,)
