"""A survey: what the clients of a collection run, written once beside its reports and read by whoever counts them.

Parameters such as g of local hashing follow from eps and the number of items by a rule. A domain that grows, or a rule
that improves, would change them under reports that were made before: so they are written down, not derived again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies.clients import OWN, law_of_client, require_client, with_chances
from mechdesign.studies.frequencies.datasets import require_domain_labels
from mechdesign.studies.frequencies.protocols.catalogue import entry, options_of
from mechdesign.studies.frequencies.protocols.hashing import LocalHashing
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.reports import Counted, count_reports
from mechdesign.tables.checker import canonical
from mechdesign.tables.document import decimal, with_hash
from mechdesign.values import files
from mechdesign.values.declare import epsilon, field, frozen, settle

FORMAT, VERSION = "mechdesign survey", 1

NEED_LIMIT = ("l-oue", "l-soue")  # one round of the other memoised protocols does not depend on the limit
_SAME = 1e-9  # relative: what two machines' exponentials may differ by, generously
_QUESTION = ("client", "epsilon", "hash", "items", "p", "parameters", "protocol", "q", "stated")
_ATTRIBUTES = {"g": "hashes"}  # of a law, where it is called otherwise than the option


@frozen
class Survey:
    """One question to users: the items, and how a client reports one of them.

    ``parameters`` are the options of `protocol`; those left out are the client's own, which are fixed here. ``p`` and
    ``q`` are for clients that made reports with other chances than the protocol's; None stands for the protocol's.

    >>> survey = Survey("olh", 1.0, ("ape", "bee", "cat", "dog", "eel"))
    >>> survey.parameters, Survey("olh", 1.0, tuple(map(str, range(100)))).parameters
    ((('g', 3),), (('g', 4),))
    """

    protocol: str
    epsilon: float = epsilon()
    items: tuple[str, ...]
    client: str = OWN
    parameters: Mapping[str, float] | tuple[tuple[str, float], ...] = ()
    p: float | None = None
    q: float | None = None
    law: FrequencyProtocol = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        key, client = entry(self.protocol).key, require_client(self.client)
        items = tuple(self.items) if not isinstance(self.items, str) else ()
        require_domain_labels(items)
        given = dict(self.parameters)
        if "limit" not in given and key in NEED_LIMIT:
            raise InvalidInput("limit", None, f"be given for {key}: its p* and q* depend on it", "pass --limit")
        law = law_of_client(client, key, self.epsilon, len(items), **given)
        if self.p is None and self.q is not None:
            raise InvalidInput("p", None, "be given with q", "pass --p")
        if self.p is not None:
            law = with_chances(law, self.p, self.q)
        settle(self, protocol=key, items=items, client=client, parameters=_fixed(key, law, given), law=law)
        settle(self, q=None if self.p is None else law.q)

    @property
    def options(self) -> dict[str, float]:
        """The parameters by their names."""
        return dict(self.parameters)

    @property
    def hash(self) -> str | None:
        """What clients of local hashing hash, and how."""
        law = self.law.once if isinstance(self.law, Longitudinal) else self.law
        return law.hash if isinstance(law, LocalHashing) else None

    def count(self, reports: Path | str, *, order: str | None = None) -> Counted:
        """The support of all items in a file of reports."""
        return count_reports(reports, self.law, self.items, order=order, positions=self.client != OWN)

    # -- files ---------------------------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """The survey as FORMAT.md has it, with its hash."""
        question = {
            "protocol": self.protocol,
            "epsilon": decimal(self.epsilon),
            "items": list(self.items),
            "client": self.client,
            "hash": self.hash,
            "parameters": {
                name: value if isinstance(value, int) else decimal(value) for name, value in self.options.items()
            },
            "p": decimal(self.law.p),
            "q": decimal(self.law.q),
            "stated": self.p is not None,
        }
        content = {"format": FORMAT, "version": VERSION, "questions": [question]}
        return with_hash(content)

    def write(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the survey, all of it or nothing."""
        return files.write_atomically(path, canonical(self.document()), overwrite=overwrite)

    @classmethod
    def read(cls, path: Path | str) -> Survey:
        """The survey in a file. What it says is decided anew: parameters and chances must follow from the rest."""
        return cls.of_content(files.read_bytes(path), str(path))

    @classmethod
    def of_content(cls, content: bytes, source: str = "survey") -> Survey:
        """That of a file with these bytes."""
        return _Reader(source).survey(files.parse_json(content, source), content)


