"""Folders of reports: every row once and in order, published whole, and never drawn twice, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet as pq

from mechdesign.data.sources import data_files
from mechdesign.engine import Dask, Local, WorkFailed
from mechdesign.errors import FileProblem, InvalidData, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import estimate_reports, frames_columns, frames_files, frames_parts, make_table
from mechdesign.tables.frames import Misfits, apply_folder, apply_table
from mechdesign.tables.manifest import MANIFEST

PM = make_table(catalogue.pm(1.0))
DUCHI = make_table(catalogue.duchi(1.0))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames_parts, "_LEAST_ROWS", 100)


@pytest.fixture
def unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports that are their inputs, so that places can be compared."""
    monkeypatch.setattr(frames_columns, "sample_codes", lambda table, x: table.domain.require(x))


@pytest.fixture
def days(tmp_path: Path) -> Path:
    """Two Parquet files of 250 rows in groups of 50, and a CSV file of 10 between them."""
    folder = tmp_path / "days"
    folder.mkdir()
    x = np.linspace(-1, 1, 510)
    for name, part in (("a", x[:250]), ("c", x[260:])):
        pq.write_table(pa.table({"x": part, "id": np.arange(part.size)}), folder / f"{name}.parquet", row_group_size=50)
    (folder / "b.csv").write_text("x,id\n" + "".join(f"{value!r},0\n" for value in x[250:260].tolist()))
    (folder / ".hidden.csv").write_text("x\n7\n")
    (folder / "notes.txt").write_text("nothing")
    return folder


