"""Which protocol and post-processing estimate frequencies best: simulated collections of given data, cell by cell.

A cell is a protocol at an epsilon in one run. It draws the support counts of one collection, and every post-processing
works on the same draw. Its random numbers come from a `SeedSequence` keyed by the cell itself, so results are the same
for any engine, any number of workers, any order, and for a run that was killed and resumed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.engine import Engine, Local
from mechdesign.errors import FileProblem, InvalidInput, require_epsilon, require_one_of
from mechdesign.studies.frequencies import estimators, metrics, postprocess, protocols
from mechdesign.studies.frequencies.by_method import (
    counts_reports,
    estimated,
    has_estimate,
    has_likelihood,
    has_own_channel,
    has_surrogate,
)
from mechdesign.studies.frequencies.datasets import Dataset
from mechdesign.studies.frequencies.metrics import Metric
from mechdesign.studies.frequencies.own import (
    OwnProtocol,
    digests,
    is_own,
    own_metric,
    post_processed,
    require_sendable,
)
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.ranking import (
    IBU as IBU,
    LIKELY as LIKELY,
    METHODS as METHODS,
    PUBLISHED_IBU as PUBLISHED_IBU,
    RAW as RAW,
    SLOW_METHODS as SLOW_METHODS,
    Comparison,
    Rank as Rank,
    Row as Row,
    compared,
    ranking as ranking,
)
from mechdesign.values import files
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Counts, Floats, content, field, frozen, optional, settle, several, whole

ONE_TIME = tuple(entry.key for entry in protocols.PROTOCOLS if not entry.longitudinal)
LONGITUDINAL = tuple(entry.key for entry in protocols.PROTOCOLS if entry.longitudinal)

MOST_ROWS = 2_000_000
"""Results (a protocol, method, epsilon and run) of one plan: all are kept, in about a gigabyte."""

_WITHOUT_NOISE = tuple(name for name in postprocess.METHODS if not name.startswith("power"))

KIND, VERSION = "mechdesign bench results", 1
_NO_NOISE = postprocess.SupportNoise(1, lambda f: f)  # for methods that do not look at it
_LARGEST = 1e100  # of a metric, so that sums of squares stay doubles
_BATCH = 16
_SAVE_SECONDS = 1.0
_COMPUTED_AGAIN = 3  # cells of a results file: a file with one cell in two changed passes in one of eight runs
_SAME = 1e-9


@frozen
class BenchPlan:
    """The cells of an experiment and what is measured in them.

    Protocols are names of the catalogue, or names of ``designs``: protocols given outright, each at its own epsilon.
    ``workloads`` are queries (one a row, a column an item) by the name of their metric, which ends in .csv or .npy:
    their squared errors are added up. ``limit`` is eps_infinity of the longitudinal protocols (2 eps unless given):
    what users who never change lose.

    ``own`` are functions of one's own by names ``module:name``, for any of the three lists: an `OwnProtocol` (or its
    two functions), a post-processing ``f(estimate)`` that gives as many frequencies again, a metric
    ``f(truth, estimate)`` of which less is better. A protocol of one's own is run user by user: n calls a run.
    """

    protocols: tuple[str, ...] = several("protocols")
    methods: tuple[str, ...] = several("methods")
    epsilons: tuple[float, ...] = several("eps", require_epsilon)
    runs: int = whole("runs", 1, default=10)
    metrics: tuple[str, ...] = several("metrics", default=("l1",))
    seed: int = whole("seed", 0, default=0)
    designs: Mapping[str, FrequencyProtocol] = field(factory=dict)
    limit: float | None = field(default=None, converter=optional(lambda said: require_epsilon(said, "limit")))
    workloads: Mapping[str, Floats] = field(factory=dict)
    own: Mapping[str, Any] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._require_own()
        if not isinstance(self.designs, Mapping) or not all(hasattr(law, "channel") for law in self.designs.values()):
            raise InvalidInput("designs", self.designs, "map names to protocols", "make one with designed(...)")
        _require_names("protocol", self.protocols, (*ONE_TIME, *LONGITUDINAL, *self.designs, *self.own))
        _require_names("method", self.methods, (*METHODS, *SLOW_METHODS, *self.own))
        if not isinstance(self.workloads, Mapping):
            raise InvalidInput("workloads", self.workloads, "map names of metrics to queries")
        known = [self.metric(name) for name in self.metrics if isinstance(name, str)]  # top:5 included
        named = tuple(one.name for one in known)
        _require_names("metric", self.metrics, named or tuple(metrics.METRICS))
        _require_once("eps", self.epsilons)
        rows = len(self._pairs()) * self.runs * len(self.methods)
        if rows > MOST_ROWS:
            most = MOST_ROWS // (rows // self.runs)
            rule = f"make at most {MOST_ROWS} results: {most} runs of these protocols, methods and eps"
            raise InvalidInput("runs", self.runs, rule, "intervals shorten as one over the root of the runs")

    def _require_own(self) -> None:
        """Names that are of one's own, each used, for what can be used so."""
        if not isinstance(self.own, Mapping) or not all(isinstance(name, str) and is_own(name) for name in self.own):
            step = "such as own={'mine:worst': worst}"
            raise InvalidInput("own", self.own, "map names of the form module:name to functions", step)
        if not self.own:
            return
        used = (*self.protocols, *self.methods, *self.metrics)
        for name in self.own:
            if name not in used:
                raise InvalidInput("own", name, "be among the protocols, methods or metrics of the plan")
        laws = {name: OwnProtocol.of(self.own[name], name) for name in self.own_protocols}
        settle(self, own={**self.own, **laws})
        for name in (*self.methods, *self.metrics):
            if name in self.own and not callable(self.own[name]):
                raise InvalidInput(name, type(self.own[name]).__name__, "be a function here")

    @property
    def own_protocols(self) -> tuple[str, ...]:
        """Protocols of one's own, which are run user by user and whose privacy nobody has looked at."""
        return tuple(name for name in self.own if name in self.protocols)

    def metric(self, name: str) -> Metric:
        """What is measured, with the queries of the plan."""
        if name in self.own:
            return own_metric(self.own[name], name)
        found = metrics.metric(name)
        if is_own(name):
            raise InvalidInput("metric", name, "be among the plan's own", "give the function: own={name: function}")
        if name in self.workloads:
            return metrics.of_queries(name, self.workloads[name])
        if name not in metrics.METRICS and not name.startswith("top:"):
            raise InvalidInput("metric", name, "be among the workloads", "give its queries: workloads={name: rows}")
        return found

    def _pairs(self) -> list[tuple[str, float]]:
        """Protocols at their epsilons, by epsilon."""
        at = {name: (self.designs[name].epsilon,) if name in self.designs else self.epsilons for name in self.protocols}
        epsilons = sorted({epsilon for choices in at.values() for epsilon in choices})
        return [(name, epsilon) for epsilon in epsilons for name in self.protocols if epsilon in at[name]]

    def cells(self) -> list[BenchCell]:
        return [BenchCell(name, epsilon, run) for name, epsilon in self._pairs() for run in range(self.runs)]

    def first_cells(self) -> list[BenchCell]:
        """One cell of each protocol at each epsilon."""
        return [BenchCell(name, epsilon, 0) for name, epsilon in self._pairs()]

    def protocol(self, cell: BenchCell, size: int) -> FrequencyProtocol:
        """The protocol of a cell, for that many items; of this package, or a design."""
        limit = self.limit if cell.protocol in LONGITUDINAL else None
        chosen = self.designs.get(cell.protocol) or _catalogued(cell.protocol, cell.epsilon, size, limit)
        if chosen.size != size:
            rule = f"have {size} items, as the data do"
            raise InvalidInput(f"protocol {cell.protocol}", f"{chosen.size} items", rule, "give the domain")
        return chosen


