"""What a search has simulated so far: searches replay from it, so that a stopped one goes on where it was.

An entry is a batch of collections: how many, how many of them met the constraint, and the sum of the metric. Batches
have fixed seeds and searches take all decisions from entries, so a resumed search gives what an unbroken one gives. For
a capacity what is measured is the estimated total, and being above the capacity is what counts as met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from mechdesign.errors import FileProblem
from mechdesign.values.declare import Floats, frozen

Key = tuple[str, int, int, int]
Say = Callable[[str], None]

BATCH = 100
COMMON = 0
"""The stream whose collections share their noise over epsilon."""


@frozen
class RunTally:
    """Collections at one epsilon: their number, how many met the constraint, and the sum of the metric."""

    runs: int = 0
    met: int = 0
    total: float = 0.0

    @property
    def share(self) -> float:
        return self.met / self.runs

    @property
    def mean(self) -> float:
        return self.total / self.runs

    def __add__(self, other: RunTally) -> RunTally:
        return RunTally(self.runs + other.runs, self.met + other.met, self.total + other.total)


class Replayable(Protocol):
    """Collections by number: the same number, the same collection."""

    @property
    def digest(self) -> str: ...
    def values(self, epsilon: float, stream: int, batch: int, runs: int) -> Floats: ...
    def met(self, values: Floats) -> int: ...


Asked = TypeVar("Asked", bound=Replayable)


@dataclass(slots=True)
class Memory(Generic[Asked]):
    """The entries of one search; ``keep`` is called after each new one."""

    question: Asked
    entries: dict[Key, RunTally] = field(default_factory=dict)
    keep: Callable[[], None] = lambda: None
    simulated: int = 0
    """Collections simulated now, not remembered."""

    def batch(self, epsilon: float, stream: int, batch: int, runs: int = BATCH) -> RunTally:
        """One batch, from memory if it is there."""
        key = (epsilon.hex(), stream, batch, runs)
        if key not in self.entries:
            values = self.question.values(epsilon, stream, batch, runs)
            self.entries[key] = RunTally(runs, self.question.met(values), float(values.sum()))
            self.simulated += runs
            self.keep()
        return self.entries[key]

    def tally(self, epsilon: float, stream: int, runs: int, start: int = 0) -> RunTally:
        """Collections number ``start`` (a multiple of the batch) to ``start + runs`` of a stream."""
        total = RunTally()
        while total.runs < runs:
            total += self.batch(epsilon, stream, (start + total.runs) // BATCH, min(BATCH, runs - total.runs))
        return total

    @staticmethod
    def rows_of(entries: dict[Key, RunTally]) -> list[list[Any]]:
        """Entries as a file holds them."""
        return [[*key, tally.runs, tally.met, tally.total] for key, tally in entries.items()]


if TYPE_CHECKING:
    from mechdesign.studies.budgets.simulation import Question

    Ledger = Memory[Question]
else:
    Ledger = Memory


def entries_of(rows: Iterable[Any], path: str) -> dict[Key, RunTally]:
    """Entries from what a file holds, or `FileProblem`."""
    entries: dict[Key, RunTally] = {}
    try:
        for epsilon, stream, batch, asked, runs, met, total in rows:
            tally = RunTally(int(runs), int(met), float(total))
            if float.fromhex(epsilon) <= 0 or not 0 <= tally.met <= tally.runs == asked or asked < 1:
                raise ValueError("impossible counts")
            entries[str(epsilon), int(stream), int(batch), int(asked)] = tally
    except (TypeError, ValueError):
        raise FileProblem("results file", path, "hold complete entries", "was it edited by hand?") from None
    return entries
