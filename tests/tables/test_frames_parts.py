"""Reports of a Parquet file counted in parts: the same estimate, the same first wrong row, wherever the parts run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mechdesign.data.sources import open_data
from mechdesign.engine import Local
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import estimate_reports, frames_parts, make_table, sample
from mechdesign.tables.frames_parts import Source, parts_of
from mechdesign.words.domains import Finite

PM = make_table(catalogue.pm(1.0))
GRR = make_table(catalogue.randomised_response(1.0, Finite((0, 1, 5))))


def backwards(work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """An engine whose last batch is done first."""
    for position in reversed(range(len(batches))):
        yield position, work(batches[position])


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames_parts, "_LEAST_ROWS", 100)


def _file(path: Path, values: Any, group: int = 70) -> Path:
    pq.write_table(pa.table({"id": np.arange(len(values)), "x": values}), path, row_group_size=group)
    return path


@pytest.mark.parametrize("rows", [1, 69, 70, 71, 140, 1000])
def test_parts_hold_every_row_once_in_order(tmp_path: Path, rows: int) -> None:
    data = open_data(_file(tmp_path / "d.parquet", np.zeros(rows)))
    parts = parts_of(Source(data, "x"))
    assert [part.first for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == len(data.groups)
    assert [part.before for part in parts] == np.cumsum([0, *(part.rows for part in parts[:-1])]).tolist()
    assert sum(part.rows for part in parts) == rows
    assert all(part.rows >= 100 for part in parts[:-1])


@pytest.mark.parametrize("table", [PM, GRR], ids=["mean", "frequencies"])
def test_the_estimate_is_the_same_to_the_last_bit(tmp_path: Path, table: Any) -> None:
    reports = sample(table, np.ones(1000))
    file, of = _file(tmp_path / "d.parquet", reports), "frequencies" if table is GRR else "mean"
    whole, split = (estimate_reports(table, file, "x", of=of, engine=engine) for engine in (None, backwards))
    assert repr(whole) == repr(split)
    assert split.count == 1000


@pytest.mark.slow
def test_processes_of_their_own_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _file(tmp_path / "d.parquet", sample(PM, np.zeros(1000)))
    monkeypatch.chdir(tmp_path)
    assert estimate_reports(PM, "d.parquet", "x", engine=Local(2)) == estimate_reports(PM, file, "x")


def test_of_several_wrong_rows_the_first_of_the_file_is_named(tmp_path: Path) -> None:
    reports = sample(PM, np.zeros(1000))
    reports[[333, 334, 900]] = 1e6, np.nan, 2e6
    file = _file(tmp_path / "d.parquet", reports)
    errors = []
    for engine in (None, backwards):
        with pytest.raises(InvalidInput, match=r"data row 334, must be a possible output") as caught:
            estimate_reports(PM, file, "x", engine=engine)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_rows_are_counted_as_they_are_done(tmp_path: Path) -> None:
    file, told = _file(tmp_path / "d.parquet", sample(PM, np.zeros(290))), []
    estimate_reports(PM, file, "x", engine=backwards, progress=lambda *rows: told.append(rows))
    assert told == [(10, 290), (150, 290), (290, 290)]


def test_data_without_parts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("x\n0.5\n")
    for source in (tmp_path / "d.csv", pl.LazyFrame({"x": [0.5]})):
        with pytest.raises(InvalidInput, match=r"engine must be left out, or the data be a \.parquet file"):
            estimate_reports(PM, source, "x", engine=backwards)


@pytest.mark.parametrize(
    ("column", "words"), [("z", "be one of the columns"), (None, "be one of the columns"), ("x", "at least one row")]
)
def test_what_is_wrong_with_the_file_is_said_before_any_part_runs(
    tmp_path: Path, column: str | None, words: str
) -> None:
    def never(*_: Any) -> Iterator[tuple[int, Any]]:
        raise AssertionError("nothing is to be run")

    with pytest.raises(InvalidInput, match=words):
        estimate_reports(PM, _file(tmp_path / "d.parquet", np.zeros(0)), column, engine=never)


def test_a_file_that_workers_cannot_see_is_an_error(tmp_path: Path) -> None:
    file = _file(tmp_path / "d.parquet", sample(PM, np.zeros(500)))

    def elsewhere(work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        file.unlink()
        yield from backwards(work, batches)

    with pytest.raises(FileProblem, match="data file must exist"):
        estimate_reports(PM, file, "x", engine=elsewhere)
