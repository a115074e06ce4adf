"""Exchangeable groups: the spec's numbers, the closed form of pairs as a special case, caps by exact enumeration."""

from __future__ import annotations

import itertools
import math
import re
import time
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from mechdesign.errors import NoAnswer
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods import solve
from mechdesign.methods.joint import search as joint
from mechdesign.methods.joint.grouping import grouping_of
from mechdesign.methods.joint.groups import _BoxSearch, search_groups
from mechdesign.methods.joint.search import ratio
from mechdesign.values.clock import Clock
from tests.methods.problems import joint_problem

SPEC = {"epsilon": 1.0, "users": 10000, "share": 0.033}


@pytest.mark.parametrize(
    ("group", "caps", "variance"),
    [(2, (), 6252.1), (4, (), 1890.4), (8, (), 1831.8), (2, (1.0,), 9206.7), (8, (1.0,), 4787.1)],
)
def test_the_numbers_of_the_spec(group, caps, variance):
    design = solve(joint_problem(**SPEC, group=group, caps=caps))
    assert round(design.certificate.upper, 1) == variance
    assert round(grouping_of(design.problem).independent_variance, 1) == 9206.7
    assert design.certificate.relative_gap < 1e-8
    assert not design.certificate.claimed


def test_a_capped_pair_gains_nothing_and_a_capped_group_of_8_has_p_of_5_eighths():
    assert solve(joint_problem(**SPEC, caps=(1.0,))).mechanism.rho == 0
    assert round(float(solve(joint_problem(**SPEC, group=8, caps=(1.0,))).mechanism.truth), 4) == 0.6250


def test_with_every_partner_capped_at_eps_no_group_gains():
    for group in (4, 8):
        design = solve(joint_problem(**SPEC, group=group, caps=(1.0,) * (group - 1)))
        assert design.certificate.lower == pytest.approx(grouping_of(design.problem).independent_variance, rel=1e-6)


def test_capped_groups_keep_every_cap_by_enumeration_of_all_truths():
    caps = (0.9, 1.5, 2.5)
    design = solve(joint_problem(1.0, 996, 0.05, group=6, caps=caps))
    law = design.mechanism
    for known, cap in enumerate((1.0, *caps)):
        for told in itertools.product((0, 1), repeat=known):
            mass = [F(0), F(0)]
            for truths in itertools.product((0, 1), repeat=6):
                if truths[1 : known + 1] == told:
                    mass[truths[0]] += law.weights[sum(truths)] / math.comb(6, sum(truths))
            assert mass[1] <= exp_lower(cap) * mass[0]
            assert mass[0] <= exp_lower(cap) * mass[1]


def scanned(problem, points):
    """The least variance over a grid of p, each by an independent solver on rows written out again."""
    g, n = problem.group, problem.users
    count = problem.count
    spread = (2 * count - n) ** 2 - n
    rows = []
    for known, cap in ((0, problem.epsilon), *enumerate(problem.privacy.caps, start=1)):
        for told in range(known + 1):
            pair = np.zeros((2, g + 1))
            for mine in (0, 1):
                for t in range(g + 1):
                    others = t - told - mine
                    if 0 <= others <= g - 1 - known:
                        pair[mine, t] = math.comb(g - 1 - known, others) / math.comb(g, t)
            rows += [pair[1] - math.exp(cap) * pair[0], pair[0] - math.exp(cap) * pair[1]]
    t = np.arange(g + 1)
    best = math.inf
    for p in points:
        found = linprog(t * t, A_ub=rows, b_ub=np.full(len(rows), 1e-11), A_eq=[np.ones(g + 1), t], b_eq=[1, g * p])
        if found.status == 0:
            covariance = (found.fun - g * p) / (g * (g - 1)) - p * p
            value = (n * p * (1 - p) + covariance * (g - 1) / (n - 1) * spread) / (2 * p - 1) ** 2
            best = min(best, value)
    return best


