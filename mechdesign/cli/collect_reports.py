"""Envelopes from devices, taken in: each of a known table, in time and new counts once; others are counted by reason.

What was accepted lies in a store, so that a run that was killed goes on where it was and no envelope counts twice, also
years later. With --out reports go on in batches of a minimum size, in random order and without anything of the
envelopes, as Parquet files that `estimate` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.sent import Said
from mechdesign.cli.signatures import completion
from mechdesign.errors import InvalidInput, require_one_of
from mechdesign.plot.canvas import printable
from mechdesign.studies.device_reports import DeviceReports, from_reports, require_periods
from mechdesign.studies.estimate import Value, values
from mechdesign.tables.device.description import Device, device_among
from mechdesign.tables.estimators import FrequencyEstimate, Tally, WorkloadEstimate
from mechdesign.tables.frames import estimate_reports
from mechdesign.tables.origin import Origin
from mechdesign.tables.reports.collection import Collection, is_collection, load_collection
from mechdesign.tables.reports.collector import COLUMN, Collector, Question
from mechdesign.tables.reports.merging import WEIGHTS, merged_estimate
from mechdesign.tables.reports.store import MOST_JUMP, Store
from mechdesign.tables.table import Table, load_table
from mechdesign.values import files
from mechdesign.values.declare import frozen
from mechdesign.values.rules import comes_with
from mechdesign.words.domains import Circle


@frozen
class Handed:
    """A file of reports, the table and the attribute that it is of."""

    file: str
    count: int
    table: str
    attribute: str | None


@frozen
class Told:
    """What all reports of a question say, by all tables that asked it: a mean, shares of items, answers to queries."""

    attribute: str | None
    tables: int
    count: int
    confidence: float
    weights: str
    estimate: float | None = output.if_shown()
    lower: float | None = output.if_shown()
    upper: float | None = output.if_shown()
    standard_error: float | None = output.if_shown()
    items: tuple[Value, ...] | None = output.if_shown()
    queries: tuple[Value, ...] | None = output.if_shown()
    of_devices: tuple[DeviceReports, ...] | None = output.if_shown()
    people: int | None = output.if_shown()


@frozen
class Answer:
    """What became of the envelopes of this run and of all runs, what was handed over, and what still waits."""

    accepted: int
    refused: Mapping[str, int]
    accepted_in_all: int
    refused_in_all: Mapping[str, int]
    batches: tuple[Handed, ...]
    waiting: int
    estimates: tuple[Told, ...] | None = output.if_shown()


ANSWERS = ((Answer,),)
EXAMPLE = """\
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
$ echo 'import datetime, mechdesign.tables as tables, mechdesign.tables.reports as reports' > send.py
$ echo 'smokes, last = tables.load_table("smokes.json"), datetime.date(2099, 1, 1)' >> send.py
$ echo 'print(reports.enveloped(smokes, "yes", last).line.decode(), end="")' >> send.py
$ python send.py > today.txt
collect-reports today.txt --of smokes.json --store seen.db --new-store"""
RULES = (
    comes_with("merge", out=()),
    comes_with("periods", merge=(), step="leave it out"),
    comes_with("periods", of_devices=(), step="leave it out"),
)
_APART = "leave --estimate out, and estimate each by itself"


def run(
    known: Annotated[
        list[Path],
        typer.Option(
            "--of", help="A table or collection that counts, or a device's table (repeat it).", metavar="FILE"
        ),
    ],
    store: Annotated[Path, typer.Option("--store", help="What was seen, kept between runs.")],
    sent: Said,
    envelopes: Annotated[
        list[Path] | None, typer.Argument(help="Files of envelopes, one a line in base64.", metavar="ENVELOPES...")
    ] = None,
    new_store: Annotated[bool, typer.Option("--new-store", help="Begin a store: there was none before.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Hand reports over into this folder.", metavar="DIR")
    ] = None,
    least: Annotated[int, typer.Option("--least", help="So many reports make a batch; fewer wait.")] = 100,
    merge: Annotated[
        str | None,
        typer.Option(
            "--estimate",
            help="Estimate from DIR, tables weighted by people or precision.",
            metavar="BY",
            autocompletion=completion(lambda: WEIGHTS),
        ),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.95,
    of_devices: Annotated[
        list[Path] | None,
        typer.Option("--device", help="A device that counts, whose tables --of names (repeat it).", metavar="FILE"),
    ] = None,
    periods: Annotated[
        int | None,
        typer.Option(
            "--periods", help="With --device and --estimate: of how many periods DIR holds reports.", metavar="N"
        ),
    ] = None,
    today: Annotated[
        str | None, typer.Option("--today", help="Which day it is, whatever the clock says.", metavar="DAY")
    ] = None,
) -> None:
    said = None if today is None else _day(today)
    if merge is not None:
        require_one_of(merge, "estimate", WEIGHTS)
    if merge is not None and of_devices:
        require_periods(periods)
    tables = _with_devices([_known(path) for path in known], of_devices or [])
    with (
        output.ending_cleanly(),
        output.progress("taking in envelopes", quiet=sent.quiet),
        Store(store, new=new_store) as kept,
    ):
        collector = Collector(kept, tables, today=said)
        if merge is not None:
            _require_one_question(list(collector.questions.values()))
        _tell_of_day(collector.today, said)
        before = collector.total
        for path in envelopes or []:
            collector.take_file(path)
        total = collector.total
        batches = [] if out is None else collector.hand_over(out, least)
        waiting = sum(kept.waiting(subject) for subject in collector.questions)
    told = None
    if merge is not None and out is not None:
        told = tuple(_told(out, list(collector.questions.values()), merge, confidence, periods or 1))
    if total.refused["of an unknown device"] > before.refused["of an unknown device"]:
        output.warn("there are envelopes of a device that no --device names: add --device FILE, and --of its tables")
    refused = {reason: times - before.refused[reason] for reason, times in total.refused.items()}
    handed = tuple(
        Handed(str(batch.file), batch.count, batch.question.table.sha256, batch.question.name) for batch in batches
    )
    now = total.accepted - before.accepted
    answer = Answer(now, refused, total.accepted, total.refused, handed, waiting, told)
    if sent.as_json:
        output.print_json(answer)
    else:
        _print(answer)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidInput("today", text, "be a day, such as 2030-12-31") from None


def _tell_of_day(today: date, said: date | None) -> None:
    """Warn where the day that counts is not the clock's."""
    clock = datetime.now(UTC).date()
    if said is not None and abs(said - clock) > MOST_JUMP:
        output.warn(f"the clock says {clock}, and --today {said}: leave --today out once the clock is right")
    elif today > max(clock, said or clock):
        output.warn(f"the clock is behind a day that this store has seen: what expired before {today} stays refused")


