"""What evidence proves: lines below all laws, whatever their slopes, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.peaked import peaked
from mechdesign.exact.rational import exp_lower, exp_upper, float_down
from mechdesign.mechanisms.hidden import CountedResponse, HiddenResponse, PeakedResponse
from mechdesign.methods import Design
from mechdesign.methods.hidden_joint import HockeyDuals, IndependentBest, Objective, PeakLines
from mechdesign.methods.hidden_joint.crowd import Crowd, crowd_of
from mechdesign.methods.hidden_joint.proof import (
    Line,
    _mean,
    _near_nothing,
    attained_by,
    hockey_line,
    less,
    lower_bound,
    mean_of,
    most_variance,
    peak_line,
)
from mechdesign.methods.registry import solve
from mechdesign.values.declare import evolved
from tests.methods.problems import hidden_problem

USERS = 12
PROBLEM = hidden_problem(0.7, USERS, 0.0)
CROWD = crowd_of(PROBLEM)
ENDS = (exp_lower(0.7), exp_upper(0.7))
DESIGN = solve(PROBLEM)


def law_of(steps: list[int]) -> list[Fraction]:
    """A law whose neighbouring sets of liars have ratios ``e^(0.07 step)``, rounded inside what epsilon allows."""
    weights = [Fraction(1)]
    for step in steps:
        weights.append(weights[-1] * Fraction(math.exp(0.07 * step * (1 - 1e-9))))
    chances = [w * math.comb(USERS, k) for k, w in enumerate(weights)]
    return [c / sum(chances) for c in chances]


def mean(chances: list[Fraction], quadratic: tuple[Fraction, Fraction, Fraction]) -> Fraction:
    a, b, c = quadratic
    return sum(((a + b * k + c * k * k) * x for k, x in enumerate(chances)), Fraction(0))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(-10, 10), min_size=USERS, max_size=USERS),
    st.integers(0, USERS),
    st.fractions(min_value=-50, max_value=200, max_denominator=64),
)
def test_a_line_that_is_proven_is_below_every_law(steps, peak, slope):
    goal = CROWD.objective(CROWD.alignment)
    try:
        level, _ = peak_line(goal, ENDS, 1, peak, slope)
    except CheckFailed:
        return
    assert mean(law_of(steps), less(goal.height(), slope, goal.divisor())) >= level


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-10, 10), min_size=USERS, max_size=USERS),
    st.floats(-50, 200),
    st.floats(-1, 300),
    st.lists(st.floats(-10, 300), min_size=2 * USERS, max_size=2 * USERS),
)
def test_any_multipliers_of_excesses_prove_a_line_below_every_law(steps, slope, price, multipliers):
    problem = hidden_problem(0.7, USERS, 0.0, delta=1e-3)
    goal = crowd_of(problem).objective(crowd_of(problem).alignment)
    truth, lie = np.split(np.array(multipliers), 2)
    level, _ = hockey_line(crowd_of(problem), goal, slope, price, truth, lie)
    assert mean(law_of(steps), less(goal.height(), Fraction(slope), goal.divisor())) >= level


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=6), st.data())
def test_no_slopes_bound_the_variance_above_the_optimum(slopes, data):
    peaks = data.draw(st.lists(st.integers(0, USERS), min_size=len(slopes), max_size=len(slopes)))
    evidence = PeakLines(tuple(peaks), tuple(Fraction(s) for s in sorted(slopes)), data.draw(st.floats(0, 1)))
    try:
        lower = evidence.bound(PROBLEM, DESIGN.mechanism)
    except CheckFailed:
        return
    assert lower <= DESIGN.certificate.upper


def test_sums_are_those_of_the_law():
    law = PeakedResponse(9, 3, Fraction(5, 2), 3)
    weights = [math.comb(9, k) * 2**k / Fraction(5, 2) ** abs(k - 3) for k in range(10)]
    sums = peaked(9, 3, (law.ratio, law.ratio), 2)
    exact = sum(w * k * k for k, w in enumerate(weights)) / sum(weights)
    low, high = sums.mean((Fraction(0), Fraction(0), Fraction(1)))
    assert low <= exact <= high
    assert high - low < Fraction(1, 2**150)


def test_sums_of_many_users_hold_the_means_of_binomial_laws():
    """With its peak at 0 the law is binomial with ``P(lie) = 1 / (1 + r)``."""
    ratio = Fraction(3, 2)
    sums = peaked(1000, 0, (ratio, ratio), 1)
    low, high = sums.mean((Fraction(0), Fraction(0), Fraction(1)))
    p = Fraction(2, 5)
    assert low <= 1000 * p * (1 - p) + (1000 * p) ** 2 <= high


def test_evidence_of_another_kind_of_problem_is_refused():
    even = hidden_problem(0.7, USERS, 0.5)
    with pytest.raises(CheckFailed, match="on their own"):
        Design(PROBLEM, DESIGN.mechanism, IndependentBest(), DESIGN.report)
    with pytest.raises(CheckFailed):
        Design(even, DESIGN.mechanism, DESIGN.evidence, DESIGN.report)
    with pytest.raises(CheckFailed, match="delta"):
        DESIGN.evidence.bound(hidden_problem(0.7, USERS, 0.0, delta=1e-3), DESIGN.mechanism)


def test_a_law_that_gives_more_away_is_refused():
    for law in (
        PeakedResponse(USERS, 3, Fraction(10)),
        PeakedResponse(USERS, 3, exp_upper(0.7) + Fraction(1, 10**9)),
        PeakedResponse(USERS - 1, 3, ENDS[0]),
    ):
        with pytest.raises(CheckFailed):
            Design(PROBLEM, law, DESIGN.evidence, DESIGN.report)


@pytest.mark.parametrize(
    "evidence",
    [
        PeakLines((3,), (), 0.0),
        PeakLines((40,), (Fraction(1),), 0.0),
        PeakLines((3, 3), (Fraction(2), Fraction(1)), 0.0),
        HockeyDuals([1.0], [1.0], [1.0], [1.0]),
    ],
)
def test_evidence_that_does_not_fit_is_refused(evidence):
    with pytest.raises(CheckFailed):
        evidence.bound(PROBLEM, DESIGN.mechanism)


def test_jensens_inequality_is_not_used_where_its_bound_is_below_nothing() -> None:
    """``h = 10 d - 1`` is negative near ``d = 0``, where ``h / d^2`` falls without end."""
    goal = Objective(4, Fraction(-6), Fraction(10), Fraction(0), Fraction(1), Fraction(1, 2), Fraction(0))
    line = Fraction(0), Fraction(1)
    with pytest.raises(CheckFailed, match="Jensen's inequality does not fall"):
        lower_bound(crowd_of(hidden_problem(1.0, 4, 0.0)), goal, [line], Fraction(1, 4))


def test_of_many_values_a_law_that_spreads_its_lies_does_better() -> None:
    """So the optimum is said to be one among laws whose lies are drawn on their own.

    All 120 users hold the second of three values, a of them say the third and b the first one, which is counted.
    Such a set has the weight ``(e/t)^-|a+b-43| t^-|a-b|``, and neighbours have ratios of at most e.
    """
    users, peak, more = 120, 43, 1.1
    weights = {
        (a, b): math.factorial(users)
        / (math.factorial(a) * math.factorial(b) * math.factorial(users - a - b))
        * (math.e / more) ** -abs(a + b - peak)
        * more ** -abs(a - b)
        for a in range(users + 1)
        for b in range(users + 1 - a)
    }
    total = sum(weights.values())
    mean_of_first, square = (sum(w * b**power for (_, b), w in weights.items()) / total for power in (1, 2))
    lie = mean_of_first / users
    variance = (square - mean_of_first**2) / (1 - 3 * lie) ** 2
    certificate = solve(hidden_problem(1.0, users, 0.0, categories=3)).certificate
    assert variance < certificate.lower * 0.95
    assert certificate.valid_for == (
        "joint responses of all users that treat them alike, each lie drawn on its own, p above 1/3"
    )


@pytest.mark.parametrize("answers", [2, 4])
def test_a_line_of_multipliers_is_the_least_over_all_numbers_of_liars(answers: int) -> None:
    """``g(k)`` and the priced excesses of who lies for certain: ``sum_l lambda_l (t_l - c f_l) + mu_l (f_l - c t_l)``,
    with ``t_l = P(true, l others lie)`` and ``f_l`` of a given lie. Seed 5."""
    problem = hidden_problem(0.7, USERS, 0.0, categories=answers, delta=1e-3)
    crowd, rng = crowd_of(problem), np.random.default_rng(5)
    goal, c = crowd.objective(crowd.alignment), crowd.ratio(up=True)
    for _ in range(20):
        price, slope = float(rng.uniform(0, 50)), float(rng.uniform(-50, 50))
        truth, lie = rng.uniform(0, price, (2, USERS))
        a, b, d = less(goal.height(), Fraction(slope), goal.divisor())
        values = []
        for k in range(USERS + 1):
            true = [Fraction(USERS - k, USERS) if k == others else 0 for others in range(USERS)]
            false = [Fraction(k, USERS * (answers - 1)) if k == others + 1 else 0 for others in range(USERS)]
            priced = sum(
                Fraction(x) * (t - c * f) + Fraction(y) * (f - c * t)
                for x, y, t, f in zip(truth.tolist(), lie.tolist(), true, false, strict=True)
            )
            values.append(a + b * k + d * k * k + priced)
        level, said = hockey_line(crowd_of(problem), goal, slope, price, truth, lie)
        assert (level, said) == (min(values) - Fraction(price) * Fraction(crowd_of(problem).delta), Fraction(slope))


@pytest.mark.parametrize("price", [-1.0, 0.0, 2.5])
def test_multipliers_are_cut_to_their_price(price: float) -> None:
    problem = hidden_problem(0.7, USERS, 0.0, delta=1e-3)
    goal, rng = crowd_of(problem).objective(crowd_of(problem).alignment), np.random.default_rng(6)
    truth, lie = rng.uniform(-3, 6, (2, USERS))
    most = max(price, 0.0)
    cut = hockey_line(crowd_of(problem), goal, 1.0, price, truth, lie)
    assert cut == hockey_line(crowd_of(problem), goal, 1.0, most, truth.clip(0, most), lie.clip(0, most))


@pytest.mark.parametrize("sums", [(-2, -1), (-1, -0.5), (-0.5, 0), (-0.5, 0.5), (0, 1), (0.5, 1), (3, 4)])
def test_the_mean_of_a_piece_is_rounded_down(sums: tuple[float, float]) -> None:
    """At most every quotient of what the enclosures hold, and one of them."""
    sides, weights = (Fraction(sums[0]), Fraction(sums[1])), (Fraction(1), Fraction(3, 2))
    assert _mean(sides, weights) == min(s / w for s in sides for w in weights)


def test_users_on_their_own_are_bounded_with_the_upper_end_of_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least variance falls in e^eps: an enclosure far too wide shows which of its ends is taken."""
    even = hidden_problem(0.7, USERS, 0.5)
    monkeypatch.setattr(Crowd, "ratio", lambda _, *, up: Fraction(3) if up else Fraction(2))
    low, high = (crowd_of(even).variance(ratio / (ratio + 1), Fraction(0)) for ratio in (Fraction(3), Fraction(2)))
    assert low < high
    assert IndependentBest().bound(even, None) == pytest.approx(float(low), rel=1e-15)


