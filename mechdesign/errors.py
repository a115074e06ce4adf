"""Every error the package raises on purpose, in one tree.

::

    MechDesignError
    ├── InvalidInput        a value breaks a rule: names the field, the value, the rule, the next step (exit code 2)
    │   └── FileProblem     a file that cannot be read, written or trusted
    ├── NoAnswer            the limits were reached first: carries the bounds found (exit code 3)
    ├── CheckFailed         a result failed its own proof and was withheld
    └── MissingExtra        an optional dependency is not installed: names the extra
"""

from __future__ import annotations

import math
from typing import Any

MAX_EPSILON = 64.0
"""Largest epsilon accepted. Beyond it e^(-eps/2) drops under the spacing of doubles and no window could be resolved."""

MIN_EPSILON = 1e-12
"""Smallest epsilon accepted. Below it e^eps - 1 nears the spacing of doubles and no law could differ from uniform."""


class MechDesignError(Exception):
    """Root of the errors raised on purpose."""


class InvalidInput(MechDesignError, ValueError):
    """A value breaks a rule.

    >>> str(InvalidInput("eps", -1, "be a finite number above 0", "pass for example eps=1"))
    'eps must be a finite number above 0 (got -1); pass for example eps=1'
    """

    def __init__(self, field: str, value: Any, rule: str, next_step: str = "") -> None:
        self.field = field
        self.value = value
        self.rule = rule
        self.next_step = next_step
        tail = f"; {next_step}" if next_step else ""
        super().__init__(f"{field} must {rule} (got {_shown(value)}){tail}")

    def __reduce__(self) -> tuple[Any, ...]:  # errors come back from worker processes
        return type(self), (self.field, self.value, self.rule, self.next_step)


class FileProblem(InvalidInput):
    """A file that cannot be read, written or trusted."""


class NoAnswer(MechDesignError):
    """The limits were reached before the answer was proven; ``lower`` and ``upper`` bound the optimum."""

    def __init__(self, message: str, lower: float, upper: float) -> None:
        self.reason = message
        self.lower = lower
        self.upper = upper
        super().__init__(f"{message}; the optimum lies in [{lower:.8g}, {upper:.8g}]")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.lower, self.upper)


class CheckFailed(MechDesignError):
    """A result failed its own proof, so it was not returned."""


class MissingExtra(MechDesignError, ImportError):
    """An optional dependency is not installed.

    >>> str(MissingExtra("method='scip'", "scip"))
    "method='scip' needs an optional dependency; install it with: pip install 'mechdesign[scip]'"
    """

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(f"{feature} needs an optional dependency; install it with: pip install 'mechdesign[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.feature, self.extra)


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer too long to be printed
        text = f"a {type(value).__name__}"
    return text if len(text) <= 120 else f"{text[:117]}..."


def require_epsilon(epsilon: float, field: str = "eps") -> float:
    """The privacy parameter as a float, or `InvalidInput`.

    >>> require_epsilon(2)
    2.0
    """
    rule = f"be a finite number above 0 and at most {MAX_EPSILON:g}"
    number = require_number(epsilon, field)
    if not (math.isfinite(number) and 0 < number <= MAX_EPSILON):
        raise InvalidInput(field, epsilon, rule, f"pass for example {field}=1")
    if number < MIN_EPSILON:
        raise InvalidInput(field, epsilon, f"be at least {MIN_EPSILON:g}", "doubles cannot resolve less privacy loss")
    return number


def require_number(value: Any, field: str) -> float:
    """``value`` as a float; text, booleans, arrays and NaN are `InvalidInput`."""
    is_array_like = getattr(value, "ndim", 0) != 0 or getattr(getattr(value, "dtype", None), "kind", "f") not in "fiu"
    if is_array_like or isinstance(value, bool | str | bytes | bytearray | memoryview):
        raise InvalidInput(field, value, "be a number")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(field, value, "be a number") from None
    if math.isnan(number):
        raise InvalidInput(field, value, "be a number", "NaN is never accepted")
    return number


def require_finite(value: Any, field: str) -> float:
    """``value`` as a finite float, or `InvalidInput`."""
    number = require_number(value, field)
    if math.isinf(number):
        raise InvalidInput(field, value, "be finite")
    return number


def require_whole(value: Any, field: str, least: int, most: int | None = None) -> int:
    """``value`` as a whole number between two ends, or `InvalidInput`.

    >>> require_whole(3, "count", 1)
    3
    """
    is_whole = not isinstance(value, bool) and hasattr(value, "__index__")
    if not is_whole or not least <= int(value) or (most is not None and int(value) > most):
        ends = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidInput(field, value, f"be a whole number {ends}")
    return int(value)
