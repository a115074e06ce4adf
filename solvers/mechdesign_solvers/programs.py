"""What is handed to a solver: linear and bilinear programs as immutable values, validated once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, sparray, spmatrix

from .errors import ProgramError

FloatArray = NDArray[np.float64]
Matrix = csr_array | sparray | spmatrix | ArrayLike

_SHOWN = 6


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram:
    """Minimise ``cost @ x`` subject to ``row_lower <= matrix @ x <= row_upper`` and ``lower <= x <= upper``.

    Infinite bounds say that a side is absent; equal bounds say equality. The matrix is held as a
    compressed sparse row array and every array is a read-only copy, so a program never changes under
    a solver. :meth:`of` takes anything array-like and spreads scalars.

    >>> program = LinearProgram.of(cost=[1, 2], matrix=[[1, 1]], row_lower=1, row_upper=1, lower=0)
    >>> program
    LinearProgram(1 rows, 2 columns, 2 nonzeros)
    >>> program.objective_at([0.25, 0.75]), program.violation_at([0.25, 0.5])
    (1.75, 0.25)
    >>> LinearProgram.of(cost=[1, 2], matrix=[[1, 1]], lower=0, upper=-1)
    Traceback (most recent call last):
    mechdesign_solvers.errors.ProgramError: lower must not exceed upper (got lower[0] = 0.0 > upper[0] = -1.0)
    """

    cost: FloatArray
    matrix: csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        cost = _costs(self.cost)
        matrix = _frozen_matrix("matrix", self.matrix, columns=cost.size)
        rows = matrix.shape[0]
        row_lower, row_upper = _bounds("row_lower", self.row_lower, "row_upper", self.row_upper, rows)
        lower, upper = _bounds("lower", self.lower, "upper", self.upper, cost.size)
        for field, value in (
            ("cost", cost),
            ("matrix", matrix),
            ("row_lower", row_lower),
            ("row_upper", row_upper),
            ("lower", lower),
            ("upper", upper),
        ):
            object.__setattr__(self, field, value)

    @classmethod
    def of(
        cls,
        cost: ArrayLike,
        matrix: Matrix,
        row_lower: ArrayLike = -math.inf,
        row_upper: ArrayLike = math.inf,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
    ) -> LinearProgram:
        """Build from lists, dense or sparse matrices; a scalar bound applies to every row or column."""
        costs = _costs(cost)
        rows = _frozen_matrix("matrix", matrix, columns=costs.size)
        return cls(
            costs,
            rows,
            _spread("row_lower", row_lower, rows.shape[0]),
            _spread("row_upper", row_upper, rows.shape[0]),
            _spread("lower", lower, costs.size),
            _spread("upper", upper, costs.size),
        )

    def __repr__(self) -> str:
        return f"LinearProgram({self.rows} rows, {self.columns} columns, {self.matrix.nnz} nonzeros)"

    @property
    def rows(self) -> int:
        """The number of constraints."""
        return int(self.row_lower.size)

    @property
    def columns(self) -> int:
        """The number of variables."""
        return int(self.cost.size)

    def objective_at(self, point: ArrayLike) -> float:
        """The value ``cost @ x``."""
        return float(self.cost @ np.asarray(point, dtype=float))

    def violation_at(self, point: ArrayLike) -> float:
        """The largest amount by which ``x`` breaks a row or a bound; zero when feasible."""
        x = np.asarray(point, dtype=float)
        return max(_excess(self.matrix @ x, self.row_lower, self.row_upper), _excess(x, self.lower, self.upper))


@dataclass(frozen=True, slots=True)
class Product:
    """The term ``coefficient * x[left] * x[right]``; ``left == right`` is a square.

    >>> Product(0, 1, 2.0).value_at([3.0, 5.0])
    30.0
    """

    left: int
    right: int
    coefficient: float = 1.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.coefficient):
            raise ProgramError("coefficient", self.coefficient, "must be finite")
        for field, index in (("left", self.left), ("right", self.right)):
            if index != int(index) or index < 0:
                raise ProgramError(field, index, "must be a column index, 0 or more")

    def range_over(self, lower: FloatArray, upper: FloatArray) -> tuple[float, float]:
        """An interval which holds the term wherever the variables are within these bounds.

        >>> Product(0, 0).range_over(np.array([-1.0]), np.array([2.0]))
        (0.0, 4.000000000000002)
        """
        if self.coefficient == 0:
            return 0.0, 0.0
        left = (float(lower[self.left]), float(upper[self.left]))
        right = (float(lower[self.right]), float(upper[self.right]))
        # 0 * inf is 0 here: a factor fixed at zero silences an unbounded partner.
        corners = [0.0 if 0.0 in (a, b) else a * b for a in left for b in right]
        if self.left == self.right:
            corners = [end * end for end in left] + ([0.0] if left[0] < 0 < left[1] else [])
        low, high = _scaled(self.coefficient, min(corners), max(corners))
        return _outward(low, -math.inf), _outward(high, math.inf)

    def value_at(self, point: ArrayLike) -> float:
        """The value of the term at ``x``."""
        x = np.asarray(point, dtype=float)
        return float(self.coefficient * x[self.left] * x[self.right])


@dataclass(frozen=True, slots=True, eq=False)
class BilinearProgram:
    """A linear program whose objective and rows may also hold products of two variables.

    ``row_products`` are pairs ``(row, product)``; each product is added to the linear part of its row.

    >>> square = LinearProgram.of(cost=[-1, 0], matrix=[[0, 1]], row_lower=0, row_upper=0, lower=-9, upper=9)
    >>> program = BilinearProgram(square, (Product(0, 0),), ((0, Product(0, 0, -1.0)),))  # x1 = x0 * x0
    >>> program.objective_at([0.5, 0.25]), program.violation_at([0.5, 0.25])
    (-0.25, 0.0)
    """

    linear: LinearProgram
    objective_products: tuple[Product, ...] = ()
    row_products: tuple[tuple[int, Product], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective_products", tuple(self.objective_products))
        object.__setattr__(self, "row_products", tuple((int(row), term) for row, term in self.row_products))
        for term in (*self.objective_products, *(term for _, term in self.row_products)):
            if max(term.left, term.right) >= self.linear.columns:
                raise ProgramError("product", term, f"must refer to columns below {self.linear.columns}")
        for row, _ in self.row_products:
            if not 0 <= row < self.linear.rows:
                raise ProgramError("row_products", f"row {row}", f"must refer to rows below {self.linear.rows}")

    def __repr__(self) -> str:
        products = len(self.objective_products) + len(self.row_products)
        return f"BilinearProgram({self.linear.rows} rows, {self.linear.columns} columns, {products} products)"

    def objective_at(self, point: ArrayLike) -> float:
        """The objective, products included."""
        return self.linear.objective_at(point) + sum(term.value_at(point) for term in self.objective_products)

    def violation_at(self, point: ArrayLike) -> float:
        """The largest amount by which ``x`` breaks a row or a bound; zero when feasible."""
        x = np.asarray(point, dtype=float)
        values = np.asarray(self.linear.matrix @ x, dtype=float)
        for row, term in self.row_products:
            values[row] += term.value_at(x)
        return max(
            _excess(values, self.linear.row_lower, self.linear.row_upper),
            _excess(x, self.linear.lower, self.linear.upper),
        )

    def objective_range(self) -> tuple[float, float]:
        """An interval which holds the objective wherever the variables are within their bounds.

        Interval arithmetic term by term, widened outward by more than its rounding error.

        >>> box = LinearProgram.of(cost=[1, 0], matrix=[[0, 0]], lower=[0, -1], upper=[1, 2])
        >>> low, high = BilinearProgram(box, (Product(0, 1),)).objective_range()
        >>> round(low, 6), round(high, 6)
        (-1.0, 3.0)
        """
        lower, upper = self.linear.lower, self.linear.upper
        terms = [
            _scaled(float(c), float(lower[j]), float(upper[j])) for j, c in enumerate(self.linear.cost) if c != 0
        ] + [term.range_over(lower, upper) for term in self.objective_products]
        slack = 1e-12 * sum(max(abs(low), abs(high)) for low, high in terms)
        if not math.isfinite(slack):
            slack = 0.0
        return sum(low for low, _ in terms) - slack, sum(high for _, high in terms) + slack


Program = LinearProgram | BilinearProgram


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop. ``None`` means no limit.

    ``relative_gap`` is the proven distance between objective and bound at which global optimisation may
    stop, relative to the objective; linear solvers ignore it. ``iterations`` counts simplex or
    interior-point iterations, and nodes in branch and bound.

    >>> Limits(seconds=-1)
    Traceback (most recent call last):
    mechdesign_solvers.errors.ProgramError: seconds must be positive, or None for no limit (got -1)
    """

    seconds: float | None = None
    relative_gap: float = 1e-6
    iterations: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise ProgramError("seconds", self.seconds, "must be positive, or None for no limit")
        if not 0 <= self.relative_gap < math.inf:
            raise ProgramError("relative_gap", self.relative_gap, "must be finite and 0 or more")
        if self.iterations is not None and (self.iterations < 0 or self.iterations != int(self.iterations)):
            raise ProgramError("iterations", self.iterations, "must be a whole number, or None for no limit")


