"""What a folder of reports holds: `_manifest.json`, written with it and decided when it is read."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from mechdesign.data.sources import data_files
from mechdesign.errors import FileProblem, InvalidInput, require_whole
from mechdesign.tables.misfits import OnBad
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.values.codec import Codec, encoded
from mechdesign.values.declare import field, frozen, whole

MANIFEST = "_manifest.json"


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def require_new(target: Path) -> None:
    """Refuse a folder of reports that is there, or would lie in none."""
    if target.exists() or target.is_symlink():
        step = "choose another name: reports that are there are never replaced by a second draw"
        raise FileProblem("output folder", str(target), "not exist yet", step)
    if not target.parent.is_dir():
        raise FileProblem("output folder", str(target), "lie in an existing folder", f"create {target.parent} first")


@frozen
class Part:
    """A file of reports: its rows, how many rows of its ``data`` did not fit if that was counted, and its SHA-256."""

    file: str
    data: str
    rows: int = whole("rows", 0)
    bad: int | None = field(converter=lambda said: None if said is None else require_whole(said, "bad", 0))
    sha256: str

    @classmethod
    def of(cls, path: Path, data: str, rows: int, bad: int | None) -> Part:
        """A file that is there."""
        return cls(path.name, data, rows, bad, digest_of(path))


@frozen
class Manifest:
    """The table the reports were drawn from, the column, and the parts in the order of the data."""

    kind: ClassVar[str] = "mechdesign reports"

    table: str
    epsilon: Fraction
    column: str
    kept: tuple[str, ...]
    on_bad: OnBad
    parts: tuple[Part, ...]
    version: int = whole("version", 1, 1, default=1)

    def write(self, folder: Path) -> None:
        """Into a folder that holds the parts."""
        files.write_atomically(folder / MANIFEST, files.dump_json(encoded(self)).encode())

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """That of a folder, which must hold exactly its parts, as they were drawn."""
        path = folder / MANIFEST
        said = files.read_json(path)
        try:
            manifest: Manifest = Codec().decoded(cls, said, "manifest")
        except InvalidInput as error:
            raise FileProblem("manifest", str(path), f"be one that apply wrote: {error}", "was it edited?") from None
        if [file.name for file in data_files(folder)] != sorted(part.file for part in manifest.parts):
            raise FileProblem("manifest", str(path), "list exactly the .csv and .parquet files of its folder")
        for part in manifest.parts:
            if digest_of(folder / part.file) != part.sha256:
                rule = "be as they were drawn: their SHA-256 is not that of the manifest"
                raise FileProblem("reports", str(folder / part.file), rule)
        return manifest


def reported_column(file: Path) -> str | None:
    """The column of reports in a file, where a manifest beside it names both."""
    try:
        manifest: Manifest = Codec().decoded(Manifest, files.read_json(file.parent / MANIFEST), "manifest")
    except InvalidInput:  # none, or another program's
        return None
    return manifest.column if file.name in {part.file for part in manifest.parts} else None


def report_files(source: Path | str, table: Table) -> tuple[list[Path], str | None]:
    """The files of reports in a folder, or that a pattern names; and their column, if a manifest says it."""
    folder = Path(source)
    if not (folder / MANIFEST).is_file():
        return data_files(source), None
    manifest = Manifest.read(folder)
    if manifest.table != table.sha256:
        rule = f"be of the table {table.sha256[:12]}..., and is of another one"
        raise FileProblem("manifest", str(folder / MANIFEST), rule, "pass the table the reports were drawn from")
    return [folder / part.file for part in manifest.parts], manifest.column
