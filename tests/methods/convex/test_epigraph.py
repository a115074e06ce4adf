"""Variables that stand above functions of the table: the same optimum as with maxima, and proven as these are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import optimize

from mechdesign.errors import InvalidInput
from mechdesign.methods.registry import solve
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods.problems import custom

POINTS = np.linspace(0, 1, 4)
LOSS = abs(POINTS[:, None] - POINTS)
Stated = tuple[Callable[[Any], Any], Callable[[Any], Any]]


def errors(q: Any) -> Any:
    return cp.sum(cp.multiply(LOSS, q), axis=1)


def worst() -> Stated:
    top = cp.Variable()
    return lambda q: top, lambda q: [errors(q) <= top]


def in_other_units() -> Stated:
    top = cp.Variable()
    return lambda q: 3 * top, lambda q: {"above": 3 * top >= errors(q)}


def chained() -> Stated:
    each, top = cp.Variable(4), cp.Variable()
    return lambda q: top, lambda q: [errors(q) <= each, each <= top]


def above_zero() -> Stated:
    top, rest = cp.Variable(nonneg=True), cp.Variable((2, 2), nonneg=True)
    return lambda q: top + cp.sum(rest), lambda q: [errors(q) <= top, cp.reshape(q[0], (2, 2), order="C") <= rest + 1]


@pytest.mark.parametrize("stated", [worst, in_other_units, chained, above_zero], ids=lambda stated: stated.__name__)
def test_a_worst_case_of_the_users_own_is_proven_to_be_that_of_the_loss_matrix(stated: Callable[[], Stated]) -> None:
    certificate = custom(1.0, POINTS, POINTS, *stated()).certificate
    expected = solve(Problem(loss=LOSS, privacy=Pure(1.0))).certificate
    assert not certificate.claimed
    assert certificate.lower <= expected.upper
    assert expected.lower <= certificate.upper
    assert certificate.relative_gap <= 1e-9


def test_errors_for_each_input_may_be_variables() -> None:
    each = cp.Variable(4)
    design = custom(1.0, POINTS, POINTS, lambda q: each, lambda q: [errors(q) <= each], criterion=Average())
    plain = custom(1.0, POINTS, POINTS, errors, criterion=Average())
    assert design.certificate.lower == pytest.approx(plain.certificate.lower, rel=1e-9)


def test_a_limit_of_a_variable_is_one_of_what_it_stands_above() -> None:
    """The least average error with a worst case near the least, as a linear program without any variable put away."""
    top, (n, m), ratio = cp.Variable(), LOSS.shape, np.e
    most = 1.02 * solve(Problem(loss=LOSS, privacy=Pure(1.0))).certificate.upper
    design = custom(1.0, POINTS, POINTS, errors, lambda q: [errors(q) <= top, top <= most], criterion=Average())
    above, right = [], []
    for x, other, y in np.ndindex(n, n, m):
        row = np.zeros((n, m))
        row[x, y] += 1
        row[other, y] -= ratio
        above, right = [*above, row.ravel()], [*right, 0.0]
    for x in range(n):
        row = np.zeros((n, m))
        row[x] = LOSS[x]
        above, right = [*above, row.ravel()], [*right, most]
    sums = np.kron(np.eye(n), np.ones(m))
    least = optimize.linprog(LOSS.ravel() / n, np.array(above), right, sums, np.ones(n)).fun
    assert not design.certificate.claimed
    assert design.certificate.lower == pytest.approx(least, rel=1e-4)
    assert design.certificate.upper == pytest.approx(least, rel=1e-4)


def misstated() -> dict[str, Stated]:
    top, other, two = cp.Variable(), cp.Variable(), cp.Variable(2)
    some, over = cp.Variable(nonneg=True), cp.Variable(4)
    bounded = cp.Variable(bounds=[0, 1])
    return {
        "nothing below": (lambda q: top, lambda q: [top <= errors(q)[0]]),
        "an equality": (lambda q: top, lambda q: [errors(q)[0] == top]),
        "to be large": (lambda q: 1 - top, lambda q: [errors(q) <= top]),
        "below and above a concave one": (lambda q: top, lambda q: [errors(q) <= top, top >= 0.1, cp.sqrt(top) >= 0.1]),
        "to be large above a number": (lambda q: cp.sum(errors(q)) - top, lambda q: [top >= 0]),
        "square above a number": (lambda q: cp.square(top) + cp.sum(errors(q)), lambda q: [top >= -1]),
        "the slack of an equality": (lambda q: cp.sum(errors(q)), lambda q: [errors(q)[0] + some == 0.5]),
        "a quantile": (lambda q: top + cp.sum(over), lambda q: [top >= 0, over >= errors(q) - top, over >= 0]),
        "without a use": (lambda q: cp.sum(q), lambda q: [errors(q) <= top]),
        "round in a circle": (lambda q: top + other, lambda q: [top <= other, other <= top]),
        "with ends of its own": (lambda q: bounded, lambda q: [errors(q) <= bounded]),
        "half of it above nothing": (lambda q: cp.sum(two), lambda q: [errors(q)[0] <= two[0]]),
    }


@pytest.mark.parametrize("name", misstated())
def test_other_variables_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"q alone|convex"):
        custom(1.0, POINTS, POINTS, *misstated()[name])


def test_the_worst_of_errors_with_a_variable_is_one_word_too() -> None:
    over = cp.Variable(nonneg=True)
    design = custom(
        1.0, POINTS, POINTS, lambda q: errors(q) + over, lambda q: [q[0, 3] - 0.1 <= over], criterion=Worst()
    )
    law = np.asarray(design.mechanism.probabilities)
    worst = (law * LOSS[:, [POINTS.tolist().index(y) for y in design.mechanism.outputs.points]]).sum(axis=1).max()
    over_limit = law[0, -1] - 0.1 if design.mechanism.outputs.points[-1] == 1 else 0.0
    assert not design.certificate.claimed
    assert design.certificate.upper == pytest.approx(worst + max(over_limit, 0.0), rel=1e-9)
