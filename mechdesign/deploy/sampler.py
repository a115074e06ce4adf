"""Reports in bulk from the operating system's randomness, exactly as a table says.

Every decision is made by whole numbers, as in `mechdesign.deploy.reference`; here a lookup table of equal stretches
answers most of the searches, and the few stretches that hold a boundary are searched exactly. There is no seed: for
simulations use a mechanism's own ``sample`` with a numpy generator.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.deploy.table import Table
from mechdesign.domains import Circle, Finite
from mechdesign.errors import InvalidInput

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]
Places = NDArray[np.intp]

_CHUNK = 1 << 16
_GUIDE_BITS = 16


def sample(table: Table, x: ArrayLike, size: int | None = None) -> Floats:
    """One report for each input, or ``size`` reports of one input, from the operating system's randomness.

    *Guarantee.* Reports are independent and each has exactly the probabilities of the table. A value outside the
    domain is an `InvalidInput` that names its position; nothing is clipped.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> sorted(set(sample(make_table(duchi(1.0)), [-1.0, 0.3, 1.0] * 50).round(3).tolist()))
    [-2.164, 2.164]
    """
    inputs = table.domain.require(x)
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise InvalidInput("size", size, "be a whole number of at least 0")
        if inputs.ndim:
            raise InvalidInput("x", inputs.shape, "be one number where size is given")
        inputs = np.broadcast_to(inputs, (int(size),))
    law = _law(table)
    flat = inputs.reshape(-1)
    reports = np.empty(flat.size)
    for k in range(0, flat.size, _CHUNK):
        reports[k : k + _CHUNK] = law(flat[k : k + _CHUNK])
    return reports.reshape(inputs.shape)


@lru_cache(maxsize=16)
def _law(table: Table) -> Callable[[Floats], Floats]:
    return _KINDS[table.kind](table)


# -- bits --------------------------------------------------------------------------------------------------------------


def draw(bits: int, count: int) -> NDArray[Any]:
    """``count`` uniform whole numbers of ``bits`` bits from the operating system, in the narrowest unsigned type."""
    width = next(w for w in (1, 2, 4, 8) if bits <= 8 * w)
    numbers = np.frombuffer(os.urandom(width * count), dtype=f"<u{width}")
    return numbers if bits == 8 * width else numbers & numbers.dtype.type((1 << bits) - 1)


def below(counts: Keys, masks: Keys | None = None) -> Keys:
    """For each entry a uniform whole number below it, by rejection; ``masks`` are of the bits of ``counts - 1``."""
    if masks is None:
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


def happens(parts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each entry true with probability exactly ``part / count``, for ``0 <= part < count < 2^63``.

    The first 32 binary digits of the fraction, known from doubles up to the last one or two, decide nearly always.
    """
    drawn = draw(32, parts.size).astype(np.float64)
    digits = parts / counts * 2.0**32
    answers = drawn + 0.5 < digits
    for i in np.flatnonzero(np.abs(drawn + 0.5 - digits) <= 1).tolist():
        part, count = int(parts[i]), int(counts[i])
        left = (part << 32) - int(drawn[i]) * count
        answers[i] = left > 0 and (left >= count or int(below(np.array([count], dtype=np.uint64))[0]) < left)
    return answers


def whole(values: Floats) -> NDArray[np.int64]:
    """Whole numbers next to ``values`` with exactly these means."""
    sizes = np.abs(values)
    numbers = np.floor(sizes)
    shares = sizes - numbers
    numbers = numbers.astype(np.int64)
    places = np.flatnonzero(shares)
    shares = shares[places]
    while places.size:
        shares = shares * 2.0**32
        digits = np.floor(shares)
        drawn = draw(32, places.size).astype(np.float64)
        numbers[places[drawn < digits]] += 1
        tied = (drawn == digits) & (shares > digits)
        places, shares = places[tied], shares[tied] - digits[tied]
    return np.where(values < 0, -numbers, numbers)


class Guide:
    """``find(keys)``: the largest j with ``sums[j] <= key``, for increasing whole ``sums`` that start at 0."""

    def __init__(self, sums: Sequence[int], total: int, bits: int = _GUIDE_BITS) -> None:
        self.sums = np.array(sums, dtype=np.uint64)
        self.shift = np.uint64(max(0, (total - 1).bit_length() - bits))
        edges = np.arange(((total - 1) >> int(self.shift)) + 1, dtype=np.uint64) << self.shift
        first = np.searchsorted(self.sums, edges, side="right") - 1
        last = np.append(first[1:], len(sums) - 1)
        at_edge = np.append(self.sums[first[1:]] == edges[1:], False)  # a boundary at the next stretch's first key
        is_one = (last == first) | ((last == first + 1) & at_edge)
        self.table = np.where(is_one, first, -1).astype(np.int32)

    def find(self, keys: NDArray[Any]) -> NDArray[np.int32]:
        found: NDArray[np.int32] = self.table[keys >> keys.dtype.type(self.shift)]
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = self.search(keys[open_])
        return found

    def search(self, keys: NDArray[Any]) -> NDArray[np.intp]:
        """The same by binary search alone."""
        return np.searchsorted(self.sums, keys.astype(np.uint64), side="right") - 1