def _known(path: Path) -> Table | Collection:
    return load_collection(path) if is_collection(files.read_bytes(path)) else load_table(path)


def _with_devices(known: Sequence[Table | Collection], paths: Sequence[Path]) -> list[Table | Collection | Device]:
    """What counts: in place of the tables that devices draw from, the devices.

    A report of such a table alone does not count beside them: nobody could tell which draws lie behind it.
    """
    tables = {one.sha256: one for one in known if isinstance(one, Table)}
    kept = [device_among(path, tables.values()) for path in paths]
    used = {table.sha256 for device in kept for table in (device.table, device.reporting)}
    return [*(one for one in known if one.sha256 not in used), *kept]


def _require_one_question(questions: Sequence[Question]) -> None:
    """Refuse, before anything is taken in, tables whose reports no estimate takes, or takes together."""
    asked: dict[str | None, Question] = {}
    for question in questions:
        Tally(question.table)
        other = asked.setdefault(question.name, question)
        first, table = _asked(other), _asked(question)
        if (table.domain, table.labels.inputs) != (first.domain, first.labels.inputs):
            rule = "ask one question: inputs and labels are the same"
            place = f"tables of {question.name}" if question.name else "tables"
            raise InvalidInput(place, table.name, rule, _APART)
        if other is not question and (table.workload or isinstance(table.domain, Circle)):
            rule = "be of means or frequencies: directions and answers to queries are not merged over tables"
            raise InvalidInput("tables", table.name, rule, _APART)


def _asked(question: Question) -> Table:
    """The table that takes people's values."""
    return question.table if question.device is None else question.device.table


def _told(folder: Path, questions: Sequence[Question], weights: str, confidence: float, periods: int) -> list[Told]:
    """The estimates, tables that ask one question together."""
    found = []
    for name in dict.fromkeys(question.name for question in questions):
        asked = [q for q in questions if q.name == name and any((folder / q.folder).glob("part-*.parquet"))]
        origins = [Origin(q.table) if q.device is None else q.device.origin(periods) for q in asked]
        each = [
            estimate_reports(origin, folder / q.folder, COLUMN, confidence)
            for q, origin in zip(asked, origins, strict=True)
        ]
        if each:
            merged = merged_estimate(each, weights) if len(each) > 1 else each[0]
            made = tuple(DeviceReports.of(q.device, periods) for q in asked if q.device is not None) or None
            about = name, len(each), merged.count, confidence, weights
            if isinstance(merged, FrequencyEstimate):
                said = Told(*about, items=values(merged), of_devices=made, people=merged.people)
            elif isinstance(merged, WorkloadEstimate):
                said = Told(*about, queries=values(merged), of_devices=made, people=merged.people)
            else:
                spread = merged.estimate, merged.lower, merged.upper, merged.deviation
                said = Told(*about, *spread, of_devices=made, people=merged.people)
            found.append(said)
    return found


def _print(answer: Answer) -> None:
    refused = [f"{times:,} {reason}" for reason, times in answer.refused.items() if times]
    output.console.print(
        f"{answer.accepted:,} reports accepted, {sum(answer.refused.values()):,} refused"
        + (f": {', '.join(refused)}" if refused else "")
        + f"\n  in all so far: {answer.accepted_in_all:,} accepted, {sum(answer.refused_in_all.values()):,} refused; "
        f"{answer.waiting:,} wait",
        soft_wrap=True,
    )
    for batch in answer.batches:
        of = "" if batch.attribute is None else f" of {printable(batch.attribute)}"
        output.console.print(f"  {batch.count:,} reports{of} in {printable(batch.file)}", soft_wrap=True)
    for told in answer.estimates or ():
        of = "all reports" if told.attribute is None else printable(told.attribute)
        if told.items is None and told.queries is None:
            ends = ", ".join(output.number(end) for end in (told.lower, told.upper) if end is not None)
            value = "" if told.estimate is None else output.number(told.estimate)
            output.console.print(
                f"{of}: {value} in [{ends}] with confidence {told.confidence:g}, "
                f"{from_reports(told.count, told.people)} of {told.tables} tables",
                soft_wrap=True,
            )
        else:
            values, what = (told.items, "frequencies") if told.queries is None else (told.queries, "answers")
            rows = [[v.item, *map(output.number, (v.estimate, v.lower, v.upper))] for v in values or ()]
            title = f"{of}: {what}, each with confidence {told.confidence:g}, "
            title += from_reports(told.count, told.people)
            output.print_table(title, ["value", "estimate", "lower", "upper"], rows)
        for made in told.of_devices or ():
            output.console.print(made.words, markup=False, soft_wrap=True)
            if made.warning is not None:
                output.warn(made.warning)
