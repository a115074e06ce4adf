"""The languages a table can be exported to, and how the files are written."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from mechdesign.deploy.export import c, duckdb, java, javascript, opendp, postgresql, python, rust
from mechdesign.deploy.export.plan import Plan, plan_of
from mechdesign.deploy.export.refusals import refusals
from mechdesign.deploy.export.vectors import Vector, lines, vectors_of
from mechdesign.deploy.table import Table
from mechdesign.deploy.vectors import test_vectors
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.values import files
from mechdesign.values.declare import frozen

CASES = 100
"""Test vectors of random bytes written beside the sources, after those at the boundaries of the law."""

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
    written, each of them at once, or none is left behind and those they would have replaced are as they were. The
    directory is created, with the folders above it; a file that is there with the same content, such as the vectors
    another language wrote, stays.
    """
    if language not in _WRITERS:
        raise InvalidInput("language", language, f"be one of {', '.join(LANGUAGES)}")
    return write_texts(_texts(table, [language], cases), Path(directory), overwrite=overwrite)


def write_texts(texts: Mapping[str, str], folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write files of these names and texts, all or none; those that are there with the same content stay."""
    missing = {name: text for name, text in texts.items() if not _holds(folder / name, text)}
    with _created(folder):
        for name in missing:
            files.require_writable(folder / name, overwrite=overwrite)
        if missing:
            _write_all(folder, missing, overwrite=overwrite)
    return [folder / name for name in texts]


def _holds(path: Path, text: str) -> bool:
    try:
        return path.is_file() and files.read_bytes(path, most=len(text.encode())) == text.encode()
    except (OSError, ValueError):  # the latter for a null character in the name, or one that is longer
        return False


@contextlib.contextmanager
def _created(folder: Path) -> Iterator[None]:
    """The folder and those above it, and no new one of them if what follows fails."""
    made: list[Path] = []
    try:
        for path in (*reversed(folder.parents), folder):
            if _create(path):
                made.append(path)
        yield
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # somebody else has put a file there
                path.rmdir()
        raise


def _create(folder: Path) -> bool:
    """Whether the folder had to be created."""
    try:
        if folder.is_dir():
            return False
        folder.mkdir()
    except FileExistsError:
        if folder.is_dir():  # another process was faster
            return False
        raise FileProblem("directory", str(folder), "be a folder, not a file", "choose another folder") from None
    except (OSError, ValueError) as error:
        rule = f"be a folder or one that can be created: {_reason(error)}"
        step = files.remedy(error, f"create {folder} first, or choose another folder")
        raise FileProblem("directory", str(folder), rule, step) from None
    return True


def _texts(table: Table, languages: Iterable[str], cases: int) -> dict[str, str]:
    plan = plan_of(table.document)
    vectors = [*vectors_of(test_vectors(table, cases)), *refusals(plan.inputs)]
    texts = {name: text for language in languages for name, text in _WRITERS[language](plan, vectors).items()}
    return texts | {f"{plan.stem}_vectors.txt": lines(vectors, plan.sha256)}


@frozen
class Difference:
    """The first line, counted from 1, in which a source is not what the table is exported to, and what stands there."""

    line: int
    expected: str
    found: str


def source_difference(table: Table, path: Path | str) -> Difference | None:
    """``None`` if the file is, byte for byte, one that `export_table` writes for this table, whatever its name.

    Otherwise where it first differs from the one of them that it resembles longest, by the ending of its name.
    """
    content = files.read_bytes(Path(path))
    ending = Path(path).suffix
    texts = [text for name, text in _texts(table, LANGUAGES, CASES).items() if name.endswith(ending)]
    if not ending or not texts:
        endings = "py, mjs, c, h, rs, java, sql or txt"
        raise InvalidInput("source", Path(path).name, f"have a name that ends in {endings}, as exported files have")
    return first_difference(texts, content)


def first_difference(texts: Sequence[str], content: bytes) -> Difference | None:
    """``None`` if the content is one of the texts, else where it leaves the one of them it resembles longest."""
    if any(text.encode() == content for text in texts):
        return None
    return max((_difference(text, content) for text in texts), key=lambda difference: difference.line)


def _difference(text: str, content: bytes) -> Difference:
    expected, found = text.split("\n"), content.decode("utf-8", "replace").split("\n")
    pairs = enumerate(zip_longest(expected, found, fillvalue=""), 1)
    return next(Difference(i, *pair) for i, pair in pairs if pair[0] != pair[1] or i == max(len(expected), len(found)))


def _write_all(folder: Path, texts: Mapping[str, str], *, overwrite: bool) -> None:
    """All texts are on the disk under other names before the first of them takes its own."""
    try:
        with _restored_on_failure(folder, texts), contextlib.ExitStack() as stack:
            for name, text in texts.items():
                stream = stack.enter_context(files.replacing(folder / name, overwrite=overwrite))
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
    except OSError as error:
        raise FileProblem(
            "directory", str(folder), f"be writable: {_reason(error)}", files.remedy(error, "check the folder")
        ) from None


@contextlib.contextmanager
def _restored_on_failure(folder: Path, texts: Mapping[str, str]) -> Iterator[None]:
    """If what follows fails, files that got their text are gone again, and the files they replaced are back."""
    old = [name for name in texts if os.path.lexists(folder / name)]
    with tempfile.TemporaryDirectory(dir=folder, prefix=".", suffix=".kept") as place:
        kept = {name: _kept(folder / name, Path(place) / name) for name in old}
        try:
            yield
        except BaseException:
            for name in (name for name, text in texts.items() if _holds(folder / name, text)):
                if name in kept:
                    kept[name].replace(folder / name)
                else:
                    (folder / name).unlink()
            raise


def _kept(path: Path, other: Path) -> Path:
    try:
        os.link(path, other, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, other, follow_symlinks=False)  # a file system without hard links
    return other


def _reason(error: OSError | ValueError) -> str:
    return str(getattr(error, "strerror", None) or error).lower()
