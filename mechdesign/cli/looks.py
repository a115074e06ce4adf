"""``--title`` and ``--size`` of every command that draws: declared once, and used wherever a picture is saved.

Where ``--size`` means something else, as in minimax, it is ``--plot-size`` only, which all of them understand.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mechdesign import plot
from mechdesign.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Title = Annotated[str | None, typer.Option("--title", help="A title of your own for the picture.", metavar="TEXT")]

_SIZE, _SIZE_HELP = "--size", "Width and height of the picture in inches."


@dataclass(frozen=True, slots=True)
class Look:
    """What a user wants a picture to look like, beyond what is in it."""

    title: str | None = None
    size: tuple[float, float] | None = None


_LOOK: ContextVar[Look | None] = ContextVar("look", default=None)
"""Of the command that runs, for as long as it runs."""


def with_look(run: Callable[..., None], *more: str) -> Callable[..., None]:
    """A command with both options beside its ``--plot``; ``more`` are the names of other parameters with pictures."""
    own = inspect.signature(run, eval_str=True)
    pictures = [name for name in ("plot_file", *more) if name in own.parameters]
    taken = any(_SIZE in _names(parameter) for parameter in own.parameters.values())
    names = ("--plot-size",) if taken else (_SIZE, "--plot-size")
    size = Annotated[str | None, typer.Option(*names, help=_SIZE_HELP, metavar="W,H")]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in (("title", Title), ("plot_size", size))
    ]

    @functools.wraps(run)
    def command(*, title: str | None = None, plot_size: str | None = None, **given: Any) -> None:
        look = _look(title, plot_size)
        if look != Look() and all(given.get(name) is None for name in pictures):
            option, value = ("size", plot_size) if title is None else ("title", title)
            raise InvalidInput(option, plot.printable(value or "", 40), "come with a picture", "add --plot FILE")
        before = _LOOK.set(look)
        try:
            run(**given)
        finally:
            _LOOK.reset(before)

    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own.parameters.values()]
    command.__signature__ = own.replace(parameters=[*parameters, *added])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in [*parameters, *added]}
    return command


def _names(parameter: inspect.Parameter) -> list[str]:
    """The names of a parameter's option; typer keeps the first of them where a default would be."""
    options = [more for more in getattr(parameter.annotation, "__metadata__", ()) if hasattr(more, "param_decls")]
    return [name for option in options for name in (option.default, *(option.param_decls or ()))]


def _look(title: str | None, size: str | None) -> Look:
    return Look(None if title is None else plot.require_title(title), None if size is None else _inches(size))


def _inches(text: str) -> tuple[float, float]:
    try:
        width, height = map(float, text.split(","))
    except ValueError:
        raise InvalidInput("size", plot.printable(text, 40), "be two numbers W,H", "for example --size 8,5") from None
    return plot.require_size(width, height)


def save_picture(figure: Figure, path: Path, *, overwrite: bool) -> None:
    """Write a picture as the user of the running command wants it to look."""
    look = _LOOK.get() or Look()
    plot.save(figure, path, overwrite=overwrite, title=look.title, size=look.size)
