"""The mechanism with the least average error under a prior over *all* epsilon-LDP mechanisms on a line, with its proof.

**Form.** Randomised response on bins is optimal (`mechdesign.design.prior.proof` has the theorem): k outputs, the
nearest with probability ``c / (c + k - 1)``, any other with ``1 / (c + k - 1)``, ``c = e^eps``. It is a window
mechanism with equal masses, defined for every real input.

**Search.** The bins are a shortest path over their edges, with Dinkelbach's method for the ratio; no solver is needed.
Data of few values are taken as they are. Data of many values, or a density, become cells, refined only where edges of
bins (and, for the absolute error, outputs) fall, until the bound that holds for every prior with these cells meets the
most that the mechanism can average under any of them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.minimax.search import LEAST_EPSILON, MOST_EPSILON
from mechdesign.design.points.search import optimal_on_points, require_points_problem, weights_on
from mechdesign.design.prior.proof import BinsBound
from mechdesign.design.result import Certificate, Design, Report, versions, within_gap
from mechdesign.domains import Finite, Interval
from mechdesign.errors import InvalidInput, require_epsilon, require_finite, require_seconds
from mechdesign.exact.cells import Cells, density_cells, first_cuts, law_of, prior_echo
from mechdesign.exact.partition import best_partition, bin_costs, bin_medians, bin_outputs
from mechdesign.losses import Loss, Power
from mechdesign.mechanisms.catalogue import UNIT, largest_safe_height
from mechdesign.mechanisms.serialise import domain_to_dict
from mechdesign.mechanisms.window import Window
from mechdesign.priors import Atoms, Density, Prior

Floats = NDArray[np.float64]
Cuts = NDArray[Any]

MOST_ATOMS = 1000
"""More values than this are gathered in cells."""

_ABSOLUTE = Power(1.0)
_FIRST_CELLS = 192
_PARTS = 3
_MOST_ROUNDS = 100
_MOST_CELLS = 2500  # keeps the proof, which is quadratic in them, at a second or two
_PROOF_SECONDS = 1e-6  # for each pair of cells: the search leaves time for the proof
_SHARE = 0.2  # of the gap, that the edges of bins may cost together


@dataclass(frozen=True, slots=True)
class PriorProblem:
    """The least average error under a prior over all epsilon-LDP mechanisms, for the absolute or squared error.

    ``gap`` is the relative distance between the proven bounds at which the search stops. For densities, and data of
    more than 1000 values, the default is out of reach from about epsilon 6 on; `NoAnswer` says which gap is not, and
    holds the design found. On a `Finite` domain the prior has its weights on points of it, and outputs are points too.
    """

    epsilon: float
    prior: Prior
    loss: Loss = _ABSOLUTE
    inputs: Interval | Finite = UNIT
    gap: float = 1e-6

    def __post_init__(self) -> None:
        if isinstance(self.inputs, Finite):
            require_points_problem(self.inputs, self.loss, self.prior)
            hull = Interval(self.inputs.lower, self.inputs.upper)
        else:
            hull = self.inputs
        object.__setattr__(self, "epsilon", require_prior_problem(self.epsilon, self.prior, self.loss, hull))
        if not 1e-9 <= require_finite(self.gap, "gap") < 1:
            raise InvalidInput("gap", self.gap, "lie between 1e-9 and 1")

    @property
    def exponent(self) -> int:
        assert isinstance(self.loss, Power)
        return int(self.loss.exponent)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "prior",
            "epsilon": self.epsilon,
            "loss": self.loss.name,
            "inputs": domain_to_dict(self.inputs),
            "criterion": "average under the prior",
            "prior": self._prior_to_dict(),
            "gap": self.gap,
        }

    def _prior_to_dict(self) -> dict[str, Any]:
        if isinstance(self.inputs, Finite):
            return {"name": "weights", "weights": weights_on(self.inputs, self.prior).tolist()}
        return echo_of(self.prior)


def require_prior_problem(epsilon: float, prior: Prior, loss: Loss, inputs: Interval) -> float:
    """The epsilon of a problem with a prior on an interval, or `InvalidInput`."""
    number = require_epsilon(epsilon)
    if not LEAST_EPSILON <= number <= MOST_EPSILON:
        raise InvalidInput(
            "eps", epsilon, f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
        )
    if loss not in (Power(1.0), Power(2.0)):
        raise InvalidInput("loss", loss, "be absolute or squared for a certified optimum")
    if not isinstance(inputs, Interval):
        raise InvalidInput("domain", str(inputs), "be an interval for a certified optimum")
    if isinstance(prior, Atoms):
        inputs.require(prior.points, "prior points")
    elif not isinstance(prior, Density):
        raise InvalidInput("prior", prior, "be priors.Atoms or priors.Density")
    elif not isinstance(prior.domain, Interval) or not inputs.contains(prior.domain):
        raise InvalidInput("prior", f"{prior.name} on {prior.domain}", f"live inside the inputs {inputs}")
    return number


def optimal_prior(problem: PriorProblem, seconds: float | None = None) -> Design:
    """The certified optimum, or `NoAnswer` if the cells or the time run out first, with the design found until then.

    >>> two = Atoms([0.0, 1.0], [0.5, 0.5])
    >>> design = optimal_prior(PriorProblem(1.0, two, Power(2.0)))
    >>> [round(end, 8) for end in (design.certificate.lower, design.certificate.upper)]  # c / (1 + c)^2
    [0.19661193, 0.19661193]
    """
    seconds = require_seconds(seconds)
    if isinstance(problem.inputs, Finite):
        return optimal_on_points(problem, problem.inputs, problem.loss, problem.prior, problem.gap, seconds)
    started = time.perf_counter()
    deadline = math.inf if seconds is None else started + seconds
    found, timely = _search(problem, deadline)
    evidence = BinsBound(problem.epsilon, problem.exponent, found.cells)
    lower, upper = evidence.bound(found.mechanism), evidence.attained(found.mechanism)
    lower = min(lower, upper)
    stopped = "the cells ran out" if timely else "the time limit was reached"
    scope = evidence.scope(found.mechanism)
    certificate = Certificate(lower, upper, scope, False, found.mechanism.privacy_loss(), evidence)
    details: dict[str, Any] = {
        "outputs": int(found.mechanism.points.size),
        "cells": int(found.cells.means.size),
        "rounds": found.rounds,
    }
    if certificate.relative_gap > problem.gap:
        details["stopped"] = stopped
    report = Report(
        time.perf_counter() - started,
        "shortest path over bins",
        versions("numpy", "scipy"),
        MappingProxyType(details),
    )
    step = f"{stopped} (a prior of at most {MOST_ATOMS} values has no such limit)"
    return within_gap(Design(problem, found.mechanism, certificate, report), problem.gap, step)


# -- the search -------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    mechanism: Window
    cells: Cells
    rounds: int


def _search(problem: PriorProblem, deadline: float) -> tuple[_Found, bool]:
    """Refine the cells that edges and outputs meet until the bounds meet; whether it ended before the deadline."""
    source = _source(problem.prior)
    cuts, cells = source.start()
    ratio = largest_safe_height(problem.epsilon, 1.0)
    for rounds in range(1, _MOST_ROUNDS + 1):
        best = _bins(problem, cells, ratio)
        found = _Found(best.mechanism, cells, rounds)
        if best.upper - best.lower <= 0.5 * problem.gap * best.upper or cells.are_atoms:
            return found, True
        allowed = _SHARE * problem.gap * best.upper / best.mechanism.points.size
        doomed = np.flatnonzero(best.doubts > allowed)
        if doomed.size == 0:
            doomed = np.argsort(best.doubts)[-8:]
        # as many of the worst as the limits have room for
        most = math.sqrt(min(_MOST_CELLS**2, max(0.0, deadline - time.perf_counter()) / _PROOF_SECONDS))
        room = int(most - cells.means.size) // (_PARTS - 1)
        if room < min(max(8, cells.means.size // 20), doomed.size):
            return found, most == _MOST_CELLS
        if doomed.size > room:
            doomed = np.sort(doomed[np.argsort(best.doubts[doomed])[-room:]])
        cuts, cells = source.refined(cuts, cells, doomed)
    return found, True


class _Bins(NamedTuple):
    """The best bins for some cells, bounds of the optimum in doubles, and what each cell adds to their distance."""

    mechanism: Window
    lower: float
    upper: float
    doubts: Floats


def _bins(problem: PriorProblem, cells: Cells, ratio: float) -> _Bins:
    weights = cells.weights / cells.weights.sum()
    places = cells.means - cells.means[0]
    costs = bin_costs(places, weights, ratio, problem.exponent)
    none = np.zeros(places.size + 1)
    sure = best_partition(costs, none, ratio)
    mechanism = _mechanism(problem, cells, ratio, sure.edges)
    if cells.are_atoms:
        return _Bins(mechanism, sure.value, sure.value, none[1:])
    penalties = (ratio - 1) * np.array([float(value) for value in cells.penalties(problem.exponent)])
    loose = best_partition(costs, penalties, ratio)
    variance = float(np.dot(weights, cells.variances)) if problem.exponent == 2 else 0.0
    spread = _spread(cells)
    doubts = np.zeros(places.size)
    for edges in (sure.edges, loose.edges):
        near = np.unique(np.clip([e + k for e in edges for k in (-1, 0)], 0, places.size - 1))
        scale = 1.0 if problem.exponent == 1 else float(cells.highs[-1] - cells.lows[0])
        doubts[near] = (ratio - 1) * spread[near] * scale
        if problem.exponent == 1:
            near = bin_medians(weights, edges, ratio)
            doubts[near] = np.maximum(doubts[near], ratio * spread[near])
    doubts /= ratio - 1 + len(sure.edges) - 1
    excess = float(doubts[bin_medians(weights, sure.edges, ratio)].sum()) if problem.exponent == 1 else 0.0
    return _Bins(mechanism, loose.value + variance, sure.value + variance + excess, doubts)


def _spread(cells: Cells) -> Floats:
    """The most that ``weight * E|x - mean|`` can be in each cell."""
    widths = cells.highs - cells.lows
    inner = 2 * (cells.means - cells.lows) * (cells.highs - cells.means)
    at_ends = np.divide(inner, widths, out=np.zeros_like(inner), where=widths > 0)
    return np.asarray(cells.weights * np.minimum(at_ends, np.sqrt(cells.variances)))


def _mechanism(problem: PriorProblem, cells: Cells, ratio: float, edges: list[int]) -> Window:
    """Bins with the same output are one."""
    weights = cells.weights / cells.weights.sum()
    points = np.unique(bin_outputs(cells.means, weights, edges, ratio, problem.exponent))
    base = np.full(points.size, 1.0 if points.size == 1 else 1 / (points.size - 1 + ratio))
    assert isinstance(problem.inputs, Interval)
    return Window(problem.epsilon, problem.inputs, points, base, ratio, "randomised response on bins")


# -- where cells come from --------------------------------------------------------------------------------------------


class _Source(Protocol):
    """A prior that can be cut into cells."""

    def start(self) -> tuple[Cuts, Cells]: ...
    def refined(self, cuts: Cuts, cells: Cells, doomed: NDArray[np.intp]) -> tuple[Cuts, Cells]: ...


def _source(prior: Prior) -> _Source:
    return _Data(prior) if isinstance(prior, Atoms) else _Law(prior)


class _Data:
    """Values with weights: a cell is a run of neighbouring values, cuts are the places where runs start."""

    def __init__(self, prior: Atoms) -> None:
        self.points, where = np.unique(prior.points, return_inverse=True)
        self.weights = np.bincount(where.ravel(), weights=prior.weights)
        kept = self.weights > 0
        self.points, self.weights = self.points[kept], self.weights[kept]

    def start(self, most: int = MOST_ATOMS) -> tuple[Cuts, Cells]:
        count = self.points.size
        if count <= most:
            cuts = np.arange(count + 1)
        else:
            levels = np.linspace(0, self.weights.sum(), min(_FIRST_CELLS, most) + 1)[1:-1]
            cuts = np.unique([0, *np.searchsorted(np.cumsum(self.weights), levels), count])
        return cuts, self._cells(cuts)

    def refined(self, cuts: Cuts, cells: Cells, doomed: NDArray[np.intp]) -> tuple[Cuts, Cells]:
        starts, stops = cuts[doomed], cuts[doomed + 1]
        new = [starts + (stops - starts) * k // _PARTS for k in range(1, _PARTS)]
        cuts = np.unique(np.concatenate([cuts, *new]))
        return cuts, self._cells(cuts)

    def _cells(self, cuts: Cuts) -> Cells:
        starts, sizes = cuts[:-1], np.diff(cuts)
        lows, highs = self.points[starts], self.points[cuts[1:] - 1]
        masses = np.add.reduceat(self.weights, starts)
        above = self.points - np.repeat(lows, sizes)
        means = lows + np.add.reduceat(self.weights * above, starts) / masses
        means = np.where(lows == highs, lows, np.clip(means, lows, highs))
        around = self.points - np.repeat(means, sizes)
        variances = np.add.reduceat(self.weights * around * around, starts) / masses
        variances = np.minimum(variances, (means - lows) * (highs - means))  # of subnormal weights
        return Cells(lows, highs, means, masses, np.where(lows == highs, 0.0, variances))


class _Law:
    """A density: a cell is an interval, its moments are Gauss-Legendre sums in doubles."""

    def __init__(self, prior: Density) -> None:
        self.prior = prior

    def start(self) -> tuple[Cuts, Cells]:
        cuts, cells = self._cells(first_cuts(self.prior, _FIRST_CELLS))
        total = float(cells.weights.sum())
        if not abs(total - 1) <= 1e-6:
            raise InvalidInput("prior", f"{self.prior.name} of mass {total!r}", "have mass 1", "give its break points")
        return cuts, cells

    def refined(self, cuts: Cuts, cells: Cells, doomed: NDArray[np.intp]) -> tuple[Cuts, Cells]:
        lows, highs = cells.lows[doomed], cells.highs[doomed]
        new = [lows + (highs - lows) * k / _PARTS for k in range(1, _PARTS)]
        return self._cells(np.unique(np.concatenate([cuts, *new])))

    def _cells(self, cuts: Cuts) -> tuple[Cuts, Cells]:
        return cuts, density_cells(self.prior, cuts)


def rounded_to_atoms(prior: Prior, most: int) -> Cells:
    """The prior itself if it has at most ``most`` values, else the means of about as many cells: its mean is kept.

    Cells are of equal weight for data, and of equal width between break points for densities.
    """
    cells = _Data(prior).start(most)[1] if isinstance(prior, Atoms) else _Law(prior).start()[1]
    if cells.are_atoms:
        return cells
    kept = np.append(True, np.diff(cells.means) > 0)
    return Cells.of_atoms(cells.means[kept], cells.weights[kept])


def is_rounded(prior: Prior, most: int) -> bool:
    """Whether `rounded_to_atoms` takes another prior in place of this one."""
    return isinstance(prior, Density) or _Data(prior).points.size > most


def echo_of(prior: Prior) -> dict[str, Any]:
    """What a problem says of its prior in a file."""
    source = _source(prior)
    cells = source.start()[1]
    name, values = ("data", int(prior.points.size)) if isinstance(prior, Atoms) else (prior.name, None)
    echo = prior_echo(cells, name, values) | {"profile": None if cells.are_atoms else cells.profile()}
    echo["law"] = law_of(prior, cells) if isinstance(prior, Density) else None
    if isinstance(source, _Data) and source.points.size <= _MOST_CELLS:
        # a search may refine cells down to the values
        echo["sha256"] = source.start(_MOST_CELLS)[1].digest()
    return echo
