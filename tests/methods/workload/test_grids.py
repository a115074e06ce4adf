"""Tables of several attributes and parities, by symmetry: against brute force, closed forms and the general search."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mechdesign as md
from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.exact.grids import Grid
from mechdesign.methods.workload import GridBound
from mechdesign.methods.workload.grid_search import GridSearch, shape_of
from mechdesign.values.clock import Clock
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import AnyQueries, Histogram, Marginals, Parity, Queries
from tests.methods.problems import workload_problem
from tests.oracles.staircase_rows import least_noise, noise_of

SMALL: list[tuple[AnyQueries, float]] = [
    (Marginals((2, 3), 1), 1.0),
    (Marginals((2, 2, 2), 2), 0.5),
    (Marginals((3, 3), 2), 1.0),
    (Parity(3, 2), 1.0),
    (Parity(3, 3), 2.5),
    (Marginals((2, 4), 1), 3.0),
]


def _by_pairs(problem: Problem) -> md.Design:
    shape = shape_of(problem)
    assert shape is not None
    return GridSearch(problem, shape, 1e-3, Clock(None), lambda low, high: None).run()


@cache
def _least(workload: AnyQueries, epsilon: float) -> float:
    return least_noise(workload.matrix, epsilon, np.full(workload.size, 1 / workload.size))


@pytest.mark.parametrize(("workload", "epsilon"), SMALL)
def test_small_ones_hold_what_brute_force_finds(workload: AnyQueries, epsilon: float) -> None:
    problem = workload_problem(epsilon, workload)
    certificate, best = _by_pairs(problem).certificate, _least(problem.loss.queries, problem.epsilon)
    assert certificate.lower <= best * (1 + 1e-6)
    assert best <= certificate.upper * (1 + 1e-6)
    assert certificate.upper <= best * (1 + 2e-3)  # the mechanism is nearly the best, whatever can be proven
    assert certificate.privacy_loss <= epsilon


@settings(max_examples=60)
@given(st.sampled_from(SMALL[:4]), st.integers(0, 10**6))
def test_no_evidence_proves_more_than_the_optimum(case: tuple[AnyQueries, float], seed: int) -> None:
    problem = workload_problem(case[1], case[0])
    shape = shape_of(problem)
    assert shape is not None
    grid, rng = Grid(shape), np.random.default_rng(seed)
    multipliers = rng.exponential(1.0, (2, len(grid.inequalities.left) + 1)) * rng.choice([0.0, 1e-2, 1.0])
    multipliers[:, 0] = rng.normal(0, 1, 2)
    bound = GridBound(shape, rng.normal(0.3, 1.0, len(grid.classes) - 1), multipliers).value(problem)
    assert float(bound) <= _least(problem.loss.queries, problem.epsilon) * (1 + 1e-6)


@pytest.mark.parametrize(("shape", "epsilon"), [((4, 4, 4), 2.0), ((8, 8, 8), 3.0), ((2,) * 8, 1.0)])
def test_single_attributes_are_asked_one_at_a_time_where_that_is_best(shape: tuple[int, ...], epsilon: float) -> None:
    """Where subsets of an attribute's values have the best size: one attribute at random, subset selection there."""
    problem = workload_problem(epsilon, Marginals(shape, 1))
    certificate = md.solve(problem, gap=1e-2).certificate
    c, size = math.exp(epsilon), shape[0]
    energy = max((c - 1) ** 2 * (m / size) * (1 - m / size) / (1 + (c - 1) * m / size) ** 2 for m in range(1, size))
    closed = len(shape) ** 2 * (size - 1) ** 2 / (size * energy) - len(shape) * (1 - 1 / size)
    assert certificate.lower <= closed * (1 + 1e-9)
    assert certificate.upper == pytest.approx(closed, rel=1e-2)


def test_three_attributes_of_four_are_proven_to_a_quarter_of_a_percent_in_a_moment() -> None:
    design = md.solve(workload_problem(1.0, Marginals((4, 4, 4), 2)), gap=4e-3)
    certificate = design.certificate
    assert isinstance(design.evidence, GridBound)
    assert 360.48 < certificate.lower < certificate.upper < 361.9  # and others have 361.348 to show
    assert not certificate.claimed
    channel = np.asarray(design.mechanism.probabilities)
    own = noise_of(Marginals((4, 4, 4), 2).matrix, channel, np.full(64, 1 / 64))
    assert own == pytest.approx(np.full(64, certificate.upper), rel=1e-6)  # all types alike


def test_hundreds_of_types_are_proven_as_well() -> None:
    certificate = md.solve(workload_problem(1.0, Parity(9, 2)), gap=4e-3).certificate
    assert certificate.relative_gap <= 4e-3
    assert 7412 < certificate.lower < certificate.upper < 7443


def test_more_than_counts_of_pairs_prove_is_no_answer_with_the_interval_and_a_way_on() -> None:
    with pytest.raises(NoAnswer, match="counts of pairs of types prove no more") as stopped:
        md.solve(workload_problem(1.0, Marginals((4, 4, 4), 2)), gap=1e-5)
    assert 360 < stopped.value.lower < stopped.value.upper < 362
    assert stopped.value.design is not None


def test_the_worst_type_has_as_little_noise_as_the_average() -> None:
    queries = Marginals((3, 3, 3), 2)
    worst, average = (
        md.solve(workload_problem(1.0, queries, criterion), gap=2e-2).certificate for criterion in ("worst", "average")
    )
    assert worst.lower == average.lower
    assert worst.upper == pytest.approx(average.upper, rel=1e-9)


def test_what_is_not_symmetric_has_no_such_proof() -> None:
    even = np.zeros((1, len(Grid((2, 2)).inequalities.left) + 1))
    for problem in (
        workload_problem(1.0, Queries([[1.0, 0.0, 0.0, 0.0]])),
        workload_problem(1.0, Marginals((2, 2), 1), prior=[0.4, 0.2, 0.2, 0.2]),
        workload_problem(1.0, Marginals((2, 2), 1), weights=[1.0, 1.0, 2.0, 2.0]),
        workload_problem(1.0, Histogram(5)),
        workload_problem(1.0, Queries([[0.5, 0.5, 0.0, 0.0]])),
    ):
        with pytest.raises(CheckFailed):
            GridBound((2, 2), [1.0, 1.0], even).value(problem)
    assert shape_of(workload_problem(1.0, Marginals((2, 2), 1), weights=[1.0, 1.0, 2.0, 2.0])) is None
    assert shape_of(workload_problem(1.0, Marginals((2, 2), 1), prior=[0.4, 0.2, 0.2, 0.2])) is None


def test_weights_of_ones_own_are_for_fewer_types() -> None:
    with pytest.raises(InvalidInput, match="at most 512 where types or queries have weights"):
        workload_problem(1.0, Parity(10, 1), weights=np.arange(1.0, 11.0))


def test_a_histogram_is_a_grid_of_one_attribute() -> None:
    search = GridSearch(workload_problem(1.0, Histogram(8)), (8,), 1e-3, Clock(None), lambda low, high: None)
    assert search.run().certificate.lower == pytest.approx(21.7364, abs=1e-3)


def test_designs_are_the_same_after_a_file(tmp_path: Path) -> None:
    design = md.solve(workload_problem(2.0, Marginals((3, 3, 3), 1)), gap=0.2)
    assert md.load_design(design.save(tmp_path / "design.json")) == design
