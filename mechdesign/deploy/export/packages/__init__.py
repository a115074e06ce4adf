"""Exports that are packages: samplers with a manifest, a licence and tests, as an ecosystem's own tools want them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from mechdesign.deploy import checker
from mechdesign.deploy.device.description import Device
from mechdesign.deploy.export.packages import c, cargo, jvm, npm, sql, swift, wasm, wheel
from mechdesign.deploy.export.packages.devices import (
    device_in,
    require_own_tables,
    require_state,
    with_device,
)
from mechdesign.deploy.export.packages.envelopes import NOT_IN_OTHERS
from mechdesign.deploy.export.packages.package import (
    COLLECTION,
    DEVICE,
    MANIFEST,
    TABLES,
    Member,
    NameRule,
    Package,
    require_member,
)
from mechdesign.deploy.export.plan import plan_of
from mechdesign.deploy.export.refusals import refusals
from mechdesign.deploy.export.vectors import vectors_of
from mechdesign.deploy.reports.collection import Collection, Spending
from mechdesign.deploy.reports.envelope import Subject
from mechdesign.deploy.table import Table
from mechdesign.deploy.vectors import test_vectors
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.values import files
from mechdesign.values.declare import frozen

CASES = 100
"""Test vectors of random bytes, after those at the boundaries of the law."""


@frozen
class Ecosystem:
    """What a package may be called, and how its files are written."""

    name: str
    rule: NameRule
    files: Callable[[Package], dict[str, str]]


ECOSYSTEMS: Mapping[str, Ecosystem] = {
    "swift": Ecosystem("Swift", swift.RULE, swift.files),
    "kotlin": Ecosystem("Kotlin", jvm.KOTLIN_RULE, jvm.kotlin_files),
    "typescript": Ecosystem("npm", npm.RULE, npm.files),
    "rust": Ecosystem("Cargo", cargo.RULE, cargo.files),
    "c": Ecosystem("C", c.RULE, c.files),
    "python": Ecosystem("Python", wheel.RULE, wheel.python_files),
    "java": Ecosystem("Java", jvm.JAVA_RULE, jvm.java_files),
    "sql": Ecosystem("PostgreSQL", sql.RULE, sql.files),
    "opendp": Ecosystem("Python", wheel.RULE, wheel.opendp_files),
    "wasm": Ecosystem("npm", wasm.RULE, wasm.files),
}
PACKAGED = tuple(ECOSYSTEMS)
"""The languages that packages are written for."""


def export_package(
    tables: Mapping[str, Table] | Collection,
    language: str,
    name: str,
    directory: Path | str,
    *,
    cases: int = CASES,
    device: Device | None = None,
) -> list[Path]:
    """Write a package with a sampler of every table under the name it has here; report its files.

    Of a collection, which each person answers whole, the samplers are those of its attributes, and envelopes are of it.
    With a ``device`` the tables are those it draws from, and the package has its state machine, too.

    *Guarantee.* The folder appears with all of its files or not at all: they are written to one beside it, which is
    then renamed. It must not be there before. The same tables and names give the same bytes.
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
    if device is not None:
        require_state(language)
        require_own_tables(device, tables)
    if isinstance(tables, Collection):
        package = _package(tables_of(tables), language, name, cases, tables)
    else:
        package = _package(tables, language, name, cases, None, device)
    texts = ECOSYSTEMS[language].files(package)
    return texts if device is None else with_device(package, device, texts)


def tables_of(collection: Collection) -> dict[str, Table]:
    """The tables that a package of a collection has, by the names of its attributes.

    One of which each person answers one question, drawn at random, is `InvalidInput`: samplers would answer all.
    """
    if collection.spending is not Spending.SPLIT:
        rule = "have a report of every attribute from each person, where a package is made of it"
        step = "a package would answer all and spend more: export the tables, and draw in the app which one is asked"
        raise InvalidInput("spending", collection.spending.value, rule, step)
    return {attribute.name: attribute.table for attribute in collection.attributes}


def _package(
    tables: Mapping[str, Table],
    language: str,
    name: str,
    cases: int,
    collection: Collection | None,
    device: Device | None = None,
) -> Package:
    if language not in ECOSYSTEMS:
        raise InvalidInput("language", language, f"be one of {', '.join(PACKAGED)} where a package is asked for")
    if not tables:
        raise InvalidInput("tables", "none", "be at least one")
    ecosystem = ECOSYSTEMS[language]
    ecosystem.rule.require(name, ecosystem.name)
    members = tuple(
        _member(key, table, cases, _subject(table, device) if collection is None else collection.subject(number))
        for number, (key, table) in enumerate(tables.items())
    )
    _require_different(members, ecosystem, name)
    return Package(language, name, members, collection)


def _subject(table: Table, device: Device | None) -> Subject:
    """Of the table that a device reports, reports are the device's: they are estimated through all that it draws."""
    if device is not None and table == device.reporting:
        return Subject(device.sha256, is_device=True)
    return Subject(table.sha256)


def _member(name: str, table: Table, cases: int, subject: Subject) -> Member:
    plan = plan_of(table.document)
    vectors = (*vectors_of(test_vectors(table, cases)), *refusals(plan.inputs))
    return Member(require_member(name), table, plan, vectors, subject)


