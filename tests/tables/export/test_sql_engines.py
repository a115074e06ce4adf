"""SQL in both engines: vectors of every kind, the law, labels, bad arguments, no randomness, changed numbers."""

from __future__ import annotations

import importlib.util
import math
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from scipy import stats

from mechdesign.mechanisms import catalogue
from mechdesign.tables import Labels, Table, export_package, fixed_stream, load_table, make_table
from mechdesign.tables.export import sql
from mechdesign.tables.export.shared_vectors import FOLDER
from mechdesign.tables.reference import rule
from mechdesign.tables.vectors import Vector, refusals, vectors, vectors_with_refusals
from mechdesign.words.domains import Finite

NAMES = sorted(path.stem for path in FOLDER.glob("*.txt") if (FOLDER / f"{path.stem}_envelopes.txt").exists())
NAMES = [name for name in NAMES if not name.endswith("_device")]
ENGINES = ("duckdb", "postgresql")
DRAWS = 4000
SEED = 5


def stem_of(table: Table) -> str:
    return f"sampler_{table.sha256[:8]}"


def table_of(name: str) -> Table:
    return load_table(FOLDER / f"{name}.json")


@pytest.fixture
def duck() -> Iterator[Any]:
    if importlib.util.find_spec("duckdb") is None:
        pytest.skip("the Python package duckdb is not installed")
    import duckdb

    with duckdb.connect() as connection:
        connection.create_function("os_random", os.urandom, ["BIGINT"], "BLOB", side_effects=True)
        yield connection


class Engine:
    """A database that loads a table's source and answers queries."""

    def __init__(self, name: str, request: pytest.FixtureRequest) -> None:
        self.name = name
        self.database: Any = request.getfixturevalue("duck" if name == "duckdb" else name)

    def load(self, table: Table) -> str:
        self.run(self.source(table))
        return stem_of(table)

    def source(self, table: Table) -> str:
        stem = stem_of(table)
        return sql.duckdb(table, stem, "register.py") if self.name == "duckdb" else sql.postgresql(table, stem)

    def run(self, text: str) -> list[str]:
        """The rows, or one that says what went wrong."""
        if self.name == "postgresql":
            return [line.removeprefix("NOTICE:  ") for line in self.database.query(text).splitlines()]
        import duckdb

        try:
            return [str(row[0]) for row in self.database.execute(text).fetchall()]
        except duckdb.Error as error:
            return [f"ERROR:  {error}"]

    def replay(self, table: Table, cases: Sequence[Vector]) -> str:
        said = self.run(sql.replay(self.name, table, stem_of(table), cases))
        return said[0]

    def drawn(self, table: Table, x: str, count: int = DRAWS) -> list[str]:
        stem, bytes_of = stem_of(table), table.kind not in ("window", "unbiased", "finite", "pieces", "additive")
        given = f"{x}, os_random({stem}_bytes())" if self.name == "duckdb" else x
        called = f"{stem}({given})"
        if bytes_of:
            called = f"lower(hex({called}))" if self.name == "duckdb" else f"encode({called}, 'hex')"
        rows = f"range({count})" if self.name == "duckdb" else f"generate_series(1, {count})"
        return self.run(f"SELECT {called} FROM {rows}")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return Engine(request.param, request)


def hard(table: Table, count: int = 100) -> list[Vector]:
    """Streams of extreme bytes, which take every branch of a rejection."""
    rng = random.Random(SEED)
    usual = [vector.x for vector in vectors(table, 60, most=0)]
    found: list[Vector] = []
    while len(found) < count:
        extreme = rng.choice([(0, 255), (0,) * 6 + (1, 255), (255,) * 6 + (254, 0), tuple(range(256))])
        content = bytes(rng.choice(extreme) for _ in range(400))
        x, stream = rng.choice(usual), fixed_stream(content)
        try:
            y = rule(table)(x, stream)
        except EOFError:
            continue
        found.append(Vector(x, content, stream.used, y))
    return found


# -- vectors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_shared_vectors_and_streams_of_extreme_bytes_are_answered(engine: Engine, name: str) -> None:
    table = table_of(name)
    engine.load(table)
    cases = [*vectors_with_refusals(table, 6, 300), *hard(table, 30)]
    assert engine.replay(table, cases) == f"PASS {len(cases)}"


