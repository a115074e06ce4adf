"""DuckDB 1.3 and later: scalar macros. The random bytes are an argument, because DuckDB's own generator is not safe."""

from __future__ import annotations

import math
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
from mechdesign.deploy.export.texts import comes_out, duckdb_text, goes_in
from mechdesign.deploy.export.vectors import Vector

_REJECTIONS = 64
"""A row runs out of the recommended number of bytes with probability of about 2^-64; then the query stops."""


def sources(plan: Plan, vectors: Sequence[Vector]) -> dict[str, str]:
    """File names and their text."""
    helpers, body, needed = _law(plan)
    common = {"stem": plan.stem, "bits": plan.bits, "size": _bytes(plan.bits)}
    points = plan.inputs.points
    if points:
        inside = f"list_contains({_doubles(points)}, md_x)"
    else:
        inside = f"md_x >= {_double(plan.inputs.lower)} AND md_x <= {_double(plan.inputs.upper)}"
    values = common | {
        "kind": plan.kind,
        "epsilon": plan.epsilon,
        "sha": plan.sha256,
        "needed": needed,
        "inside": inside,
        "helpers": fill("".join(helpers), common),
        "body": fill(body, common),
        "front": _front(plan),
        "goes_in": goes_in(plan),
        "comes_out": comes_out(plan),
    }
    cases = ",\n".join(f"    ({_case(number, vector)})" for number, vector in enumerate(vectors, 1))
    return {
        f"{plan.stem}.duckdb.sql": fill(_SCRIPT, values),
        f"{plan.stem}_replay.duckdb.sql": fill(_REPLAY, common | {"cases": cases}),
    }


def _case(number: int, vector: Vector) -> str:
    stream = f"unhex('{vector.stream.hex()}')"
    return (
        f"{number}, {_double(vector.x)}, {stream}, {vector.used}, {'NULL' if vector.y is None else _double(vector.y)}"
    )


def _front(plan: Plan) -> str:
    """What is called: for a labelled table in labels, and in codes."""
    if not plan.labelled:
        return fill(_FRONT, {"stem": plan.stem, "core": plan.stem})
    law = plan.law
    assert isinstance(law, FinitePlan)
    text = fill(_FRONT, {"stem": plan.stem, "core": f"{plan.stem}_code"})
    code, report = "md_x", f"{plan.stem}_code({{}}, md_bytes)"
    if plan.input_labels is not None:
        labels, points = _texts(plan.input_labels), _doubles(plan.inputs.points)
        text += fill(_LABEL_IN, {"stem": plan.stem, "labels": labels, "points": points})
        code = f"{plan.stem}_code_of(md_x)"
    report = report.format(code)
    if plan.output_labels is not None:
        report = f"{_texts(plan.output_labels)}[list_position({_doubles(law.outputs)}, {report})]"
    return text + fill(_LABELLED, {"stem": plan.stem, "report": report})


def _texts(labels: Sequence[str]) -> str:
    return _list(map(duckdb_text, labels), "VARCHAR")


def _law(plan: Plan) -> tuple[list[str], str, int]:
    """Helper macros, the body of the trace macro, and how many random bytes to give it."""
    law = plan.law
    size = _bytes(plan.bits)
    match law:
        case WindowPlan(rows, thresholds):
            row = _count(_doubles(thresholds), len(thresholds), "< md_r.x")
            values = {"row": row, "starts": _integers(rows.starts)}
            return [_choose(rows)], fill(_WINDOW, values | _LATER), size
        case UnbiasedPlan(rows, offset, scale, means):
            row = _count(_integers(means), len(means), "<= md_z")
            values = {
                "row": row,
                "starts": _integers(rows.starts),
                "means": _integers(means),
                "last": str(len(means) - 2),
            }
            values |= {"offset": _double(offset), "scale": _double(scale)}
            gaps = {high - low for low, high in zip(means, means[1:], strict=False)}
            helpers = [_choose(rows), _BELOW, fill(_HAPPENS, {"powers": _powers()} | _LATER)]
            return helpers, fill(_UNBIASED, values | _LATER), size + 8 + max(map(_bytes_below, gaps))
        case FinitePlan(outputs, cumulative):
            flat = [count for row in cumulative for count in row]
            pick = _count(_integers(flat), len(outputs) + 1, "<= md_u", f"md_i * {len(outputs) + 1}")
            values = {"points": _doubles(plan.inputs.points), "outputs": _doubles(outputs), "pick": pick}
            return [], fill(_FINITE, values | _LATER), size
        case PiecesPlan():
            start = fill(_CIRCLE if law.circular else _LINE, _numbers(law))
            places = {name: _double(getattr(law, name)) for name in ("step", "anchor", "scale")}
            texts = _numbers(law) | places | {"start": start, "clamp": _clamp("md_y", law.clamp)}
            least = max(map(_bytes_below, (law.inside, law.cells - law.inside)))
            return [_BELOW], fill(_PIECES, texts | _LATER), size + least
        case AdditivePlan():
            pick = _count(_integers(law.cumulative), law.block + 1, "<= md_u")
            blocks, attempts = _blocks(law, plan.bits), _attempts(law, plan.bits)
            noise = {"pick": pick, "tail": str(law.tail), "block": str(law.block)}
            places = {name: _double(getattr(law, name)) for name in ("offset", "scale", "step")}
            helpers = [fill(_HAPPENS, {"powers": _powers()} | _LATER), fill(_ATTEMPT, noise | _LATER)]
            values = places | {"clamp": _clamp("md_y", law.clamp)}
            return helpers, fill(_ADDITIVE, values | _LATER), 8 + attempts * (1 + 2 * size) + blocks * size


