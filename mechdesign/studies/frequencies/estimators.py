"""Frequencies from reports: the unbiased estimate, maximum likelihood, and Iterative Bayesian Update (IBU).

A report *supports* items; protocols with chances p of supporting the own item and q of supporting another one have

* `matrix_inversion`: ``(support / n - q) / (p - q)``, unbiased, with negative entries where there is little data;
* `ibu`: the limit of the IBU of Arcolezi, Cerna and Palamidessi (DBSec 2023), which treats normalised support counts
  as reports of a k x k channel ``(p - q) I + q 11^T``. For randomised response these are the reports, so IBU is
  maximum likelihood. For unary, hashing and subset protocols they are not: the likelihood is a surrogate;
* `maximum_likelihood`: the likelihood of the reports themselves, for any finite channel;
* `ibu_of_groups`: the same for users with different epsilons or protocols, a group each (GIBU of ElSalamouny and
  Palamidessi, EuroS&P 2020).

Iterations start at the uniform distribution, if at no other. Log-likelihoods are averages per report, concave in the
frequencies f, so with ``g_v = sum_y share_y P(y | v) / P_f(y)`` no distribution is better than f by more than
``max_v g_v - 1``. This bound is the ``gap`` of every answer: convergence is reported, never assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_number, require_whole
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.words.domains import require_numbers

Map = Callable[[Floats], Floats]

TOLERANCE = 1e-10
MOST_STEPS = 10_000


@frozen
class Likely:
    """Frequencies that maximise a likelihood, and how well.

    ``gap`` bounds what any distribution could add to ``log_likelihood`` (natural logarithm, average per report; of the
    surrogate if ``surrogate``). ``converged`` means that the gap is within the tolerance asked for. ``steps`` counts
    updates of the iteration; the closed form takes none.
    """

    frequencies: Floats = array(np.asarray)
    log_likelihood: float
    gap: float
    converged: bool
    steps: int
    surrogate: bool


@frozen
class _Channel:
    """``forward(f) = f A`` and ``backward(r) = A r`` of a k x m matrix of chances."""

    inputs: int
    forward: Map
    backward: Map


def matrix_inversion(support: ArrayLike, n: int, p: float, q: float) -> Floats:
    """The unbiased estimate ``(support / n - q) / (p - q)``.

    >>> matrix_inversion([60, 40], 100, 0.75, 0.25).round(12).tolist()
    [0.7, 0.3]
    """
    counts, users = _counts(support, "support"), require_whole(n, "n", 1)
    high, low = _chances(p, q)
    return np.asarray((counts / users - low) / (high - low))


def ibu(support: ArrayLike, p: float, q: float) -> Likely:
    """The limit of IBU on support counts, in closed form: k log k operations, no iteration.

    The surrogate ``sum_v share_v log((p - q) f_v + q)`` is maximal at ``(p - q) f_v + q = share_v / level`` where that
    leaves f_v positive, and 0 elsewhere; one sort finds the level.

    >>> found = ibu([50, 30, 20, 0], 0.5, 0.1)
    >>> found.frequencies.round(6).tolist(), found.converged, found.steps
    ([0.625, 0.275, 0.1, 0.0], True, 0)
    """
    shares = _shares(support, "support")
    high, low = _chances(p, q)
    if low == 0.0:  # nothing is reported for another: the shares are the frequencies
        return _assessed(shares, shares, _diagonal_plus(shares.size, high, low), 0, TOLERANCE, surrogate=True)
    slope = high - low
    falling = np.sort(shares)[::-1]
    kept = np.arange(1, shares.size + 1)
    levels = np.cumsum(falling) / (slope + kept * low)
    # items stay while their share exceeds level * q: a prefix of the falling order
    last = int(np.flatnonzero(falling > levels * low)[-1])
    frequencies = np.maximum(shares / levels[last] - low, 0.0) / slope
    frequencies /= frequencies.sum()
    return _assessed(frequencies, shares, _diagonal_plus(shares.size, high, low), 0, TOLERANCE, surrogate=True)


def ibu_iterated(
    support: ArrayLike,
    p: float,
    q: float,
    *,
    steps: int = MOST_STEPS,
    tolerance: float = TOLERANCE,
    accelerate: bool = True,
    start: ArrayLike | None = None,
) -> Likely:
    """IBU by its own iteration, each step O(k) without a matrix, accelerated by SQUAREM unless told otherwise.

    ``accelerate=False`` with a number of steps is what the paper runs: stopped before its limit, it shrinks towards
    the distribution it starts from, which is the uniform one unless ``start`` is given. The limit is the same.
    """
    shares = _shares(support, "support")
    channel = _diagonal_plus(shares.size, *_chances(p, q))
    first = None if start is None else _start(start, shares.size)
    most, wanted = require_whole(steps, "steps", 1), _tolerance(tolerance)
    return _iterate(shares, channel, most, wanted, accelerate, surrogate=True, start=first)


def ibu_published(supports: ArrayLike, p: float, q: float, *, steps: int = MOST_STEPS) -> Floats:
    """IBU as its paper runs it, many collections (rows) at once: so many plain steps from the uniform distribution.

    >>> rows = ibu_published([[60, 40], [10, 90]], 0.75, 0.25)
    >>> rows.round(6).tolist() == [ibu([60, 40], 0.75, 0.25).frequencies.round(6).tolist(), [0.0, 1.0]]
    True
    """
    table = np.atleast_2d(require_numbers(supports, "supports"))
    shares = np.stack([_shares(row, "supports") for row in table])
    size, (high, low) = table.shape[1], _chances(p, q)
    total = high + (size - 1) * low
    slope, base = (high - low) / total, low / total

    def mixed(rows: Floats) -> Floats:
        return np.asarray(slope * rows + base * rows.sum(axis=1, keepdims=True))

    f = np.full(shares.shape, 1.0 / size)
    rising = np.arange(len(f))  # the others are at a fixed point
    for _ in range(require_whole(steps, "steps", 1)):
        seen, given = mixed(f[rising]), shares[rising]
        growth = mixed(np.divide(given, seen, out=np.zeros_like(given), where=given > 0))
        moves = growth.max(axis=1) > 1
        rising, growth = rising[moves], growth[moves]
        if not rising.size:
            break
        new = f[rising] * growth
        f[rising] = new / new.sum(axis=1, keepdims=True)
    return f


def maximum_likelihood(
    reports: ArrayLike, channel: ArrayLike, *, steps: int = MOST_STEPS, tolerance: float = TOLERANCE
) -> Likely:
    """Maximum likelihood from the counts of all m possible reports and the k x m channel ``P(report | item)``.

    Channels ``(p - q) I + q 11^T`` are solved in closed form, others by accelerated IBU.

    >>> found = maximum_likelihood([60, 40], [[0.75, 0.25], [0.25, 0.75]])
    >>> found.frequencies.round(12).tolist(), found.surrogate, found.steps
    ([0.7, 0.3], False, 0)
    """
    shares, matrix = _shares(reports, "reports"), _matrix(channel)
    if matrix.shape[1] != shares.size:
        raise InvalidInput("reports", shares.size, f"count each of the {matrix.shape[1]} reports of the channel")
    if (shares[matrix.max(axis=0) == 0] > 0).any():
        raise InvalidInput("reports", "a report that was counted", "be possible under the channel")
    pq = _as_diagonal_plus(matrix)
    most, wanted = require_whole(steps, "steps", 1), _tolerance(tolerance)
    if pq is not None and pq[0] > pq[1]:
        exact = ibu(shares, *pq)
        return _assessed(exact.frequencies, shares, _diagonal_plus(shares.size, *pq), 0, wanted, surrogate=False)
    dense = _Channel(matrix.shape[0], lambda f: f @ matrix, lambda r: matrix @ r)
    return _iterate(shares, dense, most, wanted, accelerate=True, surrogate=False)


@frozen
class Group:
    """Reports of users who have one law: the counts of its reports, and its channel (`of_support`, `of_reports`)."""

    counts: Floats = array(np.asarray)
    channel: _Channel
    surrogate: bool


def of_support(support: ArrayLike, p: float, q: float) -> Group:
    """A group whose supports of the items count as reports, as in `ibu`."""
    counts = _positive(support, "support")
    return Group(counts, _diagonal_plus(counts.size, *_chances(p, q)), surrogate=True)


def of_reports(reports: ArrayLike, channel: ArrayLike) -> Group:
    """A group whose reports were counted themselves, and their k x m channel, as in `maximum_likelihood`."""
    counts, matrix = _positive(reports, "reports"), _matrix(channel)
    if matrix.shape[1] != counts.size:
        raise InvalidInput("reports", counts.size, f"count each of the {matrix.shape[1]} reports of the channel")
    if (counts[matrix.max(axis=0) == 0] > 0).any():
        raise InvalidInput("reports", "a report that was counted", "be possible under the channel")
    return Group(counts, _Channel(matrix.shape[0], lambda f: f @ matrix, lambda r: matrix @ r), surrogate=False)


def ibu_of_groups(groups: Sequence[Group], *, steps: int = MOST_STEPS, tolerance: float = TOLERANCE) -> Likely:
    """The one distribution that makes the reports of all groups likeliest, each under the channel of its group.

    The log-likelihood is the sum over the groups. A user's epsilon and protocol must not depend on the value: the
    groups are samples of one population, else there is no one distribution.

    >>> grr = of_support([60, 40], 0.75, 0.25), of_support([90, 10], 0.9, 0.1)
    >>> found = ibu_of_groups(grr)
    >>> found.converged, bool(0.7 < found.frequencies[0] < 1)  # what each says alone
    (True, True)
    """
    parts = list(groups)
    if not parts:
        raise InvalidInput("groups", 0, "be at least one")
    sizes = {part.channel.inputs for part in parts}
    if len(sizes) > 1:
        raise InvalidInput("groups", sorted(sizes), "be about the same items, in the same order")
    counts = np.concatenate([part.counts for part in parts])
    cuts = np.cumsum([part.counts.size for part in parts])[:-1]

    def forward(f: Floats) -> Floats:
        return np.concatenate([part.channel.forward(f) for part in parts])

    def backward(ratio: Floats) -> Floats:
        mine = np.split(ratio, cuts)
        return np.asarray(sum(part.channel.backward(own) for part, own in zip(parts, mine, strict=True)))

    channel = _Channel(sizes.pop(), forward, backward)
    most, wanted = require_whole(steps, "steps", 1), _tolerance(tolerance)
    surrogate = any(part.surrogate for part in parts)
    return _iterate(counts / counts.sum(), channel, most, wanted, accelerate=True, surrogate=surrogate)


# -- the iteration ----------------------------------------------------------------------------------------------------


def _iterate(
    shares: Floats,
    channel: _Channel,
    most: int,
    tolerance: float,
    accelerate: bool,
    *,
    surrogate: bool,
    start: Floats | None = None,
) -> Likely:
    """EM, from the uniform distribution if from no other, until the gap is within the tolerance or the steps are up."""
    f = np.full(channel.inputs, 1.0 / channel.inputs) if start is None else start
    steps = 0
    growth = _growth(f, shares, channel)
    while steps < most and growth.max() - 1 > tolerance:
        if accelerate and steps + 3 <= most:
            f, used = _squarem(f, growth, shares, channel)
        else:
            f, used = f * growth, 1
        f /= f.sum()
        steps += used
        growth = _growth(f, shares, channel)
    return _assessed(f, shares, channel, steps, tolerance, surrogate=surrogate)


def _squarem(f: Floats, growth: Floats, shares: Floats, channel: _Channel) -> tuple[Floats, int]:
    """Two EM steps, extrapolated (Varadhan and Roland 2008) unless that would lower the likelihood."""
    first = f * growth
    second = first * _growth(first, shares, channel)
    move, bend = first - f, second - 2 * first + f
    size = float(np.dot(bend, bend))
    if size == 0.0:
        return second, 2
    length = max(1.0, float(np.sqrt(np.dot(move, move) / size)))
    ahead = f + 2 * length * move + length**2 * bend
    # no entry may die before its time: EM could never bring it back
    ahead = np.maximum(ahead, 1e-3 * second)
    ahead /= ahead.sum()
    settled = ahead * _growth(ahead, shares, channel)
    if _log_likelihood(settled, shares, channel) >= _log_likelihood(second, shares, channel):
        return settled, 3
    return second, 3


def _growth(f: Floats, shares: Floats, channel: _Channel) -> Floats:
    """The factors ``g_v`` of one EM step."""
    seen = channel.forward(f)
    ratio = np.divide(shares, seen, out=np.zeros_like(shares), where=shares > 0)
    return channel.backward(ratio)


def _log_likelihood(f: Floats, shares: Floats, channel: _Channel) -> float:
    reported = shares > 0
    return float(np.dot(shares[reported], np.log(channel.forward(f)[reported])))


def _assessed(f: Floats, shares: Floats, channel: _Channel, steps: int, tolerance: float, *, surrogate: bool) -> Likely:
    gap = max(float(_growth(f, shares, channel).max()) - 1, 0.0)
    value = _log_likelihood(f, shares, channel)
    return Likely(f, value, gap, gap <= tolerance, steps, surrogate)


def _diagonal_plus(size: int, p: float, q: float) -> _Channel:
    """``(p - q) I + q 11^T`` with rows scaled to sum to 1: an update takes O(k)."""
    total = p + (size - 1) * q
    slope, base = (p - q) / total, q / total

    def apply(vector: Floats) -> Floats:
        return np.asarray(slope * vector + base * vector.sum())

    return _Channel(size, apply, apply)


def _as_diagonal_plus(matrix: Floats) -> tuple[float, float] | None:
    """p and q of a channel ``(p - q) I + q 11^T``, or None."""
    k = matrix.shape[0]
    if matrix.shape != (k, k) or k < 2:
        return None
    p, q = float(matrix[0, 0]), float(matrix[0, 1])
    return (p, q) if np.allclose(matrix, (p - q) * np.eye(k) + q, rtol=1e-13, atol=0) else None


# -- validation -------------------------------------------------------------------------------------------------------


def _counts(values: ArrayLike, field: str) -> Floats:
    counts = require_numbers(values, field)
    if counts.ndim != 1 or counts.size < 1:
        raise InvalidInput(field, counts.shape, "be a list with one count an item")
    if not np.isfinite(counts).all():
        raise InvalidInput(field, float(counts[~np.isfinite(counts)][0]), "be finite")
    return np.asarray(counts, dtype=np.float64)


def _shares(values: ArrayLike, field: str) -> Floats:
    counts = _positive(values, field)
    return np.asarray(counts / counts.sum())


def _positive(values: ArrayLike, field: str) -> Floats:
    counts = _counts(values, field)
    if (counts < 0).any():
        raise InvalidInput(field, float(counts.min()), "be at least 0", "likelihoods are about counts of reports")
    if counts.sum() == 0:
        raise InvalidInput(field, "nothing but zeros", "hold at least one report")
    return counts


def _matrix(channel: ArrayLike) -> Floats:
    matrix = np.atleast_1d(require_numbers(channel, "channel"))
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidInput("channel", matrix.shape, "be a matrix: one row an item, one column a report")
    if (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1.0, rtol=0, atol=1e-9):
        raise InvalidInput("channel", "rows that do not", "have entries of at least 0 that sum to 1 in every row")
    return np.asarray(matrix, dtype=np.float64)


def _start(said: ArrayLike, size: int) -> Floats:
    """A distribution without zeros, which no step could leave."""
    first = _counts(said, "start")
    if first.size != size or (first <= 0).any() or abs(first.sum() - 1) > 1e-9:
        raise InvalidInput("start", said, f"be {size} shares above 0 that sum to 1")
    return first


def _chances(p: float, q: float) -> tuple[float, float]:
    high, low = require_number(p, "p"), require_number(q, "q")
    if not 0 <= low < high <= 1:
        raise InvalidInput("p and q", (high, low), "satisfy 0 <= q < p <= 1", "a report must favour its own item")
    return high, low


def _tolerance(value: float) -> float:
    number = require_number(value, "tolerance")
    if not 0 <= number < 1:
        raise InvalidInput("tolerance", value, "be at least 0 and below 1", f"for example tolerance={TOLERANCE}")
    return number
