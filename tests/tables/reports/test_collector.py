"""The collector: each envelope that counts counts once, through kills, restarts and lost stores."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies.shipping import encoding
from mechdesign.tables import Table, make_table
from mechdesign.tables.device import Device
from mechdesign.tables.frames import estimate_reports
from mechdesign.tables.reports import Collection, Collector, Envelope, Refused, Store, Subject, enveloped
from mechdesign.tables.reports.collector import COLUMN, MARK, shuffled
from mechdesign.tables.reports.store import GRACE
from mechdesign.values import files
from tests.tables.reports.conftest import LATER, TODAY

Opened = Callable[..., Store]


def made(table: Table, place: int, nonce: int, expires: date = LATER) -> bytes:
    """The line of an envelope with a report that is not drawn."""
    return Envelope(Subject(table.sha256), expires, nonce.to_bytes(16, "big"), bytes([place])).line


def reports_in(folder: Path) -> Counter[str]:
    files = sorted(folder.glob("*/part-*.parquet"))
    return Counter(report for file in files for report in parquet.read_table(file)[COLUMN].to_pylist())


def test_each_reason_is_counted_and_only_what_counts_is_kept(opened: Opened, vote: Table, newer_vote: Table) -> None:
    collector = Collector(opened(), [vote], today=TODAY)
    yesterday = TODAY - timedelta(days=1)
    intake = collector.take(
        [
            made(vote, 0, 1),
            made(vote, 1, 2, TODAY),
            made(vote, 1, 1),  # the nonce of another one
            made(vote, 0, 1),
            made(newer_vote, 0, 3),
            made(vote, 0, 4, yesterday),
            made(vote, 2, 5),
            made(vote, 0, 6)[:-1],
            b"{}\n",
            b"\n",
        ]
    )
    assert intake.accepted == 2
    assert intake.refused == {
        "malformed": 3, "unknown": 1, "of an unknown device": 0, "expired": 1, "not of its table": 1, "too unlikely": 0,
        "repeated": 2,
    }  # fmt: skip
    assert collector.total == intake


def test_a_refused_envelope_does_not_use_up_its_nonce(opened: Opened, vote: Table) -> None:
    collector = Collector(opened(), [vote], today=TODAY)
    assert collector.take([made(vote, 9, 1), made(vote, 0, 1)]).accepted == 1


def test_attributes_of_a_collection_are_told_apart_from_tables_and_each_other(
    opened: Opened, survey: Collection, vote: Table
) -> None:
    envelope = enveloped(vote, "yes", LATER, survey.subject(0))
    collector = Collector(opened(), [survey], today=TODAY)
    other = Envelope(survey.subject(1), LATER, bytes(16), envelope.report)
    beyond = Envelope(survey.subject(2), LATER, bytes(16), envelope.report)
    alone = enveloped(vote, "yes", LATER)
    intake = collector.take([envelope.line, other.line, beyond.line, alone.line])
    assert intake.accepted == 1
    assert (intake.refused["not of its table"], intake.refused["unknown"]) == (1, 2)


def test_an_envelope_is_repeated_after_a_restart_too(opened: Opened, vote: Table) -> None:
    line = made(vote, 0, 1)
    assert Collector(opened(), [vote], today=TODAY).take([line]).accepted == 1
    for _ in range(2):
        assert Collector(opened(), [vote], today=TODAY).take([line]).refused["repeated"] == 1


def test_a_nonce_that_is_forgotten_makes_nothing_valid_again(opened: Opened, vote: Table) -> None:
    line, fresh = made(vote, 0, 1, TODAY), made(vote, 0, 2, TODAY + timedelta(days=1))
    assert Collector(opened(), [vote], today=TODAY).take([line]).accepted == 1
    for nonces in (1, 0):  # the second run on a day forgets
        store = opened()
        assert Collector(store, [vote], today=LATER).take([line]).refused["expired"] == 1
        assert store._file.execute("SELECT COUNT(*) FROM nonces").fetchone() == (nonces,)
    intake = Collector(opened(), [vote], today=TODAY).take([line, fresh])
    assert (intake.refused["expired"], intake.accepted) == (1, 1)


def test_one_run_on_a_wrong_day_forgets_no_nonce_and_ends_no_collection(opened: Opened, vote: Table) -> None:
    old, fresh = made(vote, 0, 1, TODAY), made(vote, 0, 2, TODAY)
    assert Collector(opened(), [vote], today=TODAY).take([old]).accepted == 1
    assert Collector(opened(), [vote], today=date(2999, 1, 1)).take([old, fresh]).refused["expired"] == 2
    intake = Collector(opened(), [vote], today=TODAY).take([old, fresh])
    assert (intake.accepted, intake.refused["repeated"]) == (1, 1)


def test_nonces_are_kept_for_the_grace_time(opened: Opened, vote: Table) -> None:
    Collector(opened(), [vote], today=TODAY).take([made(vote, 0, 1, TODAY)])
    for days, nonces in ((GRACE.days, 1), (GRACE.days + 1, 1), (GRACE.days + 1, 0)):
        store = opened()
        Collector(store, [vote], today=TODAY + timedelta(days=days))
        assert store._file.execute("SELECT COUNT(*) FROM nonces").fetchone() == (nonces,)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(days=st.lists(st.integers(0, 120), min_size=1, max_size=12), lasts=st.lists(st.integers(0, 120), max_size=6))
def test_whatever_days_are_told_no_envelope_counts_twice(
    vote: Table, tmp_path_factory: pytest.TempPathFactory, days: list[int], lasts: list[int]
) -> None:
    lines = [made(vote, 0, k, TODAY + timedelta(days=last)) for k, last in enumerate(lasts)]
    path = tmp_path_factory.mktemp("days") / "store.db"
    Store(path, new=True).close()
    accepted = 0
    for day in days:
        with Store(path) as store:
            accepted += Collector(store, [vote], today=TODAY + timedelta(days=day)).take(lines).accepted
    assert accepted <= len(lines)


def test_a_clock_that_jumps_is_not_followed(opened: Opened, vote: Table) -> None:
    """By more than two days, to either side: no run, and the store is as it was."""
    assert opened().follow(TODAY) == TODAY  # the first run has nothing to compare with
    for clock in (TODAY + timedelta(days=3), TODAY - timedelta(days=3), date(2036, 1, 1)):
        with pytest.raises(InvalidInput, match="the clock must be at most 2 days from the day of this store's last"):
            opened().follow(clock)
    assert opened().follow(TODAY - timedelta(days=2)) == TODAY  # never a day before the last run's
    assert opened().follow(TODAY + timedelta(days=2)) == TODAY + timedelta(days=2)


def test_reports_of_versions_that_come_later_wait_in_the_same_store(
    opened: Opened, vote: Table, newer_vote: Table, tmp_path: Path
) -> None:
    lines = [made(vote, 0, 1), made(newer_vote, 1, 2)]
    assert Collector(opened(), [vote], today=TODAY).take(lines).refused["unknown"] == 1
    collector = Collector(opened(), [vote, newer_vote], today=TODAY)
    assert collector.take(lines).accepted == 1  # an unknown one may be sent again
    assert [batch.count for batch in collector.hand_over(tmp_path / "out", 1)] == [1, 1]


# -- damaged input -----------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300) | st.text("Ab+/=\n", max_size=300).map(str.encode), place=st.integers(0, 2))
def test_any_file_is_taken_with_every_line_counted(vote: Table, tmp_path: Path, content: bytes, place: int) -> None:
    good = [made(vote, 0, k) for k in range(2)]
    lines = [*good[:place], content + b"\n", *good[place:]]
    file = tmp_path / "envelopes"
    file.write_bytes(b"".join(lines))
    (tmp_path / "any.db").unlink(missing_ok=True)
    with Store(tmp_path / "any.db", new=True) as store:
        intake = Collector(store, [vote], today=TODAY).take_file(file)
    assert intake.accepted == 2
    assert intake.accepted + sum(intake.refused.values()) == file.read_bytes().count(b"\n")


def test_a_line_without_end_is_one_malformed_line(opened: Opened, vote: Table, tmp_path: Path) -> None:
    file = tmp_path / "envelopes"
    file.write_bytes(made(vote, 0, 1) + b"A" * 1_000_000 + b"\n" + made(vote, 0, 2) + b"A" * 300_000)
    intake = Collector(opened(), [vote], today=TODAY).take_file(file)
    assert (intake.accepted, intake.refused["malformed"]) == (2, 2)


def test_a_file_that_is_not_there_is_a_typed_error(opened: Opened, vote: Table, tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"envelopes .* readable"):
        Collector(opened(), [vote], today=TODAY).take_file(tmp_path / "none")


# -- stores ------------------------------------------------------------------------------------------------------------


def test_a_lost_store_is_not_begun_anew_unless_asked(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="must exist"):
        Store(tmp_path / "lost.db")
    Store(tmp_path / "lost.db", new=True).close()
    with pytest.raises(FileProblem, match="not exist yet"):
        Store(tmp_path / "lost.db", new=True)


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(100)])
def test_a_file_that_is_no_store_is_a_typed_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FileProblem, match="store"):
        Store(tmp_path / "x")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_store_with_damaged_bytes_works_or_is_a_typed_error(
    vote: Table, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    lines = [made(vote, k % 2, k) for k in range(20)]
    with Store(folder / "s", new=True) as store:
        Collector(store, [vote], today=TODAY).take(lines[:10])
    content = bytearray((folder / "s").read_bytes())
    places = [place for place, byte in enumerate(content) if byte]
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.sampled_from(places))] = data.draw(st.integers(0, 255))
    (folder / "s").write_bytes(content)
    with contextlib.suppress(InvalidInput), Store(folder / "s") as store:
        collector = Collector(store, [vote], today=TODAY)
        collector.take(lines)
        assert collector.total.accepted >= 0
        collector.hand_over(folder / "out", 1)


def test_a_database_of_something_else_is_a_typed_error(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "x") as other:
        other.execute("CREATE TABLE about (name TEXT, value TEXT)")
    other.close()
    with pytest.raises(FileProblem, match="store"):
        Store(tmp_path / "x")


def test_two_collectors_do_not_share_a_store(tmp_path: Path, vote: Table) -> None:
    with Store(tmp_path / "s", new=True) as store:
        Collector(store, [vote], today=TODAY).take([made(vote, 0, 1)])
        with pytest.raises(FileProblem, match="another collector"):
            Store(tmp_path / "s")


def test_a_full_disk_takes_nothing_of_a_step_and_the_step_can_be_sent_again(opened: Opened, pay: Table) -> None:
    store = opened()
    lines = [enveloped(pay, 0.5, LATER).line for _ in range(500)]
    collector = Collector(store, [pay], today=TODAY)
    assert collector.take(lines[:10]).accepted == 10
    (pages,) = store._file.execute("PRAGMA page_count").fetchone()
    store._file.execute(f"PRAGMA max_page_count = {pages + 1}")  # as if the disk had no more room
    with pytest.raises(FileProblem, match="full"):
        collector.take(lines)
    assert collector.total.accepted == 10
    store._file.execute("PRAGMA max_page_count = 100000")
    again = collector.take(lines)
    assert (again.accepted, again.refused["repeated"]) == (490, 10)


def test_a_store_that_another_replaced_does_not_fill_the_folder(opened: Opened, vote: Table, tmp_path: Path) -> None:
    """Envelopes that it has forgotten would count twice."""
    collector = Collector(opened(), [vote], today=TODAY)
    collector.take([made(vote, 0, 1)])
    collector.hand_over(tmp_path / "out", 1)
    with pytest.raises(FileProblem, match="lost or put back"):
        Collector(opened("another.db"), [vote], today=TODAY).hand_over(tmp_path / "out", 1)


def test_a_store_that_was_put_back_from_a_backup_does_not_fill_the_folder(
    opened: Opened, vote: Table, tmp_path: Path
) -> None:
    collector = Collector(opened(), [vote], today=TODAY)
    collector.take([made(vote, 0, 1)])
    collector.hand_over(tmp_path / "out", 1)
    collector.store.close()
    shutil.copy(tmp_path / "store.db", tmp_path / "backup.db")
    collector = Collector(opened(), [vote], today=TODAY)
    collector.take([made(vote, 0, 2)])
    collector.hand_over(tmp_path / "out", 1)
    with pytest.raises(FileProblem, match="more batches"):
        Collector(opened("backup.db"), [vote], today=TODAY).hand_over(tmp_path / "out", 1)


def test_a_store_keeps_to_its_folder_and_a_folder_of_others_is_left_alone(
    opened: Opened, vote: Table, tmp_path: Path
) -> None:
    collector = Collector(opened(), [vote], today=TODAY)
    collector.take([made(vote, 0, 1)])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    with pytest.raises(FileProblem, match="be new, empty"):
        collector.hand_over(tmp_path / "full", 1)
    collector.hand_over(tmp_path / "out", 1)
    with pytest.raises(FileProblem, match="handed reports over into before"):
        collector.hand_over(tmp_path / "elsewhere", 1)
    (tmp_path / "out" / MARK).write_text("{}")
    with pytest.raises(FileProblem):
        collector.hand_over(tmp_path / "out", 1)


# -- handing over ------------------------------------------------------------------------------------------------------


def test_batches_have_the_minimum_size_and_others_wait(
    opened: Opened, vote: Table, newer_vote: Table, tmp_path: Path
) -> None:
    collector = Collector(opened(), [vote, newer_vote], today=TODAY)
    collector.take([made(vote, 0, k) for k in range(5)] + [made(newer_vote, 1, k) for k in range(10, 14)])
    (batch,) = collector.hand_over(tmp_path / "out", 5)
    assert (batch.count, batch.question.table) == (5, vote)
    collector.take([made(newer_vote, 1, 14)])
    (batch,) = collector.hand_over(tmp_path / "out", 5)
    assert (batch.count, batch.question.table) == (5, newer_vote)
    with pytest.raises(InvalidInput, match="least"):
        collector.hand_over(tmp_path / "out", 0)


def test_files_hold_reports_and_the_table_and_nothing_of_envelopes(opened: Opened, vote: Table, tmp_path: Path) -> None:
    collector = Collector(opened(), [vote], today=TODAY)
    collector.take([made(vote, k % 2, k) for k in range(10)])
    (batch,) = collector.hand_over(tmp_path / "out", 1)
    found = parquet.read_table(batch.file)
    assert found.column_names == [COLUMN]
    assert Counter(found[COLUMN].to_pylist()) == {"no": 5, "yes": 5}
    assert {key for key in found.schema.metadata if not key.startswith(b"ARROW")} == {
        b"mechdesign.table.sha256", b"mechdesign.column", b"mechdesign.epsilon"
    }  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "out").rglob("*") if path.is_file()) == [
        MARK,
        "part-000000.parquet",
    ]


def test_the_order_is_another_one_than_that_of_arrival(opened: Opened, pay: Table, tmp_path: Path) -> None:
    """Of 200 different reports; that a random order is that of arrival, or sorted, has a chance below 1e-300."""
    envelopes = [enveloped(pay, 0.5, LATER) for _ in range(200)]
    collector = Collector(opened(), [pay], today=TODAY)
    collector.take(envelope.line for envelope in envelopes)
    (batch,) = collector.hand_over(tmp_path / "out", 1)
    found = parquet.read_table(batch.file)[COLUMN].to_numpy()
    sent = np.array([np.frombuffer(envelope.report, "<f8")[0] for envelope in envelopes])
    assert sorted(found.tolist()) == sorted(sent.tolist())
    assert not np.array_equal(found, sent)
    assert not np.array_equal(found, np.sort(sent))


def test_every_order_is_as_likely() -> None:
    """6 orders of 3, 6000 draws: chi-square of 5 degrees below 56, false alarm about 1e-10; a fixed order has 30000."""
    found = Counter(tuple(shuffled(np.array([1.0, 2.0, 3.0])).tolist()) for _ in range(6000))
    assert sum((count - 1000) ** 2 / 1000 for count in found.values()) + 1000 * (6 - len(found)) < 56


def test_the_store_does_not_know_which_nonce_gave_which_report(opened: Opened, vote: Table) -> None:
    store = opened()
    Collector(store, [vote], today=TODAY).take([made(vote, k % 2, k) for k in range(10)])
    kept = store._file.execute("SELECT report, times FROM reports").fetchall()
    assert kept == [(b"\x00", 5), (b"\x01", 5)]


def test_estimates_of_what_was_handed_over_are_those_of_the_reports(
    opened: Opened, vote: Table, tmp_path: Path
) -> None:
    collector = Collector(opened(), [vote], today=TODAY)
    for k in range(3):
        collector.take([made(vote, int(i < 30), 100 * k + i) for i in range(100)])
        collector.hand_over(tmp_path / "out", 1)
    (question,) = collector.questions.values()
    found = estimate_reports(vote, tmp_path / "out" / question.folder)
    q, p = (vote.law.rows[i][1] / vote.law.whole for i in (0, 1))
    assert found.count == 300
    assert found.estimates[1] == pytest.approx((0.3 - q) / (p - q))


def test_reports_that_are_bytes_go_on_as_their_digits(opened: Opened, tmp_path: Path) -> None:
    table = make_table(encoding("olh", 1.0, 30))
    envelopes = [enveloped(table, 7, LATER) for _ in range(50)]
    collector = Collector(opened(), [table], today=TODAY)
    collector.take(envelope.line for envelope in envelopes)
    (batch,) = collector.hand_over(tmp_path / "out", 1)
    found = parquet.read_table(batch.file)[COLUMN].to_pylist()
    assert sorted(found) == sorted(envelope.report.hex() for envelope in envelopes)
    assert estimate_reports(table, batch.file).count == 50


# -- kills -------------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
from datetime import date
from pathlib import Path
from mechdesign.tables import load_table
from mechdesign.tables.reports import Collector, Store, collector

collector._STEP_SIZE = 50
folder = Path(sys.argv[1])
with Store(folder / "store.db", new=not (folder / "store.db").exists()) as store:
    taking = Collector(store, [load_table(folder / "t.json")], today=date(2030, 1, 1))
    print("ready", flush=True)
    taking.take_file(folder / "envelopes")
    taking.hand_over(folder / "out", 1)
print("done", flush=True)
"""


