"""The best joint response of all users: the printed numbers, exact programs, other laws, and what no-shows cost."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.exact.hidden import hidden_loss, liars_of
from mechdesign.mechanisms.hidden import PeakedResponse
from mechdesign.methods import load_design
from mechdesign.methods.hidden_joint import expected_ratio, limit_ratio, parts, ratio, without
from mechdesign.methods.hidden_joint.crowd import crowd_of
from mechdesign.methods.registry import solve
from mechdesign.values.declare import evolved
from mechdesign.words.classes import All
from mechdesign.words.counts import Count
from mechdesign.words.criteria import Average
from mechdesign.words.finite_losses import Matrix
from mechdesign.words.priors import Atoms
from mechdesign.words.privacy import Hidden, Pure
from tests.methods.problems import hidden_problem, joint_problem
from tests.oracles.exact_simplex import ExactSimplex, RationalProgram


def variance(chances: list[Fraction], share: Fraction) -> Fraction:
    """``[4 s(1-s)/(n-1) E K(n-K) + (1-2s)^2 Var K] / (2p-1)^2``, from the law of the liars alone."""
    n = len(chances) - 1
    mean = sum(k * c for k, c in enumerate(chances))
    mixed = sum(k * (n - k) * c for k, c in enumerate(chances))
    spread = sum((k - mean) ** 2 * c for k, c in enumerate(chances))
    s = Fraction(share)
    return (4 * s * (1 - s) / (n - 1) * mixed + (1 - 2 * s) ** 2 * spread) / (1 - 2 * mean / n) ** 2


@pytest.mark.parametrize(
    ("users", "eps", "share", "peak", "least", "alone", "part"),
    [
        (1000, 1.0, 0.033, 308, "298.4158", "920.67", "0.3241"),
        (10_000, 1.0, 0.033, 2931, "1860.7106", "9206.74", "0.2021"),
        (10_000, 0.5, 0.033, None, "9717.59", "39176.98", "0.2480"),
        (10_000, 2.0, 0.1, None, "831.93", "1810.15", "0.4596"),
    ],
)
def test_the_optimum_of_many_users(users, eps, share, peak, least, alone, part):
    design = solve(hidden_problem(eps, users, share))
    digits = len(least.partition(".")[2])
    assert f"{design.certificate.upper:.{digits}f}" == least
    assert design.certificate.relative_gap < 1e-6
    assert f"{crowd_of(design.problem).independent_variance:.2f}" == alone
    assert f"{ratio(design):.4f}" == part
    assert peak in (None, design.mechanism.peak)
    assert design.certificate.account.loss == eps
    assert not design.certificate.claimed


def test_the_optimum_of_a_hundred_users_at_a_share_that_no_count_has():
    design = solve(hidden_problem(1.0, 100, Atoms([0.033], [1.0])))
    assert (design.mechanism.peak, round(design.certificate.upper, 4)) == (29, 60.915)


@pytest.mark.parametrize("share", [0, Fraction(1, 7), Fraction(3, 7)])
def test_a_variance_is_that_of_all_sets_of_liars(share):
    users = 7
    law = PeakedResponse(users, 2, Fraction(5, 2))
    ones = int(share * users)
    weights = [c / math.comb(users, k) for k, c in enumerate(liars_of(law, users))]
    mean = sum(k * c for k, c in enumerate(liars_of(law, users)))
    p = 1 - mean / users
    first = second = Fraction(0)
    for truths in itertools.product((0, 1), repeat=users):
        chance = weights[users - sum(truths)]
        reports = sum(t if i < ones else 1 - t for i, t in enumerate(truths))
        estimate = (reports - users * (1 - p)) / (2 * p - 1)
        first, second = first + chance * estimate, second + chance * estimate**2
    assert first == ones
    exact = second - first**2
    assert variance(list(liars_of(law, users)), share) == exact
    problem = hidden_problem(1.0, users, ones / users)
    goal = crowd_of(problem).goal().low
    from mechdesign.methods.hidden_joint.proof import most_variance

    assert float(most_variance(law, crowd_of(problem).objective(goal))) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("users", "share"), [(4, 0.0), (6, 0.0), (8, 0.125), (9, 0.0)])
@pytest.mark.parametrize("ratio_of", [Fraction(3, 2), Fraction(3), Fraction(20)])
def test_the_optimum_is_that_of_an_exact_program_at_every_slope(users, share, ratio_of):
    """The laws are a polytope: the least ``E h - slope d`` of an exact simplex is that of the best peak, so no law at
    all is below the lines that peaks prove, and the least variance is that of a peak."""
    problem = hidden_problem(math.log(ratio_of), users, share)
    goal = crowd_of(problem).objective(crowd_of(problem).alignment)
    height = [sum(c * k**power for power, c in enumerate(goal.height())) for k in range(users + 1)]
    divisor = [sum(c * k**power for power, c in enumerate(goal.divisor())) for k in range(users + 1)]

    def mean(chances, values):
        return sum(c * v for c, v in zip(chances, values, strict=True))

    peaks = [liars_of(PeakedResponse(users, 0, ratio_of), users)]
    weights = [[math.comb(users, k) / ratio_of ** abs(k - peak) for k in range(users + 1)] for peak in range(users + 1)]
    peaks = [[w / sum(row) for w in row] for row in weights]
    rows = []
    for k in range(users):
        mine, next_one = Fraction(users - k), Fraction(k + 1)
        for over, under in (((k, mine), (k + 1, next_one)), ((k + 1, next_one), (k, mine))):
            row = [Fraction(0)] * (users + 1)
            row[over[0]], row[under[0]] = over[1], -ratio_of * under[1]
            rows.append(tuple(row))
    rows.append((Fraction(1),) * (users + 1))
    none = (None,) * (2 * users)
    for slope in (Fraction(0), Fraction(users, 3), Fraction(users), Fraction(5 * users), Fraction(-users)):
        cost = tuple(h - slope * d for h, d in zip(height, divisor, strict=True))
        program = RationalProgram(
            cost,
            tuple(rows),
            (*none, Fraction(1)),
            ((Fraction(0),) * (2 * users)) + (Fraction(1),),
            (Fraction(0),) * (users + 1),
            (None,) * (users + 1),
        )
        assert ExactSimplex().solve_exactly(program).objective == min(mean(peak, cost) for peak in peaks)


@pytest.mark.parametrize("seed", range(12))
def test_no_other_peak_is_better(seed):
    rng = random.Random(seed)
    users, eps = rng.choice([5, 17, 60, 300]), rng.choice([0.05, 0.5, 1.0, 3.0])
    problem = hidden_problem(eps, users, rng.choice([0.0, 0.02, 0.2, 0.4, 0.5]))
    design = solve(problem)
    share = Fraction(crowd_of(problem).count, users)
    for peak in range(users // 2):
        law = _floats(users, peak, eps)
        if 2 * sum(k * c for k, c in enumerate(law)) < users:
            assert _float_variance(law, float(share)) >= design.certificate.lower * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_no_law_that_keeps_epsilon_is_better(seed):
    """Random walks in the logarithms of what each set of liars weighs, with steps of at most eps."""
    rng = np.random.default_rng(seed)
    users, eps = int(rng.integers(3, 40)), float(rng.choice([0.3, 1.0, 2.0]))
    share = float(rng.choice([0.0, 0.1, 0.5]))
    problem = hidden_problem(eps, users, share)
    lower = solve(problem).certificate.lower
    for _ in range(300):
        steps = rng.choice([-eps, eps, 0.0], size=users, p=[0.6, 0.3, 0.1]) if rng.random() < 0.5 else None
        steps = rng.uniform(-eps, eps, size=users) if steps is None else steps
        logs = np.concatenate([[0.0], np.cumsum(steps)])
        weights = [math.comb(users, k) * math.exp(x) for k, x in enumerate(logs)]
        chances = [w / sum(weights) for w in weights]
        mean = sum(k * c for k, c in enumerate(chances))
        if abs(2 * mean - users) > 1e-3 * users:
            assert _float_variance(chances, crowd_of(problem).count / users) >= lower * (1 - 1e-9)


@pytest.mark.parametrize(("group", "caps"), [(2, ()), (4, ()), (8, (1.0,))])
def test_no_law_of_groups_beats_it_at_what_groups_really_keep(group, caps):
    """Their own hidden epsilon if everybody else colludes, at a delta of 1e-6 still above the optimum's."""
    users, share = 400, 0.03
    groups = solve(joint_problem(1.0, users, share, group=group, caps=caps))
    loss = hidden_loss(groups.mechanism, users, users - 1)
    assert loss.upper > 1  # more than was asked for, and still:
    if math.isfinite(loss.upper):
        best = solve(hidden_problem(loss.upper, users, share))
        assert best.certificate.lower <= groups.certificate.upper
        assert best.certificate.upper <= groups.certificate.upper * (1 + 1e-9)
    with_delta = hidden_loss(groups.mechanism, users, users - 1, 1e-2)
    if math.isfinite(with_delta.upper):
        best = solve(hidden_problem(with_delta.upper, users, share, delta=1e-2))
        assert best.certificate.lower <= groups.certificate.upper * (1 + 1e-9)


