"""An exact simplex over fractions, for small linear programs: no rounding, every answer carries its proof.

Each row gets a variable of its own, ``matrix @ x - r = 0``, so that rows and columns differ no more: both
are variables with bounds. Shifting, mirroring or splitting each of them, and one more row per two-sided
bound, gives the standard form ``A u = b, u >= 0``, which two phases of the tableau method solve under
Bland's rule (Bland 1977), so that no degenerate program cycles.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from mechdesign_solvers.errors import ProgramError
from mechdesign_solvers.programs import NO_LIMITS, FloatArray, Limits, LinearProgram, Program
from mechdesign_solvers.protocol import Capability, kind_of, require
from mechdesign_solvers.solution import Solution, Status

Vector = tuple[Fraction, ...]
Bounds = tuple[Fraction | None, ...]

_ZERO = Fraction(0)
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class RationalProgram:
    """A linear program in exact fractions; ``None`` stands for an infinite bound.

    >>> program = RationalProgram.of(LinearProgram.of([2, 3], [[1, 1]], row_lower=1, lower=0))
    >>> program.objective_at((Fraction(1, 3), Fraction(2, 3)))
    Fraction(8, 3)
    >>> program.bound_at((Fraction(2),)), program.bound_at((Fraction(3),))
    (Fraction(2, 1), None)
    """

    cost: Vector
    matrix: tuple[Vector, ...]
    row_lower: Bounds
    row_upper: Bounds
    lower: Bounds
    upper: Bounds

    def __post_init__(self) -> None:
        rows, columns = len(self.matrix), len(self.cost)
        if any(len(row) != columns for row in self.matrix):
            raise ProgramError("matrix", "rows of other lengths", f"must have {columns} entries in each row")
        for field, bounds, size in (
            ("row_lower", self.row_lower, rows),
            ("row_upper", self.row_upper, rows),
            ("lower", self.lower, columns),
            ("upper", self.upper, columns),
        ):
            if len(bounds) != size:
                raise ProgramError(field, f"{len(bounds)} entries", f"must have {size} entries")
        pairs = (*zip(self.row_lower, self.row_upper, strict=True), *zip(self.lower, self.upper, strict=True))
        if any(low is not None and high is not None and low > high for low, high in pairs):
            raise ProgramError("lower", "crossed bounds", "must not exceed upper, for rows and columns")

    @classmethod
    def of(cls, program: LinearProgram) -> RationalProgram:
        """The same program: every float is a fraction, so nothing is lost."""
        return cls(
            _fractions(program.cost),
            tuple(_fractions(row) for row in program.matrix.toarray()),
            _finite(program.row_lower),
            _finite(program.row_upper),
            _finite(program.lower),
            _finite(program.upper),
        )

    def objective_at(self, point: Sequence[Fraction]) -> Fraction:
        """The value ``cost @ x``."""
        return _dot(self.cost, point)

    def is_feasible(self, point: Sequence[Fraction]) -> bool:
        """Whether the point satisfies every row and bound."""
        rows = [_dot(row, point) for row in self.matrix]
        return _within(rows, self.row_lower, self.row_upper) and _within(point, self.lower, self.upper)

    def bound_at(self, row_duals: Sequence[Fraction]) -> Fraction | None:
        """The lower bound on the optimum which any row multipliers prove; ``None`` if it is infinite.

        This is the dual objective of :mod:`mechdesign_solvers.duality`, exactly.
        """
        return self._support(row_duals, self.reduced_costs(row_duals))

    def proves_infeasible(self, multipliers: Sequence[Fraction]) -> bool:
        """Whether these are Farkas multipliers: with cost zero they bound the optimum above zero."""
        costless = [-total for total in self._combine(multipliers)]
        bound = self._support(multipliers, costless)
        return bound is not None and bound > 0

    def proves_unbounded(self, direction: Sequence[Fraction]) -> bool:
        """Whether the direction keeps every row and bound for ever and lowers the cost."""
        rows = [_dot(row, direction) for row in self.matrix]
        return (
            _recedes(rows, self.row_lower, self.row_upper)
            and _recedes(direction, self.lower, self.upper)
            and self.objective_at(direction) < 0
        )

    def reduced_costs(self, row_duals: Sequence[Fraction]) -> Vector:
        """``cost - matrix.T @ row_duals``."""
        return tuple(c - total for c, total in zip(self.cost, self._combine(row_duals), strict=True))

    def _combine(self, multipliers: Sequence[Fraction]) -> list[Fraction]:
        totals = [_ZERO] * len(self.cost)
        for multiplier, row in zip(multipliers, self.matrix, strict=True):
            if multiplier:
                totals = [total + multiplier * entry for total, entry in zip(totals, row, strict=True)]
        return totals

    def _support(self, row_duals: Sequence[Fraction], reduced: Sequence[Fraction]) -> Fraction | None:
        total = _ZERO
        multipliers = (*row_duals, *reduced)
        lows, highs = (*self.row_lower, *self.lower), (*self.row_upper, *self.upper)
        for multiplier, low, high in zip(multipliers, lows, highs, strict=True):
            if multiplier:
                side = low if multiplier > 0 else high
                if side is None:
                    return None
                total += multiplier * side
        return total


@dataclass(frozen=True, slots=True)
class ExactSolution:
    """An exact outcome; signs as in :class:`~mechdesign_solvers.solution.Solution`."""

    status: Status
    primal: Vector | None = None
    objective: Fraction | None = None
    row_duals: Vector | None = None
    reduced_costs: Vector | None = None
    ray: Vector | None = None
    pivots: int = 0


@dataclass(frozen=True, slots=True)
class ExactSimplex:
    """The exact simplex as a solver. Meant for programs of some tens of rows and columns.

    >>> thirds = LinearProgram.of([1, 1], [[1, 2], [2, 1]], row_lower=1, lower=0)
    >>> answer = ExactSimplex().solve_exactly(thirds)
    >>> answer.objective, answer.row_duals
    (Fraction(2, 3), (Fraction(1, 3), Fraction(1, 3)))
    """

    @property
    def name(self) -> str:
        return "exact simplex"

    @property
    def capabilities(self) -> Capability:
        return Capability.LINEAR | Capability.DUALS | Capability.RAYS | Capability.DUAL_BOUND | Capability.EXACT

    def solve(self, program: Program, limits: Limits = NO_LIMITS) -> Solution:
        """Solve exactly and round the answer to floats; ``bound`` is rounded down."""
        require(self, kind_of(program))
        assert isinstance(program, LinearProgram)
        started = time.perf_counter()
        exact = self.solve_exactly(program, limits)
        bound = {Status.INFEASIBLE: math.inf}.get(exact.status, -math.inf)
        return Solution(
            status=exact.status,
            solver=self.name,
            version="1",
            seconds=time.perf_counter() - started,
            primal=_rounded(exact.primal),
            objective=None if exact.objective is None else float(exact.objective),
            bound=bound if exact.objective is None else _at_most(exact.objective),
            row_duals=_rounded(exact.row_duals),
            reduced_costs=_rounded(exact.reduced_costs),
            ray=_rounded(exact.ray),
            iterations=exact.pivots,
        )

    def solve_exactly(self, program: LinearProgram | RationalProgram, limits: Limits = NO_LIMITS) -> ExactSolution:
        """Solve in fractions: optimal point and duals, Farkas multipliers, or a ray, all exact."""
        rational = RationalProgram.of(program) if isinstance(program, LinearProgram) else program
        return _StandardForm(rational).solve(limits)


@dataclass(frozen=True, slots=True)
class _Part:
    """One nonnegative column of the standard form: its variable moves by ``sign`` times it."""

    variable: int
    sign: int


class _StandardForm:
    """``A u = b, u >= 0`` for a rational program, and the way back."""

    def __init__(self, program: RationalProgram) -> None:
        self._program = program
        self._columns = len(program.cost)
        rows = len(program.matrix)
        # Variables are the columns x and then the row values r.
        lows, highs = (*program.lower, *program.row_lower), (*program.upper, *program.row_upper)
        self._parts: list[_Part] = []
        self._origin: list[Fraction] = []
        boxes: list[tuple[int, Fraction]] = []
        for variable, (low, high) in enumerate(zip(lows, highs, strict=True)):
            if low is not None:
                if high is not None:
                    boxes.append((len(self._parts), high - low))
                self._parts.append(_Part(variable, 1))
                self._origin.append(low)
            elif high is not None:
                self._parts.append(_Part(variable, -1))
                self._origin.append(high)
            else:
                self._parts += [_Part(variable, 1), _Part(variable, -1)]
                self._origin.append(_ZERO)
        body = [self._linking_row(row) for row in range(rows)]
        rhs = [-_dot(self._coefficients(row), self._origin) for row in range(rows)]
        width = len(self._parts) + len(boxes)
        equations = [entries + [_ZERO] * len(boxes) for entries in body]
        for slack, (part, size) in enumerate(boxes, start=len(self._parts)):
            equation = [_ZERO] * width
            equation[part] = equation[slack] = _ONE
            equations.append(equation)
            rhs.append(size)
        costs = [
            part.sign * program.cost[part.variable] if part.variable < self._columns else _ZERO for part in self._parts
        ]
        self._tableau = _Tableau(equations, rhs, costs + [_ZERO] * len(boxes))

    def solve(self, limits: Limits) -> ExactSolution:
        tableau, program = self._tableau, self._program
        status = tableau.run(limits)
        if status is Status.INFEASIBLE:
            multipliers = tuple(tableau.multipliers()[: len(program.matrix)])
            return ExactSolution(status, ray=multipliers, pivots=tableau.pivots)
        if status is Status.UNBOUNDED:
            return ExactSolution(status, ray=self._back(tableau.direction), pivots=tableau.pivots)
        if status is not Status.OPTIMAL:
            return ExactSolution(status, pivots=tableau.pivots)
        moved = self._back(tableau.point())
        primal = tuple(origin + step for origin, step in zip(self._origin, moved, strict=False))
        duals = tuple(tableau.multipliers()[: len(program.matrix)])
        return ExactSolution(
            status,
            primal,
            program.objective_at(primal),
            duals,
            program.reduced_costs(duals),
            pivots=tableau.pivots,
        )

    def _coefficients(self, row: int) -> list[Fraction]:
        own = [_ZERO] * len(self._program.matrix)
        own[row] = -_ONE
        return [*self._program.matrix[row], *own]

    def _linking_row(self, row: int) -> list[Fraction]:
        coefficients = self._coefficients(row)
        return [part.sign * coefficients[part.variable] for part in self._parts]

    def _back(self, standard: Sequence[Fraction]) -> Vector:
        values = [_ZERO] * self._columns
        for part, value in zip(self._parts, standard, strict=False):
            if part.variable < self._columns:
                values[part.variable] += part.sign * value
        return tuple(values)


class _Tableau:
    """Two-phase simplex on ``A u = b, u >= 0``; one artificial column per row carries the inverse basis."""

    def __init__(self, equations: Sequence[Sequence[Fraction]], rhs: Sequence[Fraction], costs: list[Fraction]) -> None:
        self._width = len(costs)
        self._flips = [-1 if value < 0 else 1 for value in rhs]
        rows = len(equations)
        self._rows = [
            [flip * entry for entry in equation] + [_ONE if i == k else _ZERO for k in range(rows)] + [flip * value]
            for i, (equation, value, flip) in enumerate(zip(equations, rhs, self._flips, strict=True))
        ]
        self._basis = [self._width + i for i in range(rows)]
        self._costs = costs
        self._phase_costs: list[Fraction] = []
        self._price: list[Fraction] = []
        self.direction: list[Fraction] = []
        self.pivots = 0

    def run(self, limits: Limits) -> Status:
        deadline = math.inf if limits.seconds is None else time.monotonic() + limits.seconds
        steps = math.inf if limits.iterations is None else limits.iterations
        rows = len(self._rows)
        status = self._descend([_ZERO] * self._width + [_ONE] * rows, deadline, steps)
        if status is not Status.OPTIMAL:
            return status
        if self._price[-1] != 0:
            return Status.INFEASIBLE
        self._expel_artificials()
        return self._descend(self._costs + [_ZERO] * rows, deadline, steps)

    def point(self) -> list[Fraction]:
        values = [_ZERO] * self._width
        for variable, row in zip(self._basis, self._rows, strict=True):
            if variable < self._width:
                values[variable] = row[-1]
        return values

    def multipliers(self) -> list[Fraction]:
        """The duals of the equations in the present phase: cost less reduced cost of each artificial."""
        return [
            flip * (self._phase_costs[self._width + i] - self._price[self._width + i])
            for i, flip in enumerate(self._flips)
        ]

    def _descend(self, costs: list[Fraction], deadline: float, steps: float) -> Status:
        self._phase_costs = costs
        self._price = [*costs, _ZERO]
        for variable, row in zip(self._basis, self._rows, strict=True):
            self._eliminate(self._price, row, costs[variable])
        while True:
            # Bland: the first improving column, and among tied rows the first basic variable.
            entering = next((j for j in range(self._width) if self._price[j] < 0), None)
            if entering is None:
                return Status.OPTIMAL
            if time.monotonic() > deadline:
                return Status.TIME_LIMIT
            if self.pivots >= steps:
                return Status.ITERATION_LIMIT
            ratios = [
                (row[-1] / row[entering], variable, i)
                for i, (row, variable) in enumerate(zip(self._rows, self._basis, strict=True))
                if row[entering] > 0
            ]
            if not ratios:
                self.direction = self._direction(entering)
                return Status.UNBOUNDED
            self._pivot(min(ratios)[2], entering)

    def _expel_artificials(self) -> None:
        """Swap artificials that stayed basic, at zero, for true columns; a row without any is redundant."""
        for i, variable in enumerate(self._basis):
            if variable >= self._width:
                entering = next((j for j in range(self._width) if self._rows[i][j] != 0), None)
                if entering is not None:
                    self._pivot(i, entering)

    def _direction(self, entering: int) -> list[Fraction]:
        values = [_ZERO] * self._width
        values[entering] = _ONE
        for variable, row in zip(self._basis, self._rows, strict=True):
            if variable < self._width:
                values[variable] = -row[entering]
        return values

    def _pivot(self, leaving: int, entering: int) -> None:
        pivot = self._rows[leaving][entering]
        row = self._rows[leaving] = [entry / pivot for entry in self._rows[leaving]]
        for i, other in enumerate(self._rows):
            if i != leaving:
                self._eliminate(other, row, other[entering])
        self._eliminate(self._price, row, self._price[entering])
        self._basis[leaving] = entering
        self.pivots += 1

    @staticmethod
    def _eliminate(target: list[Fraction], row: list[Fraction], factor: Fraction) -> None:
        if factor:
            for j, entry in enumerate(row):
                if entry:
                    target[j] -= factor * entry


def _fractions(values: FloatArray) -> Vector:
    return tuple(Fraction(float(value)) for value in values)


def _finite(values: FloatArray) -> Bounds:
    return tuple(Fraction(float(value)) if math.isfinite(value) else None for value in values)


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if a and b), _ZERO)


def _within(values: Sequence[Fraction], lows: Bounds, highs: Bounds) -> bool:
    return all(
        (low is None or low <= value) and (high is None or value <= high)
        for value, low, high in zip(values, lows, highs, strict=True)
    )


def _recedes(values: Sequence[Fraction], lows: Bounds, highs: Bounds) -> bool:
    return all(
        (low is None or value >= 0) and (high is None or value <= 0)
        for value, low, high in zip(values, lows, highs, strict=True)
    )


def _rounded(values: Vector | None) -> FloatArray | None:
    return None if values is None else np.array([float(value) for value in values])


def _at_most(value: Fraction) -> float:
    nearest = float(value)
    return math.nextafter(nearest, -math.inf) if Fraction(nearest) > value else nearest
