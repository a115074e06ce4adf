"""Files and frames of reports: order, law, constant memory, every bad row by its number, nothing half-written."""

import csv
import subprocess
import sys
from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from mechdesign.data import columns, sources
from mechdesign.data.headers import TakenName
from mechdesign.errors import FileProblem, InvalidInput, MissingExtra
from mechdesign.mechanisms import catalogue
from mechdesign.tables import Tally, frames_columns, make_table, repaired
from mechdesign.tables.frames import apply, apply_dask, apply_table, estimate, estimate_reports, tally
from mechdesign.tables.labels import Labels
from mechdesign.tables.reference import report
from mechdesign.tables.sampler import sample
from mechdesign.words.domains import Finite

PM = make_table(catalogue.pm(1.0))
DUCHI = make_table(catalogue.duchi(1.0))
FINITE = make_table(catalogue.randomised_response(1.0, Finite((0, 1, 5))))
CIRCLE = make_table(catalogue.ogpm_circle(2.0))


@pytest.fixture
def write(tmp_path):
    """A data file from text, bytes or columns."""

    def file(content, name="data.csv"):
        path = tmp_path / name
        if isinstance(content, dict):
            pq.write_table(pa.table(content), path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return file


@pytest.fixture
def unchanged(monkeypatch):
    """Reports that are their inputs, so that places can be compared."""
    monkeypatch.setattr(frames_columns, "sample_codes", lambda table, x: table.domain.require(x))


@pytest.fixture
def small_pieces(monkeypatch):
    """Files are read in pieces of few rows."""
    monkeypatch.setattr(sources, "_ROWS", 7)
    monkeypatch.setattr(sources, "_BLOCK", 256)


def numbers_in(path, column="x"):
    if path.suffix == ".parquet":
        return pq.read_table(path)[column].to_numpy()
    with path.open(newline="") as stream:
        return np.array([float(row[column]) for row in csv.DictReader(stream)])


def csv_of(values, name="x"):
    return f"{name}\n" + "".join(f"{value!r}\n" for value in values)


# -- apply to files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["csv", "parquet"])
@pytest.mark.parametrize("come", ["csv", "parquet"])
@pytest.mark.usefixtures("small_pieces", "unchanged")
def test_rows_keep_their_order_and_numbers_their_last_bit(write, tmp_path, come, to):
    x = np.random.default_rng(1).uniform(-1, 1, 1000)
    source = write({"x": x}, "data.parquet") if come == "parquet" else write(csv_of(x.tolist()))
    done = apply_table(PM, source, "x", tmp_path / f"out.{to}")
    assert done.rows == 1000
    np.testing.assert_array_equal(numbers_in(done.path), x)


def test_each_row_is_drawn_from_its_own_input(write, tmp_path):
    """Two-point law: P(high | 1) = e/(1+e), P(high | -1) = 1/(1+e); n = 20000 each, false-positive rate 1e-9."""
    n = 20_000
    source = write({"x": np.tile([1.0, -1.0], n)}, "data.parquet")
    reports = numbers_in(apply_table(DUCHI, source, "x", tmp_path / "out.parquet").path)
    for first, chance in ((0, np.e / (1 + np.e)), (1, 1 / (1 + np.e))):
        high = int((reports[first::2] > 0).sum())
        assert stats.binomtest(high, n, chance).pvalue > 5e-10


def test_two_runs_are_independent(write, tmp_path):
    source = write({"x": np.zeros(100)}, "data.parquet")
    outs = [apply_table(PM, source, "x", tmp_path / f"{k}.parquet").path for k in range(2)]
    assert not np.array_equal(*map(numbers_in, outs))


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_other_columns_are_dropped_unless_kept(write, tmp_path, name):
    text = 'a,x,b\n"p,""q",0.5,1\nr,-0.5,2\n'
    source = write(text if name.endswith("csv") else {"a": ['p,"q', "r"], "x": [0.5, -0.5], "b": ["1", "2"]}, name)
    assert pq.read_table(apply_table(PM, source, "x", tmp_path / "1.parquet").path).column_names == ["x"]
    kept = pq.read_table(apply_table(PM, source, "x", tmp_path / "2.parquet", keep=["b", "a"]).path)
    assert kept.column_names == ["a", "x", "b"]
    assert kept["a"].to_pylist() == ['p,"q', "r"]
    out = apply_table(PM, source, "x", tmp_path / "3.csv", keep=["a"]).path
    with out.open(newline="") as stream:
        assert [row["a"] for row in csv.DictReader(stream)] == ['p,"q', "r"]


def test_parquet_names_its_table_and_column(write, tmp_path):
    out = apply_table(PM, write("x\n0.5\n"), "x", tmp_path / "out.parquet").path
    said = pq.read_schema(out).metadata
    assert said[b"mechdesign.table.sha256"].decode() == PM.sha256
    assert said[b"mechdesign.column"] == b"x"


def test_reports_are_not_taken_for_data(write, tmp_path):
    out = apply_table(FINITE, write("x\n5\n"), "x", tmp_path / "out.parquet").path
    with pytest.raises(FileProblem, match="and holds reports"):
        apply_table(FINITE, out, "x", tmp_path / "again.parquet")


@pytest.mark.parametrize("kind", ["int8", "int64", "uint16", "uint64", "float16", "float32", "dictionary"])
def test_numeric_types_are_read_where_doubles_are_exact(write, tmp_path, kind):
    values = [0, 1, 5, 5]
    array = pa.array(values).dictionary_encode() if kind == "dictionary" else pa.array(np.array(values, dtype=kind))
    out = apply_table(FINITE, write({"x": array}, "data.parquet"), "x", tmp_path / "out.csv").path
    assert set(numbers_in(out)) <= {0, 1, 5}


@pytest.mark.parametrize(
    ("kind", "value", "is_exact"),
    [("int64", 2**53 + 1, False), ("int64", 2**53 + 2, True), ("int64", 2**63 - 1, False), ("int64", -(2**63), True),
     ("uint64", 2**64 - 1, False), ("uint64", 2**63, True), ("int64", -(2**53) - 1, False), ("int64", 2**53, True)],
)  # fmt: skip
def test_integers_are_refused_exactly_where_doubles_are_not_exact(kind, value, is_exact):
    column = pa.array(np.array([0, value, 1], dtype=kind))
    values, problem = columns.typed(column, "x")
    assert (problem is None) == is_exact
    assert values.tolist() == ([0.0, float(value), 1.0] if is_exact else [0.0])


BAD_TEXTS = {
    "outside": ("a,x\n1,.1\n2,.2\n3,1.5\n", "column 'x', data row 3, must lie in"),
    "nan": ("a,x\n1,.1\n2,nan\n", "column 'x', data row 2, must lie in"),
    "infinite": ("x\n1e999\n", "column 'x', data row 1, must lie in"),
    "word": (
        "a,x\n1,.1\n2,abc\n3,7\n",
        "column 'x', data row 2, must hold a number; this table has no labels for words",
    ),
    "first of two": ("a,x\n1,.1\n2,7\n3,abc\n", "column 'x', data row 2, must lie in"),
    "underscore": ("x\n0_1\n", "column 'x', data row 1, must hold a number"),
    "missing": ("a,x\n1,\n", "column 'x', data row 1, must hold a number; drop or fill"),
    "empty line in one column": ("x\n.1\n\n.2\n", "column 'x', data row 2, must hold a number; drop or fill"),
    "decimal comma": ("x,a\n.1,1\n0,5,2\n", "have 2 cells in every row, data row 2 has 3"),
    "short row": ("a,x\n1,.5\n2\n", "have 2 cells in every row, data row 2 has 1"),
    "open quote": ('x,a\n.1,"2\n.3,4\n', "close every quote"),
    "not utf-8": (b"x\n.1\n\xff\n", "be a CSV file in UTF-8"),
    "header not utf-8": (b"x\xff\n.1\n", "begin with a line of column names"),
    "no such column": ("xs,b\n1,2\n", "be one of the columns of"),
    "twice": ("x,x\n1,2\n", "2 are called that"),
    "no rows": ("x\n", "at least one row"),
    "no rows, no newline": ("x", "at least one row"),
    "nothing": ("", "is empty"),
}


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_bad_csv_is_named_by_file_and_row_and_leaves_nothing(write, tmp_path, case):
    content, words = BAD_TEXTS[case]
    source = write(content)
    with pytest.raises(InvalidInput) as caught:
        apply_table(PM, source, "x", tmp_path / "out.csv")
    assert words in str(caught.value)
    assert "data.csv" in str(caught.value)
    assert list(tmp_path.iterdir()) == [source]


def test_a_missing_column_lists_the_others_and_the_closest(write, tmp_path):
    with pytest.raises(InvalidInput, match=r"'weight', 'height'.*did you mean 'height'"):
        apply_table(PM, write("weight,height\n1,2\n"), "heigth", tmp_path / "out.csv")


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("x\nNA\n", "; drop or fill the rows without a value"),
        ("x\nTrue\n", "; write truth values as numbers, such as 0 and 1"),
        ("x\nabc\n", "; this table has no labels for words"),
        ('x\n"1,5"\n', "; write numbers with a point and without separators"),
        ("x\n.1;2\n", "; separate the cells by commas"),
        ("x\nnan\n", "; drop or correct the rows that hold no finite number"),
        ("x\n-inf\n", "; drop or correct the rows that hold no finite number"),
        ("id;x\n1;.5\n", "; separate the cells by commas, not by ';'"),
        ("id\tx\n1\t.5\n", "; separate the cells by commas, not by '\\t'"),
        ("1,.5\n2,.5\n", "; the first line must hold the names of the columns"),
        ("X,y\n1,.5\n", "; did you mean 'X'?"),
    ],
)
def test_the_next_step_fits_what_is_wrong(write, tmp_path, content, hint):
    with pytest.raises(InvalidInput) as caught:
        apply_table(PM, write(content), "x", tmp_path / "out.csv")
    assert hint in str(caught.value)


