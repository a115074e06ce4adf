"""Prices that pay for every row, with the sum of squares that shows it: a semidefinite relaxation for any k.

With ``z = 1 + (c - 1) b`` and ``y = (1, b)`` a mixture of rows has the moment matrix ``P = sum w/(p.z) yy'``. It is
positive semidefinite, all products of ``v = (b, 1 - b)`` are at least 0 in it, those of ``b_i (1 - b_i)`` are 0, and
``K P K' p = 1``, K taking y to z. Among such P the greatest ``<K'BK, P>`` bounds what rows can have of B; its
multipliers are prices nu, and products and a positive semidefinite matrix that account for the difference.

Solved by splitting: P is projected onto matrices without negative eigenvalues, V = E P E' onto those without negative
entries, and both onto what the equations allow, in turn (Douglas and Rachford, over-relaxed).
"""

from __future__ import annotations

import math

import numpy as np

from mechdesign.values.declare import Floats, frozen

_OVER = 1.6
_CHECK = 50
_UNEVEN, _FACTOR = 5.0, 1.5


@frozen
class Account:
    """Prices, and multipliers of the products as `mechdesign.exact.bits` has them; ``moment`` is that of the rows.

    ``total`` is what the prices add up to with what they lack: the bound is ``t^2 / total``.
    """

    prices: Floats
    multipliers: Floats
    moment: Floats
    total: float


class Relaxation:
    """The splitting with its state, which a change of B does not make worthless."""

    def __init__(self, ratio: float, prior: Floats, start: Floats) -> None:
        size = prior.size
        gain = ratio - 1
        self.size, self.prior = size, prior
        self.lift = np.column_stack([np.ones(size), gain * np.eye(size)])
        self.pairs = np.zeros((2 * size, size + 1))
        self.pairs[:size, 1:], self.pairs[size:, 0], self.pairs[size:, 1:] = np.eye(size), 1.0, -np.eye(size)
        self.sums = self.lift.T @ prior
        values, self.vectors = np.linalg.eigh(self.pairs.T @ self.pairs)
        self.damping = 1 / (1 + np.outer(values, values))
        columns = [self._equations(self._solved(self._adjoint(unit))) for unit in np.eye(size)]
        self.system = np.linalg.inv(np.array(columns).T)
        self.opposite = (np.arange(size), np.arange(size) + size)
        self.moment, self.products = start.copy(), self.pairs @ start @ self.pairs.T
        self.moment_dual, self.products_dual = np.zeros_like(self.moment), np.zeros_like(self.products)
        self.penalty = 0.0
        ordered = np.sort(prior)
        counts = np.arange(size + 1)
        least = 1 + gain * np.concatenate([[0.0], np.cumsum(ordered)])
        self.most_bits = float(((1 + counts) / least**2).max())

    def _equations(self, moment: Floats) -> Floats:
        return np.asarray(self.lift @ (moment @ self.sums))

    def _adjoint(self, prices: Floats) -> Floats:
        both = np.outer(self.lift.T @ prices, self.sums)
        return np.asarray((both + both.T) / 2)

    def _solved(self, right: Floats) -> Floats:
        """P with ``P + E'E P E'E = right``."""
        return np.asarray(self.vectors @ ((self.vectors.T @ right @ self.vectors) * self.damping) @ self.vectors.T)

    def improved(self, square: Floats, value: float, steps: int, tolerance: float) -> Account:
        """So many steps for the matrix B, whose ``tr(GM^-1)`` is ``value``, and what can be made of the multipliers."""
        cost = self.lift.T @ square @ self.lift / value
        if not self.penalty:
            self.penalty = float(np.linalg.norm(cost) / np.linalg.norm(self.moment))
        prices = np.zeros(self.size)
        for step in range(1, steps + 1):
            right = self.moment - self.moment_dual + cost / self.penalty
            right = right + self.pairs.T @ (self.products - self.products_dual) @ self.pairs
            free = self._solved(right)
            multipliers = self.system @ (1 - self._equations(free))
            moment = free + self._solved(self._adjoint(multipliers))
            products = self.pairs @ moment @ self.pairs.T
            before = self.moment, self.products
            self._project(_OVER * moment + (1 - _OVER) * before[0], _OVER * products + (1 - _OVER) * before[1])
            prices = -self.penalty * multipliers
            if step % _CHECK == 0 and self._is_settled((moment, products), before, cost, tolerance):
                break
        return self._account(cost, prices, value)

    def _project(self, moment: Floats, products: Floats) -> None:
        raised = moment + self.moment_dual
        values, vectors = np.linalg.eigh((raised + raised.T) / 2)
        kept = values > 0
        self.moment = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
        self.moment_dual = raised - self.moment
        raised = products + self.products_dual
        self.products = np.maximum(raised, 0.0)
        self.products[self.opposite] = 0.0
        self.products[self.opposite[::-1]] = 0.0
        self.products_dual = raised - self.products

    def _is_settled(
        self, equal: tuple[Floats, Floats], before: tuple[Floats, Floats], cost: Floats, tolerance: float
    ) -> bool:
        now = self.moment, self.products
        apart = math.hypot(*(float(np.linalg.norm(a - b)) for a, b in zip(equal, now, strict=True)))
        moved = math.hypot(*(float(np.linalg.norm(a - b)) for a, b in zip(now, before, strict=True)))
        apart, moved = apart / float(np.linalg.norm(now[0])), self.penalty * moved / float(np.linalg.norm(cost))
        if max(apart, moved) < tolerance:
            return True
        factor = _FACTOR if apart > _UNEVEN * moved else 1 / _FACTOR if moved > _UNEVEN * apart else 1.0
        self.penalty *= factor
        self.moment_dual, self.products_dual = self.moment_dual / factor, self.products_dual / factor
        return False

    def _account(self, cost: Floats, prices: Floats, value: float) -> Account:
        size = self.size
        dual = -self.penalty * self.products_dual
        kept = np.maximum((dual + dual.T) / 2, 0.0)
        for place in (self.opposite, self.opposite[::-1]):
            kept[place] = (dual + dual.T)[place] / 2
        form = self._adjoint(prices) - cost
        rest = form - self.pairs.T @ kept @ self.pairs
        lacking = max(0.0, -float(np.linalg.eigvalsh((rest + rest.T) / 2)[0]))
        one = 2 * kept[:size, size:]
        one[np.diag_indices(size)] += np.diagonal(form)[1:]  # squares of bits are bits
        multipliers = np.array([kept[:size, :size], one, kept[size:, size:]])
        total = value * (float(prices.sum()) + lacking * self.most_bits)
        moment = self.lift @ self.moment @ self.lift.T
        return Account(value * prices, value * multipliers, (moment + moment.T) / 2, total)
