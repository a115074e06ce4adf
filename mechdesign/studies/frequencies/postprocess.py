"""Post-processing of estimated frequencies: non-negative, summing to one, or shrunk towards a power law.

The methods and their meanings are those of Wang et al., "Locally Differentially Private Frequency Estimation with
Consistency" (NDSS 2020). Each is total: any finite vector has an answer, also one without a positive entry. All but
`power` and `power_ns` are idempotent. They look at estimates only, so they cost no privacy.

>>> norm_sub([0.7, 0.5, -0.2]).round(12).tolist()
[0.6, 0.4, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import require_numbers

_STEEPEST = 64.0
_SMALL_SHARE = 0.01  # relative width of cells of counts
_RESOLUTION = 10.0  # cells to a standard deviation
_NEGLIGIBLE = 40.0  # e^-40 of the mass may be left out


class OfFrequency(Protocol):
    """The variance of one estimated frequency where the true one is f."""

    def __call__(self, f: Floats, /) -> ArrayLike: ...


@frozen
class SupportNoise:
    """How far estimates are from the truth: n users, and the variance of one estimate at every true frequency."""

    n: int
    variance: OfFrequency


def base_pos(estimate: ArrayLike) -> Floats:
    """Base-Pos: ``max(f, 0)``."""
    return np.asarray(np.maximum(_estimate(estimate), 0.0))


def norm(estimate: ArrayLike) -> Floats:
    """Norm: ``f + delta`` with delta such that the sum is 1; entries may stay negative.

    >>> norm([0.5, -0.1]).round(12).tolist()
    [0.8, 0.2]
    """
    values = _estimate(estimate)
    return np.asarray(values + (1.0 - values.sum()) / values.size)


def norm_sub(estimate: ArrayLike) -> Floats:
    """Norm-Sub: ``max(f + delta, 0)`` with delta such that the sum is 1.

    This is the point of the probability simplex nearest to f (Euclidean), found by sorting once.
    """
    values = _estimate(estimate)
    values -= values.max()  # changes delta only, and leaves no large number to lose digits by
    falling = np.sort(values)[::-1]
    shifts = (1.0 - np.cumsum(falling)) / np.arange(1, values.size + 1)
    # entries stay positive down to some place: a prefix, so the last place where it holds is the one
    last = int(np.flatnonzero(falling + shifts > 0)[-1])
    shifted = np.maximum(values + shifts[last], 0.0)
    return np.asarray(shifted / shifted.sum())


project_simplex = norm_sub
"""The Euclidean projection onto the probability simplex, under its own name."""


def norm_mul(estimate: ArrayLike) -> Floats:
    """Norm-Mul: ``gamma max(f, 0)`` with gamma such that the sum is 1; uniform where no entry is positive."""
    positive = base_pos(estimate)
    most = positive.max()
    if most <= 0:
        return np.full(positive.size, 1.0 / positive.size)
    scaled = positive / most  # sums of tiny or huge numbers would lose digits
    return np.asarray(scaled / scaled.sum())


def norm_cut(estimate: ArrayLike) -> Floats:
    """Norm-Cut: entries below theta become 0, with the least ``theta >= 0`` for which the others sum to at most 1.

    The sum may be below 1: equal entries are kept or cut together. Where the largest entries are above 1 by themselves,
    they share 1 evenly.

    >>> norm_cut([0.6, 0.3, 0.2, -0.1]).tolist()
    [0.6, 0.3, 0.0, 0.0]
    """
    positive = base_pos(estimate)
    falling = np.sort(positive)[::-1]
    sums = np.cumsum(falling)
    ends = np.append(falling[1:] < falling[:-1], True)  # the last of equal entries
    fits = np.flatnonzero(ends & (sums <= 1.0 + 1e-12))
    if fits.size:
        return np.where(positive >= falling[fits[-1]], positive, 0.0)
    tops = positive == falling[0]
    return np.where(tops, 1.0 / tops.sum(), 0.0)


def norm_cut_ldp3(estimate: ArrayLike) -> Floats:
    """Norm-Cut as LDP3 has it: one entry more than `norm_cut` keeps, and the kept ones scaled so that the sum is 1.

    From the largest on, entries are kept until their sum exceeds 1, the last one included (with all that equal it),
    or until none is left above 0; uniform where none is. Its equation (18) asks for a sum of 1, which no threshold
    alone gives.

    >>> norm_cut_ldp3([0.6, 0.3, 0.2, -0.1]).round(6).tolist()
    [0.545455, 0.272727, 0.181818, 0.0]
    """
    positive = base_pos(estimate)
    falling = np.sort(positive)[::-1]
    beyond = np.flatnonzero(np.cumsum(falling) > 1.0 + 1e-12)
    least = falling[beyond[0]] if beyond.size else 0.0
    return norm_mul(np.where(positive >= least, positive, 0.0))


def power(estimate: ArrayLike, noise: SupportNoise) -> Floats:
    """Power: ``E[c / n | f]`` where counts c follow a power law and f is c / n with the protocol's own normal noise.

    The law is ``P(c) ~ c^-alpha`` over c = 1..n with the one mean that is known without error, n / k. The noise has the
    variance the protocol has at c / n and this n, at every c.
    """
    values = _estimate(estimate)
    n = _users(noise.n)
    if values.size == 1:
        return np.ones(1)
    alpha = _exponent(n, n / values.size)
    centres = np.clip(values * n, 1.0, float(n))
    ends = _variances(noise, np.array([0.0, 0.5, 1.0])) * float(n) ** 2
    spread = np.sqrt(2 * (_NEGLIGIBLE + alpha * np.log(n) + np.log(ends.max() / ends.min()) / 2) * ends.max())
    low, high = np.maximum(centres - spread, 1.0), np.minimum(centres + spread, float(n))
    counts, weights = _cells(n, low, high, lambda c: np.sqrt(_variances(noise, c / n)) * n / _RESOLUTION)
    variances = _variances(noise, counts / n) * float(n) ** 2
    logs = np.log(weights) - alpha * np.log(counts) - np.log(variances) / 2
    first = np.maximum(np.searchsorted(counts, low, side="right") - 1, 0)
    last = np.searchsorted(counts, high) + 1
    scaled = np.clip(values * n, -10.0 * n, 10.0 * n)
    result = np.empty(values.size)
    for k, (start, stop) in enumerate(zip(first, last, strict=True)):
        near = counts[start:stop]
        exponents = logs[start:stop] - (scaled[k] - near) ** 2 / (2 * variances[start:stop])
        mass = np.exp(exponents - exponents.max())
        result[k] = np.dot(mass, near) / mass.sum()
    return result / n


def power_ns(estimate: ArrayLike, noise: SupportNoise) -> Floats:
    """PowerNS: Norm-Sub of Power."""
    return norm_sub(power(estimate, noise))


METHODS: dict[str, Callable[[Floats, SupportNoise], Floats]] = {
    "base-pos": lambda estimate, _: base_pos(estimate),
    "norm": lambda estimate, _: norm(estimate),
    "norm-cut": lambda estimate, _: norm_cut(estimate),
    "norm-cut-ldp3": lambda estimate, _: norm_cut_ldp3(estimate),
    "norm-mul": lambda estimate, _: norm_mul(estimate),
    "norm-sub": lambda estimate, _: norm_sub(estimate),
    "power": power,
    "power-ns": power_ns,
}
"""Post-processing methods by the names of the literature, each a function of the estimate and its noise."""


# -- the power law ----------------------------------------------------------------------------------------------------


def _cells(n: int, low: Floats, high: Floats, finest: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Counts 1..n in cells: where each is, and how many counts it holds.

    A cell is a single count where counts are few, never wider than 1% of its count, and inside the windows from ``low``
    to ``high`` never wider than ``finest``. With a tenth of the standard deviation there, sums over cells are those
    over counts to about 1e-4 of a deviation (for an estimate many deviations above 1, a tenth of one).
    """
    knots = np.unique(np.concatenate([np.geomspace(1, n, 2000), low, high, [1.0, float(n)]]))
    opened, closed = (
        np.searchsorted(np.sort(low), knots, side="right"),
        np.searchsorted(np.sort(high), knots, side="right"),
    )
    widths = _SMALL_SHARE * knots
    inside = opened > closed
    widths[inside] = np.minimum(widths[inside], finest(knots[inside]))
    passed = np.concatenate([[0.0], np.cumsum(np.diff(knots) / np.maximum(widths[:-1], 1.0))])
    edges = np.interp(np.arange(int(passed[-1]) + 2), passed, knots)
    starts = np.unique(np.append(np.floor(edges), n))
    stops = np.append(starts[1:], n + 1)
    return (starts + stops - 1) / 2, stops - starts


