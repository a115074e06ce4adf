"""The lower side: a least-favourable prior on [0, 1], with a level for every input.

    ``maximise sum_j w_j r_j^p + min(g, g / c)``  subject to  ``sum w = 1``  and
    ``G(y) = sum_j w_j phi(|y - x_j|^p - r_j^p) >= g``  for every y.

The prior is piecewise linear on a mesh of inputs; the radii come from the best base measure found, whose windows leave
room for a choice where both ends lie in gaps of the measure: all candidates are columns, and the program's own
multipliers, a base measure too, give better ones. Rows are added at the deepest dips of G, which are found exactly:
events lie on the fine grid, and between two events G is linear (p = 1), a quadratic (p = 2) or convex.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from mechdesign_solvers import CuttingPlanes, LimitReached, LinearProgram, Rows, Solution
from numpy.typing import NDArray

from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.mechanisms.sliding import Sliding
from mechdesign.methods.minimax.base_measure import errors_of, mirrored, peaks
from mechdesign.methods.minimax.mesh import Mesh, excess

Floats = NDArray[np.float64]

_NEGLIGIBLE = 1e-14
_MOST_ROWS = 200  # a round
_WORTH_A_ROW = 0.05  # of the deepest dip
_WORTH_A_COLUMN = 0.1  # of the largest excess of an input's error
_MOST_ROUNDS = 40
_AMBIGUOUS = 3  # spacings of the fine grid between two levels of one input


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """One radius for every input of the fine grid on [0, 1/2], on the grid too, and the inputs it is offered to."""

    radii: Floats
    offered: NDArray[np.bool_]

    def finer(self) -> Levels:
        """The same levels on a grid of twice as many spacings."""
        radii, offered = np.repeat(self.radii, 2)[:-1], np.repeat(self.offered, 2)[:-1]
        radii[1::2] = (self.radii[:-1] + self.radii[1:]) / 2
        return Levels(radii, offered)


def levels_of(window: Sliding, mesh: Mesh) -> list[Levels]:
    """The radii the windows of a base measure allow: the least; where there is a choice the largest and a middle."""
    places, fine = mesh.places(), mesh.fine
    least, most = window.levels(places)
    least, most = _on_grid(least, fine), _on_grid(np.minimum(most, 1.0), fine)
    has_choice = most - least > _AMBIGUOUS / fine
    everywhere = np.ones(places.size, dtype=bool)
    levels = [Levels(least, everywhere)]
    if has_choice.any():
        middle = _on_grid((least + most) / 2, fine)
        levels += [Levels(np.where(has_choice, radii, least), has_choice) for radii in (most, middle)]
    return levels


def own_levels(found: BestPrior, mesh: Mesh) -> Levels:
    """The levels of the multipliers' base measure, for the inputs that miss them most."""
    radii = _on_grid(found.window.levels(mesh.places())[0], mesh.fine)
    return Levels(radii, found.missed > _WORTH_A_COLUMN * found.missed.max())


@dataclass(frozen=True, slots=True, eq=False)
class BestPrior:
    """The best prior met, its bound in doubles, its masses on the mesh, the rows that bind, and a base measure.

    ``window`` belongs to the base measure of the multipliers; ``missed`` is by how much its error exceeds the program's
    value at each input of the fine grid: where it is positive its levels would raise the bound. ``used`` tells which of
    the levels have weight.
    """

    atoms: LevelledPrior
    bound: float
    masses: Floats
    rows: Floats
    window: Sliding
    missed: Floats
    used: list[bool]


class PriorStopped(Exception):
    """A limit ended the search: the best prior met until then, if any, and its bound in doubles."""

    def __init__(self, atoms: LevelledPrior | None, bound: float) -> None:
        super().__init__()
        self.atoms = atoms
        self.bound = bound


def best_prior(
    mesh: Mesh, levels: list[Levels], exponent: float, ratio: float, rows: Floats, slack: float, deadline: float | None
) -> BestPrior:
    """Solve over priors on ``mesh`` with the given levels until G is nowhere more than ``slack`` below its floor g.

    Beyond the deadline `PriorStopped`.
    """
    search = _PriorSearch(mesh, levels, exponent, ratio, rows, slack)
    try:
        solution, _ = search.planes.run(search.separate, deadline, _MOST_ROUNDS)
    except LimitReached:
        raise search.stopped() from None
    return search.best(solution)


