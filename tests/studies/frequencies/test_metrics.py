"""Metrics against their definitions written out, whatever the order of items and wherever entries tie."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies import metrics

TIED = st.integers(2, 12).flatmap(lambda k: st.tuples(*[st.lists(st.integers(0, 3), min_size=k, max_size=k)] * 2))
DISTRIBUTIONS = st.integers(2, 12).flatmap(
    lambda k: st.tuples(*[st.lists(st.floats(0.01, 1), min_size=k, max_size=k).map(lambda w: np.array(w) / sum(w))] * 2)
)


def test_sums_and_means_are_told_apart() -> None:
    f, g = [0.5, 0.3, 0.2, 0.0], [0.4, 0.4, 0.1, 0.1]
    assert metrics.l1(f, g) == pytest.approx(0.4)
    assert metrics.mae(f, g) == pytest.approx(0.1)
    assert metrics.l2(f, g) == pytest.approx(0.2)
    assert metrics.l2_mean(f, g) == pytest.approx(0.05)
    assert metrics.mse(f, g) == pytest.approx(0.01)


@given(DISTRIBUTIONS)
def test_a_perfect_estimate_has_no_error(pair: tuple[np.ndarray, np.ndarray]) -> None:
    f = pair[0]
    for metric in metrics.METRICS.values():
        if not metric.more_is_better:
            assert metric.measure(f, f) == pytest.approx(0, abs=1e-5 if metric.name.startswith("kl") else 1e-12)


@given(DISTRIBUTIONS)
def test_the_earth_mover_agrees_with_scipy(pair: tuple[np.ndarray, np.ndarray]) -> None:
    f, g = pair
    places = np.arange(f.size)
    assert metrics.emd(f, g) == pytest.approx(stats.wasserstein_distance(places, places, f, g), abs=1e-9)


@given(DISTRIBUTIONS)
def test_kl_without_smoothing_to_speak_of_is_the_relative_entropy(pair: tuple[np.ndarray, np.ndarray]) -> None:
    f, g = pair
    assert metrics.kl(f, g, smoothing=1e-12) == pytest.approx(float(stats.entropy(f, g)), abs=1e-8)


def test_kl_of_missing_and_negative_items_is_finite_and_as_stated() -> None:
    s = metrics.SMOOTHING
    assert metrics.kl([0.5, 0.5], [1.2, -0.2]) == pytest.approx(-0.5 * math.log((2 - s) * s))
    assert metrics.kl([0.5, 0.5], [-1.0, -1.0]) == pytest.approx(0, abs=1e-12)


@given(TIED)
def test_tau_b_is_counted_pair_by_pair(pair: tuple[list[int], list[int]]) -> None:
    f, g = pair
    signs = [(np.sign(f[u] - f[v]), np.sign(g[u] - g[v])) for u, v in itertools.combinations(range(len(f)), 2)]
    untied = [sum(a != 0 for a, _ in signs), sum(b != 0 for _, b in signs)]
    expected = sum(a * b for a, b in signs) / math.sqrt(untied[0] * untied[1]) if all(untied) else 0.0
    assert metrics.kendall(f, g) == pytest.approx(expected, abs=1e-12)


@given(TIED)
def test_the_optimus_variants_are_their_definitions(pair: tuple[list[int], list[int]]) -> None:
    f, g = pair

    def score(u: int, v: int) -> int:
        agree = (f[u] > f[v] and g[u] > g[v]) or (f[u] <= f[v] and g[u] <= g[v])
        return 1 if agree else -1

    once = [score(u, v) for u, v in itertools.combinations(range(len(f)), 2)]
    twice = [score(u, v) for u, v in itertools.permutations(range(len(f)), 2)]
    assert metrics.kendall_optimus(f, g) == pytest.approx(np.mean(once), abs=1e-12)
    assert metrics.kendall_optimus_squared(f, g) == pytest.approx(np.mean(twice), abs=1e-12)


def test_the_optimus_variant_depends_on_the_order_of_items_and_tau_b_does_not() -> None:
    f, g = np.array([0.4, 0.2, 0.2, 0.2]), np.array([0.4, 0.1, 0.2, 0.3])
    back = slice(None, None, -1)
    assert metrics.kendall_optimus(f, g) == pytest.approx(1)
    assert metrics.kendall_optimus(f[back], g[back]) == pytest.approx(0)
    assert metrics.kendall(f, g) == pytest.approx(metrics.kendall(f[back], g[back]))
    assert metrics.kendall_optimus_squared(f, g) == pytest.approx(metrics.kendall_optimus_squared(f[back], g[back]))


def test_without_ties_all_kendall_coefficients_are_one() -> None:
    rng = np.random.default_rng(0)
    f, g = rng.random(100_000), rng.random(100_000)
    expected = pytest.approx(float(stats.kendalltau(f, g).statistic), abs=1e-12)
    assert metrics.kendall(f, g) == expected
    assert metrics.kendall_optimus(f, g) == expected
    assert metrics.kendall_optimus_squared(f, g) == expected


@given(TIED, st.integers(1, 14))
def test_top_precision_averages_over_all_ways_to_break_ties(pair: tuple[list[int], list[int]], top: int) -> None:
    f, g = np.array(pair[0][:6]), np.array(pair[1][:6])
    t = min(top, f.size)
    heavy = f >= np.sort(f)[-t]
    orders = [order for order in itertools.permutations(range(f.size)) if (np.diff(g[list(order)]) <= 0).all()]
    expected = np.mean([heavy[list(order[:t])].mean() for order in orders])
    assert metrics.top_precision(f, g, top) == pytest.approx(expected)


def test_the_top_may_have_any_size() -> None:
    f, g = [0.5, 0.3, 0.15, 0.05], [0.5, 0.1, 0.3, 0.1]
    assert metrics.metric("top:2").measure(f, g) == metrics.top_precision(f, g, 2) == 0.5
    assert metrics.metric("top:2").more_is_better


def test_metrics_say_which_way_is_better() -> None:
    f, far = [0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.3, 0.4]
    for metric in metrics.METRICS.values():
        good, bad = metric.measure(f, f), metric.measure(f, far)
        assert good >= bad if metric.more_is_better else good < bad


@pytest.mark.parametrize(
    ("truth", "estimate"),
    [
        ([], []),
        ([0.5, 0.5], [1.0]),
        ([math.nan, 1], [0.5, 0.5]),
        ([0.5, 0.5], [math.inf, 0]),
        (["a"], [1]),
        ([[1.0]], [[1.0]]),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", metrics.METRICS)
def test_what_cannot_be_compared_is_refused(name: str, truth: list[float], estimate: list[float]) -> None:
    with pytest.raises(InvalidInput):
        metrics.metric(name).measure(truth, estimate)


@pytest.mark.parametrize(
    "call",
    [
        lambda: metrics.metric("l3"),
        lambda: metrics.metric("top:0"),
        lambda: metrics.metric("top:x"),
        lambda: metrics.metric("l1:3"),
        lambda: metrics.kl([0.5, 0.6], [0.5, 0.5]),
        lambda: metrics.kl([0.5, 0.5], [0.5, 0.5], smoothing=0),
        lambda: metrics.top_precision([1, 2], [1, 2], 0),
        lambda: metrics.top_precision([1, 2], [1, 2], 1.5),
    ],
)
def test_options_that_make_no_sense_are_refused(call: object) -> None:
    with pytest.raises(InvalidInput):
        call()  # type: ignore[operator]


@given(TIED)
def test_the_coefficient_over_ordered_pairs_has_a_name(pair: tuple[list[int], list[int]]) -> None:
    """Over V x V without the diagonal, counted pair by pair."""
    f, g = pair
    signs = [1 if (f[u] > f[v]) == (g[u] > g[v]) else -1 for u in range(len(f)) for v in range(len(f)) if u != v]
    named = metrics.metric("kendall-optimus-squared")
    assert named.measure(f, g) == pytest.approx(sum(signs) / len(signs))
    assert named.more_is_better


def test_a_name_of_one_s_own_says_what_is_measured_and_needs_its_function() -> None:
    found = metrics.metric("mine:worst")
    assert (found.meaning, found.more_is_better) == ("mine:worst of truth and estimate", False)
    with pytest.raises(InvalidInput, match="come with its function"):
        found.measure([1.0], [1.0])
