"""The bound on information, against its definition in fractions over all rows, and the information of a mechanism."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms import Discrete, catalogue
from mechdesign.methods.information import InformationBound
from mechdesign.methods.information.proof import exact_information
from mechdesign.words.domains import Finite
from mechdesign.words.models import Binned
from mechdesign.words.problem import Problem
from tests.methods.problems import information

seeds = st.integers(0, 10**6)


def _problem(rng: np.random.Generator, size: int, epsilon: float) -> Problem:
    slopes = rng.normal(size=size)
    return information(epsilon, Binned(rng.dirichlet(np.ones(size)), slopes - slopes.mean()))


def _columns(problem: Problem) -> tuple[list[Fraction], list[Fraction]]:
    """Chances divided by their sum, and slopes."""
    chances = list(map(Fraction, problem.loss.chances.tolist()))
    return [chance / sum(chances) for chance in chances], list(map(Fraction, problem.loss.slopes.tolist()))


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 6), st.floats(0.1, 4.0))
def test_the_bound_is_the_greatest_over_all_rows_with_the_prices_paid(seed: int, size: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    problem, prices = _problem(rng, size, epsilon), rng.random(size) * 0.2 - 0.02
    (p, x), nu, ratio = _columns(problem), list(map(Fraction, prices.tolist())), exp_upper(epsilon)

    def worth(row: tuple[Fraction, ...]) -> Fraction:
        slope, chance, price = (sum(a * z for a, z in zip(column, row, strict=True)) for column in (x, p, nu))
        return slope**2 / chance - price

    greatest = max(map(worth, itertools.product((Fraction(1), ratio), repeat=size)))
    expected = sum(nu) + max(Fraction(0), greatest)
    found = InformationBound(prices).most(problem)
    assert expected <= found <= expected + Fraction(1, 2**60)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 6), st.integers(2, 5), st.floats(0.5, 4.0))
def test_the_information_of_a_mechanism_is_the_sum_over_its_reports(
    seed: int, size: int, outputs: int, epsilon: float
) -> None:
    rng = np.random.default_rng(seed)
    problem = _problem(rng, size, epsilon)
    rows = np.exp(epsilon / 4 * rng.uniform(-1, 1, (size, outputs)))
    domains = Finite(tuple(range(size))), Finite(tuple(range(outputs)))
    table = Discrete(epsilon, *domains, rows / rows.sum(axis=1, keepdims=True))
    p, x = _columns(problem)
    exact = [[Fraction(q) for q in row] for row in table.probabilities.tolist()]
    shares = [[q / sum(row) for q in row] for row in exact]
    expected = Fraction(0)
    for column in zip(*shares, strict=True):
        slope, chance = (sum(a * q for a, q in zip(own, column, strict=True)) for own in (x, p))
        expected += slope**2 / chance
    found = exact_information(table, problem.loss)
    assert expected * (1 - Fraction(1, 2**90)) < found < expected


def test_both_ends_are_inverse_and_rounded_outwards() -> None:
    problem = _problem(np.random.default_rng(3), 2, 1.0)
    evidence, law = InformationBound([0.3, 0.3]), catalogue.randomised_response(1.0, Finite((0, 1)))
    assert 0 < Fraction(evidence.bound(problem, law)) < 1 / evidence.most(problem)
    assert Fraction(evidence.attained(problem, law)) > 1 / exact_information(law, problem.loss)


def test_reports_that_tell_nothing_are_refused() -> None:
    problem, pair = _problem(np.random.default_rng(3), 2, 1.0), Finite((0, 1))
    with pytest.raises(CheckFailed, match="tell nothing"):
        InformationBound([0.1, 0.1]).attained(problem, Discrete(1.0, pair, pair, [[0.5, 0.5], [0.5, 0.5]]))