class _PriorSearch:
    def __init__(
        self, mesh: Mesh, levels: list[Levels], exponent: float, ratio: float, rows: Floats, slack: float
    ) -> None:
        self._fine, self._places, self._exponent, self._ratio = mesh.fine, mesh.places(), exponent, ratio
        self._slack = slack
        hats = mesh.hats()
        self._columns = [np.flatnonzero(hats.T @ level.offered.astype(np.float64) > 0) for level in levels]
        self._sets = [(level.radii, hats[:, columns]) for level, columns in zip(levels, self._columns, strict=True)]
        self._hats = hats
        self._rows = np.union1d(rows, mesh.nodes / mesh.fine)
        self._bound, self._weights = -math.inf, np.empty(0)
        self._atoms: LevelledPrior | None = None
        # g as the difference of two variables: the multipliers of the rows then sum to between 1/c and 1
        values = np.concatenate([*(radii**exponent @ chosen for radii, chosen in self._sets), [1 / ratio, -1.0]])
        total = np.concatenate([np.ones(values.size - 2), np.zeros(2)])[None, :]
        matrix = np.concatenate([total, self._gains(self._rows)])
        lower = np.concatenate([[1.0], np.zeros(self._rows.size)])
        upper = np.concatenate([[1.0], np.full(self._rows.size, math.inf)])
        self.planes = CuttingPlanes(LinearProgram.of(-values, matrix, lower, upper, 0.0))

    def separate(self, solution: Solution) -> Rows | None:
        assert solution.primal is not None
        weights, floor = np.maximum(solution.primal[:-2], 0.0), float(solution.primal[-2] - solution.primal[-1])
        atoms = self._spread(weights)
        places, dips = dips_of(atoms, self._fine, self._exponent, self._ratio)
        deepest = float(dips.min())
        bound = float(atoms.weights @ atoms.radii**self._exponent) + min(deepest, deepest / self._ratio)
        if bound > self._bound:
            self._bound, self._atoms, self._weights = bound, atoms, weights
        if deepest > floor - self._slack:
            return None
        dips, deepest = dips - floor, deepest - floor
        half = places <= 0.5
        places, dips = np.maximum(places[half], 0.0), dips[half]
        chosen = np.flatnonzero(peaks(-dips) & (dips < min(-0.1 * self._slack, _WORTH_A_ROW * deepest)))
        chosen = chosen[np.argsort(dips[chosen])[:_MOST_ROWS]]
        if not chosen.size:
            return None
        self._rows = np.concatenate([self._rows, places[chosen]])
        return Rows(self._gains(places[chosen]), 0.0)

    def best(self, solution: Solution) -> BestPrior:
        assert self._atoms is not None
        assert solution.row_duals is not None
        assert solution.objective is not None
        multipliers = np.maximum(solution.row_duals[1 : 1 + self._rows.size], 0.0)
        points, where = np.unique(self._rows, return_inverse=True)
        masses = np.asarray(np.bincount(where, weights=multipliers), dtype=np.float64)
        window = Sliding.over(*mirrored(points, masses, self._ratio), self._ratio)
        missed = errors_of(window, self._places, self._exponent) + solution.objective
        return BestPrior(
            self._atoms,
            self._bound,
            self._on_mesh(),
            np.unique(self._rows[multipliers > _NEGLIGIBLE]),
            window,
            missed,
            [bool((part > _NEGLIGIBLE).any()) for part in self._split(self._weights)],
        )

    def stopped(self) -> PriorStopped:
        return PriorStopped(self._atoms, self._bound)

    def _gains(self, rows: Floats) -> Floats:
        """``G - g`` at each row for a unit of each column."""
        blocks = [
            excess(rows, radii[None, :], self._places, self._exponent, self._ratio) @ chosen
            for radii, chosen in self._sets
        ]
        return np.concatenate([*blocks, np.tile([-1.0, 1.0], (rows.size, 1))], axis=1)

    def _split(self, weights: Floats) -> list[Floats]:
        return np.split(weights, np.cumsum([columns.size for columns in self._columns])[:-1])

    def _spread(self, weights: Floats) -> LevelledPrior:
        """Atoms on the fine grid, in mirrored pairs."""
        parts = [
            (self._places, radii, chosen @ part)
            for (radii, chosen), part in zip(self._sets, self._split(weights), strict=True)
        ]
        inputs, radii, masses = (np.concatenate(column) for column in zip(*parts, strict=True))
        kept = masses > _NEGLIGIBLE
        inputs, radii, masses = inputs[kept], radii[kept], masses[kept] / masses[kept].sum()
        return LevelledPrior(np.concatenate([inputs, 1 - inputs]), np.tile(radii, 2), np.tile(masses / 2, 2))

    def _on_mesh(self) -> Floats:
        total = np.zeros(self._hats.shape[1])
        for columns, part in zip(self._columns, self._split(self._weights), strict=True):
            total[columns] += part
        return total


