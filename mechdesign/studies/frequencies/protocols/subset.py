"""Subset selection: the report is a set of d items, which holds the true one more often than any other."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidData, require_epsilon, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments, pure
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.values.declare import Counts, Floats, frozen

MOST_RUNS = 1 << 20

_AT_ONCE = 1 << 20
_MOST_DRAWN = 900_000_000  # numpy draws hypergeometric numbers from populations below 10^9


@frozen
class SubsetSelection:
    """A set S of ``subset = d`` items has probability proportional to ``e^eps`` if it holds x, to 1 if not.

    So ``p = d e^eps / (d e^eps + k - d)`` and ``q = [p (d - 1) + (1 - p) d] / (k - 1)`` (Ye and Barg 2018, Wang et al.
    2016).

    *Guarantee.* The privacy loss is ``ln [p (k - d) / ((1 - p) d)]``, which is eps.

    >>> ss(1.0, 100).subset, round(ss(1.0, 100).privacy_loss(), 12)
    (27, 1.0)
    """

    name: str
    epsilon: float
    size: int
    subset: int

    def __attrs_post_init__(self) -> None:
        require_whole(self.subset, "subset", 1, self.size - 1, "a set of all items says nothing")

    @property
    def p(self) -> float:
        return 1 / (1 + math.exp(-self.epsilon) * (self.size - self.subset) / self.subset)

    @property
    def miss(self) -> float:
        """``1 - p``."""
        return 1 / (1 + math.exp(self.epsilon) * self.subset / (self.size - self.subset))

    @property
    def q(self) -> float:
        return (self.p * (self.subset - 1) + self.miss * self.subset) / (self.size - 1)

    @property
    def report_bits(self) -> float:
        """Bits that number the sets of d items."""
        logarithm = math.lgamma(self.size + 1) - math.lgamma(self.subset + 1)
        logarithm -= math.lgamma(self.size - self.subset + 1)
        return float(math.ceil(logarithm / math.log(2) - 1e-9))

    def privacy_loss(self) -> float:
        return math.log(self.p / self.miss * (self.size - self.subset) / self.subset)

    def channel(self) -> Floats:
        """A column for each set of d items, in lexicographic order."""
        columns = math.comb(self.size, self.subset) if self.size <= 64 else arguments.MOST_COLUMNS + 1
        arguments.require_channel_size(columns, self.size)
        matrix = np.full((self.size, columns), self.miss / math.comb(self.size - 1, self.subset))
        for column, items in enumerate(itertools.combinations(range(self.size), self.subset)):
            matrix[list(items), column] = self.p / math.comb(self.size - 1, self.subset - 1)
        return matrix

    def report(self, values: ArrayLike, rng: Randomness) -> Counts:
        """d distinct items a user, in increasing order."""
        items, source = arguments.require_items(values, self.size), require_randomness(rng)
        sets = np.empty((items.size, self.subset), dtype=np.int64)
        rows = max(1, _AT_ONCE // self.size)
        for start in range(0, items.size, rows):
            part = items[start : start + rows]
            keys = source.random((part.size, self.size))  # the d least keys are the set
            keys[np.arange(part.size), part] = np.where(source.random(part.size) < self.miss, 2.0, -1.0)
            sets[start : start + rows] = np.argpartition(keys, self.subset - 1, axis=1)[:, : self.subset]
        return np.sort(sets, axis=1)

    def support(self, reports: ArrayLike) -> Counts:
        sets = arguments.require_reports(reports, (self.subset,), "iu", f"rows of {self.subset} items")
        items = arguments.require_items(sets.ravel(), self.size, "reports")
        repeats = (np.diff(np.sort(sets, axis=1), axis=1) == 0).any(axis=1)
        if repeats.any():
            place = int(np.argmax(repeats))
            raise InvalidData(f"reports[{place}]", sets[place].tolist(), f"hold {self.subset} distinct items")
        return np.bincount(items, minlength=self.size)

    def simulate(self, counts: ArrayLike, rng: np.random.Generator) -> Counts:
        """One collection: see `simulate_many`."""
        return np.asarray(self.simulate_many(counts, 1, rng)[0])

    def simulate_many(self, counts: ArrayLike, runs: int, rng: np.random.Generator) -> Counts:
        """Supports in so many collections, a row each: one pass over the items, all collections at once.

        A report is a uniform set with probability 1 - w, and with probability w its own item and a uniform set of
        d - 1 others. Whether item v is in a set of which s slots are open while r items are left is a coin s / r, the
        same for all users in that state, who are pooled; which of them hold v is drawn from the pool, without
        replacement.
        """
        held, generator = arguments.require_counts(counts, self.size), require_generator(rng)
        repeats = require_whole(runs, "runs", 1, MOST_RUNS)
        growth, share = math.expm1(self.epsilon), self.subset / self.size
        certain = generator.binomial(held, growth * share / (1 + growth * share), (repeats, self.size))
        free = held.sum() - certain.sum(axis=1)
        supported = certain + self._others(free, np.zeros_like(certain), generator)
        while certain.any():  # users are independent: batches of them add up
            batch = _at_most(certain, _MOST_DRAWN)
            supported += self._others(np.zeros_like(free), batch, generator)
            certain = certain - batch
        return np.asarray(supported, dtype=np.int64)

    def _others(self, free: Counts, certain: Counts, generator: np.random.Generator) -> Counts:
        """Supports of ``free`` uniform sets of d items, and of d - 1 items other than v for ``certain[v]`` users.

        Both have an entry a collection.
        """
        d, size, runs = self.subset, self.size, free.size
        supported = np.zeros((size, runs), dtype=np.int64)
        # users by open slots: whose own item takes no part from here on, and whose own item is still to come
        pool = np.zeros((2, d + 1, runs), dtype=np.int64)
        pool[0, d], pool[1, d - 1] = free, certain.sum(axis=1)
        slots = np.arange(d + 1, dtype=np.float64)
        first, last = d - 1, d  # nobody is outside these states
        any_own = certain.sum(axis=0) > 0
        for v in range(size):
            passed, coming = users = pool[:, first : last + 1]
            if any_own[v]:
                here = _drawn(coming, certain[:, v], generator)
                coming -= here
            left = size - v
            chances = np.minimum(slots[first : last + 1] / [[left], [max(left - 1, 1)]], 1.0)
            taken = generator.binomial(users, chances[:, :, None])
            supported[v] = taken.sum(axis=(0, 1))
            users -= taken
            if any_own[v]:
                passed += here
            if first:
                first -= 1
                pool[:, first:last] += taken
            else:
                pool[:, :last] += taken[:, 1:]  # no slots, nothing taken
            while last > first and not pool[:, last].any():
                last -= 1
            while first < last and not pool[:, first].any():
                first += 1
        return supported.T

    def covariance(self, frequencies: ArrayLike, n: int) -> Floats:
        shares, users = arguments.require_frequencies(frequencies, self.size), arguments.require_users(n)
        d, others, p = self.subset, self.size - 1, self.p
        own = p * (d - 1) / others - p * self.q
        both = (d - 1) * (p * (d - 2) + self.miss * d) / (others * (others - 1)) if others > 1 else 0.0
        return pure.with_pair_covariance(self, shares, users, own, both - self.q**2)

    estimate = pure.estimate
    variance = pure.variance


def _drawn(pool: Counts, counts: Counts, generator: np.random.Generator) -> Counts:
    """How many of ``counts[r]`` users drawn from collection r of the pool (states x collections) are in each state."""
    drawn = np.zeros_like(pool)
    if counts.size == 1:
        states = np.flatnonzero(pool[:, 0])
        if states.size == 1:
            drawn[states, 0] = counts
        else:
            found = generator.multivariate_hypergeometric(pool[states, 0], counts[0], method="marginals")
            drawn[states, 0] = found
        return drawn
    wanted, rest = counts.copy(), pool.sum(axis=0)
    for state, users in enumerate(pool[:-1]):
        rest = rest - users
        drawn[state] = generator.hypergeometric(users, rest, wanted)
        wanted = wanted - drawn[state]
    drawn[-1] = wanted
    return drawn


def _at_most(counts: Counts, most: int) -> Counts:
    """The first ``most`` users of each row, in the order of their items."""
    before = np.cumsum(counts, axis=1) - counts
    return np.asarray(np.clip(most - before, 0, counts))


def ss(epsilon: float, size: int, subset: int | None = None) -> SubsetSelection:
    """Subset selection; unless given, d has the least exact total variance, and is never below 1."""
    epsilon, size = require_epsilon(epsilon), arguments.require_item_count(size)
    return SubsetSelection("SS", epsilon, size, best_subset(epsilon, size) if subset is None else subset)


def best_subset(epsilon: float, size: int) -> int:
    """The d with the least total variance: one of the two whole numbers next to ``k / (e^eps + 1)``.

    >>> [best_subset(eps, 100) for eps in (0.5, 1.0, 2.0, 4.0, 8.0)]
    [38, 27, 12, 2, 1]
    """
    middle = size / (math.exp(epsilon) + 1)
    near = {min(max(math.floor(middle) + step, 1), size - 1) for step in (-1, 0, 1, 2)}

    def total(d: int) -> float:
        law = SubsetSelection("SS", epsilon, size, d)
        gap = law.miss * math.expm1(epsilon) * d / (size - 1)  # p - q without cancellation
        return float(pure.total_variance(size, law.p, law.q, gap))

    return min(sorted(near), key=total)