NO_LIMITS = Limits()


def _floats(field: str, value: ArrayLike) -> FloatArray:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProgramError(field, type(value).__name__, "must hold numbers in a rectangular shape") from None


def _vector(field: str, value: ArrayLike) -> FloatArray:
    array = _floats(field, value)
    if array.ndim != 1:
        raise ProgramError(field, f"shape {array.shape}", "must have one dimension")
    array.setflags(write=False)
    return array


def _costs(value: ArrayLike) -> FloatArray:
    costs = _vector("cost", value)
    if costs.size == 0:
        raise ProgramError("cost", "an empty array", "must have at least one entry")
    _reject("cost", costs, ~np.isfinite(costs), "must be finite")
    return costs


def _spread(field: str, value: ArrayLike, size: int) -> FloatArray:
    array = _floats(field, value)
    return np.full(size, float(array)) if array.ndim == 0 else array


def _bounds(
    low_field: str, low: ArrayLike, high_field: str, high: ArrayLike, size: int
) -> tuple[FloatArray, FloatArray]:
    below, above = _vector(low_field, low), _vector(high_field, high)
    for field, array in ((low_field, below), (high_field, above)):
        if array.size != size:
            raise ProgramError(field, f"{array.size} entries", f"must have {size} entries")
        _reject(field, array, np.isnan(array), "must not be NaN")
    _reject(low_field, below, below == math.inf, "must be below +inf")
    _reject(high_field, above, above == -math.inf, "must be above -inf")
    crossed = np.flatnonzero(below > above)
    if crossed.size:
        at = int(crossed[0])
        received = f"{low_field}[{at}] = {below[at]} > {high_field}[{at}] = {above[at]}"
        raise ProgramError(low_field, received, f"must not exceed {high_field}")
    return below, above


