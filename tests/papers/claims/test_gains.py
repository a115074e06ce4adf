"""Figures 3 and 4 of the IBU paper are other averages of the cells of its tables."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.papers.claims import REPLACED, frequency, gains, judge, named


@pytest.fixture
def few():
    """Made-up gains: 5 per cent for each unit of eps less, 1 for each item, more for later protocols and laws."""
    return {
        (users, k, epsilon): np.array(
            [[[k - 5 * epsilon + users / 100 + law + 10 * row] * 5 for _ in (0, 1)] for row in (0, 1) for law in (0,)]
        )
        + np.arange(5)
        for users in (100, 200)
        for k in (2, 50)
        for epsilon in (1.0, 2.0, 4.0)
    }


def test_an_average_by_one_setting_is_over_all_the_others(few):
    values, found = gains._by(gains._EPSILONS, few)
    assert values == [1.0, 2.0, 4.0]
    expected = [[26 - 5 * e + 1.5 + 5 + law for law in range(5)] for e in values]
    assert found == pytest.approx(np.array(expected))
    assert gains._by(gains._ITEMS, few)[1].mean(axis=0) == pytest.approx(found.mean(axis=0))


def test_steps_are_ratios_in_the_direction_that_is_said(few):
    falling, rising = gains._steps(gains._EPSILONS, few, falls=True), gains._steps(gains._USERS, few)
    means = gains._by(gains._EPSILONS, few)[1].mean(axis=1)
    assert falling == pytest.approx([means[0] / means[1], means[1] / means[2]])
    assert len(rising) == 1
    assert rising[0] > 1


def test_the_tables_rank_poisson_first_and_triangular_data_below_exponential():
    """Sums of table 2's printed gains, added up by hand: Gaussian 67, exponential 157, uniform 169, Poisson 266."""
    sums = [sum(row) for row in frequency.ONCE.of_squares]
    assert sums == [67, 157, 169, 266, 120]
    (claim,) = named(["ibu.figure-3-laws"])
    found = judge(claim)
    assert [low for low, _ in found.ours] == [2, 2, 3, 3]
    assert found.verdict == REPLACED
