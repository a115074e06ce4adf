"""The mechanism with the smallest worst-case error over *all* epsilon-LDP mechanisms on an interval, with its proof.

**Formulation.** Given a base measure mu (``mu <= q(.|x) <= c mu``) each input's best law tops up the outputs nearest to
it, and its error is ``F(x; mu) = max over v of v + sum_y mu(y) phi(loss(y, x) - v)``, ``phi(t) = min(t, c t)``. So the
optimum is

    ``min over mu of max over x of F(x; mu)``,   ``1/c <= |mu| <= 1``.

**Programs.** From above, cutting planes over the base measure (`mechdesign.methods.minimax.base_measure`); from below,
a least-favourable prior (`mechdesign.methods.minimax.least_favourable`). Both are piecewise linear on meshes of a fine
grid that are refined where they bend or jump, so that programs stay small while outputs lie thousands to the unit.

**Proof.** The upper bound is the exact worst error of the mechanism over all real inputs. The lower bound is that of
the prior's atoms for every mechanism with any outputs (`mechdesign.methods.minimax.proof`), in rational arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from mechdesign_solvers import SolverError

from mechdesign.errors import InvalidInput
from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.mechanisms.catalogue import largest_safe_height
from mechdesign.mechanisms.sliding import Sliding
from mechdesign.mechanisms.window import Window
from mechdesign.methods.line import Line, line_of
from mechdesign.methods.method import Demands
from mechdesign.methods.minimax.base_measure import BaseStopped, BestBase, Cuts, best_base
from mechdesign.methods.minimax.least_favourable import (
    BestPrior,
    Levels,
    PriorStopped,
    best_prior,
    levels_of,
    own_levels,
)
from mechdesign.methods.minimax.mesh import Mesh
from mechdesign.methods.minimax.proof import MinimaxBound, MinimaxClaim
from mechdesign.methods.minimax.supports import MinimaxOptions, supports
from mechdesign.methods.minimax.two_outputs import two_atoms, two_input_value, two_outputs
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.words.problem import Problem

_GAP, _LEAST_GAP = 1e-4, 1e-6  # unless another is demanded, and the least that may be
_CLAIMED_ROUNDING = 1e-9
_MOST_FINE_DENSE = 1024  # without running sums the errors of all turns cost the square of the outputs
_GRID_SHARE = 0.25  # of the gap, left to the spacing of the fine grid
_GRID_ERROR = 0.072  # spacing^-2 / error of that spacing's own error, measured
_MASTER_SHARE = 0.1  # of the gap, left to the cutting planes over base measures
_SLACK_SHARE = 0.05  # of the gap, left to dips of G
_STALLED = 0.15  # of the gap: a refinement that brings less brings little
_BASE_PATIENCE, _PATIENCE = 2, 3  # such refinements in a row
_WORTH_ASKING = 0.5  # of the gap, for levels of the prior's own multipliers


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the gap or the time runs out first.

    The error holds the bounds reached and the design they belong to: ``error.design``. Without ``seconds`` the search
    takes as long as the gap needs (the command has 120 seconds unless told).

    >>> from mechdesign.words.privacy import Pure
    >>> problem = Problem(inputs=(0, 1), loss="squared", privacy=Pure(1.0))
    >>> design = answer(problem, Demands())
    >>> [round(end, 5) for end in (design.certificate.lower, design.certificate.upper)]
    [0.19661, 0.19661]
    """
    options = MinimaxOptions() if demands.options is None else demands.options
    return next(_sweep([problem], demands.within(_GAP, _LEAST_GAP), demands.clock(), options.most_outputs))


def minimax_sweep(
    problems: Iterable[Problem],
    seconds: float | None = None,
    *,
    gap: float | None = None,
    best_so_far: bool = False,
    **options: Any,
) -> Iterator[Design]:
    """The certified optima of several worst cases in turn, each search starting where the last one ended.

    ``seconds`` is the time for all of them together. With ``best_so_far`` each problem has an equal share of the time
    left, and where that is not enough for its gap the best design found is given; its certificate says how far it is.
    """
    demands = Demands(gap, seconds)
    most_outputs = MinimaxOptions(**options).most_outputs
    return _sweep(problems, demands.within(_GAP, _LEAST_GAP), demands.clock(), most_outputs, best_so_far=best_so_far)


