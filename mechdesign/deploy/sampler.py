"""Reports in bulk from the operating system's randomness, with exactly the probabilities of a table.

Randomness is what costs, so a uniform number is drawn from the top: its first digits, looked up in a table of equal
stretches, decide nearly always, and only where a stretch holds a boundary are the other digits drawn and the boundary
searched in whole numbers. The law is that of `mechdesign.deploy.reference`, whose numbers are drawn whole. There is no
seed: for simulations use a mechanism's own ``sample`` with a numpy generator.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.deploy.table import Table
from mechdesign.domains import Circle, Finite, require_numbers
from mechdesign.errors import InvalidData, InvalidInput, sealed

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]
Places = NDArray[np.integer[Any]]
Report = Callable[[NDArray[Any]], Floats]

_CHUNK = 1 << 16  # a chunk's numbers stay in a core's cache
_TOP = 16  # the bits of a number that are drawn first
_STRETCHES, _FINITE = 18, 21  # bits of the number of stretches of a table, at most
_NEAR = 2.0**-40


@sealed
def sample(table: Table, x: ArrayLike, size: int | None = None) -> Floats:
    """One report for each input, or ``size`` reports of one input, from the operating system's randomness.

    *Guarantee.* Reports are independent and each has exactly the probabilities of the table. A value outside the
    domain is an `InvalidInput` that names its position; nothing is clipped.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> sorted(set(sample(make_table(duchi(1.0)), [-1.0, 0.3, 1.0] * 50).round(3).tolist()))
    [-2.164, 2.164]
    """
    try:
        return _reports(table, x, size)
    except InvalidInput as problem:
        failure = problem
    try:
        table.domain.require(x)  # in the words of the domain, with the position among all inputs
    except InvalidInput as problem:  # of one input too: it is somebody's
        failure = InvalidData(problem.field, problem.value, problem.rule, problem.next_step)
    raise failure


def _reports(table: Table, x: ArrayLike, size: int | None) -> Floats:
    inputs = require_numbers(x, "x")
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise InvalidInput("size", size, "be a whole number of at least 0")
        if inputs.ndim:
            raise InvalidInput("x", inputs.shape, "be one number where size is given")
        inputs = np.broadcast_to(inputs, (int(size),))
    report, domain = _law(table), table.domain
    read = domain.index if isinstance(domain, Finite) else domain.require
    flat = inputs.reshape(-1)
    reports = np.empty(flat.size)
    for k in range(0, flat.size, _CHUNK):
        reports[k : k + _CHUNK] = report(read(flat[k : k + _CHUNK]))
    return reports.reshape(inputs.shape)


@lru_cache(maxsize=16)
def _law(table: Table) -> Report:
    return _KINDS[table.kind](table)


# -- bits --------------------------------------------------------------------------------------------------------------


def draw(bits: int, count: int) -> NDArray[Any]:
    """``count`` uniform whole numbers of ``bits`` bits from the operating system, in the narrowest unsigned type."""
    if bits == 1:
        return np.unpackbits(np.frombuffer(os.urandom(-(-count // 8)), dtype=np.uint8), count=count)
    width = next(w for w in (1, 2, 4, 8) if bits <= 8 * w)
    numbers = np.frombuffer(os.urandom(width * count), dtype=f"<u{width}")
    return numbers if bits == 8 * width else numbers & numbers.dtype.type((1 << bits) - 1)


def completed(tops: NDArray[Any], bits: int) -> Keys:
    """Numbers that begin with ``tops``: ``bits`` more are drawn for each."""
    return np.asarray(tops.astype(np.uint64) << np.uint64(bits) | draw(bits, tops.size))


def settled(number: int, bits: int, decide: Callable[[Fraction], int]) -> int:
    """What ``decide`` says of a uniform real in [0, 1) whose first ``bits`` digits are ``number``.

    ``decide`` does not decrease: digits are drawn until it says the same at both ends of what they leave.
    """
    while (answer := decide(Fraction(number, 1 << bits))) != decide(Fraction(number + 1, 1 << bits)):
        number, bits = number << 64 | int(draw(64, 1)[0]), bits + 64
    return answer


def happens(chances: Floats, exact: Callable[[int], Fraction]) -> NDArray[np.bool_]:
    """True for entry i with probability exactly ``exact(i)``, from which ``chances[i]`` is less than 2^-40 away."""
    drawn = draw(_TOP, chances.size).astype(np.float64)
    left = chances * 2.0**_TOP - drawn  # the share of what the digits drawn leave open: below 0 is none, above 1 all
    answers = left > 0.5
    for i in np.flatnonzero(np.abs(left - 0.5) < 0.5 + _NEAR * 2.0**_TOP).tolist():
        chance = exact(i)
        answers[i] = not settled(int(drawn[i]), _TOP, chance.__le__)
    return answers


def whole(values: Floats) -> NDArray[np.int64]:
    """Whole numbers next to ``values`` with exactly these means."""
    floors = np.floor(values)
    # of a tiny negative value the difference is rounded: near enough for the first digits, and exact for the others
    up = happens(values - floors, lambda i: Fraction(values[i]) - int(floors[i]))
    return np.asarray(floors.astype(np.int64) + up)


def below(counts: Keys) -> Keys:
    """For each entry a uniform whole number below it, by rejection."""
    masks = counts - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        masks = masks | (masks >> np.uint64(shift))
    bits = int(masks.max(initial=0)).bit_length()
    numbers = draw(bits, counts.size).astype(np.uint64) & masks
    wrong = np.flatnonzero(numbers >= counts)
    while wrong.size:
        numbers[wrong] = draw(bits, wrong.size).astype(np.uint64) & masks[wrong]
        wrong = wrong[numbers[wrong] >= counts[wrong]]
    return numbers


class Guide:
    """The largest j with ``sums[j] <= key`` of keys below ``total``; ``sums`` are whole, start at 0, do not decrease.

    ``table`` holds the answer for every stretch of 2^shift keys: where that is not one number, ~j for that of its
    first key. There the next sum nearly always decides.
    """

    def __init__(self, sums: Sequence[int], total: int, shift: int) -> None:
        self.sums, self.shift = np.array([*sums, total], dtype=np.uint64), shift
        edges = np.arange(((total - 1) >> shift) + 1, dtype=np.uint64) << np.uint64(shift)
        first = np.searchsorted(self.sums, edges, side="right") - 1
        last = np.append(first[1:], len(sums) - 1)
        at_edge = np.append(self.sums[first[1:]] == edges[1:], False)  # a boundary at the next stretch's first key
        is_one = (last == first) | ((last == first + 1) & at_edge)
        self.table = np.where(is_one, first, ~first).astype(np.min_scalar_type(-len(sums)))

    def find(self, keys: NDArray[np.int64]) -> Places:
        found = self.table.take(keys >> self.shift)
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = self.search(keys[open_].astype(np.uint64), found[open_])
        return found

    def pick(self, count: int) -> Places:
        """The same for uniform keys, ``total`` being 2^(16 + shift)."""
        tops = draw(_TOP, count)
        found = self.table.take(tops)
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = self.search(completed(tops[open_], self.shift), found[open_])
        return found

    def search(self, keys: Keys, entries: Places) -> Places:
        """The same where the table's entries leave it open."""
        first = ~entries.astype(np.intp)
        found = first + (self.sums.take(first + 1) <= keys)
        late = np.flatnonzero(self.sums.take(found + 1) <= keys)
        found[late] = np.searchsorted(self.sums, keys[late], side="right") - 1
        return found


