"""The sampling rule, one report at a time: bits, exact shares, and laws by enumeration of every draw."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import Stream, fixed_stream, make_table, report
from mechdesign.words.domains import Finite
from tests.tables.conftest import KINDS


def little(*digits):
    """32-bit digits as the bytes that are read for them."""
    return b"".join(digit.to_bytes(4, "little") for digit in digits)


def test_bits_are_the_low_ones_of_little_endian_bytes():
    stream = fixed_stream(bytes([0x34, 0x12, 0xFF, 0xFF, 0x05]))
    assert (stream.draw(16), stream.draw(9), stream.draw(0), stream.draw(2)) == (0x1234, 0x1FF, 0, 1)
    assert stream.used == 5


def test_a_stream_that_runs_out_says_so():
    with pytest.raises(EOFError):
        fixed_stream(b"\x00").draw(16)


@pytest.mark.parametrize("count", [2, 3, 5, 200, 256])
def test_every_number_below_a_count_is_as_likely(count):
    bits = (count - 1).bit_length()
    accepted = Counter(fixed_stream(bytes([byte, 0])).below(count) for byte in range(256) if byte % (1 << bits) < count)
    assert set(accepted) == set(range(count))
    assert len(set(accepted.values())) == 1


def test_one_choice_takes_no_bits():
    stream = fixed_stream(b"")
    assert stream.below(1) == 0


@given(st.floats(0, 1, exclude_max=True))
def test_shares_are_compared_digit_by_digit(share):
    exact, digits = Fraction(share), []
    while exact and len(digits) < 40:
        exact *= 2**32
        digits.append(math.floor(exact))
        exact -= digits[-1]
    assert not fixed_stream(little(*digits)).fraction(share)  # equal to the share: not below it
    for k, digit in enumerate(digits):
        if digit:
            assert fixed_stream(little(*digits[:k], digit - 1)).fraction(share)
        if digit < 2**32 - 1:
            assert not fixed_stream(little(*digits[:k], digit + 1)).fraction(share)


@pytest.mark.parametrize("value", [2.25, -2.25, 0.0, 3.0, 2.0**60, -7.5])
def test_whole_numbers_have_the_mean_of_what_they_round(value):
    share = abs(value) - math.floor(abs(value))
    up, down = (fixed_stream(little(digit) * 2).whole(value) for digit in (0, 2**32 - 1))
    assert up * share + down * (1 - share) == value


def test_the_law_of_a_window_table_is_its_counts():
    table = make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), 16)
    for i, x in enumerate(table.domain.points):
        seen = Counter(report(table, x, fixed_stream(u.to_bytes(2, "little"))) for u in range(2**16))
        assert [seen[y] for y in (0.0, 1.0, 2.0)] == list(table.law.rows[i])


def test_every_draw_of_a_window_gives_the_output_its_running_counts_say(tables):
    table = make_table_small_16()
    for x, row in ((0.0, 0), (1.0, len(table.law.starts) - 1)):
        seen = Counter(report(table, x, fixed_stream(u.to_bytes(2, "little"))) for u in range(2**16))
        counts = [seen[y] for y in table.law.outputs]
        assert all(
            low <= count <= high for low, count, high in zip(table.law.base, counts, table.law.caps, strict=True)
        )
        exact = window_row(table, row)
        assert counts == exact


def make_table_small_16():
    from mechdesign.mechanisms.window import Window
    from mechdesign.words.domains import Interval

    return make_table(Window(1.0, Interval(0, 1), [0.0, 0.3, 0.55, 1.0], [0.15, 0.1, 0.1, 0.15], 2.7), 16)


def window_row(table, row):
    law, start = table.document["law"], table.law.starts[row]
    gains = [0, *itertools.accumulate(c - n for n, c in zip(law["base"], law["caps"], strict=True))]
    extra = 2**table.bits - sum(law["base"])
    return [
        n + max(0, min(b, start + extra) - max(a, start))
        for n, (a, b) in zip(law["base"], itertools.pairwise(gains), strict=True)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_outside_the_domain_is_an_error(tables, kind):
    table = tables[kind]
    for x in (table.domain.upper + 1, table.domain.lower - 1, math.nan, math.inf):
        with pytest.raises(InvalidInput):
            report(table, x)


@settings(max_examples=20, deadline=None)
@given(st.floats(-1, 1))
def test_reports_from_the_operating_system_are_outputs(x):
    table = make_table(catalogue.duchi(1.0))
    assert report(table, x, Stream()) in set(table.law.outputs)
