"""Frequency estimation: the utility gain of IBU, and formulas of published tools."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.papers.claims.claim import AT_LEAST, Claim, Item, Picture, Value
from mechdesign.papers.claims.shared import number_of, picture_of
from mechdesign.studies.frequencies import estimators, postprocess
from mechdesign.studies.frequencies.clients import law_of_client
from mechdesign.studies.frequencies.protocols.catalogue import protocol
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol

PAPER = "Utility gain of iterative Bayesian update (IBU)"

Floats = NDArray[np.float64]

LAWS = ("Gaussian", "exponential", "uniform", "Poisson", "triangular")
_USERS, _RUNS, _STEPS = (20_000, 100_000), 4, 10_000
_ITEMS, _EPSILONS = (2, 50, 100, 200), (1.0, 2.0, 4.0)


Make = Callable[[str, float, int], FrequencyProtocol]
Cells = Mapping[tuple[int, int, float], Floats]
"""By users, items and eps: for each protocol the gains in MSE and in MAE, for each distribution."""


def _with_printed_step(name: str, epsilon: float, size: int) -> FrequencyProtocol:
    """L-GRR and L-LH with the printed p2, which the clients of the paper's package have; the others are the exact."""
    return law_of_client("multi-freq-ldpy", name, epsilon, size, limit=2 * epsilon)


@dataclass(frozen=True, slots=True)
class _Table:
    """Gains in per cent, a row a distribution and a column a protocol, as printed.

    The row of census data, in MSE, stands alone: ours is the same, as those data are not at hand.
    """

    names: tuple[str, ...]
    of_squares: tuple[tuple[int, ...], ...]
    of_distances: tuple[tuple[int, ...], ...]
    of_census: tuple[int, ...]
    make: Make = protocol

    def gains(self) -> tuple[Floats, Floats]:
        """By how many per cent IBU, stopped as printed, lowers the MSE and the MAE: a row a distribution, a column a
        protocol."""
        of_squares, of_distances = np.mean(list(self.cells().values()), axis=0).transpose(1, 2, 0)
        return of_squares, of_distances

    def cells(self) -> Cells:
        """The same, before it is averaged over users, items and eps."""
        return _cells(self.names, self.make)

    def correlations(self) -> list[Value]:
        both = zip(self.gains(), (self.of_squares, self.of_distances), strict=True)
        return [float(np.corrcoef(np.ravel(printed), ours.ravel())[0, 1]) for ours, printed in both]

    def rank_of_protocol(self, name: str) -> int:
        """From below, by the average gain in MSE over all data, with the printed one on census data."""
        averages = np.vstack([self.gains()[0], self.of_census]).mean(axis=0)
        return 1 + int((averages < averages[self.names.index(name)]).sum())

    def rank_of_law(self, name: str) -> int:
        """From below, by the average gain in MSE."""
        averages = self.gains()[0].mean(axis=1)
        return 1 + int((averages < averages[LAWS.index(name)]).sum())

    def picture(self, title: str) -> Picture:
        """Every cell of the table: printed across, ours up."""

        def draw(axes: Any) -> None:
            ours = self.gains()[0]
            for law, printed, found, mark in zip(LAWS, self.of_squares, ours, "osD^v", strict=True):
                axes.plot(printed, found, mark, label=law)
            axes.axline((0, 0), slope=1, color="black", linewidth=0.8)
            axes.set(title=title, xlabel="printed gain in MSE (%)", ylabel="our gain in MSE (%)")
            axes.legend()

        return draw


ONCE = _Table(
    ("grr", "sue", "oue", "ss", "the", "blh", "olh"),
    (
        (1, 13, 10, 3, 13, 16, 11),
        (16, 26, 27, 19, 26, 16, 27),
        (0, 29, 20, 14, 31, 57, 18),
        (39, 41, 44, 41, 41, 14, 46),
        (0, 21, 15, 10, 23, 36, 15),
    ),
    (
        (1, 7, 6, 1, 7, 9, 7),
        (11, 15, 16, 11, 15, 10, 16),
        (0, 21, 14, 10, 22, 43, 12),
        (28, 26, 28, 27, 27, 6, 30),
        (0, 13, 9, 6, 14, 21, 9),
    ),
    (31, 40, 42, 34, 42, 21, 44),
)
MANY_TIMES = _Table(
    ("l-grr", "l-sue", "l-oue", "l-soue", "l-osue", "l-blh", "l-olh"),
    (
        (14, 13, 9, 10, 12, 2, 7),
        (4, 27, 26, 27, 27, 4, 20),
        (36, 31, 12, 16, 18, 54, 21),
        (5, 43, 48, 49, 44, 11, 42),
        (28, 24, 11, 13, 16, 26, 14),
    ),
    (
        (5, 8, 5, 7, 7, 0, 4),
        (1, 16, 15, 16, 16, 2, 12),
        (25, 22, 8, 11, 13, 43, 16),
        (2, 28, 32, 32, 29, 6, 30),
        (17, 15, 7, 9, 10, 14, 9),
    ),
    (4, 43, 43, 44, 43, 9, 34),
    _with_printed_step,
)


