"""What is asked of a table of one's own: as functions in CVXPY, and as the data that was understood of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, marked, require_one_of
from mechdesign.methods.words import table_in_words
from mechdesign.values.declare import array, epsilon, field, finite, frozen, optional, settle, stored
from mechdesign.values.fingerprint import fingerprint
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import Finite, require_numbers
from mechdesign.words.finite_losses import matrix_digest
from mechdesign.words.privacy import Pure

Floats = NDArray[np.float64]
Objective = Callable[[Any], Any]
Constraints = Callable[[Any], Sequence[Any] | Mapping[str, Any]]

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
    and at least 0 at its optimum; with ``criterion``, "worst" or "average", it is an error for each input. Constraints
    are a list, or a dict with names. Both must be written in q alone. Where all is made of linear functions, their
    maxima, sizes and squares, an answer's proven bounds are at most ``gap`` apart, relative to the upper one, or 1e-12
    of the largest coefficient.

    No file can hold functions: the problem of the answer is a `TableProblem`.
    """

    epsilon: float = epsilon()
    inputs: Finite = field(converter=_domain)
    outputs: Finite = field(converter=_domain)
    objective: Objective = field(converter=_function("objective"))
    constraints: Constraints | None = field(default=None, converter=optional(_function("constraints")))
    tolerance: float = finite("tolerance", default=1e-6)
    gap: float = finite("gap", default=1e-4)
    criterion: str | None = field(default=None, converter=optional(lambda said: _criterion(said)))

    def __attrs_post_init__(self) -> None:
        _require_limits(self)


def _criterion(said: Any) -> str:
    return require_one_of(said, "criterion", ("worst", "average"))


def _numbers(name: str) -> Callable[[Any], Floats]:
    """The converter of a field with coefficients."""

    def convert(said: Any) -> Floats:
        numbers = stored(require_numbers(said, name)) if np.size(said) else stored(said)
        if not np.isfinite(numbers).all():
            raise InvalidInput(name, float(numbers[~np.isfinite(numbers)][0]), "be finite")
        return numbers

    return convert


@frozen
class Coefficients:
    """``minimise f_0(q)`` subject to ``f_k(q) <= limits[k-1]``, or ``=`` where ``equal[k-1]``.

    Every f_k is linear, plus maxima of linear functions, plus squares of some: f_0 has ``costs . q + offset``, f_k
    ``rows[k-1] . q``. Piece i, ``pieces[i] . q + shifts[i]``, is one of maximum ``maxima[i]``, which adds to the
    function numbered ``of_maxima[maxima[i]]``; ``scales[i] (squares[i] . q + centres[i])^2`` adds to ``of_squares[i]``.

    >>> Coefficients([[0.0, 1.0], [1.0, 0.0]]).rows.shape
    (0, 2, 2)
    """

    costs: Floats = array(_numbers("costs"))
    offset: float = finite("offset", default=0.0)
    rows: Floats = array(_numbers("rows"), default=())
    limits: Floats = array(_numbers("limits"), default=())
    equal: tuple[bool, ...] = ()
    pieces: Floats = array(_numbers("pieces"), default=())
    shifts: Floats = array(_numbers("shifts"), default=())
    maxima: tuple[int, ...] = ()
    of_maxima: tuple[int, ...] = ()
    squares: Floats = array(_numbers("squares"), default=())
    centres: Floats = array(_numbers("centres"), default=())
    scales: Floats = array(_numbers("scales"), default=())
    of_squares: tuple[int, ...] = ()

    def __attrs_post_init__(self) -> None:
        if not all(isinstance(flag, bool) for flag in self.equal):
            raise InvalidInput("equal", self.equal, "be true or false for each constraint")
        if self.costs.ndim != 2:
            raise InvalidInput("costs", self.costs.shape, "be one for each entry of a table")
        if sum(array.size for array in (self.rows, self.pieces, self.squares)) > MOST_COEFFICIENTS:
            raise InvalidInput("rows", self.rows.size, f"hold at most {MOST_COEFFICIENTS} coefficients")
        for name, count in (("rows", len(self.equal)), ("pieces", len(self.maxima)), ("squares", len(self.of_squares))):
            entries = getattr(self, name)
            if not count and not entries.size:  # a list of nothing does not say how its entries would look
                settle(self, **{name: stored(entries.reshape(0, *self.costs.shape))})
            elif entries.shape != (count, *self.costs.shape):
                raise InvalidInput(name, entries.shape, f"have the shape {(count, *self.costs.shape)}")
        for name, of in (
            ("limits", self.rows),
            ("shifts", self.pieces),
            ("centres", self.squares),
            ("scales", self.squares),
        ):
            if getattr(self, name).shape != (len(of),):
                raise InvalidInput(name, getattr(self, name).shape, f"have the shape {(len(of),)}")
        self._require_functions()

    def _require_functions(self) -> None:
        if sorted(set(self.maxima)) != list(range(len(self.of_maxima))):
            raise InvalidInput("maxima", self.maxima, "number the maxima from 0, each with at least one piece")
        if not (self.scales > 0).all():
            raise InvalidInput("scales", float(self.scales.min()), "be above 0")
        bent = {*self.of_maxima, *self.of_squares}
        for number in bent:
            if type(number) is not int or not 0 <= number <= len(self.equal):
                raise InvalidInput("of_maxima", number, "be 0 for the objective, or the number of a constraint")
            if number and self.equal[number - 1]:
                raise InvalidInput("equal", number, "be false where a constraint has maxima or squares")

    @property
    def is_linear(self) -> bool:
        """Whether there is no maximum and no square."""
        return not self.maxima and not self.of_squares

    @property
    def largest(self) -> float:
        """The largest coefficient of the objective."""
        pieces = self.pieces[[self.of_maxima[number] == 0 for number in self.maxima]]
        squares = (self.scales[:, None, None] * self.squares**2)[[number == 0 for number in self.of_squares]]
        return max(float(np.abs(part).max(initial=0.0)) for part in (self.costs, pieces, squares))


