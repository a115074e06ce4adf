"""The protocol with what ships: tables, the operating system's randomness, and the same server."""

import math

import numpy as np
import pytest

from mechdesign.collect.devices import edge_table, edges_received, number_table, send_edges, send_numbers
from mechdesign.collect.quantise import edges_of, quantised
from mechdesign.collect.two_phase import TwoPhasePlan, free_form
from mechdesign.domains import Interval
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue as c

BOUNDS = Interval(0, 60)
VALUES = np.random.default_rng(0).beta(2, 3, 20_000) * 60


def test_a_collection_from_devices_is_estimated_by_the_server():
    """20 000 users at eps = 2: the estimate is within 6 of its exact standard errors (the mechanism's own, given)."""
    plan = TwoPhasePlan(2.0, VALUES.size, BOUNDS, 8, step=free_form)
    is_first = plan.split(np.random.default_rng(1))
    edges = edges_received(plan, send_edges(edge_table(plan), VALUES[is_first]))
    descriptor = plan.describe(edges)
    mechanism = plan.design(descriptor)
    reports = send_numbers(number_table(plan, mechanism), VALUES[~is_first])
    found = plan.estimate(edges, reports, mechanism)
    assert abs(found.value - VALUES.mean()) < 6 * plan.expected_error(VALUES, mechanism)
    assert np.abs(descriptor.prior.weights - quantised(VALUES, BOUNDS, 8).weights).max() < 0.15


def test_the_tables_are_private_in_integers():
    plan = TwoPhasePlan(1.0, 1000, BOUNDS, 4, step=free_form)
    mechanism = plan.design(plan.describe(np.arange(100) % 5))
    assert edge_table(plan).privacy_loss <= 1.0
    assert number_table(plan, mechanism).privacy_loss <= 1.0


def test_edges_are_rounded_to_without_bias():
    """30 000 reports of 25 at eps = 30, all true but for a chance of 3e-9: the mean within 6 standard errors."""
    plan = TwoPhasePlan(30.0, 1000, BOUNDS, 2, step=lambda epsilon, prior: c.pm(epsilon, BOUNDS))
    reports = send_edges(edge_table(plan, 53), np.full(30_000, 25.0))
    assert set(reports.tolist()) == {0.0, 30.0}
    assert abs(reports.mean() - 25) < 6 * math.sqrt(25 * 5 / 30_000)


def test_edges_are_numbered_as_the_plan_does():
    plan = TwoPhasePlan(1.0, 1000, BOUNDS, 6)
    assert edges_received(plan, edges_of(BOUNDS, 6)).tolist() == list(range(7))


@pytest.mark.parametrize("values", [[61.0], [-1.0], [math.nan], ["a"], [None]], ids=str)
def test_values_outside_are_refused(values):
    plan = TwoPhasePlan(1.0, 1000, BOUNDS, 6)
    with pytest.raises(InvalidInput):
        send_edges(edge_table(plan), values)
    with pytest.raises(InvalidInput):
        send_numbers(number_table(plan, c.pm(1.0, BOUNDS)), values)


def test_reports_that_are_no_edges_are_refused():
    with pytest.raises(InvalidInput, match="histogram reports"):
        edges_received(TwoPhasePlan(1.0, 1000, BOUNDS, 6), [0.0, 7.0])


def test_a_table_of_numbers_reports_no_edges():
    plan = TwoPhasePlan(1.0, 1000, BOUNDS, 6)
    with pytest.raises(InvalidInput, match="edge_table"):
        send_edges(number_table(plan, c.pm(1.0, BOUNDS)), [1.0])


def test_values_at_the_ends_are_the_first_and_the_last_edge():
    """At eps = 30 all answers are true but for a chance of 1e-10: no edge but the value's own has a share."""
    ends = Interval(-0.1, 0.7)
    plan = TwoPhasePlan(30.0, 1000, ends, 7, step=lambda epsilon, prior: c.pm(epsilon, ends))
    for end in (-0.1, 0.7):
        assert set(send_edges(edge_table(plan, 53), np.full(100, end)).tolist()) == {end}
