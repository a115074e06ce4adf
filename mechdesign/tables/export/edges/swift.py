"""Swift: a package of the runtime in C, Swift's types above it, and the types of labels. Its law is in C."""

from __future__ import annotations

import unicodedata

from mechdesign.errors import InvalidInput
from mechdesign.tables.export.edges.c import header, headers, is_plain, source, sources
from mechdesign.tables.export.package import (
    MOST_CASES,
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

RULE = NameRule(
    "[A-Z][A-Za-z0-9]{0,39}",
    "a capital letter, then letters and digits, at most 40 together",
    words("Any Self Type Protocol Swift Foundation XCTest Dispatch Darwin Glibc Package Combine UIKit AppKit"),
    words(
        "Any AnyObject Array Bool Bundle CChar CaseIterable Character Data Dictionary DispatchQueue Double Error "
        "FileManager Float Foundation Hashable Input Int Int32 Label NSLock Never OpaquePointer Optional Output "
        "Protocol RawRepresentable Result Self Set Stream String Substring Table Thread Type UInt32 UInt64 UInt8 UTF8 "
        "UUID Unmanaged UnsafeBufferPointer UnsafeMutablePointer UnsafeMutableRawPointer UnsafePointer Void XCTFail "
        "XCTAssertEqual XCTAssertGreaterThan XCTAssertNotEqual XCTAssertThrowsError XCTUnwrap XCTest XCTestCase "
        "Device DeviceError DeviceFile DeviceStorage DeviceTests FileStorage MemoryStorage Report ReportInput "
        "ReportLabel ReportTable Sampler SamplerError StorageBox TestedDevice VectorsTests"
    ),
)


def _carried(package: Package) -> dict[str, str]:
    name = package.name
    in_c = f"Sources/C{name}"
    carried = {f"{in_c}/include/{part}": f"c/include/{part}" for part in headers(package.device)}
    carried |= {f"{in_c}/{part}": f"c/src/{part}" for part in sources(package.device)}
    parts = ["Sources/{}/Table.swift", "Tests/{}Tests/VectorsTests.swift"]
    if package.device is not None:
        parts += ["Sources/{}/Device.swift", "Tests/{}Tests/DeviceTests.swift"]
    return carried | {part.format(name): f"c/swift/{part.split('/')[0]}/{part.split('/')[2]}" for part in parts}


def _files(package: Package) -> dict[str, str]:
    name, kept = package.name, package.device
    for member in package.members:
        for labels in (member.input_labels, member.output_labels):
            _require_distinct(labels or ())
    places = {"name": name, "members": package.members, "device": kept, "is_listed": _is_listed, "cases": _cases}
    example = None if kept is None else _example(kept.once)
    texts = {
        "Package.swift": render(runtime("c/swift/package/Package.swift.jinja"), **places),
        f"Sources/{name}/Tables.swift": render(runtime("c/swift/package/Tables.swift.jinja"), **places),
        f"Sources/C{name}/include/C{name}.h": header(name, package.members, kept),
        f"Sources/C{name}/tables.c": source(name, f"C{name}.h", package.members, kept),
        f"Tests/{name}Tests/Imports.swift": render(
            runtime("c/swift/package/Imports.swift.jinja"), **places, example=example
        ),
    }
    vectors = f"Tests/{name}Tests/Vectors"
    for member in package.members:
        texts[f"{vectors}/{member.name}_vectors.txt"] = member.vectors
        texts[f"{vectors}/{member.name}_envelopes.txt"] = member.envelopes
    if kept is not None:
        texts[f"{vectors}/{kept.name}_vectors.txt"] = kept.vectors
    return texts


def _require_distinct(labels: tuple[str, ...]) -> None:
    """Texts of Swift are equal if they are composed to the same letters."""
    if len({unicodedata.normalize("NFC", label) for label in labels}) < len(labels):
        rule = "differ by more than how letters are composed, by which texts of Swift do not"
        raise InvalidInput("labels", list(labels), rule, "choose other labels, or another language")


def _is_listed(labels: tuple[str, ...]) -> bool:
    return len(labels) <= MOST_CASES


def _names(labels: tuple[str, ...]) -> list[str]:
    return [name.lower() for name in constant_names("label", labels)]


def _cases(labels: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(name, swift_text(text)) for name, text in zip(_names(labels), labels, strict=True)]


def swift_text(text: str) -> str:
    r"""A literal that no letter ends.

    >>> print(swift_text("it's"))
    "it\u{27}s"
    """
    return '"' + "".join(letter if is_plain(letter) else f"\\u{{{ord(letter):x}}}" for letter in text) + '"'


def _example(member: Member) -> str:
    """An input, as Swift writes it."""
    labels = member.input_labels
    if labels is None:
        return str(member.first)
    if len(labels) > MOST_CASES:
        return f"{member.camel}.Input(rawValue: {swift_text(labels[0])})!"
    return f".{_names(labels[:1])[0]}"


def _places(package: Package) -> dict[str, object]:
    kept = package.device
    asked = {} if kept is None else {"asked": _example(kept.once)}
    return {"input": _example(package.members[0]), **asked}


SWIFT = Language("swift", None, Packaging("Swift", RULE, "c/swift/guide.md", _carried, _files, _places))