def test_the_worst_share_of_a_range_is_the_one_nearest_to_half():
    ranged = solve(hidden_problem(1.0, 1000, (0.02, 0.1)))
    end = solve(hidden_problem(1.0, 1000, 0.1))
    assert ranged.mechanism == end.mechanism
    assert ranged.certificate.upper == end.certificate.upper
    wide = solve(hidden_problem(1.0, 1000, (0.02, 0.9)))
    assert wide.mechanism.peak == 0
    assert ratio(wide) == pytest.approx(1)


def test_the_mean_over_a_prior_is_that_of_both_shares():
    design = solve(hidden_problem(1.0, 50, Atoms([0.0, 0.2], [0.5, 0.5])))
    law = list(liars_of(design.mechanism, 50))
    mean = (variance(law, Fraction(0)) + variance(law, Fraction(1, 5))) / 2
    assert design.certificate.upper == pytest.approx(float(mean), rel=1e-12)


@pytest.mark.parametrize(("users", "share"), [(100, 0.5), (100, 0.49), (10**6, 0.5)])
def test_near_the_even_share_everybody_answers_alone(users, share):
    design = solve(hidden_problem(1.0, users, share))
    assert design.mechanism.peak == 0
    assert design.certificate.upper == pytest.approx(crowd_of(design.problem).independent_variance, rel=1e-12)


