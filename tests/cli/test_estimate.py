"""`estimate`: what a file of reports says, from a shell."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mechdesign.mechanisms import catalogue
from mechdesign.methods.registry import solve
from mechdesign.studies.frequencies import Survey
from mechdesign.tables import make_table
from mechdesign.tables.frames import apply_table, estimate
from mechdesign.tables.reports import enveloped, payload_of
from mechdesign.words.domains import Finite
from tests.methods.problems import numbers

PM = make_table(catalogue.pm(1.0))
BIASED = make_table(solve(numbers(1.0), gap=0.05))
GRR = make_table(catalogue.randomised_response(2.0, Finite((0, 1, 5))))
CIRCLE = make_table(catalogue.ogpm_circle(2.0))


@pytest.fixture
def shipped(tmp_path: Path) -> Any:
    """The files of a table and of its reports."""

    def ship(table: Any, x: Any, name: str = "out.parquet") -> tuple[str, str]:
        data = tmp_path / "data.parquet"
        pq.write_table(pa.table({"x": x}), data)
        table.save(tmp_path / "t.json")
        return str(tmp_path / "t.json"), str(apply_table(table, data, "x", tmp_path / name).path)

    return ship


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_the_mean_is_printed_with_its_interval(run: Any, shipped: Any, name: str) -> None:
    table, out = shipped(PM, np.full(20_000, 0.25), name)
    outcome = run("estimate", table, "--in", out)
    assert outcome.code == 0
    assert outcome.out.startswith("mean: 0.")
    assert "with confidence 0.95, from 20,000 reports" in outcome.out


def test_json_carries_the_same_numbers_as_python(run: Any, shipped: Any) -> None:
    table, out = shipped(PM, np.full(2_000, 0.25))
    document = run("estimate", table, "--in", out, "--column", "x", "--confidence", "0.9", "--json").json
    found = estimate(PM, pq.read_table(out)["x"].to_numpy(), confidence=0.9)
    assert (document["estimate"], document["lower"], document["upper"]) == (found.estimate, found.lower, found.upper)
    assert (document["count"], document["confidence"], document["sha256"]) == (2000, 0.9, PM.sha256)


def test_frequencies_are_a_row_for_each_value(run: Any, shipped: Any) -> None:
    table, out = shipped(GRR, np.repeat([0.0, 1.0, 5.0], [1000, 1000, 8000]))
    outcome = run("estimate", table, "--in", out, "--frequencies")
    assert outcome.code == 0
    assert [line.split()[0] for line in outcome.out.splitlines()[2:5]] == ["0", "1", "5"]
    document = run("estimate", table, "--in", out, "--frequencies", "--json").json
    assert document["points"] == [0.0, 1.0, 5.0]
    assert sum(document["estimates"]) == pytest.approx(1.0)
    assert np.argmax(document["estimates"]) == 2


@pytest.mark.parametrize("is_biased", [True, False])
def test_a_mean_that_is_mostly_bias_says_so(run: Any, shipped: Any, is_biased: bool) -> None:
    table = BIASED if is_biased else PM
    files = shipped(table, np.full(20_000, 0.25))
    outcome = run("estimate", files[0], "--in", files[1])
    assert ("is the table's bias bound, which more reports do not narrow" in outcome.out) == is_biased
    document = run("estimate", files[0], "--in", files[1], "--json").json
    assert document["bias"] == float(Fraction(table.document["estimator"]["bias"]))
    assert (document["bias"] > (document["upper"] - document["lower"]) / 4) == is_biased


def test_a_circle_has_a_direction(run: Any, shipped: Any) -> None:
    table, out = shipped(CIRCLE, np.full(5_000, 3.0))
    outcome = run("estimate", table, "--in", out)
    assert outcome.code == 0
    assert outcome.out.startswith(("direction: 2.", "direction: 3."))


@pytest.mark.slow
def test_a_local_dask_cluster_gives_the_same(run: Any, shipped: Any) -> None:
    table, out = shipped(PM, np.full(2_000, 0.25))
    alone = run("estimate", table, "--in", out, "--json").json
    assert run("estimate", table, "--in", out, "--engine", "dask", "--json").json == alone


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "dask"], "the data be a .parquet file"),
        (["--workers", "2"], "the data be a .parquet file"),
        (["--workers", "0"], "workers must be a whole number"),
        (["--engine", "ray"], "local or dask"),
        (["--scheduler", "tcp://x:1"], "--engine dask"),
    ],
    ids=" ".join,
)
def test_engines_that_cannot_count_the_file_are_exit_code_two(
    run: Any, shipped: Any, options: list[str], words: str
) -> None:
    table, out = shipped(PM, np.zeros(10), "out.csv")
    outcome = run("estimate", table, "--in", out, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--column", "z"], "be one of the columns of"),
        (["--confidence", "1.5"], "confidence must"),
        (["--confidence", "nan"], "confidence must"),
        (["--frequencies"], "must"),
    ],
    ids=range(4),
)
def test_bad_input_is_exit_code_two(run: Any, shipped: Any, arguments: list[str], words: str) -> None:
    table, out = shipped(PM, np.zeros(10))
    outcome = run("estimate", table, "--in", out, *arguments)
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.out == ""


def test_data_are_not_taken_for_reports(run: Any, tmp_path: Path) -> None:
    PM.save(tmp_path / "t.json")
    (tmp_path / "data.csv").write_text("x\n0.3\n100\n")
    outcome = run("estimate", str(tmp_path / "t.json"), "--in", str(tmp_path / "data.csv"))
    assert outcome.code == 2
    assert "data row" in outcome.err


def test_reports_of_another_table_are_refused(run: Any, shipped: Any, tmp_path: Path) -> None:
    _, out = shipped(PM, np.zeros(10))
    GRR.save(tmp_path / "other.json")
    outcome = run("estimate", str(tmp_path / "other.json"), "--in", out)
    assert outcome.code == 2
    assert "of another one" in outcome.err


# -- other doors, the same answers -------------------------------------------------------------------------------------


def test_a_survey_in_place_of_a_table_says_what_estimate_counts_says(run: Any, tmp_path: Path) -> None:
    survey = Survey("olh", 1.0, ("ape", "bee", "cat"), client="pure-ldp")
    file = str(survey.write(tmp_path / "survey.json"))
    np.save(tmp_path / "sent.npy", survey.law.report(np.arange(3).repeat(200), np.random.default_rng(3)))
    sent = str(tmp_path / "sent.npy")
    found = run("estimate", file, "--in", sent, "--json").json
    assert found == run("estimate-counts", sent, "--survey", file, "--json").json
    assert found["problem"]["client"] == "pure-ldp"
    outcome = run("estimate", file, "--in", sent, "--confidence", "0.9")
    assert (outcome.code, "a survey says all but --in" in outcome.err) == (2, True)


def test_envelopes_count_once_each_and_say_what_their_reports_say(run: Any, tmp_path: Path) -> None:
    """An envelope that comes twice, one of yesterday and one of another table do not count, and are told of."""
    GRR.save(tmp_path / "t.json")
    sent = [enveloped(GRR, x, date(2099, 1, 1)) for x in (0.0, 1.0, 5.0) * 100]
    others = [sent[0], enveloped(GRR, 0.0, date(2001, 1, 1)), enveloped(PM, 0.5, date(2099, 1, 1))]
    (tmp_path / "today.txt").write_bytes(b"".join(envelope.line for envelope in [*sent, *others]))
    arguments = ("estimate", str(tmp_path / "t.json"), "--in", str(tmp_path / "today.txt"), "--frequencies")
    outcome = run(*arguments, "--json")
    reports = [payload_of(GRR).read(envelope.report, GRR) for envelope in sent]
    expected = estimate(GRR, np.array(reports), of="frequencies")
    assert outcome.json["estimates"] == expected.estimates.tolist()
    assert outcome.json["lower"] == expected.lower.tolist()
    for words in ("1 unknown", "1 expired", "1 repeated"):
        assert words in outcome.err
    assert run(*arguments, "--column", "x").code == 2


def test_envelopes_of_which_none_counts_are_refused(run: Any, tmp_path: Path) -> None:
    PM.save(tmp_path / "t.json")
    (tmp_path / "old.txt").write_bytes(enveloped(PM, 0.5, date(2001, 1, 1)).line)
    outcome = run("estimate", str(tmp_path / "t.json"), "--in", str(tmp_path / "old.txt"))
    assert (outcome.code, "hold an envelope that counts" in outcome.err) == (2, True)
