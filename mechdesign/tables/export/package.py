"""A package: a runtime as it stands, tables under names of their own, and what an ecosystem wants beside.

An edge (`mechdesign.tables.export.edges`) says for a language where files of its runtime go in a package, and writes
what is about tables: the ecosystem's manifest, tables where programs cannot read files, and the types of labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from mechdesign.errors import InvalidInput
from mechdesign.tables.device.description import Device
from mechdesign.tables.device.vectors import lines as device_lines, vectors as device_vectors
from mechdesign.tables.export.envelopes import Form, envelope_head, envelope_lines, envelope_size, form_of
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.tables.reports.collection import Collection
from mechdesign.tables.reports.envelope import Subject
from mechdesign.tables.table import Table
from mechdesign.tables.vectors import Vector, vector_lines, vectors_with_refusals
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Finite

VERSION = "1.0.0"
"""Of every package: who ships a new table ships a package of another name or raises it."""

CASES = 100
"""Test vectors of random bytes, after those at the boundaries of the law."""

MOST_CASES = 1000
"""More labels are no enum: compilers take minutes for one, or refuse it."""

MEMBER = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LONGEST_NAME = 40


@frozen
class Member:
    """A table of a package, under the name by which it is called there."""

    name: str
    table: Table
    cases: tuple[Vector, ...]
    subject: Subject
    """What envelopes say that its reports are of: the table, the package's device or an attribute of its collection."""

    @property
    def camel(self) -> str:
        """The name as those of classes are written.

        >>> Member.camel.fget(type("", (), {"name": "smokes_now"}))
        'SmokesNow'
        """
        return "".join(word.capitalize() for word in self.name.split("_") if word)

    @property
    def stem(self) -> str:
        """The name of a source that stands alone: it names its table."""
        return f"sampler_{self.table.sha256[:8]}"

    @property
    def json(self) -> str:
        """The table's file as it is: ASCII, with one newline at its end."""
        return self.table.content.decode("ascii")

    @property
    def input_labels(self) -> tuple[str, ...] | None:
        """What goes in, where inputs have labels."""
        return self.table.labels.inputs

    @property
    def output_labels(self) -> tuple[str, ...] | None:
        """What comes out, where outputs have labels."""
        return self.table.labels.outputs

    @property
    def is_labelled(self) -> bool:
        """Whether texts go in or come out: the numbers of the file then have a function of their own."""
        return self.input_labels is not None or self.output_labels is not None

    @property
    def items(self) -> int:
        """How many items there are, where inputs are whole numbers from 0 and reports bytes; else 0."""
        return self.table.law.count if isinstance(self.table.law, ItemsLaw) else 0

    @property
    def report_bytes(self) -> int:
        """How long reports are, where they are bytes; else 0."""
        return self.table.law.report_bytes if isinstance(self.table.law, ItemsLaw) else 0

    @property
    def inputs(self) -> tuple[str, ...] | tuple[float, ...]:
        """What may go in, where it can be listed: labels, or the points of a finite domain."""
        domain = self.table.domain
        points = domain.points if isinstance(domain, Finite) and not self.items else ()
        return points if self.input_labels is None else self.input_labels

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number that may go in."""
        return self.table.law.ends

    @property
    def first(self) -> str | float | int:
        """An input, the first one."""
        if self.input_labels is not None:
            return self.input_labels[0]
        return self.first_code

    @property
    def first_code(self) -> float | int:
        """The first input as a number of the file."""
        return 0 if self.items else float(self.ends[0])

    @property
    def form(self) -> Form:
        """What comes out: ``labels``, a number that is ``listed``, any ``double``, or ``bytes``."""
        return form_of(self.table)

    @property
    def vectors(self) -> str:
        """The text file of its vectors."""
        return vector_lines(self.cases, self.table.sha256)

    @property
    def envelopes(self) -> str:
        """The text file of the vectors of its envelopes."""
        return envelope_lines(self.table, self.subject, self.cases)

    @property
    def envelope_head(self) -> bytes:
        """The 8 bytes with which each of its envelopes begins."""
        return envelope_head(self.subject)

    @property
    def envelope_size(self) -> int:
        """How long its envelopes are."""
        return envelope_size(self.table)


def member_of(name: str, table: Table, cases: int, subject: Subject) -> Member:
    """A table under a name that it can have in every language, with its vectors; ``cases`` of them are random."""
    if not MEMBER.fullmatch(name):
        rule = "be a small letter, then small letters, digits and _, at most 40 together"
        step = "the name of a table's file, or of an attribute, becomes its name in the package"
        raise InvalidInput("table name", name, rule, step)
    return Member(name, table, vectors_with_refusals(table, cases), subject)


@frozen
class Kept:
    """The device of a package: ``once`` is drawn for a value, and ``again``, if there is one, in every report."""

    device: Device
    once: Member
    again: Member | None

    @property
    def name(self) -> str:
        """What the device is called in the package.

        >>> Kept.name.fget(type("", (), {"once": type("", (), {"name": "smokes"})}))
        'smokes_device'
        """
        return f"{self.once.name}_device"

    @property
    def camel(self) -> str:
        """The same as classes are written."""
        return f"{self.once.camel}Device"

    @property
    def json(self) -> str:
        """The device file as it is: ASCII, with one newline at its end."""
        return self.device.content.decode("ascii")

    @property
    def reporting(self) -> Member:
        """The table whose outputs are reported."""
        return self.once if self.again is None else self.again

    @property
    def vectors(self) -> str:
        """The text file of the vectors of its states."""
        return _device_lines(self.device)


@lru_cache(maxsize=4)
def _device_lines(device: Device) -> str:
    return device_lines(device, device_vectors(device))


@frozen
class Package:
    """A name, tables, and the device that draws from them, if there is one."""

    language: str
    name: str
    members: tuple[Member, ...]
    collection: Collection | None = None
    """The collection whose attributes the members are, if it is one."""
    device: Kept | None = None


@frozen
class NameRule:
    """What a package may be called: a pattern, in words, and which words mean something else in the ecosystem."""

    pattern: str
    words: str
    taken: frozenset[str]
    members: frozenset[str] = frozenset()
    """What tables may not be called: keywords, and names that the runtime has."""

    def require(self, name: str, ecosystem: str) -> None:
        """`InvalidInput` with the rule for a name that is none."""
        if not re.fullmatch(self.pattern, name, re.ASCII):
            raise InvalidInput("package", name, f"be {self.words}", f"that is what {ecosystem} takes for a name")
        part = next((part for part in re.split(r"[./@]", name) if part in self.taken), None)
        if part is not None:
            rule = f"not have {part!r} in it, which {ecosystem} has already"
            raise InvalidInput("package", name, rule, "choose another name")


def _nothing(package: Package) -> Mapping[str, object]:
    return {}


@frozen
class Packaging:
    """How a package of a language is made.

    The files of a package are the common ones (manifest, licence, README, ``tables/NAME.json``, ``device.json``,
    ``collection.json``), what is ``carried`` from the runtime as it stands, and what ``files`` writes: all else, with
    the vectors that its tests read.
    """

    ecosystem: str
    rule: NameRule
    guide: str
    """A text of the runtimes, such as ``js/guide.md``: what the README says of this language. Its parts have the
    headings ``## called``, ``## built``, ``## tested``, ``## randomness``, ``## device`` and ``## storage``. Places are
    filled by Jinja: ``package`` and ``member`` (the first one), ``device`` (`Kept`), and those of ``places``."""
    carried: Callable[[Package], Mapping[str, str]]
    """By its path in the package, the path of a runtime's file, such as ``js/src/table.mjs``."""
    files: Callable[[Package], Mapping[str, str]]
    """By its path in the package, the text of a file that is about these tables."""
    places: Callable[[Package], Mapping[str, object]] = _nothing
    """What the guide's places are filled with beside the common ones."""
    no_device: tuple[str, str] | None = None
    """Where packages have no device: why, and what to do then."""


@frozen
class Language:
    """What ``--to`` says, and what is written for it: a source that stands alone, a package, or either."""

    name: str
    single: Callable[[Member], Mapping[str, str]] | None = None
    """One file with the runtime and the table as a literal, by its name (for C two; for Java a class, and the runtime's
    folder); vectors are written beside it."""
    package: Packaging | None = None


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def constant_names(prefix: str, labels: tuple[str, ...]) -> list[str]:
    """Names of constants: the position makes each another one.

    >>> constant_names("INPUT", ("no", "rather yes", "?"))
    ['INPUT_0_NO', 'INPUT_1_RATHER_YES', 'INPUT_2']
    """
    texts = (re.sub(r"[^A-Z0-9]+", "_", label.upper(), flags=re.ASCII).strip("_") for label in labels)
    return [f"{prefix}_{i}_{word[:_LONGEST_NAME]}".rstrip("_") for i, word in enumerate(texts)]
