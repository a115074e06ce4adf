"""The two-phase protocol: groups, privacy, lack of bias, exact errors, and what it refuses."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms import catalogue as c
from mechdesign.studies.frequencies import two_phase
from mechdesign.studies.frequencies.mean import expected_error
from mechdesign.studies.frequencies.quantise import edges_of, quantised
from mechdesign.studies.frequencies.two_phase import (
    FORMS,
    TwoPhasePlan,
    additive_form,
    default_bins,
    free_form,
    simulate_once,
    simulate_two_phase,
)
from mechdesign.tables import make_table, sample
from mechdesign.values.declare import evolved
from mechdesign.words.domains import Interval
from mechdesign.words.priors import Atoms

SYMMETRIC, AGES = Interval(-1, 1), Interval(0, 120)
RATE = 1e-6


def hm_step(epsilon, prior):
    return c.hm(epsilon, Interval(float(prior.points[0]), float(prior.points[-1])))


@given(st.integers(4, 10**7), st.floats(0.01, 0.99))
def test_every_user_is_in_one_group(users, share):
    try:
        plan = TwoPhasePlan(1.0, users, SYMMETRIC, 8, share, weight=0.0)
    except InvalidInput:
        assert min(round(share * users), users - round(share * users)) < 2
        return
    assert plan.first + plan.second == users
    if users < 10_000:
        assert int(plan.split(np.random.default_rng(0)).sum()) == plan.first


def test_every_user_is_as_likely_in_the_first_group():
    """20 000 splits of 8 users; binomial, false-positive rate 1e-6 for each user."""
    plan, rng = TwoPhasePlan(1.0, 8, SYMMETRIC, 4, 0.25), np.random.default_rng(1)
    counts = np.sum([plan.split(rng) for _ in range(20_000)], axis=0)
    low, high = stats.binom.ppf([RATE / 2, 1 - RATE / 2], 20_000, 0.25)
    assert low <= counts.min()
    assert counts.max() <= high


def test_the_defaults_are_the_papers():
    plan = TwoPhasePlan(1.0, 1000, SYMMETRIC)
    assert (plan.share, plan.bins) == (0.1, 8)
    assert SYMMETRIC.length / default_bins(1000) == 0.25
    assert SYMMETRIC.length / default_bins(10**5) == 0.125


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), epsilon=st.sampled_from([0.3, 1.0, 4.0]), bins=st.integers(2, 12))
def test_the_mechanism_is_private_and_unbiased_whatever_the_descriptor(form, seed, epsilon, bins):
    plan, rng = TwoPhasePlan(epsilon, 100, AGES, bins, step=FORMS[form]), np.random.default_rng(seed)
    mechanism = plan.design(plan.describe(rng.integers(0, bins + 1, plan.first)))
    places = rng.uniform(0, 120, 500)
    assert mechanism.privacy_loss() <= epsilon
    assert mechanism.mean(places) == pytest.approx(places, abs=1e-9 * 120)


def test_the_design_sees_the_descriptor_and_nothing_else():
    seen = []

    def step(epsilon, prior):
        seen.append((epsilon, prior))
        return hm_step(epsilon, prior)

    plan = TwoPhasePlan(1.0, 100, AGES, 4, step=step)
    run = simulate_once(plan, np.full(100, 30.0), np.random.default_rng(0))
    assert seen == [(1.0, run.descriptor.prior)]


def exact_estimates(plan, values, mechanism):
    """Every split of the users with its chance, and the two group means there."""
    splits = list(combinations(range(plan.users), plan.first))
    for chosen in splits:
        first = np.zeros(plan.users, dtype=bool)
        first[list(chosen)] = True
        yield 1 / len(splits), values[first], values[~first]


@pytest.mark.parametrize("weight", [None, 0.0, 0.4])
def test_the_error_formula_agrees_with_the_enumeration_of_all_splits(weight):
    values = np.array([-1.0, -0.8, 0.1, 0.3, 0.9, 1.0])
    plan = TwoPhasePlan(1.2, 6, SYMMETRIC, 4, 1 / 3, weight)
    mechanism, w = c.pm(1.2), plan.weight
    mean = square = 0.0
    for chance, first, second in exact_estimates(plan, values, mechanism):
        centre = w * first.mean() + (1 - w) * second.mean() - values.mean()
        noise = w**2 * plan.response.variance(first).sum() / 4 + (1 - w) ** 2 * mechanism.variance(second).sum() / 16
        mean, square = mean + chance * centre, square + chance * (centre**2 + float(noise))
    assert mean == pytest.approx(0, abs=1e-12)
    assert plan.expected_error(values, mechanism) ** 2 == pytest.approx(square, rel=1e-9)


@pytest.mark.parametrize("weight", [None, 0.0])
def test_simulated_errors_are_the_exact_ones(weight):
    """600 collections of 200 users with HM; chi-square around the exact error (false-positive rate 2e-6), and the
    average error is within normal quantiles of zero (2e-6)."""
    values = np.clip(np.random.default_rng(0).normal(-0.3, 0.3, 200), -1, 1)
    plan, trials = TwoPhasePlan(1.0, 200, SYMMETRIC, 4, 0.2, weight, hm_step), 600
    found = simulate_two_phase(plan, values, trials, np.random.default_rng(2))
    exact = plan.expected_error(values, c.hm(1.0))
    low, high = stats.chi2.ppf([RATE, 1 - RATE], trials) / trials
    assert low < (found.rmse / exact) ** 2 < high
    assert found.bias < stats.norm.ppf(1 - RATE) * exact / math.sqrt(trials)


def test_adaptive_designs_leave_the_estimate_unbiased():
    """80 collections of 300 skewed users, each with a design of its own; normal test, false-positive rate 2e-6."""
    values = np.random.default_rng(1).beta(1, 6, 300) * 120
    plan = TwoPhasePlan(2.0, 300, AGES, 6)
    found = simulate_two_phase(plan, values, 80, np.random.default_rng(3))
    assert found.bias < stats.norm.ppf(1 - RATE) * found.rmse / math.sqrt(80)
    assert found.bias <= found.mean_absolute_error <= found.rmse


def test_intervals_cover_the_mean():
    """300 collections at 95%: fewer covered than the 1e-5 quantile of the binomial has chance below 1e-5."""
    values = np.random.default_rng(4).uniform(0, 60, 500)
    plan, rng = TwoPhasePlan(1.0, 500, AGES, 4, step=hm_step), np.random.default_rng(5)
    covered = sum(simulate_once(plan, values, rng).estimate.covers(values.mean()) for _ in range(300))
    assert covered >= stats.binom.ppf(1e-5, 300, 0.95)


def test_the_weight_is_the_best_one_for_uniform_data():
    values = np.linspace(-1, 1, 2001)
    plan = TwoPhasePlan(1.0, values.size, SYMMETRIC, 8)
    errors = [evolved(plan, weight=plan.weight + d).expected_error(values, c.hm(1.0)) for d in (-0.01, 0.0, 0.01)]
    assert errors[1] < min(errors[0], errors[2])
    assert plan.weight < plan.share  # one bit about 9 edges says less than a number


def test_reports_of_the_first_group_help_where_edges_are_few():
    values = np.random.default_rng(0).choice([-1.0, 1.0], 10_000)
    everybody, second = (TwoPhasePlan(1.0, 10_000, SYMMETRIC, 2, 0.1, w) for w in (None, 0.0))
    gain = second.expected_error(values, c.duchi(1.0)) / everybody.expected_error(values, c.duchi(1.0))
    assert 1.03 < gain < 1.1


def test_the_error_under_a_law_is_that_of_data_like_it():
    law = Atoms([-1.0, 0.0, 0.5], [0.2, 0.5, 0.3])
    plan = TwoPhasePlan(1.0, 100_000, SYMMETRIC, 4)
    values = np.repeat(law.points, [20_000, 50_000, 30_000])
    assert plan.error_under(law, c.pm(1.0)) == pytest.approx(plan.expected_error(values, c.pm(1.0)), rel=1e-4)


def test_the_free_form_is_the_certified_optimum_for_the_descriptor():
    values = np.random.default_rng(0).normal(0, 0.1, 5000)
    law = quantised(values, SYMMETRIC, 16)
    mechanism = free_form(1.0, law)
    variance = float(law.weights @ mechanism.variance(law.points))
    rivals = [build(1.0) for build in (c.pm, c.hm, c.duchi)]
    assert 0.9 < variance / min(float(law.weights @ rival.variance(law.points)) for rival in rivals) < 0.95


def test_the_additive_form_is_no_better_than_the_free_one():
    law = quantised(np.random.default_rng(0).normal(0, 0.2, 5000).clip(-1, 1), SYMMETRIC, 16)
    for epsilon in (0.5, 1.0, 4.0):
        additive, free = (
            float(law.weights @ step(epsilon, law).variance(law.points)) for step in (additive_form, free_form)
        )
        assert 1 - 1e-3 < additive / free < 1.04


def test_a_tenth_of_the_users_costs_more_at_eps_1_than_the_design_gains():
    """Correction 5: with the paper's share and estimate even the exact optimum for the exact law only ties with PM."""
    values = np.clip(np.random.default_rng(0).normal(0, 0.1, 10_000), -1, 1)
    best = free_form(1.0, quantised(values, SYMMETRIC, 128))
    paper = TwoPhasePlan(1.0, 10_000, SYMMETRIC, 16, 0.1, 0.0).expected_error(values, best)
    assert 0.99 < paper / expected_error(c.pm(1.0), values) < 1.02
    small = TwoPhasePlan(1.0, 10_000, SYMMETRIC, 16, 0.02, 0.0).expected_error(values, best)
    assert small / expected_error(c.pm(1.0), values) < 0.97


