"""Fixed populations for examples, tests and benchmarks: like those of the papers in size and shape, not their data.

Optimus uses MSNBC (17 page categories) and emoji counts, CAPRI a city's water meters (98,511 households, whole cubic
metres from 0 to 40, 1,598,489 in all). None of them may be redistributed here, so these follow Zipf's law, or the
outline of a consumption histogram, with the published totals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import require_whole
from mechdesign.values.declare import Counts, Floats

MSNBC_ITEMS, MSNBC_USERS = 17, 989_818
EMOJI_ITEMS, EMOJI_USERS = 200, 50_000
WATER_USERS, WATER_TOTAL, WATER_MOST = 98_511, 1_598_489, 40
SAMPLE_USERS, SAMPLE_TOTAL = 985, 15_620


def zipf_like(items: int, users: int, exponent: float = 1.0) -> Counts:
    """``counts[v]`` proportional to ``(v + 1)^-exponent`` and rounded so that they sum to ``users``.

    >>> zipf_like(4, 100).tolist()
    [48, 24, 16, 12]
    """
    weights = np.arange(1, items + 1, dtype=np.float64) ** -exponent
    return _rounded(weights / weights.sum() * users, users)


def msnbc_like(users: int = MSNBC_USERS) -> Counts:
    """Seventeen categories with a Zipf law."""
    return zipf_like(MSNBC_ITEMS, users)


def emoji_like(users: int = EMOJI_USERS) -> Counts:
    """Two hundred emoji with a Zipf law."""
    return zipf_like(EMOJI_ITEMS, users)


def water_like() -> Counts:
    """Households by monthly consumption 0..40, with the published number of households and total consumption."""
    values = np.arange(WATER_MOST + 1)
    shape = (values + 1.0) ** 1.2 * np.exp(-values / 9.0)
    counts = _rounded(shape / shape.sum() * WATER_USERS, WATER_USERS)
    return _with_total(counts, values, WATER_TOTAL)


def water_sample() -> Counts:
    """The smaller population of CAPRI's comparison of protocols: total consumption 15,620 over 0..40.

    The paper calls it a tenth of the city. The total printed is a hundredth of the city's, so this has 985 households.
    """
    values = np.arange(WATER_MOST + 1)
    whole = water_like()
    return _with_total(_rounded(whole / whole.sum() * SAMPLE_USERS, SAMPLE_USERS), values, SAMPLE_TOTAL)


def _rounded(shares: Floats, total: int) -> Counts:
    """Largest remainders."""
    counts = np.floor(shares).astype(np.int64)
    order = np.argsort(counts - shares, kind="stable")
    counts[order[: total - int(counts.sum())]] += 1
    return counts


def _with_total(counts: Counts, values: NDArray[np.int64], total: int) -> Counts:
    """Move users one step up or down, from where there are most, until the values sum to the total."""
    moved = counts.copy()
    missing = int(total - moved @ values)
    step = 1 if missing > 0 else -1
    while missing:
        movable = moved.copy()
        movable[-1 if step > 0 else 0] = 0
        here = int(np.argmax(movable))
        users = min(abs(missing), max(1, int(movable[here]) // 20))
        moved[here] -= users
        moved[here + step] += users
        missing -= step * users
    return moved


def scaled(counts: Counts, users: int) -> Counts:
    """The same frequencies among so many users, rounded by largest remainders.

    >>> scaled(np.array([1, 2]), 10).tolist()
    [3, 7]
    """
    require_whole(users, "users", 1, 10**12)
    return _rounded(counts / counts.sum() * users, users)


POPULATIONS: dict[str, Callable[[], Counts]] = {
    "msnbc-like": msnbc_like,
    "emoji-like": emoji_like,
    "water-like": water_like,
    "water-sample": water_sample,
}
"""By name."""
