"""Exported samplers, compiled and run by the real toolchains, return what the Python reference returns, bit for bit."""

from __future__ import annotations

import errno
import importlib.util
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from scipy import stats

from mechdesign.deploy import Labels, Table, fixed_stream, make_table, report, test_vectors
from mechdesign.deploy.export import LANGUAGES, duckdb as duckdb_sources, export_table, postgresql as postgresql_sources
from mechdesign.deploy.export.plan import plan_of
from mechdesign.deploy.export.refusals import refusals
from mechdesign.deploy.export.vectors import Vector, bits, lines, vectors_of
from mechdesign.design import UnbiasedProblem, optimal_unbiased
from mechdesign.domains import Circle, Finite, Interval
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.window import Window
from mechdesign.priors import uniform
from mechdesign.values import files

KINDS = ("window", "unbiased", "finite", "pieces", "clamped", "circle", "additive", "staircase")
LABELS = Labels(("no", "rather not", "yes"), ("n", "r", "y"))
PROGRAMS = ("python", "javascript", "c", "rust", "java")
ENGINES = ("duckdb", "postgresql")
TOOLS = {
    "python": ("python", sys.executable),
    "javascript": ("node",),
    "c": ("gcc",),
    "rust": ("rustc",),
    "java": ("javac", "java"),
}


@pytest.fixture(scope="module")
def shipped() -> dict[str, Table]:
    points, base = np.array([0.0, 0.3, 0.55, 1.0]), np.array([0.15, 0.1, 0.1, 0.15])
    unbiased = UnbiasedProblem(1.0, uniform(Interval(-1, 1)), Interval(-1, 1), size=9, gap=1e-2)
    return {
        "window": make_table(Window(1.0, Interval(0, 1), points, base, 2.7), 62),
        "unbiased": make_table(optimal_unbiased(unbiased)),
        "finite": make_table(catalogue.randomised_response(1.3, Finite((-2, 0, 1, 2.5))), 16),
        "pieces": make_table(catalogue.sw(1.0, Interval(-3, 7)), 53),
        "clamped": make_table(catalogue.truncated(catalogue.pm(1.0)), 16),
        "circle": make_table(catalogue.ogpm_circle(2.0)),
        "additive": make_table(catalogue.laplace(1.0), 16),
        "staircase": make_table(catalogue.staircase(3.0), 53),
        "labelled": make_table(catalogue.randomised_response(1.3, Finite((-2, 0, 1))), 32, labels=LABELS),
    }


def skip_without(language: str) -> None:
    if language == "duckdb" and importlib.util.find_spec("duckdb") is None:
        pytest.skip("the Python package duckdb is not installed")
    for tool in TOOLS.get(language, ()):
        if shutil.which(tool) is None and tool != "python":
            pytest.skip(f"{tool} is not installed")


# -- test vectors ------------------------------------------------------------------------------------------------------


def random_vectors(table: Table, count: int) -> list[Vector]:
    """Random bytes only, without the cases at boundaries."""
    return vectors_of(test_vectors(table, count, most=0))


def answered(table: Table, x: float, content: bytes) -> Vector | None:
    stream = fixed_stream(content)
    try:
        return Vector(x, content, y=report(table, x, stream), used=stream.used)
    except EOFError:
        return None


def hard_vectors(table: Table, count: int = 150, seed: int = 4) -> list[Vector]:
    """Streams of extreme bytes, which take every branch of a rejection, and inputs beside every threshold."""
    rng = random.Random(seed)
    usual = [vector.x for vector in random_vectors(table, 60)]
    found: list[Vector] = []
    while len(found) < count:
        extreme = rng.choice([(0, 255), (0,) * 6 + (1, 255), (255,) * 6 + (254, 0), tuple(range(256))])
        vector = answered(table, rng.choice(usual), bytes(rng.choice(extreme) for _ in range(400)))
        if vector is not None:
            found.append(vector)
    return found


# -- toolchains --------------------------------------------------------------------------------------------------------


