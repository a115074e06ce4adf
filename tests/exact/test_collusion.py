"""Averaged and conditional privacy of joint responses, against enumeration from the definitions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact import collusion as joint
from mechdesign.exact.collusion import (
    all_lied_ratio,
    averaged_ratio,
    collusion,
    conditional_ratio,
    log_up,
    privacy_of,
    prove_joint_privacy,
)
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods import solve
from tests.methods.problems import joint_problem

PAIR = JointResponse.pair(F(7, 10), F(-1, 5))
FOUR = JointResponse((F(1, 20), F(1, 10), F(1, 5), F(7, 20), F(3, 10)))


def pattern_chance(law, truths):
    return law.weights[sum(truths)] / math.comb(law.group, sum(truths))


def enumerated_conditional(law, known):
    """The worst ratio of a report by enumeration of all truths of a group: the user is member 0."""
    worst = F(0)
    for told in itertools.product((0, 1), repeat=known):
        mass = [F(0), F(0)]
        for truths in itertools.product((0, 1), repeat=law.group):
            if truths[1 : known + 1] == told:
                mass[truths[0]] += pattern_chance(law, truths)
        if sum(mass) == 0:
            continue
        if 0 in mass:
            return None
        others = law.categories - 1
        worst = max(worst, mass[1] * others / mass[0], mass[0] / (others * mass[1]))
    return worst


@pytest.mark.parametrize("categories", [2, 3])
@pytest.mark.parametrize("weights", [PAIR.weights, FOUR.weights, (0, 0, F(1, 4), F(1, 2), F(1, 4))])
def test_the_profile_is_the_enumerated_one(weights, categories):
    law = JointResponse(tuple(weights), categories)
    for known in range(law.group):
        assert conditional_ratio(law, known) == enumerated_conditional(law, known)


def pairings(users):
    if not users:
        yield []
        return
    first, *rest = users
    for partner in rest:
        for more in pairings([user for user in rest if user != partner]):
            yield [(first, partner), *more]


def told_ratio(law, users, colluders):
    """The worst ratio over what all colluders tell, the pairing random and unknown: user 0, colluders the last ones."""
    ways = list(pairings(list(range(users))))
    worst = F(0)
    for told in itertools.product((0, 1), repeat=colluders):
        mass = [F(0), F(0)]
        for way, truths in itertools.product(ways, itertools.product((0, 1), repeat=users)):
            if truths[users - colluders :] == told:
                chance = F(1)
                for i, j in way:
                    chance *= pattern_chance(law, (truths[i], truths[j]))
                mass[truths[0]] += chance
        if all(mass):
            worst = max(worst, mass[1] / mass[0], mass[0] / mass[1])
    return worst


@pytest.mark.parametrize("law", [PAIR, JointResponse.pair(F(3, 5), F(1, 3)), JointResponse.pair(F(3, 4), F(-1, 3))])
@pytest.mark.parametrize("users", [4, 6])
def test_theorem_3_is_what_one_colluder_tells(law, users):
    assert told_ratio(law, users, 1) == averaged_ratio(law, users, 1)


@pytest.mark.parametrize("law", [PAIR, JointResponse.pair(F(3, 5), F(-1, 2))])
@pytest.mark.parametrize(("users", "colluders"), [(4, 2), (6, 2), (6, 3), (6, 4), (6, 5)])
def test_several_colluders_tell_more_than_theorem_3_says(law, users, colluders):
    worst = told_ratio(law, users, colluders)
    assert worst == all_lied_ratio(law, users, colluders)
    assert worst >= averaged_ratio(law, users, colluders)
    assert (worst > averaged_ratio(law, users, colluders)) == (colluders < users - 1)


@pytest.mark.parametrize("law", [PAIR, JointResponse.pair(F(3, 5), F(1, 3)), JointResponse.pair(F(57, 100), F(7, 10))])
@pytest.mark.parametrize(("users", "colluders"), [(4, 1), (4, 3), (6, 2), (6, 5)])
def test_what_truths_tell_at_worst_is_that_of_all_pairings_and_truths(law, users, colluders):
    assert joint.told_ratio(law, users, colluders) == told_ratio(law, users, colluders)


def test_what_truths_tell_at_worst_in_larger_groups_is_that_of_all_orders():
    law, users, colluders = JointResponse((F(1, 20), F(3, 20), F(2, 5), F(2, 5))), 6, 2
    mass = {}
    for order in itertools.permutations(range(users)):
        for truths in itertools.product((0, 1), repeat=users):
            chance = pattern_chance(law, [truths[i] for i in order[:3]])
            chance *= pattern_chance(law, [truths[i] for i in order[3:]])
            found = mass.setdefault(truths[-colluders:], [F(0), F(0)])
            found[truths[0]] += chance
    worst = max(max(true / false, false / true) for false, true in mass.values())
    assert joint.told_ratio(law, users, colluders) == worst


def test_pooled_truths_of_few_parties_tell_more_than_their_average():
    """Of the default law between 8 and 10 parties: 1.707 and 1.740 on average, 2.116 and 2.318 if all of them lied."""
    for users, averaged, told in ((8, 1.707, 2.116), (10, 1.740, 2.318)):
        law = solve(joint_problem(1.0, users, 1 / users)).mechanism
        pooled = (users - 1) // 2
        assert log_up(averaged_ratio(law, users, pooled)) == pytest.approx(averaged, abs=1e-3)
        assert log_up(joint.told_ratio(law, users, pooled)) == pytest.approx(told, abs=1e-3)
        assert joint.told_ratio(law, users, pooled) == all_lied_ratio(law, users, pooled)


def test_so_many_users_are_left_to_the_closed_form():
    with pytest.raises(InvalidInput, match="users"):
        joint.told_ratio(PAIR, 202, 3)


def test_with_positive_correlation_it_is_not_the_liars_who_tell_most():
    law = JointResponse.pair(F(57, 100), F(7, 10))
    assert round(float(all_lied_ratio(law, 4, 1)), 3) == 1.288
    assert round(float(told_ratio(law, 4, 1)), 3) == 2.033


def test_counts_from_numpy_are_taken():
    assert privacy_of(PAIR, np.int64(100), np.int64(5)) == privacy_of(PAIR, 100, 5)
    assert all_lied_ratio(PAIR, np.int64(4), np.int64(2)) == F(77, 18)


def test_at_500_colluders_the_heuristic_s_epsilon_is_1_0695_on_average_and_1_0732_if_all_lied():
    p = exp_lower(1.0) / (1 + exp_lower(1.0))
    law = JointResponse.pair(p, 1 - 1 / p)
    assert round(log_up(averaged_ratio(law, 10000, 500)), 4) == 1.0695
    assert round(log_up(all_lied_ratio(law, 10000, 500)), 4) == 1.0732


@settings(max_examples=100, deadline=None)
@given(st.fractions(F(51, 100), F(99, 100)), st.fractions(0, 1), st.integers(0, 98))
def test_for_pairs_it_is_theorem_3_as_printed(p, place, m):
    n, q = 100, 1 - p
    low = 1 - 1 / p
    rho = low + place * (1 - low)
    most, least = max((1 - rho) * p, p + rho * q), min((1 - rho) * q, q + rho * p)
    printed = (m * most + (n - m - 1) * p) / (m * least + (n - m - 1) * q)
    assert averaged_ratio(JointResponse.pair(p, rho), n, m) == printed


def test_the_paper_s_two_closed_forms():
    n, m, p = 100, 7, F(7, 10)
    for rho in (F(-1, 5), F(1, 5)):
        rest = n - 1 - m * rho
        printed = -1 + (n - 1) / ((n - 1) - rest * p) if rho < 0 else -1 + (n - 1) / (rest * (1 - p))
        assert averaged_ratio(JointResponse.pair(p, rho), n, m) == printed


def test_independent_answers_have_the_same_loss_whoever_colludes():
    law = JointResponse.independent(F(3, 4), 4)
    assert {conditional_ratio(law, c) for c in range(4)} == {F(3)}
    assert averaged_ratio(law, 8, 5) == 3


def test_at_the_paper_s_heuristic_the_profile_is_infinite():
    p = F(3, 4)
    privacy = privacy_of(JointResponse.pair(p, 1 - 1 / p), 10000, 500)
    assert privacy.if_your_partner_colludes == math.inf
    assert privacy.averaged < 1.2


def test_knowing_more_partners_never_tells_less():
    profile = privacy_of(FOUR, 100).conditional
    assert list(profile) == sorted(profile)


def test_colluders_in_a_group_are_hypergeometric():
    chances = collusion(20, 6, 4)
    assert sum(chances) == 1
    assert chances[0] == F(math.comb(13, 3), math.comb(19, 3))
    assert sum(c * h for c, h in enumerate(chances)) == F(3 * 6, 19)


def test_all_others_colluding_is_the_end_of_the_profile():
    assert averaged_ratio(FOUR, 8, 7) == conditional_ratio(FOUR, 3)
    assert averaged_ratio(JointResponse((0, F(1, 2), F(1, 2))), 8, 7) is None


def test_a_budget_is_compared_with_a_rational_lower_bound():
    budget = exp_lower(1.0)
    keeps = JointResponse.pair(budget / (1 + budget), 0)
    prove_joint_privacy(keeps, 1.0, 10, 0)
    above = exp_upper(1.0)
    with pytest.raises(CheckFailed, match="averaged"):
        prove_joint_privacy(JointResponse.pair(above / (1 + above), 0), 1.0, 10, 0)


def test_a_broken_cap_is_named():
    prove_joint_privacy(FOUR, 2.0, 100, 0, (None, None, 3.0))
    with pytest.raises(CheckFailed, match="with 2 known"):
        prove_joint_privacy(FOUR, 2.0, 100, 0, (None, 0.9))
    with pytest.raises(CheckFailed, match="inf"):
        prove_joint_privacy(JointResponse((0, F(1, 2), F(1, 2))), 2.0, 100, 0, (9.0,))


@settings(max_examples=100, deadline=None)
@given(st.fractions(1, 10**6))
def test_logarithms_are_rounded_up_by_next_to_nothing(ratio):
    value = log_up(ratio)
    assert exp_lower(value) >= ratio or ratio == 1
    assert value <= math.log(ratio) * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("colluders", [-1, 100, 1.5, True])
def test_a_wrong_number_of_colluders_is_refused(colluders):
    with pytest.raises(InvalidInput, match="colluders"):
        privacy_of(PAIR, 100, colluders)
