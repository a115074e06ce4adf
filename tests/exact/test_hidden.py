"""The exact account with the grouping hidden, against enumeration of all groupings and against other sums."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.exact import hidden
from mechdesign.exact.collusion import all_lied_ratio, log_up, told_ratio
from mechdesign.exact.hidden import hidden_delta, hidden_loss, liars_of
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods import solve
from tests.methods.problems import joint_problem

PAIR = JointResponse.pair(Fraction(7, 10), Fraction(-1, 5))
THREE = JointResponse((Fraction(1, 20), Fraction(3, 20), Fraction(1, 2), Fraction(3, 10)))
FOUR = JointResponse((Fraction(1, 40), Fraction(3, 40), Fraction(1, 5), Fraction(2, 5), Fraction(3, 10)), 3)


def groupings(users: tuple[int, ...], size: int):
    """All ways to divide users into groups."""
    if not users:
        yield []
        return
    first, rest = users[0], users[1:]
    for others in itertools.combinations(rest, size - 1):
        left = tuple(user for user in rest if user not in others)
        for more in groupings(left, size):
            yield [(first, *others), *more]


@cache
def enumerated(law: JointResponse, users: int) -> dict[tuple[int, ...], Fraction]:
    """The probability of every pattern of truths, over all groupings and all outcomes of every group."""
    ways = list(groupings(tuple(range(users)), law.group))
    chances: dict[tuple[int, ...], Fraction] = {}
    for truths in itertools.product((0, 1), repeat=users):
        total = Fraction(0)
        for way in ways:
            chance = Fraction(1)
            for members in way:
                truthful = sum(truths[member] for member in members)
                chance *= law.weights[truthful] / math.comb(law.group, truthful)
            total += chance
        chances[truths] = total / len(ways)
    return chances


def brute_force(law: JointResponse, users: int, colluders: int) -> list[tuple[Fraction, Fraction]]:
    """``P(report | right value), P(report | a wrong one)`` for everything the colluders can have seen."""
    seen: dict[tuple[int, ...], list[Fraction]] = {}
    for truths, chance in enumerated(law, users).items():
        seen.setdefault(truths[1 : 1 + colluders], [Fraction(0), Fraction(0)])[truths[0]] += chance
    return [(both[1], both[0] / (law.categories - 1)) for both in seen.values()]


CASES = [(PAIR, users) for users in (2, 4, 6, 8)] + [(THREE, 3), (THREE, 6), (FOUR, 4), (FOUR, 8)]


@pytest.mark.parametrize(("law", "users"), CASES)
def test_the_loss_is_that_of_all_groupings_and_all_outcomes(law, users):
    for colluders in range(users):
        ratios = [max(a / b, b / a) for a, b in brute_force(law, users, colluders) if a and b]
        assert hidden_loss(law, users, colluders).upper == log_up(max(ratios))


@pytest.mark.parametrize(("law", "users"), CASES)
def test_the_delta_is_that_of_all_groupings_and_all_outcomes(law, users):
    for colluders, eps in itertools.product(range(users), (0.1, 0.7, 1.0, 1.5)):
        pairs = brute_force(law, users, colluders)

        def excess(ratio, pairs=pairs):
            return sum(max(a - ratio * b, 0) + max(b - ratio * a, 0) for a, b in pairs)

        low, high = hidden_delta(law, users, colluders, eps)
        assert low <= excess(exp_lower(eps))
        assert excess(exp_upper(eps)) <= high
        assert high - low < 1e-15


@pytest.mark.parametrize(("law", "users"), CASES)
def test_the_epsilon_at_a_delta_has_that_delta_and_no_smaller_one_has(law, users):
    for colluders, delta in itertools.product((0, users - 1), (1e-3, 0.02, 0.1)):
        loss = hidden_loss(law, users, colluders, delta)
        assert hidden_delta(law, users, colluders, loss.upper + 1e-12)[0] <= delta
        if loss.lower > 1e-9:
            assert hidden_delta(law, users, colluders, loss.lower - 1e-12)[1] >= delta


def test_two_who_share_their_lies_stay_infinite_if_all_others_are_known():
    """Truths of a group that add up to a constant: the last one's follows from the others'."""
    constant = JointResponse((Fraction(0), Fraction(0), Fraction(1), Fraction(0)))
    loss = hidden_loss(constant, 6, 5)
    assert (loss.lower, loss.upper) == (math.inf, math.inf)
    assert math.isinf(hidden_loss(constant, 6, 5, 0.5).upper)
    assert hidden_loss(constant, 6, 0).upper == log_up(Fraction(2))


def test_a_constant_sum_of_large_groups_is_infinite_too():
    law = JointResponse((Fraction(0),) * 5 + (Fraction(1),) + (Fraction(0),) * 3)
    for delta in (0.0, 1e-6):
        loss = hidden_loss(law, 400, 399, delta)
        assert (loss.lower, loss.upper) == (math.inf, math.inf)


def test_all_others_known_is_the_ratio_of_neighbouring_numbers_of_liars():
    """``P(K=l)(n-l) <= e^eps P(K=l+1)(l+1)`` and back."""
    users = 12
    chances = liars_of(THREE, users)
    pairs = [(chances[k] * (users - k), chances[k + 1] * (k + 1)) for k in range(users)]
    assert hidden_loss(THREE, users, users - 1).upper == log_up(max(max(a / b, b / a) for a, b in pairs))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=7, max_size=7), st.integers(0, 5), st.sampled_from([0.0, 0.01, 0.2]))
def test_knowing_more_never_hurts_the_adversary(units, colluders, delta):
    units = [200, *sorted(units, reverse=True)[1:]]
    law = CountedResponse(tuple(Fraction(unit, sum(units)) for unit in units))
    fewer, more = (hidden_loss(law, 6, known, delta).upper for known in (colluders, min(colluders + 1, 5)))
    assert fewer <= more + 1e-15


def test_the_loss_of_pairs_is_that_of_colluders_who_all_lied():
    law = JointResponse.pair(Fraction(7, 10), Fraction(-1, 4))
    for users, colluders in ((20, 5), (1000, 50)):
        exact = log_up(all_lied_ratio(law, users, colluders))
        loss = hidden_loss(law, users, colluders)
        assert loss.lower <= exact <= loss.upper + 1e-15
        assert loss.upper - loss.lower < 1e-8


def test_the_loss_of_pooled_truths_is_the_same_number():
    for law, users in ((PAIR, 8), (THREE, 9), (FOUR, 8)):
        for colluders in range(users):
            assert hidden_loss(law, users, colluders).upper == log_up(told_ratio(law, users, colluders))


def test_groups_are_convolved_as_another_library_does():
    """Of pairs that never both lie the liars are binomial; the rest is scipy's hypergeometric law."""
    law, users, colluders, eps = JointResponse.pair(Fraction(3, 4), Fraction(-1, 3)), 400, 90, 1.1
    liars = np.arange(users // 2 + 1)
    chances = stats.binom.pmf(liars, users // 2, 0.5)
    seen = np.arange(colluders + 1)
    true = sum(c * (1 - k / users) * stats.hypergeom.pmf(seen, users - 1, k, colluders) for k, c in enumerate(chances))
    false = sum(
        c * k / users * stats.hypergeom.pmf(seen, users - 1, k - 1, colluders) for k, c in enumerate(chances) if k
    )
    delta = sum(np.maximum(a - math.exp(eps) * b, 0).sum() for a, b in ((true, false), (false, true)))
    low, high = hidden_delta(law, users, colluders, eps)
    assert low * (1 - 1e-8) <= delta <= high * (1 + 1e-8)


@pytest.mark.parametrize("law", [PAIR, THREE, FOUR], ids=["pairs", "threes", "fours"])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-2])
def test_doubles_enclose_what_rationals_say(law, delta, monkeypatch):
    users = 96
    for colluders in (0, 7, 48, 95):
        exact = hidden_loss(law, users, colluders, delta)
        monkeypatch.setattr(hidden, "MOST_EXACT", 8)
        rounded = hidden_loss(law, users, colluders, delta)
        monkeypatch.undo()
        assert rounded.lower <= exact.upper
        assert exact.lower <= rounded.upper
        assert rounded.upper - rounded.lower < 1e-7


