"""Moment matrices that a mixture of bits might have, and the best of them by an interior point.

With ``y = (1, b)`` a mixture has the moment matrix ``P = sum w yy'``. P is positive semidefinite, all products of ``v =
(b, 1 - b)`` are at least 0 in it, and ``b_i (1 - b_i)`` is 0. Whole numbers a and m add **splits**: ``(a.b - m)(a.b - m
- 1) >= 0``, as a.b is whole. A convex objective of P is made least under equations, by primal-dual steps in the entries
of P above its diagonal; where nothing changes as the bits are turned round, in half as many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats
from mechdesign.values.later import sparse

_MOST_STEPS = 120
_STEP = 0.95  # of the way to the edge
_RIDGE = 1e-15
_ROWS = 1 << 22  # entries of a piece of the Hessian

_SCALES = np.linspace(0.6, 6.0, 40)  # of a direction, to be rounded to whole numbers
_DIRECTIONS = 3
_CUTS_OFF = 1e-5
_MOST_ENTRY = 1 << 10

Places = NDArray[np.intp]


class Split(NamedTuple):
    """``(a.b - m)(a.b - m - 1) >= 0`` for whole a and m."""

    least: int
    direction: tuple[int, ...]

    def turned(self) -> Split:
        return Split(self.least, self.direction[::-1])


class Objective(Protocol):
    """What is made least: a convex function of P."""

    def at(self, lifted: Floats) -> Here: ...


class Here(NamedTuple):
    """An objective at P: its value, minus its slope, and U and V where it bends by ``2 tr(U dP V dP)``."""

    value: float
    cost: Floats
    bend: tuple[Floats, Floats] | None


class Cone:
    """All such P for so many bits; ``turns`` says that turning the bits round changes nothing."""

    def __init__(self, size: int, turns: bool, splits: Sequence[Split] = ()) -> None:
        self.size, self.turns, self.splits = size, turns, tuple(splits)
        left, right = np.triu_indices(size, 1)
        self.pairs = left, right
        self.rows = np.concatenate([[0], np.zeros(size, dtype=int), left + 1])
        self.columns = np.concatenate([[0], np.arange(size) + 1, right + 1])
        self._settle_orbits()
        products = self._products() @ self.spread
        self.inequalities = products if not splits else sparse.vstack([products, self._split_rows()], format="csr")

    # -- unknowns ------------------------------------------------------------------------------------------------------

    def _settle_orbits(self) -> None:
        """Unknowns that are equal are one: ``x = spread @ reduced``; so are equations."""
        place = np.zeros((self.size + 1, self.size + 1), dtype=int)
        each = np.arange(self.rows.size)
        place[self.rows, self.columns] = place[self.columns, self.rows] = each
        turned = np.concatenate([[0], np.arange(self.size, 0, -1)])
        mirror = place[turned[self.rows], turned[self.columns]] if self.turns else each
        self.first = np.flatnonzero(each <= mirror)
        self.second = mirror[self.first]
        number = np.zeros(each.size, dtype=int)
        number[self.first] = number[self.second] = np.arange(self.first.size)
        self.spread: Any = sparse.csr_array((np.ones(each.size), (each, number)), shape=(each.size, self.first.size))

    def matrix(self, unknowns: Floats) -> Floats:
        matrix = np.zeros((self.size + 1, self.size + 1))
        matrix[self.rows, self.columns] = matrix[self.columns, self.rows] = unknowns
        matrix[np.diag_indices(self.size + 1)] = unknowns[: self.size + 1]
        return matrix

    def adjoint(self, form: Floats) -> Floats:
        """The slopes of ``<form, P>`` in the unknowns."""
        slopes = 2 * form[self.rows, self.columns]
        slopes[0] = form[0, 0]
        slopes[1 : self.size + 1] += np.diagonal(form)[1:]
        return np.asarray(slopes)

    def _products(self) -> sparse.csr_array:
        """``b_i b_j``, ``b_i (1 - b_j)``, ``(1 - b_i) b_j``, ``(1 - b_i)(1 - b_j)`` for ``i < j``, in the unknowns."""
        left, right = self.pairs
        count = left.size
        both, nothing = np.arange(count) + 1 + self.size, np.zeros(count, dtype=int)
        terms = [
            (0, both, 1), (1, left + 1, 1), (1, both, -1), (2, right + 1, 1), (2, both, -1),
            (3, nothing, 1), (3, left + 1, -1), (3, right + 1, -1), (3, both, 1),
        ]  # fmt: skip
        rows = np.concatenate([block * count + np.arange(count) for block, _, _ in terms])
        columns = np.concatenate([column for _, column, _ in terms])
        signs = np.repeat([float(sign) for _, _, sign in terms], count)
        return sparse.csr_array((signs, (rows, columns)), shape=(4 * count, self.rows.size))

    def _split_rows(self) -> sparse.csr_array:
        return sparse.csr_array(np.array([self.adjoint(split_form(split)) for split in self.splits]) @ self.spread)

    def curvature(self, one: Floats, other: Floats) -> Floats:
        """The Hessian ``tr(E_a U E_b V)`` of two symmetric matrices, E_a the derivative of P by an unknown."""
        found = np.empty((self.first.size, self.first.size))
        step = max(1, _ROWS // self.first.size)
        twice = np.flatnonzero(self.first != self.second)
        for at in range(0, self.first.size, step):
            piece = self.first[at : at + step]
            block = self._entries(one, other, piece, self.first)
            if twice.size:
                block[:, twice] += self._entries(one, other, piece, self.second[twice])
                block[self.first[at : at + step] != self.second[at : at + step]] *= 2
            found[at : at + step] = block
        return found

    def _entries(self, one: Floats, other: Floats, left: Places, right: Places) -> Floats:
        found = self._crossed(one, other, self.rows[left], self.columns[left], self.rows[right], self.columns[right])
        corner, last = left == 0, right == 0
        found[corner] /= 2
        found[:, last] /= 2
        # the unknown of (0, i) is that of (i, i), too
        ones = np.flatnonzero((left > 0) & (left <= self.size))
        others = np.flatnonzero((right > 0) & (right <= self.size))
        own, far = self.columns[left[ones]], self.columns[right[others]]
        down = self._crossed(one, other, own, own, self.rows[right], self.columns[right]) / 2
        down[:, last] /= 2
        across = self._crossed(one, other, self.rows[left], self.columns[left], far, far) / 2
        across[corner] /= 2
        found[ones] += down
        found[:, others] += across
        found[np.ix_(ones, others)] += self._crossed(one, other, own, own, far, far) / 4
        return found

    def _crossed(self, one: Floats, other: Floats, i: Places, j: Places, m: Places, n: Places) -> Floats:
        found = one[np.ix_(j, m)] * other[np.ix_(i, n)]
        for a, b, c, d in ((j, n, i, m), (i, m, j, n), (i, n, j, m)):
            piece = one[np.ix_(a, b)]
            piece *= other[np.ix_(c, d)]
            found += piece
        return found

    def even(self) -> Floats:
        """P of bits that are thrown like coins."""
        size = self.size
        lifted = np.full((size + 1, size + 1), 0.25)
        lifted[0], lifted[:, 0] = 0.5, 0.5
        lifted[np.diag_indices(size + 1)] = 0.5
        lifted[0, 0] = 1.0
        return lifted


class Inside:
    """An interior point on its way: P in reduced unknowns, prices of equations, multipliers of the rest."""

    def __init__(self, of: Cone, objective: Objective, equations: Floats, wanted: Floats, start: Floats) -> None:
        """``start`` is a P inside; ``equations`` are on all unknowns, and must not change as bits are turned round."""
        self.of, self.objective, self.wanted = of, objective, wanted
        self.equations: Floats = np.asarray(equations @ of.spread)
        self.transposed = sparse.csr_array(of.inequalities.T)
        if of.turns:
            turned = np.concatenate([[0], np.arange(of.size, 0, -1)])
            start = (start + start[np.ix_(turned, turned)]) / 2
        self.x = start[of.rows, of.columns][of.first]
        self.count = of.size + 1 + of.inequalities.shape[0]
        level = 1 / self.count
        self.prices = np.zeros(len(wanted))
        self.dual = level * inverse_of(start)
        self.weights = level / (of.inequalities @ self.x)

    def run(self, tolerance: float, clock: Clock) -> float:
        """To a gap, or as far as the time reaches: the gap."""
        of = self.of
        for _ in range(_MOST_STEPS):
            lifted = self.lifted
            here = self.objective.at(lifted)
            slack = np.asarray(of.inequalities @ self.x)
            apart = float(np.sum(self.dual * lifted) + self.weights @ slack)
            missing = self.wanted - self.equations @ self.x
            slopes = of.spread.T @ of.adjoint(here.cost) - self.equations.T @ self.prices
            rest = -slopes - of.spread.T @ of.adjoint(self.dual) - self.transposed @ self.weights
            is_feasible = np.abs(missing).max() < 1e-9 and np.abs(rest).max() < 1e-2 * tolerance
            if (apart < tolerance and is_feasible) or clock.is_over:
                break
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # such steps are not taken
                goes_on = self._step(lifted, here, slack, slopes, missing, apart)
            if not goes_on:
                break
        return apart

    @property
    def lifted(self) -> Floats:
        return self.of.matrix(self.of.spread @ self.x)

    def _step(self, lifted: Floats, here: Here, slack: Floats, slopes: Floats, missing: Floats, apart: float) -> bool:
        """One step of Mehrotra's; False, and nothing changed, where rounding would lead out of the cone."""
        of = self.of
        backwards = inverse_of(lifted)
        hessian = of.curvature(backwards, self.dual)
        hessian = (hessian + hessian.T) / 2
        if here.bend is not None:
            bent = of.curvature(*here.bend)
            hessian += bent
            hessian += bent.T
            del bent
        weighted = self.transposed @ sparse.diags_array(self.weights / slack) @ of.inequalities
        weighted = sparse.coo_array(weighted)
        np.add.at(hessian, (weighted.coords[0], weighted.coords[1]), weighted.data)
        hessian[np.diag_indices(len(hessian))] *= 1 + _RIDGE
        try:
            factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return False
        on_prices = cho_solve(factor, self.equations.T, check_finite=False)
        system = self.equations @ on_prices

        def direction(level: float, bend: Floats, more: Floats) -> tuple[Any, ...]:
            right = slopes + of.spread.T @ of.adjoint(level * backwards + bend)
            right = right + self.transposed @ ((level + more) / slack)
            free = cho_solve(factor, right, check_finite=False)
            prices = np.asarray(np.linalg.solve(system, self.equations @ free - missing))
            x = free - on_prices @ prices
            change = of.matrix(np.asarray(of.spread @ x))
            turned = backwards @ change @ self.dual
            dual = level * backwards + bend - self.dual - (turned + turned.T) / 2
            falls = np.asarray(of.inequalities @ x)
            weights = (level + more) / slack - self.weights - self.weights / slack * falls
            return x, prices, change, dual, falls, weights

        def length(change: Floats, dual: Floats, falls: Floats, weights: Floats) -> float:
            return min(
                _inside(lifted, change),
                _inside(self.dual, dual),
                _longest(slack, falls),
                _longest(self.weights, weights),
            )

        nothing = np.zeros_like(lifted)
        try:
            _, _, change, dual, falls, weights = direction(0.0, nothing, np.zeros_like(slack))
            far = min(1.0, length(change, dual, falls, weights))
            ahead = float(np.sum((self.dual + far * dual) * (lifted + far * change)))
            ahead += float((self.weights + far * weights) @ (slack + far * falls))
            level = min(1.0, max(1e-3, (ahead / apart) ** 2)) * apart / self.count
            turned = backwards @ change @ dual
            x, prices, change, dual, falls, weights = direction(level, -(turned + turned.T) / 2, -falls * weights)
            far = min(1.0, _STEP * length(change, dual, falls, weights))
            reached = self.x + far * x, self.prices + far * prices, self.dual + far * dual, self.weights + far * weights
            np.linalg.cholesky(of.matrix(of.spread @ reached[0]))
        except np.linalg.LinAlgError:
            return False
        if not (all(np.isfinite(part).all() for part in reached) and (of.inequalities @ reached[0] > 0).all()):
            return False
        self.x, self.prices, self.dual, self.weights = reached
        return True

    def account(self, form: Floats) -> tuple[Floats, Floats, float]:
        """Multipliers of products and of splits, and what they lack, of ``y'(form)y``, which is to be at least 0."""
        of, size = self.of, self.of.size
        weights = np.maximum(self.weights, 0.0)
        count = of.pairs[0].size
        both, first, second, none = weights[: 4 * count].reshape(4, count)
        multipliers = np.zeros((3, size, size))
        multipliers[0][of.pairs], multipliers[2][of.pairs] = both, none
        multipliers[1][of.pairs], multipliers[1].T[of.pairs] = first, second
        rest = form - products_form(multipliers)
        for split, weight in zip(of.splits, weights[4 * count :].tolist(), strict=True):
            rest = rest - weight * split_form(split)
        shifts = np.diagonal(self.dual - rest)[1:]
        multipliers[1][np.diag_indices(size)] = shifts + np.diagonal(form)[1:]  # squares of bits are bits
        rest[np.arange(size) + 1, np.arange(size) + 1] += shifts
        rest[0, 1:] -= shifts / 2
        rest[1:, 0] -= shifts / 2
        lacking = max(0.0, -float(np.linalg.eigvalsh((rest + rest.T) / 2)[0]))
        return multipliers, weights[4 * count :], lacking