@pytest.mark.parametrize(("group", "caps"), [(3, (1.5,)), (4, ()), (6, (1.2, 2.0))])
def test_a_grid_of_programs_by_another_route_finds_nothing_better(group, caps):
    problem = joint_problem(1.0, 1200, 0.05, group=group, caps=caps)
    certificate = solve(problem).certificate
    grid = scanned(grouping_of(problem), np.linspace(0.55, 1 / (1 + math.exp(-1)), 60))
    assert certificate.lower <= grid * (1 + 1e-7)
    assert grid <= certificate.upper * 1.1


@pytest.mark.parametrize("colluders", [0, 20, 200])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.5])
@pytest.mark.parametrize("caps", [(), (2.0,)])
def test_for_pairs_the_search_agrees_with_the_closed_form(colluders, share, caps):
    problem = joint_problem(1.0, 1000, share, colluders=colluders, caps=caps)
    closed = solve(problem).certificate
    asked = grouping_of(problem)
    limits = asked.limits(up=True), asked.limits(up=False, margin=1e-10)
    found = search_groups(asked.goal(), *limits, 1e-4, Clock(20.0))
    assert float(found.evidence.value(asked)) <= closed.upper * (1 + 1e-12)
    assert float(found.evidence.value(asked)) >= closed.upper * (1 - 2e-4)


@pytest.mark.parametrize(
    ("group", "colluders", "categories"), [(4, 5, 2), (4, 500, 2), (8, 500, 2), (4, 9999, 2), (3, 300, 4), (2, 300, 3)]
)
def test_with_colluders_the_interval_closes_to_the_gap_asked_for(group, colluders, categories):
    users = 9999 if group == 3 else 10000
    colluders = min(colluders, users - 1)
    problem = joint_problem(1.0, users, 0.033, colluders=colluders, group=group, categories=categories)
    design = solve(problem)
    assert design.certificate.relative_gap <= 1.01e-3
    assert design.certificate.account.losses.averaged <= 1.0
    assert design.certificate.upper <= grouping_of(design.problem).independent_variance * (1 + 1e-6)


def test_more_colluders_never_help_and_larger_groups_do_here():
    variances = [solve(joint_problem(**SPEC, group=4, colluders=m)).certificate for m in (0, 10, 100, 1000)]
    for fewer, more in itertools.pairwise(variances):
        assert fewer.lower <= more.upper
    assert ratio(solve(joint_problem(**SPEC, group=8, colluders=500))) < 0.36


@settings(max_examples=15, deadline=None)
@given(st.floats(0.1, 3), st.floats(0, 0.45), st.integers(0, 3), st.sampled_from([3, 4, 6]))
def test_every_group_design_keeps_its_budgets_and_its_interval(eps, share, colluders, group):
    problem = joint_problem(eps, 120, share, colluders=colluders, group=group, caps=(2 * eps,))
    design = solve(problem, gap=3e-2)  # the design itself proves its budgets exactly
    assert design.certificate.lower <= design.certificate.upper
    assert design.certificate.account.losses.conditional[1] <= 2 * eps
    assert design.certificate.upper <= grouping_of(design.problem).independent_variance * (1 + 1e-5)


def test_near_the_even_share_groups_turn_to_positive_correlation():
    design = solve(joint_problem(1.0, 10000, 0.5, group=4))
    assert float(design.mechanism.rho) == pytest.approx(1.0)
    assert ratio(design) < 1


def test_many_counts_on_both_sides_give_independent_answers():
    design = solve(joint_problem(1.0, 10000, (0.1, 0.7), group=4))
    assert design.mechanism.rho == 0
    assert design.certificate.relative_gap < 1e-9


def test_a_range_is_answered_for_its_worst_count():
    ranged, single = (solve(joint_problem(1.0, 10000, share, group=4)) for share in ((0.02, 0.1), 0.1))
    assert ranged.certificate.upper == pytest.approx(single.certificate.upper, rel=1e-9)


def test_a_box_that_no_solver_answers_is_not_dropped(monkeypatch):
    """With programs that fail from the second box on, the bound stays that of the whole."""
    problem = joint_problem(1.0, 10000, 0.033, colluders=500, group=4)
    whole = solve(problem).certificate
    largest, calls = _BoxSearch._largest, []

    def failing(search, program):
        calls.append(1)
        return largest(search, program) if len(calls) < 4 else None

    monkeypatch.setattr(_BoxSearch, "_largest", failing)
    crippled = solve(problem).certificate
    assert crippled.lower < whole.lower
    assert crippled.upper >= whole.lower