_LATER = {name: f"@{name}@" for name in ("stem", "bits", "size")}


def _bytes_below(size: int) -> int:
    """All but 2^-64 of the uniform numbers below ``size`` are found in so many bytes."""
    bits = (size - 1).bit_length()
    rejected = 1 - size / 2**bits
    return _bytes(bits) * (1 if rejected == 0 else math.ceil(_REJECTIONS * math.log(2) / -math.log(rejected)))


def _blocks(law: AdditivePlan, bits: int) -> int:
    """All but 2^-64 of the noise lies in so many blocks."""
    return 1 + math.ceil(_REJECTIONS * math.log(2) / -math.log(law.tail / 2**bits))


def _attempts(law: AdditivePlan, bits: int) -> int:
    """All but 2^-64 of the runs of minus zeros are shorter."""
    zero = law.cumulative[1] / 2**bits * (1 - law.tail / 2**bits)
    return 1 + math.ceil(_REJECTIONS * math.log(2) / -math.log(zero / 2))


def _numbers(law: PiecesPlan) -> dict[str, str]:
    counts = {name: str(getattr(law, name)) for name in ("cells", "inside", "weight", "first")}
    return counts | {"outside": str(law.cells - law.inside)}


def _bytes(bits: int) -> int:
    return (bits + 7) // 8


def _powers() -> str:
    return _doubles(2.0 ** (32 * i) for i in range(32))


def _double(value: float) -> str:
    return f"'{value!r}'::DOUBLE"


def _doubles(values: Iterable[float]) -> str:
    return _list((f"'{value!r}'" for value in values), "DOUBLE")


def _integers(values: Iterable[int]) -> str:
    return _list(map(str, values), "BIGINT")


def _list(items: Iterable[str], element: str) -> str:
    listed = ",\n".join(chunks(items, ", ", 110))
    return f"([{listed}]::{element}[])"


def _count(values: str, places: int, condition: str, skipped: str = "0") -> str:
    """The number of values that satisfy a condition that holds up to some place: a binary search."""
    steps = [str(1 << power) for power in reversed(range(places.bit_length()))]
    return (
        f"list_reduce([{', '.join(steps)}]::BIGINT[], lambda md_n, md_step: CASE WHEN md_n + md_step <= {places}"
        f" AND {values}[md_n + md_step + {skipped}] {condition} THEN md_n + md_step ELSE md_n END, 0::BIGINT)"
    )


def _choose(rows: Rows) -> str:
    steps = [str(1 << power) for power in reversed(range(len(rows.outputs).bit_length()))]
    values = {
        "steps": ", ".join(steps),
        "places": len(rows.outputs),
        "outputs": _doubles(rows.outputs),
        "reached": _integers(rows.reached),
        "gained": _integers(rows.gained),
        "extra": rows.extra,
    }
    return fill(_CHOOSE, values | _LATER)


def _clamp(value: str, ends: tuple[float, float] | None) -> str:
    return value if ends is None else f"least(greatest({value}, {_double(ends[0])}), {_double(ends[1])})"


def _lets(*bound: tuple[str, str], result: str) -> str:
    """``result`` with names bound to values, one after the other: SQL has no other way to use a value twice."""
    for name, value in reversed(bound):
        result = f"list_transform([{value}], lambda {name}:\n    {result})[1]"
    return result


