"""The labels of a table, and columns of texts that are read by them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mechdesign.data.columns import Floats, Problem, Reading, arrow, is_text, plain_array
from mechdesign.data.numbers import is_missing, number_of
from mechdesign.deploy.table import Table
from mechdesign.errors import FileProblem, InvalidInput, listed

_INPUTS, _OUTPUTS = "input labels", "output labels"


# -- labels ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Labels:
    """Names of the inputs and of the outputs of a table, in its order; ``None`` where they are plain numbers."""

    inputs: tuple[str, ...] | None
    outputs: tuple[str, ...] | None


@lru_cache(maxsize=16)
def labels_of(table: Table) -> Labels:
    """The labels a table was made with, from its provenance; labels that do not fit its numbers are a `FileProblem`.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> said = provenance_of(("no", "yes"), None)
    >>> labels_of(make_table(randomised_response(1.0, Finite((0, 1))), provenance=said))
    Labels(inputs=('no', 'yes'), outputs=None)
    """
    inputs = table.document["domain"].get("points", ())
    return Labels(_names_of(table, _INPUTS, inputs), _names_of(table, _OUTPUTS, table.law.get("outputs", ())))


def provenance_of(inputs: Sequence[str] | None, outputs: Sequence[str] | None) -> dict[str, str]:
    """What a table's provenance says of the labels of its inputs 0, 1, ... and of its outputs 0, 1, ..."""
    names = {_INPUTS: inputs, _OUTPUTS: outputs}
    return {key: json.dumps(list(given), ensure_ascii=False) for key, given in names.items() if given is not None}


def _names_of(table: Table, key: str, numbers: Sequence[str]) -> tuple[str, ...] | None:
    text = table.document["provenance"].get(key)
    if text is None:
        return None
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    are_names = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    if not (are_names and len(set(names)) == len(names) and numbers and all(map(str.isdecimal, numbers))):
        raise FileProblem(key, text, "be a JSON list of different texts, for a table over the numbers 0, 1, ...")
    if int(numbers[-1]) >= len(names):
        raise FileProblem(key, text, f"name all numbers up to {numbers[-1]}")
    return tuple(names[int(number)] for number in numbers)


def named(labels: tuple[str, ...] | None, values: Sequence[str], numbers: Reading) -> Reading:
    """The `Reading` of texts that are labels of ``values``.

    Samplers in other languages give the values themselves: a column of ``numbers`` is read as these, unless a label
    looks like a number too.
    """
    if labels is None:
        return numbers
    known = tuple(labels)
    worth = np.array([float(value) for value in values])

    def read(column: Any, place: str) -> tuple[Floats, Problem | None]:
        from pyarrow import compute

        array, is_clear = plain_array(column), not any(map(_is_number, known))
        if not is_text(array):
            if not is_clear:
                rule = "be a column of texts: labels of this table look like numbers"
                raise InvalidInput(place, str(array.type), rule, "cast the column to texts")
            return numbers(column, place)
        wanted = arrow().array(known, array.type)
        trimmed = compute.index_in(compute.utf8_trim_whitespace(array), wanted)
        found = compute.coalesce(compute.index_in(array, wanted), trimmed)
        first = int(np.argmax(found.is_null().to_numpy(zero_copy_only=False))) if found.null_count else len(found)
        places = found.slice(0, first).to_numpy(zero_copy_only=False).astype(np.intp)
        if first == len(found):
            return worth[places], None
        text = array[first].as_py()
        if first == 0 and is_clear and text is not None and _is_number(text):
            return numbers(column, place)
        step = "drop or fill the rows without a value" if text is None or is_missing(text) else ""
        return worth[places], (text, f"be one of the labels of the table: {listed(known)}", step)

    return read


def _is_number(text: str) -> bool:
    return number_of(text) is not None
