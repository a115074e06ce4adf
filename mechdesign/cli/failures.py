"""How a command fails: one plain line on stderr, or one JSON object there where ``--json`` was asked for.

The exit code is the same in both. Neither quotes a value of data: errors about data do not hold it, and of an error
that nobody expected only its class and place are told.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

import typer

from mechdesign.data.numbers import number_of
from mechdesign.errors import WITHHELD, InvalidInput, MechDesignError, MissingExtra, NoAnswer, SolverFailed, plain
from mechdesign.values import files
from mechdesign.values.codec import encoded, if_any, named
from mechdesign.values.declare import field, frozen

FAILURE, BAD_INPUT, NO_ANSWER, INTERRUPTED = 1, 2, 3, 130

Kind = Literal["usage", "bad input", "no answer", "not installed", "failed", "interrupted", "internal error"]

_CODES = {"usage": BAD_INPUT, "bad input": BAD_INPUT, "no answer": NO_ANSWER, "interrupted": INTERRUPTED}
_SHOWS = "--show-values shows the value"

UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
"""What typer raises where the words of a command are wrong: of click, or of the copy of it that typer brings."""


@frozen
class Failure:
    """Why there is no answer: what is wrong, the rule, and the next step; where limits came first, the bounds.

    ``kind`` is "usage" (options that do not exist or lack a value) or "bad input" with exit code 2, "no answer" with
    3, "interrupted" (by Ctrl-C) with 130, else 1. ``lower`` and ``upper`` bound the optimum; they are ``claimed`` where
    they rest on doubles.
    """

    kind: Kind
    message: str
    about: str | None = field(default=None, metadata=named("field") | if_any())
    rule: str | None = field(default=None, metadata=if_any())
    next: str | None = field(default=None, metadata=if_any())
    lower: float | None = field(default=None, metadata=if_any())
    upper: float | None = field(default=None, metadata=if_any())
    claimed: bool | None = field(default=None, metadata=if_any())
    gap_within_reach: float | None = field(default=None, metadata=if_any())

    @property
    def code(self) -> int:
        """The exit code."""
        return _CODES.get(self.kind, FAILURE)

    @property
    def line(self) -> str:
        """The failure in one line for people."""
        asked = ", please report it" if self.kind == "internal error" else ""
        return plain(f"mechdesign: {self.kind}{asked}: {self.message}")


STOPPED = Failure("interrupted", "there is no answer, and no file is left half-written")
"""What Ctrl-C leaves while a command works."""


@frozen
class Told:
    """What stands on stderr, as its last line, where a command with --json fails."""

    error: Failure


def of(error: BaseException) -> Failure:
    """What is told of an error."""
    match error:
        case NoAnswer():
            bounds = error.lower, error.upper, error.claimed, error.gap_within_reach
            return Failure("no answer", _plain(error), None, None, error.next_step or None, *bounds)
        case InvalidInput():
            steps = [error.next_step, _SHOWS if error.value is WITHHELD else ""]
            message = f"{error}; {_SHOWS}" if error.value is WITHHELD else str(error)
            next_step = "; ".join(filter(None, steps)) or None
            return Failure("bad input", plain(message), plain(error.field), plain(error.rule), next_step)
        case MissingExtra():
            return Failure("not installed", _plain(error), next=f"pip install 'mechdesign[{error.extra}]'")
        case SolverFailed():
            return Failure("failed", _plain(error), next=error.next_step)
        case MechDesignError():
            return Failure("failed", _plain(error))
        case UsageError():
            return _of_usage(error)
        case typer.Abort():
            return Failure("failed", "aborted")
        case MemoryError():
            return Failure("failed", "out of memory; free some, or ask for less (the data need not be wrong)")
        case ImportError():  # what a library needs itself is missing or found no memory; it says nothing of data
            step = "free memory, or install it anew"
            return Failure("failed", plain(f"a library does not load: {error}; {step}"), next=step)
        case OSError():
            return Failure("failed", plain((error.strerror or str(error)).lower()))
    return Failure("internal error", f"{type(error).__name__} {_place_of(error)}")


def leave(error: BaseException | Failure, *, as_json: bool) -> NoReturn:
    """Say why there is no answer, and end with its exit code."""
    failure = error if isinstance(error, Failure) else of(error)
    with contextlib.suppress(OSError):  # where nobody can be told, the exit code still says it
        if as_json:
            sys.stderr.write(files.dump_json_line(encoded(Told(failure))))
        elif isinstance(error, UsageError):
            error.show()
        else:
            sys.stderr.write(f"{failure.line}\n")
        sys.stderr.flush()
    sys.exit(failure.code)


def with_hint(error: Any, words: Sequence[str]) -> Any:
    """A usage error that says what was meant, where the words of the command show it."""
    offered = getattr(error, "possibilities", None) or ()
    near = [name for name in offered if name.startswith(error.option_name) or error.option_name.startswith(name)]
    if near:
        error.possibilities = near
    pair = _pair(error.ctx, words)
    if pair and error.message.startswith("Got unexpected extra argument"):
        error.message = f"{error.message}; did you mean {pair}?"
    return error


def _pair(context: Any, words: Sequence[str]) -> str | None:
    """An option that takes two numbers with a comma between them, where a blank stands instead."""
    params = () if context is None else context.command.params
    pairs = {name for one in params if "," in (getattr(one, "metavar", None) or "") for name in one.opts}
    for option, first, second in zip(words, words[1:], words[2:], strict=False):
        if option in pairs and number_of(first) is not None and number_of(second) is not None:
            return f"{option}={first},{second}"
    return None


def is_json_asked(arguments: Sequence[str]) -> bool:
    """Whether ``--json`` is among the words of a command: known even where they cannot be understood.

    >>> is_json_asked(["ogpm", "--esp", "2", "--json"]), is_json_asked(["show", "--", "--json"])
    (True, False)
    """
    words = list(arguments)
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _plain(error: Exception) -> str:
    return plain(str(error))


def _of_usage(error: Any) -> Failure:
    """Options that do not exist, lack a value or have one that is no number; help pages say what there is."""
    context, parameter = error.ctx, getattr(error, "param", None)
    about = getattr(error, "option_name", None) or (None if parameter is None else _called(parameter))
    message = plain(error.format_message())
    next_step = f"{'mechdesign' if context is None else context.command_path} --help"
    return Failure("usage", message, about, None, next_step)


def _called(parameter: Any) -> str:
    return str(parameter.opts[0]) if parameter.param_type_name == "option" else str(parameter.name)


def _place_of(error: BaseException) -> str:
    """Where an error nobody expected was raised. Its own words may quote data, and are not shown."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(__file__).parents[1] in Path(frame.filename).parents]
    last = (ours or frames)[-1]
    return f"in {Path(last.filename).name}, line {last.lineno} ({last.name})"
