"""Errors of the AAA paper, by integration and by random distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from mechdesign.methods.registry import solve
from mechdesign.papers.claims import HOLDS, REPLACED, aaa, judge, named
from tests.methods import problems


def test_no_noise_and_no_distribution_exceed_the_larger_quotient():
    """2,000 noises and distributions on five values, some values thought rarer by psi; some are near the bound."""
    rng, psi, found = np.random.default_rng(19), 0.5, []
    while len(found) < 2000:
        true, rarer = rng.dirichlet(np.ones(5)), rng.random(5) < 0.5
        share = true[rarer].sum()
        if share > 0.5:
            continue
        thought = true * np.where(rarer, 1 - psi, 1 + psi * share / (1 - share))
        assert (np.abs(true - thought) <= psi * true + 1e-12).all()
        noise = rng.lognormal(0, 4, 5)
        found.append(abs(1 - true @ noise / (thought @ noise)))
    assert 0.9 < max(found) <= psi / (1 - psi) + 1e-9


def test_the_smaller_quotient_is_exceeded_by_the_least_noise():
    (claim,) = named(["aaa.claim-3"])
    found = judge(claim)
    assert 1 / 3 < found.ours[0][0] < 1
    assert found.verdict == REPLACED


def test_rounding_to_edges_adds_its_own_variance():
    """Of N(0, 0.2^2) on [-1, 1] with edges 0.25 apart, integrated numerically."""
    law = stats.truncnorm(-5, 5, 0, 0.2)
    edges = np.linspace(-1, 1, 9)
    added = sum(
        integrate.quad(lambda x, a=a, b=b: (x - a) * (b - x) * law.pdf(x), a, b)[0]
        for a, b in zip(edges, edges[1:], strict=False)
    )
    (claim,) = named(["aaa.equation-19"])
    found = judge(claim)
    share = found.ours[0][0]
    certificate = solve(problems.additive(4.0, aaa._WIDER, bins=8)).certificate
    assert share == pytest.approx(certificate.lower / (certificate.upper + added), rel=1e-3)
    assert found.verdict == REPLACED


@pytest.mark.slow
@pytest.mark.parametrize("key", ["aaa.figure-6a", "aaa.figure-6b", "aaa.figure-6c"])
def test_figure_6_holds(key):
    (claim,) = named([key])
    assert judge(claim).verdict == HOLDS
