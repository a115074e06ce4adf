"""Whether a folder is the package of its tables: these are decided by the checker, and all else is written anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.tables import checker
from mechdesign.tables.device.description import Device, device_among
from mechdesign.tables.export.common import COLLECTION, DEVICE, MANIFEST, TABLES
from mechdesign.tables.export.folder import package_texts, tables_of
from mechdesign.tables.export.package import MEMBER
from mechdesign.tables.reports.collection import Collection
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.values.declare import frozen


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
        is_one = (said["format"], said["version"]) == ("mechdesign package", 2) and all(map(MEMBER.fullmatch, tables))
        if not is_one or not all(isinstance(text, str) for text in texts):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        rule = f"be a folder with the {MANIFEST} of a package, as export --package writes it"
        raise FileProblem("source", str(root), rule, "name a file or folder that export wrote") from None
    return language, name, tables, collection


def device_named(root: Path) -> str | None:
    """The hash of the device that a package's manifest names, which `package_difference` decides."""
    said = json.loads(files.read_bytes(root / MANIFEST)).get("device")
    return str(said.get("sha256")) if isinstance(said, dict) else None


def device_in(root: Path, tables: Mapping[str, Table]) -> Device | None:
    """The device of a folder whose manifest names one, decided from its file and these tables; or `FileProblem`."""
    if device_named(root) is None:
        return None
    return device_among(root / DEVICE, tables.values())
