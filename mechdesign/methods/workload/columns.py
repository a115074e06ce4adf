"""Rows and weights of a channel, found together: weigh the rows there are, price, add the rows that prices miss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechdesign.methods.workload.master import Weighted, best_weights
from mechdesign.methods.workload.pricing import MOST_TRIED, Bits, Prices, all_rows, climbed, swept
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, frozen

_FIRST_TOLERANCE = 0.1
_AHEAD = 0.2  # of the gap reached so far: more accuracy would be spent on the wrong rows
_KEPT = 1e-6  # shares of rows that are dropped
_FRESH = 0.02  # of the weight is given to new rows, and taken from nobody: the next weights are feasible again
_LAST = 0.05  # of the gap, left to the weights
_HELD = 2
_BLURS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
_BLURRED = 0.3  # of what a blur costs
_MOST_ROUNDS = 400
_FLIPPED = 0.1

Told = Callable[[float, float], object]


@frozen
class Rows:
    """Rows of bits with shares u (weights are ``u / (p.z)``), and what is known: ``tr(GM^-1)`` is least in between."""

    bits: Bits
    found: Weighted
    value: float
    bound: float
    priced: Weighted
    """Of all rounds the one with the best bound; with ``wanting`` of the prior on top its prices pay for every row that
    was tried."""
    wanting: float

    def weights(self, ratio: float, prior: Floats) -> Floats:
        """The weights w of the rows z themselves, of which ``sum_z w_z z = 1``."""
        return np.asarray(self.found.shares / ((1 + (ratio - 1) * self.bits) @ prior))


class Columns:
    """The search for one Gram matrix, ratio and prior; rows found for one prior are a start for the next."""

    def __init__(self, gram: Floats, ratio: float, vector: Floats | None = None) -> None:
        self.gram, self.ratio = gram, ratio
        self.query = vector
        self.size = len(gram)
        self.rng = np.random.default_rng(0)  # the same rows are tried whenever the same is asked
        both = np.vstack([gram, np.full((1, self.size), np.trace(gram) / self.size)])
        self.is_partial = bool(np.linalg.matrix_rank(both, tol=1e-9 * float(np.trace(gram))) < self.size)
        self.rounds = 0
        self.bits = self._first()
        self.shares = np.full(len(self.bits), 1 / len(self.bits))
        self.prices: Floats | None = None

    def _first(self) -> Bits:
        """Threshold sets of the order of the types, single types, and as many at random; never single types alone."""
        steps = np.tri(self.size, self.size, -1, dtype=bool)[1:]
        mixed = self.rng.random((4 * self.size, self.size)) < 0.5
        bits = np.vstack([mixed, steps, ~steps, np.eye(self.size, dtype=bool)])
        bits = np.unique(np.vstack([bits, bits[:, ::-1]]), axis=0)
        return np.asarray(bits[bits.any(axis=1) & ~bits.all(axis=1)])

    def run(
        self, prior: Floats, gap: float, known: float, clock: Clock, say: Told | None = None, proven: float = 0.0
    ) -> Rows:
        """Rows with a relative gap of the noise ``tr(GM^-1) - known``, or the best when the time is up.

        ``proven`` is a bound of ``tr(GM^-1)`` that is known already: rows that come near enough to it are good.

        Queries that do not ask for all shares leave M singular and its prices undecided: then a little of the histogram
        is asked for beside them, less and less. Prices that pay for both pay for the queries.
        """
        tolerance, bound = _FIRST_TOLERANCE, proven
        priced: tuple[float, Weighted, float] | None = None
        unit = float(np.trace(self.gram)) / self.size
        blurs = list(_BLURS) if self.is_partial else [0.0]
        blur = blurs.pop(0)
        for _ in range(_MOST_ROUNDS):
            self.rounds += 1
            gram = self.gram + blur * unit * np.eye(self.size)
            found = best_weights(gram, self._scaled(prior), self.shares, self.prices, tolerance)
            fresh, excess = self._priced(Prices(found.square, found.prices, prior, self.ratio), found)
            wanting = max(0.0, float(excess.max(initial=0.0)))
            value = float(np.sum(self.gram * found.inverse))
            total = float(found.prices.sum()) + wanting
            bound = max(bound, value**2 / total)
            if priced is None or value**2 / total > priced[0]:
                priced = value**2 / total, found, wanting
            here = Rows(self.bits, found, value, bound, *priced[1:])
            if say is not None:
                say(bound - known, value - known)
            is_done = value - bound <= gap * (value - known)
            self._keep(found, fresh, excess)
            if is_done or clock.is_over:
                break
            open_gap = found.value - found.value**2 / total
            if open_gap <= _BLURRED * (found.value - value):
                if not blurs:
                    break
                blur = blurs.pop(0)
            tolerance = max(min(tolerance, _AHEAD * open_gap / found.value), _LAST * gap * (1 - known / value))
        return here

    def _scaled(self, prior: Floats) -> Floats:
        rows = 1 + (self.ratio - 1) * self.bits
        return np.asarray(rows / (rows @ prior)[:, None])

    def _priced(self, asked: Prices, found: Weighted) -> tuple[Bits, Floats]:
        if self.size <= MOST_TRIED:
            bits = all_rows(self.size)
            return bits, asked.excess(bits)
        most = max(64, 2 * self.size)
        top = self.bits[np.argsort(-found.shares)[:most]]
        flipped = top ^ (self.rng.random(top.shape) < _FLIPPED)
        starts = [flipped, self.rng.random((2 * most, self.size)) < 0.5, top]
        if self.query is not None:
            starts.append(swept(found.inverse @ self.query, asked.prices, asked.prior))
        return climbed(asked, np.vstack(starts))

    def _keep(self, found: Weighted, fresh: Bits, excess: Floats) -> None:
        """Rows with a share that matters, and the new ones that prices miss most, with their mirror images."""
        most = max(64, 2 * self.size)
        fresh = fresh[np.argsort(-excess, kind="stable")]
        if (excess > 0).any():
            fresh = fresh[: int((excess > 0).sum())]
        _, firsts = np.unique(fresh, axis=0, return_index=True)
        fresh = fresh[np.sort(firsts)][:most]
        kept = found.shares > _KEPT
        # rows without weight hold prices up where few rows have any, as with few queries
        kept[np.argsort(found.slacks, kind="stable")[: most * _HELD]] = True
        own = {row.tobytes() for row in self.bits[kept]}
        both = np.unique(np.vstack([fresh, fresh[:, ::-1]]), axis=0)
        new = np.array([row for row in both if row.tobytes() not in own], dtype=bool).reshape(-1, self.size)
        self.bits = np.vstack([self.bits[kept], new])
        self.shares = np.concatenate([found.shares[kept], np.full(len(new), _FRESH / max(1, len(new)))])
        self.prices = found.prices
