"""Where inputs and outputs live: intervals, circles, finite sets and products of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.numbers import require_number_text
from mechdesign.data.texts import parts as text_parts
from mechdesign.errors import InvalidData, InvalidInput, require_finite, require_number, require_whole
from mechdesign.values.declare import Rule, field, finite, frozen, option
from mechdesign.values.fingerprint import fingerprint

Floats = NDArray[np.float64]

_WHOLE_NUMBERS = re.compile(r"-?[0-9]{1,15}[.][.]-?[0-9]{1,15}", re.ASCII)
_SHORTEST, _LONGEST = 1e-100, 1e100  # densities, squares and their sums stay far inside the range of doubles
_EXACT = 2.0**53  # from here on not every whole number is a double
_FINEST = 1e-10  # an interval that far from zero still holds a million doubles

POINTS_OPTION = option("--domain", "Inputs, as LO,HI; or whole numbers, as LO..HI.", metavar="LO,HI")
"""How commands take the inputs of a problem."""


@frozen
class Interval:
    """The interval from ``lower`` to ``upper``.

    The papers write ``[a, b)``; the end points are accepted as inputs, since the largest value in a data set is a
    legitimate one and a single point carries no mass.

    >>> Interval(0, 1).length
    1.0
    """

    kind: ClassVar[str] = "interval"

    lower: float = finite("domain lower end")
    upper: float = finite("domain upper end")

    def __attrs_post_init__(self) -> None:
        lower, upper = self.lower, self.upper
        if not lower < upper:
            raise InvalidInput(
                "domain", (lower, upper), "have its lower end below its upper end", "swap or widen the ends"
            )
        _require_length(upper - lower, "domain", (lower, upper))
        if upper - lower < _FINEST * max(abs(lower), abs(upper)):
            rule = f"be at least {_FINEST:g} times as long as its ends are large"
            raise InvalidInput("domain", (lower, upper), rule, "subtract the lower end from the data")

    @property
    def length(self) -> float:
        return self.upper - self.lower

    @property
    def middle(self) -> float:
        return self.lower + self.length / 2

    def require(self, values: ArrayLike, field: str = "x") -> Floats:
        """``values`` as floats; the first one outside the interval is an `InvalidInput` that names its position."""
        array = _floats(values, field)
        _reject_first(array, ~self.holds(array), field, f"lie in [{self.lower:g}, {self.upper:g}]")
        return array

    def holds(self, values: Floats) -> NDArray[np.bool_]:
        """Which of these lie in the interval."""
        return (values >= self.lower) & (values <= self.upper)

    def contains(self, other: Interval) -> bool:
        return self.lower <= other.lower and other.upper <= self.upper

    def __str__(self) -> str:
        return f"[{self.lower:.10g}, {self.upper:.10g}]"


def interval_field(**options: Any) -> Any:
    """A field that holds a domain; two numbers are the ends of an interval.

    >>> @frozen
    ... class Asked:
    ...     inputs: Interval = interval_field(default=Interval(-1, 1))
    >>> Asked((0, 1))
    Asked(inputs=Interval(lower=0.0, upper=1.0))
    """
    return field(converter=interval_of, **options)


def interval_of(said: Any) -> Any:
    """The interval between two numbers, and anything else as it is."""
    return Interval(*said) if isinstance(said, tuple | list) and len(said) == 2 else said


@frozen
class Line:
    """The whole real line, the output domain of additive noise."""

    kind: ClassVar[str] = "line"

    def __str__(self) -> str:
        return "(-inf, inf)"


@frozen
class Circle:
    """The circle ``[0, period)``, where the distance is the shorter way round.

    >>> Circle(24.0).reduce(25.5).item()
    1.5
    """

    kind: ClassVar[str] = "circle"

    period: float = finite("period", default=2 * math.pi)

    def __attrs_post_init__(self) -> None:
        if not self.period > 0:
            raise InvalidInput("period", self.period, "be above 0", "pass for example 6.283185307179586 or 360")
        _require_length(self.period, "period", self.period)

    @property
    def length(self) -> float:
        return self.period

    @property
    def lower(self) -> float:
        return 0.0

    @property
    def upper(self) -> float:
        return self.period

    @property
    def middle(self) -> float:
        return self.period / 2

    def reduce(self, values: ArrayLike) -> Floats:
        """The representative in ``[0, period)``."""
        reduced = np.mod(np.asarray(values, dtype=np.float64), self.period)
        # mod of a tiny negative number rounds up to the period itself, which is the point 0
        return np.where(reduced >= self.period, 0.0, reduced)

    def require(self, values: ArrayLike, field: str = "x") -> Floats:
        """``values`` as floats in ``[0, period]``, or `InvalidInput`."""
        array = _floats(values, field)
        _reject_first(array, ~self.holds(array), field, f"lie on the circle [0, {self.period:g})")
        return array

    def holds(self, values: Floats) -> NDArray[np.bool_]:
        """Which of these lie in ``[0, period]``."""
        return (values >= 0) & (values <= self.period)

    def __str__(self) -> str:
        return f"circle [0, {self.period:g})"


def _increasing(said: Any) -> tuple[float, ...]:
    """The points of a finite set, or `InvalidInput`."""
    if isinstance(said, str | bytes) or not isinstance(said, Iterable):
        raise InvalidInput("domain", said, "be several points", "for example Finite((0, 1))")
    _require_unmasked(said, "domain")
    points = tuple(require_finite(point, "domain point") for point in said)
    if not points:
        raise InvalidInput("domain", points, "have at least one point")
    if any(a >= b for a, b in zip(points, points[1:], strict=False)):
        raise InvalidInput("domain", points, "be strictly increasing", "sort the points and drop repeats")
    return points


@frozen
class Finite:
    """A finite, strictly increasing set of numbers.

    >>> Finite((0, 1, 5)).index([5, 0]).tolist()
    [2, 0]
    """

    kind: ClassVar[str] = "finite"

    points: tuple[float, ...] = field(converter=_increasing)

    @property
    def lower(self) -> float:
        return self.points[0]

    @property
    def upper(self) -> float:
        return self.points[-1]

    @property
    def length(self) -> float:
        return self.upper - self.lower

    def __len__(self) -> int:
        return len(self.points)

    def require(self, values: ArrayLike, field: str = "x") -> Floats:
        """``values`` as floats that are points of the set, or `InvalidInput`."""
        array = _floats(values, field)
        self._positions(array, field)
        return array

    def index(self, values: ArrayLike, field: str = "x") -> NDArray[np.intp]:
        """Positions of ``values`` in the set."""
        return self._positions(_floats(values, field), field)

    def holds(self, values: Floats) -> NDArray[np.bool_]:
        """Which of these are points of the set."""
        grid, position = self._nearest(values)
        return np.asarray(grid[position] == values)

    def _positions(self, array: Floats, field: str) -> NDArray[np.intp]:
        grid, position = self._nearest(array)
        _reject_first(array, grid[position] != array, field, f"be one of the {grid.size} points of the domain")
        return position

    def _nearest(self, array: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """The points, and the positions where the values are, if they are any of them."""
        grid = np.asarray(self.points)
        if np.array_equal(grid, grid[0] + np.arange(grid.size)):  # categories: no search
            inside = (array >= grid[0]) & (array <= grid[-1])
            position = np.where(inside, array - grid[0], 0.0).astype(np.intp)
        else:
            position = np.minimum(np.searchsorted(grid, array), grid.size - 1)
        return grid, position

    def __str__(self) -> str:
        if len(self.points) <= 6:
            return "{" + ", ".join(f"{point:g}" for point in self.points) + "}"
        mark = "" if np.ptp(np.diff(self.points)) == 0 else f", {fingerprint(self.points)}"
        ends = f"{{{self.points[0]:g}, {self.points[1]:g}, ..., {self.points[-1]:g}}}"
        return f"{ends} ({len(self.points)} points{mark})"


@frozen
class Product:
    """Tuples with one coordinate in each part, such as polar coordinates.

    >>> str(Product((Interval(0, 1), Circle(360))))
    '[0, 1] x circle [0, 360)'
    """

    kind: ClassVar[str] = "product"

    parts: tuple[Interval | Circle | Finite | Line, ...]

    def __attrs_post_init__(self) -> None:
        if not self.parts:
            raise InvalidInput("domain", self.parts, "have at least one part")

    def __str__(self) -> str:
        runs = [(part, len(list(same))) for part, same in groupby(self.parts)]
        return " x ".join(str(part) if count == 1 else f"{part}^{count}" for part, count in runs)


def cube_of(count: int) -> Product:
    """Several numbers, each between -1 and 1.

    >>> str(cube_of(3))
    '[-1, 1]^3'
    """
    return Product((Interval(-1.0, 1.0),) * require_whole(count, "count", 1))


Domain = Interval | Circle | Finite | Line | Product

Inputs = Finite | Interval | Circle | Product
"""What problems are about."""


def require_between(value: Any, domain: Interval | Circle, field: str) -> float:
    """One number inside the domain, or `InvalidInput`."""
    return float(domain.require(require_number(value, field), field))


def require_domain(domain: object, kinds: tuple[type, ...], field: str = "domain") -> None:
    """The kind of domain a mechanism is made for, or `InvalidInput`."""
    if not isinstance(domain, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise InvalidInput(field, domain, f"be of kind {wanted}", "see mechdesign.Interval, Circle and Finite")


def only(*kinds: type) -> Rule:
    """A validator of a field: a domain of these kinds.

    >>> @frozen
    ... class Place:
    ...     inputs: Interval = field(validator=only(Interval))
    >>> Place(Line())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: inputs must be of kind Interval (got Line()); see ...
    """
    return lambda _, declared, said: require_domain(said, kinds, declared.name)


def require_numbers(values: ArrayLike, field: str) -> Floats:
    """``values`` as floats, infinities welcome; text, booleans and NaN are `InvalidInput`."""
    array = _floats(values, field)
    _reject_first(array, np.isnan(array), field, "be a number")
    return array


def _require_length(length: float, field: str, value: object) -> None:
    if not _SHORTEST <= length <= _LONGEST:
        raise InvalidInput(field, value, f"have a length between {_SHORTEST:g} and {_LONGEST:g}", "rescale the data")


def _require_unmasked(values: object, field: str) -> None:
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise InvalidInput(field, "a masked array", "have no masked entries", "drop what is missing first")


def _floats(values: ArrayLike, field: str) -> Floats:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InvalidData(field, values, "hold numbers only, in rows of one length") from None
    if array.dtype.kind not in "fiu":
        kind = InvalidInput if array.ndim == 0 else InvalidData
        raise kind(field, values, "hold numbers only")
    _require_unmasked(values, field)
    numbers = array.astype(np.float64, copy=False)
    if array.dtype.kind in "iu" and array.size and np.abs(numbers).max() >= _EXACT and not _same(numbers, array):
        raise InvalidInput(field, "a whole number beyond 2^53", "be numbers that doubles hold", "rescale the data")
    return numbers


def _same(numbers: Floats, whole: NDArray[np.integer[Any]]) -> bool:
    pairs = zip(numbers.ravel().tolist(), whole.ravel().tolist(), strict=True)
    return all(int(number) == count for number, count in pairs)


def _reject_first(array: Floats, bad: NDArray[np.bool_], field: str, rule: str) -> None:
    """Name the first entry that breaks the rule; what arrays hold may be people's data, and is not shown."""
    if not bad.any():
        return
    if array.ndim == 0:
        raise InvalidInput(field, float(array), rule)
    position = int(np.flatnonzero(bad)[0])
    value = float(array.ravel()[position])
    raise InvalidData(f"{field}[{position}]", value, rule, f"{int(bad.sum())} of {array.size} values break this rule")


