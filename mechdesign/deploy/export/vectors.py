"""Test vectors as every language reads them: one case a line, doubles as the 16 hexadecimal digits of their bits."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

from mechdesign.values.declare import frozen


@frozen
class Vector:
    """For input ``x`` a sampler that reads ``stream`` returns ``y`` after ``used`` bytes, or refuses x if y is None."""

    x: float
    stream: bytes
    used: int
    y: float | bytes | None


def vectors_of(document: Mapping[str, Any]) -> list[Vector]:
    """The cases of a test-vector document (see the file format).

    >>> case = {"x": "0.5", "bytes": "00ff", "used": 1, "y": "2"}
    >>> vectors_of({"cases": [case]})
    [Vector(x=0.5, stream=b'\\x00\\xff', used=1, y=2.0)]
    """
    return [
        Vector(_number(document, case["x"]), bytes.fromhex(case["bytes"]), case["used"], _report(document, case["y"]))
        for case in document["cases"]
    ]


def _number(document: Mapping[str, Any], text: str) -> float:
    return int(text) if document.get("reports") == "bytes" else float(text)


def _report(document: Mapping[str, Any], text: str) -> float | bytes:
    return bytes.fromhex(text) if document.get("reports") == "bytes" else float(text)


def lines(vectors: Iterable[Vector], sha256: str) -> str:
    """The text file of vectors.

    >>> print(lines([Vector(0.5, bytes([0, 255]), 1, 2.0)], "ab" * 32).splitlines()[-1])
    3fe0000000000000 00ff 1 4000000000000000
    """
    rows = [f"{_input(v)} {v.stream.hex()} {v.used} {_output(v.y)}" for v in vectors]
    head = [f"# test vectors of table {sha256}", "# input, random bytes, how many are used, output (or error)"]
    return "\n".join([*head, *rows]) + "\n"


def _input(vector: Vector) -> str:
    """Of a table of items, whose refused inputs are whole numbers too, the number of the item."""
    return str(vector.x) if isinstance(vector.x, int) else bits(vector.x)


def _output(y: float | bytes | None) -> str:
    if y is None:
        return "error"
    return y.hex() if isinstance(y, bytes) else bits(y)


def bits(value: float) -> str:
    """The bits of a double.

    >>> bits(1.0)
    '3ff0000000000000'
    """
    return struct.pack(">d", value).hex()
