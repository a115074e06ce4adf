"""Valid inequalities which global solvers do not find by themselves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from .programs import BilinearProgram, LinearProgram, Product


def with_implied_cones(program: BilinearProgram) -> BilinearProgram:
    """Add the convex cones which chains of products imply; feasible points and optimum stay the same.

    If rows define ``z = a x y`` and ``w = b z y`` then ``a w x = b z z``, whatever ``y`` is. Where ``w`` and
    ``x`` (and ``a / b``) are at least zero this holds the convex cone ``z**2 <= (a / b) w x``. Branch and
    bound on the products alone sees each McCormick envelope on its own and needs tens of thousands of
    nodes for what the cone states at the root. A product ``z y`` in the objective is first given a
    column ``w`` of its own, so a strengthened program may have more columns than the original; the
    original ones come first.

    >>> rows = LinearProgram.of([0, 0, 0, 1], [[0, 0, 1, 0], [0, 0, 0, 1]], 0, 0, lower=0, upper=1)
    >>> chain = BilinearProgram(rows, (), ((0, Product(0, 1, -1.0)), (1, Product(2, 1, -1.0))))
    >>> with_implied_cones(chain)
    BilinearProgram(3 rows, 4 columns, 4 products)
    """
    lifted = _lift_objective(program)
    cones = tuple(_cones(lifted))
    if not cones:
        return program
    base = lifted.linear
    rows = LinearProgram(
        base.cost,
        csr_array(vstack([base.matrix, csr_array((len(cones), base.columns))], format="csr")),
        np.concatenate([base.row_lower, np.zeros(len(cones))]),
        np.concatenate([base.row_upper, np.full(len(cones), math.inf)]),
        base.lower,
        base.upper,
    )
    terms = tuple((base.rows + k, term) for k, cone in enumerate(cones) for term in cone)
    return BilinearProgram(rows, lifted.objective_products, lifted.row_products + terms)


@dataclass(frozen=True, slots=True)
class _Definition:
    """A row which says ``x[result] = coefficient * x[left] * x[right]``."""

    result: int
    left: int
    right: int
    coefficient: float

    def other_than(self, factor: int) -> int | None:
        if self.left == self.right:
            return None
        return {self.left: self.right, self.right: self.left}.get(factor)


def _definitions(program: BilinearProgram) -> Iterator[_Definition]:
    linear = program.linear
    terms: dict[int, list[Product]] = {}
    for row, term in program.row_products:
        terms.setdefault(row, []).append(term)
    for row, products in terms.items():
        start, stop = linear.matrix.indptr[row], linear.matrix.indptr[row + 1]
        is_definition = (
            len(products) == 1
            and stop - start == 1
            and linear.row_lower[row] == 0 == linear.row_upper[row]
            and linear.matrix.data[start] != 0
            and products[0].coefficient != 0
        )
        if is_definition:
            (term,) = products
            coefficient = -term.coefficient / float(linear.matrix.data[start])
            yield _Definition(int(linear.matrix.indices[start]), term.left, term.right, coefficient)


def _cones(program: BilinearProgram) -> Iterator[tuple[Product, Product]]:
    lower = program.linear.lower
    known = list(_definitions(program))
    by_result = {definition.result: definition for definition in known}
    for outer in known:
        for z, y in ((outer.left, outer.right), (outer.right, outer.left)):
            inner = by_result.get(z)
            x = inner.other_than(y) if inner is not None else None
            if inner is None or x is None or z == y:
                continue
            ratio = inner.coefficient / outer.coefficient
            if ratio > 0 and lower[outer.result] >= 0 and lower[x] >= 0:
                yield Product(outer.result, x, ratio), Product(z, z, -1.0)


def _lift_objective(program: BilinearProgram) -> BilinearProgram:
    """Give every objective product ``z y``, where ``z`` is a product of ``y``, a column and a row of its own."""
    by_result = {definition.result: definition for definition in _definitions(program)}
    chained = [
        term
        for term in program.objective_products
        if term.coefficient != 0
        and term.left != term.right
        and any(
            z in by_result and by_result[z].other_than(y) is not None
            for z, y in ((term.left, term.right), (term.right, term.left))
        )
    ]
    if not chained:
        return program
    base = program.linear
    extra = len(chained)
    columns = base.columns + np.arange(extra)
    ranges = [Product(term.left, term.right).range_over(base.lower, base.upper) for term in chained]
    defining = csr_array((np.ones(extra), (np.arange(extra), columns)), shape=(extra, base.columns + extra))
    linear = LinearProgram(
        np.concatenate([base.cost, [term.coefficient for term in chained]]),
        csr_array(vstack([hstack([base.matrix, csr_array((base.rows, extra))]), defining], format="csr")),
        np.concatenate([base.row_lower, np.zeros(extra)]),
        np.concatenate([base.row_upper, np.zeros(extra)]),
        np.concatenate([base.lower, [low for low, _ in ranges]]),
        np.concatenate([base.upper, [high for _, high in ranges]]),
    )
    rows = tuple((base.rows + k, Product(term.left, term.right, -1.0)) for k, term in enumerate(chained))
    kept = tuple(term for term in program.objective_products if term not in chained)
    return BilinearProgram(linear, kept, program.row_products + rows)
