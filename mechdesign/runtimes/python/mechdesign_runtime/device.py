"""Keeps the state of a device, which remembers what it drew and counts reports: FORMAT.md, "Devices that remember"."""

from __future__ import annotations

import contextlib
import math
import os
import struct
import sys
import threading
import zlib
from typing import Any

from . import Read, Table, hash_bytes, parsed, reading, require, system, whole_number

MOST = 2**31 - 1
AHEAD = 100
HEAD = struct.Struct("<7sB32sIIII")
TURN = threading.Lock()  # between what is loaded and what is stored then, threads take turns


class StateRefused(Exception):
    """The state does not allow what was asked: nothing was stored, and nothing is reported.

    ``reason`` is missing, damaged, other, rolled-back, past, ahead, exhausted, present or busy.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Device:
    """A question asked again and again: it remembers what was drawn for a value, and counts the reports of a period.

    A storage has two functions: `load()` gives the bytes stored last or None, `store(content)` returns once they are
    there to stay. A report is returned only after the state that counts it was stored. Threads may share a storage, as
    they take turns; no two processes may.
    """

    def __init__(self, document: dict[str, Any], *tables: Table) -> None:
        by_hash: dict[Any, Any] = {table.sha256: table for table in tables}
        with reading("device of these tables"):
            self.first, again = by_hash[document["table"]], document["again"]
            self.again = None if again is None else by_hash[again]
            self.values, self.reports = whole_number(document["values"], 0, 4096), document["reports"]
            whole_number(self.reports, 1, 10_000)
            self.sha256, self.key = document["sha256"], hash_bytes(document["sha256"])
            if self.again is not None:  # it takes what the first table gives
                require(self.values > 0 and self.first.outputs and not self.again.items)
        self.reporting = self.again or self.first
        self.version = 2 if self.first.items else 1
        self.subject = b"\2\0\0" + self.key
        self.entry = struct.Struct(f"<I{self.first.report_bytes}s" if self.first.items else "<dd")
        self.size = HEAD.size + self.values * self.entry.size + 4

    @classmethod
    def read(cls, content: str | bytes, *tables: Table) -> Device:
        """The device of a file's text and of its one or two tables, or `NotReadable`."""
        return cls(parsed(content, "device", 1), *tables)

    def create(self, storage: Any, period: int, allowance: int = 0, least: int = 0) -> None:
        """Begin without memory where there is no state to keep, with this many reports left in the period.

        ``allowance`` is what the server grants; without its word the period is spent: nobody knows what was reported
        before. ``least`` is the last serial known from elsewhere. A state that is there keeps its memory, and goes on
        to a period too far ahead for a report: on the word of another clock than the device's.
        """
        require_within(period, 0, MOST)
        require_within(allowance, 0, self.reports)
        require_within(least, 0, MOST - 1)
        with TURN:
            try:
                serial, last, _, entries = self.known(storage.load(), least)
            except StateRefused as refused:
                if refused.reason == "other":
                    raise
                serial, entries = least, []
            else:
                if period <= last + AHEAD:
                    raise StateRefused("present")
                if serial == MOST:
                    raise StateRefused("exhausted")
            storage.store(self.written(serial + 1, period, self.reports - allowance, entries))

    def report(self, storage: Any, x: Any, period: int, least: int = 0, read: Read | None = None) -> Any:
        """One report for the value held now: a label where the table has labels for what goes in, else a number."""
        return self.reporting.named(self.report_code(storage, self.first.code_of(x), period, least, read))

    def report_code(self, storage: Any, x: float, period: int, least: int = 0, read: Read | None = None) -> Any:
        """The same in the numbers of the files."""
        require_within(period, 0, MOST)
        with TURN:
            serial, last, made, entries = self.known(storage.load(), least)
            if period < last:
                raise StateRefused("past")
            if period > last + AHEAD:
                raise StateRefused("ahead")
            if period > last:
                made = 0
            if made == self.reports or serial == MOST:
                raise StateRefused("exhausted")
            y = self.first.sample_code(x, read)
            if self.values:
                x = x if self.first.items else float(x) + 0.0  # minus zero is zero
                remembered = [drawn for value, drawn in entries if value == x]
                if remembered:
                    y = remembered[0]
                elif len(entries) < self.values:
                    entries = [*entries, (x, y)]
                else:  # a value for which there is no room is taken for the last one
                    y = entries[-1][1]
            if self.again is not None:
                y = self.again.sample_code(y, read)
            storage.store(self.written(serial + 1, period, made + 1, entries))
        return y

    def serial(self, storage: Any, least: int = 0) -> int:
        """How many states were stored so far: keep it outside the storage, and give it as ``least`` next time."""
        return self.known(storage.load(), least)[0]

    def envelope(self, report: Any, last_day: int, read: Read = system) -> bytes:
        """As `Table.envelope`, for a report of this device."""
        return self.reporting.envelope(report, last_day, read, self.subject)

    def known(self, content: bytes | None, least: int) -> tuple[int, int, int, list[tuple[Any, Any]]]:
        """The serial, period, reports made and entries of the state in these bytes, or `StateRefused`."""
        require_within(least, 0, MOST)
        if not content:
            raise StateRefused("missing")
        sum_of = zlib.crc32(content[:-4]).to_bytes(4, "little")
        if len(content) < HEAD.size + 4 or content[:7] != b"mdstate" or content[-4:] != sum_of:
            raise StateRefused("damaged")
        _, version, owner, serial, period, made, held = HEAD.unpack_from(content)
        if version != self.version or owner != self.key:
            raise StateRefused("other")
        end = HEAD.size + self.entry.size * held
        if len(content) != self.size or held > self.values or any(content[end:-4]):
            raise StateRefused("damaged")
        entries = list(self.entry.iter_unpack(content[HEAD.size : end]))
        if not (1 <= serial <= MOST and period <= MOST and made <= self.reports):
            raise StateRefused("damaged")
        if len({x for x, _ in entries}) != held or not all(self.may_hold(x, y) for x, y in entries):
            raise StateRefused("damaged")
        if serial < least:
            raise StateRefused("rolled-back")
        return serial, period, made, entries

    def may_hold(self, x: Any, y: Any) -> bool:
        """Whether a state can remember y for x."""
        if self.first.items:
            return bool(x < self.first.items)
        if not (math.isfinite(x) and math.isfinite(y)) or (x == 0 and math.copysign(1, x) < 0):
            return False
        return self.again is not None or self.first.output_labels is None or y in self.first.names

    def written(self, serial: int, period: int, made: int, entries: list[tuple[Any, Any]]) -> bytes:
        """The bytes of a state."""
        head = HEAD.pack(b"mdstate", self.version, self.key, serial, period, made, len(entries))
        body = (head + b"".join(self.entry.pack(*entry) for entry in entries)).ljust(self.size - 4, b"\0")
        return body + zlib.crc32(body).to_bytes(4, "little")


