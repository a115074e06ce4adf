"""Hadamard response: blocks, rows of the Hadamard matrix, and the simulation digit by digit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import linalg, stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import protocol, variances
from mechdesign.studies.frequencies.protocols.hadamard import best_blocks, published_blocks

RATE = 1e-6
SHAPES = [(2, 1), (3, 1), (5, 1), (5, 2), (6, 4), (6, 8), (12, 1), (12, 4), (9, 2)]


@pytest.mark.parametrize(("size", "columns"), [(2, 4), (3, 4), (4, 8), (7, 8), (8, 16), (100, 128)])
def test_one_block_has_the_signs_of_the_hadamard_matrix(size, columns):
    law = protocol("hr", 1.0, size, blocks=1)
    signs = linalg.hadamard(columns)[1 : size + 1]
    assert law.columns == columns
    assert np.array_equal(law.channel() > 1 / columns, signs > 0)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0, 2.0, 4.0, 10.0, 64.0])
@pytest.mark.parametrize(("size", "blocks"), SHAPES)
def test_the_channel_is_the_paper_s_at_every_eps(epsilon, size, blocks):
    """s indices of the own block with e^eps / (s e^eps + K - s), all others with 1 / (s e^eps + K - s)."""
    law = protocol("hr", epsilon, size, blocks=blocks)
    channel, s = law.channel(), law.columns // (2 * blocks)
    whole = s * math.exp(epsilon) + law.columns - s
    assert np.allclose(channel.sum(axis=1), 1, rtol=0, atol=1e-12)
    heavy = channel > 1.05 / whole
    assert (heavy.sum(axis=1) == s).all()
    assert np.allclose(channel[heavy], math.exp(epsilon) / whole, rtol=1e-12)
    assert np.allclose(channel[~heavy], 1 / whole, rtol=1e-12)
    assert len({row.tobytes() for row in heavy}) == size
    for u in range(size):
        for v in range(u):
            expected = s // 2 if u % blocks == v % blocks else 0
            assert (heavy[u] & heavy[v]).sum() == expected
    assert law.privacy_loss() == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 4.0])
@pytest.mark.parametrize(("size", "blocks"), SHAPES)
def test_means_variances_and_covariances_are_those_of_the_enumerated_channel(exact, epsilon, size, blocks):
    law = protocol("hr", epsilon, size, blocks=blocks)
    channel, support = law.channel(), exact.columns_support(law)
    means = channel @ support
    expected = np.full((size, size), law.q)
    np.fill_diagonal(expected, law.p)
    assert np.allclose(means, expected, rtol=0, atol=1e-12)
    shares = np.random.default_rng(size).dirichlet(np.full(size, 0.5))
    total = sum(
        share * ((support * row[:, None]).T @ support - np.outer(mean, mean))
        for share, row, mean in zip(shares, channel, means, strict=True)
    )
    total = total / (7 * (law.p - law.q) ** 2)
    assert np.allclose(law.covariance(shares, 7), total, rtol=1e-9, atol=1e-12)
    assert np.allclose(law.variances(shares, 7), np.diag(total), rtol=1e-9)
    spread = [
        law.variances(np.where(np.arange(size) == v, 0.3, 0.7 / (size - 1)), 7)[v] for v in range(size)
    ]  # the average over items
    assert law.variance(0.3, 7) == pytest.approx(np.mean(spread), rel=1e-12)


@pytest.mark.parametrize(("size", "blocks"), SHAPES)
def test_simulated_histograms_follow_the_channel(size, blocks):
    """One collection of 400 000 users of one item at a time, chi-square at the rate 1e-6, seed by size."""
    law, rng = protocol("hr", 2.0, size, blocks=blocks), np.random.default_rng(size)
    for v in (0, size // 2, size - 1):
        counts = np.zeros(size, dtype=int)
        counts[v] = 400_000
        histogram = law.simulate_histogram(counts, rng)
        assert stats.chisquare(histogram, law.channel()[v] * 400_000).pvalue > RATE


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_small_histograms_follow_the_exact_joint_law(exact, blocks):
    """5 items: 4 000 collections of 3 users, seed 21, rate 1e-6; and 4 000 by reports of single users, seed 22."""
    law, rng = protocol("hr", 1.0, 5, blocks=blocks), np.random.default_rng(21)
    counts = np.array([1, 0, 1, 0, 1])
    drawn = np.stack([law.simulate(counts, rng) for _ in range(4000)])
    expected = exact.joint_law(law, counts)
    assert exact.p_value(drawn, expected) > RATE
    rng = np.random.default_rng(22)
    reports = law.report(np.tile([0, 2, 4], 4000), rng).reshape(4000, 3)
    assert exact.p_value(np.stack([law.support(row) for row in reports]), expected) > RATE


@pytest.mark.parametrize("blocks", [1, 4])
def test_supports_by_the_fast_transform_are_sums_over_reports(exact, blocks):
    law, rng = protocol("hr", 1.0, 11, blocks=blocks), np.random.default_rng(1)
    reports = law.report(rng.integers(0, 11, 500), rng)
    assert law.support(reports).tolist() == exact.columns_support(law)[reports].sum(axis=0).tolist()


def test_one_block_is_best_up_to_eps_of_1_and_then_the_variance_falls_without_end():
    """With one block only it stays above 1 / n."""
    for size in (2, 10, 100, 1000):
        assert [best_blocks(epsilon, size) for epsilon in (0.1, 0.5, 0.7, 1.0)] == [1] * 4
    one = [protocol("hr", epsilon, 100, blocks=1).variance(0, 1).item() for epsilon in (4.0, 8.0, 16.0)]
    best = [protocol("hr", epsilon, 100).variance(0, 1).item() for epsilon in (4.0, 8.0, 16.0)]
    assert min(one) > 1
    assert best[0] < 0.15
    assert best[1] < 0.005
    assert best[2] < 1e-5


@pytest.mark.parametrize("size", [2, 3, 16, 100])
@pytest.mark.parametrize("epsilon", [0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0])
def test_the_blocks_chosen_have_the_least_variance_and_the_published_are_a_power_of_two(epsilon, size):
    totals = {1 << i: protocol("hr", epsilon, size, blocks=1 << i) for i in range((size - 1).bit_length() + 1)}
    shares = np.full(size, 1 / size)
    least = min(totals, key=lambda blocks: np.trace(totals[blocks].covariance(shares, 1)))
    assert best_blocks(epsilon, size) == least
    published = published_blocks(epsilon, size)
    assert published == 2 ** (math.ceil(math.log2(min(math.exp(epsilon), 2 * size))) - 1)
    assert published in totals


@pytest.mark.parametrize("blocks", [0, 3, 16, -1, 1.5, True, "2"])
def test_blocks_that_cannot_be_are_refused(blocks):
    with pytest.raises(InvalidInput, match="blocks"):
        protocol("hr", 1.0, 6, blocks=blocks)


def test_an_item_beside_a_frequent_one_is_noisier_and_the_variance_used_for_intervals_says_so():
    """Half of all users in its block: about eight times the average variance; other protocols have one at each f."""
    law, shares = protocol("hr", 4.0, 100), np.full(100, 0.5 / 99)
    shares[0] = 0.5
    found = variances(law, shares, 1000)
    assert found == pytest.approx(np.diag(law.covariance(shares, 1000)), rel=1e-12)
    beside, far = law.blocks, 1
    assert found[beside] > 7 * max(found[far], found.mean())
    oue = protocol("oue", 4.0, 100)
    assert variances(oue, shares, 1000).tolist() == oue.variance(shares, 1000).tolist()
