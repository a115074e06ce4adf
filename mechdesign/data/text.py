"""Rows of text files with commas, read by the standard library: what needs no optional dependency."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TextIO

from mechdesign.data.columns import require_columns
from mechdesign.data.numbers import number_of
from mechdesign.errors import FileProblem, InvalidData, InvalidInput
from mechdesign.values import files

LONGEST_LINE = 2 * 2**20  # characters


def text_lines(path: Path, what: str = "data file") -> Iterator[tuple[int, str]]:
    """The lines of a text file in UTF-8 with their numbers, each of a bounded length."""
    try:
        with files.opened(path, what) as content:
            yield from enumerate(_lines(io.TextIOWrapper(content, encoding="utf-8-sig"), path, what), 1)
    except UnicodeDecodeError:  # its words quote bytes
        raise FileProblem(what, str(path), "be text in UTF-8") from None


def text_rows(path: Path, what: str = "data file", encoding: str = "utf-8-sig") -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file in UTF-8 with their line numbers; empty lines are for the end of the file."""
    empty = 0
    try:
        with files.opened(path, what) as content:
            stream = io.TextIOWrapper(content, newline="", encoding=encoding)
            rows = csv.reader(_lines(stream, path, what), strict=True)
            for fields in rows:
                if not any(map(str.strip, fields)) and len(fields) < 2:
                    empty = empty or rows.line_num
                elif empty:
                    break
                else:
                    yield rows.line_num, fields
            else:
                return
    except (csv.Error, ValueError) as error:  # a wrong byte
        if isinstance(error, InvalidInput):
            raise
        raise FileProblem(what, str(path), f"be a CSV file in UTF-8: {error}") from None
    raise InvalidData(f"row {empty} of {path.name}", "", "not be empty", "empty lines may only end a file")


def _lines(stream: TextIO, path: Path, what: str) -> Iterator[str]:
    """Lines of a bounded length."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise FileProblem(what, str(path), f"have lines of at most {LONGEST_LINE // 2**20} MB", "is it text?")
        yield line


def text_column(path: Path, column: str | None) -> Iterator[tuple[int, str]]:
    """The cells of one column with their line numbers, none of them empty: the named one, or the only one there is.

    With a name the first line is a header; without one it is a row like any other (`data.headers` says what then).
    """
    rows: Iterator[tuple[int, list[str]]] = text_rows(path)
    width, place = 1, 0
    if column is not None:
        header = [name.strip() for name in next(rows, (0, []))[1]]
        if not header:
            raise FileProblem("data file", str(path), "begin with a header, the names of its columns")
        second = next(rows, None)
        require_columns([column], header, f"the first line of {path}", names_hint(header, second[1] if second else []))
        rows = rows if second is None else chain([second], rows)
        width, place = len(header), header.index(column)
    tip = "pass --column NAME if the file has a header" if column is None else "quote commas"
    for line, fields in rows:
        if len(fields) != width:
            rule = f"have {width} field{'s' * (width > 1)}, and has {len(fields)}"
            raise InvalidData(f"row {line} of {path.name}", fields, rule, tip)
        cell = fields[place].strip()
        if not cell:
            raise InvalidData(place_of(path, line, column), "", "hold a value, and is empty")
        yield line, cell


def place_of(path: Path, line: int, column: str | None) -> str:
    """How errors call a cell."""
    return f"row {line} of {path.name}" + ("" if column is None else f", column {column!r}")


def names_hint(names: Sequence[str], second: Sequence[str]) -> str:
    """What speaks against a first line of names, given the line below: then it may hold values, and is not shown.

    >>> names_hint(["name", "age"], ["Ann", "31"])
    ''
    """
    separator = next((mark for mark in ";\t|" if mark in names[0]), None) if len(names) == 1 else None
    if separator is not None:
        return f"separate the cells by commas, not by {separator!r}"
    if any(number_of(name) is not None for name in names):
        return "the first line must hold the names of the columns, and has a number"
    if not any(number_of(cell) is not None for cell in second):
        return "its first line is not shown, as it may be somebody's: look whether it holds the names of the columns"
    return ""
