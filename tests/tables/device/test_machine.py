"""What a device answers, refuses and stores, and in which order."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import FileProblem, InvalidData, InvalidInput, MechDesignError, StateRefused
from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Labels, make_table
from mechdesign.tables.device import Device, InMemory, Memory, created, known, load_device, reported
from mechdesign.tables.device.state import State, written
from mechdesign.tables.streams import Stream, fixed_stream
from mechdesign.words.domains import Interval
from tests.oracles.device_reports import LABELS, PERIOD, response

PLAIN = Device(response(2.0, 3), response(1.0, 3), values=2, reports=5)
KEPT = Device(response(1.0, 3), None, values=2, reports=50)
FRESH = Device(response(1.0, 3), None, values=0, reports=200)


def full(device: Device) -> bytes:
    """A state with all reports of the period left."""
    return created(device, None, PERIOD, device.reports)


def reason(error: pytest.ExceptionInfo[StateRefused]) -> str:
    return error.value.reason


# -- states that are not there -----------------------------------------------------------------------------------------


def test_without_a_state_there_is_no_report() -> None:
    storage = InMemory()
    with pytest.raises(StateRefused) as refused:
        Memory(PLAIN, storage).report(1, PERIOD)
    assert (reason(refused), storage.content) == ("missing", None)


def test_a_state_created_without_the_servers_word_is_spent_for_the_period_and_not_for_the_next() -> None:
    memory = Memory(PLAIN, InMemory())
    memory.create(PERIOD)
    with pytest.raises(StateRefused) as refused:
        memory.report(1, PERIOD)
    assert reason(refused) == "exhausted"
    assert memory.report(1, PERIOD + 1) in (0, 1, 2)


@pytest.mark.parametrize("allowance", [0, 1, 3, 5])
def test_a_server_allows_exactly_so_many_reports(allowance: int) -> None:
    memory = Memory(PLAIN, InMemory())
    memory.create(PERIOD, allowance)
    for _ in range(allowance):
        memory.report(1, PERIOD)
    with pytest.raises(StateRefused):
        memory.report(1, PERIOD)


def test_a_state_that_is_there_is_never_replaced() -> None:
    content = full(PLAIN)
    with pytest.raises(StateRefused) as refused:
        created(PLAIN, content, PERIOD + 9, 5)
    assert reason(refused) == "present"
    with pytest.raises(StateRefused) as other:
        created(PLAIN, full(KEPT), PERIOD, 5)
    assert reason(other) == "other"


def test_a_damaged_or_rolled_back_state_is_replaced_by_one_that_is_spent() -> None:
    content = full(PLAIN)
    assert known(PLAIN, created(PLAIN, content[:-1], PERIOD)) == State(1, PERIOD, 5)
    assert known(PLAIN, created(PLAIN, content, PERIOD, least=4), least=4) == State(5, PERIOD, 5)


def test_a_state_older_than_its_witness_is_refused() -> None:
    memory = Memory(PLAIN, InMemory(full(PLAIN)))
    old = memory.storage.load()
    for _ in range(2):
        memory.report(1, PERIOD)
    witness = memory.serial()
    memory.storage.store(old or b"")
    with pytest.raises(StateRefused) as refused:
        memory.report(1, PERIOD, least=witness)
    assert reason(refused) == "rolled-back"


# -- periods -----------------------------------------------------------------------------------------------------------


def test_every_period_has_its_reports_and_memory_outlives_them() -> None:
    memory = Memory(KEPT, InMemory(full(KEPT)))
    said = Counter(memory.report(2, PERIOD + i // 50) for i in range(150))
    assert len(said) == 1


def test_a_question_of_an_earlier_period_is_refused() -> None:
    storage = InMemory(full(PLAIN))
    memory = Memory(PLAIN, storage)
    memory.report(1, PERIOD + 1)
    before = storage.content
    with pytest.raises(StateRefused) as refused:
        memory.report(1, PERIOD)
    assert (reason(refused), storage.content) == ("past", before)


FAR = PERIOD + 100
"""The last period that a report may go on to."""


def test_a_clock_that_jumps_by_more_than_a_hundred_periods_stores_nothing() -> None:
    content = full(PLAIN)
    for period in (FAR + 1, 2**31 - 1):
        with pytest.raises(StateRefused) as refused:
            reported(PLAIN, content, 1.0, period, Stream())
        assert reason(refused) == "ahead"
    assert known(PLAIN, reported(PLAIN, content, 1.0, FAR, Stream())[0]).period == FAR


def test_a_confirmed_jump_keeps_the_memory_and_counts() -> None:
    memory = Memory(KEPT, InMemory(full(KEPT)))
    memory.report(1, PERIOD)
    with pytest.raises(StateRefused) as refused:
        memory.create(FAR, 5)
    assert reason(refused) == "present"
    memory.create(FAR + 1)
    with pytest.raises(StateRefused) as spent:
        memory.report(1, FAR + 1)
    assert (reason(spent), memory.serial()) == ("exhausted", 3)
    memory.create(2 * FAR, 5)
    state = known(KEPT, memory.storage.load())
    assert (state.period, state.reports, len(state.entries)) == (2 * FAR, KEPT.reports - 5, 1)
    memory.report(1, 2 * FAR)
    assert state.entries == known(KEPT, memory.storage.load()).entries


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 400)), max_size=60))
@settings(max_examples=100, deadline=None)
def test_no_period_has_more_reports_than_the_device_file_says(asked: list[tuple[bool, int]]) -> None:
    """Whatever clock is asked by, and whatever the server grants once a state is there."""
    memory, made = Memory(PLAIN, InMemory(full(PLAIN))), Counter[int]()
    for is_create, period in asked:
        try:
            if is_create:
                memory.create(period, PLAIN.reports)
            else:
                memory.report(1, period)
                made[period] += 1
        except StateRefused:
            pass
    assert max(made.values(), default=0) <= PLAIN.reports


def test_serials_end_and_are_then_spent_for_ever() -> None:
    content = written(State(2**31 - 1, 3, 0), PLAIN.key, 2)
    with pytest.raises(StateRefused) as refused:
        reported(PLAIN, content, 1.0, 4, Stream())
    assert reason(refused) == "exhausted"


# -- memory ------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2), min_size=1, max_size=30))
@settings(max_examples=50)
def test_a_value_has_one_answer_and_one_too_many_is_taken_for_the_last(history: list[int]) -> None:
    memory = Memory(KEPT, InMemory(full(KEPT)))
    answers = [memory.report(value, PERIOD) for value in history]
    held = list(dict.fromkeys(history))[:2]
    taken = [value if value in held else held[-1] for value in history]
    assert len(set(zip(taken, answers, strict=True))) == len(set(taken))


@given(st.lists(st.integers(0, 2), min_size=8, max_size=8), st.lists(st.integers(0, 2), min_size=8, max_size=8))
@settings(max_examples=50)
def test_what_is_refused_does_not_depend_on_the_values(one: list[int], other: list[int]) -> None:
    periods = [20, 20, 20, 20, 20, 20, 21, 20]

    def refusals(history: list[int]) -> list[str]:
        memory, found = Memory(PLAIN, InMemory(full(PLAIN))), []
        for value, period in zip(history, periods, strict=True):
            try:
                memory.report(value, period)
                found.append("")
            except StateRefused as refused:
                found.append(refused.reason)
        return found

    assert refusals(one) == refusals(other) == [""] * 5 + ["exhausted", "", "past"]


def test_a_question_reads_as_many_random_bytes_for_a_value_that_is_known_as_for_a_new_one() -> None:
    content, used = full(PLAIN), []
    for value in (0, 0, 1, 1, 2):
        stream = fixed_stream(bytes(64))
        content, _ = reported(PLAIN, content, value, PERIOD, stream)
        used.append(stream.used)
    assert used == [4] * 5


def test_minus_zero_is_the_value_zero() -> None:
    content, _ = reported(KEPT, full(KEPT), 0.0, PERIOD, Stream())
    after, _ = reported(KEPT, content, -0.0, PERIOD, Stream())
    assert len(known(KEPT, after).entries) == 1


def test_without_memory_reports_are_drawn_afresh_and_nothing_is_remembered() -> None:
    memory = Memory(FRESH, InMemory(full(FRESH)))
    assert len({memory.report(1, PERIOD) for _ in range(200)}) == 3  # wrong with probability below 1e-15
    assert len(memory.storage.load() or b"") == 60


@pytest.mark.parametrize("x", [7, float("nan"), "yes", None])
def test_what_is_no_input_is_refused_without_its_value_and_nothing_is_stored(x: object) -> None:
    for values in (0, 1, 2):  # without memory, with a full one, and with room
        device = Device(response(1.0, 3), None, values=values, reports=5)
        storage = InMemory(full(device))
        memory = Memory(device, storage)
        memory.report(0, PERIOD)
        before = storage.content
        with pytest.raises(InvalidInput) as refused:
            memory.report(x, PERIOD)
        assert storage.content == before
        assert "yes" not in str(refused.value)
        assert x != 7 or isinstance(refused.value, InvalidData)


def test_labels_go_in_and_come_out() -> None:
    labels = Labels(("0", "1", "2"), ("0", "1", "2"))
    device = Device(response(2.0, 3, LABELS), response(1.0, 3, labels), values=2, reports=5)
    memory = Memory(device, InMemory(full(device)))
    assert memory.report("rather not", PERIOD) in labels.outputs
    with pytest.raises(InvalidInput):
        memory.report(1, PERIOD)


# -- the order of things -----------------------------------------------------------------------------------------------


class Failing(InMemory):
    """A storage whose disk is full."""

    def store(self, content: bytes) -> None:
        raise FileProblem("state", "s", "be stored before a report is made: no space left on device")


def test_a_report_that_could_not_be_counted_is_not_made() -> None:
    storage = Failing(full(KEPT))
    before = storage.content
    with pytest.raises(FileProblem):
        Memory(KEPT, storage).report(1, PERIOD)
    assert storage.content == before


def test_a_source_without_randomness_stores_nothing() -> None:
    storage = InMemory(full(KEPT))
    before = storage.content

    def broken(size: int) -> bytes:
        raise OSError("no randomness")

    with pytest.raises(OSError, match="no randomness"):
        Memory(KEPT, storage).report(1, PERIOD, stream=Stream(broken))
    assert storage.content == before


def test_refusals_are_bad_input_with_a_next_step_and_come_back_from_workers() -> None:
    for word in StateRefused.RULES:
        refused = StateRefused(word)
        assert isinstance(refused, InvalidInput)
        assert isinstance(refused, MechDesignError)
        assert refused.next_step
        assert pickle.loads(pickle.dumps(refused)).reason == word


@pytest.mark.parametrize(
    "numbers", [{"period": -1}, {"period": 2**31}, {"period": 1.0}, {"period": 1, "allowance": 6}, {"period": True}]
)
def test_periods_and_allowances_are_whole_numbers_in_range(numbers: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        created(PLAIN, None, **numbers)


# -- device files ------------------------------------------------------------------------------------------------------


def test_a_device_file_is_read_back_with_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "device.json"
    path.write_bytes(PLAIN.content)
    assert load_device(path, PLAIN.table, PLAIN.again) == PLAIN


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"reports":5', b'"reports":6'), (b'"values":2', b'"values":3'), (b'"version":1', b'"version":2'), (b",", b", ")],
)
def test_an_edited_device_file_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "device.json"
    path.write_bytes(PLAIN.content.replace(old, new, 1))
    with pytest.raises(FileProblem):
        load_device(path, PLAIN.table, PLAIN.again)


def test_a_device_file_of_other_tables_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "device.json"
    path.write_bytes(PLAIN.content)
    for table, again in ((PLAIN.again, PLAIN.again), (PLAIN.table, None), (PLAIN.table, PLAIN.table)):
        with pytest.raises(FileProblem, match=r"device file|left out"):
            load_device(path, table, again)


def test_a_second_table_must_take_what_the_first_gives() -> None:
    with pytest.raises(InvalidInput, match="every output"):
        Device(response(1.0, 3), response(1.0, 2), values=1, reports=1)
    with pytest.raises(InvalidInput, match="list of outputs"):
        Device(make_table(catalogue.pm(1.0, Interval(0, 1)), 16), response(1.0, 2), values=1, reports=1)
    with pytest.raises(InvalidInput, match="at least 1"):
        Device(response(1.0, 3), response(1.0, 3), values=0, reports=1)


def test_tables_of_items_do_not_draw_again_and_are_not_drawn_again() -> None:
    items = protocol_table("oue", 1.0, 3)
    with pytest.raises(InvalidInput, match="numbers or labels"):
        Device(response(1.0, 3), items, values=1, reports=1)
    with pytest.raises(InvalidInput, match="have a list of outputs"):
        Device(items, response(1.0, 3), values=1, reports=1)


def test_long_reports_are_remembered_for_fewer_values_since_no_state_is_longer_than_others() -> None:
    table = protocol_table("oue", 1.0, 4000)
    most = 4096 * 16 // (4 + 500)
    assert Device(table, None, values=most, reports=1).size <= 60 + 16 * 4096
    with pytest.raises(InvalidInput, match=f"be at most {most} where a report has 500 bytes"):
        Device(table, None, values=most + 1, reports=1)


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "blh", "olh", "ss", "hr", "cms"])
def test_a_device_on_items_remembers_the_bytes_of_every_protocol(name: str) -> None:
    device = Device(protocol_table(name, 1.0, ("cat", "dog", "other")), None, values=2, reports=20)
    memory = Memory(device, InMemory(full(device)))
    answers = [memory.report(pet, PERIOD) for pet in ("cat", "dog", "cat", "other", "dog")]
    assert answers[0] == answers[2]
    assert answers[1] == answers[3] == answers[4]  # "other" has no room, and is taken for the last value
    assert all(isinstance(answer, bytes) and len(answer) == device.drawn for answer in answers)
    state = known(device, memory.storage.load())
    assert state.entries == ((0.0, answers[0]), (1.0, answers[1]))
    with pytest.raises(InvalidInput):
        memory.report("fish", PERIOD)
    assert known(device, memory.storage.load()) == state


def test_a_device_on_items_without_memory_draws_every_report_afresh() -> None:
    device = Device(protocol_table("olh", 1.0, 9), None, values=0, reports=20)
    memory = Memory(device, InMemory(full(device)))
    assert len({memory.report(3, PERIOD) for _ in range(20)}) == 20  # their seeds have 64 bits


@pytest.mark.parametrize(("values", "reports"), [(-1, 1), (4097, 1), (1, 0), (1, 10_001), (1.0, 1), (True, 1)])
def test_values_and_reports_are_whole_numbers_in_range(values: object, reports: object) -> None:
    with pytest.raises(InvalidInput):
        Device(response(1.0, 3), None, values=values, reports=reports)
