"""The table of certified constants: the reference digits, rounding that never overstates, the document."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

import mechdesign
from mechdesign import Squared, catalogue
from mechdesign.errors import InvalidInput
from mechdesign.methods.constants import (
    Constant,
    as_markdown,
    certified_constants,
    rounded_down,
    rounded_up,
    shared_digits,
)

POSITIVE = st.floats(1e-12, 1e6)


@given(value=POSITIVE, digits=st.integers(1, 15))
def test_decimals_lie_on_their_side_and_within_one_last_digit(value: float, digits: int) -> None:
    low, high = Decimal(rounded_down(value, digits)), Decimal(rounded_up(value, digits))
    assert low <= Decimal(value) <= high
    assert high - low <= Decimal(10) ** (Decimal(value).adjusted() - digits + 1)


@given(lower=POSITIVE, share=st.floats(0, 1))
def test_shared_digits_begin_both_ends(lower: float, share: float) -> None:
    upper = lower * (1 + 1e-3 * share)
    digits = shared_digits(lower, upper)
    if digits:
        last = Decimal(1).scaleb(-len(digits.partition(".")[2]))
        assert Decimal(digits) <= Decimal(lower) <= Decimal(upper) < Decimal(digits) + last


@pytest.mark.parametrize(("lower", "upper"), [(0.9, 1.1), (9.99, 10.01), (0.0, 0.1)])
def test_no_digit_is_claimed_where_none_is_sure(lower: float, upper: float) -> None:
    assert shared_digits(lower, upper) == ""


def test_the_worst_case_rows_bracket_the_reference() -> None:
    rows = list(certified_constants(1e-4, ["worst case"], [0.5, 1.0]))
    found = {(row.loss, row.epsilon): row for row in rows}
    closed = {epsilon: math.exp(epsilon) / (1 + math.exp(epsilon)) ** 2 for epsilon in (0.5, 1.0)}
    reference = {("absolute", 0.5): 0.39526992, ("absolute", 1.0): 0.31616898}
    reference |= {("squared", epsilon): value for epsilon, value in closed.items()}
    assert found.keys() == reference.keys()
    for key, value in reference.items():
        assert found[key].lower <= value + 5e-9
        assert found[key].upper >= value - 5e-9
        assert found[key].upper - found[key].lower <= 1e-4 * found[key].upper
        assert found[key].valid_for == "all mechanisms"
        assert not found[key].claimed


def test_rows_of_several_numbers_are_apart_by_as_many_where_all_sets_are_tried() -> None:
    rows = list(certified_constants(criteria=["several"], epsilons=[1.0, 4.0]))
    for row in rows:
        count = int(row.command.split()[2])
        assert row.upper - row.lower >= count * (1 - 1e-9)
        if count <= 7:
            assert row.upper - row.lower <= count * (1 + 1e-9)


def test_rows_of_directions_have_ten_digits_and_python_that_gives_them() -> None:
    rows = list(certified_constants(criteria=["directions"], epsilons=[1.0]))
    assert len(rows[-1].digits()) >= 10
    assert rows[-1].digits().startswith("6478.")
    for row in rows:
        found = eval(row.command, {"md": mechdesign}).certificate
        assert (found.lower, found.upper) == (row.lower, row.upper)
        assert (row.inputs, row.valid_for, row.claimed) == ("unit spheres", "unbiased mechanisms", False)


def test_the_unbiased_worst_case_has_rows_below_every_published_mechanism() -> None:
    rows = list(certified_constants(1e-3, ["unbiased worst"], [0.5, 1.0]))
    assert [row.epsilon for row in rows] == [0.5, 1.0]
    for row in rows:
        hm = catalogue.hm(row.epsilon).worst_case(Squared())[0]
        assert row.lower <= row.upper < hm
        assert (row.valid_for, row.claimed, row.prior) == ("unbiased mechanisms", False, "-")
        assert row.command == f"minimax --eps {row.epsilon:g} --unbiased --domain=-1,1 --gap 0.001"


ROW = Constant("worst case", "absolute", "-", "[0, 1]", 2.0, 0.20082004123, 0.20082048885, "all mechanisms", False, "x")


def test_the_document_prints_ends_rounded_outwards_and_the_digits_they_share() -> None:
    text = as_markdown([ROW])
    line = next(line for line in text.splitlines() if line.startswith("| absolute"))
    assert line == "| absolute | - | 2 | 0.2008200412 | 0.2008204889 | 0.200820 | all mechanisms | `x` |"


def test_a_claimed_row_says_so() -> None:
    claimed = Constant("average", "squared", "uniform", "[0, 1]", 1.0, 0.05, 0.050001, "all mechanisms", True, "x")
    assert "(claimed)" in as_markdown([claimed])
    assert "(claimed)" not in as_markdown([ROW])


def test_unknown_criteria_are_refused() -> None:
    with pytest.raises(InvalidInput, match="worst case, average, unbiased"):
        next(certified_constants(criteria=["median"]))


def test_the_command_of_a_row_names_its_epsilon_exactly() -> None:
    row = next(certified_constants(1e-3, ["worst case"], [0.1 + 0.2]))
    assert row.command == "minimax --eps 0.30000000000000004 --loss absolute --gap 0.001"
    assert "| 0.30000000000000004 |" in as_markdown([row])
