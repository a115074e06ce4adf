"""A package: samplers of one or several tables, each under a name of its own, with what an ecosystem wants beside."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files

from mechdesign.deploy.export.layout import fill, included
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import comes_out, goes_in, least, unless
from mechdesign.deploy.export.vectors import Vector, lines
from mechdesign.deploy.reports.collection import Collection
from mechdesign.deploy.reports.envelope import Subject
from mechdesign.deploy.table import Table
from mechdesign.errors import InvalidInput
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_up

VERSION = "1.0.0"
"""Of every package: who ships a new table ships a package of another name or raises it."""

MANIFEST = "mechdesign-package.json"
TABLES = "tables"
COLLECTION = "collection.json"
DEVICE = "device.json"
_MEMBER = re.compile(r"[a-z][a-z0-9_]{0,39}")


@frozen
class Member:
    """A table of a package, under the name by which its sampler is called there."""

    name: str
    table: Table
    plan: Plan
    cases: tuple[Vector, ...]
    subject: Subject
    """What envelopes say that its reports are of: the table, the package's device or an attribute of its collection."""

    @property
    def vectors(self) -> str:
        """The text file of vectors."""
        return lines(self.cases, self.plan.sha256)

    @property
    def camel(self) -> str:
        """The name as those of classes are written.

        >>> Member.camel.fget(type("", (), {"name": "smokes_now"}))
        'SmokesNow'
        """
        return "".join(word.capitalize() for word in self.name.split("_") if word)

    @property
    def inputs(self) -> tuple[str, ...] | tuple[float, ...]:
        """What may go in, where it can be listed."""
        return self.plan.inputs.points if self.plan.input_labels is None else self.plan.input_labels


@frozen
class Package:
    """The name of a package, and its tables."""

    language: str
    name: str
    members: tuple[Member, ...]
    collection: Collection | None = None
    """The collection whose attributes the members are, if it is one."""

    def each(self, text: str, words: Callable[[Member], Mapping[str, object]], between: str = "\n") -> str:
        """A text for every member, its places filled."""
        return between.join(
            fill(text, {"package": self.name, **_of_member(member), **words(member)}) for member in self.members
        )

    def filled(self, name: str, more: Mapping[str, object] | None = None) -> str:
        """A template of this folder, with the places that all of them may have."""
        return fill(template(name), {"package": self.name, "version": VERSION, **(more or {})})


def _of_member(member: Member) -> dict[str, object]:
    plan = member.plan
    return {"name": member.name, "Name": member.camel, "stem": plan.stem, "sha": plan.sha256, "enough": plan.allotted}


@frozen
class NameRule:
    """What a package may be called: a pattern, in words, and which words mean something else in the ecosystem."""

    pattern: str
    words: str
    taken: frozenset[str]
    members: frozenset[str] = frozenset()
    """What tables may not be called: keywords, and classes that sources or tests of a package use."""

    def require(self, name: str, ecosystem: str) -> None:
        """`InvalidInput` with the rule for a name that is none."""
        if not re.fullmatch(self.pattern, name, re.ASCII):
            raise InvalidInput("package", name, f"be {self.words}", f"that is what {ecosystem} takes for a name")
        part = next((part for part in re.split(r"[./@]", name) if part in self.taken), None)
        if part is not None:
            rule = f"not have {part!r} in it, which {ecosystem} has already"
            raise InvalidInput("package", name, rule, "choose another name")


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def require_member(name: str) -> str:
    """A name that a table can have in every language."""
    if not _MEMBER.fullmatch(name):
        rule = "be a small letter, then small letters, digits and _, at most 40 together"
        raise InvalidInput(
            "table name", name, rule, "the name of a table's file, or of an attribute, becomes that of its sampler"
        )
    return name


@cache
def template(name: str) -> str:
    """A template by its name in the folder of packages; what it includes is in the folder of sources."""
    return included(files(__package__).joinpath("templates", *name.split("/")).read_text(encoding="utf-8"))


def common(package: Package, readme: Mapping[str, str]) -> dict[str, str]:
    """What every package holds: its manifest, its tables, a licence and what to read first.

    ``readme`` says how it is ``built``, ``tested`` and ``called``, and where ``randomness`` is from.
    """
    manifest: dict[str, object] = {
        "format": "mechdesign package",
        "version": 1,
        "language": package.language,
        "name": package.name,
        "tables": {member.name: member.table.sha256 for member in package.members},
    }
    tables = {f"{TABLES}/{member.name}.json": member.table.content.decode() for member in package.members}
    if package.collection is not None:
        manifest["collection"] = package.collection.sha256
        tables[COLLECTION] = package.collection.content.decode()
    about = {"tables": "\n".join(_described(package.members)), "total": spent(package), **readme}
    return {
        MANIFEST: json.dumps(manifest, indent=2) + "\n",
        "LICENSE": template("LICENSE"),
        "README.md": package.filled("README.md", about),
        **tables,
    }


def _described(members: Iterable[Member]) -> Iterable[str]:
    for member in members:
        plan = member.plan
        yield f"* `{member.name}`: {goes_in(plan)} in, {comes_out(plan)} out; kind {plan.kind}, epsilon {plan.epsilon}."
        yield f"  Table `{plan.sha256}`."


def spent(package: Package) -> str:
    """What one person spends who answers everything once, in words."""
    if package.collection is not None:
        collection = package.collection
        return (
            f"Together they are the collection {json.dumps(collection.name)}, `{collection.sha256}`.\n"
            f"**Who answers it once spends epsilon {_told(collection.epsilon)} in all.**"
        )
    total = sum((member.table.epsilon for member in package.members), Fraction(0))
    what = "the question" if len(package.members) == 1 else "every question"
    return f"**Who answers {what} once spends epsilon {_told(total)} in all.**"


def _told(epsilon: Fraction) -> str:
    """
    >>> _told(Fraction(5, 2)), _told(Fraction(1, 3))
    ('2.5', 'at most 0.333334')
    """
    near = f"{float(epsilon):.6g}"
    above = math.nextafter(float(epsilon), math.inf)
    return near if Fraction(near) == epsilon else f"at most {rounded_up(above, 6)}"


def in_blocks(package: Package, source: str) -> str:
    """What is said of randomness where samplers read it in blocks."""
    takes = "\n".join(
        f"A report of `{member.name}` takes {least(member.plan)} bytes, whatever the input{unless(member.plan)}."
        for member in package.members
    )
    return f"""\
{source}

It is read in blocks; bytes are erased as they are used.
{takes}
How long it takes to find a report by them may depend on the input. Who copies a running process whole (a snapshot of a
virtual machine, a checkpoint) copies bytes that are not used yet, too: start it anew instead."""
