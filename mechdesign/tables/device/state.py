"""What a device keeps, and its bytes: see FORMAT.md, "The state of a device"."""

from __future__ import annotations

import math
import struct
import zlib

from mechdesign.errors import StateRefused
from mechdesign.values.declare import field, frozen

MAGIC = b"mdstate"
OF_NUMBERS, OF_ITEMS = 1, 2
"""Versions: entries of two doubles, and entries of an item and the bytes that were drawn for it."""

MOST_VALUES, MOST_REPORTS = 4096, 10_000
MOST_NUMBER = 2**31 - 1
"""The largest serial, period and count: every language has a signed word for it."""

MOST_AHEAD = 100
"""So many periods a report may lie after the state's: a clock that jumps farther is not believed."""

_HEAD = struct.Struct("<7sB32sIIII")
_ENTRY = struct.Struct("<dd")
_ITEM = struct.Struct("<I")
_SUM = struct.Struct("<I")
_LEAST = _HEAD.size + _SUM.size


Entry = tuple[float, float | bytes]


@frozen
class State:
    """The ledger of one period, and what was drawn for each value held so far, in the order in which they came.

    ``serial`` counts what was stored; ``reports`` those made in ``period``; ``entries`` are pairs of an input and what
    the first table gave for it: a number, or the bytes of a table on items.
    """

    serial: int
    period: int
    reports: int
    entries: tuple[Entry, ...] = field(default=())


def entry_size(drawn: int = 0) -> int:
    """The bytes of an entry; ``drawn`` is the length of what a table on items draws, and 0 where it draws a number.

    >>> entry_size(), entry_size(5)
    (16, 9)
    """
    return _ITEM.size + drawn if drawn else _ENTRY.size


def length(values: int, drawn: int = 0) -> int:
    """The bytes of a state with room for so many values: they do not depend on how many it holds.

    >>> length(0), length(3), length(3, drawn=5)
    (60, 108, 87)
    """
    return _LEAST + entry_size(drawn) * values


def written(state: State, device: bytes, values: int, drawn: int = 0) -> bytes:
    """The bytes of a state; ``device`` is the hash of the device file."""
    version = OF_ITEMS if drawn else OF_NUMBERS
    head = _HEAD.pack(MAGIC, version, device, state.serial, state.period, state.reports, len(state.entries))
    body = (head + b"".join(map(_entry, state.entries))).ljust(length(values, drawn) - _SUM.size, b"\0")
    return body + _SUM.pack(zlib.crc32(body))


def _entry(entry: Entry) -> bytes:
    x, y = entry
    return _ITEM.pack(int(x)) + y if isinstance(y, bytes) else _ENTRY.pack(x, y)


def read(content: bytes | None, device: bytes, values: int, reports: int, drawn: int = 0, items: int = 0) -> State:
    """The state in these bytes, or `StateRefused`: there is one for each state, and for all other bytes none.

    A table on ``items`` draws ``drawn`` bytes.

    >>> state = State(1, 20, 2, ((0.0, 1.0),))
    >>> read(written(state, bytes(32), 3), bytes(32), 3, 5) == state
    True
    >>> state = State(1, 20, 2, ((7.0, b"..."),))
    >>> read(written(state, bytes(32), 3, 3), bytes(32), 3, 5, drawn=3, items=8) == state
    True
    """
    if not content:
        raise StateRefused("missing")
    if len(content) < _LEAST or content[: len(MAGIC)] != MAGIC or zlib.crc32(content[:-4]) != _sum(content):
        raise StateRefused("damaged")
    _, version, owner, serial, period, made, held = _HEAD.unpack_from(content)
    if (version, owner) != (OF_ITEMS if drawn else OF_NUMBERS, device):
        raise StateRefused("other")
    if len(content) != length(values, drawn) or held > values:
        raise StateRefused("damaged")
    size = entry_size(drawn)
    parts = [content[place : place + size] for place in range(_HEAD.size, _HEAD.size + size * held, size)]
    entries = tuple(_item(part, items) if drawn else _numbers(part) for part in parts)
    state = State(serial, period, made, entries)
    are_values = len({x for x, _ in entries}) == held
    in_range = 1 <= serial <= MOST_NUMBER and period <= MOST_NUMBER and made <= reports
    if not (are_values and in_range and written(state, device, values, drawn) == content):
        raise StateRefused("damaged")
    return state


def _numbers(part: bytes) -> Entry:
    x, y = _ENTRY.unpack(part)
    if not (math.isfinite(x) and math.isfinite(y)) or _is_minus_zero(x):
        raise StateRefused("damaged")
    return x, y


def _item(part: bytes, items: int) -> Entry:
    (x,) = _ITEM.unpack_from(part)
    if x >= items:
        raise StateRefused("damaged")
    return float(x), part[_ITEM.size :]


MOST_STATE = length(MOST_VALUES)
"""No state is longer: devices that remember long reports remember fewer of them."""


def _sum(content: bytes) -> int:
    number: int = _SUM.unpack(content[-4:])[0]
    return number


def _is_minus_zero(x: float) -> bool:
    return x == 0 and math.copysign(1.0, x) < 0
