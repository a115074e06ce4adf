"""One estimate from several: the weights are those that are stated, and intervals cover what they are about."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.collect.shipping import encoding
from mechdesign.deploy import Table, make_table
from mechdesign.deploy.estimators import DirectionEstimate, FrequencyEstimate, MeanEstimate, Tally
from mechdesign.deploy.reports import merged_estimate
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue

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
