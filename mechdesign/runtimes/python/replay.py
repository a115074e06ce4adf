"""Replays vectors: a runtime gives the same report, state or envelope, bit for bit, after as many random bytes.

    python replay.py VECTORS.txt TABLE.json
    python replay.py VECTORS.txt TABLE.json [AGAIN.json] DEVICE.json
    python replay.py VECTORS.txt COLLECTION.json ATTRIBUTE

What the vectors are of (a table, the states of a device, or envelopes) their number of fields says.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

FIELDS_OF_STATES = 10


class Stream:
    """Bytes that are given one after the other, and how many were."""

    def __init__(self, digits):
        self.content, self.used = bytes.fromhex(digits), 0

    def read(self, count):
        self.used += count
        if self.used > len(self.content):
            raise EOFError
        return self.content[self.used - count : self.used]


class Memory:
    """A state that is loaded, and what is then stored, in digits."""

    def __init__(self, digits):
        self.content, self.stored = None if digits == "-" else bytes.fromhex(digits), "-"

    def load(self):
        return self.content

    def store(self, content):
        self.stored = content.hex()


def number(digits, table):
    return int(digits) if table.items else struct.unpack(">d", bytes.fromhex(digits))[0]


def digits_of(y):
    return y.hex() if isinstance(y, bytes) else struct.pack(">d", y).hex()


def draws(table, line):
    """Whether a table reproduces a line of its vectors."""
    x, content, used, expected = line
    stream = Stream(content)
    try:
        y = table.sample_code(number(x, table), stream.read)
    except ValueError:
        return expected == "error"
    return digits_of(y) == expected and stream.used == int(used)


def keeps(device, line, refused):
    """Whether a device reproduces a line of its vectors; ``refused`` is the class of refusals."""
    what, before, period, least, allowance, x, content, used, outcome, after = line
    storage, stream = Memory(before), Stream(content.strip("-"))
    try:
        if what == "create":
            device.create(storage, int(period), int(allowance), int(least))
            said = "done"
        else:
            y = device.report_code(storage, number(x, device.first), int(period), int(least), stream.read)
            said = digits_of(y)
            if stream.used != int(used):
                return False
    except refused as refusal:
        said = refusal.reason
    except ValueError:
        said = "input"
    return (said, storage.stored) == (outcome, after)


def envelops(writer, table, line):
    """Whether a table or a device reproduces a line of the vectors of its envelopes."""
    digits, day, nonce, expected = line
    content = bytes.fromhex(digits)
    if table.output_labels is not None:
        report = content.decode()
    else:
        report = content if table.items else struct.unpack(">d", content)[0]
    try:
        return writer.envelope(report, int(day), Stream(nonce).read).hex() == expected
    except ValueError:
        return expected == "error"


def lines(path):
    text = Path(path).read_text(encoding="ascii")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


def first_failure(devices, path, *read):
    """``None`` if every line is reproduced, else the number of the first one that is not; 0 where there is none.

    ``read`` are tables and, at the end, their device, if it has one; ``devices`` is the module that has its refusals.
    Vectors of envelopes name themselves so.
    """
    made, rows = read[-1], lines(path)
    table = getattr(made, "reporting", made)
    for place, line in enumerate(rows, 1):
        if len(line) == FIELDS_OF_STATES:
            passed = keeps(made, line, devices.StateRefused)
        elif str(path).endswith("_envelopes.txt"):
            passed = envelops(made, table, line)
        else:
            passed = draws(table, line)
        if not passed:
            return place
    return None if rows else 0


def main(runtime, path, *given):
    texts = [Path(name).read_bytes() for name in given if not name.isdigit()]
    tables = [runtime.Table.read(text) for text in texts if json.loads(text)["format"] == "mechdesign table"]
    if given[-1].isdigit():
        tables = [list(runtime.read_collection(texts[0]).values())[int(given[-1])]]
    elif len(tables) < len(texts):
        tables.append(runtime.device.Device.read(texts[-1], *tables))
    failure = first_failure(runtime.device, path, *tables)
    print(f"PASS {len(lines(path))}" if failure is None else f"FAIL case {failure}")
    return failure is not None


if __name__ == "__main__":
    import mechdesign_runtime.device

    sys.exit(main(mechdesign_runtime, *sys.argv[1:]))
