"""Protocols and post-processing compared on given data, over epsilon: ranked, with confidence intervals.

LDP3's command lines run as they are: -e -p -m -r -t -d -u, lists separated by blanks or by commas. Two of its metrics
have other names here: its l1, which is a mean, is mae (l1 is the sum), and the kl of its code, with truth and
estimate exchanged, is kl-reversed (kl is as its page has it).

Its Norm-Cut is norm-cut-ldp3.

Protocols, post-processings and metrics of your own are module:name: bench runs the code of module.py in this folder. A
protocol is two functions, perturb(value, eps, k) and aggregate(reports, eps, k), run user by user.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from typer.core import TyperCommand

from mechdesign import plot
from mechdesign.cli import output, own_code
from mechdesign.cli.options import Engines, parse_epsilons, parse_interval, require_seed
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part
from mechdesign.cli.users import read_users, warn_of_gaps
from mechdesign.collect import bench, metrics
from mechdesign.collect.datasets import Dataset, read_bins
from mechdesign.collect.laws import LAWS, made_of_law
from mechdesign.collect.own import is_own
from mechdesign.collect.protocols.catalogue import entry
from mechdesign.collect.protocols.designed import designed
from mechdesign.collect.protocols.protocol import FrequencyProtocol
from mechdesign.collect.ranking import Comparison, Effect
from mechdesign.collect.shipping import as_protocol
from mechdesign.data.matrices import read_matrix
from mechdesign.deploy.table import Table, load_table
from mechdesign.design.result import FORMAT as design_format, Design
from mechdesign.design.saved import load_design
from mechdesign.design.words import counted
from mechdesign.design.workload.queries import require_queries
from mechdesign.domains import Finite
from mechdesign.engine import Dask
from mechdesign.errors import InvalidInput, unusable_extra
from mechdesign.intervals import CONFIDENCE
from mechdesign.values import files
from mechdesign.values.declare import Floats, frozen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL, LONGITUDINAL = "all", "longitudinal"
LINES, HEAT = "lines", "heat"
_MOST_SHOWN = 20
_MOST_PANELS = 4
_SLOW = f"{bench.PUBLISHED_IBU}: IBU as published, stopped after 10,000 steps"
_SAME_PROTOCOL = {"subset": "ss"}
_DESIGN = ".json"
_QUERIES = (".csv", ".npy")
_TABLES = (".csv", ".json", ".parquet")
_LISTED = {
    "eps": ("-e", "--eps", "--epsilon"),
    "protocols": ("-p", "--protocol", "--protocols"),
    "methods": ("-m", "--method", "--methods"),
    "metrics": ("-u", "--metric", "--utility_metric"),
}
_LISTS = frozenset(name for names in _LISTED.values() for name in names)


@frozen
class About:
    """What was simulated."""

    users: int
    items: int
    runs: int
    seed: int
    confidence: float


@frozen
class Cell:
    """A protocol with a post-processing at one epsilon: the mean of one metric over runs, and its interval."""

    protocol: str
    postprocess: str
    eps: float
    metric: str
    mean: float
    low: float | None
    high: float | None


@frozen
class LeftOut:
    """What was asked for and does not exist."""

    protocol: str
    eps: tuple[float, ...]
    methods: tuple[str, ...]
    reason: str


@frozen
class Answer:
    """All cells, what each metric means, the ranking by each, and by protocol what post-processing does."""

    problem: About
    metrics: Mapping[str, str]
    cells: tuple[Cell, ...]
    ranking: Mapping[str, tuple[bench.Rank, ...]]
    left_out: tuple[LeftOut, ...]
    effects: Mapping[str, tuple[Effect, ...]]
    notes: tuple[str, ...]


ANSWERS = ((Answer,),)
EXAMPLE = """\
examples
bench -e 1 -d categories.csv --column app -p oue,grr -m norm-sub -r 3"""
_BINS = "Numbers in so many equal bins of --domain LO,HI (else from the least to the largest), or with --law."
_LDP3_NOTES = {
    "l1": "l1 is the sum over the {k} items; LDP3's l1 is their mean, {k} times less: -u mae",
    "kl": "kl is as LDP3's page has it; its code exchanges truth and estimate: -u kl-reversed",
}


class WithBlankLists(TyperCommand):
    """What follows an option that takes a list, up to the next option, belongs to it: LDP3 separates by blanks."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, joined_lists(args))


