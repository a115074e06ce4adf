"""Many simulated collections at once: values of a metric, replayable by number, coupled over epsilon where possible.

Batch ``b`` of a stream always uses the same random numbers, whatever the epsilon. For randomised response and for
protocols whose items are supported independently, binomials are drawn by inverting their distribution function, so a
collection at one epsilon and the one of the same number at another share their noise in standard units (common random
numbers). For other protocols the same seeds are used; how far the two runs resemble each other is up to their samplers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, did_you_mean
from mechdesign.mechanisms import catalogue
from mechdesign.studies.budgets.constraint import AT_LEAST, Constraint
from mechdesign.studies.budgets.ledger import BATCH as BATCH, COMMON as COMMON
from mechdesign.studies.frequencies import postprocess, protocols
from mechdesign.studies.frequencies.by_method import estimated
from mechdesign.studies.frequencies.protocols.catalogue import entry
from mechdesign.studies.frequencies.protocols.designed import designed
from mechdesign.studies.frequencies.protocols.grr import Grr
from mechdesign.studies.frequencies.protocols.hashing import LocalHashing
from mechdesign.studies.frequencies.protocols.histogram import ThresholdHistogram
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.protocols.subset import SubsetSelection
from mechdesign.studies.frequencies.protocols.unary import Unary
from mechdesign.studies.frequencies.ranking import IBU, RAW
from mechdesign.values.declare import Counts, Floats, array, field, frozen, one_of, settle, whole
from mechdesign.values.later import special
from mechdesign.words.domains import Interval

Build = Callable[[float, int], FrequencyProtocol]

METHODS = (RAW, *postprocess.METHODS, IBU)
_MOST_PAIRS = 1 << 15


def _key_of(name: str) -> str:
    if name in {line.key for line in catalogue.ON_INTERVALS}:
        return name
    try:
        return entry(name).key
    except InvalidInput:
        known = [*(line.key for line in protocols.PROTOCOLS), *(m.key for m in catalogue.ON_INTERVALS)]
        step = did_you_mean(name, known)
        raise InvalidInput("protocol", name, f"be one of {', '.join(known)}", step) from None


@frozen
class ProtocolFamily:
    """A protocol by name at every epsilon: one of the catalogue, or a numeric mechanism over equal bins of [0, 1].

    >>> ProtocolFamily("oue")(1.0, 10).name, ProtocolFamily("sw")(1.0, 4).size
    ('OUE', 4)
    """

    name: str = field(converter=_key_of)

    def __call__(self, epsilon: float, size: int) -> FrequencyProtocol:
        if self.name in {line.key for line in catalogue.ON_INTERVALS}:
            return designed(catalogue.build(self.name, epsilon, Interval(0.0, 1.0)), size)
        return protocols.protocol(self.name, epsilon, size)


def _users_by_item(said: ArrayLike) -> Counts:
    counts = np.asarray(said)
    is_whole = counts.ndim == 1 and counts.dtype.kind in "iu"
    if not is_whole or counts.size < 2 or (counts < 0).any() or not counts.any():
        raise InvalidInput("counts", said, "be whole numbers of users for two items or more, not all 0")
    return counts.astype(np.int64)


@frozen
class Question:
    """Which epsilon a collection needs: a protocol over epsilon, a population, a post-processing and a constraint.

    ``protocol`` is a name of `ProtocolFamily` or any function of (epsilon, number of items), picklable if processes are
    used.
    """

    protocol: str | Build
    counts: Counts = array(_users_by_item)
    constraint: Constraint
    method: str = one_of("method", METHODS, default=RAW)
    seed: int = whole("seed", 0, default=0)
    build: Build = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if isinstance(self.protocol, str):
            family = ProtocolFamily(self.protocol)
            settle(self, protocol=family.name, build=family)
        elif callable(self.protocol):
            settle(self, build=self.protocol)
        else:
            raise InvalidInput("protocol", self.protocol, "be a name or a function of (eps, number of items)")

    @property
    def name(self) -> str:
        return self.protocol if isinstance(self.protocol, str) else getattr(self.protocol, "__name__", "custom")

    @property
    def digest(self) -> str:
        """What tells the simulations of this question from those of any other."""
        wish = self.constraint  # in full digits, unlike its words
        asked = (wish.name, wish.direction, wish.threshold, wish.probability)
        parts = (self.name, self.counts.tolist(), asked, self.method, self.seed, np.__version__)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def values(self, epsilon: float, stream: int, batch: int, runs: int = BATCH) -> Floats:
        """The metric in the first ``runs`` collections of one batch."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(stream, batch)))
        law = self.build(epsilon, self.counts.size)
        draw = coupled_collections if stream == COMMON else collections
        support = draw(law, self.counts, runs, rng)
        n = int(self.counts.sum())
        truth = self.counts / n
        if self.method == RAW:
            estimates = (support / n - law.q) / (law.p - law.q)
        else:
            estimates = np.stack([estimated(law, row, n, self.method) for row in support])
        return measured(self.constraint, truth, estimates)

    def met(self, values: Floats) -> int:
        """How many values are on the good side of the threshold."""
        return int(holds(self.constraint, values).sum())