def test_the_expected_error_of_an_adaptive_design_is_off_by_a_share_of_order_one_over_n():
    """Exactly, over all splits and all reports of a first group of two: Duchi or PM by what the reports say.

    The average of the squared errors given the design is not that of the collection, since the design knows a little
    of who is left; for a design that is fixed beforehand it is.
    """
    shares = {}
    for users in (4, 8, 16):
        values = np.resize([-1.0, 1.0, 1.0, 0.0], users)
        plan = TwoPhasePlan(3.0, users, SYMMETRIC, 2, 2 / users)
        for name, choose in (("fixed", lambda edges: c.pm(3.0)), ("adaptive", lambda e: DESIGNS[e.count(2) > 0])):
            true = said = 0.0
            for chance, edges, mean, rest in exact_first_groups(plan, values):
                mechanism = choose(edges)
                second = float(mechanism.variance(values[rest]).sum()) / plan.second**2
                centre = plan.weight * mean + (1 - plan.weight) * values[rest].mean() - values.mean()
                true += chance * (centre**2 + (1 - plan.weight) ** 2 * second)
                said += chance * plan.expected_error(values, mechanism) ** 2
            shares[name, users] = said / true - 1
    assert max(abs(shares["fixed", users]) for users in (4, 8, 16)) < 1e-9
    adaptive = [shares["adaptive", users] for users in (4, 8, 16)]
    assert adaptive == pytest.approx([-0.0606, -0.0360, -0.0190], abs=1e-4)


