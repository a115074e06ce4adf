"""A table that answers a workload: the queries and their estimator in its file, and what reports say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.methods.workload.decoder import decoder
from mechdesign.tables.checker import MOST_ENTRIES, MOST_PRODUCTS, workload_bias
from mechdesign.tables.document import decimals, rational
from mechdesign.values.declare import Floats, array, derived, frozen
from mechdesign.words.workloads import AnyQueries

_MATRICES = ("rows", "estimator")


@frozen
class Answering:
    """The queries (one row a query, one column a type) and V, one column an output; ``bias`` bounds what V is off."""

    names: tuple[str, ...]
    queries: Floats = array(np.array)
    estimator: Floats = array(np.array)
    bias: float = 0.0
    is_distribution: bool = derived(lambda it: bool(np.array_equal(it.queries, np.tri(it.queries.shape[1]))))
    """Whether the answers are a distribution function."""


def written_workload(asked: AnyQueries, prior: Floats, rows: Sequence[Sequence[int]], bits: int) -> Any:
    """What a table's file holds: V is made for the table's own counts, so that these are unbiased."""
    whole = 1 << bits
    channel = np.array([[count / whole for count in row] for row in rows])
    queries = asked.matrix
    _require_size(len(queries), *channel.shape)
    try:
        shares = decoder(channel, prior / prior.sum())
    except CheckFailed as failure:
        raise InvalidInput("bits", bits, f"be enough to tell the types apart: {failure}", "take --bits 53") from None
    answers = shares @ queries.T
    answers = answers + shares @ (queries.T - channel @ answers)
    estimator = answers.T
    return {
        "queries": list(asked.names),
        "rows": [decimals(row) for row in queries.tolist()],
        "estimator": [decimals(row) for row in estimator.tolist()],
        "bias": rational(exact_bias(queries, estimator, rows, whole)),
    }


def _require_size(queries: int, points: int, outputs: int) -> None:
    """Refuse what a file may not hold, before the estimator is computed."""
    if queries * (points + outputs) > MOST_ENTRIES or queries * points * outputs > MOST_PRODUCTS:
        rule = f"be few enough for a file: {points} types and {outputs} outputs allow {_most(points, outputs)}"
        raise InvalidInput("queries", queries, rule, "ask fewer queries, or fewer types")


def _most(points: int, outputs: int) -> int:
    return min(MOST_ENTRIES // (points + outputs), MOST_PRODUCTS // (points * outputs))


def exact_bias(queries: Floats, estimator: Floats, rows: Sequence[Sequence[int]], whole: int) -> Fraction:
    """``max |sum_o V_qo n_xo / 2^bits - W_qx|``, without rounding."""
    exact = [[[Fraction(entry) for entry in row] for row in matrix.tolist()] for matrix in (queries, estimator)]
    return workload_bias(exact[0], exact[1], rows, whole)


def answering(document: Mapping[str, Any]) -> Answering | None:
    """The workload of a table's document, which has passed its check."""
    said = document.get("workload")
    if said is None:
        return None
    queries, estimator = (np.array([[float(entry) for entry in row] for row in said[name]]) for name in _MATRICES)
    return Answering(tuple(said["queries"]), queries, estimator, float(Fraction(said["bias"])))


def increasing(values: Floats, weights: Floats) -> Floats:
    """The nearest values that do not decrease, by pooling neighbours, within 0 and 1; the last is 1.

    >>> increasing(np.array([0.3, 0.2, 1.1]), np.ones(3)).tolist()
    [0.25, 0.25, 1.0]
    """
    pools: list[list[float]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        pools.append([value, weight, 1])
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            last, before = pools.pop(), pools.pop()
            total = last[1] + before[1]
            pools.append([(last[0] * last[1] + before[0] * before[1]) / total, total, last[2] + before[2]])
    found = np.clip(np.concatenate([np.full(int(count), value) for value, _, count in pools]), 0.0, 1.0)
    found[-1] = 1.0
    return np.asarray(found)
