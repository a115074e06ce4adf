"""Rows that prices do not pay for: the z in {1, c}^k with the greatest ``(z'Bz - (nu.z)(p.z)) / (p.z)^2``.

Up to 16 types all rows are tried. Beyond, changing one entry at a time climbs from many starts, all at once; with one
query the best row for each slope is known, and those of a sweep are all there are (see `mechdesign.exact.sweep`). None
of this proves anything: proofs are in `mechdesign.methods.workload.proof`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechdesign.values.declare import Floats, frozen

Bits = NDArray[np.bool_]

MOST_TRIED = 16
_ROUNDS = 3
_UNEVEN = 1e-12


@frozen
class Prices:
    """What is asked of rows: B and nu, for types with weights p and the ratio c."""

    square: Floats
    prices: Floats
    prior: Floats
    ratio: float

    def rows(self, bits: Bits) -> Floats:
        return np.asarray(1 + (self.ratio - 1) * bits)

    def excess(self, bits: Bits) -> Floats:
        """``(z'Bz - (nu.z)(p.z)) / (p.z)^2``: what is wanting in the prices."""
        rows = self.rows(bits)
        sizes = rows @ self.prior
        return np.asarray(np.einsum("ij,ij->i", rows @ self.square, rows) / sizes**2 - rows @ self.prices / sizes)

    @property
    def form(self) -> Floats:
        """The symmetric matrix of ``z'Bz - (nu.z)(p.z)``."""
        both = np.outer(self.prices, self.prior)
        return np.asarray(self.square - (both + both.T) / 2)


def all_rows(size: int) -> Bits:
    return (np.arange(1 << size)[:, None] >> np.arange(size) & 1).astype(bool)


def climbed(asked: Prices, starts: Bits) -> tuple[Bits, Floats]:
    """Rows from which no single change leads higher, and their excess.

    The ratio is raised as Dinkelbach does: ``z'Az - level (p.z)^2`` is climbed, and the level is what was reached.
    """
    level, bits, form = 0.0, starts, asked.form
    around = np.outer(asked.prior, asked.prior)
    excess = asked.excess(bits)
    for _ in range(_ROUNDS):
        bits = _climbed(form - level * around, asked.ratio, bits)
        excess = asked.excess(bits)
        if not excess.max() > level + _UNEVEN:
            break
        level = float(excess.max())
    return bits, excess


def _climbed(form: Floats, ratio: float, starts: Bits) -> Bits:
    bits, gain = starts.copy(), ratio - 1
    slopes = (1 + gain * bits) @ form
    diagonal = np.diagonal(form)
    least = 1e-12 * float(np.abs(diagonal).max())
    active = np.arange(len(bits))
    for _ in range(6 * form.shape[0]):
        change = np.where(bits[active], -gain, gain)
        rise = 2 * change * slopes[active] + gain**2 * diagonal
        best = rise.argmax(axis=1)
        goes_on = rise[np.arange(active.size), best] > least
        if not goes_on.any():
            break
        active, best = active[goes_on], best[goes_on]
        own = np.where(bits[active, best], -gain, gain)
        bits[active, best] ^= True
        slopes[active] += own[:, None] * form[best]
    return bits


def swept(vector: Floats, prices: Floats, prior: Floats) -> Bits:
    """With ``B = xx'``, every row that is best for some slope a: entries are c where ``2 a x - a^2 p - nu > 0``."""
    square = vector**2 - prior * prices
    has_roots = square > 0
    root = np.sqrt(np.maximum(square, 0.0))
    low, high = (  # a cell of chance 0 has no slope either, and no roots
        np.divide(end, prior, out=np.full(prior.shape, np.inf), where=has_roots)
        for end in (vector - root, vector + root)
    )
    events = np.unique(np.concatenate([low[has_roots], high[has_roots]]))
    if events.size < 2:
        return np.zeros((0, vector.size), dtype=bool)
    middle = (events[1:] + events[:-1])[:, None] / 2
    return np.unique((middle > low) & (middle < high), axis=0)
