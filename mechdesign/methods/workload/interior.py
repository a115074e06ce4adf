"""The least noise that a relaxation of rows allows, with prices that pay for every row, for any workload.

With ``z = 1 + (c - 1) b`` and ``y = (1, b)`` a mixture of rows has the moment matrix ``P = sum w/(p.z) yy'``, and
``M = K P K'``, K taking y to z, with ``K P K' p = 1``. The relaxation is ``min tr(G M^-1)`` over all P of
`mechdesign.methods.workload.cone`: at its optimum the multipliers of the equations are prices nu, and those of the
others account for ``(nu.z)(p.z) - z'Bz``.

What it loses lies in few directions: at its optimum ``a.b`` is nearly constant for some a, and no bits have that sum.
Splits near that direction cut off what lies in between, and often leave nothing to be lost.

Where turning the types round changes the queries by what is known anyway, and the prior not at all, P has half as many
unknowns.
"""

from __future__ import annotations

import numpy as np

from mechdesign.methods.workload.cone import Cone, Here, Inside, Split, inverse_of
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, frozen

MOST_INTERIOR = 144
"""Types for which the equations of a step are solved in memory and time that anybody has."""

_EVEN = 1e-11


@frozen
class Relaxed:
    """The optimum of the relaxation: ``value`` is its ``tr(GM^-1)``, and ``total`` is what its prices add up to.

    ``multipliers`` and ``splits`` are those of `mechdesign.exact.bits.shift_by_squares`; ``lifted`` is P.
    """

    inverse: Floats
    prices: Floats
    multipliers: Floats
    splits: Floats | None
    lifted: Floats
    value: float
    total: float

    @property
    def bound(self) -> float:
        return self.value**2 / self.total


class Interior:
    """The relaxation of one workload and prior.

    Queries that do not ask for all shares leave M undecided: then ``blur`` times the histogram is asked beside them.
    Prices that pay for both pay for the queries, and the multipliers are about these alone.
    """

    def __init__(self, asked: Floats, ratio: float, prior: Floats, blur: float = 0.0) -> None:
        size = prior.size
        self.size, self.prior, self.asked = size, prior, asked
        gram = asked + blur * np.eye(size)
        self.lift = np.column_stack([np.ones(size), (ratio - 1) * np.eye(size)])
        self.sums = self.lift.T @ prior
        self.most_bits = most_bits(ratio, prior)
        known = _turns_known(gram, prior)
        self.turns = known is not None
        self.known = np.zeros(size) if known is None else known
        self.own = self._own(gram)
        types = np.arange(size)
        orbit = np.minimum(types, types[::-1]) if self.turns else types
        self.types = np.asarray(orbit[:, None] == np.unique(orbit)[None, :], dtype=np.float64)

    def _own(self, gram: Floats) -> Floats:
        """Queries without what is known anyway."""
        return np.asarray(gram - (self.known[:, None] + self.known[None, :]) / 2)

    def even(self) -> Floats:
        """P of bits that are thrown like coins, with what the equations ask for on average."""
        lifted = Cone(self.size, False).even()
        return np.asarray(lifted / float((self.lift @ lifted @ self.sums).mean()))

    def run(self, start: Floats, splits: tuple[Split, ...], tolerance: float, clock: Clock) -> Relaxed:
        """From a P inside, to a relative gap, or as far as the time reaches.

        >>> from mechdesign.words.workloads import Prefix
        >>> interior = Interior(Prefix(8).matrix.T @ Prefix(8).matrix, np.e, np.full(8, 1 / 8))
        >>> found = interior.run(interior.even(), (), 1e-7, Clock(None))
        >>> round(found.bound - 4.5, 3)  # without splits; the optimum is 23.0314
        22.906
        """
        cone = Cone(self.size, self.turns, splits)
        noise = _Noise(self.own, self.lift, start)
        inside = Inside(cone, noise, self.types.T @ self._equations(cone), self.types.sum(axis=0), start)
        inside.run(tolerance, clock)
        return self._relaxed(inside, noise)

    def _equations(self, cone: Cone) -> Floats:
        """``K P K' p`` as a matrix on the unknowns."""
        rows, columns, lift, sums = cone.rows, cone.columns, self.lift, self.sums
        found = lift[:, rows] * sums[columns]
        off = rows != columns
        found[:, off] += lift[:, columns[off]] * sums[rows[off]]
        on = slice(1, self.size + 1)
        found[:, on] += lift[:, columns[on]] * sums[columns[on]]
        return np.asarray(found)

    def _relaxed(self, inside: Inside, noise: _Noise) -> Relaxed:
        """Multipliers in the units of the workload, repaired so that they prove what ``total`` says."""
        lifted = inside.lifted
        inverse = inverse_of(self.lift @ lifted @ self.lift.T)
        prices = self.types @ inside.prices
        form = self.lift.T @ np.outer(prices, self.prior) @ self.lift
        multipliers, weights, lacking = inside.account((form + form.T) / 2 - noise.at(lifted).cost)
        beside = (
            noise.at(lifted).cost - self.lift.T @ inverse @ self._own(self.asked) @ inverse @ self.lift / noise.scale
        )
        multipliers[1][np.diag_indices(self.size)] += np.diagonal(beside)[1:]  # squares of bits are bits
        # what is known of all types alike costs nothing, and belongs to the prices
        own = noise.scale * prices + inverse @ self.known
        splits = [[noise.scale * weight, split.least, *split.direction] for split, weight in _used(inside, weights)]
        return Relaxed(
            inverse,
            own,
            noise.scale * multipliers,
            np.array(splits, dtype=np.float64) if splits else None,
            lifted,
            float(np.sum(self.asked * inverse)),
            float(own.sum()) + noise.scale * lacking * self.most_bits,
        )


class _Noise:
    """``tr(G M^-1)``, in units of what it is at the start."""

    def __init__(self, gram: Floats, lift: Floats, start: Floats) -> None:
        self.lift = lift
        self.scale = float(np.sum(gram * np.linalg.inv(lift @ start @ lift.T)))
        self.gram = gram / self.scale

    def at(self, lifted: Floats) -> Here:
        inverse = inverse_of(self.lift @ lifted @ self.lift.T)
        cost = self.lift.T @ inverse @ self.gram @ inverse @ self.lift
        return Here(float(np.sum(self.gram * inverse)), cost, (cost, self.lift.T @ inverse @ self.lift))


def _used(inside: Inside, weights: Floats) -> list[tuple[Split, float]]:
    return [(split, weight) for split, weight in zip(inside.of.splits, weights.tolist(), strict=True) if weight > 0]


def most_bits(ratio: float, prior: Floats) -> float:
    """The most that ``(1 + sum b) / (p.z)^2`` can be."""
    least = 1 + (ratio - 1) * np.concatenate([[0.0], np.cumsum(np.sort(prior))])
    return float(((1 + np.arange(prior.size + 1)) / least**2).max())


def _turns_known(gram: Floats, prior: Floats) -> Floats | None:
    """w where turning the types round changes G by ``w 1' + 1 w'`` only, which costs nothing; else None."""
    if np.abs(prior - prior[::-1]).max() > _EVEN * prior.max():
        return None
    change = gram - gram[::-1, ::-1]
    known = change.sum(axis=1) / len(gram)
    off = np.abs(change - known[:, None] - known[None, :]).max()
    return np.asarray(known) if off <= _EVEN * np.abs(gram).max() else None
