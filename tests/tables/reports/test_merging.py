"""One estimate from several: the weights are those that are stated, and intervals cover what they are about."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies.shipping import encoding
from mechdesign.tables import Table, make_table, sample
from mechdesign.tables.estimators import DirectionEstimate, FrequencyEstimate, MeanEstimate, Tally
from mechdesign.tables.reports import merged_estimate

OLD = MeanEstimate(1.0, 0.6, 1.4, 100, 0.15, 0.1, 0.95)
NEW = MeanEstimate(2.0, 1.6, 2.4, 300, 0.20, 0.0, 0.95)


def counted(table: Table, counts: list[int]) -> FrequencyEstimate:
    return Tally(table).add_counts(counts).frequencies()


def test_people_count_alike() -> None:
    found = merged_estimate([OLD, NEW])
    half = np.hypot(0.25 * 0.3, 0.75 * 0.4)
    assert found.estimate == pytest.approx(0.25 * 1 + 0.75 * 2)
    assert (found.count, found.bias) == (400, pytest.approx(0.025))
    assert found.upper - found.estimate == pytest.approx(half + 0.025)
    assert found.deviation == pytest.approx(np.hypot(0.25 * 0.15, 0.75 * 0.2))


def test_precision_has_the_narrowest_interval_of_all_weights() -> None:
    """Without bias; 0.3 and 0.4 are the half widths."""
    best = merged_estimate([NEW, MeanEstimate(1.0, 0.7, 1.3, 100, 0.15, 0.0, 0.95)], "precision")
    half = best.upper - best.estimate
    assert half == pytest.approx((0.3**-2 + 0.4**-2) ** -0.5)
    assert all(half <= np.hypot(w * 0.4, (1 - w) * 0.3) + 1e-12 for w in np.linspace(0, 1, 101))


@pytest.mark.parametrize("weights", ["people", "precision"])
def test_one_estimate_is_itself(vote: Table, weights: str) -> None:
    assert merged_estimate([NEW], weights) == NEW
    alone = counted(vote, [60, 40])
    found = merged_estimate([alone], weights)
    assert found.lower == pytest.approx(alone.lower)
    assert found.covariance == pytest.approx(alone.covariance)


def test_merging_by_people_is_the_estimate_of_all_reports_where_the_table_is_one(vote: Table) -> None:
    found = merged_estimate([counted(vote, [60, 40]), counted(vote, [100, 200])])
    assert found.estimates == pytest.approx(counted(vote, [160, 240]).estimates)
    assert found.count == 400


@pytest.mark.parametrize("weights", ["people", "precision"])
def test_shares_of_several_tables_add_up_to_one(vote: Table, newer_vote: Table, weights: str) -> None:
    found = merged_estimate([counted(vote, [60, 40]), counted(newer_vote, [30, 5])], weights)
    assert found.estimates.sum() == pytest.approx(1)
    assert found.labels == ("no", "yes")


def test_the_interval_by_people_covers_the_mean_of_all_people_and_by_precision_it_need_not() -> None:
    """Old and new users differ: 400 collections of 2 x 500 reports, nominal 95%.

    By people: at least 0.92 of them, false alarm below 0.2% at 95%. By precision fewer than half: the new table has
    less noise, its people count more, and their mean is another one.
    """
    old, new = make_table(catalogue.duchi(0.5), 16), make_table(catalogue.duchi(3.0), 16)
    rng = np.random.default_rng(7)
    covered = {"people": 0, "precision": 0}
    for _ in range(400):
        each = []
        for table, mean in ((old, -0.8), (new, 0.8)):
            law = table.law
            chance = float(law.row(mean)[1] / law.whole)
            high = int(rng.binomial(500, chance))
            each.append(Tally(table).add_counts([500 - high, high]).mean())
        for weights in covered:
            found = merged_estimate(each, weights)
            covered[weights] += found.lower <= 0.0 <= found.upper
    assert covered["people"] / 400 >= 0.92
    assert covered["precision"] / 400 < 0.5


def test_half_widths_of_zero_count_alone_by_precision() -> None:
    sure = MeanEstimate(3.0, 3.0, 3.0, 1, 0.0, 0.0, 0.95)
    assert merged_estimate([NEW, sure], "precision").estimate == 3.0


def test_shares_of_items_have_deviations_in_place_of_a_covariance() -> None:
    old, new = make_table(encoding("oue", 1.0, 3)), make_table(encoding("oue", 2.0, 3))
    each = [Tally(old).add_ones([60, 30, 20], 100).estimate(), Tally(new).add_ones([90, 30, 30], 100).estimate()]
    found = merged_estimate(each)
    assert found.covariance is None
    assert found.standard_errors == pytest.approx(np.hypot(each[0].deviations / 2, each[1].deviations / 2))


def test_each_side_of_an_interval_is_merged_by_itself() -> None:
    """Nobody of 20 with either table: the exact intervals are long above and short below, and so is the merged one."""
    each = [Tally(make_table(encoding("oue", eps, 3))).add_ones([10, 1, 0], 20).estimate() for eps in (8.0, 7.0)]
    found = merged_estimate(each)
    for sign, ends, mine in ((1, "upper", found.upper), (-1, "lower", found.lower)):
        reaches = [sign * (getattr(one, ends) - one.estimates) for one in each]
        assert sign * (mine - found.estimates) == pytest.approx(np.hypot(*reaches) / 2)
    assert (found.upper - found.estimates)[2] > 3 * (found.estimates - found.lower)[2]


@pytest.mark.parametrize("weights", ["people", "precision"])
def test_merging_exact_intervals_of_few_reports_covers(weights: str) -> None:
    """Two tables of 20 reports, eps 8 and 7: exactly, over all supports, at 41 shares. The worst was 90 to 92%."""
    tables = [make_table(encoding("oue", eps, 3)) for eps in (8.0, 7.0)]
    each = [[Tally(table).add_ones([k, 0, 0], 20).estimate() for k in range(21)] for table in tables]
    found = [[merged_estimate([old, new], weights) for new in each[1]] for old in each[0]]
    low, high = (np.array([[getattr(one, end)[0] for one in row] for row in found]) for end in ("lower", "upper"))
    for share in np.linspace(0, 1, 41):
        chances = []
        for table in tables:
            p, q = float(table.chances.p), float(table.chances.q)
            chances.append(stats.binom.pmf(np.arange(21), 20, q + (p - q) * share))
        covered = np.outer(*chances)[(low <= share + 1e-12) & (share - 1e-12 <= high)].sum()
        assert covered >= 0.94


@pytest.mark.parametrize("items", [5, 200])
def test_items_that_collide_do_so_in_all_releases(items: int) -> None:
    """Five releases under one family of functions, without noise: all items are covered as one table covers them.

    Reports without noise leave the collisions alone, which more releases do not average away.
    """
    table = make_table(encoding("cms", 12.0, items, functions=64, buckets=64))
    shares = np.random.default_rng(4).dirichlet(np.ones(items))
    values = np.repeat(np.arange(items), np.round(shares * 20_000).astype(int))
    true = np.bincount(values, minlength=items) / values.size
    each = [Tally(table).add(sample(table, values.astype(float))).frequencies() for _ in range(5)]
    found = merged_estimate(each)
    held = (found.lower <= true) & (true <= found.upper)
    assert held.mean() >= 0.94


def test_what_is_no_one_quantity_is_refused(vote: Table) -> None:
    direction = DirectionEstimate(0.0, -1.0, 1.0, 10, 0.5, 0.1, 0.95)
    other = make_table(catalogue.randomised_response(1.0, vote.domain), 16)
    for several in (
        [],
        [direction, direction],
        [OLD, counted(vote, [1, 2])],
        [OLD, MeanEstimate(1.0, 0.0, 2.0, 5, 0.1, 0.0, 0.9)],
        [counted(vote, [1, 2]), counted(other, [1, 2])],
    ):
        with pytest.raises(InvalidInput, match="estimates"):
            merged_estimate(several)
    with pytest.raises(InvalidInput, match="people, precision"):
        merged_estimate([OLD], "votes")
