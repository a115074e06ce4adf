"""Unbiased tables of several rows: what their samplers draw, the boundaries that are tried, and their random bytes."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.tables import Table, fixed_stream, make_table
from mechdesign.tables.kinds.unbiased import UnbiasedLaw
from mechdesign.tables.streams import bytes_below
from mechdesign.words.domains import Interval


@pytest.fixture(scope="module")
def table() -> Table:
    points, base = np.array([-2.5, -1.0, 0.25, 1.0, 2.5]), np.array([0.14, 0.08, 0.08, 0.08, 0.14])
    return make_table(UnbiasedWindow(1.5, Interval(-1, 1), points, base, math.exp(1.5) * (1 - 1e-12)), 16)


@pytest.fixture(scope="module")
def law(table: Table) -> UnbiasedLaw:
    assert isinstance(table.law, UnbiasedLaw)
    assert len(table.law.means) > 4
    return table.law


def test_bulk_samples_have_the_law_of_their_input(law: UnbiasedLaw) -> None:
    """The system's randomness: shares of all outputs at 5 inputs within 5.5 standard deviations, n = 40,000 (false
    positives: 1e-6 in all); a share of .5 that is off by .02 is seen with power .99."""
    count = 40_000
    for x in (-1.0, -0.6, 0.1, 0.7, 1.0):
        found = law.sampler()(np.full(count, x))
        for y, chance in zip(law.outputs, law.row(x), strict=True):
            share = float(Fraction(chance) / law.whole)
            assert abs((found == y).mean() - share) <= 5.5 * math.sqrt(share * (1 - share) / count) + 1e-12


@pytest.mark.parametrize("x", [-1.0, -0.6, 0.1, 0.7, 1.0])
def test_the_rule_is_unbiased_over_the_draws_of_its_row(law: UnbiasedLaw, x: float) -> None:
    """Seed 4, n = 1,000 draws of row and number: the mean within 5 standard deviations (false positives: 6e-7)."""
    rng, rule = np.random.default_rng(4), law.rule()
    drawn = np.array([rule(x, fixed_stream(rng.bytes(law.enough_bytes + 64))) for _ in range(1000)])
    assert abs(drawn.mean() - x) <= 5 * drawn.std() / math.sqrt(1000)


@pytest.mark.parametrize("x", [-1.0, -0.6, 0.1, 0.7, 1.0])
def test_a_row_has_the_mean_of_its_input_exactly(law: UnbiasedLaw, x: float) -> None:
    counts = law.row(x)
    assert sum(counts) == law.whole
    assert sum(Fraction(n) * Fraction(y) for n, y in zip(counts, law.outputs, strict=True)) / law.whole == Fraction(x)


def test_boundaries_are_draws_that_the_rule_takes_to_the_last_byte(law: UnbiasedLaw) -> None:
    rule, cases = law.rule(), list(law.boundaries())
    for case in cases:
        stream = fixed_stream(case.stream)
        assert rule(case.x, stream) in law.outputs
        assert stream.used == len(case.stream)
        assert all(0 <= number < 1 << bits for bits, number in case.draws)
    assert len(cases) > 4 * len(law.means)


@pytest.mark.parametrize("bits", [16, 32])
def test_enough_bytes_are_a_number_a_fraction_and_the_widest_gap(table: Table, bits: int) -> None:
    points, base = np.array([-2.5, -1.0, 0.25, 1.0, 2.5]), np.array([0.14, 0.08, 0.08, 0.08, 0.14])
    law = make_table(UnbiasedWindow(1.5, Interval(-1, 1), points, base, math.exp(1.5) * (1 - 1e-12)), bits).law
    assert isinstance(law, UnbiasedLaw)
    widest = max(bytes_below(high - low) for low, high in pairwise(law.means))
    assert law.enough_bytes == bits // 8 + 8 + widest