def test_the_domain_is_written_in_one_way_only(write, tmp_path):
    with pytest.raises(InvalidInput) as caught:
        apply_table(PM, write("x\n3\n"), "x", tmp_path / "out.csv")
    assert "[-1, 1]" in str(caught.value)
    assert "[-1, 1)" not in str(caught.value)


def test_a_first_report_is_not_taken_for_a_name(write):
    assert estimate_reports(FINITE, write("5\n0\n")).count == 2
    assert estimate_reports(FINITE, write("5\n0\n"), "5").count == 1


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_csv_dialects_that_are_clear_are_read(write, tmp_path, ending):
    text = ending.join(["\ufeffname, x", '"two\nlines", 0.5', "", '"a ""b""","-0.25"'])
    source = write(text)
    assert apply_table(PM, source, "x", tmp_path / "out.csv").rows == 2


@pytest.mark.usefixtures("small_pieces")
def test_cells_of_other_columns_may_be_in_any_encoding(write, tmp_path):
    source = write(b"x,a\n" + b".1,\xe9t\xe9\n" * 300)
    assert apply_table(PM, source, "x", tmp_path / "out.csv").rows == 300


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("row", [1, 7, 8, 100, 150])
@pytest.mark.parametrize("value", [None, 3.0, float("nan")])
def test_the_row_number_counts_over_all_pieces(write, tmp_path, row, value):
    x = [0.5] * 150
    x[row - 1] = value
    for source in (write({"x": x}, "data.parquet"), write("x\n" + "".join(f"{'' if v is None else v}\n" for v in x))):
        with pytest.raises(InvalidInput, match=f"{source.name}, column 'x', data row {row},"):
            apply_table(PM, source, "x", tmp_path / "out.csv")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["0.5", " -1 ", "1e-3", "2", "x", "", "nan"]), min_size=1, max_size=30))
