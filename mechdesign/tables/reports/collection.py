"""Several questions to one person: a table for each, how epsilon is shared between them, and what it costs in all.

The file holds the tables themselves. So what it says of epsilon, labels and reports is decided when it is read, and one
hash and one signature are about all of it.
"""

from __future__ import annotations

import enum
import secrets
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any, ClassVar

from mechdesign.errors import FileProblem, InvalidInput, sealed
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.tables import checker
from mechdesign.tables.document import with_hash
from mechdesign.tables.labels import require_labels
from mechdesign.tables.reports.envelope import Envelope, Subject, enveloped
from mechdesign.tables.reports.payload import Bytes, Double, Index, payload_of
from mechdesign.tables.streams import Stream
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.values.codec import Codec, encoded, named
from mechdesign.values.declare import derived, field, frozen, several, whole

FORMAT, VERSION = "mechdesign collection", 1
_MOST = 100  # attributes: so the digits of a product of ratios stay within what fractions in files may have
_DAMAGED = "was it edited, cut short or saved anew by another program? take the original"


class Spending(enum.Enum):
    """How one person's epsilon is used: a report of every attribute, or of one that is drawn at random."""

    SPLIT = "split"
    SAMPLE = "sample"


@frozen
class Attribute:
    """One question: its name, and the table that reports of it are drawn from."""

    name: str
    table: Table


