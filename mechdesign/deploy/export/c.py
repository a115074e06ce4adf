"""C99: a header and a source file, randomness from getentropy, on Apple's systems CCRandomGenerateBytes, on Windows
BCryptGenRandom."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.deploy.export.layout import wrapped
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import c_text, constant_names, places_in_order
from mechdesign.deploy.export.writing import Language, Value, are_whole, flat

_COUNTED = ("POINTS", "OUTPUTS", "THRESHOLDS", "MEANS")
"""The arrays whose length a sampler looks at."""


def sources(plan: Plan) -> dict[str, str]:
    """File names and their text."""
    names = {f"{plan.stem}.h": "sampler.h", f"{plan.stem}.c": "sampler.c", f"{plan.stem}_replay.c": "replay.c"}
    return LANGUAGE.sources(plan, names)


def _declared(name: str, value: Value) -> str:
    if not isinstance(value, tuple):
        return f"static const {'int64_t' if isinstance(value, int) else 'double'} {name} = {_literal(value)};"
    values = flat(value)
    # C has no arrays of length zero: the element added is never looked at
    listed = wrapped([_literal(entry) for entry in values] or ["0"])
    count = f"enum {{ {name}_COUNT = {len(values)} }};\n" if name in _COUNTED else ""
    element = "int64_t" if are_whole(values) else "double"
    return f"{count}static const {element} {name}[] = {{\n{listed}\n}};"


def _literal(value: object) -> str:
    return value.hex() if isinstance(value, float) else f"INT64_C({value})"


def _listed(texts: Sequence[str]) -> str:
    return wrapped(map(c_text, texts))


def _words(plan: Plan) -> dict[str, str]:
    guard, sides = plan.stem.upper(), {"input": plan.input_labels, "output": plan.output_labels}
    names = {f"{s}_names": wrapped(constant_names(f"{guard}_{s.upper()}", texts or ())) for s, texts in sides.items()}
    return names | {
        "guard": guard,
        "input_order": wrapped(places_in_order(plan.input_labels or ())),
        "taken": "double " if plan.input_labels is None else "const char *",
        "given": "double *" if plan.output_labels is None else "const char **",
        "code": "x" if plan.input_labels is None else "POINTS[place]",
    }


def _core(plan: Plan) -> str:
    return f"{plan.stem}_code" if plan.labelled else plan.stem


LANGUAGE = Language(_declared, _core, _listed, _literal, _words)
