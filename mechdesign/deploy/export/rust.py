"""Rust 1.82 and later: one module without crates, randomness from getentropy, on Apple's systems CCRandomGenerateBytes,
on Windows ProcessPrng."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.deploy.export.layout import wrapped
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import braced_text, places_in_order
from mechdesign.deploy.export.writing import Language, Value, are_whole, flat


def sources(plan: Plan) -> dict[str, str]:
    """File names and their text."""
    return LANGUAGE.sources(plan, {f"{plan.stem}.rs": "sampler.rs", f"{plan.stem}_replay.rs": "replay.rs"})


def _declared(name: str, value: Value) -> str:
    if not isinstance(value, tuple):
        return f"const {name}: {'i64' if isinstance(value, int) else 'f64'} = {value!r};"
    values = flat(value)
    listed = f"\n{wrapped(map(repr, values))},\n" if values else ""
    return f"static {name}: [{'i64' if are_whole(values) else 'f64'}; {len(values)}] = [{listed}];"


def _listed(texts: Sequence[str]) -> str:
    return wrapped(map(braced_text, texts))


def _words(plan: Plan) -> dict[str, str]:
    return {
        "input_order": wrapped(places_in_order(plan.input_labels or ())),
        "taken": "f64" if plan.input_labels is None else "&str",
        "given": "f64" if plan.output_labels is None else "&'static str",
    }


LANGUAGE = Language(_declared, lambda plan: "sample_code" if plan.labelled else "sample", _listed, words=_words)
