"""The m-piece search as a bilinear program, for a global solver: an independent check of the reduction.

At one input x the density is written from x outwards on each side: a peak ``h``, lowered by steps ``a_i >= 0`` at
distances ``d_i`` (heights ordered away from x, which loses nothing and breaks the symmetry), down to an outermost
height ``o``. With side length U and ``z_j = a d^j``,

    mass of a side = o U + sum z_1,        error of a side = (o U^(p+1) + sum z_(p+1)) / (p + 1),

so only the definitions ``z_1 = a d``, ``z_(j+1) = z_j d`` are bilinear, and every variable has finite bounds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from mechdesign_solvers import BackendMissing, BilinearProgram, Limits, LinearProgram, Product, Scip, Solution, Status
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, MissingExtra, NoAnswer
from mechdesign.exact.piecewise import exact_error
from mechdesign.exact.rational import float_up
from mechdesign.mechanisms.catalogue import two_heights
from mechdesign.methods.broken_solver import require_working
from mechdesign.methods.method import Demands
from mechdesign.methods.piecewise.proof import PiecewiseClaim
from mechdesign.methods.piecewise.search import Bathtub, answer as reduction
from mechdesign.methods.piecewise.supports import domains_of
from mechdesign.methods.piecewise_program.supports import pieces_to_search, with_pieces
from mechdesign.methods.result import Certificate, Design, Report, versions
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

RELATIVE_GAP = 1e-6

_AGREEMENT = 2e-6
_SAME = 1e-3
_ROUNDING = 1e-9


@frozen
class FoundPieces:
    """The density a solver found at the program's input, neighbours of equal height merged."""

    edges: tuple[float, ...]
    densities: tuple[float, ...]


def answer(problem: Problem, demands: Demands) -> Design:
    """The optimal mechanism with so many pieces, 3 if left out, by global bilinear optimisation (SCIP through Pyomo).

    The lower bound is the solver's own, so the certificate says ``claimed``; the answer must agree with the reduction,
    whose proven interval stands in the report. A limit raises `NoAnswer` with the bounds reached.
    """
    clock, pieces = demands.clock(), pieces_to_search(problem)
    problem = with_pieces(problem, pieces)
    bathtub = Bathtub.of(problem)
    unit = _Unit.of(bathtub)
    try:
        solution, program = _solve_splits(unit.bathtub, pieces, clock)
    except NoAnswer as stopped:
        raise NoAnswer(stopped.reason, stopped.lower * unit.error, stopped.upper * unit.error) from None
    assert solution.primal is not None
    assert solution.objective is not None
    found = program.pieces_of(solution.primal)
    peak = float(solution.primal[program.peak]) / bathtub.length
    solution = replace(solution, objective=solution.objective * unit.error, bound=solution.bound * unit.error)
    # the solver's heights are floats with a tolerance: keep the peak, rebuild the rest as an exact mechanism
    low = min(max(peak * math.exp(-problem.epsilon), math.exp(-problem.epsilon) / bathtub.length), 1 / bathtub.length)
    mechanism = two_heights(problem.epsilon, *domains_of(problem), low, "OGPM")
    upper = float_up(exact_error(mechanism, bathtub.x, int(bathtub.exponent)))
    proven = reduction(with_pieces(problem, None), Demands()).certificate
    _require_agreement(solution, upper, proven)
    details: dict[str, Any] = {
        "solved_at": bathtub.x,
        "pieces_asked": pieces,
        "pieces_found": len(found.densities),
        "program_pieces": {
            "edges": [bathtub.lower + edge * bathtub.length for edge in found.edges],
            "densities": [density / bathtub.length for density in found.densities],
        },
        "solver_objective": solution.objective,
        "solver_bound": solution.bound,
        "reduction": [proven.lower, proven.upper],
    }
    found_with = versions("numpy", "scipy", "pyomo", "pyscipopt")
    report = Report(clock.used, solution.version, found_with, details, demands.gap)
    design = Design(problem, mechanism, PiecewiseClaim(min(solution.bound, upper)), report)
    return demands.met_by(design, "the search ended")


