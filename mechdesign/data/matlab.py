"""Arrays of numbers from ``.mat`` files, of which nothing is believed that its size does not bear out."""

from __future__ import annotations

import math
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np

from mechdesign.errors import FileProblem, InvalidData
from mechdesign.values.declare import Counts, Floats
from mechdesign.values.files import read_bytes

_LARGEST = 64 * 2**20
_MOST_NUMBERS = 10**8
_NUMBERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "single", "double", "logical")


def read_matlab(path: Path | str) -> dict[str, Floats]:
    """The arrays of real numbers in a ``.mat`` file (to version 7), flat, by name; cells and structs are not read."""
    from scipy import io

    target = Path(path)
    content = read_bytes(target, "data file", _LARGEST)
    try:
        kinds = io.whosmat(cast(Any, BytesIO(content)))
        wanted = [name for name, shape, kind in kinds if kind in _NUMBERS and math.prod(shape) <= _MOST_NUMBERS]
        found = io.loadmat(cast(Any, BytesIO(content)), variable_names=wanted) if wanted else {}
    except Exception as error:  # a damaged file fails in many ways, whose words may quote it
        rule = f"be a whole MATLAB file, to version 7 ({type(error).__name__})"
        raise FileProblem("data file", str(target), rule, "save it with save -v7") from None
    arrays = {name: np.asarray(found[name]) for name in wanted if name in found}
    real = {name: array.ravel().astype(np.float64) for name, array in arrays.items() if array.dtype.kind in "biuf"}
    if not real:
        raise FileProblem("data file", str(target), "hold an array of real numbers")
    return real


def yes_no(values: Floats, place: str) -> Counts:
    """Answers that are 0 or 1, or an `InvalidData` that names the first which is neither."""
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if wrong.size:
        raise InvalidData(f"{place}, row {wrong[0] + 1},", float(values[wrong[0]]), "be 0 or 1")
    return values.astype(np.int64)
