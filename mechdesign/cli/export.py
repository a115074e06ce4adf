"""Tables in other languages: one file of the runtime and a table, or packages, and vectors they reproduce."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import devices, output
from mechdesign.cli.sent import Written
from mechdesign.cli.signatures import completion
from mechdesign.errors import InvalidInput, marked
from mechdesign.plot.canvas import printable
from mechdesign.tables.device.description import Device
from mechdesign.tables.export.folder import export_package, tables_of
from mechdesign.tables.export.registry import LANGUAGES, PACKAGED, require_state
from mechdesign.tables.export.single import export_table
from mechdesign.tables.export.words import comes_out, goes_in
from mechdesign.tables.reports.collection import Collection, is_collection, load_collection
from mechdesign.tables.table import Table, load_table
from mechdesign.tables.vectors import boundaries_left_out
from mechdesign.values import files
from mechdesign.values.declare import frozen
from mechdesign.values.rules import comes_with, left_out_with

_MOST_LISTED = 8
_PROOF = "coq"
_CHOICES = f"{', '.join(LANGUAGES)}; {_PROOF}, for theorems about the table; with --package {', '.join(PACKAGED)}"


@frozen
class Answer:
    """The source that was written, and what goes in and comes out of it."""

    language: str
    sha256: str
    kind: str
    epsilon: float
    input: str
    output: str
    boundaries_left_out: int
    files: tuple[str, ...]


@frozen
class Packed:
    """A table of a package: the name of its sampler there, and what goes in and comes out of it."""

    name: str
    sha256: str
    kind: str
    epsilon: float
    input: str
    output: str
    boundaries_left_out: int


@frozen
class PackageAnswer:
    """The package that was written."""

    language: str
    package: str
    folder: str
    tables: tuple[Packed, ...]
    files: tuple[str, ...]
    device: devices.Told | None = output.if_shown()


@frozen
class ProofAnswer:
    """The theorems that were written, which nobody has checked yet: `verify --formal` has Coq do it."""

    language: str
    sha256: str
    kind: str
    epsilon: float
    files: tuple[str, ...]


ANSWERS = ((Answer,), (PackageAnswer,), (ProofAnswer,))
EXAMPLE = """\
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
export smokes.json --to python --out sampler
export smokes.json --to typescript --package survey"""
RULES = (
    comes_with("reports", package=(), step="a package has the device file, too: add --package NAME"),
    left_out_with("to", "package", word=_PROOF, why="theorems are no package: add --out DIR"),
    comes_with("design", to=(_PROOF,)),
    comes_with("values", "again", reports=(), step="say how many reports a device makes a period"),
)


def run(
    file: Annotated[
        list[Path],
        typer.Argument(
            help="A table written by the table command; several, or a collection, go to a package.", metavar="FILE"
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help=f"The language: {_CHOICES}.",
            metavar="LANGUAGE",
            autocompletion=completion(lambda: dict.fromkeys((*LANGUAGES, *PACKAGED, _PROOF))),
        ),
    ],
    sent: Written,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A folder for the sources, or for a package a new one (NAME).", metavar="DIR"),
    ] = None,
    package: Annotated[
        str | None,
        typer.Option(
            "--package", help="A package of this name: manifest, licence, tests. Tables' file names name its samplers."
        ),
    ] = None,
    reports: Annotated[
        int | None,
        typer.Option("--reports", help="With a state on the device: how many reports it makes a period.", metavar="N"),
    ] = None,
    values: Annotated[
        int | None,
        typer.Option(
            "--values", help="How many values it remembers a draw for; 0, the default, draws every report afresh."
        ),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option("--again", help="A table that randomises what is remembered in every report.", metavar="FILE"),
    ] = None,
    design: Annotated[
        Path | None,
        typer.Option(
            "--design", help=f"For {_PROOF}: the table's design, for the theorem about its optimum.", metavar="FILE"
        ),
    ] = None,
) -> None:
    if reports is not None:
        assert package is not None
        require_state(to)
        _packaged(_with_second(file, again), to, package, out, sent, _device(file, again, values, reports))
        return
    if package is not None:
        _packaged(file, to, package, out, sent)
        return
    path = _only(file)
    if to == _PROOF:
        _proof(path, design, _named(out), sent)
        return
    if to in PACKAGED and to not in LANGUAGES:
        raise InvalidInput("to", to, f"be one of {', '.join(LANGUAGES)} without --package", "add --package NAME")
    folder = _named(out)
    with output.progress("writing sources and test vectors", quiet=sent.quiet):
        table = load_table(path)
        written = export_table(table, to, folder, overwrite=sent.force)
    left_out = boundaries_left_out(table)
    if sent.as_json:
        about = to, table.sha256, table.kind, float(table.epsilon), goes_in(table), comes_out(table)
        output.print_json(Answer(*about, left_out, tuple(map(str, written))))
        return
    output.console.print(f"{table.kind} table of {table.bits} bits, {marked(table.name)}, to {to}", markup=False)
    _say(table, left_out)
    for source in written:
        output.console.print(f"  wrote {source}", markup=False, soft_wrap=True)


def _proof(path: Path, design: Path | None, folder: Path, sent: Written) -> None:
    from mechdesign.methods.saved import load_design
    from mechdesign.tables.formal.source import export_proof

    table = load_table(path)
    written = export_proof(table, folder, None if design is None else load_design(design), overwrite=sent.force)
    if sent.as_json:
        about = _PROOF, table.sha256, table.kind, float(table.epsilon)
        output.print_json(ProofAnswer(*about, tuple(map(str, written))))
        return
    output.console.print(f"{table.kind} table of {table.bits} bits, {marked(table.name)}, to {_PROOF}", markup=False)
    output.console.print(f"  wrote {written[0]} and the theories beside it", markup=False, soft_wrap=True)
    output.console.print(
        f"  not checked yet: `make` and coqc do it there, or verify {printable(path.name)} --formal", markup=False
    )


def _only(paths: list[Path]) -> Path:
    if len(paths) > 1:
        rule = "be one table where no package is asked for"
        raise InvalidInput("file", f"{len(paths)} files", rule, "add --package NAME, or export them one by one")
    return paths[0]


def _named(out: Path | None) -> Path:
    if out is None:
        raise InvalidInput("out", "nothing", "name a folder for the sources", "add --out DIR, or --package NAME")
    return out


def _device(paths: list[Path], again: Path | None, values: int | None, reports: int) -> Device:
    if _collection(paths) is not None:
        rule = "be a table where a device keeps a state: each attribute of a collection has a device of its own"
        step = "export a package for every table; what one person loses by all of them adds up"
        raise InvalidInput("file", paths[0].name, rule, step)
    if len(paths) > 1:
        rule = "be one table where a device keeps a state: each question has a device of its own"
        step = "export a package for every question; what one person loses by all of them adds up"
        raise InvalidInput("file", f"{len(paths)} files", rule, step)
    return devices.asked(paths[0], again, values or 0, reports)


def _with_second(paths: list[Path], again: Path | None) -> list[Path]:
    """The files of a device's package: a second table that is the first one again is there once."""
    if again is None or (len(paths) == 1 and load_table(again).sha256 == load_table(paths[0]).sha256):
        return paths
    return [*paths, again]


