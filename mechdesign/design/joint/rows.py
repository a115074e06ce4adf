"""The rows of the programs for groups: caps on what known partners tell, as fractions and as floats; duals as lines."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from mechdesign_solvers import Highs, LinearProgram, Solution
from numpy.typing import NDArray

from mechdesign.design.joint.pair_bound import Line, line_below
from mechdesign.mechanisms.joint import likelihood_rows

Floats = NDArray[np.float64]

_TINY = 1e-13


@dataclass(frozen=True, slots=True)
class Caps:
    """``true[c]`` and ``false[c]`` cap the probabilities of truth and lie with c partners known; 1 is no cap."""

    true: tuple[Fraction, ...]
    false: tuple[Fraction, ...]


class Rows:
    """The coefficients for one group size, from which programs are made."""

    def __init__(self, group: int, categories: int) -> None:
        self.group, self.categories = group, categories
        self.places = [(c, s) for c in range(group) for s in range(c + 1)]
        self.exact = [likelihood_rows(group, c, s) for c, s in self.places]
        self.true = np.array([[float(x) for x in pair[0]] for pair in self.exact])
        self.false = np.array([[float(x) for x in pair[1]] for pair in self.exact])

    def program(self, caps: Caps) -> CappedProgram:
        """The program with a row for every cap that says something and every number of truthful partners."""
        rows, exact = [], []
        for index, (c, _) in enumerate(self.places):
            true, false = self.exact[index]
            for limits, mine, other, both in (
                (caps.true, self.true, self.false, (true, false)),
                (caps.false, self.false, self.true, (false, true)),
            ):
                cap = limits[c]
                # a cap that holds with one more known partner, too, follows from that
                if cap >= 1 or (0 < c < self.group - 1 and cap == limits[c + 1]):
                    continue
                row = float(1 - cap) * mine[index] - float(cap) * other[index]
                scale = float(np.abs(row).max())
                if scale > 0:
                    rows.append(row / scale)
                    exact.append(_ExactRow(cap, scale, *both))
        return CappedProgram(self.group, rows, exact)

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


@dataclass(frozen=True, slots=True)
class _ExactRow:
    """``(1 - cap) mine - cap other <= 0``, which the program holds divided by ``scale``."""

    cap: Fraction
    scale: float
    mine: tuple[Fraction, ...]
    other: tuple[Fraction, ...]

    def coefficients(self) -> list[Fraction]:
        return [(1 - self.cap) * a - self.cap * b for a, b in zip(self.mine, self.other, strict=True)]


class CappedProgram:
    """A linear program over the weights: the caps, ``sum w_t = 1``, and the mean ``sum t w_t`` fixed or free."""

    def __init__(self, group: int, rows: list[Floats], exact: list[_ExactRow]) -> None:
        self.group, self._exact = group, exact
        self._costs = list(range(group + 1))
        t = np.arange(group + 1.0)
        lower, upper = self._bounds(None)
        matrix = np.vstack([*rows, np.ones(group + 1), t])
        self._session = Highs(tolerance=1e-10).session(LinearProgram.of(t, matrix, lower, upper, lower=0.0))

    def minimise(self, costs: list[int]) -> None:
        """From now on minimise ``sum costs_t w_t``."""
        self._costs = costs
        self._session.change_cost([float(cost) for cost in costs])

    def solve(self, total: float | None) -> Solution:
        """Solve with ``sum t w_t`` fixed, or free where it is None."""
        self._session.change_row_bounds(*self._bounds(total))
        return self._session.solve()

    def line(self, solution: Solution) -> Line:
        """What the duals prove, exactly: signs are enforced, so that nothing a solver says can be wrong."""
        assert solution.row_duals is not None
        duals = solution.row_duals
        multipliers = [max(0.0, -float(y)) / row.scale for y, row in zip(duals[:-2], self._exact, strict=True)]
        rows = [(Fraction(m), row.coefficients()) for m, row in zip(multipliers, self._exact, strict=True) if m > 0]
        return line_below(self._costs, Fraction(float(duals[-1])), rows)

    def least(self, solution: Solution) -> Fraction:
        """The same where the mean is free: a number below all values."""
        assert solution.row_duals is not None
        loose = replace(solution, row_duals=np.append(solution.row_duals[:-1], 0.0))
        value: Fraction = self.line(loose)[0]
        return value

    def _bounds(self, total: float | None) -> tuple[Floats, Floats]:
        count = len(self._exact)
        least, most = (0.0, float(self.group)) if total is None else (total, total)
        return np.array([-math.inf] * count + [1.0, least]), np.array([0.0] * count + [1.0, most])
