"""Joint responses inside unary encoding and local hashing."""

from __future__ import annotations

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.joint_encodings import JointHashing, JointUnary, best_hashes

RATE = 1e-6
OUE = JointUnary.optimised(F(3), 3, F(4, 5))
VALUES = np.repeat([0, 1, 2], [20, 50, 10])


def joint_bits(unary, first, second):
    """P(reports of two bits) over the hidden numbers: areas of rectangles, lengths of the antidiagonal."""
    cut = {1: unary.one, 0: 1 - unary.zero}
    table = {}
    for true_first, true_second in itertools.product((True, False), repeat=2):
        a = (F(0), cut[first]) if true_first else (cut[first], F(1))
        b = (F(0), cut[second]) if true_second else (cut[second], F(1))
        area = (a[1] - a[0]) * (b[1] - b[0])
        line = max(F(0), min(a[1], 1 - b[0]) - max(a[0], 1 - b[1]))
        key = (first if true_first else 1 - first, second if true_second else 1 - second)
        table[key] = unary.strength * line + (1 - unary.strength) * area
    return table


@pytest.mark.parametrize("unary", [OUE, JointUnary.of_binary(F(3, 4), F(-1, 4), 3)])
def test_the_variance_is_that_of_enumerated_pairs(unary):
    """Two users of four hold the category; all three pairings, all reports."""
    bits = [1, 1, 0, 0]
    first = second = F(0)
    for way in ([(0, 1), (2, 3)], [(0, 2), (1, 3)], [(0, 3), (1, 2)]):
        tables = [joint_bits(unary, bits[i], bits[j]) for i, j in way]
        for (a, x), (b, y) in itertools.product(tables[0].items(), tables[1].items()):
            ones = sum(a) + sum(b)
            first, second = first + x * y * ones / 3, second + x * y * ones**2 / 3
    exact = (second - first**2) / (unary.one - unary.zero) ** 2
    assert unary.variance(4, 2) == exact


def test_the_paper_s_binary_response_on_every_bit_is_a_special_case():
    p, rho = F(3, 4), F(-1, 5)
    assert JointUnary.of_binary(p, rho, 5).variance(100, 7) == JointResponse.pair(p, rho).variance(100, 7)


@pytest.mark.parametrize("unary", [OUE, JointUnary.optimised(F(3), 3, 1), JointUnary.of_binary(F(3, 4), F(-1, 4), 3)])
def test_sampled_support_has_the_exact_mean_and_variance(unary):
    """n = 3000 populations, false positives 1e-6 each of 6; 15% off in a variance is found with power above 0.9."""
    rng, trials = np.random.default_rng(31), 3000
    estimates = unary.estimate(np.array([unary.support(VALUES, rng) for _ in range(trials)]), VALUES.size)
    check_moments(estimates, [unary.variance(VALUES.size, count) for count in (20, 50, 10)])


def test_sampled_support_of_hashing_has_the_exact_mean_and_variance():
    """As above."""
    hashing = JointHashing(JointResponse.pair(F(1, 2), F(-1, 2), 4), 3)
    rng, trials = np.random.default_rng(32), 3000
    estimates = hashing.estimate(np.array([hashing.support(VALUES, rng) for _ in range(trials)]), VALUES.size)
    check_moments(estimates, [hashing.variance(VALUES.size, count) for count in (20, 50, 10)])


def check_moments(estimates, variances):
    for x, count in enumerate((20, 50, 10)):
        exact, sample = float(variances[x]), estimates[:, x]
        spread = np.sqrt(exact / sample.size)
        assert abs(sample.mean() - count) < stats.norm.isf(RATE / 2) * spread
        fourth = np.mean((sample - count) ** 4)
        error = np.sqrt((fourth - exact**2) / sample.size)
        assert abs(np.mean((sample - count) ** 2) - exact) < stats.norm.isf(RATE / 2) * error


def test_oue_keeps_its_epsilon_alone_and_loses_it_to_a_known_partner():
    assert OUE.independent.ratio() == OUE.independent.conditional_ratio() == 3
    assert JointUnary.optimised(F(3), 3, 1).conditional_ratio() is None
    assert OUE.conditional_ratio() > 3


def test_the_conditional_ratio_by_enumeration():
    """The partner holds each value in turn; the user's own value is 0 or 1, all reports of the bits 0 and 1."""
    worst = F(0)
    for partner in range(3):
        held = [int(partner == x) for x in (0, 1)]
        for mine, theirs in itertools.product(itertools.product((0, 1), repeat=2), repeat=2):
            chance = []
            for own in ((1, 0), (0, 1)):
                tables = [joint_bits(OUE, own[x], held[x]) for x in (0, 1)]
                chance.append(tables[0][mine[0], theirs[0]] * tables[1][mine[1], theirs[1]])
            worst = max(worst, chance[0] / chance[1])
    assert OUE.conditional_ratio() == worst


def test_hashing_gains_next_to_nothing_for_rare_values_and_something_for_frequent_ones():
    law = JointResponse.pair(F(1, 2), F(-1, 2), 4)
    alone = JointResponse.pair(F(1, 2), 0, 4)
    gains = [
        1 - float(JointHashing(law, 100).variance(10000, n) / JointHashing(alone, 100).variance(10000, n))
        for n in (10, 100, 5000, 10000)
    ]
    assert gains[0] < 1e-5
    assert gains[1] < 1e-4
    assert gains[2] > 0.04
    assert gains[3] > 0.16


def test_the_best_number_of_hashes_is_found_exactly():
    assert best_hashes(1.0, 10000, 0.0) == 4
    assert best_hashes(2.0, 10000, 0.0) == 8


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (lambda: JointUnary(3, F(1, 3), F(1, 4), F(0)), "bits"),
        (lambda: JointUnary(3, F(1, 2), F(1, 2), F(0)), "bits"),
        (lambda: JointUnary(3, F(1, 2), F(1, 4), F(2)), "strength"),
        (lambda: JointUnary.optimised(F(1), 3, 0), "ratio"),
        (lambda: JointUnary.of_binary(F(3, 4), F(1, 4), 3), "rho"),
        (lambda: OUE.support(VALUES[:3], np.random.default_rng(1)), "users"),
        (lambda: OUE.support([3, 3], np.random.default_rng(1)), "values[0]"),
    ],
)
def test_bad_input_names_its_field(action, field):
    with pytest.raises(InvalidInput) as caught:
        action()
    assert caught.value.field == field
