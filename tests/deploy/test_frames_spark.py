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

from mechdesign.deploy import Misfits, make_table
from mechdesign.deploy.frames_spark import apply_spark
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue

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


def test_reports_that_are_there_are_never_replaced(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="not exist yet"):
        apply_spark(DUCHI, spark.createDataFrame(pd.DataFrame({"x": [0.5]})), "x", tmp_path)
