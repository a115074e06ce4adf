"""How often the 95% intervals that commands print hold: ``python -m benchmarks.coverage`` writes the page.

Every kind of interval the package prints, by simulation: the population, its users, their reports and the interval are
drawn anew in every run. Few users, rare values and large eps are where intervals fail, so there most settings lie.

Every case has random numbers of its own, from `SEED`, the kind and the place: one run alone is the one of the page.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import ROOT
from mechdesign.intervals import interval_of_runs
from mechdesign.mechanisms import catalogue
from mechdesign.methods.registry import solve
from mechdesign.methods.sign_patterns.search import best_response
from mechdesign.studies.classifiers.survival import simulate_all
from mechdesign.studies.frequencies import metrics
from mechdesign.studies.frequencies.intervals import share_intervals
from mechdesign.studies.frequencies.mean import mean_of_reports, mean_without_privacy
from mechdesign.studies.frequencies.mean_methods import MeanMethod
from mechdesign.studies.frequencies.postprocess import norm_sub
from mechdesign.studies.frequencies.protocols import protocol
from mechdesign.studies.frequencies.shipping import as_protocol, encoding
from mechdesign.studies.frequencies.sign_reports import SignCollection
from mechdesign.tables import Tally, make_table, sample
from mechdesign.tables.estimators import FrequencyEstimate
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.tables.origin import Origin
from mechdesign.tables.reports import merged_estimate
from mechdesign.tables.shares import shares_of
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Circle, Finite, Interval
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Prefix

PAGE = ROOT / "docs" / "reference" / "coverage.md"
SEED, RUNS = 26, 1000
_FEWER = 400  # runs where each takes milliseconds
UNIT = Interval(0.0, 1.0)

Held = bool | NDArray[np.bool_]
Random = np.random.Generator
People = Callable[[Random, int], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Case:
    """One setting: ``once`` says of one run whether each of its intervals held. Fewer runs where one takes long."""

    setting: str
    count: int
    once: Callable[[Random], Held]
    runs: int = RUNS


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of interval: which commands print it, and which modules of the package compute it."""

    name: str
    commands: tuple[str, ...]
    modules: tuple[str, ...]
    says: str
    cases: Callable[[], Iterator[Case]]


@dataclass(frozen=True, slots=True)
class Found:
    """The share of runs whose interval held, on average over the intervals of a run and of the worst of them."""

    average: float
    worst: float
    runs: int

    @property
    def error(self) -> float:
        """The standard error of the worst."""
        return math.sqrt(max(self.worst * (1 - self.worst), 1 / self.runs) / self.runs)


def measure(kind: Kind, place: int, case: Case, runs: int | None = None) -> Found:
    """Run a case."""
    rng = np.random.default_rng([SEED, zlib.crc32(kind.name.encode()), place])
    many = case.runs if runs is None else min(runs, case.runs)
    held = np.array([np.atleast_1d(case.once(rng)) for _ in range(many)]).mean(axis=0)
    return Found(float(held.mean()), float(held.min()), many)


# -- populations in [0, 1] ---------------------------------------------------------------------------------------------

POPULATIONS: dict[str, tuple[People, float]] = {
    "1% ones": (lambda rng, n: (rng.random(n) < 0.01).astype(np.float64), 0.01),
    "5% ones": (lambda rng, n: (rng.random(n) < 0.05).astype(np.float64), 0.05),
    "30% ones": (lambda rng, n: (rng.random(n) < 0.3).astype(np.float64), 0.3),
    "uniform": (lambda rng, n: rng.random(n), 0.5),
    "all at .5": (lambda _, n: np.full(n, 0.5), 0.5),
    "beta(.5, 5)": (lambda rng, n: rng.beta(0.5, 5, n), 1 / 11),
}
SHARES = np.array([0.01, 0.04, 0.1, 0.25, 0.6])
_VALUES = Finite(tuple(range(SHARES.size)))


def _between(low: Any, truth: Any, high: Any) -> Held:
    return np.asarray((low <= np.asarray(truth) + 1e-12) & (np.asarray(truth) - 1e-12 <= high))


def plain_means() -> Iterator[Case]:
    def once(draw: People, truth: float, n: int, rng: Random) -> Held:
        return bool(mean_without_privacy(draw(rng, n), UNIT).covers(truth))

    for name, (draw, truth) in POPULATIONS.items():
        if name != "all at .5":
            for n in (3, 10, 30, 100, 1000):
                yield Case(name, n, partial(once, draw, truth, n))


