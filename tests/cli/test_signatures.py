"""Options that are said once: of problems, and of groups that commands share."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import attrs
import pytest
import typer

from mechdesign import Lexicographic, OnGrid
from mechdesign.cli.app import groups, run_of
from mechdesign.cli.overview import NAMES
from mechdesign.cli.signatures import WRITTEN, Asked, Mirror, Part, expanded, is_path, with_files_there
from mechdesign.errors import InvalidInput
from mechdesign.values.declare import OPTION, field, finite, frozen, option, whole


@frozen
class Grid:
    """A problem with options."""

    step: float = finite("step", metadata=option("--step", "How wide."))
    bins: int = whole("bins", 2, 512, default=32, metadata=option("--bins", "How many.", "-b"))
    hidden: int = 7


@frozen
class Group:
    """Options that commands share."""

    name: str = field(default="a", metadata=option("--name", "What it is called.", "--called"))
    loud: bool = field(default=False, metadata=option("--loud", "Says more."))


def options(run: Any) -> dict[str, Any]:
    """The option of each parameter."""
    return {name: one.annotation.__metadata__[0] for name, one in inspect.signature(run).parameters.items()}


def test_a_problem_is_mirrored_by_an_option_for_each_field_that_is_one() -> None:
    def run(asked: Annotated[Asked, Mirror(Grid, needs=("step",))]) -> None: ...

    parameters = inspect.signature(expanded(run)).parameters
    assert list(parameters) == ["step", "bins"]
    assert parameters["step"].default is inspect.Parameter.empty
    assert parameters["bins"].default is None


def test_help_says_range_and_default_of_the_field() -> None:
    def run(asked: Annotated[Asked, Mirror(Grid, needs=())]) -> None: ...

    told = options(expanded(run))
    assert told["bins"].help == "How many. [from 2 to 512; default 32]"
    assert told["step"].help == "How wide."


def test_what_was_left_out_has_the_default_of_the_problem() -> None:
    assert Asked({"step": 0.5, "bins": None}).of(Grid) == Grid(0.5)
    assert Asked({"step": 0.5, "bins": 8, "other": "text"}).of(Grid) == Grid(0.5, 8)


def test_a_value_that_was_read_from_a_text_goes_before_the_text() -> None:
    assert Asked({"step": "a half", "bins": None}).of(Grid, step=0.5) == Grid(0.5)


def test_a_value_that_breaks_the_rule_of_its_field_is_refused_by_the_field() -> None:
    with pytest.raises(InvalidInput, match="bins must be a whole number from 2 to 512"):
        Asked({"step": 0.5, "bins": 1}).of(Grid)


def test_a_group_is_handed_over_as_one_value() -> None:
    seen = []

    def run(count: int, group: Group) -> None:
        seen.append((count, group))

    expanded(run)(count=3, name="b", loud=True)
    assert seen == [(3, Group("b", True))]


def test_parts_of_a_group_may_be_left_out_and_told_otherwise() -> None:
    def run(group: Annotated[Group, Part("loud", name="Another name.")]) -> None: ...

    told = options(expanded(run))
    assert list(told) == ["name"]
    assert told["name"].help == "Another name."


def test_a_command_without_groups_stays_as_it_is() -> None:
    def run(count: int) -> None: ...

    assert expanded(run) is run


@pytest.mark.parametrize(("command", "kind"), [("minimax", Lexicographic), ("aaa", OnGrid)])
def test_commands_take_every_option_that_their_problem_declares(command: str, kind: Any) -> None:
    known = inspect.signature(run_of(command)).parameters
    declared = [field.name for field in attrs.fields(kind) if OPTION in field.metadata]
    assert declared
    assert set(declared) <= known.keys()


@pytest.mark.parametrize("command", [name for name in NAMES if name not in groups()])
def test_no_option_of_a_command_has_two_meanings(command: str) -> None:
    run = run_of(command)
    names: list[str] = []
    for one in inspect.signature(run).parameters.values():
        told = one.annotation.__metadata__[0] if hasattr(one.annotation, "__metadata__") else None
        if told is not None and isinstance(told.default, str):
            names += [told.default, *(told.param_decls or ())]
    assert len(names) == len(set(names))


READ = {
    *("ARGUMENT", "--data", "--dataset", "--in", "--points", "--prior-data", "--loss-matrix", "--privacy-matrix"),
    *("--channel", "--rival", "--labels-file", "--survey", "--of", "--device", "--again", "--source", "--signature"),
    *("--key", "--password-file", "--polygon", "--candidates", "--x-table", "--y-table", "--direction", "--distance"),
    *("--design", "--reports"),
}


def paths_of(run: Any) -> set[str]:
    """The options of a command that are paths, and ARGUMENT where an argument is one."""
    hints = get_type_hints(run, include_extras=True).values()
    marked = [hint for hint in hints if hasattr(hint, "__metadata__") and is_path(hint.__origin__)]
    names = [hint.__metadata__[0].default for hint in marked]
    return {name if isinstance(name, str) and name.startswith("--") else "ARGUMENT" for name in names}


def test_of_every_path_it_is_said_whether_it_is_read_or_written() -> None:
    inner = [one for module in groups().values() for one in module.app.registered_commands]
    runs = [*(run_of(name) for name in NAMES if name not in groups()), *(one.callback for one in inner)]
    assert set().union(*map(paths_of, runs)) == READ | set(WRITTEN)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_path_that_is_written_need_not_be_there(name: str) -> None:
    def looks(name: str) -> bool:
        def run(path: Path) -> None: ...

        run.__annotations__["path"] = Annotated[Path, typer.Option(name)]
        hints = get_type_hints(with_files_there(run), include_extras=True)
        return hints["path"].__metadata__[0].callback is not None

    assert not looks(name)
    assert looks("--data")
