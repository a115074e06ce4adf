"""Shares: all of them give the counts that reports in the open give, all but one give nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies.shipping import encoding
from mechdesign.tables import Table, make_table
from mechdesign.tables.estimators import Tally
from mechdesign.tables.reports import Added, bits_of, opened, payload_of, split
from mechdesign.tables.reports.shares import PRIME, width_of
from mechdesign.tables.sampler import sample_codes
from mechdesign.words.domains import Finite

THREE = make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), 16)


@pytest.mark.parametrize("servers", [2, 3, 5])
def test_sums_of_shares_estimate_as_the_reports_do(servers: int) -> None:
    codes = sample_codes(THREE, [0.0] * 50 + [2.0] * 30)
    sent = [payload_of(THREE).written(code, THREE) for code in codes.tolist()]
    shares = [split(bits_of(THREE, report), servers) for report in sent]
    added = [Added.of(2, column) for column in zip(*shares, strict=True)]
    found = opened(THREE, added).estimate(of="frequencies")
    plain = Tally(THREE).add_codes(codes).estimate(of="frequencies")
    assert found.estimates.tolist() == plain.estimates.tolist()
    assert found.count == plain.count == 80


def test_bits_of_unary_encoding_are_shared_as_they_are() -> None:
    table = make_table(encoding("oue", 1.0, 11))
    rows = sample_codes(table, [3] * 40 + [10] * 20)
    shares = [split(bits_of(table, row.tobytes()), 3) for row in rows]
    assert width_of(table) == 11
    added = [Added.of(11, column) for column in zip(*shares, strict=True)]
    found, plain = opened(table, added).estimate(), Tally(table).add_rows(rows).estimate()
    assert found.estimates.tolist() == plain.estimates.tolist()
    assert found.lower.tolist() == plain.lower.tolist()
    with pytest.raises(InvalidInput, match="unary"):
        Tally(THREE).add_ones([1, 1, 1], 2)
    with pytest.raises(InvalidInput, match="ones"):
        Tally(table).add_ones([3] * 11, 2)


def test_a_report_with_two_values_is_one_bit(vote: Table) -> None:
    assert width_of(vote) == 1
    assert [bits_of(vote, bytes([place])) for place in (0, 1)] == [(0,), (1,)]
    duchi = make_table(catalogue.duchi(1.0), 16)
    assert width_of(duchi) == 1
    assert opened(duchi, [Added((3,), 10), Added((PRIME - 1,), 10)]).mean().count == 10


def test_the_prime_is_prime() -> None:
    """Lucas: 7 has order PRIME - 1, whose prime factors are these."""
    factors = (2, 3, 5, 17, 257, 65537)
    rest = PRIME - 1
    for factor in factors:
        while rest % factor == 0:
            rest //= factor
    assert rest == 1
    assert pow(7, PRIME - 1, PRIME) == 1
    assert all(pow(7, (PRIME - 1) // factor, PRIME) != 1 for factor in factors)


@given(bits=st.lists(st.integers(0, 1), max_size=5), servers=st.integers(2, 6))
def test_shares_add_up_and_are_canonical(bits: list[int], servers: int) -> None:
    shares = split(bits, servers)
    assert len(shares) == servers
    entries = np.array([np.frombuffer(share, "<u8") for share in shares], dtype=object)
    assert [int(total) % PRIME for total in entries.sum(axis=0)] == bits
    assert all(entry < PRIME for entry in entries.ravel())


@pytest.mark.parametrize("server", [0, 1])
def test_one_share_alone_is_uniform_whatever_the_bit_is(server: int) -> None:
    """256 bins of the high byte, 5120 shares of each bit: chi-square of 255 degrees below 420, false alarm 1e-9.

    Shares that were the bit itself would all be in one bin.
    """
    for bit in (0, 1):
        high = [split((bit,))[server][7] for _ in range(5120)]
        counts = np.bincount(high, minlength=256)
        assert ((counts - 20) ** 2 / 20).sum() < 420


def test_servers_that_do_not_have_the_same_reports_are_refused() -> None:
    shares = [split((1, 0)) for _ in range(3)]
    left, right = ([pair[k] for pair in shares] for k in (0, 1))
    with pytest.raises(InvalidInput, match="agree"):
        opened(THREE, [Added.of(2, left), Added.of(2, right[:2])])
    with pytest.raises(InvalidInput, match="two or more"):
        opened(THREE, [Added.of(2, left)])
    with pytest.raises(InvalidInput, match="2 sums"):
        opened(THREE, [Added((1,), 3), Added((1,), 3)])


def test_a_damaged_share_is_noticed_where_the_sum_leaves_its_range() -> None:
    shares = [split((1, 0)) for _ in range(3)]
    left, right = ([pair[k] for pair in shares] for k in (0, 1))
    left[1] = bytes([left[1][0] ^ 64, *left[1][1:]])
    with pytest.raises(InvalidData, match="did not send bits") as refused:
        opened(THREE, [Added.of(2, left), Added.of(2, right)])
    assert "got" not in str(refused.value)


def test_a_client_that_lies_within_the_range_is_not_noticed() -> None:
    """What the module says is not claimed: two votes by one client."""
    shares = [split((0, 0)), split((0, 0))]
    lie = [(2).to_bytes(8, "little") + bytes(8), bytes(16)]
    added = [Added.of(2, [*(pair[k] for pair in shares), lie[k]]) for k in (0, 1)]
    assert opened(THREE, added).count == 3


@pytest.mark.parametrize("wrong", [b"", bytes(15), bytes(17), b"\xff" * 16])
def test_shares_of_another_form_are_refused_by_their_place(wrong: bytes) -> None:
    with pytest.raises(InvalidData, match="share 2 must be 16 bytes"):
        Added.of(2, [bytes(16), wrong])


def test_tables_without_a_list_of_outputs_have_no_bits(pay: Table) -> None:
    with pytest.raises(InvalidInput, match="list at most"):
        width_of(pay)
    with pytest.raises(InvalidInput, match="list its outputs"):
        Tally(pay).add_counts([1])


def test_numbers_that_are_no_bits_are_not_shared() -> None:
    with pytest.raises(InvalidData):
        split((2,))
    with pytest.raises(InvalidInput, match="servers"):
        split((1,), 1)
