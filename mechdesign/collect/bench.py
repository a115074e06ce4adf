"""Which protocol and post-processing estimate frequencies best: simulated collections of given data, cell by cell.

A cell is a protocol at an epsilon in one run. It draws the support counts of one collection, and every post-processing
works on the same draw. Its random numbers come from a `SeedSequence` keyed by the cell itself, so results are the same
for any engine, any number of workers, any order, and for a run that was killed and resumed.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign import files
from mechdesign.collect import estimators, metrics, postprocess, protocols
from mechdesign.collect.datasets import Dataset
from mechdesign.collect.engine import Engine, Local
from mechdesign.collect.protocols import FrequencyProtocol, Grr, HadamardResponse, Longitudinal
from mechdesign.collect.protocols.designed import Designed
from mechdesign.errors import FileProblem, InvalidInput, require_epsilon

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

RAW, IBU, LIKELY, PUBLISHED_IBU = "raw", "ibu", "ml", "ibu-10000"
ONE_TIME = tuple(entry.key for entry in protocols.PROTOCOLS if not entry.longitudinal)
LONGITUDINAL = tuple(entry.key for entry in protocols.PROTOCOLS if entry.longitudinal)
METHODS = (RAW, *postprocess.METHODS, IBU, LIKELY)
"""What can be done with an estimate: nothing, a post-processing, or in its place IBU or maximum likelihood."""

SLOW_METHODS = (PUBLISHED_IBU,)
"""Further methods, by name only: IBU as published, 10,000 plain steps from the uniform distribution. Where that is
short of the limit it shrinks towards uniform, which is good or bad as the data are."""

MOST_LIKELY = 256
"""Maximum likelihood of reports other than randomised response needs their channel: only for so many items."""

KIND, VERSION = "mechdesign bench results", 1
CONFIDENCE = 0.95
_BATCH = 16
_LIKELY_ENOUGH = 1e-7
_SAVE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The cells of an experiment and what is measured in them.

    Protocols are names of the catalogue, or names of ``designs``: protocols given outright, each at its own epsilon.
    """

    protocols: tuple[str, ...]
    methods: tuple[str, ...]
    epsilons: tuple[float, ...]
    runs: int = 10
    metrics: tuple[str, ...] = ("l1",)
    seed: int = 0
    designs: Mapping[str, FrequencyProtocol] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_names("protocol", self.protocols, (*ONE_TIME, *LONGITUDINAL, *self.designs))
        _require_names("method", self.methods, METHODS + SLOW_METHODS)
        _require_names("metric", self.metrics, tuple(metrics.metric(name).name for name in self.metrics))
        if not self.epsilons or len(set(self.epsilons)) < len(self.epsilons):
            raise InvalidInput("eps", self.epsilons, "name at least one value, each once")
        object.__setattr__(self, "epsilons", tuple(require_epsilon(epsilon) for epsilon in self.epsilons))
        for name, value, least in (("runs", self.runs, 1), ("seed", self.seed, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInput(name, value, f"be a whole number, at least {least}")

    def cells(self) -> list[Cell]:
        at = {name: (self.designs[name].epsilon,) if name in self.designs else self.epsilons for name in self.protocols}
        epsilons = sorted({epsilon for choices in at.values() for epsilon in choices})
        return [
            Cell(name, epsilon, run)
            for epsilon in epsilons
            for name in self.protocols
            if epsilon in at[name]
            for run in range(self.runs)
        ]

    def protocol(self, cell: Cell, size: int) -> FrequencyProtocol:
        """The protocol of a cell, for that many items."""
        chosen = self.designs.get(cell.protocol) or _catalogued(cell.protocol, cell.epsilon, size)
        if chosen.size != size:
            rule = f"have {size} items, as the data do"
            raise InvalidInput(f"protocol {cell.protocol}", f"{chosen.size} items", rule, "give the domain")
        return chosen


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One simulated collection."""

    protocol: str
    epsilon: float
    run: int

    def generator(self, seed: int) -> np.random.Generator:
        """Random numbers of this cell and no other, wherever and whenever it is computed."""
        key = hashlib.sha256(f"{self.protocol} {self.epsilon.hex()} {self.run}".encode()).digest()
        words = [int(word) for word in np.frombuffer(key[:16], dtype="<u4")]
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=words))


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured in a cell after one post-processing, by metric."""

    protocol: str
    method: str
    epsilon: float
    run: int
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Rank:
    """A protocol and post-processing at one epsilon: mean over runs, and where the expectation is with 95% confidence.

    The interval is Student's t over the runs; with one run there is none.
    """

    protocol: str
    method: str
    epsilon: float
    mean: float
    interval: tuple[float, float] | None


def run(
    plan: Plan,
    dataset: Dataset,
    engine: Engine | None = None,
    *,
    results: Path | None = None,
    say: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Every cell of the plan, in the order of the plan.

    With ``results``, finished cells are kept in that file about every second (replaced as a whole, never half-written),
    and cells that are in it already are not computed again. ``say`` is told how many of how many cells are done.
    """
    cells = plan.cells()
    offered = {(cell.protocol, cell.epsilon): _offered(plan, cell, dataset.size) for cell in cells}  # refuses early
    done = {} if results is None else _read(results, plan, dataset)
    wanted = [(cell, method) for cell in cells for method in offered[cell.protocol, cell.epsilon]]
    missing = list(dict.fromkeys(cell for cell, method in wanted if (cell, method) not in done))
    batches = _batches(missing)
    finished, save_at = len(cells) - len(missing), time.monotonic() + _SAVE_SECONDS
    if say is not None:
        say(finished, len(cells))
    answers = (engine or Local())(partial(measure, plan=plan, counts=dataset.counts), batches)
    try:
        for position, rows in answers:
            done.update({(Cell(row.protocol, row.epsilon, row.run), row.method): row for row in rows})
            finished += len(batches[position])
            if say is not None:
                say(finished, len(cells))
            started = time.monotonic()
            if results is not None and started > save_at:
                _write(results, plan, dataset, done.values())
                # a large file is written less often: saving takes a tenth of the time at most
                save_at = time.monotonic() + max(_SAVE_SECONDS, 9 * (time.monotonic() - started))
    finally:
        if hasattr(answers, "close"):
            answers.close()
        if results is not None:
            _write(results, plan, dataset, done.values())
    return [done[cell, method] for cell, method in wanted]


def measure(cells: Sequence[Cell], plan: Plan, counts: Counts) -> list[Row]:
    """The rows of some cells: what workers do."""
    n = int(counts.sum())
    truth = counts / n
    rows = []
    for cell in cells:
        protocol = plan.protocol(cell, counts.size)
        seen = _collected(protocol, counts, cell.generator(plan.seed))
        for method in _offered(plan, cell, counts.size):
            estimate = estimated(protocol, seen.support, n, method, seen.reports)
            values = {name: metrics.metric(name).measure(truth, estimate) for name in plan.metrics}
            rows.append(Row(cell.protocol, method, cell.epsilon, cell.run, values))
    return rows


@dataclass(frozen=True, slots=True)
class _Collected:
    """What a server holds: the support of all items and, where reports are few, how often each was sent."""

    support: NDArray[Any]
    reports: NDArray[Any] | None


def _collected(protocol: FrequencyProtocol, counts: Counts, rng: np.random.Generator) -> _Collected:
    if isinstance(protocol, Designed | HadamardResponse):
        reports = protocol.simulate_histogram(counts, rng)
        return _Collected(protocol.support_of_histogram(reports), reports)
    return _Collected(np.asarray(protocol.simulate(counts, rng)), None)


def estimated(
    protocol: FrequencyProtocol, support: NDArray[Any], n: int, method: str, reports: NDArray[Any] | None = None
) -> Floats:
    """Frequencies from the support of n reports, post-processed; ``ml`` takes how often each report was sent."""
    if method == IBU or (method == LIKELY and reports_are_items(protocol)):
        return estimators.ibu(support, protocol.p, protocol.q).frequencies
    if method == PUBLISHED_IBU:
        return estimators.ibu_iterated(support, protocol.p, protocol.q, tolerance=0.0, accelerate=False).frequencies
    if method == LIKELY:
        if reports is None or not isinstance(protocol, Designed | HadamardResponse):
            raise InvalidInput("method", method, f"be another one for {protocol.name}, whose reports are too many")
        return estimators.maximum_likelihood(reports, _channel(protocol), tolerance=_LIKELY_ENOUGH).frequencies
    raw = protocol.estimate(support, n)
    if method == RAW:
        return raw
    noise = postprocess.Noise(n, lambda f: protocol.variance(f, n))
    return postprocess.METHODS[method](raw, noise)


def has_surrogate(protocol: FrequencyProtocol) -> bool:
    """Whether support counts reports, so that IBU has a likelihood to go by; noisy sums have none."""
    return protocol.q > 0


def has_likelihood(protocol: FrequencyProtocol) -> bool:
    """Whether the reports are few enough to be counted one by one."""
    return reports_are_items(protocol) or (
        isinstance(protocol, Designed | HadamardResponse) and protocol.size <= MOST_LIKELY
    )


def reports_are_items(protocol: FrequencyProtocol) -> bool:
    """Whether a report is an item, so that support counts are counts of reports."""
    return isinstance(protocol.once if isinstance(protocol, Longitudinal) else protocol, Grr)


def ranking(rows: Iterable[Row], metric: str) -> list[Rank]:
    """Protocols and post-processings by their mean, best first, epsilon by epsilon."""
    groups: dict[tuple[float, str, str], list[float]] = {}
    for row in rows:
        groups.setdefault((row.epsilon, row.protocol, row.method), []).append(row.values[metric])
    sign = -1 if metrics.metric(metric).more_is_better else 1
    ranks = [
        Rank(protocol, method, epsilon, math.fsum(values) / len(values), _interval(values))
        for (epsilon, protocol, method), values in groups.items()
    ]
    return sorted(ranks, key=lambda rank: (rank.epsilon, sign * rank.mean, rank.protocol, rank.method))


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    from scipy.special import stdtrit

    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    reach = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * deviation / math.sqrt(len(values))
    return mean - reach, mean + reach


def _batches(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Consecutive runs of one protocol at one epsilon together, at most sixteen."""
    batches: list[list[Cell]] = []
    for cell in cells:
        last = batches[-1] if batches else []
        if last and len(last) < _BATCH and (last[0].protocol, last[0].epsilon) == (cell.protocol, cell.epsilon):
            last.append(cell)
        else:
            batches.append([cell])
    return batches


@lru_cache(maxsize=256)
def _catalogued(name: str, epsilon: float, size: int) -> FrequencyProtocol:
    return protocols.protocol(name, epsilon, size)


@lru_cache(maxsize=8)
def _channel(protocol: Designed | HadamardResponse) -> Floats:
    return protocol.channel()


def _offered(plan: Plan, cell: Cell, size: int) -> list[str]:
    """The methods of the plan that this protocol has."""
    protocol = plan.protocol(cell, size)
    counted = has_surrogate(protocol)
    has = {IBU: counted, PUBLISHED_IBU: counted, LIKELY: has_likelihood(protocol)}
    return [method for method in plan.methods if has.get(method, True)]


def _require_names(field: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    if not names:
        raise InvalidInput(field, "nothing", f"name some of {', '.join(known)}")
    for name in names:
        if name not in known:
            raise InvalidInput(field, name, f"be one of {', '.join(known)}")
    if len(set(names)) < len(names):
        raise InvalidInput(field, names, "be named once each")


# -- the results file -------------------------------------------------------------------------------------------------


def _origin(plan: Plan, dataset: Dataset) -> dict[str, Any]:
    """What the numbers of a results file depend on besides its cells."""
    return {
        "data": dataset.digest,
        "users": dataset.n,
        "items": dataset.size,
        "seed": plan.seed,
        "metrics": list(plan.metrics),
        "designs": {
            name: hashlib.sha256(np.ascontiguousarray(law.channel()).tobytes()).hexdigest()
            for name, law in plan.designs.items()
        },
        "numpy": np.__version__,
    }


def _write(path: Path, plan: Plan, dataset: Dataset, rows: Iterable[Row]) -> None:
    document = {
        "kind": KIND,
        "version": VERSION,
        "origin": _origin(plan, dataset),
        "rows": [[row.protocol, row.method, row.epsilon, row.run, row.values] for row in rows],
    }
    text = json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
    files.write_atomically(path, text.encode(), overwrite=True)


def _read(path: Path, plan: Plan, dataset: Dataset) -> dict[tuple[Cell, str], Row]:
    """The rows of a results file of the same data, seed and metrics; nothing if there is no file yet."""
    if not path.exists():
        files.require_writable(path)
        return {}
    document = files.read_json(path)
    if document.get("kind") != KIND or document.get("version") != VERSION:
        raise FileProblem("results file", str(path), f"be one that bench wrote, version {VERSION}")
    origin = _origin(plan, dataset)
    found = document.get("origin")
    if found != origin:
        found = found if isinstance(found, dict) else {}
        differing = ", ".join(name for name in origin if found.get(name) != origin[name])
        tail = "name another file, or remove this one to start over"
        raise FileProblem("results file", str(path), f"be of the same run (its {differing} differ)", tail)
    try:
        rows = [
            Row(
                str(protocol),
                str(method),
                float(epsilon),
                int(run),
                {name: float(values[name]) for name in plan.metrics},
            )
            for protocol, method, epsilon, run, values in document["rows"]
        ]
    except (KeyError, TypeError, ValueError):
        raise FileProblem("results file", str(path), "hold complete rows", "was it edited by hand?") from None
    return {(Cell(row.protocol, row.epsilon, row.run), row.method): row for row in rows}
