"""Reports in bulk from the operating system's randomness, with exactly the probabilities of a table.

The law is that of `mechdesign.tables.reference`, whose numbers are drawn whole. There is no seed: for simulations use a
mechanism's own ``sample`` with a numpy generator.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput, sealed
from mechdesign.tables.kinds import ItemsLaw, Report
from mechdesign.tables.table import Table
from mechdesign.words.domains import Finite, require_numbers

_CHUNK = 1 << 16  # a chunk's numbers stay in a core's cache


@sealed
def sample(table: Table, x: ArrayLike, size: int | None = None) -> NDArray[Any]:
    """One report for each input, or ``size`` reports of one input, from the operating system's randomness.

    *Guarantee.* Reports are independent and each has exactly the probabilities of the table. A value outside the
    domain is an `InvalidInput` that names its position; nothing is clipped. Where a table has labels, inputs are
    labels, or reports are, or both. The reports of tables of items are ``bytes``, in an array of objects.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> sorted(set(sample(make_table(duchi(1.0)), [-1.0, 0.3, 1.0] * 50).round(3).tolist()))
    [-2.164, 2.164]
    """
    inputs, outputs = table.input_names, table.output_names
    reports = sample_codes(table, x if inputs is None else inputs.codes(x), size)
    if isinstance(table.law, ItemsLaw):
        return each_as_bytes(reports)
    return reports if outputs is None else outputs.labels(reports)


def sample_codes(table: Table, x: ArrayLike, size: int | None = None) -> NDArray[Any]:
    """`sample` in the numbers of the table's file: what labels stand for. Bytes are rows, one more axis."""
    try:
        return _reports(table, x, size)
    except InvalidInput as problem:
        failure = problem
    try:
        table.domain.require(x)  # in the words of the domain, with the position among all inputs
    except InvalidInput as problem:  # of one input too: it is somebody's
        failure = InvalidData(problem.field, problem.value, problem.rule, problem.next_step)
    raise failure


def _reports(table: Table, x: ArrayLike, size: int | None) -> NDArray[Any]:
    inputs = require_numbers(x, "x")
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise InvalidInput("size", size, "be a whole number of at least 0")
        if inputs.ndim:
            raise InvalidInput("x", inputs.shape, "be one number where size is given")
        inputs = np.broadcast_to(inputs, (int(size),))
    report, domain = _law(table), table.domain
    read = domain.index if isinstance(domain, Finite) else domain.require
    flat = inputs.reshape(-1)
    width = (table.law.report_bytes,) if isinstance(table.law, ItemsLaw) else ()
    reports = np.empty((flat.size, *width), dtype=np.uint8 if width else np.float64)
    for k in range(0, flat.size, _CHUNK):
        reports[k : k + _CHUNK] = report(read(flat[k : k + _CHUNK]))
    return reports.reshape(inputs.shape + width)


def each_as_bytes(rows: NDArray[Any]) -> NDArray[np.object_]:
    """Rows of bytes, each as one value."""
    flat = rows.reshape(-1, rows.shape[-1])
    told = np.empty(len(flat), dtype=object)
    told[:] = [row.tobytes() for row in flat]
    return told.reshape(rows.shape[:-1])


@lru_cache(maxsize=16)
def _law(table: Table) -> Report:
    return table.law.sampler()
