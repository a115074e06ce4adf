"""Test vectors of a device: what is loaded, what is asked, the random bytes, and what is then stored and reported.

They are written by walking the state machine through its states, and by damaging one of them in every way there is.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator

from mechdesign.errors import InvalidInput, StateRefused
from mechdesign.tables.device.description import Device
from mechdesign.tables.device.machine import created, known, reported
from mechdesign.tables.device.state import (
    MOST_AHEAD,
    MOST_NUMBER,
    MOST_STATE,
    Entry,
    State,
    entry_size,
    length,
    written,
)
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.tables.reference import fixed_stream
from mechdesign.tables.vectors import digits, refusals
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Finite

_BYTES = 1 << 14
_HEAD = 56
_MOST_WALKED = 40
_MOST_TRIED = 30
_SEEDS = 1000
_MOST_INPUTS = 100
_PERIOD = 20
_UNLISTED = 1e300


@frozen
class Step:
    """One question: ``allowance`` is asked where a state is created, ``x`` with ``stream`` where a report is made.

    ``outcome`` is the report, ``"done"``, or why there is none; ``after`` the bytes stored, if any were.
    """

    before: bytes | None
    period: int
    least: int = 0
    allowance: int | None = None
    x: float | None = None
    stream: bytes = b""
    used: int = 0
    outcome: str = ""
    after: bytes | None = None

    @property
    def line(self) -> str:
        """The step as replay programs read it."""
        what = "report" if self.allowance is None else "create"
        allowance = "-" if self.allowance is None else str(self.allowance)
        x = "-" if self.x is None else digits(self.x)
        fields = what, _hex(self.before), str(self.period), str(self.least), allowance, x, _hex(self.stream)
        return " ".join([*fields, str(self.used), self.outcome, _hex(self.after)])


def _hex(content: bytes | None) -> str:
    return content.hex() if content else "-"


def vectors(device: Device) -> list[Step]:
    """Steps that every implementation must reproduce."""
    walked = list(_walk(device))
    return [*walked, *_refused(device, walked)]


def lines(device: Device, steps: Iterable[Step]) -> str:
    """The text file of vectors."""
    head = (
        f"# test vectors of device {device.sha256}",
        "# what, state, period, least serial, allowance, input, random bytes, how many are used, outcome, state stored",
    )
    return "\n".join([*head, *(step.line for step in steps)]) + "\n"


def create(device: Device, before: bytes | None, period: int, allowance: int, least: int = 0) -> Step:
    """A state created, or refused."""
    try:
        after = created(device, before, period, allowance, least)
    except StateRefused as refused:
        return Step(before, period, least, allowance, outcome=refused.reason)
    return Step(before, period, least, allowance, outcome="done", after=after)


def report(device: Device, before: bytes | None, x: float, period: int, least: int = 0, seed: int = 0) -> Step:
    """A report made from bytes that follow from ``seed``, or refused."""
    enough = max(_BYTES, 2 * device.table.law.least_bytes) if isinstance(device.table.law, ItemsLaw) else _BYTES
    content = b"".join(hashlib.sha256(b"device%d,%d" % (seed, i)).digest() for i in range(-(-enough // 32)))
    stream = fixed_stream(content)
    try:
        after, y = reported(device, before, x, period, stream, least)
    except StateRefused as refused:
        return Step(before, period, least, x=x, outcome=refused.reason)
    except InvalidInput:
        return Step(before, period, least, x=x, stream=bytes(64), outcome="input")
    return Step(before, period, least, None, x, content[: stream.used + 8], stream.used, digits(y), after)


def _inputs(device: Device) -> list[float]:
    domain = device.table.domain
    if device.items:
        return [*range(min(device.items, _MOST_INPUTS) - 1), device.items - 1]
    if isinstance(domain, Finite):
        return list(domain.points)
    return [domain.lower + domain.length * share for share in (0.0, 0.75, 0.25, 1.0, 0.5)]


def _walk(device: Device) -> Iterator[Step]:
    """From nothing through a spent period to full memory, spent reports and the next period."""
    inputs = _inputs(device)
    step = report(device, None, inputs[0], _PERIOD)
    yield step
    step = create(device, None, _PERIOD, 0)
    yield step
    content = step.after
    yield report(device, content, inputs[0], _PERIOD)
    yield create(device, content, _PERIOD, device.reports)
    for i in range(min(device.reports + 1, _MOST_WALKED)):
        step = _telling(device, content, inputs[i * 2 // 3 % len(inputs)], _PERIOD + 1, seed=i)
        yield step
        content = step.after or content
    yield report(device, content, inputs[0], _PERIOD)
    if 0.0 in inputs and not device.items:
        yield report(device, content, -0.0, _PERIOD + 3, seed=99)
        yield report(device, created(device, None, _PERIOD, device.reports), -0.0, _PERIOD)
    far = _PERIOD + 1 + MOST_AHEAD
    yield report(device, content, inputs[-1], far, seed=100)
    for period in (far + 1, MOST_NUMBER):
        yield report(device, content, inputs[-1], period)
    yield create(device, content, far, device.reports)
    step = create(device, content, MOST_NUMBER, 1)
    yield step
    step = report(device, step.after, inputs[-1], MOST_NUMBER, seed=101)
    yield step
    yield report(device, step.after, inputs[-1], MOST_NUMBER, seed=102)
    yield create(device, content, far + 1, 0)
    step = create(device, None, 0, 1, least=7)
    yield step
    yield report(device, step.after, inputs[0], 0, least=8)
    yield report(device, step.after, inputs[0], 0, least=9)
    yield create(device, content, MOST_NUMBER, device.reports, least=MOST_NUMBER - 1)
    yield report(device, content, inputs[-1], _PERIOD + 2, least=MOST_NUMBER)


def _telling(device: Device, before: bytes | None, x: float, period: int, seed: int) -> Step:
    """A report after which all values and their draws differ, if there is one: none is then taken for another."""
    for more in range(_MOST_TRIED):
        step = report(device, before, x, period, seed=seed + _SEEDS * more)
        if step.after is None:
            break
        entries = known(device, step.after).entries
        if len({y for _, y in entries}) == len(entries) and all(x != y for x, y in entries):
            break
    return step


def _refused(device: Device, walked: list[Step]) -> Iterator[Step]:
    inputs = _inputs(device)
    content = next(step.after for step in reversed(walked) if step.after and step.x is not None)
    for vector in refusals(device.table):
        yield report(device, content, vector.x, known(device, content).period + 1)
    for broken in _broken(device, content):
        yield report(device, broken, inputs[0], MOST_NUMBER)
    state = State(MOST_NUMBER, 5, 0)
    yield create(device, device.stored(state), 6 + MOST_AHEAD, 0)
    yield create(device, content[:-1], 3, 0)
    others = [_summed(content[:8] + bytes(32) + content[40:])]
    if length(device.values + 3, device.drawn) <= MOST_STATE:  # longer than any state of this device
        others.append(written(State(1, 5, 0), bytes(32), device.values + 3, device.drawn))
    for other in others:
        yield create(device, other, 3, 0)
        yield report(device, other, inputs[0], 7)
    for state in (State(MOST_NUMBER, 5, 0), State(MOST_NUMBER - 1, 5, device.reports - 1)):
        yield report(device, device.stored(state), inputs[0], 5)
    if device.values and not device.items and device.told is None:
        unlisted = State(3, 0, 0, ((inputs[0], _UNLISTED),))  # what is no label is remembered as it is
        yield report(device, device.stored(unlisted), inputs[0], 0)


def _broken(device: Device, content: bytes) -> Iterator[bytes]:
    """A state cut, extended, with every byte changed, and with a true sum over entries that no state has."""
    for size in (0, 1, 7, 59, len(content) - 1):
        yield content[:size]
    yield content + b"\0"
    yield _summed(b"M" + content[1:])
    yield _summed(content[:59])
    yield _summed(content[:50])
    yield _summed(content[:60] if device.values else content + bytes(16))
    for place in range(min(len(content), 256)):
        yield content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
    for place, number in ((7, content[7] ^ 3), (8, content[8] ^ 1)):
        yield _summed(content[:place] + bytes([number]) + content[place + 1 :])
    too_many = device.values + 1, device.reports + 1
    for place, number in (
        *((place, 2**31) for place in (40, 44, 48, 52)),
        *((40, 0), (52, too_many[0]), (48, min(too_many[1], 2**32 - 1))),
    ):
        yield _summed(content[:place] + number.to_bytes(4, "little") + content[place + 4 :])
    x, y = _inputs(device)[0], bytes(device.drawn) if device.items else 0.0
    for entries in (entries for entries in _wrong(device, x, y) if len(entries) <= device.values):
        yield device.stored(State(3, 0, 0, entries))
    if device.values:
        for place in (_HEAD, device.size - 5):
            unused = bytearray(device.stored(State(3, 0, 0)))
            unused[place] = 1
            yield _summed(bytes(unused))
    if device.values > 1:
        unused = bytearray(device.stored(State(3, 0, 0, ((x, y),))))
        unused[_HEAD + entry_size(device.drawn)] = 1
        yield _summed(bytes(unused))


def _wrong(device: Device, x: float, y: float | bytes) -> Iterator[tuple[Entry, ...]]:
    """Entries that no state has."""
    yield (x, y), (x, y)
    if device.items:
        yield ((device.items, y),)
        yield ((2**32 - 1, y),)
        return
    yield ((-0.0, y),)
    yield ((float("nan"), y),)
    yield ((x, float("inf")),)
    if device.told is not None:
        yield from (((x, other),) for other in (min(device.told) - 1, max(device.told) + 1, 1e300))


def _summed(content: bytes) -> bytes:
    return content[:-4] + zlib.crc32(content[:-4]).to_bytes(4, "little")
