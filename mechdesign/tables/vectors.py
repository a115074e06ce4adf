"""Test vectors: inputs, fixed bytes and the report they must give, for samplers in every language.

A vector is made once, as a value; it is printed as JSON, with decimals, or as a line of text, with the bits of doubles.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterable, Iterator
from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.tables.boundaries import boundary_cases, boundary_count
from mechdesign.tables.checker import canonical
from mechdesign.tables.document import decimal
from mechdesign.tables.kinds import Case, ItemsLaw
from mechdesign.tables.reference import fixed_stream, rule
from mechdesign.tables.table import Table
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Finite

MOST = 50_000
"""The most cases at boundaries that are written: more of them are thinned out evenly."""

_MOST_BYTES = 1 << 18
_MOST_BYTES_IN_ALL = 1 << 18
_LEAST_RANDOM = 8
_SPARE = bytes(range(0x51, 0x59))
"""What follows the bytes that are needed, so that a sampler that reads more is seen to."""


@frozen
class Vector:
    """For input ``x`` a sampler that reads ``stream`` returns ``y`` after ``used`` bytes, or refuses x if y is None.

    Of a table of items x is a whole number, and y bytes.
    """

    x: float
    stream: bytes
    used: int
    y: float | bytes | None

    @property
    def line(self) -> str:
        """The vector as programs read it.

        >>> Vector(0.5, bytes([0, 255]), 1, 2.0).line
        '3fe0000000000000 00ff 1 4000000000000000'
        """
        return f"{digits(self.x)} {self.stream.hex()} {self.used} {'error' if self.y is None else digits(self.y)}"

    def to_json(self) -> dict[str, Any]:
        """The same as a file of JSON holds it."""
        y = self.y.hex() if isinstance(self.y, bytes) else decimal(self.y or 0.0)
        return {"x": decimal(self.x), "bytes": self.stream.hex(), "used": self.used, "y": y}


def digits(number: float | bytes) -> str:
    """An item in decimal, bytes in hexadecimal digits, and a double as the digits of its bits.

    >>> digits(7), digits(b"a"), digits(1.0)
    ('7', '61', '3ff0000000000000')
    """
    if isinstance(number, int):
        return str(number)
    return (number if isinstance(number, bytes) else struct.pack(">d", number)).hex()


def vectors(table: Table, count: int = 100, seed: bytes = b"mechdesign", most: int = MOST) -> Iterator[Vector]:
    """What samplers in other languages are tested with: cases at the boundaries of the law, then random ones.

    *Guarantee.* If they are no more than ``most``, all of `boundary_cases` are there: a sampler in which one threshold,
    mean, start or count was changed answers one of them differently, if its law is another one. ``count`` cases of
    random bytes follow.
    """
    if not 0 <= count <= 100_000:
        raise InvalidInput("count", count, "lie between 0 and 100000")
    if not 0 <= most <= 10_000_000:
        raise InvalidInput("most", most, "lie between 0 and 10000000")
    for case in boundary_cases(table, most):
        yield _steered(table, case)
    for i, x in enumerate(_inputs(table, _room(table, count))):
        yield _random(table, x, seed + i.to_bytes(4, "little"))


def refusals(table: Table) -> list[Vector]:
    """Inputs outside the domain, as near to it as doubles get, and what is no number at all.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Interval
    >>> from mechdesign.mechanisms.catalogue import ogpm
    >>> [vector.x for vector in refusals(make_table(ogpm(1.0, Interval(0, 1))))]
    [nan, inf, -inf, -5e-324, 1.0000000000000002]
    """
    if isinstance(table.law, ItemsLaw):
        return [Vector(item, bytes(64), 0, None) for item in (-1, table.law.count)]
    lower, upper = table.law.ends
    points = table.domain.points if isinstance(table.domain, Finite) else ()
    outside = [math.nan, math.inf, -math.inf, math.nextafter(lower, -math.inf)]
    if len(points) > 1:
        outside.append(math.nextafter(lower, math.inf))
    outside.append(math.nextafter(upper, math.inf))
    return [Vector(x, bytes(64), 0, None) for x in outside if x not in points]


def vectors_with_refusals(table: Table, count: int = 100, most: int = MOST) -> tuple[Vector, ...]:
    """The `vectors`, and after them the `refusals`: what the text file holds."""
    return (*vectors(table, count, most=most), *refusals(table))


def vector_lines(every: Iterable[Vector], sha256: str) -> str:
    """The text file of vectors."""
    head = [f"# test vectors of table {sha256}", "# input, random bytes, how many are used, output (or error)"]
    return "\n".join([*head, *(vector.line for vector in every)]) + "\n"


def test_vectors(
    table: Table,
    count: int = 100,  # noqa: PT028
    seed: bytes = b"mechdesign",  # noqa: PT028
    most: int = MOST,  # noqa: PT028
) -> dict[str, Any]:
    """The `vectors` as the document of a file."""
    cases = [vector.to_json() for vector in vectors(table, count, seed, most)]
    said = {"format": "mechdesign test vectors", "version": 1, "table": table.sha256, "cases": cases}
    return said | {"reports": "bytes"} if isinstance(table.law, ItemsLaw) else said


test_vectors.__test__ = False  # type: ignore[attr-defined]  # a function, not a test to collect


def vectors_content(table: Table, count: int = 100, seed: bytes = b"mechdesign", most: int = MOST) -> bytes:
    """`test_vectors` as the canonical bytes of a file."""
    return canonical(test_vectors(table, count, seed, most))


def boundaries_left_out(table: Table, most: int = MOST) -> int:
    """How many cases at boundaries `vectors` has no room for."""
    return max(boundary_count(table) - most, 0)


def _room(table: Table, count: int) -> int:
    """Of long streams there are fewer random cases."""
    law = table.law
    return min(count, max(_LEAST_RANDOM, _MOST_BYTES_IN_ALL // law.least_bytes)) if isinstance(law, ItemsLaw) else count


def _steered(table: Table, case: Case) -> Vector:
    content = case.stream + _SPARE
    stream = fixed_stream(content)
    y = rule(table)(case.x, stream)
    return _vector(table, case.x, content, stream.used, y)


def _vector(table: Table, x: float, content: bytes, used: int, y: float | bytes) -> Vector:
    return Vector(int(x) if isinstance(table.law, ItemsLaw) else float(x), content, used, y)


def _inputs(table: Table, count: int) -> list[float]:
    """Both ends of the domain, then inputs spread over it; or its points, one after the other."""
    domain = table.domain
    if isinstance(domain, Finite):
        return [domain.points[i % len(domain)] for i in range(count)]
    spread = [domain.lower + domain.length * ((i * 0.6180339887498949) % 1.0) for i in range(max(count - 2, 0))]
    return [domain.lower, domain.upper, *(min(max(x, domain.lower), domain.upper) for x in spread)][:count]


def _random(table: Table, x: float, seed: bytes) -> Vector:
    content = b""
    while len(content) <= _MOST_BYTES:
        block = len(content) // 32
        content += b"".join(hashlib.sha256(seed + (block + k).to_bytes(4, "little")).digest() for k in range(block + 2))
        stream = fixed_stream(content)
        try:
            y = rule(table)(x, stream)
        except EOFError:
            continue
        return _vector(table, x, content[: math.ceil((stream.used + 8) / 8) * 8], stream.used, y)
    raise InvalidInput("table", table.name, "need fewer random bytes a report for test vectors")
