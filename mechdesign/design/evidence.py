"""What the lower bound of a certificate rests on: a value that derives the bound again without any solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.exact.statement import Statement
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism

IN_CLASS = "piecewise mechanisms"
ONE_PIECE = "one-piece mechanisms"
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

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        """What the evidence is about; `FileProblem` if a saved problem says something else."""
        ...

    def to_dict(self) -> dict[str, Any]: ...

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self: ...


def freeze_columns(evidence: object, names: Sequence[str]) -> None:
    """Make the named attributes read-only arrays of one length, at least two; the first are weights."""
    first = np.shape(getattr(evidence, names[0]))
    for name in names:
        array = np.array(getattr(evidence, name), dtype=np.float64)
        if array.ndim != 1 or array.size < 2 or array.shape != first:
            raise InvalidInput(name, array.shape, "have one entry for each of at least two inputs")
        if not np.isfinite(array).all():
            raise InvalidInput(name, float(array[~np.isfinite(array)][0]), "be finite")
        array.setflags(write=False)
        object.__setattr__(evidence, name, array)
    weights = getattr(evidence, names[0])
    if (weights < 0).any() or not (weights > 0).any():
        raise InvalidInput(names[0], float(weights.min()), "be at least 0 and have a positive sum")