_SCRIPT = """\
-- A sampler generated by mechdesign from the table with SHA-256
--
--     @sha@
--
-- kind: @kind@; epsilon: @epsilon@ (local differential privacy; the law of every report is exact).
-- Every random decision compares integers. DuckDB 1.3 and later.
--
-- DuckDB has no secure randomness of its own: random() and gen_random_uuid() can be predicted, so do not use them here.
-- Pass fresh bytes of the operating system's generator for every row, and never use them twice; in Python:
--
--     connection.create_function("os_random", os.urandom, ["BIGINT"], "BLOB", side_effects=True)
--     SELECT @stem@(x, os_random(@stem@_bytes())) FROM ...
--
-- @stem@(x, bytes) takes @goes_in@, and gives @comes_out@.
-- It runs in the database: whoever runs it sees the inputs.

-- How many random bytes a row should be given. (Should they not suffice, the query stops.)
CREATE OR REPLACE MACRO @stem@_bytes() AS @needed@;

-- The low bits of as few whole bytes as hold them, little-endian, from bytes in hexadecimal. At most 63 bits.
CREATE OR REPLACE MACRO @stem@_number(md_hex, md_place, md_bits) AS
CASE WHEN md_bits = 0 THEN 0::BIGINT
WHEN 2 * (md_place + (md_bits + 7) // 8) > length(md_hex) THEN error('no random bytes left')::BIGINT
ELSE list_transform([('0x' || rpad(substr(md_hex, 2 * md_place + 1, 2 * ((md_bits + 7) // 8)), 16, '0'))::UBIGINT],
    lambda md_v: ((
    (md_v >> 56) | ((md_v >> 40) & 65280) | ((md_v >> 24) & 16711680) | ((md_v >> 8) & 4278190080)
    | ((md_v & 4278190080) << 8) | ((md_v & 16711680) << 24) | ((md_v & 65280) << 40) | ((md_v & 255) << 56)
    ) & ((1::UBIGINT << md_bits) - 1))::BIGINT)[1] END;

@helpers@-- A report for md_r.x from the bytes md_r.hex, and how many of them were used.
CREATE OR REPLACE MACRO @stem@_law(md_r) AS
@body@;

CREATE OR REPLACE MACRO @stem@_accepts(md_x) AS coalesce(@inside@, false);

-- A report, and how many of the bytes were used. The arguments are bound once, whatever expressions they are.
CREATE OR REPLACE MACRO @stem@_trace(md_x, md_bytes) AS
list_transform([{'x': md_x::DOUBLE, 'bytes': md_bytes}], lambda md_c:
list_transform([CASE WHEN md_c.bytes IS NULL THEN error('the random bytes must not be null')
    WHEN @stem@_accepts(md_c.x) THEN {'x': md_c.x, 'hex': hex(md_c.bytes)}
    ELSE error('the input must lie in the domain') END], lambda md_r: @stem@_law(md_r))[1])[1];

@front@"""

_FRONT = """\
CREATE OR REPLACE MACRO @core@(md_x, md_bytes) AS @stem@_trace(md_x, md_bytes).y;
"""

_LABEL_IN = """\

-- The code of an input label: the number that the table has for it.
CREATE OR REPLACE MACRO @stem@_code_of(md_x) AS
list_transform([md_x], lambda md_l: CASE WHEN coalesce(list_contains(@labels@, md_l), false)
    THEN @points@[list_position(@labels@, md_l)]
    ELSE error('the input must be one of the input labels')::DOUBLE END)[1];
"""

_LABELLED = """\

-- The macro above takes and gives codes, this one labels: the i-th label stands for the i-th number beside it.
CREATE OR REPLACE MACRO @stem@(md_x, md_bytes) AS
@report@;
"""

_CHOOSE = """\
-- The output whose cumulative counts in the row that starts at md_s enclose md_u.
CREATE OR REPLACE MACRO @stem@_choose(md_s, md_u) AS
@outputs@[1 + list_reduce([@steps@]::BIGINT[], lambda md_n, md_step: CASE WHEN md_n + md_step < @places@ AND
@reached@[md_n + md_step + 1]
+ least(greatest(@gained@[md_n + md_step + 1] - md_s, 0), @extra@)
<= md_u THEN md_n + md_step ELSE md_n END, 0::BIGINT)];

"""

