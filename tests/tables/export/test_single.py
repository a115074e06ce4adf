"""A table without a package: one file with the runtime and the table, its vectors, and that all are written or none."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.tables import LANGUAGES, Table, export_table, make_table
from mechdesign.tables.vectors import vectors
from mechdesign.values import files
from mechdesign.words.domains import Circle, Finite


@pytest.fixture(scope="module")
def table() -> Table:
    return make_table(catalogue.randomised_response(1.3, Finite((-2, 0, 1, 2.5))), 16)


# -- writing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_exports_are_the_same_every_time_and_report_their_files(table: Table, language: str, tmp_path: Path) -> None:
    written = export_table(table, language, tmp_path)
    assert sorted(written) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    before = [path.read_bytes() for path in written]
    assert export_table(table, language, tmp_path, overwrite=True) == written
    assert [path.read_bytes() for path in written] == before


@pytest.mark.parametrize("language", LANGUAGES)
def test_existing_files_are_kept(table: Table, language: str, tmp_path: Path) -> None:
    written = export_table(table, language, tmp_path)
    written[0].unlink()
    written[-1].write_text("mine")
    with pytest.raises(FileProblem, match="not exist yet"):
        export_table(table, language, tmp_path)
    assert not written[0].exists()
    assert written[-1].read_text() == "mine"


def break_the_disk(monkeypatch: pytest.MonkeyPatch, calls: int, stage: str) -> None:
    """After so many calls it refuses: bytes when it is full, or another name for a file that is written."""
    left = iter(range(calls))
    module = os if stage == "fsync" else files
    works = getattr(module, stage)

    def refuse(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        return works(*arguments)

    monkeypatch.setattr(module, stage, refuse)


STAGES = [*(("fsync", calls) for calls in range(6)), *(("_publish", calls) for calls in range(3))]


@pytest.mark.parametrize(("stage", "calls"), STAGES)
def test_no_new_file_is_left_if_one_cannot_be_written(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, calls: int
) -> None:
    break_the_disk(monkeypatch, calls, stage)
    with pytest.raises(FileProblem, match="no space left"):
        export_table(table, "c", tmp_path / "new" / "er")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("stage", "calls"), STAGES)
def test_files_to_be_replaced_are_kept_if_one_cannot_be_written(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, calls: int
) -> None:
    first, second, *_ = export_table(table, "c", tmp_path)
    first.write_text("mine")
    first.chmod(0o600)
    second.unlink()
    for path in tmp_path.glob("*_vectors.txt"):
        path.write_text("mine too")
    before = {path: (path.read_text(), path.stat()) for path in tmp_path.iterdir()}
    break_the_disk(monkeypatch, min(calls, 5 if stage == "fsync" else 2), stage)
    with pytest.raises(FileProblem, match="no space left"):
        export_table(table, "c", tmp_path, overwrite=True)
    after = {path: (path.read_text(), path.stat()) for path in tmp_path.iterdir()}
    assert [(path, text, stat.st_ino, stat.st_mode) for path, (text, stat) in sorted(after.items())] == [
        (path, text, stat.st_ino, stat.st_mode) for path, (text, stat) in sorted(before.items())
    ]


def test_files_are_kept_where_there_are_no_hard_links(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    written = export_table(table, "c", tmp_path)
    for path in written:
        path.write_text("mine")
    monkeypatch.setattr(os, "link", no_links)
    break_the_disk(monkeypatch, len(written) - 1, "_publish")
    with pytest.raises(FileProblem, match="no space left"):
        export_table(table, "c", tmp_path, overwrite=True)
    assert sorted(tmp_path.iterdir()) == sorted(written)
    assert {path.read_text() for path in written} == {"mine"}


def test_a_file_that_another_process_puts_there_meanwhile_is_kept(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = files._publish

    def late(temporary: str, target: Path, overwrite: bool) -> None:
        if target.suffix == ".h":
            target.write_text("of another process")
        publish(temporary, target, overwrite)

    monkeypatch.setattr(files, "_publish", late)
    with pytest.raises(FileProblem, match="not exist yet"):
        export_table(table, "c", tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["of another process"]


def test_folders_above_are_created(table: Table, tmp_path: Path) -> None:
    written = export_table(table, "c", tmp_path / "a" / "b" / "c")
    assert sorted(written) == sorted((tmp_path / "a" / "b" / "c").iterdir())


def test_folders_that_were_there_stay_if_nothing_can_be_written(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    break_the_disk(monkeypatch, 0, "_publish")
    with pytest.raises(FileProblem):
        export_table(table, "c", tmp_path / "a" / "b" / "c")
    assert list(tmp_path.rglob("*")) == [tmp_path / "a"]


def test_a_folder_that_cannot_be_created_is_named_with_the_reason(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def guarded(path: Path) -> None:
        if path.name == "b":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        make(path)

    monkeypatch.setattr(Path, "mkdir", guarded)
    with pytest.raises(FileProblem) as caught:
        export_table(table, "c", tmp_path / "a" / "b" / "c")
    assert "can be created: permission denied" in str(caught.value)
    assert f"create {tmp_path / 'a' / 'b'} first" in str(caught.value)
    assert "Errno" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_unknown_languages_and_folders_that_cannot_be_are_refused(table: Table, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="be one of rust, c, python, java, sql, opendp, javascript"):
        export_table(table, "cobol", tmp_path)
    with pytest.raises(FileProblem, match="be a folder or one that can be created: embedded null"):
        export_table(table, "c", tmp_path / "none" / "a\0b")
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(FileProblem, match="be a folder, not a file"):
            export_table(table, "c", folder)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_of_a_table_ends_no_literal_and_no_comment(language: str, tmp_path: Path) -> None:
    hostile = "*/ \"\"\" ''' \n $$; DROP TABLE users; --"
    channel = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), np.array([[0.6, 0.4], [0.4, 0.6]]), hostile)
    table = make_table(channel, provenance={"command": hostile})
    assert table.name == hostile
    assert not any(hostile in path.read_text() for path in export_table(table, language, tmp_path))


def test_vectors_hold_the_bits_of_their_doubles(tmp_path: Path) -> None:
    table = make_table(catalogue.ogpm_circle(2.0))
    *_, path = export_table(table, "python", tmp_path)
    cases = [line.split() for line in path.read_text().splitlines()[2:]]
    assert isinstance(table.domain, Circle)
    for case, vector in zip(cases, vectors(table), strict=False):
        assert [struct.unpack(">d", bytes.fromhex(case[place]))[0] for place in (0, 3)] == [vector.x, vector.y]
        assert case[1:3] == [vector.stream.hex(), str(vector.used)]
