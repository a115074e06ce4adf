"""Cutting planes over the base measure for any loss matrix.

Given the base measure mu, the best law of each input is a fractional knapsack: mu everywhere, and what is left of the
mass on the outputs of least loss, at most ``(c-1) mu(y)`` each. Its error is ``F(x; mu) = max over v of v +
sum_y mu(y) phi(loss[x, y] - v)``, ``phi(t) = min(t, c t)``: one linear cut an input and level, found by one sort of the
losses and a running sum. The programs are

    worst case:  ``min t`` with ``t >= F(x; mu)`` for all x;
    average:     ``min sum_g W_g t_g`` with ``W_g t_g >= sum over x in group g of w_x F(x; mu)``;
    capped:      the average, and ``F(x; mu) <= cap`` for all x.

Levels of one input are averaged into one with the multipliers as weights: phi is concave, so no bound is lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from mechdesign_solvers import (
    CuttingPlanes,
    Inaccurate,
    Infeasible,
    LimitReached,
    LinearProgram,
    Rows,
    SolverFailed,
    Unbounded,
)
from numpy.typing import NDArray

from mechdesign.mechanisms.fill import filled, length_of
from mechdesign.methods.private_table import fitting_base

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_SOLVER_TOLERANCE = 1e-10
_MOST_CUTS = 60  # of single inputs, a round
_MOST_GROUPS = 60
_MOST_WEIGHT = 1e8
_PATIENCE = 60  # rounds in which the gap may stay as it is
_WORTH_WAITING = 0.99
_NEGLIGIBLE = 1e-12
_LEAST_DUAL = 1e-15
_TOLERANCE = 1e-13
_HALVINGS = 40
_SNAP = 1e-5


class Knapsacks:
    """The best laws of all inputs for a given base measure; losses are scaled to make the optimum about 1."""

    def __init__(self, losses: Floats, epsilon: float) -> None:
        self.losses, self.epsilon, self.ratio = losses, epsilon, math.exp(epsilon)
        self._order = np.argsort(losses, axis=1, kind="stable")
        self._sorted = np.take_along_axis(losses, self._order, axis=1)

    def errors_and_levels(self, base: Floats) -> tuple[Floats, Floats]:
        """``F(x; base)`` and a level that attains it, for every input x."""
        masses = base[self._order]
        filled = (np.cumsum(masses, axis=1) < self._length(base)).sum(axis=1)
        last = np.minimum(filled, base.size - 1)[:, None]
        levels = np.take_along_axis(self._sorted, last, axis=1)
        return levels[:, 0] + (self._phi(self._sorted - levels) * masses).sum(axis=1), levels[:, 0]

    def laws(self, base: Floats) -> Floats:
        """The best law of every input."""
        masses = base[self._order]
        spans = filled(masses, self._length(base))
        tops = np.where(spans >= masses, self.ratio * masses, masses + (self.ratio - 1) * spans)
        laws = np.empty_like(tops)
        np.put_along_axis(laws, self._order, tops, axis=1)
        return laws

    def entries(self, inputs: Indices, levels: Floats) -> Floats:
        """``phi(loss - level)`` for one level an input."""
        return self._phi(self.losses[inputs] - levels[:, None])

    def _length(self, base: Floats) -> float:
        return length_of(float(base.sum()), self.ratio)

    def _phi(self, gaps: Floats) -> Floats:
        return np.asarray(np.minimum(gaps, self.ratio * gaps))


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The best base measure met, levels and multipliers of the inputs, and why the search ended early, if it did.

    ``levels`` is None if no program was solved: the search ended before, or the first guess attains the least loss.
    """

    base: Floats
    value: float
    levels: Floats | None
    multipliers: Floats
    stopped: str | None
    rounds: int


