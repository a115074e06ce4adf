"""PostgreSQL 13 and later: PL/pgSQL functions, randomness from `gen_random_uuid`, which asks the operating system."""

from __future__ import annotations

from collections.abc import Sequence

from mechdesign.deploy.export.layout import chunks
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import postgresql_text
from mechdesign.deploy.export.vectors import Vector, bits
from mechdesign.deploy.export.writing import Language, Value, are_whole, flat
from mechdesign.deploy.kinds import Listed


def sources(plan: Plan, vectors: Sequence[Vector]) -> dict[str, str]:
    """File names and their text."""
    names = {
        f"{plan.stem}.postgresql.sql": "sampler.postgresql.sql",
        f"{plan.stem}_replay.postgresql.sql": "replay.postgresql.sql",
    }
    return _LANGUAGE.sources(plan, names, {"cases": ",\n".join(f"        ({_case(vector)})" for vector in vectors)})


def _case(vector: Vector) -> str:
    if isinstance(vector.x, int):
        found = vector.y.hex() if isinstance(vector.y, bytes) else "error"
        return f"{vector.x}::bigint, '\\x{vector.stream.hex()}'::bytea, {vector.used}, '{found}'"
    assert not isinstance(vector.y, bytes)
    expected = "error" if vector.y is None else bits(vector.y)
    return f"'{vector.x!r}'::double precision, '\\x{vector.stream.hex()}'::bytea, {vector.used}, '{expected}'"


def _declared(name: str, value: Value) -> str:
    variable = f"    the_{name.lower()} CONSTANT"
    if not isinstance(value, tuple):
        element = "bigint" if isinstance(value, int) else "double precision"
        return f"{variable} {element} := '{value!r}'::{element};"
    if value and isinstance(value[0], str):
        texts = ",\n        ".join(chunks(map(postgresql_text, map(str, value)), ", ", 100))
        return f"{variable} text[] := ARRAY[\n        {texts}\n    ];"
    values = flat(value)
    element = "bigint" if are_whole(values) else "double precision"
    listed = ",\n        ".join(chunks(map(repr, values), ",", 100))
    # with a cast the text is read once, without one at every call
    return f"{variable} {element}[] := '{{\n        {listed}\n    }}'::{element}[];"


def _words(plan: Plan) -> dict[str, object]:
    code = "x" if plan.input_labels is None else "the_points[array_position(the_input_labels, x)]"
    return {
        "outputs_count": len(plan.law.outputs) if isinstance(plan.law, Listed) else 0,
        "taken": "double precision" if plan.input_labels is None else "text",
        "given": "double precision" if plan.output_labels is None else "text",
        "code": code,
        "extschema": "@extschema@",  # what PostgreSQL itself fills in scripts of extensions
        "report": "y" if plan.output_labels is None else "the_output_labels[array_position(the_outputs, y)]",
    }


def _core(plan: Plan) -> str:
    return f"{plan.stem}_code" if plan.labelled else plan.stem


_LANGUAGE = Language(_declared, _core, words=_words)
