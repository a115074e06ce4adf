"""The mechanism with the smallest worst-case error over *all* epsilon-LDP mechanisms on an interval, with its proof.

**Formulation.** Given a base measure mu (``mu <= q(.|x) <= c mu``) each input's best law tops up the outputs nearest to
it, and its error is ``F(x; mu) = max over v of v + sum_y mu(y) phi(loss(y, x) - v)``, ``phi(t) = min(t, c t)``. So the
optimum is

    ``min over mu of max over x of F(x; mu)``,   ``1/c <= |mu| <= 1``:

one variable an output, and one linear cut ``t >= v + sum_y mu(y) phi(loss(y, x) - v)`` for every input and level.

**Program.** Cutting planes on mu (HiGHS, warm-started) on equispaced outputs that are refined: cuts are functions of
``(x, v)``, so those that bind on a coarse grid start the next one. The oracle is exact: the worst inputs are turns of
the window mechanism. The problem is symmetric, so outputs and inputs come in mirrored pairs.

**Proof.** The master's multipliers are weights of atoms ``(x, r)`` whose function G (see `mechdesign.proof.minimax`)
must not be negative. For the absolute error, with inputs on the grid of outputs, every event of G is a grid point: the
master itself makes G non-negative everywhere. For the squared error G dips between grid points, and all levels are
lowered until it does not. Either way the bound is then computed in rational arithmetic.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.result import Certificate, Design, Report, versions
from mechdesign.domains import Interval
from mechdesign.errors import InvalidInput, NoAnswer, require_epsilon, require_finite
from mechdesign.losses import Loss, Power
from mechdesign.mechanisms.catalogue import UNIT, largest_safe_height
from mechdesign.mechanisms.serialise import domain_to_dict
from mechdesign.mechanisms.window import Window
from mechdesign.proof import EVERYWHERE, MinimaxBound, exact_worst_error, float_down, float_up
from solvers import Highs, HighsSession, Limits, LinearProgram, Status

Floats = NDArray[np.float64]

LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0

_ABSOLUTE = Power(1.0)
_GRIDS = (51, 101, 201, 401, 801, 1601)
_MASTER_SHARE = 0.05  # of the gap asked for, left to the master: the grids account for the rest
_TOLERANCE = 1e-10
_MOST_ROUNDS = 200
_NEGLIGIBLE = 1e-12
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class MinimaxProblem:
    """The least worst-case error over all epsilon-LDP mechanisms, for the absolute or squared error.

    ``gap`` is the relative distance between the proven bounds at which the search stops; ``most_outputs`` is the finest
    grid it may use on the way.
    """

    epsilon: float
    loss: Loss = _ABSOLUTE
    inputs: Interval = UNIT
    gap: float = 1e-4
    most_outputs: int = _GRIDS[-1]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
            raise InvalidInput("eps", self.epsilon, rule)
        if self.loss not in (Power(1.0), Power(2.0)):
            raise InvalidInput("loss", self.loss, "be absolute or squared for a certified optimum")
        if not isinstance(self.inputs, Interval):
            raise InvalidInput("domain", str(self.inputs), "be an interval for a certified optimum")
        if not 1e-40 <= self.inputs.length <= 1e40 or self.inputs.length < 1e-9 * abs(self.inputs.middle):
            raise InvalidInput("domain", str(self.inputs), "be wide enough for a grid of doubles", "rescale the data")
        if not 1e-6 <= require_finite(self.gap, "gap") < 1:
            raise InvalidInput("gap", self.gap, "lie between 1e-6 and 1")
        if isinstance(self.most_outputs, bool) or self.most_outputs not in _GRIDS:
            raise InvalidInput("most_outputs", self.most_outputs, f"be one of {', '.join(map(str, _GRIDS))}")

    @property
    def exponent(self) -> int:
        assert isinstance(self.loss, Power)
        return int(self.loss.exponent)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "minimax",
            "epsilon": self.epsilon,
            "loss": self.loss.name,
            "inputs": domain_to_dict(self.inputs),
            "criterion": "worst case",
            "gap": self.gap,
            "most_outputs": self.most_outputs,
        }


def optimal_minimax(problem: MinimaxProblem, seconds: float | None = None) -> Design:
    """The certified optimum, or `NoAnswer` with the proven bounds if the gap or the time runs out first.

    >>> design = optimal_minimax(MinimaxProblem(1.0, Power(2.0)))
    >>> [round(end, 5) for end in (design.certificate.lower, design.certificate.upper)]
    [0.19661, 0.19661]
    """
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise InvalidInput("seconds", seconds, "be finite and above 0")
    started = time.perf_counter()
    deadline = None if seconds is None else started + seconds
    search = _Search(problem.epsilon, problem.exponent, problem.gap, deadline)
    try:
        best = search.run(problem.most_outputs)
    except NoAnswer as stopped:
        scale = problem.inputs.length**problem.exponent
        lower, upper = stopped.lower * scale * (1 - _ROUNDING), stopped.upper * scale * (1 + _ROUNDING)
        raise NoAnswer(stopped.reason, lower, upper) from None
    mechanism = _moved(best.mechanism, problem.inputs)
    bound = _moved_bound(best.bound, problem.inputs)
    lower, upper = float_down(bound.value()), float_up(exact_worst_error(mechanism, problem.exponent))
    if upper - lower > problem.gap * upper:
        raise NoAnswer(f"the search ended at a relative gap of {(upper - lower) / upper:.2g}", lower, upper)
    certificate = Certificate(lower, upper, EVERYWHERE, False, mechanism.privacy_loss(), bound)
    details = {"outputs": int(mechanism.points.size), "atoms": int(bound.inputs.size), "grid": best.grid}
    report = Report(
        time.perf_counter() - started,
        "cutting planes (HiGHS)",
        versions("numpy", "scipy", "highspy"),
        MappingProxyType(details),
    )
    return Design(problem, mechanism, certificate, report)


def _moved(mechanism: Window, inputs: Interval) -> Window:
    points = inputs.lower + mechanism.points * inputs.length
    return Window(mechanism.epsilon, inputs, points, mechanism.base, mechanism.ratio, mechanism.name)


def _moved_bound(bound: MinimaxBound, inputs: Interval) -> MinimaxBound:
    places = np.minimum(np.maximum(inputs.lower + bound.inputs * inputs.length, inputs.lower), inputs.upper)
    radii = bound.radii * inputs.length
    return MinimaxBound(bound.epsilon, bound.exponent, inputs.lower, inputs.upper, places, radii, bound.weights)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A mechanism on [0, 1] with its worst error, atoms with their bound, and the grid they came from."""

    mechanism: Window
    upper: float
    bound: MinimaxBound
    lower: float
    grid: int

    def better_of(self, other: _Candidate | None) -> _Candidate:
        if other is None:
            return self
        primal = self if self.upper <= other.upper else other
        dual = self if self.lower >= other.lower else other
        return _Candidate(primal.mechanism, primal.upper, dual.bound, dual.lower, max(self.grid, other.grid))


