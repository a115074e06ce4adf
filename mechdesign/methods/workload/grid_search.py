"""Mechanisms for tables of several attributes and for parities with hundreds of types, by what their symmetry leaves.

A mechanism may be averaged over all permutations that the workload does not notice without more noise. What is left of
a row z is how much of it lies in each part of the grid (`mechdesign.exact.grids`), ``e_S = z'E_S z / (mean of z)^2``,
and with shares u of rows the program is

    ``min sum_S g_S n_S^2 / f_S``,  ``f = sum u e``,  ``sum u = 1``:

as many numbers as there are classes of parts, whatever k is. Rows are sets of cells of one table (the other attributes
do not matter to them), climbed to for the prices that f gives. A channel has each such set for every table of its
class, moved along all axes: so everybody's chances add up to one, and M is diagonal in the characters of the moves.
Which values are exchanged first is chosen so that the parts of M are nearly even.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from mechdesign.exact.grids import Grid
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.private_table import private_table
from mechdesign.methods.result import Design, Report, versions
from mechdesign.methods.workload.columns import Told
from mechdesign.methods.workload.grid_proof import GridBound, has_even_types, parts_of
from mechdesign.methods.workload.pricing import Bits
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Finite
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Marginals, Parity

_MOST_ROUNDS = 30
_STARTS, _FEW_STARTS, _MANY_CELLS = 24, 6, 256
_MOST_SWAPPED = 160
_MOST_FLIPS = 4000
_NEW = 12
_INSIDE = 0.02  # of the gap, for rows that are missing
_LEFT, _OF_UNPROVEN, _LEAST_LEFT = 0.6, 0.1, 1e-6  # of what the proof leaves of the gap, for fewer reports
_EVEN = 0.2  # of that, for parts of M that are not even
_MOST_ENTRIES = 1 << 22
_MIXED = 0.02  # of the gap, for reports that tell all types apart
_LEAST_MIXED = 1e-7
_IMAGES, _FIRST_IMAGES, _PLACES = 8, 24, 12
_BLUR = 1e-9  # no character is without energy at first
_MOST_PROGRAMS = 60
_KEPT = 1e-7


def shape_of(problem: Problem) -> tuple[int, ...] | None:
    """The sizes of the attributes, where all that the workload asks of their values is symmetric."""
    workload = workload_of(problem)
    queries = workload.queries
    if not isinstance(queries, Marginals | Parity) or workload.weights is not None or not has_even_types(problem):
        return None
    return queries.shape


@frozen
class _Table:
    """Some attributes of the grid as a grid of their own; ``parts`` are the places of its classes in the whole one."""

    attributes: Grid
    kind: int
    parts: tuple[int, ...]


@frozen
class _Row:
    """A set of cells of a table, its energies by class, and its share."""

    table: _Table
    cells: Bits
    energies: Floats


@frozen
class _Orbit:
    """A set of cells of a table at these axes, moved along all of them: what it has of each character, and how many
    reports it makes."""

    table: _Table
    place: tuple[int, ...]
    cells: Bits
    spectrum: Floats
    reports: int


class GridSearch:
    """The search for one workload; its bound is nearly as good as counts of pairs allow, its mechanism may be better
    than that shows."""

    def __init__(self, problem: Problem, shape: tuple[int, ...], gap: float, clock: Clock, say: Told) -> None:
        self.problem, self.gap, self.clock, self.say = problem, gap, clock, say
        self.grid = Grid(shape)
        self.ratio = math.exp(problem.epsilon)
        parts, diagonal = parts_of(workload_of(problem), self.grid)
        self.parts = np.array(parts, dtype=np.float64)
        self.dimensions = np.array(self.grid.valencies, dtype=np.float64)
        self.asked = np.flatnonzero((self.parts > 0) & (np.arange(len(parts)) > 0))
        self.costs = self.parts[self.asked] * self.dimensions[self.asked] ** 2
        self.known = diagonal - self.parts[0] / self.grid.size
        self.rng = np.random.default_rng(0)
        self.details: dict[str, Any] = {}

    def run(self) -> Design:
        rows, reached = self._rows(self._tables())
        evidence = self._evidence(reached)
        least = float((self.costs / reached).sum())
        unproven = least - self.known - float(evidence.value(self.problem))
        left = self.gap * (least - self.known) - unproven
        spare = max(_LEFT * left, _OF_UNPROVEN * unproven, _LEAST_LEFT * least) / least
        mechanism = self._mechanism(rows, least, spare)
        self.details["outputs"] = len(mechanism.outputs)
        report = Report(
            self.clock.used, "interior point on orbits of rows", versions("numpy", "scipy"), self.details, self.gap
        )
        return Design(self.problem, mechanism, evidence, report)

    # -- rows up to symmetry -------------------------------------------------------------------------------------------

    def _tables(self) -> list[_Table]:
        found = []
        for kind, own in enumerate(self.grid.classes[1:], start=1):
            shape = tuple(size for size, count in zip(self.grid.sizes, own, strict=True) for _ in range(count))
            attributes = Grid(shape)
            parts = []
            for inner in attributes.classes:
                outer = dict(zip(attributes.sizes, inner, strict=True))
                parts.append(self.grid.classes.index(tuple(outer.get(size, 0) for size in self.grid.sizes)))
            found.append(_Table(attributes, kind, tuple(parts)))
        return found

    def _row(self, table: _Table, cells: Bits) -> _Row:
        own = table.attributes
        inside = own.characters.astype(np.float64) @ own.counted(cells) / own.size**2 * self.grid.size
        energies = np.zeros(len(self.grid.classes))
        np.add.at(energies, list(table.parts), inside)
        return _Row(table, cells, energies * self._gain(float(cells.mean())))

    def _gain(self, density: float) -> float:
        return ((self.ratio - 1) / (1 + (self.ratio - 1) * density)) ** 2

    def _rows(self, tables: list[_Table]) -> tuple[list[_Row], Floats]:
        """Rows, and f of the best shares of them."""
        rows = [self._row(table, self._drawn(table.attributes.size, 1)[0]) for table in tables for _ in range(3)]
        for _ in range(_MOST_ROUNDS):
            energies = np.array([row.energies[self.asked] for row in rows])
            shares, reached = _even_shares(energies, self.costs, _INSIDE * self.gap)
            value = float((self.costs / reached).sum())
            kept = np.flatnonzero(shares > _KEPT)
            rows = [rows[k] for k in kept]
            fresh = self._priced(tables, self.costs / reached**2)
            best = float(fresh[0][0])
            self.say(value**2 / max(best, value) - self.known, value - self.known)
            if best <= value * (1 + _INSIDE * self.gap) or self.clock.is_over:
                break
            rows += [self._row(table, cells) for worth, table, cells in fresh[:_NEW] if worth > value]
        energies = np.array([row.energies[self.asked] for row in rows])
        reports = [float(self.grid.tables[row.table.kind] * row.table.attributes.size) for row in rows]
        few = _fewest(energies, shares[kept], np.array(reports), 1 - _INSIDE * self.gap)
        return [rows[k] for k in np.flatnonzero(few > 0)], reached

    def _drawn(self, size: int, count: int) -> Bits:
        """Sets at random that are neither empty nor everything."""
        bits = self.rng.random((count, size)) < self.rng.choice([0.1, 0.2, 0.3, 0.5], (count, 1))
        bits[:, 0], bits[:, -1] = True, False
        return np.asarray(bits)

    def _priced(self, tables: list[_Table], prices: Floats) -> list[tuple[float, _Table, Bits]]:
        """The best sets for prices of the parts, best first."""
        worth = np.zeros(len(self.grid.classes))
        worth[self.asked] = prices
        found = []
        for table in tables:
            own = table.attributes
            of_pairs = worth[list(table.parts)] @ own.characters.astype(np.float64) / own.size**2 * self.grid.size
            square = of_pairs[own.relation] - worth[0]
            starts = self._drawn(own.size, _STARTS if own.size <= _MANY_CELLS else _FEW_STARTS)
            for bits in starts:
                cells = _climbed(square, self.ratio, bits)
                value = float(cells @ square @ cells) * self._gain(float(cells.mean()))
                found.append((value, table, cells))
        return sorted(found, key=lambda one: -one[0])

    # -- proof ---------------------------------------------------------------------------------------------------------

    def _evidence(self, reached: Floats) -> GridBound:
        """Multipliers of counts of pairs, for the sizes of sets at which those found so far bound least."""
        grid, inequalities = self.grid, self.grid.inequalities
        left = inequalities.left.astype(np.float64)
        right = inequalities.right.astype(np.float64)
        scales = np.zeros(len(grid.classes))
        scales[self.asked] = self.dimensions[self.asked] / reached
        worth = (self.parts * scales**2)[1:] @ grid.characters[1:].astype(np.float64)
        sizes = np.arange(grid.size + 1.0)
        gain = np.array([self._gain(size / grid.size) for size in sizes]) / grid.size
        valencies = np.array(grid.valencies[1:], dtype=np.float64)
        best, rows = np.full(grid.size + 1, math.inf), []
        at = max(1, round(grid.size / (1 + self.ratio)))
        solved: set[int] = set()
        for _ in range(_MOST_PROGRAMS):
            solved.add(at)
            found: Any = linprog(
                -worth[1:] / worth[0],
                left / valencies.max(),
                right[at] / valencies.max() / at**2,
                np.ones((1, len(valencies))),
                [(at - 1) / at],
                (0, None),
            )
            if found.status == 0:
                row = np.concatenate([-found.eqlin.marginals, -found.ineqlin.marginals / valencies.max()]) * worth[0]
                row[1:] = np.maximum(row[1:], 0.0)
                wanting = np.maximum(worth[1:] - row[0] - row[1:] @ left, 0.0) @ valencies
                bound = worth[0] * sizes + row[0] * (sizes**2 - sizes) + right @ row[1:] + wanting * sizes
                best = np.minimum(best, bound)
                rows.append(row)
            order = np.argsort(-best * gain, kind="stable")
            at = int(order[0]) or int(order[1])
            if at in solved or self.clock.is_over:
                break
        if not rows:
            rows = [np.zeros(1 + len(left))]
        self.details["programs"] = len(solved)
        return GridBound(grid.shape, scales[1:], np.array(rows))

    # -- the channel ---------------------------------------------------------------------------------------------------

    def _mechanism(self, rows: list[_Row], least: float, spare: float) -> Discrete:
        orbits, shares = self._orbits(rows, least, spare)
        bits, weights = self._merged(orbits, shares)
        bits, weights = self._telling(bits, weights)
        base = weights / float(((1 + (self.ratio - 1) * bits) * weights[:, None]).sum(axis=0).max())
        channel = ((1 + (self.ratio - 1) * bits) * base[:, None]).T
        outputs = Finite(tuple(range(len(bits))))
        name = str(self.problem.words.optimum)
        return private_table(self.problem.epsilon, self.problem.numbers, outputs, channel, base, name)

    def _orbits(self, rows: list[_Row], least: float, spare: float) -> tuple[list[_Orbit], Floats]:
        """Sets that are moved, with shares: the same program again, with an entry for each character.

        It starts from images of the rows; others are climbed to for the prices of characters, until it is nearly as
        good as even parts are. A share of ``spare`` more is paid for fewer reports.
        """
        of_part = self.grid.relation[0]
        kept = np.flatnonzero(np.isin(of_part, self.asked))
        # a character and its conjugate have one entry
        cells = np.array(np.unravel_index(np.arange(self.grid.size), self.grid.shape))
        sizes = np.array(self.grid.shape)[:, None]
        other = np.ravel_multi_index(tuple((-cells) % sizes), self.grid.shape)
        kept = kept[kept <= other[kept]]
        costs = self.parts[of_part[kept]] * np.where(other[kept] == kept, 1.0, 2.0)
        tables = {row.table.kind: row.table for row in rows}
        places = [(table, place) for table in tables.values() for place in self._places(table)]
        orbits = [
            self._orbit(row.table, place, _image(row.table.attributes, row.cells, self.rng))
            for row in rows
            for place in self._places(row.table)
            for _ in range(max(1, _FIRST_IMAGES // len(places)))
        ]
        for turn in range(_MOST_ROUNDS):
            energies = np.array([orbit.spectrum[kept] for orbit in orbits]) + _BLUR * self.grid.size
            shares, moment = _even_shares(energies, costs, _EVEN * spare)
            value = float((costs / moment).sum())
            if value <= least * (1 + _EVEN * spare) or self.clock.is_over or turn == _MOST_ROUNDS - 1:
                break
            prices = np.zeros(self.grid.size)
            prices[kept] = costs / moment**2 / np.where(other[kept] == kept, 1.0, 2.0)
            prices[other[kept]] = prices[kept]
            orbits = [orbits[k] for k in np.flatnonzero(shares > _KEPT / len(orbits))]
            for at in self.rng.permutation(len(places))[:_PLACES]:
                table, place = places[at]
                orbits += self._climbed_to(table, place, [row.cells for row in rows if row.table is table], prices)
        energies = np.array([orbit.spectrum[kept] for orbit in orbits])
        reports = np.array([orbit.reports for orbit in orbits], dtype=np.float64)
        few = _fewest(energies, shares, reports, 1 - (1 - _EVEN) * spare)
        used = np.flatnonzero(few > 0)
        if reports[used].sum() <= self._most_reports:
            return [orbits[k] for k in used], few[used]
        used = np.argsort(-few / reports, kind="stable")
        used = used[np.cumsum(reports[used]) <= self._most_reports]
        shares, _ = _even_shares(energies[used] + _BLUR * self.grid.size, costs, _EVEN * spare)
        return [orbits[k] for k in used], shares

    @property
    def _most_reports(self) -> int:
        return _MOST_ENTRIES // self.grid.size - self.grid.size

    def _climbed_to(self, table: _Table, place: tuple[int, ...], starts: list[Bits], prices: Floats) -> list[_Orbit]:
        own = table.attributes
        window = tuple(slice(None) if axis in place else 0 for axis in range(len(self.grid.shape)))
        priced = np.transpose(prices.reshape(self.grid.shape)[window], np.argsort(np.argsort(place)))
        of_steps = np.fft.ifftn(priced).real.ravel() * self.grid.size / own.size
        cells = np.indices(own.shape).reshape(len(own.shape), -1)
        steps = [(axis[:, None] - axis[None, :]) % size for axis, size in zip(cells, own.shape, strict=True)]
        square = of_steps[np.ravel_multi_index(steps, own.shape)]
        found = []
        for _ in range(_IMAGES if own.size <= _MANY_CELLS else 2):
            start = _image(own, starts[int(self.rng.integers(len(starts)))], self.rng)
            found.append(self._orbit(table, place, _climbed(square, self.ratio, start)))
        found.sort(key=lambda orbit: -float(orbit.spectrum @ prices))
        return found[:2]

    def _orbit(self, table: _Table, place: tuple[int, ...], cells: Bits) -> _Orbit:
        own = table.attributes
        scale = self.grid.size / own.size**2 * self._gain(float(cells.mean()))
        spectrum = np.zeros(self.grid.shape)
        window = tuple(slice(None) if axis in place else 0 for axis in range(len(self.grid.shape)))
        spectrum[window] = np.transpose(abs(np.fft.fftn(cells.reshape(own.shape))) ** 2 * scale, np.argsort(place))
        pairs = np.fft.ifftn(abs(np.fft.fftn(cells.reshape(own.shape))) ** 2).real
        stays = int((pairs > cells.sum() - 0.5).sum())  # of the moves, those that lead to the same set
        return _Orbit(table, place, cells, spectrum.ravel(), own.size // stays)

    def _places(self, table: _Table) -> list[tuple[int, ...]]:
        """All choices of attributes of the whole grid for those of a table, in the table's order."""
        own = self.grid.classes[table.kind]
        axes = [[axis for axis, size in enumerate(self.grid.shape) if size == each] for each in self.grid.sizes]
        chosen = product(*(combinations(each, count) for each, count in zip(axes, own, strict=True)))
        return [tuple(axis for group in groups for axis in group) for groups in chosen]

    def _rows_of(self, orbit: _Orbit) -> Bits:
        """The set moved along all axes of its table, each once, as rows for all types."""
        types = np.indices(self.grid.shape).reshape(len(self.grid.shape), -1)
        own = orbit.table.attributes
        of_types = np.ravel_multi_index([types[axis] for axis in orbit.place], own.shape)
        return np.asarray(_moved(own, orbit.cells)[:, of_types])

    def _merged(self, orbits: list[_Orbit], shares: Floats) -> tuple[Bits, Floats]:
        """Rows that are different, with weights that add up to the same for every type."""
        total: dict[bytes, float] = {}
        for orbit, share in zip(orbits, shares.tolist(), strict=True):
            bits = self._rows_of(orbit)
            weight = share / len(bits) / (1 + (self.ratio - 1) * float(bits[0].mean()))
            for row in bits:
                total[row.tobytes()] = total.get(row.tobytes(), 0.0) + weight
        return np.array([np.frombuffer(row, dtype=bool) for row in total]), np.array(list(total.values()))

    def _telling(self, bits: Bits, weights: Floats) -> tuple[Bits, Floats]:
        """With a little of a set that tells all types apart: reports that do not are unbiased up to rounding only."""
        if len(self.asked) == len(self.parts) - 1:
            return bits, weights
        share = max(_MIXED * self.gap, _LEAST_MIXED)
        grid = self.grid
        drawn = self._drawn(grid.size, _STARTS)
        flattest = max(drawn, key=lambda cells: float(abs(np.fft.fftn(cells.reshape(grid.shape))).min()))
        orbit = _moved(grid, flattest)
        more = np.full(len(orbit), share / len(orbit) / (1 + (self.ratio - 1) * float(flattest.mean())))
        return np.vstack([bits, orbit]), np.concatenate([(1 - share) * weights, more])


