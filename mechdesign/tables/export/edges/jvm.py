"""Java, and Kotlin on top of it: Maven packages of the runtime, or its folder with the table as a literal.

Tables are files of the class path; labels are enums, or texts where they are more than a class file holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from mechdesign.tables.export.package import (
    MOST_CASES,
    VERSION,
    Language,
    Member,
    NameRule,
    Package,
    Packaging,
    constant_names,
    words,
)
from mechdesign.tables.export.render import render
from mechdesign.tables.export.runtime import runtime
from mechdesign.tables.export.words import comes_out, goes_in

_SOURCES = "mechdesign/runtime"
_MAIN = f"jvm/src/main/java/{_SOURCES}"
_CORE = ("FileRefused", "ItemLaw", "Json", "Law", "NoRandomness", "NumberLaw", "RandomBytes", "Sampler", "Table")
_DEVICE = ("Device", "FileStorage", "StateRefused", "Storage")
_TESTS = f"src/test/java/{_SOURCES}"
_FACE = f"{_SOURCES}/StoredDevice.kt"
_LINE, _LINES = 96, 500
"""A literal of so many letters a line, in so many lines: a constant of a class file has at most 65,535 bytes."""

_KEYWORDS = words(
    "abstract assert boolean break byte case catch char class const continue default do double else enum extends final "
    "finally float for goto if implements import instanceof int interface long native new package private "
    "protected public "
    "return short static strictfp super switch synchronized this throw throws transient try void volatile while "
    "true false "
    "null"
)
_PATTERN = r"[a-z][a-z0-9]{0,39}([.][a-z][a-z0-9]{0,39}){0,7}"
_WORDS = "small letters and digits in parts with dots between them, each beginning with a letter, as com.example.survey"
_CLASSES = words("Double Enum IllegalArgumentException Input Integer Object Output Override String")
"""Classes that are named beside those of tables."""

JAVA_RULE = NameRule(_PATTERN, _WORDS, _KEYWORDS | words("java javax jdk mechdesign sun"), _CLASSES)
KOTLIN_RULE = NameRule(
    _PATTERN,
    _WORDS,
    JAVA_RULE.taken | words("kotlin as fun in is object typealias val var when typeof"),
    _CLASSES | words("Any ByteArray Int JvmStatic"),
)


def _java_carried(package: Package) -> dict[str, str]:
    names: tuple[str, ...] = _CORE
    tests = {"Replay": f"jvm/{_TESTS}/Replay.java", "PackageTest": "jvm/package/PackageTest.java"}
    if package.device is not None:
        names += _DEVICE
        tests |= {"DeviceReplay": f"jvm/{_TESTS}/DeviceReplay.java", "DeviceTest": "jvm/package/DeviceTest.java"}
    carried = {f"src/main/java/{_SOURCES}/{name}.java": f"{_MAIN}/{name}.java" for name in names}
    return carried | {f"{_TESTS}/{name}.java": path for name, path in tests.items()}


def _kotlin_carried(package: Package) -> dict[str, str]:
    device = {} if package.device is None else {f"src/main/kotlin/{_FACE}": f"jvm/kotlin/{_FACE}"}
    return _java_carried(package) | device


def _java_files(package: Package) -> dict[str, str]:
    folder = _folder(package)
    texts = _common_files(package, is_kotlin=False)
    for member in package.members:
        texts[f"src/main/java/{folder}/{member.camel}.java"] = _java_table(member, package=package.name, folder=folder)
    if package.device is not None:
        texts[f"src/main/java/{folder}/{package.device.camel}.java"] = _device(package, "Device.java.jinja")
    return texts


def _kotlin_files(package: Package) -> dict[str, str]:
    folder = _folder(package)
    texts = _common_files(package, is_kotlin=True)
    for member in package.members:
        places = _places_of(member, _kotlin_text) | {
            "taken": _type(member, "Input", "Int", f"{member.camel}."),
            "given": _type(member, "Output", "ByteArray", f"{member.camel}."),
        }
        filled = _rendered("Table.kt.jinja", package=package.name, folder=folder, name=member.camel, **places)
        texts[f"src/main/kotlin/{folder}/{member.camel}.kt"] = filled
    if package.device is not None:
        texts[f"src/main/kotlin/{folder}/{package.device.camel}.kt"] = _device(package, "Device.kt.jinja")
    return texts


def _common_files(package: Package, *, is_kotlin: bool) -> dict[str, str]:
    group, _, artifact = package.name.rpartition(".")
    places = {"group": group or artifact, "artifact": artifact, "version": VERSION, "folder": _folder(package)}
    has_device = package.device is not None
    texts = {"pom.xml": _rendered("pom.xml.jinja", **places, is_kotlin=is_kotlin, has_device=has_device)}
    for member in package.members:
        texts[f"src/test/resources/{member.name}_vectors.txt"] = member.vectors
        texts[f"src/test/resources/{member.name}_envelopes.txt"] = member.envelopes
    if package.device is not None:
        texts[f"src/test/resources/{package.device.name}_vectors.txt"] = package.device.vectors
    return texts


def _rendered(template: str, **places: object) -> str:
    return render(runtime(f"jvm/package/{template}"), **places)


def _folder(package: Package) -> str:
    return package.name.replace(".", "/")


def _java_table(member: Member, **places: object) -> str:
    types = {"taken": _type(member, "Input", "Integer"), "given": _type(member, "Output", "byte[]")}
    named = {"package": "", "folder": "", "name": member.camel, "chunks": ()} | places
    return _rendered("Table.java.jinja", **named, **types, **_places_of(member, json.dumps))


def _places_of(member: Member, literal: Callable[[str], str]) -> dict[str, object]:
    """What both languages say of a table: in words, and its labels, as constants or as texts."""
    table = member.table
    labels = [("Input", member.input_labels), ("Output", member.output_labels)]
    enums = [
        (side, list(zip(constant_names("LABEL", texts), map(literal, texts), strict=True)))
        for side, texts in labels
        if texts is not None and len(texts) <= MOST_CASES
    ]
    about = f"Takes {goes_in(table)}, and gives {comes_out(table)}; kind {table.kind}, epsilon {table.epsilon}"
    named = {side for side, _ in enums}
    sides = [(side, "values" if side in named else "texts") for side, texts in labels if texts is not None]
    return {"member": member, "what": about, "enums": enums, "sides": sides}


def _type(member: Member, side: str, number: str, within: str = "") -> str:
    """The type of one side: an enum, texts, numbers, or ``number`` where inputs are items."""
    labels = member.input_labels if side == "Input" else member.output_labels
    if labels is None:
        return number if member.items else "Double"
    return "String" if len(labels) > MOST_CASES else within + side


def _device(package: Package, template: str) -> str:
    kept = package.device
    assert kept is not None
    of_items = ("Integer", "byte[]") if template.endswith(".java.jinja") else ("Int", "ByteArray")
    return _rendered(
        template,
        package=package.name,
        folder=_folder(package),
        name=kept.camel,
        once=kept.once.camel,
        reporting=kept.reporting.camel,
        taken=_type(kept.once, "Input", of_items[0], f"{kept.once.camel}."),
        given=_type(kept.reporting, "Output", of_items[1], f"{kept.reporting.camel}."),
    )


def _kotlin_text(label: str) -> str:
    """Kotlin reads ``$`` as the beginning of a name.

    >>> print(_kotlin_text("$a"))
    "\\$a"
    """
    return json.dumps(label).replace("$", "\\$")


def _guide_places(package: Package) -> dict[str, object]:
    first = package.members[0]
    labels, number = first.input_labels, repr(first.first_code)
    if labels is None:
        examples = number, number
    elif len(labels) > MOST_CASES:
        examples = json.dumps(labels[0]), _kotlin_text(labels[0])
    else:
        constant = f"{first.camel}.Input.{constant_names('LABEL', labels[:1])[0]}"
        examples = constant, constant
    return {"java_example": examples[0], "kotlin_example": examples[1], "folder": _folder(package)}


def single(member: Member) -> Mapping[str, str]:
    """A class with the table's file as a literal, and the runtime in the folder that its package wants."""
    name = member.stem.capitalize()
    content = member.json.rstrip("\n")
    lines = [json.dumps(content[i : i + _LINE]) for i in range(0, len(content), _LINE)]
    chunks = [lines[i : i + _LINES] for i in range(0, len(lines), _LINES)]
    carried = {f"{_SOURCES}/{name}.java": f"{_MAIN}/{name}.java" for name in _CORE}
    carried[f"{_SOURCES}/Replay.java"] = f"jvm/{_TESTS}/Replay.java"
    return {
        f"{name}.java": _java_table(member, name=name, chunks=chunks),
        **{path: runtime(source) for path, source in carried.items()},
    }


JAVA = Language("java", single, Packaging("Java", JAVA_RULE, "jvm/guide.md", _java_carried, _java_files, _guide_places))
KOTLIN = Language(
    "kotlin",
    None,
    Packaging("Kotlin", KOTLIN_RULE, "jvm/kotlin/guide.md", _kotlin_carried, _kotlin_files, _guide_places),
)
