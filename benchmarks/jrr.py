"""Joint randomised response: choosing pairs, groups of 32 and the best of all laws, a thousand collections of two
million users, the hidden account, and three servers for 10^3, 10^4 and 10^5 users."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.clock import Measured, medians
from benchmarks.rows import Row, Target
from mechdesign.exact.collusion import known_truth
from mechdesign.exact.hidden import hidden_loss
from mechdesign.exact.peaked import peaked
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.hidden import PeakedResponse
from mechdesign.mechanisms.joint import likelihood_rows
from mechdesign.methods import Design, solve
from mechdesign.studies.frequencies import simulate_estimates
from mechdesign.tables.servers import run_servers
from mechdesign.words.classes import Together
from mechdesign.words.counts import Count
from mechdesign.words.privacy import Collusion, Hidden
from mechdesign.words.problem import Problem


def _groups(users: int, group: int = 2, **more: Any) -> Problem:
    return Problem(loss=Count(0.033), privacy=Collusion(1.0, users, **more), among=Together(group=group))


PAIRS = _groups(10000, colluders=500)
GROUPS = _groups(9984, group=32)
CAPPED = _groups(9984, group=32, caps=(1.0,))
COLLUDING = _groups(10000, colluders=500, group=8)
LAW = solve(PAIRS).mechanism
USERS, COUNT, TRIALS = 2 * 10**6, 66000, 1000
HIDDEN = Problem(loss=Count(0.033), privacy=Hidden(1.0, 10000), among=Together())
SERVED = {10**3: 308, 10**4: 2931, 10**5: 28140}
"""Users, and where the law of least variance at eps = 1 and a share of .033 has its peak."""

TURNS = 5
SCAN = "numpy, 10^6 pairs (p, rho) tried, no proof"
DRAWS = "numpy, a draw a user"
GROUPINGS = "numpy, 10^4 groupings drawn"


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(1)
    times = medians(
        {
            "scan": _scan,
            "draws": lambda: rng.random(USERS) < 0.7,
            "pairs": lambda: _choose(PAIRS),
            "groups": lambda: _choose(GROUPS),
            "capped": lambda: _choose(CAPPED),
            "colluding": lambda: _choose(COLLUDING),
            "collections": lambda: simulate_estimates(LAW, USERS, COUNT, TRIALS, np.random.default_rng(1)),
        },
        TURNS,
    )
    scan = times["scan"]
    yield Row("pairs, 500 colluders", SCAN, times["pairs"], scan, Target(seconds=0.05))
    yield Row("groups of 32", SCAN, times["groups"], scan, Target(seconds=1.0))
    yield Row("groups of 32, one partner's eps capped", SCAN, times["capped"], scan, Target(seconds=1.0))
    yield Row("groups of 8, 500 colluders, gap 1e-3", SCAN, times["colluding"], scan, Target(seconds=1.0))
    draws = TRIALS * times["draws"]
    yield Row("1000 collections of 2 10^6 users", DRAWS, times["collections"], draws, Target(seconds=10.0))
    yield from _hidden_rows(scan, draws)


def _scan() -> float:
    """The chapter's search for a pair's law: every p and rho of a grid that keeps e^1, and the least variance."""
    p, rho = np.meshgrid(np.linspace(0.5, 1, 1000), np.linspace(-1, 0, 1000))
    lie = (1 - p) ** 2 + rho * p * (1 - p)
    truth = p**2 + rho * p * (1 - p)
    one = p * (1 - p) * (1 - rho)
    private = (truth <= math.e * one) & (one <= math.e * lie)
    variance = (p * (1 - p) + rho * p * (1 - p)) / np.maximum(2 * p - 1, 1e-9) ** 2
    return float(np.where(private, variance, np.inf).min())


def _hidden_rows(scan: Measured, draws: Measured) -> Iterator[Row]:
    """The optimum over all laws, the account of pairs, and the protocol with its bytes."""
    rng = np.random.default_rng(1)
    tasks = {
        "optimum": _choose_hidden,
        "account": lambda: hidden_loss(LAW, 10000, 500, 1e-6),
        "grouping": lambda: rng.permutation(10000),
    }
    times = medians(tasks, 1)
    groupings = 10**4 * times["grouping"]
    yield Row("best of all laws, 10^4 users, gap 1e-6", SCAN, times["optimum"], scan, Target(seconds=5.0))
    name = "hidden account of pairs, 500 of 10^4 collude"
    yield Row(name, GROUPINGS, times["account"], groupings, Target(seconds=5.0))
    for users, peak in SERVED.items():
        law = PeakedResponse(users, peak, exp_lower(1.0))
        run = run_servers(law, [0] * (users // 30) + [1] * (users - users // 30))
        name = f"three servers, {users} users, {max(run.sent)} bytes a server"
        alone = draws * (users / USERS / TRIALS)
        yield Row(name, f"{DRAWS}, no servers", Measured(run.seconds), alone, Target(seconds=30.0))


def _choose_hidden() -> Design:
    peaked.cache_clear()
    return solve(HIDDEN)


def _choose(problem: Problem) -> Design:
    """From scratch: nothing remembered of the last run helps."""
    likelihood_rows.cache_clear()
    known_truth.cache_clear()
    return solve(problem)
