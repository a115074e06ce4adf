"""DuckDB 1.3 and later: scalar macros. The random bytes are an argument, because DuckDB's own generator is not safe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mechdesign.deploy.export.layout import chunks, fill, template
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import duckdb_text
from mechdesign.deploy.export.vectors import Vector
from mechdesign.deploy.export.writing import Language, Value, are_whole, flat
from mechdesign.deploy.kinds import ItemsLaw, Listed


def sources(plan: Plan, vectors: Sequence[Vector]) -> dict[str, str]:
    """File names and their text."""
    names = {
        f"{plan.stem}.duckdb.sql": "sampler.duckdb.sql",
        f"{plan.stem}_replay.duckdb.sql": "replay.duckdb.sql",
    }
    cases = ",\n".join(f"    ({_case(number, vector)})" for number, vector in enumerate(vectors, 1))
    beside = f"{plan.stem}_duckdb.py"
    written = _LANGUAGE.sources(plan, names, {"cases": cases, "register": beside})
    return written | {beside: registration([plan.stem])}


def registration(samplers: Sequence[str]) -> str:
    """A module of Python by which a connection knows samplers of these names, whose macros are in files beside it."""
    listed = ", ".join(f'"{name}"' for name in samplers)
    return fill(template("register.duckdb.py.in"), {"samplers": listed, "called": samplers[0]})


def _case(number: int, vector: Vector) -> str:
    return f"{number}, {_literal(vector.x)}, {_blob(vector.stream)}, {vector.used}, {_expected(vector.y)}"


def _expected(y: float | bytes | None) -> str:
    if y is None:
        return "NULL"
    return _blob(y) if isinstance(y, bytes) else _literal(y)


def _blob(content: bytes) -> str:
    return f"unhex('{content.hex()}')"


def _literal(value: Value) -> str:
    """Macros have no constants: numbers stand where they are used."""
    if not isinstance(value, tuple):
        return f"'{value!r}'::DOUBLE" if isinstance(value, float) else str(value)
    values = flat(value)
    if values and isinstance(values[0], str):
        return _list(map(duckdb_text, map(str, values)), "VARCHAR")
    if are_whole(values):
        return _list(map(str, values), "BIGINT")
    return _list((f"'{entry!r}'" for entry in values), "DOUBLE")


def _list(items: Iterable[str], element: str) -> str:
    listed = ",\n".join(chunks(items, ", ", 110))
    return f"([{listed}]::{element}[])"


def _words(plan: Plan) -> dict[str, object]:
    if isinstance(plan.law, ItemsLaw):
        return {"needed": plan.law.enough_bytes}
    numbers = plan.law.numbers()
    words: dict[str, object] = {
        "needed": plan.law.enough_bytes,
        "accepted": _accepted(plan),
        "powers": _literal(tuple(2.0 ** (32 * i) for i in range(32))),
        "report": _report(plan),
    }
    counts = {name: len(values) for name, values in numbers.items() if isinstance(values, tuple)}
    if isinstance(plan.law, Listed):
        counts["row"] = len(plan.law.outputs) + 1
    for name, count in counts.items():
        words |= {f"{name}_count": count, f"{name}_last": count - 2, f"{name}_steps": _steps(count)}
    return words


def _steps(count: int) -> str:
    """The steps of a binary search among so many places."""
    return ", ".join(str(1 << power) for power in reversed(range(count.bit_length())))


def _accepted(plan: Plan) -> str:
    if plan.inputs.points:
        return f"list_contains({_literal(plan.inputs.points)}, md_x)"
    return f"md_x >= {_literal(plan.inputs.lower)} AND md_x <= {_literal(plan.inputs.upper)}"


def _report(plan: Plan) -> str:
    """The report of a labelled table, from the macro of its codes."""
    code = "md_x" if plan.input_labels is None else f"{plan.stem}_code_of(md_x)"
    report = f"{plan.stem}_code({code}, md_bytes)"
    if plan.output_labels is None or not isinstance(plan.law, Listed):
        return report
    return f"{plan.stem}_output_labels()[list_position({_literal(plan.law.outputs)}, {report})]"


def _core(plan: Plan) -> str:
    return f"{plan.stem}_code" if plan.labelled else plan.stem


_LANGUAGE = Language(lambda name, value: _literal(value), _core, literal=_literal, words=_words)
