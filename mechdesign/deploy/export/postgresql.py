"""PostgreSQL 13 and later: PL/pgSQL functions, randomness from `gen_random_uuid`, which asks the operating system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mechdesign.deploy.export.layout import chunks, fill, used
from mechdesign.deploy.export.plan import (
    AdditivePlan,
    FinitePlan,
    Law,
    PiecesPlan,
    Plan,
    Rows,
    UnbiasedPlan,
    WindowPlan,
)
from mechdesign.deploy.export.texts import comes_out, goes_in, postgresql_text
from mechdesign.deploy.export.vectors import Vector, bits


def sources(plan: Plan, vectors: Sequence[Vector]) -> dict[str, str]:
    """File names and their text."""
    template, constants = _law(plan)
    points = plan.inputs.points
    lines = [_list("points", map(repr, points))] if points else _scalars(plan.inputs, "double", ("lower", "upper"))
    common = {"stem": plan.stem, "bits": plan.bits, "size": (plan.bits + 7) // 8}
    body = fill(template, common | {"clamp": _clamp(plan.law)})
    variables = {name: f"    {name} {element};" for name, element in _VARIABLES.items()}
    values = common | {
        "kind": plan.kind,
        "epsilon": plan.epsilon,
        "sha": plan.sha256,
        "constants": "\n".join([*lines, *constants]),
        "variables": "\n".join(used(variables, body)),
        "body": body,
        "functions": _functions(plan),
        "goes_in": goes_in(plan),
        "comes_out": comes_out(plan),
    }
    cases = ",\n".join(f"        ({_case(vector)})" for vector in vectors)
    return {
        f"{plan.stem}.postgresql.sql": fill(_SCRIPT, values),
        f"{plan.stem}_replay.postgresql.sql": fill(_REPLAY, common | {"cases": cases}),
    }


def _case(vector: Vector) -> str:
    expected = "error" if vector.y is None else bits(vector.y)
    return f"'{vector.x!r}'::double precision, '\\x{vector.stream.hex()}'::bytea, {vector.used}, '{expected}'"


def _functions(plan: Plan) -> str:
    """What is called: for a labelled table in labels, and in codes."""
    if not plan.labelled:
        return fill(_FUNCTION, {"stem": plan.stem, "core": plan.stem})
    taken = "double precision" if plan.input_labels is None else "text"
    given = "double precision" if plan.output_labels is None else "text"
    law = plan.law
    assert isinstance(law, FinitePlan)
    lists = [
        _texts("input_labels", plan.input_labels),
        _list("points", map(repr, plan.inputs.points)) if plan.input_labels else "",
        _texts("output_labels", plan.output_labels),
        _list("outputs", map(repr, law.outputs)) if plan.output_labels else "",
    ]
    values = {
        "stem": plan.stem,
        "taken": taken,
        "given": given,
        "constants": "".join(f"{text}\n" for text in lists if text),
        "read": _LABEL_IN if plan.input_labels else "",
        "code": "the_points[array_position(the_input_labels, x)]" if plan.input_labels else "x",
        "report": "the_output_labels[array_position(the_outputs, y)]" if plan.output_labels else "y",
    }
    return fill(_FUNCTION, {"stem": plan.stem, "core": f"{plan.stem}_code"}) + fill(_FRONT, values)


def _texts(name: str, texts: Sequence[str] | None) -> str:
    if texts is None:
        return ""
    listed = ",\n        ".join(chunks(map(postgresql_text, texts), ", ", 100))
    return f"    the_{name} CONSTANT text[] := ARRAY[\n        {listed}\n    ];"


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
            return _PIECES.replace("@start@", _CIRCLE if law.circular else _LINE), variables
        case AdditivePlan():
            variables = _scalars(law, "bigint", ("tail", "block"))
            variables += _scalars(law, "double", ("offset", "scale", "step"))
            variables.append(_list("cumulative", map(str, law.cumulative), "bigint"))
            variables.append(f"    places CONSTANT integer := {law.block};")
            return _ADDITIVE, variables


def _rows(rows: Rows) -> list[str]:
    lists = {"reached": rows.reached, "gained": rows.gained, "starts": rows.starts}
    texts = [_list(name, map(str, values), "bigint") for name, values in lists.items()]
    places = f"    places CONSTANT integer := {len(rows.outputs)};"
    return [_list("outputs", map(repr, rows.outputs)), *texts, *_scalars(rows, "bigint", ("extra",)), places]


def _scalars(law: object, kind: str, names: Iterable[str]) -> list[str]:
    element = "double precision" if kind == "double" else kind
    return [f"    the_{name} CONSTANT {element} := '{getattr(law, name)!r}'::{element};" for name in names]


def _list(name: str, items: Iterable[str], element: str = "double precision") -> str:
    listed = ",\n        ".join(chunks(items, ",", 100))
    # with a cast the text is read once, without one at every call
    return f"    the_{name} CONSTANT {element}[] := '{{\n        {listed}\n    }}'::{element}[];"


def _clamp(law: Law) -> str:
    if not isinstance(law, PiecesPlan | AdditivePlan) or law.clamp is None:
        return ""
    return f"    y := least(greatest(y, '{law.clamp[0]!r}'), '{law.clamp[1]!r}');\n"


_VARIABLES = {
    "low": "integer",
    "high": "integer",
    "middle": "integer",
    "target": "bigint",
    "rest": "double precision",
    "digits": "bigint",
    "number": "bigint",
    "size": "bigint",
    "width": "integer",
    "count": "bigint",
    "start": "bigint",
}

_SCRIPT = """\
-- A sampler generated by mechdesign from the table with SHA-256
--
--     @sha@
--
-- kind: @kind@; epsilon: @epsilon@ (local differential privacy; the law of every report is exact).
-- Every random decision compares integers. PostgreSQL 13 and later: gen_random_uuid() draws on pg_strong_random, which
-- is the operating system's (or OpenSSL's, seeded by it). It runs in the database: whoever runs it sees the inputs.
--
--     SELECT @stem@(x) FROM ...
--
-- @stem@(x) takes @goes_in@, and gives @comes_out@.

