"""PostgreSQL 13 and later: PL/pgSQL functions, randomness from `gen_random_uuid`, which asks the operating system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mechdesign.deploy.export.layout import chunks, fill
from mechdesign.deploy.export.plan import (
    AdditivePlan,
    FinitePlan,
    PiecesPlan,
    Plan,
    Rows,
    UnbiasedPlan,
    WindowPlan,
)
from mechdesign.deploy.export.vectors import Vector, bits


def sources(plan: Plan, vectors: Sequence[Vector]) -> dict[str, str]:
    """File names and their text."""
    body, variables = _law(plan)
    points = plan.inputs.points
    lines = [_list("points", map(repr, points))] if points else _scalars(plan.inputs, "double", ("lower", "upper"))
    common = {"stem": plan.stem, "bits": plan.bits, "size": (plan.bits + 7) // 8}
    values = common | {
        "kind": plan.kind,
        "epsilon": plan.epsilon,
        "sha": plan.sha256,
        "variables": "\n".join([*lines, *variables]),
        "body": fill(fill(body, _DRAWS), common),
    }
    cases = ",\n".join(f"        ({_case(vector)})" for vector in vectors)
    return {
        f"{plan.stem}.postgresql.sql": fill(_SCRIPT, values),
        f"{plan.stem}_replay.postgresql.sql": fill(_REPLAY, common | {"cases": cases}),
    }


def _case(vector: Vector) -> str:
    expected = "error" if vector.y is None else bits(vector.y)
    return f"'{vector.x!r}'::double precision, '\\x{vector.stream.hex()}'::bytea, {vector.used}, '{expected}'"


def _law(plan: Plan) -> tuple[str, list[str]]:
    law = plan.law
    match law:
        case WindowPlan(rows, thresholds):
            return _WINDOW, [*_rows(rows), _list("thresholds", map(repr, thresholds))]
        case UnbiasedPlan(rows, _, _, means):
            variables = [*_rows(rows), _list("means", map(str, means), "bigint")]
            return _UNBIASED, [*variables, *_scalars(law, "double", ("offset", "scale"))]
        case FinitePlan(outputs, cumulative):
            flat = (str(count) for row in cumulative for count in row)
            lists = [_list("outputs", map(repr, outputs)), _list("cumulative", flat, "bigint")]
            return _FINITE, [*lists, f"    places CONSTANT integer := {len(outputs)};"]
        case PiecesPlan():
            variables = _scalars(law, "bigint", ("cells", "inside", "weight", "first"))
            variables += _scalars(law, "double", ("step", "anchor", "scale"))
            place = _CIRCLE if law.circular else _LINE
            return fill(_PIECES, _DRAWS | {"place": place, "clamp": _clamp(law.clamp)}), variables
        case AdditivePlan():
            variables = _scalars(law, "bigint", ("tail", "block"))
            variables += _scalars(law, "double", ("offset", "scale", "step"))
            variables.append(_list("cumulative", map(str, law.cumulative), "bigint"))
            variables.append(f"    places CONSTANT integer := {law.block};")
            return fill(_ADDITIVE, _DRAWS | {"clamp": _clamp(law.clamp)}), variables


def _rows(rows: Rows) -> list[str]:
    lists = {"reached": rows.reached, "gained": rows.gained, "starts": rows.starts}
    texts = [_list(name, map(str, values), "bigint") for name, values in lists.items()]
    places = f"    places CONSTANT integer := {len(rows.outputs)};"
    return [_list("outputs", map(repr, rows.outputs)), *texts, *_scalars(rows, "bigint", ("extra",)), places]


def _scalars(law: object, kind: str, names: Iterable[str]) -> list[str]:
    element = "double precision" if kind == "double" else kind
    return [f"    the_{name} CONSTANT {element} := '{getattr(law, name)!r}';" for name in names]


def _list(name: str, items: Iterable[str], element: str = "double precision") -> str:
    listed = ",\n        ".join(chunks(items, ",", 100))
    return f"    the_{name} CONSTANT {element}[] := '{{\n        {listed}\n    }}';"


def _clamp(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"    y := least(greatest(y, '{ends[0]!r}'), '{ends[1]!r}');\n"
