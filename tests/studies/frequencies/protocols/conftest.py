"""Exact laws of supports by enumeration, and tests of samples against them: the fixture `exact` holds them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import linalg, stats

from mechdesign.studies.frequencies.protocols import (
    Grr,
    HadamardResponse,
    LocalHashing,
    Longitudinal,
    SubsetSelection,
    ThresholdHistogram,
    Unary,
)


def columns_support(law):
    """Which items each column of the channel supports (columns x items)."""
    if isinstance(law, Longitudinal):
        return columns_support(law.once)
    k = law.size
    if isinstance(law, Grr):
        return np.eye(k, dtype=np.int64)
    if isinstance(law, Unary | LocalHashing | ThresholdHistogram):
        return (np.arange(1 << k)[:, None] >> np.arange(k)) & 1
    if isinstance(law, SubsetSelection):
        sets = list(itertools.combinations(range(k), law.subset))
        return np.array([[int(v in items) for v in range(k)] for items in sets])
    if not isinstance(law, HadamardResponse):  # the numbers of its reports, one by one
        return np.stack([law.support(np.array([report])) for report in range(law.columns)])
    width = law.columns // law.blocks
    signs = linalg.hadamard(width)
    table = np.full((law.columns, k), 0.5)  # outside its block an item is supported half
    for v in range(k):
        start = v % law.blocks * width
        table[start : start + width, v] = (1 + signs[v // law.blocks + 1]) / 2
    return table


def channel_of(law):
    """The channel, that of the thresholded bits for THE."""
    if isinstance(law, ThresholdHistogram):
        return Unary("bits", law.epsilon, law.size, law.p, law.q, law.miss).channel()
    return law.channel()


def joint_law(law, counts):
    """Probabilities of all support vectors of ``counts[v]`` users of item v, by convolution of single reports."""
    channel, sets = channel_of(law), columns_support(law)
    total = {(0,) * law.size: 1.0}
    for v, users in enumerate(counts):
        for _ in range(users):
            grown = defaultdict(float)
            for vector, chance in total.items():
                for one, share in zip(sets, channel[v], strict=True):
                    grown[tuple(np.add(vector, one).tolist())] += chance * share
            total = grown
    return dict(total)


def p_value(vectors, exact, least=5.0):
    """Chi-square test of sampled support vectors against exact probabilities, rare vectors taken together."""
    drawn = defaultdict(int)
    for vector in np.asarray(vectors).tolist():
        drawn[tuple(vector)] += 1
    assert set(drawn) <= set(exact)
    n = len(vectors)
    names = sorted(exact, key=exact.get, reverse=True)
    observed = np.array([drawn.get(name, 0) for name in names], dtype=float)
    expected = np.array([exact[name] * n for name in names])
    often = expected >= least
    observed = np.append(observed[often], observed[~often].sum())
    expected = np.append(expected[often], expected[~often].sum())
    if expected[-1] < 1e-9 * n:
        assert observed[-1] == 0
        observed, expected = observed[:-1], expected[:-1]
    return stats.chisquare(observed, expected * (n / expected.sum())).pvalue


def quadratic_p_value(supports, mean, covariance):
    """Of many support vectors, jointly normal: their squared distances from the mean are chi-square in all."""
    values, vectors = np.linalg.eigh(covariance)
    used = values > 1e-9 * values.max()
    scaled = (np.asarray(supports) - mean) @ vectors[:, used] / np.sqrt(values[used])
    degrees = scaled.size
    two_sided = 2 * min(stats.chi2.sf((scaled**2).sum(), degrees), stats.chi2.cdf((scaled**2).sum(), degrees))
    centre = stats.chi2.sf(len(scaled) * (scaled.mean(axis=0) ** 2).sum(), scaled.shape[1])
    return min(two_sided, centre)


@pytest.fixture(scope="session")
def exact():
    functions = (columns_support, channel_of, joint_law, p_value, quadratic_p_value)
    return SimpleNamespace(**{function.__name__: function for function in functions})