def least_worst(knapsacks: Knapsacks, gap: float, deadline: float | None) -> Answer:
    """Minimise the worst case over the inputs; the multipliers are a least-favourable prior."""
    losses = knapsacks.losses
    program = _Program(knapsacks, np.ones(1), losses.max(axis=0))
    search = _Progress(_single(losses, int(losses.max(axis=0).argmin())), gap)
    search.offer(search.base, float(losses.max(axis=0).min()), losses)
    errors, levels = knapsacks.errors_and_levels(_first_base(knapsacks))
    value = -math.inf
    while not search.is_over:
        worst = _largest(errors - value)
        program.add_inputs(worst, levels[worst])
        search.require_progress(worst.size)
        solved = search.solve(program, deadline)
        if solved is None:
            break
        value, base = solved
        errors, levels = knapsacks.errors_and_levels(base)
        search.offer(base, float(errors.max()), losses)
        search.levels, search.multipliers, _ = program.atoms(levels)
        search.compare(value)
    return search.answer()


def least_average(
    knapsacks: Knapsacks,
    prior: Floats,
    gap: float,
    deadline: float | None,
    cap: float = math.inf,
    inner: Floats | None = None,
) -> Answer:
    """Minimise the average under ``prior`` among base measures whose worst case is at most ``cap``.

    ``inner`` is a base measure whose worst case is below the cap: mixing with it makes any base measure obey the cap,
    since F is convex. The multipliers are those of the cap.
    """
    losses, means = knapsacks.losses, prior @ knapsacks.losses
    counted = np.flatnonzero(prior > 0)
    groups = np.array_split(counted, min(_MOST_GROUPS, counted.size))
    costs = np.array([prior[group].sum() for group in groups])
    program = _Program(knapsacks, costs, means if inner is None else losses.max(axis=0))
    if inner is None:
        search = _Progress(_single(losses, int(means.argmin())), gap)
        search.offer(search.base, float(means.min()), losses)
        errors, levels = knapsacks.errors_and_levels(_first_base(knapsacks))
    else:
        search = _Progress(inner, gap)
        errors, levels = knapsacks.errors_and_levels(inner)
        search.offer(inner, float(prior @ errors), losses)
    inner_worst = float(errors.max())
    while not search.is_over:
        sums = np.array([prior[group] @ errors[group] for group in groups]) / costs
        short = np.flatnonzero(sums > program.head_values + _TOLERANCE)
        above = _largest(errors - cap)
        program.add_groups(short, [groups[g] for g in short], prior, levels)
        program.add_inputs(above, levels[above], cap)
        search.require_progress(short.size + above.size)
        solved = search.solve(program, deadline)
        if solved is None:
            break
        value, base = solved
        errors, levels = knapsacks.errors_and_levels(base)
        excess = float(errors.max()) - cap
        if inner is not None and excess > 0:
            share = min(1.0, excess / (excess + cap - inner_worst))
            mixed = (1 - share) * base + share * inner
            search.offer(mixed, float(prior @ knapsacks.errors_and_levels(mixed)[0]), losses)
        else:
            search.offer(base, float(prior @ errors), losses)
        search.levels, _, search.multipliers = program.atoms(levels)
        search.compare(value)
    return search.answer()


def lifts(knapsacks: Knapsacks, levels: Floats, weights: Floats) -> Floats:
    """Weights to add where they may be chosen freely: each output where G dips below 0 gets the input it costs most.

    Next to losses far above the optimum this is cheap: the weights are as small as the solver's errors.
    """
    least = weights @ knapsacks.entries(np.arange(levels.size), levels)
    outputs = np.flatnonzero(least < 0)
    excess = knapsacks.losses[:, outputs] - levels[:, None]
    inputs = excess.argmax(axis=0)
    most = excess[inputs, np.arange(outputs.size)]
    extra = np.divide(-least[outputs], most, out=np.zeros(outputs.size), where=most > 0)
    return np.bincount(inputs, extra, levels.size).astype(np.float64)