class Turns:
    """How many thresholds are below each input."""

    def __init__(self, thresholds: Floats, lower: float, upper: float) -> None:
        self.thresholds, self.lower = thresholds, lower
        self.scale = (1 << _TOP) / (upper - lower)
        stretches = self._stretch(thresholds)
        count = int(self._stretch(np.array([upper]))[0]) + 1
        # rounding keeps the order: a threshold in an earlier stretch is below, one in a later stretch is not
        before = np.searchsorted(stretches, np.arange(count), side="left")
        is_open = np.bincount(stretches, minlength=count)[:count] > 0
        self.table = np.where(is_open, -1, before).astype(np.min_scalar_type(-len(thresholds) - 1))

    def _stretch(self, x: Floats) -> NDArray[np.int32]:
        return ((x - self.lower) * self.scale).astype(np.int32)

    def count(self, x: Floats) -> Places:
        found = self.table.take(self._stretch(x))
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = np.searchsorted(self.thresholds, x[open_], side="left")
        return found


# -- kinds -------------------------------------------------------------------------------------------------------------


class _Rows:
    """Outputs of window rows.

    Output j of the row with start s has n_j keys and those of [G_j, G_{j+1}) that lie in [s, s + E). So a number below
    N, the sum of the base, is searched among the base's running counts, and any other, u, at s + u - N among the G.
    Both are one list, in which u + s is searched: with only the top of u drawn, in one of two neighbouring stretches.
    """

    def __init__(self, table: Table) -> None:
        law, self.low = table.law, table.bits - _TOP
        self.outputs = _floats([*law["outputs"], *law["outputs"]])
        base = [0, *accumulate(law["base"])]
        gains = [0, *accumulate(most - least for least, most in zip(law["base"], law["caps"], strict=True))]
        shift = max(self.low, (base[-1] + gains[-1]).bit_length() - _STRETCHES)
        self.guide = Guide([*base[:-1], *(base[-1] + gain for gain in gains[:-1])], base[-1] + gains[-1], shift)
        self.base, self.turn = np.uint64(base[-1]), base[-1] >> self.low
        self.starts = np.array(law["starts"], dtype=np.uint64)
        self.tops = (self.starts >> np.uint64(self.low)).astype(np.int64)
        edge, ones = base[-1] >> shift, self.guide.table
        twos = np.where(ones == np.append(ones[1:], -1), ones, ~ones)
        # where base and G meet the other digits decide, too
        self.table = np.concatenate([ones[:edge], [~0], np.minimum(ones, twos)[edge + 1 :]]).astype(ones.dtype)

    def report(self, rows: Places) -> Floats:
        tops = draw(_TOP, rows.size)
        places = self.tops.take(rows) * (tops > self.turn) + tops
        found = self.table.take(places >> (self.guide.shift - self.low))
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            numbers = completed(tops[open_], self.low)
            keys = numbers + self.starts.take(rows[open_]) * (numbers >= self.base)
            found[open_] = self.guide.search(keys, found[open_])
        return np.asarray(self.outputs.take(found))