@pytest.mark.parametrize(
    ("eps", "users", "share", "colluders"),
    [(4.0, 10000, 0.2, 3000), (12.0, 9600, 0.1, 100), (16.0, 9600, 0.1, 0), (64.0, 9600, 0.1, 0)],
)
def test_where_no_group_gains_the_design_is_exactly_randomised_response(eps, users, share, colluders):
    design = solve(joint_problem(eps, users, share, colluders, group=8))
    assert design.mechanism.rho == 0
    assert design.certificate.upper == pytest.approx(grouping_of(design.problem).independent_variance, rel=1e-9)
    assert design.certificate.relative_gap <= 1e-3


def test_where_no_rounding_of_the_search_is_private_independent_answers_stand_with_an_open_interval(monkeypatch):
    problem = joint_problem(1.0, 1000, 0.05, group=4)
    best = solve(problem)
    loose = JointResponse((F(0), F(0), F(0), F(1, 10), F(9, 10)))
    monkeypatch.setattr(joint, "on_grid", lambda weights, categories, bits: loose)
    design = solve(problem)
    assert design.mechanism.rho == 0
    assert design.certificate.lower == best.certificate.lower < best.certificate.upper < design.certificate.upper


def test_one_deadline_goes_through_all_retries(monkeypatch):
    """No law is ever private, so that every margin is searched again: each has only the time that is left."""
    given = []

    def spied(goal, outer, inner, gap, clock):
        given.append(clock.left())
        time.sleep(0.05)
        return search_groups(goal, outer, inner, gap, clock)

    loose = JointResponse((F(0), F(0), F(0), F(1, 10), F(9, 10)))
    monkeypatch.setattr(joint, "on_grid", lambda weights, categories, bits: loose)
    monkeypatch.setattr("mechdesign.methods.joint.groups.search_groups", spied)
    solve(joint_problem(1.0, 1000, 0.05, group=4), seconds=50.0)
    assert len(given) == 4
    assert all(later <= earlier - 0.05 for earlier, later in itertools.pairwise(given))


def test_a_search_that_is_late_stops_inside_a_box_and_inside_a_trial(monkeypatch):
    """With the time up at once there is one program for the range of p and one for a line, and nothing is tried."""
    asked = grouping_of(joint_problem(1.0, 10000, 0.033, colluders=500, group=8))
    limits = asked.limits(up=True), asked.limits(up=False, margin=1e-10)
    search = _BoxSearch(asked.goal(), *limits, 1e-6, Clock(1e-9))
    with pytest.raises(NoAnswer):
        search.run()
    assert search.programs == 2


def test_the_gap_named_when_the_time_is_up_has_an_answer_at_that_bound(monkeypatch):
    calls = itertools.count()
    monkeypatch.setattr(Clock, "is_over", property(lambda clock: next(calls) > 60))
    asked = grouping_of(joint_problem(1.0, 10000, 0.033, colluders=500, group=8))
    limits = asked.limits(up=True), asked.limits(up=False, margin=1e-10)
    with pytest.raises(NoAnswer) as caught:
        search_groups(asked.goal(), *limits, 1e-6, Clock(20.0))
    monkeypatch.undo()
    assert 3000 < caught.value.lower < 3303.1 < caught.value.upper * (1 + 1e-6)
    named = float(re.search(r"--gap (\S+) has", str(caught.value))[1])
    assert (caught.value.upper - caught.value.lower) / caught.value.upper <= named
    again = search_groups(asked.goal(), *limits, named, Clock(20.0))
    assert float(again.evidence.value(asked)) >= caught.value.lower * (1 - 1e-12)


def test_a_search_without_time_says_what_it_knows():
    problem = joint_problem(1.0, 10000, 0.033, colluders=500, group=8)
    with pytest.raises(NoAnswer) as caught:
        solve(problem, seconds=0.05, gap=1e-6)
    assert 0 <= caught.value.lower < 3303.1 <= caught.value.upper * (1 + 1e-4)
