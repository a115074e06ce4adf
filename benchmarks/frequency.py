"""Collections simulated from counts beside the published packages, which make and count one report a user.

Domain of 100 items, 100,000 users, eps = 1, Zipf. Ours is one draw of the support counts and its estimate. With
multi-freq-ldpy and pure-ldp installed, they run their clients and servers; without them, a loop over users that does
the same work is the yardstick, and is labelled as ours. (Their releases 0.2.5 and 1.2.0 also need ``statsmodels`` and
``xxhash<4``, which they do not declare.) Users of slow servers are fewer, and their times scaled up.

For IBU the yardstick is 10,000 steps of the k x k matrix product (multi-freq-ldpy's own where installed; 500 are taken
and scaled up). The closed form must have a gap of rounding only: no number of steps has a higher likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.clock import Task, fastest, seconds
from benchmarks.rows import Row, Target
from mechdesign.collect import estimators
from mechdesign.collect.protocols import protocol

EPSILON, ITEMS, USERS = 1.0, 100, 100_000
TARGETS = {"grr": 1e3, "oue": 1e4, "olh": 1e4, "ss": 1e2}
FEWER = {"grr": 100_000, "oue": 20_000, "olh": 1_000, "ss": 5_000}
IBU_ITEMS, IBU_STEPS, IBU_TAKEN, IBU_TARGET = 1000, 10_000, 500, 500.0
MANY = 10**9
TURNS = 30


def rows() -> Iterator[Row]:
    counts = zipf(ITEMS, USERS)
    ours: dict[str, Task] = {name: collections(name, counts) for name in TARGETS}
    times = fastest(ours, TURNS)
    for name, times_as_fast in TARGETS.items():
        values = np.repeat(np.arange(ITEMS), counts)
        np.random.default_rng(0).shuffle(values)
        values = values[: FEWER[name]]
        for yardstick, loop in loops(name):
            loop(values[:10])  # compiled and warm
            taken = seconds(partial(loop, values)) * USERS / values.size
            yield Row(f"{name}: {USERS} users, k = {ITEMS}", yardstick, times[name], taken, Target(1 / times_as_fast))
    yield many_users()
    yield ibu()


def many_users() -> Row:
    """10^9 users beside 10^5."""
    tasks: dict[str, Task] = {str(n): collections("oue", zipf(ITEMS, n)) for n in (USERS, MANY)}
    times = fastest(tasks, TURNS)
    return Row(f"oue: {MANY:.0e} users", f"ours, {USERS:.0e} users", times[str(MANY)], times[str(USERS)], Target(2.0))


def ibu() -> Row:
    law = protocol("grr", EPSILON, IBU_ITEMS)
    support = law.simulate(zipf(IBU_ITEMS, USERS), np.random.default_rng(1))
    matrix = (law.p - law.q) * np.eye(IBU_ITEMS) + law.q
    shares = support / support.sum()
    published = peer("multi_freq_ldpy.estimators.Histogram_estimator")
    if published is None:
        yardstick, run = "our loop of matrix products", partial(products, matrix, shares)
    else:
        yardstick = "multi-freq-ldpy, IBU"
        run = partial(published.IBU, IBU_ITEMS, matrix, shares, IBU_TAKEN, 1e-300, "max_abs")
        published.IBU(IBU_ITEMS, matrix, shares, 1, 1e-300, "max_abs")
    if estimators.ibu(support, law.p, law.q).gap > 1e-12:
        raise AssertionError("the closed form is not a maximum")
    times = fastest({"ours": partial(estimators.ibu, support, law.p, law.q)}, TURNS)
    taken = seconds(run) * IBU_STEPS / IBU_TAKEN
    return Row(f"ibu, k = {IBU_ITEMS}, 10,000 steps", yardstick, times["ours"], taken, Target(1 / IBU_TARGET))


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

Loop = Callable[[np.ndarray], Any]


def peer(module: str) -> Any | None:
    try:
        return import_module(module)
    except ImportError:
        return None


def loops(name: str) -> Iterator[tuple[str, Loop]]:
    """The published clients and servers that are installed, or a loop of our own."""
    found = False
    if peer("multi_freq_ldpy") is not None:
        found = True
        yield "multi-freq-ldpy", partial(multi_freq, name)
    if peer("pure_ldp.frequency_oracles") is not None and name != "ss":
        found = True
        yield "pure-ldp", partial(pure, name)
    if not found:
        yield "our loop over users", partial(user_by_user, name)


def multi_freq(name: str, values: np.ndarray) -> Any:
    module = {"grr": "GRR", "oue": "UE", "olh": "LH", "ss": "SS"}[name]
    functions = import_module(f"multi_freq_ldpy.pure_frequency_oracles.{module}")
    client, server = getattr(functions, f"{module}_Client"), getattr(functions, f"{module}_Aggregator_MI")
    reports = [client(value, ITEMS, EPSILON) for value in values.tolist()]
    return server(reports, EPSILON) if name == "oue" else server(reports, ITEMS, EPSILON)


def pure(name: str, values: np.ndarray) -> Any:
    oracles = "pure_ldp.frequency_oracles"
    folder, kind, options = {
        "grr": ("direct_encoding", "DE", {}),
        "oue": ("unary_encoding", "UE", {"use_oue": True}),
        "olh": ("local_hashing", "LH", {"use_olh": True}),
    }[name]
    module = import_module(f"{oracles}.{folder}")
    # items are numbered from 0 here, from 1 there
    shared = options | {"index_mapper": int}
    client = getattr(module, f"{kind}Client")(EPSILON, ITEMS, **shared)
    server = getattr(module, f"{kind}Server")(EPSILON, ITEMS, **shared)
    for value in values.tolist():
        server.aggregate(client.privatise(value))
    return [server.estimate(item, suppress_warnings=True) for item in range(ITEMS)]


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