def stem_of(table: Table) -> str:
    return plan_of(table.document).stem


def run(command: list[str], folder: Path, text: str = "") -> str:
    done = subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, timeout=120, check=False)
    return (done.stdout + done.stderr).strip()


@dataclass(frozen=True)
class Program:
    """An exported sampler, compiled with every warning an error."""

    folder: Path
    command: tuple[str, ...]

    def replay(self, vectors: list[Vector]) -> str:
        (self.folder / "cases.txt").write_text(lines(vectors, "0" * 64))
        return run([*self.command, "cases.txt"], self.folder)


def compiled(tables: Mapping[str, Table], language: str, folder: Path) -> dict[str, Program]:
    """All of the tables, in one folder: Java's compiler takes a second to start."""
    skip_without(language)
    for table in tables.values():
        export_table(table, language, folder, cases=5)
    if language == "java":
        assert run(["javac", "-Xlint:all", "-Werror", *(path.name for path in folder.glob("*.java"))], folder) == ""
    return {name: Program(folder, _command(table, language, folder)) for name, table in tables.items()}


def _command(table: Table, language: str, folder: Path) -> tuple[str, ...]:
    stem = stem_of(table)
    program = f"./{stem}_replay"
    match language:
        case "python":
            return (sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); import {stem}_replay")
        case "javascript":
            return ("node", f"{stem}_replay.mjs")
        case "java":
            return ("java", f"Sampler_{table.sha256[:8]}_Replay")
        case "c":
            c = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
            assert run([*c, f"{stem}.c", f"{stem}_replay.c", "-o", program], folder) == ""
        case "rust":
            assert (
                run(["rustc", "--edition", "2021", "-D", "warnings", f"{stem}_replay.rs", "-o", program], folder) == ""
            )
    return (program,)


@pytest.fixture(scope="module")
def program(shipped: dict[str, Table], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Program]:
    ready: dict[str, dict[str, Program]] = {}

    def of(kind: str, language: str) -> Program:
        if language not in ready:
            ready[language] = compiled(shipped, language, tmp_path_factory.mktemp(language))
        return ready[language][kind]

    return of


@pytest.fixture
def duck() -> Iterator[Any]:
    skip_without("duckdb")
    import duckdb

    with duckdb.connect() as connection:
        yield connection


def in_duckdb(duck: Any, table: Table, vectors: list[Vector]) -> str:
    plan = plan_of(table.document)
    texts = duckdb_sources.sources(plan, vectors)
    duck.execute(texts[f"{plan.stem}.duckdb.sql"])
    return str(duck.execute(texts[f"{plan.stem}_replay.duckdb.sql"]).fetchall()[0][0])


def in_postgresql(cluster: Any, table: Table, vectors: list[Vector]) -> str:
    plan = plan_of(table.document)
    texts = postgresql_sources.sources(plan, vectors)
    return cluster.query("".join(texts.values())).replace("NOTICE:  ", "").replace("ERROR:  ", "").split("\n")[0]


def test_replays_in_databases_fail_where_a_sampler_gives_null(
    duck: Any, postgresql: Any, shipped: dict[str, Table]
) -> None:
    """Beside refusals that are right: what is NULL is neither equal nor unequal."""
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    table = shipped["finite"]
    plan = plan_of(table.document)
    vectors = [*refusals(plan.inputs), *random_vectors(table, 3)]
    texts = duckdb_sources.sources(plan, vectors)
    duck.execute(texts[f"{plan.stem}.duckdb.sql"])
    duck.execute(f"CREATE OR REPLACE MACRO {plan.stem}_law(r) AS {{'y': NULL::DOUBLE, 'used': 0::BIGINT}}")
    with pytest.raises(duckdb.Error, match=f"FAIL case {len(vectors) - 2}"):
        duck.execute(texts[f"{plan.stem}_replay.duckdb.sql"])
    sampler, replay = postgresql_sources.sources(plan, vectors).values()
    null = f"CREATE OR REPLACE FUNCTION {plan.stem}_trace(x double precision, bytes bytea, OUT y double precision, "
    null += "OUT used integer) LANGUAGE sql AS $$ SELECT NULL::double precision, 0 WHERE x IS NOT NULL $$;\n"
    assert postgresql.query(sampler + replay).endswith(f"PASS {len(vectors)}")
    assert "FAIL case" in postgresql.query(null + replay)


