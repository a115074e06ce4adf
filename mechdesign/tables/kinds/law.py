"""What a kind of table is: its law as a typed value, made from a mechanism or read from a file, and all that follows.

A kind is one module: a class with the fields that files hold under ``law``, and below them everything that a reader of
tables asks. What is asked is declared here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from mechdesign.tables import checker
from mechdesign.tables.document import decimal, rational
from mechdesign.tables.kinds.cases import Case, evenly
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import Floats, frozen
from mechdesign.values.dyadic import dyadic
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.pairs import Pairs

Domain = Interval | Circle | Finite
Rule = Callable[[float, Stream], float | bytes]
"""One report for an input that lies in the domain, from a stream of bits."""
Report = Callable[[NDArray[Any]], NDArray[Any]]
"""Reports in bulk: for inputs, or the places of inputs in a finite domain. Those that are bytes are rows."""
Masses = Sequence[tuple[int, int]]
"""Two laws side by side, as whole numbers with the same sum: what each gives to every output."""
Number = int | float | tuple[int, ...] | tuple[float, ...] | tuple[tuple[int, ...], ...]
Moments = tuple[Fraction, Fraction, tuple[Fraction, Fraction] | None]
"""The sums of reports and of their squares, and the least and the largest report that there is, if there are."""


@frozen
class Order:
    """What a mechanism is rounded to: counts of ``2^bits``, a ratio of at most ``cap / 2^96``.

    ``clamp`` is where reports are cut off; ``most_mixed`` how much of the uniform law a repair may take. With ``pairs``
    every pair of inputs keeps its own epsilon, and the cap is what the table turns out to keep.
    """

    bits: int
    cap: int
    clamp: Interval | None
    most_mixed: float
    pairs: Pairs | None = None


@frozen
class Rounded:
    """A law, what repair it took, and for a finite one which of the mechanism's outputs are left."""

    law: Law
    mixed: Fraction = Fraction(0)
    dropped: int = 0
    columns: Sequence[int] = ()

    @property
    def repair(self) -> dict[str, Any] | None:
        """What a table file holds under ``repair``."""
        return {"mixed": rational(self.mixed), "dropped": self.dropped} if self.mixed or self.dropped else None


@frozen
class Reading:
    """How reports are counted: ``find`` gives their places among the outputs, and which are none; ``add_up`` sums."""

    find: Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[np.bool_]]]
    add_up: Callable[[NDArray[Any]], list[int]]


