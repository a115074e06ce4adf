"""Collections simulated from counts beside the published packages, which make and count one report a user.

Domain of 100 items, 100,000 users, eps = 1, Zipf. Ours is one draw of the support counts and its estimate. Where the
environment of the peers was made, multi-freq-ldpy and pure-ldp run their clients and servers; without it, a loop over
users that does the same work is the yardstick, and is labelled as ours. Users of slow servers are fewer, and their
times scaled up.

For IBU the yardstick is 10,000 steps of the k x k matrix product (multi-freq-ldpy's own where installed; 100 are taken
and scaled up). The closed form must have a gap of rounding only: no number of steps has a higher likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.clock import Task, medians
from benchmarks.peers import Peers, peers
from benchmarks.rows import Row, Target
from mechdesign.studies.frequencies import estimators
from mechdesign.studies.frequencies.protocols import protocol

EPSILON, ITEMS, USERS = 1.0, 100, 100_000
TARGETS = {"grr": 1e3, "oue": 1e4, "olh": 1e4, "ss": 1e2}
FEWER = {"grr": 100_000, "oue": 20_000, "olh": 1_000, "ss": 5_000}
PACKAGES = {"multi-freq-ldpy": ("grr", "oue", "olh", "ss"), "pure-ldp": ("grr", "oue", "olh")}
IBU_ITEMS, IBU_STEPS, IBU_TAKEN, IBU_TARGET = 1000, 10_000, 100, 500.0
MANY = 10**9
TURNS = 5
AGAIN = 200
"""Ours takes so little that it is measured by the two hundred: a cold cache is not what is compared."""


def rows() -> Iterator[Row]:
    with peers(tuple(PACKAGES)) as published:
        for name in TARGETS:
            yield from one_protocol(name, published)
        yield ibu(published)
    yield many_users()


def one_protocol(name: str, published: Peers | None) -> Iterator[Row]:
    counts = zipf(ITEMS, USERS)
    values = np.repeat(np.arange(ITEMS), counts)
    np.random.default_rng(0).shuffle(values)
    fewer = values[: FEWER[name]]
    theirs = {"our loop over users": partial(user_by_user, name, fewer)} if published is None else {}
    for package, known in PACKAGES.items():
        if published is not None and name in known:
            given = {"protocol": name, "epsilon": EPSILON, "items": ITEMS, "values": fewer.tolist()}
            theirs[package] = published.task(package, **given)
    times = medians({"ours": again(collections(name, counts)), **theirs}, TURNS)
    ours = times.pop("ours") / AGAIN
    for yardstick, taken in times.items():
        scaled = taken * (USERS / fewer.size)
        yield Row(f"{name}: {USERS} users, k = {ITEMS}", yardstick, ours, scaled, Target(1 / TARGETS[name]))


def many_users() -> Row:
    """10^9 users beside 10^5."""
    tasks = {str(n): again(collections("oue", zipf(ITEMS, n))) for n in (USERS, MANY)}
    times = medians(tasks, TURNS)
    many, few = times[str(MANY)] / AGAIN, times[str(USERS)] / AGAIN
    return Row(f"oue: {MANY:.0e} users", f"ours, {USERS:.0e} users", many, few, Target(2.0))


def ibu(published: Peers | None) -> Row:
    law = protocol("grr", EPSILON, IBU_ITEMS)
    support = law.simulate(zipf(IBU_ITEMS, USERS), np.random.default_rng(1))
    shares = support / support.sum()
    theirs: Task
    if published is None:
        yardstick = "our loop of matrix products"
        theirs = partial(products, (law.p - law.q) * np.eye(IBU_ITEMS) + law.q, shares)
    else:
        yardstick = "multi-freq-ldpy, IBU"
        theirs = published.task("ibu", p=law.p, q=law.q, shares=shares.tolist(), steps=IBU_TAKEN)
    if estimators.ibu(support, law.p, law.q).gap > 1e-12:
        raise AssertionError("the closed form is not a maximum")
    times = medians({"ours": again(partial(estimators.ibu, support, law.p, law.q)), "theirs": theirs}, TURNS)
    ours, taken = times["ours"] / AGAIN, times["theirs"] * (IBU_STEPS / IBU_TAKEN)
    return Row(f"ibu, k = {IBU_ITEMS}, 10,000 steps", yardstick, ours, taken, Target(1 / IBU_TARGET))


def again(task: Task) -> Task:
    def run() -> None:
        for _ in range(AGAIN):
            task()

    return run


def zipf(items: int, users: int) -> np.ndarray:
    weights = 1 / np.arange(1, items + 1)
    return np.random.default_rng(0).multinomial(users, weights / weights.sum())


def collections(name: str, counts: np.ndarray) -> Task:
    """A task that collects and estimates once; protocol and generator are made before, as loops are compiled before."""
    law, rng, n = protocol(name, EPSILON, counts.size), np.random.default_rng(2), int(counts.sum())
    return lambda: law.estimate(law.simulate(counts, rng), n)


def products(matrix: np.ndarray, shares: np.ndarray) -> np.ndarray:
    f = np.full(shares.size, 1 / shares.size)
    for _ in range(IBU_TAKEN):
        f = f * (matrix @ (shares / (matrix @ f)))
    return f


# -- one report a user ------------------------------------------------------------------------------------------------


def user_by_user(name: str, values: np.ndarray) -> np.ndarray:
    """What those packages do, without them: a client call and a server update for every user."""
    rng, law = np.random.default_rng(3), protocol(name, EPSILON, ITEMS)
    if name == "olh":
        return _hash_by_hash(values, rng)
    support = np.zeros(ITEMS)
    size = max(1, round(ITEMS / (math.exp(EPSILON) + 1)))
    for value in values.tolist():
        if name == "grr":
            kept = rng.random() < law.p
            other = int(rng.integers(ITEMS - 1))
            support[value if kept else other + (other >= value)] += 1
        elif name == "oue":
            bits = rng.random(ITEMS) < law.q
            bits[value] = rng.random() < law.p
            support += bits
        else:
            others = rng.choice(ITEMS - 1, size, replace=False)
            others += others >= value
            if rng.random() < law.p:
                others[0] = value
            support[others] += 1
    return law.estimate(support, values.size)


def _hash_by_hash(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    support, g = np.zeros(ITEMS), round(math.exp(EPSILON)) + 1
    p = math.exp(EPSILON) / (math.exp(EPSILON) + g - 1)
    for value in values.tolist():
        seed = int(rng.integers(1 << 62))
        sent = hash((seed, value)) % g
        if rng.random() >= p:
            sent = (sent + int(rng.integers(1, g))) % g
        for item in range(ITEMS):
            support[item] += hash((seed, item)) % g == sent
    return estimators.matrix_inversion(support, values.size, p, 1 / g)
