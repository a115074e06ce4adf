"""Joint randomised response: choosing pairs, groups of 32 and the best of all laws, a thousand collections of two
million users, the hidden account, and three servers for 10^3, 10^4 and 10^5 users."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.clock import Measured, medians
from benchmarks.rows import Row, Target
from mechdesign.collect import simulate_estimates
from mechdesign.deploy.servers import run_servers
from mechdesign.design import Design, HiddenJointProblem, JointProblem, optimal_hidden, optimal_joint
from mechdesign.exact.collusion import known_truth
from mechdesign.exact.hidden import hidden_loss
from mechdesign.exact.peaked import peaked
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.hidden import PeakedResponse
from mechdesign.mechanisms.joint import likelihood_rows

PAIRS = JointProblem(1.0, 10000, 0.033, colluders=500)
GROUPS = JointProblem(1.0, 9984, 0.033, group=32)
CAPPED = JointProblem(1.0, 9984, 0.033, group=32, caps=(1.0,))
COLLUDING = JointProblem(1.0, 10000, 0.033, colluders=500, group=8)
LAW = optimal_joint(PAIRS).mechanism
USERS, COUNT, TRIALS = 2 * 10**6, 66000, 1000
HIDDEN = HiddenJointProblem(1.0, 10000, 0.033)
SERVED = {10**3: 308, 10**4: 2931, 10**5: 28140}
"""Users, and where the law of least variance at eps = 1 and a share of .033 has its peak."""

TURNS = 5
YARDSTICK = "numpy, sorting 10^5 numbers"  # a fixed load that says how fast this machine is


def rows() -> Iterator[Row]:
    unsorted = np.random.default_rng(20240517).random(10**5)
    times = medians(
        {
            "sort": lambda: np.sort(unsorted),
            "pairs": lambda: _choose(PAIRS),
            "groups": lambda: _choose(GROUPS),
            "capped": lambda: _choose(CAPPED),
            "colluding": lambda: _choose(COLLUDING),
            "collections": lambda: simulate_estimates(LAW, USERS, COUNT, TRIALS, np.random.default_rng(1)),
        },
        TURNS,
    )
    sort = times["sort"]
    yield Row("pairs, 500 colluders", YARDSTICK, times["pairs"], sort, Target(seconds=0.05))
    yield Row("groups of 32", YARDSTICK, times["groups"], sort, Target(seconds=1.0))
    yield Row("groups of 32, one partner's eps capped", YARDSTICK, times["capped"], sort, Target(seconds=1.0))
    yield Row("groups of 8, 500 colluders, gap 1e-3", YARDSTICK, times["colluding"], sort, Target(seconds=1.0))
    yield Row("1000 collections of 2 10^6 users", YARDSTICK, times["collections"], sort, Target(seconds=10.0))
    yield from _hidden_rows(sort)


def _hidden_rows(sort: Measured) -> Iterator[Row]:
    """The optimum over all laws, the account of pairs, and the protocol with its bytes."""
    times = medians({"optimum": _choose_hidden, "account": lambda: hidden_loss(LAW, 10000, 500, 1e-6)}, 1)
    yield Row("best of all laws, 10^4 users, gap 1e-6", YARDSTICK, times["optimum"], sort, Target(seconds=5.0))
    yield Row("hidden account of pairs, 500 of 10^4 collude", YARDSTICK, times["account"], sort, Target(seconds=5.0))
    for users, peak in SERVED.items():
        law = PeakedResponse(users, peak, exp_lower(1.0))
        run = run_servers(law, [0] * (users // 30) + [1] * (users - users // 30))
        name = f"three servers, {users} users, {max(run.sent)} bytes a server"
        yield Row(name, YARDSTICK, Measured(run.seconds), sort, Target(seconds=30.0))


def _choose_hidden() -> Design:
    peaked.cache_clear()
    return optimal_hidden(HIDDEN)


def _choose(problem: JointProblem) -> Design:
    """From scratch: nothing remembered of the last run helps."""
    likelihood_rows.cache_clear()
    known_truth.cache_clear()
    return optimal_joint(problem)