# -- collections ------------------------------------------------------------------------------------------------------


def collections(law: FrequencyProtocol, counts: Counts, runs: int, rng: np.random.Generator) -> Floats:
    """Support counts of ``runs`` collections, a row each, in the law of ``law.simulate``."""
    once = law.once if isinstance(law, Longitudinal) else law
    users, shape = int(counts.sum()), (runs, counts.size)
    if isinstance(once, Grr):
        kept = rng.binomial(counts, once.p - once.q, shape)
        rest = rng.multinomial(users - kept.sum(axis=1), np.full(counts.size, 1 / counts.size))
        return np.asarray(kept + rest, dtype=np.float64)
    if has_independent_items(law):
        own = rng.binomial(counts, once.p, shape)
        return np.asarray(own + rng.binomial(users - counts, once.q, shape), dtype=np.float64)
    if isinstance(once, SubsetSelection):
        return once.simulate_many(counts, runs, rng).astype(np.float64)
    return np.stack([np.asarray(law.simulate(counts, rng), dtype=np.float64) for _ in range(runs)])


def coupled_collections(law: FrequencyProtocol, counts: Counts, runs: int, rng: np.random.Generator) -> Floats:
    """The same law; the same uniforms are read whatever the epsilon, in the same order."""
    once = law.once if isinstance(law, Longitudinal) else law
    users = int(counts.sum())
    if isinstance(once, Grr):
        kept = binomial_quantile(rng.random((runs, counts.size)), counts, once.p - once.q)
        return kept + _even(rng.random((runs, counts.size - 1)), users - kept.sum(axis=1))
    if has_independent_items(law):
        own = binomial_quantile(rng.random((runs, counts.size)), counts, once.p)
        return own + binomial_quantile(rng.random((runs, counts.size)), users - counts, once.q)
    return collections(law, counts, runs, rng)


def has_independent_items(law: FrequencyProtocol) -> bool:
    """Whether a report supports each item on its own, with probability p or q."""
    once = law.once if isinstance(law, Longitudinal) else law
    return isinstance(once, Unary | LocalHashing | ThresholdHistogram)


def binomial_quantile(u: Floats, n: Counts | Floats, p: float | Floats) -> Floats:
    """The least x with ``P(Bin(n, p) <= x) >= u``: a Cornish-Fisher guess, then steps until it is exact
    (up to the rounding of the distribution function).

    >>> binomial_quantile(np.array([0.2, 0.5, 0.999]), np.array([10, 10, 10]), 0.5).tolist()
    [4.0, 5.0, 9.0]
    """
    chances, trials, share = np.broadcast_arrays(u, np.asarray(n, dtype=np.float64), np.asarray(p, dtype=np.float64))
    chance, whole, part = chances.ravel(), trials.ravel(), share.ravel()
    z = special.ndtri(np.clip(chance, 1e-300, 1 - 1e-16))
    guess = whole * part + np.sqrt(whole * part * (1 - part)) * z + (1 - 2 * part) * (z * z - 1) / 6
    found = np.clip(np.ceil(guess - 0.5), 0, whole)
    below = binomial_below(found, whole, part)
    low = np.flatnonzero(below < chance)
    # P(X < x) >= u needs a gap of at least the mass at x: asked only where the gap is nearly as large
    high = np.flatnonzero((below >= chance) & (found > 0) & (below - chance >= 0.99 * _mass(found, whole, part)))
    while low.size:
        found[low] += 1
        low = low[(found[low] < whole[low]) & (binomial_below(found[low], whole[low], part[low]) < chance[low])]
    while high.size:
        high = high[(found[high] > 0) & (binomial_below(found[high] - 1, whole[high], part[high]) >= chance[high])]
        found[high] -= 1
    return np.asarray(found.reshape(chances.shape), dtype=np.float64)


