"""Estimators from reports: exact maxima, bounds on how far from them an iteration is, and refusals."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.optimize import minimize

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.estimators import (
    ibu,
    ibu_iterated,
    ibu_of_groups,
    ibu_published,
    matrix_inversion,
    maximum_likelihood,
    of_reports,
    of_support,
)

SUPPORTS = st.lists(st.integers(0, 1000), min_size=2, max_size=30).filter(any).map(np.array)
CHANCES = st.tuples(st.floats(0.05, 1), st.floats(0.001, 0.9)).map(lambda c: (c[0], c[0] * c[1]))


def surrogate(k: int, p: float, q: float) -> np.ndarray:
    """The k x k channel of the paper, with rows that sum to one."""
    matrix = (p - q) * np.eye(k) + q
    return matrix / matrix[0].sum()


def likelihood(f: np.ndarray, shares: np.ndarray, channel: np.ndarray) -> float:
    seen = f @ channel
    return float(np.sum(shares[shares > 0] * np.log(seen[shares > 0])))


def test_matrix_inversion_inverts_the_expectation_exactly() -> None:
    f, p, q, n = np.array([0.5, 0.3, 0.2]), 0.6, 0.15, 1000
    assert matrix_inversion(n * (f * p + (1 - f) * q), n, p, q) == pytest.approx(f, abs=1e-14)


@given(SUPPORTS, CHANCES)
def test_the_closed_form_has_a_gap_of_rounding_only(support: np.ndarray, chances: tuple[float, float]) -> None:
    found = ibu(support, *chances)
    assert found.gap <= 1e-11
    assert found.converged
    assert found.steps == 0
    assert found.frequencies.sum() == pytest.approx(1)
    assert (found.frequencies >= 0).all()


@given(SUPPORTS, CHANCES, st.integers(0, 2**32))
def test_no_other_distribution_is_better_than_the_gap_says(
    support: np.ndarray, chances: tuple[float, float], seed: int
) -> None:
    """Also for an iteration that was stopped early: the bound is about any distribution."""
    channel, shares = surrogate(support.size, *chances), support / support.sum()
    other = np.random.default_rng(seed).dirichlet(np.full(support.size, 0.3))
    for found in (ibu(support, *chances), ibu_iterated(support, *chances, steps=2)):
        assert found.log_likelihood == pytest.approx(likelihood(found.frequencies, shares, channel), abs=1e-12)
        assert likelihood(other, shares, channel) <= found.log_likelihood + found.gap + 1e-12


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 100), min_size=2, max_size=5).map(np.array), CHANCES)
def test_the_closed_form_beats_a_general_optimiser(support: np.ndarray, chances: tuple[float, float]) -> None:
    k, shares = support.size, support / support.sum()
    channel = surrogate(k, *chances)
    sum_to_one = {"type": "eq", "fun": lambda f: f.sum() - 1}
    free = minimize(
        lambda f: -likelihood(f, shares, channel), np.full(k, 1 / k), bounds=[(1e-12, 1)] * k, constraints=sum_to_one
    )
    assert ibu(support, *chances).log_likelihood >= -free.fun - 1e-12


@pytest.mark.parametrize("k", [2, 7, 50])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_the_iteration_reaches_the_closed_form(k: int, epsilon: float) -> None:
    rng = np.random.default_rng(k)
    p = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    q = p * math.exp(-epsilon)
    f = rng.dirichlet(np.ones(k))
    support = rng.multinomial(10_000, f @ ((p - q) * np.eye(k) + q))
    exact, iterated = ibu(support, p, q), ibu_iterated(support, p, q, tolerance=1e-7)
    assert iterated.converged
    assert iterated.steps > 0
    assert iterated.log_likelihood == pytest.approx(exact.log_likelihood, abs=1e-7)
    # an error of size d costs d^2 of likelihood
    assert iterated.frequencies == pytest.approx(exact.frequencies, abs=1e-2)


def test_an_iteration_that_stops_early_says_so() -> None:
    found = ibu_iterated([900, 50, 50, 0], 0.3, 0.2, steps=3)
    assert not found.converged
    assert found.gap > 1e-6
    assert found.steps == 3


def test_ten_thousand_plain_steps_need_not_converge() -> None:
    """Small eps: the paper's own number of steps leaves a gap that the report shows."""
    k, rng = 100, np.random.default_rng(1)
    q = 1 / (math.exp(0.5) + k - 1)
    p = math.exp(0.5) * q
    shares = rng.dirichlet(np.full(k, 0.3)) * (p - q) + q
    support = rng.multinomial(100_000, shares)
    plain = ibu_iterated(support, p, q, accelerate=False)
    assert plain.steps == 10_000
    assert not plain.converged
    assert plain.log_likelihood < ibu(support, p, q).log_likelihood - 1e-6


