"""What protocols accept: whole numbers inside the domain, counts of users, generators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput, require_whole
from mechdesign.values.declare import Counts, Floats

MOST_ITEMS = 10**7
MOST_COLUMNS = 1 << 16
MOST_ENTRIES = 1 << 24
MOST_USERS = 10**15  # counts of that many users and their sums are exact in doubles


def as_array(values: Any, field: str) -> NDArray[Any]:
    """``values`` as an array; rows of different lengths and masked entries are `InvalidInput`."""
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        raise InvalidInput(field, values, "be an array: all rows of one length") from None
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise InvalidInput(field, "a masked array", "have no masked entries", "drop what is missing first")
    return array


def require_item_count(size: Any) -> int:
    """The number of items k."""
    return require_whole(size, "size", 2, MOST_ITEMS, "one item alone needs no estimate")


def require_users(users: Any) -> int:
    """The number of users n, at least one: nothing can be estimated from no reports."""
    return require_whole(users, "n", 1, MOST_USERS)


def require_items(values: ArrayLike, size: int, field: str = "values") -> Counts:
    """Items as positions from 0 to k - 1 in a list, the first one outside named by its position."""
    array = as_array(values, field)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InvalidInput(field, values, "be a list of whole numbers", f"number the items 0 to {size - 1}")
    bad = (array < 0) | (array >= size)
    if bad.any():
        place = int(np.argmax(bad))
        tail = f"{int(bad.sum())} of {array.size} values break this rule"
        raise InvalidData(f"{field}[{place}]", int(array[place]), f"lie between 0 and {size - 1}", tail)
    return array.astype(np.int64)


def require_counts(counts: ArrayLike, size: int, field: str = "counts") -> Counts:
    """How many users hold each of the k items."""
    array = as_array(counts, field)
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise InvalidInput(field, counts, f"be {size} whole numbers", "one count for each item")
    most = int(array.max())
    if array.min() < 0 or (most * size > MOST_USERS and sum(array.tolist()) > MOST_USERS):
        raise InvalidInput(field, counts, f"be at least 0 and sum to at most {MOST_USERS}")
    return array.astype(np.int64)


def require_named_counts(counts: Any) -> tuple[list[Any], Counts]:
    """Names and how many users hold each, from a mapping of one to the other."""
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidInput("counts", counts, "map at least one string to its number of users", 'such as {"a": 10}')
    return list(counts), require_counts(list(counts.values()), len(counts))


def require_support(support: ArrayLike, size: int) -> Floats:
    """Support of each of the k items."""
    array = as_array(support, "support")
    if array.shape != (size,) or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise InvalidInput("support", support, f"be {size} finite numbers", "pass what support() or simulate() gave")
    return array.astype(np.float64)


def require_shares(frequencies: ArrayLike, field: str = "frequencies") -> Floats:
    """Numbers in [0, 1]."""
    array = as_array(frequencies, field)
    if array.dtype.kind not in "iuf" or not ((array >= 0) & (array <= 1)).all():
        raise InvalidInput(field, frequencies, "lie in [0, 1]")
    return array.astype(np.float64)


def require_frequencies(frequencies: ArrayLike, size: int) -> Floats:
    """The shares of the k items among the users, which sum to one."""
    array = require_shares(frequencies)
    if array.shape != (size,) or abs(array.sum() - 1) > 1e-9:
        raise InvalidInput("frequencies", frequencies, f"be {size} shares that sum to 1")
    return array


def require_reports(reports: ArrayLike, shape: tuple[int, ...], kinds: str, what: str) -> NDArray[Any]:
    """Reports as the client made them: one row a user, of this shape and kind of number."""
    array = as_array(reports, "reports")
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape or array.dtype.kind not in kinds:
        raise InvalidInput("reports", (array.dtype.name, array.shape), f"be {what}", "pass what report() gave")
    return array


def require_channel_size(columns: int, rows: int) -> None:
    """Channels are written out only while they fit."""
    if columns > MOST_COLUMNS or columns * rows > MOST_ENTRIES:
        rule = f"have at most {MOST_COLUMNS} distinct reports to be written as a matrix"
        raise InvalidInput("size", rows, rule, "use fewer items; p, q and covariance need no matrix")
