"""Envelopes: one canonical form, as FORMAT.md has it, and typed errors for all else."""

from __future__ import annotations

import base64
from datetime import date

import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.tables import Table
from mechdesign.tables.reports import Collection, Envelope, Subject, enveloped

subjects = st.builds(Subject, st.binary(min_size=32, max_size=32).map(bytes.hex), st.none() | st.integers(0, 65535))
envelopes = st.builds(
    Envelope,
    subjects,
    st.dates(min_value=date(1970, 1, 1)),
    st.binary(min_size=16, max_size=16),
    st.binary(min_size=1, max_size=40),
)
ONE = Envelope(Subject("ab" * 32, 258), date(2030, 12, 31), bytes(range(16)), b"\x05\x06")


@given(envelopes)
def test_an_envelope_comes_back_from_its_bytes_and_from_its_line(envelope: Envelope) -> None:
    assert Envelope.read(envelope.content) == envelope
    assert Envelope.of_line(envelope.line) == envelope


def test_the_bytes_are_as_the_format_says() -> None:
    """Written from the text of FORMAT.md: mdre, version, form, attribute, days, hash, nonce, report."""
    days = (date(2030, 12, 31) - date(1970, 1, 1)).days
    written = b"mdre" + bytes([1, 1]) + (258).to_bytes(2, "little") + days.to_bytes(4, "little")
    written += bytes.fromhex("ab" * 32) + bytes(range(16)) + b"\x05\x06"
    assert ONE.content == written
    assert ONE.line == base64.b64encode(written) + b"\n"


def test_the_bytes_of_a_devices_envelope_are_as_the_format_says() -> None:
    envelope = Envelope(Subject("ab" * 32, is_device=True), date(1970, 1, 2), bytes(range(16)), b"\x05")
    written = b"mdre" + bytes([1, 2, 0, 0, 1, 0, 0, 0]) + bytes.fromhex("ab" * 32) + bytes(range(16)) + b"\x05"
    assert envelope.content == written
    assert Envelope.read(written) == envelope
    assert envelope.subject != Subject("ab" * 32)


def test_a_device_has_no_attributes() -> None:
    with pytest.raises(InvalidInput, match="a device has none"):
        Subject("ab" * 32, 0, is_device=True)
    with pytest.raises(InvalidData, match="only a collection has attributes"):
        Envelope.read(b"mdre" + bytes([1, 2, 1, 0]) + ONE.content[8:])


@given(st.integers(0, len(ONE.content) - 1), st.integers(1, 255))
def test_a_byte_damaged_anywhere_gives_another_envelope_or_a_typed_error(place: int, flip: int) -> None:
    content = bytearray(ONE.content)
    content[place] ^= flip
    found = read_or_why(bytes(content))
    if isinstance(found, str):
        assert "got" not in found
        assert place < 12  # the header: a hash, a nonce and a report are any bytes
    else:
        assert found != ONE
        assert found.content == bytes(content)


def read_or_why(content: bytes) -> Envelope | str:
    """The envelope, or what the typed error says."""
    try:
        return Envelope.read(content)
    except InvalidData as error:
        return str(error)


@given(st.integers(0, len(ONE.line) - 1), st.integers(0, 255))
def test_a_damaged_line_is_another_envelope_in_its_only_form_or_a_typed_error(place: int, byte: int) -> None:
    line = bytearray(ONE.line)
    line[place] = byte
    try:
        found = Envelope.of_line(bytes(line))
    except InvalidData:
        return
    assert found.line == bytes(line)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_envelope_in_its_only_form_or_a_typed_error(content: bytes) -> None:
    for read in (Envelope.read, Envelope.of_line):
        try:
            found = read(content)
        except InvalidData:
            continue
        assert content in (found.content, found.line)


@pytest.mark.parametrize("cut", [0, 1, 59, 60])
def test_an_envelope_that_was_cut_short_is_refused(cut: int) -> None:
    with pytest.raises(InvalidData):
        Envelope.read(ONE.content[:cut])


def test_one_without_end_is_refused() -> None:
    with pytest.raises(InvalidData):
        Envelope.read(ONE.content + bytes(1 << 16))


@pytest.mark.parametrize(
    ("field", "value"),
    [("nonce", b"short"), ("report", b""), ("expires", date(1969, 12, 31)), ("expires", "2030-01-01")],
)
def test_fields_that_have_no_bytes_are_refused(field: str, value: object) -> None:
    parts = {"subject": ONE.subject, "expires": ONE.expires, "nonce": ONE.nonce, "report": ONE.report}
    with pytest.raises(InvalidInput):
        Envelope(**parts | {field: value})


@pytest.mark.parametrize("wrong", ["AB" * 32, "ab" * 31, "", 7, None])
def test_a_hash_is_64_lower_case_digits(wrong: object) -> None:
    with pytest.raises(InvalidInput):
        Subject(wrong)


@pytest.mark.parametrize("wrong", [-1, 65536, True, 1.0, "1"])
def test_an_attribute_is_a_number_of_two_bytes(wrong: object) -> None:
    with pytest.raises(InvalidInput):
        Subject("ab" * 32, wrong)


def test_no_two_envelopes_have_a_nonce_in_common(vote: Table) -> None:
    assert len({enveloped(vote, "no", date(2030, 1, 1)).nonce for _ in range(200)}) == 200


def test_a_value_outside_the_domain_is_refused_and_not_shown(vote: Table, pay: Table, survey: Collection) -> None:
    for table, wrong in ((vote, "my secret"), (pay, 7.25)):
        with pytest.raises(InvalidInput) as refused:
            enveloped(table, wrong, date(2030, 1, 1))
        assert "my secret" not in str(refused.value)
        assert "7.25" not in str(refused.value)
    with pytest.raises(InvalidInput, match="vote, pay"):
        survey.enveloped({"vote": "no"}, date(2030, 1, 1))