@frozen
class Collection:
    """The tables of a collection in their order, and how a person's epsilon is spent on them.

    *Guarantee.* With ``SPLIT`` a person sends one report of every attribute, and `epsilon` is the sum of the tables'
    epsilons and `ratio` the product of their largest likelihood ratios. With ``SAMPLE`` a person sends one report, of
    an attribute that is drawn uniformly and whatever the answers are, and both are the largest of the tables'. Exact:
    sums, products and maxima of fractions. That each person sends one set of reports is up to the device. Of a table
    with an epsilon for each pair of inputs it is the one for any two of them that counts.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> parts = [Attribute("age", make_table(duchi(1.0))), Attribute("pay", make_table(duchi(0.5)))]
    >>> Collection("survey", "split", parts).epsilon, Collection("survey", "sample", parts).epsilon
    (Fraction(3, 2), Fraction(1, 1))
    """

    name: str
    spending: Spending = field(converter=lambda said: _spending(said))
    attributes: tuple[Attribute, ...] = several("attributes")
    content: bytes = derived(lambda whole: _content(whole))
    """The canonical bytes of its file."""
    sha256: str = derived(lambda whole: str(files.parse_json(whole.content)["sha256"]))

    def __attrs_post_init__(self) -> None:
        require_labels((self.name,), "name")
        if not all(isinstance(attribute, Attribute) for attribute in self.attributes):
            raise InvalidInput(
                "attributes", type(self.attributes[0]).__name__, "be attributes: a name and a table each"
            )

    def __repr__(self) -> str:
        names = ", ".join(attribute.name for attribute in self.attributes[:3])
        return f"Collection({self.name!r}, {self.spending.value}, {names}, epsilon={self.epsilon})"

    @property
    def epsilon(self) -> Fraction:
        """What one person spends at most, of all that is sent: exact."""
        return _epsilon(self.spending, self.attributes)

    @property
    def ratio(self) -> Fraction:
        """The largest likelihood ratio of all that one person sends, exact or a bound as those of the tables are."""
        return _ratio(self.spending, self.attributes)

    @property
    def privacy_loss(self) -> float:
        """The logarithm of `ratio`, to the nearest double."""
        return LikelihoodRatio(self.ratio).loss

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Of each attribute its share of epsilon, or the chance that it is the one that is asked. Their sum is 1."""
        return _shares(self.spending, self.attributes)

    def subject(self, number: int) -> Subject:
        """What envelopes say of reports of attribute ``number``."""
        return Subject(self.sha256, number)

    def drawn(self) -> tuple[int, ...]:
        """The attributes that one person is asked, drawn anew with the system's randomness where one is drawn."""
        count = len(self.attributes)
        return tuple(range(count)) if self.spending is Spending.SPLIT else (Stream(secrets.token_bytes).below(count),)

    @sealed
    def enveloped(self, values: Mapping[str, Any], expires: date) -> list[Envelope]:
        """One person's reports: of every attribute, or of one. ``values`` has one for each attribute.

        A second call for the same person is a second set of reports, and the epsilons add up.
        """
        missing = [attribute.name for attribute in self.attributes if attribute.name not in values]
        if missing or len(values) != len(self.attributes):
            names = ", ".join(attribute.name for attribute in self.attributes)
            raise InvalidInput("values", f"{len(values)} values", f"have one value for each of {names}")
        asked = [(number, self.attributes[number]) for number in self.drawn()]
        return [enveloped(a.table, values[a.name], expires, self.subject(number)) for number, a in asked]

    def save(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the file, all of it or nothing."""
        return files.write_atomically(path, self.content, overwrite=overwrite)

    @classmethod
    def of_content(cls, content: bytes, source: str = "collection") -> Collection:
        """The collection with these canonical bytes; all that they say is decided anew, else it is a `FileProblem`."""
        document = files.parse_json(content, source)
        if document.get("format") != FORMAT:
            raise FileProblem("collection", source, f"have the format {FORMAT!r}", "the command collection makes one")
        if type(document.get("version")) is not int or document["version"] != VERSION:
            raise FileProblem("collection", source, f"have version {VERSION}", "a later mechdesign may read it")
        del document["format"]
        said: _Written = Codec().decoded(_Written, document, "collection")
        parts = [Attribute(entry.name, _table(entry, i)) for i, entry in enumerate(said.attributes)]
        found = _made(said, parts, source)
        if found.content != content:
            wrong = _first_difference(encoded(_written(found)), document)
            raise FileProblem("collection", source, f"say what follows from its tables, and {wrong} does not", _DAMAGED)
        return found


def load_collection(path: Path | str) -> Collection:
    """Read the file of a collection; anything but a canonical file whose tables pass their check is a `FileProblem`."""
    return Collection.of_content(files.read_bytes(path), str(path))


def is_collection(content: bytes) -> bool:
    """Whether the bytes look like a file of a collection."""
    return f'"format":"{FORMAT}"'.encode() in content


# -- the file ----------------------------------------------------------------------------------------------------------


@frozen
class _Entry:
    """What the file holds of an attribute."""

    name: str
    report: Bytes | Double | Index
    share: Fraction
    table: Mapping[str, Any]


@frozen
class _Written:
    """What the file holds, but for its format."""

    kind: ClassVar[None] = None

    attributes: tuple[_Entry, ...]
    epsilon: Fraction
    name: str
    ratio: Fraction = field(metadata=named("privacy"))
    sha256: str
    spending: Spending
    version: int = whole("version", VERSION, VERSION, default=VERSION)


def _written(whole: Collection, sha256: str = "") -> _Written:
    parts, spending = whole.attributes, whole.spending
    entries = tuple(
        _Entry(attribute.name, payload_of(attribute.table), share, attribute.table.document)
        for attribute, share in zip(parts, _shares(spending, parts), strict=True)
    )
    return _Written(entries, _epsilon(spending, parts), whole.name, _ratio(spending, parts), sha256, spending)


def _content(whole: Collection) -> bytes:
    require_labels([attribute.name for attribute in whole.attributes], "attribute names")
    if len(whole.attributes) > _MOST:
        raise InvalidInput("attributes", len(whole.attributes), f"be at most {_MOST}")
    return checker.canonical(with_hash(encoded(_written(whole)) | {"format": FORMAT}))


def _table(entry: _Entry, number: int) -> Table:
    try:
        return Table(checker.canonical(dict(entry.table)))
    except InvalidInput as error:
        place = f"collection attributes[{number}] table"
        raise FileProblem(place, error.value, error.rule, error.next_step) from None


def _made(said: _Written, parts: Sequence[Attribute], source: str) -> Collection:
    try:
        return Collection(said.name, said.spending, tuple(parts))
    except InvalidInput as error:
        raise FileProblem(f"{error.field} in {source}", error.value, error.rule, error.next_step) from None


def _first_difference(found: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    wrong = [key for key in found if key != "sha256" and found[key] != said.get(key)]
    return wrong[0] if wrong else "its hash, or the order or form of its bytes,"


# -- what is spent -----------------------------------------------------------------------------------------------------


def _spending(said: Any) -> Spending:
    try:
        return Spending(said)
    except ValueError:
        raise InvalidInput("spending", said, "be 'split' or 'sample'") from None


def _epsilon(spending: Spending, parts: Sequence[Attribute]) -> Fraction:
    each = [attribute.table.epsilon for attribute in parts]
    return sum(each, Fraction(0)) if spending is Spending.SPLIT else max(each)


def _ratio(spending: Spending, parts: Sequence[Attribute]) -> Fraction:
    each = [attribute.table.ratio for attribute in parts]
    return prod(each, start=Fraction(1)) if spending is Spending.SPLIT else max(each)


def _shares(spending: Spending, parts: Sequence[Attribute]) -> tuple[Fraction, ...]:
    if spending is Spending.SAMPLE:
        return tuple(Fraction(1, len(parts)) for _ in parts)
    total = _epsilon(spending, parts)
    return tuple(attribute.table.epsilon / total for attribute in parts)