@frozen
class _Unit:
    """The program for outputs [0, 1], on which a solver's tolerances mean something, and the factor back for errors."""

    bathtub: Bathtub
    error: float

    @classmethod
    def of(cls, bathtub: Bathtub) -> _Unit:
        place = (bathtub.x - bathtub.lower) / bathtub.length
        return cls(Bathtub(bathtub.epsilon, bathtub.exponent, 0.0, 1.0, place), float(bathtub.length**bathtub.exponent))


def _solve_splits(bathtub: Bathtub, pieces: int, clock: Clock) -> tuple[Solution, PieceProgram]:
    """Every way to share the steps between the two sides of the input; the best solution and the least bound."""
    programs = [PieceProgram.of(bathtub, left, right) for left, right in _splits(bathtub, pieces - 1)]
    solutions: list[Solution] = []
    for program in programs:
        if solutions and clock.is_over:
            break
        solutions.append(_solve(program.program, clock.left()))
    best = min(range(len(solutions)), key=lambda k: _objective(solutions[k]))
    bound = min(solution.bound for solution in solutions)
    if len(solutions) < len(programs) or any(solution.status is not Status.OPTIMAL for solution in solutions):
        message = f"the search over {pieces} pieces stopped early ({_statuses(solutions)})"
        # no number of pieces does better than the reduction: that bound holds for the splits left out, too
        floor = bathtub.optimal_error() * (1 - _ROUNDING)
        lower = floor if len(solutions) < len(programs) else max(bound, floor)
        raise NoAnswer(message, lower, max(_objective(solutions[best]), lower))
    return replace(solutions[best], bound=bound), programs[best]


def _solve(program: BilinearProgram, seconds: float | None) -> Solution:
    try:
        return require_working(Scip().solve(program, Limits(seconds=seconds, relative_gap=RELATIVE_GAP)))
    except BackendMissing:
        raise MissingExtra("method='scip'", "scip") from None


def _objective(solution: Solution) -> float:
    return math.inf if solution.objective is None else solution.objective


def _statuses(solutions: list[Solution]) -> str:
    ended = {solution.status.value for solution in solutions} - {"optimal"}
    return ", ".join(sorted(ended)) or "time limit"


def _splits(bathtub: Bathtub, steps: int) -> list[tuple[int, int]]:
    if bathtub.x <= bathtub.lower:
        return [(0, steps)]
    if bathtub.x >= bathtub.upper:
        return [(steps, 0)]
    symmetric = bathtub.x - bathtub.lower == bathtub.upper - bathtub.x
    most = steps // 2 if symmetric else steps
    return [(left, steps - left) for left in range(most + 1)]


def _require_agreement(solution: Solution, upper: float, proven: Certificate) -> None:
    tolerance = _AGREEMENT * proven.upper
    objective = _objective(solution)
    if solution.bound > proven.upper + tolerance or min(objective, upper) < proven.lower - tolerance:
        raise CheckFailed(
            f"the solver says [{solution.bound!r}, {objective!r}], the reduction proves "
            f"[{proven.lower!r}, {proven.upper!r}]: they contradict each other"
        )
    if upper > proven.upper * (1 + 1e-3):
        raise CheckFailed(f"the solver's heights give error {upper!r}, above the optimum {proven.upper!r}")


@frozen
class PieceProgram:
    """The bilinear program for ``left`` and ``right`` steps, and where its variables are."""

    program: BilinearProgram
    bathtub: Bathtub
    peak: int
    steps: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]

    @classmethod
    def of(cls, bathtub: Bathtub, left: int, right: int) -> PieceProgram:
        return _Builder(bathtub).build(left, right)

    def pieces_of(self, point: Floats) -> FoundPieces:
        """The density a point of the program describes, equal neighbours merged and empty pieces dropped."""
        x, lower, upper = self.bathtub.x, self.bathtub.lower, self.bathtub.upper
        left, right = ([(float(point[a]), float(point[d])) for a, d in side] for side in self.steps)
        edges = [lower, *(x - d for _, d in reversed(left)), *(x + d for _, d in right), upper]
        outer_left = float(point[self.peak]) - sum(a for a, _ in left)
        heights = [outer_left]
        for a, _ in reversed(left):
            heights.append(heights[-1] + a)
        for a, _ in right:
            heights.append(heights[-1] - a)
        return _merged(edges, heights)


