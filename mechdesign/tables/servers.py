"""Who lies among all users, drawn by a dealer or by three servers of which no two work together.

**Dealer.** One helper draws the number of liars and who they are, and tells each user one bit. It must not work with
the collector: with the bits it could read every report.

**Servers.** Three processes over loopback TCP, on the MPC engine mpyc as it moves messages (`mechdesign.tables.server`
has the protocol). *Guarantee.* Servers follow the protocol and no two pool what they see: then no server, and not the
collector, learns who lies or how many do, and each user learns its own bit. The cost grows linearly with the users.
Here one further process plays all users.

**What is drawn** is a table: ``P(K > k)`` in multiples of ``2^-128``, `drawn_delta` above what the law keeps.

**Users who stay away.** A round in which some do not report is refused, unless so many were allowed beforehand. Then
the estimate is about those who reported (`mechdesign.methods.hidden_joint.without` has its variance).

Whoever leaves ends the run, and every report of it is thrown away. A server that is gone before all have told their
components leaves the users without their bits.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from secrets import SystemRandom, randbits

from mechdesign.errors import CheckFailed, InvalidInput, MissingExtra, require_whole
from mechdesign.exact.rational import exp_upper, float_up
from mechdesign.mechanisms.hidden import CountedResponse, HiddenResponse, PeakedResponse
from mechdesign.mechanisms.joint import require_values
from mechdesign.tables import server as program
from mechdesign.tables.processes import DISCARDED, Crowd, Happening, RunFailed, free_ports, processes
from mechdesign.tables.server import RANDOM_BITS, SERVERS
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen

MOST_SERVED = 10**6
_ONE = 1 << RANDOM_BITS
_SPARE = 128
"""Further bits of sums from which thresholds are made."""

_PROGRAM: str = program.__file__
_STEPS = {"connected": SERVERS + 1, "drawn": SERVERS, "shuffled": SERVERS, "told": SERVERS, "heard": 1, "reported": 1}


@frozen
class ServersRun:
    """What the collector holds after a run: a report a user, None of those who stayed away.

    ``sent`` are the bytes that each server sent; ``seconds`` is the wall clock, processes started and ended.
    """

    reports: tuple[int | None, ...]
    law: HiddenResponse
    sent: tuple[int, int, int]
    seconds: float

    @property
    def shown(self) -> int:
        """How many users reported."""
        return sum(report is not None for report in self.reports)

    def estimate(self, category: int = 0) -> float:
        """How many of those who reported hold a category."""
        return float(self.law.estimate(self.reports.count(category), self.shown))


def thresholds(law: HiddenResponse) -> list[int]:
    """``floor(2^128 P(K > i))`` for the slots i = 0, ..., n-1: slot i is a liar's where 128 random bits are below it.

    Of a peaked law within one unit, of a written one exactly.

    >>> thresholds(CountedResponse((Fraction(1, 2), Fraction(1, 2), Fraction(0)))) == [2**127, 0]
    True
    """
    if isinstance(law, CountedResponse):
        return [int((1 - below) * _ONE) for below in accumulate(law.chances[:-1])]
    weights = _weights(law)
    total = sum(weights)
    return [((total - below) << RANDOM_BITS) // total for below in accumulate(weights[:-1])]


def _weights(law: PeakedResponse) -> list[int]:
    """``C(n, k) c^k ratio^-|k - peak|`` as whole multiples of its value at the peak over a power of two."""
    users, wrong, ratio = law.users, law.categories - 1, law.ratio
    over, under = ratio.numerator, ratio.denominator
    weights = [0] * (users + 1)
    start = 1 << (2 * RANDOM_BITS + _SPARE)
    weights[law.peak] = weight = start
    for k in range(law.peak, users):
        weight = weight * ((users - k) * wrong * under) // ((k + 1) * over)
        if not weight:
            break
        weights[k + 1] = weight
    weight = start
    for k in range(law.peak, 0, -1):
        weight = weight * (k * under) // ((users - k + 1) * wrong * over)
        if not weight:
            break
        weights[k - 1] = weight
    return weights


def drawn_law(law: HiddenResponse) -> CountedResponse:
    """The law that thresholds draw, of few users number by number: far out its chances are 0."""
    bounds = [_ONE, *thresholds(law), 0]
    chances = tuple(Fraction(above - below, _ONE) for above, below in zip(bounds, bounds[1:], strict=False))
    return CountedResponse(chances, law.categories)


def drawn_delta(law: HiddenResponse, epsilon: float) -> float:
    """The delta by which drawing from thresholds breaks an epsilon that the law keeps, at most.

    A chance of k liars is off by 3 units of ``2^-128``, and ``sum_l |a_l|`` of such is at most 3 (n + 1) / 2 units, as
    is that of ``b_l``; an excess over ``e^eps`` changes by ``(1 + e^eps)`` times their sum.

    >>> drawn_delta(PeakedResponse(10000, 2931, Fraction(5, 2)), 1.0) < 1e-33
    True
    """
    return float_up((1 + exp_upper(epsilon)) * 3 * (law.users + 1) / _ONE)


def deal(law: HiddenResponse) -> tuple[bool, ...]:
    """Who lies, drawn by one helper from the operating system's randomness: each user is to be told its own bit only.

    >>> sum(deal(CountedResponse((Fraction(0), Fraction(1), Fraction(0), Fraction(0)))))
    1
    """
    number = randbits(RANDOM_BITS)
    liars = sum(number < bound for bound in thresholds(law))
    chosen = set(SystemRandom().sample(range(law.users), liars))
    return tuple(user in chosen for user in range(law.users))


def run_servers(
    law: HiddenResponse,
    values: Sequence[int],
    seconds: float | None = 120.0,
    most_absent: int = 0,
    absent: Sequence[int] = (),
    on_progress: Callable[[Happening], None] = lambda happening: None,
) -> ServersRun:
    """Three servers and a process with all users; the reports.

    ``values`` are the users' categories; ``absent`` are users who never report. More of them than ``most_absent`` and
    the round is refused; so is one in which a process leaves or ``seconds`` are over.
    """
    clock = Clock(seconds)
    data = require_values(values, law.categories).tolist()
    if len(data) != law.users:
        raise InvalidInput("values", f"{len(data)} of them", f"be one of each of the law's {law.users} users")
    if law.users > MOST_SERVED:
        raise InvalidInput("users", law.users, f"be at most {MOST_SERVED}")
    allowed = require_whole(most_absent, "most absent", 0, law.users - 2)
    away = sorted({require_whole(user, "absent", 0, law.users - 1) for user in absent})
    if importlib.util.find_spec("mpyc") is None:
        raise MissingExtra("the protocol between servers", "mpc")
    bounds = thresholds(law)
    certain = sum(bound >= _ONE for bound in bounds)
    task = {
        "users": law.users,
        "certain": certain,
        "thresholds": [f"{bound:x}" for bound in bounds[certain:] if bound],
    }
    network = {"threshold": 1, "ports": free_ports(SERVERS + 1)}
    everybody = {"users": law.users, "categories": law.categories, "values": data, "absent": away}
    tasks = [network | one | {"index": index} for index, one in enumerate([task] * SERVERS + [everybody])]
    with processes(tasks, _PROGRAM) as crowd:
        reports, sent = _collect(crowd, clock, on_progress)
    if len(reports) != law.users:
        raise CheckFailed(f"{len(reports)} reports came of {law.users} users")
    missing = reports.count(None)
    if missing > allowed:
        raise RunFailed(f"{missing} of {law.users} users did not report, and {allowed} were allowed; {DISCARDED}")
    return ServersRun(tuple(reports), law, sent, clock.used)


def _collect(
    crowd: Crowd, clock: Clock, on_progress: Callable[[Happening], None]
) -> tuple[list[int | None], tuple[int, int, int]]:
    """Reports and bytes, once every process has said that it is finished."""
    reports: list[int | None] = []
    sent = [0] * SERVERS
    for party, news in crowd.news_until_finished(clock, _STEPS, on_progress):
        if news["stage"] == "told":
            sent[party] = news["bytes"]
        if news["stage"] == "reported":
            reports = news["reports"]
    return reports, (sent[0], sent[1], sent[2])
