"""The joint response run for real: one process a user, over loopback TCP, on the MPC engine mpyc.

*Guarantee.* Semi-honest parties with an honest majority: the messages tell whoever follows the protocol the own truth
bit and nothing more, also when fewer than half of the parties pool theirs. What those truth bits themselves tell about
others' is the law's matter (`mechdesign.exact.collusion`). The paper's two-party computation is replaced by this:
all users share one computation, and where there are two users only, a helper without data is the third party.

A party that leaves ends the run. Bits are opened, each to its owner, only when all are computed, and reported only when
all are opened. Who leaves before the opening reveals nothing; who leaves during it may leave some owners with their own
bits, and no report is made; who leaves later ends the run, and the collector (this process) throws away the reports it
holds.

Users and parties are this machine's processes, which share its operating system: the run shows the protocol at work and
its law, on loopback, without encryption. Weights are drawn in multiples of 2^-64; `implemented_law` is what is really
drawn.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb

from mechdesign.errors import CheckFailed, InvalidInput, MissingExtra
from mechdesign.exact.collusion import conditional_ratio, log_up, prove_joint_privacy
from mechdesign.mechanisms.joint import JointResponse, require_values
from mechdesign.tables import party as program
from mechdesign.tables.party import RANDOM_BITS
from mechdesign.tables.processes import Crowd, Happening, RunFailed, free_ports, processes
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.words.privacy import Collusion

__all__ = ["Happening", "PartyRun", "RunFailed", "implemented_law", "law_to_run", "require_parties", "run_parties"]

MOST_PARTIES = 10
"""Each subset of parties shares keys: on two busy cores 10 parties need 5 s, 12 up to a minute, 16 never ended."""

MOST_EPSILON = 16.0
"""Largest epsilon a law can be run at: 64 random bits resolve ``e^-16`` with room to spare."""

_COIN_SHARES = (Fraction(0), *(Fraction(1, 1 << bits) for bits in (60, 50, 40)))
MOST_ROUNDS = 10**5
_PROGRAM: str = program.__file__


@frozen
class PartyRun:
    """What the collector holds after a run: ``reports[r][i]`` is the report of user i in round r."""

    reports: tuple[tuple[int, ...], ...]
    law: JointResponse
    parties: int
    threshold: int
    seconds: float


def implemented_law(law: JointResponse) -> JointResponse:
    """The law of 64 random bits below whole thresholds: tails of the weights rounded down to multiples of ``2^-64``.

    Rounding down never makes a report more truthful.

    >>> implemented_law(JointResponse.pair(Fraction(3, 4), Fraction(-1, 3))).weights[1]
    Fraction(1, 2)
    """
    bounds = [1 << RANDOM_BITS, *truth_bounds(law), 0]
    units = [above - below for above, below in zip(bounds, bounds[1:], strict=False)]
    return JointResponse(tuple(Fraction(unit, 1 << RANDOM_BITS) for unit in units), law.categories)


def law_to_run(law: JointResponse, privacy: Collusion) -> JointResponse:
    """What 64 random bits draw in place of ``law``, proven to keep its budgets and its finite conditional losses.

    Where rounding to 64 bits breaks one, up to ``2^-40`` of answers that say nothing are mixed in. *Guarantee.* The
    budgets hold exactly; losses once partners are known are at most a relative 1e-9 above the law's.
    """
    if privacy.epsilon > MOST_EPSILON:
        raise InvalidInput(
            "eps", privacy.epsilon, f"be at most {MOST_EPSILON:g} for the protocol, which draws with 64 bits"
        )
    told = [log_up(conditional_ratio(law, known)) for known in range(1, law.group)]
    limits: list[float | None] = [None if math.isinf(loss) else loss * (1 + 1e-9) + 1e-15 for loss in told]
    for place, cap in enumerate(privacy.caps):
        limits[place] = min((limit for limit in (cap, limits[place]) if limit is not None), default=None)
    k, g = law.categories, law.group
    coin = [Fraction(comb(g, t) * (k - 1) ** (g - t), k**g) for t in range(g + 1)]
    failure: CheckFailed | None = None
    for share in _COIN_SHARES:
        mixed = tuple((1 - share) * w + share * c for w, c in zip(law.weights, coin, strict=True))
        drawn = implemented_law(JointResponse(mixed, law.categories))
        try:
            prove_joint_privacy(drawn, privacy.epsilon, privacy.users, privacy.colluders, limits)
        except CheckFailed as failed:
            failure = failed
            continue
        return drawn
    raise InvalidInput("eps", privacy.epsilon, f"be smaller: drawn with 64 bits, {failure}")


def truth_bounds(law: JointResponse) -> list[int]:
    """``floor(2^64 P(more than s are truthful))`` for slots s = 0, 1, ..., g-1."""
    tails = [sum(law.weights[slot + 1 :], Fraction(0)) for slot in range(law.group)]
    return [int(tail * (1 << RANDOM_BITS)) for tail in tails]


def require_parties(parties: int, group: int) -> int:
    """A number of users that can take part in a run, or `InvalidInput`."""
    if parties > MOST_PARTIES:
        raise InvalidInput("parties", parties, f"be at most {MOST_PARTIES}", "each is a process of this machine")
    if parties < 2:
        raise InvalidInput("parties", parties, "be at least 2")
    if parties % group:
        near = parties - parties % group or group
        raise InvalidInput("parties", parties, f"be a multiple of the group size {group}", f"for example {near}")
    return parties


def run_parties(
    law: JointResponse,
    values: Sequence[int],
    rounds: int = 1,
    seconds: float | None = 120.0,
    on_progress: Callable[[Happening], None] = lambda happening: None,
) -> PartyRun:
    """Every user in a process of its own; the reports of each round.

    What is drawn is `implemented_law(law)`, up to ``2^-64`` from the law: `law_to_run` has one that is proven.
    ``values`` are the users' categories. Fails as a whole with `RunFailed` if a party leaves or ``seconds`` are over;
    None is no limit.
    """
    clock = Clock(seconds)
    data = require_values(values, law.categories).tolist()
    users = require_parties(len(data), law.group)
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= MOST_ROUNDS:
        raise InvalidInput("rounds", rounds, f"be a whole number from 1 to {MOST_ROUNDS}")
    if importlib.util.find_spec("mpyc") is None:
        raise MissingExtra("the protocol between processes", "mpc")
    count = max(users, 3)  # two users need a helper, or there is no honest majority
    task = {
        "users": users,
        "group": law.group,
        "categories": law.categories,
        "rounds": rounds,
        "bounds": truth_bounds(law),
        "threshold": (count - 1) // 2,
        "ports": free_ports(count),
    }
    tasks = [task | {"index": i, "value": data[i] if i < users else None} for i in range(count)]
    with processes(tasks, _PROGRAM) as crowd:
        reports = _collect(crowd, users, rounds, clock, on_progress)
    return PartyRun(reports, implemented_law(law), count, (count - 1) // 2, clock.used)


def _collect(
    crowd: Crowd, users: int, rounds: int, clock: Clock, on_progress: Callable[[Happening], None]
) -> tuple[tuple[int, ...], ...]:
    """Reports of all rounds, once every party has said that it is finished."""
    reports = [[-1] * users for _ in range(rounds)]
    count = len(crowd.processes)
    steps = {"connected": count, "grouped": count * rounds, "drawn": count * rounds, "reported": users * rounds}
    for party, news in crowd.news_until_finished(clock, steps, on_progress):
        if news["stage"] == "reported":
            reports[news["round"]][party] = news["report"]
    return tuple(tuple(row) for row in reports)
