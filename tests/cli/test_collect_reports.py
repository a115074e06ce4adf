"""`collect-reports`: envelopes in, reports and estimates out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mechdesign.tables import Table, load_table
from mechdesign.tables.device import load_device
from mechdesign.tables.reports import Envelope, Store, Subject

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
        "of an unknown device": 0,
        "expired": 1,
        "not of its table": 1,
        "too unlikely": 0,
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


def test_a_clock_that_went_back_by_a_day_is_said(run: Any, made: Path) -> None:
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    with Store("s.db", new=True) as store:
        store.begin_day(tomorrow)
    outcome = run("collect-reports", "e.txt", *BOTH)
    assert f"what expired before {tomorrow} stays refused" in outcome.err
    assert outcome.out.startswith("30 reports accepted")


def test_a_run_ten_years_ahead_is_undone_by_saying_the_day(run: Any, made: Path) -> None:
    """The server's clock was in 2998 for a run: nothing is taken in till --today says that it was wrong."""
    with Store("s.db", new=True) as store:
        store.begin_day(date(2998, 1, 1))
    refused = run("collect-reports", "e.txt", *BOTH)
    assert (refused.code, refused.out) == (2, "")
    assert "the clock must be at most 2 days from the day of this store's last run, 2998-01-01" in refused.err
    assert "--today DAY" in refused.err
    today = datetime.now(UTC).date()
    told = run("collect-reports", "e.txt", *BOTH, "--today", str(today))
    assert told.out.startswith("30 reports accepted")
    assert "clock" not in told.err
    assert run("collect-reports", "e.txt", *BOTH).code == 0


def test_a_day_that_is_not_the_clocks_is_told(run: Any, made: Path) -> None:
    outcome = run("collect-reports", "e.txt", *BOTH, "--new-store", "--today", "2990-01-01")
    assert "and --today 2990-01-01" in outcome.err
    assert outcome.out.startswith("30 reports accepted")


def test_a_day_that_is_none_is_refused(run: Any, made: Path) -> None:
    outcome = run("collect-reports", "e.txt", *BOTH, "--new-store", "--today", "tomorrow")
    assert outcome.code == 2
    assert "today must be a day" in outcome.err


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


# -- devices -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def reported(run: Any, made: Path) -> Path:
    """Envelopes of a device that draws from the old release and randomises that by the new one: 7 reports a period."""
    command = ("export", "old.json", "--again", "new.json", "--reports", "7", "--values", "1", "--to", "python")
    assert run(*command, "--package", "survey", "--out", "survey").code == 0
    device = load_device("survey/device.json", load_table("old.json"), load_table("new.json"))
    subject = Subject(device.sha256, is_device=True)
    lines = [Envelope(subject, FAR, k.to_bytes(16, "big"), bytes([int(k < 140)])).line for k in range(700)]
    (made / "d.txt").write_bytes(b"".join(lines))
    return made


DEVICE = ("--device", "survey/device.json")
THROUGH = ("--out", "out", "--least", "1", "--estimate", "people")


def test_reports_of_a_device_are_not_taken_for_those_of_its_table(run: Any, reported: Path) -> None:
    outcome = run("collect-reports", "d.txt", *BOTH, "--new-store")
    assert "0 reports accepted, 700 refused: 700 of an unknown device" in outcome.out
    assert "add --device FILE" in outcome.err


def test_a_device_is_estimated_through_both_draws_and_by_people(run: Any, reported: Path) -> None:
    options = ("--new-store", *DEVICE, *THROUGH, "--periods", "2")
    outcome = run("collect-reports", "d.txt", *BOTH, *options)
    assert "from 700 reports of at least 50 people" in outcome.out
    assert "through both of its draws; one person may have sent 14 reports (2 periods)" in outcome.out
    assert "who held more is counted with the last one remembered" in outcome.err
    told = run("collect-reports", *BOTH, *DEVICE, *THROUGH, "--periods", "2", "--json").json["estimates"][0]
    (batch,) = (reported / "out").glob("*/part-*.parquet")
    asked = ("estimate", "old.json", "--again", "new.json", "--in", str(batch), *DEVICE, "--periods", "2")
    document = run(*asked, "--json").json
    assert told["items"] == document["items"]
    envelopes = ("d.txt" if argument == str(batch) else argument for argument in asked)
    assert run(*envelopes, "--json").json["items"] == document["items"]
    assert (told["people"], document["people"], document["device"]["most"]) == (50, 50, 14)
    q, p = (row[1] for row in origin_rows())
    assert document["items"][1]["estimate"] == pytest.approx((0.2 - q) / (p - q))
    shown = run(*asked)
    assert "from 700 reports of at least 50 people" in shown.out
    assert "who held more is counted with the last one remembered" in shown.err


def origin_rows() -> list[list[float]]:
    first, second = (load_table(name).law for name in ("old.json", "new.json"))
    return [
        [sum(f * s[y] for f, s in zip(row, second.rows, strict=True)) / first.whole / second.whole for y in range(2)]
        for row in first.rows
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("collect-reports", "d.txt", *BOTH, "--new-store", *DEVICE, *THROUGH), "add --periods 1"),
        (("collect-reports", "d.txt", *BOTH, "--new-store", "--periods", "1"), "periods must come with --estimate"),
        (
            ("collect-reports", "d.txt", *BOTH, "--new-store", *DEVICE, "--periods", "1"),
            "periods must come with --estimate",
        ),
        (("collect-reports", "d.txt", *BOTH, "--new-store", *DEVICE, *THROUGH, "--periods", "0"), "periods must"),
        (
            ("collect-reports", "d.txt", "--of", "new.json", "--store", "s.db", "--new-store", *DEVICE),
            "give that table",
        ),
        (("estimate", "old.json", "--in", "e.csv", *DEVICE, "--again", "new.json"), "add --periods 1"),
        (
            ("estimate", "old.json", "--in", "e.csv", *DEVICE, "--periods", "1"),
            "again must be the one of the device file",
        ),
        (("estimate", "new.json", "--in", "e.csv", *DEVICE, "--periods", "1"), "name the first table in its place"),
        (("estimate", "old.json", "--in", "e.csv", "--again", "new.json"), "come with --device"),
        (("estimate", "old.json", "--in", "e.csv", "--periods", "1"), "come with --device"),
    ],
)
def test_what_a_device_needs_is_said_before_anything_is_taken_in(
    run: Any, reported: Path, arguments: tuple[str, ...], said: str
) -> None:
    (reported / "e.csv").write_text("report\nyes\n")
    outcome = run(*arguments)
    assert outcome.code == 2
    assert said in outcome.err
    assert not (reported / "s.db").exists()


def test_loose_reports_of_a_device_are_estimated_through_both_draws(run: Any, reported: Path) -> None:
    (reported / "e.csv").write_text("report\n" + "yes\n" * 20 + "no\n" * 80)
    asked = ("estimate", "old.json", "--again", "new.json", "--in", "e.csv", *DEVICE, "--periods", "1", "--json")
    document = run(*asked).json
    q, p = (row[1] for row in origin_rows())
    assert document["items"][1]["estimate"] == pytest.approx((0.2 - q) / (p - q))
    assert (document["count"], document["people"]) == (100, 15)
