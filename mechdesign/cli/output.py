"""How answers leave a command: one JSON object, or tables for people; progress goes to stderr."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from mechdesign.errors import FileProblem
from mechdesign.values import files
from mechdesign.values.answers import if_shown as if_shown, merged as merged
from mechdesign.values.tables import Grid, number as number, printable

if TYPE_CHECKING:  # no command waits for what only another one answers with
    from mechdesign.methods.floor import Floor

_PLAIN_WIDTH = 120  # a pipe or a file has no width of its own
_FIRST_TICK = 2.0

_is_terminal = sys.stdout is not None and sys.stdout.isatty()

console = Console(highlight=False, markup=False, emoji=False, width=None if _is_terminal else _PLAIN_WIDTH)


def print_json(*parts: Any) -> None:
    """Exactly one JSON object on stdout."""
    print_object(merged(*parts))


def print_object(said: dict[str, Any]) -> None:
    """Exactly this JSON object on stdout."""
    sys.stdout.write(files.dump_json(said))
    sys.stdout.flush()


def warn(message: str) -> None:
    """One line on stderr beside an answer."""
    sys.stderr.write(f"mechdesign: {message}\n")


def say_saved(path: Path) -> None:
    """A file that was written."""
    console.print(f"saved {printable(str(path))}", soft_wrap=True)


@contextlib.contextmanager
def progress(message: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """What runs and for how long, on stderr; the function it gives changes the message.

    A terminal gets a spinner, anything else a line when two seconds have passed and then at doubled intervals.
    """
    if quiet:
        yield lambda _: None
    elif sys.stderr is not None and sys.stderr.isatty():
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(message, total=None)
            yield lambda text: bar.update(task, description=text)
    else:
        ticker = _Ticker(message)
        ticker.start()
        try:
            yield ticker.say
        finally:
            ticker.stop()


@contextlib.contextmanager
def counted(total: int, what: str, *, quiet: bool) -> Iterator[Callable[[int, str], None]]:
    """How many of ``total`` steps are done and what runs now: a bar on a terminal, else lines like `progress`."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        with progress(f"0 of {total} {what}", quiet=quiet) as say:
            yield lambda done, now: say(f"{done} of {total} {what}, now {now}")
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, now: bar.update(task, completed=done, description=now)


@contextlib.contextmanager
def ending_cleanly() -> Iterator[None]:
    """A request to end, as from ``kill`` or a closed terminal, unwinds like Ctrl-C, so that no part of a file stays."""

    asked: list[int] = []

    def leave(number: int, _: Any) -> None:
        asked.append(number)
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: old for number, old in before.items() if old not in (None, signal.SIG_IGN)}  # as under nohup
    for one in before:
        signal.signal(one, leave)
    try:
        yield
    except Exception:
        if asked:  # compiled code, where the request arrived, may have made another error of it
            raise SystemExit(128 + asked[0]) from None
        raise
    finally:
        for one, old in before.items():
            signal.signal(one, old)


class _Ticker(threading.Thread):
    """Writes plain lines to stderr while the main thread works."""

    def __init__(self, message: str) -> None:
        super().__init__(daemon=True)
        self._message, self._done = message, threading.Event()

    def run(self) -> None:
        waited, pause = 0.0, _FIRST_TICK
        while not self._done.wait(pause):
            waited += pause
            pause = waited
            sys.stderr.write(f"mechdesign: {self._message} ... {waited:.0f} s\n")
            sys.stderr.flush()

    def say(self, message: str) -> None:
        self._message = message

    def stop(self) -> None:
        self._done.set()
        self.join()


def require_outputs(out: Path | None, *pictures: Path | None, force: bool) -> None:
    """Refuse unwritable, repeated or existing files before any work is done."""
    for picture in filter(None, pictures):
        from mechdesign import plot

        plot.require_plot_format(picture)
    wanted = [path for path in (out, *pictures) if path is not None]
    for path in wanted:
        files.require_writable(path, overwrite=force)
    if len({os.path.realpath(path) for path in wanted}) < len(wanted):
        raise FileProblem("plot file", str(wanted[-1]), "differ from the other files to be written")


def require_apart(written: Sequence[Path | None], read: Sequence[Path | str]) -> None:
    """Refuse to write over what is read, even where overwriting is allowed."""
    for path in written:
        for source in read:
            if path is not None and files.is_same_file(path, Path(source)):
                rule = f"differ from {printable(str(source))}, which is read"
                raise FileProblem("output file", str(path), rule, "input data is never overwritten")


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """A plain table; the first ``left`` columns are text, the rest are numbers aligned right."""
    console.print(title, style="bold", soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for k, heading in enumerate(headings):
        table.add_column(printable(heading), justify="left" if k < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(printable, row))
    console.print(table)


def show(one: Grid | str) -> None:
    """A table of an answer, or a line beside one."""
    if isinstance(one, Grid):
        print_table(one.title, one.headings, one.rows, one.left)
    else:
        console.print(one, soft_wrap=True)


def show_all(parts: Iterable[Grid | str]) -> None:
    """Tables and lines, one after the other."""
    for one in parts:
        show(one)


def floor_basis(floor: Floor) -> str:
    """Whether a floor is proven in rational arithmetic or rests on doubles, as certificates for powers like 1.5 do."""
    return "claimed" if floor.claimed else "proven"
