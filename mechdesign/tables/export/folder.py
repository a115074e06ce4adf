"""Packages as folders: a runtime as it stands, tables and what an ecosystem's own tools want beside."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.tables.device.description import Device
from mechdesign.tables.export.common import common
from mechdesign.tables.export.package import CASES, Kept, Member, NameRule, Package, Packaging, member_of
from mechdesign.tables.export.registry import packaging_of, require_state
from mechdesign.tables.export.runtime import runtime
from mechdesign.tables.reports.collection import Collection, Spending
from mechdesign.tables.reports.envelope import Subject
from mechdesign.tables.table import Table
from mechdesign.values import files

_ONE_BY_ONE = "export a package for every question: what one person loses by all of them adds up"
_NOT_AT_THE_END = ("Envelope", "Envelopes")
"""No table's name ends like this: files of vectors would have one name."""
_DEVICE_WORDS = frozenset(("Device", "DeviceError", "DeviceStorage", "DeviceTest", "DeviceTests"))


def export_package(
    tables: Mapping[str, Table] | Collection,
    language: str,
    name: str,
    directory: Path | str,
    *,
    cases: int = CASES,
    device: Device | None = None,
) -> list[Path]:
    """Write a package with every table under the name it has here; report its files.

    Of a collection, which each person answers whole, the tables are those of its attributes, and envelopes are of it.
    With a ``device`` the tables are those it draws from, and the package has its state machine, too.

    *Guarantee.* The folder appears with all of its files or not at all: they are written to one beside it, which is
    then renamed. It must not be there before. The same tables and names give the same bytes, and the runtime is the
    same in every package of a language.
    """
    texts = package_texts(tables, language, name, cases=cases, device=device)
    folder = Path(directory)
    _require_free(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name[:50]}.", suffix=".tmp") as place:
            made = Path(place) / "package"
            for path, text in texts.items():
                _write(made / path, text)
            made.chmod(0o755)
            _require_free(folder)
            made.rename(folder)
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise FileProblem(
            "directory", str(folder), f"be writable: {reason}", files.remedy(error, "choose another folder")
        ) from None
    return [folder / path for path in texts]


def _require_free(folder: Path) -> None:
    try:
        taken = os.path.lexists(folder)
    except ValueError:  # a null character
        taken = False
    if taken:
        rule = "not exist yet: a package is written whole, and nothing in a folder is replaced"
        raise FileProblem("directory", str(folder), rule, "remove it first, or choose another folder with --out")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())


def package_texts(
    tables: Mapping[str, Table] | Collection,
    language: str,
    name: str,
    *,
    cases: int = CASES,
    device: Device | None = None,
) -> dict[str, str]:
    """The files of a package by their paths, and their text."""
    packaging = packaging_of(language)
    if device is not None:
        require_state(language)
        _require_own_tables(device, tables)
    package = package_for(tables, language, name, cases, device)
    carried = {path: runtime(source) for path, source in packaging.carried(package).items()}
    parts = common(package, packaging), carried, packaging.files(package)
    texts = {path: text for part in parts for path, text in part.items()}
    if len(texts) != sum(map(len, parts)):
        rule = "not be the name of a file that packages have beside the tables"
        raise InvalidInput("package", name, rule, "choose another name for the package, or for a table")
    return texts


def tables_of(collection: Collection) -> dict[str, Table]:
    """The tables that a package of a collection has, by the names of its attributes.

    One of which each person answers one question, drawn at random, is `InvalidInput`: a package would answer all.
    """
    if collection.spending is not Spending.SPLIT:
        rule = "have a report of every attribute from each person, where a package is made of it"
        step = "a package would answer all and spend more: export the tables, and draw in the app which one is asked"
        raise InvalidInput("spending", collection.spending.value, rule, step)
    return {attribute.name: attribute.table for attribute in collection.attributes}


def _require_own_tables(device: Device, tables: Mapping[str, Table] | Collection) -> None:
    """A package with a device holds the tables it draws from, and no more."""
    if isinstance(tables, Collection):
        rule = "be tables where a device keeps a state: each attribute has a device of its own"
        raise InvalidInput("collection", tables.name, rule, _ONE_BY_ONE)
    own = {device.table.sha256, device.reporting.sha256}
    if {table.sha256 for table in tables.values()} != own or len(tables) != len(own):
        rule = "be those of one device: what is drawn once, and what draws again, where there is one"
        raise InvalidInput("tables", ", ".join(tables), rule, _ONE_BY_ONE)


def package_for(
    said: Mapping[str, Table] | Collection, language: str, name: str, cases: int = CASES, device: Device | None = None
) -> Package:
    """The package of these tables under these names, or `InvalidInput`."""
    collection = said if isinstance(said, Collection) else None
    tables = tables_of(said) if isinstance(said, Collection) else said
    if not tables:
        raise InvalidInput("tables", "none", "be at least one")
    packaging = packaging_of(language)
    packaging.rule.require(name, packaging.ecosystem)
    members = tuple(
        member_of(key, table, cases, _subject(table, device) if collection is None else collection.subject(number))
        for number, (key, table) in enumerate(tables.items())
    )
    _require_different(members, packaging, name)
    kept = None if device is None else _kept(device, members)
    return Package(language, name, members, collection, kept)


def _subject(table: Table, device: Device | None) -> Subject:
    """Of the table that a device reports, reports are the device's: they are estimated through all that it draws."""
    if device is not None and table == device.reporting:
        return Subject(device.sha256, is_device=True)
    return Subject(table.sha256)


def _kept(device: Device, members: tuple[Member, ...]) -> Kept:
    by_hash = {member.table.sha256: member for member in members}
    kept = Kept(device, by_hash[device.table.sha256], None if device.again is None else by_hash[device.again.sha256])
    for member in members:
        is_other = member is not kept.once
        if member.camel in _DEVICE_WORDS or (is_other and (member.name + "_").startswith(kept.name + "_")):
            rule = f"not be a word that the device {kept.name} has already"
            raise InvalidInput("table name", member.name, rule, "rename the table's file")
    return kept


def _require_different(members: tuple[Member, ...], packaging: Packaging, package: str) -> None:
    seen: dict[str, str] = {}
    for member in members:
        if _is_taken(member, packaging.rule, package):
            rule = f"not be a word that {packaging.ecosystem} has already"
            raise InvalidInput("table name", member.name, rule, "rename the table's file, or the attribute")
        if member.camel.endswith(_NOT_AT_THE_END):
            rule = "not end with envelope or envelopes, which packages have for the reports of every table"
            raise InvalidInput("table name", member.name, rule, "rename the table's file, or the attribute")
        for word in (member.camel, member.stem):
            if word in seen:
                rule = f"be another table than {seen[word]}, and of another name"
                raise InvalidInput("table name", member.name, rule, "name every table once")
            seen[word] = member.name


def _is_taken(member: Member, rule: NameRule, package: str) -> bool:
    return not rule.members.isdisjoint((member.name, member.camel)) or member.camel == package
