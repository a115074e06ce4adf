"""Sign patterns in closed form: the numbers of the theorem, where more numbers are drawn, and what is ranked beside."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.exact.rational import exp_upper
from mechdesign.exact.sign_patterns import lean_by_sets
from mechdesign.methods.sign_patterns.rivals import OF_ONE, VectorRival, drawn_by_wang, vector_rivals
from mechdesign.methods.sign_patterns.search import best_response
from tests.methods.problems import several, workload_problem


@pytest.mark.parametrize(
    ("count", "epsilon", "lower", "upper"),
    [
        (2, 1.0, 16.73, 18.73),
        (2, 2.0, 3.288, 5.288),
        (2, 4.0, 0.310, 2.310),
        (5, 2.0, 28.05, 33.05),
        (5, 4.0, 5.54, 10.54),
        (4, 2.0, 17.1528, 21.1528),
        (4, 4.0, 2.74459, 6.74459),
        (6, 4.0, 9.1753, 15.1753),
    ],
)
def test_the_optimum_is_known_to_the_sum_of_squares(count: int, epsilon: float, lower: float, upper: float) -> None:
    found = md.solve(several(epsilon, count), method="sign_patterns").certificate
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=5e-3)
    assert found.upper - found.lower == pytest.approx(count)


@pytest.mark.parametrize(
    ("count", "epsilon", "most"), [(8, 1.0, 1e-9), (10, 1.0, 1e-9), (10, 2.0, 0.012), (20, 4.0, 0.23)]
)
def test_counts_of_pairs_bound_more_numbers_less_closely(count: int, epsilon: float, most: float) -> None:
    design = md.solve(several(epsilon, count), method="sign_patterns")
    attained = count**2 / design.certificate.upper
    assert attained <= float(design.evidence.lean(epsilon, count)) * (1 + 1e-12) <= attained * (1 + most) * (1 + 1e-6)


@pytest.mark.parametrize("count", [3, 5, 6, 7])
@pytest.mark.parametrize("epsilon", [0.5, 1.3, 2.7, 3.8, 4.7, 5.5, 6.5, 8.0])
def test_up_to_seven_numbers_no_mechanism_has_a_smaller_second_moment(count: int, epsilon: float) -> None:
    """Around the eps where one number more is drawn, too: ``E|Y|^2`` is ``d^2 / H^2``, with all sets tried."""
    design = md.solve(several(epsilon, count), method="sign_patterns")
    least = count**2 / float(lean_by_sets(count, exp_upper(epsilon)))
    assert design.certificate.upper == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("drawn", [1, 2, 3])
def test_one_number_more_is_drawn_where_both_have_the_same_error(drawn: int) -> None:
    """``(c + 2^k - 1)^2 / k`` is equal: for k = 1 at ``c = (3 - sqrt 2) / (sqrt 2 - 1)``."""
    root = math.sqrt((drawn + 1) / drawn)
    switch = math.log((2 ** (drawn + 1) - 1 - root * (2**drawn - 1)) / (root - 1))
    assert switch == pytest.approx({1: 1.3424, 2: 2.694, 3: 3.800}[drawn], abs=5e-4)
    halves = [Fraction(1)] * 6
    assert [best_response(switch + more, halves).drawn for more in (-1e-4, 1e-4)] == [drawn, drawn + 1]


def test_the_workload_of_single_signs_has_the_same_bound() -> None:
    """The program over mixtures of rows, asked for the four answers about signs."""
    queries = md.workloads.Parity(4, 1)
    certificate = md.solve(workload_problem(2.0, queries), gap=1e-4).certificate
    found = md.solve(several(2.0, 4), method="sign_patterns").certificate
    assert certificate.lower * (1 - 1e-6) <= found.lower + 1e-3
    assert certificate.upper * (1 + 1e-6) >= found.lower


@pytest.mark.parametrize("count", [2, 5, 10])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0, 6.0])
def test_no_published_way_is_below_the_bound(count: int, epsilon: float) -> None:
    lower = md.solve(several(epsilon, count), method="sign_patterns").certificate.lower
    assert all(rival.worst([1.0] * count) >= lower for rival in vector_rivals(epsilon, count))


@pytest.mark.parametrize(
    ("count", "epsilon", "best"), [(2, 1.0, 18.73), (2, 2.0, 6.17), (5, 2.0, 43.1), (10, 2.0, 172.4), (5, 4.0, 25.5)]
)
def test_the_best_of_mechanisms_for_one_number_is_as_the_formulas_say(count: int, epsilon: float, best: float) -> None:
    found = [rival for rival in vector_rivals(epsilon, count) if "privunit" not in rival.name]
    assert min(rival.worst([1.0] * count) for rival in found) == pytest.approx(best, rel=2e-3)


def _reports(rival: VectorRival, epsilon: float, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One report of each row of x, drawn as its paper has it; corners and directions as long as the formula says."""
    users, count = x.shape
    key, _, way = rival.name.partition(", ")
    if key in OF_ONE:
        drawn = count if way == "split" else drawn_by_wang(epsilon, count)
        law = md.catalogue.build(key, epsilon / drawn, md.Interval(-1, 1))
        chosen = rng.permuted(np.tile(np.arange(count), (users, 1)), axis=1) < drawn
        return np.where(chosen, law.sample(x.ravel(), rng).reshape(x.shape) * count / drawn, 0.0)
    signs = np.where(rng.random(x.shape) < (1 + x) / 2, 1, -1)
    c = math.exp(epsilon)
    if rival.name.startswith("duchi"):
        tried = np.where(rng.random((users, 60, count)) < 0.5, 1, -1)
        side = (tried * signs[:, None, :]).sum(axis=2)
        fits = np.where(rng.random((users, 1)) < c / (c + 1), side >= 0, side <= 0)
    else:
        tried = rng.normal(size=(users, 400, count))
        tried /= np.linalg.norm(tried, axis=2, keepdims=True)
        along = (tried * signs[:, None, :]).sum(axis=2) / math.sqrt(count)
        cap = max(np.linspace(0, 0.99, 100), key=lambda t: along[along > t].sum() / ((c - 1) * (along > t).mean() + 1))
        fits = rng.random((users, 400)) < np.where(along > cap, 1.0, 1 / c)
        tried = tried * math.sqrt(count)
    return tried[np.arange(users), fits.argmax(axis=1)] * math.sqrt(rival.alpha)


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 5, 10])
@pytest.mark.parametrize("epsilon", [1.0, 5.5])
def test_simulated_rivals_are_unbiased_and_have_the_variance_of_their_formulas(count: int, epsilon: float) -> None:
    """Seed 7, n = 8000 people at a corner and in the middle, means over people and numbers. A mean is off by more than
    5 of its standard errors with a chance below 6e-7 a comparison (288 of them: 2e-4 in all). What is off by a fifth is
    found with a chance above .99 for variances; the cap of the best direction is found on a grid, to 1% of its mean."""
    rng = np.random.default_rng(7)
    for rival in vector_rivals(epsilon, count):
        for place in (0.0, 1.0):
            found = _reports(rival, epsilon, np.full((8000, count), place), rng)
            means, squares = found.mean(axis=1), ((found - place) ** 2).sum(axis=1)
            wanted = count * (rival.alpha + rival.beta * place**2)
            assert abs(means.mean() - place) <= 5 * means.std() / math.sqrt(means.size) + 0.01 * place, rival.name
            error = 5 * squares.std() / math.sqrt(squares.size) + 1e-9
            assert abs(squares.mean() - wanted) <= error * (1 + 0.01 * place) + 0.02 * place, rival.name