# -- the same outputs everywhere ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize("kind", [*KINDS, "labelled"])
def test_programs_reproduce_their_own_test_vectors(
    program: Any, shipped: dict[str, Table], kind: str, language: str
) -> None:
    ready = program(kind, language)
    path = ready.folder / f"{stem_of(shipped[kind])}_vectors.txt"
    text = path.read_text()
    assert text.count("error") >= 4
    assert run([*ready.command, path.name], ready.folder) == f"PASS {len(text.splitlines()) - 2}"


Replay = Callable[[str, str, list[Vector]], str]


@pytest.fixture
def replayed(request: pytest.FixtureRequest, shipped: dict[str, Table]) -> Replay:
    """What the replay of some vectors prints in a language, for one of the tables."""

    def replay(kind: str, language: str, vectors: list[Vector]) -> str:
        if language == "duckdb":
            return in_duckdb(request.getfixturevalue("duck"), shipped[kind], vectors)
        if language == "postgresql":
            return in_postgresql(request.getfixturevalue("postgresql"), shipped[kind], vectors)
        return str(request.getfixturevalue("program")(kind, language).replay(vectors))

    return replay


@pytest.mark.parametrize("language", [*PROGRAMS, *ENGINES])
@pytest.mark.parametrize("kind", KINDS)
def test_samplers_agree_with_the_reference_at_boundaries_and_on_plain_and_extreme_streams(
    replayed: Replay, shipped: dict[str, Table], kind: str, language: str
) -> None:
    vectors = [*vectors_of(test_vectors(shipped[kind])), *hard_vectors(shipped[kind])]
    assert len(vectors) > 250
    assert replayed(kind, language, vectors).endswith(f"PASS {len(vectors)}")


