"""What every command gets beside the options it declares: numbers as `data.numbers` has them, and ``--show-values``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import NoneType
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.models import ParameterInfo

from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.errors import showing_values

Run = Callable[..., None]


def with_plain_numbers(run: Run) -> Run:
    """The same command, whose numbers may not be written as Python alone would read them."""
    hints = get_type_hints(run, include_extras=True)
    for hint in hints.values():
        for told in getattr(hint, "__metadata__", ()):
            parser = _PARSERS.get(next(iter({*(get_args(hint.__origin__) or (hint.__origin__,))} - {NoneType})))
            if isinstance(told, ParameterInfo) and parser is not None:
                told.parser = parser
    run.__annotations__ = hints
    return run


def _float(text: Any) -> Any:
    return _parsed(text, require_number_text, "number")


def _integer(text: Any) -> Any:
    return _parsed(text, require_whole_text, "whole number")


_float.__name__, _integer.__name__ = "float", "integer"  # as help pages call them
_PARSERS: dict[Any, Callable[[Any], Any]] = {float: _float, int: _integer}


def _parsed(text: Any, parse: Callable[[str], Any], what: str) -> Any:
    if not isinstance(text, str):  # a default
        return text
    try:
        return parse(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a valid {what}.") from None


def with_show_values(run: Run) -> Run:
    """The same command with an option under which its errors show the value in the data that is wrong."""

    @wraps(run)
    def command(*, show_values: bool, **options: Any) -> None:
        if not show_values:
            run(**options)
            return
        with showing_values():
            run(**options)

    option = Annotated[bool, typer.Option("--show-values", help="Errors show the value in the data that is wrong.")]
    told = inspect.signature(run)
    more = inspect.Parameter("show_values", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=option)
    parameters = [p.replace(annotation=run.__annotations__[p.name]) for p in told.parameters.values()]
    command.__signature__ = told.replace(parameters=[*parameters, more])  # type: ignore[attr-defined]
    command.__annotations__ = run.__annotations__ | {"show_values": option}
    return command