def _moved(grid: Grid, cells: Bits) -> Bits:
    """The set moved along all axes, each once."""
    square = cells.reshape(grid.shape)
    axes = tuple(range(square.ndim))
    moved = np.array([np.roll(square, step, axis=axes).ravel() for step in product(*map(range, grid.shape))])
    return np.asarray(np.unique(moved, axis=0))


def _fewest(energies: Floats, shares: Floats, reports: Floats, share: float) -> Floats:
    """Of all shares that reach nearly the same, those with the fewest reports: a corner of a linear program."""
    reached = shares @ energies
    left, right = -energies.T / reached[:, None], np.full(len(reached), -share)
    found: Any = linprog(reports, left, right, np.ones((1, len(reports))), [1.0], (0, None))
    if found.status == 0:
        shares = np.where(found.x > _KEPT, found.x, 0.0)
    return np.asarray(shares / shares.sum())


def _image(grid: Grid, cells: Bits, rng: np.random.Generator) -> Bits:
    """The set with values of each attribute exchanged, and attributes of equal sizes."""
    square = cells.reshape(grid.shape)
    axes = np.arange(square.ndim)
    for size in grid.sizes:
        own = np.flatnonzero(np.array(grid.shape) == size)
        axes[own] = rng.permutation(own)
    square = np.transpose(square, axes)
    for axis, size in enumerate(grid.shape):
        square = np.take(square, rng.permutation(size), axis=axis)
    return np.asarray(square.ravel())


