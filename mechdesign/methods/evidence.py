"""What the bounds of a certificate rest on: multipliers, from which they follow for a problem and a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.values.declare import Floats, stored
from mechdesign.words.criteria import Scope
from mechdesign.words.domains import require_numbers

P = TypeVar("P")


class Evidence(Protocol):
    """The shape of every evidence: multipliers and nothing that problem or mechanism say already.

    Together the methods raise `CheckFailed` where problem or mechanism are not those that the multipliers are about:
    they must fit each other, too (inputs, outputs and epsilon), as nobody else looks. A certificate asks all three.
    """

    kind: ClassVar[str]
    """Its name in files."""

    claimed: ClassVar[bool]
    """Whether the lower bound is only claimed, by a solver or in doubles: then it is stored and not derived."""

    def bound(self, problem: Any, mechanism: Any) -> float:
        """The lower bound in the units of the mechanism, rounded down; proven in rationals unless ``claimed``."""
        ...

    def attained(self, problem: Any, mechanism: Any) -> float:
        """What the mechanism attains, rounded up."""
        ...

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        """The class of mechanisms the bound holds for."""
        ...


def require_mechanism(mechanism: Mechanism, kind: type[P], problem: Any) -> P:
    """The mechanism, if it is of this kind and for the problem's epsilon and inputs, else `CheckFailed`."""
    if not isinstance(mechanism, kind):
        raise CheckFailed(f"the evidence is about {kind.__name__} mechanisms, not about a {type(mechanism).__name__}")
    if mechanism.epsilon != problem.epsilon:
        raise CheckFailed(f"{mechanism.name} has eps {mechanism.epsilon!r}, and the problem {problem.epsilon!r}")
    if mechanism.inputs != problem.inputs:
        raise CheckFailed(f"{mechanism.name} takes {mechanism.inputs}, and the problem's inputs are {problem.inputs}")
    return mechanism


def column(name: str) -> Callable[[Any], Floats]:
    """The converter of a field with multipliers, one an input: finite numbers in a row.

    >>> column("levels")([1, 2]).tolist()
    [1.0, 2.0]
    """

    def convert(said: Any) -> Floats:
        numbers = stored(require_numbers(said, name))
        if numbers.ndim != 1:
            raise InvalidInput(name, numbers.shape, "be numbers in a row, one for each input")
        if not np.isfinite(numbers).all():
            raise InvalidInput(name, float(numbers[~np.isfinite(numbers)][0]), "be finite")
        return numbers

    return convert


def require_columns(count: int, **columns: Floats) -> None:
    """Each of these columns has so many entries, else `CheckFailed`."""
    for name, numbers in columns.items():
        if numbers.size != count:
            raise CheckFailed(f"the evidence has {numbers.size} {name}, and the problem {count} inputs")