def is_survey(content: bytes) -> bool:
    """Whether the bytes look like a file of a survey."""
    return f'"format":"{FORMAT}"'.encode() in content


def _fixed(name: str, law: FrequencyProtocol, given: dict[str, float]) -> tuple[tuple[str, float], ...]:
    """Every parameter of the protocol, as its law has it."""
    once = law.once if isinstance(law, Longitudinal) else law
    found = []
    for option in sorted(options_of(name)):
        attribute = _ATTRIBUTES.get(option, option)
        # the limit of another package's client stands in no law of one round
        value = getattr(once, attribute, getattr(law, attribute, given.get(option)))
        if value is not None:
            found.append((option, value if isinstance(value, int) else float(value)))
    return tuple(found)


@frozen
class _Reader:
    """Reads one file, strictly; every complaint names it and the key."""

    source: str

    def survey(self, document: dict[str, Any], content: bytes) -> Survey:
        need, version, later = self._need, document.get("version"), "a later version of mechdesign may read it"
        need(document.get("format") == FORMAT, "format", f"be {FORMAT!r}", "mechdesign protocols --out writes surveys")
        need(version == VERSION and not isinstance(version, bool), "version", f"be {VERSION}", later)
        self._keys(document, ("format", "questions", "sha256", "version"), "the survey")
        need(document == with_hash(document), "sha256", "be the hash of the rest", "was the file edited, or cut short?")
        need(canonical(document) == content, "bytes", "be canonical: sorted keys, no blanks, one final newline")
        said = document["questions"]
        is_one = isinstance(said, list) and len(said) == 1 and isinstance(said[0], dict)
        need(is_one, "questions", "be a list of one object in this version")
        return self._question(said[0])

    def _question(self, said: dict[str, Any]) -> Survey:
        self._keys(said, _QUESTION, "the question")
        items, need = said["items"], self._need
        need(isinstance(items, list) and all(isinstance(item, str) for item in items), "items", "be a list of texts")
        need(isinstance(said["parameters"], dict), "parameters", "be an object")
        need(type(said["stated"]) is bool, "stated", "be true or false")
        chances = self._number(said["p"], "p"), self._number(said["q"], "q")
        need(None not in chances, "p and q", "be given")
        epsilon = self._number(said["epsilon"], "epsilon")
        parameters = {name: self._parameter(value, name) for name, value in said["parameters"].items()}
        question = said["protocol"], math.nan if epsilon is None else epsilon, tuple(items), said["client"], parameters
        try:
            survey = Survey(*question, *(chances if said["stated"] else ()))
        except InvalidInput as error:
            raise FileProblem(f"{error.field} in {self.source}", error.value, error.rule) from None
        for name, found in survey.document()["questions"][0].items():
            need(name in ("p", "q") or found == said[name], name, f"be {found!r}, as the rest says")
        for name, stated, found in zip("pq", chances, (survey.law.p, survey.law.q), strict=True):
            agrees = stated is not None and math.isclose(stated, found, rel_tol=_SAME)
            need(agrees, name, f"be {found!r}, as the rest says")
        return survey

    def _parameter(self, value: Any, name: str) -> float:
        number = value if type(value) is int else self._number(value, name)
        rule = "be a whole number, or the exact decimal expansion of a double, as text"
        self._need(number is not None, name, rule)
        return cast(float, number)

    def _number(self, text: Any, name: str) -> float | None:
        if text is None:
            return None
        try:
            number = float(text) if isinstance(text, str) and len(text) <= _LONGEST else math.nan
        except ValueError:
            number = math.nan
        is_exact = math.isfinite(number) and decimal(number) == text
        self._need(is_exact, name, "be the exact decimal expansion of a double, as text")
        return number

    def _keys(self, said: dict[str, Any], wanted: tuple[str, ...], what: str) -> None:
        wrong = sorted(set(wanted) - set(said)) + sorted(set(said) - set(wanted))
        self._need(not wrong, ", ".join(wrong), f"be keys of {what}: exactly {', '.join(wanted)}")

    def _need(self, true: bool, name: str, rule: str, tip: str = "") -> None:
        if not true:
            raise FileProblem(f"{name} in {self.source}", "something else", rule, tip)


_LONGEST = 1100  # characters of the longest decimal expansion of a double
