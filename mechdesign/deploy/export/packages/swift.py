"""Swift: a package whose law is the C sampler, with types of labels and typed errors above it, and XCTest."""

from __future__ import annotations

import unicodedata

from mechdesign.deploy.export import c
from mechdesign.deploy.export.packages import envelopes
from mechdesign.deploy.export.packages.c import RANDOMNESS, envelope
from mechdesign.deploy.export.packages.npm import bytes_of, called_first, example, tested
from mechdesign.deploy.export.packages.package import Member, NameRule, Package, common, in_blocks, words
from mechdesign.deploy.export.texts import MOST_CASES, braced_text, constant_names
from mechdesign.errors import InvalidInput

RULE = NameRule(
    "[A-Z][A-Za-z0-9]{0,39}",
    "a capital letter, then letters and digits, at most 40 together",
    words("Any Self Type Protocol Swift Foundation XCTest Dispatch Darwin Glibc Package Combine UIKit AppKit"),
    words(
        "Any Array Bool CaseIterable Character Data Dictionary Double Error Float Input Int Never Optional "
        "Output Protocol "
        "Result SamplerError Self Set Stream String Type UnsafePointer VectorsTests Void"
    ),
)

_IN_C = "the outcome is `NO_RANDOMNESS` and the report is left alone"


def files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    for member in package.members:
        for labels in (member.plan.input_labels, member.plan.output_labels):
            _require_distinct(labels or ())
    first = package.members[0]
    called = "```swift\nimport @package@\n\nlet report = try @Name@.sample(@example@)\n```"
    called = called.replace("@example@", swift_example(first))
    readme = {
        "called": called_first(package, called + envelopes.told("`try @Name@.envelope(report, lastDay: lastDay)`")),
        "built": "`swift build`, with Swift 5.5 or later. The law is in C, which Swift's package manager compiles.",
        "tested": "`swift test`.",
        "randomness": in_blocks(package, RANDOMNESS.replace(_IN_C, "`sample` throws `SamplerError.noRandomness`")),
    }
    name = package.name
    c_name = f"C{name}"
    texts = common(package, readme) | {
        "Package.swift": package.filled("swift/Package.swift"),
        f"Sources/{name}/SamplerError.swift": package.filled("swift/SamplerError.swift"),
        f"Tests/{name}Tests/VectorsTests.swift": package.filled(
            "swift/VectorsTests.swift", {"tests": package.each(_TEST, _words_of)}
        ),
        f"Sources/{c_name}/include/{c_name}.h": f"/* The samplers of {name}, in C. */\n"
        + package.each('#include "@stem@.h"\n#include "@stem@_envelope.h"\n', lambda _: {}, ""),
        f"Tests/{name}Tests/EnvelopesTests.swift": envelopes.tests(
            package, "Replay.swift", {"tests": package.each(_ENVELOPE_TEST, _enveloped)}
        ),
    }
    for member in package.members:
        stem, sources = member.plan.stem, c.sources(member.plan)
        texts[f"Sources/{c_name}/{stem}.c"] = sources[f"{stem}.c"]
        texts[f"Sources/{c_name}/include/{stem}.h"] = sources[f"{stem}.h"]
        texts[f"Sources/{name}/{member.camel}.swift"] = package.filled("swift/Sampler.swift", _swift(member))
        texts[f"Tests/{name}Tests/Vectors/{member.name}_vectors.txt"] = member.vectors
        texts[f"Sources/{c_name}/{stem}_envelope.c"] = envelope(member, "c")
        texts[f"Sources/{c_name}/include/{stem}_envelope.h"] = envelope(member, "h")
        texts[f"Sources/{name}/{member.camel}Envelope.swift"] = envelopes.source(
            member, "Envelope.swift", c.LANGUAGE, {"package": name, **_reported(member)}
        )
        texts[f"Tests/{name}Tests/Vectors/{member.name}_envelopes.txt"] = envelopes.vectors(member)
    return texts


def _require_distinct(labels: tuple[str, ...]) -> None:
    """Texts of Swift are equal if they are composed to the same letters."""
    if len({unicodedata.normalize("NFC", label) for label in labels}) < len(labels):
        rule = "differ by more than how letters are composed, by which texts of Swift do not"
        raise InvalidInput("labels", list(labels), rule, "choose other labels, or another language")


def _cases(labels: tuple[str, ...]) -> list[str]:
    return [name.lower() for name in constant_names("label", labels)]


def swift_example(member: Member) -> str:
    """An input, as Swift writes it."""
    labels = member.plan.input_labels
    if labels is None:
        return example(member)
    if len(labels) > MOST_CASES:
        return f"{member.camel}.Input(rawValue: {braced_text(labels[0])})!"
    return f".{_cases(labels[:1])[0]}"


