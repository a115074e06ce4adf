"""Laws on items 0 ... k - 1 that are a few whole numbers, whatever k is: their reports are bytes.

Frequency protocols treat all items alike, so two counts say what a table would need a row an item for. What the laws
share stands here: a choice among groups by one draw, bits that are drawn one by one, reports as bytes, and estimates
of frequencies from how much each item is *supported*.

The random bytes of a report are as many, and are read in the same steps, whatever the item and the report are.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, require_epsilon, require_whole
from mechdesign.tables import draws
from mechdesign.tables.checker import MOST_BITS, MOST_ITEMS
from mechdesign.tables.draws import TOP
from mechdesign.tables.kinds.cases import evenly
from mechdesign.tables.kinds.law import Law, Masses, Moments, Number, Order, Reading, Rounded
from mechdesign.tables.rounding import CAP_BITS, too_few_bits
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import Floats, field, frozen
from mechdesign.words.domains import Finite

Rows = NDArray[np.uint8]
"""Reports in bulk: a row of bytes each."""

_AT_ONCE = 1 << 21  # bits or keys of reports that are drawn together
_LONG = 1 << 10  # random bytes of a report
_INPUTS = 8  # items at which the boundaries of a law are tried
_GROUPS = 128  # boundaries of a choice that are all tried; of more those at both ends and as many between


@frozen
class Encoding:
    """A frequency protocol that can become a table: its kind, and the whole numbers that are its parameters.

    `mechdesign.studies.frequencies.shipping` makes them of protocols by name, with parameters of least variance.

    >>> Encoding("GRR", 1.0, 1000, "response").kind
    'response'
    """

    name: str
    epsilon: float = field(converter=require_epsilon)
    size: int
    kind: str
    options: Mapping[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        require_whole(self.size, "size", 2, MOST_ITEMS, "one item alone needs no estimate")


@frozen
class ItemsLaw(Law):
    """A law on k items, the points 0 ... k - 1 of ``domain``; ``report_bytes`` is the length of a report."""

    made_from: ClassVar[tuple[type, ...]] = (Encoding,)
    options: ClassVar[tuple[str, ...]] = ()
    """The parameters that an `Encoding` of this kind has."""

    @property
    def count(self) -> int:
        """k."""
        return len(self.domain)

    @property
    def domain_said(self) -> dict[str, Any]:
        """What a file holds under ``domain``."""
        return {"kind": "items", "count": self.count}

    @classmethod
    def made(cls, mechanism: Encoding, order: Order) -> Rounded:
        """The most that the cap allows, in counts of ``2^bits``.

        *Guarantee.* The largest ratio of two probabilities of a report is at most ``cap / 2^96``.
        """
        for option in mechanism.options:
            if option not in cls.options:
                rule = f"be a parameter of {cls.kind}: {', '.join(cls.options) or 'it has none'}"
                raise InvalidInput("option", option, rule)
        domain = items(mechanism.size)
        law = cls.fitted(domain, mechanism.options, order.bits, order.cap)
        if law is None:
            fits = lambda more: cls.fitted(domain, mechanism.options, more, order.cap) is not None  # noqa: E731
            raise too_few_bits(order.bits, fits)
        return Rounded(law)

    @classmethod
    @abstractmethod
    def fitted(cls, domain: Finite, options: Mapping[str, Any], bits: int, cap: int) -> ItemsLaw | None:
        """The law with these parameters that tells most; None where the bits are too few to tell anything."""

    @property
    @abstractmethod
    def report_bytes(self) -> int:
        """The length of a report."""

    @property
    @abstractmethod
    def least_bytes(self) -> int:
        """So many random bytes every report takes: all of them, but for numbers that are refused and drawn again."""

    @property
    def enough_bytes(self) -> int:
        return self.least_bytes

    # counted

    @abstractmethod
    def sums(self, rows: Rows) -> list[int]:
        """What is kept of reports: whole numbers that add up over batches."""

    @abstractmethod
    def wrong(self, rows: Rows) -> NDArray[np.bool_]:
        """Which rows are no report of this law."""

    def support(self, sums: Sequence[int]) -> Floats:
        """How much each item is supported: counts of reports, of Hadamard response halves of them."""
        return np.array(sums, dtype=np.float64)

    def spread(self, sums: Sequence[int], count: int) -> Floats | None:
        """The variance of one report's support of each item, as seen; None where supports are coins."""
        return None

    @property
    def collisions(self) -> float:
        """How much the items that share a hash under public functions add to a variance: a share of ``sum f_u^2``."""
        return 0.0

    def moved(self, shares: Floats) -> Floats:
        """How far the estimate of each item is off on average, as those that collide with it have these shares."""
        return np.zeros(self.count)

    def reading(self) -> Reading:
        def find(rows: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
            return rows, self.wrong(rows)

        return Reading(find, self.sums)

    def moments(self, sums: Sequence[int], count: int) -> Moments:
        raise InvalidInput("table", f"{self.kind} table", "have numbers as reports", "take frequencies")

    # accounted

    def dominating(self, ratio: Fraction) -> Masses:
        """All pairs of items have the same two laws, up to the names of the reports."""
        return self.masses(0.0, 1.0)

    @property
    def tried(self) -> list[int]:
        """Items at which boundaries are tried: the first, the last, and some between; of long streams these two."""
        if self.least_bytes > _LONG:
            return [0, self.count - 1]
        return sorted({*evenly(self.count, _INPUTS), 1, self.count - 2, self.count - 1})

    # exported

    def numbers(self) -> dict[str, Number]:
        return {"count": self.count, "report_bytes": self.report_bytes}

    @property
    def shape(self) -> tuple[str, ...]:
        return ("items",)


def items(count: int) -> Finite:
    """The items 0 ... count - 1, as a domain."""
    return Finite(tuple(map(float, range(count))))


def bytes_of(count: int) -> int:
    """How many bytes hold the numbers below ``count``: at least one.

    >>> bytes_of(2), bytes_of(256), bytes_of(257)
    (1, 1, 2)
    """
    return max(1, ((count - 1).bit_length() + 7) // 8)


def numbers_of(rows: Rows) -> NDArray[np.uint64]:
    """The numbers that rows of up to eight bytes write, little-endian."""
    padded = np.zeros((len(rows), 8), dtype=np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view("<u8")[:, 0].astype(np.uint64)


def rows_of(numbers: NDArray[Any], size: int) -> Rows:
    """Numbers as rows of ``size`` bytes, little-endian."""
    return np.ascontiguousarray(numbers.astype("<u8")).view(np.uint8).reshape(-1, 8)[:, :size]


# -- a choice among groups, of which one's own has more counts ---------------------------------------------------------


@frozen
class Choice(ItemsLaw):
    """One of g groups is drawn: ``own`` counts for one's own, ``other`` for each other one, ``2^bits`` in all."""

    own: int
    other: int

    @property
    @abstractmethod
    def groups(self) -> int:
        """g."""

    @staticmethod
    def counts(groups: int, bits: int, cap: int) -> dict[str, int] | None:
        """The least ``other`` that the cap allows: ``own + (g - 1) other = 2^bits`` and ``own <= c other``."""
        other = -(-(1 << bits + CAP_BITS) // (cap + ((groups - 1) << CAP_BITS)))
        own = (1 << bits) - (groups - 1) * other
        return {"own": own, "other": other} if own > other else None

    def chosen(self, mine: int, stream: Stream) -> int:
        """The group that one draw gives."""
        number = stream.draw(self.bits)
        return mine if number < self.own else (mine + 1 + (number - self.own) // self.other) % self.groups

    def all_chosen(self, mine: NDArray[Any]) -> NDArray[np.uint64]:
        """The same in bulk."""
        mine = mine.astype(np.uint64)
        number = draws.draw(self.bits, mine.size).astype(np.uint64)
        own, other, groups = (np.uint64(n) for n in (self.own, self.other, self.groups))
        moved = np.where(number < own, 0, np.uint64(1) + (number - own) // other).astype(np.uint64)
        return (mine + moved) % groups

    def turns(self) -> Iterator[int]:
        """The draws at both sides of the boundaries between groups, and the first and the last."""
        count = self.groups
        ends = range(_GROUPS // 4)
        several = count > _GROUPS
        groups = (
            {*ends, *(count - 2 - i for i in ends), *evenly(count - 1, _GROUPS // 2)} if several else range(count - 1)
        )
        yield 0
        for group in sorted(groups):
            turn = self.own + group * self.other
            yield from (turn - 1, turn)
        yield self.whole - 1

    @property
    def draw_bytes(self) -> int:
        return (self.bits + 7) // 8

    def masses(self, x: float, other: float) -> Masses:
        own, each, left = self.own, self.other, (self.groups - 2) * self.other
        return [(own, each), (each, own), (left, left)] if left else [(own, each), (each, own)]

    def numbers(self) -> dict[str, Number]:
        return super().numbers() | {"own": self.own, "other": self.other, "groups": self.groups}

    @property
    def shape(self) -> tuple[str, ...]:
        return (*super().shape, "choice")


# -- bits, each drawn on its own ---------------------------------------------------------------------------------------


@frozen
class Coins(ItemsLaw):
    """Bits that are 1 with the chances ``own_bit[1]`` (one's own) and ``other_bit[1]`` (the others) of ``2^bits``.

    The counts of 0 stand before those of 1.
    """

    own_bit: tuple[int, int]
    other_bit: tuple[int, int]

    @property
    @abstractmethod
    def width(self) -> int:
        """How many bits there are."""

    @staticmethod
    def symmetric(bits: int, cap: int) -> dict[str, tuple[int, int]] | None:
        """One's own bit is 0 as often as another one is 1: the least such count within the cap."""
        unit = 1 << CAP_BITS
        root = math.isqrt(cap << CAP_BITS)  # sqrt(c) 2^96, rounded down
        flip = -(-(unit << bits) // (unit + root))
        kept = (1 << bits) - flip
        return {"own_bit": (flip, kept), "other_bit": (kept, flip)} if kept > flip else None

    @staticmethod
    def optimised(bits: int, cap: int) -> dict[str, tuple[int, int]] | None:
        """One's own bit is a fair coin: the least count of another one's 1 within the cap."""
        half = 1 << (bits - 1)
        flip = -(-(1 << bits + CAP_BITS) // (cap + (1 << CAP_BITS)))
        return {"own_bit": (half, half), "other_bit": ((1 << bits) - flip, flip)} if flip < half else None

    def bits_of(self, mine: int, stream: Stream) -> list[int]:
        """The bits, drawn one after the other."""
        own, other = self.own_bit[1], self.other_bit[1]
        return [int(stream.draw(self.bits) < (own if place == mine else other)) for place in range(self.width)]

    def all_bits(self, mine: NDArray[Any]) -> NDArray[np.bool_]:
        """The same in bulk: of a number the first digits are drawn, and the others where these do not decide."""
        found = np.empty((mine.size, self.width), dtype=np.bool_)
        for start in range(0, mine.size, step := max(1, _AT_ONCE // self.width)):
            part = found[start : start + step]
            part[...] = self._coins(self.other_bit[1], part.size).reshape(part.shape)
        found[np.arange(mine.size), mine] = self._coins(self.own_bit[1], mine.size)
        return found

    def _coins(self, ones: int, count: int) -> NDArray[np.bool_]:
        low = self.bits - TOP
        tops = draws.draw(TOP, count)
        answers: NDArray[np.bool_] = tops < ones >> low
        if low:
            open_ = np.flatnonzero(tops == ones >> low)
            answers[open_] = draws.draw(low, open_.size) < ones & ((1 << low) - 1)
        return answers

    @property
    def draw_bytes(self) -> int:
        return (self.bits + 7) // 8 * self.width

    def patterns(self, mine: int) -> Iterator[tuple[tuple[int, int], ...]]:
        """Draws of all bits at the two sides of their boundaries, first and last ones, and in turns."""
        own, other, last = self.own_bit[1], self.other_bit[1], self.whole - 1
        for first, second in ((other - 1, other), (other, other - 1), (0, last), (other - 1,) * 2, (other,) * 2):
            for held in (own - 1, own):
                numbers = [(first, second)[place % 2] for place in range(self.width)]
                numbers[mine] = held
                yield tuple((self.bits, number) for number in numbers)

    def masses(self, x: float, other: float) -> Masses:
        mine, others = self.own_bit, self.other_bit
        pairs = [(i, j) for i in (0, 1) for j in (0, 1)]
        return [(mine[i] * others[j], others[i] * mine[j]) for i, j in pairs]

    def numbers(self) -> dict[str, Number]:
        return super().numbers() | {"own": self.own_bit[1], "other": self.other_bit[1], "width": self.width}

    @property
    def shape(self) -> tuple[str, ...]:
        return (*super().shape, "coins")


def packed(bits: Any) -> Rows:
    """Rows of bits as bytes: bit v is bit ``v mod 8`` of byte ``v // 8``, and what is left over is 0."""
    return np.packbits(np.asarray(bits, dtype=np.bool_), axis=-1, bitorder="little")


def unpacked(rows: Rows, width: int) -> NDArray[np.uint8]:
    return np.unpackbits(rows, axis=1, count=width, bitorder="little")


def padded(rows: Rows, width: int) -> NDArray[np.bool_]:
    """Which rows have a 1 after their last bit."""
    left = width % 8
    return np.zeros(len(rows), dtype=np.bool_) if left == 0 else rows[:, -1] >> left > 0


def parts(rows: Rows, width: int) -> Iterator[Rows]:
    """Runs of rows whose bits fit in the memory."""
    for start in range(0, len(rows), step := max(1, _AT_ONCE // width)):
        yield rows[start : start + step]


def bit_sums(rows: Rows, width: int) -> NDArray[np.int64]:
    """How many rows have each bit."""
    total = np.zeros(width, dtype=np.int64)
    for part in parts(rows, width):
        total += unpacked(part, width).sum(axis=0, dtype=np.int64)
    return total


def require_option(options: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """A whole parameter of an encoding."""
    return require_whole(options.get(name), name, least, most)


def power_of_two(number: int, name: str) -> int:
    if number & (number - 1):
        raise InvalidInput(name, number, "be a power of two")
    return number


def require_few(count: int, name: str) -> None:
    """A report with so many bits is no longer than the checkers allow."""
    require_whole(count, name, 2, MOST_BITS, "a report has a bit for each: take hashing, hadamard or a sketch")


Bulk = Callable[[NDArray[Any]], Rows]
