"""Budgets: searches over simulated and exact collections beside the same work done one user at a time.

The yardsticks are a per-user loop measured in this run: one collection with a client call for every user and the
server's count, times the number of collections our search needed. It is scaled from fewer users, and no library calls
for a whole search exist to be timed. Populations are the fixed ones of `mechdesign.studies.budgets.populations`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.clock import Measured, measured, medians
from benchmarks.rows import Row, Target
from mechdesign.studies.budgets import Capacity, Constraint, Question, Requirement, budget, capri
from mechdesign.studies.budgets.certified import search
from mechdesign.studies.budgets.ledger import Ledger
from mechdesign.studies.budgets.populations import emoji_like, msnbc_like, scaled, water_like
from mechdesign.studies.budgets.searches import Range, bayes, mpass
from mechdesign.studies.frequencies.protocols import protocol

USERS_LOOPED = 2_000


def rows() -> Iterator[Row]:
    yield from capacity()
    yield certified()
    yield subsets()
    yield from emoji()


def capacity() -> Iterator[Row]:
    """N = 98,511 households, 41 values: exact below 0.2 s, 50,000 runs at every epsilon below 30 s."""
    city = Capacity(np.arange(41), water_like(), 1_700_000)
    rare = Requirement("fp", 0.05)
    for name in ("grr", "oue"):
        exact = medians({"exact": partial(budget, city, rare, name)}, 3)["exact"]
        rng = np.random.default_rng(0)
        simulated = measured(partial(capri, city, rare, name, rng))
        yield Row(f"capacity, exact, {name}", "CAPRI, 50,000 runs per eps", exact, simulated, Target(seconds=0.2))
        loop = user_by_user(name, water_like()) * 50_000 * 10
        yield Row(f"capacity, CAPRI, {name}", "one user at a time", simulated, loop, Target(1e-3, 30.0))


def certified() -> Row:
    """Kendall's tau on 17 items and a million users."""
    counts = scaled(msnbc_like(), 10**6)
    ledger = Ledger(Question("oue", counts, Constraint("kendall", 0.7, 0.9)))
    taken = measured(partial(search, ledger, Range()))
    loop = user_by_user("oue", counts) * ledger.simulated
    return Row("budget, certified, 17 items, 1e6 users", "one user at a time", taken, loop, Target(1e-3, 10.0))


def subsets() -> Row:
    """Subset selection, a hundred collections of 1,680 users and 17 items at once and one at a time."""
    counts, law = scaled(msnbc_like(), 1_680), protocol("ss", 1.0, 17)
    rng = np.random.default_rng(1)
    together = measured(partial(law.simulate_many, counts, 100, rng))  # type: ignore[attr-defined]
    alone = measured(lambda: [law.simulate(counts, rng) for _ in range(100)])
    return Row("budget, 100 collections, ss", "one collection at a time", together, alone, Target(1 / 10))


def emoji() -> Iterator[Row]:
    """The searches that took the paper more than two days."""
    for name, method in (("mpass", mpass), ("bayes", bayes)):
        ledger = Ledger(Question("olh", emoji_like(), Constraint("kendall", 0.7, 0.5)))
        taken = measured(partial(method, ledger, Range(), lambda _: None))
        loop = user_by_user("olh", emoji_like()) * ledger.simulated
        yield Row(f"budget, {name}, emoji-like, olh", "one user at a time", taken, loop, Target(1e-3, 60.0))


def user_by_user(name: str, counts: np.ndarray) -> Measured:
    """What one collection takes with one collection with one report, counted by itself, for every user."""
    law, rng = protocol(name, 1.0, counts.size), np.random.default_rng(1)
    values = np.repeat(np.arange(counts.size), counts)
    chosen = rng.choice(values, USERS_LOOPED)

    def collect() -> np.ndarray:
        support = np.zeros(counts.size)
        for value in chosen.tolist():
            support += law.support(law.report([value], rng))
        return law.estimate(support, chosen.size)

    return measured(collect) * values.size / chosen.size