DESIGNS = {True: c.duchi(3.0), False: c.pm(3.0)}


def exact_first_groups(plan, values):
    """Every split and every answer of the first group: chance, edges, their debiased mean, and who is left."""
    splits = list(combinations(range(plan.users), plan.first))
    chances, numbers = plan.response.mechanism.probabilities, plan.response.debiased()
    for chosen in splits:
        rest = [k for k in range(plan.users) if k not in chosen]
        for edges in product(range(3), repeat=plan.first):
            held = [int(values[k]) + 1 for k in chosen]
            chance = math.prod(chances[i, j] for i, j in zip(held, edges, strict=True)) / len(splits)
            yield chance, edges, float(np.mean(numbers[list(edges)])), rest


def test_collections_repeat_under_the_same_generator_state():
    plan, values = TwoPhasePlan(1.0, 60, AGES, 4), np.linspace(3, 99, 60)
    runs = [simulate_once(plan, values, np.random.default_rng(seed)).estimate for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_constant_data_are_data():
    plan = TwoPhasePlan(3.0, 2000, AGES)
    run = simulate_once(plan, np.full(2000, 30.0), np.random.default_rng(0))
    assert abs(run.estimate.value - 30) < 6 * plan.expected_error(np.full(2000, 30.0), run.mechanism)


@pytest.mark.parametrize("form", FORMS)
def test_a_million_users_report_without_a_call_each(form, calls_of):
    values = np.random.default_rng(0).uniform(-1, 1, 10**6)
    plan = TwoPhasePlan(1.0, 10**6, SYMMETRIC, step=FORMS[form])
    mechanism = simulate_once(plan, values, np.random.default_rng(0)).mechanism
    mechanism.sample(values[:10], np.random.default_rng(0))  # what is prepared once is not counted
    few, many = (
        calls_of(lambda users=users: mechanism.sample(values[:users], np.random.default_rng(0)))
        for users in (10**4, 10**6)
    )
    assert many <= 1.1 * few < 10_000


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0, 1, 0.0, 1.0, -0.1, 2, math.nan, "x", None, True])
def test_shares_that_leave_a_group_empty_are_refused(share):
    with pytest.raises(InvalidInput, match="share"):
        TwoPhasePlan(1.0, 100, SYMMETRIC, 4, share)


