"""What a collector keeps between runs, in one SQLite file: which nonces it has seen, and reports that wait.

Every step is one transaction: after a kill the store is as it was before the step or after it. Of reports only how
often each one waits is kept, in the order of their bytes: neither when one came nor with which nonce.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.tables.reports.envelope import NONCE, Subject
from mechdesign.values import files

if TYPE_CHECKING:
    import sqlite3

_FORM = "mechdesign collector 2"
_STEP = "is another collector running on it, or was it damaged? never delete it: repeated reports would count again"
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE nonces (nonce BLOB PRIMARY KEY, expires TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX nonces_by_day ON nonces (expires);
CREATE TABLE reports (sha256 TEXT, attribute INTEGER, batch INTEGER, report BLOB, times INTEGER NOT NULL,
                      PRIMARY KEY (sha256, attribute, batch, report)) WITHOUT ROWID;
CREATE TABLE batches (sha256 TEXT, attribute INTEGER, number INTEGER, PRIMARY KEY (sha256, attribute)) WITHOUT ROWID;
CREATE TABLE counts (name TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE reading (source TEXT PRIMARY KEY, offset INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
"""
MOST_JUMP = timedelta(days=2)
"""A clock that is farther than this from the day of the last run is not followed."""
GRACE = timedelta(days=30)
"""So long a nonce is kept after its envelope expired."""

_WAITING = 0
_NO_ATTRIBUTE = -1


