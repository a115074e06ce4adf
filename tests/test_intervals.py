"""The formulas of intervals: how often they cover, computed exactly where numbers have two values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.intervals import LEAST_RUNS, clopper_pearson, interval_of_runs, reach_of_mean, sample_variance


def ends_of_shares(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends for 0 to n ones among n numbers."""
    share = np.arange(n + 1) / n
    below, above = reach_of_mean(share, sample_variance(share * (1 - share), n), n, (0.0, 1.0), 0.95)
    return share - below, share + above


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 100, 300, 1000])
def test_two_valued_numbers_are_covered_whatever_their_number_and_mean(n: int) -> None:
    """At 150 means and beside every end of an interval, where the coverage jumps."""
    low, high = ends_of_shares(n)
    ends = np.concatenate([low, high])
    ends = ends[(ends > 0) & (ends < 0.5)]
    means = np.concatenate([np.geomspace(0.1 / n, 0.5, 150), ends - 1e-9, ends + 1e-9])[:, None]
    chances = stats.binom.pmf(np.arange(n + 1), n, means)
    assert (chances * ((low <= means) & (means <= high))).sum(axis=1).min() >= 0.94


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_numbers_that_agree_have_the_exact_interval(n: int) -> None:
    low, high = ends_of_shares(n)
    exact = clopper_pearson(np.array([0.0, float(n)]), n, 0.95)
    assert (low[0], high[0]) == pytest.approx((exact[0][0], exact[1][0]))
    assert (low[-1], high[-1]) == pytest.approx((exact[0][1], exact[1][1]))


@pytest.mark.parametrize("n", [100, 10_000])
def test_many_numbers_have_the_normal_interval(n: int) -> None:
    """Up to a share of order 1/n."""
    below, above = reach_of_mean(0.5, 1 / 12, n, (0.0, 1.0), 0.95)
    normal = stats.norm.ppf(0.975) * np.sqrt(1 / 12 / n)
    assert normal < below == above < normal * (1 + 6 / n)


@pytest.mark.parametrize("n", [5, 30, 1000])
def test_no_valid_interval_is_much_shorter_where_numbers_agree(n: int) -> None:
    """A share f of the population at an end, missed with chance (1 - f)^n, has to be covered all the same.

    So the interval reaches f with chance ``1 - .05 / (1 - f)^n`` at least, where nobody is there: added up over f, as
    the docstring says.
    """
    missed = np.linspace(0, 1 - 0.05 ** (1 / n), 10_001)
    least = np.trapezoid(1 - 0.05 / (1 - missed) ** n, missed)
    assert 1.6 / n <= least <= 2.06 / n
    ours = float(reach_of_mean(0.0, 0.0, n, (0.0, 1.0), 0.95)[1])
    assert least < ours < 2 * least


def test_an_end_behind_the_average_reaches_no_further_than_the_spread() -> None:
    below, above = reach_of_mean(3.0, 1.0, 25, (0.0, 2.0), 0.95)
    assert above == pytest.approx(stats.norm.ppf(0.975) / 5)
    assert below > above


def test_runs_have_student_s_interval_from_five_on() -> None:
    values = [0.3, 0.5, 0.45, 0.2, 0.33]
    assert interval_of_runs(values[: LEAST_RUNS - 1]) is None
    expected = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert interval_of_runs(values) == pytest.approx(expected)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, float("nan"), "x"])
def test_confidences_that_are_none_are_refused(confidence: object) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        reach_of_mean(0.0, 1.0, 10, (0.0, 1.0), confidence)  # type: ignore[arg-type]