@pytest.mark.parametrize("name", ["pieces", "hashing"])
@pytest.mark.parametrize("fault", ["output", "used", "refused", "accepted", "none"])
def test_a_replay_names_the_case_that_differs(engine: Engine, name: str, fault: str) -> None:
    table = table_of(name)
    engine.load(table)
    first, second, third = vectors(table, 3, most=0)
    assert second.y is not None
    other = bytes([second.y[0] ^ 1, *second.y[1:]]) if isinstance(second.y, bytes) else math.nextafter(second.y, 9.0)
    faults = {
        "output": evolve(second, y=other),
        "used": evolve(second, used=second.used + 1),
        "refused": evolve(second, y=None),
        "accepted": evolve(second, x=10**9 if isinstance(second.y, bytes) else 1e9),
        "none": second,
    }
    said = engine.replay(table, [first, faults[fault], third])
    wanted = "PASS 3" if fault == "none" else "FAIL case 2"
    if engine.name == "duckdb" and fault == "accepted":
        wanted = "the input must"
    assert wanted in said


def test_replays_fail_where_a_sampler_gives_null(duck: Any, postgresql: Any) -> None:
    """Beside refusals that are right: what is NULL is neither equal nor unequal."""
    import duckdb

    table = table_of("finite")
    stem, cases = stem_of(table), [*refusals(table), *vectors(table, 3, most=0)]
    duck.execute(sql.duckdb(table, stem, "register.py"))
    duck.execute(f"CREATE OR REPLACE MACRO {stem}_law(r) AS {{'y': NULL::DOUBLE, 'used': 0::BIGINT}}")
    with pytest.raises(duckdb.Error, match=f"FAIL case {len(cases) - 2}"):
        duck.execute(sql.replay("duckdb", table, stem, cases))
    null = f"CREATE OR REPLACE FUNCTION {stem}_trace(x double precision, bytes bytea, OUT y double precision, "
    null += "OUT used integer) LANGUAGE sql AS $$ SELECT NULL::double precision, 0 WHERE x IS NOT NULL $$;\n"
    replay = sql.replay("postgresql", table, stem, cases)
    assert postgresql.query(sql.postgresql(table, stem) + replay).endswith(f"PASS {len(cases)}")
    assert "FAIL case" in postgresql.query(null + replay)


# -- the law -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "x", "place"), [("finite", "0", 1), ("labels", "'z'", 5)])
def test_reports_have_the_law_of_the_table(engine: Engine, name: str, x: str, place: int) -> None:
    """Chi-square: false alarms with probability 1e-6; with n = 4000, a constant report is always noticed."""
    table = table_of(name)
    engine.load(table)
    row, said = table.law.rows[place], engine.drawn(table, x)
    names = table.labels.outputs or [repr(y) if engine.name == "duckdb" else f"{y:g}" for y in table.law.outputs]
    counts = Counter(said)
    observed = [counts[label] for label in names]
    assert sum(observed) == DRAWS, set(counts) - set(names)
    assert stats.chisquare(observed, [DRAWS * count / sum(row) for count in row]).pvalue > 1e-6


@pytest.mark.parametrize("name", ["unary", "sketch"])
def test_bits_have_their_chances(engine: Engine, name: str) -> None:
    """The bits of a report are independent: their sum has a normal law but for a false alarm of 1e-6."""
    table = table_of(name)
    engine.load(table)
    head = 1 if name == "sketch" else 0
    ones = sum(byte.bit_count() for line in engine.drawn(table, "3") for byte in bytes.fromhex(line)[head:])
    own, other = (pair[1] / table.law.whole for pair in (table.law.own_bit, table.law.other_bit))
    width = table.law.width
    mean = DRAWS * (own + (width - 1) * other)
    deviation = math.sqrt(DRAWS * (own * (1 - own) + (width - 1) * other * (1 - other)))
    assert abs(ones - mean) < 4.9 * deviation


