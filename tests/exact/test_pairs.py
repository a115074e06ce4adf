"""Every pair of a table, decided: what is close in rationals, and which pair is nearest to its limit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechdesign.errors import CheckFailed
from mechdesign.exact.flows import flow_bound, flows_left
from mechdesign.exact.pairs import prove_pairs
from mechdesign.exact.privacy import prove
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.words.domains import Finite
from mechdesign.words.pairs import Metric, Pairwise


def table(rows: list[list[float]]) -> Discrete:
    return Discrete(1.0, Finite(tuple(range(len(rows)))), Finite(tuple(range(len(rows[0])))), rows)


def test_a_double_above_the_limit_is_refused_and_one_below_is_proven() -> None:
    """Of the doubles around the limit of one pair the last that keeps it is found by fractions alone."""
    limit = exp_lower(1)
    b = 0.25
    a = float(limit) * b
    while Fraction(a) > limit * Fraction(b) or Fraction(1 - b) > limit * Fraction(1 - a):
        a = math.nextafter(a, 0)
    pairs = Pairwise([[0, 1], [1, 0]])
    prove_pairs(table([[a, 1 - a], [b, 1 - b]]), pairs)
    over = math.nextafter(a, 1)
    kept = Fraction(over) / (Fraction(over) + Fraction(1 - over)) <= limit * Fraction(b)
    if not kept:
        with pytest.raises(CheckFailed, match="inputs 0 and 1"):
            prove_pairs(table([[over, 1 - over], [b, 1 - b]]), pairs)


def test_a_zero_beside_a_positive_entry_is_refused_where_a_pair_has_a_limit_and_fine_where_it_has_none() -> None:
    rows = [[0.5, 0.5, 0.0], [0.4, 0.4, 0.2]]
    prove_pairs(table(rows), Pairwise([[0, 1], [math.inf, 0]]))
    with pytest.raises(CheckFailed, match="inputs 1 and 0"):
        prove_pairs(table(rows), Pairwise([[0, 1], [1, 0]]))


def test_the_pair_with_the_least_left_is_named_with_its_slack() -> None:
    proof = prove(Pairwise([[0, 1, 2], [1, 0, 1], [2, 1, 0]]), table([[0.6, 0.4], [0.5, 0.5], [0.3, 0.7]]))
    assert proof.pair == (1, 2)
    assert proof.slack == pytest.approx(1 - math.log(5 / 3), abs=2e-6)
    assert proof.loss == pytest.approx(math.log(2))
    assert proof.document()["kind"] == "pairwise"


def test_tiny_probabilities_are_decided_in_rationals() -> None:
    tiny = 1e-305
    pairs = Pairwise([[0, 0.5], [0.5, 0]])
    prove_pairs(table([[1.0, tiny], [1.0, 1.5 * tiny]]), pairs)
    with pytest.raises(CheckFailed):
        prove_pairs(table([[1.0, tiny], [1.0, 1.7 * tiny]]), pairs)


def test_another_number_of_inputs_is_refused() -> None:
    with pytest.raises(CheckFailed, match="tables of 3 inputs"):
        prove(Metric([0, 1, 2], 1.0), table([[1.0], [1.0]]))


def test_flows_bound_what_a_private_table_loses_whatever_they_are() -> None:
    """Any flows prove something true: tried on random ones against tables that keep the pairs."""
    rng = np.random.default_rng(3)
    epsilons = np.array([[0, 0.7, 1.4], [0.7, 0, 0.7], [1.4, 0.7, 0]])
    for _ in range(40):
        losses, weights = rng.integers(0, 9, (3, 4)) / 4, rng.dirichlet(np.ones(3))
        flows = np.array([[rng.integers(4), *rng.permutation(3)[:2], rng.exponential(0.1)] for _ in range(5)])
        bound = flow_bound(epsilons, losses, weights, flows)
        assert float(bound) == pytest.approx(flows_left(epsilons, losses, weights, flows).min(axis=1).sum())
        base = rng.dirichlet(np.ones(4))
        tilt = np.exp(-0.35 * np.abs(np.arange(3)[:, None] - rng.integers(0, 3, 4)))
        law = base * tilt / (base * tilt).sum(axis=1, keepdims=True)
        assert prove(Pairwise(epsilons), table(law.tolist()))
        assert float(bound) <= (weights[:, None] * losses * law).sum() + 1e-12


@pytest.mark.parametrize("flow", [[0, 0, 1, -0.1], [0, 0, 0, 0.1], [2, 0, 1, 0.1], [0, 0.5, 1, 0.1], [0, 1, 0, 0.1]])
def test_flows_that_prove_nothing_are_refused(flow: list[float]) -> None:
    epsilons = np.array([[0, 1], [math.inf, 0]])
    with pytest.raises(CheckFailed):
        flow_bound(epsilons, 1 - np.eye(2), np.array([0.5, 0.5]), np.array([flow]))


def test_where_no_pair_has_a_limit_none_is_named() -> None:
    proof = prove_pairs(table([[0.5, 0.5], [0.25, 0.75]]), Pairwise([[0, math.inf], [math.inf, 0]]))
    assert (proof.pair, proof.slack) == ((0, 0), math.inf)
    assert proof.loss == pytest.approx(math.log(2))