@frozen
class BenchCell:
    """One simulated collection."""

    protocol: str
    epsilon: float
    run: int

    def generator(self, seed: int) -> np.random.Generator:
        """Random numbers of this cell and no other, wherever and whenever it is computed."""
        key = hashlib.sha256(f"{self.protocol} {self.epsilon.hex()} {self.run}".encode()).digest()
        words = [int(word) for word in np.frombuffer(key[:16], dtype="<u4")]
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=words))


@frozen
class Offer:
    """What a plan can compute for a protocol at an epsilon: which of its methods and which not, or why nothing."""

    protocol: str
    epsilon: float
    methods: tuple[str, ...]
    missing: tuple[str, ...]
    impossible: str = ""


def offers(plan: BenchPlan, size: int) -> list[Offer]:
    """What can be computed for so many items, by epsilon and protocol; `InvalidInput` if that is nothing at all."""
    found = [_offer(plan, cell, size) for cell in plan.first_cells()]
    if not any(offer.methods for offer in found):
        impossible = [f"{offer.protocol} at eps = {offer.epsilon:g}: {offer.impossible}" for offer in found]
        if not any(offer.missing for offer in found):
            raise InvalidInput("protocol", ", ".join(plan.protocols), f"be possible ({'; '.join(impossible)})")
        pairs = dict.fromkeys(f"{method} of {offer.protocol}" for offer in found for method in offer.missing)
        rule = f"exist for a protocol of the plan (there is no {', no '.join(pairs)})"
        raise InvalidInput("method", ", ".join(plan.methods), rule, f"the methods are {', '.join(METHODS)}")
    return found


