"""Envelopes in, reports out: each that is of a known table, in time, well formed and new counts once, and no other.

Envelopes of several versions may come mixed: one knows its table by the hash. What a run accepted it keeps in a
`Store`, so that a run that was killed goes on where it was, and an envelope that comes again is refused years later.
Reports go on to whoever estimates, or shuffles, in batches of a minimum size: nothing of the envelope goes with them.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.columns import arrow
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.tables.frames_columns import told
from mechdesign.tables.frames_files import batch_writer, reports_schema
from mechdesign.tables.reports.collection import Collection
from mechdesign.tables.reports.envelope import MOST_LINE, Envelope, Subject
from mechdesign.tables.reports.payload import payload_of
from mechdesign.tables.reports.store import Store
from mechdesign.tables.table import Table
from mechdesign.tables.unlikely import likely
from mechdesign.values import files
from mechdesign.values.codec import Codec, encoded
from mechdesign.values.declare import frozen, whole

if TYPE_CHECKING:
    from mechdesign.tables.device.description import Device

COLUMN = "report"
"""The column of reports in the files that a collector writes."""
MARK = "collector.json"
_STEP_SIZE = 10_000  # envelopes in a transaction
_CHUNK = 1 << 20
_LONGEST = 64 << 20  # of a line that is malformed; a longer one is of no file of envelopes


class Refused(enum.Enum):
    """Why an envelope does not count. The first that holds, in this order, is the reason."""

    MALFORMED = "malformed"
    UNKNOWN = "unknown"
    UNKNOWN_DEVICE = "of an unknown device"
    EXPIRED = "expired"
    NOT_OF_TABLE = "not of its table"
    UNLIKELY = "too unlikely"
    REPEATED = "repeated"


@frozen
class Question:
    """What reports of a subject are about: the attribute's name, none for a table by itself or a device, and the table.

    Of a device it is the one whose outputs are reported.
    """

    subject: Subject
    name: str | None
    table: Table
    device: Device | None = None

    @property
    def folder(self) -> str:
        """The name of the folder of its reports."""
        number = self.subject.attribute
        return self.subject.sha256[:16] + ("" if number is None else f"-{number}")


@frozen
class Intake:
    """What became of envelopes: so many were accepted, and so many refused for each reason."""

    accepted: int
    refused: Mapping[str, int]

    def __add__(self, other: Intake) -> Intake:
        reasons = {reason: times + other.refused[reason] for reason, times in self.refused.items()}
        return Intake(self.accepted + other.accepted, reasons)


@frozen
class Batch:
    """A file of reports in random order."""

    question: Question
    file: Path
    count: int


@frozen
class Mark:
    """What a folder of batches says of the store that filled it, and how many batches each of its folders has."""

    kind: ClassVar[str] = "mechdesign collected reports"

    store: str
    batches: Mapping[str, int]
    version: int = whole("version", 1, 1, default=1)


class Collector:
    """Takes envelopes of these tables, collections and devices into a store.

    The day is the clock's, which is not believed where it jumps (`Store.follow`), or ``today``, which is.

    >>> import tempfile
    >>> from mechdesign.tables import make_table
    >>> from mechdesign.tables.reports import enveloped
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> table = make_table(duchi(1.0))
    >>> line = enveloped(table, 0.5, date(2030, 12, 31)).line
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store", new=True) as store:
    ...     Collector(store, [table], today=date(2030, 1, 1)).take([line, line, b"?"]).refused["repeated"]
    1
    """

    def __init__(
        self, store: Store, known: Iterable[Table | Collection | Device], *, today: date | None = None
    ) -> None:
        self.store = store
        self.questions = {question.subject: question for question in _questions(known)}
        self.today = store.follow(datetime.now(UTC).date()) if today is None else store.begin_day(today)

    # -- in

    def take(self, lines: Iterable[bytes]) -> Intake:
        """Envelopes as lines of base64, from any source; each step of some thousands is kept at once.

        Of lines that came when the process was killed the last step is lost, and may be sent again.
        """
        total = _nothing()
        step: list[bytes] = []
        for line in lines:
            step.append(line)
            if len(step) == _STEP_SIZE:
                total += self._step(step)
                step = []
        return total + self._step(step)

    def take_file(self, path: Path | str) -> Intake:
        """The envelopes of a file. A file that a killed run did not read to its end is gone on with where it was."""
        source = str(Path(path).resolve())
        total = _nothing()
        with files.opened(path, "envelopes") as stream:
            read, place = _Lines(stream, path), self.store.reading(source)
            if place is not None:
                read.skip(*place)
            for step in read.steps():
                total += self._step(step, (source, read.offset, read.digest))
        with self.store.step():
            self.store.leave(source)
        return total

    def _step(self, lines: Sequence[bytes], place: tuple[str, int, str] | None = None) -> Intake:
        found: Counter[str] = Counter()
        with self.store.step():
            for line in lines:
                refused = self._take(line)
                found["accepted" if refused is None else refused.value] += 1
            self.store.count(found.items())
            if place is not None:
                self.store.keep_place(*place)
        return _intake(found)

    def _take(self, line: bytes) -> Refused | None:
        try:
            envelope = Envelope.of_line(line)
        except InvalidInput:
            return Refused.MALFORMED
        question = self.questions.get(envelope.subject)
        if question is None:
            return Refused.UNKNOWN_DEVICE if envelope.subject.is_device else Refused.UNKNOWN
        if envelope.expires < self.today:
            return Refused.EXPIRED
        try:
            code = payload_of(question.table).read(envelope.report, question.table)
        except InvalidInput:
            return Refused.NOT_OF_TABLE
        judged = likely(question.table.law)
        if judged is not None and judged.leaves_out(np.asarray([code]))[0]:
            return Refused.UNLIKELY
        if not self.store.is_new(envelope.nonce, envelope.expires):
            return Refused.REPEATED
        self.store.add(envelope.subject, envelope.report)
        return None

    @property
    def total(self) -> Intake:
        """What became of all envelopes that the store ever saw."""
        return _intake(self.store.counts())

    # -- out

    def hand_over(self, folder: Path | str, least: int = 100) -> list[Batch]:
        """Files of reports: for each question with at least ``least`` that wait, all of them in one file more.

        The files lie in one folder a question, and are Parquet with the one column ``report``, which `estimate` reads.
        Each is in an order drawn uniformly with the system's randomness, and holds neither nonces nor days nor who
        sent what. Others wait on. *Guarantee.* Every report that was accepted is in one file or waits, through kills
        too. No amplification of privacy by the shuffling is claimed: what holds for a report in a batch is its table's
        epsilon.
        """
        if type(least) is not int or least < 1:
            raise InvalidInput("least", least, "be a whole number of at least 1")
        target = Path(folder)
        self._require_own(target)
        self._mark(target)
        done = []
        for question in self.questions.values():
            if self.store.is_unpublished(question.subject):
                done.append(self._publish(question, target))
            if self.store.waiting(question.subject) >= least:
                self.store.make_batch(question.subject)
                done.append(self._publish(question, target))
        self._mark(target)
        return done

    def _publish(self, question: Question, target: Path) -> Batch:
        """The last batch as a file: made anew, in another order, if a killed run had written it already."""
        number = self.store.batch(question.subject)
        self._mark(target)
        codes = shuffled(_codes(question.table, self.store.reports(question.subject, number)))
        own = target / question.folder
        own.mkdir(exist_ok=True)
        file = own / f"part-{number - 1:06d}.parquet"
        with files.replacing(file, overwrite=True) as stream:
            _write(stream, question, codes)
        self.store.forget_batch(question.subject, number)
        return Batch(question, file, len(codes))

    def _mark(self, target: Path) -> None:
        batches = {question.folder: self.store.batch(question.subject) for question in self.questions.values()}
        known = self._read_mark(target)
        old = {} if known is None else dict(known.batches)
        said = Mark(self.store.name, old | {name: number for name, number in batches.items() if number})
        if known != said:
            files.write_atomically(target / MARK, files.dump_json(encoded(said)).encode(), overwrite=True)

    def _require_own(self, target: Path) -> None:
        """Refuse a folder that another store filled, or this one when it was newer: a backup repeats reports."""
        try:
            target.mkdir(exist_ok=True)
        except OSError as error:
            rule = f"be a folder in an existing one: {(error.strerror or str(error)).lower()}"
            raise FileProblem("output folder", str(target), rule, files.remedy(error, "check the folder")) from None
        mark = self._read_mark(target)
        if mark is None:
            if any(target.iterdir()):
                raise FileProblem("output folder", str(target), "be new, empty, or filled by this store")
            if self.store.has_batches:
                rule = "be the folder that this store handed reports over into before"
                raise FileProblem("output folder", str(target), rule, f"it holds a file {MARK}")
            return
        step = "was the store lost or put back from a backup? reports it has forgotten could count twice: a new folder"
        if mark.store != self.store.name:
            raise FileProblem("output folder", str(target), "be filled by this store, and is by another one", step)
        for question in self.questions.values():
            if mark.batches.get(question.folder, 0) > self.store.batch(question.subject):
                rule = "have no more batches than its store knows of"
                raise FileProblem("output folder", str(target), rule, step)

    def _read_mark(self, target: Path) -> Mark | None:
        path = target / MARK
        if not path.exists():
            return None
        found: Mark = Codec().decoded(Mark, files.read_json(path), str(path))
        return found


@contextlib.contextmanager
def taken_in(path: Path | str, known: Table | Device) -> Iterator[tuple[Batch | None, Intake]]:
    """The envelopes of one file by themselves: their reports, in a file for as long as this lasts, if there are any.

    What other files held is not known here: an envelope that lies in two of them counts in both. A `Store` knows.
    """
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store", new=True) as store:
        collector = Collector(store, [known])
        intake = collector.take_file(path)
        yield next(iter(collector.hand_over(Path(folder) / "reports", 1)), None), intake


def shuffled(reports: NDArray[Any]) -> NDArray[Any]:
    """The same in an order drawn uniformly with the system's randomness.

    Sorted by random numbers of 64 bits, drawn anew where two are equal: among different ones every order is as likely.
    """
    while True:
        keys = np.frombuffer(os.urandom(8 * len(reports)), dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        if not (np.diff(keys[order]) == 0).any():
            return np.asarray(reports[order])


def _questions(known: Iterable[Table | Collection | Device]) -> Iterator[Question]:
    for one in known:
        if isinstance(one, Collection):
            for number, attribute in enumerate(one.attributes):
                yield Question(one.subject(number), attribute.name, attribute.table)
        elif isinstance(one, Table):
            yield Question(Subject(one.sha256), None, one)
        else:
            yield Question(Subject(one.sha256, is_device=True), None, one.reporting, one)


def _intake(found: Mapping[str, int]) -> Intake:
    return Intake(found.get("accepted", 0), {reason.value: found.get(reason.value, 0) for reason in Refused})


def _nothing() -> Intake:
    return _intake({})


class _Lines:
    """The lines of a file, hashed as they are read."""

    def __init__(self, stream: BinaryIO, path: Path | str) -> None:
        self._stream, self._path, self._hashed, self.offset = stream, path, hashlib.sha256(), 0

    @property
    def digest(self) -> str:
        return self._hashed.hexdigest()

    def _seen(self, chunk: bytes) -> bytes:
        self._hashed.update(chunk)
        self.offset += len(chunk)
        return chunk

    def skip(self, offset: int, digest: str) -> None:
        """What was read before is not read again; from the start, if it is not that file any more."""
        while self.offset < offset and self._seen(self._stream.read(min(offset - self.offset, _CHUNK))):
            pass
        if (self.offset, self.digest) != (offset, digest):
            self._stream.seek(0)
            self._hashed, self.offset = hashlib.sha256(), 0

    def steps(self) -> Iterator[list[bytes]]:
        """Some thousands at a time. One that is longer than any envelope is cut, and is malformed as a whole."""
        while True:
            step: list[bytes] = []
            begin = self.offset
            while len(step) < _STEP_SIZE and self.offset - begin < _CHUNK and (line := self._line()):
                step.append(line)
                start = self.offset
                while len(line) == MOST_LINE and not line.endswith(b"\n"):
                    line = self._line()
                    if self.offset - start > _LONGEST:
                        rule = f"have lines of at most {_LONGEST >> 20} MB"
                        raise FileProblem("envelopes", str(self._path), rule, "is it a file of envelopes?")
            if not step:
                return
            yield step

    def _line(self) -> bytes:
        return self._seen(self._stream.readline(MOST_LINE))


def _codes(table: Table, reports: Sequence[tuple[bytes, int]]) -> NDArray[Any]:
    payload = payload_of(table)
    each = np.array([payload.read(report, table) for report, _ in reports])
    return np.repeat(each, [times for _, times in reports], axis=0)


def _write(stream: BinaryIO, question: Question, codes: NDArray[Any]) -> None:
    pa, table = arrow(), question.table
    schema = reports_schema(table, COLUMN, None if question.device is None else question.device.sha256)
    with batch_writer(stream, ".parquet", schema) as writer:
        for begin in range(0, len(codes), _CHUNK):
            reports = told(table, codes[begin : begin + _CHUNK])
            writer.write_batch(pa.record_batch([pa.array(reports, schema.field(COLUMN).type)], schema=schema))
