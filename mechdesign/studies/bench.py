"""Protocols and post-processings compared on given data, over epsilon: ranked, with confidence intervals."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.data.texts import epsilons, parts
from mechdesign.engine import Dask, Engine, Local
from mechdesign.errors import InvalidInput, require_whole, unusable_extra
from mechdesign.intervals import CONFIDENCE
from mechdesign.studies.frequencies import metrics
from mechdesign.studies.frequencies.laws import LAWS
from mechdesign.studies.frequencies.own import is_own
from mechdesign.studies.frequencies.ranking import (
    METHODS,
    PUBLISHED_IBU,
    RAW,
    SLOW_METHODS,
    Comparison,
    Effect,
    Rank,
    Row,
)
from mechdesign.studies.users import read_users, warn_of_gaps
from mechdesign.values import files
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import left_out as unsaid
from mechdesign.values.declare import Floats, asked, field, frozen, needed, option, whole
from mechdesign.values.rules import comes_with, exactly_one, left_out_with, require_rules
from mechdesign.values.tables import Grid
from mechdesign.words.domains import Finite, parse_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mechdesign import plot
    from mechdesign.studies.frequencies.bench import BenchPlan, Offer
    from mechdesign.studies.frequencies.datasets import Dataset
    from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol

ALL, LONGITUDINAL = "all", "longitudinal"
LINES, HEAT = "lines", "heat"
_MOST_SHOWN = 20
_MOST_PANELS = 4
_SLOW = f"{PUBLISHED_IBU}: IBU as published, stopped after 10,000 steps"
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
_BINS = "Numbers in so many equal bins of --domain LO,HI (else from the least to the largest), or with --law."
_LDP3_NOTES = {
    "l1": "l1 is the sum over the {k} items; LDP3's l1 is their mean, {k} times less: -u mae",
    "kl": "kl is as LDP3's page has it; its code exchanges truth and estimate: -u kl-reversed",
}
_OWN = "module:name is code of your own in this folder"
_RULES = (
    exactly_one("dataset", "law", step="for example -d data.csv"),
    comes_with("users", law=(), step="a file says how many there are"),
    left_out_with("law", "column", "domain", why="its bins reach over the sample"),
)


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


def _lower(text: Any) -> list[str]:
    """Names in a list, with hyphens: LDP3 writes base_pos; names of code as they are written."""
    given = [name.strip() for name in parts(text)]
    return [name if is_own(name) else name.lower().replace("_", "-") for name in given]


def protocol_names() -> Iterable[str]:
    """What a list of protocols may hold."""
    from mechdesign.studies.frequencies.protocols.catalogue import PROTOCOLS

    return (ALL, LONGITUDINAL, *(line.key for line in PROTOCOLS))


def _protocols(text: Any) -> tuple[str, ...]:
    from mechdesign.studies.frequencies import bench
    from mechdesign.studies.frequencies.protocols.catalogue import entry

    names: list[str] = []
    for given in parts(text):
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
    from mechdesign.methods.result import FORMAT as design_format, Design
    from mechdesign.methods.saved import load_design
    from mechdesign.studies.frequencies.protocols.designed import designed
    from mechdesign.studies.frequencies.shipping import as_protocol
    from mechdesign.tables.table import Table, load_table

    is_design = files.read_json(path).get("format") == design_format
    source = load_design(path) if is_design else load_table(path)
    if isinstance(source, Table) and source.chances is not None:
        return as_protocol(source)
    inputs = source.own_law.inputs if isinstance(source, Design) else source.domain
    return designed(source, None if isinstance(inputs, Finite) else size)


def _metrics(text: Any) -> tuple[str, ...]:
    """Names in a list; files of queries as they are written."""
    return tuple(
        given.strip() if given.strip().lower().endswith(_QUERIES) else _lower(given)[0] for given in parts(text)
    )


def _queries(path: str, data: Dataset) -> Floats:
    """The queries of a file, their columns in the order of the items: by name where its first line names them."""
    from mechdesign.data.matrices import read_matrix
    from mechdesign.words.workloads import require_queries

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


def _epsilons(ranks: Sequence[Rank]) -> list[float]:
    return sorted({rank.epsilon for rank in ranks})


def _methods(text: Any) -> tuple[str, ...]:
    names = _lower(text)
    return METHODS if ALL in names else tuple(dict.fromkeys(names))


@frozen
class BenchStudy:
    """Every protocol with every post-processing at every epsilon, in runs on the same data.

    ``own`` are functions of one's own, by the names ``module:name`` that they have in the lists.

    >>> asked = BenchStudy(1.0, law="poisson", users=500, bins=8, protocols="grr,oue", methods="norm-sub", runs=3)
    >>> sorted({cell.protocol for cell in asked.answer().cells})
    ['grr', 'oue']
    """

    epsilons: tuple[float, ...] = needed(
        "--eps", "One, a list A,B,C or FROM:TO:COUNT.", "-e", "--epsilon", read=epsilons()
    )
    dataset: Path | None = asked(
        "--dataset", "One label a row (CSV, text, Parquet), or JSON.", "-d", read=Path, metavar="FILE"
    )
    protocols: tuple[str, ...] = asked(
        "--protocols",
        f"Names, all (one-time), longitudinal, design or table files; {_OWN}.",
        *("-p", "--protocol"),
        read=_protocols,
        default=ALL,
        words=protocol_names,
    )
    methods: tuple[str, ...] = asked(
        "--methods",
        f"{', '.join(METHODS)}, or all (of these); {_SLOW}; module:name.",
        *("-m", "--method"),
        read=_methods,
        default=ALL,
        words=lambda: (ALL, *METHODS, *SLOW_METHODS),
    )
    runs: int = whole("runs", 1, default=10, metadata=option("--repeat", "Runs of every cell.", "-r"))
    metric: tuple[str, ...] | None = asked(
        "--metric",
        f"{', '.join(metrics.METRICS)}, top:COUNT (top: of 10), a .csv of queries, module:name (l1).",
        *("-u", "--utility_metric"),
        read=_metrics,
        words=lambda: metrics.METRICS,
    )
    column: str | None = asked("--column", "The column with the labels, by its header.")
    domain: str | None = asked("--domain", "All items, A,B,C or LO..HI (else those observed).")
    bins: int | None = asked("--bins", _BINS, metavar="K")
    law: str | None = asked(
        "--law", f"In place of data a sample, drawn by --seed: {', '.join(LAWS)}.", words=lambda: LAWS
    )
    users: int | None = asked("--users", "With --law: so many users.", metavar="N")
    limit: float | None = asked("--limit", "Loss of all reports of users who never change, if longitudinal (2 eps).")
    seed: int = field(default=0, metadata=option("--seed", "The same seed gives the same numbers."))
    results: Path | None = asked("--results", "Keep finished cells here; a killed run resumes from it.", read=Path)
    own: Mapping[str, Any] = field(factory=dict)
    engine: Engine = Local(1)

    def __attrs_post_init__(self) -> None:
        require_rules(self, _RULES)
        if self.law is not None:
            for name, value in (("users", self.users), ("bins", self.bins)):
                if value is None:
                    step = f"for example --law {self.law} --{name} 100"
                    raise InvalidInput(name, None, "be given with --law", step)

    @property
    def doing(self) -> str:
        return "reading the data"

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is measured."""
        return ("l1",) if self.metric is None else self.metric

    @property
    def reads(self) -> Sequence[Path | str]:
        named = [name for name in self.protocols if name.lower().endswith(_DESIGN)]
        return [*([] if self.dataset is None else [self.dataset]), *named, *self.queries]

    @property
    def keeps(self) -> Sequence[Path]:
        return () if self.results is None else (self.results,)

    @property
    def queries(self) -> list[str]:
        """The metrics that are files."""
        return [name for name in self.metrics if name.lower().endswith(_QUERIES)]

    def require_engine(self, name: str) -> None:
        """`InvalidInput` where code of one's own would have to run elsewhere."""
        if isinstance(self.engine, Dask):
            if self.own:
                rule = f"be local where {next(iter(self.own))} is run"
                raise InvalidInput("engine", name, rule, "give --workers instead")
            self.engine.require_ready()

    @staticmethod
    def require_table(path: Path) -> None:
        """`InvalidInput` for a file of a format that cells have not."""
        if path.suffix.lower() not in _TABLES:
            raise InvalidInput("output file", str(path), f"end in {', '.join(_TABLES)}", "for example --out cells.csv")

    def data(self, warn: Say) -> Dataset:
        """The users, and the items they hold."""
        from mechdesign.studies.frequencies.datasets import read_bins
        from mechdesign.studies.frequencies.laws import made_of_law

        if self.dataset is None:
            seed = require_whole(self.seed, "seed", 0)
            return made_of_law(str(self.law), int(self.users or 0), int(self.bins or 0), np.random.default_rng(seed))
        if self.bins is None:
            return read_users(self.dataset, self.column, self.domain, warn)
        ends = None if self.domain is None else parse_interval(self.domain, "domain")
        return read_bins(self.dataset, self.bins, column=self.column, domain=ends)

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Ranked:
        """All cells, ranked by each metric."""
        from mechdesign.studies.frequencies import bench

        data = self.data(warn)
        laws = {name: _design(name, data.size) for name in self.protocols if name.lower().endswith(_DESIGN)}
        workloads = {name: _queries(name, data) for name in self.queries}
        more = (self.metrics, self.seed, laws, self.limit, workloads, self.own)
        plan = bench.BenchPlan(self.protocols, self.methods, self.epsilons, self.runs, *more)
        calls = data.n * self.runs * len(self.epsilons) * len(plan.own_protocols)
        if calls:
            warn(f"{', '.join(plan.own_protocols)}: run user by user, {calls:,} calls of perturb")
        taken: list[tuple[int, int]] = []
        rows = bench.run(
            plan,
            data,
            self.engine,
            results=self.results,
            say=lambda done, total: say(f"{done} of {total} cells"),
            say_taken=lambda *counts: taken.append(counts),
        )
        if self.domain is None and self.bins is None:
            warn_of_gaps(data, warn)
        for count, again in taken:
            cells = f"{count} cell{'s' * (count != 1)}"
            warn(f"{cells} taken as {self.results} has them; {again} of them, at random, computed again")
        found = bench.comparisons(rows, plan, data)
        about = About(data.n, data.size, plan.runs, plan.seed, CONFIDENCE)
        cells_found = tuple(
            Cell(rank.protocol, rank.method, rank.epsilon, name, rank.mean, *(rank.interval or (None, None)))
            for name, one in found.items()
            for rank in one.ranks
        )
        return Ranked(
            about,
            {name: one.metric.meaning for name, one in found.items()},
            cells_found,
            {name: one.ranks for name, one in found.items()},
            _left_out(bench.offers(plan, data.size)),
            {name: one.effects for name, one in found.items()},
            _notes(plan, self.metric, data.size),
            tuple(found.values()),
            tuple(rows),
            (plan.protocols, plan.methods),
        )