def _require_different(members: tuple[Member, ...], ecosystem: Ecosystem, package: str) -> None:
    seen: dict[str, str] = {}
    for member in members:
        if not ecosystem.rule.members.isdisjoint((member.name, member.camel)) or member.camel == package:
            rule = f"not be a word that {ecosystem.name} has already"
            raise InvalidInput("table name", member.name, rule, "rename the table's file, or the attribute")
        if member.camel.endswith(NOT_IN_OTHERS):
            rule = "not end with envelope or envelopes, which packages have for the reports of every table"
            raise InvalidInput("table name", member.name, rule, "rename the table's file, or the attribute")
        for word in (member.camel, member.plan.stem):
            if word in seen:
                rule = f"be another table than {seen[word]}, and of another name"
                raise InvalidInput("table name", member.name, rule, "name every table once")
            seen[word] = member.name


@frozen
class PackageDifference:
    """The first file, by name, in which a folder is not the package of its tables, and how."""

    path: str
    rule: str


def is_packaged(path: Path) -> bool:
    """Whether a folder says that it is a package."""
    return (path / MANIFEST).is_file()


def package_of(path: Path) -> Path | None:
    """The package that a file is in, if any."""
    return next((folder for folder in path.absolute().parents if is_packaged(folder)), None)


def package_difference(table: Table, folder: Path | str, only: Path | str | None = None) -> PackageDifference | None:
    """``None`` if the folder is, byte for byte, a package that `export_package` writes, and this table is in it.

    With ``only``, a file of the folder, no other is compared. The tables of the package are checked, and everything is
    written anew from them and from the names in its manifest: nothing else in the folder is believed.
    """
    root = Path(folder)
    language, name, names, whole = _manifest(root)
    tables = {}
    for member, sha256 in names.items():
        path = f"{TABLES}/{member}.json"
        content = _content(root / path)
        if content is None:
            return PackageDifference(path, "is missing")
        try:
            checker.check(content)
        except checker.Failed as failure:
            return PackageDifference(path, f"is no table that passes its check: {failure}")
        tables[member] = Table(content)
        if tables[member].sha256 != sha256:
            return PackageDifference(path, "is another table than the manifest names")
    if table.sha256 not in names.values():
        return PackageDifference(MANIFEST, "names other tables, not this one")
    try:
        device = device_in(root, tables)
    except (FileProblem, InvalidInput) as problem:
        return PackageDifference(DEVICE, f"is no device file of these tables: {problem}")
    collection = None
    if whole is not None:
        try:
            collection = Collection.of_content(_content(root / COLLECTION) or b"", COLLECTION)
        except FileProblem as error:
            return PackageDifference(COLLECTION, f"is no collection: it must {error.rule}")
        if collection.sha256 != whole or tables_of(collection) != tables:
            return PackageDifference(COLLECTION, "is another collection than the manifest names")
    texts = package_texts(collection or tables, language, name, device=device)
    if only is not None:
        path = PurePosixPath(Path(only).absolute().relative_to(root.absolute())).as_posix()
        return _difference(root, path, texts)
    inner = {parent for path in texts for parent in PurePosixPath(path).parents}
    every = [(path, PurePosixPath(path.relative_to(root))) for path in root.rglob("*")]
    found = {path.as_posix() for place, path in every if not (_is_folder(place) and path in inner)}
    return next(filter(None, (_difference(root, path, texts) for path in sorted(found | set(texts)))), None)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _difference(root: Path, path: str, texts: Mapping[str, str]) -> PackageDifference | None:
    if path not in texts:
        return PackageDifference(path, "is no file of the export (compare a folder in which nothing was built)")
    content, expected = _content(root / path), texts[path].encode()
    if content is None:
        return PackageDifference(path, "is missing, or no plain file")
    if content == expected:
        return None
    pairs = zip(content.split(b"\n"), expected.split(b"\n"), strict=False)
    line = next(
        (i for i, (a, b) in enumerate(pairs, 1) if a != b), min(content.count(b"\n"), expected.count(b"\n")) + 1
    )
    return PackageDifference(path, f"differs from the export in line {line}")


def _content(path: Path) -> bytes | None:
    try:
        return None if path.is_symlink() or not path.is_file() else files.read_bytes(path)
    except OSError:
        return None


def _manifest(root: Path) -> tuple[str, str, dict[str, str], str | None]:
    """The language, the name, the tables and the collection that a folder names; nothing of them is believed."""
    try:
        said = json.loads(files.read_bytes(root / MANIFEST))
        language, name, tables = said["language"], said["name"], said["tables"]
        collection = said.get("collection")
        texts = [language, name, *tables, *tables.values(), collection or ""]
        if said["format"] != "mechdesign package" or not all(isinstance(text, str) for text in texts):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        rule = f"be a folder with the {MANIFEST} of a package, as export --package writes it"
        raise FileProblem("source", str(root), rule, "name a file or folder that export wrote") from None
    for member in tables:
        require_member(member)
    return language, name, tables, collection