@pytest.mark.parametrize("name", ["hashing", "subset", "hadamard", "response"])
def test_an_item_is_supported_as_often_as_the_law_says(engine: Engine, name: str) -> None:
    """The support of one's own item: false alarms with probability 1e-6."""
    table = table_of(name)
    engine.load(table)
    x = "'z'" if table.labels.inputs is not None else "3"
    item = 5 if table.labels.inputs is not None else 3
    rows = [bytes.fromhex(line) for line in engine.drawn(table, x)]
    sums = table.law.support(table.law.sums(_rows(rows)))
    assert table.chances is not None
    p = float(table.chances.p)
    assert abs(sums[item] - DRAWS * p) < 4.9 * math.sqrt(DRAWS * p * (1 - p)) + 1


def _rows(reports: Sequence[bytes]) -> Any:
    return np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(len(reports), -1)


def test_randomness_is_not_the_databases_own(postgresql: Any) -> None:
    table = table_of("finite")
    postgresql.query(sql.postgresql(table, stem_of(table)))
    query = f"SELECT setseed(0.5); SELECT {stem_of(table)}(0) FROM generate_series(1, {DRAWS});"
    assert postgresql.query(query) != postgresql.query(query)


@pytest.mark.parametrize("name", NAMES)
def test_the_bytes_duckdb_asks_for_suffice(duck: Any, name: str) -> None:
    table = table_of(name)
    duck.execute(sql.duckdb(table, stem_of(table), "register.py"))
    x = next(iter(vectors(table, 1, most=0))).x
    core = stem_of(table) + ("_code" if table.labels.inputs or table.labels.outputs else "")
    query = f"SELECT count({core}({x!r}, os_random({stem_of(table)}_bytes()))) FROM range(300)"
    assert duck.execute(query).fetchall() == [(300,)]


def test_duckdb_takes_the_bytes_of_every_row(duck: Any) -> None:
    """In one query over all items: lists of many lengths are where engines err. The reference reads the same bytes."""
    for name in ("unary", "hashing", "subset", "hadamard", "hadamard_one", "sketch", "response_many"):
        table = table_of(name)
        stem, count = stem_of(table), table.law.count
        duck.execute(sql.duckdb(table, stem, "register.py"))
        (size,) = duck.execute(f"SELECT {stem}_bytes()").fetchall()[0]
        rows = [(i % count, random.Random(i).randbytes(size)) for i in range(300)]
        columns = [[x for x, _ in rows], [b for _, b in rows]]
        duck.execute(
            "CREATE OR REPLACE TABLE given AS SELECT unnest(?::BIGINT[]) AS x, unnest(?::BLOB[]) AS b", columns
        )
        said = duck.execute(f"SELECT {stem}(x, b) FROM given").fetchall()
        assert [row[0] for row in said] == [rule(table)(x, fixed_stream(b)) for x, b in rows], name


def test_duckdb_binds_arguments_before_its_own_names(duck: Any) -> None:
    table = table_of("unbiased")
    vector = hard(table, 1)[0]
    duck.execute(sql.duckdb(table, stem_of(table), "register.py"))
    for names in (("md_r", "md_c"), ("md_u", "md_t"), ("md_x", "md_hex"), ("md_bytes", "md_n")):
        query = f"SELECT {stem_of(table)}({', '.join(names)}) FROM (SELECT ?::DOUBLE, ?::BLOB) AS t({', '.join(names)})"
        assert duck.execute(query, [vector.x, vector.stream]).fetchall() == [(vector.y,)]


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "x", "content", "said"),
    [
        ("pieces_53", "NULL", "'aaaaaaaaaaaa'::BLOB", "the input must lie in the domain"),
        ("pieces_53", "'NaN'::DOUBLE", "'aaaaaaaaaaaa'::BLOB", "the input must lie in the domain"),
        ("pieces_53", "70.5", "'aaaaaaaaaaaa'::BLOB", "the input must lie in the domain"),
        ("pieces_53", "1.0", "NULL", "the random bytes must not be null"),
        ("pieces_53", "1.0", "''::BLOB", "no random bytes left"),
        ("pieces_53", "1.0", "'aaaaaaa'::BLOB", "no random bytes left"),
        ("unary", "-1", "os_random(64)", "the input must be an item"),
        ("unary", "0.5", "os_random(64)", "the input must be an item"),
        ("unary", "NULL", "os_random(64)", "the input must be an item"),
        ("unary", "1", "os_random(3)", "no random bytes left"),
    ],
)
def test_duckdb_stops_at_bad_arguments(duck: Any, name: str, x: str, content: str, said: str) -> None:
    table = table_of(name)
    duck.execute(sql.duckdb(table, stem_of(table), "register.py"))
    with pytest.raises(Exception, match=said):
        duck.execute(f"SELECT {stem_of(table)}({x}, {content})").fetchall()


