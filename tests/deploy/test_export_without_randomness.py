"""Where there is no randomness no exported sampler gives a report: every language, tables of numbers and of items.

Beside the tests of single systems (`test_export_randomness`) and of packages (`test_packages_built`: npm, WebAssembly,
Cargo, C, Python, Java and Kotlin), which inject the same fault.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mechdesign.collect import protocol_table
from mechdesign.deploy import Table, export_table, make_table
from mechdesign.deploy.export import duckdb as duckdb_sources, postgresql as postgresql_sources
from mechdesign.deploy.export.plan import plan_of
from mechdesign.mechanisms import catalogue

FAMILIES = ("numbers", "items", "labels")
families = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    """Noise that draws digit by digit, and a subset that draws number by number."""
    return {
        "numbers": make_table(catalogue.laplace(1.0), 32),
        "items": protocol_table("ss", 1.0, 30),
        "labels": protocol_table("oue", 1.0, ("1", "yes", "no")),
    }


def taken(family: str) -> str:
    return '"1"' if family == "labels" else "1"


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return (done.stdout + done.stderr).strip()


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def exported(table: Table, language: str, folder: Path) -> str:
    export_table(table, language, folder, cases=0)
    return plan_of(table.document).stem


@families
@pytest.mark.parametrize("fault", ["raise OSError", "raise NotImplementedError"])
def test_python_raises(tables: dict[str, Table], family: str, fault: str, tmp_path: Path) -> None:
    stem = exported(tables[family], "python", tmp_path)
    (tmp_path / "main.py").write_text(
        f"import os\nimport {stem} as s\n\ndef broken(count):\n    {fault}\n\nos.urandom = broken\n"
        f"try:\n    print(s.sample({taken(family)}))\nexcept s.NoRandomness:\n    print('none')\n"
    )
    assert run([sys.executable, "main.py"], tmp_path) == "none"


def test_opendp_raises(tables: dict[str, Table], tmp_path: Path) -> None:
    """All of them in one process: the library is slow to load."""
    pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    text = "import os\nimport opendp.prelude as dp\ndp.enable_features('contrib', 'honest-but-curious')\n"
    for family, table in tables.items():
        text += f"import {exported(table, 'opendp', tmp_path)}_opendp as {family}\n"
    text += "def broken(count):\n    raise OSError\n\nos.urandom = broken\n"
    for family in tables:
        given = "1.0" if family == "numbers" else taken(family)
        text += f"try:\n    print({family}.make_measurement()({given}))\n"
        text += "except dp.OpenDPException as error:\n    print('NoRandomness' in str(error))\n"
    (tmp_path / "main.py").write_text(text)
    assert run([sys.executable, "main.py"], tmp_path).split() == ["True"] * len(tables)


@families
@pytest.mark.parametrize("fault", ["undefined", "{}", "{ getRandomValues() { throw new Error('quota'); } }"])
def test_javascript_throws(tables: dict[str, Table], family: str, fault: str, tmp_path: Path) -> None:
    needs("node")
    stem = exported(tables[family], "javascript", tmp_path)
    (tmp_path / "main.mjs").write_text(
        f'import {{ NoRandomness, sample }} from "./{stem}.mjs";\n'
        f'Object.defineProperty(globalThis, "crypto", {{ value: {fault} }});\n'
        f"try {{\n  console.log(sample({taken(family)}));\n}} catch (error) {{\n"
        "  console.log(error instanceof NoRandomness);\n}\n"
    )
    assert run(["node", "main.mjs"], tmp_path) == "true"


@families
def test_c_returns_an_outcome_and_leaves_the_report_alone(
    tables: dict[str, Table], family: str, tmp_path: Path
) -> None:
    """A function of the program stands before the library's."""
    needs("gcc")
    if sys.platform != "linux":
        pytest.skip("for Linux")
    stem = exported(tables[family], "c", tmp_path)
    declared, given, kept = (
        ("double y = 7", "&y", "y == 7")
        if family == "numbers"
        else ("unsigned char y[64] = {7, 7}", "y", "y[0] == 7 && y[1] == 7")
    )
    (tmp_path / "main.c").write_text(
        f'#include "{stem}.h"\n#include <stdio.h>\n#include <sys/types.h>\n'
        "ssize_t getrandom(void *bytes, size_t count, unsigned flags) {\n"
        "    (void)bytes, (void)count, (void)flags;\n    return -1;\n}\n"
        f"int main(void) {{\n    {declared};\n    int code = {stem}({taken(family)}, {given});\n"
        f'    printf("%d %d\\n", code == {stem.upper()}_NO_RANDOMNESS, {kept});\n    return 0;\n}}\n'
    )
    strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-D_DEFAULT_SOURCE"]
    assert run([*strict, "main.c", f"{stem}.c", "-pthread", "-o", "main"], tmp_path) == ""
    assert run(["./main"], tmp_path) == "1 1"