@pytest.mark.parametrize(("users", "share"), [(1, 0.5), (3, 0.5), (10, 0.1), (100, 0.999)])
def test_too_few_users_for_the_split_are_refused(users, share):
    with pytest.raises(InvalidInput, match="users for each group"):
        TwoPhasePlan(1.0, users, SYMMETRIC, 4, share)


@pytest.mark.parametrize(
    "changed",
    [
        {"users": 0},
        {"users": 10.0},
        {"users": True},
        {"epsilon": 0},
        {"bins": 1},
        {"bins": 2.5},
        {"bins": 1000},
        {"weight": -0.1},
        {"weight": 1.5},
        {"weight": math.nan},
        {"inputs": "x"},
    ],
    ids=str,
)
def test_plans_that_cannot_be_are_refused(changed):
    given = {"epsilon": 1.0, "users": 100, "inputs": SYMMETRIC, "bins": 4} | changed
    with pytest.raises(InvalidInput):
        TwoPhasePlan(**given)


@pytest.mark.parametrize("values", [[0.0] * 9, [0.0] * 11, [2.0] + [0.0] * 9, [math.nan] * 10, [None] * 10], ids=str)
def test_data_that_are_not_those_of_the_users_are_refused(values):
    plan = TwoPhasePlan(1.0, 10, SYMMETRIC, 4, 0.5)
    for use in (
        lambda: simulate_once(plan, values, np.random.default_rng(0)),
        lambda: plan.expected_error(values, c.pm(1.0)),
    ):
        with pytest.raises(InvalidInput):
            use()


@pytest.mark.parametrize("trials", [0, 1.5, True])
def test_numbers_of_trials_that_are_none_are_refused(trials):
    with pytest.raises(InvalidInput, match="trials"):
        simulate_two_phase(TwoPhasePlan(1.0, 10, SYMMETRIC, 4, 0.5), [0.0] * 10, trials, np.random.default_rng(0))


def test_a_design_that_overspends_is_withheld():
    plan = TwoPhasePlan(1.0, 10, SYMMETRIC, 4, 0.5, step=lambda epsilon, prior: c.pm(1.01))
    with pytest.raises(CheckFailed, match="privacy loss"):
        simulate_once(plan, [0.0] * 10, np.random.default_rng(0))


@pytest.mark.parametrize("law", [c.sw(1.0, SYMMETRIC), c.ogpm(1.0, SYMMETRIC), c.pm(1.0, AGES)], ids=lambda m: m.name)
def test_a_design_that_is_biased_or_elsewhere_is_refused(law):
    plan = TwoPhasePlan(1.0, 10, SYMMETRIC, 4, 0.5, step=lambda epsilon, prior: law)
    with pytest.raises(InvalidInput, match="design"):
        simulate_once(plan, [0.0] * 10, np.random.default_rng(0))


