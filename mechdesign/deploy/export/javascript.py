"""JavaScript: one module for browsers and Node (ES2020), randomness from the Web Cryptography API."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mechdesign.deploy.export.layout import wrapped
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import braced_text
from mechdesign.deploy.export.writing import Language, Value


def sources(plan: Plan) -> dict[str, str]:
    """File names and their text."""
    return LANGUAGE.sources(plan, {f"{plan.stem}.mjs": "sampler.mjs", f"{plan.stem}_replay.mjs": "replay.mjs"})


def _declared(name: str, value: Value) -> str:
    if not isinstance(value, tuple):
        return f"const {name} = {_number(value)};"
    if value and isinstance(value[0], tuple):
        rows = "".join(f"  [\n{_lines(row, '    ')},\n  ],\n" for row in value if isinstance(row, tuple))
        return f"const {name} = [\n{rows}];"
    return f"const {name} = [\n{_lines(value, '  ')},\n];" if value else f"const {name} = [];"


def _lines(values: Iterable[object], indent: str) -> str:
    return wrapped(map(_number, values), indent)


def _number(value: object) -> str:
    return f"{value}n" if isinstance(value, int) else repr(value)


def _listed(texts: Sequence[str]) -> str:
    return wrapped(map(braced_text, texts), "  ")


def _words(plan: Plan) -> dict[str, str]:
    code = "sampleCode(x, fill)" if plan.input_labels is None else "sampleCode(POINTS[place], fill)"
    return {"report": code if plan.output_labels is None else f"OUTPUT_LABELS[OUTPUTS.indexOf({code})]"}


LANGUAGE = Language(_declared, lambda plan: "sampleCode" if plan.labelled else "sample", _listed, words=_words)