def joined_lists(arguments: Sequence[str]) -> list[str]:
    """Lists separated by blanks as lists separated by commas.

    >>> joined_lists(["-p", "grr", "olh", "-m", "norm,", "norm_sub", "-r", "2"])
    ['-p', 'grr,olh', '-m', 'norm,norm_sub', '-r', '2']
    """
    found: list[str] = []
    within = False
    for text in arguments:
        if text.startswith("-"):
            found.append(text)
            within = text.partition("=")[0] in _LISTS
        elif within and found[-1] not in _LISTS:
            found[-1] = f"{found[-1].rstrip(',')},{text.lstrip(',')}".strip(",")
        else:
            found.append(text)
    return found


def run(
    epsilon: Annotated[str, typer.Option("--eps", "-e", "--epsilon", help="One, a list A,B,C or FROM:TO:COUNT.")],
    engines: Engines,
    sent: Annotated[Sent, Part(out="Save every cell: .csv, .parquet or .json.")],
    dataset: Annotated[
        Path | None,
        typer.Option("--dataset", "-d", help="One label a row (CSV, text, Parquet), or JSON.", metavar="FILE"),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocols",
            "-p",
            "--protocol",
            help=f"Names, all (one-time), longitudinal, design or table files; {own_code.HELP}.",
        ),
    ] = ALL,
    method: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            "--method",
            help=f"{', '.join(bench.METHODS)}, or all (of these); {_SLOW}; module:name.",
        ),
    ] = ALL,
    repeat: Annotated[int, typer.Option("--repeat", "-r", help="Runs of every cell.")] = 10,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            "-u",
            "--utility_metric",
            help=f"{', '.join(metrics.METRICS)}, top:COUNT (top: of 10), a .csv of queries, module:name (l1).",
        ),
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column with the labels, by its header.")] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="All items, A,B,C or LO..HI (else those observed).")
    ] = None,
    bins: Annotated[int | None, typer.Option("--bins", help=_BINS, metavar="K")] = None,
    law: Annotated[
        str | None, typer.Option("--law", help=f"In place of data a sample, drawn by --seed: {', '.join(LAWS)}.")
    ] = None,
    users: Annotated[int | None, typer.Option("--users", help="With --law: so many users.", metavar="N")] = None,
    limit: Annotated[
        float | None,
        typer.Option("--limit", help="Loss of all reports of users who never change, if longitudinal (2 eps)."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same numbers.")] = 0,
    results: Annotated[
        Path | None, typer.Option("--results", help="Keep finished cells here; a killed run resumes from it.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="Of the picture: lines over eps, or heat maps (one eps).")
    ] = None,
) -> None:
    sent.require_writable()
    _require_table_format(sent.out)
    designs = [name for name in protocol.split(",") if name.strip().lower().endswith(_DESIGN)]
    names = _metrics("l1" if metric is None else metric)
    asked = [name for name in names if name.lower().endswith(_QUERIES)]
    source = _Source(dataset, column, domain, bins, law, users, seed)
    read = [] if dataset is None else [dataset]
    output.require_apart([sent.out, sent.plot, results], [*read, *map(str.strip, designs), *asked])
    if results is not None and any(
        path is not None and files.is_same_file(path, results) for path in (sent.out, sent.plot)
    ):
        raise InvalidInput("results file", str(results), "differ from the other files to be written")
    epsilons, methods, protocol_names = tuple(parse_epsilons(epsilon)), _methods(method), _protocols(protocol)
    _require_kind(kind, epsilons, sent.plot)
    where = engines.engine()
    own = own_code.named_code((*protocol_names, *methods, *names))
    if isinstance(where, Dask):
        if own:
            step = "give --workers instead"
            raise InvalidInput("engine", engines.name, f"be local where {next(iter(own))} is run", step)
        where.require_ready()
    with output.ending_cleanly(), output.progress("reading the data", quiet=sent.quiet) as say:
        data = source.read()
        laws = {name: _design(name, data.size) for name in protocol_names if name.lower().endswith(_DESIGN)}
        workloads = {name: _queries(name, data) for name in asked}
        plan = bench.BenchPlan(protocol_names, methods, epsilons, repeat, names, seed, laws, limit, workloads, own)
        calls = data.n * repeat * len(epsilons) * len(plan.own_protocols)
        if calls:
            output.warn(f"{', '.join(plan.own_protocols)}: run user by user, {calls:,} calls of perturb")
        taken: list[tuple[int, int]] = []
        rows = bench.run(
            plan,
            data,
            where,
            results=results,
            say=lambda done, total: say(f"{done} of {total} cells"),
            say_taken=lambda *counts: taken.append(counts),
        )
    if domain is None and source.is_labels:
        warn_of_gaps(data)
    gone = _left_out(bench.offers(plan, data.size))
    found = bench.comparisons(rows, plan, data)
    notes = _notes(plan, metric, data.size)
    if sent.out is not None:
        sent.keep(_encoded(rows, plan, sent.out.suffix.lower()))
    if sent.plot is not None:
        order = plan.protocols, plan.methods
        sent.draw(bench_figure(found[names[0]].ranks, names[0], order, data.size, data.n, kind))
    for count, again in taken:
        output.warn(f"{counted(count, 'cell')} taken as {results} has them; {again} of them, at random, computed again")
    if sent.as_json:
        output.print_json(_answer(plan, data, found, gone, notes))
        return
    for name in plan.metrics:
        _print(found[name])
    for row in gone:
        at = f" at eps = {', '.join(f'{epsilon:g}' for epsilon in row.eps)}"
        which = f"no {', '.join(row.methods)}" if row.methods else "impossible"
        output.console.print(f"{row.protocol}{at}: {which} ({row.reason})", soft_wrap=True)
    for note in notes:
        output.console.print(note, soft_wrap=True)
    sent.say_saved(results)


@frozen
class _Source:
    """Where the users come from: a file of labels, a file of numbers in bins, or a law."""

    file: Path | None
    column: str | None
    domain: str | None
    bins: int | None
    law: str | None
    users: int | None
    seed: int

    def __attrs_post_init__(self) -> None:
        if (self.file is None) == (self.law is None):
            said = None if self.law is None else f"{self.law} and {self.file}"
            raise InvalidInput("dataset", said, "be given, or --law: one of the two", "for example -d data.csv")
        if self.law is None and self.users is not None:
            raise InvalidInput("users", self.users, "come with --law", "a file says how many there are")
        if self.law is not None:
            needed = {"users": self.users, "bins": self.bins}
            for name, value in needed.items():
                if value is None:
                    raise InvalidInput(name, None, "be given with --law", f"for example --law {self.law} --{name} 100")
            for name, said in (("column", self.column), ("domain", self.domain)):
                if said is not None:
                    raise InvalidInput(name, said, "be left out with --law", "its bins reach over the sample")

    @property
    def is_labels(self) -> bool:
        return self.bins is None

    def read(self) -> Dataset:
        if self.law is not None:
            assert self.users is not None
            assert self.bins is not None
            return made_of_law(self.law, self.users, self.bins, np.random.default_rng(require_seed(self.seed)))
        assert self.file is not None
        if self.bins is None:
            return read_users(self.file, self.column, self.domain)
        ends = None if self.domain is None else parse_interval(self.domain, "domain")
        return read_bins(self.file, self.bins, column=self.column, domain=ends)


def _notes(plan: bench.BenchPlan, asked: str | None, items: int) -> tuple[str, ...]:
    """What a reader of the numbers may take for something else."""
    named = () if asked is None else plan.metrics
    scales = [_LDP3_NOTES[name].format(k=items) for name in named if name in _LDP3_NOTES]
    trust = "its privacy is the word of its author, nothing here looked at it"
    trusted = [f"{name}: {trust}" for name in plan.own_protocols]
    has_column = bench.RAW in plan.methods or len(plan.methods) < 2
    return (*scales, *trusted, *([] if has_column else [f"the column without is empty: add {bench.RAW} to --methods"]))


def bench_figure(
    ranks: Sequence[bench.Rank],
    name: str,
    order: tuple[Sequence[str], Sequence[str]],
    items: int,
    users: int,
    kind: str | None = None,
) -> Figure:
    """What is asked for; else lines over several eps, and a heat map of one."""
    several = len(_epsilons(ranks)) > 1
    draw = line_figure if kind == LINES or (kind is None and several) else heat_map
    return draw(ranks, name, order, items, users)


def line_figure(
    ranks: Sequence[bench.Rank], name: str, order: tuple[Sequence[str], Sequence[str]], items: int, users: int
) -> Figure:
    """The error over eps, a line a protocol, each with the post-processing that is best for it over all eps."""
    metric = metrics.metric(name)
    lines: dict[str, list[plot.Measured]] = {}
    for protocol in order[0]:
        here = [rank for rank in ranks if rank.protocol == protocol]
        if here:
            method = _best_method(here, more_is_better=metric.more_is_better)
            chosen = sorted((rank for rank in here if rank.method == method), key=lambda rank: rank.epsilon)
            label = protocol if len(order[1]) == 1 else f"{protocol}, {method}"
            lines[label] = [plot.Measured(rank.epsilon, rank.mean, rank.interval) for rank in chosen]
    best = "" if len(order[1]) == 1 else ", each protocol with its best post-processing"
    return plot.measured_over_epsilon(lines, metric.meaning, f"{_title(metric, items, users)}{best}")


def _best_method(ranks: Sequence[bench.Rank], *, more_is_better: bool) -> str:
    """The method with the least mean place among the methods of one protocol, over the eps where most of them are."""
    places: dict[str, list[int]] = {}
    for epsilon in _epsilons(ranks):
        here = [rank for rank in ranks if rank.epsilon == epsilon]
        for place, rank in enumerate(sorted(here, key=lambda rank: rank.mean, reverse=more_is_better)):
            places.setdefault(rank.method, []).append(place)
    return min(places, key=lambda method: (-len(places[method]), sum(places[method]) / len(places[method])))


def _title(metric: metrics.Metric, items: int, users: int) -> str:
    return f"{metric.meaning[0].upper()}{metric.meaning[1:]} of {items} frequencies, {users:,} users"


def heat_map(
    ranks: Sequence[bench.Rank], name: str, order: tuple[Sequence[str], Sequence[str]], items: int, users: int
) -> Figure:
    """Means by protocol and post-processing, in that order, a panel an epsilon: at most four, evenly chosen."""
    metric = metrics.metric(name)
    epsilons = _epsilons(ranks)
    count = min(len(epsilons), _MOST_PANELS)
    chosen = [epsilons[round(k * (len(epsilons) - 1) / max(count - 1, 1))] for k in range(count)]
    panels = [
        plot.HeatMap(
            f"eps = {epsilon:g}",
            {(rank.protocol, rank.method): rank.mean for rank in ranks if rank.epsilon == epsilon},
        )
        for epsilon in chosen
    ]
    better = metric.more_is_better
    return plot.heat_maps(panels, *order, metric.name, _title(metric, items, users), more_is_better=better)


# -- options ----------------------------------------------------------------------------------------------------------


def _lower(text: str) -> list[str]:
    """Names in a list, with hyphens: LDP3 writes base_pos; names of code as they are written."""
    given = [name.strip() for name in text.split(",")]
    return [name if is_own(name) else name.lower().replace("_", "-") for name in given]


def _protocols(text: str) -> tuple[str, ...]:
    names: list[str] = []
    for given in text.split(","):
        (name,) = _lower(given)
        if name.endswith(_DESIGN) or is_own(name):
            names.append(given.strip())
        elif name == ALL:
            names.extend(bench.ONE_TIME)
        elif name == LONGITUDINAL:
            names.extend(bench.LONGITUDINAL)
        else:
            names.append(entry(_SAME_PROTOCOL.get(name, name)).key)
    return tuple(dict.fromkeys(names))


def _design(path: str, size: int) -> FrequencyProtocol:
    """A design or a table in a file as a protocol: over its own points, or bins of its interval."""
    is_design = files.read_json(path).get("format") == design_format
    source = load_design(path) if is_design else load_table(path)
    if isinstance(source, Table) and source.chances is not None:
        return as_protocol(source)
    inputs = source.own_law.inputs if isinstance(source, Design) else source.domain
    return designed(source, None if isinstance(inputs, Finite) else size)


def _metrics(text: str) -> tuple[str, ...]:
    """Names in a list; files of queries as they are written."""
    return tuple(
        given.strip() if given.strip().lower().endswith(_QUERIES) else _lower(given)[0] for given in text.split(",")
    )


def _queries(path: str, data: Dataset) -> Floats:
    """The queries of a file, their columns in the order of the items: by name where its first line names them."""
    read = read_matrix(path, "queries", -sys.float_info.max)
    matrix = require_queries(read.values)
    if matrix.shape[1] != data.size:
        step = "give the domain, so that items nobody holds count as well"
        raise InvalidInput("queries", f"{matrix.shape[1]} columns", f"have {data.size}, one for each item", step)
    named = read.output_labels
    if named is None and read.input_labels is None and _as_numbers(data.labels) == sorted(matrix[0].tolist()):
        rule = "show whether its first line names the items or is a query: its numbers are those of the items"
        raise InvalidInput("queries", "the first line", rule, "begin every line with a name, and that of items with ,")
    if named is None or not set(named) & set(data.labels):
        return matrix
    if set(named) != set(data.labels):
        odd = next(name for name in named if name not in data.labels)
        raise InvalidInput("queries", odd, "name the items of the data, all of them, or none in its first line")
    return np.asarray(matrix[:, [named.index(label) for label in data.labels]])


def _as_numbers(labels: Sequence[str]) -> list[float] | None:
    """The numbers that these labels write, in increasing order, if all of them do."""
    try:
        return sorted(map(float, labels))
    except ValueError:
        return None


def _epsilons(ranks: Sequence[bench.Rank]) -> list[float]:
    return sorted({rank.epsilon for rank in ranks})


def _methods(text: str) -> tuple[str, ...]:
    names = _lower(text)
    return bench.METHODS if ALL in names else tuple(dict.fromkeys(names))


def _require_kind(kind: str | None, epsilons: Sequence[float], plot_file: Path | None) -> None:
    if kind is None:
        return
    if kind not in (LINES, HEAT):
        raise InvalidInput("kind", kind, f"be {LINES} or {HEAT}")
    if plot_file is None:
        raise InvalidInput("kind", kind, "come with --plot", "for example --plot errors.png")
    if kind == LINES and len(epsilons) == 1:
        raise InvalidInput("kind", kind, "come with several eps", "for example --eps 0.5:4:8")


def _require_table_format(path: Path | None) -> None:
    if path is not None and path.suffix.lower() not in _TABLES:
        raise InvalidInput("output file", str(path), f"end in {', '.join(_TABLES)}", "for example --out cells.csv")


# -- what leaves ------------------------------------------------------------------------------------------------------


def _encoded(rows: Sequence[bench.Row], plan: bench.BenchPlan, suffix: str) -> bytes:
    columns: dict[str, list[Any]] = {
        "protocol": [row.protocol for row in rows],
        "method": [row.method for row in rows],
        "epsilon": [row.epsilon for row in rows],
        "run": [row.run for row in rows],
    }
    columns.update({name: [row.values[name] for row in rows] for name in plan.metrics})
    records = list(zip(*columns.values(), strict=True))
    if suffix == ".json":
        return files.dump_json({"cells": [dict(zip(columns, record, strict=True)) for record in records]}).encode()
    if suffix == ".csv":
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([list(columns), *records])
        return text.getvalue().encode()
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise unusable_extra("--out FILE.parquet", "data", error) from None
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()


def _left_out(offers: Sequence[bench.Offer]) -> tuple[LeftOut, ...]:
    """Cells that were asked for and do not exist, with the reason; the same gap at several eps is one row."""
    rows: dict[tuple[Any, ...], list[float]] = {}
    for offer in offers:
        if offer.impossible or offer.missing:
            reason = offer.impossible or "its reports have no such estimate"
            rows.setdefault((offer.protocol, offer.missing, reason), []).append(offer.epsilon)
    return tuple(
        LeftOut(name, tuple(epsilons), tuple(methods), reason) for (name, methods, reason), epsilons in rows.items()
    )


def _answer(
    plan: bench.BenchPlan,
    data: Dataset,
    found: Mapping[str, Comparison],
    gone: tuple[LeftOut, ...],
    notes: tuple[str, ...],
) -> Answer:
    cells = (
        Cell(rank.protocol, rank.method, rank.epsilon, name, rank.mean, *(rank.interval or (None, None)))
        for name, one in found.items()
        for rank in one.ranks
    )
    about = About(data.n, data.size, plan.runs, plan.seed, CONFIDENCE)
    return Answer(
        about,
        {name: one.metric.meaning for name, one in found.items()},
        tuple(cells),
        {name: one.ranks for name, one in found.items()},
        gone,
        {name: one.effects for name, one in found.items()},
        notes,
    )


def _print(found: Comparison) -> None:
    for one in found.grids():
        output.print_table(one.title, one.headings, one.rows[:_MOST_SHOWN], left=one.left)
        if len(one.rows) > _MOST_SHOWN:
            output.console.print(f"  and {len(one.rows) - _MOST_SHOWN} more; --out saves all cells", soft_wrap=True)
        output.console.print()
