"""The bound for several unbiased numbers, against mechanisms of linear programs and what is said of it."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from mechdesign_solvers import Highs, LinearProgram, Status

import mechdesign as md
from mechdesign import CheckFailed, Interval, InvalidInput
from mechdesign.methods.sign_patterns.proof import SignPatternsBound
from mechdesign.methods.sign_patterns.response import PatternResponse
from mechdesign.values.declare import evolved
from tests.methods.problems import several


def _least_on(reports: np.ndarray, inputs: np.ndarray, epsilon: float) -> float | None:
    """The least worst variance over channels from these inputs to these reports; None if none is unbiased."""
    n, m, d = len(inputs), len(reports), inputs.shape[1]
    width, ratio = 1 + m + n * m, np.exp(epsilon)
    squares = (reports**2).sum(axis=1)
    rows, lower, upper = [], [], []
    for i, x in enumerate(inputs):
        start = 1 + m + i * m
        for values, wanted in ((np.ones(m), 1.0), *((reports[:, j], x[j]) for j in range(d))):
            row = np.zeros(width)
            row[start : start + m] = values
            rows, lower, upper = [*rows, row], [*lower, wanted], [*upper, wanted]
        row = np.zeros(width)
        row[start : start + m], row[0] = squares, -1.0
        rows, lower, upper = [*rows, row], [*lower, -np.inf], [*upper, float(x @ x)]
        for own, base, least, most in ((1.0, -1.0, 0.0, np.inf), (1.0, -ratio, -np.inf, 0.0)):
            block = np.zeros((m, width))
            block[:, start : start + m], block[:, 1 : 1 + m] = own * np.eye(m), base * np.eye(m)
            rows, lower, upper = [*rows, *block], [*lower, *[least] * m], [*upper, *[most] * m]
    program = LinearProgram.of(np.eye(width)[0], np.array(rows), lower, upper, 0.0, np.inf)
    solution = Highs().solve(program)
    return solution.objective if solution.status is Status.OPTIMAL else None


@pytest.mark.parametrize(("count", "epsilon"), [(2, 0.7), (2, 1.5), (2, 3.0), (3, 1.0), (3, 3.0)])
def test_no_finite_channel_is_below_the_bound(count: int, epsilon: float) -> None:
    """Reports at random places and at those of the closed form, with the best laws for them."""
    problem = several(epsilon, count)
    found = md.solve(problem, method="sign_patterns").certificate
    rng = np.random.default_rng(count)
    corners = np.array(list(product((-1.0, 1.0), repeat=count)))
    inputs = np.vstack([corners, np.zeros((1, count))])
    best = []
    for _ in range(6):
        far = rng.uniform(1.0, 2.5 * found.upper**0.5, (14, 1))
        directions = rng.normal(size=(14, count))
        random = far * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        reports = np.vstack([random, -random, corners * (found.upper / count) ** 0.5])
        least = _least_on(reports, inputs, epsilon)
        best += [] if least is None else [least]
    assert best
    assert min(best) >= found.lower * (1 - 1e-7)


def _moments(response: PatternResponse, epsilon: float, halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and ``E|Y|^2`` of the estimate for every pattern of all numbers, by enumeration where k = d."""
    table = response.channel(epsilon).probabilities
    law = table / table.sum(axis=1, keepdims=True)
    kept = (law @ response.patterns)[-1, 0]  # of the pattern of pluses
    reports = response.patterns / kept * halves
    return law @ reports, law @ (reports**2).sum(axis=1)


@pytest.mark.parametrize(("drawn", "reach"), [(1, 0), (2, 0), (3, 0), (3, 1), (5, 1), (5, 2)])
def test_what_is_said_to_be_attained_is_the_second_moment_of_an_unbiased_estimate(drawn: int, reach: int) -> None:
    response, halves = PatternResponse(drawn, reach), np.ones(drawn)
    mean, square = _moments(response, 1.5, halves)
    assert mean == pytest.approx(response.patterns, rel=1e-12)
    if drawn > 1:
        attained = SignPatternsBound().attained(several(1.5, drawn), response.channel(1.5))
        assert square == pytest.approx(np.full(len(square), attained), rel=1e-12)


def test_fewer_numbers_are_drawn_in_proportion_to_their_ranges() -> None:
    """``E|Y|^2 = A^2 (sum b)^2 / k``, and with chances of a half each it would be more."""
    problem = md.Problem(
        inputs=md.Product((Interval(0, 6), Interval(-1, 1))),
        loss=md.Squared(),
        privacy=md.Pure(0.5),
        among=md.Unbiased(),
    )
    found = md.solve(problem, method="sign_patterns").certificate
    factor = (np.exp(0.5) + 1) / (np.exp(0.5) - 1)
    assert found.upper == pytest.approx(factor**2 * 16)
    assert found.lower == pytest.approx(factor**2 * 16 - 10)
    assert found.upper < factor**2 * 2 * (9 + 1)


def test_one_number_alone_may_bound_all_of_them() -> None:
    """With a range of almost nothing the second number does not take away from the bound of the first."""
    ends = Interval(-1, 1), Interval(-1e-6, 1e-6)
    problem = md.Problem(inputs=md.Product(ends), loss=md.Squared(), privacy=md.Pure(4.0), among=md.Unbiased())
    assert md.solve(problem, method="sign_patterns").certificate.lower >= 1 / np.tanh(2) ** 2 - 1


@pytest.mark.parametrize(
    "said", [{"prices": [-1.0, 0.0]}, {"slope": -1.0}, {"prices": [np.nan]}, {"size": np.inf}, {"prices": [[1.0]]}]
)
def test_numbers_that_are_no_prices_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        SignPatternsBound(**said)


def test_other_problems_and_mechanisms_are_refused() -> None:
    bound, law = SignPatternsBound(), PatternResponse(2).channel(1.0)
    for method in (bound.bound, bound.attained, bound.scope):
        with pytest.raises(CheckFailed, match="several unbiased numbers"):
            method(md.Problem(inputs=(-1, 1), loss="squared", privacy=md.Pure(1.0), among=md.Unbiased()), law)
    uneven = np.array([[0.7, 0.3], [0.4, 0.6]])
    for mechanism in (
        md.catalogue.pm(1.0),
        md.mechanisms.Discrete(1.0, md.Finite((0, 1)), md.Finite((0, 1)), uneven, "uneven"),
        PatternResponse(3).channel(1.0),
        PatternResponse(2).channel(2.0),
        evolved(law, inputs=md.Finite((0, 1, 2, 4))),
    ):
        with pytest.raises(CheckFailed):
            bound.attained(several(1.0, 2), mechanism)
    with pytest.raises(CheckFailed, match="about 9 numbers"):
        SignPatternsBound(prices=np.ones(9)).bound(several(1.0, 8), law)
