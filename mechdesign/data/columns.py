"""One column of data as doubles: the first row that breaks a rule is named, and no value is shown."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.numbers import is_missing
from mechdesign.errors import InvalidData, InvalidInput, listed, unusable_extra
from mechdesign.values.declare import Floats

T = TypeVar("T")

_POSITION = re.compile(r"\[(\d+)\]$")
_SEPARATED = re.compile(r"[^\w]*\d[\d.,'_\s%eE+-]*[^\w]*", re.ASCII)  # such as 1,5 or $1 000


def require_columns(wanted: Sequence[str], names: Sequence[str], place: str, hint: str = "") -> None:
    """Columns that are there exactly once, or an `InvalidInput` that lists the columns and the closest one.

    A ``hint`` says that the first line may hold no names: then none is shown.
    """
    for column in wanted:
        if names.count(column) == 1:
            continue
        if column in names:
            raise InvalidInput("column", column, f"name one column of {place}, {names.count(column)} are called that")
        shown = "" if hint else f": {listed(names) or 'it has none'}"  # what may be no names may be values
        raise InvalidInput(
            "column", column, f"be one of the columns of {place}{shown}", _closest(column, names) or hint
        )


def _closest(name: Any, names: Sequence[Any]) -> str:
    folded = {str(known).casefold(): known for known in names}
    closest = difflib.get_close_matches(str(name).strip().casefold(), folded, n=1)
    return f"did you mean {folded[closest[0]]!r}?" if closest else ""


_BLOCK = 1 << 10  # values read together where some of them are wrong

Truths = NDArray[np.bool_]
Problem = tuple[Any, str, str]
Reading = Callable[[Any, str], tuple[Floats, Problem | None]]
"""The doubles in an Arrow column before the first row that is none, and the value, rule and next step of that row."""


def use_numbers(
    column: Any, reading: Reading, use: Callable[[Floats], T], place: str, before: int = 0, hint: str = ""
) -> T:
    """What ``use`` makes of an Arrow column, after ``before`` rows of the same data.

    A row without a value, one that is no exact double, and one that ``use`` rejects by its position (what to do then
    is the ``hint``) are an `InvalidInput` that names the first such row, counted from 1 without a header.
    """
    values, problem = reading(column, place)
    fault: tuple[int, Problem] | None = None
    try:
        result = use(values)
    except InvalidInput as error:
        position = _POSITION.search(error.field)
        if position is None:
            raise
        wrong = float(values[int(position[1])])
        step = hint if math.isfinite(wrong) else "drop or correct the rows that hold no finite number"
        fault = int(position[1]), (wrong, error.rule, step)
    if fault is None and problem is not None:
        fault = values.size, problem
    if fault is not None:  # raised here, where no other error with the value hangs on it
        row, (value, rule, step) = fault
        raise InvalidData(f"{place}, data row {before + row + 1},", value, rule, step)
    return result


def typed(column: Any, place: str) -> tuple[Floats, Problem | None]:
    """The `Reading` of columns that have a type: integers, floats, decimals, and numbers written as text.

    A decimal is the double nearest to it, as the same digits are in a CSV file.
    """
    pa = arrow()
    array = plain_array(column)
    is_written = is_text(array) or pa.types.is_decimal(array.type)
    if not (is_written or pa.types.is_floating(array.type) or pa.types.is_integer(array.type)):
        step = "cast the column to 64-bit floats first"
        raise InvalidInput(place, str(array.type), "be a column of numbers, or of texts that write numbers", step)
    problem: Problem | None = None
    if array.null_count:
        array = array.slice(0, int(np.argmax(array.is_null().to_numpy(zero_copy_only=False))))
        problem = None, "hold a number", "drop or fill the rows without a value"
    if is_written:
        values, earlier = written(array if is_text(array) else array.cast(pa.string()), place)
        return values, earlier or problem
    numbers = array.to_numpy(zero_copy_only=False)
    values = numbers.astype(np.float64)
    inexact = _inexact(numbers, values)
    if inexact is not None:
        rule = "be a whole number that a double holds exactly"
        return values[:inexact], (int(numbers[inexact]), rule, "beyond 2^53 most are not: rescale the data")
    return values, problem


def unfit(column: Any, reading: Reading, holds: Callable[[Floats], Truths], place: str) -> Truths:
    """Which rows of an Arrow column are no numbers, or numbers that ``holds`` denies.

    Each value is asked about once, however often it stands there: what is wrong with data is mostly a few texts.
    """
    encoded = plain_array(column).dictionary_encode()
    values, places = encoded.dictionary, encoded.indices
    wrong = np.ones(len(values) + 1, dtype=bool)  # the last is for rows without a value
    start = 0
    while start < len(values):
        block = values.slice(start, _BLOCK)
        numbers, problem = reading(block, place)
        wrong[start : start + numbers.size] = ~holds(numbers)
        start += len(block) if problem is None else numbers.size + 1
    found: Truths = wrong[places.fill_null(len(values)).to_numpy(zero_copy_only=False)]
    return found


def plain_array(column: Any) -> Any:
    """One Arrow array, without a dictionary."""
    pa = arrow()
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def is_text(array: Any) -> bool:
    types = arrow().types
    return bool(types.is_string(array.type) or types.is_large_string(array.type))


def _inexact(numbers: NDArray[Any], values: Floats) -> int | None:
    """The first integer that changed on its way to a double."""
    if numbers.dtype.kind not in "iu" or not values.size or max(values.max(), -values.min()) < 2.0**53:
        return None
    inside = values <= np.nextafter(float(np.iinfo(numbers.dtype).max), 0)
    changed = ~inside | (np.where(inside, values, 0.0).astype(numbers.dtype) != numbers)
    return int(np.argmax(changed)) if changed.any() else None


def written(texts: Any, place: str) -> tuple[Floats, Problem | None]:
    """The `Reading` of numbers written as text, as CSV files hold them."""
    from pyarrow import compute

    values = _cast(texts)
    if values is None:
        texts = compute.utf8_trim_whitespace(texts)
        values = _cast(texts)
    if values is not None:
        return values, None
    low, high = 0, len(texts)  # the first `low` are numbers, the first `high` are not all numbers
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _cast(texts.slice(low, middle - low)) is None else (middle, high)
    text = texts[low].as_py()
    return _cast(texts.slice(0, low)), (text, "hold a number", _step_from(text))  # type: ignore[return-value]


def _step_from(text: str) -> str:
    """What to do about a text that is no number."""
    if is_missing(text):
        return "drop or fill the rows without a value"
    if text.casefold() in ("true", "false"):
        return "write truth values as numbers, such as 0 and 1"
    if _SEPARATED.fullmatch(text):
        return "write numbers with a point and without separators"
    if ";" in text or "\t" in text:
        return "separate the cells by commas"
    return "this table has no labels for words: make one that has, or name a column of numbers"


def _cast(texts: Any) -> Floats | None:
    pa = arrow()
    try:
        values: Floats = texts.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return values


def arrow() -> Any:
    """The module pyarrow, or `MissingExtra` or `BrokenExtra`."""
    try:
        import pyarrow
    except ImportError as error:
        raise unusable_extra("reading columns of data", "data", error) from None
    return pyarrow