class Store:
    """An open store; one process at a time has it. Use it with ``with``, and change it inside `step` only.

    Damage to the file is noticed as far as SQLite does, which keeps no checksums: keep it on a disk that does.
    """

    def __init__(self, path: Path | str, *, new: bool = False) -> None:
        self.path = Path(path)
        if new:
            _require_none(self.path)
        elif not self.path.is_file():
            step = "start one with new=True (--new-store), if none was lost: a lost store counts repeated reports again"
            raise FileProblem("store", str(self.path), "exist", step)
        with self._as_problem():
            self._file = _connected(self.path)
            try:
                self._open(new)
            except BaseException:
                self._file.close()
                raise

    def _open(self, new: bool) -> None:
        self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.execute("PRAGMA secure_delete = ON")
        self._file.execute("BEGIN EXCLUSIVE")
        if new:
            for statement in _TABLES.split(";")[:-1]:
                self._file.execute(statement)
            days = [(name, date.min.isoformat()) for name in ("day", "forgotten")]
            first = [("form", _FORM), ("name", secrets.token_hex(16)), *days]
            self._file.executemany("INSERT INTO about VALUES (?, ?)", first)
        self._file.execute("COMMIT")
        if self._about("form") != _FORM:
            raise FileProblem("store", str(self.path), f"be of the form {_FORM!r}")

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; what was not committed is as if it had never been."""
        self._file.close()

    @contextlib.contextmanager
    def _as_problem(self) -> Iterator[None]:
        import sqlite3  # here, as some builds of Python have none and do without a collector

        try:
            yield
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                rule = "be writable: no space left on device"
                raise FileProblem("store", str(self.path), rule, f"{files.MAKE_ROOM}: it is as it was") from None
            raise FileProblem("store", str(self.path), f"be usable: {error}", _STEP) from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise FileProblem("store", str(self.path), f"be usable: {error}", _STEP) from None

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """All changes inside happen, or none."""
        with self._as_problem():
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._file.execute("COMMIT")
            except BaseException:
                if self._file.in_transaction:  # a full disk has ended it
                    self._file.execute("ROLLBACK")
                raise

    def _about(self, name: str) -> str:
        found = self._file.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return "" if found is None else str(found[0])

    def _day(self, name: str) -> date:
        try:
            return date.fromisoformat(self._about(name))
        except ValueError:
            raise FileProblem("store", str(self.path), "hold a day", _STEP) from None

    def _say(self, name: str, value: str) -> None:
        self._file.execute("UPDATE about SET value = ? WHERE name = ?", (value, name))

    @property
    def name(self) -> str:
        """A name that no other store has."""
        with self._as_problem():
            return self._about("name")

    # -- days and nonces

    @property
    def day(self) -> date | None:
        """The day of the last run, if there was one."""
        with self._as_problem():
            day = self._day("day")
        return None if day == date.min else day

    def follow(self, clock: date) -> date:
        """`begin_day` with what a clock says, unless that is far from the last run; never a day before that run's."""
        last = self.day
        if last is not None and abs(clock - last) > MOST_JUMP:
            rule = f"be at most {MOST_JUMP.days} days from the day of this store's last run, {last}"
            step = "set the clock, or say which day it really is: --today DAY (in Python today=)"
            raise InvalidInput("the clock", clock.isoformat(), rule, step)
        return self.begin_day(clock if last is None else max(clock, last))

    def begin_day(self, today: date) -> date:
        """A run on this day, which may lie before that of the last run: the first last day that still counts.

        Nonces are forgotten once their envelopes expired `GRACE` before this run and the one before it. *Guarantee.*
        Whatever days are told, no nonce counts twice: an envelope that expired no later than one whose nonce is
        forgotten is expired for good.
        """
        with self.step():
            old = min(self._day("day"), today)
            kept = max(old, date.min + GRACE) - GRACE
            asked = "SELECT MAX(expires) FROM nonces WHERE expires < ?"
            (gone,) = self._file.execute(asked, (kept.isoformat(),)).fetchone()
            if gone is not None:
                self._say("forgotten", gone)
                self._file.execute("DELETE FROM nonces WHERE expires <= ?", (gone,))
            self._say("day", today.isoformat())
            forgotten = self._day("forgotten")
        return today if forgotten == date.min else max(today, forgotten + timedelta(days=1))

    def is_new(self, nonce: bytes, expires: date) -> bool:
        """Whether a nonce was never seen; from now on it was."""
        if len(nonce) != NONCE:
            raise InvalidInput("nonce", len(nonce), f"be {NONCE} bytes")
        done = self._file.execute("INSERT OR IGNORE INTO nonces VALUES (?, ?)", (nonce, expires.isoformat()))
        return done.rowcount == 1

    # -- reports

    def add(self, subject: Subject, report: bytes) -> None:
        """One more report that waits."""
        self._file.execute(
            "INSERT INTO reports VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET times = times + 1",
            (*_key(subject), _WAITING, report),
        )

    def waiting(self, subject: Subject) -> int:
        """How many reports wait."""
        return self._in_batch(subject, _WAITING)

    def batch(self, subject: Subject) -> int:
        """The number of the last batch that was made; 0 if none was."""
        with self._as_problem():
            asked = "SELECT number FROM batches WHERE sha256 = ? AND attribute = ?"
            found = self._file.execute(asked, _key(subject)).fetchone()
        return 0 if found is None else self._number(found[0])

    @property
    def has_batches(self) -> bool:
        """Whether any batch was ever made."""
        with self._as_problem():
            return self._file.execute("SELECT 1 FROM batches").fetchone() is not None

    def is_unpublished(self, subject: Subject) -> bool:
        """Whether the last batch is still here: then it may not be a file yet."""
        number = self.batch(subject)
        return number > 0 and self._in_batch(subject, number) > 0

    def make_batch(self, subject: Subject) -> None:
        """All that waits becomes the next batch."""
        number = self.batch(subject) + 1
        with self.step():
            self._file.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", (*_key(subject), number))
            moved = "UPDATE reports SET batch = ? WHERE sha256 = ? AND attribute = ? AND batch = ?"
            self._file.execute(moved, (number, *_key(subject), _WAITING))

    def reports(self, subject: Subject, number: int) -> list[tuple[bytes, int]]:
        """The reports of a batch that is still here, and how often each is in it, in the order of their bytes."""
        with self._as_problem():
            asked = "SELECT report, times FROM reports WHERE sha256 = ? AND attribute = ? AND batch = ? ORDER BY report"
            return [
                (bytes(report), int(times)) for report, times in self._file.execute(asked, (*_key(subject), number))
            ]

    def forget_batch(self, subject: Subject, number: int) -> None:
        """The reports of a batch, which is a file now, leave the store."""
        with self.step():
            gone = "DELETE FROM reports WHERE sha256 = ? AND attribute = ? AND batch = ?"
            self._file.execute(gone, (*_key(subject), number))

    def _in_batch(self, subject: Subject, number: int) -> int:
        with self._as_problem():
            asked = "SELECT COALESCE(SUM(times), 0) FROM reports WHERE sha256 = ? AND attribute = ? AND batch = ?"
            return self._number(self._file.execute(asked, (*_key(subject), number)).fetchone()[0])

    # -- counts, and files that are being read

    def count(self, more: Iterable[tuple[str, int]]) -> None:
        """So many more of each."""
        self._file.executemany(
            "INSERT INTO counts VALUES (?, ?) ON CONFLICT DO UPDATE SET times = times + excluded.times", list(more)
        )

    def counts(self) -> dict[str, int]:
        """All that was ever counted."""
        with self._as_problem():
            found = self._file.execute("SELECT name, times FROM counts").fetchall()
        return {str(name): self._number(times) for name, times in found}

    def reading(self, source: str) -> tuple[int, str] | None:
        """How far a file was read that was not read to its end, and the SHA-256 of what was read of it."""
        with self._as_problem():
            asked = "SELECT offset, digest FROM reading WHERE source = ?"
            found = self._file.execute(asked, (source,)).fetchone()
        return None if found is None else (self._number(found[0]), str(found[1]))

    def _number(self, said: object) -> int:
        """A count that was read, unless the file is damaged."""
        if not isinstance(said, int) or said < 0:
            raise FileProblem("store", str(self.path), "hold counts", _STEP)
        return said

    def keep_place(self, source: str, offset: int, digest: str) -> None:
        """A file was read up to here."""
        self._file.execute("INSERT OR REPLACE INTO reading VALUES (?, ?, ?)", (source, offset, digest))

    def leave(self, source: str) -> None:
        """A file was read to its end."""
        self._file.execute("DELETE FROM reading WHERE source = ?", (source,))


def _connected(path: Path) -> sqlite3.Connection:
    import sqlite3

    return sqlite3.connect(path, isolation_level=None, timeout=1.0)


def _key(subject: Subject) -> tuple[str, int]:
    return subject.sha256, _NO_ATTRIBUTE if subject.attribute is None else subject.attribute


def _require_none(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise FileProblem("store", str(path), "not exist yet", "leave --new-store out to go on with it")
    if not path.parent.is_dir():
        raise FileProblem("store", str(path), "lie in an existing folder", f"create {path.parent} first")
