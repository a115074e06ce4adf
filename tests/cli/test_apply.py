"""`apply`: a column of a file becomes a file of reports, or nothing."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from mechdesign.cli import apply as command


@pytest.fixture
def table(run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "t.json"
    assert run("table", "--eps", "1", "--mechanism", "duchi", "--domain=-1,1", "--out", str(path)).code == 0
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text("name,x,age\n" + "".join(f"p{k},{k / 100},{k}\n" for k in range(-100, 101)))
    return path


def test_reports_are_written_and_the_summary_states_the_privacy(
    run: Any, table: Path, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    outcome = run("apply", str(table), "--in", str(data), "--column", "x", "--out", str(out))
    assert outcome.code == 0
    assert "201 reports of x" in outcome.out
    assert "privacy loss of each report: 0.9999" in outcome.out
    assert f"saved {out}" in outcome.out
    assert pq.read_table(out).column_names == ["x"]
    assert len(set(pq.read_table(out)["x"].to_pylist())) == 2


def test_json_names_table_rows_and_file(run: Any, table: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    outcome = run("apply", str(table), "--in", str(data), "--column", "x", "--out", str(out), "--json")
    document = outcome.json
    assert (document["rows"], document["column"], document["kept"]) == (201, "x", [])
    assert (document["epsilon"], document["file"]) == (1.0, str(out))
    assert document["sha256"] in table.read_text()
    assert 0.99 < document["privacy_loss"] <= 1.0
    assert outcome.err == ""


def test_kept_columns_go_out_with_a_warning(run: Any, table: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    outcome = run("apply", str(table), "--in", str(data), "--column", "x", "--out", str(out), "--keep", "age, name")
    assert outcome.code == 0
    assert "without any protection: age, name" in outcome.err
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["name", "x", "age"]
    assert [int(row["age"]) for row in rows] == list(range(-100, 101))


@pytest.fixture
def named(run: Any, tmp_path: Path) -> Path:
    """A table that changes a label in 4e-9 of reports."""
    options = "--eps 20 --bits 62 --mechanism grr"
    path = tmp_path / "named.json"
    assert run("table", *options.split(), "--labels", "no,maybe,yes", "--out", str(path)).code == 0
    return path


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_labels_go_in_and_come_out_of_apply_and_estimate(run: Any, named: Path, tmp_path: Path, form: str) -> None:
    data, out = tmp_path / "answers.csv", tmp_path / f"out.{form}"
    data.write_text("id,vote\n" + "1,yes\n2,no\n3,yes\n4, maybe\n" * 5)
    assert run("apply", str(named), "--in", str(data), "--column", "vote", "--out", str(out)).code == 0
    told = pq.read_table(out) if form == "parquet" else pacsv.read_csv(out)
    assert told["vote"].to_pylist() == ["yes", "no", "yes", "maybe"] * 5
    shown = run("estimate", str(named), "--in", str(out)).out.splitlines()
    assert [line.split()[:2] for line in shown[2:5]] == [["no", "0.25"], ["maybe", "0.25"], ["yes", "0.5"]]
    document = run("estimate", str(named), "--in", str(out), "--frequencies", "--json").json
    assert document["labels"] == ["no", "maybe", "yes"]
    assert document["estimates"] == pytest.approx([0.25, 0.25, 0.5])


@pytest.mark.parametrize(
    ("cell", "step"),
    [
        ("Yess", ""),
        ("1", "; write the labels: numbers are not taken for their codes"),
        ("NA", "; drop or fill the rows without a value"),
    ],
)
def test_an_unknown_label_is_named_with_its_row(run: Any, named: Path, tmp_path: Path, cell: str, step: str) -> None:
    data = tmp_path / "answers.csv"
    data.write_text(f"id,vote\n1,yes\n2,no\n3,{cell}\n")
    outcome = run("apply", str(named), "--in", str(data), "--column", "vote", "--out", str(tmp_path / "out.csv"))
    assert outcome.code == 2
    rule = "must be one of the labels of the table: 'no', 'maybe', 'yes'"
    assert outcome.err.endswith(
        f"answers.csv, column 'vote', data row 3, {rule}{step}; the other 2 rows fit; --show-values shows the value\n"
    )
    assert not (tmp_path / "out.csv").exists()


def test_a_table_without_labels_says_so_of_words(run: Any, table: Path, data: Path, tmp_path: Path) -> None:
    outcome = run("apply", str(table), "--in", str(data), "--column", "name", "--out", str(tmp_path / "out.csv"))
    assert "this table has no labels for words" in outcome.err


def test_existing_files_need_force(run: Any, table: Path, data: Path, tmp_path: Path) -> None:
    arguments = ["apply", str(table), "--in", str(data), "--column", "x", "--out", str(tmp_path / "out.csv")]
    assert run(*arguments).code == 0
    outcome = run(*arguments)
    assert outcome.code == 2
    assert "pass --force" in outcome.err
    assert run(*arguments, "--force").code == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"--column": "y"}, "be one of the columns of"),
        ({"--column": "name"}, "column 'name', data row 1, must hold a number"),
        ({"--column": "age"}, "column 'age', data row 1, must lie in [-1, 1]; correct"),
        ({"--in": "none.csv"}, "data file must exist"),
        ({"--in": "t.json"}, "end in .csv or .parquet"),
        ({"--out": "out.xlsx"}, "output file must end in .csv or .parquet"),
        ({"--out": "none/out.csv"}, "lie in an existing folder"),
        ({"--out": "data.csv", "--force": None}, "the data is never overwritten"),
        ({"--keep": "x"}, "name each column once"),
        ({"--keep": "agee"}, "did you mean 'age'?"),
    ],
    ids=range(10),
)
def test_bad_input_is_exit_code_two_and_leaves_no_file(
    run: Any,
    table: Path,
    data: Path,
    tmp_path: Path,
    change: dict[str, Any],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"--in": "data.csv", "--column": "x", "--out": "out.csv"} | change
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    outcome = run("apply", "t.json", *(part for pair in options.items() for part in pair if part is not None))
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.out == ""
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_tampered_table_is_not_applied(run: Any, table: Path, data: Path, tmp_path: Path) -> None:
    table.write_bytes(table.read_bytes().replace(b'"bits":32', b'"bits":16'))
    outcome = run("apply", str(table), "--in", str(data), "--column", "x", "--out", str(tmp_path / "out.csv"))
    assert outcome.code == 2
    assert "pass its check" in outcome.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_killed_run_leaves_nothing(
    run: Any, table: Path, data: Path, tmp_path: Path, number: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def killed_on_progress(*_: Any, **__: Any) -> Iterator[Callable[[int, int], None]]:
        yield lambda rows, in_all: os.kill(os.getpid(), getattr(signal, number))

    monkeypatch.setattr(command, "counting_rows", killed_on_progress)
    # a suite that runs in the background may have been started with SIGINT ignored, which the command respects
    usual = signal.default_int_handler if number == "SIGINT" else signal.SIG_DFL
    before = signal.signal(getattr(signal, number), usual)
    try:
        outcome = run("apply", str(table), "--in", str(data), "--column", "x", "--out", str(tmp_path / "out.csv"))
        assert signal.getsignal(getattr(signal, number)) == usual
    finally:
        signal.signal(getattr(signal, number), before)
    assert outcome.code == code
    assert "Traceback" not in outcome.err
    assert {path.name for path in tmp_path.iterdir()} == {"t.json", "data.csv"}


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_a_bar_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with command.counting_rows("reporting [x]", quiet=False) as progress:
        progress(1_500_000, 3_000_000)
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "reporting [x]" in shown
    assert "1,500,000 of 3,000,000 rows" in shown


def test_rows_that_do_not_fit_are_told_of_and_counted(run: Any, named: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "words.csv", tmp_path / "out.csv"
    source.write_text("x\nno\nperhaps\nyes\n\n")
    asked = ["apply", str(named), "--in", str(source), "--column", "x", "--out", str(out)]
    refused = run(*asked)
    assert refused.code == 2
    assert "2 of 4 rows do not fit" in refused.err
    assert "perhaps" not in refused.err
    dropped = run(*asked, "--on-bad", "drop")
    assert "2 reports of x" in dropped.out
    assert "2 rows did not fit: left out" in dropped.out
    assert "this tells whose values did not fit" in dropped.err
    kept = run(*asked, "--on-bad", "category", "--category", "maybe", "--force", "--json")
    assert (kept.json["rows"], kept.json["bad"], kept.json["on_bad"]) == (4, 2, "category")
    assert kept.err == ""
    assert out.read_text().split() == ['"x"', '"no"', '"maybe"', '"yes"', '"maybe"']


def test_a_folder_of_data_becomes_a_folder_of_reports_that_is_estimated(run: Any, table: Path, tmp_path: Path) -> None:
    days = tmp_path / "days"
    days.mkdir()
    for day in "ab":
        (days / f"{day}.csv").write_text("x\n" + "0.5\n" * 50)
    asked = ["apply", str(table), "--in", str(days), "--column", "x", "--out", str(tmp_path / "out")]
    told = run(*asked, "--json").json
    assert (told["rows"], told["file"]) == (100, str(tmp_path / "out"))
    assert run("estimate", str(table), "--in", str(tmp_path / "out"), "--json").json["count"] == 100
    again = run(*asked)
    assert again.code == 2
    assert "never replaced by a second draw" in again.err


def test_an_unknown_policy_lists_the_others(run: Any, table: Path, data: Path, tmp_path: Path) -> None:
    asked = ["apply", str(table), "--in", str(data), "--column", "x", "--out", str(tmp_path / "o.csv")]
    outcome = run(*asked, "--on-bad", "skip")
    assert outcome.code == 2
    assert "refuse" in outcome.err
    assert "category" in outcome.err


def test_a_collection_is_told_to_be_one_and_what_to_give(run: Any, table: Path, data: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "both.json", tmp_path / "out.csv"
    assert run("collection", f"a={table}", f"b={table}", "--out", str(whole)).code == 0
    outcome = run("apply", str(whole), "--in", str(data), "--column", "x", "--out", str(out))
    assert (outcome.code, outcome.out, out.exists()) == (2, "", False)
    assert "must be one table, and is a collection" in outcome.err
    assert "the table of each question" in outcome.err


def test_data_in_the_place_of_the_table_are_told_so(run: Any, table: Path, data: Path, tmp_path: Path) -> None:
    outcome = run("apply", str(data), "--in", str(table), "--out", str(tmp_path / "out.csv"))
    assert outcome.code == 2
    assert "must be a table, and is not JSON" in outcome.err
    assert "data after --in" in outcome.err
