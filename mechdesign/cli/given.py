"""Which options of a command were given: one without effect is refused for being there, whatever its value."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, get_type_hints

import typer

from mechdesign.values.rules import Rule, require_rules

_DEFAULTS = ("DEFAULT", "DEFAULT_MAP")


class CommandLine:
    """The options that were given, by their parameters, as rules ask for them; None for those that were not."""

    def __init__(self, context: typer.Context) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        source = self._context.get_parameter_source(name)
        return None if source is None or source.name in _DEFAULTS else self._context.params[name]

    def option_of(self, name: str) -> str:
        """As it is written: ``--min-eps`` for ``least``, ``FILE`` for what has no option."""
        told = next(one for one in self._context.command.params if one.name == name)
        return told.opts[0] if told.param_type_name == "option" else str(told.metavar or name.upper()).strip("[] .")


def with_rules(run: Callable[..., None], rules: Sequence[Rule]) -> Callable[..., None]:
    """The same command, which first asks whether the options that were given go together."""

    @wraps(run)
    def command(*, rules_context: typer.Context, **options: Any) -> None:
        require_rules(CommandLine(rules_context), rules)
        run(**options)

    told = inspect.signature(run)
    more = inspect.Parameter("rules_context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in told.parameters.values()]
    command.__signature__ = told.replace(parameters=[*parameters, more])  # type: ignore[attr-defined]
    command.__annotations__ = get_type_hints(run, include_extras=True) | {"rules_context": typer.Context}
    return command
