"""Reports as bytes: each output has one form, and nothing else is one."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import InvalidData
from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies.shipping import encoding
from mechdesign.tables import Table, make_table, sample
from mechdesign.tables.kinds import Listed
from mechdesign.tables.reports import payload_of
from mechdesign.tables.sampler import sample_codes

KINDS = ("small", "unbiased", "finite", "labelled", "pieces", "circle", "additive", "clamped", "clamped noise")


@pytest.mark.parametrize("name", KINDS)
def test_a_report_comes_back_as_it_was_drawn(tables: dict[str, Table], name: str) -> None:
    table = tables[name]
    payload = payload_of(table)
    inputs = [*getattr(table.domain, "points", ())] or [0.5, 0.75, 1.0]
    for code in sample_codes(table, inputs * 20).tolist():
        content = payload.written(code, table)
        assert len(content) == payload.size
        assert payload.read(content, table) == code


@pytest.mark.parametrize("name", ["small", "finite", "labelled"])
def test_every_number_below_the_outputs_is_one_and_no_other(tables: dict[str, Table], name: str) -> None:
    table = tables[name]
    law, payload = table.law, payload_of(table)
    assert isinstance(law, Listed)
    assert payload.size == 1
    found = [payload.read(bytes([place]), table) for place in range(len(law.outputs))]
    assert found == list(law.outputs)
    for place in range(len(law.outputs), 256):
        with pytest.raises(InvalidData):
            payload.read(bytes([place]), table)


def test_more_than_256_outputs_take_two_bytes_little_endian() -> None:
    from mechdesign.words.domains import Finite

    table = make_table(catalogue.randomised_response(8.0, Finite(tuple(range(257)))))
    payload = payload_of(table)
    assert payload.size == 2
    assert payload.written(256.0, table) == b"\x00\x01"


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "blh", "olh", "ss", "hr", "cms"])
def test_a_report_of_items_is_its_own_bytes(name: str) -> None:
    table = make_table(encoding(name, 1.0, 13))
    payload = payload_of(table)
    for row in sample_codes(table, [0, 5, 12] * 20):
        content = payload.written(row, table)
        assert content == row.tobytes()
        assert payload.read(content, table).tolist() == row.tolist()
    with pytest.raises(InvalidData):
        payload.read(bytes(payload.size + 1), table)


@given(content=st.binary(min_size=1, max_size=3))
def test_any_bytes_are_a_report_of_items_or_refused(content: bytes) -> None:
    for table in ON_ITEMS:
        try:
            found = payload_of(table).read(content, table)
        except InvalidData:
            continue
        assert found.tobytes() == content
        assert not table.law.wrong(found[np.newaxis, :])[0]


ON_ITEMS = tuple(make_table(encoding(name, 1.0, 13)) for name in ("grr", "oue", "ss", "hr"))


@given(content=st.binary(max_size=9))
def test_any_bytes_are_a_report_in_their_only_form_or_refused_without_showing_them(content: bytes) -> None:
    for table in SPREAD:
        found = read_or_why(table, content)
        if isinstance(found, str):
            assert "got" not in found
        else:
            assert payload_of(table).written(found, table) == content


def read_or_why(table: Table, content: bytes) -> float | str:
    """The report, or what the typed error says."""
    try:
        return payload_of(table).read(content, table)
    except InvalidData as error:
        return str(error)


SPREAD = (make_table(catalogue.pm(1.0)), make_table(catalogue.laplace(1.0), 16), make_table(catalogue.duchi(1.0)))


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -0.0, 0.1])
def test_doubles_that_no_sampler_gives_are_refused(wrong: float) -> None:
    table = make_table(catalogue.laplace(1.0), 16)
    with pytest.raises(InvalidData):
        payload_of(table).read(struct.pack("<d", wrong), table)


def test_a_number_that_is_no_output_is_not_written(vote: Table) -> None:
    with pytest.raises(InvalidData):
        payload_of(vote).written(0.5, vote)
    assert np.all(sample(vote, ["no"] * 3) != "maybe")


def test_the_negative_zero_is_written_as_the_zero_that_it_is() -> None:
    table = make_table(catalogue.laplace(1.0), 16)
    assert payload_of(table).written(-0.0, table) == bytes(8)
