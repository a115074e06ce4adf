"""From a table in a solver's doubles to one that keeps every pair as rationals.

A column may be raised to ``max_x' e^-E*(x',x) v_x'``, the least above it that keeps all pairs: a closure, like that of
paths. That makes rows sum to more than one, and by different amounts; dividing by the sums breaks pairs by the ratio of
the sums only, and a few rounds of both leave next to nothing. The rest is filled up with a law that does not depend on
the input, with so much of it for all that the differences keep the pairs too; and a last share of such a law, 1e-12,
gives every pair the room that doubles need.
"""

from __future__ import annotations

import contextlib

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.privacy import prove
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.words.domains import Finite
from mechdesign.words.pairs import Pairs

Floats = NDArray[np.float64]

_ROUNDS = 24
_WORK = 60_000_000_000  # products in all rounds: with thousands of inputs a few rounds must do
_EVEN = 1e-13  # of the sums of rows
_SHARES = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6, 1e-4)


def closed_up(table: Floats, decay: Floats) -> Floats:
    """The least table above this one whose columns keep all pairs; ``decay[x', x] = e^-E*(x', x)``.

    >>> closed_up(np.array([[1.0], [0.0]]), np.array([[1.0, 0.5], [0.25, 1.0]])).tolist()
    [[1.0], [0.5]]
    """
    raised = table.copy()
    for first in range(len(table)):
        np.maximum(raised, decay[first][:, None] * table[first], out=raised)
    return raised


def kept(
    table: Floats, privacy: Pairs, outputs: Finite, inputs: Finite, epsilon: float, name: str, negligible: float = 1e-9
) -> Discrete:
    """A mechanism near the table that keeps every pair exactly, on the outputs that are used.

    Outputs that together get a share of at most ``negligible`` of the reports from equally likely inputs are left out.

    *Guarantee.* All pairs hold as rationals, or `CheckFailed` is raised.
    """
    rows = np.maximum(table, 0.0)
    rows /= rows.sum(axis=1, keepdims=True)
    share = rows.mean(axis=0)
    order = np.argsort(share)
    used = np.sort(order[np.cumsum(share[order]) > negligible])
    rows = rows[:, used]
    closed = privacy.closed
    with np.errstate(over="ignore"):
        decay = np.exp(-closed)
    for _ in range(max(2, min(_ROUNDS, _WORK // (len(rows) * rows.size)))):
        rows = closed_up(rows, decay)
        sums = rows.sum(axis=1)
        if np.ptp(sums) < _EVEN * sums.max():
            break
        rows = rows / sums[:, None]
    rows = _filled(closed_up(rows, decay), closed)
    reports = Finite(tuple(outputs.points[int(k)] for k in used))
    law = 0.5 * rows.mean(axis=0) + 0.5 / rows.shape[1]
    for share in _SHARES:
        mixed = (1 - share) * rows + share * law
        mechanism = Discrete(epsilon, inputs, reports, mixed, name)
        with contextlib.suppress(CheckFailed):
            prove(privacy, mechanism)
            return mechanism
    raise CheckFailed("the table could not be made to keep its pairs")


def _filled(rows: Floats, closed: Floats) -> Floats:
    """Rows that keep all pairs, filled up to equal sums with a law that depends on the input in its size only."""
    sums = rows.sum(axis=1)
    short = sums.max() - sums
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        gains = np.expm1(np.minimum(closed, 600.0))
        needed = (short[:, None] - short - gains * short) / gains
    needed[~np.isfinite(needed)] = 0.0
    ground = max(0.0, float(needed.max()))
    law = rows.mean(axis=0)
    law = law / law.sum()
    filled = rows + (short + ground)[:, None] * law
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))
