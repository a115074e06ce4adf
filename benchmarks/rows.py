"""A line of the report: what was measured, what it is compared with, and whether the target was met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """The most that ``ratio`` or ``seconds`` may be; None where only the number is of interest."""

    ratio: float | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        parts = []
        if self.ratio is not None:
            parts.append(f"<= {self.ratio:g} x")
        if self.seconds is not None:
            parts.append(f"<= {self.seconds:g} s")
        return " and ".join(parts) or "-"


@dataclass(frozen=True, slots=True)
class Row:
    """``seconds`` of a task beside ``yardstick_seconds`` of what it is held against, both from this run.

    >>> Row("sampling", "uniforms", 0.05, 0.02, Target(ratio=3.0)).verdict
    'met'
    """

    name: str
    yardstick: str
    seconds: float
    yardstick_seconds: float
    target: Target = Target()

    @property
    def ratio(self) -> float:
        return self.seconds / self.yardstick_seconds

    @property
    def verdict(self) -> str:
        limits = ((self.ratio, self.target.ratio), (self.seconds, self.target.seconds))
        stated = [(value, most) for value, most in limits if most is not None]
        if not stated:
            return "-"
        return "met" if all(value <= most for value, most in stated) else "missed"

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "seconds": self.seconds,
            "yardstick": self.yardstick,
            "yardstick_seconds": self.yardstick_seconds,
            "ratio": self.ratio,
            "target_ratio": self.target.ratio,
            "target_seconds": self.target.seconds,
            "verdict": self.verdict,
        }