def means() -> Iterator[Case]:
    def once(law: Any, draw: People, truth: float, n: int, rng: Random) -> Held:
        return bool(mean_of_reports(law.sample(draw(rng, n), rng), law).covers(truth))

    for key in ("laplace", "staircase", "duchi", "pm", "hm", "sw", "ogpm"):
        for eps, people in (
            (1.0, "uniform"),
            (8.0, "1% ones"),
            (8.0, "all at .5"),
            (12.0, "1% ones"),
            (12.0, "all at .5"),
        ):
            law, (draw, truth) = catalogue.build(key, eps, UNIT), POPULATIONS[people]
            for n in (10, 100, 1000):
                yield Case(f"{key}, eps {eps:g}, {people}", n, partial(once, law, draw, truth, n), _FEWER)


def two_phases() -> Iterator[Case]:
    def once(method: MeanMethod, draw: People, truth: float, n: int, rng: Random) -> Held:
        return bool(method.collect(draw(rng, n), rng).estimate.covers(truth))

    for key in ("aaa", "aaa-paper"):
        for people, eps, n in (("1% ones", 8.0, 40), ("1% ones", 8.0, 400), ("uniform", 1.0, 400)):
            draw, truth = POPULATIONS[people]
            method = MeanMethod(key, eps, UNIT, bins=4)
            yield Case(f"{key}, eps {eps:g}, {people}", n, partial(once, method, draw, truth, n), 200)


def several_numbers() -> Iterator[Case]:
    def once(asked: SignCollection, draw: People, truth: float, n: int, rng: Random) -> Held:
        values = np.column_stack([draw(rng, n) for _ in asked.sides])
        respond = lambda items: asked.channel.sample(items, rng).astype(np.int64)  # noqa: E731
        return np.array([one.covers(truth) for one in asked.means(asked.reports(values, rng.random, respond), 0.95)])

    for count, eps, people in ((5, 1.0, "uniform"), (5, 4.0, "1% ones"), (10, 8.0, "1% ones"), (2, 8.0, "all at .5")):
        response = best_response(eps, [Fraction(1)] * count)
        asked = SignCollection(response, response.channel(eps), (UNIT,) * count, (1.0,) * count)
        draw, truth = POPULATIONS[people]
        for n in (10, 100, 1000):
            yield Case(f"{count} numbers, eps {eps:g}, {people}", n, partial(once, asked, draw, truth, n), _FEWER)


# -- tables ------------------------------------------------------------------------------------------------------------


def table_means() -> Iterator[Case]:
    def once(table: Table, draw: People, truth: float, n: int, rng: Random) -> Held:
        found = Tally(table).add_codes(sample(table, draw(rng, n))).mean()
        return _between(found.lower, truth, found.upper)

    for key, eps in (("duchi", 1.0), ("duchi", 8.0), ("pm", 1.0), ("pm", 8.0), ("laplace", 8.0), ("ogpm", 2.0)):
        table = make_table(catalogue.build(key, eps, UNIT))
        for people in ("1% ones", "uniform"):
            draw, truth = POPULATIONS[people]
            for n in (10, 100, 1000):
                yield Case(f"{key}, eps {eps:g}, {people}", n, partial(once, table, draw, truth, n), _FEWER)


def _counted(table: Table, counts: NDArray[Any], rng: Random) -> Tally:
    """The reports of users with these inputs, as how often each output comes."""
    law: Any = table.law
    rows = np.array(law.rows) / (1 << table.bits)
    return Tally(table).add_counts([int(c) for c in rng.multinomial(counts, rows).sum(axis=0)])


def table_shares() -> Iterator[Case]:
    def once(table: Table, n: int, rng: Random) -> Held:
        found = _counted(table, rng.multinomial(n, SHARES), rng).frequencies()
        return _between(found.lower, SHARES, found.upper)

    for eps in (0.5, 3.0, 8.0):
        table = make_table(catalogue.randomised_response(eps, _VALUES))
        for n in (20, 200, 2000):
            yield Case(f"randomised response of {SHARES.size} values, eps {eps:g}", n, partial(once, table, n))


