"""Maven: a jar of Java classes, or of Kotlin objects above them, and tests of JUnit."""

from __future__ import annotations

from mechdesign.deploy.export import java
from mechdesign.deploy.export.layout import fill
from mechdesign.deploy.export.packages import envelopes
from mechdesign.deploy.export.packages.npm import bytes_of, called_first, example, tested
from mechdesign.deploy.export.packages.package import Member, NameRule, Package, common, in_blocks, words
from mechdesign.deploy.export.texts import MOST_CASES, constant_names, java_text

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
_CLASSES = words(
    "Boolean Byte Character Class Comparable Deprecated Double Enum Error Exception Float IllegalArgumentException "
    "IllegalStateException Integer InternalError Iterable Long Math Module Number Object Override Package "
    "Process Record "
    "Runnable Runtime RuntimeException SecureRandom Short String StringBuilder SuppressWarnings System Thread "
    "ThreadLocal "
    "Throwable VectorsTest Void"
)
JAVA_RULE = NameRule(_PATTERN, _WORDS, _KEYWORDS | words("java javax jdk sun"), _CLASSES)
KOTLIN_RULE = NameRule(
    _PATTERN,
    _WORDS,
    JAVA_RULE.taken | words("kotlin as fun in is object typealias val var when typeof"),
    _CLASSES | words("Any Array Int List Map Nothing Set Unit"),
)

_RANDOMNESS = (
    "`java.security.SecureRandom`; if it fails, `sample` throws `NoRandomness`. Each thread has a block. A Java "
    "virtual machine "
    "does not fork; on Android do not draw in the preload of an app zygote, whose memory its children copy."
)


def java_files(package: Package) -> dict[str, str]:
    """Paths and their text."""
    called = f"```java\nvar report = {package.name}.@Name@.sample(@example@);\n```"
    readme = {
        "called": called_first(
            package, called + envelopes.told(f"`{package.name}.@Name@Envelope.of(report, lastDay)`")
        ),
        "built": "`mvn package`, with Java 11 or later. Nothing but the tests has dependencies.",
        "tested": "`mvn test` (JUnit 5).",
        "randomness": in_blocks(package, _RANDOMNESS),
    }
    folder = package.name.replace(".", "/")
    texts = common(package, readme) | {
        "pom.xml": _pom(package, kotlin=False),
        f"src/test/java/{folder}/VectorsTest.java": _test(package, "{name}"),
        f"src/test/java/{folder}/EnvelopesTest.java": _envelope_test(package, "{name}"),
    }
    for member in package.members:
        source = java.in_package(member.plan, package.name, member.camel)
        texts[f"src/main/java/{folder}/{member.camel}.java"] = source
        texts[f"src/test/resources/{member.name}_vectors.txt"] = member.vectors
        texts[f"src/main/java/{folder}/{member.camel}Envelope.java"] = _envelope(package, member, "{name}")
        texts[f"src/test/resources/{member.name}_envelopes.txt"] = envelopes.vectors(member)
    return texts


def kotlin_files(package: Package) -> dict[str, str]:
    """Paths and their text: the Java sampler, whose law the vectors test, under an object with types of its labels."""
    called = f"```kotlin\nval report = {package.name}.@Name@.sample(@example@)\n```"
    first = package.members[0]
    named = called.replace("@example@", kotlin_example(first))
    readme = {
        "called": called_first(package, named + envelopes.told(f"`{package.name}.@Name@.envelope(report, lastDay)`")),
        "built": "`mvn package`, with Java 11 or later, or the folders `src/main/java` and `src/main/kotlin` in "
        "an Android "
        "project. The law is in Java; Kotlin has the types above it.",
        "tested": "`mvn test` (JUnit 5).",
        "randomness": in_blocks(package, _RANDOMNESS),
    }
    folder = package.name.replace(".", "/")
    texts = common(package, readme) | {
        "pom.xml": _pom(package, kotlin=True),
        f"src/test/java/{folder}/VectorsTest.java": _test(package, "{name}Sampler"),
        f"src/test/java/{folder}/EnvelopesTest.java": _envelope_test(package, "{name}Sampler"),
    }
    for member in package.members:
        source = java.in_package(member.plan, package.name, f"{member.camel}Sampler")
        texts[f"src/main/java/{folder}/{member.camel}Sampler.java"] = source
        texts[f"src/main/kotlin/{folder}/{member.camel}.kt"] = package.filled("jvm/Sampler.kt", _kotlin(member))
        texts[f"src/test/resources/{member.name}_vectors.txt"] = member.vectors
        texts[f"src/main/java/{folder}/{member.camel}Envelope.java"] = _envelope(package, member, "{name}Sampler")
        texts[f"src/test/resources/{member.name}_envelopes.txt"] = envelopes.vectors(member)
    return texts


def kotlin_example(member: Member) -> str:
    """An input, as Kotlin writes it."""
    labels = member.plan.input_labels
    if labels is None:
        return example(member)
    is_enum = len(labels) <= MOST_CASES
    first = constant_names("LABEL", labels[:1])[0] if is_enum else f"of({kotlin_text(labels[0])})"
    return f"{member.camel}.Input.{first}"


