"""The mechanism with the least average error under a prior over *all* epsilon-LDP mechanisms on a line, with its proof.

**Form.** Randomised response on bins is optimal (`mechdesign.exact.bins` has the theorem): k outputs, the
nearest with probability ``c / (c + k - 1)``, any other with ``1 / (c + k - 1)``, ``c = e^eps``. It is a window
mechanism with equal masses, defined for every real input.

**Search.** The bins are a shortest path over their edges, with Dinkelbach's method for the ratio; no solver is needed.
Data of few values are taken as they are. Data of many values, or a density, become cells, refined only where edges of
bins (and, for the absolute error, outputs) fall, until the bound that holds for every prior with these cells meets the
most that the mechanism can average under any of them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.exact.cuts import as_held, atom_cells, coarse_cells, density_cells, first_cuts, first_runs
from mechdesign.exact.partition import best_partition, bin_costs, bin_medians, bin_outputs
from mechdesign.mechanisms.catalogue import largest_safe_height
from mechdesign.mechanisms.window import Window
from mechdesign.methods.line import Line, line_of
from mechdesign.methods.method import Demands
from mechdesign.methods.prior.proof import BinsBound
from mechdesign.methods.prior.supports import MOST_ATOMS, supports
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved
from mechdesign.words.cells import Cells, KnownPrior, distinct
from mechdesign.words.criteria import Average
from mechdesign.words.priors import Atoms, Density
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]
Cuts = NDArray[Any]

_GAP = 1e-6  # unless another is demanded
_PARTS = 3
_MOST_ROUNDS = 100
_MOST_CELLS = 2500  # keeps the proof, which is quadratic in them, at a second or two
_PROOF_SECONDS = 1e-6  # for each pair of cells: the search leaves time for the proof
_SHARE = 0.2  # of the gap, that the edges of bins may cost together


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the cells or the time run out first, with the design found until then.

    For densities, and data of more than 1000 values, the usual gap of 1e-6 is out of reach from about epsilon 6 on;
    `NoAnswer` says which gap is not, and holds the design found. A density that is a function can be asked about, but
    not be in a file: the design's own problem then has the `Cells` that were cut from it as its prior, and is proven
    for every prior with these cells.

    >>> from mechdesign.words.privacy import Pure
    >>> two = Atoms([0.0, 1.0], [0.5, 0.5])
    >>> problem = Problem(inputs=(0, 1), loss="squared", privacy=Pure(1.0), criterion=Average(two))
    >>> design = answer(problem, Demands())
    >>> [round(end, 8) for end in (design.certificate.lower, design.certificate.upper)]  # c / (1 + c)^2
    [0.19661193, 0.19661193]
    """
    line, clock, gap = line_of(problem, supports), demands.clock(), demands.within(_GAP)
    found, timely = _search(line, gap, clock)
    stopped = "the cells ran out" if timely else "the time limit was reached"
    details: dict[str, Any] = {
        "outputs": int(found.mechanism.points.size),
        "cells": int(found.cells.means.size),
        "rounds": found.rounds,
    }
    prior = as_held(line.prior, found.cells)
    held = evolved(problem, criterion=Average(prior))
    evidence = BinsBound(None if isinstance(prior, Cells) else found.cuts)
    report = Report(clock.used, "shortest path over bins", versions("numpy", "scipy"), details, gap)
    design = saying_why(Design(held, found.mechanism, evidence, report), gap, stopped)
    return within_gap(design, gap, f"{stopped} (a prior of at most {MOST_ATOMS} values has no such limit)")


# -- the search -------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    mechanism: Window
    cuts: Floats | None
    cells: Cells
    rounds: int


