"""Batches of collections: the protocols' own laws, replayable, coupled over epsilon, measured as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets.constraint import Constraint
from mechdesign.studies.budgets.populations import msnbc_like, zipf_like
from mechdesign.studies.budgets.simulation import (
    _AT_ONCE,
    COMMON,
    ProtocolFamily,
    Question,
    binomial_quantile,
    collections,
    coupled_collections,
    holds,
    measured,
)
from mechdesign.studies.frequencies import metrics
from mechdesign.studies.frequencies.protocols import protocol

COUNTS = np.array([60, 30, 10])
KENDALL = Constraint("kendall", 0.5, 0.9)


@given(
    st.lists(
        st.tuples(
            st.floats(1e-9, 1 - 1e-9), st.integers(0, 3000), st.sampled_from([0.0, 1e-9, 0.01, 0.3, 0.5, 0.97, 1.0])
        ),
        min_size=1,
        max_size=40,
    )
)
def test_binomial_quantiles_are_the_least_that_reach_the_chance(cases):
    u, n, p = (np.array(column) for column in zip(*cases, strict=True))
    x = binomial_quantile(u, n, p)
    assert ((x >= 0) & (x <= n) & (x == np.floor(x))).all()
    assert (stats.binom.cdf(x, n, p) >= u - 1e-12).all()
    assert (stats.binom.cdf(x - 1, n, p) < u + 1e-12).all()


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "the", "l-grr", "l-osue"])
@pytest.mark.parametrize("draw", [collections, coupled_collections])
def test_supports_have_the_protocol_s_means_and_covariances(name, draw):
    """Means by z-test, every entry of the covariance matrix by its normal law; 12 cases x 9 tests at 1e-5 each.

    Seed 5, n = 40,000 collections; false-positive rate below 1.1e-3. A mean off by 0.03 deviations is found with
    probability 0.94.
    """
    law = protocol(name, 1.0, 3)
    drawn = draw(law, COUNTS, 40_000, np.random.default_rng(5))
    estimates = (drawn / 100 - law.q) / (law.p - law.q)
    expected = law.covariance(COUNTS / 100, 100)
    bar = stats.norm.isf(1e-5 / 2)
    deviations = np.sqrt(np.diag(expected))
    assert (np.abs(estimates.mean(axis=0) - COUNTS / 100) < bar * deviations / 200).all()
    found = np.cov(estimates.T)
    spread = np.sqrt((expected**2 + np.outer(deviations**2, deviations**2)) / 40_000)
    assert (np.abs(found - expected) < 1.1 * bar * spread).all()


@pytest.mark.parametrize("name", ["grr", "oue", "ss", "hr", "she", "sw"])
def test_batches_can_be_replayed(name):
    question = Question(name, COUNTS, KENDALL, seed=3)
    first = question.values(1.0, 2, 7)
    assert (question.values(1.0, 2, 7) == first).all()
    assert not (question.values(1.0, 2, 8) == first).all()
    assert not (question.values(1.0, 3, 7) == first).all()


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "olh"])
def test_common_random_numbers_couple_nearby_epsilons(name):
    """The errors of the same collection at eps 1 and 1.05 are nearly the same: correlation above 0.99."""
    first, second = (
        coupled_collections(protocol(name, eps, 17), msnbc_like(), 200, np.random.default_rng(1)) for eps in (1.0, 1.05)
    )
    both = [(drawn - drawn.mean(axis=0)) / drawn.std(axis=0) for drawn in (first, second)]
    assert np.mean(both[0] * both[1]) > 0.99
    apart = coupled_collections(protocol(name, 1.05, 17), msnbc_like(), 200, np.random.default_rng(2))
    assert abs(np.mean(both[0] * (apart - apart.mean(axis=0)) / apart.std(axis=0))) < 0.1


@pytest.mark.parametrize("name", sorted(metrics.METRICS))
def test_metrics_of_many_rows_are_those_of_each(name):
    rng = np.random.default_rng(0)
    truth = np.array([0.4, 0.2, 0.2, 0.15, 0.05, 0.0])
    rows = np.concatenate(
        [truth + rng.normal(0, 0.1, (30, 6)), np.zeros((1, 6)), np.maximum(rng.normal(0, 1, (30, 6)), 0)]
    )
    found = measured(Constraint(name, 0.5, 0.9), truth, rows)
    assert found == pytest.approx([metrics.metric(name).measure(truth, row) for row in rows], abs=1e-12)
    assert name in _AT_ONCE or name in ("kl", "kl-reversed", "top", "prefix", "ranges")


def test_holds_agrees_with_the_constraint():
    values = np.array([0.1, 0.5, 0.9])
    for name in ("kendall", "l1"):
        wish = Constraint(name, 0.5, 0.9)
        assert holds(wish, values).tolist() == [wish.holds(value) for value in values]


def test_post_processing_is_applied():
    # the point of a convex set nearest to the estimate is nearer to every point of the set
    raw = Question("oue", COUNTS, Constraint("l2", 0.5, 0.9), seed=1)
    sub = Question("oue", COUNTS, Constraint("l2", 0.5, 0.9), method="norm-sub", seed=1)
    assert (sub.values(0.5, 1, 0) <= raw.values(0.5, 1, 0) + 1e-12).all()


def test_digests_tell_questions_apart():
    asked = [
        Question("oue", COUNTS, KENDALL),
        Question("grr", COUNTS, KENDALL),
        Question("oue", COUNTS + 1, KENDALL),
        Question("oue", COUNTS, Constraint("kendall", 0.6, 0.9)),
        Question("oue", COUNTS, KENDALL, method="norm"),
        Question("oue", COUNTS, KENDALL, seed=1),
    ]
    assert len({question.digest for question in asked}) == len(asked)
    assert Question("rappor", COUNTS, KENDALL).digest == Question("sue", COUNTS, KENDALL).digest


def test_a_family_may_be_any_function():
    question = Question(lambda eps, k: protocol("oue", eps, k), COUNTS, KENDALL)
    assert (question.values(1.0, COMMON, 0) == Question("oue", COUNTS, KENDALL).values(1.0, COMMON, 0)).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ProtocolFamily("rsa"), "protocol"),
        (lambda: Question(3, zipf_like(4, 10), KENDALL), "protocol"),
        (lambda: Question("oue", np.array([1]), KENDALL), "counts"),
        (lambda: Question("oue", np.array([0, 0]), KENDALL), "counts"),
        (lambda: Question("oue", np.array([1, -1]), KENDALL), "counts"),
        (lambda: Question("oue", np.array([0.5, 0.5]), KENDALL), "counts"),
        (lambda: Question("oue", zipf_like(4, 10), KENDALL, method="norm-max"), "method"),
        (lambda: Question("oue", zipf_like(4, 10), KENDALL, seed=-1), "seed"),
    ],
)
def test_bad_questions_are_refused(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()


@pytest.mark.parametrize("n", [10**5, 10**7, 10**9])
def test_binomials_of_many_users_are_the_least_whole_numbers_that_reach_their_chance(n):
    chances = np.random.default_rng(8).random(500)
    for p in (0.5, 0.003):
        found = binomial_quantile(chances, np.full(500, n), p)
        assert (stats.binom.cdf(found, n, p) >= chances - 1e-10).all()
        assert (stats.binom.cdf(found - 1, n, p) < chances + 1e-10).all()


def test_questions_that_differ_in_late_digits_keep_simulations_of_their_own():
    wishes = [Constraint("kendall", threshold, 0.9) for threshold in (0.7, 0.70000001)]
    first, second = (Question("grr", msnbc_like(1000), wish).digest for wish in wishes)
    assert first != second
