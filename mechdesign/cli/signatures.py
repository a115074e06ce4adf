"""Options that are said once: fields of the words of problems and of groups of options become those of commands.

A command's parameter may be a group, a frozen class whose fields are options: it is given the value of that class. Or
it may be `Asked`, marked with the classes whose fields it mirrors: it is given what was said for them.

Every command gets numbers as `data.numbers` has them, and those that read data ``--show-values``.
"""

from __future__ import annotations

import glob
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import attrs
import typer
from typer.models import ParameterInfo

from mechdesign.data.headers import header_of
from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.errors import showing_values
from mechdesign.values import files
from mechdesign.values.declare import GROUP, OPTION, Option, range_of
from mechdesign.words.losses import Power

Run = Callable[..., None]
P = TypeVar("P")


# -- words as options -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said for the fields of words: numbers as numbers, all else as text; None where it was left out."""

    said: Mapping[str, Any]

    def __getitem__(self, field: str) -> Any:
        return self.said[field]

    def of(self, kind: Callable[..., P], **more: Any) -> P:
        """The word that was asked for, with its own defaults; ``more`` are fields that were read from texts."""
        names = {field.name for field in attrs.fields(cast(Any, kind))}
        given = {name: value for name, value in self.said.items() if value is not None and name in names - more.keys()}
        return kind(**given, **more)


class Mirror:
    """Marks an `Asked` parameter: it has the options of these classes; those in ``needs`` have to be given."""

    def __init__(self, *kinds: type, needs: tuple[str, ...] = ("epsilon",)) -> None:
        self.kinds, self.needs = kinds, needs

    def parameters(self) -> Iterator[inspect.Parameter]:
        """The options, each field once."""
        hints = [get_type_hints(kind) for kind in self.kinds]
        seen: set[str] = set()
        for kind, types in zip(self.kinds, hints, strict=True):
            for field in attrs.fields(cast(Any, kind)):
                if field.name not in seen and OPTION in field.metadata:
                    seen.add(field.name)
                    told: Option = field.metadata[OPTION]
                    help = told.help + self._more(field.name)
                    taken = _plain(types[field.name])
                    default = inspect.Parameter.empty if field.name in self.needs else None
                    yield _parameter(field.name, attrs.evolve(told, help=help), taken, default)

    def collected(self, given: dict[str, Any]) -> Asked:
        return Asked({parameter.name: given.pop(parameter.name) for parameter in self.parameters()})

    def _more(self, name: str) -> str:
        """Default and range, as help pages show them."""
        declared = [attrs.fields_dict(cast(Any, kind)).get(name) for kind in self.kinds]
        found = [field for field in declared if field is not None]
        texts = [default for default in dict.fromkeys(_shown(field.default) for field in found) if default]
        ends = [f"{word} {end:g}" for word, end in zip(("from", "to"), range_of(found[0]), strict=True) if end]
        more = [*([" ".join(ends)] if ends else []), *([f"default {', '.join(texts)}"] if texts else [])]
        return f" [{'; '.join(more)}]" if more and name not in self.needs else ""


def _shown(default: Any) -> str:
    """A default for the eyes; nothing where it says that something else is chosen."""
    if isinstance(default, Power):
        return default.name
    return f"{default:g}" if isinstance(default, int | float) and default else ""


def _plain(declared: Any) -> Any:
    """What an option is read as: a number, else a text."""
    members = {*(get_args(declared) or (declared,))} - {NoneType}
    return next((kind for kind in (int, float) if members == {kind}), str) | None


# -- groups of options ------------------------------------------------------------------------------------------------


class Part:
    """Marks a parameter that is a group: some of its fields are left out, some have another help text."""

    def __init__(self, *but: str, **helps: str) -> None:
        self.but, self.helps = but, helps


class _Group:
    def __init__(self, kind: Any, part: Part) -> None:
        self.kind, self.part = kind, part

    def parameters(self) -> Iterator[inspect.Parameter]:
        types = get_type_hints(self.kind)
        inner = self._inner()
        for field in attrs.fields(self.kind):
            if field.name in inner:
                yield from inner[field.name].parameters()
            elif field.name not in self.part.but and OPTION in field.metadata:
                told: Option = field.metadata[OPTION]
                told = attrs.evolve(told, help=self.part.helps.get(field.name, told.help))
                yield _parameter(field.name, told, _taken(types[field.name]), _written(field.default))

    def collected(self, given: dict[str, Any]) -> Any:
        """The value of the group: what was left out has its own default."""
        inner = self._inner()
        own = {one.name for group in inner.values() for one in group.parameters()}
        groups = {name: group.collected(given) for name, group in inner.items()}
        mine = [parameter for parameter in self.parameters() if parameter.name not in own]
        said = {parameter.name: (given.pop(parameter.name), parameter.default) for parameter in mine}
        return self.kind(**{name: value for name, (value, default) in said.items() if value != default}, **groups)

    def _inner(self) -> dict[str, _Group]:
        """The groups that are fields of this one."""
        marked = {field.name: field.metadata[GROUP] for field in attrs.fields(self.kind) if GROUP in field.metadata}
        return {name: _Group(kind, Part(*but, **self.part.helps)) for name, (kind, but) in marked.items()}