def test_one_plain_step_is_the_paper_s_update() -> None:
    support, p, q = np.array([5, 3, 2]), 0.5, 0.25
    channel, shares, f = surrogate(3, p, q), support / 10, np.full(3, 1 / 3)
    expected = f * (channel @ (shares / (f @ channel)))
    assert ibu_iterated(support, p, q, steps=1, accelerate=False).frequencies == pytest.approx(expected, abs=1e-15)


@given(SUPPORTS, CHANCES)
@example(np.array([0, 0, 149, 390, 628]), (1.0, 0.15625))  # 20 plain steps from the start are ahead of 30 of these
@settings(max_examples=30, deadline=None)
def test_three_accelerated_steps_never_lose_to_two_plain_ones_nor_to_what_was_before(
    support: np.ndarray, chances: tuple[float, float]
) -> None:
    fast = [ibu_iterated(support, *chances, steps=steps).log_likelihood for steps in range(3, 31, 3)]
    plain = ibu_iterated(support, *chances, steps=2, accelerate=False).log_likelihood
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise([plain, *fast]))


def test_two_items_have_the_clipped_unbiased_estimate_as_their_maximum() -> None:
    for first in range(0, 101, 10):
        raw = matrix_inversion([first, 100 - first], 100, 0.75, 0.25)
        assert ibu([first, 100 - first], 0.75, 0.25).frequencies == pytest.approx(np.clip(raw, 0, 1))


def test_without_noise_the_shares_are_the_answer() -> None:
    assert ibu([3, 1, 0], 0.7, 0.0).frequencies.tolist() == [0.75, 0.25, 0.0]


def test_a_general_channel_is_solved_to_its_gap() -> None:
    rng = np.random.default_rng(0)
    channel = rng.dirichlet(np.ones(12), size=6)
    truth = np.array([0.4, 0.3, 0.2, 0.1, 0.0, 0.0])
    found = maximum_likelihood(1e6 * (truth @ channel), channel)
    assert found.converged
    assert not found.surrogate
    assert found.frequencies == pytest.approx(truth, abs=1e-3)


def test_more_reports_than_items_are_welcome() -> None:
    channel = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]])
    found = maximum_likelihood([40, 60, 50], channel)
    # the third report says nothing: f0 maximises 40 log(1 + f0) + 60 log(2 - f0), so 40 (2 - f0) = 60 (1 + f0)
    assert found.frequencies == pytest.approx([0.2, 0.8], abs=1e-5)


