"""The bound for unbiased vectors, against linear programs, closed forms and what is said of it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from mechdesign_solvers import Highs, LinearProgram, Status
from scipy.sparse import bmat, coo_matrix, csr_matrix, eye, kron

import mechdesign as md
from mechdesign import CheckFailed
from mechdesign.exact.caps import lean_by_signed_sets
from mechdesign.mechanisms.directions import CapReports, DirectionResponse, SignedSets
from mechdesign.methods.ball.proof import DirectionBound
from mechdesign.methods.ball.supports import supports
from mechdesign.methods.result import certify
from mechdesign.values.declare import evolved
from tests.methods.problems import several, vectors


def _least_average(inputs: np.ndarray, reports: np.ndarray, epsilon: float) -> float:
    """The least average ``E|Y|^2`` over channels from these inputs to these reports with E[Y|x] = x."""
    n, m, ratio = len(inputs), len(reports), math.exp(epsilon)
    every = eye(n)
    sums = bmat([[csr_matrix((n, m)), kron(every, np.ones((1, m)))]])
    means = [bmat([[csr_matrix((n, m)), kron(every, one[None, :])]]) for one in reports.T]
    laws, base = eye(n * m), kron(np.ones((n, 1)), eye(m))
    above, below = bmat([[-base, laws]]), bmat([[-ratio * base, laws]])
    matrix = coo_matrix(bmat([[block] for block in (sums, *means, above, below)])).tocsr()
    equal = np.concatenate([np.ones(n), *inputs.T])
    lower = np.concatenate([equal, np.zeros(n * m), np.full(n * m, -np.inf)])
    upper = np.concatenate([equal, np.full(n * m, np.inf), np.zeros(n * m)])
    cost = np.concatenate([np.zeros(m), np.tile((reports**2).sum(axis=1), n) / n])
    solution = Highs().solve(LinearProgram.of(cost, matrix, lower, upper, 0.0, np.inf))
    assert solution.status is Status.OPTIMAL
    assert solution.objective is not None
    return solution.objective


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_no_finite_channel_is_below_the_bound(epsilon: float) -> None:
    """24 inputs on a circle: the mean of the arc around one of them is ``sin(a) / a`` of it, so that any set of them
    leans at most ``a / sin(a)`` times as far as the arcs of all, ``a = pi / 24``."""
    found = md.solve(vectors(epsilon, md.Sphere(2))).certificate
    turns = np.arange(24) * math.pi / 12
    inputs = np.column_stack([np.cos(turns), np.sin(turns)])
    between = turns + math.pi / 24
    halfway = np.column_stack([np.cos(between), np.sin(between)])
    length = math.sqrt(found.upper + 1)
    least = _least_average(inputs, length * np.vstack([inputs, halfway, 1.2 * inputs]), epsilon)
    assert least >= (found.lower + 1) * (math.sin(math.pi / 24) * 24 / math.pi) ** 2 * (1 - 1e-7)
    assert least <= (found.upper + 1) * 1.02


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_no_finite_channel_of_signed_unit_vectors_is_below_the_bound(epsilon: float) -> None:
    """Reports to all sides at two lengths: with the one that the design has the least is what it attains."""
    found = md.solve(vectors(epsilon, md.CrossPolytope(3))).certificate
    inputs = np.vstack([np.eye(3), -np.eye(3)])
    sides = np.array([side for side in product((-1.0, 0.0, 1.0), repeat=3) if any(side)])
    sides *= math.sqrt(found.upper) / np.linalg.norm(sides, axis=1, keepdims=True)
    least = _least_average(inputs, np.vstack([sides, 1.3 * sides]), epsilon)
    assert least == pytest.approx(found.upper, rel=1e-7)
    assert found.upper == pytest.approx(found.lower + 1)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("ratio", [Fraction(3, 2), Fraction(3), Fraction(20)])
def test_no_set_of_signed_unit_vectors_leans_further(count: int, ratio: Fraction) -> None:
    points = [sign * row for row in np.eye(count, dtype=int) for sign in (1, -1)]
    leans = []
    for kept in product((0, 1), repeat=len(points)):
        total = sum(bit * point for bit, point in zip(kept, points, strict=True))
        leans.append((ratio - 1) ** 2 * int(total @ total) / (len(points) + (ratio - 1) * sum(kept)) ** 2)
    assert lean_by_signed_sets(count, ratio) == max(leans)


@pytest.mark.parametrize(("count", "epsilon"), [(2, 1.0), (5, 0.5), (10, 4.0), (1024, 2.0)])
def test_on_the_sphere_directions_are_the_optimum_and_in_the_ball_they_are_within_its_square(
    count: int, epsilon: float
) -> None:
    sphere = md.solve(vectors(epsilon, md.Sphere(count, 3.0))).certificate
    ball = md.solve(vectors(epsilon, md.Ball(count, 3.0))).certificate
    assert sphere.relative_gap < 1e-11
    assert ball.lower == sphere.lower
    assert ball.upper == pytest.approx(sphere.upper + 9)
    assert sphere.lower == pytest.approx(9 * md.solve(vectors(epsilon, md.Sphere(count))).certificate.lower)


@pytest.mark.parametrize("inputs", [md.Sphere(30), md.Ball(30, 2.0), md.CrossPolytope(30)])
def test_what_is_said_to_be_attained_is_the_error_of_the_law_in_doubles(inputs: md.Sphere) -> None:
    design = md.solve(vectors(2.0, inputs))
    assert design.certificate.upper == pytest.approx(design.own_law.worst_case(md.Squared())[0], rel=1e-9)


def test_another_cap_and_another_size_are_worse_than_the_design() -> None:
    for inputs, others in (
        (md.Ball(8), [CapReports(height) for height in (0.0, 0.3, 0.6)]),
        (md.CrossPolytope(8), [SignedSets(size) for size in (1, 4, 8)]),
    ):
        design = md.solve(vectors(2.0, inputs))
        for reports in others:
            law = DirectionResponse(2.0, inputs, reports, math.exp(2.0) * (1 - 1e-12))
            assert DirectionBound().attained(design.problem, law) > design.certificate.upper * (1 + 1e-4)


def test_other_problems_and_mechanisms_are_refused() -> None:
    bound, asked = DirectionBound(), vectors(1.0, md.Sphere(3))
    law = DirectionResponse(1.0, md.Sphere(3), CapReports(0.2), 2.7)
    for method in (bound.bound, bound.attained, bound.scope):
        with pytest.raises(CheckFailed, match="of bounded length"):
            method(several(1.0, 3), law)
    for mechanism in (
        md.catalogue.pm(1.0),
        DirectionResponse(1.0, md.Ball(3), CapReports(0.2), 2.7),
        DirectionResponse(1.0, md.Sphere(3, 2.0), CapReports(0.2), 2.7),
        DirectionResponse(2.0, md.Sphere(3), CapReports(0.2), 2.7),
    ):
        with pytest.raises(CheckFailed):
            bound.attained(asked, mechanism)
    most = md.Sphere(10_000)
    with pytest.raises(CheckFailed, match="so small"):
        bound.attained(vectors(1.0, most), DirectionResponse(1.0, most, CapReports(0.9), 2.7))


def test_a_mechanism_with_more_than_its_epsilon_makes_no_design() -> None:
    problem = vectors(1.0, md.Sphere(3))
    law = DirectionResponse(1.0, md.Sphere(3), CapReports(0.2), 2.7183)
    with pytest.raises(CheckFailed, match="privacy loss"):
        certify(problem, law, DirectionBound())


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({"among": md.All()}, "Unbiased"),
        ({"loss": md.Absolute()}, "Squared"),
        ({"privacy": md.Pure(8.5)}, "eps must lie"),
        ({"inputs": md.Interval(-1, 1)}, "Sphere"),
    ],
)
def test_problems_that_are_not_answered_are_told_why(change: dict[str, Any], missed: str) -> None:
    assert missed in str(supports(evolved(vectors(1.0, md.Ball(3)), **change)))