class Turns:
    """How many thresholds are below each input."""

    def __init__(self, thresholds: Floats, lower: float, upper: float) -> None:
        self.thresholds, self.lower = thresholds, lower
        self.scale = (1 << _GUIDE_BITS) / (upper - lower)
        stretches = self._stretch(thresholds)
        count = int(self._stretch(np.array([upper]))[0]) + 1
        # rounding keeps the order: a threshold in an earlier stretch is below, one in a later stretch is not
        before = np.searchsorted(stretches, np.arange(count), side="left")
        is_open = np.bincount(stretches, minlength=count)[:count] > 0
        self.table = np.where(is_open, -1, before).astype(np.int32)

    def _stretch(self, x: Floats) -> NDArray[np.int32]:
        return ((x - self.lower) * self.scale).astype(np.int32)

    def count(self, x: Floats) -> NDArray[np.int32]:
        found: NDArray[np.int32] = self.table[self._stretch(x)]
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = np.searchsorted(self.thresholds, x[open_], side="left")
        return found


# -- kinds -------------------------------------------------------------------------------------------------------------


class _Rows:
    """Outputs of window rows.

    Left of the window a row's running counts are those of the base, N; inside they are those of the caps, H, less the
    start; beyond they are N plus the extra. So one search in N followed by H answers for every row.
    """

    def __init__(self, table: Table) -> None:
        law = table.law
        self.bits, self.outputs = table.bits, _floats(law["outputs"])
        counts = [0, *accumulate(law["base"])]
        caps = [0, *accumulate(law["caps"])]
        reached = np.array([c - n for c, n in zip(caps, counts, strict=True)], dtype=np.int64)
        extra = (1 << table.bits) - counts[-1]
        starts = np.array(law["starts"], dtype=np.int64)
        first = np.minimum(np.searchsorted(reached, starts, side="right"), len(counts) - 1)
        last = np.searchsorted(reached, starts + extra, side="left")
        below_ = np.array(counts, dtype=np.int64)
        last = np.maximum(last, first)
        self.left = (below_[first] + np.minimum(reached[first] - starts, extra)).astype(np.uint64)
        self.most_left = (below_[first] - 1).astype(np.uint64)
        self.right = (below_[last] + extra).astype(np.uint64)
        self.lift = starts.astype(np.uint64) + np.uint64(counts[-1])
        self.extra = np.uint64(extra)
        m = len(counts) - 1
        self.column = np.concatenate([self.outputs, self.outputs])
        self.guide = Guide([*counts[:m], *(counts[-1] + h for h in caps[:m])], counts[-1] + caps[-1], _GUIDE_BITS + 1)
        self._one: tuple[int, Guide] | None = None
        self._counts, self._reached, self._starts = counts, reached.tolist(), law["starts"]

    def report(self, rows: NDArray[np.int32]) -> Floats:
        numbers = draw(self.bits, rows.size).astype(np.uint64)
        inside = numbers + self.lift[rows]
        beyond = numbers - self.extra  # wraps where it is not chosen
        keys = np.where(numbers < self.right[rows], inside, beyond)
        keys = np.where(numbers < self.left[rows], np.minimum(numbers, self.most_left[rows]), keys)
        return np.asarray(self.column[self.guide.find(keys)])

    def report_one(self, row: int, count: int) -> Floats:
        """Many reports of one row: its own running counts are searched."""
        one = self._one  # held here: other threads may put another row there
        if one is None or one[0] != row:
            s, extra = self._starts[row], int(self.extra)
            pairs = zip(self._counts[:-1], self._reached[:-1], strict=True)
            one = self._one = row, Guide([n + min(max(g - s, 0), extra) for n, g in pairs], 1 << self.bits)
        return np.asarray(self.outputs[one[1].find(draw(self.bits, count))])


def _window(table: Table) -> Callable[[Floats], Floats]:
    rows = _Rows(table)
    thresholds = _floats(table.law["thresholds"])
    turns = Turns(thresholds, table.domain.lower, table.domain.upper)

    def report(x: Floats) -> Floats:
        if x.size > 1 and x.strides == (0,):
            return rows.report_one(int(np.searchsorted(thresholds, x[0], side="left")), x.size)
        return rows.report(turns.count(x))

    return report


