"""SQL: functions of PostgreSQL 13 and later, macros of DuckDB 1.3 and later, and what replays vectors in both.

Databases draw inside a query, so sources are written for it, from the templates in ``runtimes/sql``. In PostgreSQL
randomness is from `gen_random_uuid`, which asks the operating system; in DuckDB the random bytes are an argument,
because its own generator is not safe.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from jinja2 import Environment

from mechdesign.tables.export.render import environment
from mechdesign.tables.export.words import comes_out, goes_in
from mechdesign.tables.kinds import ItemsLaw, Spread
from mechdesign.tables.table import Table
from mechdesign.tables.vectors import Vector, digits
from mechdesign.words.domains import Finite

_PLAIN = frozenset(string.ascii_letters + string.digits + " _.,:-")
"""All else in a label is written by its number, so that none can end a literal or a comment, and sources are ASCII."""


def postgresql(table: Table, stem: str) -> str:
    """The functions of PostgreSQL, called after ``stem``."""
    return _rendered("postgresql_items" if isinstance(table.law, ItemsLaw) else "postgresql", **_values(table, stem))


def duckdb(table: Table, stem: str, register: str) -> str:
    """The macros of DuckDB; ``register`` is the name of the Python module that gives them random bytes."""
    name = "duckdb_items" if isinstance(table.law, ItemsLaw) else "duckdb"
    return _rendered(name, register=register, **_values(table, stem))


def replay(database: str, table: Table, stem: str, cases: Sequence[Vector]) -> str:
    """The script that replays vectors, after the one of its ``database``."""
    return _rendered(f"{database}_replay", stem=stem, items=isinstance(table.law, ItemsLaw), cases=cases)


def _rendered(name: str, **values: object) -> str:
    return _environment().get_template(f"sql/{name}.sql").render(**values)


@cache
def _environment() -> Environment:
    filters: dict[str, Callable[..., object]] = {
        "repr": repr,
        "digits": digits,
        "flat": _flat,
        "in_lines": in_lines,
        "steps": _steps,
        "quoted": "'{!r}'".format,
        "postgresql_text": postgresql_text,
        "duckdb_text": duckdb_text,
    }
    tests: dict[str, Callable[..., bool]] = {
        "whole": lambda values: isinstance(next(iter(_flat(values)), None), int),  # no numbers are doubles
        "texts": lambda value: isinstance(value, tuple) and all(isinstance(text, str) for text in value),
    }
    return environment(filters, tests)


def _values(table: Table, stem: str) -> dict[str, object]:
    law, labels = table.law, table.labels
    points = law.domain.points if isinstance(law.domain, Finite) and not isinstance(law, ItemsLaw) else ()
    clamp = law.clamp if isinstance(law, Spread) else None
    is_labelled = labels.inputs is not None or labels.outputs is not None
    sides = {"points": points, "input_labels": labels.inputs, "output_labels": labels.outputs, "labels": is_labelled}
    return {
        **law.numbers(),
        **dict(zip(("lower", "upper"), law.ends, strict=True)),
        **dict(zip(("clamp_low", "clamp_high"), clamp or (), strict=False)),
        "shape": {table.kind, *law.shape, *(side for side, value in sides.items() if value)},
        "points": points,
        "input_labels": labels.inputs,
        "output_labels": labels.outputs,
        "powers": tuple(2.0 ** (32 * i) for i in range(32)),
        "needed": law.enough_bytes,
        "kind": table.kind,
        "epsilon": table.epsilon,
        "sha": table.sha256,
        "bits": table.bits,
        "size": (table.bits + 7) // 8,
        "stem": stem,
        "goes_in": goes_in(table),
        "comes_out": comes_out(table),
    }


def _flat(values: Iterable[object]) -> list[object]:
    """The numbers of a list, or of a list of lists one after the other."""
    return [n for value in values for n in (_flat(value) if isinstance(value, tuple) else [value])]


def in_lines(items: Iterable[str], separator: str, most: int) -> list[str]:
    """Items joined into lines of at most ``most`` characters, with the separator at the end of all but the last.

    >>> in_lines(["10", "20", "30"], ", ", 6)
    ['10, 20,', '30']
    """
    parts: list[str] = []
    for item in items:
        if parts and len(parts[-1]) + len(separator) + len(item) <= most:
            parts[-1] += separator + item
        else:
            parts.append(item)
    return [*(part + separator.rstrip() for part in parts[:-1]), *parts[-1:]]


def _steps(count: int) -> str:
    """The steps of a binary search among so many places."""
    return ", ".join(str(1 << power) for power in reversed(range(count.bit_length())))


def postgresql_text(text: str) -> str:
    """
    >>> print(postgresql_text("$$'"))
    E'\\u0024\\u0024\\u0027'
    """
    return f"E'{_escaped(text, _code_point)}'"


def _code_point(letter: str) -> str:
    return f"\\U{ord(letter):08x}" if ord(letter) > 0xFFFF else f"\\u{ord(letter):04x}"


def duckdb_text(text: str) -> str:
    """DuckDB has no escapes in texts, but in bytes.

    >>> print(duckdb_text("it's"))
    decode('it\\x27s'::BLOB)
    """
    escaped = _escaped(text, lambda letter: "".join(f"\\x{byte:02X}" for byte in letter.encode()))
    return f"decode('{escaped}'::BLOB)"


def _escaped(text: str, write: Callable[[str], str]) -> str:
    return "".join(letter if letter in _PLAIN else write(letter) for letter in text)
