"""Reports of a law are hardly ever refused, by exact enumeration; reports of another law are where that hurts."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from mechdesign.errors import FileProblem
from mechdesign.studies.frequencies import fit as module
from mechdesign.studies.frequencies.fit import REFUSED, Fit, chernoff, divergence, examine, require_fit
from mechdesign.studies.frequencies.protocols import FrequencyProtocol, HadamardResponse, SubsetSelection, protocol
from mechdesign.studies.frequencies.reports import Counted, count_reports

K = 3
LABELS = ("ape", "bee", "cat")


def supports(law: FrequencyProtocol) -> np.ndarray:
    """The items each report supports, a row for each column of the channel."""
    if law.name == "GRR":
        return np.eye(K, dtype=np.int64)
    if isinstance(law, SubsetSelection):
        return np.array([np.bincount(c, minlength=K) for c in itertools.combinations(range(K), law.subset)])
    if isinstance(law, HadamardResponse):
        return np.array([law.support([index]) for index in range(law.columns)])
    return (np.arange(1 << K)[:, None] >> np.arange(K)) & 1


def sums(law: FrequencyProtocol, data: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The chance of every total support of users with these items."""
    channel, rows = law.channel(), supports(law)
    found = {(0,) * K: 1.0}
    for item in data:
        longer: dict[tuple[int, ...], float] = defaultdict(float)
        for before, chance in found.items():
            for report, row in enumerate(rows):
                longer[tuple((np.array(before) + row).tolist())] += chance * channel[item, report]
        found = longer
    return found


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("name", ["grr", "sue", "oue", "blh", "olh", "ss", "hr", "l-oue"])
def test_reports_of_the_law_look_as_odd_as_said_with_no_more_than_the_chance_said(name: str, epsilon: float) -> None:
    """For all data of four users: P(chance <= c) <= c at every c that can come up. No approximation is involved."""
    law = protocol(name, epsilon, K, **({"limit": 2 * epsilon} if name == "l-oue" else {}))
    for data in itertools.combinations_with_replacement(range(K), 4):
        found = [
            (examine(law, Counted(np.array(total), 4), LABELS).chance, chance)
            for total, chance in sums(law, data).items()
        ]
        below = 0.0
        for said, chance in sorted(found):
            below += chance
            assert below <= said + 1e-12


@pytest.mark.parametrize(("n", "p", "q"), [(30, 0.5, 0.2), (200, 0.7, 0.01)])
def test_the_bound_on_a_sum_is_one(n: int, p: float, q: float) -> None:
    """Against the exact tails of Bin(n, p) + Bin(4n, q)."""
    law = np.convolve(stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(4 * n + 1), 4 * n, q))

    def growth(t: float) -> float:
        return module._coin(p, t) + 4 * module._coin(q, t)

    for total in range(5 * n + 1):
        exact = law[total:].sum() if total / n > p + 4 * q else law[: total + 1].sum()
        bound = math.exp(chernoff(growth, total / n, n, p + 4 * q, 64.0))
        assert exact <= bound * (1 + 1e-9) + 1e-14  # sums of doubles are exact to 1e-14


def test_the_bound_on_a_share_is_one() -> None:
    for n, chance in ((20, 0.3), (100, 0.01)):
        for found in range(n + 1):
            tail = stats.binom.sf(found - 1, n, chance) if found > n * chance else stats.binom.cdf(found, n, chance)
            assert tail <= math.exp(-n * divergence(found / n, chance)) * (1 + 1e-9)


def test_noise_is_bounded_like_noise() -> None:
    """SHE: P(sum of m Laplace(b) >= s) <= min over t of (1 - b^2 t^2)^-m e^(-t s); the Erlang parts give it exactly."""
    law = protocol("she", 2.0, 2)
    few = Counted(np.array([4.0, -1.0]), 2)  # two users, four entries of scale 1, total 3 where 2 is due
    fit = examine(law, few, LABELS)
    total = fit.statistics[0]
    assert (total.found, total.expected) == (1.5, 1.0)
    t = np.linspace(1e-6, 1 - 1e-6, 100_000)
    assert total.chance == pytest.approx(min(1.0, 2 * np.exp((-4 * np.log1p(-(t**2)) - t).min())), rel=1e-6)


# -- reports of something else -----------------------------------------------------------------------------------------


def fit_of(reported: FrequencyProtocol, read: FrequencyProtocol, data: np.ndarray) -> Fit:
    """How reports of one law fit another; seed 1."""
    reports = reported.report(data, np.random.default_rng(1))
    counted = Counted(read.support(reports), len(data))
    return examine(read, counted, list(map(str, range(read.size))))


@pytest.mark.parametrize(("name", "made", "read"), [("oue", 1.0, 2.0), ("oue", 2.0, 1.0), ("sue", 1.0, 1.2)])
def test_another_epsilon_is_seen_in_the_sum(name: str, made: float, read: float) -> None:
    data = np.arange(20_000) % 50
    fit = fit_of(protocol(name, made, 50), protocol(name, read, 50), data)
    assert fit.chance < REFUSED
    assert fit.worst.name == "the shares add to"