@pytest.mark.parametrize("weight", [None, 0.0])
def test_reports_of_nobody_and_reports_that_are_none_are_refused(weight):
    plan = TwoPhasePlan(1.0, 10, SYMMETRIC, 4, 0.5, weight)
    edges, numbers = np.zeros(5, dtype=int), np.zeros(5)
    assert plan.estimate(edges, numbers, c.pm(1.0)).users == 10
    for bad in ((edges[:0], numbers), (edges, numbers[:0]), (edges, numbers * math.nan), (edges, ["a"] * 5)):
        with pytest.raises(InvalidInput, match="reports"):
            plan.estimate(*bad, c.pm(1.0))
    with pytest.raises(InvalidInput, match="histogram reports"):
        plan.describe(edges[:0])


def test_reports_that_are_no_edges_are_refused():
    plan = TwoPhasePlan(1.0, 10, SYMMETRIC, 4, 0.5)
    for edges in (np.zeros(5), [0, 5], [-1, 0]):
        with pytest.raises(InvalidInput, match="histogram reports"):
            plan.estimate(edges, np.zeros(5), c.pm(1.0))


# -- users who stay away ----------------------------------------------------------------------------------------------


def test_shares_are_of_the_reports_that_came():
    plan = TwoPhasePlan(1.0, 100, SYMMETRIC, 2, 0.5)
    response, edges = plan.response, np.array([0, 0, 1, 2])
    found = plan.describe(edges)
    assert found.users == 4
    assert found.estimate == pytest.approx((np.array([0.5, 0.25, 0.25]) - response.q) / (response.p - response.q))
    assert found.estimate.sum() == pytest.approx(1)  # it is not if the plan's 50 divide


def test_the_estimate_averages_the_reports_that_came():
    """By hand, with 3 of 50 and 2 of 50 reports, and with one in each group."""
    plan = TwoPhasePlan(1.0, 100, SYMMETRIC, 2, 0.5)
    v, w = plan.response.debiased(), plan.weight
    found = plan.estimate([0, 2, 2], [0.5, 1.5], c.pm(1.0))
    assert found.value == pytest.approx(w * (v[0] + 2 * v[2]) / 3 + (1 - w) * 1.0)
    assert found.users == 5
    alone = plan.estimate([1], [0.5], c.pm(1.0))
    assert alone.value == pytest.approx(w * v[1] + (1 - w) * 0.5)
    assert alone.lower < alone.value < alone.upper


def test_the_estimate_is_unbiased_whoever_stays_away():
    """Exactly: all reports of both groups, for every subset of two users in each group that answers."""
    plan, values = TwoPhasePlan(1.0, 4, SYMMETRIC, 2, 0.5), np.array([-1.0, 0.0, 0.0, 1.0])
    edge, number = plan.response.mechanism.probabilities, c.duchi(1.0)
    ends = np.asarray(number.outputs.points)
    for first in ([0], [0, 2], [3, 1]):
        second = [k for k in range(4) if k not in first][:1]
        mean = 0.0
        for edges in product(range(3), repeat=len(first)):
            held = (values[first] + 1).astype(int)
            chance = math.prod(edge[i, j] for i, j in zip(held, edges, strict=True))
            for end in ends:
                said = plan.estimate(list(edges), [end], number).value
                mean += chance * float(number.mass(end, values[second[0]])) * said
        truth = plan.weight * values[first].mean() + (1 - plan.weight) * values[second].mean()
        assert mean == pytest.approx(truth, abs=1e-9)


# -- plans that could not be carried out ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("epsilon", [20.0, 12.5, 5e-4])
def test_a_plan_whose_design_would_be_refused_is_refused_before_anyone_reports(form, epsilon):
    with pytest.raises(InvalidInput, match="eps must"):
        TwoPhasePlan(epsilon, 1000, SYMMETRIC, 8, step=FORMS[form])
    assert TwoPhasePlan(epsilon, 1000, SYMMETRIC, 8, step=hm_step).epsilon == epsilon


