"""What a device keeps, and its bytes: see FORMAT.md, "The state of a device"."""

from __future__ import annotations

import math
import struct
import zlib

from mechdesign.errors import StateRefused
from mechdesign.values.declare import field, frozen

MAGIC, VERSION = b"mdstate", 1
MOST_VALUES, MOST_REPORTS = 4096, 10_000
MOST_NUMBER = 2**31 - 1
"""The largest serial, period and count: every language has a signed word for it."""

_HEAD = struct.Struct("<7sB32sIIII")
_ENTRY = struct.Struct("<dd")
_SUM = struct.Struct("<I")
_LEAST = _HEAD.size + _SUM.size


@frozen
class State:
    """The ledger of one period, and what was drawn for each value held so far, in the order in which they came.

    ``serial`` counts what was stored; ``reports`` those made in ``period``; ``entries`` are pairs of an input and what
    the first table gave for it.
    """

    serial: int
    period: int
    reports: int
    entries: tuple[tuple[float, float], ...] = field(default=())


def length(values: int) -> int:
    """The bytes of a state with room for so many values: they do not depend on how many it holds.

    >>> length(0), length(3)
    (60, 108)
    """
    return _LEAST + _ENTRY.size * values


def written(state: State, device: bytes, values: int) -> bytes:
    """The bytes of a state; ``device`` is the hash of the device file."""
    head = _HEAD.pack(MAGIC, VERSION, device, state.serial, state.period, state.reports, len(state.entries))
    body = (head + b"".join(_ENTRY.pack(*entry) for entry in state.entries)).ljust(length(values) - _SUM.size, b"\0")
    return body + _SUM.pack(zlib.crc32(body))


def read(content: bytes | None, device: bytes, values: int, reports: int) -> State:
    """The state in these bytes, or `StateRefused`: there is one for each state, and for all other bytes none.

    >>> state = State(1, 20, 2, ((0.0, 1.0),))
    >>> read(written(state, bytes(32), 3), bytes(32), 3, 5) == state
    True
    """
    if not content:
        raise StateRefused("missing")
    if len(content) < _LEAST or content[: len(MAGIC)] != MAGIC or zlib.crc32(content[:-4]) != _sum(content):
        raise StateRefused("damaged")
    _, version, owner, serial, period, made, held = _HEAD.unpack_from(content)
    if (version, owner) != (VERSION, device):
        raise StateRefused("other")
    if len(content) != length(values) or held > values:
        raise StateRefused("damaged")
    entries = tuple(_ENTRY.iter_unpack(content[_HEAD.size : _HEAD.size + _ENTRY.size * held]))
    state = State(serial, period, made, entries)
    are_numbers = all(math.isfinite(number) for entry in entries for number in entry)
    are_values = len({x for x, _ in entries}) == held and not any(_is_minus_zero(x) for x, _ in entries)
    in_range = 1 <= serial <= MOST_NUMBER and period <= MOST_NUMBER and made <= reports
    if not (are_numbers and are_values and in_range and written(state, device, values) == content):
        raise StateRefused("damaged")
    return state


def _sum(content: bytes) -> int:
    number: int = _SUM.unpack(content[-4:])[0]
    return number


def _is_minus_zero(x: float) -> bool:
    return x == 0 and math.copysign(1.0, x) < 0