def _window(table: Table) -> Report:
    rows = _Rows(table)
    turns = Turns(_floats(table.law["thresholds"]), table.domain.lower, table.domain.upper)

    def report(x: Floats) -> Floats:
        if x.strides == (0,):  # one input many times
            return rows.report(np.broadcast_to(turns.count(x[:1]), x.shape))
        return rows.report(turns.count(x))

    return report


def _unbiased(table: Table) -> Report:
    rows, law = _Rows(table), table.law
    means = np.array(law["means"], dtype=np.int64)
    offset, scale = float(law["offset"]), math.ldexp(1.0, law["shift"] + table.bits)
    least, span = law["means"][0], law["means"][-1] - law["means"][0] + 1
    guide = Guide([mean - least for mean in law["means"][:-1]], span, max(0, span.bit_length() - _TOP))
    steps = np.diff(means)

    def report(x: Floats) -> Floats:
        place = (x - offset) * scale
        floor = np.floor(place)
        at, rest = floor.astype(np.int64), place - floor
        row = guide.find(at - least).astype(np.intp)
        part, step = at - means.take(row), steps.take(row)
        up = happens((part + rest) / step, lambda i: (int(part[i]) + Fraction(rest[i])) / int(step[i]))
        return rows.report(row + up)

    return report


def _finite(table: Table) -> Report:
    outputs, rows = _floats(table.law["outputs"]), table.law["rows"]
    low = table.bits - _TOP
    # the bits of the number of stretches of a row: a few for each output, as many as there is room for
    each = max(0, min(_TOP, len(outputs).bit_length() + 5, _FINITE - len(rows).bit_length()))
    guides = [Guide([0, *accumulate(row[:-1])], 1 << table.bits, table.bits - each) for row in rows]
    stretches, sums = np.concatenate([guide.table for guide in guides]), np.stack([guide.sums for guide in guides])
    firsts = np.arange(len(rows)) << each

    def search(row: Places, keys: Keys, entries: Places) -> Places:
        found = ~entries.astype(np.intp)
        late = np.flatnonzero(sums[row, found + 1] <= keys)
        while late.size:
            found[late] += 1
            late = late[sums[row[late], found[late] + 1] <= keys[late]]
        return found

    def report(row: Places) -> Floats:
        tops = draw(_TOP, row.size)
        found = stretches.take(firsts.take(row) + (tops >> (_TOP - each)))
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = search(row[open_], completed(tops[open_], low), found[open_])
        return np.asarray(outputs.take(found))

    return report


