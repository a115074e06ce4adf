"""The linear program behind trade-offs: averages over groups of a prior's atoms against a cap on the worst case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from mechdesign_solvers import CuttingPlanes, LinearProgram, Rows
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NEGLIGIBLE = 1e-12


class Cut(NamedTuple):
    """``sum of weights * phi(loss(y, x) - levels)`` at each output y, for a group's average or (-1) the cap."""

    group: int
    inputs: Floats
    levels: Floats
    weights: Floats


class BaseMeasure(NamedTuple):
    """A base measure."""

    points: Floats
    base: Floats


class CappedProgram:
    """``minimise the sum of group averages`` over base masses, subject to cuts."""

    def __init__(
        self,
        ratio: float,
        exponent: int,
        outputs: Floats,
        steady: BaseMeasure,
        groups: int,
        cap: float,
        cuts: Sequence[Cut],
    ) -> None:
        self.ratio, self.exponent, self.groups, self.cap = ratio, exponent, groups, cap
        self.outputs, self.steady = outputs, steady
        cost = np.concatenate([np.ones(groups), np.zeros(outputs.size + 1)])
        total = np.concatenate([np.zeros(groups), np.ones(outputs.size), [steady.base.sum()]])[None, :]
        program = LinearProgram.of(cost, total, 1 / ratio, 1.0, 0.0, math.inf)
        self.planes = CuttingPlanes(program)
        self.cuts: list[Cut] = []
        self.averages = np.zeros(groups)
        self._duals = np.empty(0)
        self.add(cuts)

    def add(self, cuts: Sequence[Cut]) -> None:
        if not cuts:
            return
        rows = np.zeros((len(cuts), self.groups + self.outputs.size + 1))
        sides = np.empty(len(cuts))
        for row, cut in enumerate(cuts):
            rows[row, self.groups : -1] = -self._coefficients(cut, self.outputs)
            rows[row, -1] = -float(np.dot(self._coefficients(cut, self.steady.points), self.steady.base))
            sides[row] = float(cut.weights @ cut.levels)
            if cut.group < 0:
                sides[row] -= self.cap
            else:
                rows[row, cut.group] = 1.0
        self.planes.add(Rows(rows, sides))
        self.cuts += cuts

    def _coefficients(self, cut: Cut, outputs: Floats) -> Floats:
        excess = np.abs(outputs - cut.inputs[:, None]) ** self.exponent - cut.levels[:, None]
        return np.asarray(cut.weights @ np.minimum(excess, self.ratio * excess))

    def solve(self, deadline: float | None) -> tuple[float, Floats, tuple[Floats, Floats]]:
        """Value; base masses and the share of the steady mechanism; inputs and their prices. Or a `SolverError`."""
        solution = self.planes.solve(deadline)
        assert solution.primal is not None
        assert solution.row_duals is not None
        self.averages = solution.primal[: self.groups]
        self._duals = np.maximum(solution.row_duals[1:], 0.0)
        priced = [k for k, cut in enumerate(self.cuts) if cut.group < 0 and self._duals[k] > _NEGLIGIBLE]
        inputs = np.array([float(self.cuts[k].inputs[0]) for k in priced])
        base = np.maximum(solution.primal[self.groups :], 0.0)
        return float(self.averages.sum()), base, (inputs, self._duals[priced])

    def binding(self) -> list[Cut]:
        """The cuts with weight in the last solution."""
        return [self.cuts[k] for k in np.flatnonzero(self._duals > _NEGLIGIBLE)]