# -- term by term, as the page says ------------------------------------------------------------------------------------


def chances_of(users: int, peak: int, ratio: Fraction, wrong: int) -> list[Fraction]:
    """A law peaked at k0: a set of k liars, with what they say, has a weight of ``ratio^-|k - k0|``."""
    weights = [math.comb(users, k) * wrong**k / ratio ** abs(k - peak) for k in range(users + 1)]
    return [weight / sum(weights) for weight in weights]


LAWS: dict[str, HiddenResponse] = {
    "on their own": PeakedResponse(9, 0, Fraction(5, 2), 3),
    "one peak": PeakedResponse(9, 3, Fraction(5, 2), 3),
    "counted": CountedResponse(tuple(chances_of(9, 2, Fraction(2), 2)), 3),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_mean_of_a_quadratic_is_the_sum_over_all_numbers_of_liars(name: str) -> None:
    law, quadratic = LAWS[name], (Fraction(3, 7), Fraction(-2, 5), Fraction(1, 3))
    exact = law.chances if isinstance(law, CountedResponse) else chances_of(9, law.peak, law.ratio, 2)
    low, high = mean_of(law, quadratic)
    expected = mean(list(exact), quadratic)
    assert low <= expected <= high
    assert high - low < Fraction(1, 2**100)


@pytest.mark.parametrize("name", LAWS)
def test_the_variance_of_a_law_is_that_of_its_two_means(name: str) -> None:
    law = LAWS[name]
    problem = hidden_problem(1.0, 9, 0.25, categories=3)
    goal = crowd_of(problem).objective(crowd_of(problem).alignment)
    (_, height), (divisor, _) = (mean_of(law, part) for part in (goal.height(), goal.divisor()))
    assert most_variance(law, goal) == height / divisor**2 - goal.offset
    assert Fraction(attained_by(law, crowd_of(problem))) > most_variance(law, goal)


def test_over_a_range_of_shares_the_variance_is_that_of_the_worse_end() -> None:
    problem = hidden_problem(1.0, 9, (0.05, 0.3))
    law = PeakedResponse(9, 2, Fraction(5, 2))
    goal = crowd_of(problem).goal()
    both = [most_variance(law, crowd_of(problem).objective(pairs)) for pairs in (goal.low, goal.high)]
    assert both[0] != both[1]
    assert attained_by(law, crowd_of(problem)) == pytest.approx(float(max(both)), rel=1e-14)


@pytest.mark.parametrize("answers", [2, 3])
@pytest.mark.parametrize("peak", [0, 1, 5, USERS])
def test_a_line_of_a_peak_is_the_least_of_its_three_means(answers: int, peak: int) -> None:
    """With one number for ``e^eps``, so that nothing is rounded but sums."""
    problem = hidden_problem(0.7, USERS, 0.0, categories=answers)
    goal, ratio = crowd_of(problem).objective(crowd_of(problem).alignment), Fraction(2)
    chances = chances_of(USERS, peak, ratio, answers - 1)
    proven = 0
    for slope in map(Fraction, range(-40, 200, 8)):
        tilted = less(goal.height(), slope, goal.divisor())
        values = [tilted[0] + tilted[1] * k + tilted[2] * k * k for k in range(USERS + 1)]
        parts = [range(USERS + 1), range(peak), range(peak + 1, USERS + 1)]
        means = [sum(chances[k] * values[k] for k in part) / sum(chances[k] for k in part) for part in parts if part]
        if values[peak] > min(means):
            with pytest.raises(CheckFailed, match="proves no line"):
                peak_line(goal, (ratio, ratio), answers - 1, peak, slope)
            continue
        level, said = peak_line(goal, (ratio, ratio), answers - 1, peak, slope)
        assert said == slope
        assert min(means) - Fraction(1, 2**80) < level <= min(means)
        proven += 1
    assert proven > 0 or peak in (0, USERS)


def test_a_line_of_a_concave_variance_is_refused() -> None:
    goal = Objective(USERS, Fraction(1), Fraction(1), Fraction(-1), Fraction(1), Fraction(1, 2), Fraction(0))
    with pytest.raises(CheckFailed, match="convex in the number"):
        peak_line(goal, ENDS, 1, 3, Fraction(0))


def least_by_hand(goal: Objective, lines: list[Line], below: Fraction, most: Fraction) -> Fraction:
    """The least of the largest line over d^2 on a fine net of d, and of Jensen's inequality up to ``below``."""
    found = []
    for i in range(1, 20_001):
        d = most * i / 20_000
        if d < below:
            truth = d / goal.scale + goal.floor
            k = goal.users * (1 - truth)
            a, b, c = goal.height()
            found.append((a + b * k + c * k * k) / d**2)
        else:
            found.append(max(level + slope * d for level, slope in lines) / d**2)
    return min(found) - goal.offset


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_bound_is_the_least_that_lines_leave(delta: float) -> None:
    problem = hidden_problem(0.7, USERS, 0.2, delta=delta)
    goal = crowd_of(problem).objective(crowd_of(problem).alignment)
    ratio = crowd_of(problem).ratio(up=True)
    truth = min(Fraction(1), (ratio + Fraction(delta)) / (ratio + 1))
    most = goal.scale * (truth - goal.floor)
    lines = [(Fraction(2), Fraction(0)), (Fraction(1), 4 / most), (Fraction(-1), 8 / most)]  # they meet at 1/4 and 1/2
    for below in (Fraction(0), most / 16):
        found = Fraction(lower_bound(crowd_of(problem), goal, lines, below))
        by_hand = least_by_hand(goal, lines, below, most)
        assert found <= by_hand
        assert found == pytest.approx(max(float(by_hand), 0.0), rel=1e-3)


def test_lines_that_leave_every_variance_possible_are_refused() -> None:
    goal = CROWD.objective(CROWD.alignment)
    with pytest.raises(CheckFailed, match="every variance possible"):
        lower_bound(CROWD, goal, [(Fraction(-1), Fraction(0))], Fraction(0))


def test_both_ends_are_rounded_outwards() -> None:
    even = hidden_problem(0.7, USERS, 0.5)
    ratio = crowd_of(even).ratio(up=True)
    assert Fraction(IndependentBest().bound(even, None)) < crowd_of(even).variance(ratio / (ratio + 1), Fraction(0))
    assert isinstance(DESIGN.mechanism, PeakedResponse)
    goal = CROWD.objective(CROWD.alignment)
    assert Fraction(DESIGN.certificate.upper) > most_variance(DESIGN.mechanism, goal)


def test_independent_answers_are_best_where_truths_do_not_align() -> None:
    for share in (0.0, 0.2, 0.45, 0.5, 0.55, 0.8, 1.0):
        problem = hidden_problem(0.7, USERS, share)
        if crowd_of(problem).alignment > 0:
            with pytest.raises(CheckFailed, match="on their own"):
                IndependentBest().bound(problem, None)
        else:
            assert IndependentBest().bound(problem, None) > 0


def test_duals_are_read_line_by_line() -> None:
    """Two lines in one evidence are those of each alone."""
    problem = hidden_problem(0.7, USERS, 0.0, delta=1e-3)
    goal, rng = crowd_of(problem).objective(crowd_of(problem).alignment), np.random.default_rng(8)
    slopes, prices = [5.0, 40.0], [20.0, 30.0]
    truth, lie = rng.uniform(0, 20, (2, 2, USERS))
    alone = [
        hockey_line(crowd_of(problem), goal, slope, price, t, x)
        for slope, price, t, x in zip(slopes, prices, truth, lie, strict=True)
    ]
    evidence = HockeyDuals(slopes, prices, truth.ravel(), lie.ravel())
    try:
        expected = lower_bound(crowd_of(problem), goal, alone, Fraction(0))
    except CheckFailed as refused:
        with pytest.raises(CheckFailed, match=str(refused)):
            evidence.bound(problem, None)
        return
    assert evidence.bound(problem, None) == expected


class Polynomials(NamedTuple):
    """A variance ``(a + b k + c k^2) / d^2`` with ``d = top + step k``."""

    said: tuple[Fraction, Fraction, Fraction]
    top: Fraction
    step: Fraction

    def height(self) -> tuple[Fraction, Fraction, Fraction]:
        return self.said

    def divisor(self) -> tuple[Fraction, Fraction, Fraction]:
        return self.top, self.step, Fraction(0)

    def at(self, d: Fraction) -> Fraction:
        k = (d - self.top) / self.step
        return self.said[0] + self.said[1] * k + self.said[2] * k * k


whole = st.integers(-12, 12)


@given(whole, whole, st.integers(0, 12), st.integers(1, 9), st.integers(-5, -1), st.integers(0, 8))
@settings(max_examples=400, deadline=None)
def test_near_nothing_the_variance_of_the_mean_is_taken_where_it_falls(
    a: int, b: int, c: int, top: int, step: int, below: int
) -> None:
    """``d/dd H / d^2 = -(2 H(0) + H'(0) d) / d^3`` for a parabola H."""
    goal, end = (
        Polynomials((Fraction(a), Fraction(b), Fraction(c)), Fraction(top, 2), Fraction(step)),
        Fraction(below, 4),
    )
    flat, rise = goal.at(Fraction(0)), (goal.at(Fraction(1)) - goal.at(Fraction(-1))) / 2
    if below == 0:
        assert _near_nothing(goal, end) is None  # type: ignore[arg-type]
    elif flat < 0 or 2 * flat + rise * end < 0:
        with pytest.raises(CheckFailed, match="Jensen's inequality does not fall"):
            _near_nothing(goal, end)  # type: ignore[arg-type]
    else:
        assert _near_nothing(goal, end) == goal.at(end) / end**2  # type: ignore[arg-type]


@pytest.mark.parametrize("said", [(0, 0, 0), (0, 0, 1), (1, 1, 0), (1, -1, 1)])
def test_near_nothing_a_variance_may_just_fall(said: tuple[int, int, int]) -> None:
    """With ``d = 1 - k``: H is 0 at d = 0, or is flat up to the end."""
    goal = Polynomials((Fraction(said[0]), Fraction(said[1]), Fraction(said[2])), Fraction(1), Fraction(-1))
    flat, rise = goal.at(Fraction(0)), (goal.at(Fraction(1)) - goal.at(Fraction(-1))) / 2
    if rise < 0:
        end = -2 * flat / rise
        assert _near_nothing(goal, end) == goal.at(end) / end**2  # type: ignore[arg-type]
        with pytest.raises(CheckFailed, match="does not fall"):
            _near_nothing(goal, end * Fraction(101, 100))  # type: ignore[arg-type]
    else:
        assert _near_nothing(goal, Fraction(1, 3)) == goal.at(Fraction(1, 3)) * 9  # type: ignore[arg-type]


def test_a_line_below_others_is_passed_over() -> None:
    """It meets the next line before the one before it does, where both are below 0."""
    goal = CROWD.objective(CROWD.alignment)
    ratio = CROWD.ratio(up=True)
    most = goal.scale * (ratio / (ratio + 1) - goal.floor)
    lines = [(Fraction(2), Fraction(0)), (Fraction(-19, 10), 11 / most), (Fraction(-2), 12 / most)]
    without = lower_bound(CROWD, goal, [lines[0], lines[2]], Fraction(0))
    assert 0 < lower_bound(CROWD, goal, lines, Fraction(0)) <= without


@pytest.mark.parametrize("size", [Fraction(1, 64), Fraction(0)])
def test_small_heights_are_possible(size: Fraction) -> None:
    """A height of 0 leaves a variance of 0 possible, less what is known of it."""
    goal = CROWD.objective(CROWD.alignment)
    ratio = CROWD.ratio(up=True)
    most = goal.scale * (ratio / (ratio + 1) - goal.floor)
    found = lower_bound(CROWD, evolved(goal, offset=Fraction(0)), [(size, Fraction(0))], Fraction(0))
    assert found == float_down(size / most**2)


def test_a_line_of_a_variance_that_is_linear_in_the_liars_is_proven() -> None:
    goal = Objective(USERS, Fraction(1), Fraction(1), Fraction(0), Fraction(1), Fraction(1, 2), Fraction(0))
    slopes = [slope for slope in map(Fraction, range(-40, 41)) if less(goal.height(), slope, goal.divisor())[1] > 0]
    for slope in slopes:
        tilted = less(goal.height(), slope, goal.divisor())
        assert tilted[2] == 0
        level, _ = peak_line(goal, (Fraction(2), Fraction(2)), 1, 0, slope)
        assert tilted[0] <= level <= mean(chances_of(USERS, 0, Fraction(2), 1), tilted)
    assert slopes


def test_what_was_found_for_a_delta_is_the_bound_of_its_lines() -> None:
    problem = hidden_problem(0.7, USERS, 0.0, delta=1e-3)
    evidence, goal = solve(problem).evidence, crowd_of(problem).objective(crowd_of(problem).alignment)
    assert isinstance(evidence, HockeyDuals)
    count = evidence.slopes.size
    rows = evidence.of_truth.reshape(count, USERS), evidence.of_lie.reshape(count, USERS)
    lines = [
        hockey_line(crowd_of(problem), goal, *row)
        for row in zip(evidence.slopes.tolist(), evidence.prices.tolist(), *rows, strict=True)
    ]
    assert evidence.bound(problem, None) == lower_bound(crowd_of(problem), goal, lines, Fraction(0)) > 0


def test_the_largest_d_is_that_of_the_upper_end_of_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without slope bounds by what stands there: an enclosure far too wide shows which of its ends is taken."""
    monkeypatch.setattr(Crowd, "ratio", lambda _, *, up: Fraction(3) if up else Fraction(2))
    goal = evolved(CROWD.objective(CROWD.alignment), offset=Fraction(0))
    most = goal.scale * (Fraction(3, 4) - goal.floor)
    assert lower_bound(CROWD, goal, [(Fraction(5), Fraction(0))], Fraction(0)) == float_down(5 / most**2)


@pytest.mark.parametrize("peak", [-1, 0.5, True])
def test_peaks_are_numbers_of_liars(peak: Any) -> None:
    with pytest.raises(InvalidInput, match="peaks"):
        PeakLines((peak,), (Fraction(1),), 0.0)


def test_lines_of_peaks_are_those_of_both_ends_of_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    """An enclosure far too wide proves less than either of its ends."""
    goal, lines = CROWD.objective(CROWD.alignment), DESIGN.evidence
    assert isinstance(lines, PeakLines)
    ends = ENDS[0] * Fraction(999, 1000), ENDS[1]
    monkeypatch.setattr(Crowd, "ratio", lambda _, *, up: ends[up])
    peaks = zip(lines.peaks, lines.slopes, strict=True)
    proven = [peak_line(goal, ends, 1, peak, slope) for peak, slope in peaks]
    wide = lines.bound(PROBLEM, None)
    assert wide == lower_bound(CROWD, goal, proven, Fraction(lines.below))
    monkeypatch.setattr(Crowd, "ratio", lambda _, *, up: ENDS[1])
    assert lines.bound(PROBLEM, None) > wide > 0


@pytest.mark.parametrize(("alignment", "is_known"), [("-1/2", True), ("0", True), ("1/2", False), ("1", False)])
def test_any_alignment_above_nothing_may_help(monkeypatch: pytest.MonkeyPatch, alignment: str, is_known: bool) -> None:
    even = hidden_problem(0.7, USERS, 0.5)
    monkeypatch.setattr(Crowd, "alignment", property(lambda _: Fraction(alignment)))
    if is_known:
        assert IndependentBest().bound(even, None) > 0
    else:
        with pytest.raises(CheckFailed, match="on their own"):
            IndependentBest().bound(even, None)


def test_three_thousand_lines_are_read_at_most() -> None:
    for count, words in ((3000, "3000 peaks and 0 slopes"), (3001, "3000 are read at most")):
        with pytest.raises(CheckFailed, match=words):
            PeakLines((1,) * count, (), 0.0).bound(PROBLEM, None)


def test_no_bound_is_below_nothing() -> None:
    goal = evolved(CROWD.objective(CROWD.alignment), offset=Fraction(1, 2))
    assert lower_bound(CROWD, goal, [(Fraction(1, 64), Fraction(0))], Fraction(0)) == 0.0


def test_with_two_answers_a_lie_is_what_it_is() -> None:
    two, three = (hidden_problem(0.7, USERS, 0.0, categories=answers) for answers in (2, 3))
    words = [IndependentBest().scope(problem, None).words for problem in (two, three)]
    assert words[1] == f"{words[0]}, each lie drawn on its own, p above 1/3"
