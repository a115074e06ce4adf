"""The programs for groups: rows for caps on what known partners tell, and what a solver's duals say as multipliers."""

from __future__ import annotations

import math

import numpy as np
from mechdesign_solvers import Highs, LinearProgram, Solution
from numpy.typing import NDArray

from mechdesign.exact.joint_limits import Caps
from mechdesign.mechanisms.joint import likelihood_rows
from mechdesign.methods.joint.proof import Duals

Floats = NDArray[np.float64]

_TINY = 1e-13


class Rows:
    """The coefficients for one group size, from which programs are made."""

    def __init__(self, group: int, categories: int) -> None:
        self.group, self.categories = group, categories
        self.places = [(c, s) for c in range(group) for s in range(c + 1)]
        exact = [likelihood_rows(group, c, s) for c, s in self.places]
        self.true = np.array([[float(x) for x in pair[0]] for pair in exact])
        self.false = np.array([[float(x) for x in pair[1]] for pair in exact])

    def program(self, caps: Caps) -> CappedProgram:
        """The program with a row for every cap that says something and every number of truthful partners."""
        rows, sources = [], []
        for index, (c, s) in enumerate(self.places):
            for limits, mine, other, of_truth in (
                (caps.true, self.true, self.false, True),
                (caps.false, self.false, self.true, False),
            ):
                cap = limits[c]
                # a cap that holds with one more known partner, too, follows from that
                if cap >= 1 or (0 < c < self.group - 1 and cap == limits[c + 1]):
                    continue
                row = float(1 - cap) * mine[index] - float(cap) * other[index]
                scale = float(np.abs(row).max())
                if scale > 0:
                    rows.append(row / scale)
                    sources.append((c, s, of_truth, scale))
        return CappedProgram(self.group, rows, sources)

    def given_away(self, weights: Floats) -> tuple[list[float], list[float]]:
        """The largest probabilities of truth and of lie for each number of known partners."""
        clean = np.where(weights > _TINY, weights, 0.0)
        true, false = self.true @ clean, self.false @ clean
        both = true + false
        possible = both > 0
        share = np.divide(true, both, out=np.zeros_like(true), where=possible)
        other = np.divide(false, both, out=np.zeros_like(true), where=possible)
        starts = np.cumsum([0, *range(1, self.group)])
        most = np.maximum.reduceat(share, starts), np.maximum.reduceat(other, starts)
        return most[0].tolist(), most[1].tolist()


Source = tuple[int, int, bool, float]
"""Which cap a row is, as in `mechdesign.methods.joint.proof.Multiplier`, and what it was divided by."""


class CappedProgram:
    """A linear program over the weights: the caps, ``sum w_t = 1``, and the mean ``sum t w_t`` fixed or free."""

    def __init__(self, group: int, rows: list[Floats], sources: list[Source]) -> None:
        self.group, self._sources = group, sources
        t = np.arange(group + 1.0)
        lower, upper = self._bounds(None)
        matrix = np.vstack([*rows, np.ones(group + 1), t])
        self._session = Highs(tolerance=1e-10).session(LinearProgram.of(t, matrix, lower, upper, lower=0.0))

    def minimise(self, costs: list[int]) -> None:
        """From now on minimise ``sum costs_t w_t``."""
        self._session.change_cost([float(cost) for cost in costs])

    def solve(self, total: float | None) -> Solution:
        """Solve with ``sum t w_t`` fixed, or free where it is None."""
        self._session.change_row_bounds(*self._bounds(total))
        return self._session.solve()

    def duals(self, solution: Solution) -> Duals:
        """What a solver says of the caps: signs are enforced, so that what is derived from them cannot be wrong."""
        assert solution.row_duals is not None
        weights = [max(0.0, -float(y)) / row[3] for y, row in zip(solution.row_duals[:-2], self._sources, strict=True)]
        told = tuple((*row[:3], weight) for weight, row in zip(weights, self._sources, strict=True) if weight > 0)
        return Duals(float(solution.row_duals[-1]), told)

    def _bounds(self, total: float | None) -> tuple[Floats, Floats]:
        count = len(self._sources)
        least, most = (0.0, float(self.group)) if total is None else (total, total)
        return np.array([-math.inf] * count + [1.0, least]), np.array([0.0] * count + [1.0, most])
