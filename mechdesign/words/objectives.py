"""Losses of one's own: a function of the whole table of chances, and what is understood of it, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.values.declare import Floats, array, field, finite, frozen, optional, settle, stored
from mechdesign.words.domains import require_numbers

MOST_COEFFICIENTS = 2_000_000
"""Of linear constraints, in a proof."""
NEGLIGIBLE = 1e-12
"""Of the largest coefficient: bounds may be that far apart whatever the gap."""


class WholeLoss(Protocol):
    """What a whole table of chances loses: an `Objective`, or what was understood of it, a `Formula`."""

    @property
    def tolerance(self) -> float:
        """By how much constraints may be missed."""
        ...


def _function(name: str) -> Callable[[Any], Any]:
    """The converter of a field that holds a function."""

    def convert(said: Any) -> Any:
        if not callable(said):
            raise InvalidInput(name, said, "be a function of the table q", f"{name}=lambda q: ...")
        return said

    return convert


def _tolerance(said: Any) -> float:
    tolerance = require_finite(said, "tolerance")
    if not 0 < tolerance <= 1e-2:
        raise InvalidInput("tolerance", tolerance, "lie in (0, 0.01]")
    return tolerance


@frozen
class Objective:
    """``function(q)`` of the table q that has the chance of output y for input x at ``q[x, y]``.

    It receives a CVXPY variable, and gives an error for each input, over which the criterion goes, or with the
    criterion `Total` one number. It must be convex in q and at least 0 at its optimum. ``constraints(q)`` is a list
    of CVXPY constraints, or a dict with names; the answer meets them within ``tolerance``. Variables of one's own may
    stand above functions of q, as in ``lambda q: t`` and ``lambda q: [errors(q) <= t]``.

    Files hold no functions: the problem of the answer has a `Formula`.
    """

    kind: ClassVar[str] = "objective"

    function: Callable[[Any], Any] = field(converter=_function("objective"))
    constraints: Callable[[Any], Sequence[Any] | Mapping[str, Any]] | None = field(
        default=None, converter=optional(_function("constraints"))
    )
    tolerance: float = field(default=1e-6, converter=_tolerance)


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

    Every f_k is linear, plus maxima of linear functions, plus squares of some, plus Euclidean norms of vectors of them:
    f_0 has ``costs . q + offset``, f_k ``rows[k-1] . q``. Piece i, ``pieces[i] . q + shifts[i]``, is one of maximum
    ``maxima[i]``, which adds to the function numbered ``of_maxima[maxima[i]]``; ``scales[i] (squares[i] . q +
    centres[i])^2`` adds to ``of_squares[i]``; ``sides[i] . q + ends[i]`` is an entry of the vector ``norms[i]``, the
    norm of which adds to ``of_norms[norms[i]]``. All of these may add to pieces, too: piece i is the function numbered
    ``1 + len(rows) + i``. A maximum that adds to one comes behind that of the piece, and its pieces behind the piece.

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
    sides: Floats = array(_numbers("sides"), default=())
    ends: Floats = array(_numbers("ends"), default=())
    norms: tuple[int, ...] = ()
    of_norms: tuple[int, ...] = ()

    def __attrs_post_init__(self) -> None:
        if not all(isinstance(flag, bool) for flag in self.equal):
            raise InvalidInput("equal", self.equal, "be true or false for each constraint")
        if self.costs.ndim != 2:
            raise InvalidInput("costs", self.costs.shape, "be one for each entry of a table")
        if sum(array.size for array in (self.rows, self.pieces, self.squares, self.sides)) > MOST_COEFFICIENTS:
            raise InvalidInput("rows", self.rows.size, f"hold at most {MOST_COEFFICIENTS} coefficients")
        for name, count in (
            ("rows", len(self.equal)),
            ("pieces", len(self.maxima)),
            ("squares", len(self.of_squares)),
            ("sides", len(self.norms)),
        ):
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
            ("ends", self.sides),
        ):
            if getattr(self, name).shape != (len(of),):
                raise InvalidInput(name, getattr(self, name).shape, f"have the shape {(len(of),)}")
        self._require_functions()

    def _require_functions(self) -> None:
        for name, numbers, of in (("maxima", self.maxima, self.of_maxima), ("norms", self.norms, self.of_norms)):
            if sorted(set(numbers)) != list(range(len(of))):
                raise InvalidInput(name, numbers, f"number the {name} from 0, each with at least one entry")
        if not (self.scales > 0).all():
            raise InvalidInput("scales", float(self.scales.min()), "be above 0")
        count = 1 + len(self.equal)
        for name in ("of_maxima", "of_squares", "of_norms"):
            for number in set(getattr(self, name)):
                if type(number) is not int or not 0 <= number < count + len(self.maxima):
                    raise InvalidInput(name, number, "be 0 for the objective, or the number of a constraint or piece")
                if 0 < number < count and self.equal[number - 1]:
                    raise InvalidInput("equal", number, "be false where a constraint has maxima, squares or norms")
        for place, number in enumerate(self.maxima):
            above = self.of_maxima[number] - count
            if above >= 0 and not (above < place and self.maxima[above] < number):
                rule = "add to pieces of maxima that come before it"
                raise InvalidInput("of_maxima", self.of_maxima[number], rule)

    @property
    def is_linear(self) -> bool:
        """Whether there is no maximum, no square and no norm."""
        return not (self.maxima or self.of_squares or self.norms)

    @property
    def largest(self) -> float:
        """The largest coefficient of the objective."""
        own = [True, *(False for _ in self.equal)]
        for number in self.maxima:
            own.append(own[self.of_maxima[number]])
        pieces = self.pieces[own[1 + len(self.equal) :]]
        squares = (self.scales[:, None, None] * self.squares**2)[[own[number] for number in self.of_squares]]
        sides = self.sides[[own[self.of_norms[number]] for number in self.norms]]
        return max(float(np.abs(part).max(initial=0.0)) for part in (self.costs, pieces, squares, sides))


@frozen
class Formula:
    """What was understood of an `Objective`, over all inputs, as data.

    Where all is made of linear functions, their maxima, squares and norms, ``coefficients`` say what is asked. The
    texts of objective and constraints are names for that, and where it is not, of functions that nobody can look at any
    more; ``unread`` says then what kept it from being read.
    """

    kind: ClassVar[str] = "formula"

    objective: str
    constraints: tuple[str, ...] = ()
    tolerance: float = field(default=1e-6, converter=_tolerance)
    coefficients: Coefficients | None = None
    unread: str = ""

    @property
    def negligible(self) -> float:
        """What bounds may be apart whatever the gap."""
        return 0.0 if self.coefficients is None else NEGLIGIBLE * self.coefficients.largest
