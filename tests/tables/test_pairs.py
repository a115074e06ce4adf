"""Tables with an epsilon for each pair: exact in integers, decided by both checkers, used like any other."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods import Design
from mechdesign.methods.registry import solve
from mechdesign.tables import Table, checker, make_table, privacy_checker
from mechdesign.tables.device import Device, all_values_changed
from mechdesign.tables.reports import Attribute, Collection
from mechdesign.tables.sampler import sample
from mechdesign.tables.summary import counted_words
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric, Pairwise, sensitive
from mechdesign.words.problem import Problem

BOTH: list[Callable[[bytes], object]] = [checker.check, privacy_checker.check]
FAILURES = (checker.Failed, privacy_checker.Failed)


@pytest.fixture(scope="module")
def design() -> Design:
    return solve(
        Problem(
            loss=Distances(), privacy=Metric([(i, j) for i in range(3) for j in range(3)], 1.0), criterion=Average()
        )
    )


@pytest.fixture(scope="module")
def table(design: Design) -> Table:
    return make_table(design)


def written(document: dict[str, object]) -> bytes:
    """The bytes of a document with a hash of its own."""
    body = {key: value for key, value in document.items() if key != "sha256"}
    return checker.canonical(body | {"sha256": hashlib.sha256(checker.canonical(body)).hexdigest()})


@pytest.mark.parametrize("bits", [16, 32, 53, 62])
def test_every_pair_of_a_table_keeps_its_epsilon_in_integers(design: Design, bits: int) -> None:
    made = make_table(design, bits)
    epsilons, rows = design.problem.privacy.epsilons, made.law.rows
    for first, second in permutations(range(9), 2):
        most = exp_lower(float(epsilons[first, second]))
        for a, b in zip(rows[first], rows[second], strict=True):
            assert a * most.denominator <= most.numerator * b
    assert all(sum(row) == 1 << bits for row in rows)
    for check in BOTH:
        check(made.content)


def test_a_table_says_the_epsilon_of_each_pair_again(design: Design, table: Table) -> None:
    assert isinstance(table.privacy, Pairwise)
    assert np.array_equal(table.privacy.epsilons, design.problem.privacy.closed)
    assert "every pair of inputs keeps its own eps: from 1 to 2.82843" in table.summary()
    assert table.labels.inputs[1] == "(0, 1)"


def test_a_single_count_that_is_changed_is_noticed_by_both_checkers_in_every_place(table: Table) -> None:
    for check in BOTH:
        for i in range(9):
            for j in range(9):
                for step in (-1, 1):
                    document = json.loads(table.content)
                    document["law"]["rows"][i][j] += step
                    with pytest.raises(FAILURES, match=r"law.rows\[\d\]"):
                        check(written(document))


def test_counts_moved_within_a_row_break_a_pair_that_both_checkers_name(design: Design) -> None:
    """So much is moved that a near pair breaks while the largest ratio stays: one epsilon would not see it."""
    document = json.loads(make_table(design).content)
    rows = document["law"]["rows"]
    cap = checker.exponential(document_epsilon := checker.Fraction(1))
    assert document_epsilon == 1
    j = 4
    room = (cap * rows[1][j] >> 96) - rows[4][j]
    rows[4][j] += room + 2
    rows[4][0] -= room + 2
    assert max(row[j] for row in rows) << 96 <= int(document["cap"]) * min(row[j] for row in rows)
    for check in BOTH:
        with pytest.raises(FAILURES, match=r"law\.rows"):
            check(written(document))


@pytest.mark.parametrize(
    "forge",
    [
        lambda pairs: pairs["of"].pop(),
        lambda pairs: pairs["of"][0].pop(),
        lambda pairs: pairs["of"][0].__setitem__(1, len(pairs["epsilons"])),
        lambda pairs: pairs["of"][0].__setitem__(1, -2),
        lambda pairs: pairs["epsilons"].__setitem__(0, "1/2"),
        lambda pairs: pairs["epsilons"].__setitem__(0, 1),
        lambda pairs: pairs.__setitem__("of", {}),
        lambda pairs: pairs.pop("epsilons"),
    ],
)
def test_limits_that_are_malformed_or_too_small_are_refused_by_both_checkers(
    table: Table, forge: Callable[[dict[str, object]], object]
) -> None:
    document = json.loads(table.content)
    forge(document["law"]["pairs"])
    for check in BOTH:
        with pytest.raises(FAILURES):
            check(written(document))


def test_inputs_without_protection_have_no_limit_and_the_summary_says_so() -> None:
    made = make_table(solve(Problem(loss=1 - np.eye(3), privacy=sensitive(3, [0], 1.0), criterion=Average()), gap=1e-5))
    assert [list(row) for row in made.law.pairs.of] == [[-1, 0, 0], [-1, -1, -1], [-1, -1, -1]]
    assert "NOT PROTECTED: 4 of 6" in made.summary()
    for check in BOTH:
        check(made.content)


def test_a_mechanism_becomes_a_table_for_the_privacy_that_is_asked_and_that_it_keeps() -> None:
    coin = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.7, 0.3], [0.3, 0.7]])
    assert make_table(coin, privacy=Pairwise([[0, 1], [1, 0]])).privacy == Pairwise([[0, 1], [1, 0]])
    with pytest.raises(CheckFailed):
        make_table(coin, privacy=Pairwise([[0, 0.5], [1, 0]]))
    with pytest.raises(InvalidInput, match="inputs of a finite mechanism"):
        make_table(coin, privacy=Pairwise(1 - np.eye(3)))


def test_too_few_bits_are_refused_with_a_number_that_is_enough() -> None:
    coin = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.5001, 0.4999], [0.4999, 0.5001]])
    with pytest.raises(InvalidInput, match="take 32 bits"):
        make_table(coin, 16, privacy=Pairwise([[0, 5e-4], [5e-4, 0]]))


def test_reports_have_the_probabilities_of_the_table(table: Table) -> None:
    """Of 90 000 reports of two places: chi-square, false alarms below 1e-6, power near 1 for 1% more of one report."""
    count = 45_000
    inputs = np.array(["(0, 0)"] * count + ["(2, 2)"] * count)
    reports = sample(table, inputs)
    law = np.array(table.law.rows, dtype=float)[[0, 8]].mean(axis=0) / 2**32
    seen = np.array([(reports == label).sum() for label in table.labels.outputs])
    statistic = float(((seen - 2 * count * law) ** 2 / (2 * count * law)).sum())
    assert statistic < 45.0  # chi-square with 8 degrees of freedom exceeds 44.0 with probability 6e-7


def test_the_one_epsilon_of_the_table_is_what_it_gives_away_between_any_two_inputs(table: Table) -> None:
    assert float(table.epsilon) == pytest.approx(table.privacy_loss, abs=1e-12)
    assert table.privacy_loss <= 2 * math.sqrt(2)


def test_sums_count_what_a_table_gives_away_between_any_two_inputs_and_say_so(table: Table) -> None:
    words = counted_words(table)
    assert words is not None
    assert "each pair of inputs has its own eps (from 1 to 2.82843); counted is 2.82843" in words
    both = Collection("both", "split", (Attribute("here", table), Attribute("there", table)))
    columns = list(zip(*table.law.rows, strict=True))
    assert both.ratio == max(Fraction(max(column), min(column)) for column in columns) ** 2
    assert float(both.epsilon) == pytest.approx(2 * 2 * math.sqrt(2), rel=1e-6)


def test_a_pair_without_a_limit_is_counted_as_what_it_gives_away_and_not_left_out() -> None:
    """One input has no limit against the others: they differ by far more than the largest limit."""
    rows = np.array([[0.5, 0.4999, 0.0001], [0.4, 0.5999, 0.0001], [0.0001, 0.0001, 0.9998]])
    asked = np.array([[0, 0.3, math.inf], [0.3, 0, math.inf], [math.inf, math.inf, 0]])
    made = make_table(Discrete(10.0, Finite((0, 1, 2)), Finite((0, 1, 2)), rows), privacy=Pairwise(asked))
    loss = math.log(0.9998 / 0.0001)
    assert float(made.epsilon) == pytest.approx(loss, rel=1e-3)
    assert float(Collection("one", "split", (Attribute("a", made),)).epsilon) == float(made.epsilon)
    assert f"(from 0.3 to 0.3); counted is {float(made.epsilon):.6g}" in str(counted_words(made))
    device = Device(made, None, values=1, reports=3)
    assert all_values_changed(device, 3).loss == pytest.approx(loss, rel=1e-3)
