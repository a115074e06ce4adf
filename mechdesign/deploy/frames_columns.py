"""The labels of a table, and columns of texts that are read by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechdesign.data.columns import Problem, Reading, arrow, is_text, plain_array, typed
from mechdesign.data.numbers import is_missing, number_of
from mechdesign.deploy.labels import Names
from mechdesign.errors import InvalidInput
from mechdesign.values.declare import Floats

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