def snapped(knapsacks: Knapsacks, levels: Floats) -> Floats:
    """Levels moved to a loss of their input that they miss by rounding: exact ones are losses or averages of losses."""
    distances = np.abs(knapsacks.losses - levels[:, None])
    nearest = distances.argmin(axis=1)[:, None]
    is_close = np.take_along_axis(distances, nearest, axis=1)[:, 0] <= _SNAP * (1 + np.abs(levels))
    return np.where(is_close, np.take_along_axis(knapsacks.losses, nearest, axis=1)[:, 0], levels)


def lowered(knapsacks: Knapsacks, levels: Floats, weights: Floats) -> Floats:
    """All levels lowered by the amount that is best for the bound, where G dips below 0.

    Lowering them by d costs d, but lifts G by up to ``c d``: less is lost than by paying for the least value of G.
    """
    used = np.flatnonzero(weights > 0)
    shares = weights[used] / weights[used].sum()

    def loss(drop: float) -> float:
        least = float((shares @ knapsacks.entries(used, levels[used] - drop)).min())
        return drop - min(0.0, least)

    low, high = 0.0, loss(0.0)
    if high == 0:
        return levels
    for _ in range(_HALVINGS):
        third = (high - low) / 3
        if loss(low + third) <= loss(high - third):
            high -= third
        else:
            low += third
    return levels - high


def _first_base(knapsacks: Knapsacks) -> Floats:
    outputs = knapsacks.losses.shape[1]
    return np.full(outputs, 2 / (1 + knapsacks.ratio) / outputs)


def _single(losses: Floats, output: int) -> Floats:
    """The base measure of the mechanism that always answers one output."""
    return np.asarray(np.arange(losses.shape[1]) == output, dtype=np.float64)


def _largest(excess: Floats) -> Indices:
    """The inputs of largest positive excess."""
    positive = np.flatnonzero(excess > _TOLERANCE)
    return np.asarray(positive[np.argsort(-excess[positive], kind="stable")[:_MOST_CUTS]])


class _Progress:
    """What has been found so far, and when to stop."""

    def __init__(self, base: Floats, gap: float) -> None:
        self.base, self.value, self.gap = base, math.inf, gap
        self.levels: Floats | None = None
        self.multipliers: Floats = np.empty(0)
        self.stopped: str | None = None
        self.is_over, self.rounds = False, 0
        self.least_gap, self.improved = math.inf, 0

    def offer(self, base: Floats, value: float, losses: Floats) -> None:
        if value < self.value:
            self.base, self.value = base, value
        if value <= losses.min():  # nothing can be better
            self.is_over = True

    def require_progress(self, cuts: int) -> None:
        if not cuts:
            self.is_over, self.stopped = True, "the gap is finer than doubles resolve"

    def solve(self, program: _Program, deadline: float | None) -> tuple[float, Floats] | None:
        if self.is_over:
            return None
        self.rounds += 1
        try:
            return program.solve(deadline)
        except (LimitReached, Inaccurate, Infeasible, Unbounded, SolverFailed) as error:
            is_late = isinstance(error, LimitReached)
            self.stopped = "the time limit was reached" if is_late else f"HiGHS lost its way: {error}"
            return None

    def compare(self, value: float) -> None:
        gap = self.value - value
        if gap < _WORTH_WAITING * self.least_gap:
            self.least_gap, self.improved = gap, self.rounds
        if gap <= self.gap * self.value + _TOLERANCE:
            self.is_over = True
        elif self.rounds - self.improved >= _PATIENCE:
            self.is_over, self.stopped = True, "the gap is finer than doubles resolve"

    def answer(self) -> Answer:
        return Answer(self.base, self.value, self.levels, self.multipliers, self.stopped, self.rounds)