def _swift(member: Member) -> dict[str, object]:
    plan = member.plan
    sides = (("Input", plan.input_labels), ("Output", plan.output_labels))
    types = "".join(_declared(plan.stem, side, labels) for side, labels in sides if labels)
    labelled = plan.output_labels is not None
    return {
        "Name": member.camel,
        "sha": plan.sha256,
        "stem": plan.stem,
        "types": types,
        "taken": ("Int" if bytes_of(member) else "Double") if plan.input_labels is None else "Input",
        "given": "Output" if labelled else "[UInt8]" if bytes_of(member) else "Double",
        "x": ("Int64(x)" if bytes_of(member) else "x") if plan.input_labels is None else "x.rawValue",
        "result": "UnsafePointer<CChar>? = nil" if labelled else _result(member),
        "report": _LABEL if labelled else "return y",
    }


def _result(member: Member) -> str:
    return f"[UInt8] = Array(repeating: 0, count: {bytes_of(member)})" if bytes_of(member) else "Double = 0"


_LABEL = """\
guard let y = y, let report = Output(rawValue: String(cString: y)) else { throw SamplerError.badInput }
        return report"""


def _declared(stem: str, side: str, labels: tuple[str, ...]) -> str:
    if len(labels) > MOST_CASES:
        is_one = _IS_INPUT.replace("@stem@", stem) if side == "Input" else ""
        return _STRUCT.replace("@side@", side).replace("@which@", side.lower()).replace("@is_one@", is_one)
    rows = "".join(
        f"        case {name} = {braced_text(text)}\n" for name, text in zip(_cases(labels), labels, strict=True)
    )
    return f"    /// The {side.lower()} labels.\n    public enum {side}: String, CaseIterable {{\n{rows}    }}\n\n"


_IS_INPUT = "guard @stem@_place_of(rawValue) >= 0 else { return nil }\n            "
_STRUCT = """\
    /// One of the @which@ labels, which are too many for an enum.
    public struct @side@: RawRepresentable, Hashable {
        public let rawValue: String

        public init?(rawValue: String) {
            @is_one@self.rawValue = rawValue
        }
    }

"""

_TEST = """\
    func test@Name@ReproducesItsVectors() throws {
        try replayAll("@name@") { input, stream in
            var y = @zero@
            let outcome = @core@_from(@read@, nextBytes, stream, &y)
            return (outcome, digits(y))
        }
    }

    func test@Name@WithoutRandomnessGivesAnErrorAndNoReport() throws {
        var y = @seven@
        XCTAssertEqual(@core@_from(@typical@, { _, _, _ in -1 }, nil, &y), 2)
        XCTAssertEqual(y, @seven@)
        _ = try @Name@.sample(@example@)
    }
"""


def _words_of(member: Member) -> dict[str, object]:
    plan = member.plan
    of_bytes = {
        "zero": f"[UInt8](repeating: 0, count: {bytes_of(member)})",
        "seven": f"[UInt8](repeating: 7, count: {bytes_of(member)})",
        "read": "Int64(input) ?? -1",
    }
    of_numbers = {"zero": "0.0", "seven": "7.0", "read": "number(input)"}
    return {
        **tested(member),
        **(of_bytes if bytes_of(member) else of_numbers),
        "core": f"{plan.stem}_code" if plan.labelled else plan.stem,
        "example": swift_example(member),
    }


def _reported(member: Member) -> dict[str, object]:
    """The type of a report, and what the function in C takes of it."""
    labelled = member.plan.output_labels is not None
    return {"given": _swift(member)["given"], "report": "report.rawValue" if labelled else "report"}


_ENVELOPE_TEST = """\
    func testEnvelopesOf@Name@ReproduceTheirVectors() throws {
        try replayAll("@name@") { digits, day, nonce in
            var envelope = [UInt8](repeating: 7, count: @length@)
            return (@stem@_envelope_from(@read@(digits), day, fixed, nonce, &envelope), envelope)
        }
    }

    func testWithoutRandomnessThereIsNoEnvelopeOf@Name@() throws {
        var envelope = [UInt8](repeating: 7, count: @length@)
        let report = try @Name@.sample(@example@)
        XCTAssertEqual(@stem@_envelope_from(@report@, 1, { _, _, _ in -1 }, nil, &envelope), 2)
        XCTAssertEqual(envelope[0], 7)
        XCTAssertNotEqual(try @Name@.envelope(report, lastDay: 1), try @Name@.envelope(report, lastDay: 1))
    }
"""


def _enveloped(member: Member) -> dict[str, object]:
    words_ = {"read": envelopes.read_as(member), "length": envelopes.length(member)}
    return {**_words_of(member), **_reported(member), **words_}
