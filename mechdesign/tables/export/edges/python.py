"""Python: a wheel of the runtime, which needs the standard library only, and unit tests; or one module."""

from __future__ import annotations

import json
import keyword
import sys
from collections.abc import Mapping, Sequence

from mechdesign.tables.export.package import (
    MOST_CASES,
    VERSION,
    Language,
    Member,
    NameRule,
    Package,
    Packaging,
)
from mechdesign.tables.export.render import render, text
from mechdesign.tables.export.runtime import runtime

RUNTIME = "python/mechdesign_runtime/__init__.py"
_DEVICE = "python/mechdesign_runtime/device.py"
RULE = NameRule(
    "[a-z][a-z0-9_]{0,63}",
    "a small letter, then small letters, digits and _",
    frozenset(keyword.kwlist)
    | frozenset(keyword.softkwlist)
    | sys.stdlib_module_names
    | frozenset(("opendp", "numpy", "mechdesign", "mechdesign_runtime")),
    frozenset(keyword.kwlist) | frozenset(("mechdesign_runtime", "measurement", "collected")),
)


def carried(package: Package) -> dict[str, str]:
    """The runtime, what reads this package's tables, and the tests."""
    carried = carried_with(package.name, "python/package/init.py")
    if package.device is not None:
        carried[f"src/{package.name}/mechdesign_runtime/device.py"] = _DEVICE
    return carried


def carried_with(name: str, init: str) -> dict[str, str]:
    return {
        f"src/{name}/__init__.py": init,
        f"src/{name}/mechdesign_runtime/__init__.py": RUNTIME,
        "tests/test_package.py": "python/package/tests.py",
        "tests/replay.py": "python/replay.py",
    }


def _files(package: Package) -> dict[str, str]:
    types = render(text("python_types.pyi.jinja"), package=package, taken=_taken, given=_given)
    return files(package, python="3.8", needed=()) | {f"src/{package.name}/__init__.pyi": types}


def files(package: Package, python: str, needed: Sequence[str]) -> dict[str, str]:
    """The manifest, the tables where the package reads them, and vectors."""
    places = {"package": package, "version": VERSION, "python": python, "needed": json.dumps(needed)}
    texts = {
        "pyproject.toml": render(text("pyproject.toml.jinja"), **places),
        f"src/{package.name}/tables.json": _tables(package),
        f"src/{package.name}/py.typed": "",
    }
    for member in package.members:
        texts[f"tests/{member.name}_vectors.txt"] = member.vectors
        texts[f"tests/{member.name}_envelopes.txt"] = member.envelopes
    if package.device is not None:
        texts[f"tests/{package.device.name}_vectors.txt"] = package.device.vectors
    return texts


def _tables(package: Package) -> str:
    """All that the package reads, in one file: tables by their names, the device by its own."""
    kept = package.device
    said = {
        "tables": {member.name: member.table.document for member in package.members},
        "collection": None if package.collection is None else package.collection.sha256,
        "device": None if kept is None else {"name": kept.name, "document": kept.device.document},
    }
    return json.dumps(said, separators=(",", ":")) + "\n"


def _taken(member: Member) -> str:
    return _type(member.input_labels, "int" if member.items else "float")


def _given(member: Member) -> str:
    return _type(member.output_labels, "bytes" if member.items else "float")


def _type(labels: tuple[str, ...] | None, number: str) -> str:
    if labels is None:
        return number
    return "str" if len(labels) > MOST_CASES else f"Literal[{', '.join(map(ascii, labels))}]"


def single(member: Member) -> Mapping[str, str]:
    """The runtime, the table's file as a text, and the names of a module."""
    return {f"{member.stem}.py": one_module(member, [RUNTIME], ["python/single.py"])}


def one_module(member: Member, above: Sequence[str], below: Sequence[str]) -> str:
    """Files of the runtime in one, with the table between them."""
    table = f"TABLE_JSON = {json.dumps(member.json)}\n"
    return "\n\n".join([*map(runtime, above), table, *map(runtime, below)])


PYTHON = Language("python", single, Packaging("Python", RULE, "python/guide.md", carried, _files))
