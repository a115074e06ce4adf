"""The page of benchmarks says what a run found, and a ratio that has grown is told in words."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import __main__ as program, clock, report
from benchmarks.clock import Measured
from benchmarks.report import Report, Section
from benchmarks.rows import Row, Target

ROW = Row("sorting | well", "numpy", Measured(0.2, 130.0), Measured(0.1, 120.0), Target(ratio=3.0, megabytes=200.0))


def ran(*rows: Row) -> Report:
    return Report({"sorting": section(*rows)})


def section(*rows: Row, date: str = "2030-01-01") -> Section:
    return Section(
        date, {"processor": "one, 2 cores", "load": "a load of 1"}, {"mechdesign": "1.0", "peer": "3"}, list(rows)
    )


def times(ratio: float) -> Row:
    return replace(ROW, ours=Measured(0.1 * ratio, 130.0))


def test_a_table_that_is_read_back_is_the_table_that_was_written() -> None:
    assert Report.read(ran(ROW, replace(ROW, note="by the way")).to_json()) == ran(ROW, replace(ROW, note="by the way"))


@pytest.mark.parametrize(("ratio", "said"), [(2.9, False), (3.1, True), (0.1, False)])
def test_a_ratio_more_than_one_and_a_half_times_the_last_is_slower(ratio: float, said: bool) -> None:
    assert bool(ran(times(ratio)).slower_than(ran(times(2.0)))) is said


def test_a_slower_machine_is_no_regression() -> None:
    slow = replace(ROW, ours=ROW.ours * 10, theirs=ROW.theirs * 10)
    assert ran(slow).slower_than(ran(ROW)) == []


def test_rows_are_compared_by_name_and_yardstick() -> None:
    assert ran(times(20)).slower_than(ran(replace(ROW, yardstick="another"))) == []
    assert ran(times(20)).slower_than(None) == []


def test_the_page_says_a_regression_in_a_word_and_not_by_colour_alone() -> None:
    page = report.page(ran(times(8)), ran(ROW))
    assert '<span class="slower">SLOWER: 1 ratio is more than 1.5 times that of the table before' in page
    assert "SLOWER: 4 times the last ratio" in page
    assert "SLOWER" not in report.page(ran(ROW), ran(ROW))


def test_the_page_tells_memory_versions_date_machine_and_keeps_its_columns() -> None:
    page = report.page(ran(ROW), None)
    for told in ("130&nbsp;MB", "mechdesign 1.0, peer 3", "2030-01-01", "one, 2 cores", "sorting \\| well"):
        assert told in page


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (ROW, "met"),
        (times(3.5), "missed"),
        (replace(ROW, ours=Measured(0.2, 201.0)), "missed"),
        (replace(ROW, ours=Measured(0.2)), "missed"),
        (replace(ROW, target=Target()), "-"),
    ],
)
def test_a_target_is_met_only_if_all_of_it_is_measured_and_kept(row: Row, verdict: str) -> None:
    assert row.verdict == verdict


def test_a_yardstick_that_was_stopped_leaves_a_target_open_and_never_misses_it() -> None:
    row = replace(times(3.5), stopped=True)
    assert row.verdict == "undecided"
    assert replace(times(2), stopped=True).verdict == "met"
    assert replace(row, ours=Measured(0.35, 201.0)).verdict == "missed"
    assert report.cells(row, None)[2:4] == ("numpy: 100 ms, and was stopped", "<= 3.5")


def test_the_committed_page_is_made_of_the_committed_table() -> None:
    kept = Report.read(report.KEPT.read_text(encoding="utf-8"))
    page = report.PAGE.read_text(encoding="utf-8")
    for row in kept.rows:
        assert "| " + " | ".join(report.cells(row, None)[:6]) in page.replace("&lt;", "<").replace("&nbsp;", " ")
    for measured in kept.sections.values():
        assert f"Measured {measured.date}, {measured.machine['load']}." in page


def test_the_committed_table_has_every_benchmark_and_no_row_twice() -> None:
    kept = Report.read(report.KEPT.read_text(encoding="utf-8"))
    assert list(kept.sections) == list(program.BENCHMARKS)
    keys = [row.key for row in kept.rows]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", program.BENCHMARKS)
def test_every_benchmark_is_a_module_with_rows(name: str) -> None:
    assert callable(import_module(f"benchmarks.{name}").rows)


def test_every_module_with_rows_is_a_benchmark() -> None:
    folder = Path(report.__file__).parent
    assert {path.stem for path in folder.glob("*.py") if "\ndef rows(" in path.read_text()} == set(program.BENCHMARKS)


def test_a_run_says_regressions_and_leaves_the_page_alone_when_it_is_a_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "_measured_apart", lambda name: [times(8)])
    monkeypatch.setattr(report, "last_committed", lambda: ran(ROW))
    monkeypatch.setattr(report, "write", lambda *_: pytest.fail("the page was written"))
    assert program.main(["--only", "jrr", "--json"]) == 0
    told = capsys.readouterr()
    assert list(json.loads(told.out)) == ["jrr"]
    assert "SLOWER: sorting | well, beside numpy: 4 times the last committed ratio" in told.err.replace("\n", " ")


def test_a_benchmark_that_breaks_is_said_and_only_the_others_are_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[Report] = []
    monkeypatch.setattr(program, "_measured_apart", lambda name: None if name == "jrr" else [ROW])
    monkeypatch.setattr(report, "last_committed", lambda: None)
    monkeypatch.setattr(report, "write", lambda found, last: written.append(found))
    assert program.main(["--page", "--only", "jrr", "search"]) == 1
    assert "FAILED: jrr" in capsys.readouterr().err
    assert [*written[0].sections] == [name for name in program.BENCHMARKS if "search" in name]


def test_nothing_is_written_where_every_benchmark_breaks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "_measured_apart", lambda name: None)
    monkeypatch.setattr(report, "write", lambda *_: pytest.fail("the page was written"))
    assert program.main(["--page", "--only", "jrr"]) == 1
    assert "FAILED: jrr" in capsys.readouterr().err


def test_sections_that_were_not_measured_again_stay_on_the_page_with_their_day() -> None:
    before = Report({"sorting": section(ROW), "search": section(ROW, date="2029-01-01")})
    joined = Report({"sorting": section(times(2), date="2030-02-02")}).beside(before, ("search", "sorting", "new"))
    assert {name: part.date for name, part in joined.sections.items()} == {
        "search": "2029-01-01",
        "sorting": "2030-02-02",
    }
    page = report.page(joined, before)
    assert page.index("## Search") < page.index("Measured 2029-01-01") < page.index("Measured 2030-02-02")


@pytest.mark.parametrize("arguments", [["--only", "nonsense"]])
def test_a_wrong_choice_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        program.main(arguments)
    assert stop.value.code == 2
    assert "--only" in capsys.readouterr().err


def test_the_median_of_turns_is_told_with_the_most_memory() -> None:
    turns = [Measured(1.0, 5.0), Measured(9.0, 7.0), Measured(2.0, 6.0)]
    assert clock.median(turns) == Measured(2.0, 7.0)


def test_what_measures_itself_is_believed() -> None:
    assert clock.medians({"elsewhere": lambda: Measured(3.0, 4.0)}, 3)["elsewhere"] == Measured(3.0, 4.0)


def test_a_task_that_holds_much_is_seen_to() -> None:
    little, much = (clock.measured(lambda size=size: bytearray(size)) for size in (10**3, 2 * 10**8))
    assert little.megabytes is not None
    assert much.megabytes is not None
    assert much.megabytes - little.megabytes > 100