def products_form(multipliers: Floats) -> Floats:
    """``sum_ij L_ij v_i v_j`` as a symmetric matrix in ``y = (1, b)``.

    >>> products_form(np.array([[[0.0]], [[1.0]], [[0.0]]])).tolist()  # b (1 - b)
    [[0.0, 0.5], [0.5, -1.0]]
    """
    both, one, none = multipliers
    size = len(both)
    form = np.zeros((size + 1, size + 1))
    pairs = both - one + none
    form[1:, 1:] = (pairs + pairs.T) / 2
    form[0, 1:] = form[1:, 0] = (one.sum(axis=1) - none.sum(axis=0) - none.sum(axis=1)) / 2
    form[0, 0] = none.sum()
    return form


def split_form(split: Split) -> Floats:
    """``(a.b - m)(a.b - m - 1)`` as a symmetric matrix in ``y = (1, b)``.

    >>> split_form(Split(0, (1,))).tolist()  # b (b - 1)
    [[0.0, -0.5], [-0.5, 1.0]]
    """
    direction, least = np.array(split.direction, dtype=np.float64), split.least
    form = np.zeros((direction.size + 1, direction.size + 1))
    form[1:, 1:] = np.outer(direction, direction)
    form[0, 1:] = form[1:, 0] = -(2 * least + 1) * direction / 2
    form[0, 0] = least * (least + 1)
    return form


