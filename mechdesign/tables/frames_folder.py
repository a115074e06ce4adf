"""Reports of many files, or of one in parts, written to a folder by any engine: published whole, resumed if killed.

*Guarantee.* The folder appears by one rename, when all reports are there. Until then parts lie in a work folder beside
it that only this user can read. A part appears there by one rename too, and is never drawn again: who starts a killed
run once more keeps all parts that were done. What a killed process had drawn of an unfinished part is removed unread,
and drawn anew: nobody saw the first draw. So each person has one report, and spends one epsilon.

The ``_manifest.json`` of the folder names the table, the column and every part with its rows and SHA-256.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mechdesign.data.sources import FORMS, Progress, data_files, form_of
from mechdesign.engine import Engine, Local, WorkFailed
from mechdesign.errors import FileProblem, InvalidInput, sealed
from mechdesign.tables import manifest
from mechdesign.tables.frames_files import Applied, opened, require_data, write_reports
from mechdesign.tables.frames_parts import Part, Refused, WithErrors, parts_of, require_some
from mechdesign.tables.misfits import REFUSE, Misfits, refused
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.values.declare import evolved, frozen

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_WORK = ".mechdesign-reports"
_DONE = re.compile(r"(\d{6})-(\d+)-(\d+)-([0-9a-f]{64})(\.csv|\.parquet)", re.ASCII)
_AGAIN = "run the same command again: parts that are done are kept"


@frozen
class Done:
    """A part that is there: its rows, those that did not fit, and its SHA-256."""

    file: Path
    rows: int
    bad: int
    sha256: str


@frozen
class Asked:
    """What every worker knows."""

    table: Table
    keep: tuple[str, ...]
    misfits: Misfits
    work: Path


@sealed
def apply_folder(
    table: Table,
    source: Path | str,
    column: str | None,
    out: Path | str,
    *,
    keep: Sequence[str] = (),
    misfits: Misfits = REFUSE,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Applied:
    """Write a folder of reports of one column of a file, of all files of a folder, or of a pattern's.

    Parts keep the format and the order of their files; a large Parquet file becomes several parts. They are drawn where
    the ``engine`` runs (by default here), whose workers must see the folders under the same names. Rows that do not fit
    are refused, counted over all files, unless ``misfits`` say otherwise; then nothing is left behind.
    """
    target, paths = Path(out), data_files(source)
    misfits.require(table)
    _require_new(target, paths)
    pieces = [piece for path in paths for piece in _pieces(path, table, column, keep)]
    if not pieces:
        require_some(0, 0, str(source))
    work = target.parent / f".{target.name}{_WORK}"
    plan = _plan(table, pieces, paths, keep, misfits)
    with _claimed(work, plan, target):
        asked = Asked(table, tuple(keep), misfits, work)
        _draw_all(asked, pieces, engine or Local(1), progress)
        parts = _found(work, len(pieces))
        rows, bad = sum(part.rows for part in parts.values()), sum(part.bad for part in parts.values())
        if not rows:
            shutil.rmtree(work)
            require_some(0, bad, str(source))
        _publish(asked, pieces, parts, target, paths)
    return Applied(target, rows, pieces[0].column, tuple(keep), bad)


def _pieces(path: Path, table: Table, column: str | None, keep: Sequence[str]) -> list[Part]:
    source = opened(path, column, table.labels.inputs)
    require_data(source, keep)
    whole = Part(path.absolute(), source.column, path.stat().st_size)
    return [whole] if source.data.read_groups is None else parts_of(source)


# -- one part ---------------------------------------------------------------------------------------------------------


def _drawn_part(numbered: tuple[int, Part], asked: Asked) -> Done:
    """One part, drawn and published in the work folder."""
    number, piece = numbered
    there = _found(asked.work, number + 1).get(number)
    if there is not None:  # by a worker that was thought dead
        return there
    source = evolved(opened(piece.path, piece.column, asked.table.labels.inputs), part=piece)
    form = form_of(piece.path, "data file")
    draft = asked.work / f"{number:06}.{uuid.uuid4().hex}{form}"
    with files.replacing(draft, like=piece.path) as stream:
        rows, bad = write_reports(stream, form, asked.table, source, asked.keep, asked.misfits)
    sha256 = manifest.digest_of(draft)
    return Done(draft.rename(draft.with_name(f"{number:06}-{rows}-{bad}-{sha256}{form}")), rows, bad, sha256)


def _found(work: Path, most: int, *, check: bool = False) -> dict[int, Done]:
    """The parts that are there; of two draws of one part, which nobody has seen, the first by name."""
    found: dict[int, Done] = {}
    for file in sorted(work.iterdir()):
        match = _DONE.fullmatch(file.name)
        if match is None or int(match[1]) >= most or int(match[1]) in found:
            continue
        if check and manifest.digest_of(file) != match[4]:
            rule = "be as it was drawn: its content and its SHA-256 differ"
            raise FileProblem("part of the reports", str(file), rule, f"remove {work} to draw all anew")
        found[int(match[1])] = Done(file, int(match[2]), int(match[3]), match[4])
    return found


# -- all parts --------------------------------------------------------------------------------------------------------


def _draw_all(asked: Asked, pieces: Sequence[Part], engine: Engine, progress: Progress | None) -> None:
    done = _found(asked.work, len(pieces), check=True)  # of an earlier run; what this one draws it hashes itself
    rows, shares = sum(part.rows for part in done.values()), sum(pieces[number].share for number in done)
    missing = [(number, piece) for number, piece in enumerate(pieces) if number not in done]
    every, errors = sum(piece.share for piece in pieces), dict[int, Refused | InvalidInput]()
    try:
        for position, result in engine(WithErrors(partial(_drawn_part, asked=asked)), missing):
            number, piece = missing[position]
            if isinstance(result, Done):
                rows += result.rows
            elif isinstance(result, FileProblem):
                raise FileProblem(result.field, str(result.value), result.rule, f"{result.next_step}; {_AGAIN}")
            else:
                errors[number] = result
                rows += result.rows if isinstance(result, Refused) else 0
            shares += piece.share
            if progress is not None:
                progress(rows, rows if shares >= every else round(rows * every / max(shares, 1)))
    except WorkFailed as failure:
        raise WorkFailed(f"{failure}; {_AGAIN}") from None
    if errors:
        shutil.rmtree(asked.work)  # what was drawn for other rows was never seen
        first = errors[min(errors)]
        if not isinstance(first, Refused):
            raise first
        misfitting = [error for error in errors.values() if isinstance(error, Refused)]
        raise refused(first.error, sum(error.bad for error in misfitting), rows)


# -- the work folder --------------------------------------------------------------------------------------------------


def _require_new(target: Path, paths: Sequence[Path]) -> None:
    if target.suffix.lower() in FORMS:
        rule = "be a folder where the data are several files, or an engine draws their parts"
        raise FileProblem("output folder", str(target), rule, f"for example --out {target.stem}")
    manifest.require_new(target)
    if any(path.parent.resolve() == target.resolve() for path in paths):
        raise FileProblem("output folder", str(target), "differ from the folder of the data")


def _plan(
    table: Table, pieces: Sequence[Part], paths: Sequence[Path], keep: Sequence[str], misfits: Misfits
) -> dict[str, Any]:
    """What a run must agree on with the one it resumes: the data as they are now, and what becomes of them."""
    stats = [(path.absolute(), path.stat()) for path in paths]
    return {
        "format": "mechdesign reports, unfinished",
        "table": table.sha256,
        "column": [piece.column for piece in pieces],
        "keep": list(keep),
        "on_bad": str(misfits.on_bad),
        "category": None if misfits.category is None else str(misfits.category),
        "data": [[str(path), said.st_size, said.st_mtime_ns] for path, said in stats],
        "parts": [[piece.first, piece.stop] for piece in pieces],
    }


@contextlib.contextmanager
def _claimed(work: Path, plan: dict[str, Any], target: Path) -> Iterator[None]:
    """The work folder of this plan, new or resumed, which no other process uses until this is left."""
    try:
        work.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(work / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        rule = f"be writable: {(error.strerror or str(error)).lower()}"
        raise FileProblem("output folder", str(target), rule, files.remedy(error, "check the folder")) from None
    try:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                rule = "be written by one process at a time, and another is at it"
                raise FileProblem("output folder", str(target), rule, "wait for it, or choose another name") from None
        written = work / "plan.json"
        if not written.exists():
            files.write_atomically(written, json.dumps(plan).encode())
        elif files.read_json(written) != json.loads(json.dumps(plan)):
            rule = "be resumed with the data, the table and the options it was started with"
            raise FileProblem("unfinished reports", str(work), rule, f"or remove {work.name} and start anew")
        yield
    finally:
        os.close(handle)


def _publish(asked: Asked, pieces: Sequence[Part], parts: dict[int, Done], target: Path, paths: Sequence[Path]) -> None:
    ready = asked.work / "reports"
    shutil.rmtree(ready, ignore_errors=True)
    try:
        ready.mkdir(mode=0o700)
        told = []
        for number, piece in enumerate(pieces):
            part = parts[number]
            name = f"part-{number:06}{part.file.suffix}"
            _link(part.file, ready / name)
            told.append(manifest.Part(name, piece.path.name, part.rows, part.bad, part.sha256))
        of, on_bad = asked.table, asked.misfits.on_bad
        manifest.Manifest(of.sha256, of.epsilon, pieces[0].column, asked.keep, on_bad, tuple(told)).write(ready)
        ready.chmod(_folder_mode(paths))
        _require_new(target, paths)
        ready.rename(target)
    except OSError as error:
        rule = f"be writable: {(error.strerror or str(error)).lower()}"
        raise FileProblem("output folder", str(target), rule, files.remedy(error, _AGAIN)) from None
    shutil.rmtree(asked.work, ignore_errors=True)


def _link(part: Path, name: Path) -> None:
    try:
        os.link(part, name)
    except OSError:  # a file system without hard links
        shutil.copy2(part, name)


def _folder_mode(paths: Sequence[Path]) -> int:
    """Who may enter: those who can read all of the data, and never more than any new folder of this user allows."""
    mask = os.umask(0)
    os.umask(mask)
    mode = 0o777
    for path in paths:
        said = stat.S_IMODE(path.stat().st_mode)
        mode &= sum(7 << shift for shift in (0, 3, 6) if said >> shift & 4) | 0o700
    return mode & ~mask
