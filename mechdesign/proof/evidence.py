"""What the lower bound of a certificate rests on: a value that derives the bound again without any solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self

from mechdesign.errors import FileProblem
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism

IN_CLASS = "piecewise mechanisms"
IN_UNBIASED_CLASS = "unbiased piecewise mechanisms"
EVERYWHERE = "all mechanisms"


class Evidence(Protocol):
    """The shape of every evidence. All of it is checked in rational arithmetic."""

    kind: ClassVar[str]
    """Its name in files."""

    @property
    def epsilon(self) -> float: ...

    def bound(self, mechanism: Mechanism | Product) -> float:
        """The proven lower bound in the units of the mechanism, rounded down."""
        ...

    def attained(self, mechanism: Mechanism | Product) -> float:
        """What the mechanism attains, rounded up; `CheckFailed` if the evidence is about other mechanisms."""
        ...

    def scope(self, mechanism: Mechanism | Product) -> str:
        """The class of mechanisms the bound holds for."""
        ...

    def require_problem(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> None:
        """`FileProblem` if a saved problem says something else than the evidence is about."""
        ...

    def to_dict(self) -> dict[str, Any]: ...

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self: ...


def require_said(problem: Mapping[str, Any], field: str, *allowed: Any) -> None:
    """One field of a saved problem must say one of these, or `FileProblem`."""
    said = problem.get(field)
    if said not in allowed:
        rule = f"be {allowed[0]!r}" if len(allowed) == 1 else f"be one of {sorted(map(str, allowed))}"
        raise FileProblem(f"problem {field}", said, f"{rule}, what the evidence is about")