def test_a_collector_killed_anywhere_goes_on_and_counts_every_envelope_once(vote: Table, tmp_path: Path) -> None:
    vote.save(tmp_path / "t.json")
    total = 8_000
    body = b"".join(made(vote, int(k % 4 == 0), k) for k in range(total))
    (tmp_path / "envelopes").write_bytes(body)
    kills = 0
    for pause in (0.02, 0.1, None):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, env=dict(os.environ)
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        if pause is not None:
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=120)
        kills += process.returncode == -signal.SIGKILL
    assert kills >= 1
    assert reports_in(tmp_path / "out") == {"yes": total // 4, "no": total - total // 4}
    with Store(tmp_path / "store.db") as store:
        total_intake = Collector(store, [vote], today=TODAY).total
    assert total_intake.accepted == total
    assert total_intake.refused["repeated"] % total == 0  # only of whole runs after the first that ended


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("where", ["_mark", "forget_batch", "make_batch", "replacing"])
def test_a_kill_while_handing_over_neither_loses_nor_repeats_a_report(
    opened: Opened, vote: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    from mechdesign.tables.reports import collector as module

    owner = {"_mark": Collector, "replacing": module.files}.get(where, Store)
    for calls in range(4):
        folder, name = tmp_path / f"{where}{calls}", f"{calls}.db"
        collector = Collector(opened(name), [vote], today=TODAY)
        collector.take([made(vote, 0, k) for k in range(7)])
        left = [calls]
        real = getattr(owner, where)

        def dying(*given: object, left: list[int] = left, real: Callable[..., object] = real, **more: object) -> object:
            if not left[0]:
                raise Killed
            left[0] -= 1
            return real(*given, **more)

        with monkeypatch.context() as patched:
            patched.setattr(owner, where, dying)
            with contextlib.suppress(Killed):
                collector.hand_over(folder, 1)
        collector = Collector(opened(name), [vote], today=TODAY)
        collector.hand_over(folder, 1)
        assert reports_in(folder) == {"no": 7}


def test_a_file_that_was_changed_since_a_kill_is_read_from_its_start(
    opened: Opened, vote: Table, tmp_path: Path
) -> None:
    file = tmp_path / "envelopes"
    file.write_bytes(made(vote, 0, 1) + made(vote, 0, 2))
    store = opened()
    with store.step():
        store.keep_place(str(file.resolve()), len(made(vote, 0, 1)), "0" * 64)
    assert Collector(store, [vote], today=TODAY).take_file(file).accepted == 2


def test_reasons_are_what_the_format_lists() -> None:
    reasons = ["malformed", "unknown", "of an unknown device", "expired", "not of its table", "too unlikely"]
    reasons += ["repeated"]
    assert [reason.value for reason in Refused] == reasons


# -- devices -----------------------------------------------------------------------------------------------------------


def of_device(device: Device, place: int, nonce: int) -> bytes:
    subject = Subject(device.sha256, is_device=True)
    return Envelope(subject, LATER, nonce.to_bytes(16, "big"), bytes([place])).line


def test_reports_of_a_device_count_where_it_is_known_and_only_as_its_own(
    opened: Opened, vote: Table, newer_vote: Table
) -> None:
    device, other = Device(newer_vote, vote, 2, 7), Device(newer_vote, vote, 2, 3)
    lines = [of_device(device, 1, 1), of_device(other, 1, 2), made(vote, 0, 3), of_device(device, 2, 4)]
    intake = Collector(opened("tables"), [vote, newer_vote], today=TODAY).take(lines)
    assert (intake.accepted, intake.refused["of an unknown device"]) == (1, 3)
    collector = Collector(opened("devices"), [device], today=TODAY)
    intake = collector.take(lines)
    assert (intake.accepted, intake.refused["unknown"], intake.refused["of an unknown device"]) == (1, 1, 1)
    assert intake.refused["not of its table"] == 1
    (question,) = collector.questions.values()
    assert (question.table, question.device) == (vote, device)


def test_reports_of_a_device_are_estimated_by_it_alone(
    opened: Opened, vote: Table, newer_vote: Table, tmp_path: Path
) -> None:
    device, other = Device(newer_vote, vote, 2, 7), Device(newer_vote, vote, 2, 3)
    collector = Collector(opened(), [device], today=TODAY)
    collector.take([of_device(device, int(k < 30), k) for k in range(100)])
    (batch,) = collector.hand_over(tmp_path / "out", 1)
    for file in (batch.file, batch.file.parent):
        found = estimate_reports(device.origin(1), file)
        q, p = (device.origin(1).law.rows[i][1] / device.origin(1).law.whole for i in (0, 1))
        assert found.estimates[1] == pytest.approx((0.3 - q) / (p - q))
        assert (found.count, found.people) == (100, 15)
        for wrong in (vote, other.origin(1)):
            with pytest.raises(FileProblem, match=r"be estimated by the device that made them.*--device FILE"):
                estimate_reports(wrong, file)


def test_a_full_disk_is_called_one_and_the_step_is_taken_back(opened: Opened, vote: Table) -> None:
    """SQLite ends the transaction itself when it finds no page more; what was committed is there."""
    store = opened()
    collector = Collector(store, [vote], today=TODAY)
    assert collector.take([made(vote, 0, 1)]).accepted == 1
    (pages,) = store._file.execute("PRAGMA page_count").fetchone()
    store._file.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(FileProblem, match=r"be writable: no space left on device .*; free space or choose"):
        collector.take([made(vote, 0, k) for k in range(2000)])
    collector = Collector(opened(), [vote], today=TODAY)
    assert collector.total.accepted == 1
    assert collector.take([made(vote, 0, k) for k in range(2000)]).accepted == 1999


def test_a_full_disk_is_called_one_where_a_batch_is_made(opened: Opened, vote: Table, tmp_path: Path) -> None:
    store = opened()
    collector = Collector(store, [vote], today=TODAY)
    collector.take([made(vote, k % 2, k) for k in range(9)])

    class Full:
        def __init__(self, file: object) -> None:
            self._file = file

        def __getattr__(self, name: str) -> object:
            return getattr(self._file, name)

        def execute(self, statement: str, *given: object) -> object:
            if statement == "COMMIT":
                self._file.execute("PRAGMA max_page_count = 1")
                self._file.execute("CREATE TABLE more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                   " LIMIT 99999) SELECT i FROM n")  # fmt: skip
            return self._file.execute(statement, *given)

    store._file = Full(store._file)
    with pytest.raises(FileProblem, match="no space left on device"):
        collector.hand_over(tmp_path / "out", 1)
    Collector(opened(), [vote], today=TODAY).hand_over(tmp_path / "out", 1)
    assert sum(reports_in(tmp_path / "out").values()) == 9


def test_a_line_without_an_end_is_of_no_file_of_envelopes(opened: Opened, vote: Table) -> None:
    with pytest.raises(FileProblem, match="envelopes must have lines of at most 64 MB"):
        Collector(opened(), [vote], today=TODAY).take_file("/dev/zero")


def test_envelopes_from_a_pipe_without_an_end_are_stopped(
    opened: Opened, vote: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_PIPED", 3 << 20)
    collector = Collector(opened(), [vote], today=TODAY)
    with pytest.raises(FileProblem, match="be a regular file, or hold at most"):
        collector.take_file("/dev/urandom")
    assert collector.total.refused["malformed"] > 5000