BEGIN;

-- The random bytes of a random UUID, without the two that hold its version and variant.
CREATE OR REPLACE FUNCTION @stem@_entropy() RETURNS bytea LANGUAGE sql VOLATILE AS $$
    SELECT substring(b from 1 for 6) || substring(b from 8 for 1) || substring(b from 10 for 7)
    FROM (SELECT uuid_send(gen_random_uuid()) AS b) AS uuid
$$;

-- The bytes given, or with none given as many of the system's as are needed.
CREATE OR REPLACE FUNCTION @stem@_more(pool bytea, needed integer, given boolean) RETURNS bytea
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    WHILE length(pool) < needed LOOP
        IF given THEN
            RAISE EXCEPTION 'no random bytes left';
        END IF;
        pool := pool || @stem@_entropy();
    END LOOP;
    RETURN pool;
END
$$;

-- The low bits of as few whole bytes as hold them, little-endian. At most 63 bits.
CREATE OR REPLACE FUNCTION @stem@_number(pool bytea, place integer, bits integer) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    number bigint := 0;
BEGIN
    FOR i IN 0 .. (bits + 7) / 8 - 1 LOOP
        number := number | (get_byte(pool, place + i)::bigint << (8 * i));
    END LOOP;
    RETURN number & ~((-1)::bigint << bits);
END
$$;

