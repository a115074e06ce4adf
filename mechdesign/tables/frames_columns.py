"""Columns of numbers, or of the labels of a table: reports drawn for them, and reports counted in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.columns import (
    Problem,
    Reading,
    arrow,
    is_text,
    plain_array,
    require_columns,
    typed,
    use_numbers,
)
from mechdesign.data.numbers import is_missing, number_of
from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.tables.estimators import Tally
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.tables.labels import Names
from mechdesign.tables.reports.payload import rows_of_list, rule_of, texts_of
from mechdesign.tables.sampler import sample_codes
from mechdesign.tables.table import Table
from mechdesign.values.declare import Floats
from mechdesign.words.domains import Finite

FRAME = "the data frame"


def data_kind(data: Any) -> str:
    """A path, a frame of one of the libraries that are known, or numbers."""
    if isinstance(data, str | Path):
        return "path"
    root = type(data).__module__.partition(".")[0]
    return root if root in ("dask", "polars", "pandas") and hasattr(type(data), "columns") else "numbers"


def is_lazy(data: Any) -> bool:
    """Whether it is a lazy frame of Polars."""
    return data_kind(data) == "polars" and hasattr(data, "collect")


def drawn_from(table: Table, column: Any, reading: Reading, place: str, before: int = 0) -> NDArray[Any]:
    """Reports, as numbers or as labels."""
    hint = "correct such rows, or make a table for a domain that holds them"
    if isinstance(table.domain, Finite):
        hint += f": this one is for {table.domain}"
    read = reading_of(table, reading)
    return told(table, use_numbers(column, read, partial(sample_codes, table), place, before, hint))


def reading_of(table: Table, numbers: Reading) -> Reading:
    """How inputs of a table are read: as labels where it has them, else as these numbers."""
    return named(table.input_names, numbers, "write the labels: numbers are not taken for their codes")


def told(table: Table, reports: NDArray[Any]) -> NDArray[Any]:
    """Reports as they go out: labels where the table has them."""
    if isinstance(table.law, ItemsLaw):
        return texts_of(reports)
    names = table.output_names
    return reports if names is None else names.labels(reports)


def are_texts(table: Table) -> bool:
    """Whether reports go out as texts: labels, or the digits of bytes."""
    return table.output_names is not None or isinstance(table.law, ItemsLaw)


def tallied(count: Tally, column: Any, reading: Reading, place: str, codes: bool, before: int = 0) -> Tally:
    """Take the reports of a column into a tally; ``codes`` says that they are no labels, but the table's numbers."""
    if isinstance(count.table.law, ItemsLaw):
        return _tallied_bytes(count, count.table.law, column, place, before)
    names = None if codes else count.table.output_names
    read = named(names, reading, "write the labels, or say that the reports are codes: --codes, codes=True")
    return use_numbers(column, read, count.add_codes, place, before, "were these numbers drawn from this table?")


def _tallied_bytes(count: Tally, law: ItemsLaw, column: Any, place: str, before: int) -> Tally:
    """Reports that are bytes: a column of their digits, or of binary values."""
    array = plain_array(column)
    types = arrow().types
    is_binary = any(test(array.type) for test in (types.is_binary, types.is_large_binary, types.is_fixed_size_binary))
    if not (is_text(array) or is_binary):
        rule = f"be a column of texts of {2 * law.report_bytes} hexadecimal digits, or of bytes"
        raise InvalidInput(place, str(array.type), rule, "read it as text: digits are no number here")
    rows, wrong = rows_of_list(law, array.to_pylist())
    if wrong is not None:
        step = "were these reports made from this table?"
        raise InvalidData(f"{place}, data row {before + wrong + 1},", "another value", rule_of(law), step)
    return count.add_rows(rows)


def require_labels(table: Table, codes: bool) -> None:
    """Whether reports can be codes."""
    if codes and table.labels.outputs is None:
        raise InvalidInput("codes", codes, "be left out: this table has no labels, its reports are numbers")


def named(names: Names | None, numbers: Reading, hint: str = "") -> Reading:
    """The `Reading` of data that are labels, as their codes; without names that of ``numbers``.

    Texts are read as they are, numbers by the label that writes them, never as codes. What to do if only these could
    have been meant is the ``hint``.
    """
    if names is None:
        return numbers
    known = names

    def read(column: Any, place: str) -> tuple[Floats, Problem | None]:
        from pyarrow import compute

        array = plain_array(column)
        if not is_text(array):
            return _by_number(known, array, place, hint)
        wanted = arrow().array(known.texts, array.type)
        trimmed = compute.index_in(compute.utf8_trim_whitespace(array), wanted)
        found = compute.coalesce(compute.index_in(array, wanted), trimmed)
        first = int(np.argmax(found.is_null().to_numpy(zero_copy_only=False))) if found.null_count else len(found)
        places = found.slice(0, first).to_numpy(zero_copy_only=False).astype(np.intp)
        if first == len(found):
            return known.worth[places], None
        text = array[first].as_py()
        if text is None or is_missing(text):
            step = "drop or fill the rows without a value"
        elif number_of(text) is not None and not known.by_number:
            step = hint or known.step
        else:
            step = ""
        return known.worth[places], (text, known.rule, step)

    return read


def _by_number(names: Names, array: Any, place: str, hint: str) -> tuple[Floats, Problem | None]:
    """The codes of the labels that write the numbers in a column."""
    if not names.by_number:
        rule = "be a column of texts, as the labels of the table are"
        raise InvalidInput(place, str(array.type), rule, hint or names.step)
    values, problem = typed(array, place)
    written = np.array(sorted(names.by_number))
    codes = names.worth[[names.by_number[number] for number in written.tolist()]]
    places = np.minimum(np.searchsorted(written, values), written.size - 1)
    wrong = written[places] != values
    if wrong.any():
        first = int(np.argmax(wrong))
        return codes[places[:first]], (float(values[first]), names.rule, "cast the column to texts if it holds labels")
    return codes[places], problem


def to_arrow(column: Any) -> Any:
    """A column of pandas or Polars; the NaN of pandas is a missing value."""
    pa = arrow()
    rule = "be a column of numbers, or of texts for a table with labels"
    try:
        if hasattr(column, "to_arrow"):
            return column.to_arrow()
        if column.dtype == object and any(isinstance(value, bool | np.bool_) for value in column):
            raise pa.ArrowInvalid("truth values are no numbers")
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        step = "cast it to 64-bit floats: it mixes several types, or has one of its own"
        raise InvalidInput(f"column {column.name!r}", str(column.dtype), rule, step) from None


def wanted(names: Sequence[str], column: str, keep: Sequence[str]) -> list[str]:
    """The column and those to keep, in the order of the frame."""
    require_columns([column, *keep], names, FRAME)
    return [name for name in names if name == column or name in keep]