def require_within(number: int, least: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError("periods, allowances and serials must be whole numbers")
    if not least <= number <= most:
        raise ValueError(f"the number must lie between {least} and {most}")


class FileStorage:
    """A state in a file, locked through a file beside it from entering to leaving a ``with``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.lock: int | None = None
        self.owner = 0

    def __enter__(self) -> FileStorage:
        if self.lock is not None:
            raise StateRefused("busy")
        handle = os.open(self.path + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise StateRefused("busy") from None
        self.lock, self.owner = handle, os.getpid()
        return self

    def __exit__(self, *_: object) -> None:
        assert self.lock is not None
        os.close(self.lock)
        self.lock = None

    def load(self) -> bytes | None:
        self.require_lock()
        try:
            with open(self.path, "rb") as stream:
                return stream.read(1 << 20)  # more than the state of any device
        except FileNotFoundError:
            return None

    def store(self, content: bytes) -> None:
        self.require_lock()
        new = self.path + ".new"
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        with open(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            confirm(handle)
        os.replace(new, self.path)
        if sys.platform != "win32":  # the folder too, so that a power cut does not undo the rename
            folder = os.open(os.path.dirname(self.path) or ".", os.O_RDONLY)
            try:
                confirm(folder)
            finally:
                os.close(folder)

    def require_lock(self) -> None:
        if self.lock is None or self.owner != os.getpid():  # a child of fork() shares the lock
            raise StateRefused("busy")


def confirm(handle: int) -> None:
    """Wait until the disk has what was written. Apple's fsync waits for less; its fcntl fails where a disk cannot."""
    os.fsync(handle)
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
