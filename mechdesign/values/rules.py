"""Rules between options, declared: beside the fields of a study, or as the ``RULES`` of a command.

A field that is None, or False, was not said.

>>> from mechdesign.values.declare import frozen
>>> @frozen
... class Asked:
...     data: str | None = None
...     column: str | None = None
...     method: str = "exact"
...     delta: float | None = None
>>> RULES = (comes_with("column", data=()), comes_with("delta", method=("relaxed",)))
>>> require_rules(Asked(column="age"), RULES)
Traceback (most recent call last):
mechdesign.errors.InvalidInput: column must come with --data (got 'age'); add --data
>>> require_rules(Asked(delta=0.1), RULES)
Traceback (most recent call last):
mechdesign.errors.InvalidInput: delta must come with --method relaxed (got 0.1); add --method relaxed
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import attrs

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import OPTION

Rule = Callable[[Any], None]


def require_rules(study: object, rules: Sequence[Rule]) -> None:
    """`InvalidInput` for the first rule that is broken."""
    for rule in rules:
        rule(study)


def comes_with(*fields: str, why: str = "", step: str = "", **needed: Sequence[str]) -> Rule:
    """These fields have an effect only where another one is said; or is one of these words, which have in common
    ``why``."""
    ((other, words),) = needed.items()

    def check(study: Any) -> None:
        value = getattr(study, other)
        if is_said(study, other) if not words else {*words} & {*(value if isinstance(value, tuple) else (value,))}:
            return
        option = _option(study, other)
        known = ", ".join(words)
        rule = f"come with a {option} that {why}: {known}" if why else f"come with {option} {known}".rstrip()
        for name in fields:
            if is_said(study, name):
                hint = step or f"add {option}{f' {known}' if len(words) == 1 else ''}"
                said = _option(study, name).strip("-").replace("-", " ")
                raise InvalidInput(said, _shown(getattr(study, name)), rule, hint)

    return check


def left_out_with(other: str, *fields: str, why: str, word: str = "", unless: str | None = None) -> Rule:
    """None of these fields has an effect where ``other`` is said, or is this ``word``, ``unless`` one is that changes
    what that means."""

    def check(study: Any) -> None:
        found = options_said(study, fields)
        is_so = getattr(study, other) == word if word else is_said(study, other)
        if found and is_so and not (unless and is_said(study, unless)):
            rule = f"be left out with {_option(study, other)} {word}".rstrip()
            raise InvalidInput("options", ", ".join(found), rule, why)

    return check


def together(*fields: str, step: str) -> Rule:
    """All of these fields are said, or none."""

    def check(study: Any) -> None:
        if len({is_said(study, name) for name in fields}) > 1:
            raise InvalidInput("options", _options(study, fields), "be given together", step)

    return check


def exactly_one(*fields: str, step: str) -> Rule:
    """One of these fields is said, and no other."""

    def check(study: Any) -> None:
        said = [name for name in fields if is_said(study, name)]
        if len(said) != 1:
            rule = f"be one of {_options(study, fields)}, and one only"
            raise InvalidInput("options", _options(study, said) or None, rule, step)

    return check


def is_said(study: object, name: str) -> bool:
    """Whether the field was given."""
    value = getattr(study, name)
    return value is not None and value is not False and value != ()


def options_said(study: object, fields: Sequence[str]) -> list[str]:
    """Those of the fields that were given, as options."""
    return [_option(study, name) for name in fields if is_said(study, name)]


def _option(study: object, name: str) -> str:
    if not attrs.has(type(study)):  # a command, which knows them
        return str(cast(Any, study).option_of(name))
    told = attrs.fields_dict(cast(Any, type(study)))[name].metadata.get(OPTION)
    return str(told.names[0]) if told and told.names else f"--{name.replace('_', '-')}"


def _options(study: object, fields: Sequence[str]) -> str:
    return ", ".join(_option(study, name) for name in fields)


def _shown(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else str(value)
