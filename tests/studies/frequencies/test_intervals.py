"""Coverage of the intervals, computed exactly: sums over all supports an item can have."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.intervals import clopper_pearson
from mechdesign.studies.frequencies import intervals as module
from mechdesign.studies.frequencies.intervals import Heard, Intervals, intervals_of_groups, share_intervals
from mechdesign.studies.frequencies.protocols import protocol

SLACK = 1e-9
LAWS = [("grr", 3.0), ("grr", 6.0), ("oue", 1.0), ("oue", 6.0), ("olh", 3.0), ("hr", 0.5)]


def at_every_support(name: str, epsilon: float, n: int, of: str) -> tuple[np.ndarray, np.ndarray]:
    """The ends for supports 0 to n of one of five items."""
    law = protocol(name, epsilon, 5)
    ends = []
    for support in range(n + 1):
        found = share_intervals(law, [support] * 5, n, of, 0.95)
        ends.append((found.lower[0], found.upper[0]))
    return tuple(np.array(ends).T)


@pytest.mark.parametrize(("name", "epsilon"), LAWS)
@pytest.mark.parametrize("n", [10, 50])
def test_the_population_s_share_is_covered_as_often_as_said(name: str, epsilon: float, n: int) -> None:
    law = protocol(name, epsilon, 5)
    low, high = at_every_support(name, epsilon, n, "population")
    for f in np.linspace(0, 1, 41):
        chances = stats.binom.pmf(np.arange(n + 1), n, law.q + (law.p - law.q) * f)
        assert chances[(low <= f + SLACK) & (f - SLACK <= high)].sum() >= 0.95


@pytest.mark.parametrize(("name", "epsilon"), LAWS)
@pytest.mark.parametrize("n", [10, 50])
def test_the_users_share_is_covered_as_often_as_said(name: str, epsilon: float, n: int) -> None:
    """Both by its own interval and by the wider one for the population."""
    law = protocol(name, epsilon, 5)
    own, wide = (at_every_support(name, epsilon, n, of) for of in ("users", "population"))
    for m in range(n + 1):
        holders = stats.binom.pmf(np.arange(m + 1), m, law.p)
        chances = np.convolve(holders, stats.binom.pmf(np.arange(n - m + 1), n - m, law.q))
        for low, high in (own, wide):
            assert chances[(low <= m / n + SLACK) & (m / n - SLACK <= high)].sum() >= 0.95


def test_an_interval_for_the_users_is_none_for_the_population() -> None:
    """GRR, n = 50, k = 5, eps = 3: the case in which intervals once meant the users and did not say so."""
    law = protocol("grr", 3.0, 5)
    low, high = at_every_support("grr", 3.0, 50, "users")
    chances = stats.binom.pmf(np.arange(51), 50, law.q + (law.p - law.q) * 0.5)
    assert chances[(low <= 0.5) & (high >= 0.5)].sum() < 0.9


def test_exact_and_normal_intervals_meet_where_one_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 33 deviations of a support the two differ by less than 3% of their length, at every share."""
    law = protocol("oue", 2.0, 4)
    n = 11_000
    support = np.array([law.q * n, (law.q + 0.1 * (law.p - law.q)) * n, (law.q + law.p) / 2 * n, law.p * n]).round()
    normal = share_intervals(law, support, n, "users", 0.95)
    monkeypatch.setattr(module, "_NORMAL", 100.0)
    exact = share_intervals(law, support, n, "users", 0.95)
    assert (normal.method, exact.method) == ("normal", "exact")
    inside = slice(1, 3)  # exact intervals end at 0 and 1
    length = (normal.upper - normal.lower)[inside]
    assert (np.abs(exact.lower - normal.lower)[inside] < 0.03 * length).all()
    assert (np.abs(exact.upper - normal.upper)[inside] < 0.03 * length).all()


@pytest.mark.parametrize("name", ["grr", "sue", "olh", "ss", "she", "hr"])
def test_sampling_adds_to_the_variance_what_it_adds(name: str) -> None:
    law = protocol(name, 2.0, 4)
    support = law.simulate(np.array([700, 200, 80, 20]), np.random.default_rng(1))
    users, population = (share_intervals(law, support, 1000, of, 0.95) for of in ("users", "population"))
    share = np.clip(law.estimate(support, 1000), 0, 1)
    assert population.errors**2 - users.errors**2 == pytest.approx(share * (1 - share) / 1000)


