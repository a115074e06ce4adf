"""Joint randomised response: its tables, its variance against enumeration, its sampler."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms.joint import JointResponse, alignment, rho_range
from mechdesign.values.codec import Codec, encoded

RATE = 1e-6
EXAMPLE = JointResponse((F(0), F(2, 5), F(3, 5)))


def partitions(users, group):
    """Every way to divide users into groups."""
    if not users:
        yield []
        return
    first, *rest = users
    for others in itertools.combinations(rest, group - 1):
        left = [user for user in rest if user not in others]
        for more in partitions(left, group):
            yield [(first, *others), *more]


def patterns(law):
    """Every truth pattern of a group with its probability, from the definition of exchangeability."""
    for truths in itertools.product((0, 1), repeat=law.group):
        count = sum(truths)
        same = sum(1 for other in itertools.product((0, 1), repeat=law.group) if sum(other) == count)
        yield truths, law.weights[count] / same


def enumerated_variance(law, values):
    """The variance of the estimate of ones by enumeration of groupings and truths."""
    ways = list(partitions(list(range(len(values))), law.group))
    first = second = F(0)
    for way in ways:
        sums = {0: F(1)}
        for members in way:
            step = {}
            for truths, chance in patterns(law):
                ones = sum(values[i] if t else 1 - values[i] for i, t in zip(members, truths, strict=True))
                for total, mass in sums.items():
                    step[total + ones] = step.get(total + ones, F(0)) + mass * chance
            sums = step
        first += sum(total * mass for total, mass in sums.items()) / len(ways)
        second += sum(total**2 * mass for total, mass in sums.items()) / len(ways)
    return (second - first**2) / (law.truth - law.lie) ** 2, first


def test_examples_2_and_3_of_the_paper():
    assert float(JointResponse.pair(F(4, 5), 0).variance(2, 2)) == pytest.approx(8 / 9, abs=1e-15)
    assert EXAMPLE.variance(2, 2) == F(2, 3)
    assert round(8 / 9, 2) == 0.89
    assert round(2 / 3, 2) == 0.67


def test_table_4_2_has_the_paper_s_entries():
    p, rho = F(7, 10), F(-1, 5)
    q = 1 - p
    law = JointResponse.pair(p, rho)
    assert law.weights == (q * q + rho * p * q, 2 * (1 - rho) * p * q, p * p + rho * p * q)
    assert (law.truth, law.lie, law.correlation, law.rho) == (p, q, rho, rho)


@pytest.mark.parametrize("p", [0.731, 0.6, 0.75, 0.999, math.exp(1) / (1 + math.exp(1))])
def test_the_rule_of_the_chapter_typed_in_doubles_is_the_exact_boundary(p):
    law = JointResponse.pair(p, 1 - 1 / p)
    assert law.weights[0] == 0
    assert law.truth == F(p)
    assert law.rho == 1 - 1 / F(p)


def test_a_double_beyond_rounding_of_the_boundary_is_refused():
    with pytest.raises(InvalidInput, match="rho must lie between"):
        JointResponse.pair(0.731, 1 - 1 / 0.731 - 1e-12)


def test_a_fraction_is_taken_as_it_is():
    beyond = 1 - 1 / F(3, 4) - F(1, 10**30)
    with pytest.raises(InvalidInput, match="rho must lie between"):
        JointResponse.pair(F(3, 4), beyond)
    inside = JointResponse.pair(F(3, 4), beyond + F(2, 10**30))
    assert 0 < inside.weights[0] < F(1, 10**29)


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_the_k_ary_table_is_section_4_5_s_and_its_correlation_is_rho_over_k_minus_1(categories):
    k, p, rho = categories, F(3, 5), F(-1, 5)
    q = (1 - p) / (k - 1)
    law = JointResponse.pair(p, rho, k)
    assert law.weights[2] == p * p + rho * p * q
    assert law.weights[1] == 2 * (k - 1) * (p * q - rho * p * q / (k - 1))
    assert law.weights[0] == (k - 1) ** 2 * (q * q + rho * p * q / (k - 1) ** 2)
    assert law.correlation == rho / (k - 1)
    assert law.rho == rho


@settings(max_examples=60, deadline=None)
@given(st.fractions(F(51, 100), F(99, 100)), st.fractions(0, 1), st.sampled_from([2, 3, 7]))
def test_the_paper_s_range_of_rho_is_where_a_table_exists(p, place, categories):
    low, high = rho_range(p, categories)
    JointResponse.pair(p, low + place * (high - low), categories)
    for beyond in (low - F(1, 1000), high + F(1, 1000)):
        with pytest.raises(InvalidInput, match="rho"):
            JointResponse.pair(p, beyond, categories)


@pytest.mark.parametrize(
    ("law", "values"),
    [
        (EXAMPLE, [1, 1]),
        (EXAMPLE, [1, 0, 1, 1]),
        (JointResponse.pair(F(3, 4), F(-1, 3)), [1, 0, 0, 0, 0, 0]),
        (JointResponse.pair(F(3, 5), F(1, 2)), [1, 1, 1, 0, 0, 0, 0, 0]),
        (JointResponse.pair(F(2, 3), F(-1, 4)), [1] * 8),
        (JointResponse((F(1, 10), F(1, 10), F(3, 10), F(1, 2))), [1, 1, 0, 0, 0, 0]),
        (JointResponse((0, 0, F(1, 5), F(3, 5), F(1, 5))), [1, 1, 1, 0, 0, 1, 1, 0]),
    ],
)
def test_theorem_4_is_the_variance_by_enumeration_and_the_estimate_is_unbiased(law, values):
    variance, mean = enumerated_variance(law, values)
    assert law.variance(len(values), sum(values)) == variance
    assert (mean - len(values) * law.lie) / (law.truth - law.lie) == sum(values)


def test_theorem_4_as_printed():
    p, rho, n, n1 = F(7, 10), F(-1, 4), 100, 13
    q = 1 - p
    printed = p * q / (p - q) ** 2 * (n + rho * F((2 * n1 - n) ** 2 - n, n - 1))
    assert JointResponse.pair(p, rho).variance(n, n1) == printed


@pytest.mark.parametrize("categories", [3, 4])
def test_the_k_ary_variance_by_enumeration(categories):
    k, law = categories, JointResponse.pair(F(3, 5), F(-1, 5), categories)
    values = [0, 0, 1, 2]
    first = second = F(0)
    ways = list(partitions(list(range(4)), 2))
    for way, reports in itertools.product(ways, itertools.product(range(k), repeat=4)):
        mass = F(1, len(ways))
        for i, j in way:
            true = (reports[i] == values[i]) + (reports[j] == values[j])
            mass *= [law.weights[0] / (k - 1) ** 2, law.weights[1] / 2 / (k - 1), law.weights[2]][true]
        ones = reports.count(0)
        first, second = first + mass * ones, second + mass * ones**2
    assert law.variance(4, 2) == (second - first**2) / (law.truth - law.lie) ** 2


def test_alignment_changes_sign_at_the_paper_s_distance_from_half():
    n = 10000
    edge = n / 2 - np.sqrt(n) / 2
    assert alignment(n, int(edge) - 1, 2, 2) > 0 > alignment(n, int(edge) + 2, 2, 2)
    assert alignment(n, int(edge), 2, 2) == 0


@pytest.mark.parametrize("law", [EXAMPLE, JointResponse((0, 0, F(1, 4), F(1, 2), F(1, 4)), 3)])
def test_the_number_of_truths_in_a_sampled_group_follows_the_weights(law):
    """Chi-square, n = 20000 groups, false positives 1e-6; 3% off in a weight of 1/4 is found with power above 0.99."""
    rng = np.random.default_rng(20)
    users = law.group
    counts = np.bincount([int(law.truths(users, rng).sum()) for _ in range(20000)], minlength=users + 1)
    possible = law.chances() > 0
    assert counts[~possible].sum() == 0
    statistic, expected = 0.0, 20000 * law.chances()[possible]
    statistic = float(((counts[possible] - expected) ** 2 / expected).sum())
    assert statistic < stats.chi2.isf(RATE, possible.sum() - 1)


def test_sampled_reports_have_the_exact_mean_and_variance():
    """z and variance tests, n = 20000 populations, false positives 1e-6 each; 6% off in the variance is found."""
    rng, trials = np.random.default_rng(21), 20000
    law, values = JointResponse.pair(F(3, 4), F(-1, 3)), np.repeat([1, 0], [3, 17])
    estimates = law.estimate([law.perturb(values, rng).sum() for _ in range(trials)], 20)
    exact = float(law.variance(20, 3))
    assert abs(estimates.mean() - 3) < stats.norm.isf(RATE / 2) * np.sqrt(exact / trials)
    fourth = np.mean((estimates - 3) ** 4)
    assert abs(estimates.var() - exact) < stats.norm.isf(RATE / 2) * np.sqrt((fourth - exact**2) / trials)


def test_lies_are_spread_over_all_other_categories():
    """Chi-square, n = 20000 users, false positives 1e-6."""
    law = JointResponse((F(1, 2), 0, F(1, 2)), 4)
    reports = law.perturb(np.full(20000, 2), np.random.default_rng(4))
    lies = np.bincount(reports, minlength=4)[[0, 1, 3]]
    assert stats.chisquare(lies).pvalue > RATE


def test_the_same_seed_gives_the_same_reports():
    values = np.arange(100) % 2
    first, again = (EXAMPLE.perturb(values, np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(first, again)


def test_a_law_survives_its_file():
    law = JointResponse.pair(F(2, 3), F(-1, 7), 4)
    document = encoded(law)
    assert document.keys() == {"kind", "categories", "group", "p", "rho", "weights"}
    assert document["weights"] == [str(weight) for weight in law.weights]
    assert Codec().decoded(JointResponse, document, "mechanism") == law


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"p": 0.9}, "mechanism p"),
        ({"rho": 0.0}, "mechanism rho"),
        ({"group": 3}, "mechanism group"),
        ({"categories": 1}, "mechanism categories"),
        ({"categories": 4.0}, "mechanism categories"),
        ({"weights": [0.5, 0.25, 0.25]}, "mechanism weights"),
        ({"weights": ["1/2", "1/4", "1/5"]}, "mechanism weights"),
        ({"weights": ["1e999999999", "0", "0"]}, "mechanism weights"),
        ({"weights": ["1" * 10_000, "0", "0"]}, "mechanism weights"),
    ],
)
def test_a_law_that_was_changed_in_its_file_is_refused(change, place):
    law = JointResponse.pair(F(2, 3), F(-1, 7), 4)
    with pytest.raises(FileProblem) as caught:
        Codec().decoded(JointResponse, encoded(law) | change, "mechanism")
    assert caught.value.field == place


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (lambda: JointResponse((0.5, 0.5)), "weights"),
        (lambda: JointResponse((0.1, 0.2, 0.3)), "weights"),
        (lambda: JointResponse((-1, 1, 1)), "weights"),
        (lambda: JointResponse((0, 1, 0)), "weights"),
        (lambda: JointResponse((0, 0, float("nan"))), "weights"),
        (lambda: JointResponse((0, 0, 1), 1), "categories"),
        (lambda: JointResponse.pair(0.5, 0), "p"),
        (lambda: JointResponse.pair(0.7, -0.5), "rho"),
        (lambda: JointResponse.independent(1.5), "p"),
        (lambda: JointResponse.independent(0.7, 1), "group"),
        (lambda: EXAMPLE.variance(3, 1), "users"),
        (lambda: EXAMPLE.variance(4, 5), "count"),
        (lambda: EXAMPLE.truths(7, np.random.default_rng(1)), "users"),
        (lambda: EXAMPLE.perturb([0, 2], np.random.default_rng(1)), "values[1]"),
        (lambda: EXAMPLE.perturb([0.5, 1], np.random.default_rng(1)), "values"),
        (lambda: EXAMPLE.perturb([0, 1], 7), "rng"),
        (lambda: EXAMPLE.likelihoods(2, 0), "known"),
    ],
)
def test_bad_input_names_its_field(action, field):
    with pytest.raises(InvalidInput) as caught:
        action()
    assert caught.value.field == field