@frozen
class Kind:
    """How the picture of a benchmark is drawn."""

    kind: str | None = asked("--kind", "Of the picture: lines over eps, or heat maps (one eps).", words=(LINES, HEAT))

    def require(self, epsilons: Sequence[float], plot_file: Path | None) -> None:
        """`InvalidInput` where there is no picture, or none of this kind."""
        if self.kind is not None and plot_file is None:
            raise InvalidInput("kind", self.kind, "come with --plot", "for example --plot errors.png")
        if self.kind == LINES and len(epsilons) == 1:
            raise InvalidInput("kind", self.kind, "come with several eps", "for example --eps 0.5:4:8")


# -- answers ----------------------------------------------------------------------------------------------------------


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
class Ranked(Answer):
    """All cells, what each metric means, the ranking by each, and by protocol what post-processing does."""

    problem: About
    metrics: Mapping[str, str]
    cells: tuple[Cell, ...]
    ranking: Mapping[str, tuple[Rank, ...]]
    left_out: tuple[LeftOut, ...]
    effects: Mapping[str, tuple[Effect, ...]]
    notes: tuple[str, ...]
    comparisons: tuple[Comparison, ...] = field(metadata=unsaid())
    measured: tuple[Row, ...] = field(metadata=unsaid())
    order: tuple[Sequence[str], Sequence[str]] = field(metadata=unsaid())
    kind: str | None = field(default=None, metadata=unsaid())

    @property
    def rows(self) -> Sequence[Cell]:
        return self.cells

    def shown(self) -> Iterator[Grid | str]:
        for found in self.comparisons:
            for one in found.grids():
                yield Grid(one.title, one.headings, one.rows[:_MOST_SHOWN], one.left)
                if len(one.rows) > _MOST_SHOWN:
                    yield f"  and {len(one.rows) - _MOST_SHOWN} more; --out saves all cells"
                yield ""
        for row in self.left_out:
            at = f" at eps = {', '.join(f'{epsilon:g}' for epsilon in row.eps)}"
            which = f"no {', '.join(row.methods)}" if row.methods else "impossible"
            yield f"{row.protocol}{at}: {which} ({row.reason})"
        yield from self.notes

    def plot(self) -> Figure:
        """The first metric: lines over several eps, and a heat map of one."""
        first = self.comparisons[0]
        about = self.problem
        return bench_figure(first.ranks, first.metric.name, self.order, about.items, about.users, self.kind)

    def table(self, suffix: str) -> bytes:
        """Every run of every cell, as .csv, .json or .parquet."""
        return _encoded(self.measured, tuple(self.metrics), suffix)


