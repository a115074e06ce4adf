"""Numbers and hashes as files of tables, collections, devices and surveys write them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from mechdesign.tables.checker import canonical


def decimal(value: float) -> str:
    """The exact decimal expansion of a double.

    >>> decimal(0.25), decimal(-0.0), decimal(0.1)
    ('0.25', '0', '0.1000000000000000055511151231257827021181583404541015625')
    """
    return format(Decimal(float(value)), "f") if value else "0"


def decimals(values: Iterable[float]) -> list[str]:
    return [decimal(value) for value in values]


def rational(value: Fraction | int) -> str:
    """A fraction in lowest terms.

    >>> rational(Fraction(2, 4)), rational(3)
    ('1/2', '3')
    """
    return str(Fraction(value))


def with_hash(document: Mapping[str, Any]) -> dict[str, Any]:
    """The entries with the SHA-256 of the canonical bytes of all others.

    >>> with_hash({"b": 1})["sha256"][:8], with_hash({"b": 1, "sha256": "old"}) == with_hash({"b": 1})
    ('b9d7ad32', True)
    """
    body = {key: value for key, value in document.items() if key != "sha256"}
    return body | {"sha256": hashlib.sha256(canonical(body)).hexdigest()}
