"""The commands, and what a shell sees of every way they can end."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from mechdesign.cli import (
    aaa,
    advise,
    apply,
    bench,
    budget,
    capacity,
    classifier,
    collect_reports,
    collection,
    compare,
    constants,
    estimate,
    estimate_counts,
    examples,
    export,
    gallery,
    jrr,
    mean,
    minimax,
    ogpm,
    output,
    plot,
    protocols,
    reproduce,
    schema,
    show,
    sign,
    solve,
    table,
    trajectory,
    verify,
)
from mechdesign.cli.signatures import expanded, with_plain_numbers, with_show_values
from mechdesign.data.headers import TakenName
from mechdesign.errors import WITHHELD, InvalidInput, MechDesignError, MissingExtra, NoAnswer, plain

EXIT_FAILURE, EXIT_BAD_INPUT, EXIT_NO_ANSWER = 1, 2, 3

app = typer.Typer(
    name="mechdesign",
    help="Design local differential privacy mechanisms by optimisation, with proofs.",
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _overview(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        sys.stdout.write(OVERVIEW)


OVERVIEW = """\
mechdesign - local differential privacy mechanisms by optimisation, with proofs

  ask      advise     which mechanism for what you want: computed, with its error and three commands to go on with
  design   ogpm       the optimal piecewise mechanism: line, circle or polar, any power loss
           minimax    the certified optimum over all mechanisms: worst case, under a prior, unbiased, any loss matrix
           aaa        unbiased noise for means, optimal under a prior: on a grid, and with free reports
           jrr, solve       joint randomised response; any design problem, from a JSON file
  study    compare    published mechanisms over epsilon, and how far each is above the certified optimum
           show, plot, schema   a saved design checked again; the picture of any file; what a command's --json holds
           gallery    theorems and claims, one at a time: our number beside a reference of its own, and a picture
           reproduce, constants   the papers' numbers beside ours, with verdicts; certified constants, proven anew
  simulate bench      protocols and post-processings compared on your data, ranked with confidence intervals
           mean       the mean of a data column, collected under privacy by any mechanism, and what privacy costs
           trajectory paths of locations: perturb a file, compare mechanisms over eps, apply tables for release
           protocols  every frequency protocol: p*, q*, variance, report size, exact privacy loss
  choose   budget     the smallest eps for a utility constraint: certified, or by the five searches of Optimus
           capacity   right capacity alarms (CAPRI): the smallest eps, or the chances at one; exact, or simulated
           classifier how often a classifier keeps its labels under perturbed inputs: theory, exact, simulated
  ship     table, verify, sign   a design in whole numbers, exactly private, as a file; checked in integers, and signed
           export     a table as a sampler in Python, JavaScript, C, Rust, Java, SQL or for OpenDP
           apply, collection, collect-reports   a column as reports; several questions as one file; envelopes in
           estimate, estimate-counts   what real reports say: mean, frequencies or direction, with intervals

Try:  python -m mechdesign examples, which writes small made data; minimax --eps 2 --loss absolute; COMMAND --help
"""

COMMANDS: dict[str, Any] = {
    "advise": advise,
    "ogpm": ogpm,
    "minimax": minimax,
    "aaa": aaa,
    "jrr": jrr,
    "solve": solve,
    "compare": compare,
    "mean": mean,
    "show": show,
    "plot": plot,
    "gallery": gallery,
    "reproduce": reproduce,
    "constants": constants,
    "examples": examples,
    "bench": bench,
    "protocols": protocols,
    "estimate-counts": estimate_counts,
    "budget": budget,
    "capacity": capacity,
    "classifier": classifier,
    "table": table,
    "verify": verify,
    "export": export,
    "apply": apply,
    "estimate": estimate,
    "collection": collection,
    "collect-reports": collect_reports,
    "sign": sign,
}
"""The module of each command: its ``run``, and the shapes of its answers as JSON, ``ANSWERS``."""

for _name, _module in COMMANDS.items():
    _class = bench.WithBlankLists if _module is bench else None
    app.command(_name, help=_module.__doc__, cls=_class)(expanded(_module.run))
app.command("schema", help=schema.__doc__)(expanded(schema.run))
app.add_typer(trajectory.app, name="trajectory")

_TRAJECTORY = tuple((f"trajectory {command.name}", command) for command in trajectory.app.registered_commands)
_READERS = (
    *("advise", "minimax", "aaa", "mean", "bench", "estimate-counts", "budget", "capacity", "classifier", "apply"),
    "estimate",
)

for _called, _command in (*((command.name, command) for command in app.registered_commands), *_TRAJECTORY):
    assert _command.callback is not None
    _command.callback = with_plain_numbers(_command.callback)
    if _called in _READERS or (_called, _command) in _TRAJECTORY:
        _command.callback = with_show_values(_command.callback)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; errors end in one plain line on stderr and an exit code, never in a traceback."""
    with contextlib.ExitStack() as open_files:
        if sys.stderr is None:  # closed: nobody reads what is said, and the exit code has to be right
            open_files.enter_context(contextlib.redirect_stderr(open_files.enter_context(Path(os.devnull).open("w"))))
        if sys.stdout is None:
            _leave("failed: standard output is closed", EXIT_FAILURE)
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # a file name the terminal cannot spell is no failure
        _run(None if arguments is None else list(arguments))


def _run(arguments: list[str] | None) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TakenName)
            warnings.showwarning = partial(_show_warning, warnings.showwarning)
            app(args=arguments, prog_name="mechdesign")
    except NoAnswer as error:
        _leave(f"no answer: {error}", EXIT_NO_ANSWER)
    except InvalidInput as error:
        _leave(f"bad input: {error}{_see_value(error)}", EXIT_BAD_INPUT)
    except MissingExtra as error:
        _leave(f"not installed: {error}", EXIT_FAILURE)
    except MechDesignError as error:
        _leave(f"failed: {error}", EXIT_FAILURE)
    except MemoryError:
        _leave("failed: out of memory; free some, or ask for less (the data need not be wrong)", EXIT_FAILURE)
    except ImportError as error:  # what a library needs itself is missing or found no memory; it says nothing of data
        _leave(f"failed: a library does not load: {error}; free memory, or install it anew", EXIT_FAILURE)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_FAILURE)
    except OSError as error:
        _leave(f"failed: {(error.strerror or str(error)).lower()}", EXIT_FAILURE)
    except Exception as error:
        _leave(f"internal error, please report it: {type(error).__name__} {_place_of(error)}", EXIT_FAILURE)


def _show_warning(others: Callable[..., None], message: Warning | str, kind: type[Warning], *more: Any) -> None:
    if issubclass(kind, TakenName):
        output.warn(plain(str(message)))
    else:
        others(message, kind, *more)


def _see_value(error: InvalidInput) -> str:
    return "; --show-values shows the value" if error.value is WITHHELD else ""


def _place_of(error: Exception) -> str:
    """Where an error nobody expected was raised. Its own words may quote data, and are not shown."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(__file__).parents[1] in Path(frame.filename).parents]
    last = (ours or frames)[-1]
    return f"in {Path(last.filename).name}, line {last.lineno} ({last.name})"


def _leave(message: str, code: int) -> None:
    with contextlib.suppress(OSError):  # where nobody can be told, the exit code still says it
        sys.stderr.write(f"mechdesign: {plain(message)}\n")
        sys.stderr.flush()
    sys.exit(code)
