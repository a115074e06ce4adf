"""Which mechanism to take for what is wanted: computed at these users and this eps, with three commands to go on with.

Without options on a terminal it asks. Errors are exact, certified or simulated, and the answer says which. Data are
read to compute and never shown; bounds that are proposed from them are not private.

For example: advise --want mean --users 50000 --eps 1 --bounds 0,250000
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign.cli import output
from mechdesign.cli.sent import Said
from mechdesign.cli.signatures import completion
from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.data.sources import open_data
from mechdesign.data.texts import labels_of_line
from mechdesign.errors import InvalidInput, listed, require_one_of
from mechdesign.studies.advice import WANTS, Advice, advise
from mechdesign.studies.advice.question import OF_WANT
from mechdesign.studies.frequencies.datasets import parse_domain_labels
from mechdesign.words.losses import SPELLINGS

ANSWERS = ((Advice,),)
EXAMPLE = """\
examples
advise --want mean --data salaries.csv --column salary --bounds 0,250000 --eps 1"""

_ASKED: dict[str, tuple[str, Callable[[str], Any]]] = {
    "epsilon": ("Privacy parameter eps, such as 1", require_number_text),
    "users": ("How many users", require_whole_text),
    "bounds": ("What values can be, known beforehand: LO,HI (whole numbers LO..HI, places W,E,S,N)", str),
    "labels": ("The answers: A,B,C or LO..HI", str),
    "size": ("How many answers, or bins", require_whole_text),
    "loss_matrix": ("The file of the loss matrix", str),
    "attributes": ("The sizes of the attributes, and of how many a table is: AxBxC[,ORDER]", str),
    "capacity": ("The capacity", require_number_text),
    "tau": ("The chance of a false alarm, below", require_number_text),
}
"""What is asked for on a terminal, and how its text is read."""


def run(
    sent: Said,
    want: Annotated[
        str | None, typer.Option("--want", help=f"One of {', '.join(WANTS)}.", autocompletion=completion(lambda: WANTS))
    ] = None,
    eps: Annotated[float | None, typer.Option("--eps", help="Privacy parameter, above 0.")] = None,
    users: Annotated[int | None, typer.Option("--users", help="How many users report (else those in --data).")] = None,
    data: Annotated[Path | None, typer.Option("--data", help="A file to compute with: .csv or .parquet.")] = None,
    column: Annotated[str | None, typer.Option("--column", help="Its column (if there are several).")] = None,
    bounds: Annotated[
        str | None,
        typer.Option("--bounds", help="What values can be: LO,HI; whole numbers LO..HI; places W,E,S,N."),
    ] = None,
    size: Annotated[int | None, typer.Option("--size", help="Number of answers, or of bins.")] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="The answers: a line of CSV, or LO..HI.", metavar="A,B,..."),
    ] = None,
    loss: Annotated[
        str | None, typer.Option("--loss", help=f"Of a single report: {SPELLINGS} (absolute unless given).")
    ] = None,
    loss_matrix: Annotated[Path | None, typer.Option("--loss-matrix", help="With matrix: .csv or .npy.")] = None,
    capacity: Annotated[float | None, typer.Option("--capacity", help="With alarm: what all share.")] = None,
    metric: Annotated[str | None, typer.Option("--metric", help="With alarm: fp (unless given), fn, tp or tn.")] = None,
    tau: Annotated[float | None, typer.Option("--tau", help="With alarm: 0.05 unless given.")] = None,
    per: Annotated[
        float | None,
        typer.Option("--per", help="With place: eps is for so many units of distance; --data lists places."),
    ] = None,
    attributes: Annotated[
        str | None,
        typer.Option("--attributes", help="With tables: sizes, and of how many a table is.", metavar="AxBxC[,ORDER]"),
    ] = None,
) -> None:
    said: dict[str, Any] = {
        "epsilon": eps,
        "users": users,
        "data": data,
        "column": column,
        "bounds": bounds,
        "size": size,
        "labels": labels,
        "loss": loss,
        "loss_matrix": loss_matrix,
        "capacity": capacity,
        "metric": metric,
        "tau": tau,
        "per": per,
        "attributes": attributes,
    }
    if want is None:
        if not _somebody_answers() or any(value is not None for value in said.values()):
            raise InvalidInput("want", None, f"be given: one of {', '.join(WANTS)}", "for example --want mean")
        want, said = _asked()
    if said.get("labels") is not None:
        said["labels"] = _labels(said["labels"])
    with output.progress(f"computing what is best for {want}", quiet=sent.quiet):
        advice = advise(want, **said)
    if sent.as_json:
        output.print_json(advice)
        return
    output.console.print(str(advice), soft_wrap=True)


def _labels(text: str) -> tuple[str, ...]:
    """Whole numbers LO..HI, or a line of CSV."""
    if ".." in text and "," not in text:
        return parse_domain_labels(text)
    return labels_of_line(text)


def _somebody_answers() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _asked() -> tuple[str, dict[str, Any]]:
    """What a person wants, question by question; an empty answer leaves a thing out."""
    names = list(WANTS)
    for place, (name, words) in enumerate(WANTS.items(), start=1):
        output.console.print(f"{place:3} {name:12} {words}", soft_wrap=True)
    answer = _ask("What is wanted (a number or a word)")
    if answer.isdecimal() and 1 <= int(answer) <= len(names):
        answer = names[int(answer) - 1]
    want = require_one_of(answer, "want", names)
    said: dict[str, Any] = {}
    if want not in ("figure", "matrix"):
        said |= _asked_data(want)
    has_data = "data" in said
    for name in OF_WANT[want]:
        if name not in _ASKED or (has_data and name == "users") or (name == "size" and "labels" in said):
            continue
        text, read = _ASKED[name]
        given = _ask(f"{text} (Enter if not known)" if has_data or name in ("labels", "size", "tau") else text)
        if given:
            said[name] = _read(name, given, read)
    return want, said


def _asked_data(want: str) -> Mapping[str, Any]:
    file = _ask("A data file to compute with (Enter for none)")
    if not file:
        return {}
    if want in ("place", "trajectory"):
        return {"data": Path(file)}
    data = open_data(Path(file))
    if len(data.names) == 1:
        return {"data": Path(file), "column": data.names[0]}
    known = "" if data.hint else f", one of {listed(data.names)}"  # what may be no names may be values
    return {"data": Path(file), "column": _ask(f"Its column{known}")}


def _ask(text: str) -> str:
    sys.stdout.write(f"{text}: ")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise InvalidInput("answer", None, "be given", "or pass options, such as --want mean")
    return line.strip()


def _read(name: str, text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text)
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(name, text, "be a number") from None
