"""A table's sampler without a package: the runtime with the table in it, and the vectors it reproduces.

It is one file; for C it is two, and for Java a class beside the runtime's own folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.tables.export.package import CASES, Member, member_of
from mechdesign.tables.export.registry import EDGES, single_of
from mechdesign.tables.reports.envelope import Subject
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.values.declare import frozen


def export_table(
    table: Table, language: str, directory: Path | str, *, cases: int = CASES, overwrite: bool = False
) -> list[Path]:
    """Write the runtime with the table as a literal, and the table's vectors; report the files.

    *Guarantee.* A sampler reads random bytes as the table format says and decides by whole numbers only: fed the bytes
    of a test vector it returns the same double, bit for bit, as `mechdesign.tables.report`. Either all files are
    written, each of them at once, or none is left behind and those they would have replaced are as they were. The
    directory is created, with the folders above it; a file that is there with the same content, such as the vectors
    another language wrote, stays.
    """
    written, member = single_of(language), _member(table, cases)
    return write_texts({**written(member), **_vectors(member)}, Path(directory), overwrite=overwrite)


def _member(table: Table, cases: int = CASES) -> Member:
    return member_of("table", table, cases, Subject(table.sha256))


def _vectors(member: Member) -> dict[str, str]:
    return {f"{member.stem}_vectors.txt": member.vectors}


def write_texts(texts: Mapping[str, str], folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write files of these names and texts, all or none; those that are there with the same content stay."""
    missing = {name: text for name, text in texts.items() if not _holds(folder / name, text)}
    with contextlib.ExitStack() as made:
        for place in dict.fromkeys((folder / name).parent for name in texts):
            made.enter_context(_created(place))
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
    ending, member = Path(path).suffix, _member(table)
    written = [edge.single(member) for edge in EDGES if edge.single is not None]
    every = [*(item for texts in written for item in texts.items()), *_vectors(member).items()]
    texts = [text for name, text in every if name.endswith(ending)]
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
        kept = {name: _kept(folder / name, Path(place) / str(number)) for number, name in enumerate(old)}
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