def _sweep(
    problems: Iterable[Problem], gap: float, clock: Clock, most_outputs: int, *, best_so_far: bool = False
) -> Iterator[Design]:
    asked = list(problems) if best_so_far else []
    last: _MinimaxSearch | None = None
    for place, problem in enumerate(asked or problems):
        line = _required_line(problem)
        mine = clock.share(len(asked) - place if best_so_far else 1)
        mechanism = two_outputs(line.epsilon, line.exponent, line.inputs)
        if mechanism is not None:
            found, stopped = _in_closed_form(mechanism, line), "the doubles of the domain ran out"
        else:
            search = _MinimaxSearch(line, gap, most_outputs, mine.deadline, last)
            stopped = search.run()
            found = search.found()
            last = search if search.is_whole else last
        design = _design(problem, line, gap, found, stopped, mine)
        yield design if best_so_far else within_gap(design, gap, stopped)


def _required_line(problem: Problem) -> Line:
    missed = supports(problem)
    if missed is not None:
        raise InvalidInput("problem", problem, f"be a worst case over an interval: {missed}")
    return line_of(problem, supports)


@frozen
class _Found:
    """A mechanism, a prior on [0, 1] with its bound there in doubles, and how they were found."""

    mechanism: Window
    atoms: LevelledPrior
    bound: float
    solver: str
    details: dict[str, Any]


def _in_closed_form(mechanism: Window, line: Line) -> _Found:
    atoms = two_atoms(mechanism.ratio, line.exponent)
    bound = two_input_value(mechanism.ratio, line.exponent)
    return _Found(mechanism, atoms, bound, "closed form (two outputs)", {})


def _design(problem: Problem, line: Line, gap: float, found: _Found, stopped: str, clock: Clock) -> Design:
    evidence = _evidence(problem, line, found)
    details = {"outputs": int(found.mechanism.points.size), "atoms": int(found.atoms.inputs.size)} | found.details
    packages = versions("numpy", "scipy", "highspy")
    report = Report(clock.used, found.solver, packages, details, gap)
    return saying_why(Design(problem, found.mechanism, evidence, report), gap, stopped)


def _evidence(problem: Problem, line: Line, found: _Found) -> MinimaxBound | MinimaxClaim:
    inputs = line.inputs
    if not line.has_exact_proof:
        lower = found.bound * float(inputs.length**line.exponent) * (1 - _CLAIMED_ROUNDING)
        return MinimaxClaim(min(lower, MinimaxClaim(lower).attained(problem, found.mechanism)))
    # an end may round to just outside the inputs; the bound is derived anew from the places stored
    places = np.clip(inputs.lower + found.atoms.inputs * inputs.length, inputs.lower, inputs.upper)
    return MinimaxBound(LevelledPrior(places, found.atoms.radii * inputs.length, found.atoms.weights))