@pytest.mark.parametrize(
    ("name", "x"), [("pieces", "NULL"), ("pieces", "'NaN'"), ("pieces", "'-Infinity'"), ("unary", "-1"), ("unary", "9")]
)
def test_postgresql_stops_at_bad_inputs(postgresql: Any, name: str, x: str) -> None:
    table = table_of(name)
    postgresql.query(sql.postgresql(table, stem_of(table)))
    assert re.search("the input must (lie in|be an)", postgresql.query(f"SELECT {stem_of(table)}({x});"))


@pytest.mark.parametrize("name", ["labels", "additive", "unary"])
@pytest.mark.parametrize("fault", ["RAISE EXCEPTION 'could not generate random values'", "RETURN NULL"])
def test_postgresql_stops_without_randomness(name: str, fault: str, postgresql: Any) -> None:
    """Its source of randomness is replaced, in a transaction that is rolled back."""
    table = table_of(name)
    assert postgresql.query(sql.postgresql(table, stem_of(table))) == ""
    given = "'z'" if name == "labels" else "1"
    query = f"SELECT {stem_of(table)}({given}) IS NOT NULL"
    assert postgresql.query(query) == "t"
    replaced = (
        "BEGIN;\nSET LOCAL allow_system_table_mods = on;\n"
        "ALTER FUNCTION pg_catalog.gen_random_uuid() RENAME TO kept_random_uuid;\n"
        f"CREATE FUNCTION pg_catalog.gen_random_uuid() RETURNS uuid LANGUAGE plpgsql AS $$ BEGIN {fault}; END $$;\n"
    )
    said = postgresql.query(f"{replaced}{query};\nROLLBACK;")
    assert said.startswith("ERROR:  ")
    assert ("no secure randomness" if fault == "RETURN NULL" else "could not generate") in said
    assert postgresql.query(query) == "t"


# -- labels ------------------------------------------------------------------------------------------------------------

LABELS = (
    "no", "NO", "neither, nor", '"', "'", "\\", '\\"', "*/", "/*", "//", "--", "${x}", "`", "??/", "\\u0022", "\\x27",
    "'; DROP TABLE users; --", "$$; DROP TABLE users; --", "{{ stem }}", "{% endif %}", "%s%n", "{0}", "#", "\u00e9",
    "e\u0301", "\u65e5\u672c\u8a9e", "\U0001f600", "line\u2028line", "nbsp\u00a0nbsp", "\ufeffbom", "1", "0", "-5",
    "null", "x" * 200,
)  # fmt: skip
REPORTS = tuple(f">{label[:199]}" for label in LABELS)
SECRET = "my-HIV-status: positive"