def _items(table: Table, counts: NDArray[Any], rng: Random) -> FrequencyEstimate:
    """An estimate of a table of items, from the counts of its users."""
    law: Any = table.law
    assert isinstance(law, ItemsLaw)
    n = int(counts.sum())
    if table.kind == "sketch":
        sums = _sketched(law, counts, rng)
    elif table.kind == "hadamard":
        sums = as_protocol(table).simulate_histogram(counts, rng).tolist()  # type: ignore[attr-defined]
    else:
        sums = as_protocol(table).simulate(counts, rng).astype(int).tolist()
    found = shares_of(Origin(table), sums, n, 0.95)
    points = np.array(law.domain.points)
    about = points, found.estimates, found.lower, found.upper, n, None, 0.95, None, found.errors
    return FrequencyEstimate(*about, collided=found.collided)


def _sketched(law: Any, counts: NDArray[Any], rng: Random) -> list[int]:
    """How many reports of each function have each bit, where each user draws a function."""
    held = rng.multinomial(counts, np.full(law.functions, 1 / law.functions)).T
    own, other = (bit[1] / (1 << law.bits) for bit in (law.own_bit, law.other_bit))
    sums: list[int] = []
    for function, mine in enumerate(held):
        here = np.bincount(law._hashes(function), weights=mine, minlength=law.buckets).astype(int)
        sums += (rng.binomial(here, own) + rng.binomial(mine.sum() - here, other)).tolist()
    return sums


def items() -> Iterator[Case]:
    def once(table: Table, shares: NDArray[np.float64], n: int, rng: Random) -> Held:
        found = _items(table, rng.multinomial(n, shares), rng)
        return _between(found.lower, shares, found.upper)

    for key in ("grr", "oue", "olh", "ss", "hr"):
        for eps in (1.0, 8.0):
            table = make_table(encoding(key, eps, SHARES.size))
            for n in (20, 200, 2000):
                yield Case(f"{key} of {SHARES.size} items, eps {eps:g}", n, partial(once, table, SHARES, n))
    for size, functions, buckets in ((5, 64, 64), (200, 64, 256)):
        table = make_table(encoding("cms", 4.0, size, functions=functions, buckets=buckets))
        shares = SHARES if size == SHARES.size else np.arange(1.0, size + 1) ** -1.0
        shares = shares / shares.sum()
        for n in (200, 20_000):
            setting = f"cms of {size} items, {functions} functions, {buckets} buckets, eps 4"
            yield Case(setting, n, partial(once, table, shares, n), 200)


def merged() -> Iterator[Case]:
    def shares(tables: Sequence[Table], weights: str, n: int, rng: Random) -> Held:
        each = [_items(table, rng.multinomial(n, SHARES), rng) for table in tables]
        found = merged_estimate(each, weights)
        return _between(found.lower, SHARES, found.upper)  # type: ignore[union-attr]

    def mean(tables: Sequence[Table], weights: str, n: int, rng: Random) -> Held:
        draw, truth = POPULATIONS["5% ones"]
        each = [Tally(table).add_codes(sample(table, draw(rng, n))).mean() for table in tables]
        found = merged_estimate(each, weights)
        return _between(found.lower, truth, found.upper)  # type: ignore[union-attr]

    for weights in ("people", "precision"):
        for eps in (1.0, 8.0):
            tables = [make_table(encoding("oue", eps * more, SHARES.size)) for more in (1.0, 1.1)]
            for n in (20, 2000):
                yield Case(f"oue, eps {eps:g} and {1.1 * eps:g}, by {weights}", n, partial(shares, tables, weights, n))
        sketch = [make_table(encoding("cms", eps, SHARES.size, functions=64, buckets=64)) for eps in (4.0, 4.4, 5.0)]
        setting = f"three releases of cms, 64 functions, 64 buckets, by {weights}"
        yield Case(setting, 20_000, partial(shares, sketch, weights, 20_000), 200)
        two = [make_table(catalogue.duchi(eps, UNIT)) for eps in (1.0, 8.0)]
        for n in (20, 500):
            yield Case(f"duchi, eps 1 and 8, 5% ones, by {weights}", n, partial(mean, two, weights, n), _FEWER)


def devices() -> Iterator[Case]:
    def once(origin: Origin, people: int, rng: Random) -> Held:
        law: Any = origin.once.law
        remembered = rng.multinomial(rng.multinomial(people, SHARES), np.array(law.rows) / law.whole).sum(axis=0)
        counts = remembered * origin.most
        if origin.again is not None:
            last: Any = origin.again.law
            counts = rng.multinomial(counts, np.array(last.rows) / last.whole).sum(axis=0)
        found = Tally(origin).add_counts(counts.tolist()).frequencies()
        return _between(found.lower, SHARES, found.upper)

    first, again = (make_table(catalogue.randomised_response(eps, _VALUES), 16) for eps in (3.0, 1.0))
    for most in (1, 7, 30):
        for people in (50, 1000):
            words = f"{most} report{'s' if most > 1 else ''} of a person, remembered"
            yield Case(words, people, partial(once, Origin(first, None, most, True), people), _FEWER)
            yield Case(f"{words}, drawn again", people, partial(once, Origin(first, again, most, True), people), _FEWER)


