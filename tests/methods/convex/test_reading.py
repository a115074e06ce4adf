"""What is read of CVXPY expressions is what CVXPY computes, and what cannot be read says which atom it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from mechdesign.methods.convex.model import ConvexModel
from mechdesign.methods.convex.reading import Affine, Reader, Term, Unread
from mechdesign.methods.registry import solve
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Finite
from tests.methods.problems import custom, custom_problem

SHAPE = 3, 4
WEIGHTS = np.random.default_rng(1).random(SHAPE)
MIXED = np.random.default_rng(2).normal(size=(2, 3))

READ: dict[str, Callable[[Any], Any]] = {
    "linear": lambda q: cp.sum(cp.multiply(WEIGHTS, q)) + 1,
    "a vector": lambda q: MIXED @ q[:, 1] - 2,
    "max": lambda q: cp.max(cp.sum(cp.multiply(WEIGHTS, q), axis=1)),
    "max along rows": lambda q: cp.max(q, axis=1),
    "max along columns": lambda q: cp.max(MIXED @ q, axis=0),
    "sum of maxima": lambda q: 2 * cp.sum(cp.max(q, axis=0)) - cp.min(q @ np.arange(4.0)),
    "one of several maxima": lambda q: cp.max(q, axis=1)[1],
    "maximum": lambda q: cp.maximum(q, 1 - q, 0.3),
    "minimum turned": lambda q: 3 - cp.sum(cp.minimum(q[0], q[1])),
    "positive part": lambda q: cp.pos(q[0, 0] - 0.5),
    "max of sums of sizes": lambda q: cp.max(cp.sum(cp.abs(q - 0.2), axis=1)),
    "norm1": lambda q: cp.norm1(MIXED @ q - 1),
    "norm_inf": lambda q: cp.norm_inf(q - 0.3) + cp.sum(cp.abs(MIXED @ q)),
    "total variation": lambda q: cp.tv(q[0]),
    "squares": lambda q: (q[0, 0] - 0.2) ** 2 * 4 + cp.max(cp.vstack([q[0], q[1]])),
    "sum of squares": lambda q: cp.sum_squares(MIXED @ q) / 3,
    "maximum of squares": lambda q: 2 * cp.max(cp.square(q)) + cp.sum_squares(q[0]),
    "maximum of norms": lambda q: cp.max(cp.norm(q, 2, axis=1) + cp.maximum(q[:, 0], 0.3) + q[:, 1] ** 2),
    "maximum of many sizes": lambda q: cp.max(cp.sum(cp.abs(q - 0.3), axis=1) + cp.max(cp.norm1(MIXED @ q - 1) - q[0])),
    "norm": lambda q: 2 * cp.norm(MIXED @ q[:, 0] - 1),
    "norms of rows": lambda q: cp.norm(q - 0.2, 2, axis=1),
    "norms of columns": lambda q: cp.sum(cp.norm(q, 2, axis=0)) + cp.norm(q - 1, "fro"),
    "form": lambda q: cp.quad_form(q[0] - 0.1, WEIGHTS.T @ WEIGHTS),
    "matrix of squares": lambda q: np.ones((2, 3)) @ cp.square(q - 0.1),
}
UNREAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    "norm of degree 3": (lambda q: cp.norm(q[0], 3), "a norm with p = 3"),
    "a form of the table": (lambda q: cp.matrix_frac(q[0, :3], np.eye(3) + cp.diag(q[0, :3])), "matrixfrac"),
    "entropy": (lambda q: cp.sum(cp.rel_entr(q[0], q[1])), "rel_entr"),
    "cube": (lambda q: cp.power(q[0, 0], 3), "power other than 2"),
    "square of a size": (lambda q: cp.square(cp.norm1(q)), "not linear below a square"),
    "the largest two": (lambda q: cp.sum_largest(q, 2), "sum_largest"),
}


def _reader() -> tuple[Any, Reader]:
    domains = Finite((0, 1, 2)), Finite((0, 1, 2, 3))
    model = ConvexModel(custom_problem(1.0, *domains, lambda q: cp.sum(q)), 1e-4)
    return model.q, Reader(model._coefficients)


def _value(term: Term, table: Floats) -> Any:
    def at(one: Affine) -> float:
        return float((one.costs * table).sum()) + one.offset

    norms = sum(sum(at(entry) ** 2 for entry in entries) ** 0.5 for entries in term.norms)
    maxima = sum(max(_value(piece, table) for piece in pieces) for pieces in term.maxima)
    bent = maxima + sum(s * at(e) ** 2 for s, e in term.squares)
    return at(term.affine) + bent + norms


@pytest.mark.parametrize("name", READ)
def test_what_is_read_has_the_value_of_the_expression_at_any_table(name: str) -> None:
    q, reader = _reader()
    expression = READ[name](q)
    terms = reader.terms(expression)
    for seed in range(5):
        table = np.random.default_rng(seed).random(SHAPE)
        q.value = table
        expected = np.ravel(np.asarray(expression.value), order="F")
        np.testing.assert_allclose([_value(term, table) for term in terms], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_proven_to_have_the_optimum_that_cvxpy_finds_for_what_was_stated(name: str) -> None:
    def stated(q: Any) -> Any:
        return cp.sum(READ[name](q)) + 20

    certificate = custom(1.0, range(3), range(4), stated).certificate
    q, base = cp.Variable(SHAPE), cp.Variable((1, 4), nonneg=True)
    spread = np.ones((3, 1)) @ base
    private = [q >= spread, q <= np.e * spread, cp.sum(q, axis=1) == 1]
    least = cp.Problem(cp.Minimize(stated(q)), private).solve(solver="CLARABEL")
    assert not certificate.claimed
    assert certificate.lower <= least + 1e-6
    assert certificate.upper >= least - 1e-6
    assert certificate.relative_gap <= 1e-5


@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_read_is_named(name: str) -> None:
    expression, reason = UNREAD[name]
    q, reader = _reader()
    with pytest.raises(Unread, match=reason):
        reader.terms(expression(q))


def test_maxima_whose_pieces_would_multiply_beyond_bounds_are_pieces_with_maxima_of_their_own() -> None:
    """The worst ``sum_y |q - 1|`` of a row of randomised response is twice its chance to lie."""
    points = np.arange(12.0)
    distance = custom(1.0, points, points, lambda q: cp.sum(cp.abs(q - np.eye(12)), axis=1), criterion=Worst())
    assert not distance.certificate.claimed
    lie = 11 / (np.e + 11)
    for end in (distance.certificate.lower, distance.certificate.upper):
        assert end == pytest.approx(2 * lie, rel=1e-6)
    again = solve(distance.problem)
    assert again.certificate.lower == pytest.approx(2 * lie, rel=1e-6)