def _climbed(square: Floats, ratio: float, start: Bits) -> Bits:
    """A set from which no cell more, less or other has a greater ``b'Bb / (1 + (c - 1) mean b)^2``."""
    size, gain = len(square), ratio - 1
    bits, diagonal = start.copy(), np.diagonal(square)
    slopes = square @ bits
    for _ in range(_MOST_FLIPS):
        count, value = int(bits.sum()), float(bits @ slopes)
        now = value / (1 + gain * count / size) ** 2
        turn = np.where(bits, -1, 1)
        worth = (value + 2 * turn * slopes + diagonal) / (1 + gain * (count + turn) / size) ** 2
        if count == 1:
            worth[bits] = -math.inf
        best = int(worth.argmax())
        if worth[best] > now * (1 + 1e-12):
            bits[best] ^= True
            slopes = slopes + turn[best] * square[best]
            continue
        if size > _MOST_SWAPPED:
            break
        inside, outside = np.flatnonzero(bits), np.flatnonzero(~bits)
        if not outside.size:
            break
        rise = 2 * (slopes[outside] - slopes[inside, None]) + diagonal[outside] + diagonal[inside, None]
        rise = rise - 2 * square[np.ix_(inside, outside)]
        out, into = np.unravel_index(int(rise.argmax()), rise.shape)
        if not rise[out, into] > 1e-12 * abs(value):
            break
        bits[inside[out]], bits[outside[into]] = False, True
        slopes = slopes + square[outside[into]] - square[inside[out]]
    return bits