def test_the_ratio_falls_to_what_the_share_leaves():
    """Like n^(-1/3), and what the expansion leaves out falls faster: of ten times the users it is less than a third."""
    found = [ratio(solve(hidden_problem(1.0, n, 0.033))) for n in (1000, 10_000)]
    off = [have - expected_ratio(1.0, n, 0.033) for have, n in zip(found, (1000, 10_000), strict=True)]
    assert 0 < off[1] < off[0] / 3
    assert found[1] < found[0]
    assert expected_ratio(1.0, 10**15, 0.033) == pytest.approx(limit_ratio(0.033), rel=1e-3)


def test_categories_cost_what_the_sum_over_all_sets_and_all_lies_says():
    users, k = 4, 3
    problem = hidden_problem(1.0, users, 0.25, categories=k)
    law = solve(problem).mechanism
    weights = [c / (math.comb(users, j) * (k - 1) ** j) for j, c in enumerate(liars_of(law, users))]
    p = 1 - sum(j * c for j, c in enumerate(liars_of(law, users))) / users
    q = (1 - p) / (k - 1)
    values, first, second = (0, 1, 2, 2), Fraction(0), Fraction(0)
    for reports in itertools.product(range(k), repeat=users):
        chance = weights[sum(r != v for r, v in zip(reports, values, strict=True))]
        estimate = (reports.count(0) - users * q) / (p - q)
        first, second = first + chance * estimate, second + chance * estimate**2
    assert first == 1
    assert solve(problem).certificate.upper == pytest.approx(float(second - first**2), rel=1e-12)


def test_hash_values_cost_what_simulation_says():
    """n = 4000 collections, two-sided, false-positive rate 1e-6; a variance off by 15% is found with power 0.99."""
    problem = hidden_problem(1.0, 60, 0.5, categories=4, encoding="hashing")
    design = solve(problem)
    law, rng, trials = design.mechanism, np.random.default_rng(3), 4000
    supports = []
    for _ in range(trials):
        hashed = rng.integers(0, 4, size=60)
        reports = law.perturb(hashed, rng)
        supports.append(np.count_nonzero(reports[:30] == hashed[:30]) + np.count_nonzero(rng.integers(0, 4, 30) == 0))
    estimates = (np.array(supports) - 60 / 4) / (law.truth - 1 / 4)
    spread = (trials - 1) * estimates.var(ddof=1) / design.certificate.upper
    assert stats.chi2.ppf(5e-7, trials - 1) < spread < stats.chi2.isf(5e-7, trials - 1)


def test_bits_of_unary_encoding_share_the_budget():
    design = solve(hidden_problem(1.0, 1000, 0.03, categories=10, encoding="unary"))
    half = solve(hidden_problem(0.5, 1000, 0.03))
    assert design.mechanism == half.mechanism
    assert design.certificate.account.loss == 1.0


@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_a_delta_buys_a_smaller_variance_and_is_kept_exactly(delta):
    pure = solve(hidden_problem(1.0, 40, 0.0))
    design = solve(hidden_problem(1.0, 40, 0.0, delta=delta))
    assert design.certificate.upper < pure.certificate.upper
    assert design.certificate.relative_gap <= 1e-4
    assert hidden_loss(design.mechanism, 40, 39, delta).upper <= 1
    assert hidden_loss(design.mechanism, 40, 39).upper > 1


