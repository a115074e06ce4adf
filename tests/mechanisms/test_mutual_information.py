"""Mutual information of tables: beside sums in 40 digits, below both bounds of theorem 19, and 0 without a message."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue, mutual_information
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.words.domains import Finite


def summed(mechanism: Discrete, prior: list[float]) -> Decimal:
    """The sum over the table's rationals, in 40 digits."""

    def digits(number: Fraction) -> Decimal:
        return Decimal(number.numerator) / Decimal(number.denominator)

    with localcontext() as context:
        context.prec = 40
        given_weights = [Fraction(weight) for weight in prior]
        weights = [weight / sum(given_weights) for weight in given_weights]
        total = Decimal(0)
        for column in zip(*mechanism.exact_rows(), strict=True):
            report = sum(weight * chance for weight, chance in zip(weights, column, strict=True))
            for weight, chance in zip(weights, column, strict=True):
                if weight * chance:
                    total += digits(weight * chance) * digits(chance / report).ln()
        return total


tables = st.integers(2, 4).flatmap(
    lambda k: st.tuples(
        st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), min_size=k, max_size=k),
        st.lists(st.floats(0.01, 1), min_size=k, max_size=k),
    )
)


@settings(max_examples=60, deadline=None)
@given(tables)
def test_the_interval_holds_the_sum_and_lies_below_epsilon_and_the_log_of_the_inputs(drawn) -> None:
    rows, prior = np.array(drawn[0]), drawn[1]
    size = len(rows)
    law = Discrete(9.0, Finite(tuple(range(size))), Finite((0, 1, 2)), rows / rows.sum(axis=1, keepdims=True))
    found = mutual_information(law, prior)
    assert found.lower <= summed(law, prior) <= found.upper
    assert found.upper - found.lower < 1e-13
    assert found.upper <= found.most <= min(math.log(size), law.privacy_loss()) + 1e-15


def test_randomised_response_on_many_values_has_the_closed_form() -> None:
    k, epsilon = 50, 3.0
    law = catalogue.randomised_response(epsilon, Finite(tuple(range(k))))
    p, q = (w / (math.exp(epsilon) + k - 1) for w in (math.exp(epsilon), 1.0))
    found = mutual_information(law)
    assert found.lower == pytest.approx(p * math.log(k * p) + (k - 1) * q * math.log(k * q), rel=1e-12)


def test_the_bound_is_nearly_met_at_both_ends() -> None:
    law = catalogue.randomised_response(30.0, Finite(tuple(range(8))))
    assert mutual_information(law).lower == pytest.approx(math.log(8), rel=1e-6)
    assert mutual_information(law, [0, 0, 1, 0, 0, 0, 0, 0]).upper == 0.0


def test_a_report_that_tells_nothing_has_no_information() -> None:
    law = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.3, 0.7], [0.3, 0.7]])
    found = mutual_information(law)
    assert found.lower == 0
    assert found.upper < 1e-14


def test_a_table_that_reveals_has_the_log_of_its_inputs() -> None:
    law = Discrete(1.0, Finite((0, 1, 2)), Finite((0, 1, 2)), np.eye(3))
    found = mutual_information(law)
    assert found.lower <= math.log(3) <= found.most


@pytest.mark.parametrize("prior", [[1.0], [0.0, 0.0], [-1.0, 2.0], [math.nan, 1.0]])
def test_weights_that_are_no_prior_are_refused(prior: list[float]) -> None:
    law = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.6, 0.4], [0.4, 0.6]])
    with pytest.raises(InvalidInput, match="weights"):
        mutual_information(law, prior)


def test_a_mechanism_that_is_no_table_is_refused() -> None:
    with pytest.raises(InvalidInput, match="table of probabilities"):
        mutual_information(catalogue.laplace(1.0))