def bench(
    plan: BenchPlan,
    dataset: Dataset,
    engine: Engine | None = None,
    *,
    results: Path | None = None,
    say: Callable[[int, int], None] | None = None,
) -> dict[str, Comparison]:
    """The plan run on the data (`run`), and by each of its metrics what came out: the answer of the command `bench`.

    >>> data = Dataset.of_counts({"a": 600, "b": 300, "c": 100})
    >>> found = bench(BenchPlan(("grr",), ("raw", "norm-sub"), (1.0,), runs=2), data)["l1"]
    >>> [rank.method for rank in found.ranks], found.effects[0].best
    (['norm-sub', 'raw'], 'norm-sub')
    """
    return comparisons(run(plan, dataset, engine, results=results, say=say), plan, dataset)


def comparisons(rows: Sequence[Row], plan: BenchPlan, dataset: Dataset) -> dict[str, Comparison]:
    """What rows of the plan say, by metric."""
    about = dataset.size, dataset.n, plan.runs
    return {name: compared(rows, plan.metric(name), *about) for name in plan.metrics}


def run(
    plan: BenchPlan,
    dataset: Dataset,
    engine: Engine | None = None,
    *,
    results: Path | None = None,
    say: Callable[[int, int], None] | None = None,
    say_taken: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Every cell of the plan, in the order of the plan.

    With ``results``, finished cells are kept in that file about every second (replaced as a whole, never half-written),
    and cells that are in it already are taken from it, but for a few at random: `FileProblem` if one of these is not
    what is computed again. ``say`` is told how many of how many cells are done, ``say_taken`` how many were taken from
    the file and how many of them were computed again. What `offers` does not list has no row.
    """
    offered = {(offer.protocol, offer.epsilon): offer.methods for offer in offers(plan, dataset.size)}
    cells = [cell for cell in plan.cells() if offered[cell.protocol, cell.epsilon]]
    done = {} if results is None else _read(results, plan, dataset)
    wanted = [(cell, method) for cell in cells for method in offered[cell.protocol, cell.epsilon]]
    missing = list(dict.fromkeys(cell for cell, method in wanted if (cell, method) not in done))
    taken = sorted(set(cells) - set(missing), key=lambda cell: (cell.protocol, cell.epsilon, cell.run))
    if results is not None and taken:
        again = secrets.SystemRandom().sample(taken, min(len(taken), _COMPUTED_AGAIN))
        _require_computed(results, measure(again, plan, dataset.counts), done)
        if say_taken is not None:
            say_taken(len(taken), len(again))
    if plan.own and getattr(engine, "workers", 1) > 1:
        require_sendable(plan.own)
    batches = _batches(missing, plan.own_protocols)
    finished, until_saved = len(cells) - len(missing), Clock(_SAVE_SECONDS)
    if say is not None:
        say(finished, len(cells))
    answers = (engine or Local())(partial(measure, plan=plan, counts=dataset.counts), batches)
    try:
        for position, rows in answers:
            done.update({(BenchCell(row.protocol, row.epsilon, row.run), row.method): row for row in rows})
            finished += len(batches[position])
            if say is not None:
                say(finished, len(cells))
            if results is not None and until_saved.is_over:
                saving = Clock()
                _write(results, plan, dataset, done.values())
                # a large file is written less often: saving takes a tenth of the time at most
                until_saved = Clock(max(_SAVE_SECONDS, 9 * saving.used))
    finally:
        if hasattr(answers, "close"):
            answers.close()
        if results is not None:
            _write(results, plan, dataset, done.values())
    return [done[cell, method] for cell, method in wanted]


def measure(cells: Sequence[BenchCell], plan: BenchPlan, counts: Counts) -> list[Row]:
    """The rows of some cells: what workers do."""
    n = int(counts.sum())
    truth = counts / n
    rows: list[Row] = []
    for _, alike in itertools.groupby(cells, key=lambda cell: (cell.protocol, cell.epsilon)):
        group = list(alike)
        methods = _offer(plan, group[0], counts.size).methods
        if group[0].protocol in plan.own:
            for cell in group:
                raw = plan.own[cell.protocol].shares(cell.protocol, counts, cell.epsilon, cell.generator(plan.seed))
                rows += [_row(plan, cell, method, truth, _own_estimate(plan, cell, raw, method)) for method in methods]
            continue
        protocol = plan.protocol(group[0], counts.size)
        seen = [_collected(protocol, counts, cell.generator(plan.seed)) for cell in group]
        published: Sequence[Floats | None] = [None] * len(group)
        if PUBLISHED_IBU in methods:  # ten thousand steps: of all runs at once
            supports = [np.asarray(one.support) for one in seen]
            published = list(estimators.ibu_published(supports, protocol.p, protocol.q))
        for cell, one, stepped in zip(group, seen, published, strict=True):
            for method in methods:
                if method == PUBLISHED_IBU and stepped is not None:
                    estimate = stepped
                elif method in plan.own:
                    estimate = _own_estimate(plan, cell, protocol.estimate(np.asarray(one.support), n), method)
                else:
                    estimate = estimated(protocol, one.support, n, method, one.reports)
                rows.append(_row(plan, cell, method, truth, estimate))
    return rows


def _row(plan: BenchPlan, cell: BenchCell, method: str, truth: Floats, estimate: Floats) -> Row:
    values = {name: plan.metric(name).measure(truth, estimate) for name in plan.metrics}
    return Row(cell.protocol, method, cell.epsilon, cell.run, values)


def _own_estimate(plan: BenchPlan, cell: BenchCell, raw: Floats, method: str) -> Floats:
    """A raw estimate after a method that needs nothing else, or one of the plan's own."""
    if method == RAW:
        return raw
    if method not in plan.own:
        return postprocess.METHODS[method](raw, _NO_NOISE)
    return post_processed(plan.own[method], method, raw, cell.generator(plan.seed).spawn(1)[0])


@frozen
class _Collected:
    """What a server holds: the support of all items, if it tells them apart, and how often each of few reports came."""

    support: NDArray[Any] | None = field(eq=content)
    reports: NDArray[Any] | None = field(eq=content)


def _collected(protocol: FrequencyProtocol, counts: Counts, rng: np.random.Generator) -> _Collected:
    if counts_reports(protocol):
        reports = protocol.simulate_histogram(counts, rng)
        return _Collected(protocol.support_of_histogram(reports) if has_estimate(protocol) else None, reports)
    return _Collected(np.asarray(protocol.simulate(counts, rng)), None)


def _batches(cells: Sequence[BenchCell], alone: Sequence[str] = ()) -> list[list[BenchCell]]:
    """Consecutive runs of one protocol at one epsilon together, at most sixteen; protocols of one's own run by run."""
    batches: list[list[BenchCell]] = []
    for cell in cells:
        last = batches[-1] if batches else []
        most = 1 if cell.protocol in alone else _BATCH
        if last and len(last) < most and (last[0].protocol, last[0].epsilon) == (cell.protocol, cell.epsilon):
            last.append(cell)
        else:
            batches.append([cell])
    return batches


@lru_cache(maxsize=256)
def _catalogued(name: str, epsilon: float, size: int, limit: float | None) -> FrequencyProtocol:
    return protocols.protocol(name, epsilon, size, **({} if limit is None else {"limit": limit}))


def _offer(plan: BenchPlan, cell: BenchCell, size: int) -> Offer:
    if cell.protocol in plan.own:
        methods = tuple(name for name in plan.methods if name in (RAW, *_WITHOUT_NOISE, *plan.own))
        return Offer(cell.protocol, cell.epsilon, methods, tuple(n for n in plan.methods if n not in methods))
    if cell.protocol in plan.designs:
        protocol = plan.protocol(cell, size)  # of another size it is a mistake, not a gap
    else:
        try:
            protocol = plan.protocol(cell, size)
        except InvalidInput as problem:
            return Offer(cell.protocol, cell.epsilon, (), (), str(problem))
    linear, counted, likely = has_estimate(protocol), has_surrogate(protocol), has_likelihood(protocol)
    has = {IBU: counted or (likely and has_own_channel(protocol)), PUBLISHED_IBU: counted, LIKELY: likely}
    methods = tuple(method for method in plan.methods if has.get(method, linear))
    missing = tuple(method for method in plan.methods if method not in methods)
    return Offer(cell.protocol, cell.epsilon, methods, missing)


def _require_names(field: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in names:
        require_one_of(name, field, known)
    _require_once(field, names)


def _require_once(field: str, names: tuple[Any, ...]) -> None:
    if len(set(names)) < len(names):
        raise InvalidInput(field, names, "be named once each")


# -- the results file -------------------------------------------------------------------------------------------------


def _origin(plan: BenchPlan, dataset: Dataset) -> dict[str, Any]:
    """What the numbers of a results file depend on besides its cells."""
    from mechdesign.methods.result import versions

    return {
        "data": dataset.digest,
        "users": dataset.n,
        "items": dataset.size,
        "seed": plan.seed,
        "metrics": list(plan.metrics),
        "designs": _digests({name: law.channel() for name, law in plan.designs.items()}),
        "limit": plan.limit,
        **({"workloads": _digests(plan.workloads)} if plan.workloads else {}),
        **({"own": digests(plan.own)} if plan.own else {}),
        "numpy": np.__version__,
        "mechdesign": versions()["mechdesign"],
    }


def _digests(matrices: Mapping[str, Floats]) -> dict[str, str]:
    return {name: hashlib.sha256(np.ascontiguousarray(each).tobytes()).hexdigest() for name, each in matrices.items()}


def _write(path: Path, plan: BenchPlan, dataset: Dataset, rows: Iterable[Row]) -> None:
    document = {
        "kind": KIND,
        "version": VERSION,
        "origin": _origin(plan, dataset),
        "rows": [[row.protocol, row.method, row.epsilon, row.run, row.values] for row in rows],
    }
    text = json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
    files.write_atomically(path, text.encode(), overwrite=True)


def _read(path: Path, plan: BenchPlan, dataset: Dataset) -> dict[tuple[BenchCell, str], Row]:
    """The rows of a results file of the same data, seed and metrics; nothing if there is no file yet."""
    if not os.path.lexists(path):
        files.require_writable(path)
        return {}
    document = _document(path)
    origin = _origin(plan, dataset)
    found = document.get("origin")
    if found != origin:
        found = found if isinstance(found, dict) else {}
        differing = ", ".join(name for name in origin if found.get(name) != origin[name])
        tail = "name another file, or remove this one to start over"
        raise FileProblem("results file", str(path), f"be of the same run (its {differing} differ)", tail)
    rows = _rows(document, plan.metrics, path)
    return {(BenchCell(row.protocol, row.epsilon, row.run), row.method): row for row in rows}


def _require_computed(path: Path, rows: Sequence[Row], done: Mapping[tuple[BenchCell, str], Row]) -> None:
    """These rows are those of the file, but for last digits in which computers differ."""
    for row in rows:
        said = done[BenchCell(row.protocol, row.epsilon, row.run), row.method].values
        for name, value in row.values.items():
            if not math.isclose(said[name], value, rel_tol=_SAME, abs_tol=_SAME):
                cell = f"{name} of {row.protocol}, {row.method} at eps = {row.epsilon:g}, run {row.run}"
                step = "remove the file to start over"
                raise FileProblem("results file", str(path), f"hold what is computed again: {cell} is {value!r}", step)


@frozen
class Kept:
    """What a results file holds: the rows that are finished, and what they are about."""

    rows: tuple[Row, ...]
    metrics: tuple[str, ...]
    items: int
    users: int


def read_results(path: Path) -> Kept:
    """A results file as it is, finished or not, or `FileProblem`."""
    document = _document(path)
    try:
        origin = _typed(document["origin"], dict)
        items, users = (_typed(origin[name], int) for name in ("items", "users"))
        names = tuple(metrics.metric(_typed(name, str)).name for name in origin["metrics"])
        if not names:
            raise ValueError("no metrics")
    except (KeyError, TypeError, ValueError):
        raise FileProblem("results file", str(path), "say what it is about", "was it edited by hand?") from None
    return Kept(tuple(_rows(document, names, path)), names, items, users)


def _document(path: Path) -> dict[str, Any]:
    document = files.read_json(path)
    if document.get("kind") != KIND or document.get("version") != VERSION:
        raise FileProblem("results file", str(path), f"be one that bench wrote, version {VERSION}")
    return document


def _rows(document: dict[str, Any], names: Sequence[str], path: Path) -> list[Row]:
    try:
        return [
            Row(protocol, method, epsilon, run, {name: _measured(values[name]) for name in names})
            for protocol, method, epsilon, run, values in (map(_typed, row, _ROW) for row in document["rows"])
        ]
    except (KeyError, TypeError, ValueError):
        raise FileProblem("results file", str(path), "hold complete rows", "was it edited by hand?") from None


_ROW = (str, str, float, int, dict)


def _measured(value: Any) -> float:
    number: float = _typed(value, float)
    if abs(number) > _LARGEST:
        raise ValueError("no metric is that large")
    return number


def _typed(value: Any, kind: type) -> Any:
    """A value of this very type, as it was written; JSON has no other kinds of numbers to mistake."""
    if type(value) is not kind:
        raise TypeError
    return value
