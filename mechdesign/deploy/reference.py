"""The sampling rule of FORMAT.md, one report at a time from a stream of bytes: other samplers must agree with it."""

from __future__ import annotations

import hashlib
import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from mechdesign.deploy.checker import canonical
from mechdesign.deploy.document import decimal
from mechdesign.deploy.table import Table
from mechdesign.domains import Circle
from mechdesign.errors import InvalidData, InvalidInput, require_finite, sealed

_MOST_BYTES = 1 << 16


class Stream:
    """Random bits from a source of bytes, which are counted."""

    def __init__(self, read: Callable[[int], bytes] = os.urandom) -> None:
        self._read = read
        self.used = 0

    def draw(self, bits: int) -> int:
        """``bits`` uniform bits: whole bytes, little-endian, the low bits kept."""
        size = -(-bits // 8)
        self.used += size
        return int.from_bytes(self._read(size), "little") & ((1 << bits) - 1) if size else 0

    def below(self, count: int) -> int:
        """Uniform below ``count``, by rejection."""
        bits = (count - 1).bit_length()
        number = self.draw(bits)
        while number >= count:
            number = self.draw(bits)
        return number

    def fraction(self, share: float) -> bool:
        """True with probability exactly ``share``, a double in [0, 1)."""
        while share > 0:
            share *= 2.0**32
            digit = math.floor(share)
            number = self.draw(32)
            if number != digit:
                return number < digit
            share -= digit
        return False

    def whole(self, value: float) -> int:
        """A whole number next to ``value`` with exactly this mean."""
        size = abs(value)
        number = math.floor(size)
        number += self.fraction(size - number)
        return -number if value < 0 else number


def fixed_stream(content: bytes) -> Stream:
    """A stream that reads these bytes, for tests; `EOFError` when they run out.

    >>> fixed_stream(b"\\x01\\x02").draw(16)
    513
    """
    place = 0

    def read(size: int) -> bytes:
        nonlocal place
        if place + size > len(content):
            raise EOFError("the fixed stream has run out")
        place += size
        return content[place - size : place]

    return Stream(read)


@sealed
def report(table: Table, x: float, stream: Stream | None = None) -> float:
    """One report for the input ``x``, by default from the operating system's randomness.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> table = make_table(randomised_response(1.0, Finite((0, 1))), bits=16)
    >>> report(table, 1, fixed_stream(b"\\x00\\x00")), report(table, 1, fixed_stream(b"\\xff\\xff"))
    (0.0, 1.0)
    """
    try:
        at = float(table.domain.require(require_finite(x, "x")))
    except InvalidInput as problem:  # the input is somebody's
        raise InvalidData(problem.field, problem.value, problem.rule, problem.next_step) from None
    return _SAMPLERS[table.kind](_prepared(table), at, Stream() if stream is None else stream)


class _Prepared:
    """The law with its texts read and its running sums taken."""

    def __init__(self, table: Table) -> None:
        law = table.law
        self.table, self.bits, self.law = table, table.bits, law
        self.numbers: dict[str, Any] = {
            name: [float(text) for text in law[name]]
            for name in ("outputs", "thresholds", "clamp")
            if law.get(name) is not None
        }
        for name in ("offset", "step", "anchor", "scale"):
            if name in law:
                self.numbers[name] = float(law[name])
        if "base" in law:
            self.counts = [0, *accumulate(law["base"])]
            gains = (most - least for least, most in zip(law["base"], law["caps"], strict=True))
            self.reached = [0, *accumulate(gains)]
            self.extra = (1 << self.bits) - self.counts[-1]
        rows = law.get("rows") or [law["weights"]] if "rows" in law or "weights" in law else []
        self.cumulative = [[0, *accumulate(row)] for row in rows]
        self.points = table.domain.points if table.kind == "finite" else ()  # type: ignore[union-attr]

    def clamped(self, y: float) -> float:
        ends = self.numbers.get("clamp")
        return y if ends is None else min(max(y, ends[0]), ends[1])

    def output(self, start: int, number: int) -> float:
        """The output of a window row: the largest j with ``W_j <= number``."""
        low, high = 0, len(self.law["base"]) - 1
        while low < high:
            j = (low + high + 1) // 2
            reached = self.counts[j] + min(max(self.reached[j] - start, 0), self.extra)
            low, high = (j, high) if reached <= number else (low, j - 1)
        return float(self.numbers["outputs"][low])


@lru_cache(maxsize=16)
def _prepared(table: Table) -> _Prepared:
    return _Prepared(table)


def _window(p: _Prepared, x: float, stream: Stream) -> float:
    row = bisect_left(p.numbers["thresholds"], x)
    return p.output(p.law["starts"][row], stream.draw(p.bits))


def _unbiased(p: _Prepared, x: float, stream: Stream) -> float:
    means: Sequence[int] = p.law["means"]
    mean = stream.whole((x - p.numbers["offset"]) * 2.0 ** (p.law["shift"] + p.bits))
    row = min(bisect_right(means, mean) - 1, len(means) - 2)
    row += stream.below(means[row + 1] - means[row]) < mean - means[row]
    return p.output(p.law["starts"][row], stream.draw(p.bits))


def _finite(p: _Prepared, x: float, stream: Stream) -> float:
    row = p.cumulative[p.points.index(x)]
    return float(p.numbers["outputs"][bisect_right(row, stream.draw(p.bits)) - 1])


def _pieces(p: _Prepared, x: float, stream: Stream) -> float:
    cells, inside = p.law["cells"], p.law["inside"]
    start = math.floor((x - p.numbers["anchor"]) * p.numbers["scale"])
    start = start % cells if isinstance(p.table.domain, Circle) else min(max(start, 0), cells - inside)
    hit = stream.draw(p.bits) < p.law["weight"]
    place = stream.below(inside) if hit else inside + stream.below(cells - inside)
    return p.clamped((p.law["first"] + (start + place) % cells + 0.5) * p.numbers["step"])


def _additive(p: _Prepared, x: float, stream: Stream) -> float:
    shift: int = p.law["shift"]
    at = stream.whole((x - p.numbers["offset"]) * 2.0**shift)
    while True:
        negative = stream.draw(1)
        blocks = 0
        while stream.draw(p.bits) < p.law["tail"]:
            blocks += 1
        size = blocks * len(p.law["weights"]) + bisect_right(p.cumulative[0], stream.draw(p.bits)) - 1
        if size or not negative:
            break
    return p.clamped(p.numbers["offset"] + (at - size if negative else at + size) * 2.0**-shift)


_SAMPLERS: dict[str, Callable[[_Prepared, float, Stream], float]] = {
    "window": _window,
    "unbiased": _unbiased,
    "finite": _finite,
    "pieces": _pieces,
    "additive": _additive,
}


def test_vectors(table: Table, count: int = 100, seed: bytes = b"mechdesign") -> dict[str, Any]:  # noqa: PT028
    """Inputs, fixed bytes and the outputs they must give: what samplers in other languages are tested with."""
    if not 1 <= count <= 100_000:
        raise InvalidInput("count", count, "lie between 1 and 100000")
    cases = [_case(table, x, seed + i.to_bytes(4, "little")) for i, x in enumerate(_inputs(table, count))]
    return {"format": "mechdesign test vectors", "version": 1, "table": table.sha256, "cases": cases}


def vectors_content(table: Table, count: int = 100, seed: bytes = b"mechdesign") -> bytes:
    """`test_vectors` as the canonical bytes of a file."""
    return canonical(test_vectors(table, count, seed))


test_vectors.__test__ = False  # type: ignore[attr-defined]  # a function, not a test to collect


def _inputs(table: Table, count: int) -> list[float]:
    """Ends, thresholds and doubles beside them first, then inputs spread over the domain."""
    domain = table.domain
    if table.kind == "finite":
        points: tuple[float, ...] = domain.points  # type: ignore[union-attr]
        return [points[i % len(points)] for i in range(count)]
    turns = [float(text) for text in table.law.get("thresholds", [])]
    turns = [*turns[: max(1, count // 8)], *turns[-1:]]
    near = [y for t in turns for y in (t, math.nextafter(t, math.inf), math.nextafter(t, -math.inf))]
    special = [domain.lower, domain.upper, *(x for x in near if domain.lower <= x <= domain.upper)][: count // 2 + 1]
    spread = [domain.lower + domain.length * ((i * 0.6180339887498949) % 1.0) for i in range(count - len(special))]
    return [*special, *(min(max(x, domain.lower), domain.upper) for x in spread)][:count]


def _case(table: Table, x: float, seed: bytes) -> dict[str, Any]:
    content = b""
    while len(content) <= _MOST_BYTES:
        block = len(content) // 32
        content += b"".join(hashlib.sha256(seed + (block + k).to_bytes(4, "little")).digest() for k in range(block + 2))
        stream = fixed_stream(content)
        try:
            y = report(table, x, stream)
        except EOFError:
            continue
        kept = content[: -(-(stream.used + 8) // 8) * 8]
        return {"x": decimal(x), "bytes": kept.hex(), "used": stream.used, "y": decimal(y)}
    raise InvalidInput("table", table.name, "need fewer random bytes a report for test vectors")
