"""The exact law of ETC, against convolutions written out, the spec's numbers, and inversion in other words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets.capacity import Capacity, Requirement
from mechdesign.studies.budgets.capri import simulate_etc
from mechdesign.studies.budgets.capri_exact import Exceedance, budget, chebyshev, chebyshev_budget
from mechdesign.studies.budgets.populations import water_like, water_sample
from mechdesign.studies.frequencies.protocols import protocol


def binary(cap: float, total: int) -> Capacity:
    return Capacity([0, 1], [1000 - total, total], cap)


@pytest.mark.parametrize(
    ("cap", "total", "epsilon", "exact", "bound"),
    [(500, 600, 0.8, 0.00523595, 0.14818), (400, 500, 0.4, 0.10417455, 0.61673)],
)
def test_figure_4_1a_to_eight_digits(cap, total, epsilon, exact, bound):
    capacity = binary(cap, total)
    above = Exceedance(capacity, "grr")(epsilon)
    assert above.exact
    assert Requirement("fn", 0.5).probability(capacity, above.value) == pytest.approx(exact, abs=5e-9)
    assert chebyshev(capacity, protocol("grr", epsilon, 2)) == pytest.approx(bound, abs=5e-6)


@pytest.mark.parametrize(("total", "epsilon"), [(100, 0.4), (100, 0.1), (200, 0.1)])
def test_figure_4_1a_has_no_false_negatives_below_the_capacity(total, epsilon):
    capacity = binary(500, total)
    assert Requirement("fn", 0.5).probability(capacity, Exceedance(capacity, "grr")(epsilon).value) == 0.0


def enumerated(capacity: Capacity, name: str, epsilon: float) -> float:
    """``P(ETC > cap)`` by convolving the laws of all reports, one after the other, over sums on a grid of 1."""
    law = protocol(name, epsilon, capacity.v.size)
    m = capacity.v.astype(int)
    total = np.ones(1)
    for item, users in enumerate(capacity.x):
        if name == "grr":
            one = np.zeros(m.max() + 1)
            np.add.at(one, m, np.where(np.arange(m.size) == item, law.p, law.q))
        else:
            one = np.ones(1)
            for other in range(m.size):
                bit = np.zeros(m[other] + 1)
                chance = law.p if other == item else law.q
                bit[0] += 1 - chance
                bit[m[other]] += chance
                one = np.convolve(one, bit)
        for _ in range(users):
            total = np.convolve(total, one)
    etc = (np.arange(total.size) - capacity.users * law.q * m.sum()) / (law.p - law.q)
    if name == "grr":  # estimates sum to the users, so consumption may be counted from 0
        assert law.q * m.size + law.p - law.q == pytest.approx(1)
    return float(total[etc > capacity.cap + 1e-9].sum())


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(["grr", "sue", "oue", "blh", "the"]),
    values=st.lists(st.integers(0, 9), min_size=2, max_size=4, unique=True).map(sorted),
    counts=st.lists(st.integers(0, 8), min_size=4, max_size=4).filter(lambda row: sum(row[:2]) > 0),
    epsilon=st.floats(0.05, 6.0),
    cap=st.floats(-20, 120),
)
def test_probabilities_are_those_of_the_convolved_reports(name, values, counts, epsilon, cap):
    capacity = Capacity(values, counts[: len(values)], cap)
    assert Exceedance(capacity, name)(epsilon).value == pytest.approx(enumerated(capacity, name, epsilon), abs=1e-10)


def test_estimates_at_the_capacity_do_not_count_as_above():
    # ETC is exactly 500 where 500 of 1000 report 1, at every epsilon
    law = protocol("grr", 0.4, 2)
    ones = np.convolve(stats.binom.pmf(np.arange(501), 500, law.p), stats.binom.pmf(np.arange(501), 500, law.q))
    assert Exceedance(binary(500, 500), "grr")(0.4).value == pytest.approx(ones[501:].sum(), abs=1e-11)


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "olh"])
def test_the_law_of_a_city_is_normal_to_five_ten_thousandths(name):
    capacity = Capacity(np.arange(41), water_like(), 1_650_000)
    for epsilon in (0.3, 1.0, 3.0):
        law = protocol(name, epsilon, 41)
        z = (capacity.total - capacity.cap) / capacity.deviation(law)
        assert Exceedance(capacity, name)(epsilon).value == pytest.approx(stats.norm.cdf(z), abs=5e-4)


@pytest.mark.parametrize("name", ["grr", "olh", "l-osue"])
def test_simulated_collections_agree(name):
    """Binomial test at 1e-6 in 3 cases; seed 4, n = 20,000 collections. A shift of 0.02 is found: power 0.83."""
    capacity = Capacity(np.arange(41), water_sample(), 17_000)
    above = Exceedance(capacity, name)(2.0)
    drawn = simulate_etc(capacity, protocol(name, 2.0, 41), 20_000, np.random.default_rng(4)) > capacity.cap
    assert stats.binomtest(int(drawn.sum()), 20_000, above.value).pvalue > 1e-6


@pytest.mark.parametrize("name", ["ss", "hr", "she", "sw"])
def test_other_protocols_are_labelled_approximate(name):
    capacity = Capacity(np.arange(5), [200, 100, 50, 25, 25], 500)
    above = Exceedance(capacity, name)(2.0)
    assert not above.exact
    assert 0 < above.value < 0.5


def test_the_normal_law_of_subset_selection_is_near_the_simulated_one():
    """Seed 6, n = 4000 collections: within five standard errors and a continuity term of 0.02."""
    capacity = Capacity(np.arange(5), [200, 100, 50, 25, 25], 430)
    drawn = simulate_etc(capacity, protocol("ss", 1.0, 5), 4000, np.random.default_rng(6)) > capacity.cap
    assert drawn.mean() == pytest.approx(Exceedance(capacity, "ss")(1.0).value, abs=0.02 + 5 * 0.008)


@pytest.mark.parametrize(("event", "cap", "tau"), [("tp", 1_500_000, 0.9), ("fp", 1_700_000, 0.05)])
@pytest.mark.parametrize("name", ["grr", "oue", "olh"])
def test_the_budget_is_where_the_requirement_starts_to_hold(event, cap, tau, name):
    capacity, requirement = Capacity(np.arange(41), water_like(), cap), Requirement(event, tau)
    found = budget(capacity, requirement, name)
    above = Exceedance(capacity, name)
    assert found.lower is not None
    assert 0 < found.epsilon - found.lower <= 1e-6
    assert requirement.holds(requirement.probability(capacity, above(found.epsilon).value))
    assert not requirement.holds(requirement.probability(capacity, above(found.lower).value))
    assert found.probability.exact


def test_protocols_are_better_than_chebyshev_says():
    capacity, requirement = Capacity(np.arange(41), water_like(), 1_700_000), Requirement("fp", 0.05)
    for name in ("grr", "oue"):
        bound = chebyshev_budget(capacity, requirement, name)
        assert bound is not None
        assert budget(capacity, requirement, name).epsilon < bound
        assert chebyshev(capacity, protocol(name, bound, 41)) == pytest.approx(0.05, abs=1e-5)
    assert chebyshev_budget(capacity, Requirement("fp", 1e-5), "sue", most=3.0) is None


def test_the_bound_is_the_printed_formula_for_binary_domains():
    law = protocol("grr", 0.7, 2)
    expected = law.p * law.q * 1000 / ((law.p - law.q) ** 2 * 150**2)
    assert chebyshev(binary(450, 600), law) == pytest.approx(expected, rel=1e-12)
    assert chebyshev(binary(599, 600), law) == 1.0
    assert chebyshev(binary(600, 600), law) == 1.0


def test_an_easy_requirement_needs_the_least_epsilon_only():
    found = budget(binary(500, 600), Requirement("fn", 0.9), "grr")
    assert (found.epsilon, found.lower) == (0.001, None)


def test_a_requirement_out_of_reach_names_the_best():
    with pytest.raises(InvalidInput, match=r"best reached: 0\.4.* at eps = 0.1") as caught:
        budget(binary(599, 600), Requirement("fn", 0.01), "grr", most=0.1)
    assert caught.value.field == "requirement"


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((binary(600, 600), Requirement("fp", 0.1), "grr"), {}, "differ"),
        ((binary(500, 600), Requirement("fp", 0.1), "grr"), {}, "can happen"),
        ((binary(500, 600), Requirement("fn", 0.1), "rsa"), {}, "protocol"),
        ((binary(500, 600), Requirement("fn", 0.1), "grr"), {"least": 2.0, "most": 1.0}, "range"),
        ((binary(500, 600), Requirement("fn", 0.1), "grr"), {"least": 0.0}, "eps"),
    ],
)
def test_bad_questions_are_refused(arguments, options, words):
    with pytest.raises(InvalidInput, match=words):
        budget(*arguments, **options)


def test_few_households_on_a_fine_lattice_need_many_frequencies():
    # two households, so the law is a handful of points: ETC is known by hand
    capacity = Capacity([0, 0.0003, 1], [0, 1, 1], 0.5)
    law = protocol("grr", 1.0, 3)
    reports = [(a, b) for a in range(3) for b in range(3)]
    chances = [(law.p if a == 1 else law.q) * (law.p if b == 2 else law.q) for a, b in reports]
    etc = [((capacity.v[a] + capacity.v[b]) - 2 * law.q * capacity.v.sum()) / (law.p - law.q) for a, b in reports]
    expected = sum(chance for chance, total in zip(chances, etc, strict=True) if total > 0.5)
    assert Exceedance(capacity, "grr")(1.0).value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_estimates_a_little_above_the_capacity_count_as_above(name):
    # three reports of 1 and 1000: a sum that is attained, at a capacity 1e-6 below it
    law = protocol(name, 1.0, 2)
    offset = 3 * (1.0 if name == "grr" else 0.0)
    unit, slots = (999.0, 1) if name == "grr" else (1.0, 1001)
    attained = (1001 if name == "oue" else 2) - 3 * law.q * slots
    cap = offset + unit * attained / (law.p - law.q) - 1e-6
    capacity = Capacity([1, 1000], [1, 2], cap)
    shifted = enumerated(capacity, name, 1.0)
    assert Exceedance(capacity, name)(1.0).value == pytest.approx(shifted, abs=1e-10)


@pytest.mark.parametrize(("name", "epsilon"), [("oue", 0.90198), ("grr", 0.91908)])
def test_whole_numbers_just_above_the_edge_are_not_counted_below_it(name, epsilon):
    """In a city the edge is 3e-3 or 6e-4 below a whole number: a capacity moved by less changes nothing."""
    above = [Exceedance(Capacity(np.arange(41), water_like(), 1_700_000 - less), name)(epsilon) for less in (0, 0.2)]
    assert above[0].value == pytest.approx(above[1].value, abs=1e-10)
