"""What is asked of a table of one's own: as functions in CVXPY, and as the data that was understood of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.criteria import Aim, Criterion
from mechdesign.design.finite.problem import matrix_digest
from mechdesign.design.words import table_in_words
from mechdesign.domains import Finite, require_numbers
from mechdesign.errors import InvalidInput
from mechdesign.privacy import Pure
from mechdesign.values.declare import array, epsilon, field, finite, frozen, optional, settle, stored
from mechdesign.values.fingerprint import fingerprint

Floats = NDArray[np.float64]
Objective = Callable[[Any], Any]
Constraints = Callable[[Any], Sequence[Any]]

LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0
MOST_ENTRIES = 10_000
MOST_COEFFICIENTS = 2_000_000
"""Of linear constraints, in a proof."""
NEGLIGIBLE = 1e-12
"""Of the largest coefficient: bounds may be that far apart whatever the gap."""


def _domain(said: Any) -> Finite:
    return said if isinstance(said, Finite) else Finite(tuple(said))


def _function(name: str) -> Callable[[Any], Any]:
    """The converter of a field that holds a function."""

    def convert(said: Any) -> Any:
        if not callable(said):
            raise InvalidInput(name, said, "be a function of the table q", f"{name}=lambda q: ...")
        return said

    return convert


@frozen
class CustomProblem:
    """Minimise ``objective(q)`` over epsilon-LDP tables that meet ``constraints(q)``.

    Both receive a CVXPY variable of shape (inputs, outputs) with entries at least 0. The objective must be convex in q
    and at least 0 at its optimum; constraints are a list. Both must be written in q alone. Where all is linear, an
    answer's proven bounds are at most ``gap`` apart, relative to the upper one, or 1e-12 of the largest coefficient.

    No file can hold functions: the problem of the answer is a `TableProblem`.
    """

    epsilon: float = epsilon()
    inputs: Finite = field(converter=_domain)
    outputs: Finite = field(converter=_domain)
    objective: Objective = field(converter=_function("objective"))
    constraints: Constraints | None = field(default=None, converter=optional(_function("constraints")))
    tolerance: float = finite("tolerance", default=1e-6)
    gap: float = finite("gap", default=1e-4)

    def __attrs_post_init__(self) -> None:
        _require_limits(self)


def _numbers(name: str) -> Callable[[Any], Floats]:
    """The converter of a field with coefficients."""

    def convert(said: Any) -> Floats:
        numbers = stored(require_numbers(said, name)) if np.size(said) else stored(said)
        if not np.isfinite(numbers).all():
            raise InvalidInput(name, float(numbers[~np.isfinite(numbers)][0]), "be finite")
        return numbers

    return convert


@frozen
class Linear:
    """``minimise costs . q + offset`` subject to ``rows[k] . q <= limits[k]``, or ``=`` where ``equal[k]``.

    >>> Linear([[0.0, 1.0], [1.0, 0.0]]).rows.shape
    (0, 2, 2)
    """

    costs: Floats = array(_numbers("costs"))
    offset: float = finite("offset", default=0.0)
    rows: Floats = array(_numbers("rows"), default=())
    limits: Floats = array(_numbers("limits"), default=())
    equal: tuple[bool, ...] = ()

    def __attrs_post_init__(self) -> None:
        count = len(self.equal)
        if not all(isinstance(flag, bool) for flag in self.equal):
            raise InvalidInput("equal", self.equal, "be true or false for each constraint")
        if self.costs.ndim != 2:
            raise InvalidInput("costs", self.costs.shape, "be one for each entry of a table")
        if self.rows.size > MOST_COEFFICIENTS:
            raise InvalidInput("rows", self.rows.size, f"hold at most {MOST_COEFFICIENTS} coefficients")
        if not count:  # a list of nothing does not say how its entries would look
            settle(self, rows=stored(self.rows.reshape(0, *self.costs.shape)) if not self.rows.size else self.rows)
        for name, shape in (("rows", (count, *self.costs.shape)), ("limits", (count,))):
            if getattr(self, name).shape != shape:
                raise InvalidInput(name, getattr(self, name).shape, f"have the shape {shape}")


@frozen
class TableProblem:
    """A convex problem on tables ``q[x, y]`` as data: what was understood of a `CustomProblem`.

    Where all is linear, ``linear`` says what is asked. The texts of objective and constraints are names for that, and
    where it is not linear names for functions which nobody can look at any more.
    """

    kind: ClassVar[str] = "custom"

    epsilon: float = epsilon()
    inputs: Finite
    outputs: Finite
    objective: str
    constraints: tuple[str, ...] = ()
    tolerance: float = finite("tolerance", default=1e-6)
    gap: float = finite("gap", default=1e-4)
    linear: Linear | None = None

    def __attrs_post_init__(self) -> None:
        _require_limits(self)
        shape = len(self.inputs), len(self.outputs)
        if self.linear is not None and self.linear.costs.shape != shape:
            raise InvalidInput("costs", self.linear.costs.shape, f"have the shape {shape}")

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.OBJECTIVE)

    @property
    def subject(self) -> str:
        return table_in_words(len(self.inputs), len(self.outputs))

    @property
    def loss_in_words(self) -> str:
        if self.linear is None:
            return "an objective that is only named in the file"
        return "the linear objective with the coefficients in the file"

    @property
    def particulars(self) -> tuple[str, ...]:
        linear = self.linear
        if linear is None:
            return ()
        columns = linear.costs, linear.offset, linear.rows, linear.limits, linear.equal
        return (f"coefficients: {fingerprint(*columns)}",)

    @property
    def negligible(self) -> float:
        """What bounds may be apart whatever the gap."""
        return 0.0 if self.linear is None else NEGLIGIBLE * float(np.abs(self.linear.costs).max())

    def echo(self) -> dict[str, Any]:
        """The linear problem again, with hashes for its matrices."""
        linear = self.linear
        if linear is None:
            return dict.fromkeys(("costs", "offset", "rows", "limits", "equal"))
        rows = linear.rows.reshape(len(linear.equal), linear.costs.size)
        return {
            "costs": matrix_digest(linear.costs),
            "offset": linear.offset,
            "rows": matrix_digest(rows),
            "limits": linear.limits,
            "equal": linear.equal,
        }


def _require_limits(problem: CustomProblem | TableProblem) -> None:
    """Epsilon, size, tolerance and gap that there is an answer for."""
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        raise InvalidInput("eps", problem.epsilon, f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} here")
    if len(problem.inputs) * len(problem.outputs) > MOST_ENTRIES:
        rule = f"make a table of at most {MOST_ENTRIES} entries"
        raise InvalidInput("inputs", f"{len(problem.inputs)} x {len(problem.outputs)}", rule)
    if not 0 < problem.tolerance <= 1e-2:
        raise InvalidInput("tolerance", problem.tolerance, "lie in (0, 0.01]")
    if not 0 < problem.gap < 1:
        raise InvalidInput("gap", problem.gap, "lie between 0 and 1")