@lru_cache(maxsize=64)
def _exponent(n: int, mean: float) -> float:
    """The alpha for which ``P(c) ~ c^-alpha`` over c = 1..n has this mean; the steepest tried for means up to 1."""
    from scipy.optimize import brentq

    counts, weights = _cells(n, np.empty(0), np.empty(0), lambda c: c)
    logs, sizes = np.log(counts), np.log(weights)

    def excess(alpha: float) -> float:
        exponents = sizes - alpha * logs
        mass = np.exp(exponents - exponents.max())
        return float(np.dot(mass, counts) / mass.sum() - mean)

    if excess(_STEEPEST) >= 0:
        return _STEEPEST
    return 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, _STEEPEST, xtol=1e-12))


def _variances(noise: SupportNoise, f: Floats) -> Floats:
    found = np.broadcast_to(np.asarray(noise.variance(f), dtype=np.float64), f.shape)
    if not (np.isfinite(found).all() and (found >= 0).all()):
        raise InvalidInput("variance", "a value that is not", "be finite and at least 0 at every frequency")
    return np.maximum(found, 1e-4 / float(noise.n) ** 2)  # a hundredth of a count: noise that hides nothing


# -- validation -------------------------------------------------------------------------------------------------------


def _estimate(estimate: ArrayLike) -> Floats:
    values = require_numbers(estimate, "estimate")
    if values.ndim != 1 or values.size == 0:
        raise InvalidInput("estimate", values.shape, "be a list of at least one frequency")
    if not np.isfinite(values).all():
        raise InvalidInput("estimate", float(values[~np.isfinite(values)][0]), "be finite")
    return np.array(values, dtype=np.float64)


def _users(n: int) -> int:
    number = require_finite(n, "n")
    if number != int(number) or number < 1:
        raise InvalidInput("n", n, "be a whole number of users, at least 1")
    return int(number)
