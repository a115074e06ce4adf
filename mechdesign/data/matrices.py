"""Matrices from files, of losses or of probabilities: CSV with optional labels, or a NumPy array."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.arrays import read_array
from mechdesign.data.numbers import number_of
from mechdesign.errors import FileProblem
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.values.files import read_bytes

_LARGEST = 64 * 2**20
_SEPARATORS = {";": "semicolons", "\t": "tabs"}
_OTHER_SEPARATORS = re.compile(r"[;\t]|^[-+]?\d[\d.,' ]*[,' ][\d.,' ]*$")


@frozen
class LabelledMatrix:
    """``values[x, y]`` with a label for each row and column, where the file has them."""

    values: Floats = array(np.asarray)
    input_labels: tuple[str, ...] | None = None
    output_labels: tuple[str, ...] | None = None


@frozen
class _MatrixFile:
    name: str
    what: str
    least: float
    most: float = sys.float_info.max

    def problem(self, rule: str, next_step: str = "") -> FileProblem:
        return FileProblem(f"{self.what} file", self.name, rule, next_step)

    def require(self, number: float | None, place: str, cell: str) -> float:
        if number is None or not self.least <= number <= self.most:
            numbers = "numbers or inf" if math.isinf(self.most) else "finite numbers"
            rule = f"hold {numbers}, at least {self.least:g}: {place} has {cell!r}"
            raise self.problem(rule, "correct the cell")
        return number


def read_matrix(
    path: Path | str, what: str = "loss matrix", least: float = 0.0, most: float = sys.float_info.max
) -> LabelledMatrix:
    """The numbers in a ``.csv`` or ``.npy`` file: a row for each input, a column for each output.

    A first line of words labels the outputs and a first column of words labels the inputs; an empty corner says that
    both are there, so numbers may be labels too. Anything doubtful is `FileProblem`: lines of different lengths, cells
    that are no number from ``least`` to ``most``, labels among numbers, labels that are empty, appear twice, or are
    cells in other separators.
    """
    target = Path(path)
    source = _MatrixFile(str(target), what, least, most)
    form = target.suffix.lower()
    if form == ".npy":
        return _of_array(read_array(target, f"{what} file", _LARGEST), source)
    if form != ".csv":
        raise source.problem("end in .csv or .npy", "save the table as CSV")
    return _read_csv(read_bytes(target, f"{what} file", _LARGEST), source)


def _of_array(array: NDArray[Any], source: _MatrixFile) -> LabelledMatrix:
    if array.dtype.kind not in "fiu" or array.ndim != 2 or not array.size:
        raise source.problem("hold one array of numbers with two axes", "save it with numpy.save")
    values = array.astype(np.float64)
    bad = np.argwhere(~((values >= source.least) & (values <= source.most)))
    if bad.size:
        row, column = bad[0].tolist()
        source.require(None, f"entry [{row}, {column}]", str(values[row, column]))
    return LabelledMatrix(values)


def _read_csv(content: bytes, source: _MatrixFile) -> LabelledMatrix:
    lines = _cells(content, source)
    top = lines[0][1]
    has_corner = top[0] == "" and len(top) > 1 and len(lines) > 1
    has_header = has_corner or _is_header(top, lines[0][0], source)
    body = lines[1:] if has_header else lines
    firsts = [(f"line {line}, cell 1", cells[0]) for line, cells in body]
    has_labels = has_corner or (len(top) > 1 and _are_labels(firsts, source, "first column"))
    if not body:
        raise source.problem("have an input: a line of numbers")
    first = 1 if has_labels else 0
    if has_labels and not has_header and len(body) == 1:
        rule = f"have a number in every cell of its only line: {firsts[0][0]} has {firsts[0][1]!r}"
        raise source.problem(rule, "write a number there, or a first line of labels")
    places = [(f"line {lines[0][0]}, cell {number}", cell) for number, cell in enumerate(top, 1)][first:]
    _require_labels((places if has_header else []) + (firsts if has_labels else []), source)
    values = np.array(
        [
            [
                source.require(number_of(cell), f"line {line}, cell {number}", cell)
                for number, cell in enumerate(cells[first:], first + 1)
            ]
            for line, cells in body
        ]
    )
    outputs = tuple(lines[0][1][first:]) if has_header else None
    inputs = tuple(cells[0] for _, cells in body) if has_labels else None
    if has_corner and values.shape[1] == 1 and number_of(top[1]) is not None:
        rule = f"show whether its first line holds labels: line {lines[0][0]}, cell 1 is empty and {top[1]!r} a number"
        raise source.problem(rule, "write the missing number, or a word above the column")
    for labels, what in ((inputs, "first column"), (outputs, "first line")):
        if labels is not None and len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise source.problem(f"have different labels in its {what}, {twice!r} is there twice")
    return LabelledMatrix(values, inputs, outputs)


def _cells(content: bytes, source: _MatrixFile) -> list[tuple[int, list[str]]]:
    """The stripped cells of each line that is not blank, with its number."""
    try:
        text = content.decode("utf-8-sig")
        filled = [line for line in text.splitlines() if line.strip()]
        for separator, name in _SEPARATORS.items():
            if filled and all(separator in line for line in filled):
                rule = f"separate its cells by commas: every line has {name}"
                raise source.problem(rule, f"save it with commas in place of {name}, and 0.5 for 0,5")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise source.problem(f"be a CSV file in UTF-8: {error}") from None
    lines = [(line, cells) for line, cells in lines if any(cells)]
    if not lines:
        raise source.problem("hold a matrix, and is empty")
    width = len(lines[0][1])
    for line, cells in lines:
        if len(cells) != width:
            rule = f"have {width} cells in every line, line {line} has {len(cells)}"
            raise source.problem(rule, "separate the cells by commas")
    return lines


def _is_header(top: list[str], line: int, source: _MatrixFile) -> bool:
    """Whether the first line holds labels; a number in its first cell makes it a line of values."""
    cells = [(f"line {line}, cell {number}", cell) for number, cell in enumerate(top, 1)]
    if number_of(top[0]) is not None:
        return _are_labels(cells, source, "first line")
    return _are_labels(cells[1:] or cells, source, "first line")


def _are_labels(cells: list[tuple[str, str]], source: _MatrixFile, what: str) -> bool:
    """Whether cells hold labels; a mixture is a mistake somewhere, and no reason to drop a line of values."""
    words = [(place, cell) for place, cell in cells if number_of(cell) is None]
    if words and len(words) < len(cells):
        place, word = words[0]
        rule = f"have only labels or only numbers in its {what}: {place} has {word!r}"
        step = "write a number there, or leave the corner cell empty if labels are numbers"
        raise source.problem(rule, step)
    return bool(words)


def _require_labels(cells: list[tuple[str, str]], source: _MatrixFile) -> None:
    """No label is empty, or is what a number becomes with other separators."""
    for place, label in cells:
        if not label:
            rule = f"have a label or a number in every cell: {place} has {label!r}"
            raise source.problem(rule, "write what is missing")
        if _OTHER_SEPARATORS.search(label):
            rule = f"have no label with a separator in it or a number in other separators: {place} has {label!r}"
            raise source.problem(rule, "separate cells by commas, and write 0.5 for a half")