UNIT = Interval(0.0, 1.0)


def parse_interval(said: Any, field: str) -> Interval:
    """``LO,HI`` as an interval."""
    if isinstance(said, Interval):
        return said
    if isinstance(said, str) and is_whole_range(said):
        low, high = said.split("..")
        step = f"take the interval --{field}={low},{high}; minimax and table know whole numbers"
        raise InvalidInput(field, said, "be an interval LO,HI here", step)
    try:
        ends = [require_number_text(end) if isinstance(end, str) else float(end) for end in text_parts(said)]
    except (TypeError, ValueError):
        ends = []
    if len(ends) != 2:
        raise InvalidInput(field, said, "be two numbers LO,HI", f"for example --{field} 0,1")
    return Interval(*ends)


def is_whole_range(text: str) -> bool:
    """Whether a text is ``LO..HI``."""
    return _WHOLE_NUMBERS.fullmatch(text) is not None


def parse_domain(text: str | None, *, circular: bool) -> Interval | Circle:
    """The input domain an option names."""
    if not circular:
        return Interval(0.0, 1.0) if text is None else parse_interval(text, "domain")
    if text is None:
        return Circle()
    interval = parse_interval(text, "domain")
    if interval.lower != 0:
        raise InvalidInput("domain", text, "start at 0 on a circle", "for example --domain 0,360")
    return Circle(interval.upper)
