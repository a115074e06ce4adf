"""Spark: every row's report is written once, by the table's law, and rows that do not fit are named or left out."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import Misfits, estimate_reports, make_table
from mechdesign.tables.frames import apply_folder, apply_table
from mechdesign.tables.frames_spark import apply_spark
from mechdesign.tables.manifest import MANIFEST, Manifest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]
pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")

DUCHI = make_table(catalogue.duchi(1.0))


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


def test_each_row_is_written_once_and_drawn_from_its_own_input(spark: Any, tmp_path: Path) -> None:
    """P(high | 1) = e/(1+e), P(high | -1) = 1/(1+e); n = 10,000 each, false-positive rate 1e-9."""
    n = 10_000
    frame = spark.createDataFrame(pd.DataFrame({"id": range(2 * n), "x": np.tile([1.0, -1.0], n)})).repartition(3)
    apply_spark(DUCHI, frame, "x", tmp_path / "out", keep=["id"])
    told = pd.read_parquet(tmp_path / "out").sort_values("id")
    assert told["id"].tolist() == list(range(2 * n))
    for first, chance in ((0, np.e / (1 + np.e)), (1, 1 / (1 + np.e))):
        high = int((told["x"].to_numpy()[first::2] > 0).sum())
        assert stats.binomtest(high, n, chance).pvalue > 5e-10


def test_rows_that_do_not_fit_are_named_or_left_out(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(pd.DataFrame({"x": [0.5, 7.25, -1.0]})).coalesce(1)
    with pytest.raises(InvalidInput, match="data row 2, must lie in") as caught:
        apply_spark(DUCHI, frame, "x", tmp_path / "out")
    assert "7.25" not in str(caught.value)
    apply_spark(DUCHI, frame, "x", tmp_path / "rest", misfits=Misfits("drop"))
    assert len(pd.read_parquet(tmp_path / "rest")) == 2


def test_the_folder_has_a_manifest_by_which_it_is_estimated(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(pd.DataFrame({"x": np.tile([1.0, -1.0], 500)})).repartition(3)
    apply_spark(DUCHI, frame, "x", tmp_path / "out")
    manifest = Manifest.read(tmp_path / "out")
    assert sum(part.rows for part in manifest.parts) == 1000
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        MANIFEST,
        *(part.file for part in manifest.parts),
    }
    assert (manifest.table, manifest.column, {part.bad for part in manifest.parts}) == (DUCHI.sha256, "x", {0})
    assert estimate_reports(DUCHI, tmp_path / "out").count == 1000
    apply_spark(DUCHI, frame, "x", tmp_path / "dropped", misfits=Misfits("drop"))
    assert {part.bad for part in Manifest.read(tmp_path / "dropped").parts} == {None}


def test_reports_are_not_drawn_from_again(spark: Any, tmp_path: Path) -> None:
    apply_spark(DUCHI, spark.createDataFrame(pd.DataFrame({"x": [0.5, 0.25]})).coalesce(1), "x", tmp_path / "out")
    with pytest.raises(FileProblem, match="holds reports"):
        apply_folder(DUCHI, tmp_path / "out", "x", tmp_path / "again")
    (part,) = (tmp_path / "out").glob("*.parquet")
    with pytest.raises(FileProblem, match="holds reports"):
        apply_table(DUCHI, part, "x", tmp_path / "again.parquet")
    with pytest.raises(FileProblem, match="holds reports"):
        apply_spark(DUCHI, spark.read.parquet(str(tmp_path / "out")), "x", tmp_path / "again")
    pd.DataFrame({"x": [0.5]}).to_parquet(tmp_path / "data.parquet")
    apply_table(DUCHI, tmp_path / "data.parquet", "x", tmp_path / "own.parquet")
    with pytest.raises(FileProblem, match="holds reports"):
        apply_spark(DUCHI, spark.read.parquet(str(tmp_path / "own.parquet")), "x", tmp_path / "again")


def test_a_job_that_fails_leaves_no_folder(spark: Any, tmp_path: Path) -> None:
    frame = spark.createDataFrame(pd.DataFrame({"x": [0.5, 7.25, -1.0]})).repartition(3)
    with pytest.raises(InvalidInput):
        apply_spark(DUCHI, frame, "x", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_address_is_refused_as_no_manifest_is_written_there(spark: Any) -> None:
    with pytest.raises(FileProblem, match="be a folder of this machine"):
        apply_spark(DUCHI, spark.createDataFrame(pd.DataFrame({"x": [0.5]})), "x", "hdfs://cluster/out")


def test_reports_that_are_there_are_never_replaced(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="not exist yet"):
        apply_spark(DUCHI, spark.createDataFrame(pd.DataFrame({"x": [0.5]})), "x", tmp_path)