class _MinimaxSearch:
    """Both sides on [0, 1], on a grid that is made finer until they meet."""

    def __init__(
        self, line: Line, gap: float, most_outputs: int, deadline: float | None, last: _MinimaxSearch | None
    ) -> None:
        self.line, self.gap, self.deadline = line, gap, deadline
        self.exponent = line.exponent
        self.ratio = largest_safe_height(line.epsilon, 1.0)
        self.base: BestBase | None = None
        self.prior: BestPrior | None = None
        self.window: Sliding | None = None
        self.worst = math.inf
        self.atoms = two_atoms(self.ratio, self.exponent)
        self.bound = two_input_value(self.ratio, self.exponent)
        self.most_fine = 1 << int(math.log2(most_outputs - 1))
        if not line.has_exact_proof:
            self.most_fine = min(self.most_fine, _MOST_FINE_DENSE)
        self.fine = min(self.most_fine, 256)
        self.base_mesh = self.prior_mesh = Mesh.coarse(self.fine)
        self.cuts, self.rows = Cuts.first(), np.empty(0)
        self.own: list[Levels] = []
        self.is_whole = False
        if last is not None and last.exponent == self.exponent and last.fine <= self.most_fine:
            self._start_from(last)

    def run(self) -> str:
        """Until the gap is met or a limit reached; why it stopped."""
        try:
            self._start_fine_enough()
            while True:
                self._improve_base()
                self._improve_prior()
                if self._room() <= self.gap or self.fine >= self.most_fine:
                    self.is_whole = True
                    return "the search ended"
                self._make_finer()
        except (BaseStopped, PriorStopped):
            return "the time limit was reached"
        except SolverError as stopped:
            return f"the solver gave up ({stopped})"

    def found(self) -> _Found:
        """The best of both sides; at worst what two inputs forbid and a constant output achieves."""
        inputs = self.line.inputs
        points, base, ratio = np.array([inputs.middle]), np.ones(1), self.ratio
        if self.window is not None:
            fill = self.window.fill
            points, base, ratio = inputs.lower + fill.points * inputs.length, fill.base, fill.ratio
        mechanism = Window(self.line.epsilon, inputs, points, base, ratio, "minimax")
        return _Found(mechanism, self.atoms, self.bound, "cutting planes (HiGHS)", {"grid": self.fine + 1})

    def _start_from(self, last: _MinimaxSearch) -> None:
        self.cuts, self.rows = last.cuts, last.rows
        self.fine = last.fine
        self.base_mesh = last.base_mesh.coarsened(last.base_masses)
        self.prior_mesh = last.prior_mesh.coarsened(last.prior_masses)

    def _room(self) -> float:
        assert self.base is not None
        assert self.prior is not None
        return (self.base.worst - self.prior.bound) / self.base.worst

    def _make_finer(self) -> None:
        self.fine *= 2
        self.base_mesh, self.prior_mesh = self.base_mesh.finer(), self.prior_mesh.finer()
        self.own = [level.finer() for level in self.own]

    def _start_fine_enough(self) -> None:
        """One coarse solve tells how wide the windows are, and so which spacing the gap allows.

        A coarse prior goes with it, so that a time limit finds a bound.
        """
        self._solve_base()
        assert self.base is not None
        if self.deadline is not None:
            self._improve_prior()
        wanted = math.sqrt(_GRID_ERROR / (_GRID_SHARE * self.gap)) / self.base.worst ** (1 / self.exponent)
        while self.fine < min(wanted, self.most_fine):
            self._make_finer()

    def _solve_base(self) -> BestBase:
        gap = _MASTER_SHARE * self.gap
        try:
            found = best_base(self.base_mesh, self.exponent, self.ratio, self.cuts, gap, self.deadline)
        except BaseStopped as stopped:
            self._keep_window(stopped.window, stopped.worst)
            raise
        self._keep_window(found.window, found.worst)
        self.cuts = found.cuts
        if self.base is None or found.worst < self.base.worst:
            self.base = found
        return found

    def _improve_base(self) -> None:
        stalls = 0
        while True:
            before = math.inf if self.base is None else self.base.worst
            self.base_masses = self._solve_base().masses
            refined = self.base_mesh.refined(self.base_masses)
            assert self.base is not None
            stalls = stalls + 1 if before - self.base.worst < _STALLED * self.gap * self.base.worst else 0
            if refined is None or stalls == _BASE_PATIENCE:
                return
            self.base_mesh = refined

    def _improve_prior(self) -> None:
        """Refine the prior; where its own multipliers know far better levels than the base measure, offer them too."""
        assert self.base is not None
        fixed = levels_of(self.base.window, self.prior_mesh)
        asks, stalls = True, 0
        while True:
            before = 0.0 if self.prior is None else self.prior.bound
            found = self._solve_prior(fixed)
            asks = asks or stalls > 0
            while asks and self._room() > self.gap:
                self.own.append(own_levels(found, self.prior_mesh))
                offered = self._solve_prior(fixed)
                asks = offered.bound - found.bound > _WORTH_ASKING * (self.base.worst - offered.bound)
                found = max(found, offered, key=lambda one: one.bound)
                self.own = [level for level, used in zip(self.own, offered.used[len(fixed) :], strict=True) if used]
            assert self.prior is not None
            self.prior_masses = found.masses
            refined = self.prior_mesh.refined(found.masses)
            if refined is None or stalls:
                refined = (refined or self.prior_mesh).halved_where(found.missed)
            stalls = stalls + 1 if self.prior.bound - before < _STALLED * (self.base.worst - self.prior.bound) else 0
            if refined is None or stalls == _PATIENCE or self._room() <= self.gap:
                return
            self.prior_mesh = refined

    def _solve_prior(self, fixed: list[Levels]) -> BestPrior:
        assert self.base is not None
        levels = fixed + self.own
        slack = _SLACK_SHARE * self.gap * self.base.worst
        try:
            found = best_prior(self.prior_mesh, levels, self.exponent, self.ratio, self.rows, slack, self.deadline)
        except PriorStopped as stopped:
            self._keep_atoms(stopped.atoms, stopped.bound)
            raise
        self._keep_atoms(found.atoms, found.bound)
        self.rows = found.rows
        if self.prior is None or found.bound > self.prior.bound:
            self.prior = found
        return found

    def _keep_window(self, window: Sliding | None, worst: float) -> None:
        if worst < self.worst:
            self.window, self.worst = window, worst

    def _keep_atoms(self, atoms: LevelledPrior | None, bound: float) -> None:
        if atoms is not None and bound > self.bound:
            self.atoms, self.bound = atoms, bound