def test_sums_of_noise_have_normal_intervals() -> None:
    found = share_intervals(protocol("she", 1.0, 3), [5.0, 4.0, 1.0], 10, "population", 0.95)
    assert found.method == "normal"
    assert (found.lower < found.upper).all()


@pytest.mark.parametrize(("epsilon", "size", "n"), [(8.0, 12, 200), (8.0, 32, 200), (5.0, 12, 20)])
def test_the_users_shares_are_covered_where_supports_are_no_counts(epsilon: float, size: int, n: int) -> None:
    """Hadamard response in several blocks, every item, 1,000 collections, seed 5: false alarms below 1e-6 each.

    The worst item had 81 to 90%.
    """
    law, rng = protocol("hr", epsilon, size), np.random.default_rng(5)
    counts = rng.multinomial(n, rng.dirichlet(np.ones(size)))
    held = np.zeros(size)
    for _ in range(1000):
        found = share_intervals(law, law.simulate(counts, rng), n, "users", 0.95)
        held += (found.lower <= counts / n) & (counts / n <= found.upper)
    assert (held >= stats.binom.ppf(1e-6, 1000, 0.95)).all()


def test_the_exact_interval_is_that_of_the_tails() -> None:
    low, high = clopper_pearson(np.array([0.0, 3.0, 10.0]), 10, 0.9)
    assert low[0] == 0
    assert high[2] == 1
    assert stats.binom.sf(2, 10, low[1]) == pytest.approx(0.05)
    assert stats.binom.cdf(3, 10, high[1]) == pytest.approx(0.05)


@pytest.mark.parametrize(("of", "confidence"), [("people", 0.95), ("users", 1.0), ("users", float("nan"))])
def test_bad_input_is_refused(of: str, confidence: float) -> None:
    with pytest.raises(InvalidInput):
        share_intervals(protocol("grr", 1.0, 2), [1, 1], 2, of, confidence)


def test_of_names_the_share() -> None:
    found: Intervals = share_intervals(protocol("grr", 1.0, 2), [1, 1], 2, "users", 0.95)
    assert found.of == "users"


# -- groups of users ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shares", [(0.0, 0.0), (0.02, 0.02), (0.3, 0.3), (0.1, 0.9), (1.0, 1.0), (0.0, 1.0)], ids=str)
@pytest.mark.parametrize("sizes", [(10, 15), (25, 40)])
def test_shares_of_all_groups_are_covered_however_the_groups_differ(
    shares: tuple[float, float], sizes: tuple[int, int]
) -> None:
    """GRR at eps 1 and OUE at eps 2, one of five items, summed over all pairs of supports: 93% at these few users."""
    laws = protocol("grr", 1.0, 5), protocol("oue", 2.0, 5)
    chances = [
        stats.binom.pmf(np.arange(n + 1), n, law.q + (law.p - law.q) * f)
        for law, n, f in zip(laws, sizes, shares, strict=True)
    ]
    wanted = sum(n * f for n, f in zip(sizes, shares, strict=True)) / sum(sizes)
    covered = 0.0
    for first in range(sizes[0] + 1):
        for second in range(sizes[1] + 1):
            heard = [Heard(law, [s] * 5, n) for law, s, n in zip(laws, (first, second), sizes, strict=True)]
            _, found = intervals_of_groups(heard, "population", 0.95)
            if found.lower[0] <= wanted + SLACK and wanted - SLACK <= found.upper[0]:
                covered += chances[0][first] * chances[1][second]
    assert covered >= 0.93


def test_the_estimate_of_all_groups_is_the_average_by_users() -> None:
    laws = protocol("grr", 1.0, 3), protocol("oue", 2.0, 3)
    heard = [Heard(laws[0], [50, 30, 20], 100), Heard(laws[1], [120, 90, 80], 300)]
    unbiased, found = intervals_of_groups(heard, "users", 0.95)
    each = [law.estimate(one.support, one.n) for law, one in zip(laws, heard, strict=True)]
    assert unbiased == pytest.approx(each[0] / 4 + 3 * each[1] / 4)
    assert found.of == "users"
    assert (found.errors < intervals_of_groups(heard, "population", 0.95)[1].errors).all()
