"""`collect-reports`: envelopes in, reports and estimates out."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from mechdesign.deploy import Table, load_table
from mechdesign.deploy.reports import Envelope, Store, Subject

FAR = date(2999, 1, 1)


@pytest.fixture
def made(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two releases of a question, and a file of envelopes of both with one of every fault."""
    monkeypatch.chdir(tmp_path)
    for name, epsilon in (("old", "1"), ("new", "2")):
        arguments = ("table", "--eps", epsilon, "--mechanism", "grr", "--labels", "no,yes", "--out", f"{name}.json")
        assert run(*arguments).code == 0
    old, new = load_table("old.json"), load_table("new.json")
    lines = [line(old, int(k % 2), k) for k in range(20)] + [line(new, 1, 100 + k) for k in range(10)]
    faults = [lines[0], line(old, 5, 200), line(old, 0, 201, date(2001, 1, 1)), b"my secret\n"]
    unknown = Envelope(Subject("ab" * 32), FAR, bytes(16), b"\0").line
    (tmp_path / "e.txt").write_bytes(b"".join([*lines, *faults, unknown]))
    return tmp_path


def line(table: Table, place: int, nonce: int, expires: date = FAR) -> bytes:
    return Envelope(Subject(table.sha256), expires, nonce.to_bytes(16, "big"), bytes([place])).line


BOTH = ("--of", "old.json", "--of", "new.json", "--store", "s.db")


def test_every_reason_is_counted_and_no_value_is_shown(run: Any, made: Path) -> None:
    outcome = run("collect-reports", "e.txt", *BOTH, "--new-store", "--json")
    assert outcome.json["accepted"] == 30
    assert outcome.json["refused"] == {
        "malformed": 1,
        "unknown": 1,
        "expired": 1,
        "not of its table": 1,
        "repeated": 1,
    }
    again = run("collect-reports", "e.txt", *BOTH)
    assert "0 reports accepted, 35 refused" in again.out
    assert "30 accepted, 40 refused; 30 wait" in again.out
    assert "secret" not in outcome.out + outcome.err + again.out + again.err


def test_reports_go_on_and_estimates_are_those_of_estimate(run: Any, made: Path) -> None:
    options = ("--new-store", "--out", "out", "--least", "10", "--estimate", "people", "--json")
    answer = run("collect-reports", "e.txt", *BOTH, *options).json
    assert sorted(batch["count"] for batch in answer["batches"]) == [10, 20]
    assert answer["waiting"] == 0
    (told,) = answer["estimates"]
    assert (told["tables"], told["count"]) == (2, 30)
    each = []
    for batch in sorted(answer["batches"], key=lambda batch: batch["count"]):
        name = "old.json" if load_table("old.json").sha256 == batch["table"] else "new.json"
        each.append(run("estimate", name, "--in", batch["file"], "--json").json["estimates"][1])
    assert told["items"][1]["estimate"] == pytest.approx((10 * each[0] + 20 * each[1]) / 30)
    shown = run("collect-reports", *BOTH, "--out", "out", "--estimate", "precision")
    assert "all reports: frequencies" in shown.out


def test_a_clock_that_went_back_is_said(run: Any, made: Path) -> None:
    with Store("s.db", new=True) as store:
        store.begin_day(date(2998, 1, 1))
    outcome = run("collect-reports", "e.txt", *BOTH)
    assert "the clock is behind a day that this store has seen" in outcome.err
    assert outcome.out.startswith("30 reports accepted")


def test_too_few_reports_wait(run: Any, made: Path) -> None:
    answer = run("collect-reports", "e.txt", *BOTH, "--new-store", "--out", "out", "--json").json
    assert (answer["batches"], answer["waiting"]) == ([], 30)


def test_a_mean_is_told_in_one_line(run: Any, made: Path) -> None:
    assert run("table", "--eps", "1", "--mechanism", "duchi", "--domain", "-1,1", "--out", "m.json").code == 0
    table = load_table("m.json")
    (made / "m.txt").write_bytes(b"".join(line(table, k % 2, k) for k in range(100)))
    shown = run("collect-reports", "m.txt", "--of", "m.json", "--store", "m.db", "--new-store", "--out", "m",
                "--estimate", "people")  # fmt: skip
    assert "with confidence 0.95, from 100 reports of 1 tables" in shown.out


def _ranges(run: Any, eps: str) -> str:
    assert run("workload", "--eps", eps, "--queries", "prefix", "--size", "3", "--out", f"w{eps}.json").code == 0
    assert run("table", f"w{eps}.json", "--out", f"t{eps}.json").code == 0
    return f"t{eps}.json"


def test_answers_to_queries_are_told_as_estimate_tells_them(run: Any, made: Path) -> None:
    table = load_table(_ranges(run, "1"))
    (made / "w.txt").write_bytes(b"".join(line(table, k % 3, k) for k in range(60)))
    of = ("--of", "t1.json", "--store", "w.db", "--new-store", "--out", "w", "--least", "1", "--estimate", "people")
    (batch,) = (answer := run("collect-reports", "w.txt", *of, "--json").json)["batches"]
    (told,) = answer["estimates"]
    assert told["queries"] == run("estimate", "t1.json", "--in", batch["file"], "--json").json["queries"]


def test_queries_of_two_tables_are_refused_before_anything_is_taken_in(run: Any, made: Path) -> None:
    both = ("--of", _ranges(run, "1"), "--of", _ranges(run, "2"))
    outcome = run("collect-reports", "e.txt", *both, "--store", "w.db", "--new-store", "--out", "w",
                  "--estimate", "people")  # fmt: skip
    assert (outcome.code, outcome.out) == (2, "")
    assert "answers to queries are not merged" in outcome.err
    assert not (made / "w").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("e.txt", *BOTH),  # there is no store
        ("none.txt", *BOTH, "--new-store"),
        ("e.txt", "--of", "e.txt", "--store", "s.db", "--new-store"),
        ("e.txt", *BOTH, "--new-store", "--estimate", "people"),
        ("e.txt", *BOTH, "--new-store", "--out", "out", "--estimate", "votes"),
        ("e.txt", *BOTH, "--new-store", "--out", "out", "--least", "0"),
        ("e.txt", *BOTH, "--new-store", "--out", "no/such/folder"),
        ("e.txt", "--of", "old.json", "--store", "no/such/s.db", "--new-store"),
        ("e.txt", "--of", "old.json", "--store", "old.json"),
        ("e.txt", "--of", "old.json", "--store", "old.json", "--new-store"),
    ],
)
def test_bad_input_ends_in_one_line_and_exit_code_2(run: Any, made: Path, arguments: tuple[str, ...]) -> None:
    outcome = run("collect-reports", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("mechdesign: bad input:")


def test_tables_of_different_questions_are_not_merged(run: Any, made: Path) -> None:
    assert run("table", "--eps", "1", "--mechanism", "grr", "--labels", "a,b", "--out", "ab.json").code == 0
    outcome = run(
        "collect-reports", "e.txt", *BOTH, "--of", "ab.json", "--new-store", "--out", "o", "--estimate", "people"
    )
    assert outcome.code == 2
    assert "one question" in outcome.err