@pytest.mark.parametrize(
    ("options", "variance", "losses"),
    [
        ({}, 6252, ("1.0054", "1.021", "1.036")),
        ({"group": 8}, 1832, ("1.015", "1.070", "1.255")),
        ({"group": 8, "caps": (1.0,)}, 4787, ("0.525", "0.583", "inf")),
    ],
    ids=["pairs", "eights", "eights, capped"],
)
def test_the_losses_of_ten_thousand_users(options, variance, losses):
    """eps = 1, a share of .033, delta 1e-6, and 500, 5000 or all 9999 others who collude."""
    design = solve(joint_problem(1.0, 10_000, 0.033, **options))
    assert round(design.certificate.upper) == variance
    for colluders, printed in zip((500, 5000, 9999), losses, strict=True):
        loss = hidden_loss(design.mechanism, 10_000, colluders, 1e-6)
        digits = len(printed.partition(".")[2])
        assert f"{loss.lower:.{digits}f}" == f"{loss.upper:.{digits}f}" == printed


def test_a_peaked_law_keeps_its_epsilon_whoever_colludes():
    law = PeakedResponse(10, 3, exp_lower(1.0), 3)
    losses = [hidden_loss(law, 10, colluders).upper for colluders in range(10)]
    assert losses == sorted(losses)
    assert losses[-1] == 1.0
    chances = liars_of(law, 10)
    per_set = [chance / (math.comb(10, k) * 2**k) for k, chance in enumerate(chances)]
    ratios = [max(a / b, b / a) for a, b in itertools.pairwise(per_set)]
    assert set(ratios) == {exp_lower(1.0)}


@pytest.mark.parametrize(
    ("users", "colluders", "delta", "name"),
    [(7, 0, 0.0, "users"), (8, 8, 0.0, "colluders"), (8, 0, 1.0, "delta"), (8, 0, -1e-9, "delta")],
)
def test_bad_input_names_its_field(users, colluders, delta, name):
    with pytest.raises(InvalidInput) as caught:
        hidden_loss(PAIR, users, colluders, delta)
    assert caught.value.field == name


def test_fewer_colluders_are_never_said_to_learn_more_than_all_of_them() -> None:
    """Doubles of unlikely numbers are rounded up by more than what the law's own ratio leaves."""
    law = PeakedResponse(1000, 0, exp_lower(64.0))
    assert hidden_loss(law, 1000, 0).upper <= hidden_loss(law, 1000, 999).upper == 64