def _first_reports() -> list[Value]:
    """The loss of L-GRR's first report with the printed second step, and with the exact one."""
    from mechdesign.papers.gallery import second_step  # it imports matplotlib

    printed = [second_step.loss_of_chain(second_step.printed(k), k) for k in (2, 100)]
    return [*printed, number_of("second_step")]


def _hashed_first_reports() -> list[Value]:
    """The loss of L-LH's first report with the printed second step."""
    from mechdesign.papers.gallery import hashed_second_step as chain

    return [chain.loss_of_chain(chain.printed(first, g), first, g) for first, g in ((1.0, 2), (2.0, 2), (1.0, 8))]


def _hashed_support() -> list[Value]:
    """How often L-BLH's first report supports its own item, and another one: tables multiplied; the mean estimate of
    an item that nobody has, by the printed p* and q*."""
    from mechdesign.papers.gallery import hashed_second_step as chain

    p1, p2 = math.exp(2) / (math.exp(2) + 1), chain.printed()
    own, other = p1 * p2 + (1 - p1) * (1 - p2), 0.5
    p, q = p1 * p2 + (1 - p2) / 2, p1 * (1 - p2) + p2 / 2
    return [p - own, q - other, (other - q) / (p - q)]


def _subset_sizes() -> list[Value]:
    """The least set that ``floor(k / (e^eps + 1))`` gives over the paper's k and eps, and how many are empty."""
    sizes = [math.floor(k / (math.exp(epsilon) + 1)) for k in _ITEMS for epsilon in _EPSILONS]
    return [min(sizes), sizes.count(0)]


def _floored() -> list[Value]:
    """The largest variance of local hashing with the printed g over that with the best one, eps from 0.2 to 3."""
    from mechdesign.papers.gallery import floor_of_hashing

    return [max(map(floor_of_hashing.loss_of_floor, np.linspace(0.2, 3, 141).tolist()))]


@cache
def _cells(names: tuple[str, ...], make: Make) -> Cells:
    cells = {}
    for users, k, epsilon in itertools.product(_USERS, _ITEMS, _EPSILONS):
        rng = np.random.default_rng([users, k, int(epsilon)])
        data = np.array([np.histogram(values, bins=k)[0] for values in _draws(users, rng)])
        cells[users, k, epsilon] = np.array([_gain(make(name, epsilon, k), data, rng) for name in names])
    return cells


def _draws(users: int, rng: np.random.Generator) -> list[Floats]:
    laws: tuple[Callable[[], Floats], ...] = (
        lambda: rng.normal(1000, 10, users),
        lambda: rng.exponential(1, users),
        lambda: rng.uniform(100, 10000, users),
        lambda: rng.poisson(5, users).astype(np.float64),
        lambda: rng.triangular(100, 4500, 10000, users),
    )
    return [draw() for draw in laws for _ in range(_RUNS)]


def _gain(law: FrequencyProtocol, data: NDArray[np.int64], rng: np.random.Generator) -> list[Floats]:
    """In MSE and in MAE, for each distribution. The longitudinal ones have a limit of 2 eps."""
    users = int(data[0].sum())
    seen = np.array([law.simulate(row, rng) for row in data])
    inverted = np.array([postprocess.norm_mul(law.estimate(row, users)) for row in seen])
    updated = estimators.ibu_published(seen, law.p, law.q, steps=_STEPS)
    truth = data / users

    def error(found: Floats, exponent: int) -> Floats:
        missed = (np.abs(found - truth) ** exponent).mean(axis=1)
        return np.asarray(missed.reshape(-1, _RUNS).mean(axis=1))

    return [100 * np.maximum(1 - error(updated, power) / error(inverted, power), 0.0) for power in (2, 1)]


def _table_2() -> list[Value]:
    return [
        *ONCE.correlations(),
        ONCE.rank_of_protocol("grr"),
        1 + len(LAWS) - ONCE.rank_of_law("Poisson"),
        ONCE.rank_of_law("Gaussian"),
    ]


def _table_3(table: _Table) -> list[Value]:
    return [
        *table.correlations(),
        table.rank_of_protocol("l-grr"),
        1 + len(table.names) - table.rank_of_protocol("l-sue"),
        1 + len(LAWS) - table.rank_of_law("Poisson"),
        table.rank_of_law("Gaussian"),
    ]


