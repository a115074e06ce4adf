"""Means of several attributes: every user reports one of d coordinates, chosen at random, with all of epsilon.

Two ways to choose. Dealt out by the server, the d groups have equal sizes (up to one) and the mean of a group's reports
is the estimate: ``(d/n) sum`` scaled, as all groups hold n/d users. Chosen by a coin of each user's own, groups have
random sizes; ``m + (d/n) sum (Y - m)`` about the middle m of the bounds is unbiased, with more variance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.mean import EstimatedMean
from mechdesign.values.declare import Floats, Whole
from mechdesign.words.domains import Interval, require_numbers

Collect = Callable[[Floats, Interval, np.random.Generator], EstimatedMean]


def deal_coordinates(users: int, count: int, rng: np.random.Generator) -> Whole:
    """A coordinate for each user, in random order, each given to the same number of users up to one.

    >>> sorted(deal_coordinates(7, 3, np.random.default_rng(0)).tolist())
    [0, 0, 0, 1, 1, 2, 2]
    """
    _require_counts(users, count)
    return np.asarray(require_generator(rng).permutation(np.arange(users) % count), dtype=np.int64)


def scaled_means(reports: ArrayLike, coordinates: ArrayLike, bounds: Sequence[Interval]) -> Floats:
    """``m_j + (d/n) sum over the users of coordinate j of (Y - m_j)``, unbiased for tossed coordinates.

    >>> scaled_means([1.0, 3.0, 2.0], [0, 0, 1], [Interval(-1, 1), Interval(0, 2)]).round(6).tolist()
    [2.666667, 1.666667]
    """
    seen, chosen = _require_pairs(reports, coordinates, len(bounds))
    middles = np.array([interval.middle for interval in bounds])
    sums = np.bincount(chosen, seen - middles[chosen], len(bounds))
    return np.asarray(middles + len(bounds) / seen.size * sums)


def collect_means(
    data: ArrayLike, bounds: Sequence[Interval], rng: np.random.Generator, collect: Collect
) -> list[EstimatedMean]:
    """One collection of the means of all columns: users dealt out over the coordinates, ``collect`` asks each group.

    Any one-dimensional collection will do, the two-phase protocol included: a user is in one group of one coordinate,
    so everybody still reports once.
    """
    table = require_table(data, bounds)
    dealt = deal_coordinates(table.shape[0], len(bounds), rng)
    return [collect(table[dealt == j, j], interval, rng) for j, interval in enumerate(bounds)]


def require_table(data: ArrayLike, bounds: Sequence[Interval]) -> Floats:
    """A row a user and a column a coordinate, inside the bounds, or `InvalidInput`."""
    table = require_numbers(data, "data")
    if table.ndim != 2 or table.shape[1] != len(bounds) or table.shape[1] == 0:
        raise InvalidInput("data", table.shape, f"have a row a user and {len(bounds)} columns, one for each bounds")
    if table.shape[0] < table.shape[1]:
        raise InvalidInput("data", table.shape, "have at least as many users as coordinates")
    for j, interval in enumerate(bounds):
        interval.require(table[:, j], f"data column {j}")
    return table


def _require_pairs(reports: ArrayLike, coordinates: ArrayLike, count: int) -> tuple[Floats, Whole]:
    seen = require_numbers(reports, "reports").ravel()
    chosen = np.asarray(coordinates)
    if seen.size == 0 or not np.isfinite(seen).all():
        raise InvalidInput("reports", reports, "be finite numbers, and at least one")
    is_whole = chosen.shape == seen.shape and chosen.dtype.kind in "iu"
    if not is_whole or chosen.min() < 0 or chosen.max() >= count:
        raise InvalidInput("coordinates", coordinates, f"be one for each report, from 0 to {count - 1}")
    return seen, chosen.astype(np.int64)


def _require_counts(users: int, count: int) -> None:
    for field, value in (("users", users), ("coordinates", count)):
        require_whole(value, field, 1)
    if users < count:
        raise InvalidInput("users", users, f"be at least {count}, one for each coordinate")
