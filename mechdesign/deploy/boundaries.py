"""Draws at both sides of every boundary of a table's law: what tells a sampler of this law from every other one."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, chain, groupby, pairwise
from typing import Any

from mechdesign.deploy.table import Table

Draws = tuple[tuple[int, int], ...]
"""The numbers that ``draw`` is to give one after the other: how many bits, and the number."""

ALL = 2000
"""Up to so many cases, each row is tried at each of its boundaries."""

_FAR = 128
"""Blocks of noise so far out that the last bit of a step shows in the output."""

_PLACES = 6
"""Inputs inside the domain at which the place of an input on its grid is tried."""


@dataclass(frozen=True, slots=True)
class Case:
    """An input, and the numbers its draws give."""

    x: float
    draws: Draws

    @property
    def stream(self) -> bytes:
        """The bytes that give these draws. Bits that ``draw`` must drop are ones.

        >>> Case(0.5, ((9, 258), (1, 0))).stream.hex()
        '02fffe'
        """
        return b"".join(_bytes(bits, number) for bits, number in self.draws)


def _bytes(bits: int, number: int) -> bytes:
    size = (bits + 7) // 8
    dropped = (1 << 8 * size) - (1 << bits)
    return (dropped | number).to_bytes(size, "little")


def boundary_cases(table: Table, most: int | None = None) -> list[Case]:
    """Cases at both sides of every boundary, each once; if they are more than ``most``, so many, taken evenly.

    *Guarantee.* If none is left out: for every threshold, mean, start and count that a sampler of the table holds, two
    cases lie on its two sides, in a row and at a draw where the smallest change that changes the law shows.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(math.log(3), Finite((0, 1))), bits=16)
    >>> [(case.x, case.draws[0][1]) for case in boundary_cases(table)][:4]
    [(0.0, 0), (0.0, 49151), (0.0, 49152), (0.0, 65535)]
    """
    if table.kind == "finite":
        return list(_finite(table.document, table.bits, most))
    cases = list(dict.fromkeys(_CASES[table.kind](table.document, table.bits)))
    return [cases[i] for i in _evenly(len(cases), most)]


def boundary_count(table: Table) -> int:
    """How many `boundary_cases` there are, none left out."""
    if table.kind == "finite":
        return sum(2 * len(row) for row in table.law["rows"])
    return len(boundary_cases(table))


def _evenly(count: int, most: int | None) -> Iterable[int]:
    return range(count) if most is None or count <= most else (i * count // most for i in range(most))


def _below(count: int, number: int, *, rejected: bool = False) -> Draws:
    """``below(count)`` gives this number, if asked for after a draw that is one too large."""
    bits = (count - 1).bit_length()
    if bits == 0:
        return ()
    too_large = ((bits, count),) if rejected and count < 1 << bits else ()
    return (*too_large, (bits, number))


def _whole(value: float, *, up: bool) -> Draws:
    """``whole(value)`` is rounded away from 0, or towards it, by the draws nearest to where it turns."""
    digits = []
    share = abs(value) % 1.0
    while share > 0:
        share *= 2.0**32
        digits.append(math.floor(share))
        share -= digits[-1]
    if up:  # the last digit is not 0
        digits[-1] -= 1
    return tuple((32, digit) for digit in digits)


def _rounded(value: float, *, up: bool) -> int:
    size = math.floor(abs(value)) + up
    return -size if value < 0 else size


def _inexact(value: float) -> bool:
    return value != math.floor(value)


# -- rows given by counts ----------------------------------------------------------------------------------------------


def _finite(document: Mapping[str, Any], bits: int, most: int | None) -> Iterator[Case]:
    """Large tables have millions of them: those left out are never made."""
    points, rows = document["domain"]["points"], document["law"]["rows"]
    width = 2 * len(rows[0])
    for i, chosen in groupby(_evenly(len(rows) * width, most), key=lambda place: place // width):
        sides = _sides(rows[i])
        for place in chosen:
            yield Case(float(points[i]), ((bits, sides[place % width]),))


def _sides(counts: Iterable[int]) -> list[int]:
    """The first and the last draw of every output."""
    return [number for low, high in pairwise(accumulate(counts, initial=0)) for number in (low, high - 1)]


# -- rows given by a start ---------------------------------------------------------------------------------------------


class _Rows:
    """``W_j`` of the row that starts at s, and where a change of a number shows first.

    ``W_j(s) = N_j + min(max(G_j - s, 0), E)`` rises with G_j and falls with s, where it moves at all.
    """

    def __init__(self, law: Mapping[str, Any], bits: int) -> None:
        self.starts: list[int] = law["starts"]
        self.base: list[int] = [0, *accumulate(law["base"])][:-1]
        gains = (most - least for least, most in zip(law["base"], law["caps"], strict=True))
        self.gained = [0, *accumulate(gains)][:-1]
        self.extra = (1 << bits) - sum(law["base"])
        self.bits = bits

    def reached(self, row: int, j: int) -> int:
        more: int = min(max(self.gained[j] - self.starts[row], 0), self.extra)
        return self.base[j] + more

    def draws(self, row: int) -> list[int]:
        """The first and the last draw of every output."""
        ends = [*(self.reached(row, j) for j in range(len(self.base))), 1 << self.bits]
        return [number for low, high in pairwise(ends) for number in (low, high - 1)]

    def of_later_start(self, row: int) -> int:
        """A draw whose output is another one in this row and in every row that starts later."""
        j = bisect_right(self.gained, self.starts[row])
        return self.reached(row, min(j, len(self.base) - 1)) - 1 if len(self.base) > 1 else 0

    def of_earlier_start(self, row: int) -> int:
        """A draw whose output is another one in this row and in every row that starts earlier."""
        j = bisect_left(self.gained, self.starts[row] + self.extra) - 1
        return self.reached(row, max(j, 1)) if len(self.base) > 1 else 0

    def of_counts(self, rows: list[int]) -> Iterator[tuple[int, int]]:
        """For each j a row and a draw at which more of ``W_j`` shows, and one at which less of it does."""
        starts = [self.starts[row] for row in rows]
        for j in range(1, len(self.base)):
            first = min(bisect_right(starts, self.gained[j] - self.extra), len(rows) - 1)
            last = max(bisect_left(starts, self.gained[j]) - 1, 0)
            yield rows[first], self.reached(rows[first], j)
            yield rows[last], self.reached(rows[last], j) - 1

    def chosen(self, rows: list[int]) -> Iterator[tuple[int, int]]:
        """Rows with draws: every row with every boundary if they are few, else those that show every number."""
        every = len(rows) * 2 * len(self.base) <= ALL
        for row in rows if every else dict.fromkeys((rows[0], rows[-1])):
            yield from ((row, number) for number in self.draws(row))
        yield from self.of_counts(rows)


def _window(document: Mapping[str, Any], bits: int) -> Iterator[Case]:
    rows = _Rows(document["law"], bits)
    lower, upper = _ends(document["domain"])
    turns = [float(text) for text in document["law"]["thresholds"]]
    inputs = {}
    for row, (low, high) in enumerate(pairwise([-math.inf, *turns, math.inf])):
        if low < high:
            inputs[row] = (max(math.nextafter(low, math.inf), lower), min(high, upper))
    for row, (first, last) in inputs.items():
        yield Case(first, ((bits, rows.of_earlier_start(row)),))
        yield Case(last, ((bits, rows.of_later_start(row)),))
    for turn, (row, number) in enumerate(rows.chosen(list(inputs))):
        yield Case(inputs[row][turn % 2], ((bits, number),))


def _unbiased(document: Mapping[str, Any], bits: int) -> Iterator[Case]:
    law = document["law"]
    rows, means = _Rows(law, bits), law["means"]
    offset, scale = float(law["offset"]), 2.0 ** (law["shift"] + bits)
    ways: dict[int, tuple[float, Draws]] = {}
    for i, (low, high) in enumerate(pairwise(means)):
        x = _between(document["domain"], offset, scale, Fraction(low + high, 2))
        value = (x - offset) * scale
        place, gap = _rounded(value, up=False), high - low
        share, to_next = _whole(value, up=False), place - low
        if not 0 <= to_next < gap:  # no double lies between these means
            continue
        ways[i] = (x, (*share, *_below(gap, to_next)))
        if to_next > 0:
            ways[i + 1] = (x, (*share, *_below(gap, to_next - 1)))
        differs = (bits, rows.of_later_start(i))
        for chosen in (to_next - 1, to_next, gap - 1):
            if 0 <= chosen < gap:
                yield Case(x, (*share, *_below(gap, chosen), differs))
        yield Case(x, (*share, *_below(gap, to_next, rejected=True), differs))
        if _inexact(value):
            further = _rounded(value, up=True) - low
            yield from (
                Case(x, (*_whole(value, up=True), *_below(gap, chosen), differs))
                for chosen in (further - 1, further)
                if 0 <= chosen < gap
            )
    reached = sorted(ways)
    ends = ((row, number(row)) for row in reached for number in (rows.of_earlier_start, rows.of_later_start))
    for row, number in chain(ends, rows.chosen(reached)):
        x, draws = ways[row]
        yield Case(x, (*draws, (bits, number)))
    yield from _at_the_ends(document, bits, offset, scale, means)


def _between(domain: Mapping[str, str], offset: float, scale: float, target: Fraction) -> float:
    """The input of the domain whose place is nearest to the target."""
    lower, upper = _ends(domain)
    return min(max(float(Fraction(offset) + target / Fraction(scale)), lower), upper)


def _at_the_ends(
    document: Mapping[str, Any], bits: int, offset: float, scale: float, means: list[int]
) -> Iterator[Case]:
    """Both ends of the domain, and inputs whose place has many digits after the point."""
    for x in _spread(document["domain"]):
        value = (x - offset) * scale
        for up in (False, True) if _inexact(value) else (False,):
            place = _rounded(value, up=up)
            i = min(max(bisect_right(means, place) - 1, 0), len(means) - 2)
            yield Case(x, (*_whole(value, up=up), *_below(means[i + 1] - means[i], 0), (bits, 1 << bits - 1)))


def _ends(domain: Mapping[str, str]) -> tuple[float, float]:
    return (0.0, float(domain["period"])) if "period" in domain else (float(domain["lower"]), float(domain["upper"]))


def _spread(domain: Mapping[str, str]) -> list[float]:
    lower, upper = _ends(domain)
    shares = [(i * 0.6180339887498949) % 1.0 for i in range(1, _PLACES + 1)]
    return [lower, upper, *(min(lower + share * (upper - lower), upper) for share in shares)]


# -- cells and blocks --------------------------------------------------------------------------------------------------


def _pieces(document: Mapping[str, Any], bits: int) -> Iterator[Case]:
    law = document["law"]
    cells, inside, weight = law["cells"], law["inside"], law["weight"]
    outside = cells - inside
    anchor, scale = float(law["anchor"]), float(law["scale"])
    for x in [*_spread(document["domain"]), *_turns(document["domain"], lambda x: (x - anchor) * scale)]:
        start = math.floor((x - anchor) * scale)
        start = start % cells if "period" in document["domain"] else min(max(start, 0), outside)
        wraps = (number - start - inside for number in (cells - 1, cells))
        hits = ((_below(inside, number), weight - 1) for number in (0, inside // 2, inside - 1))
        misses = (0, outside // 2, outside - 1, *(number for number in wraps if 0 <= number < outside))
        yield from (Case(x, ((bits, number), *draws)) for draws, number in hits)
        yield from (Case(x, ((bits, weight), *_below(outside, number))) for number in misses)
    yield Case(x, ((bits, 0), *_below(inside, inside - 1, rejected=True)))
    yield Case(x, ((bits, (1 << bits) - 1), *_below(outside, outside - 1, rejected=True)))


def _turns(domain: Mapping[str, str], place: Callable[[float], float]) -> Iterator[float]:
    """The doubles at both sides of some whole places: the first and the last of the domain, and between."""
    lower, upper = _ends(domain)
    first, last = math.floor(place(lower)) + 1, math.floor(place(upper))
    for turn in dict.fromkeys(first + (last - first) * i // _PLACES for i in range(_PLACES + 1)):
        low, high = lower, upper
        while low < (middle := low + (high - low) / 2) < high:
            low, high = (middle, high) if place(middle) < turn else (low, middle)
        if place(low) < turn <= place(high):
            yield from (low, high)


def _additive(document: Mapping[str, Any], bits: int) -> Iterator[Case]:
    law = document["law"]
    tail, sides = law["tail"], _sides(law["weights"])
    offset, scale = float(law["offset"]), 2.0 ** law["shift"]
    stop, again = (bits, tail), (bits, tail - 1)
    lower, upper = _ends(document["domain"])
    for number in sides:
        # noise that leads into the domain is not hidden by a clamp
        for x, sign in ((lower, 0), (upper, 1)):
            if sign == 0 or number >= law["weights"][0]:
                yield Case(x, (*_towards(x, offset, scale, sign), (1, sign), stop, (bits, number)))
    for x in _spread(document["domain"]):
        value = (x - offset) * scale
        for up in (False, True) if _inexact(value) else (False,):
            place = _whole(value, up=up)
            yield Case(x, (*place, (1, 0), stop, (bits, 0)))
            yield Case(x, (*place, (1, 1), stop, (bits, sides[-1])))
        for blocks in (1, 2, 3, _FAR):
            for sign, number in ((0, 0), (1, 0), (0, sides[-1]), (1, sides[-1])):
                yield Case(x, (*place, (1, sign), *(again,) * blocks, stop, (bits, number)))
        minus_zero = ((1, 1), stop, (bits, law["weights"][0] - 1))
        for repeated in range(1, 3):
            yield Case(x, (*place, *minus_zero * repeated, (1, 0), (bits, (1 << bits) - 1), (bits, sides[-1])))


def _towards(x: float, offset: float, scale: float, sign: int) -> Draws:
    """The place of an end of the domain, rounded into the domain where it can be."""
    value = (x - offset) * scale
    return _whole(value, up=_inexact(value) and (value < 0) == (sign == 1))


_CASES: dict[str, Callable[[Mapping[str, Any], int], Iterator[Case]]] = {
    "window": _window,
    "unbiased": _unbiased,
    "pieces": _pieces,
    "additive": _additive,
}
