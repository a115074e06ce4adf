"""What a workload may be, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput
from mechdesign.words.workloads import (
    Histogram,
    Marginals,
    Mean,
    Moments,
    Parity,
    Prefix,
    Queries,
    Ranges,
    parse_workload,
)
from tests.methods.problems import workload_problem

ALL = [
    Histogram(3),
    Prefix(4),
    Ranges(4),
    Mean([0.0, 1.0, 4.0]),
    Moments([0.0, 1.0, 4.0], 3),
    Marginals((2, 3, 2), 2),
    Parity(3, 2),
    Queries([[1.0, 0.0], [0.5, 2.0]]),
]


@pytest.mark.parametrize("workload", ALL, ids=lambda workload: workload.kind)
def test_every_query_has_a_row_and_a_name(workload: Any) -> None:
    assert workload.matrix.shape == (len(workload.names), workload.size)
    assert len(set(workload.names)) == len(workload.names)


def test_rows_answer_what_their_names_say() -> None:
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    assert Prefix(4).matrix @ shares == pytest.approx(np.cumsum(shares))
    ranges = dict(zip(Ranges(4).names, Ranges(4).matrix @ shares, strict=True))
    assert ranges["1 to 2"] == pytest.approx(0.5)
    tables = Marginals((2, 2), 1)
    assert dict(zip(tables.names, tables.matrix @ shares, strict=True))["1=1"] == pytest.approx(0.6)
    assert Parity(2, 2).matrix[-1] @ shares == pytest.approx(0.1 - 0.2 - 0.3 + 0.4)
    assert Moments([0.0, 1.0, 2.0, 3.0], 2).matrix @ shares == pytest.approx([2.0, 5.0])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1.0, 0.0], [0.0, 0.0]], r"queries\[1\] must ask something"),
        ([[1.0, math.inf]], r"queries\[0, 1\] must be finite"),
        ([[1.0, math.nan]], "queries must"),
        ([[1.0], [2.0]], "column for each of 2"),
        ([[1.0, 2.0], [1.0]], "all of one length"),
        ([[1.0, 1.0]], "not known without any report"),
        ([[1e200, 0.0], [0.0, 1.0]], "between 1e-60 and 1e\\+60 in size"),
        ([[1e-200, 0.0]], "another unit"),
    ],
)
def test_matrices_that_ask_nothing_or_are_no_numbers_are_refused(rows: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Queries(rows)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"prior": [0.5, 0.5, 0.0]}, "at a type without weight"),
        ({"prior": [0.5, 0.5]}, "one weight for each of the 3 inputs"),
        ({"prior": [0.5, 0.4, 0.05]}, "sum to 1"),
        ({"weights": [1.0, 2.0]}, "3 numbers above 0"),
        ({"weights": [1.0, 2.0, 0.0]}, "3 numbers above 0"),
        ({"weights": [1.0, 2.0, 1e300]}, "times the root of its weight"),
        ({"queries": Mean([1e-200, 0.0])}, "another unit"),
        ({"queries": Moments([1.0, 1e15], 5)}, "another unit"),
        ({"epsilon": 0.0}, "eps must"),
        ({"queries": np.eye(3)}, "be a workload"),
    ],
)
def test_problems_say_what_is_wrong(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        workload_problem(**{"epsilon": 1.0, "queries": Prefix(3)} | given)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ({"criterion": md.Lexicographic()}, "be Worst\\(\\) or Average"),
        ({"among": md.Onto([0, 1])}, "any reports may be sent"),
        ({"inputs": [0, 1]}, "be finite points 0 to 2|those of privacy and loss"),
        ({"privacy": md.Pairwise([[0, 1], [1, 0]])}, "one epsilon for all types"),
    ],
)
def test_words_that_do_not_fit_a_workload_are_refused(words: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        md.Problem(**{"loss": Prefix(3), "privacy": md.Pure(1.0)} | words)


def test_epsilons_that_no_search_reaches_are_said() -> None:
    with pytest.raises(InvalidInput, match="workload: eps must lie between"):
        md.solve(workload_problem(9.0, Prefix(3)))


@pytest.mark.parametrize(
    "text", ["prefix", "moments:x", "marginals", "marginals:2xq", "what", "prefix:3", "parity:2,9"]
)
def test_names_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_workload(text)


def test_the_number_of_combinations_is_that_of_the_attributes() -> None:
    assert parse_workload("marginals:2x3", 6) == Marginals((2, 3), 1)
    with pytest.raises(InvalidInput, match="left out, or 6"):
        parse_workload("marginals:2x3", 7)
