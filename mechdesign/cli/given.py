"""Which options of a command were given: one without effect is refused for being there, whatever its value."""

from __future__ import annotations

from collections.abc import Iterable

import typer

from mechdesign.errors import InvalidInput

_DEFAULTS = ("DEFAULT", "DEFAULT_MAP")


def given(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Of the parameters with these names those that were given, as options: ``--min-eps`` for ``least``."""
    options = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in names}
    return [options[name] for name, source in sources.items() if source is not None and source.name not in _DEFAULTS]


def refuse_given(context: typer.Context, names: Iterable[str], rule: str, next_step: str) -> None:
    """`InvalidInput` with the options among ``names`` that were given, if any were."""
    wrong = given(context, names)
    if wrong:
        raise InvalidInput("options", ", ".join(wrong), rule, next_step)
