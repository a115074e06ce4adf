"""Columns in cones of bounded ratios, coupled by their row sums: an interior-point method that knows the blocks.

A column v is bounded by pairs, ``v_i <= r_ij v_j``. The program is

    minimise ``sum_xy w_x loss_xy q_xy``, or the largest ``sum_y loss_xy q_xy``,  subject to  ``sum_y q_xy = 1``

and every column of q in its cone; the weighted sum also with a cap on each row's ``sum_y loss_xy q_xy``. It has
``n m`` variables and, with many pairs, tens of millions of rows, but the Newton system of a primal-dual method falls
into one dense block of nodes for each column and one system in the n row sums: a step costs ``O(m k^3 + n^3)`` for
blocks of k nodes, and no row of the program is ever written down.

A block may hold the nodes near its column only. An input outside it is tied to one node, of which it is a given
multiple (in a cone of a metric, the least that it can be), or it is left out; then its row sums to at most
one, and what is missing has the price ``far``. All are relaxations in the uses there are; callers prove what they get.

General methods see one program with all its rows; a simplex method on the smallest of these takes hours.
Callers limit BLAS to one thread, see `mechdesign_solvers.interior`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_MOST_STEPS = 120
_BACK_OFF = 0.9995  # of the way to the boundary
_CORRECTORS = 4
_LONGER = 1.08, 0.1  # a corrector aims at a step longer by this
_SPREAD = 10.0  # of the products from their mean, before a corrector pulls them back
_WORTH = 0.01  # a corrector that lengthens steps by less is the last
_JITTER = 1e-13
_JITTERS = 1e-13, 1e-11, 1e-9, 1e-7  # what rounding may need to be kept positive definite
_START = 0.01  # products at the start, relative to the largest price
# steps without progress: near the optimum, with a cap, and while all is still further off than 1
_WORSE, _WORSE_CAPPED, _SLOW_START = 5, 15, 30
_REFINEMENTS, _MORE_REFINEMENTS = 2, 5  # of a Newton step; where rows have prices
_NOTHING = 1e-9  # of the largest price: an optimum of less is as good as 0


@dataclass(frozen=True, slots=True, eq=False)
class ConeProgram:
    """``m`` columns of ``k`` nodes each, the pairs between them, and the inputs that nodes stand for.

    Input ``inputs[y, t]`` is ``share[y, t]`` times node ``node[y, t]`` of column y, at the price ``loss[y, t]``. A pair
    p says that node ``first[p]`` of column ``block[p]`` is at most ``exp(bound[p])`` times node ``second[p]``. Without
    ``weights`` the largest row is minimised; with ``cap`` beside them no row may lose more. ``far`` are prices
    of what columns leave out of a row.
    """

    count: int
    nodes: int
    inputs: Places
    node: Places
    share: Floats
    loss: Floats
    block: Places
    first: Places
    second: Places
    bound: Floats
    weights: Floats | None
    far: Floats | None = None
    cap: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ConeOptimum:
    """Values of the nodes, multipliers of pairs (``flow``) and row sums (``rows``), weights of the rows; whether early.

    With a cap ``weights`` are its multipliers, which come beside the weights of the program. ``flow`` belongs to the
    pair as it is written, ``exp(bound) v_second - v_first >= 0``.
    """

    values: Floats
    flow: Floats
    weights: Floats
    rows: Floats
    upper: float
    lower: float
    steps: int
    stopped: bool


class _Step(NamedTuple):
    rows: Floats
    prices: Floats
    top: float
    values: Floats
    room: Floats
    flow: Floats
    least: Floats
    slack: Floats
    missing: Floats


def solve_cones(
    program: ConeProgram,
    gap: float,
    deadline: float | None = None,
    say: Callable[[float, float], object] = lambda lower, upper: None,
) -> ConeOptimum:
    """The optimum to a relative ``gap``, or as near as steps, rounding and the deadline allow.

    ``deadline`` is a reading of `time.perf_counter`; ``say`` hears of the bounds at every step.

    >>> pairs = np.array([[0, 1], [1, 0]]), np.array([0, 0, 1, 1])
    >>> flat = np.tile(np.arange(2), (2, 1))
    >>> program = ConeProgram(2, 2, flat, flat, np.ones((2, 2)), 1 - np.eye(2), pairs[1], np.array([0, 1, 0, 1]),
    ...     np.array([1, 0, 1, 0]), np.ones(4), np.array([0.5, 0.5]))
    >>> round(solve_cones(program, 1e-9).upper, 6)  # randomised response: 1 / (1 + e)
    0.268941
    """
    state = _State(program)
    best, since = math.inf, 0
    steps, stopped = 0, True
    kept = state.point()
    while steps < _MOST_STEPS and not (deadline is not None and time.perf_counter() >= deadline):
        lower, upper = state.bounds()
        lost, products = state.infeasibility(), state.products()
        say(lower, upper)
        if products / state.scale + lost < best:
            best, since, kept = products / state.scale + lost, 0, state.point()
        else:
            since += 1
        if products / max(abs(upper), _NOTHING * state.scale) + lost <= gap:
            stopped = False
            break
        patience = _SLOW_START if best >= 1 else _WORSE if program.cap is None else _WORSE_CAPPED
        if since > patience or not state.advance():
            break
        steps += 1
    values, flow, weights, rows, (lower, upper) = kept
    return ConeOptimum(values, flow, weights, rows, upper, lower, steps, stopped)


class _State:
    """The iterate; names as in the program: room = exp(b/2) v_second - exp(-b/2) v_first, with multiplier flow."""

    def __init__(self, program: ConeProgram) -> None:
        self.p = program
        self.m, self.k = len(program.inputs), program.nodes
        m, k, n = self.m, self.k, program.count
        self.first, self.second = program.block * k + program.first, program.block * k + program.second
        self.small, self.large = np.exp(-program.bound / 2), np.exp(program.bound / 2)
        self.cells = program.block * (k * k) + program.first * k + program.second
        self.pairs, self.nodes = _pairs(self.first, self.second, self.small, self.large, m * k)
        self.at = np.arange(m)[:, None] * k + program.node
        is_full = program.inputs.shape == (m, n) and k == n and bool((program.inputs == program.node).all())
        self.is_full = is_full and bool((program.share == 1).all()) and bool((program.inputs == np.arange(n)).all())
        self.is_whole = program.inputs.shape[1] == n and bool((program.inputs == np.arange(n)).all())
        self.average = program.weights is not None and program.cap is None
        weights = np.full(n, 1 / n) if program.weights is None else program.weights
        self.scale = float((weights[program.inputs] * program.loss).max()) or 1.0
        self.rows = np.zeros(n)  # multipliers of the row sums
        self.prices = weights.copy()  # multipliers of the errors; fixed for an average
        if program.cap is not None:  # inside, where weights may be 0
            self.prices = np.full(n, float(weights.mean()))
        self.fixed = np.zeros(n) if program.cap is None else weights  # beside them
        self.values = np.full((m, k), 1.0 / m)
        self.room = self.rooms(self.values)
        start = _START * self.scale * float(np.mean(self.room)) if self.room.size else _START * self.scale / m
        self.flow = start / self.room
        self.least = start / self.values
        self.top = 0.0
        self.slack = np.zeros(0)
        if not self.average:
            errors = self.errors(self.values)
            self.top = float(errors.max()) * 1.1 + 1e-12
            self.slack = self.top - errors
        if program.cap is not None:  # rows may start above it
            self.top = program.cap
            self.slack = np.maximum(self.slack, 1e-3 * program.cap + 1e-12)
        self.missing = self.cost_missing = np.zeros(0)
        if program.far is not None:
            self.missing = np.maximum(1 - self.sums(self.values), 0) + 0.1
            self.cost_missing = np.full(n, 0.1 * self.scale)

    def point(self) -> tuple[Floats, Floats, Floats, Floats, tuple[float, float]]:
        return self.values, self.flow * np.exp(-self.p.bound / 2), self.prices, self.rows, self.bounds()

    # -- the linear maps --

    def rooms(self, values: Floats) -> Floats:
        return np.asarray(self.pairs @ values.ravel())

    def back(self, flow: Floats) -> Floats:
        return np.asarray((self.nodes @ flow).reshape(self.m, self.k))

    def spread(self, values: Floats) -> Floats:
        """The columns at their inputs."""
        return np.asarray(values.ravel()[self.at] * self.p.share)

    def gathered(self, at_inputs: Floats) -> Floats:
        """The adjoint of `spread`."""
        size = self.m * self.k
        return _added(self.at, at_inputs * self.p.share, size).reshape(self.m, self.k)

    def sums(self, values: Floats) -> Floats:
        return _added(self.p.inputs, self.spread(values), self.p.count)

    def errors(self, values: Floats) -> Floats:
        return _added(self.p.inputs, self.spread(values) * self.p.loss, self.p.count)

    def costs(self, rows: Floats, prices: Floats) -> Floats:
        """``prices`` times the losses, less ``rows``, at the nodes."""
        return self.gathered(prices[self.p.inputs] * self.p.loss - rows[self.p.inputs])

    # -- where it stands --

    def bounds(self) -> tuple[float, float]:
        errors = self.errors(self.values)
        if self.p.cap is not None:
            return float(self.rows.sum()) - self.p.cap * float(self.prices.sum()), float(self.fixed @ errors)
        upper = float(self.prices @ errors) if self.average else self.top
        if self.missing.size and self.p.far is not None:
            upper += float(self.p.far @ self.missing)
        return float(self.rows.sum()), upper

    def products(self) -> float:
        """Of all values with their multipliers: the gap, where both sides are feasible.

        Prices that are not used up are multipliers of values, too: with tiny epsilons nothing else is large at first.
        """
        least = self.least + np.maximum(self._dual_error(), 0)
        total = float(self.room @ self.flow) + float((self.values * least).sum())
        if not self.average:
            total += float(self.slack @ self.prices)
        return total + (float(self.missing @ self.cost_missing) if self.missing.size else 0.0)

    def infeasibility(self) -> float:
        lost = np.abs(1 - self._sum()).max()
        short = np.minimum(self._dual_error() / self.scale, 0)
        spoilt = 0.0 if self.average else abs(1 - float(self.prices.sum()))
        if self.p.cap is not None:
            spoilt = float(np.abs(self.top - self.slack - self.errors(self.values)).max()) / max(self.top, 1e-300)
        return float(lost) + float(-short.min()) + spoilt

    def _sum(self) -> Floats:
        return self.sums(self.values) + (self.missing if self.missing.size else 0)

    def _dual_error(self) -> Floats:
        return self.costs(self.rows, self.fixed + self.prices) - self.back(self.flow) - self.least

    @np.errstate(divide="ignore", over="ignore", invalid="ignore")  # what is not finite ends the search: False
    def advance(self) -> bool:
        """One predictor-corrector step; False where the systems cannot be solved any more."""
        p, n = self.p, self.p.count
        pull = self.flow / self.room
        inverse = self._inverse(pull)
        # rows sum to one: losses less a constant for each row are the same program, and leave smaller differences
        level = np.zeros(n) if self.average else self.errors(self.values) / self.sums(self.values)
        factor = self._factor(inverse, level)
        if factor is None:
            return False
        dual, primal = self._dual_error(), 1 - self._sum()
        off = self.room - self.rooms(self.values)
        over = self.top - self.slack - self.errors(self.values) if not self.average else np.zeros(0)
        far = p.far - self.rows - self.cost_missing if p.far is not None else np.zeros(0)
        unit = 1 - float(self.prices.sum())

        def solve(g: Floats, rows: Floats, tops: Floats, unit: float) -> tuple[Floats, Floats, float, Floats]:
            """The Newton system for right sides in the values, row sums and errors."""
            held = np.matmul(inverse, g[:, :, None])[:, :, 0]
            right = rows - self.sums(held)
            if self.average:
                lam, price, top = factor.solve(right), np.zeros(n), 0.0
            else:
                both = np.concatenate([right, self.errors(held) - tops + level * right])
                base = factor.solve(both)
                ones = np.concatenate([np.zeros(n), np.ones(n)])
                edge = factor.solve(ones)
                top = 0.0 if p.cap is not None else (float(base[n:].sum()) - unit) / float(edge[n:].sum())
                found = base - top * edge
                lam, price = found[:n] + level * found[n:], found[n:]
            at = g - self.costs(lam, price)
            return lam, price, top, np.matmul(inverse, at[:, :, None])[:, :, 0]

        def direction(c_room: Floats, c_least: Floats, c_slack: Floats, c_missing: Floats) -> _Step:
            g = -dual + self.back((c_room + self.flow * off) / self.room) + c_least / self.values
            rows = primal.copy()
            if p.far is not None:
                rows -= (c_missing - self.missing * far) / self.cost_missing
            tops = over - c_slack / self.prices if not self.average else np.zeros(0)
            lam, price, top, values = solve(g, rows, tops, unit)
            for _ in range(_REFINEMENTS if self.average else _MORE_REFINEMENTS):  # rooms are small differences
                room = self.rooms(values) - off
                flow = (c_room - self.flow * room) / self.room
                least = (c_least - self.least * values) / self.values
                rest = dual + self.costs(lam, price) - self.back(flow) - least
                more = rows - self.sums(values)
                if p.far is not None:
                    more -= self.missing * lam / self.cost_missing
                high = np.zeros(0)
                if not self.average:
                    high = tops + top + self.slack * price / self.prices - self.errors(values)
                d_lam, d_price, d_top, d_values = solve(-rest, more, high, unit - float(price.sum()))
                lam, price, top, values = lam + d_lam, price + d_price, top + d_top, values + d_values
            room = self.rooms(values) - off
            flow = (c_room - self.flow * room) / self.room
            least = (c_least - self.least * values) / self.values
            slack = (c_slack - self.slack * price) / self.prices if not self.average else np.zeros(0)
            missing = np.zeros(0)
            if p.far is not None:
                missing = (c_missing - self.missing * (far - lam)) / self.cost_missing
            return _Step(lam, price, top, values, room, flow, least, slack, missing)

        def lengths(step: _Step) -> tuple[float, float]:
            primal_side = [(self.room, step.room), (self.values, step.values), (self.slack, step.slack)]
            dual_side = [(self.flow, step.flow), (self.least, step.least)]
            primal_side.append((self.missing, step.missing))
            if not self.average:
                dual_side.append((self.prices, step.prices))
            if p.far is not None:
                dual_side.append((self.cost_missing, far - step.rows))
            return min(_length(*pair) for pair in primal_side), min(_length(*pair) for pair in dual_side)

        def products(step: _Step, a: float, b: float) -> list[Floats]:
            found = [(self.room + a * step.room) * (self.flow + b * step.flow)]
            found.append((self.values + a * step.values) * (self.least + b * step.least))
            empty = np.zeros(0)
            found.append(empty if self.average else (self.slack + a * step.slack) * (self.prices + b * step.prices))
            found.append(
                empty
                if p.far is None
                else (self.missing + a * step.missing) * (self.cost_missing + b * (far - step.rows))
            )
            return found

        still = _Step(
            np.zeros(n),
            np.zeros(n),
            0.0,
            *(np.zeros_like(v) for v in (self.values, self.room, self.flow, self.least, self.slack, self.missing)),
        )
        now = products(still, 0.0, 0.0)
        if p.far is not None:
            now[3] = self.missing * self.cost_missing
        size = sum(part.size for part in now)
        mean = sum(float(part.sum()) for part in now) / size
        step = direction(-now[0], -now[1], -now[2], -now[3])
        ahead = sum(float(part.sum()) for part in products(step, *lengths(step))) / size
        aim = mean * (ahead / mean) ** 3
        second = [step.room * step.flow, step.values * step.least]
        second.append(np.zeros(0) if self.average else step.slack * step.prices)
        second.append(np.zeros(0) if p.far is None else step.missing * (far - step.rows))
        wanted = [aim - a - b for a, b in zip(now, second, strict=True)]
        step = direction(*wanted)
        a, b = lengths(step)
        for _ in range(_CORRECTORS):
            reach = [min(1.0, end * _LONGER[0] + _LONGER[1]) for end in (a, b)]
            pulls = [np.clip(v, aim / _SPREAD, aim * _SPREAD) - v for v in products(step, reach[0], reach[1])]
            tried = [w + np.maximum(v, -_SPREAD * aim) for w, v in zip(wanted, pulls, strict=True)]
            other = direction(*tried)
            c, d = lengths(other)
            if c + d < a + b + _WORTH:
                break
            step, a, b, wanted = other, c, d, tried
        if not (math.isfinite(a) and math.isfinite(b) and np.isfinite(step.values).all() and max(a, b) > 1e-8):
            return False
        self.values = self.values + a * step.values
        self.room = self.room + a * step.room
        self.slack, self.top = self.slack + a * step.slack, self.top + a * step.top
        self.flow, self.least = self.flow + b * step.flow, self.least + b * step.least
        self.rows = self.rows + b * step.rows
        if not self.average:
            self.prices = self.prices + b * step.prices
        if p.far is not None:
            self.missing = self.missing + a * step.missing
            self.cost_missing = self.cost_missing + b * (far - step.rows)
        return True

    def _inverse(self, pull: Floats) -> Floats:
        """The inverse of every block's ``G' diag(pull) G + diag(least / values)``."""
        m, k = self.m, self.k
        at = np.arange(k)
        blocks = _added(self.cells, -pull, m * k * k).reshape(m, k, k)
        blocks = blocks + blocks.transpose(0, 2, 1)
        held = _added(self.first, self.small**2 * pull, m * k) + _added(self.second, self.large**2 * pull, m * k)
        blocks[:, at, at] += held.reshape(m, k) + self.least / self.values
        unit = 1 / np.sqrt(blocks[:, at, at])
        blocks *= unit[:, :, None]
        blocks *= unit[:, None, :]
        blocks[:, at, at] += _JITTER
        inverse = np.asarray(np.linalg.inv(blocks), dtype=np.float64)
        inverse *= unit[:, :, None]
        inverse *= unit[:, None, :]
        return inverse

    def _factor(self, inverse: Floats, level: Floats) -> _Factor | None:
        p, n = self.p, self.p.count
        sums, mixed, errors = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
        for y in range(self.m) if not (self.is_full and self.average) else ():
            node, share, at = p.node[y], p.share[y], p.inputs[y]
            seen = inverse[y] if self.is_full else inverse[y][np.ix_(node, node)] * share[:, None] * share
            if self.is_whole:
                sums += seen
            else:
                sums[np.ix_(at, at)] += seen
            if not self.average:
                loss = p.loss[y] - level[at]
                if self.is_whole:
                    mixed += seen * loss
                    errors += loss[:, None] * seen * loss
                else:
                    mixed[np.ix_(at, at)] += seen * loss
                    errors[np.ix_(at, at)] += loss[:, None] * seen * loss
        if self.is_full and self.average:
            sums = inverse.sum(axis=0)
        if p.far is not None:
            sums[np.arange(n), np.arange(n)] += self.missing / self.cost_missing
        if not self.average:
            errors[np.arange(n), np.arange(n)] += self.slack / self.prices
            sums = np.block([[sums, -mixed], [-mixed.T, errors]])
        return _factored(sums)


class _Factor(NamedTuple):
    """A Cholesky factor of a matrix whose diagonal was scaled to one."""

    lower: Floats
    unit: Floats

    def solve(self, right: Floats) -> Floats:
        return np.asarray(self.unit * cho_solve((self.lower, True), self.unit * right, check_finite=False))


def _factored(matrix: Floats) -> _Factor | None:
    """None where the matrix is no longer positive definite in doubles, or not finite."""
    unit = 1 / np.sqrt(np.diagonal(matrix))
    matrix = np.asarray(unit[:, None] * matrix * unit)
    if not np.isfinite(matrix).all():
        return None
    at = np.arange(len(matrix))
    for jitter in _JITTERS:
        matrix[at, at] = 1 + jitter
        try:
            return _Factor(cho_factor(matrix, lower=True, check_finite=False)[0], unit)
        except np.linalg.LinAlgError:
            continue
    return None


def _pairs(first: Places, second: Places, small: Floats, large: Floats, size: int) -> tuple[csr_array, csr_array]:
    """The map from values of nodes to rooms of pairs, and its adjoint: both by rows, which is how they are fast."""
    short = np.int32 if 2 * first.size < 2**31 else np.int64
    columns = np.stack([second, first], axis=1).astype(short).ravel()
    ends = np.arange(0, 2 * first.size + 1, 2, dtype=short)
    rows = csr_array((np.stack([large, -small], axis=1).ravel(), columns, ends), shape=(first.size, size))
    return rows, csr_array(rows.T)


def _added(places: Places, values: Floats, size: int) -> Floats:
    """The values summed by place."""
    return np.asarray(np.bincount(places.ravel(), values.ravel(), size), dtype=np.float64)


def _length(values: Floats, step: Floats) -> float:
    """How far values may go along a step and stay positive, at most 1."""
    if not values.size:
        return 1.0
    fall = step / values
    worst = float(fall.min())
    return 1.0 if worst >= -_BACK_OFF else _BACK_OFF / -worst