@pytest.mark.parametrize(("inputs", "outputs"), [(True, True), (True, False), (False, True)])
def test_labels_go_in_and_come_out_whatever_they_are(engine: Engine, inputs: bool, outputs: bool) -> None:
    """With epsilon 20 an input is reported as itself: all draws together fail to with a probability of about 1e-6."""
    points = tuple(10.0 * i - 5 for i in range(len(LABELS)))
    labels = Labels(LABELS if inputs else None, REPORTS if outputs else None)
    table = make_table(catalogue.randomised_response(20.0, Finite(points)), labels=labels, bits=62)
    stem, is_duck = engine.load(table), engine.name == "duckdb"
    assert sql.postgresql(table, stem).isascii()
    decoded = "decode(unhex('{}'))" if is_duck else "convert_from('\\x{}', 'UTF8')"
    asked = [
        decoded.format(text.encode().hex()) if inputs else f"{y:g}" for text, y in zip(LABELS, points, strict=True)
    ]
    called = f"{stem}(x, os_random({stem}_bytes()))" if is_duck else f"{stem}(x)"
    given = called
    if outputs:
        given = f"lower(hex(encode({called})))" if is_duck else f"encode(convert_to({called}, 'UTF8'), 'hex')"
    kind = ("VARCHAR" if is_duck else "text") if inputs else ("DOUBLE" if is_duck else "double precision")
    source = f"unnest([{', '.join(asked)}]::{kind}[])" if is_duck else f"unnest(ARRAY[{', '.join(asked)}]::{kind}[])"
    said = engine.run(f"SELECT {given} FROM (SELECT {source} AS x) AS t")
    expected = (
        [text.encode().hex() for text in REPORTS] if outputs else [str(y) if is_duck else f"{y:g}" for y in points]
    )
    assert said == expected
    for wrong in ("NULL", f"'{SECRET}'") if inputs else ("NULL", "-6"):
        (error, *_) = engine.run(f"SELECT {called.replace('(x', '(' + wrong)}")
        assert "the input must" in error
        assert "HIV" not in error


# -- packages ----------------------------------------------------------------------------------------------------------


def test_a_package_is_an_extension_and_scripts_that_pass_in_both_engines(
    duck: Any, postgresql: Any, tmp_path: Path
) -> None:
    tables = {name: table_of(name) for name in ("labels", "window", "subset")}
    folder = tmp_path / "made"
    export_package(tables, "sql", "survey", folder, cases=5)
    text = (folder / "survey--1.0.0.sql").read_text().replace("@extschema@", "public")
    assert "ERROR" not in postgresql.query(f"BEGIN;\n{text}\nCOMMIT;")
    for name in tables:
        stem = f"survey_{name}"
        assert "PASS" in postgresql.query((folder / "postgresql" / f"{stem}_replay.postgresql.sql").read_text())
        duck.execute((folder / "duckdb" / f"{stem}.duckdb.sql").read_text())
        found = duck.execute((folder / "duckdb" / f"{stem}_replay.duckdb.sql").read_text()).fetchall()
        assert found[0][0].startswith("PASS")


# -- changed numbers ---------------------------------------------------------------------------------------------------

HIDDEN = re.compile(r"--[^\n]*|'[^'\n]*'")


def mutants(text: str, count: int) -> list[tuple[str, str]]:
    """So many sources, drawn at random, with one number changed, and the line where it stands."""
    blank = HIDDEN.sub(lambda found: " " * len(found[0]), text)
    found = []
    for match in re.finditer(r"(?<![\w.])\d+", blank[blank.index("CREATE OR REPLACE") :]):
        start, end = (place + blank.index("CREATE OR REPLACE") for place in match.span())
        line = text[text.rindex("\n", 0, start) + 1 : text.index("\n", end)].strip()
        value = int(match[0])
        found += [(f"{text[:start]}{other}{text[end:]}", line) for other in (value + 1, 2 * value + 2, value // 2)]
    return random.Random(SEED).sample(found, min(count, len(found)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["window", "unbiased", "pieces", "response_many", "hashing", "subset", "hadamard"])
def test_a_changed_number_fails_the_vectors_unless_the_law_is_the_same(duck: Any, name: str) -> None:
    """What passes the vectors passes 200 other cases, too: it changed nothing, as a mask that is wider than needed."""
    import duckdb

    table, caught, missed = table_of(name), 0, []
    stem, cases = stem_of(table), list(vectors_with_refusals(table, 20, 600))
    source = sql.duckdb(table, stem, "register.py")
    others = [*vectors(table, 150, b"others", most=0), *hard(table, 50)]
    replays = [sql.replay("duckdb", table, stem, each) for each in (cases, others)]
    for text, line in mutants(source, 14):
        passed = []
        with duckdb.connect(config={"threads": 1}) as connection:
            for replay in replays:
                try:
                    connection.execute(text)
                    passed.append(str(connection.execute(replay).fetchall()[0][0]).startswith("PASS"))
                except duckdb.Error:
                    passed.append(False)
        caught += not passed[0]
        if passed[0] and not passed[1]:
            missed.append(line)
    assert missed == []
    assert caught >= 6