def _packaged(
    paths: list[Path], to: str, package: str, out: Path | None, sent: Written, device: Device | None = None
) -> None:
    folder = Path(package.rpartition("/")[2]) if out is None else out
    with output.progress("writing a package and its test vectors", quiet=sent.quiet):
        collection = _collection(paths)
        tables = _tables(paths) if collection is None else tables_of(collection)
        told = None if device is None else devices.told(device)
        written = export_package(collection or tables, to, package, folder, device=device)
    left_out = {name: boundaries_left_out(table) for name, table in tables.items()}
    if sent.as_json:
        packed = []
        for name, table in tables.items():
            about = name, table.sha256, table.kind, float(table.epsilon), goes_in(table), comes_out(table)
            packed.append(Packed(*about, left_out[name]))
        output.print_json(PackageAnswer(to, package, str(folder), tuple(packed), tuple(map(str, written)), told))
        return
    output.console.print(f"package {package}, for {to}", markup=False, soft_wrap=True)
    for name, table in tables.items():
        output.console.print(f"  {name}: {table.kind} table of {table.bits} bits, {marked(table.name)}", markup=False)
        _say(table, left_out[name])
    if device is not None and told is not None:
        devices.show(device, told)
    made = f"{len(written)} files to {printable(str(folder))}"
    output.console.print(f"  wrote {made}; README.md says how to build and test", markup=False, soft_wrap=True)


def _collection(paths: list[Path]) -> Collection | None:
    """The collection that the file is, if it is one; among other files it is refused."""
    found = next((path for path in paths if is_collection(files.read_bytes(path))), None)
    if found is None:
        return None
    if len(paths) > 1:
        rule = "come alone: a package is of one collection, or of tables"
        raise InvalidInput("file", found.name, rule, "the collection has its tables in it")
    return load_collection(found)


def _tables(paths: list[Path]) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for path in paths:
        name = _name_of(path)
        if name in tables:
            raise InvalidInput("file", path.name, f"have another name than the other table called {name}")
        tables[name] = load_table(path)
    return tables


def _name_of(path: Path) -> str:
    """What a table is called in a package: the name of its file, with _ for what no identifier has.

    >>> _name_of(Path("tables/Smokes-now.table.json"))
    'smokes_now'
    """
    stem = path.name.lower().removesuffix(".json").removesuffix(".table")
    return re.sub(r"[^a-z0-9_]+", "_", stem, flags=re.ASCII).strip("_")


def _say(table: Table, left_out: int) -> None:
    """What goes in and comes out of a sampler, and what its vectors do not notice."""
    output.console.print(f"  in: {goes_in(table)}{_listed(table.labels.inputs)}", markup=False, soft_wrap=True)
    output.console.print(f"  out: {comes_out(table)}{_listed(table.labels.outputs)}", markup=False, soft_wrap=True)
    if left_out:
        rule = f"test vectors: {left_out} boundaries are left out, so they do not notice every change of a number"
        output.warn(rule)
    if table.labels.inputs is not None or table.labels.outputs is not None:
        output.console.print("  codes, which test vectors hold, have a function of their own", markup=False)


def _listed(labels: tuple[str, ...] | None) -> str:
    if labels is None:
        return ""
    more = ", ..." if len(labels) > _MOST_LISTED else ""
    return f": {', '.join(printable(json.dumps(text, ensure_ascii=False)) for text in labels[:_MOST_LISTED])}{more}"