-- A report, and how many of the bytes given were used; with NULL for the bytes, the system's are taken.
CREATE OR REPLACE FUNCTION @stem@_trace(
    x double precision, bytes bytea, OUT y double precision, OUT used integer
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
@constants@
    given CONSTANT boolean := bytes IS NOT NULL;
    pool bytea := coalesce(bytes, ''::bytea);
    place integer := 0;
@variables@
BEGIN
@body@    used := place;
END
$$;

@functions@
COMMIT;
"""

_FUNCTION = """\
CREATE OR REPLACE FUNCTION @core@(x double precision) RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT y FROM @stem@_trace(x, NULL)
$$;
"""

_FRONT = """\

-- The function above takes and gives codes, this one labels: the i-th label stands for the i-th number beside it.
CREATE OR REPLACE FUNCTION @stem@(x @taken@) RETURNS @given@ LANGUAGE plpgsql VOLATILE AS $$
DECLARE
@constants@    y double precision;
BEGIN
@read@    y := @stem@_code(@code@);
    RETURN @report@;
END
$$;
"""

_LABEL_IN = """\
    IF x IS NULL OR array_position(the_input_labels, x) IS NULL THEN
        RAISE EXCEPTION 'the input must be one of the input labels' USING ERRCODE = 'invalid_parameter_value';
    END IF;
"""


def _draw(target: str, bits: str, bytes_: str, indent: int = 4) -> str:
    lines = (
        f"pool := @stem@_more(pool, place + {bytes_}, given);",
        f"{target} := @stem@_number(pool, place, {bits});",
        f"place := place + {bytes_};",
    )
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


_COUNT = _draw("count", "@bits@", "@size@")

_IN_INTERVAL = """\
    IF (x >= the_lower AND x <= the_upper) IS NOT TRUE THEN
        RAISE EXCEPTION 'the input must lie in the domain' USING ERRCODE = 'invalid_parameter_value';
    END IF;
"""


def _count_below(values: str, condition: str, places: str) -> str:
    """Sets ``low`` to the number of values that satisfy a condition that holds up to some place."""
    return f"""\
    low := 0;
    high := {places};
    WHILE low < high LOOP
        middle := (low + high) / 2;
        IF {values}[middle + 1] {condition} THEN
            low := middle + 1;
        ELSE
            high := middle;
        END IF;
    END LOOP;
"""


_PICK = """\
    low := 0;
    high := places;
    WHILE high - low > 1 LOOP
        middle := (low + high) / 2;
        IF @cumulative@ <= count THEN
            low := middle;
        ELSE
            high := middle;
        END IF;
    END LOOP;
"""

_REACHED = "the_reached[middle + 1] + least(greatest(the_gained[middle + 1] - start, 0), the_extra)"

_CHOOSE = (
    _COUNT
    + _PICK.replace("@cumulative@", _REACHED)
    + """\
    y := the_outputs[low + 1];
"""
)

_BELOW = (
    """\
    width := 0;
    WHILE width < 63 AND ((size - 1) >> width) > 0 LOOP
        width := width + 1;
    END LOOP;
    LOOP
"""
    + _draw("number", "width", "(width + 7) / 8", 8)
    + """\
        EXIT WHEN number < size;
    END LOOP;
"""
)

# target becomes an integer next to (x - offset) * scale with exactly that mean
_WHOLE = (
    """\
    rest := abs((x - the_offset) * the_scale);
    target := floor(rest)::bigint;
    rest := rest - floor(rest);
    WHILE rest > 0 LOOP
        rest := rest * 4294967296;
        digits := floor(rest)::bigint;
"""
    + _draw("number", "32", "4", 8)
    + """\
        IF number <> digits THEN
            target := target + (number < digits)::integer;
            EXIT;
        END IF;
        rest := rest - digits;
    END LOOP;
    IF x < the_offset THEN
        target := -target;
    END IF;
"""
)

_WINDOW = (
    _IN_INTERVAL
    + _count_below("the_thresholds", "< x", "cardinality(the_thresholds)")
    + """\
    start := the_starts[low + 1];
"""
    + _CHOOSE
)

_UNBIASED = (
    _IN_INTERVAL
    + _WHOLE
    + _count_below("the_means", "<= target", "cardinality(the_means)")
    + """\
    low := least(greatest(low - 1, 0), cardinality(the_means) - 2);
    size := the_means[low + 2] - the_means[low + 1];
"""
    + _BELOW
    + """\
    start := the_starts[low + 1 + (number < target - the_means[low + 1])::integer];
"""
    + _CHOOSE
)

_FINITE = (
    _count_below("the_points", "< x", "cardinality(the_points)")
    + """\
    IF (the_points[low + 1] = x) IS NOT TRUE THEN
        RAISE EXCEPTION 'the input must be a point of the domain' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    start := low * (places + 1);
"""
    + _COUNT
    + _PICK.replace("@cumulative@", "the_cumulative[start + middle + 1]")
    + """\
    y := the_outputs[low + 1];
"""
)

_LINE = "start := floor(least(greatest(rest, 0), the_cells - the_inside))::bigint;"
_CIRCLE = "start := (floor(rest)::bigint % the_cells + the_cells) % the_cells;"

_PIECES = (
    _IN_INTERVAL
    + """\
    rest := (x - the_anchor) * the_scale;
    @start@
"""
    + _COUNT
    + """\
    size := CASE WHEN count < the_weight THEN the_inside ELSE the_cells - the_inside END;
"""
    + _BELOW
    + """\
    IF count >= the_weight THEN
        number := number + the_inside;
    END IF;
    y := ((the_first + (start + number) % the_cells)::double precision + 0.5) * the_step;
@clamp@"""
)

_ADDITIVE = (
    _IN_INTERVAL
    + _WHOLE
    + """\
    LOOP
"""
    + _draw("number", "1", "1", 8)
    + """\
        size := 0;
        LOOP
"""
    + _draw("count", "@bits@", "@size@", 12)
    + """\
            EXIT WHEN count >= the_tail;
            size := size + the_block;
        END LOOP;
"""
    + _COUNT
    + _PICK.replace("@cumulative@", "the_cumulative[middle + 1]")
    + """\
        size := size + low;
        EXIT WHEN number = 0 OR size > 0;
    END LOOP;
    target := target + CASE WHEN number = 1 THEN -size ELSE size END;
    y := the_offset + target::double precision * the_step;
@clamp@"""
)

_REPLAY = """\
-- Checks the sampler against its test vectors, after @stem@.postgresql.sql:
-- psql -v ON_ERROR_STOP=1 -f @stem@_replay.postgresql.sql
DO $$
DECLARE
    test record;
    outcome record;
    found text;
    cases integer := 0;
BEGIN
    FOR test IN SELECT * FROM (VALUES
@cases@
    ) AS cases (x, bytes, used, expected) LOOP
        cases := cases + 1;
        BEGIN
            SELECT * INTO outcome FROM @stem@_trace(test.x, test.bytes);
            found := encode(float8send(outcome.y), 'hex');
        EXCEPTION WHEN invalid_parameter_value THEN
            found := 'error';
        END;
        IF found <> test.expected OR (found <> 'error' AND outcome.used <> test.used) THEN
            RAISE EXCEPTION 'FAIL case %', cases;
        END IF;
    END LOOP;
    RAISE NOTICE 'PASS %', cases;
END
$$;
"""