def _unbiased(table: Table) -> Callable[[Floats], Floats]:
    rows, law = _Rows(table), table.law
    means = np.array(law["means"], dtype=np.int64)
    offset, scale = float(law["offset"]), math.ldexp(1.0, law["shift"] + table.bits)
    guide = Guide([mean - law["means"][0] for mean in law["means"][:-1]], law["means"][-1] - law["means"][0] + 1)
    steps = np.diff(means)

    def report(x: Floats) -> Floats:
        at = whole((x - offset) * scale)
        row = guide.find((at - means[0]).astype(np.uint64))
        return rows.report(row + happens(at - means[row], steps[row]))

    return report


def _finite(table: Table) -> Callable[[Floats], Floats]:
    outputs, domain = _floats(table.law["outputs"]), table.domain
    assert isinstance(domain, Finite)
    bits = max(_GUIDE_BITS + 4 - len(domain).bit_length(), 4)  # of each row's guide: all of them stay in a cache
    guides = [Guide([0, *accumulate(row[:-1])], 1 << table.bits, bits) for row in table.law["rows"]]
    stretches, shift = np.stack([guide.table for guide in guides]), guides[0].shift

    def report(x: Floats) -> Floats:
        rows, numbers = domain.index(x), draw(table.bits, x.size)
        found = stretches[rows, numbers >> numbers.dtype.type(shift)]
        open_ = np.flatnonzero(found < 0)
        open_ = open_[np.argsort(rows[open_], kind="stable")]
        ends = np.searchsorted(rows[open_], np.arange(len(guides) + 1))
        for row in np.flatnonzero(np.diff(ends)).tolist():
            mine = open_[ends[row] : ends[row + 1]]
            found[mine] = guides[row].search(numbers[mine])
        return np.asarray(outputs[found])

    return report


def _pieces(table: Table) -> Callable[[Floats], Floats]:
    law = table.law
    cells, inside, weight = law["cells"], law["inside"], law["weight"]
    anchor, scale, step = (float(law[name]) for name in ("anchor", "scale", "step"))
    is_circle = isinstance(table.domain, Circle)
    sizes = np.array([cells - inside, inside], dtype=np.uint64)
    masks = np.array([(1 << (int(size) - 1).bit_length()) - 1 for size in sizes], dtype=np.uint64)

    def report(x: Floats) -> Floats:
        place = np.floor((x - anchor) * scale)
        start = np.mod(place, cells) if is_circle else np.minimum(np.maximum(place, 0), cells - inside)
        hit = draw(table.bits, x.size) < weight
        choice = hit.astype(np.intp)
        drawn = below(sizes[choice], masks[choice]).astype(np.int64)
        cell = (start.astype(np.int64) + drawn + np.where(hit, 0, inside)) % cells
        return _clamped(np.asarray((law["first"] + cell + 0.5) * step), law)

    return report


def _additive(table: Table) -> Callable[[Floats], Floats]:
    law = table.law
    offset, shift, size = float(law["offset"]), law["shift"], len(law["weights"])
    guide = Guide([0, *accumulate(law["weights"][:-1])], 1 << table.bits)

    def magnitudes(count: int) -> NDArray[np.int64]:
        blocks = np.zeros(count, dtype=np.int64)
        going = np.arange(count)
        while going.size:
            going = going[draw(table.bits, going.size) < law["tail"]]
            blocks[going] += 1
        return np.asarray(blocks * size + guide.find(draw(table.bits, count)))

    def report(x: Floats) -> Floats:
        at = whole((x - offset) * math.ldexp(1.0, shift))
        noise = np.zeros(x.size, dtype=np.int64)
        todo = np.arange(x.size)
        while todo.size:
            negative = draw(1, todo.size) == 1
            drawn = magnitudes(todo.size)
            noise[todo] = np.where(negative, -drawn, drawn)
            todo = todo[negative & (drawn == 0)]
        return _clamped(np.asarray(offset + (at + noise) * math.ldexp(1.0, -shift)), law)

    return report


def _clamped(y: Floats, law: Any) -> Floats:
    if law["clamp"] is None:
        return y
    low, high = _floats(law["clamp"]).tolist()
    return np.asarray(np.minimum(np.maximum(y, low), high))


def _floats(texts: Sequence[str]) -> Floats:
    return np.array([float(text) for text in texts])


_KINDS: dict[str, Callable[[Table], Callable[[Floats], Floats]]] = {
    "window": _window,
    "unbiased": _unbiased,
    "finite": _finite,
    "pieces": _pieces,
    "additive": _additive,
}