@frozen
class TableProblem:
    """A convex problem on tables ``q[x, y]`` as data: what was understood of a `CustomProblem`.

    Where all is made of linear functions, their maxima and squares, ``coefficients`` say what is asked. The texts of
    objective and constraints are names for that, and where it is not, of functions that nobody can look at any more;
    ``unread`` says then what kept it from being read.
    """

    kind: ClassVar[str] = "custom"

    epsilon: float = epsilon()
    inputs: Finite
    outputs: Finite
    objective: str
    constraints: tuple[str, ...] = ()
    tolerance: float = finite("tolerance", default=1e-6)
    gap: float = finite("gap", default=1e-4)
    coefficients: Coefficients | None = None
    unread: str = ""

    def __attrs_post_init__(self) -> None:
        _require_limits(self)
        shape = len(self.inputs), len(self.outputs)
        if self.coefficients is not None and self.coefficients.costs.shape != shape:
            raise InvalidInput("costs", self.coefficients.costs.shape, f"have the shape {shape}")

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
        if self.coefficients is None:
            return "an objective that is only named in the file"
        kind = "linear" if self.coefficients.is_linear else "convex"
        return f"the {kind} objective with the coefficients in the file"

    @property
    def particulars(self) -> tuple[str, ...]:
        if self.coefficients is not None:
            return (f"coefficients: {fingerprint(*_columns(self.coefficients))}",)
        if not self.unread:
            return ()
        return (f"not proven, as maxima, sizes and squares of what is linear are, for {marked(self.unread)}",)

    @property
    def negligible(self) -> float:
        """What bounds may be apart whatever the gap."""
        return 0.0 if self.coefficients is None else NEGLIGIBLE * self.coefficients.largest

    def echo(self) -> dict[str, Any]:
        """The coefficients again, with hashes for matrices."""
        found = self.coefficients
        if found is None:
            return dict.fromkeys((*_LISTS, *_TABLES, "offset"))
        tables = {name: getattr(found, name) for name in _TABLES}
        return {
            "offset": found.offset,
            **{name: matrix_digest(table.reshape(-1, found.costs.size)) for name, table in tables.items()},
            "costs": matrix_digest(found.costs),
            **{name: getattr(found, name) for name in _LISTS},
        }


_TABLES = ("costs", "rows", "pieces", "squares")
_LISTS = ("limits", "equal", "shifts", "maxima", "of_maxima", "centres", "scales", "of_squares")


def _columns(found: Coefficients) -> tuple[Any, ...]:
    """What is linear only is told apart by what it has always been told apart by."""
    linear = found.costs, found.offset, found.rows, found.limits, found.equal
    return (
        linear if found.is_linear else (*linear, *(getattr(found, name) for name in ("pieces", "squares", *_LISTS[2:])))
    )


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
