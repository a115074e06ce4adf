"""The languages a table can be exported to, and how the files are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mechdesign import files
from mechdesign.deploy.export import c, duckdb, java, javascript, opendp, postgresql, python, rust
from mechdesign.deploy.export.plan import Inputs, Plan, plan_of
from mechdesign.deploy.export.vectors import Vector, lines, vectors_of
from mechdesign.deploy.reference import test_vectors
from mechdesign.deploy.table import Table
from mechdesign.errors import FileProblem, InvalidInput

CASES = 100
"""Test vectors written beside the sources."""

_Sources = Callable[[Plan, Sequence[Vector]], dict[str, str]]


def _sql(plan: Plan, vectors: Sequence[Vector]) -> dict[str, str]:
    return duckdb.sources(plan, vectors) | postgresql.sources(plan, vectors)


_WRITERS: Mapping[str, _Sources] = {
    "python": lambda plan, _: python.sources(plan),
    "javascript": lambda plan, _: javascript.sources(plan),
    "c": lambda plan, _: c.sources(plan),
    "rust": lambda plan, _: rust.sources(plan),
    "java": lambda plan, _: java.sources(plan),
    "sql": _sql,
    "opendp": lambda plan, _: opendp.sources(plan),
}

LANGUAGES = tuple(_WRITERS)


def export_table(
    table: Table, language: str, directory: Path | str, *, cases: int = CASES, overwrite: bool = False
) -> list[Path]:
    """Write a sampler of the table, a program that replays its test vectors, and the vectors; report the files.

    *Guarantee.* A sampler reads random bytes as the table format says and decides by whole numbers only: fed the bytes
    of a test vector it returns the same double, bit for bit, as `mechdesign.deploy.report`. Either all files are
    written, each of them at once, or none is left behind. The directory is created; a file that is there with the same
    content, such as the vectors another language wrote, stays.
    """
    if language not in _WRITERS:
        raise InvalidInput("language", language, f"be one of {', '.join(LANGUAGES)}")
    folder = Path(directory)
    texts = _texts(table, language, cases)
    missing = {name: text for name, text in texts.items() if not _holds(folder / name, text)}
    is_new = _create(folder)
    try:
        for name in missing:
            files.require_writable(folder / name, overwrite=overwrite)
        _write_all(folder, missing, overwrite=overwrite)
    except BaseException:
        if is_new:
            folder.rmdir()
        raise
    return [folder / name for name in texts]


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def _create(folder: Path) -> bool:
    """Whether the folder had to be created."""
    try:
        folder.mkdir()
    except FileExistsError:
        if folder.is_dir():
            return False
        raise FileProblem("directory", str(folder), "be a folder, not a file") from None
    except (OSError, ValueError) as error:
        raise FileProblem("directory", str(folder), f"be a folder or one that can be created: {error}") from None
    return True


def _texts(table: Table, language: str, cases: int) -> dict[str, str]:
    plan = plan_of(table.document)
    vectors = [*vectors_of(test_vectors(table, cases)), *refusals(plan.inputs)]
    return _WRITERS[language](plan, vectors) | {f"{plan.stem}_vectors.txt": lines(vectors, plan.sha256)}


def refusals(inputs: Inputs) -> list[Vector]:
    """Inputs outside the domain, as near to it as doubles get, and what is no number at all.

    >>> [vector.x for vector in refusals(Inputs(0.0, 1.0))]
    [nan, inf, -inf, -5e-324, 1.0000000000000002]
    """
    outside = [math.nan, math.inf, -math.inf, math.nextafter(inputs.lower, -math.inf)]
    if len(inputs.points) > 1:
        outside.append(math.nextafter(inputs.lower, math.inf))
    outside.append(math.nextafter(inputs.upper, math.inf))
    refused = Vector(0.0, bytes(64), 0, None)
    return [replace(refused, x=x) for x in outside if x not in inputs.points]


def _write_all(folder: Path, texts: Mapping[str, str], *, overwrite: bool) -> None:
    written: list[Path] = []
    try:
        for name, text in texts.items():
            written.append(files.write_atomically(folder / name, text.encode(), overwrite=overwrite))
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