def test_a_grid_that_is_too_fine_for_a_tiny_epsilon_is_refused_before_anyone_reports():
    with pytest.raises(InvalidInput, match=r"eps must be at least 0.* with 512 bins.*fewer bins"):
        TwoPhasePlan(0.005, 1000, SYMMETRIC, 512)
    assert TwoPhasePlan(0.005, 1000, SYMMETRIC, 512, step=free_form).bins == 512


def test_the_finest_grid_at_usual_epsilons_is_no_obstacle():
    assert TwoPhasePlan(1.0, 1000, SYMMETRIC, 512).bins == 512


@pytest.mark.parametrize("step", [None, "additive", 3])
def test_steps_that_are_none_are_refused(step):
    with pytest.raises(InvalidInput, match="step"):
        TwoPhasePlan(1.0, 100, SYMMETRIC, 4, step=step)


# -- intervals where noise is rare ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "bins", "trials"), [("additive", 8, 200), ("additive", 3, 200), ("free", 8, 60)])
def test_intervals_cover_where_noise_is_rare(form, bins, trials):
    """Collections of 500 users at 0.25, eps = 8, at 95%: a binomial test with false-positive rate 1e-5, seed 8.

    At a coverage of 56%, as intervals of the reports' spread alone have, it passes with chance below 1e-4.
    """
    values, rng = np.full(500, 0.25), np.random.default_rng(8)
    plan = TwoPhasePlan(8.0, 500, SYMMETRIC, bins, step=FORMS[form])
    covered = sum(simulate_once(plan, values, rng).estimate.covers(0.25) for _ in range(trials))
    assert covered >= stats.binom.ppf(1e-5, trials, 0.95)
    assert stats.binom.sf(stats.binom.ppf(1e-5, trials, 0.95) - 1, trials, 0.56) < 1e-4


def test_other_protocols_describe_but_do_not_estimate():
    class Fake:
        epsilon, size = 1.0, 5

        def __init__(self, loss=1.0, size=5):
            self.loss, self.size = loss, size

        def privacy_loss(self):
            return self.loss

        def report(self, values, rng):
            return values

        def support(self, reports):
            return np.bincount(reports, minlength=5)

        def estimate(self, support, n):
            return support / n

    plan = TwoPhasePlan(1.0, 10, SYMMETRIC, 4, 0.5, weight=0.0)
    reports = plan.report_edges([-1.0, 1.0, 1.0, 1.0, -1.0], np.random.default_rng(0), Fake())
    assert plan.describe(reports, Fake()).prior.weights == pytest.approx([0.4, 0, 0, 0, 0.6])
    for protocol, chosen in ((Fake(), evolved(plan, weight=0.1)), (Fake(2.0), plan), (Fake(size=6), plan)):
        with pytest.raises(InvalidInput):
            chosen.describe(reports, protocol)


def test_the_module_offers_the_papers_share():
    assert two_phase.SHARE == 0.1


def test_a_collection_by_tables_is_estimated_by_the_server():
    """20 000 users at eps = 2 with tables and the system's randomness: within 6 of the exact standard errors."""
    bounds, rng = Interval(0, 60), np.random.default_rng(0)
    values = rng.beta(2, 3, 20_000) * 60
    plan = TwoPhasePlan(2.0, values.size, bounds, 8, step=free_form)
    is_first, edges = plan.split(rng), edges_of(bounds, 8)
    below = np.floor(values[is_first] / 7.5)
    rounded = edges[(below + (rng.random(below.size) < values[is_first] / 7.5 - below)).astype(int)]
    first = make_table(plan.response.mechanism, 32)
    reported = np.searchsorted(edges, sample(first, rounded))
    mechanism = plan.design(plan.describe(reported))
    second = make_table(plan.require_mechanism(mechanism), 32)
    found = plan.estimate(reported, sample(second, values[~is_first]), mechanism)
    assert abs(found.value - values.mean()) < 6 * plan.expected_error(values, mechanism)
    assert max(first.privacy_loss, second.privacy_loss) <= 2.0
