"""CAPRI as Algorithms 7 to 9 print it: binary search over simulated collections, its relaxed variant, and dynamic use.

`capri_exact` answers the same questions without simulation; this is for comparison, and for protocols whose exact law
it does not have. Two things cannot be taken as printed: line 5 makes ``num_runs + 1`` runs and divides by ``num_runs``
(we make ``num_runs``), and CAPRI-R with ``2 delta >= phi`` never ends, because the interval stops shrinking at length
``2 delta`` (it is refused).
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_epsilon, require_finite
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.budgets import capri_exact
from mechdesign.studies.budgets.capacity import (
    LEAST,
    MOST,
    PRECISION,
    RUNS as RUNS,
    Capacity,
    Requirement,
    require_range,
    unmet_requirement,
)
from mechdesign.studies.budgets.ledger import Memory, Say
from mechdesign.studies.budgets.searches import require_count
from mechdesign.studies.budgets.simulation import ProtocolFamily, binomial_below, collections
from mechdesign.studies.frequencies import postprocess
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.values.declare import Counts, Floats, field, frozen, whole

Build = Callable[[float, int], FrequencyProtocol]

_AT_ONCE = 2_000
_BATCH = 1_000
_UNLIKELY = 1e-9


@frozen
class Tested:
    """One epsilon of the search: the empirical probability of the event over the runs."""

    epsilon: float
    probability: float
    holds: bool


@frozen
class SimulatedBudget:
    """The epsilon a search returns, what it tested on the way, and the most runs at one. No error rate is attached."""

    protocol: str
    epsilon: float
    runs: int
    tested: tuple[Tested, ...]


def simulate_etc(capacity: Capacity, law: FrequencyProtocol, runs: int, rng: np.random.Generator) -> Floats:
    """Algorithm 9, ``runs`` times, from support counts: its cost does not grow with the households.

    >>> from mechdesign.studies.frequencies.protocols import protocol
    >>> sums = simulate_etc(Capacity([0, 1], [400, 600], 500), protocol("grr", 2.0, 2), 100, np.random.default_rng(1))
    >>> sums.shape, bool(abs(sums.mean() - 600) < 10)
    ((100,), True)
    """
    require_generator(rng)
    parts = []
    for start in range(0, require_count(runs, "runs"), _AT_ONCE):
        parts.append(capacity.etc(law, collections(law, capacity.x, min(_AT_ONCE, runs - start), rng)))
    return np.concatenate(parts)


def capri(
    capacity: Capacity,
    requirement: Requirement,
    protocol: str | Build,
    rng: np.random.Generator,
    *,
    runs: int = RUNS,
    least: float = LEAST,
    most: float = MOST,
    phi: float = PRECISION,
    delta: float = 0.0,
    say: Say = lambda _: None,
) -> SimulatedBudget:
    """Algorithm 7, and CAPRI-R where ``delta`` is above 0: both ends move ``delta`` less far."""
    build = ProtocolFamily(protocol) if isinstance(protocol, str) else protocol

    def above(epsilon: float, say: Say) -> float:
        law = build(epsilon, capacity.v.size)
        return float(np.mean(simulate_etc(capacity, law, runs, rng) > capacity.cap))

    return _search(capacity, requirement, build, above, runs, (least, most, phi, delta), say)


@frozen
class Totals:
    """Estimated totals of a protocol by name, replayable by number: what a run that may be stopped simulates.

    Every epsilon has random numbers of its own, as Algorithm 9 has it. Requirements of one capacity share them.

    >>> asked = Totals("grr", Capacity([0, 1], [400, 600], 500))
    >>> bool((asked.values(2.0, 0, 3, 5) == asked.values(2.0, 0, 3, 5)).all()), asked.values(2.0, 0, 3, 5).shape
    (True, (5,))
    """

    protocol: str = field(converter=lambda said: ProtocolFamily(said).name)
    capacity: Capacity
    seed: int = whole("seed", 0, default=0)

    @property
    def digest(self) -> str:
        """What tells these collections from any others."""
        capacity = self.capacity
        parts = ("totals", self.protocol, capacity.v.tolist(), capacity.x.tolist(), capacity.cap, self.seed)
        return hashlib.sha256(repr((*parts, np.__version__)).encode()).hexdigest()

    def values(self, epsilon: float, stream: int, batch: int, runs: int) -> Floats:
        """The estimated totals of the first ``runs`` collections of one batch."""
        words = struct.unpack("<2I", struct.pack("<d", epsilon))
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(*words, stream, batch)))
        return simulate_etc(self.capacity, ProtocolFamily(self.protocol)(epsilon, self.capacity.v.size), runs, rng)

    def met(self, values: Floats) -> int:
        """How many are above the capacity."""
        return int((values > self.capacity.cap).sum())


def capri_from(
    memory: Memory[Totals],
    requirement: Requirement,
    *,
    runs: int = RUNS,
    least: float = LEAST,
    most: float = MOST,
    phi: float = PRECISION,
    delta: float = 0.0,
    say: Say = lambda _: None,
) -> SimulatedBudget:
    """`capri` over collections of which some may be known: the same answer, whether it was stopped in between or not.

    >>> asked = Totals("grr", Capacity([0, 1], [400, 600], 500))
    >>> first = Memory(asked)
    >>> found = capri_from(first, Requirement("fn", 0.05), runs=2000)
    >>> again = Memory(asked, first.entries)
    >>> capri_from(again, Requirement("fn", 0.05), runs=2000) == found, again.simulated
    (True, 0)
    """
    count, asked = require_count(runs, "runs"), memory.question

    def above(epsilon: float, say: Say) -> float:
        met = 0
        for batch, start in enumerate(range(0, count, _BATCH)):
            say(f"{start:,} of {count:,} collections")
            met += memory.batch(epsilon, 0, batch, min(_BATCH, count - start)).met
        return met / count

    span = (least, most, phi, delta)
    return _search(asked.capacity, requirement, ProtocolFamily(asked.protocol), above, count, span, say)


def _search(
    capacity: Capacity,
    requirement: Requirement,
    build: Build,
    above: Callable[[float, Say], float],
    runs: int,
    span: tuple[float, float, float, float],
    say: Say,
) -> SimulatedBudget:
    """The binary search, given the share of ``runs`` collections that are above the capacity at an epsilon."""
    least, most, phi, delta = span
    requirement.require_possible(capacity)
    low, high = require_range(least, most)
    width, relaxed = require_finite(phi, "phi"), require_finite(delta, "delta")
    if not 1e-9 <= width < high - low:
        raise InvalidInput("eps range, phi", (low, high, width), "go up, with phi below its length")
    if not 0 <= relaxed < width / 2:
        tip = "the interval never gets shorter than 2 delta, so the search would not end"
        raise InvalidInput("delta", delta, "be at least 0 and below phi / 2", tip)
    tested: list[Tested] = []
    while low <= high - width:
        where = f"eps in [{low:.4g}, {high:.4g}]"
        say(where)
        epsilon = (low + high) / 2
        share = above(epsilon, partial(_say, say, where))
        probability = requirement.probability(capacity, share)
        holds = requirement.holds(probability)
        tested.append(Tested(epsilon, probability, holds))
        if holds:
            high = epsilon + relaxed
        else:
            low = epsilon - relaxed
    if not any(test.holds for test in tested):
        best = tested[-1]
        raise unmet_requirement(requirement, least, most, best.probability, best.epsilon)
    return SimulatedBudget(build(high, capacity.v.size).name, high, runs, tuple(tested))


def _say(say: Say, where: str, text: str) -> None:
    say(f"{where}, {text}")


def selection_law(
    capacity: Capacity,
    requirement: Requirement,
    protocol: str | Build,
    *,
    runs: int,
    least: float = LEAST,
    most: float = MOST,
    phi: float = PRECISION,
) -> list[tuple[float, float]]:
    """Every epsilon Algorithm 7 may return with its probability, most likely first (figure 5.8), without simulation.

    The exact probability of the event at an epsilon gives the chance that ``runs`` collections satisfy the requirement,
    and the search is a tree of such decisions. Branches of less than 1e-9 are left out. A search in which nothing was
    satisfied counts for ``most``.
    """
    requirement.require_possible(capacity)
    above, count = capri_exact.Exceedance(capacity, protocol), require_count(runs, "runs")
    # the least count that is not below tau; 1e-9 as in 0.05 * 50,000 = 2500.0000000000005
    bar = math.ceil(requirement.tau * count - 1e-9)
    law: dict[float, float] = {}
    branches = [(*require_range(least, most), 1.0)]
    while branches:
        low, high, chance = branches.pop()
        if not low <= high - phi:
            law[high] = law.get(high, 0.0) + chance
            continue
        epsilon = (low + high) / 2
        event = requirement.probability(capacity, above(epsilon).value)
        below = float(binomial_below(bar - 1, count, event)) if bar else 0.0
        holds = below if requirement.event in ("fp", "fn") else 1 - below
        branches += [
            branch
            for branch in ((low, epsilon, chance * holds), (epsilon, high, chance * (1 - holds)))
            if branch[2] > _UNLIKELY
        ]
    return sorted(law.items(), key=lambda item: -item[1])


# -- dynamic use ------------------------------------------------------------------------------------------------------


@frozen
class TimeStep:
    """One collection in time: the budget it was given, what was estimated and what was true.

    ``planned`` says whether the budget came from a capacity question, or is the largest allowed because the population
    known at the time had no answer.
    """

    epsilon: float
    planned: bool
    estimated_total: float
    true_total: float
    event: str


def over_time(
    values: ArrayLike,
    populations: Sequence[ArrayLike],
    cap: float,
    tau: float,
    protocol: str | Build,
    first: float,
    rng: np.random.Generator,
    *,
    least: float = LEAST,
    most: float = MOST,
) -> list[TimeStep]:
    """Section 6.1.1: what is collected at time t plans the budget of time t + 1, the first one is given.

    The requirement is ``Pr[FN] < tau`` where the last estimated total is above the capacity, else ``Pr[FP] < tau``.
    Estimates become households by Norm-Sub and rounding. The budgets add up: a household whose consumption repeats has
    spent their sum.
    """
    require_generator(rng)
    build = ProtocolFamily(protocol) if isinstance(protocol, str) else protocol
    if not populations:
        raise InvalidInput("populations", "none", "hold the counts of at least one point in time")
    epsilon, planned, steps = require_epsilon(first, "first eps"), True, []
    for counts in populations:
        truth = Capacity(values, counts, cap)
        law = build(epsilon, truth.v.size)
        support = collections(law, truth.x, 1, rng)
        etc = float(truth.etc(law, support)[0])
        event = ("tp" if etc > cap else "fn") if truth.exceeded else ("fp" if etc > cap else "tn")
        steps.append(TimeStep(epsilon, planned, etc, truth.total, event))
        seen = Capacity(values, _households(law.estimate(support[0], truth.users), truth.users), cap)
        requirement = Requirement("fn" if seen.exceeded else "fp", tau)
        try:
            epsilon, planned = capri_exact.budget(seen, requirement, build, least=least, most=most).epsilon, True
        except InvalidInput:  # on the edge as far as anyone knows: nothing less than the most will do
            epsilon, planned = most, False
    return steps


def _households(estimate: Floats, users: int) -> Counts:
    """Estimated frequencies as whole households that sum to ``users``, by largest remainders."""
    shares = postprocess.norm_sub(estimate) * users
    counts = np.floor(shares).astype(np.int64)
    order = np.argsort(counts - shares, kind="stable")
    counts[order[: users - int(counts.sum())]] += 1
    return counts