_BELOW = """\
-- A uniform integer from 0 to md_size - 1 from the bytes after md_place, and the place after those used.
CREATE OR REPLACE MACRO @stem@_below_bits(md_hex, md_place, md_size, md_bits) AS
CASE WHEN md_bits = 0 THEN {'value': 0::BIGINT, 'place': md_place}
ELSE list_transform([CASE WHEN @stem@_number(md_hex, md_place, md_bits) < md_size THEN md_place
    ELSE coalesce(list_filter(
    range(md_place, (length(md_hex) // 2) - (md_bits + 7) // 8 + 1, (md_bits + 7) // 8),
    lambda md_at: @stem@_number(md_hex, md_at, md_bits) < md_size)[1], error('no random bytes left')::BIGINT) END],
    lambda md_at: {'value': @stem@_number(md_hex, md_at, md_bits), 'place': md_at + (md_bits + 7) // 8})[1] END;

CREATE OR REPLACE MACRO @stem@_below(md_hex, md_place, md_size) AS
list_transform([CASE WHEN md_size = 1 THEN 0::BIGINT ELSE length(bin(md_size - 1)) END],
    lambda md_bits: @stem@_below_bits(md_hex, md_place, md_size, md_bits))[1];

"""

_HAPPENS = """\
-- True with probability md_p, whose binary digits are compared with random ones, and the place after the bytes used.
CREATE OR REPLACE MACRO @stem@_shifted(md_p, md_i) AS
md_p * @powers@[md_i + 1] - floor(md_p * @powers@[md_i + 1]);

CREATE OR REPLACE MACRO @stem@_happens(md_hex, md_place, md_p) AS
list_transform([CASE WHEN md_p = 0 THEN 0::BIGINT
    WHEN @stem@_number(md_hex, md_place, 32) <> floor(md_p * 4294967296)::BIGINT THEN 0::BIGINT
    ELSE coalesce(list_filter(range(0, least(31, ((length(md_hex) // 2) - md_place) // 4 + 1)), lambda md_i:
    CASE WHEN @stem@_shifted(md_p, md_i) = 0 THEN true
    WHEN 4 * (md_i + 1) + md_place > (length(md_hex) // 2) THEN false
    ELSE @stem@_number(md_hex, md_place + 4 * md_i, 32) <> floor(@stem@_shifted(md_p, md_i) * 4294967296)::BIGINT END
    )[1], error('no random bytes left')::BIGINT) END], lambda md_i:
    CASE WHEN @stem@_shifted(md_p, md_i) = 0 THEN {'up': 0::BIGINT, 'place': md_place + 4 * md_i}
    ELSE {'up': (@stem@_number(md_hex, md_place + 4 * md_i, 32)
        < floor(@stem@_shifted(md_p, md_i) * 4294967296)::BIGINT)::BIGINT, 'place': md_place + 4 * (md_i + 1)} END)[1];

-- An integer with mean exactly md_z.
CREATE OR REPLACE MACRO @stem@_whole(md_hex, md_z) AS
list_transform([@stem@_happens(md_hex, 0::BIGINT, abs(md_z) - floor(abs(md_z)))], lambda md_w:
    {'value': CASE WHEN md_z < 0 THEN -1 ELSE 1 END * (floor(abs(md_z))::BIGINT + md_w.up), 'place': md_w.place})[1];

"""

_ATTEMPT = """\
-- Noise from the bytes after md_place, and the place after those used; NULL if they do not suffice.
CREATE OR REPLACE MACRO @stem@_block(md_hex, md_place) AS
CASE WHEN md_place + 1 + 2 * @size@ > (length(md_hex) // 2) THEN NULL
WHEN @stem@_number(md_hex, md_place + 1, @bits@) >= @tail@ THEN 0::BIGINT
ELSE list_filter(range(0, ((length(md_hex) // 2) - md_place - 1) // @size@ - 1),
    lambda md_b: @stem@_number(md_hex, md_place + 1 + md_b * @size@, @bits@) >= @tail@)[1] END;

CREATE OR REPLACE MACRO @stem@_attempt(md_hex, md_place) AS
list_transform([@stem@_block(md_hex, md_place)], lambda md_b:
list_transform([@stem@_number(md_hex, md_place + 1 + (md_b + 1) * @size@, @bits@)], lambda md_u:
    {'negative': @stem@_number(md_hex, md_place, 1), 'place': md_place + 1 + (md_b + 2) * @size@,
    'size': md_b * @block@ + @pick@ - 1})[1])[1];

"""

_WINDOW = _lets(
    ("md_u", "@stem@_number(md_r.hex, 0::BIGINT, @bits@)"),
    ("md_i", "@row@"),
    result="{'y': @stem@_choose(@starts@[md_i + 1], md_u), 'used': @size@::BIGINT}",
)

