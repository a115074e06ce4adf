"""A table file, checked in integers: PASS, or the exact entry that fails (exit code 1).

A collection is checked with all its tables, the manifest of a folder of reports with all its files. With --public-key
the signature beside the file has to hold, too. With --device a device file of the table is checked and its losses told.
With --formal Coq checks that the table is private, and what is known of its optimum, as theorems.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mechdesign import plot
from mechdesign.cli import devices, output
from mechdesign.cli.collection import counted
from mechdesign.cli.sent import Said
from mechdesign.errors import FileProblem, InvalidInput, marked
from mechdesign.tables import checker
from mechdesign.tables.device.description import Device, load_device
from mechdesign.tables.export.difference import device_named, is_packaged, package_difference, package_of
from mechdesign.tables.export.single import Difference, source_difference
from mechdesign.tables.manifest import MANIFEST, Manifest
from mechdesign.tables.reports.collection import is_collection, load_collection
from mechdesign.tables.reports.signing import BadSignature, Signed, verify as verify_signature
from mechdesign.tables.summary import kept_words
from mechdesign.tables.table import Table, is_design, load_table
from mechdesign.values import files
from mechdesign.values.declare import evolved, frozen
from mechdesign.values.rules import comes_with
from mechdesign.words.privacy import Pure

_WIDTH = 80


@frozen
class Formal:
    """Theorems that Coq accepted, as it prints them, and the axioms that they rest on."""

    statements: tuple[str, ...]
    axioms: tuple[str, ...]


@frozen
class Answer:
    """The verdict; what a table that passes is."""

    verdict: Literal["PASS", "FAIL"]
    failures: tuple[str, ...]
    privacy_loss: float | None
    epsilon: float | None
    kind: str | None = output.if_shown()
    bits: int | None = output.if_shown()
    sha256: str | None = output.if_shown()
    signed_comment: str | None = output.if_shown()
    device: devices.Told | None = output.if_shown()
    formal: Formal | None = output.if_shown()


ANSWERS = ((Answer,),)
EXAMPLE = """\
table --eps 1 --mechanism pm --out pm.json
verify pm.json"""
RULES = (
    comes_with("signature", public_key=()),
    comes_with("again", device=(), step="give the device file that names both tables"),
)


def run(
    file: Annotated[Path, typer.Argument(help="A table, a collection or a _manifest.json.", metavar="FILE")],
    sent: Said,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            help="A file or a package that should be an export of this table; FAIL tells what differs first.",
        ),
    ] = None,
    public_key: Annotated[
        str | None, typer.Option("--public-key", help="The file must be signed by this key: its file or its base64.")
    ] = None,
    signature: Annotated[
        Path | None, typer.Option("--signature", help="The signature, if it is not FILE.minisig.", metavar="FILE")
    ] = None,
    device: Annotated[
        Path | None,
        typer.Option("--device", help="A device file of this table: what its reports lose together.", metavar="FILE"),
    ] = None,
    again: Annotated[
        Path | None, typer.Option("--again", help="The second table that the device file names.", metavar="FILE")
    ] = None,
    formal: Annotated[
        bool, typer.Option("--formal", help="Have Coq check the table's privacy as a theorem; Coq must be installed.")
    ] = False,
    design: Annotated[
        Path | None,
        typer.Option(
            "--design",
            help="With --formal, or --source and a file of Coq: the design, for the theorem about its optimum.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    if design is not None and not formal and not _is_proof(source):
        rule = "come with --formal, or with --source and a file of Coq"
        raise InvalidInput("design", design.name, rule, "add --formal")
    if file.is_dir():
        step = f"of a folder of reports take its {MANIFEST}, of a package one of its tables"
        raise InvalidInput("file", str(file), "be a file", step)
    content = files.read_bytes(file)
    if is_design(content):
        output.warn(f"this is a design, not a table: make one with table {plot.printable(file.name)} --out t.json")
    signed = None
    try:
        with output.progress("checking the file", quiet=sent.quiet):
            if public_key is not None:
                signed = verify_signature(file, public_key, signature)
            other = _other(file, content, source, device)
            if other is None:
                checker.check(content)
            elif formal:
                rule = "come with a table: theorems are about one"
                raise InvalidInput("options", "--formal", rule, "of a collection take one of its tables")
    except (checker.Failed, BadSignature, _Wrong) as failure:
        if sent.as_json:
            output.print_json(Answer("FAIL", (str(failure),), None, None))
        else:
            output.console.print(f"FAIL {plot.printable(str(failure))}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    comment = None if signed is None else signed.comment
    if other is not None:
        _say_other(other, signed, as_json=sent.as_json)
        return
    table = Table(content)
    kept = None if device is None else load_device(device, table, None if again is None else load_table(again))
    difference = None if source is None else _difference(table, kept, source, design)
    said = None if kept is None else devices.told(kept)
    proven = _proven(table, design, sent) if formal else None
    if sent.as_json:
        failures = () if difference is None else (difference,)
        of = table.privacy_loss, float(table.epsilon), table.kind, table.bits, table.sha256, comment
        output.print_json(Answer("FAIL" if failures else "PASS", failures, *of, said, proven))
        _end(difference)
        return
    output.console.print(
        f"PASS {table.kind} table of {table.bits} bits, {marked(table.name)}\n{_kept(table)}\n  sha256: {table.sha256}",
        markup=False,
        soft_wrap=True,
    )
    _say_signed(signed)
    if kept is not None and said is not None:
        devices.show(kept, said)
    if proven is not None:
        _say_proven(proven)
    if source is not None:
        verdict = f"PASS {plot.printable(source.name)} is an export of this table"
        if difference is not None:
            verdict = f"FAIL {difference}"
        output.console.print(verdict, markup=False, soft_wrap=True)
    _end(difference)


def _kept(table: Table) -> str:
    if not isinstance(table.privacy, Pure):
        return "\n".join(kept_words(table))
    return f"  privacy loss: {table.privacy_loss:.12g} (computed exactly, at most eps = {float(table.epsilon):.12g})"


def _proven(table: Table, design: Path | None, sent: Said) -> Formal:
    """What Coq accepts of the table; what it refuses ends the command."""
    from mechdesign.methods.saved import load_design
    from mechdesign.tables.formal.accepting import Refusal, require_coq, theorems

    require_coq()
    known = None if design is None else load_design(design)
    try:
        with output.progress("Coq checks the theories and the table", quiet=sent.quiet):
            found = theorems(table, known)
    except Refusal as refusal:
        if sent.as_json:
            output.print_json(Answer("FAIL", (str(refusal),), None, None))
        else:
            output.console.print(f"FAIL Coq refuses it: {plot.printable(str(refusal))}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    return Formal(found.statements, found.axioms)


def _say_proven(proven: Formal) -> None:
    output.console.print("PASS coqc and coqchk accept", markup=False)
    for statement in proven.statements:
        output.console.print(f"  {statement}", markup=False, soft_wrap=True)
    output.console.print(
        f"  axioms, those of Coq's real numbers: {', '.join(proven.axioms)}", markup=False, soft_wrap=True
    )


class _Wrong(Exception):
    """What is wrong with a file that is no table."""


@frozen
class _Other:
    """A file that is no table, and passed."""

    words: str
    answer: Answer


def _other(file: Path, content: bytes, source: Path | None, device: Path | None) -> _Other | None:
    """A collection or a manifest, checked; none for everything else."""
    is_manifest = f'"kind": "{Manifest.kind}"'.encode() in content[:4096]
    if not (is_collection(content) or is_manifest):
        return None
    if source is not None:
        raise InvalidInput(
            "options",
            "--source",
            "come with a table: its export is compared with it",
            "of a collection take one of its tables",
        )
    if device is not None:
        raise InvalidInput("options", "--device", "come with a table: the first one that the device file names")
    try:
        if is_manifest and file.name != MANIFEST:
            raise _Wrong(f"{file.name}: a manifest is called {MANIFEST} and lies among its files")
        if is_manifest:
            manifest = Manifest.read(file.parent)
            rows = sum(part.rows for part in manifest.parts)
            words = f"manifest of {len(manifest.parts)} files with {rows:,} reports, none of which was changed"
            return _Other(words, Answer("PASS", (), None, float(manifest.epsilon), Manifest.kind))
        collection = load_collection(file)
    except FileProblem as problem:
        raise _Wrong(str(problem)) from None
    total, loss = float(collection.epsilon), collection.privacy_loss
    words = (
        f"collection of {len(collection.attributes)} tables ({collection.spending.value}), {marked(collection.name)}\n"
        f"  privacy loss of a person: {loss:.12g} (computed exactly, at most eps = {total:.12g})\n"
        + "".join(f"  {said}\n" for said in counted(collection))
        + f"  sha256: {collection.sha256}"
    )
    return _Other(words, Answer("PASS", (), loss, total, "collection", sha256=collection.sha256))


def _say_other(other: _Other, signed: Signed | None, *, as_json: bool) -> None:
    if as_json:
        comment = None if signed is None else signed.comment
        output.print_json(evolved(other.answer, signed_comment=comment))
        return
    output.console.print(f"PASS {other.words}", markup=False, soft_wrap=True)
    _say_signed(signed)


def _say_signed(signed: Signed | None) -> None:
    if signed is not None:
        comment = plot.printable(signed.comment, _WIDTH)
        output.console.print(f"  signed by {signed.key}, with the comment {comment!r}", markup=False, soft_wrap=True)


def _is_proof(source: Path | None) -> bool:
    """Whether it is called as files of Coq are."""
    from mechdesign.tables.formal.source import ENDING

    return source is not None and source.suffix == ENDING


def _differs_from_proof(table: Table, source: Path, design: Path | None) -> Difference | None:
    from mechdesign.methods.saved import load_design
    from mechdesign.tables.formal.source import proof_difference

    return proof_difference(table, source, None if design is None else load_design(design))


def _difference(table: Table, kept: Device | None, source: Path, design: Path | None) -> str | None:
    """What differs first, in words: of a package, a file in one, or any other file; or None."""
    name = plot.printable(source.name)
    package = source if is_packaged(source) or source.is_dir() else package_of(source)
    if package is not None:
        wrong = package_difference(table, package, None if package == source else source)
        if wrong is None and kept is not None and device_named(package) != kept.sha256:
            return f"{name}: is a package of another device, or of none"
        if wrong is None:
            return None
        return f"{name}: {plot.printable(wrong.path, _WIDTH)} {plot.printable(wrong.rule, 2 * _WIDTH)}"
    other = _differs_from_proof(table, source, design) if _is_proof(source) else source_difference(table, source)
    if other is None:
        return None
    expected, found = (plot.printable(text, _WIDTH) for text in (other.expected, other.found))
    return f"{name}, line {other.line}: must be {expected!r}, not {found!r}"


def _end(difference: str | None) -> None:
    if difference is not None:
        raise typer.Exit(1)
