"""The bytes of a state: one for each state, and a refusal for all other bytes."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import StateRefused
from mechdesign.tables.device.state import MOST_NUMBER, State, length, read, written

KEY, VALUES, REPORTS = bytes(range(32)), 3, 9

numbers = st.floats(allow_nan=False, allow_infinity=False)
inputs = numbers.map(lambda x: x + 0.0)
states = st.builds(
    State,
    st.integers(1, MOST_NUMBER),
    st.integers(0, MOST_NUMBER),
    st.integers(0, REPORTS),
    st.lists(st.tuples(inputs, numbers), max_size=VALUES, unique_by=lambda entry: entry[0]).map(tuple),
)


def bytes_of(state: State) -> bytes:
    return written(state, KEY, VALUES)


@given(states)
def test_a_state_is_read_as_it_was_written(state: State) -> None:
    content = bytes_of(state)
    assert len(content) == length(VALUES) == 108
    assert read(content, KEY, VALUES, REPORTS) == state


@given(states, st.data())
def test_damaged_bytes_are_refused_or_the_same_state(state: State, data: st.DataObject) -> None:
    content = bytearray(bytes_of(state))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(content)
    if damaged == bytes_of(state):
        assert read(damaged, KEY, VALUES, REPORTS) == state
        return
    with pytest.raises(StateRefused) as refused:
        read(damaged, KEY, VALUES, REPORTS)
    assert refused.value.reason == "damaged"


@given(states, st.data())
def test_edited_bytes_with_a_true_sum_are_refused_or_a_state_with_exactly_these_bytes(
    state: State, data: st.DataObject
) -> None:
    content = bytearray(bytes_of(state))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    edited = bytes(content[:-4]) + zlib.crc32(bytes(content[:-4])).to_bytes(4, "little")
    try:
        found = read(edited, KEY, VALUES, REPORTS)
    except StateRefused as refused:
        word = refused.reason
    else:
        assert bytes_of(found) == edited
        return
    assert word in ("damaged", "other")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_state_or_refused(content: bytes) -> None:
    with pytest.raises(StateRefused):
        read(content, KEY, VALUES, REPORTS)


def test_every_single_bit_is_guarded() -> None:
    content = bytes_of(State(3, 20, 2, ((0.0, 1.0), (2.0, 0.0))))
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(StateRefused):
            read(bytes(damaged), KEY, VALUES, REPORTS)


@pytest.mark.parametrize(("key", "version"), [(bytes(32), 1), (KEY, 2)])
def test_states_of_another_device_file_or_version_are_told_from_damage(key: bytes, version: int) -> None:
    content = bytearray(written(State(3, 20, 2), key, VALUES))
    content[7] = version
    content[-4:] = zlib.crc32(content[:-4]).to_bytes(4, "little")
    with pytest.raises(StateRefused) as refused:
        read(bytes(content), KEY, VALUES, REPORTS)
    assert refused.value.reason == "other"


def test_the_bytes_are_those_of_the_description() -> None:
    content = bytes_of(State(5, 20, 2, ((1.0, 2.0),)))
    head = "6d64737461746501" + KEY.hex() + "05000000" + "14000000" + "02000000" + "01000000"
    entry = "000000000000f03f" + "0000000000000040"
    assert content.hex()[:-8] == head + entry + "00" * 32


# -- of items ----------------------------------------------------------------------------------------------------------

ITEMS, DRAWN = 7, 5
of_items = st.builds(
    State,
    st.integers(1, MOST_NUMBER),
    st.integers(0, MOST_NUMBER),
    st.integers(0, REPORTS),
    st.lists(
        st.tuples(st.integers(0, ITEMS - 1).map(float), st.binary(min_size=DRAWN, max_size=DRAWN)),
        max_size=VALUES,
        unique_by=lambda entry: entry[0],
    ).map(tuple),
)


def read_items(content: bytes) -> State:
    return read(content, KEY, VALUES, REPORTS, DRAWN, ITEMS)


@given(of_items)
def test_a_state_of_items_is_read_as_it_was_written_and_no_state_of_numbers(state: State) -> None:
    content = written(state, KEY, VALUES, DRAWN)
    assert len(content) == length(VALUES, DRAWN) == 60 + 9 * VALUES
    assert read_items(content) == state
    with pytest.raises(StateRefused) as refused:
        read(content, KEY, VALUES, REPORTS)
    assert refused.value.reason == "other"


@given(of_items, st.data())
def test_edited_bytes_of_items_with_a_true_sum_are_refused_or_a_state_with_exactly_these_bytes(
    state: State, data: st.DataObject
) -> None:
    content = bytearray(written(state, KEY, VALUES, DRAWN))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(40, len(content) - 1))] = data.draw(st.integers(0, 255))
    edited = bytes(content[:-4]) + zlib.crc32(bytes(content[:-4])).to_bytes(4, "little")
    try:
        found = read_items(edited)
    except StateRefused as refused:
        word = refused.reason
    else:
        assert written(found, KEY, VALUES, DRAWN) == edited
        return
    assert word == "damaged"


def test_the_bytes_of_items_are_those_of_the_description() -> None:
    content = written(State(5, 20, 2, ((6.0, bytes(range(1, 6))),)), KEY, VALUES, DRAWN)
    head = "6d64737461746502" + KEY.hex() + "05000000" + "14000000" + "02000000" + "01000000"
    assert content.hex()[:-8] == head + "06000000" + "0102030405" + "00" * 18


@pytest.mark.parametrize("entries", [((7.0, bytes(5)),), ((1.0, bytes(5)), (1.0, bytes(5)))])
def test_items_out_of_range_and_items_twice_are_damage(entries: tuple[tuple[float, bytes], ...]) -> None:
    with pytest.raises(StateRefused) as refused:
        read_items(written(State(5, 20, 2, entries), KEY, VALUES, DRAWN))
    assert refused.value.reason == "damaged"
