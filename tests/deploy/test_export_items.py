"""Exported samplers of tables of items: their vectors in the real toolchains, their size, labels, and what fails."""

from __future__ import annotations

import io
import random
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mechdesign.collect import protocol_table
from mechdesign.deploy import (
    Labels,
    Table,
    export_table,
    fixed_stream,
    make_table,
    source_difference,
    test_vectors as vectors_of_table,
)
from mechdesign.deploy.export import (
    duckdb as duckdb_sources,
    postgresql as postgresql_sources,
    python as python_sources,
)
from mechdesign.deploy.export.plan import Plan, plan_of
from mechdesign.deploy.export.refusals import refusals
from mechdesign.deploy.export.vectors import vectors_of
from mechdesign.deploy.kinds import ON_ITEMS, Encoding
from mechdesign.deploy.reference import rule

LANGUAGES = ("python", "javascript", "c", "rust", "java")
TOOLS = {"javascript": ("node",), "c": ("gcc",), "rust": ("rustc",), "java": ("javac", "java")}
NAMES = ("no", "yes", 'neither, "nor"', "é", "1", "ümlaut $$ \\", "seven", "eight", "nine")
OPTIONS: dict[str, dict[str, Any]] = {
    "response": {},
    "unary": {"form": "optimised"},
    "hashing": {"hashes": 270},
    "subset": {"subset": 4},
    "hadamard": {"blocks": 2},
    "sketch": {"functions": 512, "buckets": 20},
}
KINDS = tuple(OPTIONS)
SIZE = 9
MOST_BYTES = 10_000


def table_of(kind: str, size: int = SIZE, bits: int = 32, labels: Labels | None = None) -> Table:
    return make_table(Encoding(kind, 1.0, size, kind, OPTIONS[kind]), bits, labels=labels)


@pytest.fixture(scope="module")
def shipped() -> dict[str, Table]:
    widths = {"response": 16, "hashing": 62, "unary": 53}
    tables = {kind: table_of(kind, bits=widths.get(kind, 32)) for kind in KINDS if kind != "hadamard"}
    return tables | {"labelled": table_of("hadamard", labels=Labels(NAMES))}


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return (done.stdout + done.stderr).strip()