def splits_of(lifted: Floats, known: Sequence[Split], most: int) -> list[Split]:
    """Splits that cut P off, those that cut deepest first: whole numbers near the directions in which it is thin.

    >>> thin = np.array([[1.0, 0.5, 0.5], [0.5, 0.5, 0.125], [0.5, 0.125, 0.5]])
    >>> wide = thin + np.array([[0, 0, 0], [0, 0, 0.2], [0, 0.2, 0]])  # like bits that are more often equal
    >>> splits_of(wide, (), 1)
    []
    """
    P = lifted / lifted[0, 0]
    mean = P[0, 1:]
    spread = P[1:, 1:] - np.outer(mean, mean)
    diagonal = np.diagonal(spread)
    _, vectors = np.linalg.eigh(spread)

    def between(sums: Floats) -> Floats:
        below = np.floor(sums)
        return np.asarray((sums - below) * (sums - below - 1))

    found: dict[Split, float] = {}
    for vector in vectors[:, :_DIRECTIONS].T:
        for scale in _SCALES:
            a = np.rint(scale * vector / np.abs(vector).max())
            while a.any() and np.abs(a).max() < _MOST_ENTRY:
                towards, total = spread @ a, float(a @ mean)
                size = float(a @ towards)
                now = size + float(between(np.array(total)))
                more = size + 2 * towards + diagonal + between(total + mean)
                less = size - 2 * towards + diagonal + between(total - mean)
                if not min(more.min(), less.min()) < now - 1e-9:
                    break
                if more.min() <= less.min():
                    a[int(more.argmin())] += 1
                else:
                    a[int(less.argmin())] -= 1
            if not a.any():
                continue
            a /= math.gcd(*(int(n) for n in a))
            total = float(a @ mean)
            cut = float(a @ spread @ a + between(np.array(total)))
            if not cut < -_CUTS_OFF:
                continue
            least = math.floor(total)
            if a.sum() < 0:
                a, least = -a, -least - 1
            found[Split(least, tuple(int(n) for n in a))] = cut
    fresh = [split for split in sorted(found, key=lambda split: found[split]) if split not in known]
    return fresh[:most]


def inverse_of(matrix: Floats) -> Floats:
    found = np.linalg.inv(matrix)
    return np.asarray((found + found.T) / 2)


def _inside(matrix: Floats, change: Floats) -> float:
    """How far one may go until a positive definite matrix is one no more."""
    root = np.linalg.inv(np.linalg.cholesky(matrix))
    least = float(np.linalg.eigvalsh(root @ change @ root.T)[0])
    return 1 / -least if least < 0 else math.inf


def _longest(values: Floats, change: Floats) -> float:
    falls = change < 0
    return float((-values[falls] / change[falls]).min()) if falls.any() else math.inf
