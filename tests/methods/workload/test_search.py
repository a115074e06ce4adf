"""The least noise of a workload: against brute force over all staircase rows, closed forms and published numbers."""

from __future__ import annotations

import math
from math import comb

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import NoAnswer
from mechdesign.words.priors import Atoms
from mechdesign.words.workloads import Histogram, Marginals, Mean, Moments, Parity, Prefix, Queries, Ranges
from tests.methods.problems import unbiased_under, workload_problem
from tests.oracles.staircase_rows import least_noise, noise_of

# computed independently, by a general convex solver over all rows: to the digits given
KNOWN = [
    (Prefix(8), 1.0, 1e-6, 23.0314),
    (Prefix(12), 1.0, 1e-5, 46.630),
    (Ranges(8), 1.0, 1e-6, 137.52),
    (Ranges(12), 1.0, 1e-5, 411.21),
    (Prefix(8), 3.0, 1e-6, 1.2868),
    (Ranges(12), 3.0, 1e-5, 21.476),
    (Histogram(8), 1.0, 1e-6, 21.7364),
    (Histogram(12), 1.0, 1e-5, 36.3075),
]


@pytest.mark.parametrize(("workload", "epsilon", "gap", "known"), KNOWN)
def test_numbers_that_were_computed_elsewhere(workload, epsilon, gap, known) -> None:  # type: ignore[no-untyped-def]
    certificate = md.solve(workload_problem(epsilon, workload), gap=gap).certificate
    digits = len(str(known).partition(".")[2])
    assert certificate.relative_gap <= gap
    assert certificate.lower - 0.51 * 10**-digits <= known <= certificate.upper + 0.51 * 10**-digits
    assert certificate.privacy_loss <= epsilon


@pytest.mark.parametrize("seed", range(6))
def test_random_small_workloads_hold_what_brute_force_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(2, 6)), int(rng.integers(1, 6))
    queries = rng.integers(-3, 4, (count, size)).astype(float)
    queries[0] = np.arange(size)
    queries = queries[queries.any(axis=1)]
    prior, epsilon = rng.dirichlet(np.full(size, 3.0)), float(rng.uniform(0.3, 3))
    weights = rng.uniform(0.5, 2, len(queries))
    problem = workload_problem(epsilon, Queries(queries), prior=prior, weights=weights)
    certificate = md.solve(problem, gap=1e-5).certificate
    best = least_noise(queries * np.sqrt(weights)[:, None], epsilon, prior)
    assert certificate.lower <= best * (1 + 1e-6)
    assert best <= certificate.upper * (1 + 1e-6)
    assert certificate.relative_gap <= 1e-5


def test_what_is_wanting_in_prices_does_not_cost_more_at_a_large_epsilon() -> None:
    """The rows that prices miss by little for their size are those with large entries."""
    problem = workload_problem(5.0, Histogram(5), weights=[0.23, 0.41, 0.029, 18.1, 0.98])
    assert md.solve(problem, gap=1e-4).certificate.relative_gap <= 1e-4


@pytest.mark.parametrize(("size", "epsilon"), [(4, 1.0), (9, 0.5), (12, 2.0), (30, 1.0)])
def test_the_histograms_optimum_is_the_best_subset_selection(size: int, epsilon: float) -> None:
    ratio = math.exp(epsilon)

    def selection(d: int) -> float:
        """Of a report with d of the types, c times as likely if one's own is among them."""
        whole = comb(size - 1, d - 1) * ratio + comb(size - 1, d)
        own = comb(size - 1, d - 1) * ratio / whole
        other = (comb(size - 2, d - 2) * ratio + comb(size - 2, d - 1)) / whole if d > 1 else 1 / whole
        mean = own / size + other * (size - 1) / size
        return size * mean * (1 - mean) / (own - other) ** 2 - (1 - 1 / size)

    best = min(map(selection, range(1, size)))
    certificate = md.solve(workload_problem(epsilon, Histogram(size)), gap=1e-3).certificate
    assert certificate.lower == pytest.approx(best, rel=1e-9)
    assert certificate.upper <= best * (1 + 1e-3)


@pytest.mark.parametrize(("size", "epsilon"), [(5, 1.0), (16, 1.0), (16, 3.0)])
def test_a_mean_is_the_unbiased_optimum_for_the_same_atoms(size: int, epsilon: float) -> None:
    atoms = Atoms(np.linspace(-1, 1, size), np.full(size, 1 / size))
    unbiased = md.solve(unbiased_under(epsilon, atoms), gap=1e-5, size=size).certificate
    ours = md.solve(workload_problem(epsilon, Mean(np.linspace(-1, 1, size))), gap=2e-5).certificate
    assert ours.lower <= unbiased.upper
    assert unbiased.lower <= ours.upper
    # and the same by rows instead of windows: the matrix says nothing of a mean
    rows = Queries(np.vstack([np.linspace(-1, 1, size)] * 2), ("a", "b"))
    twice = md.solve(workload_problem(epsilon, rows), gap=1e-4).certificate
    assert twice.lower / 2 <= unbiased.upper
    assert unbiased.lower <= twice.upper / 2


