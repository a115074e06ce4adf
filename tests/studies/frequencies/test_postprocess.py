"""Post-processing does what the NDSS 2020 paper says, for every input, and its own noise is the one it is told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq, minimize

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies import postprocess
from mechdesign.studies.frequencies.postprocess import METHODS, SupportNoise

TO_ONE = ("norm", "norm-mul", "norm-sub", "norm-cut-ldp3", "power-ns")
IDEMPOTENT = ("base-pos", "norm", "norm-cut", "norm-cut-ldp3", "norm-mul", "norm-sub")
ESTIMATES = st.lists(st.floats(-2, 2), min_size=1, max_size=40).map(np.array)


def unary(n: int, p: float = 0.5, q: float = 1 / (math.e + 1)) -> SupportNoise:
    return SupportNoise(n, lambda f: (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (n * (p - q) ** 2))


NOISE = unary(1000)


@given(ESTIMATES)
def test_methods_that_normalise_sum_to_one(estimate: np.ndarray) -> None:
    for name in TO_ONE:
        assert METHODS[name](estimate, NOISE).sum() == pytest.approx(1, abs=1e-9)


@given(ESTIMATES)
def test_only_norm_leaves_negative_entries(estimate: np.ndarray) -> None:
    for name, method in METHODS.items():
        assert name == "norm" or (method(estimate, NOISE) >= 0).all()


@given(ESTIMATES)
def test_a_second_time_changes_nothing(estimate: np.ndarray) -> None:
    for name in IDEMPOTENT:
        once = METHODS[name](estimate, NOISE)
        assert METHODS[name](once, NOISE) == pytest.approx(once, abs=1e-12)


@given(ESTIMATES)
def test_no_method_reorders_items(estimate: np.ndarray) -> None:
    order = np.argsort(estimate, kind="stable")
    for method in METHODS.values():
        assert (np.diff(method(estimate, NOISE)[order]) >= -1e-12).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20).filter(lambda f: sum(f) > 0.1))
def test_distributions_are_left_alone(weights: list[float]) -> None:
    f = np.array(weights) / sum(weights)
    for name in IDEMPOTENT:
        assert METHODS[name](f, NOISE) == pytest.approx(f, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6).map(np.array))
def test_norm_sub_is_the_nearest_distribution(estimate: np.ndarray) -> None:
    found = postprocess.project_simplex(estimate)
    k = estimate.size
    sum_to_one = {"type": "eq", "fun": lambda f: f.sum() - 1}
    start = np.full(k, 1 / k)
    free = minimize(
        lambda f: ((f - estimate) ** 2).sum(),
        start,
        bounds=[(0, 1)] * k,
        constraints=sum_to_one,
        options={"ftol": 1e-14},
    )
    assert ((found - estimate) ** 2).sum() <= free.fun + 1e-7


@given(ESTIMATES)
def test_norm_sub_shifts_all_positive_entries_alike(estimate: np.ndarray) -> None:
    found = postprocess.norm_sub(estimate)
    shifts = (found - estimate)[found > 1e-12]
    assert np.ptp(shifts) <= 1e-9
    assert (estimate[found == 0] + shifts.mean() <= 1e-9).all()


@given(ESTIMATES)
def test_norm_cut_keeps_the_most_that_sums_to_at_most_one(estimate: np.ndarray) -> None:
    found = postprocess.norm_cut(estimate)
    assert found.sum() <= 1 + 1e-9
    kept, cut = found > 0, (found == 0) & (estimate > 0)
    if estimate.max() * (estimate == estimate.max()).sum() <= 1 and cut.any():
        largest_cut = estimate[cut].max()
        assert estimate[kept & (estimate <= largest_cut)].size == 0
        assert estimate[estimate >= largest_cut].sum() > 1
    if estimate.max() * (estimate == estimate.max()).sum() <= 1:
        assert (found[kept] == estimate[kept]).all()


@given(ESTIMATES)
def test_norm_cut_of_ldp3_keeps_one_entry_more_and_scales(estimate: np.ndarray) -> None:
    """Against its loop written out: the largest entries until their sum exceeds 1, equal ones together."""
    kept = np.zeros(estimate.size, dtype=bool)
    total = 0.0
    for value in sorted({v for v in estimate.tolist() if v > 0}, reverse=True):
        ties = estimate == value
        for _ in range(int(ties.sum())):
            if total <= 1 + 1e-12:
                kept |= ties
                total += value
    found = postprocess.norm_cut_ldp3(estimate)
    if kept.any():
        assert found == pytest.approx(np.where(kept, estimate, 0) / estimate[kept].sum(), abs=1e-12)
    else:
        assert (found == 1 / estimate.size).all()


def test_the_two_norm_cuts_differ_by_the_entry_that_crosses_one() -> None:
    estimate = [0.6, 0.3, 0.2, -0.1]
    assert postprocess.norm_cut(estimate).tolist() == [0.6, 0.3, 0.0, 0.0]
    assert postprocess.norm_cut_ldp3(estimate) == pytest.approx([6 / 11, 3 / 11, 2 / 11, 0])


def test_norm_mul_and_norm_differ_as_they_should() -> None:
    assert postprocess.norm_mul([0.6, 0.6, -0.2]).tolist() == pytest.approx([0.5, 0.5, 0])
    assert postprocess.norm([0.6, 0.6, -0.5]).tolist() == pytest.approx([0.7, 0.7, -0.4])


@pytest.mark.parametrize(
    "estimate", [[-1.0, -2.0], [0.0, 0.0, 0.0], [-0.5], [0.0], [3.0], [1e300, -1e300], [5e-324, 0.0]], ids=str
)
@pytest.mark.parametrize("name", METHODS)
def test_every_input_has_an_answer(name: str, estimate: list[float]) -> None:
    found = METHODS[name](np.array(estimate), NOISE)
    assert np.isfinite(found).all()
    if name in ("norm-mul", "norm-sub", "power-ns"):
        assert found.sum() == pytest.approx(1)


def test_without_a_positive_entry_the_answer_is_even_for_equal_items() -> None:
    for name in ("norm", "norm-mul", "norm-sub", "power-ns"):
        assert METHODS[name](np.full(4, -0.3), NOISE) == pytest.approx(np.full(4, 0.25))
    assert postprocess.base_pos([-0.3, -0.1]).tolist() == [0, 0]


def test_one_item_has_frequency_one_under_all_methods_that_normalise() -> None:
    for name in TO_ONE:
        assert METHODS[name](np.array([0.3]), NOISE).tolist() == [1.0]


@pytest.mark.parametrize("n", [2, 50, 3000, 100_000])
def test_power_is_the_posterior_mean_of_the_counts(n: int) -> None:
    """Against the sums over all counts 1..n, written out."""
    noise, estimate = unary(n), np.array([-0.02, -0.001, 0.0, 0.004, 0.03, 0.3, 0.9])
    counts = np.arange(1, n + 1.0)

    def mean(alpha: float) -> float:
        mass = counts**-alpha
        return float(mass @ counts / mass.sum())

    share = n / estimate.size
    alpha = float(brentq(lambda a: mean(a) - share, 0, 60, xtol=1e-13)) if share > 1 else 64.0
    variances = np.asarray(noise.variance(counts / n)) * n**2
    expected = []
    for value in estimate * n:
        logs = -alpha * np.log(counts) - (value - counts) ** 2 / (2 * variances) - np.log(variances) / 2
        mass = np.exp(logs - logs.max())
        expected.append(float(mass @ counts / mass.sum()) / n)
    deviation = math.sqrt(float(np.asarray(noise.variance(np.array([0.1])))[0]))
    assert postprocess.power(estimate, noise) == pytest.approx(expected, abs=1e-3 * deviation)


def test_power_with_k_over_n_times_the_variance_is_another_method() -> None:
    """The slip of a published toolkit: at n = 100 000 and k = 128 it shrinks nothing and is three times as wrong."""
    n, k, runs = 100_000, 128, 20
    rng = np.random.default_rng(3)
    weights = 1 / np.arange(1, k + 1)
    counts = rng.multinomial(n, weights / weights.sum())
    right, errors = unary(n), {"right": [], "slip": []}
    slip = SupportNoise(n, lambda f: np.asarray(right.variance(f)) * k / n)
    p, q = 0.5, 1 / (math.e + 1)
    for _ in range(runs):
        estimate = ((rng.binomial(counts, p) + rng.binomial(n - counts, q)) / n - q) / (p - q)
        for name, noise in (("right", right), ("slip", slip)):
            errors[name].append(np.abs(postprocess.power_ns(estimate, noise) - counts / n).mean())
    # over these runs the means are known to about 2%
    assert np.mean(errors["right"]) == pytest.approx(0.0023, rel=0.1)
    assert np.mean(errors["slip"]) > 1.3 * np.mean(errors["right"])


def test_power_of_a_billion_users_is_as_good_as_of_a_million() -> None:
    for n in (10**6, 10**9):
        deviation = math.sqrt(3.7 / n)
        estimate = np.array([0.6, 0.4 - deviation, deviation])
        assert postprocess.power(estimate, unary(n)) == pytest.approx(estimate, abs=4 * deviation)


def test_noise_that_hides_nothing_leaves_whole_counts() -> None:
    found = postprocess.power([0.25, 0.75], SupportNoise(100, lambda f: np.zeros_like(f)))
    assert found == pytest.approx([0.25, 0.75], abs=1e-6)


@pytest.mark.parametrize(
    "estimate", [[], [[0.5, 0.5]], [math.nan, 1], [math.inf, 0], ["a"], [True, False], None], ids=str
)
@pytest.mark.parametrize("name", METHODS)
def test_what_is_no_list_of_finite_numbers_is_refused(name: str, estimate: object) -> None:
    with pytest.raises(InvalidInput):
        METHODS[name](estimate, NOISE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "noise", [SupportNoise(0, lambda f: f), SupportNoise(10, lambda f: -f), SupportNoise(10, lambda f: f * math.nan)]
)
def test_noise_that_cannot_be_is_refused(noise: SupportNoise) -> None:
    with pytest.raises(InvalidInput):
        postprocess.power([0.5, 0.5], noise)


def test_input_is_never_changed() -> None:
    estimate = np.array([0.7, -0.1, 0.6])
    for method in METHODS.values():
        method(estimate, NOISE)
    assert estimate.tolist() == [0.7, -0.1, 0.6]