def queries() -> Iterator[Case]:
    def each(table: Table, shares: NDArray[np.float64], n: int, rng: Random) -> Held:
        found, truth = _counted(table, rng.multinomial(n, shares), rng).workload(), np.cumsum(shares)
        return _between(found.lower, truth, found.upper)

    def band(table: Table, shares: NDArray[np.float64], n: int, rng: Random) -> Held:
        found, truth = _counted(table, rng.multinomial(n, shares), rng).workload(), np.cumsum(shares)
        assert found.band is not None
        return bool(np.all(_between(found.band[0], truth, found.band[1])))

    def quantiles(table: Table, shares: NDArray[np.float64], n: int, rng: Random) -> Held:
        found, truth = _counted(table, rng.multinomial(n, shares), rng).workload(), np.cumsum(shares)
        said = [(found.quantile(share), int(np.argmax(truth >= share - 1e-12))) for share in (0.1, 0.5, 0.9)]
        return all(low <= true <= high for (_, low, high), true in said)

    shares = np.array([0.01, 0.02, 0.07, 0.3, 0.3, 0.2, 0.09, 0.01])
    for eps in (1.0, 6.0):
        problem = Problem(loss=Prefix(shares.size), privacy=Pure(eps), criterion=Average())
        table = make_table(solve(problem, gap=1e-2))
        for words, once in (("each query", each), ("band of all", band), ("quantiles", quantiles)):
            for n in (20, 200, 2000):
                setting = f"distribution function of {shares.size} types, eps {eps:g}: {words}"
                yield Case(setting, n, partial(once, table, shares, n))


def directions() -> Iterator[Case]:
    def once(table: Table, spread: float, n: int, rng: Random) -> Held:
        inputs = (2.0 + spread * rng.standard_normal(n)) % math.tau
        found = Tally(table).add_codes(sample(table, inputs)).direction()
        off = (found.estimate - 2.0 + math.pi) % math.tau - math.pi
        return abs(off) <= found.upper - found.estimate

    for eps in (1.0, 8.0):
        table = make_table(catalogue.ogpm_circle(eps, Circle(math.tau)))
        for spread in (0.0, 0.5):
            for n in (20, 400):
                setting = f"circle, eps {eps:g}, spread of the inputs {spread:g}"
                yield Case(setting, n, partial(once, table, spread, n), _FEWER)


# -- protocols, simulations --------------------------------------------------------------------------------------------


def protocol_shares() -> Iterator[Case]:
    def population(law: Any, n: int, rng: Random) -> Held:
        support = law.simulate(rng.multinomial(n, SHARES), rng)
        found = share_intervals(law, support, n, "population", 0.95)
        return _between(found.lower, SHARES, found.upper)

    def users(law: Any, counts: NDArray[Any], rng: Random) -> Held:
        n = int(counts.sum())
        found = share_intervals(law, law.simulate(counts, rng), n, "users", 0.95)
        return _between(found.lower, counts / n, found.upper)

    for key in ("grr", "sue", "oue", "olh", "ss", "hr", "she", "the"):
        for eps in (1.0, 8.0):
            law = protocol(key, eps, SHARES.size)
            for n in (20, 200):
                counts = np.random.default_rng(n).multinomial(n, SHARES)
                yield Case(f"{key}, eps {eps:g}, for population", n, partial(population, law, n))
                yield Case(f"{key}, eps {eps:g}, for users", n, partial(users, law, counts), _FEWER)
    for size, eps, n in ((12, 8.0, 200), (32, 8.0, 200), (12, 5.0, 20)):
        law, shares = protocol("hr", eps, size), np.random.default_rng(size).dirichlet(np.ones(size))
        counts = np.random.default_rng(n).multinomial(n, shares)
        yield Case(f"hr of {size} items, eps {eps:g}, for users", n, partial(users, law, counts))


_BENCHED = np.array([300, 200, 120, 100, 80, 60, 50, 40, 30, 20])
_KEPT = 4000  # runs of a protocol, of which samples are taken