def test_the_surrogate_of_unary_reports_is_not_their_likelihood() -> None:
    """Two items, all four reports of unary encoding: the two maxima differ."""
    p, q = 0.5, 0.2
    chance = {
        (a, b): np.array([pa * qb, qa * pb])
        for a, pa, qa in ((1, p, q), (0, 1 - p, 1 - q))
        for b, pb, qb in ((1, p, q), (0, 1 - p, 1 - q))
    }
    channel = np.stack(list(chance.values()), axis=1)
    reports = np.array([100, 300, 150, 450])
    support = [400, 250]
    assert list(chance) == [(1, 1), (1, 0), (0, 1), (0, 0)]
    true, stand_in = maximum_likelihood(reports, channel), ibu(support, p, q)
    assert not true.surrogate
    assert stand_in.surrogate
    assert abs(true.frequencies[0] - stand_in.frequencies[0]) > 0.005


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ibu([], 0.5, 0.1), "count"),
        (lambda: ibu([0, 0], 0.5, 0.1), "at least one report"),
        (lambda: ibu([-1, 2], 0.5, 0.1), "at least 0"),
        (lambda: ibu([1, math.nan], 0.5, 0.1), "number"),
        (lambda: ibu([1, math.inf], 0.5, 0.1), "finite"),
        (lambda: ibu([1, 2], 0.1, 0.5), "q < p"),
        (lambda: ibu([1, 2], 0.5, 0.5), "q < p"),
        (lambda: ibu([1, 2], 1.5, 0.5), "q < p"),
        (lambda: ibu_iterated([1, 2], 0.5, 0.1, steps=0), "whole number"),
        (lambda: ibu_iterated([1, 2], 0.5, 0.1, tolerance=2), "below 1"),
        (lambda: matrix_inversion([1, 2], 0, 0.5, 0.1), "whole number"),
        (lambda: matrix_inversion([1, 2], 2.5, 0.5, 0.1), "whole number"),
        (lambda: maximum_likelihood([1, 2], [[0.5, 0.5]] * 2 + [[0.9, 0.2]]), "sum to 1"),
        (lambda: maximum_likelihood([1, 2, 3], [[0.5, 0.5], [0.4, 0.6]]), "2 reports"),
        (lambda: maximum_likelihood([1, 2], [[1.0, 0.0], [1.0, 0.0]]), "possible"),
        (lambda: maximum_likelihood([1, 2], [0.5, 0.5]), "matrix"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call()  # type: ignore[operator]


def test_published_ibu_of_many_collections_is_that_of_each():
    """Rows that come to rest and rows that do not, to the last bit; zeros stay zeros."""
    rng = np.random.default_rng(5)
    rows = np.vstack([rng.integers(0, 1000, (6, 9)), [100] * 9, [0] * 8 + [50]])
    found = ibu_published(rows, 0.4, 0.2, steps=300)
    for row, one in zip(rows, found, strict=True):
        alone = ibu_iterated(row, 0.4, 0.2, steps=300, tolerance=0.0, accelerate=False)
        assert np.array_equal(one, alone.frequencies)


@pytest.mark.parametrize("supports", [[[1, -1]], [[0, 0]], [[1, 2], [0, 0]], [["a", "b"]]])
def test_published_ibu_refuses_what_is_no_support(supports):
    with pytest.raises(InvalidInput):
        ibu_published(supports, 0.5, 0.1)


def test_ibu_from_another_start_has_the_same_limit_and_shrinks_towards_that_start_before() -> None:
    support, start = [30, 40, 30], np.array([0.8, 0.1, 0.1])
    assert ibu_iterated(support, 0.6, 0.2, start=start).frequencies == pytest.approx(
        ibu(support, 0.6, 0.2).frequencies, abs=1e-6
    )
    early = [
        ibu_iterated(support, 0.6, 0.2, steps=2, accelerate=False, start=first).frequencies for first in (start, None)
    ]
    assert early[0][0] > early[1][0]
    for wrong in ([0.5, 0.5], [1.0, 0.0, 0.0], [0.5, 0.4, 0.4]):
        with pytest.raises(InvalidInput, match="be 3 shares above 0 that sum to 1"):
            ibu_iterated(support, 0.6, 0.2, start=wrong)


# -- groups of users ---------------------------------------------------------------------------------------------------


def test_one_group_alone_has_the_closed_form_s_answer() -> None:
    support = [500, 300, 150, 50]
    found = ibu_of_groups([of_support(support, 0.6, 0.2)])
    assert found.frequencies == pytest.approx(ibu(support, 0.6, 0.2).frequencies, abs=1e-6)
    assert found.surrogate


def test_groups_of_one_law_are_one_group() -> None:
    parts = [[300, 200, 80, 20], [200, 100, 70, 30]]
    found = ibu_of_groups([of_support(part, 0.6, 0.2) for part in parts])
    assert found.frequencies == pytest.approx(ibu(np.sum(parts, axis=0), 0.6, 0.2).frequencies, abs=1e-6)


def test_the_likelihood_of_groups_is_the_sum_of_theirs() -> None:
    """Against a general optimiser: randomised response at two epsilons, and a channel of its own with two reports."""
    grr = [((0.7, 0.15), np.array([90, 60, 50])), ((0.5, 0.25), np.array([30, 40, 30]))]
    own = np.array([[0.8, 0.2], [0.5, 0.5], [0.3, 0.7]])
    seen = np.array([55, 45])
    found = ibu_of_groups([*(of_support(counts, *pq) for pq, counts in grr), of_reports(seen, own)])

    def loss(logits: np.ndarray) -> float:
        f = np.exp(logits - logits.max())
        f /= f.sum()
        each = [counts @ np.log((p - q) * f + q) for (p, q), counts in grr]
        return -float(sum(each) + seen @ np.log(f @ own))

    best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000})
    f = np.exp(best.x - best.x.max())
    assert found.frequencies == pytest.approx(f / f.sum(), abs=1e-5)
    assert found.converged
    assert found.log_likelihood == pytest.approx(-best.fun / 400, abs=1e-9)


def test_users_with_little_privacy_weigh_more_than_their_number() -> None:
    """100 users at eps 4 say 90 and 10, 100 at eps 0.1 say nothing much: the answer is near the first."""
    clear, vague = [of_support(counts, p, 1 - p) for counts, p in (([89, 11], 0.982), ([50, 50], 0.525))]
    assert ibu_of_groups([clear, vague]).frequencies[0] > 0.88


def test_groups_of_different_items_are_refused() -> None:
    with pytest.raises(InvalidInput, match="be about the same items"):
        ibu_of_groups([of_support([1, 2], 0.6, 0.4), of_support([1, 2, 3], 0.6, 0.2)])
    with pytest.raises(InvalidInput, match="be at least one"):
        ibu_of_groups([])
    with pytest.raises(InvalidInput, match="be possible under the channel"):
        of_reports([1, 1], [[1.0, 0.0], [1.0, 0.0]])