def test_the_sum_found_is_that_of_the_unbiased_shares() -> None:
    law, other = protocol("oue", 1.0, 50), protocol("oue", 2.0, 50)
    reports = law.report(np.arange(20_000) % 50, np.random.default_rng(1))
    support = other.support(reports)
    total = examine(other, Counted(support, 20_000), list(map(str, range(50)))).statistics[0]
    assert total.found == pytest.approx(other.estimate(support, 20_000).sum())
    assert total.found > 20


@pytest.mark.parametrize("name", ["grr", "ss", "blh"])
def test_a_smaller_epsilon_is_seen_in_the_range(name: str) -> None:
    """Everybody holds item 0: read with half the eps, its share is far above 1."""
    options = {"subset": 2} if name == "ss" else {}
    data = np.zeros(5_000, dtype=np.int64)
    fit = fit_of(protocol(name, 2.0, 10, **options), protocol(name, 1.0, 10, **options), data)
    assert fit.chance < REFUSED
    assert any(one.name == "the share of 0 is" and one.found > 1.2 for one in fit.statistics)


def test_a_larger_epsilon_is_seen_in_no_report_of_randomised_response() -> None:
    """As documented: shares nearer to uniform are what other data would give."""
    fit = fit_of(protocol("grr", 1.0, 10), protocol("grr", 2.0, 10), np.zeros(5_000, dtype=np.int64))
    assert fit.deviations == 0


def test_refusals_name_the_deviations_and_what_to_check() -> None:
    law = protocol("sue", 2.0, K)
    with pytest.raises(FileProblem, match=r"34\.2 deviations off.*check eps") as caught:
        require_fit(law, Counted(np.array([800, 700, 600]), 1000), LABELS, "reports.csv")
    assert "SUE with eps = 2 and 3 items" in str(caught.value)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["grr", "sue", "oue", "blh", "olh", "ss", "she", "the", "hr"])
def test_real_reports_fit(name: str, seed: int) -> None:
    """45 files of 3000 reports, fixed seeds; under the law each falls below 1e-4 with chance 1e-4 at most."""
    law = protocol(name, 1.0, 20)
    data = np.random.default_rng(seed).geometric(0.3, 3000) % 20
    assert fit_of(law, law, data).chance > 1e-4


def test_a_collection_of_a_billion_fits() -> None:
    """Bounds stay bounds where doubles have few digits left: sums of 5e10; seed 1."""
    for name in ("oue", "olh", "the", "hr", "grr"):
        law = protocol(name, 1.0, 100)
        support = law.simulate(np.full(100, 10_000_000), np.random.default_rng(1))
        assert examine(law, Counted(support, 10**9), list(map(str, range(100)))).chance > 1e-4


def test_noise_beyond_0_and_1_tells_the_eps_of_summed_histograms(tmp_path: Path) -> None:
    """With twice the eps the shares are the same and the interval has half its width: only the noise can tell.

    Exceedances are exponential whatever the item; at 2000 users all 5 entries give more than 5000 of them, so the wrong
    scales, off by 10% and more, are 7 or more deviations away. Seed 3; the true eps is refused with chance 1e-9.
    """
    source = tmp_path / "she.npy"
    items = np.random.default_rng(3).integers(0, 2, 2000)  # far from uniform
    np.save(source, protocol("she", 1.0, 5).report(items, np.random.default_rng(4)))
    labels = "abcde"
    right = protocol("she", 1.0, 5)
    counted = count_reports(source, right, labels)
    assert counted.outside > 5000
    assert counted.excess / counted.outside == pytest.approx(2.0, abs=5 * 2 / 5000**0.5)
    require_fit(right, counted, labels, "she.npy")
    for wrong in (0.5, 0.9, 1.1, 2.0):
        with pytest.raises(FileProblem, match="scale of the noise"):
            require_fit(protocol("she", wrong, 5), counted, labels, "she.npy")


@pytest.mark.parametrize("m", [1, 2, 30])
def test_noise_is_no_odder_than_the_chance_said(m: int) -> None:
    """The average of m exponentials has a Gamma law: P(chance <= c), by its two tails, is at most c."""
    law = protocol("she", 2.0, K)

    def said(average: float) -> float:
        fit = examine(law, Counted(np.array([10.0, 0.0, 0.0]), 10, outside=m, excess=average * m), LABELS)
        return next(one.chance for one in fit.statistics if "noise" in one.name)

    for low in np.geomspace(1e-3, 0.99, 40):
        high = float(optimize.brentq(lambda a, low=low: (a - np.log(a)) - (low - np.log(low)), 1.0, 50.0))
        assert stats.gamma.cdf(low * m, m) + stats.gamma.sf(high * m, m) <= said(low) + 1e-12
        assert said(low) == pytest.approx(said(high), rel=1e-6)