@frozen
class Law(ABC):
    """The law of a table's reports. All fields but ``domain`` and ``bits`` are what its file holds under ``law``."""

    kind: ClassVar[str]
    made_from: ClassVar[tuple[type, ...]]
    """The mechanisms that become tables of this kind."""
    check: ClassVar[staticmethod[[checker.Fields, checker.Fields, int, int], checker.Finding]]
    """What the checker has to say of the kind: the largest ratio, the estimator, the worst error of an exponent."""

    domain: Any
    bits: int

    @classmethod
    def read(cls, said: Mapping[str, Any], domain: Domain, bits: int) -> Self:
        """The law that a file holds, which has passed its check."""
        return cls(domain=domain, bits=bits, **{name: _read(value) for name, value in said.items()})

    def written(self) -> dict[str, Any]:
        """What a file holds under ``law``."""
        names = [field.name for field in attrs.fields(cast(Any, type(self))) if field.name not in ("domain", "bits")]
        return {name: _written(getattr(self, name)) for name in names}

    @property
    def whole(self) -> int:
        return 1 << self.bits

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the domain."""
        if isinstance(self.domain, Circle):
            return 0.0, self.domain.period
        return self.domain.lower, self.domain.upper

    @property
    def size(self) -> int | None:
        """How many outputs there are, before any clamp; None where there is no end of them."""
        return None

    @property
    def is_clamped(self) -> bool:
        """Whether reports are cut off, which leaves a bias that no affine map takes away."""
        return False

    # made

    @classmethod
    @abstractmethod
    def made(cls, mechanism: Any, order: Order) -> Rounded:
        """The mechanism in whole numbers, or `InvalidInput` where these cannot hold it."""

    # sampled

    @abstractmethod
    def rule(self) -> Rule:
        """The sampling rule of FORMAT.md."""

    @abstractmethod
    def sampler(self) -> Report:
        """The same law in bulk."""

    @property
    @abstractmethod
    def enough_bytes(self) -> int:
        """Of so many random bytes the rule needs more with a probability of about 2^-64."""

    @abstractmethod
    def boundaries(self) -> Iterator[Case]:
        """Inputs and draws at both sides of every boundary of the law."""

    def cases(self, most: int | None = None) -> list[Case]:
        """The `boundaries`, each once; if they are more than ``most``, so many, taken evenly."""
        every = list(dict.fromkeys(self.boundaries()))
        return [every[i] for i in evenly(len(every), most)]

    @property
    def case_count(self) -> int:
        return len(self.cases())

    # accounted

    @abstractmethod
    def masses(self, x: float, other: float) -> Masses:
        """The laws of two inputs, outputs of the same ratio put together as they may be."""

    def dominating(self, ratio: Fraction) -> Masses | None:
        """Two laws that dominate those of any two inputs; ``ratio`` is the largest between any two.

        None says that rows are few: then the largest of all pairs of rows is taken.
        """
        return [(ratio.numerator, ratio.denominator), (ratio.denominator, ratio.numerator)]

    # counted

    @abstractmethod
    def reading(self) -> Reading:
        """How reports are told from other numbers, and what is summed of them."""

    @abstractmethod
    def moments(self, sums: Sequence[int], count: int) -> Moments:
        """What the sums of so many reports say of their mean and spread."""

    # exported

    @abstractmethod
    def numbers(self) -> dict[str, Number]:
        """What a sampler holds beside the domain, by name: whole numbers and doubles."""

    @property
    def shape(self) -> tuple[str, ...]:
        """The words by which the templates of samplers choose their lines, beside the kind."""
        return ()


@frozen
class Listed(Law):
    """A law with finitely many outputs, listed in increasing order."""

    outputs: tuple[float, ...]

    @property
    def size(self) -> int:
        return len(self.outputs)

    @abstractmethod
    def row(self, x: float) -> Sequence[Fraction]:
        """The counts of the outputs for an input."""

    @abstractmethod
    def probabilities(self, x: Floats) -> Floats:
        """``P(output | input)`` in doubles, a row for each input."""

    def masses(self, x: float, other: float) -> Masses:
        row, second = self.row(x), self.row(other)
        unit = math.lcm(*(mass.denominator for mass in (*row, *second)))
        return [(int(a * unit), int(b * unit)) for a, b in zip(row, second, strict=True)]

    def reading(self) -> Reading:
        outputs = np.array(self.outputs)

        def find(reports: Floats) -> tuple[NDArray[Any], NDArray[np.bool_]]:
            places = np.minimum(np.searchsorted(outputs, reports), outputs.size - 1)
            return places, outputs[places] != reports

        def add_up(places: NDArray[Any]) -> list[int]:
            return list(np.bincount(places, minlength=outputs.size).tolist())

        return Reading(find, add_up)

    def moments(self, sums: Sequence[int], count: int) -> Moments:
        units, shift = dyadic(self.outputs)
        one, two = (sum(c * u**p for c, u in zip(sums, units, strict=True)) for p in (1, 2))
        ends = Fraction(units[0], 1 << shift), Fraction(units[-1], 1 << shift)
        return Fraction(one, 1 << shift), Fraction(two, 1 << 2 * shift), ends


@frozen
class Spread(Law):
    """A law whose outputs are the points of a grid, too many to list; ``clamp`` is where they are cut off."""

    clamp: tuple[float, float] | None

    @property
    def size(self) -> int | None:
        """How many outputs there are, before any clamp; None where there is no end of them."""
        return None

    @property
    def is_clamped(self) -> bool:
        return self.clamp is not None

    @property
    def shape(self) -> tuple[str, ...]:
        return ("clamp",) if self.clamp is not None else ()

    def clamped(self, y: float) -> float:
        return y if self.clamp is None else min(max(y, self.clamp[0]), self.clamp[1])

    def all_clamped(self, y: Floats) -> Floats:
        return y if self.clamp is None else np.asarray(np.minimum(np.maximum(y, self.clamp[0]), self.clamp[1]))

    @abstractmethod
    def reach(self, first: float, last: float, rare: float) -> tuple[float, float]:
        """Between these ends lie the reports of inputs from ``first`` to ``last``, but for a share of about ``rare``
        at either side where nothing bounds them."""

    @abstractmethod
    def cdf(self, x: Floats, y: Floats) -> Floats:
        """``P(report <= y | x)`` in doubles, before any clamp: a row for each x, a column for each y."""

    def cell_probabilities(self, x: Floats, edges: Floats) -> Floats:
        """``P(report in cell | input)`` in doubles, a row for each input; the outer cells reach to infinity."""
        ends = np.zeros((x.size, 1)), np.ones((x.size, 1))
        return np.diff(np.concatenate([ends[0], self.cdf(x, edges[1:-1]), ends[1]], axis=1), axis=1)


def power_sums(places: NDArray[Any]) -> list[int]:
    """The sums of the places and their squares: halves of 20 bits, whose products 2^18 times fit in 64."""
    if np.abs(places).max() >= 2.0**40:
        whole = [int(place) for place in places.tolist()]
        return [sum(whole), sum(place * place for place in whole)]
    exact = places.astype(np.int64)
    high, low = exact >> 20, exact & ((1 << 20) - 1)
    squares = (int((high * high).sum()) << 40) + (int((high * low).sum()) << 21) + int((low * low).sum())
    return [int(exact.sum()), squares]


def grid_moments(origin: Fraction, step: Fraction, sums: Sequence[int], count: int) -> tuple[Fraction, Fraction]:
    """The sums of ``origin + step place`` and of its square, from the `power_sums` of so many places."""
    one, two = sums
    return count * origin + one * step, count * origin**2 + 2 * origin * step * one + step**2 * two


def _read(said: Any) -> Any:
    """Texts are doubles, lists are of one type."""
    if isinstance(said, str):
        return float(said)
    if not isinstance(said, list):
        return said
    return tuple(said) if said and type(said[0]) is int else tuple(map(_read, said))


def _written(value: Any) -> Any:
    if isinstance(value, float):
        return decimal(value)
    if not isinstance(value, tuple):
        return value
    return list(value) if value and type(value[0]) is int else list(map(_written, value))
