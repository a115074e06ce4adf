"""Two and three queries of many types: against linear programs over all rows, and what was computed elsewhere."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.errors import NoAnswer
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.space import _Search, few_queries, has_few_orbits
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved
from mechdesign.words.workloads import Queries, Workload


def grid(levels, count):
    return np.array(list(product(np.linspace(-1, 1, levels), repeat=count)))


def problem(levels, count, epsilon, criterion, weights=None):
    loss = Workload(Queries(grid(levels, count).T), weights)
    return md.Problem(loss=loss, privacy=md.Pure(epsilon), criterion=criterion)


def silent(lower, upper):
    """Says nothing."""


def by_all_rows(answers, ratio, reach, steps):
    """The least worst noise with reports on a lattice of the plane: at least that of any report."""
    axis = np.linspace(-reach, reach, steps)
    places = np.array(list(product(axis, repeat=2)))
    # given a report, the rows that some multipliers like best are c on one side of a circle or a line: all are tried
    rows = np.array(list(product((1.0, ratio), repeat=len(answers))))
    masses = np.repeat(rows, len(places), axis=0)
    reports = np.tile(places, (len(rows), 1))
    equal = np.vstack([masses.T, (masses * reports[:, :1]).T, (masses * reports[:, 1:]).T])
    wanted = np.concatenate([np.ones(len(answers)), answers.T.ravel()])
    equal = np.column_stack([equal, np.zeros(len(equal))])
    squares = np.column_stack([(masses * (reports**2).sum(axis=1)[:, None]).T, -np.ones(len(answers))])
    cost = np.append(np.zeros(len(masses)), 1.0)
    found = linprog(cost, squares, (answers**2).sum(axis=1), equal, wanted, [(0, None)] * len(cost), method="highs")
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_no_program_over_all_rows_finds_less(epsilon):
    answers, ratio = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]), math.exp(epsilon)
    found = few_queries(answers, ratio, None, 1e-6, 1e-4, Clock(60.0), silent)
    reach = 2.2 * (ratio + 1) / (ratio - 1)
    brute = by_all_rows(answers, ratio, reach, 41)
    assert found.lower <= brute + 1e-9
    assert found.upper <= found.lower * (1 + 2e-4)
    assert brute <= 1.05 * found.upper  # a lattice of 41 x 41 is near


@pytest.mark.parametrize("middle", [(0.0, 0.0), (3.0, -7.0)])
def test_another_origin_and_unit_change_nothing_but_the_unit(middle):
    answers = grid(3, 2)
    one = few_queries(answers, math.e, None, 1e-6, 1e-4, Clock(60.0), silent)
    other = few_queries(5 * answers + np.array(middle), math.e, None, 1e-6, 1e-4, Clock(60.0), silent)
    assert other.upper == pytest.approx(25 * one.upper, rel=2e-4)
    rows = 1 + (math.e - 1) * other.bits
    assert abs(rows.T @ other.weights - 1).max() < 1e-9


@pytest.mark.parametrize(
    ("levels", "count", "epsilon", "interval"),
    [  # found by an independent program in floats
        (9, 2, 1.0, (17.033, 17.060)),
        (9, 2, 2.0, (3.8075, 3.8089)),
        (9, 2, 4.0, (0.5904, 0.5909)),
        (5, 3, 2.0, (9.330, 9.347)),
    ],
)
@pytest.mark.slow
def test_the_least_worst_noise_on_a_grid_of_a_cube(levels, count, epsilon, interval):
    certificate = md.solve(problem(levels, count, epsilon, md.Worst()), 300, gap=1e-3).certificate
    assert not certificate.claimed
    assert certificate.lower <= interval[1]
    assert certificate.upper >= interval[0]
    assert certificate.relative_gap <= 1e-3


def test_the_least_average_noise_on_a_grid_of_a_square():
    design = md.solve(problem(9, 2, 2.0, md.Average()), 300, gap=1e-4)
    assert design.certificate.lower <= 3.5247
    assert design.certificate.upper >= 3.5242
    assert design.certificate.relative_gap <= 1e-4


def test_weights_of_queries_are_those_of_scaled_queries():
    weighted = md.solve(problem(5, 2, 2.0, md.Average(), [4.0, 1.0]), 100, gap=1e-3).certificate
    stretched = md.Problem(
        loss=Queries(grid(5, 2).T * np.array([[2.0], [1.0]])), privacy=md.Pure(2.0), criterion=md.Average()
    )
    certificate = md.solve(stretched, 100, gap=1e-3).certificate
    assert weighted.lower <= certificate.upper
    assert certificate.lower <= weighted.upper


def test_orbits_are_those_of_the_answers_and_the_prior():
    square, uneven = grid(9, 2), np.linspace(1, 2, 81)
    assert has_few_orbits(square, None)
    assert has_few_orbits(3 + 2 * square, np.full(81, 1 / 81))
    assert not has_few_orbits(square, uneven / uneven.sum())
    values = np.linspace(0, 1, 81)
    assert not has_few_orbits(np.stack([values, values**2], axis=1), None)


@pytest.fixture(scope="module")
def design():
    return md.solve(problem(5, 2, 2.0, md.Worst()), 100, gap=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_multipliers_say_no_bound_is_above_what_is_attained(design, seed):
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-4, 1)
    moved = {
        name: getattr(design.evidence, name) * (1 + size * rng.normal(size=getattr(design.evidence, name).shape))
        for name in ("dual", "prices", "prior")
    }
    forged = evolved(design.evidence, dual=moved["dual"], prices=moved["prices"], prior=abs(moved["prior"]))
    assert forged.bound(design.problem, design.mechanism) <= design.certificate.upper


def test_prices_lowered_to_prove_more_are_paid_for(design):
    evidence = design.evidence
    lowered = WorkloadBound(evidence.dual, 0.9 * evidence.prices, evidence.prior)
    assert lowered.value(design.problem) <= evidence.value(design.problem)


def test_no_time_is_no_answer():
    with pytest.raises(NoAnswer):
        md.solve(problem(9, 2, 2.0, md.Worst()), 1e-3)


def test_cuts_that_came_after_the_last_program_are_no_rows():
    search = _Search(grid(3, 2), 2.0, None, 1e-6, 1e-3)
    bits = search.starts @ search.answers.T > 0
    search._add(search.starts, bits, search._lines(search.starts, bits))
    weights = np.ones(len(bits))
    best = search._spread(np.ones(search.planes.session.columns))
    before = search._answer(best, 0.0, 1.0, weights, 1)
    search._add(search.starts[:1], ~bits[:1], search._lines(search.starts[:1], ~bits[:1]))
    after = search._answer(best, 0.0, 1.0, weights, 1)
    assert np.array_equal(before.bits, after.bits)
    assert np.array_equal(before.weights, after.weights)
