"""The upper side: cutting planes over the base measure of a window mechanism on [0, 1].

    ``minimise t``  subject to  ``t >= v + sum_y mu(y) phi(|y - x|^p - v)``  for the cuts ``(x, v = r^p)`` found so far.

The oracle is exact over the continuum of inputs: between its turns the law of a window mechanism is constant and the
error convex, so the worst inputs are turns. Cuts are functions of ``(x, r)``: they stay valid on any mesh of outputs
and for any epsilon, so they start the next program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from mechdesign_solvers import CuttingPlanes, LimitReached, LinearProgram, Rows, Solution
from numpy.typing import NDArray

from mechdesign.mechanisms.sliding import Sliding
from mechdesign.methods.minimax.mesh import Mesh, excess

Floats = NDArray[np.float64]

_NEGLIGIBLE = 1e-12
_MOST_CUTS = 150  # a round
_WORTH_A_CUT = 0.1  # of the largest violation
_MARGIN = 1e-12  # keeps the total inside its range in exact arithmetic


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Inputs in [0, 1/2] and the radii of their levels."""

    inputs: Floats
    radii: Floats

    @classmethod
    def first(cls) -> Cuts:
        return cls(np.array([0.0, 0.5]), np.array([0.5, 0.25]))

    def joined(self, other: Cuts) -> Cuts:
        return Cuts(np.concatenate([self.inputs, other.inputs]), np.concatenate([self.radii, other.radii]))

    def chosen(self, which: NDArray[np.bool_]) -> Cuts:
        return Cuts(self.inputs[which], self.radii[which])


@dataclass(frozen=True, slots=True, eq=False)
class BestBase:
    """The best window mechanism met, its worst error in doubles, its masses on the mesh, and the cuts that bind."""

    window: Sliding
    worst: float
    masses: Floats
    cuts: Cuts


class BaseStopped(Exception):
    """A limit ended the search: the best window mechanism met until then, if any, and its worst error in doubles."""

    def __init__(self, window: Sliding | None, worst: float) -> None:
        super().__init__()
        self.window = window
        self.worst = worst


def best_base(mesh: Mesh, exponent: float, ratio: float, cuts: Cuts, gap: float, deadline: float | None) -> BestBase:
    """Solve over the masses of ``mesh`` until the worst error is within a relative ``gap`` of the program's value.

    Beyond the deadline `BaseStopped`.
    """
    search = _BaseSearch(mesh, exponent, ratio, cuts, gap)
    try:
        solution, _ = search.planes.run(search.separate, deadline)
    except LimitReached:
        raise search.stopped() from None
    return search.best(solution)


class _BaseSearch:
    def __init__(self, mesh: Mesh, exponent: float, ratio: float, cuts: Cuts, gap: float) -> None:
        self._places, self._hats = mesh.places(), mesh.hats()
        self._exponent, self._ratio, self._gap = exponent, ratio, gap
        self._cuts = cuts
        self._worst, self._masses = math.inf, np.empty(0)
        self._window: Sliding | None = None
        columns = self._hats.shape[1]
        total = np.concatenate([[0.0], np.ones(columns)])[None, :]
        free = np.concatenate([[-math.inf], np.zeros(columns)])
        cost = np.concatenate([[1.0], np.zeros(columns)])
        self.planes = CuttingPlanes(LinearProgram.of(cost, total, 1 / ratio, 1.0, free, math.inf))
        first = self._rows(cuts)
        self.planes.session.add_rows(first.matrix, first.row_lower)

    def separate(self, solution: Solution) -> Rows | None:
        value, masses = _split(solution)
        window = Sliding.over(*mirrored(self._places, self._hats @ masses, self._ratio), self._ratio)
        turns = window.turns[(window.turns > 0) & (window.turns < 0.5)]
        inputs = np.concatenate([[0.0], turns, [0.5]])
        errors = errors_of(window, inputs, self._exponent)
        worst = float(errors.max())
        if worst < self._worst:
            self._worst, self._window, self._masses = worst, window, masses
        if worst - value <= self._gap * worst:
            return None
        violated = np.flatnonzero(peaks(errors) & (errors > value + _WORTH_A_CUT * (worst - value)))
        violated = violated[np.argsort(-errors[violated])[:_MOST_CUTS]]
        cuts = Cuts(inputs[violated], window.levels(inputs[violated])[0])
        self._cuts = self._cuts.joined(cuts)
        return self._rows(cuts)

    def best(self, solution: Solution) -> BestBase:
        assert self._window is not None
        assert solution.row_duals is not None
        binding = solution.row_duals[1 : 1 + self._cuts.inputs.size] > _NEGLIGIBLE
        return BestBase(self._window, self._worst, self._masses, self._cuts.chosen(binding))

    def stopped(self) -> BaseStopped:
        return BaseStopped(self._window, self._worst)

    def _rows(self, cuts: Cuts) -> Rows:
        gains = excess(cuts.inputs, cuts.radii[:, None], self._places, self._exponent, self._ratio)
        entries = np.concatenate([np.ones((cuts.inputs.size, 1)), -(gains @ self._hats)], axis=1)
        return Rows(entries, cuts.radii**self._exponent)


def mirrored(places: Floats, masses: Floats, ratio: float) -> tuple[Floats, Floats]:
    """Outputs on [0, 1] and a base measure from masses of mirrored pairs: slivers dropped, the total put in range."""
    kept = masses > _NEGLIGIBLE * masses.sum()
    places, masses = places[kept], masses[kept]
    pairs = places < 0.5
    points = np.concatenate([places, 1 - places[pairs][::-1]])
    base = np.concatenate([np.where(pairs, masses / 2, masses), masses[pairs][::-1] / 2])
    total = float(base.sum())
    target = min(max(total, (1 + _MARGIN) / ratio), 1 - _MARGIN)
    return points, base * (target / total)


def errors_of(window: Sliding, inputs: Floats, exponent: float) -> Floats:
    """``E|Y - x|^p`` at the inputs, by running sums where the exponent is whole."""
    if exponent in (1.0, 2.0):
        return window.power_error(inputs, int(exponent))
    fill = window.fill
    return fill.expectation(inputs, window.start(inputs), lambda x: np.abs(fill.points - x[:, None]) ** exponent)


def peaks(values: Floats) -> NDArray[np.bool_]:
    """Where a sequence is at least its neighbours."""
    left = np.concatenate([[True], values[1:] >= values[:-1]])
    right = np.concatenate([values[:-1] >= values[1:], [True]])
    return np.asarray(left & right)


def _split(solution: Solution) -> tuple[float, Floats]:
    assert solution.primal is not None
    return float(solution.primal[0]), np.maximum(solution.primal[1:], 0.0)