def benches() -> Iterator[Case]:
    def once(values: NDArray[np.float64], step: float, runs: int, rng: Random) -> Held:
        found = interval_of_runs(rng.choice(values, runs), step)
        assert found is not None
        return _between(found[0], values.mean(), found[1])

    truth, users = _BENCHED / _BENCHED.sum(), int(_BENCHED.sum())
    for key, eps in (("grr", 1.0), ("oue", 1.0), ("oue", 6.0), ("grr", 8.0)):
        law, rng = protocol(key, eps, _BENCHED.size), np.random.default_rng(SEED)
        estimates = [law.estimate(law.simulate(_BENCHED, rng), users) for _ in range(_KEPT)]
        for name in ("mae", "mse", "kl", "kendall", "top:5"):
            metric = metrics.metric(name)
            values = np.array([metric.measure(truth, estimate) for estimate in estimates])
            for runs in (5, 10, 30):
                setting = f"{name} of {key}, 10 items, 1,000 users, eps {eps:g}"
                yield Case(setting, runs, partial(once, values, metric.step(_BENCHED.size), runs))


def simulations() -> Iterator[Case]:
    def shapes(law: Any, runs: int, rng: Random) -> Held:
        found = interval_of_runs(errors(law, runs, rng))
        assert found is not None
        return _between(found[0], expected[law.name], found[1])

    def errors(law: Any, runs: int, rng: Random) -> NDArray[np.float64]:
        users = int(_BENCHED.sum())
        made = [norm_sub(law.estimate(law.simulate(_BENCHED, rng), users)) for _ in range(runs)]
        return np.array([np.abs(estimate - _BENCHED / users).sum() for estimate in made])

    def places(eps: float, paths: int, rng: Random) -> Held:
        found = interval_of_runs(rng.gamma(2.0, 1 / eps, paths))  # how far planar Laplace noise moves a place
        assert found is not None
        return _between(found[0], 2 / eps, found[1])

    laws = [protocol(key, eps, _BENCHED.size) for key, eps in (("oue", 1.0), ("grr", 3.0))]
    expected = {law.name: float(errors(law, 10_000, np.random.default_rng(SEED)).mean()) for law in laws}
    for law in laws:
        for runs in (5, 12):
            yield Case(f"histogram by {law.name}: collections", runs, partial(shapes, law, runs), _FEWER)
    for paths in (5, 30, 300):
        yield Case("planar Laplace, one place a path: paths", paths, partial(places, 1.0, paths))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A record of a classifier that keeps its label with a given chance."""

    sent: NDArray[np.float64]

    def keeps(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(points[:, 0] < self.sent[0])


class _Uniform:
    """Reports that say nothing."""

    def sample(self, x: NDArray[np.float64], rng: Random) -> NDArray[np.float64]:
        return rng.random(x.shape)


def survivals() -> Iterator[Case]:
    def once(chances: Sequence[float], samples: int, rng: Random) -> Held:
        records: Any = [_Kept(np.array([chance])) for chance in chances]
        law: Any = _Uniform()
        average, worst = simulate_all(records, law, samples, rng)
        covered = _between(average.lower, float(np.mean(chances)), average.upper)
        return np.array([covered, _between(worst.lower, min(chances), worst.upper)])

    for chances in ((0.99, 1.0, 0.97), (0.4, 0.6, 0.9, 0.99)):
        for samples in (10, 200):
            words = ", ".join(f"{chance:g}" for chance in chances)
            yield Case(f"records that keep their label with chances {words}", samples, partial(once, chances, samples))


KINDS = (
    Kind(
        "Means without privacy",
        ("mean",),
        ("studies/frequencies/mean",),
        "n users. The interval of `reach_of_mean`: the row *without privacy*.",
        plain_means,
    ),
    Kind(
        "Means of one mechanism",
        ("mean",),
        ("studies/frequencies/mean",),
        "n users with values in [0, 1]. sw is debiased; the interval of ogpm includes what its bias may be.",
        means,
    ),
    Kind(
        "Means in two phases",
        ("mean",),
        ("studies/frequencies/mean",),
        "n users in both groups; both reaches in squares.",
        two_phases,
    ),
    Kind(
        "Means of several numbers",
        ("vector", "record"),
        ("studies/frequencies/sign_reports",),
        "n people, each of whom reports a pattern of the signs of some numbers.",
        several_numbers,
    ),
    Kind(
        "Means of a table",
        ("estimate", "collect-reports"),
        ("tables/estimators",),
        "n reports, drawn by the system's randomness: these rows differ from run to run by their standard error.",
        table_means,
    ),
    Kind(
        "Shares of a table",
        ("estimate", "collect-reports"),
        ("tables/estimators",),
        f"n reports; shares {', '.join(f'{share:g}' for share in SHARES)}.",
        table_shares,
    ),
    Kind(
        "Shares of items",
        ("estimate", "collect-reports"),
        ("tables/shares",),
        "n reports, the same shares; the 200 items of the last sketch have Zipf's.",
        items,
    ),
    Kind(
        "Merged releases",
        ("collect-reports",),
        ("tables/estimators", "tables/shares"),
        "n reports of each table.",
        merged,
    ),
    Kind(
        "Shares of devices",
        ("estimate", "collect-reports"),
        ("tables/estimators",),
        "n people, each of whom sends all reports that one may; randomised response at eps 3, and again at eps 1.",
        devices,
    ),
    Kind(
        "Queries, bands and quantiles",
        ("estimate", "collect-reports"),
        ("tables/estimators",),
        "n reports. A band holds if it does everywhere, quantiles if .1, .5 and .9 all do.",
        queries,
    ),
    Kind(
        "Directions",
        ("estimate", "collect-reports"),
        ("tables/estimators",),
        "n reports, drawn by the system's randomness.",
        directions,
    ),
    Kind(
        "Shares by a protocol",
        ("estimate-counts", "record"),
        ("studies/frequencies/intervals",),
        "n reports; for users the data are drawn once, and only noise in every run.",
        protocol_shares,
    ),
    Kind(
        "Metrics over runs",
        ("bench", "plot"),
        ("studies/frequencies/ranking",),
        "n runs. Student's t is an approximation: where one run in many decides the mean, as of kl at large eps, it "
        "holds less often than it says. Of fewer than 5 runs none is printed.",
        benches,
    ),
    Kind(
        "Simulated averages",
        ("advise", "trajectory"),
        ("studies/advice/shapes", "studies/advice/places", "studies/places/study"),
        "n collections, or paths. Student's t again: five skewed values are few.",
        simulations,
    ),
    Kind(
        "Labels that survive",
        ("classifier",),
        ("studies/classifiers/survival",),
        "n simulated reports of a record; the interval of the average, and that of the worst record.",
        survivals,
    ),
)

_HEAD = f"""# How often intervals hold

