"""One column of data as doubles, numbers or labels: the first row that breaks a rule is named, no other is shown."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.labels import Names
from mechdesign.errors import InvalidInput, MissingExtra

Floats = NDArray[np.float64]
T = TypeVar("T")

_POSITION = re.compile(r"\[(\d+)\]$")
_MOST_NAMES = 20
_MISSING = ("", "na", "n/a", "nan", "nil", "none", "null", "missing", "-", "?", ".")
_SEPARATED = re.compile(r"[^\w]*\d[\d.,'_\s%eE+-]*[^\w]*", re.ASCII)  # such as 1,5 or $1 000


def require_columns(wanted: Sequence[str], names: Sequence[str], place: str, hint: str = "") -> None:
    """Columns that are there exactly once, or an `InvalidInput` that lists the columns and the closest one.

    Where none is close, it ends with the ``hint``.
    """
    for column in wanted:
        if names.count(column) == 1:
            continue
        if column in names:
            raise InvalidInput("column", column, f"name one column of {place}, {names.count(column)} are called that")
        rule = f"be one of the columns of {place}: {_listed(names) or 'it has none'}"
        raise InvalidInput("column", column, rule, _closest(str(column), names) or hint)


def _listed(names: Sequence[Any]) -> str:
    return ", ".join(map(repr, names[:_MOST_NAMES])) + (", ..." if len(names) > _MOST_NAMES else "")


def _closest(name: str, names: Sequence[Any]) -> str:
    folded = {str(known).casefold(): known for known in names}
    closest = difflib.get_close_matches(name.strip().casefold(), folded, n=1)
    return f"did you mean {folded[closest[0]]!r}?" if closest else ""


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
        step = hint if math.isfinite(error.value) else "drop or correct the rows that hold no finite number"
        raise _at(place, before + int(position[1]), error.value, error.rule, step) from None
    if problem is not None:
        value, rule, step = problem
        raise _at(place, before + values.size, value, rule, step)
    return result


def _at(place: str, position: int, value: Any, rule: str, step: str) -> InvalidInput:
    return InvalidInput(f"{place}, data row {position + 1},", value, rule, step)


def typed(column: Any, place: str) -> tuple[Floats, Problem | None]:
    """The `Reading` of columns of a numeric type."""
    pa = arrow()
    array = _plain(column)
    if not (pa.types.is_floating(array.type) or pa.types.is_integer(array.type)):
        step = "cast the column to 64-bit floats first"
        if _is_text(array):
            step += "; if it holds words, this table has no labels for them: make one that has"
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


def _plain(column: Any) -> Any:
    """One Arrow array, without a dictionary."""
    pa = arrow()
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _is_text(array: Any) -> bool:
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
    if text.casefold() in _MISSING:
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


# -- labels ------------------------------------------------------------------------------------------------------------


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

        array = _plain(column)
        if not _is_text(array):
            return _by_number(known, array, place, hint)
        wanted = arrow().array(known.texts, array.type)
        trimmed = compute.index_in(compute.utf8_trim_whitespace(array), wanted)
        found = compute.coalesce(compute.index_in(array, wanted), trimmed)
        first = int(np.argmax(found.is_null().to_numpy(zero_copy_only=False))) if found.null_count else len(found)
        places = found.slice(0, first).to_numpy(zero_copy_only=False).astype(np.intp)
        if first == len(found):
            return known.worth[places], None
        text = array[first].as_py()
        if text is None or text.strip().casefold() in _MISSING:
            step = "drop or fill the rows without a value"
        elif is_number(text) and not known.by_number:
            step = hint or known.step
        else:
            step = known.closest(text)
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


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def arrow() -> Any:
    """The module pyarrow, or `MissingExtra`."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("reading columns of data", "data") from None
    return pyarrow
