"""What a certificate states: the question it answers, as values that its evidence decides and a file must repeat.

A saved problem is a JSON object. Evidence decides most of its fields, and a file that says anything else there is
refused. A few fields hold settings of the search or names given by the user; nothing decides them, so they are checked
for their type only and never shown beside what was decided. Other fields there are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from mechdesign.errors import FileProblem


class Aim(Enum):
    """What is least. The values are the words of files."""

    WORST = "worst case"
    AT = "at"
    WORST_UNBIASED = "worst-case variance, unbiased"
    AVERAGE = "average under the prior"
    AVERAGE_CAPPED = "average under the prior, worst case capped"
    AVERAGE_UNBIASED = "average variance under the prior, unbiased"
    MATRIX_WORST = "worst"
    MATRIX_AVERAGE = "prior"
    MATRIX_LEXICOGRAPHIC = "lexicographic"
    OBJECTIVE = "objective"


@dataclass(frozen=True, slots=True)
class Criterion:
    """An aim, and for `Aim.AT` the input it is about.

    >>> Criterion(Aim.AT, 0.5).words
    'at 0.5'
    """

    aim: Aim
    x: float | None = None

    @property
    def words(self) -> str:
        return self.aim.value if self.x is None else f"{self.aim.value} {self.x!r}"


@dataclass(frozen=True, slots=True)
class Statement:
    """The question that evidence is about: criterion, loss, scope of the lower bound, and prior.

    ``decided`` names the fields of the saved problem that were compared with the evidence, `named` those that were not.
    ``prior`` says in words under which prior an average is taken and where it stands.
    """

    criterion: Criterion
    loss: str
    scope: str
    decided: frozenset[str]
    named: frozenset[str]
    prior: str | None = None


def stated(
    problem: Mapping[str, Any],
    fields: Mapping[str, Any],
    criterion: Criterion,
    loss: str,
    scope: str,
    prior: str | None = None,
) -> Statement:
    """The statement, if a saved problem says exactly ``fields`` and beside them settings only, else `FileProblem`."""
    for field, value in fields.items():
        require_said(problem, field, value)
    named = frozenset(problem.keys() - fields.keys())
    for field in sorted(named):
        is_right = _SETTINGS.get(field)
        if is_right is None:
            raise FileProblem(f"problem {field}", problem[field], "be left out: nothing decides such a field")
        if not is_right(problem[field]):
            raise FileProblem(f"problem {field}", problem[field], "be a setting as a design writes it")
    return Statement(criterion, loss, scope, frozenset(fields), named, prior)


def require_said(problem: Mapping[str, Any], field: str, *allowed: Any) -> None:
    """One field of a saved problem must say one of these, or `FileProblem`."""
    said = problem.get(field)
    if field not in problem or not any(_is_same(said, value) for value in allowed):
        rule = f"be {allowed[0]!r}" if len(allowed) == 1 else f"be one of {sorted(map(str, allowed))}"
        raise FileProblem(f"problem {field}", said, f"{rule}, what the evidence is about")


def _is_same(said: Any, value: Any) -> bool:
    """Equal, and of one JSON type: 1 is not true. Whole numbers and doubles of one value are the same number."""
    if isinstance(value, dict):
        return isinstance(said, dict) and said.keys() == value.keys() and all(_is_same(said[k], value[k]) for k in said)
    if isinstance(value, list):
        return isinstance(said, list) and len(said) == len(value) and all(map(_is_same, said, value))
    return isinstance(said, bool) == isinstance(value, bool) and bool(said == value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 1)


def _is_label_list(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(type(entry) is str for entry in value))


def _is_text(value: Any) -> bool:
    return type(value) is str


_SETTINGS: dict[str, Callable[[Any], bool]] = {
    "gap": _is_number,
    "slack": _is_number,
    "most_outputs": _is_count,
    "input_labels": _is_label_list,
    "output_labels": _is_label_list,
    "objective": _is_text,
    "constraints": lambda value: isinstance(value, list) and all(map(_is_text, value)),
}
"""Fields that nothing decides, and whether a value is of their type."""
