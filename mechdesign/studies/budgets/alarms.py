"""Capacity questions by the searches of Optimus: section 4.2 says that all can be used, section 6.1.6 uses Bayes.

The metric of a collection is whether the event happened, so its average is ``Pr[event]`` and its threshold tau. Binary
search is Algorithm 7 itself (`capri`); the others are here. Bayes aims at a probability *equal* to tau: where Pr[event]
jumps over it, what it returns may lie on either side. None of them comes with an error rate.
"""

from __future__ import annotations

from typing import Any

from mechdesign.errors import require_name
from mechdesign.studies.budgets import searches
from mechdesign.studies.budgets.capacity import LEAST, MOST, PRECISION, Requirement
from mechdesign.studies.budgets.capri import RUNS, SimulatedBudget, Tested, Totals
from mechdesign.studies.budgets.ledger import Memory, RunTally, Say
from mechdesign.studies.budgets.runner import PARAMETERS
from mechdesign.studies.budgets.searches import Range
from mechdesign.values.declare import frozen

SEARCHES = ("rbs", "dbs", "mpass", "bayes")


@frozen
class Alarm:
    """One requirement on the alarms of one protocol: what a search asks."""

    totals: Totals
    constraint: Requirement

    @property
    def name(self) -> str:
        return self.totals.protocol

    @property
    def seed(self) -> int:
        return self.totals.seed


@frozen
class Alarms:
    """Collections of totals as a search reads them: whether the event happened in each."""

    memory: Memory[Totals]
    requirement: Requirement

    @property
    def question(self) -> Alarm:
        return Alarm(self.memory.question, self.requirement)

    def tally(self, epsilon: float, stream: int, runs: int, start: int = 0) -> RunTally:
        """How often the event happened, and how often it went well: a right alarm, or no wrong one."""
        above = self.memory.tally(epsilon, stream, runs, start).met
        events = above if self.requirement.event in ("tp", "fp") else runs - above
        return RunTally(runs, events if self.requirement.is_right else runs - events, float(events))


def search_alarms(
    memory: Memory[Totals],
    requirement: Requirement,
    method: str,
    *,
    least: float = LEAST,
    most: float = MOST,
    phi: float = PRECISION,
    say: Say = lambda _: None,
    **parameters: Any,
) -> SimulatedBudget:
    """The epsilon that rbs, dbs, mpass or bayes selects, with CAPRI's 50,000 runs an epsilon unless told otherwise.

    >>> from mechdesign.studies.budgets.capacity import Capacity
    >>> asked = Memory(Totals("grr", Capacity([0, 1], [400, 600], 500)))
    >>> round(search_alarms(asked, Requirement("fn", 0.05), "rbs", runs=2000).epsilon, 1)
    0.5
    """
    require_name(method, "method", SEARCHES)
    requirement.require_possible(memory.question.capacity)
    if "runs" in PARAMETERS[method]:
        parameters = {"runs": RUNS} | parameters
    search = searches.SEARCHES[method]
    found = search(Alarms(memory, requirement), Range(least, most, phi), say, **parameters)
    tested = tuple(Tested(look.epsilon, look.tally.mean, look.satisfied) for look in found.looks)
    return SimulatedBudget(
        memory.question.protocol, found.epsilon, max(look.tally.runs for look in found.looks), tested
    )
