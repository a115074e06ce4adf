"""A second machine of devices that remember, written from the text of FORMAT.md alone, on its own reader of tables."""

from __future__ import annotations

import binascii
import math
import struct

from tests.oracles.format_reader import Stream, hash_of, keys, need, whole_number


class DeviceByText:
    """A device file and the machine that its state is the memory of."""

    def __init__(self, value, table, again=None):
        keys(value, ["format", "version", "table", "again", "values", "reports", "sha256"], "device")
        need(value["format"] == "mechdesign device", "format")
        need(type(value["version"]) is int and value["version"] == 1, "version")
        need(value["table"] == table.sha256, "table")
        need(value["again"] == (None if again is None else again.sha256), "again")
        need(again is None or (again.items is None and table.items is None and table.outputs is not None), "again")
        need(again is None or not any(again.refuses(float(y)) for y in table.outputs), "again")
        self.k = whole_number(value["values"], "values", 0, 4096)
        self.r = whole_number(value["reports"], "reports", 1, 10000)
        need(self.k > 0 or again is None, "again")
        self.table, self.again = table, again
        self.version, self.size = 1, 16
        if table.items is not None:
            self.version, self.size = 2, 4 + table.report_size()
            need(self.k * self.size <= 65536, "values")
        self.sha256 = hash_of(value)
        need(value["sha256"] == self.sha256, "sha256")

    def written(self, serial, period, made, entries):
        head = b"mdstate" + bytes([self.version]) + bytes.fromhex(self.sha256)
        body = head + struct.pack("<4I", serial, period, made, len(entries))
        body += b"".join(
            struct.pack("<2d", x, y) if self.version == 1 else struct.pack("<I", x) + y for x, y in entries
        )
        body += bytes(56 + self.size * self.k - len(body))
        return body + struct.pack("<I", binascii.crc32(body))

    def read(self, data, least=0):
        """(serial, period, made, entries), or the word of the refusal."""
        if not data:
            return "missing"
        if len(data) < 60 or data[:7] != b"mdstate" or struct.unpack("<I", data[-4:])[0] != binascii.crc32(data[:-4]):
            return "damaged"
        if data[7] != self.version or data[8:40].hex() != self.sha256:
            return "other"
        serial, period, made, held = struct.unpack("<4I", data[40:56])
        fits = len(data) == 60 + self.size * self.k and 1 <= serial < 2**31 and period < 2**31
        if not (fits and made <= self.r and held <= self.k):
            return "damaged"
        end = 56 + self.size * held
        entries = [self.entry(data[place : place + self.size]) for place in range(56, end, self.size)]
        if None in entries or len({entry[0] for entry in entries}) < held or any(data[end:-4]):
            return "damaged"
        return "rolled-back" if serial < least else (serial, period, made, entries)

    def entry(self, data):
        """What was asked and what was drawn, or None."""
        if self.version == 2:
            item = int.from_bytes(data[:4], "little")
            return (item, data[4:]) if item < self.table.items else None
        x, y = struct.unpack("<2d", data)
        is_minus_zero = x == 0 and math.copysign(1, x) < 0
        labels = self.table.value["labels"]
        is_told = self.again is None and labels is not None and labels["outputs"] is not None
        if is_told and y not in map(float, self.table.value["law"]["outputs"]):
            return None
        return (x, y) if math.isfinite(x) and math.isfinite(y) and not is_minus_zero else None

    def create(self, data, period, allowance=0, least=0):
        """The outcome and what is stored, or None."""
        state = self.read(data, least)
        if state == "other":
            return state, None
        serial, entries = least, []
        if not isinstance(state, str):
            serial, then, _, entries = state
            if period - then <= 100:
                return "present", None
            if serial == 2**31 - 1:
                return "exhausted", None
        return "done", self.written(serial + 1, period, self.r - allowance, entries)

    def report(self, data, x, period, stream, least=0):
        """The outcome, a word or what is reported, and what is stored, or None."""
        state = self.read(data, least)
        if isinstance(state, str):
            return state, None
        serial, then, made, entries = state
        if period < then:
            return "past", None
        if period - then > 100:
            return "ahead", None
        if period > then:
            made = 0
        if made == self.r or serial == 2**31 - 1:
            return "exhausted", None
        if self.table.refuses(x):
            return "input", None
        y = self.table.sample(x, stream)
        if self.k:
            known = dict(entries)
            x = x + 0  # minus zero is zero
            if x in known:
                y = known[x]
            elif len(entries) < self.k:
                entries = [*entries, (x, y)]
            else:
                y = entries[-1][1]
        if self.again is not None and self.again.refuses(y):  # only an edited state remembers such a y
            return "input", None
        stored = self.written(serial + 1, period, made + 1, entries)
        return (y if self.again is None else self.again.sample(y, stream)), stored


def replay_states(device, text):
    """How many steps of a file of states' vectors hold."""
    steps = 0
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        what, state, period, least, allowance, given, data, used, outcome, stored = line.split(" ")
        state = b"" if state == "-" else bytes.fromhex(state)
        if what == "create":
            found, kept = device.create(state, int(period), int(allowance), int(least))
        else:
            stream = Stream(b"" if data == "-" else bytes.fromhex(data))
            on_items = device.table.items is not None
            x = int(given) if on_items else struct.unpack(">d", bytes.fromhex(given))[0]
            found, kept = device.report(state, x, int(period), stream, int(least))
            if not isinstance(found, str):
                need(stream.used == int(used), "states", f"used {line}")
                found = found.hex() if on_items else struct.pack(">d", found).hex()
        need(found == outcome and ("-" if kept is None else kept.hex()) == stored, "states", f"{found} {line}")
        steps += 1
    return steps