def _search(line: Line, gap: float, clock: Clock) -> tuple[_Found, bool]:
    """Refine the cells that edges and outputs meet until the bounds meet; whether it ended before the deadline."""
    source = _source(line.prior)
    cuts, cells = source.start()
    ratio = largest_safe_height(line.epsilon, 1.0)
    for rounds in range(1, _MOST_ROUNDS + 1):
        best = _bins(line, cells, ratio)
        found = _Found(best.mechanism, None if cells.are_atoms else source.places(cuts), cells, rounds)
        if best.upper - best.lower <= 0.5 * gap * best.upper or cells.are_atoms:
            return found, True
        allowed = _SHARE * gap * best.upper / best.mechanism.points.size
        doomed = np.flatnonzero(best.doubts > allowed)
        if doomed.size == 0:
            doomed = np.argsort(best.doubts)[-8:]
        # as many of the worst as the limits have room for
        left = clock.left()
        most = _MOST_CELLS if left is None else math.sqrt(min(_MOST_CELLS**2, left / _PROOF_SECONDS))
        room = int(most - cells.means.size) // (_PARTS - 1)
        if room < min(max(8, cells.means.size // 20), doomed.size):
            return found, most == _MOST_CELLS
        if doomed.size > room:
            doomed = np.sort(doomed[np.argsort(best.doubts[doomed])[-room:]])
        cuts, finer = source.refined(cuts, cells, doomed)
        if finer is cells:
            return found, True
        cells = finer
    return found, True


class _Bins(NamedTuple):
    """The best bins for some cells, bounds of the optimum in doubles, and what each cell adds to their distance."""

    mechanism: Window
    lower: float
    upper: float
    doubts: Floats


def _bins(line: Line, cells: Cells, ratio: float) -> _Bins:
    exponent = int(line.exponent)
    weights = cells.weights / cells.weights.sum()
    places = cells.means - cells.means[0]
    costs = bin_costs(places, weights, ratio, exponent)
    none = np.zeros(places.size + 1)
    sure = best_partition(costs, none, ratio)
    mechanism = _mechanism(line, cells, ratio, sure.edges)
    if cells.are_atoms:
        return _Bins(mechanism, sure.value, sure.value, none[1:])
    penalties = (ratio - 1) * np.array([float(value) for value in cells.penalties(exponent)])
    loose = best_partition(costs, penalties, ratio)
    variance = float(np.dot(weights, cells.variances)) if exponent == 2 else 0.0
    spread = _spread(cells)
    doubts = np.zeros(places.size)
    for edges in (sure.edges, loose.edges):
        near = np.unique(np.clip([e + k for e in edges for k in (-1, 0)], 0, places.size - 1))
        scale = 1.0 if exponent == 1 else float(cells.highs[-1] - cells.lows[0])
        doubts[near] = (ratio - 1) * spread[near] * scale
        if exponent == 1:
            near = bin_medians(weights, edges, ratio)
            doubts[near] = np.maximum(doubts[near], ratio * spread[near])
    doubts /= ratio - 1 + len(sure.edges) - 1
    excess = float(doubts[bin_medians(weights, sure.edges, ratio)].sum()) if exponent == 1 else 0.0
    return _Bins(mechanism, loose.value + variance, sure.value + variance + excess, doubts)


def _spread(cells: Cells) -> Floats:
    """The most that ``weight * E|x - mean|`` can be in each cell."""
    widths = cells.highs - cells.lows
    inner = 2 * (cells.means - cells.lows) * (cells.highs - cells.means)
    at_ends = np.divide(inner, widths, out=np.zeros_like(inner), where=widths > 0)
    return np.asarray(cells.weights * np.minimum(at_ends, np.sqrt(cells.variances)))


def _mechanism(line: Line, cells: Cells, ratio: float, edges: list[int]) -> Window:
    """Bins with the same output are one."""
    weights = cells.weights / cells.weights.sum()
    points = np.unique(bin_outputs(cells.means, weights, edges, ratio, int(line.exponent)))
    base = np.full(points.size, 1.0 if points.size == 1 else 1 / (points.size - 1 + ratio))
    return Window(line.epsilon, line.inputs, points, base, ratio, "randomised response on bins")


# -- where cells come from --------------------------------------------------------------------------------------------


class _Source(Protocol):
    """A prior that can be cut into cells."""

    def start(self) -> tuple[Cuts, Cells]: ...
    def refined(self, cuts: Cuts, cells: Cells, doomed: NDArray[np.intp]) -> tuple[Cuts, Cells]: ...
    def places(self, cuts: Cuts) -> Floats:
        """The cuts inside the prior, as evidence holds them."""
        ...


def _source(prior: KnownPrior) -> _Source:
    match prior:
        case Atoms():
            return _Data(prior)
        case Density():
            return _Law(prior)
        case Cells():
            return _Fixed(prior)


class _Fixed:
    """Cells of which no more is known."""

    def __init__(self, prior: Cells) -> None:
        self.prior = prior

    def start(self) -> tuple[Cuts, Cells]:
        return np.empty(0), self.prior

    def refined(self, cuts: Cuts, cells: Cells, doomed: NDArray[np.intp]) -> tuple[Cuts, Cells]:
        return cuts, cells

    def places(self, cuts: Cuts) -> Floats:
        return cuts


class _Data:
    """Values with weights: a cell is a run of neighbouring values, cuts are the places where runs start."""

    def __init__(self, prior: Atoms) -> None:
        self.points, self.weights = distinct(prior)

    def start(self) -> tuple[Cuts, Cells]:
        cuts = first_runs(self.weights, MOST_ATOMS)
        return cuts, atom_cells(self.points, self.weights, cuts)

    def refined(self, cuts: Cuts, cells: Cells, doomed: NDArray[np.intp]) -> tuple[Cuts, Cells]:
        starts, stops = cuts[doomed], cuts[doomed + 1]
        new = [starts + (stops - starts) * k // _PARTS for k in range(1, _PARTS)]
        cuts = np.unique(np.concatenate([cuts, *new]))
        return cuts, atom_cells(self.points, self.weights, cuts)

    def places(self, cuts: Cuts) -> Floats:
        return self.points[cuts[1:-1]]


class _Law:
    """A density: a cell is an interval, its moments are Gauss-Legendre sums in doubles."""

    def __init__(self, prior: Density) -> None:
        self.prior = prior

    def start(self) -> tuple[Cuts, Cells]:
        return first_cuts(self.prior), coarse_cells(self.prior, MOST_ATOMS)

    def refined(self, cuts: Cuts, cells: Cells, doomed: NDArray[np.intp]) -> tuple[Cuts, Cells]:
        lows, highs = cells.lows[doomed], cells.highs[doomed]
        new = [lows + (highs - lows) * k / _PARTS for k in range(1, _PARTS)]
        cuts = np.unique(np.concatenate([cuts, *new]))
        return cuts, density_cells(self.prior, cuts)

    def places(self, cuts: Cuts) -> Floats:
        return np.asarray(cuts[1:-1])