def commands(stem: str, sha256: str, language: str) -> tuple[list[list[str]], list[str]]:
    """What compiles, and what replays."""
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
    program = f"./{stem}_{language}"
    match language:
        case "python":
            return [], [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, '.'); import {stem}_replay"]
        case "javascript":
            return [], ["node", f"{stem}_replay.mjs"]
        case "c":
            return [["gcc", *flags, f"{stem}.c", f"{stem}_replay.c", "-o", program]], [program]
        case "rust":
            return [["rustc", "--edition", "2021", "-D", "warnings", f"{stem}_replay.rs", "-o", program]], [program]
    return [], ["java", f"Sampler_{sha256[:8]}_Replay"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_programs_reproduce_their_vectors(shipped: dict[str, Table], language: str, tmp_path: Path) -> None:
    for tool in TOOLS.get(language, ()):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    for table in shipped.values():
        export_table(table, language, tmp_path, cases=20)
    if language == "java":
        sources = [path.name for path in tmp_path.glob("*.java")]
        assert run(["javac", "-Xlint:all", "-Werror", *sources], tmp_path) == ""
    for table in shipped.values():
        stem = plan_of(table.document).stem
        build, replay = commands(stem, table.sha256, language)
        for command in build:
            assert run(command, tmp_path) == ""
        text = (tmp_path / f"{stem}_vectors.txt").read_text()
        assert text.count("error") == 3  # twice, and in the head
        assert run([*replay, f"{stem}_vectors.txt"], tmp_path) == f"PASS {len(text.splitlines()) - 2}"
    last = text.splitlines()[2]
    (tmp_path / "wrong.txt").write_text(last[:-1] + ("0" if last[-1] != "0" else "1") + "\n")
    assert run([*replay, "wrong.txt"], tmp_path) == "FAIL case 1"


def test_postgresql_reproduces_the_vectors(shipped: dict[str, Table], postgresql: Any) -> None:
    for name, table in shipped.items():
        plan = plan_of(table.document)
        vectors = [*vectors_of(vectors_of_table(table, 5))[::3], *refusals(plan.inputs)]
        texts = postgresql_sources.sources(plan, vectors)
        said = postgresql.query("".join(texts.values())).replace("NOTICE:  ", "").split("\n")[0]
        assert said.endswith(f"PASS {len(vectors)}"), name
    plan = plan_of(shipped["labelled"].document)
    assert postgresql.query(f"SELECT length({plan.stem}('ümlaut $$ \\'))") == "1"
    assert "one of the input labels" in postgresql.query(f"SELECT {plan.stem}('no one')")
    assert (
        postgresql.query(f"SELECT count(DISTINCT {plan.stem}_code(i % 9)) > 10 FROM generate_series(1, 300) AS i")
        == "t"
    )


def test_duckdb_reproduces_the_vectors(shipped: dict[str, Table]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    for name, table in shipped.items():
        plan = plan_of(table.document)
        vectors = [*vectors_of(vectors_of_table(table, 20)), *refusals(plan.inputs)]
        texts = duckdb_sources.sources(plan, vectors)
        (replay,) = (text for path, text in texts.items() if "replay" in path)
        sampler = texts[f"{plan.stem}.duckdb.sql"]
        with duckdb.connect() as connection:
            connection.execute(sampler)
            assert connection.execute(replay).fetchall() == [(f"PASS {len(vectors)}",)], name
            wrong = vectors[0].y
            assert isinstance(wrong, bytes)
            altered = replay.replace(f"'{wrong.hex()}')", f"'{bytes([wrong[0] ^ 1, *wrong[1:]]).hex()}')", 1)
            with pytest.raises(duckdb.Error, match="FAIL case 1"):
                connection.execute(altered)


def test_duckdb_takes_the_bytes_of_every_row(shipped: dict[str, Table]) -> None:
    """In one query over all items: lists of many lengths are where engines err. The reference reads the same bytes."""
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    for name, table in shipped.items():
        plan = plan_of(table.document)
        with duckdb.connect() as connection:
            connection.execute(duckdb_sources.sources(plan, [])[f"{plan.stem}.duckdb.sql"])
            (size,) = connection.execute(f"SELECT {plan.stem}_bytes()").fetchall()[0]
            rows = [(i % SIZE, random.Random(i).randbytes(size)) for i in range(500)]
            columns = [[x for x, _ in rows], [b for _, b in rows]]
            connection.execute("CREATE TABLE given AS SELECT unnest(?::BIGINT[]) AS x, unnest(?::BLOB[]) AS b", columns)
            said = connection.execute(f"SELECT {duck_core(plan)}(x, b) FROM given").fetchall()
            assert [row[0] for row in said] == [rule(table)(x, fixed_stream(b)) for x, b in rows], name
            for wrong in ("-1", str(SIZE), "0.5", "NULL", "'nan'::DOUBLE"):
                with pytest.raises(duckdb.Error, match="the input must be an item"):
                    connection.execute(f"SELECT {duck_core(plan)}({wrong}, b) FROM given").fetchall()


def duck_core(plan: Plan) -> str:
    return f"{plan.stem}_code" if plan.labelled else plan.stem


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [10, 4096])
def test_a_sampler_is_under_10_kb_in_every_language_however_many_items(kind: str, size: int, tmp_path: Path) -> None:
    table = make_table(Encoding(kind, 1.0, size, kind, OPTIONS[kind]), 62)
    for language in (*LANGUAGES, "sql", "opendp"):
        for path in export_table(table, language, tmp_path, cases=0):
            if "vectors" not in path.name and "replay" not in path.name.lower():
                assert path.stat().st_size < MOST_BYTES, path.name


def test_a_source_is_known_again(tmp_path: Path) -> None:
    table = table_of("subset")
    sources = [path for language in LANGUAGES for path in export_table(table, language, tmp_path)]
    assert all(source_difference(table, path) is None for path in sources)
    changed = next(path for path in sources if path.suffix == ".rs" and "replay" not in path.name)
    changed.write_text(changed.read_text().replace("const SUBSET: usize = 4", "const SUBSET: usize = 5"))
    difference = source_difference(table, changed)
    assert difference is not None
    assert difference.found == "const SUBSET: usize = 5;"


# -- the Python source, which runs here --------------------------------------------------------------------------------


def loaded(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "sampler"}
    exec(compile(source, "sampler", "exec"), names)  # the source of a sampler of ours
    return names


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """The source with one whole number changed, by 1 up and down, and what it was.

    Those of where bytes come from are left alone: vectors bring their own.
    """
    first, last = (source[: source.index(mark)].count("\n") for mark in ("class NoRandomness", "def drawn"))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NUMBER and token.string.isdigit() and not first < token.start[0] <= last:
            lines = source.splitlines(keepends=True)
            (row, start), (_, end) = token.start, token.end
            line = lines[row - 1]
            for change in (1, -1):
                lines[row - 1] = f"{line[:start]}{int(token.string) + change}{line[end:]}"
                yield "".join(lines), line.strip()


def passes(names: dict[str, Any], table: Table) -> bool:
    if any(not is_refused(names["sample"], vector.x) for vector in refusals(plan_of(table.document).inputs)):
        return False
    for case in vectors_of(vectors_of_table(table, 20)):
        stream = io.BytesIO(case.stream)
        if names["sample"](case.x, stream.read) != case.y or stream.tell() != case.used:
            return False
    return isinstance(case.y, bytes) and len(case.y) == names["REPORT_BYTES"]


def is_refused(sample: Any, item: float) -> bool:
    try:
        sample(item)
    except ValueError:
        return True
    return False


EQUIVALENT = (
    # 53 + 6 and 53 + 8 give seven bytes, too; and where all boundaries of a law are even, the lowest bit says nothing:
    # a boundary that is odd has cases on both sides
    "size = (BITS + 7) // 8",
    "return int.from_bytes(drawn((bits + 7) // 8",
    "number = int.from_bytes(content[place",
    "return bits.to_bytes((WIDTH + 7) // 8",
    "return (word << bits | word >> 64 - bits) & ((1 << 64) - 1)",  # a wider mask, cut by the caller
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_off_by_one_is_noticed_by_the_vectors_unless_the_law_is_the_same(kind: str) -> None:
    options = OPTIONS | {"hashing": {"hashes": 5}}
    table = make_table(Encoding(kind, 1.0, SIZE, kind, options[kind]), 53)
    source = python_sources.module(plan_of(table.document))
    assert passes(loaded(source), table)
    tried = list(mutants(source))
    missed = [line for changed, line in tried if runs_and_passes(changed, table)]
    assert len(tried) > 20
    assert all(line.startswith(EQUIVALENT) for line in missed), missed


def runs_and_passes(source: str, table: Table) -> bool:
    try:
        return passes(loaded(source), table)
    except Exception:
        return False


def test_labels_go_in_and_bytes_come_out() -> None:
    table = table_of("unary", labels=Labels(NAMES))
    names = loaded(python_sources.module(plan_of(table.document)))
    assert names["INPUT_LABELS"] == NAMES
    assert len(names["sample"]("ümlaut $$ \\")) == 2
    for wrong, error in (("maybe", ValueError), (1, TypeError), (None, TypeError)):
        with pytest.raises(error):
            names["sample"](wrong)
    for code, error in ((9, ValueError), (-1, ValueError), (True, TypeError), (1.0, TypeError)):
        with pytest.raises(error):
            names["sample_code"](code)


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_without_randomness_gives_no_report(kind: str) -> None:
    names = loaded(python_sources.module(plan_of(table_of(kind).document)))

    def broken(count: int) -> bytes:
        raise OSError("no randomness")

    with pytest.raises(OSError, match="no randomness"):
        names["sample"](0, broken)


# -- the system's randomness -------------------------------------------------------------------------------------------

DRAWS = 300
DRAWING = {
    "python": (
        "draw.py",
        "import os, sys\nimport @stem@ as s\ncalls = 0\nreal = os.urandom\n"
        "def counted(count):\n    global calls\n    calls += 1\n"
        "    if len(sys.argv) > 1:\n        raise OSError\n    return real(count)\n"
        "os.urandom = counted\ntry:\n"
        "    assert all(len(s.sample(i % 300)) == s.REPORT_BYTES for i in range(@draws@))\n    print(calls)\n"
        "except s.NoRandomness:\n    print('none')\n",
    ),
    "javascript": (
        "draw.mjs",
        'import { NoRandomness, REPORT_BYTES, sample } from "./@stem@.mjs";\nconst real = globalThis.crypto;\n'
        "let calls = 0;\nconst getRandomValues = (bytes) => {\n  calls++;\n"
        '  if (process.argv.length > 2) throw new Error("broken");\n  real.getRandomValues(bytes);\n};\n'
        'Object.defineProperty(globalThis, "crypto", { value: { getRandomValues } });\ntry {\n'
        "  for (let i = 0; i < @draws@; i++) if (sample(i % 300).length !== REPORT_BYTES) throw new Error();\n"
        "  console.log(calls);\n} catch (error) {\n"
        '  console.log(error instanceof NoRandomness ? "none" : error);\n}\n',
    ),
    "c": (
        "draw.c",
        '#include "@stem@.h"\n#include <stdio.h>\n#include <sys/types.h>\nstatic long calls = 0, broken = 0;\n'
        "ssize_t getrandom(void *bytes, size_t count, unsigned flags) {\n    size_t i;\n    (void)flags;\n"
        "    calls++;\n    if (broken) return -1;\n"
        "    for (i = 0; i < count; i++) ((unsigned char *)bytes)[i] = (unsigned char)(7 * i + i / 256);\n"
        "    return (ssize_t)count;\n}\n"
        "int main(int count, char **given) {\n    unsigned char y[4096];\n    int i;\n    (void)given;\n"
        "    broken = count > 1;\n    for (i = 0; i < @draws@; i++)\n"
        '        if (@stem@(i % 300, y) == 2) {\n            puts("none");\n            return 0;\n        }\n'
        '    printf("%ld\\n", calls);\n    return 0;\n}\n',
    ),
    "rust": (
        "draw.rs",
        '#[path = "@stem@.rs"]\n#[allow(dead_code)]\nmod sampler;\nuse std::cell::Cell;\n'
        "thread_local!(static CALLS: Cell<u64> = const { Cell::new(0) });\n#[no_mangle]\n"
        'pub extern "C" fn getrandom(bytes: *mut u8, count: usize, _flags: u32) -> isize {\n'
        "    CALLS.with(|calls| calls.set(calls.get() + 1));\n"
        "    if std::env::args().len() > 1 {\n        return -1;\n    }\n"
        "    let bytes = unsafe { std::slice::from_raw_parts_mut(bytes, count) };\n"
        "    for (i, byte) in bytes.iter_mut().enumerate() {\n        *byte = (7 * i + i / 256) as u8;\n    }\n"
        "    count as isize\n}\nfn main() {\n    CALLS.with(|calls| calls.set(0));\n"
        "    for i in 0..@draws@ {\n        if sampler::sample(i % 300) == Err(sampler::Error::NoRandomness) {\n"
        '            println!("none");\n            return;\n        }\n    }\n'
        '    println!("{}", CALLS.with(Cell::get));\n}\n',
    ),
}


@pytest.mark.parametrize("language", DRAWING)
def test_many_draws_of_a_report_ask_the_system_for_blocks_and_without_it_there_is_no_report(
    language: str, tmp_path: Path
) -> None:
    """300 subsets of 100 items of 300 are 30,300 draws at least, of 2 bytes and more."""
    for tool in TOOLS.get(language, ()):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    if language in ("c", "rust") and sys.platform != "linux":
        pytest.skip("for Linux")
    table = make_table(Encoding("subset", 1.0, 300, "subset", {"subset": 100}), 32)
    stem = plan_of(table.document).stem
    export_table(table, language, tmp_path, cases=0)
    name, text = DRAWING[language]
    (tmp_path / name).write_text(text.replace("@stem@", stem).replace("@draws@", str(DRAWS)))
    program = {"python": [sys.executable, name], "javascript": ["node", name]}.get(language, ["./draw"])
    if language == "c":
        strict = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
        assert run(["gcc", *strict, name, f"{stem}.c", "-o", "draw", "-pthread"], tmp_path) == ""
    if language == "rust":
        assert run(["rustc", "--edition", "2021", "-D", "warnings", name, "-o", "draw"], tmp_path) == ""
    assert 0 < int(run(program, tmp_path)) < 100
    assert run([*program, "broken"], tmp_path) == "none"


def test_labels_of_thousands_of_items_compile_in_java(tmp_path: Path) -> None:
    if shutil.which("javac") is None:
        pytest.skip("javac is not installed")
    table = protocol_table("olh", 1.0, [f"item {i} of many" for i in range(9000)])
    export_table(table, "java", tmp_path, cases=0)
    sampler = next(path for path in tmp_path.glob("*.java") if "Replay" not in path.name)
    assert run(["javac", "-Xlint:all", "-Werror", sampler.name], tmp_path) == ""


def test_every_kind_is_tried_here() -> None:
    assert set(KINDS) == {law.kind for law in ON_ITEMS}