def values_in(folder: Path, column: str = "x") -> list[float]:
    """The reports of all parts, in the order of their names."""
    found: list[float] = []
    for part in sorted(folder.iterdir()):
        if part.suffix == ".parquet":
            found += pq.read_table(part)[column].to_pylist()
        elif part.suffix == ".csv":
            found += [float(line.split(",")[0]) for line in part.read_text().splitlines()[1:]]
    return found


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def backwards(work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """An engine whose last batch is done first."""
    for position in reversed(range(len(batches))):
        yield position, work(batches[position])


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("engine", [None, backwards])
def test_every_row_is_there_once_in_the_order_of_the_files(days: Path, tmp_path: Path, engine: Any) -> None:
    done = apply_folder(PM, days, "x", tmp_path / "out", engine=engine)
    assert (done.rows, done.bad) == (510, 0)
    assert values_in(done.path) == np.linspace(-1, 1, 510).tolist()
    assert leftovers(tmp_path) == []


def test_the_manifest_lists_every_part_with_its_rows_and_hash(days: Path, tmp_path: Path) -> None:
    out = apply_folder(PM, days, "x", tmp_path / "out", keep=["id"]).path
    said = json.loads((out / MANIFEST).read_text())
    assert (said["table"], said["column"], said["kept"]) == (PM.sha256, "x", ["id"])
    assert [part["rows"] for part in said["parts"]] == [100, 100, 50, 10, 100, 100, 50]
    assert [part["data"] for part in said["parts"]] == ["a.parquet"] * 3 + ["b.csv"] + ["c.parquet"] * 3
    assert sorted(path.name for path in out.iterdir()) == sorted([MANIFEST, *(part["file"] for part in said["parts"])])


def test_readers_of_parquet_folders_take_the_parts_and_not_the_manifest(days: Path, tmp_path: Path) -> None:
    out = apply_folder(PM, days / "*.parquet", "x", tmp_path / "out").path
    assert len(pd.read_parquet(out)) == 500
    assert dataset.dataset(out).count_rows() == 500
    assert len(dd.read_parquet(out)) == 500
    assert pl.scan_parquet(out / "*.parquet").collect().height == 500
    assert duckdb.execute("SELECT count(*) FROM read_parquet(?)", [f"{out}/*.parquet"]).fetchone() == (500,)


def test_a_pattern_names_files_and_a_file_may_be_drawn_in_parts(days: Path, tmp_path: Path) -> None:
    assert apply_folder(PM, f"{days}/[ac].parquet", "x", tmp_path / "some").rows == 500
    assert apply_folder(PM, days / "a.parquet", "x", tmp_path / "one").rows == 250
    assert data_files(days / "*.csv") == [days / "b.csv"]


@pytest.mark.parametrize("engine", [None, backwards, Local(2)], ids=["one", "backwards", "two processes"])
def test_estimates_of_a_folder_are_those_of_its_rows(days: Path, tmp_path: Path, engine: Any) -> None:
    out = apply_folder(DUCHI, days, "x", tmp_path / "out").path
    everything = tmp_path / "all.parquet"
    pq.write_table(pa.table({"x": values_in(out)}), everything)
    assert repr(estimate_reports(DUCHI, out, engine=engine)) == repr(estimate_reports(DUCHI, everything, "x"))


# -- bad rows ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [None, backwards])
def test_rows_that_do_not_fit_are_counted_over_all_files_and_leave_nothing(
    days: Path, tmp_path: Path, engine: Any
) -> None:
    (days / "b.csv").write_text("x,id\n.5,1\n7,2\n,3\n")
    (days / "d.csv").write_text("x,id\nhalf,1\n")
    with pytest.raises(InvalidData, match=r"b\.csv, column 'x', data row 2, must lie in .*3 of 504 rows do not fit"):
        apply_folder(PM, days, "x", tmp_path / "out", engine=engine)
    assert [path.name for path in tmp_path.iterdir()] == ["days"]


@pytest.mark.usefixtures("unchanged")
def test_rows_that_do_not_fit_are_left_out_if_asked(days: Path, tmp_path: Path) -> None:
    (days / "b.csv").write_text("x,id\n.5,1\n7,2\n,3\n")
    done = apply_folder(PM, days, "x", tmp_path / "out", misfits=Misfits("drop"))
    assert (done.rows, done.bad) == (501, 2)


def test_empty_reports_are_estimated_over_if_asked(days: Path, tmp_path: Path) -> None:
    (days / "b.csv").write_text("x,id\n.5,1\n7,2\n,3\n")
    out = apply_folder(DUCHI, days, "x", tmp_path / "out", misfits=Misfits("null")).path
    with pytest.raises(InvalidInput, match="must hold a number"):
        estimate_reports(DUCHI, out)
    assert estimate_reports(DUCHI, out, skip_empty=True).count == 501
    assert estimate_reports(DUCHI, out, skip_empty=True, engine=backwards).count == 501


# -- killed and resumed ------------------------------------------------------------------------------------------------


class Dies(BaseException):
    """What a process that is killed never catches."""


def dying_after(parts: int) -> Callable[..., Iterator[tuple[int, Any]]]:
    def engine(work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        for position, batch in enumerate(batches):
            if position == parts:
                raise Dies
            yield position, work(batch)

    return engine


def parts_in(folder: Path) -> dict[str, bytes]:
    work = next(path for path in folder.iterdir() if path.name.startswith(".out"))
    return {path.name: path.read_bytes() for path in work.iterdir() if path.suffix in (".csv", ".parquet")}


@pytest.mark.parametrize("done", range(8))
def test_a_run_that_died_goes_on_with_the_parts_it_had(days: Path, tmp_path: Path, done: int) -> None:
    if done < 7:
        with pytest.raises(Dies):
            apply_folder(PM, days, "x", tmp_path / "out", engine=dying_after(done))
        before = parts_in(tmp_path)
        assert len(before) == done
    else:
        before = {}
    out = apply_folder(PM, days, "x", tmp_path / "out").path
    after = [path.read_bytes() for path in sorted(out.iterdir()) if path.name != MANIFEST]
    assert len(after) == 7
    assert set(before.values()) <= set(after)
    assert leftovers(tmp_path) == []


KILLED = """
import sys, time
from mechdesign.tables import frames_files, frames_parts, load_table
from mechdesign.tables.frames import apply_folder
frames_parts._LEAST_ROWS = 100
write, seen = frames_files.batch_writer, []
def slow(*arguments):
    seen.append(0)
    if len(seen) == int(sys.argv[4]):
        print("drawing", flush=True)
        time.sleep(60)
    return write(*arguments)
frames_files.batch_writer = slow
apply_folder(load_table(sys.argv[1]), sys.argv[2], "x", sys.argv[3])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of Unix")
def test_a_killed_process_leaves_no_folder_and_no_second_draw(days: Path, tmp_path: Path) -> None:
    table = PM.save(tmp_path / "t.json")
    command = [sys.executable, "-c", KILLED, str(table), str(days), str(tmp_path / "out"), "4"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "drawing\n"
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "out").exists()
    before = {name: content for name, content in parts_in(tmp_path).items() if "-" in name}
    assert len(before) == 3
    out = apply_folder(PM, days, "x", tmp_path / "out").path
    assert set(before.values()) < {path.read_bytes() for path in out.iterdir()}


def test_two_draws_of_one_part_are_published_as_one(days: Path, tmp_path: Path) -> None:
    """A worker that was thought dead may finish its part, too: one of the two goes out."""
    with pytest.raises(Dies):
        apply_folder(PM, days, "x", tmp_path / "out", engine=dying_after(2))
    work = tmp_path / ".out.mechdesign-reports"
    first = next(path for path in work.iterdir() if path.name.startswith("000000"))
    content = first.read_bytes()[::-1]
    second = work / first.name.replace(first.name.split("-")[3].partition(".")[0], "f" * 64)
    second.write_bytes(content)
    out = apply_folder(PM, days, "x", tmp_path / "out").path
    assert len(list(out.iterdir())) == 8
    assert content not in [path.read_bytes() for path in out.iterdir()]


def test_a_part_that_changed_on_disk_is_refused(days: Path, tmp_path: Path) -> None:
    with pytest.raises(Dies):
        apply_folder(PM, days, "x", tmp_path / "out", engine=dying_after(2))
    part = next(path for path in (tmp_path / ".out.mechdesign-reports").iterdir() if path.name.startswith("000001"))
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(FileProblem, match=r"be as it was drawn.*remove"):
        apply_folder(PM, days, "x", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("change", ["data", "table", "column", "policy"])
def test_a_run_is_resumed_only_as_it_was_started(days: Path, tmp_path: Path, change: str) -> None:
    with pytest.raises(Dies):
        apply_folder(PM, days, "x", tmp_path / "out", engine=dying_after(2))
    if change == "data":
        (days / "b.csv").write_text("x\n1\n")
    table = DUCHI if change == "table" else PM
    policy = Misfits("drop") if change == "policy" else Misfits()
    with pytest.raises(FileProblem, match=r"be resumed with the data, the table and the options"):
        apply_folder(table, days, "x", tmp_path / "out", keep=["id"] * (change == "column"), misfits=policy)


def test_two_processes_do_not_write_one_folder(days: Path, tmp_path: Path) -> None:
    def again(work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        with pytest.raises(FileProblem, match="one process at a time"):
            apply_folder(PM, days, "x", tmp_path / "out")
        yield from backwards(work, batches)

    assert apply_folder(PM, days, "x", tmp_path / "out", engine=again).rows == 510


def killing(batch: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _suicidal(work: Callable[[Any], Any], batches: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    yield from Local(2)(killing, batches[:1])


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of Unix")
def test_workers_that_keep_dying_leave_a_run_that_can_be_resumed(days: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkFailed, match="run the same command again"):
        apply_folder(PM, days, "x", tmp_path / "out", engine=_suicidal)
    assert apply_folder(PM, days, "x", tmp_path / "out").rows == 510


def test_a_full_disk_keeps_the_parts_that_were_done(
    days: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, seen = frames_files.batch_writer, []

    def full(*arguments: Any) -> Any:
        seen.append(arguments)
        if len(seen) == 3:
            raise OSError(28, "No space left on device")
        return write(*arguments)

    monkeypatch.setattr(frames_files, "batch_writer", full)
    with pytest.raises(FileProblem, match=r"no space left.*free space.*run the same command again"):
        apply_folder(PM, days, "x", tmp_path / "out")
    before = parts_in(tmp_path)
    assert len(before) == 2
    out = apply_folder(PM, days, "x", tmp_path / "out").path
    assert set(before.values()) < {path.read_bytes() for path in out.iterdir()}


@pytest.mark.slow
def test_a_dask_cluster_gives_every_row_once(days: Path, tmp_path: Path) -> None:
    done = apply_folder(PM, days, "x", tmp_path / "out", keep=["id"], engine=Dask(workers=2))
    assert done.rows == 510
    ids = [value for part in sorted(done.path.glob("*.parquet")) for value in pq.read_table(part)["id"].to_pylist()]
    assert ids == [*range(250), *range(250)]


# -- who may read it, and names ----------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="modes are of Unix")
def test_who_may_read_the_reports_is_who_may_read_the_data(days: Path, tmp_path: Path) -> None:
    (days / "b.csv").chmod(0o600)
    out = apply_folder(PM, days, "x", tmp_path / "out").path
    modes = {path.suffix: stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()}
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert modes[".csv"] == 0o600


def test_the_work_folder_is_only_for_this_user(days: Path, tmp_path: Path) -> None:
    with pytest.raises(Dies):
        apply_folder(PM, days, "x", tmp_path / "out", engine=dying_after(1))
    assert stat.S_IMODE((tmp_path / ".out.mechdesign-reports").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("source", "out", "words"),
    [
        ("days", "out.csv", "be a folder where the data are several files"),
        ("days", "days", r"not exist yet .*choose another name"),
        ("days", "no/out", "lie in an existing folder"),
        ("empty", "out", r"hold at least one \.csv or \.parquet file"),
        ("days/*.json", "out", r"hold at least one \.csv or \.parquet file"),
        ("days/none.csv", "out", "exist"),
    ],
)
def test_names_that_cannot_be_are_refused(days: Path, tmp_path: Path, source: str, out: str, words: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileProblem, match=words):
        apply_folder(PM, tmp_path / source, "x", tmp_path / out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["days", "empty"]


def test_a_column_must_be_in_every_file(days: Path, tmp_path: Path) -> None:
    (days / "b.csv").write_text("y\n1\n")
    with pytest.raises(InvalidInput, match=r"b\.csv"):
        apply_folder(PM, days, "x", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["days"]


# -- manifests are decided, not believed -------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["more", "fewer", "changed", "table", "edited", "no json"])
def test_a_folder_that_is_not_its_manifest_is_refused(days: Path, tmp_path: Path, damage: str) -> None:
    out = apply_folder(DUCHI, days, "x", tmp_path / "out").path
    part = out / "part-000001.parquet"
    if damage == "more":
        (out / "z.parquet").write_bytes(part.read_bytes())
    elif damage == "fewer":
        part.unlink()
    elif damage == "changed":
        part.write_bytes((out / "part-000000.parquet").read_bytes())
    elif damage == "edited":
        (out / MANIFEST).write_text((out / MANIFEST).read_text().replace('"rows": 100', '"rows": "100"'))
    elif damage == "no json":
        (out / MANIFEST).write_text("{")
    with pytest.raises(FileProblem):
        estimate_reports(PM if damage == "table" else DUCHI, out)


def test_progress_ends_at_all_rows_and_never_decreases(days: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    apply_folder(PM, days, "x", tmp_path / "out", progress=lambda done, in_all: seen.append((done, in_all)))
    assert seen[-1] == (510, 510)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert all(done <= in_all for done, in_all in seen)


def test_a_part_without_marks_of_its_own_is_not_drawn_from_again(tmp_path: Path) -> None:
    """CSV has none: the manifest beside a part says what it holds."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("x,id\n0.5,1\n")
    apply_folder(DUCHI, tmp_path / "data", "x", tmp_path / "told", keep=["id"])
    with pytest.raises(FileProblem, match="and holds reports"):
        apply_folder(DUCHI, tmp_path / "told", "x", tmp_path / "again")
    with pytest.raises(FileProblem, match="and holds reports"):
        apply_table(DUCHI, tmp_path / "told" / "part-000000.csv", "x", tmp_path / "again.csv")
    (tmp_path / "told" / MANIFEST).write_text('{"kind": "another program\'s"}')
    (tmp_path / "told" / "part-000000.csv").write_text("x,id\n0.5,1\n")
    apply_table(DUCHI, tmp_path / "told" / "part-000000.csv", "x", tmp_path / "again.csv")