def _even_shares(energies: Floats, costs: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """``min sum costs / f`` for ``f = u @ energies``, ``sum u = 1``: Newton along a barrier."""
    count, size = energies.shape
    shares = np.full(count, 1 / count)
    reached = shares @ energies
    level = 0.1 * float((costs / reached).sum()) / count
    for _ in range(300):
        reached = shares @ energies
        value = float((costs / reached).sum())
        slope = -energies @ (costs / reached**2) - level / shares
        bend = energies * np.sqrt(2 * costs / reached**3)
        free = shares**2 / level
        small = np.eye(size) + (bend.T * free) @ bend
        right = np.column_stack([slope, np.ones(count)]) * free[:, None]
        solved = right - free[:, None] * (bend @ np.linalg.solve(small, bend.T @ right))
        step = -(solved[:, 0] - solved[:, 1] * (solved[:, 0].sum() / solved[:, 1].sum()))
        fall = -float(slope @ step)
        down = step < 0
        length = min(1.0, 0.95 * float((-shares[down] / step[down]).min())) if down.any() else 1.0
        target = value - level * float(np.log(shares).sum())
        while length > 1e-10:
            tried = shares + length * step
            reached_there = float((costs / (tried @ energies)).sum()) - level * float(np.log(tried).sum())
            if reached_there <= target - 1e-4 * length * fall:
                shares = tried
                break
            length /= 2
        if fall < level / 2 or length <= 1e-10:
            if level * count < 0.1 * tolerance * value:
                break
            level *= 0.2
    shares = shares / shares.sum()
    return shares, np.asarray(shares @ energies)
