"""One door for data: the same headers, limits and numbers from text and from Parquet."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.data import values
from mechdesign.data.arrays import read_array
from mechdesign.data.headers import TakenName
from mechdesign.data.sources import open_data
from mechdesign.data.text import text_rows
from mechdesign.data.values import number_chunks
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.values import files


def numbers(path: Path, column: str | None = None) -> list[float]:
    return np.concatenate(list(number_chunks(path, column))).tolist()


def written(folder: Path, content: str) -> Path:
    path = folder / "data.csv"
    path.write_text(content)
    return path


def test_the_only_column_needs_no_name(tmp_path: Path) -> None:
    assert numbers(written(tmp_path, "3\n1\n2\n")) == [3, 1, 2]
    with pytest.warns(TakenName):
        assert numbers(written(tmp_path, "age\n1\n2\n")) == [1, 2]
    assert numbers(written(tmp_path, "age\n1\n2\n"), "age") == [1, 2]
    with pytest.raises(InvalidInput, match=r"2 fields|1 field"):
        numbers(written(tmp_path, "1,2\n3,4\n"))


@pytest.mark.parametrize("first", ["", "NA", "7 kWh", "1,5", "-", "\u0663"])
def test_a_mistyped_first_number_is_no_header(tmp_path: Path, first: str) -> None:
    with pytest.raises(InvalidInput):
        numbers(written(tmp_path, f'"{first}"\n1\n2\n'))


def test_parquet_gives_the_numbers_that_text_gives(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="an optional dependency")
    from pyarrow import parquet

    given = np.random.default_rng(1).normal(size=1000)
    from_text = numbers(written(tmp_path, "x,y\n" + "".join(f"{x!r},a\n" for x in given.tolist())), "x")
    for column in (pa.array(given), pa.array(given).dictionary_encode()):
        parquet.write_table(pa.table({"x": column}), tmp_path / "data.parquet", row_group_size=300)
        assert numbers(tmp_path / "data.parquet") == from_text == given.tolist()


def test_a_row_is_counted_over_all_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_CHUNK", 7)
    path = written(tmp_path, "x\n" + "1\n" * 100 + "word\n")
    with pytest.raises(InvalidInput, match=r"row 102 of data.csv, column 'x' must be a number"):
        numbers(path, "x")


def test_an_endless_device_is_refused_by_its_first_line() -> None:
    with pytest.raises(FileProblem, match="lines of at most 2 MB"):
        list(text_rows(Path("/dev/zero")))


def test_an_endless_pipe_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_PIPED", 1000)
    os.mkfifo(tmp_path / "pipe")

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), (tmp_path / "pipe").open("w") as stream:
            while True:
                stream.write("1\n" * 1000)

    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(FileProblem, match="be a regular file, or hold at most"):
        numbers(tmp_path / "pipe")
    writer.join()
    assert numbers(written(tmp_path, "1\n" * 2000)) == [1.0] * 2000


def test_an_array_is_read_as_it_was_saved(tmp_path: Path) -> None:
    given = np.arange(6.0).reshape(2, 3)
    np.save(tmp_path / "a.npy", given)
    assert np.array_equal(read_array(tmp_path / "a.npy", "file"), given)


def _promise(folder: Path) -> bytes:
    np.lib.format.write_array_header_1_0(
        stream := (folder / "x").open("wb"), {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    )
    stream.close()
    return (folder / "x").read_bytes()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"\x93NUMPY\x09\x00", b"text", _promise])
def test_what_is_no_array_is_a_file_problem(tmp_path: Path, content: Any) -> None:
    (tmp_path / "a.npy").write_bytes(content(tmp_path) if callable(content) else content)
    with pytest.raises(FileProblem):
        read_array(tmp_path / "a.npy", "file")


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_library_that_gets_no_memory_for_its_threads_does_not_blame_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    pa = pytest.importorskip("pyarrow", reason="an optional dependency")
    from pyarrow import csv, parquet

    def fail(*_: Any, **__: Any) -> None:
        raise pa.ArrowException("Unknown error: Failed to launch worker thread")

    written(tmp_path, "x\n1\n")
    parquet.write_table(pa.table({"x": [1.0]}), tmp_path / "data.parquet")
    monkeypatch.setattr(csv, "open_csv", fail)
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", fail)
    with pytest.raises(MemoryError):
        list(open_data(tmp_path / f"data.{end}").read(["x"]))
