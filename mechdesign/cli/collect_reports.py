"""Envelopes from devices, taken in: each of a known table, in time and new counts once; others are counted by reason.

What was accepted lies in a store, so that a run that was killed goes on where it was and no envelope counts twice, also
years later. With --out reports go on in batches of a minimum size, in random order and without anything of the
envelopes, as Parquet files that `estimate` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.certified import if_shown
from mechdesign.cli.estimate import Value, answers
from mechdesign.cli.sent import Said
from mechdesign.deploy import Table, load_table
from mechdesign.deploy.estimators import FrequencyEstimate, Tally, WorkloadEstimate
from mechdesign.deploy.frames import estimate_reports
from mechdesign.deploy.reports import Collection, Collector, Question, Store, load_collection, merged_estimate
from mechdesign.deploy.reports.collection import is_collection
from mechdesign.deploy.reports.collector import COLUMN
from mechdesign.deploy.reports.merging import WEIGHTS
from mechdesign.domains import Circle
from mechdesign.errors import InvalidInput, require_one_of
from mechdesign.plot import printable
from mechdesign.values import files
from mechdesign.values.declare import frozen


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
    estimate: float | None = if_shown()
    lower: float | None = if_shown()
    upper: float | None = if_shown()
    standard_error: float | None = if_shown()
    items: tuple[Value, ...] | None = if_shown()
    queries: tuple[Value, ...] | None = if_shown()


@frozen
class Answer:
    """What became of the envelopes of this run and of all runs, what was handed over, and what still waits."""

    accepted: int
    refused: Mapping[str, int]
    accepted_in_all: int
    refused_in_all: Mapping[str, int]
    batches: tuple[Handed, ...]
    waiting: int
    estimates: tuple[Told, ...] | None = if_shown()


ANSWERS = ((Answer,),)
EXAMPLE = """\
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
$ echo 'import datetime, mechdesign.deploy as deploy, mechdesign.deploy.reports as reports' > send.py
$ echo 'smokes, last = deploy.load_table("smokes.json"), datetime.date(2099, 1, 1)' >> send.py
$ echo 'print(reports.enveloped(smokes, "yes", last).line.decode(), end="")' >> send.py
$ python send.py > today.txt
collect-reports today.txt --of smokes.json --store seen.db --new-store"""

_APART = "leave --estimate out, and estimate each by itself"


def run(
    known: Annotated[
        list[Path], typer.Option("--of", help="A table or collection that counts (repeat it).", metavar="FILE")
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
        typer.Option("--estimate", help="Estimate from DIR, tables weighted by people or precision.", metavar="BY"),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals.")] = 0.95,
) -> None:
    if merge is not None:
        require_one_of(merge, "estimate", WEIGHTS)
        if out is None:
            raise InvalidInput("options", "--estimate", "come with --out", "add --out DIR")
    tables = [_known(path) for path in known]
    with (
        output.ending_cleanly(),
        output.progress("taking in envelopes", quiet=sent.quiet),
        Store(store, new=new_store) as kept,
    ):
        collector = Collector(kept, tables)
        if merge is not None:
            _require_one_question(list(collector.questions.values()))
        if collector.today > datetime.now(UTC).date():
            day = collector.today.isoformat()
            output.warn(f"the clock is behind a day that this store has seen: what expired before {day} stays refused")
        before = collector.total
        for path in envelopes or []:
            collector.take_file(path)
        total = collector.total
        batches = [] if out is None else collector.hand_over(out, least)
        waiting = sum(kept.waiting(subject) for subject in collector.questions)
    told = None
    if merge is not None and out is not None:
        told = tuple(_told(out, list(collector.questions.values()), merge, confidence))
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


def _known(path: Path) -> Table | Collection:
    return load_collection(path) if is_collection(files.read_bytes(path)) else load_table(path)


def _require_one_question(questions: Sequence[Question]) -> None:
    """Refuse, before anything is taken in, tables whose reports no estimate takes, or takes together."""
    asked: dict[str | None, Question] = {}
    for question in questions:
        Tally(question.table)
        first = asked.setdefault(question.name, question).table
        if (question.table.domain, question.table.labels.inputs) != (first.domain, first.labels.inputs):
            rule = "ask one question: inputs and labels are the same"
            place = f"tables of {question.name}" if question.name else "tables"
            raise InvalidInput(place, question.table.name, rule, _APART)
        if first is not question.table and (question.table.workload or isinstance(question.table.domain, Circle)):
            rule = "be of means or frequencies: directions and answers to queries are not merged over tables"
            raise InvalidInput("tables", question.table.name, rule, _APART)


def _told(folder: Path, questions: Sequence[Question], weights: str, confidence: float) -> list[Told]:
    """The estimates, tables that ask one question together."""
    found = []
    for name in dict.fromkeys(question.name for question in questions):
        asked = [q for q in questions if q.name == name and any((folder / q.folder).glob("part-*.parquet"))]
        each = [estimate_reports(q.table, folder / q.folder, COLUMN, confidence) for q in asked]
        if each:
            merged = merged_estimate(each, weights) if len(each) > 1 else each[0]
            about = name, len(each), merged.count, confidence, weights
            if isinstance(merged, FrequencyEstimate):
                found.append(Told(*about, items=tuple(_items(merged))))
            elif isinstance(merged, WorkloadEstimate):
                found.append(Told(*about, queries=answers(merged).queries))
            else:
                spread = merged.estimate, merged.lower, merged.upper, merged.deviation
                found.append(Told(*about, *spread))
    return found


def _items(found: FrequencyEstimate) -> list[Value]:
    names = found.labels or [f"{point:.10g}" for point in found.points.tolist()]
    columns = [column.tolist() for column in (found.estimates, found.lower, found.upper, found.standard_errors)]
    return [Value(name, *numbers) for name, *numbers in zip(names, *columns, strict=True)]


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
                f"from {told.count:,} reports of {told.tables} tables",
                soft_wrap=True,
            )
        else:
            values, what = (told.items, "frequencies") if told.queries is None else (told.queries, "answers")
            rows = [[v.item, *map(output.number, (v.estimate, v.lower, v.upper))] for v in values or ()]
            title = f"{of}: {what}, each with confidence {told.confidence:g}, from {told.count:,} reports"
            output.print_table(title, ["value", "estimate", "lower", "upper"], rows)