@pytest.mark.parametrize("workload", [Prefix(6), Ranges(5), Histogram(6)])
def test_the_worst_type_has_as_much_as_the_least_favourable_prior(workload) -> None:  # type: ignore[no-untyped-def]
    design = md.solve(workload_problem(1.0, workload, criterion="worst"), gap=1e-4)
    prior = design.evidence.prior
    assert prior is not None
    queries = workload.matrix
    best = least_noise(queries, 1.0, prior / prior.sum())
    assert design.certificate.lower <= best * (1 + 1e-6)
    assert best <= design.certificate.upper * (1 + 1e-6)
    own = noise_of(queries, np.asarray(design.mechanism.probabilities), prior / prior.sum())
    assert own.max() == pytest.approx(design.certificate.upper, rel=1e-8)
    uniform = least_noise(queries, 1.0, np.full(workload.size, 1 / workload.size))
    assert design.certificate.upper >= uniform * (1 - 1e-6)  # no prior is harder than the hardest


@pytest.mark.parametrize(("size", "epsilon"), [(5, 3.0), (6, 5.0), (8, 3.0)])
def test_the_worst_type_of_a_distribution_function_is_bounded_at_a_large_epsilon(size: int, epsilon: float) -> None:
    """The least favourable shares of all types but the ends are small there."""
    design = md.solve(workload_problem(epsilon, Prefix(size), criterion="worst"), gap=1e-4)
    assert design.certificate.relative_gap <= 1e-4


def test_the_least_favourable_prior_may_leave_types_out() -> None:
    """Of types 0 and 1 with opposite queries and a type 2 that has both, only the first two are hard."""
    problem = workload_problem(2.0, Queries([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]), criterion="worst")
    design = md.solve(problem)
    prior = design.evidence.prior
    assert prior is not None
    assert prior[2] < 1e-3
    assert design.certificate.relative_gap <= 1e-3


@pytest.mark.parametrize("seed", range(12))
def test_few_queries_have_their_worst_type_whatever_they_leave_open(seed: int) -> None:
    """Such queries leave the information matrix, and often the least favourable prior, on an edge."""
    rng = np.random.default_rng([20, seed])
    size = int(rng.integers(3, 8))
    queries = rng.integers(-2, 3, (int(rng.integers(1, size - 1)), size)).astype(float)
    queries[0] = rng.permutation(size)
    queries, epsilon = queries[queries.any(axis=1)], float(rng.uniform(0.5, 3))
    design = md.solve(workload_problem(epsilon, Queries(queries), criterion="worst"))
    prior = design.evidence.prior
    assert prior is not None
    assert design.certificate.relative_gap <= 1e-3
    best = least_noise(queries, epsilon, prior / prior.sum())
    assert design.certificate.lower <= best * (1 + 1e-6)
    assert best <= design.certificate.upper * (1 + 1e-6)


def test_the_worst_type_of_marginals_is_found_where_not_all_rows_can_be_tried() -> None:
    design = md.solve(workload_problem(1.0, Marginals((3, 3, 2), 1), criterion="worst"))
    average = md.solve(workload_problem(1.0, Marginals((3, 3, 2), 1)))
    assert design.certificate.relative_gap <= 1e-3
    assert design.certificate.upper >= average.certificate.lower  # symmetric: an even prior is the hardest
    assert design.certificate.lower <= average.certificate.upper


@pytest.mark.parametrize("workload", [Marginals((2, 3), 1), Parity(3, 1), Moments(np.array([0.0, 1.0, 3.0, 4.0]), 2)])
def test_queries_that_do_not_ask_for_all_shares_have_their_optimum(workload) -> None:  # type: ignore[no-untyped-def]
    certificate = md.solve(workload_problem(1.0, workload), gap=1e-5).certificate
    best = least_noise(workload.matrix, 1.0, np.full(workload.size, 1 / workload.size))
    assert certificate.lower <= best * (1 + 1e-6)
    assert best <= certificate.upper * (1 + 1e-6)


def test_beyond_what_can_be_tried_a_sum_of_squares_proves_the_bound() -> None:
    design = md.solve(workload_problem(1.0, Prefix(26)), gap=2e-2)
    assert design.evidence.multipliers is not None
    assert design.certificate.relative_gap <= 2e-2
    assert not design.certificate.claimed


def test_the_distribution_function_of_thirty_two_types_is_known_to_a_thousandth() -> None:
    certificate = md.solve(workload_problem(1.0, Prefix(32)), gap=1e-3).certificate
    assert certificate.relative_gap <= 1e-3
    assert certificate.lower <= 217.8121 <= certificate.upper * (1 + 1e-6)
    assert certificate.lower > 217.80  # of an independent relaxation


def test_a_time_limit_gives_the_interval_that_was_reached() -> None:
    with pytest.raises(NoAnswer) as stopped:
        md.solve(workload_problem(1.0, Prefix(30)), 1.0, gap=1e-7)
    assert stopped.value.design is not None
    assert 0 < stopped.value.lower < stopped.value.upper < math.inf


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 7.5])
def test_designs_are_the_same_after_a_file(epsilon: float, tmp_path) -> None:  # type: ignore[no-untyped-def]
    design = md.solve(workload_problem(epsilon, Ranges(4)), gap=1e-4)
    assert md.load_design(design.save(tmp_path / "design.json")) == design
