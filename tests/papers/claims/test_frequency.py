"""What the IBU paper prints about L-LH and subsets, by enumeration of what happens to one report."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mechdesign.papers.claims import REPLACED, judge, named


def printed_p2(first: float, g: int) -> float:
    a, b = math.exp(2 * first), math.exp(first)
    return (a * b - 1) / (-g * b + (g - 1) * a + a * b - 1)


def test_the_printed_second_step_of_l_lh_overspends_by_its_closed_form():
    (claim,) = named(["ibu.l-lh"])
    found = judge(claim)
    for (loss, _), first in zip(found.ours[:2], (1.0, 2.0), strict=True):
        b = math.exp(first)
        assert loss == pytest.approx(math.log((b**5 - 2 * b) / (b**4 - b**3 - 1)), rel=1e-12)
        assert loss > first
    assert found.verdict == REPLACED


def test_the_printed_second_step_of_many_hashes_underspends_by_all_ways_through_both_steps():
    (claim,) = named(["ibu.l-lh"])
    g, first = 8, 1.0
    p1, p2 = math.exp(2) / (math.exp(2) + g - 1), printed_p2(first, g)

    def chance(told: int, held: int) -> float:
        one = [p1 if memo == held else (1 - p1) / (g - 1) for memo in range(g)]
        return sum(share * (p2 if told == memo else (1 - p2) / (g - 1)) for memo, share in enumerate(one))

    assert judge(claim).ours[2][0] == pytest.approx(math.log(chance(0, 0) / chance(0, 1)), rel=1e-9)


def test_the_printed_aggregation_of_l_lh_is_off_by_all_hash_functions_of_two_items():
    """All four functions from {own, other} to two values, both memories and both reports."""
    p1, p2 = math.exp(2) / (math.exp(2) + 1), printed_p2(1.0, 2)
    support = np.zeros(2)
    for own, other, keeps, tells in itertools.product((0, 1), repeat=4):
        told = own ^ (1 - keeps) ^ (1 - tells)
        chance = (p1 if keeps else 1 - p1) * (p2 if tells else 1 - p2) / 4
        support += chance * np.array([told == own, told == other])
    p, q = p1 * p2 + 0.5 * (1 - p2), p1 * (1 - p2) + 0.5 * p2
    (claim,) = named(["ibu.l-lh-estimate"])
    found = [low for low, _ in judge(claim).ours]
    assert found == pytest.approx([p - support[0], q - support[1], (support[1] - q) / (p - q)], abs=1e-12)


def test_subsets_are_empty_where_there_are_fewer_items_than_e_to_the_eps_plus_one():
    empty = [(k, eps) for k in (2, 50, 100, 200) for eps in (1, 2, 4) if k < math.exp(eps) + 1]
    assert empty == [(2, 1), (2, 2), (2, 4), (50, 4)]
    (claim,) = named(["ibu.subset"])
    assert judge(claim).ours[1] == (len(empty), len(empty))