*Written by `python -m benchmarks.coverage`, seed {SEED}. Every interval at 95% that a command prints, over and over.*

In each run a population is drawn anew, with its users, their reports, and the interval; *covered* is the share of runs
whose interval held the truth. Where a run has several intervals (one an item, say), *worst* is the share of the one
that held least often, and its standard error stands beside it: the worst of ten lies below its own expectation by about
one and a half of them. An exact interval of few counts holds more often than it says, since counts jump.

**What looks too wide.** Where all users are alike, `mean` has an interval several times as wide as the spread of their
reports: for pm at eps 12 and 100 users, over six times. Most of it has to be. The interval is about the population, and
of a population of which 3% lie at an end of the bounds every twentieth sample of 100 has none of them: an interval that
covers it in 95% of all cases must reach so far without having seen them. Added up over all such populations, no valid
interval has where users are alike a mean length below `2/n` of that of the bounds, whatever the noise; ours has
`3.7/n`, and the normal one where the spread is wider than that.

"""
_TABLE = "| setting | n | covered | worst | standard error | runs |\n|---|---:|---:|---:|---:|---:|\n"


def main() -> None:
    """Write the page; each kind is said when it is done."""
    text = [_HEAD]
    for kind in KINDS:
        commands = ", ".join(f"`{name}`" for name in kind.commands)
        modules = ", ".join(f"`mechdesign/{name}.py`" for name in kind.modules)
        text.append(f"## {kind.name}\n\nPrinted by {commands}; computed in {modules}. {kind.says}\n\n{_TABLE}")
        for place, case in enumerate(kind.cases()):
            text.append(row(case, measure(kind, place, case)))
        text.append("\n")
        sys.stderr.write(f"{kind.name}\n")
    files.write_atomically(PAGE, "".join(text).rstrip().encode() + b"\n", overwrite=True)


def row(case: Case, found: Found) -> str:
    """One line of the table."""
    said = f"{found.average:.3f} | {found.worst:.3f} | {found.error:.3f} | {found.runs:,}"
    return f"| {case.setting} | {case.count:,} | {said} |\n"


if __name__ == "__main__":
    main()