def _frozen_matrix(field: str, value: Matrix, columns: int) -> csr_array:
    given: Any = value
    if not isinstance(value, sparray | spmatrix):
        dense = _floats(field, value)
        given = dense if dense.size or dense.ndim == 2 else np.zeros((0, columns))
    matrix: csr_array = csr_array(given, dtype=np.float64, copy=True)
    if matrix.ndim != 2 or matrix.shape[1] != columns:
        raise ProgramError(field, f"shape {matrix.shape}", f"must be two-dimensional with {columns} columns")
    _reject(field, matrix.data, ~np.isfinite(matrix.data), "must be finite")
    # Canonical form first: scipy sorts and merges in place on demand, which read-only arrays forbid.
    matrix.sum_duplicates()
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.setflags(write=False)
    return matrix


def _reject(field: str, array: FloatArray, bad: NDArray[np.bool_], rule: str) -> None:
    if bad.any():
        raise ProgramError(field, _head(array[bad]), rule)


def _head(values: Iterable[float]) -> list[float]:
    return [float(value) for value, _ in zip(values, range(_SHOWN), strict=False)]


def _excess(values: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    return float(max(np.max(lower - values, initial=0.0), np.max(values - upper, initial=0.0)))


def _scaled(coefficient: float, low: float, high: float) -> tuple[float, float]:
    ends = (coefficient * low, coefficient * high)
    return min(ends), max(ends)


def _outward(end: float, towards: float) -> float:
    # Two roundings to undo; zero is exact, and its sign is what others rely on.
    return end if end == 0 else math.nextafter(math.nextafter(end, towards), towards)
