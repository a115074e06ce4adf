"""Capacities, requirements, and what no epsilon can meet."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets.capacity import Capacity, Requirement
from mechdesign.studies.frequencies.protocols import protocol

BATTERIES = Capacity([0, 10, 15], [1, 2, 1], 32)


def test_the_paper_s_four_batteries_exceed_their_capacity():
    assert (BATTERIES.total, BATTERIES.users, BATTERIES.exceeded) == (35.0, 4, True)


def test_a_capacity_is_not_exceeded_by_itself():
    assert not Capacity([0, 1], [1, 1], 1).exceeded


@pytest.mark.parametrize(
    ("values", "origin", "steps", "unit"),
    [
        ([0, 10, 15], 0, [0, 2, 3], 5.0),
        ([3, 5, 9], 3, [0, 1, 3], 2.0),
        ([3, 5, 9], 0, [3, 5, 9], 1.0),
        ([0.5, 0.75], 0.5, [0, 1], 0.25),
        ([0.1, 0.2, 0.3], 0, [1, 2, 3], 0.1),
    ],
)
def test_lattices_are_as_coarse_as_they_can_be(values, origin, steps, unit):
    found = Capacity(values, [1] * len(values), 1).lattice(origin)
    assert (found[0].tolist(), found[1]) == (steps, unit)


@pytest.mark.parametrize("name", ["grr", "oue", "olh", "ss", "hr", "she"])
def test_etc_is_unbiased_and_has_the_stated_deviation(name):
    """z-tests at 1e-6 each for mean and variance; seed 2, n = 3000 collections; false-positive rate below 1.2e-5."""
    capacity, law = Capacity([1, 4, 6], [50, 30, 20], 200), protocol(name, 1.0, 3)
    rng = np.random.default_rng(2)
    supports = np.stack([law.simulate(capacity.x, rng) for _ in range(3000)])
    found = capacity.etc(law, supports)
    assert abs(found.mean() - capacity.total) < 4.9 * capacity.deviation(law) / math.sqrt(3000)
    assert abs(found.var() / capacity.deviation(law) ** 2 - 1) < 4.9 * math.sqrt(2 / 3000) * 1.1


@pytest.mark.parametrize(
    ("event", "probability", "holds"),
    [("fn", 0.05, False), ("fn", 0.0499, True), ("fp", 0.06, False), ("tp", 0.05, True), ("TN", 0.04, False)],
)
def test_requirements_are_those_of_algorithm_8(event, probability, holds):
    assert Requirement(event, 0.05).holds(probability) is holds


def test_events_are_exclusive_and_those_that_cannot_happen_have_probability_zero():
    for capacity in (BATTERIES, Capacity([0, 10, 15], [1, 2, 1], 40)):
        chances = {event: Requirement(event, 0.5).probability(capacity, 0.3) for event in ("tp", "fn", "fp", "tn")}
        assert sum(chances.values()) == pytest.approx(1.0)
        assert {event for event, chance in chances.items() if chance > 0} == (
            {"tp", "fn"} if capacity.exceeded else {"fp", "tn"}
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], [], 1.0), "consumption"),
        (([1.0], [3], 1.0), "consumption"),
        (([0, -1], [3, 1], 1.0), "consumption must be finite and at least 0"),
        (([0, math.inf], [3, 1], 1.0), "consumption"),
        (([2, 1], [3, 1], 1.0), "increase"),
        (([1, 1], [3, 1], 1.0), "increase"),
        (([0, 1], [3, -1], 1.0), "counts"),
        (([0, 1], [0, 0], 1.0), "counts"),
        (([0, 1], [0.5, 1], 1.0), "counts"),
        (([0, 1], [1, 1, 1], 1.0), "counts"),
        (([0, 1], [1, 1], math.nan), "capacity"),
        (([0, 1], [1, 1], math.inf), "capacity"),
    ],
    ids=str,
)
def test_bad_capacities_are_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        Capacity(*arguments)


@pytest.mark.parametrize(
    ("event", "tau", "words"), [("fx", 0.1, "metric"), (3, 0.1, "metric"), ("fp", 0.0, "tau"), ("fp", 1.0, "tau")]
)
def test_bad_requirements_are_refused(event, tau, words):
    with pytest.raises(InvalidInput, match=words):
        Requirement(event, tau)


def test_a_capacity_at_the_total_has_no_answer():
    with pytest.raises(InvalidInput, match="differ from the true total"):
        Requirement("fp", 0.1).require_possible(Capacity([0, 1], [1, 1], 1))


@pytest.mark.parametrize(("event", "cap"), [("fp", 0.5), ("tn", 0.5), ("fn", 1.5), ("tp", 1.5)])
def test_events_that_cannot_happen_are_refused_with_those_that_can(event, cap):
    with pytest.raises(InvalidInput, match=r"can happen.*use (tp or fn|fp or tn)"):
        Requirement(event, 0.1).require_possible(Capacity([0, 1], [1, 1], cap))


def test_consumption_finer_than_a_millionth_is_refused():
    with pytest.raises(InvalidInput, match="multiples"):
        Capacity([0, 0.12345678], [1, 1], 1).lattice(0.0)


def test_a_negative_capacity_is_refused():
    with pytest.raises(InvalidInput, match="at least 0"):
        Requirement("fn", 0.05).require_possible(Capacity([0, 1], [4, 6], -1.0))


def test_totals_of_decimals_are_those_of_the_written_numbers():
    capacity = Capacity([0.1, 0.2], [1, 1], 0.3)
    assert capacity.total == 0.3
    with pytest.raises(InvalidInput, match="differ from the true total"):
        Requirement("fp", 0.05).require_possible(capacity)
