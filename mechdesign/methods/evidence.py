"""What the bounds of a certificate rest on: multipliers, from which they follow for a problem and a mechanism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar

import attrs
import numpy as np

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.values.declare import Floats, stored
from mechdesign.words.criteria import At, Criterion, OverInputs, Scope, Total
from mechdesign.words.domains import require_numbers
from mechdesign.words.privacy import Privacy

P = TypeVar("P")


class Problem(Protocol):
    """What the user wants: a frozen value that validated itself, and that files hold as it is.

    What is printed of it follows from this; `mechdesign.methods.words` lists what a problem may say in better words.
    """

    kind: ClassVar[str]
    """Its name in files."""

    @property
    def epsilon(self) -> float: ...
    @property
    def privacy(self) -> Privacy:
        """What every mechanism must keep."""
        ...

    @property
    def criterion(self) -> Criterion | OverInputs | At | Total:
        """What is least."""
        ...


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


def require_problem(problem: object, kind: type[P]) -> P:
    """The problem, if it is of the kind that some evidence is about, else `CheckFailed`."""
    if not isinstance(problem, kind):
        raise CheckFailed(f"the evidence is about a {kind.__name__}, not about a {type(problem).__name__}")
    return problem


def require_asked(problem: object, kind: type) -> None:
    """The problem is of the kind that a search answers, else `InvalidInput` says how one is made.

    >>> from mechdesign.methods.unbiased.problem import UnbiasedProblem
    >>> require_asked(1.0, UnbiasedProblem)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: problem must be of kind UnbiasedProblem (got 1.0); pass md.UnbiasedProblem(...)
    """
    if isinstance(problem, kind):
        return
    if hasattr(problem, "criterion"):
        raise InvalidInput("problem", problem, f"be of kind {kind.__name__}", "md.solve(problem) finds what answers it")
    needed = [declared.alias for declared in attrs.fields(kind) if declared.init and declared.default is attrs.NOTHING]
    said = ", ".join(f"{name}=1.0" if name == "epsilon" else f"{name}=..." for name in needed)
    raise InvalidInput("problem", problem, f"be of kind {kind.__name__}", f"pass md.{kind.__name__}({said})")


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
