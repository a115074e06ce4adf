"""Test vectors: inputs, fixed bytes and the report they must give, for samplers in every language."""

from __future__ import annotations

import hashlib
import math
from typing import Any

from mechdesign.deploy.boundaries import boundary_cases, boundary_count
from mechdesign.deploy.checker import canonical
from mechdesign.deploy.document import decimal
from mechdesign.deploy.kinds import Case, ItemsLaw
from mechdesign.deploy.reference import fixed_stream, rule
from mechdesign.deploy.table import Table
from mechdesign.domains import Finite
from mechdesign.errors import InvalidInput

MOST = 50_000
"""The most cases at boundaries that are written: more of them are thinned out evenly."""

_MOST_BYTES = 1 << 18
_MOST_BYTES_IN_ALL = 1 << 18
_LEAST_RANDOM = 8
_SPARE = bytes(range(0x51, 0x59))
"""What follows the bytes that are needed, so that a sampler that reads more is seen to."""


def test_vectors(
    table: Table,
    count: int = 100,  # noqa: PT028
    seed: bytes = b"mechdesign",  # noqa: PT028
    most: int = MOST,  # noqa: PT028
) -> dict[str, Any]:
    """What samplers in other languages are tested with: cases at the boundaries of the law, then random ones.

    *Guarantee.* If they are no more than ``most``, all of `boundary_cases` are there: a sampler in which one threshold,
    mean, start or count was changed answers one of them differently, if its law is another one. ``count`` cases of
    random bytes follow.
    """
    if not 0 <= count <= 100_000:
        raise InvalidInput("count", count, "lie between 0 and 100000")
    if not 0 <= most <= 10_000_000:
        raise InvalidInput("most", most, "lie between 0 and 10000000")
    cases = [_steered(table, case) for case in boundary_cases(table, most)]
    cases += [
        _random(table, x, seed + i.to_bytes(4, "little")) for i, x in enumerate(_inputs(table, _room(table, count)))
    ]
    said = {"format": "mechdesign test vectors", "version": 1, "table": table.sha256, "cases": cases}
    return said | {"reports": "bytes"} if isinstance(table.law, ItemsLaw) else said


def _room(table: Table, count: int) -> int:
    """Of long streams there are fewer random cases."""
    law = table.law
    return min(count, max(_LEAST_RANDOM, _MOST_BYTES_IN_ALL // law.least_bytes)) if isinstance(law, ItemsLaw) else count


test_vectors.__test__ = False  # type: ignore[attr-defined]  # a function, not a test to collect


def boundaries_left_out(table: Table, most: int = MOST) -> int:
    """How many cases at boundaries `test_vectors` has no room for."""
    return max(boundary_count(table) - most, 0)


def vectors_content(table: Table, count: int = 100, seed: bytes = b"mechdesign", most: int = MOST) -> bytes:
    """`test_vectors` as the canonical bytes of a file."""
    return canonical(test_vectors(table, count, seed, most))


def _steered(table: Table, case: Case) -> dict[str, Any]:
    content = case.stream + _SPARE
    stream = fixed_stream(content)
    y = rule(table)(case.x, stream)
    return {"x": decimal(case.x), "bytes": content.hex(), "used": stream.used, "y": _written(y)}


def _written(y: float | bytes) -> str:
    return y.hex() if isinstance(y, bytes) else decimal(y)


def _inputs(table: Table, count: int) -> list[float]:
    """Both ends of the domain, then inputs spread over it; or its points, one after the other."""
    domain = table.domain
    if isinstance(domain, Finite):
        return [domain.points[i % len(domain)] for i in range(count)]
    spread = [domain.lower + domain.length * ((i * 0.6180339887498949) % 1.0) for i in range(max(count - 2, 0))]
    return [domain.lower, domain.upper, *(min(max(x, domain.lower), domain.upper) for x in spread)][:count]


def _random(table: Table, x: float, seed: bytes) -> dict[str, Any]:
    content = b""
    while len(content) <= _MOST_BYTES:
        block = len(content) // 32
        content += b"".join(hashlib.sha256(seed + (block + k).to_bytes(4, "little")).digest() for k in range(block + 2))
        stream = fixed_stream(content)
        try:
            y = rule(table)(x, stream)
        except EOFError:
            continue
        kept = content[: math.ceil((stream.used + 8) / 8) * 8]
        return {"x": decimal(x), "bytes": kept.hex(), "used": stream.used, "y": _written(y)}
    raise InvalidInput("table", table.name, "need fewer random bytes a report for test vectors")
