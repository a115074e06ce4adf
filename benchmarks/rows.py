"""A line of the report: what was measured, what it is compared with, and whether the target was met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.clock import Measured


@dataclass(frozen=True, slots=True)
class Target:
    """The most that ``ratio``, ``seconds`` or ``megabytes`` may be; None where only the number is of interest."""

    ratio: float | None = None
    seconds: float | None = None
    megabytes: float | None = None

    def __str__(self) -> str:
        limits = ((self.ratio, "x"), (self.seconds, "s"), (self.megabytes, "MB"))
        return " and ".join(f"<= {most:g} {unit}" for most, unit in limits if most is not None) or "-"


@dataclass(frozen=True, slots=True)
class Row:
    """``ours`` is what a task took, ``theirs`` what it is held against took, both in this run.

    ``name`` and ``yardstick`` stay the same from run to run: by them a row is found in the last table. What else a run
    has to say stands in ``note``. ``stopped`` says that the yardstick was stopped at a limit: it takes that long at
    least, and the ratio is at most what it is; a target that this does not settle is undecided.

    >>> Row("sampling", "uniforms", Measured(0.05), Measured(0.02), Target(ratio=3.0)).verdict
    'met'
    """

    name: str
    yardstick: str
    ours: Measured
    theirs: Measured
    target: Target = Target()
    note: str = ""
    stopped: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.yardstick

    @property
    def ratio(self) -> float:
        return self.ours.seconds / self.theirs.seconds

    @property
    def verdict(self) -> str:
        target, held = self.target, self.ours.megabytes
        limits = ((self.ratio, target.ratio), (self.ours.seconds, target.seconds), (held, target.megabytes))
        stated = [(value, most) for value, most in limits if most is not None]
        if not stated:
            return "-"
        if all(value is not None and value <= most for value, most in stated):
            return "met"
        others = [value for value, most in limits[1:] if most is not None and (value is None or value > most)]
        return "undecided" if self.stopped and not others else "missed"

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "yardstick": self.yardstick,
            "seconds": self.ours.seconds,
            "megabytes": self.ours.megabytes,
            "yardstick_seconds": self.theirs.seconds,
            "yardstick_megabytes": self.theirs.megabytes,
            "target_ratio": self.target.ratio,
            "target_seconds": self.target.seconds,
            "target_megabytes": self.target.megabytes,
            "note": self.note,
            "stopped": self.stopped,
        }

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Row:
        """The row that `to_dict` wrote."""
        return cls(
            said["name"],
            said["yardstick"],
            Measured(said["seconds"], said["megabytes"]),
            Measured(said["yardstick_seconds"], said["yardstick_megabytes"]),
            Target(said["target_ratio"], said["target_seconds"], said["target_megabytes"]),
            said["note"],
            said["stopped"],
        )
