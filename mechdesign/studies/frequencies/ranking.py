"""What a bench says by one metric: protocols and post-processings ranked, and what post-processing does for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mechdesign.intervals import LEAST_RUNS, interval_of_runs
from mechdesign.studies.frequencies import metrics, postprocess
from mechdesign.values.codec import named
from mechdesign.values.declare import field, frozen
from mechdesign.values.tables import Grid

RAW, INVERTED = "raw", "norm-mul"
"""An estimate as it is, and what the gain of others is over: the estimate clipped and scaled, MI of the IBU paper."""


IBU, LIKELY, PUBLISHED_IBU = "ibu", "ml", "ibu-10000"
METHODS = (RAW, *postprocess.METHODS, IBU, LIKELY)
"""What can be done with an estimate: nothing, a post-processing, or in its place IBU or maximum likelihood."""

SLOW_METHODS = (PUBLISHED_IBU,)
"""Further methods, by name only: IBU as published, 10,000 plain steps from the uniform distribution. Where that is
short of the limit it shrinks towards uniform, which is good or bad as the data are."""


@frozen
class Row:
    """What was measured in a cell after one post-processing, by metric."""

    protocol: str
    method: str
    epsilon: float
    run: int
    values: dict[str, float]


@frozen
class Rank:
    """A protocol and post-processing at one epsilon: mean over runs, and where the expectation is with 95% confidence.

    The interval is that of `mechdesign.intervals.interval_of_runs`; with few runs there is none. ``win_rate`` is the
    share of runs in which no other post-processing of its protocol was better (t that tie have 1/t each); there is
    none for raw estimates, and where there is one post-processing only. ``gain`` is the utility gain of Arcolezi, Cerna
    and Palamidessi: by how many per cent the mean is below that of `INVERTED`, 0 where it is above, as they print it.
    """

    protocol: str
    method: str
    epsilon: float = field(metadata=named("eps"))
    mean: float
    interval: tuple[float, float] | None
    win_rate: float | None = None
    gain: float | None = None


@frozen
class Effect:
    """What post-processing does for a protocol at one epsilon: means without it, and over all that were asked for."""

    protocol: str
    epsilon: float = field(metadata=named("eps"))
    without: float | None
    average_with: float | None
    best: str | None


@frozen
class Comparison:
    """All ranks by one metric, best first, epsilon by epsilon, and the effects of post-processing."""

    metric: metrics.Metric
    items: int
    users: int
    runs: int
    ranks: tuple[Rank, ...]
    effects: tuple[Effect, ...]

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self.grids())

    def grids(self) -> Iterator[Grid]:
        """At each epsilon the ranking and, where there are several post-processings, their effects."""
        name = self.metric.name
        about = f"{self.items} items, {self.users:,} users, {self.runs} runs"
        wins, gains = (any(getattr(rank, word) is not None for rank in self.ranks) for word in ("win_rate", "gain"))
        headings: tuple[str, ...] = ("rank", "protocol", "post-processing", name, "95% interval")
        headings += ("win rate",) * wins + (f"gain over {INVERTED}",) * gains
        for epsilon in sorted({rank.epsilon for rank in self.ranks}):
            here = [rank for rank in self.ranks if rank.epsilon == epsilon]
            cells = [_cells(place, rank, wins=wins, gains=gains) for place, rank in enumerate(here, start=1)]
            title = f"{name}: {self.metric.meaning}, eps = {epsilon:g}, {about}"
            yield Grid(title, headings, tuple(cells), 3)
            if wins:
                rows = [
                    (one.protocol, _shown(one.without), _shown(one.average_with), one.best or "")
                    for one in self.effects
                    if one.epsilon == epsilon
                ]
                title = f"{name} by protocol, eps = {epsilon:g}: without post-processing, and averaged over all of them"
                yield Grid(title, ("protocol", "without", "average with", "best"), tuple(rows), 1)


def compared(rows: Iterable[Row], metric: metrics.Metric, items: int, users: int, runs: int) -> Comparison:
    """What rows of a bench say by one metric."""
    groups = _by_cell(rows, metric.name)
    ranks = tuple(_ranked(groups, metric, items))
    return Comparison(metric, items, users, runs, ranks, tuple(_effects(ranks, groups)))


def ranking(rows: Iterable[Row], metric: str, items: int) -> list[Rank]:
    """Protocols and post-processings of so many items by their mean, best first, epsilon by epsilon."""
    return _ranked(_by_cell(rows, metric), metrics.metric(metric), items)


_Groups = Mapping[tuple[float, str, str], Mapping[int, float]]


def _by_cell(rows: Iterable[Row], metric: str) -> _Groups:
    """By epsilon, protocol and method what was measured in each run."""
    groups: dict[tuple[float, str, str], dict[int, float]] = {}
    for row in rows:
        groups.setdefault((row.epsilon, row.protocol, row.method), {})[row.run] = row.values[metric]
    return groups


def _ranked(groups: _Groups, metric: metrics.Metric, items: int) -> list[Rank]:
    step, sign = metric.step(items), -1 if metric.more_is_better else 1
    wins = _win_rates(groups, sign)
    means = {key: math.fsum(runs.values()) / len(runs) for key, runs in groups.items()}
    ranks = [
        Rank(
            protocol,
            method,
            epsilon,
            means[epsilon, protocol, method],
            interval_of_runs(list(runs.values()), step),
            wins.get((epsilon, protocol, method)),
            None if metric.more_is_better else _gain(means, epsilon, protocol, method),
        )
        for (epsilon, protocol, method), runs in groups.items()
    ]
    return sorted(ranks, key=lambda rank: (rank.epsilon, sign * rank.mean, rank.protocol, rank.method))


def _win_rates(groups: _Groups, sign: int) -> dict[tuple[float, str, str], float]:
    """The share of runs that each post-processing won, of those with rivals."""
    rivals: dict[tuple[float, str], dict[str, Mapping[int, float]]] = {}
    for (epsilon, protocol, method), runs in groups.items():
        if method != RAW:
            rivals.setdefault((epsilon, protocol), {})[method] = runs
    found: dict[tuple[float, str, str], float] = {}
    for (epsilon, protocol), methods in rivals.items():
        if len(methods) < 2:
            continue
        won = dict.fromkeys(methods, 0.0)
        # of a run that was killed some methods may be there and others not
        runs_of_all = set.intersection(*(set(runs) for runs in methods.values()))
        for run in runs_of_all:
            best = min(sign * runs[run] for runs in methods.values())
            winners = [method for method, runs in methods.items() if _same(sign * runs[run], best)]
            for method in winners:
                won[method] += 1 / len(winners)
        if runs_of_all:
            found |= {(epsilon, protocol, method): count / len(runs_of_all) for method, count in won.items()}
    return found


def _same(one: float, other: float) -> bool:
    """Equal but for the last digits, in which two ways to the same estimate differ."""
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-15)


def _gain(means: Mapping[tuple[float, str, str], float], epsilon: float, protocol: str, method: str) -> float | None:
    base = means.get((epsilon, protocol, INVERTED))
    if base is None or base <= 0 or method == INVERTED:
        return None
    return utility_gain(base, means[epsilon, protocol, method])


def utility_gain(base: float, error: float) -> float:
    """``100 max(1 - error / base, 0)``: equation (1) of Arcolezi, Cerna and Palamidessi (DBSec 2023).

    >>> utility_gain(0.5, 0.25), utility_gain(0.5, 0.75)
    (50.0, 0.0)
    """
    return max(100 * (1 - error / base), 0.0)


def _effects(ranks: Sequence[Rank], groups: _Groups) -> Iterator[Effect]:
    """By epsilon and protocol, in the order in which they came."""
    for epsilon, protocol in sorted({(e, p): None for e, p, _ in groups}, key=lambda pair: pair[0]):
        own = [rank for rank in ranks if (rank.epsilon, rank.protocol) == (epsilon, protocol)]
        raw = [rank.mean for rank in own if rank.method == RAW]
        others = [rank for rank in own if rank.method != RAW]
        average = math.fsum(rank.mean for rank in others) / len(others) if others else None
        yield Effect(protocol, epsilon, raw[0] if raw else None, average, others[0].method if others else None)


def _cells(place: int, rank: Rank, *, wins: bool, gains: bool) -> tuple[str, ...]:
    ends = f"from {LEAST_RUNS} runs on"
    if rank.interval is not None:
        ends = f"[{_shown(rank.interval[0])}, {_shown(rank.interval[1])}]"
    rate = "" if rank.win_rate is None else f"{100 * rank.win_rate:.0f}%"
    gain = "" if rank.gain is None else f"{rank.gain:.1f}%"
    return (str(place), rank.protocol, rank.method, _shown(rank.mean), ends, *[rate] * wins, *[gain] * gains)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