def test_the_first_bad_row_is_the_one_a_loop_finds(texts):
    def is_good(text):
        try:
            return -1 <= float(text) <= 1
        except ValueError:
            return False

    column = pa.array(texts)
    first = next((k for k, text in enumerate(texts, 1) if not is_good(text)), None)
    if first is None:
        np.testing.assert_array_equal(
            columns.use_numbers(column, columns.written, PM.domain.require, "f"), list(map(float, texts))
        )
        return
    with pytest.raises(InvalidInput, match=f"f, data row {first},"):
        columns.use_numbers(column, columns.written, PM.domain.require, "f")


BAD_COLUMNS = {
    "words": (pa.array(["0.5", "half"]), "data row 2, must hold a number"),
    "boolean": (pa.array([True]), "got 'bool'"),
    "decimal outside": (pa.array([1, 2]).cast(pa.decimal128(20, 0)), "data row 2, must lie in"),
    "nested": (pa.array([[1.0]]), "got 'list"),
    "time": (pa.array([1], pa.timestamp("s")), "got 'timestamp"),
    "all null": (pa.array([None]), "got 'null'"),
    "no rows": (pa.array([], pa.float64()), "at least one row"),
    "null": (pa.array([0.5, None, 9.0]), "data row 2, must hold a number"),
    "outside before null": (pa.array([0.5, 9.0, None]), "data row 2, must lie in"),
}


@pytest.mark.parametrize("case", BAD_COLUMNS)
def test_bad_parquet_columns_are_named_and_leave_nothing(write, tmp_path, case):
    column, words = BAD_COLUMNS[case]
    source = write({"x": column}, "data.parquet")
    with pytest.raises(InvalidInput) as caught:
        apply_table(PM, source, "x", tmp_path / "out.parquet")
    assert words in str(caught.value)
    assert "data.parquet" in str(caught.value)
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("damage", ["cut", "flipped", "text"])
def test_damaged_parquet_is_a_file_problem_and_leaves_nothing(tmp_path, damage):
    source = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": np.linspace(-1, 1, 300_000)}), source, write_page_checksum=True)
    content = bytearray(source.read_bytes())
    middle = len(content) // 2
    content[middle] ^= 1
    source.write_bytes({"cut": content[:middle], "flipped": content, "text": b"x\n1\n"}[damage])
    with pytest.raises(FileProblem, match="be a whole Parquet file"):
        apply_table(PM, source, "x", tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == [source]


def test_existing_output_is_replaced_only_when_asked(write, tmp_path):
    source, out = write("x\n.5\n"), tmp_path / "out.csv"
    out.write_text("old")
    with pytest.raises(FileProblem, match="not exist yet"):
        apply_table(PM, source, "x", out)
    assert out.read_text() == "old"
    assert apply_table(PM, source, "x", out, overwrite=True).rows == 1
    assert out.read_text() != "old"


@pytest.mark.parametrize("link", [None, "symlink_to", "hardlink_to"])
def test_the_data_is_never_overwritten(write, tmp_path, link):
    source = write("x\n.5\n")
    out = source if link is None else tmp_path / "other.csv"
    if link is not None:
        getattr(out, link)(source)
    with pytest.raises(FileProblem, match="differ from the data file"):
        apply_table(PM, source, "x", out, overwrite=True)
    assert source.read_text() == "x\n.5\n"


def test_a_failed_run_leaves_the_old_output(write, tmp_path):
    source, out = write("x\n.5\n7\n"), tmp_path / "out.csv"
    out.write_text("old")
    with pytest.raises(InvalidInput, match="data row 2"):
        apply_table(PM, source, "x", out, overwrite=True)
    assert out.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("source", "out", "words"),
    [
        ("data.txt", "out.csv", "data file must end in .csv or .parquet"),
        ("data.csv.gz", "out.csv", "data file must end in"),
        ("data.csv", "out", "output file must end in"),
        ("none.csv", "out.csv", "data file must exist"),
        ("none.parquet", "out.csv", "data file must exist"),
        (".csv", "out.csv", "data file must end in"),
        ("data.csv", "none/out.csv", "lie in an existing folder"),
        ("folder.csv", "out.csv", "be a file"),
    ],
)
def test_unusable_names_are_refused(write, tmp_path, source, out, words):
    write("x\n.5\n")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileProblem, match=words):
        apply_table(PM, tmp_path / source, "x", tmp_path / out)
    assert not (tmp_path / out).exists()


