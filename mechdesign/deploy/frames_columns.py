"""One column of data as doubles: the first row that breaks a rule is named, no other value is shown."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, MissingExtra

Floats = NDArray[np.float64]
T = TypeVar("T")

_POSITION = re.compile(r"\[(\d+)\]$")
_MOST_NAMES = 20


def require_columns(wanted: Sequence[str], names: Sequence[str], place: str) -> None:
    """Columns that are there exactly once, or an `InvalidInput` that lists the columns and the closest one."""
    for column in wanted:
        if names.count(column) == 1:
            continue
        if column in names:
            raise InvalidInput("column", column, f"name one column of {place}, {names.count(column)} are called that")
        listed = ", ".join(map(repr, names[:_MOST_NAMES])) + (", ..." if len(names) > _MOST_NAMES else "")
        closest = difflib.get_close_matches(str(column), map(str, names), n=1)
        step = f"did you mean {closest[0]!r}?" if closest else ""
        raise InvalidInput("column", column, f"be one of the columns of {place}: {listed or 'it has none'}", step)


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
    try:
        result = use(values)
    except InvalidInput as error:
        position = _POSITION.search(error.field)
        if position is None:
            raise
        raise _at(place, before + int(position[1]), error.value, error.rule, hint) from None
    if problem is not None:
        value, rule, step = problem
        raise _at(place, before + values.size, value, rule, step)
    return result


def _at(place: str, position: int, value: Any, rule: str, step: str) -> InvalidInput:
    return InvalidInput(f"{place}, data row {position + 1},", value, rule, step)


def typed(column: Any, place: str) -> tuple[Floats, Problem | None]:
    """The `Reading` of columns of a numeric type."""
    pa = arrow()
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (pa.types.is_floating(array.type) or pa.types.is_integer(array.type)):
        step = "cast the column to 64-bit floats first"
        raise InvalidInput(place, str(array.type), "be a column of integers or floating-point numbers", step)
    problem: Problem | None = None
    if array.null_count:
        array = array.slice(0, int(np.argmax(array.is_null().to_numpy(zero_copy_only=False))))
        problem = None, "hold a number", "drop or fill the rows without a value"
    numbers = array.to_numpy(zero_copy_only=False)
    values = numbers.astype(np.float64)
    inexact = _inexact(numbers, values)
    if inexact is not None:
        rule = "be a whole number that a double holds exactly"
        return values[:inexact], (int(numbers[inexact]), rule, "beyond 2^53 most are not: rescale the data")
    return values, problem


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
    step = "write numbers with a point and without separators" if texts[low].as_py() else "drop or fill the empty rows"
    return _cast(texts.slice(0, low)), (texts[low].as_py(), "hold a number", step)  # type: ignore[return-value]


def _cast(texts: Any) -> Floats | None:
    pa = arrow()
    try:
        values: Floats = texts.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    return values


def arrow() -> Any:
    """The module pyarrow, or `MissingExtra`."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("reading columns of data", "data") from None
    return pyarrow
