"""The commands, and what a shell sees of every way they can end. A command's module is read when it is asked for."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from mechdesign import __version__
from mechdesign.cli import failures, output
from mechdesign.cli.given import with_rules
from mechdesign.cli.overview import NAMES, Grouped, overview, shown_example
from mechdesign.cli.signatures import (
    expanded,
    reads_data,
    with_columns_offered,
    with_files_there,
    with_plain_numbers,
    with_show_values,
)
from mechdesign.data.headers import TakenName
from mechdesign.errors import plain

_PLAIN: dict[str, Any] = {
    "no_args_is_help": False,
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


# -- commands ---------------------------------------------------------------------------------------------------------


def module_of(name: str) -> Any:
    """The module of a command: its ``run``, an ``EXAMPLE``, the shapes of its answers as JSON, ``ANSWERS``, and the
    ``RULES`` between its options, if it has any of its own.
    """
    return importlib.import_module(f"mechdesign.cli.{name.replace('-', '_')}")


@cache
def run_of(name: str) -> Callable[..., None]:
    """What a command runs, with all the options that it has on the command line."""
    return _finished(module_of(name), expanded(module_of(name).run))


def _finished(module: Any, run: Callable[..., None]) -> Callable[..., None]:
    ruled = with_rules(run, module.RULES) if hasattr(module, "RULES") else run
    plainly = with_columns_offered(with_files_there(with_plain_numbers(ruled)))
    return with_show_values(plainly) if getattr(module, "READS_DATA", reads_data(plainly)) else plainly


def groups() -> dict[str, Any]:
    """The commands that are several, by name, with the module of each."""
    found = {name: module_of(name) for name in NAMES}
    return {name: module for name, module in found.items() if hasattr(module, "app")}


@cache
def _command(name: str) -> Any:
    module = module_of(name)
    if hasattr(module, "app"):
        for inner in module.app.registered_commands:
            inner.callback = _finished(module, inner.callback)
            inner.epilog = shown_example(module.EXAMPLES[inner.name])
        return typer.main.get_command(module.app)
    alone = typer.Typer(**_PLAIN)
    kind = _reading(module.arguments) if hasattr(module, "arguments") else None
    alone.command(name, help=module.__doc__, epilog=shown_example(module.EXAMPLE), cls=kind)(run_of(name))
    return typer.main.get_command(alone)


def _reading(arguments: Callable[[Sequence[str]], list[str]]) -> type[TyperCommand]:
    """A command that has a say in how its words are read."""

    class Reading(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, arguments(args))

    return Reading


class _Commands(Mapping[str, Any]):
    """Every command by name, each made when it is asked for: no command waits for what others need."""

    def __getitem__(self, name: str) -> Any:
        if name not in NAMES:
            raise KeyError(name)
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


class _Root(Grouped):
    def __init__(self, **told: Any) -> None:
        super().__init__(**told)
        self.commands: Any = _Commands()


app = typer.Typer(
    name="mechdesign",
    help="Design local differential privacy mechanisms by optimisation, with proofs.",
    epilog=shown_example("ogpm --eps 2"),
    cls=_Root,
    context_settings={"help_option_names": ["--help", "-h"]},
    **_PLAIN | {"add_completion": True},
)


def _say_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"mechdesign {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _overview(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    del version
    if context.invoked_subcommand is None:
        sys.stdout.write(overview())


# -- a run ------------------------------------------------------------------------------------------------------------


def read_command(arguments: Sequence[str]) -> None:
    """Read the modules of the command that is asked for before it runs; what fails here is told where it runs."""
    if arguments and arguments[0] in NAMES:
        with contextlib.suppress(Exception):
            module_of(arguments[0])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit; errors end in one plain line on stderr and an exit code, never in a traceback.

    Where ``--json`` is among the arguments the line is a JSON object, `failures.Told`.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    with contextlib.ExitStack() as open_files:
        if sys.stderr is None:  # closed: nobody reads what is said, and the exit code has to be right
            open_files.enter_context(contextlib.redirect_stderr(open_files.enter_context(Path(os.devnull).open("w"))))
        as_json = failures.is_json_asked(words)
        if sys.stdout is None:
            failures.leave(failures.Failure("failed", "standard output is closed"), as_json=as_json)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # a file name the terminal cannot spell is no failure
        _run(words, as_json=as_json)


def _run(words: list[str], *, as_json: bool) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TakenName)
            warnings.showwarning = partial(_show_warning, warnings.showwarning)
            code = app(args=words, prog_name="mechdesign", standalone_mode=False)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(failures.FAILURE)
    except failures.UsageError as error:
        failures.leave(failures.with_hint(error, words), as_json=as_json)
    except Exception as error:
        failures.leave(error, as_json=as_json)
    if code == failures.INTERRUPTED:
        failures.leave(failures.STOPPED, as_json=as_json)
    sys.exit(code or 0)


def _show_warning(others: Callable[..., None], message: Warning | str, kind: type[Warning], *more: Any) -> None:
    if issubclass(kind, TakenName):
        output.warn(plain(str(message)))
    else:
        others(message, kind, *more)
