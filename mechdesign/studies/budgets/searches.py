"""The five searches of Optimus, as Algorithms 1 to 6 print them, with the paper's defaults.

Each simulates N collections at an epsilon and calls it satisfying if their average metric is on the good side of the
threshold and the share of them that is so reaches the probability. They are heuristics: what they return comes without
an error rate (`certified` has one). Where the printed algorithm cannot run we do the nearest thing and say so:

* DBS divides by ``N_desired`` even where fewer than ``N_min`` collections were desired and none was added: the shares
  exceed one. We divide by the number simulated.
* RBS with g = 2 (or less) never ends, since its interval no longer shrinks: g has to be above 2.
* MPass steps below the range when it zooms in; epsilons outside the range asked for are passed over.
* BS, RBS and DBS return ``eps_max`` when nothing satisfied; that is an error here, with the best epsilon seen.
* Bayes aims at an *average* metric equal to the threshold and never looks at the probability, so it solves the problem
  of the others only where the average meets the threshold at about the same epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from mechdesign.errors import InvalidInput, require_finite, require_whole
from mechdesign.studies.budgets.capacity import require_range
from mechdesign.studies.budgets.constraint import AT_LEAST
from mechdesign.studies.budgets.ledger import BATCH, RunTally, Say
from mechdesign.values.declare import frozen

LEAST, MOST, PRECISION = 0.001, 20.0, 0.01
RELAXATION, PASSES, MULTIPLIER = 4, 5, 1.0
RUNS, LEAST_RUNS, MOST_RUNS = 500, 100, 1000
MOST_COUNT = 10_000_000
"""Collections at one epsilon, or rounds of a search: more is a slip of the hand, not a plan."""
FIRST_POINTS, ROUNDS = 20, 20


class Goal(Protocol):
    """What is wanted of the average over collections: a `Constraint` on a metric, a `Requirement` on alarms."""

    @property
    def threshold(self) -> float: ...
    @property
    def direction(self) -> str | None: ...
    def is_met(self, mean: float, share: float) -> bool: ...
    def unmet(self, by: str, span: tuple[float, float], epsilon: float, mean: float, share: float) -> InvalidInput: ...


class Asked(Protocol):
    """What a search has to know of a question."""

    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def constraint(self) -> Goal: ...


class Simulations(Protocol):
    """Collections at any epsilon, in streams that are independent: a `Ledger`, or `Alarms`."""

    @property
    def question(self) -> Asked: ...
    def tally(self, epsilon: float, stream: int, runs: int, start: int = 0) -> RunTally: ...


@frozen
class Range:
    """Where to search, and how finely: ``phi`` ends the binary searches."""

    least: float = LEAST
    most: float = MOST
    phi: float = PRECISION

    def __attrs_post_init__(self) -> None:
        least, most = require_range(self.least, self.most)
        phi = require_finite(self.phi, "phi")
        if not 1e-9 <= phi < most - least:
            raise InvalidInput("phi", self.phi, f"lie between 1e-9 and the length {most - least:g} of the range")


@frozen
class SearchLook:
    """What was seen at one epsilon."""

    epsilon: float
    tally: RunTally
    satisfied: bool


@frozen
class Selected:
    """The epsilon a search selected, and everything it looked at on the way. No error rate is attached."""

    method: str
    epsilon: float
    looks: tuple[SearchLook, ...]

    @property
    def simulations(self) -> int:
        return sum(look.tally.runs for look in self.looks)


@dataclass(slots=True)
class _SearchState:
    """The state all five share: every evaluation reads a stream of its own."""

    ledger: Simulations
    span: Range
    say: Say
    looks: list[SearchLook] = field(default_factory=list)

    def look(self, epsilon: float, runs: int) -> SearchLook:
        """N fresh collections at an epsilon."""
        return self.record(epsilon, self.ledger.tally(epsilon, 1 + len(self.looks), runs))

    def halved(self, look: Callable[[float], SearchLook], g: float = math.inf) -> float:
        """The upper end of the range, halved until it is shorter than phi; a half is kept ``1 / g`` of it longer."""
        low, high = self.span.least, self.span.most
        while high - low >= self.span.phi:
            self.say(f"eps in [{low:.4g}, {high:.4g}]")
            step, middle = (high - low) / g, (low + high) / 2
            if look(middle).satisfied:
                high = middle + step
            else:
                low = middle - step
        return high

    def record(self, epsilon: float, tally: RunTally) -> SearchLook:
        is_met = self.ledger.question.constraint.is_met(tally.mean, tally.share)
        self.looks.append(SearchLook(epsilon, tally, is_met))
        return self.looks[-1]

    def selected(self, method: str, epsilon: float) -> Selected:
        if not any(look.satisfied for look in self.looks):
            raise unmet_constraint(self.ledger.question, self.span, self.looks)
        return Selected(method, epsilon, tuple(self.looks))


def bs(ledger: Simulations, span: Range, say: Say, *, runs: int = RUNS) -> Selected:
    """Algorithm 1, binary search."""
    search, runs = _SearchState(ledger, span, say), require_count(runs, "runs")
    return search.selected("bs", search.halved(lambda middle: search.look(middle, runs)))


def rbs(ledger: Simulations, span: Range, say: Say, *, runs: int = RUNS, g: float = RELAXATION) -> Selected:
    """Algorithm 2, relaxed: the half that is kept is longer by ``(eps_max - eps_min) / g``."""
    if not require_finite(g, "g") > 2:
        raise InvalidInput("g", g, "be above 2", "with 2 the interval would never get shorter")
    search, runs = _SearchState(ledger, span, say), require_count(runs, "runs")
    return search.selected("rbs", search.halved(lambda middle: search.look(middle, runs), g))


def dbs(
    ledger: Simulations,
    span: Range,
    say: Say,
    *,
    least_runs: int = LEAST_RUNS,
    most_runs: int = MOST_RUNS,
    c: float = MULTIPLIER,
) -> Selected:
    """Algorithm 3, dynamic: ``min(floor(C / |average - threshold|), N_max)`` collections, and N_min at least."""
    least, most = require_count(least_runs, "least runs"), require_count(most_runs, "most runs")
    if not (require_finite(c, "C") > 0 and least <= most):
        raise InvalidInput("C, N_min, N_max", (c, least, most), "have C above 0 and N_min at most N_max")
    search = _SearchState(ledger, span, say)

    def look(middle: float) -> SearchLook:
        stream = 1 + len(search.looks)
        first = ledger.tally(middle, stream, least)
        away = abs(first.mean - ledger.question.constraint.threshold)
        desired = most if c >= away * most else math.floor(c / away)
        # streams are cut at batches; the second part begins with a batch of its own
        more = (
            ledger.tally(middle, stream, desired - least, BATCH * -(-least // BATCH)) if desired > least else RunTally()
        )
        return search.record(middle, first + more)

    return search.selected("dbs", search.halved(look))


def mpass(
    ledger: Simulations, span: Range, say: Say, *, runs: int = RUNS, passes: int = PASSES, g: float = RELAXATION
) -> Selected:
    """Algorithm 4, multi-pass: the whole range in steps of 1, then around the least that satisfied in steps of 1/g."""
    if not require_finite(g, "g") > 1:
        raise InvalidInput("g", g, "be above 1", "steps have to get finer")
    search, low, high, step = _SearchState(ledger, span, say), span.least, span.most, 1.0
    runs, satisfying = require_count(runs, "runs"), math.inf
    for number in range(1, require_count(passes, "passes") + 1):
        for k in range(math.floor((high - low) / step + 1e-9) + 1):
            epsilon = low + k * step
            if not span.least <= epsilon <= span.most:
                continue
            say(f"pass {number}: eps {epsilon:.4g} in [{low:.4g}, {high:.4g}]")
            if search.look(epsilon, runs).satisfied:
                satisfying = min(satisfying, epsilon)
        if math.isinf(satisfying):
            raise unmet_constraint(ledger.question, span, search.looks)
        low, high, step = satisfying - step, satisfying + step, step / g
    return search.selected("mpass", satisfying)


def bayes(
    ledger: Simulations,
    span: Range,
    say: Say,
    *,
    runs: int = RUNS,
    first_points: int = FIRST_POINTS,
    rounds: int = ROUNDS,
) -> Selected:
    """Algorithms 5 and 6: the epsilon whose average metric is nearest to the threshold, by a Gaussian process."""
    from mechdesign.studies.budgets.bayes import least

    runs = require_count(runs, "runs")
    search, threshold = _SearchState(ledger, span, say), ledger.question.constraint.threshold

    def distance(epsilon: float) -> float:
        return abs(search.look(epsilon, runs).tally.mean - threshold)

    points = require_count(first_points, "first points")
    found = least(distance, span.least, span.most, points, require_count(rounds, "rounds"), ledger.question.seed, say)
    reached = [look.tally.mean for look in search.looks]
    if not min(reached) <= threshold <= max(reached):
        raise unmet_constraint(ledger.question, span, search.looks)
    return Selected("bayes", found, tuple(search.looks))


SEARCHES: dict[str, Callable[..., Selected]] = {
    "bs": bs,
    "rbs": rbs,
    "dbs": dbs,
    "mpass": mpass,
    "bayes": bayes,
}
"""The five of the paper by name, with its defaults."""


def unmet_constraint(question: Asked, span: Range, looks: list[SearchLook]) -> InvalidInput:
    """The error of a constraint that no epsilon looked at satisfies, with the best one."""
    goal = question.constraint
    sign = 1 if goal.direction == AT_LEAST else -1
    best = max(looks, key=lambda look: (look.tally.share, sign * look.tally.mean))
    return goal.unmet(question.name, (span.least, span.most), best.epsilon, best.tally.mean, best.tally.share)


def require_count(value: int, what: str) -> int:
    """A number of collections or rounds."""
    return require_whole(value, what, 1, MOST_COUNT)