@pytest.mark.parametrize("language", [*PROGRAMS, *ENGINES])
@pytest.mark.parametrize("fault", ["output", "used", "refused", "accepted", "none"])
def test_a_replay_names_the_case_that_differs(
    replayed: Replay, shipped: dict[str, Table], language: str, fault: str
) -> None:
    table = shipped["pieces"]
    good = random_vectors(table, 3)
    assert good[1].y is not None
    faults = {
        "output": evolve(good[1], y=math.nextafter(good[1].y, math.inf)),
        "used": evolve(good[1], used=good[1].used + 1),
        "refused": evolve(good[1], y=None),
        "accepted": evolve(good[1], x=1e9),
        "none": good[1],
    }
    vectors = [good[0], faults[fault], good[2]]
    try:
        said = replayed("pieces", language, vectors)
    except Exception as error:  # DuckDB has no other way to stop a script
        said = str(error)
    wanted = "PASS 3" if fault == "none" else "FAIL case 2"
    if language == "duckdb" and fault == "accepted":
        wanted = "the input must lie in the domain"
    assert wanted in said


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_replay_without_a_file_says_that_it_reads_standard_input(
    program: Any, shipped: dict[str, Table], language: str
) -> None:
    ready = program("pieces", language)
    text = lines(random_vectors(shipped["pieces"], 2), "0" * 64)
    done = subprocess.run(ready.command, cwd=ready.folder, input=text, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("PASS 2\n", "reading test vectors from standard input\n")


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_replay_of_a_missing_file_fails_and_names_the_reason(program: Any, language: str) -> None:
    ready = program("pieces", language)
    command = [*ready.command, "missing.txt"]
    done = subprocess.run(command, cwd=ready.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode != 0
    assert "PASS" not in done.stdout
    assert re.search("(?i)no ?such ?file", done.stderr)


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_replay_without_cases_fails(program: Any, language: str) -> None:
    assert program("pieces", language).replay([]) == "FAIL no cases"


def test_the_law_of_the_python_sampler_is_the_row_of_the_table(
    shipped: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exhaustive: all 2^16 draws."""
    table = shipped["finite"]
    export_table(table, "python", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sampler = importlib.import_module(stem_of(table))
    outputs = list(table.law.outputs)
    for x, row in zip(table.domain.points, table.law.rows, strict=True):
        counts = Counter(sampler.sample(x, lambda n, u=u: u.to_bytes(n, "little")) for u in range(1 << 16))
        assert [counts[y] for y in outputs] == list(row)


def test_java_holds_tables_longer_than_its_method_limit(tmp_path: Path) -> None:
    table = make_table(catalogue.randomised_response(5.0, Finite(tuple(range(120)))))
    assert compiled({"long": table}, "java", tmp_path)["long"].replay(random_vectors(table, 240)) == "PASS 240"


@pytest.mark.parametrize("edition", ["2021", "2024"])
def test_rust_sources_compile_in_every_edition(shipped: dict[str, Table], edition: str, tmp_path: Path) -> None:
    skip_without("rust")
    export_table(shipped["unbiased"], "rust", tmp_path)
    command = [
        "rustc",
        "--edition",
        edition,
        "--crate-type",
        "lib",
        "-D",
        "warnings",
        f"{stem_of(shipped['unbiased'])}.rs",
    ]
    assert run(command, tmp_path) == ""


def test_the_c_sources_compile_as_cpp(shipped: dict[str, Table], tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    stem = stem_of(shipped["additive"])
    export_table(shipped["additive"], "c", tmp_path)
    command = ["g++", "-std=c++17", "-Wall", "-Werror", "-x", "c++", f"{stem}.c", f"{stem}_replay.c", "-o", "replay"]
    assert run(command, tmp_path) == ""


# -- the operating system's randomness ---------------------------------------------------------------------------------

DRAWS = 4000
DRIVERS = {
    "python": ("draw.py", "from @stem@ import sample\nfor _ in range(@n@): print(repr(sample(@x@)))\n"),
    "javascript": (
        "draw.mjs",
        'import { sample } from "./@stem@.mjs";\nfor (let i = 0; i < @n@; i++) console.log(sample(@x@));\n',
    ),
    "c": (
        "draw.c",
        '#include "@stem@.h"\n#include <stdio.h>\nint main(void) {\n    int i;\n    double y;\n'
        "    for (i = 0; i < @n@; i++) {\n        if (@stem@(@x@, &y)) return 1;\n"
        '        printf("%.17g\\n", y);\n    }\n    return 0;\n}\n',
    ),
    "rust": (
        "draw.rs",
        '#[path = "@stem@.rs"]\n#[allow(dead_code)]\nmod sampler;\nfn main() {\n    for _ in 0..@n@ {\n'
        '        println!("{:?}", sampler::sample(@x@).unwrap());\n    }\n}\n',
    ),
    "java": (
        "Draw.java",
        "public class Draw {\n    public static void main(String[] a) {\n        for (int i = 0; i < @n@; i++)"
        " System.out.println(@name@.sample(@x@));\n    }\n}\n",
    ),
}


def drawn(program: Program, table: Table, language: str, x: float) -> list[float]:
    name, text = DRIVERS[language]
    values = {"stem": stem_of(table), "name": f"Sampler_{table.sha256[:8]}", "n": str(DRAWS), "x": repr(x)}
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    (program.folder / name).write_text(text)
    steps: Mapping[str, list[list[str]]] = {
        "python": [[sys.executable, name]],
        "javascript": [["node", name]],
        "c": [["gcc", name, f"{stem_of(table)}.c", "-o", "draw"], ["./draw"]],
        "rust": [["rustc", "--edition", "2021", name, "-o", "draw"], ["./draw"]],
        "java": [["javac", name], ["java", "Draw"]],
    }
    *build, start = steps[language]
    for command in build:
        assert run(command, program.folder) == ""
    return [float(line) for line in run(start, program.folder).split()]


def assert_follows(sample: list[float], table: Table, x: float) -> None:
    """Chi-square: false alarms with probability 1e-6; with n = 4000, twice the mass on 1% of the outputs is noticed."""
    row = table.law.rows[table.domain.points.index(x)]
    counts = Counter(sample)
    observed = [counts[y] for y in table.law.outputs]
    assert sum(observed) == len(sample) == DRAWS
    expected = [DRAWS * count / sum(row) for count in row]
    assert stats.chisquare(observed, expected).pvalue > 1e-6


@pytest.mark.parametrize("language", PROGRAMS)
def test_programs_draw_from_the_operating_system(program: Any, shipped: dict[str, Table], language: str) -> None:
    table = shipped["finite"]
    ready = program("finite", language)
    samples = [drawn(ready, table, language, 1.0) for _ in range(2)]
    for sample in samples:
        assert_follows(sample, table, 1.0)
    assert samples[0] != samples[1]


def test_postgresql_draws_from_the_operating_system(postgresql: Any, shipped: dict[str, Table]) -> None:
    table = shipped["finite"]
    assert in_postgresql(postgresql, table, random_vectors(table, 2)).endswith("PASS 2")
    query = f"SELECT setseed(0.5); SELECT {stem_of(table)}(1) FROM generate_series(1, {DRAWS});"
    samples = [[float(line) for line in postgresql.query(query).split()] for _ in range(2)]
    for sample in samples:
        assert_follows(sample, table, 1.0)
    assert samples[0] != samples[1]


def test_duckdb_takes_bytes_of_the_operating_system_for_every_row(duck: Any, shipped: dict[str, Table]) -> None:
    table = shipped["finite"]
    in_duckdb(duck, table, random_vectors(table, 2))
    duck.create_function("os_random", os.urandom, ["BIGINT"], "BLOB", side_effects=True)
    query = f"SELECT {stem_of(table)}(1.0, os_random({stem_of(table)}_bytes())) FROM range({DRAWS})"
    assert_follows([row[0] for row in duck.execute(query).fetchall()], table, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_duckdb_asks_for_suffice(duck: Any, shipped: dict[str, Table], kind: str) -> None:
    table = shipped[kind]
    in_duckdb(duck, table, random_vectors(table, 1))
    stem, x = stem_of(table), random_vectors(table, 2)[1].x
    duck.create_function("os_random", os.urandom, ["BIGINT"], "BLOB", side_effects=True)
    query = f"SELECT count({stem}('{x!r}'::DOUBLE, os_random({stem}_bytes()))) FROM range(500)"
    assert duck.execute(query).fetchall() == [(500,)]


def test_duckdb_binds_arguments_before_its_own_names(duck: Any, shipped: dict[str, Table]) -> None:
    table = shipped["unbiased"]
    vector = hard_vectors(table, 1)[0]
    in_duckdb(duck, table, [vector])
    for names in (("md_r", "md_c"), ("md_u", "md_t"), ("md_x", "md_hex"), ("md_bytes", "md_n")):
        query = f"SELECT {stem_of(table)}({', '.join(names)}) FROM (SELECT ?::DOUBLE, ?::BLOB) AS t({', '.join(names)})"
        assert duck.execute(query, [vector.x, vector.stream]).fetchall() == [(vector.y,)]


@pytest.mark.parametrize(
    ("x", "content", "rule"),
    [
        ("NULL", "'aaaaaaaaaaaa'::BLOB", "the input must lie in the domain"),
        ("'NaN'::DOUBLE", "'aaaaaaaaaaaa'::BLOB", "the input must lie in the domain"),
        ("7.5", "'aaaaaaaaaaaa'::BLOB", "the input must lie in the domain"),
        ("1.0", "NULL", "the random bytes must not be null"),
        ("1.0", "''::BLOB", "no random bytes left"),
        ("1.0", "'aaaaaaa'::BLOB", "no random bytes left"),
    ],
)
def test_duckdb_stops_at_bad_arguments(duck: Any, shipped: dict[str, Table], x: str, content: str, rule: str) -> None:
    table = shipped["pieces"]
    in_duckdb(duck, table, random_vectors(table, 1))
    with pytest.raises(Exception, match=rule):
        duck.execute(f"SELECT {stem_of(table)}({x}, {content})").fetchall()


@pytest.mark.parametrize("x", ["NULL", "'NaN'", "7.5", "'-Infinity'"])
def test_postgresql_stops_at_bad_inputs(postgresql: Any, shipped: dict[str, Table], x: str) -> None:
    table = shipped["pieces"]
    in_postgresql(postgresql, table, random_vectors(table, 1))
    assert "the input must lie in the domain" in postgresql.query(f"SELECT {stem_of(table)}({x});")


def test_opendp_measurement_has_the_epsilon_of_the_table(
    shipped: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dp = pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    table = shipped["finite"]
    export_table(table, "opendp", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    dp.enable_features("contrib", "honest-but-curious")
    measurement = importlib.import_module(f"{stem_of(table)}_opendp").make_measurement()
    assert measurement.map(0) == 0
    assert Fraction(measurement.map(1)) >= table.epsilon > Fraction(math.nextafter(measurement.map(1), 0))
    assert {measurement(1.0) for _ in range(200)} <= set(table.law.outputs)
    with pytest.raises(dp.OpenDPException):
        measurement(0.5)


# -- the text of the sources -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [88, 120])
def test_python_sources_are_as_ruff_wants_them(shipped: dict[str, Table], tmp_path: Path, width: int) -> None:
    """By pyflakes' and pycodestyle's errors, as ruff has them; 88 is its own width. Sources are for old Python, too."""
    ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if ruff is None:
        pytest.skip("ruff is not installed")
    tables = [*shipped.values(), make_table(catalogue.laplace(0.5, Interval(-1e20, 1e20)), 32)]
    for table in tables:
        export_table(table, "opendp", tmp_path, cases=1)
    assert len(list(tmp_path.glob("*.py"))) == 3 * len(tables)
    options = ["--isolated", "--no-cache", "--line-length", str(width)]
    assert run([ruff, "check", "--select", "E4,E7,E9,F", *options, "."], tmp_path) == "All checks passed!"
    assert run([ruff, "format", "--check", *options, "."], tmp_path) == f"{3 * len(tables)} files already formatted"


COMMENTS = re.compile(r"/\*.*?\*/|\"\"\".*?\"\"\"|^\s*(?://|--|#(?!include|define|if|e)).*?$", re.DOTALL | re.MULTILINE)
DECLARED = {
    "python": r"^(?:def )?([A-Za-z_]\w*) *[=(]|^ +(\w+) = |^from \w+ import (.+)$",
    "javascript": r"\b(?:const|let|function) (\w+)",
    "c": r"\bstatic (?:const )?\w+ (\w+)|^ +(?:int|int64_t|uint64_t|size_t|double) ([^();=]+)[;=]|enum \{ (\w+)",
    "rust": r"\b(?:const|static|fn|let mut|let) (\w+)",
    "java": r"\b(?:static final|static|final) [\w\[\]]+ (\w+)|^ +(?:int|long|double|boolean) (\w+) =",
    "postgresql": r"^    (\w+) (?:CONSTANT )?(?:integer|bigint|boolean|bytea|double precision)\b",
    "duckdb": r"MACRO (\w+)",
}
SUFFIXES = {"python": ".py", "javascript": ".mjs", "c": ".c", "rust": ".rs", "java": ".java"}


@pytest.mark.parametrize("language", DECLARED)
@pytest.mark.parametrize("kind", [*KINDS, "labelled"])
def test_every_name_a_source_declares_is_used(
    shipped: dict[str, Table], kind: str, language: str, tmp_path: Path
) -> None:
    table = shipped[kind]
    stem = stem_of(table)
    export_table(table, "sql" if language in ENGINES else language, tmp_path, cases=1)
    ending = SUFFIXES.get(language, f".{language}.sql")
    text = COMMENTS.sub(
        "", (tmp_path / f"{'Sampler' if language == 'java' else 'sampler'}{stem[7:]}{ending}").read_text()
    )
    groups = [part for match in re.finditer(DECLARED[language], text, re.MULTILINE) for part in match.groups() if part]
    names = {name for group in groups for name in re.findall(r"[A-Za-z_]\w*", group)}
    public = {"TABLE", "sample", "sample_code", "sampleCode", "CODES", stem}
    public |= {f"{stem}_{ending}" for ending in ("bytes", "from", "code_from")}
    counts = Counter(re.findall(r"[A-Za-z_]\w*", text))
    assert len(names - public) >= 3
    assert {name for name in names - public if counts[name] < 2} == set()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", ["python", "javascript", "rust", "java"])
def test_results_have_a_name_only_where_they_are_clamped(
    shipped: dict[str, Table], kind: str, language: str, tmp_path: Path
) -> None:
    table = shipped[kind]
    export_table(table, language, tmp_path, cases=1)
    (path,) = (path for path in tmp_path.glob(f"*{SUFFIXES[language]}") if "replay" not in path.name.lower())
    named = re.search(r"\by = ", path.read_text()) is not None
    assert named == (kind == "clamped")


# -- writing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_exports_are_the_same_every_time_and_report_their_files(
    shipped: dict[str, Table], language: str, tmp_path: Path
) -> None:
    written = export_table(shipped["window"], language, tmp_path)
    assert sorted(written) == sorted(tmp_path.iterdir())
    before = [path.read_bytes() for path in written]
    assert export_table(shipped["window"], language, tmp_path, overwrite=True) == written
    assert [path.read_bytes() for path in written] == before


@pytest.mark.parametrize("language", LANGUAGES)
def test_existing_files_are_kept(shipped: dict[str, Table], language: str, tmp_path: Path) -> None:
    written = export_table(shipped["finite"], language, tmp_path)
    written[0].unlink()
    written[-1].write_text("mine")
    with pytest.raises(FileProblem, match="not exist yet"):
        export_table(shipped["finite"], language, tmp_path)
    assert not written[0].exists()
    assert written[-1].read_text() == "mine"


def break_the_disk(monkeypatch: pytest.MonkeyPatch, calls: int, stage: str) -> None:
    """After so many calls it refuses: bytes when it is full, or another name for a file that is written."""
    left = iter(range(calls))
    module = os if stage == "fsync" else files
    works = getattr(module, stage)

    def refuse(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        return works(*arguments)

    monkeypatch.setattr(module, stage, refuse)


STAGES = [*(("fsync", calls) for calls in range(8)), *(("_publish", calls) for calls in range(4))]


@pytest.mark.parametrize(("stage", "calls"), STAGES)
def test_no_new_file_is_left_if_one_cannot_be_written(
    shipped: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, calls: int
) -> None:
    break_the_disk(monkeypatch, calls, stage)
    with pytest.raises(FileProblem, match="no space left"):
        export_table(shipped["finite"], "c", tmp_path / "new" / "er")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("stage", "calls"), STAGES)
def test_files_to_be_replaced_are_kept_if_one_cannot_be_written(
    shipped: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, calls: int
) -> None:
    first, second, *_ = export_table(shipped["finite"], "c", tmp_path)
    first.write_text("mine")
    first.chmod(0o600)
    second.unlink()
    for path in tmp_path.glob("*_vectors.txt"):
        path.write_text("mine too")
    before = {path: (path.read_text(), path.stat()) for path in tmp_path.iterdir()}
    break_the_disk(monkeypatch, min(calls, 5 if stage == "fsync" else 2), stage)
    with pytest.raises(FileProblem, match="no space left"):
        export_table(shipped["finite"], "c", tmp_path, overwrite=True)
    after = {path: (path.read_text(), path.stat()) for path in tmp_path.iterdir()}
    assert [(path, text, stat.st_ino, stat.st_mode) for path, (text, stat) in sorted(after.items())] == [
        (path, text, stat.st_ino, stat.st_mode) for path, (text, stat) in sorted(before.items())
    ]


def test_files_are_kept_where_there_are_no_hard_links(
    shipped: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    written = export_table(shipped["finite"], "c", tmp_path)
    for path in written:
        path.write_text("mine")
    monkeypatch.setattr(os, "link", no_links)
    break_the_disk(monkeypatch, len(written) - 1, "_publish")
    with pytest.raises(FileProblem, match="no space left"):
        export_table(shipped["finite"], "c", tmp_path, overwrite=True)
    assert sorted(tmp_path.iterdir()) == sorted(written)
    assert {path.read_text() for path in written} == {"mine"}


def test_a_file_that_another_process_puts_there_meanwhile_is_kept(
    shipped: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = files._publish

    def late(temporary: str, target: Path, overwrite: bool) -> None:
        if target.suffix == ".h":
            target.write_text("of another process")
        publish(temporary, target, overwrite)

    monkeypatch.setattr(files, "_publish", late)
    with pytest.raises(FileProblem, match="not exist yet"):
        export_table(shipped["finite"], "c", tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["of another process"]


def test_folders_above_are_created(shipped: dict[str, Table], tmp_path: Path) -> None:
    written = export_table(shipped["finite"], "c", tmp_path / "a" / "b" / "c")
    assert sorted(written) == sorted((tmp_path / "a" / "b" / "c").iterdir())


def test_folders_that_were_there_stay_if_nothing_can_be_written(
    shipped: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    break_the_disk(monkeypatch, 0, "_publish")
    with pytest.raises(FileProblem):
        export_table(shipped["finite"], "c", tmp_path / "a" / "b" / "c")
    assert list(tmp_path.rglob("*")) == [tmp_path / "a"]


def test_a_folder_that_cannot_be_created_is_named_with_the_reason(
    shipped: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Path.mkdir

    def guarded(path: Path) -> None:
        if path.name == "b":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        make(path)

    monkeypatch.setattr(Path, "mkdir", guarded)
    with pytest.raises(FileProblem) as caught:
        export_table(shipped["finite"], "c", tmp_path / "a" / "b" / "c")
    assert "can be created: permission denied" in str(caught.value)
    assert f"create {tmp_path / 'a' / 'b'} first" in str(caught.value)
    assert "Errno" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_unknown_languages_and_folders_that_cannot_be_are_refused(shipped: dict[str, Table], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="be one of python, javascript, c, rust, java, sql, opendp"):
        export_table(shipped["finite"], "cobol", tmp_path)
    with pytest.raises(FileProblem, match="be a folder or one that can be created: embedded null"):
        export_table(shipped["finite"], "c", tmp_path / "none" / "a\0b")
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(FileProblem, match="be a folder, not a file"):
            export_table(shipped["finite"], "c", folder)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_of_a_table_never_reaches_a_source(language: str, tmp_path: Path) -> None:
    hostile = "*/ \"\"\" ''' \n $$; DROP TABLE users; --"
    channel = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), np.array([[0.6, 0.4], [0.4, 0.6]]), hostile)
    table = make_table(channel, provenance={"command": hostile})
    assert table.name == hostile
    assert not any("DROP" in path.read_text() for path in export_table(table, language, tmp_path))


def test_vectors_hold_the_bits_of_their_doubles(shipped: dict[str, Table], tmp_path: Path) -> None:
    *_, path = export_table(shipped["circle"], "python", tmp_path)
    cases = [line.split() for line in path.read_text().splitlines()[2:]]
    assert isinstance(shipped["circle"].domain, Circle)
    for case, vector in zip(cases, vectors_of(test_vectors(shipped["circle"])), strict=False):
        assert case == [bits(vector.x), vector.stream.hex(), str(vector.used), bits(vector.y or 0.0)]
        assert struct.unpack(">d", bytes.fromhex(case[0]))[0] == vector.x
