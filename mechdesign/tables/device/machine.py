"""The state machine of a device: what is asked, what is stored, and only then what is reported.

The reference for all languages; FORMAT.md describes it in words. `report` is one transition from bytes to bytes and
reads random bytes only; `Memory` adds the storage.
"""

from __future__ import annotations

from typing import Protocol

from mechdesign.errors import InvalidInput, StateRefused, require_whole, sealed
from mechdesign.tables.device.description import Device
from mechdesign.tables.device.state import MOST_AHEAD, MOST_NUMBER, Entry, State
from mechdesign.tables.reference import report_code
from mechdesign.tables.streams import Stream

_REPLACEABLE = ("missing", "damaged", "rolled-back")


class Storage(Protocol):
    """Where a device keeps its state.

    ``load`` gives the bytes that were stored last, and ``None`` if there are none. ``store`` returns once they are
    there to stay, through a crash or a power cut, and until then leaves those before. No two processes use one storage
    at a time.
    """

    def load(self) -> bytes | None: ...
    def store(self, content: bytes) -> None: ...


def known(device: Device, content: bytes | None, least: int = 0) -> State:
    """The state in these bytes, if it is not older than ``least``, the last serial known from somewhere else."""
    state = device.state(content)
    if state.serial < require_whole(least, "least", 0, MOST_NUMBER):
        raise StateRefused("rolled-back")
    return state


def created(device: Device, content: bytes | None, period: int, allowance: int = 0, least: int = 0) -> bytes:
    """A state without memory, with ``allowance`` reports left in this period, where there is none to keep.

    By default the period is spent: whoever finds no state cannot know what was reported before it was lost. A state
    that is there keeps its memory, and goes on to the period if that is too far ahead for a report. *Guarantee.* No
    state ever goes back to a period, so there are never more reports of one than the device file says.
    """
    require_whole(period, "period", 0, MOST_NUMBER)
    require_whole(allowance, "allowance", 0, device.reports, "a period never has more than the device file says")
    require_whole(least, "least", 0, MOST_NUMBER - 1)
    try:
        state = known(device, content, least)
    except StateRefused as refused:
        if refused.reason not in _REPLACEABLE:
            raise
        state = State(least, period, 0)
    else:
        if period <= state.period + MOST_AHEAD:
            raise StateRefused("present")
        if state.serial == MOST_NUMBER:
            raise StateRefused("exhausted")
    return device.stored(State(state.serial + 1, period, device.reports - allowance, state.entries))


def reported(
    device: Device, content: bytes | None, x: float, period: int, stream: Stream, least: int = 0
) -> tuple[bytes, float | bytes]:
    """The next state and the report for ``x``, in the numbers of the tables; the state must be stored first.

    *Guarantee.* Which questions are refused depends on the periods they are asked in alone, never on the values.
    """
    require_whole(period, "period", 0, MOST_NUMBER)
    state = known(device, content, least)
    if period < state.period:
        raise StateRefused("past")
    if period > state.period + MOST_AHEAD:
        raise StateRefused("ahead")
    made = state.reports if period == state.period else 0
    if made == device.reports or state.serial == MOST_NUMBER:
        raise StateRefused("exhausted")
    fresh = report_code(device.table, x, stream)  # drawn in any case: it decides that x is an input
    entries, y = _remembered(device, state.entries, float(x) + 0.0, fresh)
    if device.again is not None:
        assert not isinstance(y, bytes)  # a table on items has no second one
        y = report_code(device.again, y, stream)
    return device.stored(State(state.serial + 1, period, made + 1, entries)), y


def _remembered(
    device: Device, entries: tuple[Entry, ...], x: float, fresh: float | bytes
) -> tuple[tuple[Entry, ...], float | bytes]:
    """What is remembered for x, after this question. A value for which there is no room is taken for the last one."""
    if device.values == 0:
        return entries, fresh
    for value, drawn in entries:
        if value == x:
            return entries, drawn
    if len(entries) < device.values:
        return (*entries, (x, fresh)), fresh
    return entries, entries[-1][1]


class Memory:
    """A device with its storage.

    *Guarantee.* A report is returned only after the state that counts it was stored. A crash before that leaves the
    state as it was, and what was drawn was seen by nobody; a crash after it loses one report, which stays counted.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> once = make_table(randomised_response(1.0, Finite((0, 1))), bits=16)
    >>> memory = Memory(Device(once, None, values=2, reports=7), InMemory())
    >>> memory.create(period=20, allowance=7)
    >>> len({memory.report(1, period=20) for _ in range(7)})
    1
    >>> memory.report(1, period=20)
    Traceback (most recent call last):
    mechdesign.errors.StateRefused: state must have a report left (got 'exhausted'); ask again in the next period
    """

    __slots__ = ("device", "storage")

    def __init__(self, device: Device, storage: Storage) -> None:
        self.device, self.storage = device, storage

    def create(self, period: int, allowance: int = 0, least: int = 0) -> None:
        """Begin without memory, with this many reports left in the period, where there is no state to keep.

        One that is there goes on to the period, with its memory, if that is too far ahead for a report.
        """
        self.storage.store(created(self.device, self.storage.load(), period, allowance, least))

    @sealed
    def report(self, x: float | str, period: int, least: int = 0, stream: Stream | None = None) -> float | str | bytes:
        """One report for the value held now; labels where the tables have them, bytes of a table on items."""
        table, reporting = self.device.table, self.device.reporting
        code = x if table.input_names is None else float(table.input_names.codes(x))
        if isinstance(code, str):
            raise InvalidInput("x", "a text", "be a number: the table has no labels for its inputs")
        drawn = Stream() if stream is None else stream
        content, y = reported(self.device, self.storage.load(), code, period, drawn, least)
        self.storage.store(content)
        names = reporting.output_names
        return y if names is None or isinstance(y, bytes) else str(names.labels(y))

    def serial(self, least: int = 0) -> int:
        """How many states were stored so far: what a witness outside the storage keeps, and ``least`` is next time."""
        return known(self.device, self.storage.load(), least).serial


class InMemory:
    """A storage for tests, and for who keeps the bytes elsewhere.

    >>> storage = InMemory()
    >>> storage.store(b"...")
    >>> storage.load()
    b'...'
    """

    __slots__ = ("content",)

    def __init__(self, content: bytes | None = None) -> None:
        self.content = content

    def load(self) -> bytes | None:
        return self.content

    def store(self, content: bytes) -> None:
        self.content = content