def _notes(plan: BenchPlan, asked: Sequence[str] | None, items: int) -> tuple[str, ...]:
    """What a reader of the numbers may take for something else."""
    named = () if asked is None else plan.metrics
    scales = [_LDP3_NOTES[name].format(k=items) for name in named if name in _LDP3_NOTES]
    trust = "its privacy is the word of its author, nothing here looked at it"
    trusted = [f"{name}: {trust}" for name in plan.own_protocols]
    has_column = RAW in plan.methods or len(plan.methods) < 2
    return (
        *scales,
        *trusted,
        *([] if has_column else [f"the column without is empty: add {RAW} to --methods"]),
    )


def _left_out(offers: Sequence[Offer]) -> tuple[LeftOut, ...]:
    """Cells that were asked for and do not exist, with the reason; the same gap at several eps is one row."""
    rows: dict[tuple[Any, ...], list[float]] = {}
    for offer in offers:
        if offer.impossible or offer.missing:
            reason = offer.impossible or "its reports have no such estimate"
            rows.setdefault((offer.protocol, offer.missing, reason), []).append(offer.epsilon)
    return tuple(
        LeftOut(name, tuple(epsilons), tuple(methods), reason) for (name, methods, reason), epsilons in rows.items()
    )


def _encoded(rows: Sequence[Row], names: Sequence[str], suffix: str) -> bytes:
    columns: dict[str, list[Any]] = {
        "protocol": [row.protocol for row in rows],
        "method": [row.method for row in rows],
        "epsilon": [row.epsilon for row in rows],
        "run": [row.run for row in rows],
    }
    columns.update({name: [row.values[name] for row in rows] for name in names})
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


def bench_figure(
    ranks: Sequence[Rank],
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
    ranks: Sequence[Rank], name: str, order: tuple[Sequence[str], Sequence[str]], items: int, users: int
) -> Figure:
    """The error over eps, a line a protocol, each with the post-processing that is best for it over all eps."""
    from mechdesign import plot

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


def _best_method(ranks: Sequence[Rank], *, more_is_better: bool) -> str:
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
    ranks: Sequence[Rank], name: str, order: tuple[Sequence[str], Sequence[str]], items: int, users: int
) -> Figure:
    """Means by protocol and post-processing, in that order, a panel an epsilon: at most four, evenly chosen."""
    from mechdesign import plot

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


ANSWERS = ((Ranked,),)