def _merged(edges: list[float], heights: list[float]) -> FoundPieces:
    length, mean = edges[-1] - edges[0], 1 / (edges[-1] - edges[0])
    kept_edges, kept = [edges[0]], list[float]()
    for height, stop in zip(heights, edges[1:], strict=True):
        if stop - kept_edges[-1] <= _SAME * length:
            continue
        if kept and abs(height - kept[-1]) <= _SAME * max(mean, height):
            kept_edges[-1] = stop
        else:
            kept.append(height)
            kept_edges.append(stop)
    kept_edges[-1] = edges[-1]
    return FoundPieces(tuple(kept_edges), tuple(kept))


class _Builder:
    """Collects variables and rows of one program."""

    def __init__(self, bathtub: Bathtub) -> None:
        self.bathtub = bathtub
        self.power = int(bathtub.exponent) + 1
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.cost: list[float] = []
        self.rows: list[dict[int, float]] = []
        self.row_lower: list[float] = []
        self.row_upper: list[float] = []
        self.products: list[tuple[int, Product]] = []

    def build(self, left: int, right: int) -> PieceProgram:
        tub = self.bathtub
        ratio, mean = math.exp(tub.epsilon), 1 / tub.length
        base = self.variable(mean / ratio, mean)
        peak = self.variable(mean, mean * ratio)
        self.row({peak: 1.0, base: -ratio}, -math.inf, 0.0)
        mass: dict[int, float] = {}
        steps = tuple(
            self.side(extent, count, base, peak, mass)
            for extent, count in ((tub.x - tub.lower, left), (tub.upper - tub.x, right))
        )
        self.row(mass, 1.0, 1.0)
        columns = len(self.cost)
        matrix = np.zeros((len(self.rows), columns))
        for k, row in enumerate(self.rows):
            for column, coefficient in row.items():
                matrix[k, column] = coefficient
        linear = LinearProgram.of(self.cost, matrix, self.row_lower, self.row_upper, self.lower, self.upper)
        program = BilinearProgram(linear, row_products=tuple(self.products))
        return PieceProgram(program, tub, peak, (steps[0], steps[1]))

    def side(
        self, extent: float, count: int, base: int, peak: int, mass: dict[int, float]
    ) -> tuple[tuple[int, int], ...]:
        if extent <= 0:
            return ()
        tub, power = self.bathtub, self.power
        highest = math.expm1(tub.epsilon) / tub.length
        outer = self.variable(self.lower[base], self.upper[peak], extent**power / power)
        self.row({outer: 1.0, base: -1.0}, 0.0, math.inf)
        mass[outer] = extent
        descent = {outer: 1.0, peak: -1.0}
        steps: list[tuple[int, int]] = []
        for _ in range(count):
            drop, distance = self.variable(0.0, highest), self.variable(0.0, extent)
            descent[drop] = 1.0
            if steps:
                self.row({distance: 1.0, steps[-1][1]: -1.0}, 0.0, math.inf)
            previous = drop
            for order in range(1, power + 1):
                # a drop's own mass is at most one, so z_j <= extent^(j-1)
                z = self.variable(0.0, extent ** (order - 1), 1 / power if order == power else 0.0)
                row = self.row({z: 1.0}, 0.0, 0.0)
                self.products.append((row, Product(previous, distance, -1.0)))
                if order == 1:
                    mass[z] = 1.0
                previous = z
            steps.append((drop, distance))
        self.row(descent, 0.0, 0.0)
        return tuple(steps)

    def variable(self, lower: float, upper: float, cost: float = 0.0) -> int:
        self.lower.append(lower)
        self.upper.append(upper)
        self.cost.append(cost)
        return len(self.cost) - 1

    def row(self, coefficients: dict[int, float], lower: float, upper: float) -> int:
        self.rows.append(coefficients)
        self.row_lower.append(lower)
        self.row_upper.append(upper)
        return len(self.rows) - 1