def test_a_design_comes_back_from_its_file(tmp_path):
    design = solve(hidden_problem(1.0, 1000, 0.033))
    assert load_design(design.save(tmp_path / "hidden.json")) == design


def test_users_who_stay_away_cost_what_the_sum_over_all_sets_says():
    """Seven users of whom two never report: every set of liars, the count among the others."""
    users, gone = 7, 2
    design = solve(hidden_problem(1.0, users, 0.0))
    law = design.mechanism
    weights = [c / math.comb(users, k) for k, c in enumerate(liars_of(law, users))]
    p = 1 - sum(k * c for k, c in enumerate(liars_of(law, users))) / users
    left = users - gone
    second = first = Fraction(0)
    for lies in itertools.product((0, 1), repeat=users):
        estimate = (sum(lies[:left]) - left * (1 - p)) / (2 * p - 1)
        first += weights[sum(lies)] * estimate
        second += weights[sum(lies)] * estimate**2
    assert first == 0
    shown = without(design, gone)
    assert shown.variance == pytest.approx(float(second), rel=1e-12)
    assert shown.epsilon == 1.0
    assert without(design, 0).variance == pytest.approx(design.certificate.upper, rel=1e-12)


@pytest.mark.slow
def test_a_million_users_are_answered_by_structure():
    design = solve(hidden_problem(1.0, 10**6, 0.033), seconds=600)
    assert design.certificate.relative_gap < 1e-6
    assert round(ratio(design), 4) == 0.1414


def test_a_search_without_time_says_so():
    with pytest.raises(NoAnswer):
        solve(hidden_problem(1.0, 10**5, 0.03), seconds=1e-3)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"users": 1}, "users"),
        ({"share": 1.5}, "share"),
        ({"share": (0.1, 0.2), "categories": 3}, "share"),
        ({"share": (0.1, 0.2), "encoding": "hashing"}, "share"),
        ({"encoding": "other"}, "encoding"),
        ({"delta": 1e-6, "encoding": "unary"}, "delta"),
        ({"epsilon": 0.0}, "eps"),
    ],
)
def test_bad_input_names_its_field(options, name):
    with pytest.raises(InvalidInput) as caught:
        hidden_problem(**{"epsilon": 1.0, "users": 100, "share": 0.1} | options)
    assert caught.value.field == name


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"users": 10**6 + 1}, "users must be at most 1000000"),
        ({"delta": 1e-6, "users": 1000}, "users must be at most 400 with a delta above 0"),
        ({"delta": 1e-12}, "delta must be 0 or at least 1e-07"),
    ],
)
def test_what_no_search_reaches_is_said(options, words):
    with pytest.raises(InvalidInput, match=words):
        solve(hidden_problem(**{"epsilon": 1.0, "users": 100, "share": 0.1} | options))


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"privacy": Pure(1.0)}, "privacy"),
        ({"among": All()}, "among"),
        ({"inputs": [0, 2]}, "inputs"),
        ({"criterion": Average()}, "criterion"),
        ({"privacy": Hidden(1.0, 100, answers=2)}, "answers"),
        ({"loss": Count(Atoms([0.1], [1.0]))}, "criterion"),
        ({"loss": Matrix([[0, 1], [1, 0]])}, "privacy"),
    ],
)
def test_words_that_do_not_fit_a_count_are_refused(words, field):
    with pytest.raises(InvalidInput) as caught:
        evolved(hidden_problem(1.0, 100, 0.1), **words)
    assert caught.value.field == field


def test_parts_are_those_of_hidden_designs_only():
    with pytest.raises(InvalidInput, match="hidden"):
        parts(solve(joint_problem(1.0, 100, 0.1)))


def _floats(users: int, peak: int, eps: float) -> list[float]:
    weights = [math.exp(math.log(math.comb(users, k)) - eps * abs(k - peak)) for k in range(users + 1)]
    return [w / sum(weights) for w in weights]


def _float_variance(chances: list[float], share: float) -> float:
    n = len(chances) - 1
    mean = math.fsum(k * c for k, c in enumerate(chances))
    mixed = math.fsum(k * (n - k) * c for k, c in enumerate(chances))
    spread = math.fsum((k - mean) ** 2 * c for k, c in enumerate(chances))
    return (4 * share * (1 - share) / (n - 1) * mixed + (1 - 2 * share) ** 2 * spread) / (1 - 2 * mean / n) ** 2