_FINITE = _lets(
    ("md_u", "@stem@_number(md_r.hex, 0::BIGINT, @bits@)"),
    ("md_i", "list_position(@points@, md_r.x) - 1"),
    result="{'y': @outputs@[@pick@], 'used': @size@::BIGINT}",
)

_UNBIASED = _lets(
    ("md_w", "@stem@_whole(md_r.hex, (md_r.x - @offset@) * @scale@)"),
    ("md_z", "md_w.value"),
    ("md_i", "least(greatest(@row@ - 1, 0), @last@)"),
    ("md_b", "@stem@_below(md_r.hex, md_w.place, @means@[md_i + 2] - @means@[md_i + 1])"),
    ("md_s", "@starts@[md_i + 1 + (md_b.value < md_z - @means@[md_i + 1])::BIGINT]"),
    ("md_u", "@stem@_number(md_r.hex, md_b.place, @bits@)"),
    result="{'y': @stem@_choose(md_s, md_u), 'used': md_b.place + @size@}",
)

_LINE = "floor(least(greatest(md_q, 0), @outside@))::BIGINT"
_CIRCLE = "((floor(md_q)::BIGINT % @cells@ + @cells@) % @cells@)"

_PIECES = _lets(
    ("md_q", "(md_r.x - @anchor@) * @scale@"),
    ("md_u", "@stem@_number(md_r.hex, 0::BIGINT, @bits@)"),
    ("md_n", "CASE WHEN md_u < @weight@ THEN @inside@::BIGINT ELSE @outside@ END"),
    ("md_b", "@stem@_below(md_r.hex, @size@::BIGINT, md_n)"),
    ("md_c", "@start@ + md_b.value + CASE WHEN md_u < @weight@ THEN 0 ELSE @inside@ END"),
    ("md_y", "((@first@ + md_c % @cells@)::DOUBLE + '0.5'::DOUBLE) * @step@"),
    result="{'y': @clamp@, 'used': md_b.place}",
)

# an attempt that gives minus zero is repeated from where it ended; one that gives anything else stays where it is
_ADDITIVE = _lets(
    ("md_w", "@stem@_whole(md_r.hex, (md_r.x - @offset@) * @scale@)"),
    ("md_f", "@stem@_attempt(md_r.hex, md_w.place)"),
    (
        "md_p",
        "CASE WHEN md_f.negative = 0 OR md_f.size > 0 THEN md_w.place ELSE"
        " list_reduce(range(0, (length(md_r.hex) // 2) // (1 + 2 * @size@)), lambda md_at, md_k:"
        " list_transform([@stem@_attempt(md_r.hex, md_at)], lambda md_a:"
        " CASE WHEN md_a.negative = 1 AND md_a.size = 0 THEN md_a.place ELSE md_at END)[1], md_w.place) END",
    ),
    ("md_a", "CASE WHEN md_p = md_w.place THEN md_f ELSE @stem@_attempt(md_r.hex, md_p) END"),
    ("md_v", "coalesce(md_a.size, error('no random bytes left')::BIGINT)"),
    (
        "md_y",
        "@offset@ + (md_w.value + CASE WHEN md_a.negative = 1 THEN -md_v ELSE md_v END)::DOUBLE * @step@",
    ),
    result="{'y': @clamp@, 'used': md_a.place}",
)

_REPLAY = """\
-- Checks the sampler against its test vectors, after @stem@.duckdb.sql: returns PASS and the number of cases,
-- or stops at the first case that fails.
CREATE OR REPLACE TEMP TABLE @stem@_cases (number BIGINT, x DOUBLE, bytes BLOB, used BIGINT, y DOUBLE);
INSERT INTO @stem@_cases VALUES
@cases@;
WITH traced AS (
    SELECT number, used, y, CASE WHEN y IS NOT NULL THEN @stem@_trace(x, bytes) END AS found, x, bytes FROM @stem@_cases
), verdicts AS (
    SELECT number, CASE WHEN y IS NULL THEN NOT @stem@_accepts(x)
        ELSE found.y = y AND signbit(found.y) = signbit(y) AND found.used = used END AS passed FROM traced
)
SELECT CASE WHEN count(*) > 0 AND bool_and(passed) THEN 'PASS ' || count(*)
    ELSE error('FAIL case ' || coalesce(min(number) FILTER (WHERE NOT passed OR passed IS NULL), 0)) END AS verdict
FROM verdicts;
"""
