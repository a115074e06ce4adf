"""What a printed number stands for, and how a verdict follows."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from mechdesign.errors import InvalidInput
from mechdesign.papers.claims import (
    BEYOND,
    CORRECTED,
    FAILS,
    HOLDS,
    IN_CODE,
    REPLACED,
    SIMULATED,
    STAND_IN,
    Claim,
    Item,
    judge,
)
from mechdesign.papers.claims.claim import AT_LEAST, AT_MOST, LEVEL, within

TRUE = 0.2345


def claim(*items, compute, **more):
    return Claim("a.claim", "a paper", "page 1", "words", items, compute, **more)


@pytest.mark.parametrize(
    ("printed", "ours", "agrees"),
    [
        ("0.23", 0.2345, True),  # cut
        ("0.24", 0.2350, True),  # rounded
        ("0.23", 0.2401, False),
        ("0.230", 0.2345, False),  # more digits claim more
        ("-0.07", 0.0, False),
        ("17", 17.9, True),
        ("17", 18.0, False),
        ("inf", float("inf"), True),
        ("inf", 1e300, False),
        ("1.0", float("inf"), False),
    ],
)
def test_a_printed_number_stands_for_all_that_round_or_are_cut_to_it(printed, ours, agrees):
    assert Item("n", printed).agrees_with((ours, ours)) is agrees


def test_all_of_an_interval_has_to_agree():
    item = Item("n", "0.23")
    assert item.agrees_with((0.2301, 0.2399))
    assert not item.agrees_with((0.2301, 0.2401))
    assert not item.agrees_with((0.2199, 0.2301))


def test_relations_bound_the_far_end():
    assert Item("n", "0.5", relation=AT_MOST).agrees_with((0.1, 0.5))
    assert not Item("n", "0.5", relation=AT_MOST).agrees_with((0.1, 0.51))
    assert Item("n", "0.5", relation=AT_LEAST).agrees_with((0.5, 0.9))
    assert not Item("n", "0.5", relation=AT_LEAST).agrees_with((0.49, 0.9))


def test_units_widen_or_narrow_what_agrees():
    assert not Item("n", "0.10", units=0.5).agrees_with((0.106, 0.106))
    assert Item("n", "0.10", units=2).agrees_with((0.119, 0.119))
    assert within("n", "15.7744", 2e-4).agrees_with((15.7771, 15.7771))
    assert not within("n", "15.7744", 2e-4).agrees_with((15.7777, 15.7777))


def test_a_claim_holds_only_if_every_number_agrees():
    good, bad = Item("a", "0.23"), Item("b", "0.99")
    assert judge(claim(good, compute=lambda: [TRUE])).verdict == HOLDS
    assert judge(claim(good, bad, compute=lambda: [TRUE, TRUE])).verdict == FAILS


def test_an_erratum_with_other_numbers_has_to_agree_with_ours_too():
    right, wrong = Item("a", "0.99", "0.2345"), Item("a", "0.99", "0.5")
    outcome = judge(claim(right, compute=lambda: [TRUE], erratum=7))
    assert (outcome.verdict, outcome.in_words) == (REPLACED, "does not hold as printed (erratum 7)")
    assert judge(claim(wrong, compute=lambda: [TRUE], erratum=7)).verdict == FAILS


def test_an_erratum_of_another_reading_is_computed_only_where_the_first_one_fails():
    calls = []

    def mended():
        calls.append(1)
        return [TRUE]

    assert judge(claim(Item("a", "0.23"), compute=lambda: [TRUE], mended=mended, erratum=1)).verdict == HOLDS
    assert not calls
    outcome = judge(claim(Item("a", "0.23"), compute=lambda: [0.9], mended=mended, erratum=1))
    assert (outcome.verdict, outcome.ours, outcome.mended) == (CORRECTED, ((0.9, 0.9),), ((TRUE, TRUE),))
    assert outcome.in_words == "holds after correction (erratum 1)"


def test_a_refuted_bound_does_not_hold_after_any_correction():
    bound = Item("a", "1", "0.26", AT_LEAST)
    assert judge(claim(bound, compute=lambda: [0.26], erratum=4)).verdict == REPLACED
    assert judge(claim(bound, compute=lambda: [1.2], erratum=4)).verdict == HOLDS


def test_a_correction_without_its_erratum_is_none():
    assert judge(claim(Item("a", "0.99", "0.2345"), compute=lambda: [TRUE])).verdict == FAILS


@pytest.mark.parametrize("ours", [TRUE, 0.9])
def test_a_sentence_of_ours_is_never_a_verdict_on_the_paper(ours):
    outcome = judge(claim(Item("a", "0.23", "0.9"), compute=lambda: [ours], erratum=3, beyond="it says something else"))
    assert (outcome.verdict, outcome.in_words) == (BEYOND, "beyond the claim")


def test_a_number_of_the_published_code_is_no_verdict_on_the_page():
    item, more = Item("a", "0.99", "0.2345"), {"erratum": 3, "in_code": "the page has the other"}
    outcome = judge(claim(item, compute=lambda: [TRUE], **more))
    assert (outcome.verdict, outcome.in_words) == (IN_CODE, "in the published code, not in print (erratum 3)")
    assert judge(claim(item, compute=lambda: [0.5], **more)).verdict == FAILS  # neither of the two


@pytest.mark.parametrize("ours", [TRUE, 0.9])
def test_what_is_computed_on_other_data_is_no_verdict_either_way(ours):
    outcome = judge(claim(Item("a", "0.23"), compute=lambda: [ours], stand_in="data made here"))
    assert (outcome.verdict, outcome.in_words) == (STAND_IN, "on stand-in data")


def test_the_p_value_of_a_share_is_twice_the_smaller_tail_of_the_binomial_law():
    """6 of 500 at a chance of .00524, term by term in fractions."""
    chance, runs = Fraction(524, 100_000), 500
    below = sum(math.comb(runs, k) * chance**k * (1 - chance) ** (runs - k) for k in range(6))
    found = Item("a", "0.012", runs=runs).p_value((float(chance), float(chance)))
    assert found == pytest.approx(2 * float(1 - below), rel=1e-9)


def test_the_p_value_of_a_mean_is_that_of_the_normal_law():
    assert Item("a", "1.0", deviation=0.5).p_value((1.98, 1.98)) == pytest.approx(0.05, abs=1e-4)


def test_a_simulation_agrees_within_its_noise_and_is_said_to():
    item = Item("a", "0.012", runs=500)
    outcome = judge(claim(item, compute=lambda: [0.0053]))
    assert (outcome.verdict, outcome.in_words) == (SIMULATED, "simulated (p = 0.1)")
    assert judge(claim(item, compute=lambda: [0.0121])).verdict == HOLDS  # in its digits
    assert item.p_value((0.002, 0.002)) < LEVEL
    assert judge(claim(item, compute=lambda: [0.002])).verdict == FAILS
    assert judge(claim(Item("a", "0.012"), compute=lambda: [0.0053])).verdict == FAILS


def test_all_of_an_interval_has_to_be_within_the_noise():
    item = Item("a", "0.012", runs=500)
    assert item.agrees_with((0.0053, 0.02))
    assert not item.agrees_with((0.0053, 0.5))


def test_fractions_and_intervals_are_values():
    outcome = judge(claim(Item("a", "0.5"), Item("b", "0.3"), compute=lambda: [Fraction(1, 2), (0.31, 0.32)]))
    assert outcome.ours == ((0.5, 0.5), (0.31, 0.32))
    assert outcome.verdict == HOLDS


def test_as_many_values_as_numbers():
    with pytest.raises(InvalidInput, match="compute 1 values"):
        judge(claim(Item("a", "0.5"), compute=list))
