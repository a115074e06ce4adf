"""From a table in a solver's doubles to one that is epsilon-LDP as rationals."""

from __future__ import annotations

import contextlib
import math

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.privacy import prove
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.words.domains import Finite
from mechdesign.words.privacy import Pure

Floats = NDArray[np.float64]

_SHRINKS = tuple(2.0**-k for k in (50, 48, 46, 44, 40))
_PASSES = 4
_MARGIN = 1e-12  # keeps the total of the base measure inside its range in exact arithmetic


def fitting_base(base: Floats, epsilon: float) -> Floats:
    """The base measure with its total pushed into ``[e^-eps, 1]``: the totals that leave room for laws."""
    total = float(base.sum())
    return base * (min(max(total, (1 + _MARGIN) * math.exp(-epsilon)), 1 - _MARGIN) / total)


def private_table(epsilon: float, inputs: Finite, outputs: Finite, table: Floats, base: Floats, name: str) -> Discrete:
    """The table moved into ``base <= row <= e^eps base`` with rows that sum to one, as near to it as doubles go.

    *Guarantee.* The privacy loss of the result is at most ``epsilon`` in exact arithmetic, or `CheckFailed` is raised.
    Every column of ``base`` must be above 0, and its total in the range of `fitting_base`.
    """
    for shrink in _SHRINKS:
        top = np.maximum(base, base * math.exp(epsilon) * (1 - shrink))
        mechanism = Discrete(epsilon, inputs, outputs, _balanced(table, base, top), name)
        with contextlib.suppress(CheckFailed):
            prove(Pure(epsilon), mechanism)
            return mechanism
    raise CheckFailed(f"the table could not be made private at epsilon {epsilon!r}")


def _balanced(table: Floats, base: Floats, top: Floats) -> Floats:
    """Rows between ``base`` and ``top``; what is missing from one is spread over the room its entries have left."""
    rows = np.clip(table, base, top)
    for _ in range(_PASSES):
        missing = np.array([1 - math.fsum(row) for row in rows.tolist()])[:, None]
        room = np.where(missing > 0, top - rows, rows - base)
        total = room.sum(axis=1, keepdims=True)
        share = np.divide(missing, total, out=np.zeros_like(missing), where=total > 0)
        rows = np.clip(rows + room * np.clip(share, -1, 1), base, top)
    return np.asarray(rows)
