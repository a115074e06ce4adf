"""Rows that do not fit: refused and counted, left out, empty, or drawn as a category; what fits is never touched."""

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
from mechdesign.errors import FileProblem, InvalidData, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import Labels, frames_columns, make_table, misfits
from mechdesign.tables.frames import Misfits, OnBad, apply, apply_table
from mechdesign.words.domains import Finite

PM = make_table(catalogue.pm(1.0))
WORDS = make_table(
    catalogue.randomised_response(1.0, Finite((0, 1, 2))), labels=Labels(("no", "yes", "other"), ("no", "yes", "other"))
)
DIRTY = ["0.5", "", "NA", "-1", "7", "nan", "half", "1e0", "inf", "0.5"]
FITS = [0, 3, 7, 9]


@pytest.fixture
def unchanged(monkeypatch):
    """Reports that are their inputs, so that places can be compared."""
    for module in (frames_columns, misfits):
        monkeypatch.setattr(module, "sample_codes", lambda table, x: table.domain.require(x))


@pytest.fixture
def dirty(tmp_path):
    """The same rows as text, and as Parquet."""

    def file(form):
        path = tmp_path / f"data.{form}"
        if form == "csv":
            path.write_text("id,x\n" + "".join(f"{k},{text}\n" for k, text in enumerate(DIRTY)))
        else:
            pq.write_table(pa.table({"id": list(range(len(DIRTY))), "x": [text or None for text in DIRTY]}), path)
        return path

    return file


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(sources, "_ROWS", 3)
    monkeypatch.setattr(sources, "_BLOCK", 16)
    monkeypatch.setattr(columns, "_BLOCK", 2)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_refusal_names_the_first_row_counts_all_and_leaves_nothing(dirty, tmp_path, form):
    source = dirty(form)
    with pytest.raises(InvalidData, match=r"data row 2, .*6 of 10 rows do not fit"):
        apply_table(PM, source, "x", tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.usefixtures("small_pieces", "unchanged")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_that_are_left_out_take_their_kept_columns_along(dirty, tmp_path, form):
    done = apply_table(PM, dirty(form), "x", tmp_path / "out.parquet", keep=["id"], misfits=Misfits("drop"))
    told = pq.read_table(done.path)
    assert (done.rows, done.bad) == (4, 6)
    assert [int(k) for k in told["id"].to_pylist()] == FITS
    assert told["x"].to_pylist() == [0.5, -1.0, 1.0, 0.5]


@pytest.mark.usefixtures("small_pieces", "unchanged")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_empty_reports_stand_where_rows_do_not_fit(dirty, tmp_path, form):
    done = apply_table(PM, dirty(form), "x", tmp_path / "out.parquet", misfits=Misfits(OnBad.NULL))
    assert (done.rows, done.bad) == (10, 6)
    assert pq.read_table(done.path)["x"].to_pylist() == [0.5, *[None] * 2, -1.0, *[None] * 3, 1.0, None, 0.5]


@pytest.mark.usefixtures("small_pieces", "unchanged")
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_category_stands_for_all_that_does_not_fit(dirty, tmp_path, form):
    done = apply_table(PM, dirty(form), "x", tmp_path / "out.parquet", misfits=Misfits("category", 0))
    assert (done.rows, done.bad) == (10, 6)
    assert pq.read_table(done.path)["x"].to_pylist() == [0.5, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5]


def test_the_report_of_a_category_has_the_law_of_its_row(tmp_path):
    """P(other | other) = e/(e+2), n = 20,000, false-positive rate 1e-9; a law wrong by .03 is found with power .99."""
    n = 20_000
    source = tmp_path / "data.parquet"
    pq.write_table(pa.table({"x": ["nobody knows"] * n}), source)
    out = apply_table(WORDS, source, "x", tmp_path / "out.parquet", misfits=Misfits("category", "other")).path
    count = pq.read_table(out)["x"].to_pylist().count("other")
    assert stats.binomtest(count, n, np.e / (np.e + 2)).pvalue > 1e-9


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda x: dd.from_pandas(pd.DataFrame(x), npartitions=2)])
def test_frames_leave_out_the_same_rows_as_files(make):
    told = apply(PM, make({"id": range(10), "x": DIRTY}), "x", keep=["id"], misfits=Misfits("drop"))
    told = told.compute() if hasattr(told, "compute") else told
    assert list(told["id"]) == FITS
    assert list(told["x"]) == [0.5, -1.0, 1.0, 0.5]


@pytest.mark.usefixtures("unchanged")
def test_frames_of_labels_have_empty_reports_where_files_do():
    told = apply(WORDS, pl.DataFrame({"x": ["no", "maybe", None, " yes"]}), "x", misfits=Misfits("null"))
    assert told["x"].to_list() == ["no", None, None, "yes"]
    told = apply(WORDS, pd.DataFrame({"x": ["no", "maybe", None, " yes"]}), "x", misfits=Misfits("null"))
    assert [None if pd.isna(value) else value for value in told["x"]] == ["no", None, None, "yes"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*DIRTY, "2", "-0.0", "x"]) | st.none(), min_size=1, max_size=40))
def test_the_rows_that_do_not_fit_are_those_that_a_loop_finds(texts):
    def fits(text):
        try:
            return -1 <= float(text) <= 1
        except (TypeError, ValueError):
            return False

    wrong = misfits.unfitting(PM, pa.array(texts, pa.string()), columns.typed, "f")
    assert wrong.tolist() == [not fits(text) for text in texts]


def test_nothing_that_fits_is_no_file_of_reports(tmp_path):
    source = tmp_path / "data.csv"
    source.write_text("x\n7\n8\n")
    with pytest.raises(FileProblem, match="all 2 do not"):
        apply_table(PM, source, "x", tmp_path / "out.csv", misfits=Misfits("drop"))
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Misfits("skip"), "on_bad must be one of refuse, drop, null, category"),
        (lambda: Misfits("category"), "category must be given with on_bad='category'"),
        (lambda: Misfits("drop", "other"), "category must be given with on_bad='category'"),
        (lambda: Misfits("category", "nobody").require(WORDS), "category must be one of the labels"),
        (lambda: Misfits("category", 7).require(PM), "category must lie in"),
        (lambda: Misfits("category", "x").require(PM), "category must be a number of the domain"),
        (lambda: apply(PM, np.zeros(3), misfits=Misfits("drop")), "misfits must be left out"),
    ],
)
def test_policies_that_make_no_sense_are_refused(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


def test_no_value_that_does_not_fit_is_in_an_error(dirty, tmp_path):
    source = tmp_path / "data.csv"
    source.write_text("x\n" + "hepatitis\n" * 5)
    with pytest.raises(InvalidData) as caught:
        apply_table(PM, source, "x", tmp_path / "out.csv")
    assert "hepatitis" not in repr(caught.value) + str(caught.value.__dict__)