def _kotlin(member: Member) -> dict[str, object]:
    plan = member.plan
    sides = (("Input", plan.input_labels), ("Output", plan.output_labels))
    types = "".join(_type(f"{member.camel}Sampler", side, labels) for side, labels in sides if labels)
    given = f"{member.camel}Sampler.sample({'x' if plan.input_labels is None else 'x.label'})"
    return {
        "Name": member.camel,
        "sha": plan.sha256,
        "types": types,
        "taken": ("Int" if bytes_of(member) else "Double") if plan.input_labels is None else "Input",
        "given": ("ByteArray" if bytes_of(member) else "Double") if plan.output_labels is None else "Output",
        "report": given if plan.output_labels is None else f"Output.of({given})",
        "reported": "report" if plan.output_labels is None else "report.label",
    }


def _type(sampler: str, side: str, labels: tuple[str, ...]) -> str:
    words_ = {"side": side, "which": side.lower(), "all": f"{sampler}.{side.upper()}_LABELS"}
    if len(labels) > MOST_CASES:
        return fill(_VALUE_CLASS, words_)
    entries = ",\n".join(
        f"        {name}({kotlin_text(text)})"
        for name, text in zip(constant_names("LABEL", labels), labels, strict=True)
    )
    return fill(_ENUM, {**words_, "entries": entries})


_ENUM = """\
    /** The @which@ labels. */
    public enum class @side@(public val label: String) {
@entries@;

        public companion object {
            private val BY_LABEL = values().associateBy { it.label }

            /** The label of this text; what is none is an IllegalArgumentException. */
            @JvmStatic
            public fun of(label: String): @side@ =
                requireNotNull(BY_LABEL[label]) { "the text must be one of the @which@ labels" }
        }
    }

"""

_VALUE_CLASS = """\
    /** One of the @which@ labels, which are too many for an enum: @all@. */
    @JvmInline
    public value class @side@ private constructor(public val label: String) {
        public companion object {
            private val LABELS = @all@.toHashSet()

            /** The label of this text; what is none is an IllegalArgumentException. */
            public fun of(label: String): @side@ {
                require(label in LABELS) { "the text must be one of the @which@ labels" }
                return @side@(label)
            }
        }
    }

"""


def kotlin_text(text: str) -> str:
    """All but plain letters by their numbers: Kotlin reads ``$`` as the beginning of a name.

    >>> print(kotlin_text("$a"))
    "\\u0024a"
    """
    plain = java_text(text)[1:-1]
    out = []
    i = 0
    while i < len(plain):
        if plain[i] == "\\" and plain[i + 1] != "u":
            out.append(f"\\u{int(plain[i + 1 : i + 4], 8):04x}")
            i += 4
        else:
            out.append(plain[i])
            i += 1
    return '"' + "".join(out) + '"'


def _pom(package: Package, *, kotlin: bool) -> str:
    group, _, artifact = package.name.rpartition(".")
    words_ = {"group": group or artifact, "artifact": artifact}
    pom = package.filled("jvm/pom.xml", words_)
    return package.filled("jvm/kotlin.pom.xml", words_) if kotlin else pom


def _test(package: Package, class_name: str) -> str:
    tests = package.each(_TESTS, lambda member: _test_words(member, class_name))
    return package.filled("jvm/VectorsTest.java", {"tests": tests})


_TESTS = """\
    @Test
    void @name@ReproducesItsVectors() throws IOException {
        replayAll("@name@", (x, fill) -> digits(@class@.@core@(@read@(x), fill::accept)));
    }

    @Test
    void @name@WithoutRandomnessGivesAnErrorAndNoReport() {
        @class@.Source broken = bytes -> {
            throw new java.security.ProviderException("broken");
        };
        assertThrows(RuntimeException.class, () -> @class@.@core@(@typical@, broken));
        @class@.@core@(@typical@);
    }
"""


def _test_words(member: Member, class_name: str) -> dict[str, object]:
    read = "Integer.parseInt" if bytes_of(member) else "number"
    return {**tested(member), "read": read, "class": class_name.format(name=member.camel)}


def _envelope(package: Package, member: Member, class_name: str) -> str:
    given = {"labels": "String", "bytes": "byte[]"}.get(envelopes.form_of(member), "double")
    words_ = {"package": package.name, "sampler": class_name.format(name=member.camel), "given": given}
    return envelopes.source(member, "Envelope.java", java.LANGUAGE, words_)


def _envelope_test(package: Package, class_name: str) -> str:
    def words_of(member: Member) -> dict[str, object]:
        words_ = _test_words(member, class_name)
        labels = f"{words_['class']}.OUTPUT_LABELS.get(0)"
        drawn = f"{words_['class']}.{words_['core']}({words_['typical']})"
        one = labels if envelopes.form_of(member) == "labels" else drawn
        return {**words_, "read": envelopes.read_as(member), "one": one}

    return envelopes.tests(package, "Replay.java", {"tests": package.each(_ENVELOPE_TESTS, words_of)})


_ENVELOPE_TESTS = """\
    @Test
    void envelopesOf@Name@ReproduceTheirVectors() throws IOException {
        replayAll("@name@", (report, day, fill) -> @Name@Envelope.of(@read@(report), day, fill::accept));
    }

    @Test
    void withoutRandomnessThereIsNoEnvelopeOf@Name@() {
        @class@.Source broken = bytes -> {
            throw new java.security.ProviderException("broken");
        };
        assertThrows(RuntimeException.class, () -> @Name@Envelope.of(@one@, 1, broken));
        assertFalse(Arrays.equals(@Name@Envelope.of(@one@, 1), @Name@Envelope.of(@one@, 1)));
    }
"""