def _taken(declared: Any) -> Any:
    """What an option of a group is read as: itself if a shell can say it, else a text that the field reads."""
    if declared == tuple[Path, ...]:
        return list[Path]
    members = {*(get_args(declared) or (declared,))}
    if tuple[Path, ...] in members:
        return list[Path] | None
    if members - {NoneType} <= {bool, int, float, str, Path} and get_origin(declared) is not tuple:
        return declared
    return str | None if NoneType in members else str


def _written(default: Any) -> Any:
    """A default as a shell would say it."""
    if default is attrs.NOTHING:
        return inspect.Parameter.empty
    return ",".join(map(_said, default)) if isinstance(default, tuple) else default


def _said(one: Any) -> str:
    return f"{one:g}" if isinstance(one, float) else str(one)


def _parameter(name: str, told: Option, kind: Any, default: Any) -> inspect.Parameter:
    more: dict[str, Any] = {"help": told.help, "metavar": told.metavar, "autocompletion": completion(told.words)}
    shown: Any = typer.Option(*told.names, **more) if told.names else typer.Argument(**more)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown])


def completion(words: Callable[[], Iterable[str]] | None) -> Callable[[str], list[str]] | None:
    """What a shell is offered for an option: words, of a list the last one."""
    if words is None:
        return None

    def offered(incomplete: str) -> list[str]:
        *before, last = incomplete.split(",")
        return [",".join([*before, word]) for word in words() if word.startswith(last)]

    return offered


COLUMNS = ("--column", "--columns", "--label", "--keep", "--id", "--time", "--x", "--y")
"""Options that name columns of a file about people."""


def column_names(context: typer.Context, incomplete: str) -> list[str]:
    """What a shell is offered for names of columns: those in the first line of the CSV files that were named."""
    *before, last = incomplete.split(",")
    said = [
        one
        for given in (context.args, *context.params.values())
        for one in (given if isinstance(given, list | tuple) else [given])
    ]
    found = [name for one in said if isinstance(one, str | Path) for name in header_of(Path(one))]
    return [",".join([*before, name]) for name in dict.fromkeys(found) if name.startswith(last)]


def with_columns_offered(run: Run) -> Run:
    """The same command, whose options that name columns are completed."""
    hints = get_type_hints(run, include_extras=True)
    for hint in hints.values():
        for told in getattr(hint, "__metadata__", ()):
            if isinstance(told, ParameterInfo) and told.default in COLUMNS and told.autocompletion is None:
                told.autocompletion = column_names
    run.__annotations__ = hints
    return run


def _group_of(hint: Any) -> Mirror | _Group | None:
    kind, *marks = (hint.__origin__, *hint.__metadata__) if get_origin(hint) is Annotated else (hint,)
    mirror = next((mark for mark in marks if isinstance(mark, Mirror)), None)
    if mirror is not None:
        return mirror
    if isinstance(kind, type) and attrs.has(kind):
        return _Group(kind, next((mark for mark in marks if isinstance(mark, Part)), Part()))
    return None


def expanded(run: Run) -> Run:
    """The command with an option for every field of its groups."""
    hints = get_type_hints(run, include_extras=True)
    own = inspect.signature(run).parameters.values()
    groups = {name: group for name, hint in hints.items() if (group := _group_of(hint)) is not None}
    if not groups:
        return run
    parameters: list[inspect.Parameter] = []
    for parameter in own:
        if parameter.name in groups:
            parameters.extend(groups[parameter.name].parameters())
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name]))

    @wraps(run)
    def command(**given: Any) -> None:
        run(**{name: group.collected(given) for name, group in groups.items()} | given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


# -- what every command gets ------------------------------------------------------------------------------------------


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


WRITTEN = ("--out", "--plot", "--structure-plot", "--curve", "--results", "--store", "--new-key", "--send")
"""Options that are paths which a command may make; all other paths are read."""
_DATA = ("--data", "--dataset", "--in")
_PEOPLE = (*_DATA, "--points", "--prior-data")
"""Options that are files about people; a command that has them as arguments says `READS_DATA`."""


def with_files_there(run: Run) -> Run:
    """The same command, which says that a file it would read is missing before it asks for anything else."""
    hints = get_type_hints(run, include_extras=True)
    for hint in hints.values():
        for told in getattr(hint, "__metadata__", ()):
            if isinstance(told, ParameterInfo) and told.default not in WRITTEN and is_path(hint.__origin__):
                told.callback = _data_there if told.default in _DATA else _file_there
    run.__annotations__ = hints
    return run


def reads_data(run: Run) -> bool:
    """Whether an option of the command is a file about people."""
    hints = get_type_hints(run, include_extras=True).values()
    return any(
        getattr(told, "default", None) in _PEOPLE for hint in hints for told in getattr(hint, "__metadata__", ())
    )


def is_path(kind: Any) -> bool:
    """Whether a parameter of this type is a path, or several."""
    return kind is Path or any(map(is_path, get_args(kind)))


def _file_there(given: Any) -> Any:
    return _there(given, "file")


def _data_there(given: Any) -> Any:
    return _there(given, "data file")


def _there(given: Any, what: str) -> Any:
    """What was given, of which every path that is no pattern is there."""
    for path in given if isinstance(given, list | tuple) else [given]:
        if path is not None and not glob.has_magic(str(path)):
            files.require_there(path, what)
    return given


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