@families
def test_rust_returns_an_error(tables: dict[str, Table], family: str, tmp_path: Path) -> None:
    needs("rustc")
    if sys.platform != "linux":
        pytest.skip("for Linux")
    stem = exported(tables[family], "rust", tmp_path)
    given = "1.0" if family == "numbers" else taken(family)
    (tmp_path / "main.rs").write_text(
        f'#[path = "{stem}.rs"]\n#[allow(dead_code)]\nmod sampler;\n\n#[no_mangle]\n'
        'pub extern "C" fn getrandom(_bytes: *mut u8, _count: usize, _flags: u32) -> isize {\n    -1\n}\n\n'
        f'fn main() {{\n    println!("{{:?}}", sampler::sample({given}));\n}}\n'
    )
    assert run(["rustc", "--edition", "2021", "-D", "warnings", "main.rs", "-o", "main"], tmp_path) == ""
    assert run(["./main"], tmp_path) == "Err(NoRandomness)"


JAVA = """
public class Main {
    @SuppressWarnings("serial")
    static final class Broken extends java.security.SecureRandomSpi {
        protected void engineSetSeed(byte[] seed) {}
        protected void engineNextBytes(byte[] bytes) { throw new java.security.ProviderException("broken"); }
        protected byte[] engineGenerateSeed(int count) { throw new java.security.ProviderException("broken"); }
    }

    @SuppressWarnings("serial")
    static final class Nothing extends java.security.Provider {
        Nothing() {
            super("Nothing", "1", "");
            put("SecureRandom.Broken", Broken.class.getName());
        }
    }

    public static void main(String[] arguments) {
        java.security.Security.insertProviderAt(new Nothing(), 1);
@tries@
    }
}
"""


@pytest.mark.slow
def test_java_throws(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("javac", "java")
    tries = ""
    for family, table in tables.items():
        exported(table, "java", tmp_path)
        name = f"Sampler_{table.sha256[:8]}"
        tries += (
            f"        try {{\n            {name}.sample({taken(family)});\n"
            f"        }} catch ({name}.NoRandomness error) {{\n"
            '            System.out.println("none");\n        }\n'
        )
    (tmp_path / "Main.java").write_text(JAVA.replace("@tries@", tries))
    assert run(["javac", "-Xlint:all", "-Werror", "Main.java"], tmp_path) == ""
    assert run(["java", "Main"], tmp_path).split() == ["none"] * len(tables)


@families
@pytest.mark.parametrize("fault", ["RAISE EXCEPTION 'could not generate random values'", "RETURN NULL"])
def test_postgresql_stops(tables: dict[str, Table], family: str, fault: str, postgresql: Any) -> None:
    """Its source of randomness is replaced, in a transaction that is rolled back."""
    table = tables[family]
    plan = plan_of(table.document)
    assert postgresql.query(postgresql_sources.sources(plan, [])[f"{plan.stem}.postgresql.sql"]) == ""
    given = "'1'" if family == "labels" else "1"
    query = f"SELECT {plan.stem}({given}) IS NOT NULL"
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


def test_postgresql_takes_no_other_function_of_that_name(tables: dict[str, Table], postgresql: Any) -> None:
    """Who may make functions in a schema that is looked at first cannot choose the randomness."""
    plan = plan_of(tables["items"].document)
    sampler = postgresql_sources.sources(plan, [])[f"{plan.stem}.postgresql.sql"]
    other = (
        "CREATE SCHEMA other;\nCREATE FUNCTION other.gen_random_uuid() RETURNS uuid LANGUAGE sql AS "
        "$$ SELECT '00000000-0000-4000-8000-000000000000'::uuid $$;\n"
        "SET search_path = other, pg_catalog, public;\n"
    )
    query = f"SELECT count(DISTINCT {plan.stem}(i % 30)) > 50 FROM generate_series(1, 300) AS i;"
    assert postgresql.query(sampler + other + query) == "t"


@families
@pytest.mark.parametrize("fault", ["NULL", "''::BLOB", "'\\x00'::BLOB", "broken(8)"])
def test_duckdb_stops(tables: dict[str, Table], family: str, fault: str) -> None:
    """Its randomness is an argument: none, none at all, too little, and a function that fails."""
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    plan = plan_of(tables[family].document)

    def broken(count: int) -> bytes:
        raise OSError("no randomness")

    with duckdb.connect() as connection:
        connection.create_function("broken", broken, ["BIGINT"], "BLOB", side_effects=True)
        connection.create_function("os_random", os.urandom, ["BIGINT"], "BLOB", side_effects=True)
        connection.execute(duckdb_sources.sources(plan, [])[f"{plan.stem}.duckdb.sql"])
        given = "'1'" if family == "labels" else "1"
        query = f"SELECT {plan.stem}({given}, @bytes@)"
        assert connection.execute(query.replace("@bytes@", f"os_random({plan.stem}_bytes())")).fetchone() is not None
        with pytest.raises(duckdb.Error, match=r"no random bytes left|must not be null|no randomness"):
            connection.execute(query.replace("@bytes@", fault)).fetchall()
