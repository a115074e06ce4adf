"""The bilinear search with SCIP: agreement with the reduction, limits, bad input."""

from __future__ import annotations

import builtins
import math
import sys
import time
from typing import Any

import pytest

from mechdesign import (
    Absolute,
    Circle,
    Design,
    Interval,
    InvalidInput,
    MissingExtra,
    NoAnswer,
    Power,
    Squared,
    solve,
)
from mechdesign.methods.piecewise.search import Bathtub
from mechdesign.methods.piecewise_program.search import PieceProgram
from mechdesign.words.problem import Problem
from tests.methods import problems


def _search(problem: Problem, seconds: float | None = None) -> Design:
    return solve(problem, seconds, method="piecewise_program")


@pytest.mark.parametrize(
    "problem",
    [
        problems.piecewise(1.0, Absolute(), pieces=2),
        problems.piecewise(1.0, Absolute(), pieces=3),
        problems.piecewise(4.0, Absolute(), pieces=3),
        problems.piecewise(4.0, Squared(), pieces=3),
        problems.piecewise(1.0, Squared(), Interval(-2, 1), pieces=3),
        problems.piecewise(2.0, Absolute(), pieces=4),
        problems.piecewise(1.0, Absolute(), at=0.3, pieces=3),
        problems.piecewise(2.0, Absolute(360.0), Circle(360.0), pieces=3),
        problems.piecewise(1.0, Squared(), Interval(0, 1e6), pieces=3),
        problems.piecewise(1.0, Absolute(), Interval(0, 1e-6), pieces=3),
    ],
    ids=str,
)
def test_search_agrees_with_the_reduction(problem: Problem) -> None:
    found = _search(problem)
    proven = solve(problem).certificate
    assert found.certificate.claimed
    assert found.certificate.lower <= proven.upper * (1 + 1e-6)
    assert found.certificate.lower == pytest.approx(proven.lower, rel=5e-6)
    assert found.certificate.upper == pytest.approx(proven.upper, rel=1e-6)


def test_extra_pieces_merge_to_three_at_an_inner_input() -> None:
    design = _search(problems.piecewise(1.0, Absolute(), at=0.3, pieces=4))
    assert design.report.details["pieces_found"] == 3
    edges = design.report.details["program_pieces"]["edges"]
    expected = solve(problems.piecewise(1.0, Absolute(), at=0.3)).mechanism.pieces(0.3).edges
    assert edges == pytest.approx(expected.tolist(), abs=2e-3)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize(("x", "left", "right"), [(0.0, 0, 2), (0.4, 1, 1), (1.0, 2, 0)])
def test_the_reduction_s_density_is_a_feasible_point_of_the_program(
    epsilon: float, x: float, left: int, right: int
) -> None:
    tub = Bathtub(epsilon, 2.0, 0.0, 1.0, x)
    radius = tub.optimal_radius()
    low = tub.base_density(radius)
    program = PieceProgram.of(tub, left, right)
    point = [0.0] * program.program.linear.columns
    point[0], point[program.peak] = low, low * math.exp(epsilon)
    cursor = 2
    for extent, count in ((x, left), (1 - x, right)):
        if extent <= 0:
            continue
        reach = min(radius, extent)
        drop = low * math.expm1(epsilon) if reach < extent else 0.0
        point[cursor] = point[program.peak] - drop
        cursor += 1
        for k in range(count):
            step = drop if k == 0 else 0.0
            point[cursor], point[cursor + 1] = step, reach
            point[cursor + 2 : cursor + 5] = [step * reach, step * reach**2, step * reach**3]
            cursor += 5
    assert cursor == len(point)
    assert program.program.violation_at(point) < 1e-9
    assert program.program.objective_at(point) == pytest.approx(radius**2, rel=1e-9)


def test_a_limit_gives_bounds_and_no_design() -> None:
    started = time.perf_counter()
    with pytest.raises(NoAnswer) as stopped:
        _search(problems.piecewise(4.0, Absolute(), at=0.3, pieces=8), seconds=1.5)
    optimum = solve(problems.piecewise(4.0, Absolute(), at=0.3)).certificate.upper
    assert stopped.value.lower <= optimum * (1 + 1e-9)
    assert stopped.value.upper >= optimum * (1 - 1e-6)
    assert time.perf_counter() - started < 30


def test_a_limit_that_is_over_at_once_has_the_bounds_of_the_reduction() -> None:
    problem = problems.piecewise(4.0, Absolute(), at=0.3, pieces=4)
    with pytest.raises(NoAnswer) as stopped:
        _search(problem, seconds=1e-9)
    optimum = solve(problems.piecewise(4.0, Absolute(), at=0.3)).certificate.upper
    assert optimum * (1 - 1e-6) <= stopped.value.lower <= optimum * (1 + 1e-9)
    assert stopped.value.upper >= stopped.value.lower


@pytest.mark.parametrize(
    ("problem", "word"),
    [
        (problems.piecewise(1.0, Power(1.5), pieces=3), "whole power"),
        (problems.piecewise(1.0, pieces=19), "between 2 and 8"),
        (problems.piecewise(40.0, pieces=3), "at most 16"),
        (problems.piecewise(1.0, pieces=1), "between 2 and 8"),
    ],
    ids=str,
)
def test_what_the_program_cannot_express_is_refused(problem: Problem, word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        _search(problem)


def test_a_missing_solver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_scip(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "pyscipopt":
            raise ModuleNotFoundError(name, name=name)
        return real_import(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "pyscipopt", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_scip)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name == "pyscipopt" else object())
    with pytest.raises(MissingExtra, match=r"mechdesign\[scip\]"):
        _search(problems.piecewise(1.0, pieces=2))