class _Search:
    """The whole search on [0, 1]: grids from coarse to fine, cuts within a grid."""

    def __init__(self, epsilon: float, exponent: int, gap: float, deadline: float | None) -> None:
        self.epsilon, self.exponent, self.deadline = epsilon, exponent, deadline
        self.gap, self.master_gap = gap, _MASTER_SHARE * gap
        self.ratio = largest_safe_height(epsilon, 1.0)

    def run(self, most_outputs: int) -> _Candidate:
        best: _Candidate | None = None
        cuts = node_cuts = _Cuts(np.array([0.0, 0.5]), np.array([0.5, 0.25]))
        for grid in (grid for grid in _GRIDS if grid <= most_outputs):
            halves = np.linspace(0.0, 0.5, (grid + 1) // 2)
            master = _Master(self.ratio, self.exponent, halves, cuts)
            best = self._converge(master, grid, best).better_of(best)
            if self.exponent == 1:
                nodes = _Master(self.ratio, 1, halves, node_cuts)
                best = self._converge(nodes, grid, best, halves).better_of(best)
                node_cuts = nodes.binding()
            if best.upper - best.lower <= 0.9 * self.gap * best.upper:
                return best
            cuts = master.binding()
        assert best is not None
        return best

    def _converge(self, master: _Master, grid: int, best: _Candidate | None, nodes: Floats | None = None) -> _Candidate:
        """Add cuts until the master's value and the worst error agree, over all inputs or over ``nodes`` only."""
        loss = Power(float(self.exponent))
        attained: tuple[float, Window] | None = None
        reached = math.inf
        for _ in range(_MOST_ROUNDS):
            value, base = master.solve(self._seconds_left(best), best)
            mechanism = self._mechanism(master.halves, base)
            turns = np.concatenate([[0.0], mechanism.turns[mechanism.turns < 0.5], [0.5]])
            worst = float(mechanism.expected_loss(turns, loss).max())
            if attained is None or worst < attained[0]:
                attained = worst, mechanism
            inputs = turns if nodes is None else nodes
            errors = mechanism.expected_loss(inputs, loss)
            reached = min(reached, float(errors.max()))
            if reached - value <= self.master_gap * reached + _TOLERANCE:
                break
            peaks = _peaks(errors) & (errors > value + 0.1 * (errors.max() - value))
            master.add_cuts(_Cuts(inputs[peaks], mechanism.reach(inputs[peaks])))
        assert attained is not None
        bound = self._bound(master)
        return _Candidate(attained[1], attained[0], bound, float(bound.value()), grid)

    def _seconds_left(self, best: _Candidate | None) -> float | None:
        if self.deadline is None:
            return None
        left = self.deadline - time.perf_counter()
        if left <= 0:
            lower, upper = (0.0, math.inf) if best is None else (best.lower, best.upper)
            raise NoAnswer("the time limit was reached", lower, upper)
        return left

    def _mechanism(self, halves: Floats, base: Floats) -> Window:
        """The window mechanism of a master's solution: tiny masses dropped, the total pushed into its range."""
        kept = base > _NEGLIGIBLE * base.sum()
        points = np.concatenate([halves[kept], 1 - halves[kept]])
        mass = np.concatenate([base[kept], base[kept]]) / 2
        points, where = np.unique(points, return_inverse=True)
        mass = np.asarray(np.bincount(where, weights=mass), dtype=np.float64)
        total = float(mass.sum())
        # a relative 1e-12 inside the range: the check in Window is exact
        target = min(max(total, (1 + 1e-12) / self.ratio), 1 - 1e-12)
        return Window(self.epsilon, UNIT, points, mass * (target / total), self.ratio, "minimax")

    def _bound(self, master: _Master) -> MinimaxBound:
        cuts = master.binding()
        inputs = np.concatenate([cuts.inputs, 1 - cuts.inputs])
        radii, both = np.tile(cuts.radii, 2), np.tile(master.weights() / 2, 2)
        bound = MinimaxBound(self.epsilon, self.exponent, 0.0, 1.0, inputs, radii, both)
        return bound if self.exponent == 1 else _lowered(bound, self.ratio)


@dataclass(frozen=True, slots=True)
class _Cuts:
    """Inputs in the lower half and the radii whose losses are the levels of their cuts."""

    inputs: Floats
    radii: Floats


class _Master:
    """``minimise t`` over base masses of mirrored output pairs, subject to cuts."""

    def __init__(self, ratio: float, exponent: int, halves: Floats, cuts: _Cuts) -> None:
        self.ratio, self.exponent, self.halves = ratio, exponent, halves
        self.cuts = _Cuts(np.empty(0), np.empty(0))
        count = halves.size
        total = np.concatenate([[0.0], np.ones(count)])[None, :]
        free = np.concatenate([[-math.inf], np.zeros(count)])
        cost = np.concatenate([[1.0], np.zeros(count)])
        program = LinearProgram.of(cost, total, 1 / ratio, 1.0, free, math.inf)
        self.session: HighsSession = Highs(method="simplex", tolerance=_TOLERANCE).session(program)
        self._weights: Floats = np.empty(0)
        self.add_cuts(cuts)

    def add_cuts(self, cuts: _Cuts) -> None:
        entries = -self._phi(cuts, self.halves)
        rows = np.concatenate([np.ones((cuts.inputs.size, 1)), entries], axis=1)
        self.session.add_rows(rows, cuts.radii**self.exponent)
        self.cuts = _Cuts(
            np.concatenate([self.cuts.inputs, cuts.inputs]), np.concatenate([self.cuts.radii, cuts.radii])
        )

    def _phi(self, cuts: _Cuts, halves: Floats) -> Floats:
        """``phi(loss - v)`` of each cut, averaged over an output and its mirror image."""
        inputs, level = cuts.inputs[:, None], (cuts.radii**self.exponent)[:, None]
        both = (np.abs(y - inputs) ** self.exponent - level for y in (halves[None, :], 1 - halves[None, :]))
        return np.asarray(sum(np.minimum(t, self.ratio * t) for t in both) / 2)

    def solve(self, seconds: float | None, best: _Candidate | None) -> tuple[float, Floats]:
        solution = self.session.solve(Limits(seconds=seconds))
        if solution.status not in (Status.OPTIMAL, Status.TIME_LIMIT):
            # a basis grown over many changes can stall the simplex method: start again from the program alone
            self.session = Highs(tolerance=_TOLERANCE).session(self.session.program)
            solution = self.session.solve(Limits(seconds=seconds))
        if solution.status is not Status.OPTIMAL or solution.primal is None or solution.row_duals is None:
            lower, upper = (0.0, math.inf) if best is None else (best.lower, best.upper)
            raise NoAnswer(f"the master program ended with status {solution.status.value!r}", lower, upper)
        self._weights = np.maximum(solution.row_duals[1:], 0.0)
        return float(solution.primal[0]), np.maximum(solution.primal[1:], 0.0)

    def binding(self) -> _Cuts:
        """The cuts with weight in the last solution."""
        binds = np.flatnonzero(self._weights > _NEGLIGIBLE)
        return _Cuts(self.cuts.inputs[binds], self.cuts.radii[binds])

    def weights(self) -> Floats:
        """Their weights."""
        return self._weights[self._weights > _NEGLIGIBLE]


def _peaks(values: Floats) -> NDArray[np.bool_]:
    """Where a sequence is at least its neighbours."""
    left = np.concatenate([[True], values[1:] >= values[:-1]])
    right = np.concatenate([values[:-1] >= values[1:], [True]])
    return np.asarray(left & right)


def _lowered(bound: MinimaxBound, ratio: float) -> MinimaxBound:
    """The same atoms with all levels lowered just enough that G is nowhere negative.

    Lowering the levels by d costs d, but lifts G by up to ``c d`` where windows cover y: less is lost than by paying
    for the least value of G as it stands.
    """

    def at(drop: float) -> MinimaxBound:
        radii = np.sqrt(np.maximum(bound.radii**2 - drop, 0.0))
        return MinimaxBound(bound.epsilon, 2, bound.lower, bound.upper, bound.inputs, radii, bound.weights)

    low, high = 0.0, max(0.0, -float(_local_minima(bound, ratio)[1].min()))
    for _ in range(40):
        if high - low <= 1e-13:
            break
        middle = low + (high - low) / 2
        if float(_local_minima(at(middle), ratio)[1].min()) < 0:
            low = middle
        else:
            high = middle
    return at(high)


def _local_minima(bound: MinimaxBound, ratio: float) -> tuple[Floats, Floats]:
    """Local minima of ``G(y)`` in doubles: kinks for exponent 1, vertices of the pieces for exponent 2."""
    x, r, w = bound.inputs, bound.radii, bound.weights / bound.weights.sum()
    events = np.unique(np.concatenate([x - r, x + r]))
    if bound.exponent == 1:
        places = np.unique(np.concatenate([x, events]))
        values = _in_blocks(places, lambda y: _phi(np.abs(y[:, None] - x) - r, ratio) @ w)
        chosen = _peaks(-values)
        return places[chosen], values[chosen]
    edges = np.concatenate([[events[0] - 1], events, [events[-1] + 1]])
    middles = (edges[:-1] + edges[1:]) / 2
    weight = _in_blocks(middles, lambda y: np.where(np.abs(y[:, None] - x) < r, ratio, 1.0) @ np.stack([w, w * x], 1))
    vertices = weight[:, 1] / weight[:, 0]
    inside = (vertices >= edges[:-1]) & (vertices <= edges[1:])
    places = vertices[inside]
    return places, _in_blocks(places, lambda y: _phi((y[:, None] - x) ** 2 - r**2, ratio) @ w)


def _phi(values: Floats, ratio: float) -> Floats:
    return np.asarray(np.minimum(values, ratio * values))


def _in_blocks(places: Floats, function: Any, size: int = 512) -> Floats:
    parts = [function(places[k : k + size]) for k in range(0, places.size, size)]
    return np.concatenate(parts) if parts else np.empty(0)