def dips_of(atoms: LevelledPrior, fine: int, exponent: float, ratio: float) -> tuple[Floats, Floats]:
    """Places in increasing order and values of G there, its least value on the line among them.

    For other exponents than 1 and 2 the values are lower bounds on the cells between grid points.
    """
    if exponent not in (1.0, 2.0):
        return _convex_dips(atoms, fine, exponent, ratio)
    x, r, w = atoms.inputs, atoms.radii, atoms.weights
    middle, reach = np.rint(x * fine).astype(np.intp), np.rint(r * fine).astype(np.intp)
    first = int((middle - reach).min())
    size = int((middle + reach).max()) - first + 1
    places = (first + np.arange(size)) / fine

    def covered(values: Floats) -> Floats:
        """Their sum over the atoms whose window covers the cell right of each place."""
        steps = np.bincount(middle - reach - first, values, size) - np.bincount(middle + reach - first, values, size)
        return np.cumsum(steps)

    if exponent == 1:
        bends = np.bincount(middle - reach - first, (1 - ratio) * w, size)
        bends += np.bincount(middle - first, 2 * ratio * w, size)
        bends += np.bincount(middle + reach - first, (1 - ratio) * w, size)
        slopes = -w.sum() + np.cumsum(bends)
        start = float(w @ (x - places[0] - r))
        return places, start + np.concatenate([[0.0], np.cumsum(slopes[:-1]) / fine])
    a, b, d = (values.sum() + (ratio - 1) * covered(values) for values in (w, w * x, w * (x * x - r * r)))
    vertices = b / a
    inside = (vertices >= places) & (vertices <= places + 1 / fine)
    at = np.where(inside, vertices, places)
    return at, np.where(inside, d - b * b / a, a * places**2 - 2 * b * places + d)


def _convex_dips(atoms: LevelledPrior, fine: int, exponent: float, ratio: float) -> tuple[Floats, Floats]:
    """On each cell G is convex: its least value is at a grid point or where its slope changes sign inside a cell."""
    x, r, w = atoms.inputs, atoms.radii, atoms.weights
    reach = math.ceil(fine * float(np.max(r)))
    edges = np.arange(-reach, fine + reach + 1) / fine

    def each(places: Floats, cells: Floats) -> tuple[Floats, Floats]:
        """G and its slope at places, with the pattern of the cells whose middles are given."""
        values, slopes = np.empty(places.size), np.empty(places.size)
        for block in np.array_split(np.arange(places.size), 1 + places.size * x.size // (1 << 20)):
            offset = places[block, None] - x
            distance = np.abs(offset)
            factor = np.where(np.abs(cells[block, None] - x) < r, ratio, 1.0)
            values[block] = (factor * (distance**exponent - r**exponent)) @ w
            slopes[block] = (factor * np.sign(offset) * distance ** (exponent - 1)) @ w * exponent
        return values, slopes

    middles = (edges[:-1] + edges[1:]) / 2
    values, rises = each(edges[:-1], middles)
    last, falls = each(edges[1:], middles)
    dips = np.flatnonzero((rises < 0) & (falls > 0))
    low, high, inside = edges[dips], edges[dips + 1], middles[dips]
    for _ in range(40):
        centre = (low + high) / 2
        is_falling = each(centre, inside)[1] < 0
        low, high = np.where(is_falling, centre, low), np.where(is_falling, high, centre)
    places = np.concatenate([edges, low])
    lowest = np.concatenate([values, last[-1:], each(low, inside)[0]])
    order = np.argsort(places, kind="stable")
    return places[order], lowest[order]


def _on_grid(values: Floats, fine: int) -> Floats:
    return np.rint(values * fine) / fine
