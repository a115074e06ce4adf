"""Java 11: one class, randomness from `SecureRandom`."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.deploy.export.layout import chunks
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import java_text
from mechdesign.deploy.export.writing import Language, Value, are_whole, flat

_LONGEST = 50_000
_LINE_WIDTH = 100


def sources(plan: Plan) -> dict[str, str]:
    """File names and their text. Java names a file after its class."""
    name = _name(plan)
    return LANGUAGE.sources(plan, {f"{name}.java": "Sampler.java", f"{name}_Replay.java": "Replay.java"})


def in_package(plan: Plan, package: str, name: str) -> str:
    """The sampler as a class of this name in a package."""
    text = LANGUAGE.sources(plan, {"Sampler": "Sampler.java"}, {"name": name})["Sampler"]
    return text.replace("import java.security", f"package {package};\n\nimport java.security", 1)


def _name(plan: Plan) -> str:
    return f"Sampler_{plan.sha256[:8]}"


def _declared(name: str, value: Value) -> str:
    if not isinstance(value, tuple):
        element, ending = ("long", "L") if isinstance(value, int) else ("double", "")
        return f"    private static final {element} {name} = {value!r}{ending};"
    values = flat(value)
    # the code that fills an array may not exceed 64 kB, nor may a constant: numbers are kept as long texts
    texts = ",\n".join(_text(chunk) for chunk in chunks(map(repr, values), " ", _LONGEST))
    element, gap = "long" if are_whole(values) else "double", "\n" if texts else ""
    return f"    private static final {element}[] {name} = {element}s({gap}{texts});"


def _text(numbers: str) -> str:
    lines = chunks(numbers.split(), " ", _LINE_WIDTH)
    return "        " + ' "\n        + "'.join(lines).join('""')


def _listed(texts: Sequence[str]) -> str:
    """Labels, each with a line break after it, in a few long texts: a method has no room for a constant each."""
    lines = (f'"{line}\\n"' for line in chunks((java_text(text)[1:-1] for text in texts), "\\n", _LINE_WIDTH))
    return ",\n".join(" " * 12 + chunk for chunk in chunks(lines, "\n" + " " * 12 + "+ ", _LONGEST))


def _words(plan: Plan) -> dict[str, str]:
    code = "sampleCode(x, source)" if plan.input_labels is None else "sampleCode(POINTS[place], source)"
    report = f"OUTPUT_LABELS.get(java.util.Arrays.binarySearch(OUTPUTS, {code}))"
    return {
        "name": _name(plan),
        "taken": "double" if plan.input_labels is None else "String",
        "given": "double" if plan.output_labels is None else "String",
        "report": code if plan.output_labels is None else report,
    }


LANGUAGE = Language(_declared, lambda plan: "sampleCode" if plan.labelled else "sample", _listed, words=_words)