_TABLE_3 = (
    Item("correlation, MSE", "0.85", relation=AT_LEAST),
    Item("correlation, MAE", "0.85", relation=AT_LEAST),
    Item("L-GRR's rank, from below", "1", units=0.5),
    Item("L-SUE's rank, from above", "1", units=0.5),
    Item("Poisson's rank, from above", "1", units=0.5),
    Item("Gaussian's rank, from below", "1", units=0.5),
)


CLAIMS = (
    Claim(
        "ibu.table-2",
        PAPER,
        "table 2 and section 4.2",
        "over all data GRR gains least; over all mechanisms Poisson data most, Gaussian data least (here four runs, "
        "the gain on census data as printed; ranks, and the correlation with the 35 other printed gains of each "
        "metric, which is ours to ask for)",
        (
            Item("correlation, MSE", "0.85", relation=AT_LEAST),
            Item("correlation, MAE", "0.85", relation=AT_LEAST),
            Item("GRR's rank, from below", "1", units=0.5),
            Item("Poisson's rank, from above", "1", units=0.5),
            Item("Gaussian's rank, from below", "1", units=0.5),
        ),
        _table_2,
        slow=True,
        picture=ONCE.picture("Table 2: what IBU gains, seven protocols"),
    ),
    Claim(
        "ibu.table-3",
        PAPER,
        "table 3 and section 4.2",
        "of the longitudinal mechanisms L-SUE gains most and L-GRR least; Poisson data most, Gaussian data least (as "
        "above; L-GRR and L-LH with the printed second step of L-GRR)",
        _TABLE_3,
        lambda: _table_3(MANY_TIMES),
        slow=True,
        picture=MANY_TIMES.picture("Table 3: what IBU gains, seven longitudinal protocols"),
    ),
    Claim(
        "ibu.table-3-exact",
        PAPER,
        "table 3 and section 4.2",
        "the same with the second step that spends eps_1 for every k (erratum 7)",
        _TABLE_3,
        lambda: _table_3(replace(MANY_TIMES, make=protocol)),
        slow=True,
        beyond="the page has another second step, with which table 3 was made",
    ),
    Claim(
        "ibu.l-grr",
        PAPER,
        "section 3.2, L-GRR, and section 4.1",
        "with the printed p2 the first report is as private as one report of GRR at eps_1 = 1 (eps_inf = 2)",
        (
            Item("k = 2", "1.000"),
            Item("k = 100", "1.000", "0.166"),
            Item("k = 100, exact p2", "1.000"),
        ),
        _first_reports,
        erratum=7,
        picture=picture_of("second_step"),
    ),
    Claim(
        "ibu.l-lh",
        PAPER,
        "section 3.2, L-LH, and section 4.1",
        "with the printed p2 the first report has a loss of eps_1, half of eps_inf",
        (
            Item("g = 2, eps_1 = 1", "1.000", "1.451"),
            Item("g = 2, eps_1 = 2", "2.000", "2.145"),
            Item("g = 8, eps_1 = 1", "1.000", "0.805"),
        ),
        _hashed_first_reports,
        erratum=12,
        picture=picture_of("hashed_second_step"),
    ),
    Claim(
        "ibu.l-lh-estimate",
        PAPER,
        "section 3.2, L-LH, aggregation",
        "a report supports its own item with p* = p1 p2 + q1 q2, any other one with q* = p1 q2 + q1 p2, where q1 = 1/g "
        "(L-BLH, eps_1 = 1, eps_inf = 2, the printed second step)",
        (
            Item("p* less how often it does", "0.000", "0.035"),
            Item("q* less how often it does", "0.000", "0.035"),
            Item("mean estimate of an item nobody has", "0.000", "-0.114"),
        ),
        _hashed_support,
        erratum=12,
    ),
    Claim(
        "ibu.subset",
        PAPER,
        "section 3.1, SS, and section 4.1",
        "reports are sets of floor(k/(e^eps + 1)) items (k = 2, 50, 100, 200 and eps = 1, 2, 4): at least one",
        (
            Item("least size", "1", "0", AT_LEAST),
            Item("empty sets, of 12 cells", "0", "4"),
        ),
        _subset_sizes,
        erratum=12,
    ),
    Claim(
        "ibu.olh",
        PAPER,
        "section 3.1, OLH",
        "optimal local hashing with g = floor(e^eps + 1): its variance over that of the best whole g, eps in [0.2, 3]",
        (Item("worst ratio", "1.00", "1.12"),),
        _floored,
        erratum=9,
        beyond='the page calls it "an optimized version", not the best whole number of hash values',
        picture=picture_of("floor_of_hashing"),
    ),
)