def binomial_below(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """``P(Bin(n, p) <= x)`` for whole x from 0, to 1e-11: `scipy.special.bdtr` is off by 1e-3 for n = 10^7.

    >>> binomial_below([0, 1, 2], 2, 0.5).tolist()
    [0.25, 0.75, 1.0]
    """
    places, trials = np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64)
    missed = trials - places
    inside = special.betainc(np.maximum(missed, 1.0), places + 1, 1 - np.asarray(p, dtype=np.float64))
    return np.asarray(np.where(missed > 0, inside, 1.0))


def _mass(x: Floats, n: Floats, p: Floats) -> Floats:
    """``P(Bin(n, p) = x)``, to about nine digits."""
    ways = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(n - x + 1)
    return np.asarray(np.exp(ways + special.xlogy(x, p) + special.xlog1py(n - x, -p)))


def _even(u: Floats, totals: Floats) -> Floats:
    """Multinomial counts over k equal cells, a binomial at a time."""
    cells = u.shape[1] + 1
    left, counts = totals.copy(), np.empty((u.shape[0], cells))
    for v in range(cells - 1):
        counts[:, v] = binomial_quantile(u[:, v], left, 1 / (cells - v))
        left -= counts[:, v]
    counts[:, -1] = left
    return counts


# -- metrics ----------------------------------------------------------------------------------------------------------


def measured(constraint: Constraint, truth: Floats, estimates: Floats) -> Floats:
    """The metric of every row; the same numbers as one call a row."""
    many = _AT_ONCE.get(constraint.name) if isinstance(constraint.metric, str) else None
    if many is not None and truth.size * (truth.size - 1) // 2 <= _MOST_PAIRS:
        return many(truth, estimates)
    return np.array([constraint.measure(truth, row) for row in estimates])


def _kendall(truth: Floats, estimates: Floats) -> Floats:
    """tau-b, pairs taken by how far apart they stand: every comparison is of two views."""
    rows = np.ascontiguousarray(estimates.T)
    agreed, untied, given_untied = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), 0
    for apart in range(1, truth.size):
        given = np.sign(truth[:-apart] - truth[apart:])
        above, below = rows[:-apart] > rows[apart:], rows[:-apart] < rows[apart:]
        found = above.astype(np.float32) - below.astype(np.float32)
        agreed += given.astype(np.float32) @ found
        untied += np.count_nonzero(above | below, axis=0)
        given_untied += int(np.count_nonzero(given))
    scale = np.sqrt(given_untied * untied)
    return np.divide(agreed, scale, out=np.zeros(agreed.size), where=scale > 0)


def _kendall_optimus(truth: Floats, estimates: Floats) -> Floats:
    first, second = np.triu_indices(truth.size, 1)
    same = (truth[first] > truth[second]) == (estimates[:, first] > estimates[:, second])
    return np.asarray(2 * same.mean(axis=1) - 1)


def _kendall_optimus_squared(truth: Floats, estimates: Floats) -> Floats:
    """Over all pairs of V x V: each in both orders."""
    return (_kendall_optimus(truth, estimates) + _kendall_optimus(truth[::-1], estimates[:, ::-1])) / 2


def _l1(truth: Floats, estimates: Floats) -> Floats:
    return np.asarray(np.abs(estimates - truth).sum(axis=1))


def _l2(truth: Floats, estimates: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(estimates - truth).sum(axis=1)))


_AT_ONCE: dict[str, Callable[[Floats, Floats], Floats]] = {
    "l1": _l1,
    "l1-mean": lambda truth, rows: _l1(truth, rows) / truth.size,
    "mae": lambda truth, rows: _l1(truth, rows) / truth.size,
    "l2": _l2,
    "l2-mean": lambda truth, rows: _l2(truth, rows) / truth.size,
    "mse": lambda truth, rows: _l2(truth, rows) ** 2 / truth.size,
    "emd": lambda truth, rows: np.abs(np.cumsum(rows - truth, axis=1)).sum(axis=1),
    "kendall": _kendall,
    "kendall-optimus": _kendall_optimus,
    "kendall-optimus-squared": _kendall_optimus_squared,
}


def holds(constraint: Constraint, values: Floats) -> NDArray[np.bool_]:
    """Which values are on the good side."""
    good = values >= constraint.threshold if constraint.direction == AT_LEAST else values <= constraint.threshold
    return np.asarray(good)