class _Program:
    """The master: a value for each head (the worst case, or a group of inputs), and the base measure."""

    def __init__(self, knapsacks: Knapsacks, costs: Floats, column_sizes: Floats) -> None:
        self._knapsacks, self.costs = knapsacks, costs
        self.head_values = np.full(costs.size, -math.inf)
        # masses are counted in units that keep the entries of every column of order 1
        self._units = 1 / np.clip(column_sizes, knapsacks.ratio, _MOST_WEIGHT)
        outputs = column_sizes.size
        cost, free = (np.concatenate([head, np.zeros(outputs)]) for head in (costs, np.full(costs.size, -math.inf)))
        total = np.concatenate([np.zeros(costs.size), knapsacks.ratio * self._units])[None, :]
        program = LinearProgram.of(cost, total, 1.0, knapsacks.ratio, free, math.inf)
        self._planes = CuttingPlanes(program, _SOLVER_TOLERANCE)
        self._terms: list[tuple[Indices, Floats, Floats, bool]] = []
        self._duals: Floats = np.empty(0)

    def add_inputs(self, inputs: Indices, levels: Floats, cap: float | None = None) -> None:
        """``t >= F`` (the only head), or ``cap >= F`` where there is a cap, for single inputs."""
        if not inputs.size:
            return
        heads = np.zeros((inputs.size, self.costs.size))
        if cap is None:
            heads[:, 0] = 1.0
        self._add(heads, self._knapsacks.entries(inputs, levels), levels - (0.0 if cap is None else cap))
        self._terms += [
            (np.array([x]), np.ones(1), np.array([level]), cap is not None)
            for x, level in zip(inputs, levels, strict=True)
        ]

    def add_groups(self, heads: Indices, groups: list[Indices], prior: Floats, levels: Floats) -> None:
        """``t_g >=`` the mean of F over a group."""
        if not groups:
            return
        members = np.concatenate(groups)
        weights = [prior[group] / self.costs[head] for head, group in zip(heads, groups, strict=True)]
        starts = np.cumsum([0, *(group.size for group in groups[:-1])])
        terms = np.concatenate(weights)[:, None] * self._knapsacks.entries(members, levels[members])
        units = np.zeros((heads.size, self.costs.size))
        units[np.arange(heads.size), heads] = 1.0
        means = np.array([share @ levels[group] for share, group in zip(weights, groups, strict=True)])
        self._add(units, np.add.reduceat(terms, starts, axis=0), means)
        self._terms += [(group, share, levels[group], False) for group, share in zip(groups, weights, strict=True)]

    def _add(self, heads: Floats, entries: Floats, levels: Floats) -> None:
        self._planes.add(Rows(np.concatenate([heads, -entries * self._units], axis=1), levels))

    def solve(self, deadline: float | None) -> tuple[float, Floats]:
        solution = self._planes.solve(deadline)
        assert solution.primal is not None
        assert solution.row_duals is not None
        self._duals = np.maximum(solution.row_duals[1:], 0.0)
        self.head_values = solution.primal[: self.costs.size]
        base = np.maximum(solution.primal[self.costs.size :], 0.0) * self._units
        base[base < _NEGLIGIBLE * base.sum()] = 0.0
        return float(self.costs @ self.head_values), fitting_base(base, self._knapsacks.epsilon)

    def atoms(self, levels: Floats) -> tuple[Floats, Floats, Floats]:
        """One level an input, and the multipliers of the heads' cuts and of the caps' cuts.

        Inputs without multipliers get the ``levels`` given.
        """
        binding = [(dual, *self._terms[k]) for k, dual in enumerate(self._duals.tolist()) if dual > _LEAST_DUAL]
        inputs = np.concatenate([term[1] for term in binding])
        shares = np.concatenate([term[0] * term[2] for term in binding])
        places = np.concatenate([term[3] for term in binding])
        is_cap = np.concatenate([np.full(term[1].size, term[4]) for term in binding])
        count = levels.size
        heads, caps = (np.bincount(inputs, shares * kind, count).astype(np.float64) for kind in (~is_cap, is_cap))
        total = heads + caps
        merged = levels.copy()
        merged[inputs] = places
        # relative to one of them, so that levels which agree are not moved by rounding
        drift = np.bincount(inputs, shares * (places - merged[inputs]), count)
        return merged + np.divide(drift, total, out=np.zeros(count), where=total > 0), heads, caps