@pytest.mark.parametrize(("keep", "words"), [(["x"], "name each column once"), (["a", "a"], "once"), (["b"], "be one")])
def test_columns_to_keep_are_others_that_exist(write, tmp_path, keep, words):
    with pytest.raises(InvalidInput, match=words):
        apply_table(PM, write("x,a\n.5,1\n"), "x", tmp_path / "out.csv", keep=keep)


def test_columns_csv_cannot_hold_are_refused(write, tmp_path):
    source = write({"x": [0.5], "a": [[1, 2]]}, "data.parquet")
    with pytest.raises(InvalidInput, match=r"name columns \.csv files can hold"):
        apply_table(PM, source, "x", tmp_path / "out.csv", keep=["a"])
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_progress_ends_at_all_rows_and_never_decreases(write, tmp_path, name):
    x = [0.5] * 500
    source = write(csv_of(x) if name.endswith("csv") else {"x": x}, name)
    told = []
    apply_table(PM, source, "x", tmp_path / "out.csv", progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (500, 500)
    assert len(told) > 2
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(done <= in_all for done, in_all in told)
    assert all(450 < in_all < 550 for done, in_all in told if done > 100)


# -- interrupted and full ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.usefixtures("small_pieces")
def test_an_interrupted_run_leaves_nothing(write, tmp_path, form, failure):
    source = write({"x": [0.5] * 100}, "data.parquet")

    def stop(done, in_all):
        if done > 50:
            raise failure

    with pytest.raises(failure):
        apply_table(PM, source, "x", tmp_path / f"out.{form}", progress=stop)
    assert list(tmp_path.iterdir()) == [source]


LIMITED = """
import resource, sys
from pathlib import Path
from mechdesign.tables.frames import apply_table
from mechdesign.tables import load_table
from mechdesign.errors import FileProblem
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    apply_table(load_table(sys.argv[1]), sys.argv[2], "x", sys.argv[3])
except FileProblem as problem:
    print(problem)
    sys.exit(2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are of Unix")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_full_disk_is_a_file_problem_and_leaves_nothing(write, tmp_path, form):
    table = PM.save(tmp_path / "t.json")
    source = write({"x": np.random.default_rng(1).uniform(-1, 1, 200_000)}, "data.parquet")
    command = [sys.executable, "-c", LIMITED, str(table), str(source), str(tmp_path / f"out.{form}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "output file must be writable: file too large" in done.stdout
    assert "free space or choose another disk" in done.stdout
    assert "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"t.json", "data.parquet"}


# -- data frames -------------------------------------------------------------------------------------------------------


def test_arrays_become_arrays():
    assert apply(PM, np.zeros((2, 3))).shape == (2, 3)
    with pytest.raises(InvalidInput, match=r"x\[1\] must lie in"):
        apply(PM, [0.0, 2.0])
    with pytest.raises(InvalidInput, match=r"an array of numbers has no columns"):
        apply(PM, [0.0], "x")


def test_a_pandas_frame_is_left_alone():
    frame = pd.DataFrame({"a": range(5), "x": np.linspace(-1, 1, 5)}, index=list("vwxyz"))
    before = frame.copy()
    told = apply(PM, frame, "x")
    assert list(told.columns) == ["x"]
    assert list(apply(PM, frame, "x", keep=["a"])["a"]) == list(range(5))
    pd.testing.assert_frame_equal(frame, before)


def test_columns_of_pandas_need_no_words_for_names():
    frame = pd.DataFrame({0: [0.5, -0.5], 1: [1, 2]})
    assert list(apply(PM, frame, 0).columns) == [0]
    assert list(apply(PM, dd.from_pandas(frame, npartitions=1), 0).compute().columns) == [0]
    assert apply(PM, frame.iloc[:0], 0).empty


def test_polars_frames_are_drawn_once_lazy_or_not():
    frame = pl.DataFrame({"a": range(50), "x": np.linspace(-1, 1, 50)})
    told = apply(PM, frame, "x", keep=["a"])
    assert told.columns == ["a", "x"]
    lazy = apply(PM, frame.lazy(), "x")
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(lazy.collect())


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda x: pl.DataFrame(x).lazy()])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.5, None], "data row 2, must hold"),
        ([0.5, 2.0], "data row 2, must lie"),
        ([True, False], "got 'bool'"),
        (["a"], "must hold a number"),
    ],
)
def test_bad_frames_name_the_row(make, values, words):
    with pytest.raises(InvalidInput, match=f"column 'x'.*{words}"):
        apply(PM, make({"x": values}), "x")
    with pytest.raises(InvalidInput, match="be one of the columns of the data frame: 'x'"):
        apply(PM, make({"x": [0.5]}), "y")


def test_mixed_and_repeated_pandas_columns_are_refused():
    with pytest.raises(InvalidInput, match="it mixes several types"):
        apply(PM, pd.DataFrame({"x": [0.5, "a"]}), "x")
    with pytest.raises(InvalidInput, match="2 are called that"):
        apply(PM, pd.DataFrame([[0.5, 0.5]], columns=["x", "x"]), "x")


def test_a_frame_needs_a_column_and_a_file_another_file(write, tmp_path):
    frame, source = pd.DataFrame({"x": [0.5]}), write("x\n.5\n")
    for function in (apply, estimate):
        with pytest.raises(InvalidInput, match="name a column"):
            function(PM, frame)
    for data, out in ((str(source), None), (frame, "out.csv")):
        with pytest.raises(InvalidInput, match="be given with a file, and only then"):
            apply(PM, data, "x", out)
    assert apply(PM, source, "x", tmp_path / "out.csv").rows == 1


def partitions(values, count=3):
    return dd.from_pandas(pd.DataFrame({"a": range(len(values)), "x": values}), npartitions=count)


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def test_dask_is_lazy_and_keeps_rows(monkeypatch):
    monkeypatch.setattr(frames_columns, "sample_codes", lambda table, x: table.domain.require(x))
    x = np.linspace(-1, 1, 10)
    told = apply(PM, partitions(x), "x", keep=["a"])
    now = told.compute()
    np.testing.assert_array_equal(now["x"], x)
    assert list(now["a"]) == list(range(10))


@pytest.mark.parametrize("first", [lambda f: f.head(2), lambda f: f.compute(), lambda f: f.partitions[[1]].compute()])
def test_dask_reports_are_not_drawn_a_second_time(first):
    told = apply_dask(PM, partitions(np.zeros(9)), "x")
    first(told)
    with pytest.raises(InvalidInput, match=r"be drawn once.*persist"):
        told.compute()


def test_persisted_dask_reports_stay_what_they_are():
    told = apply_dask(PM, partitions(np.zeros(9)), "x").persist()
    assert told.compute().equals(told.compute())


@pytest.mark.parametrize("bad", [np.nan, 2.0])
def test_a_bad_dask_row_is_named_by_partition_and_row_and_can_be_tried_again(bad):
    x = np.zeros(9)
    x[7] = bad
    told = apply_dask(PM, partitions(x), "x")
    for _ in range(2):
        with pytest.raises(InvalidInput, match=r"partition 2, column 'x', data row 2,"):
            told.partitions[[2]].compute()


# -- estimates ---------------------------------------------------------------------------------------------------------


def same(first, second):
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("estimate", "lower", "upper"))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_estimates_of_files_are_those_of_their_numbers(write, tmp_path, form):
    x = np.random.default_rng(2).uniform(-1, 1, 500)
    out = apply_table(PM, write({"x": x}, "data.parquet"), "x", tmp_path / f"out.{form}").path
    whole = estimate(PM, numbers_in(out))
    assert whole.count == 500
    assert same(estimate_reports(PM, out, "x"), whole)
    assert same(estimate(PM, out, "x"), whole)
    assert same(estimate(PM, str(out), "x"), whole)


def test_estimates_of_frames_are_those_of_their_numbers():
    reports = apply(FINITE, np.random.default_rng(3).choice([0.0, 1.0, 5.0], 300))
    whole = estimate(FINITE, reports)
    frame = pd.DataFrame({"x": reports})
    for data in (frame, pl.DataFrame({"x": reports}), pl.DataFrame({"x": reports}).lazy(), dd.from_pandas(frame, 7)):
        assert same(estimate(FINITE, data, "x"), whole)
        assert tally(FINITE, data, "x").count == 300


def test_a_confidence_interval_holds_the_mean_of_a_file(write, tmp_path):
    """One interval at confidence 1 - 1e-6 for n = 200000 rows: the false-positive rate of this test is 1e-6."""
    x = np.random.default_rng(4).beta(2, 5, 200_000)
    out = apply_table(PM, write({"x": x}, "data.parquet"), "x", tmp_path / "out.parquet").path
    found = estimate_reports(PM, out, confidence=1 - 1e-6)
    assert found.lower < x.mean() < found.upper
    assert found.upper - found.lower < 0.1


def test_the_quantity_follows_the_domain_or_the_caller():
    angles = apply(CIRCLE, np.full(5000, 1.0))
    assert abs(estimate(CIRCLE, angles).estimate - 1.0) < 0.5
    found = estimate(FINITE, apply(FINITE, np.full(5000, 5.0)), of="frequencies")
    assert np.argmax(found.estimates) == 2
    with pytest.raises(InvalidInput, match="of must be one of mean, frequencies, direction"):
        estimate(FINITE, [0.0], of="median")


def test_the_column_of_reports_may_be_left_out_where_the_file_says_it(write, tmp_path):
    source = write("a,x,b\n1,5,2\n")
    assert (
        estimate_reports(FINITE, apply_table(FINITE, source, "x", tmp_path / "o.parquet", keep=["b"]).path).count == 1
    )
    with pytest.warns(TakenName):
        assert estimate_reports(FINITE, apply_table(FINITE, source, "x", tmp_path / "o.csv").path).count == 1
    both = apply_table(FINITE, source, "x", tmp_path / "2.csv", keep=["b"]).path
    with pytest.raises(InvalidInput, match=r"be given: .*2\.csv has 2 columns"):
        estimate_reports(FINITE, both)


def test_reports_of_another_table_are_refused(write, tmp_path):
    out = apply_table(PM, write("x\n.5\n"), "x", tmp_path / "out.parquet").path
    with pytest.raises(FileProblem, match="of another one"):
        estimate_reports(DUCHI, out)


@pytest.mark.usefixtures("small_pieces")
def test_a_value_that_is_no_report_is_named_by_its_row(write):
    source = write(csv_of([0, 1, 5] * 60 + [4]))
    with pytest.raises(InvalidInput, match=r"data.csv, column 'x', data row 181, must be a possible output"):
        estimate_reports(FINITE, source, "x")
    with pytest.raises(InvalidInput, match=r"partition 1, column 'x', data row 2,"):
        estimate(FINITE, partitions([0.0, 1.0, 5.0, 4.0], 2), "x")
    with pytest.raises(InvalidInput, match=r"\[2\] must"):
        estimate(FINITE, [0.0, 1.0, 4.0])


def test_no_reports_are_no_estimate(write):
    for data in (np.empty(0), pd.DataFrame({"x": np.empty(0)}), partitions(np.empty(0), 1)):
        with pytest.raises(InvalidInput, match="be at least one"):
            estimate(FINITE, data, None if isinstance(data, np.ndarray) else "x")
    with pytest.raises(FileProblem, match="at least one row"):
        estimate(FINITE, write("x\n"), "x")


# -- labels ------------------------------------------------------------------------------------------------------------

WORDS = ("no", "maybe", "yes")


def labelled(inputs=WORDS, outputs=WORDS, epsilon=20.0):
    """Randomised response that lies in 4e-9 of reports."""
    table = catalogue.randomised_response(epsilon, Finite((0, 1, 2)))
    return make_table(table, 62, labels=Labels(inputs, outputs))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda x: pl.DataFrame(x).lazy(), None])
def test_frames_of_labels_become_frames_of_labels(make):
    x = [*WORDS, "yes"] * 5
    frame = dd.from_pandas(pd.DataFrame({"x": x}), npartitions=2) if make is None else make({"x": x})
    told = apply(labelled(), frame, "x")
    told = told.persist() if make is None else told
    found = estimate(labelled(), told, "x")
    assert found.labels == WORDS
    assert found.estimates == pytest.approx([0.25, 0.25, 0.5])
    whole = told.compute() if make is None else told.collect() if hasattr(told, "collect") else told
    assert list(whole["x"]) == x


@pytest.mark.parametrize(
    "column", [pa.array(["yes", "no"]).dictionary_encode(), pa.array(["yes", "no"], pa.large_string())]
)
def test_any_kind_of_text_is_read_by_its_labels(write, tmp_path, column):
    out = apply_table(labelled(), write({"x": column}, "data.parquet"), "x", tmp_path / "out.parquet").path
    assert pq.read_table(out)["x"].to_pylist() == ["yes", "no"]


SWAPPED = ("2", "1", "0")  # labels that are the codes of other labels
FORMS = ["csv", "texts", "whole numbers", "floats", "pandas", "polars", "dask", "list"]


def shaped(form, values, write):
    """Data of numbers, as a file or a frame."""
    if form == "csv":
        return write("x\n" + "".join(f"{value}\n" for value in values))
    if form in ("texts", "whole numbers", "floats"):
        kind = {"texts": pa.string(), "whole numbers": pa.int8(), "floats": pa.float32()}[form]
        column = pa.array(list(map(str, values)) if form == "texts" else values, kind)
        return write({"x": column}, "data.parquet")
    frame = pd.DataFrame({"x": values})
    frames_of = {"polars": pl.from_pandas, "dask": lambda data: dd.from_pandas(data, npartitions=2)}
    return values if form == "list" else frames_of.get(form, lambda data: data)(frame)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_read_by_the_label_that_writes_them_and_never_as_codes(write, form):
    found = estimate(labelled(SWAPPED, SWAPPED), shaped(form, [2, 2, 2, 0], write), None if form == "list" else "x")
    assert found.labels == SWAPPED
    assert found.estimates == pytest.approx([0.75, 0, 0.25], abs=1e-6)  # as codes they would be 0.25, 0, 0.75


@pytest.mark.parametrize("form", FORMS)
def test_codes_are_refused_unless_they_are_asked_for(write, form):
    data, column = shaped(form, [2, 2, 2, 0], write), None if form == "list" else "x"
    with pytest.raises(InvalidInput, match=r"texts, as the labels|labels of the table: 'no', 'maybe', 'yes'"):
        estimate(labelled(), data, column)
    if form != "texts":
        assert estimate(labelled(), data, column, codes=True).estimates == pytest.approx([0.25, 0, 0.75], abs=1e-6)
        found = estimate(labelled(SWAPPED, SWAPPED), data, column, codes=True)
        assert found.estimates == pytest.approx([0.25, 0, 0.75], abs=1e-6)


def test_a_column_of_a_likert_scale_becomes_labels(write, tmp_path):
    table = labelled(("1", "2", "3"), ("1", "2", "3"))
    out = apply_table(table, write({"x": [1, 3, 3]}, "data.parquet"), "x", tmp_path / "out.parquet").path
    assert pq.read_table(out)["x"].to_pylist() == ["1", "3", "3"]
    with pytest.raises(InvalidInput, match=r"data row 2, must be one of the labels of the table: '1', '2', '3'"):
        apply_table(table, write({"x": [3, 0]}, "data.parquet"), "x", tmp_path / "more.csv")


@pytest.mark.parametrize(
    ("labels", "value"), [(("1", "1.0", "2"), 1), (("01", "02", "03"), 1), (("9007199254740993", "a", "b"), 2**53)]
)
def test_a_number_that_more_than_one_label_or_none_writes_is_refused(write, labels, value):
    with pytest.raises(InvalidInput, match=r"must be (one of the labels|a column of texts)"):
        estimate(labelled(labels, labels), write({"x": [value]}, "data.parquet"))
    assert estimate(labelled(labels, labels), [labels[0]]).estimates[0] == pytest.approx(1)


def test_samples_and_tallies_speak_labels():
    table = labelled()
    assert sample(table, [["yes"], ["no"]]).tolist() == [["yes"], ["no"]]
    assert sample(table, "maybe", 2).tolist() == ["maybe", "maybe"]
    assert report(table, "yes") == "yes"
    assert Tally(table).add(["yes", "no", "yes"]).frequencies().estimates == pytest.approx([1 / 3, 0, 2 / 3], abs=1e-6)
    for refused in (lambda: sample(table, [0.0]), lambda: report(table, 0), lambda: Tally(table).add([0.0])):
        with pytest.raises(InvalidInput, match="one of the labels of the table: 'no', 'maybe', 'yes'"):
            refused()


def test_labels_have_no_mean():
    with pytest.raises(InvalidInput, match="have numbers as inputs to estimate a mean, not labels"):
        estimate(labelled(SWAPPED, SWAPPED), ["2"], of="mean")


def test_codes_need_a_table_with_labels():
    with pytest.raises(InvalidInput, match="codes must be left out: this table has no labels"):
        estimate(FINITE, [0.0], codes=True)


def test_outputs_that_repair_dropped_take_their_labels_along():
    rows = [[0.7, 0.0, 0.3], [0.3, 0.0, 0.7]]
    said = Labels(None, ("low", "never", "high"))
    table = repaired(1.0, Finite((0, 1)), Finite((0, 1, 2)), rows, labels=said)
    assert table.labels == Labels(None, ("low", "high"))
    assert set(apply(table, pd.DataFrame({"x": [0, 1] * 100}), "x")["x"]) == {"low", "high"}
    with pytest.raises(InvalidInput, match="be one of the labels of the table: 'low', 'high'"):
        estimate(table, pd.DataFrame({"x": ["low", "never"]}), "x")


def test_a_missing_label_is_a_row_without_a_value(write, tmp_path):
    source = write({"x": ["yes", None, "no"]}, "data.parquet")
    with pytest.raises(InvalidInput, match=r"data row 2, must be one of the labels.*drop or fill"):
        apply_table(labelled(), source, "x", tmp_path / "out.csv")


@pytest.mark.usefixtures("small_pieces")
def test_the_row_of_an_unknown_label_counts_over_all_pieces(write, tmp_path):
    source = write("x\n" + "yes\n" * 200 + "5\n")
    with pytest.raises(InvalidInput, match=r"data row 201, must be one of the labels"):
        apply_table(labelled(), source, "x", tmp_path / "out.csv")


# -- the optional library ----------------------------------------------------------------------------------------------


def test_importing_the_package_loads_no_optional_library():
    optional = ("pyarrow", "polars", "dask", "pandas")
    code = f"import mechdesign.tables.frames, sys; print([m for m in {optional} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_the_library_the_extra_is_named(write, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"mechdesign\[data\]"):
        apply_table(PM, write("x\n.5\n"), "x", tmp_path / "out.csv")


def test_a_lazy_frame_streams_to_a_file_in_its_order(tmp_path):
    frame = pl.DataFrame({"id": range(600_000), "x": np.linspace(-1, 1, 600_000)})
    frame.write_parquet(tmp_path / "a.parquet")
    scanned = pl.scan_parquet(tmp_path / "a.parquet").filter(pl.col("id") % 2 == 0)
    done = apply(PM, scanned, "x", tmp_path / "r.parquet", keep=["id"])
    told = pl.read_parquet(tmp_path / "r.parquet")
    assert (done.rows, told.columns) == (300_000, ["id", "x"])
    assert told["id"].to_list() == list(range(0, 600_000, 2))
    found, same = estimate(PM, pl.scan_parquet(tmp_path / "r.parquet"), "x"), estimate(PM, tmp_path / "r.parquet")
    assert found == same


def test_a_value_outside_in_a_lazy_frame_is_named_with_its_row_and_leaves_no_file(tmp_path):
    frame = pl.LazyFrame({"x": [0.5] * 400_000 + [7.0, 0.5]})
    with pytest.raises(InvalidInput, match=r"lazy frame, column 'x'.*400,?001"):
        apply(PM, frame, "x", tmp_path / "r.parquet")
    assert not list(tmp_path.iterdir())


def test_a_lazy_frame_that_cannot_be_read_is_a_file_problem(tmp_path):
    with pytest.raises(FileProblem, match=r"data must give its rows.*the lazy frame"):
        apply(PM, pl.scan_parquet(tmp_path / "none.parquet"), "x", tmp_path / "r.parquet")
    broken = pl.LazyFrame({"x": ["a"]}).with_columns(pl.col("x").cast(pl.Float64))
    with pytest.raises(FileProblem, match=r"data must give its rows.*the lazy frame"):
        estimate(PM, broken, "x")


def test_the_index_and_attributes_of_a_frame_stay_at_home():
    frame = pd.DataFrame({"x": [0.1, 0.2, 0.3]}).set_index("x", drop=False)
    frame.attrs["owner"] = "somebody"
    told = apply(PM, frame, "x")
    assert (told.index.tolist(), told.index.name, told.attrs) == ([0, 1, 2], None, {})
    lazy = apply(PM, dd.from_pandas(frame, npartitions=2), "x")
    assert not lazy.known_divisions
    assert set(lazy.compute().index) <= {0, 1, 2}


@pytest.mark.parametrize("values", [[1.0, True], [10**30], [1 + 2j]])
def test_columns_of_python_objects_are_refused_in_words(values):
    with pytest.raises(InvalidInput, match="column 'x'"):
        apply(PM, pd.DataFrame({"x": pd.Series(values, dtype=object)}), "x")


def test_masked_reports_are_not_counted():
    with pytest.raises(InvalidInput, match="no masked entries"):
        estimate(DUCHI, np.ma.masked_array(apply(DUCHI, np.zeros(3)), [False, True, False]))


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("kind", ["decimal", "text"])
def test_decimals_and_texts_are_the_same_doubles_in_csv_and_parquet(write, tmp_path, kind):
    """Up to thirty digits each; the nearest doubles are those of Python's own ``float``."""
    texts = [f"0.{'7' * k}{k}" for k in range(10, 29)] + ["-1", "0.1"] + ["1e-3", " 0.25 "] * (kind == "text")
    column = pa.array(list(map(Decimal, texts)), pa.decimal128(38, 31)) if kind == "decimal" else pa.array(texts)
    for source in (write({"x": column}, "data.parquet"), write("x\n" + "".join(f"{text}\n" for text in texts))):
        out = apply_table(PM, source, "x", tmp_path / "out.parquet", overwrite=True).path
        assert numbers_in(out).tolist() == list(map(float, texts))


@pytest.mark.parametrize("source", [np.array([0.5]), [0.5], pd.Series([0.5])], ids=["array", "list", "series"])
def test_reports_in_memory_are_told_what_takes_them(source, tmp_path):
    table = make_table(catalogue.pm(1.0))
    for read in (lambda: estimate_reports(table, source), lambda: apply_table(table, source, None, tmp_path / "o.csv")):
        with pytest.raises(InvalidInput, match=r"source must be a file.*tables\.estimate\(table, reports\)"):
            read()
