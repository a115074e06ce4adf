"""Tables for the eyes: a column says once what it is called and how an entry reads in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mechdesign.values.declare import frozen
from mechdesign.values.notebook import grid


@frozen
class Grid:
    """A table; the first ``left`` columns are text, the others numbers.

    >>> print(Grid("Errors", ("name", "worst"), (("pm", "0.25"), ("laplace", "0.5"))))
    Errors
    name     worst
    pm        0.25
    laplace    0.5
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1

    def __str__(self) -> str:
        lines = [tuple(map(printable, line)) for line in (self.headings, *self.rows)]
        wide = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        sides = ["<" if place < self.left else ">" for place in range(len(wide))]
        cells = [
            "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, wide, strict=True))
            for line in lines
        ]
        return "\n".join([self.title, *(line.rstrip() for line in cells)])

    def _repr_html_(self) -> str:
        return grid(self.title, self.headings, self.rows)


@frozen
class Column:
    """A heading, and how an entry reads under it."""

    heading: str
    text: Callable[[Any], str]


def table_of(title: str, columns: Sequence[Column], entries: Iterable[Any], left: int = 1) -> Grid:
    """The table of these entries, a line each."""
    rows = tuple(tuple(column.text(entry) for column in columns) for entry in entries)
    return Grid(title, tuple(column.heading for column in columns), rows, left)


def number(value: float | None) -> str:
    """Six significant digits; nothing for None.

    >>> number(2 / 3), number(None)
    ('0.666667', '')
    """
    return "" if value is None else f"{value:.6g}"


def printable(text: str, most: int | None = None) -> str:
    """Text on one line without control characters, which could reach a terminal or break a picture; shortened if asked.

    >>> printable("a\\x1b[31m"), printable("a very long name", 6)
    ('a?[31m', 'a ver…')
    """
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return plain if most is None or len(plain) <= most else plain[: most - 1] + "…"