def _pieces(table: Table) -> Report:
    law = table.law
    cells, inside, first = law["cells"], law["inside"], law["first"]
    anchor, scale, step = (float(law[name]) for name in ("anchor", "scale", "step"))
    is_circle = isinstance(table.domain, Circle)
    places = placed(Fraction(law["weight"], 1 << table.bits), inside, cells)

    def report(x: Floats) -> Floats:
        start = np.floor((x - anchor) * scale)
        start = _wrapped(start, cells) if is_circle else np.minimum(np.maximum(start, 0), cells - inside)
        cell = _wrapped(start + places(x.size), cells)
        return _clamped(np.asarray((first + cell + 0.5) * step), law)

    return report


def placed(share: Fraction, inside: int, cells: int) -> Callable[[int], Floats]:
    """How to draw cells: the first ``inside`` have ``share`` of the mass, the rest the others, both spread evenly.

    A uniform real u is taken to floor(u inside / share), from ``share`` on to floor(cells - (1 - u) (cells - inside) /
    (1 - share)). Doubles find it from 48 bits of u unless a cell ends less than their error away.
    """
    bits = 48
    slopes = inside / share, (cells - inside) / (1 - share)
    up, back = (float(slope / 2**bits) for slope in slopes)
    bend = np.maximum if slopes[0] < slopes[1] else np.minimum
    slack = cells * 2.0**-49

    def exact(u: Fraction) -> int:
        return int(u * slopes[0] if u < share else cells - (1 - u) * slopes[1])

    def near(drawn: Floats) -> Floats:
        place: Floats = bend(drawn * up, cells - (2.0**bits - drawn) * back)
        return place

    def places(count: int) -> Floats:
        drawn = draw(32, count) * 2.0 ** (bits - 32) + draw(bits - 32, count)
        found = np.floor(near(drawn) - slack)
        for i in np.flatnonzero(found != np.floor(near(drawn + 1) + slack)).tolist():
            found[i] = settled(int(drawn[i]), bits, exact)
        return found

    return places


def _wrapped(places: Floats, cells: int) -> Floats:
    """``places`` modulo ``cells``: whole numbers below 2^53, for which the quotient cannot round up to the next."""
    return np.asarray(places - np.floor(places / cells) * cells)


def _additive(table: Table) -> Report:
    law = table.law
    offset, shift, size = float(law["offset"]), law["shift"], len(law["weights"])
    guide = Guide([0, *accumulate(law["weights"][:-1])], 1 << table.bits, table.bits - _TOP)
    tail = Fraction(law["tail"], 1 << table.bits)

    def goes_on(count: int) -> NDArray[np.bool_]:
        return happens(np.full(count, float(tail)), lambda _: tail)

    def noise(count: int) -> NDArray[np.int64]:
        steps = guide.pick(count).astype(np.int64)
        further = np.flatnonzero(goes_on(count))
        while further.size:
            steps[further] += size
            further = further[goes_on(further.size)]
        signs = 1 - 2 * draw(1, count).astype(np.int64)
        again = np.flatnonzero(signs + steps < 0)
        steps *= signs
        if again.size:
            steps[again] = noise(again.size)
        return steps

    def report(x: Floats) -> Floats:
        at = whole((x - offset) * math.ldexp(1.0, shift))
        return _clamped(np.asarray(offset + (at + noise(x.size)) * math.ldexp(1.0, -shift)), law)

    return report


def _clamped(y: Floats, law: Any) -> Floats:
    if law["clamp"] is None:
        return y
    low, high = _floats(law["clamp"]).tolist()
    return np.asarray(np.minimum(np.maximum(y, low), high))


def _floats(texts: Sequence[str]) -> Floats:
    return np.array([float(text) for text in texts])


_KINDS: dict[str, Callable[[Table], Report]] = {
    "window": _window,
    "unbiased": _unbiased,
    "finite": _finite,
    "pieces": _pieces,
    "additive": _additive,
}
