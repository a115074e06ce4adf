"""Loss matrices from files: CSV with optional labels, or a NumPy array."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import FileProblem

Floats = NDArray[np.float64]

_LARGEST = 64 * 2**20


@dataclass(frozen=True, slots=True, eq=False)
class LossTable:
    """``losses[x, y]`` with a label for each row and column, where the file has them."""

    losses: Floats
    input_labels: tuple[str, ...] | None = None
    output_labels: tuple[str, ...] | None = None


def read_loss_matrix(path: Path | str) -> LossTable:
    """The losses in a ``.csv`` or ``.npy`` file: a row for each input, a column for each output.

    A first line of words labels the outputs and a first column of words labels the inputs; an empty corner says that
    both are there, so numbers may be labels too. Anything doubtful is `FileProblem`: lines of different lengths, cells
    that are no finite number at least 0, labels among numbers, labels that appear twice.
    """
    target = Path(path)
    readers = {".csv": _read_csv, ".npy": _read_array}
    reader = readers.get(target.suffix.lower())
    if reader is None:
        raise FileProblem("loss matrix file", str(target), "end in .csv or .npy", "save the table as CSV")
    try:
        with target.open("rb") as stream:
            content = stream.read(_LARGEST + 1)
    except OSError as error:
        raise FileProblem("loss matrix file", str(target), f"be readable: {(error.strerror or '').lower()}") from None
    if len(content) > _LARGEST:
        raise FileProblem("loss matrix file", str(target), f"be at most {_LARGEST // 2**20} MB")
    return reader(content, str(target))


def _read_array(content: bytes, name: str) -> LossTable:
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    # a header may promise more than memory holds, and is parsed as Python
    except (ValueError, EOFError, OSError, MemoryError, SyntaxError, TokenError) as error:
        raise FileProblem("loss matrix file", name, f"be a NumPy array of numbers: {error}") from None
    if array.dtype.kind not in "fiu" or array.ndim != 2 or not array.size:
        raise FileProblem(
            "loss matrix file", name, "hold one array of numbers with two axes", "save it with numpy.save"
        )
    losses = array.astype(np.float64)
    bad = np.argwhere(~(np.isfinite(losses) & (losses >= 0)))
    if bad.size:
        row, column = bad[0].tolist()
        raise _bad_cell(name, f"entry [{row}, {column}]", str(losses[row, column]))
    return LossTable(losses)


def _read_csv(content: bytes, name: str) -> LossTable:
    lines = _cells(content, name)
    top = lines[0][1]
    has_corner = top[0] == "" and len(top) > 1 and len(lines) > 1
    has_header = has_corner or _are_labels(top[1:] or top, name, "first line")
    body = lines[1:] if has_header else lines
    has_labels = has_corner or (len(top) > 1 and _are_labels([cells[0] for _, cells in body], name, "first column"))
    if not body:
        raise FileProblem("loss matrix file", name, "have an input: a line of numbers")
    first = 1 if has_labels else 0
    losses = np.array([[_loss(cell, line, name) for cell in cells[first:]] for line, cells in body])
    outputs = tuple(lines[0][1][first:]) if has_header else None
    inputs = tuple(cells[0] for _, cells in body) if has_labels else None
    for labels, what in ((inputs, "first column"), (outputs, "first line")):
        if labels is not None and len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise FileProblem(
                "loss matrix file", name, f"have different labels in its {what}, {twice!r} is there twice"
            )
    return LossTable(losses, inputs, outputs)


def _cells(content: bytes, name: str) -> list[tuple[int, list[str]]]:
    """The stripped cells of each line that is not blank, with its number."""
    try:
        reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileProblem("loss matrix file", name, f"be a CSV file in UTF-8: {error}") from None
    lines = [(line, cells) for line, cells in lines if any(cells)]
    if not lines:
        raise FileProblem("loss matrix file", name, "hold a matrix, and is empty")
    width = len(lines[0][1])
    for line, cells in lines:
        if len(cells) != width:
            rule = f"have {width} cells in every line, line {line} has {len(cells)}"
            raise FileProblem("loss matrix file", name, rule, "separate the cells by commas")
    return lines


def _are_labels(cells: list[str], name: str, place: str) -> bool:
    """Whether cells hold labels; a mixture is a mistake somewhere, and no reason to drop a line of losses."""
    words = [cell for cell in cells if _number(cell) is None]
    if words and len(words) < len(cells):
        rule = f"have only labels or only numbers in its {place}, it also holds {words[0]!r}"
        raise FileProblem("loss matrix file", name, rule, "leave the corner cell empty if labels are numbers")
    return bool(words)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _loss(cell: str, line: int, name: str) -> float:
    number = _number(cell)
    if number is None or not (math.isfinite(number) and number >= 0):
        raise _bad_cell(name, f"line {line}", cell)
    return number


def _bad_cell(name: str, place: str, cell: str) -> FileProblem:
    return FileProblem("loss matrix file", name, f"hold finite numbers, at least 0: {place} has {cell!r}")
