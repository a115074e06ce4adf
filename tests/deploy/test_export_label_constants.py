"""Labels are an enum or constants in every export, of tables of numbers and of items: any text, in the table's order.

Each program is compiled in its own toolchain, with warnings as errors, and prints the UTF-8 of its constants. Packages
hold the same sources; what they add (enums of Kotlin and Swift, types of npm) is tested beside them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mechdesign.collect import protocol_table
from mechdesign.deploy import Labels, Table, export_table, make_table
from mechdesign.deploy.export import duckdb as duckdb_sources, postgresql as postgresql_sources
from mechdesign.deploy.export.plan import plan_of
from mechdesign.domains import Finite
from mechdesign.mechanisms import catalogue

NAMES = (
    "no",
    "NO",
    'neither, "nor"',
    "it's",
    "\\",
    "*/",
    "--",
    "$$",
    "${x}",
    "@stem@",
    "é",
    "e\u0301",
    "\U0001f600",
    "1",
)
REPORTS = tuple(f">{name}" for name in NAMES)
FAMILIES = {"numbers": (NAMES, REPORTS), "items": (NAMES,)}


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    response = catalogue.randomised_response(1.0, Finite(tuple(range(len(NAMES)))))
    return {
        "numbers": make_table(response, labels=Labels(*FAMILIES["numbers"])),
        "items": protocol_table("oue", 1, NAMES),
    }


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return (done.stdout + done.stderr).strip()


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def assert_said(lines: list[str]) -> None:
    """Hexadecimal digits of the labels of all sides, one after the other."""
    expected = [label for sides in FAMILIES.values() for side in sides for label in side]
    assert [bytes.fromhex(line).decode() for line in lines] == expected


def constants(family: str) -> tuple[str, ...]:
    return ("INPUT_LABELS", "OUTPUT_LABELS")[: len(FAMILIES[family])]


def exported(tables: dict[str, Table], language: str, folder: Path) -> dict[str, str]:
    for table in tables.values():
        export_table(table, language, folder, cases=0)
    return {family: plan_of(table.document).stem for family, table in tables.items()}


def test_python(tables: dict[str, Table], tmp_path: Path) -> None:
    text = ""
    for family, stem in exported(tables, "python", tmp_path).items():
        text += f"import {stem} as s\n"
        text += "".join(f"print(*(x.encode().hex() for x in s.{name}), sep='\\n')\n" for name in constants(family))
    (tmp_path / "main.py").write_text(text)
    assert_said(run([sys.executable, "main.py"], tmp_path).split())


def test_opendp(tables: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    stems = exported(tables, "opendp", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for family, stem in stems.items():
        module = import_module(f"{stem}_opendp")
        assert tuple(getattr(module, name) for name in constants(family)) == FAMILIES[family]


def test_javascript(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("node")
    text = ""
    for family, stem in exported(tables, "javascript", tmp_path).items():
        text = f'import * as {family} from "./{stem}.mjs";\n{text}'
        text += "".join(
            f"if (!Object.isFrozen({family}.{name})) throw new Error();\n"
            f"for (const x of {family}.{name}) console.log(Buffer.from(x).toString('hex'));\n"
            for name in constants(family)
        )
    (tmp_path / "main.mjs").write_text(text)
    assert_said(run(["node", "main.mjs"], tmp_path).split())


def test_c(tables: dict[str, Table], tmp_path: Path) -> None:
    """Arrays, and an enum with the place of every label."""
    needs("gcc")
    stems = exported(tables, "c", tmp_path)
    body = ""
    for family, stem in stems.items():
        header = (tmp_path / f"{stem}.h").read_text()
        for name in constants(family):
            side = name.split("_")[0]
            places = [word for word in header.replace(",", " ").split() if word.startswith(f"{stem.upper()}_{side}_")]
            assert len(places) == len(NAMES)
            body += "".join(f"    say({stem}_{name.lower()}[{place}]);\n" for place in places)
    includes = "".join(f'#include "{stem}.h"\n' for stem in stems.values())
    (tmp_path / "main.c").write_text(
        f"{includes}#include <stdio.h>\nstatic void say(const char *text) {{\n"
        '    for (; *text; text++) printf("%02x", (unsigned)(unsigned char)*text);\n    puts("");\n}\n'
        f"int main(void) {{\n{body}    return 0;\n}}\n"
    )
    strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    sources = [f"{stem}.c" for stem in stems.values()]
    assert run([*strict, "main.c", *sources, "-pthread", "-o", "main"], tmp_path) == ""
    assert_said(run(["./main"], tmp_path).split())


def test_rust(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("rustc")
    modules = body = ""
    for family, stem in exported(tables, "rust", tmp_path).items():
        modules += f'#[path = "{stem}.rs"]\n#[allow(dead_code)]\nmod {family};\n'
        body += "".join(f"    say(&{family}::{name});\n" for name in constants(family))
    (tmp_path / "main.rs").write_text(
        f"{modules}fn say(labels: &[&str]) {{\n    for label in labels {{\n"
        '        println!("{}", label.bytes().map(|b| format!("{b:02x}")).collect::<String>());\n    }\n}\n'
        f"fn main() {{\n{body}}}\n"
    )
    assert run(["rustc", "--edition", "2021", "-D", "warnings", "main.rs", "-o", "main"], tmp_path) == ""
    assert_said(run(["./main"], tmp_path).split())


def test_java(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("javac", "java")
    exported(tables, "java", tmp_path)
    body = "".join(
        f"        say(Sampler_{table.sha256[:8]}.{name});\n"
        for family, table in tables.items()
        for name in constants(family)
    )
    (tmp_path / "Main.java").write_text(
        "import java.nio.charset.StandardCharsets;\npublic class Main {\n"
        "    static void say(java.util.List<String> labels) {\n        for (String label : labels) {\n"
        "            StringBuilder line = new StringBuilder();\n"
        "            for (byte part : label.getBytes(StandardCharsets.UTF_8)) "
        'line.append(String.format("%02x", part));\n            System.out.println(line);\n        }\n    }\n'
        f"    public static void main(String[] a) {{\n{body}    }}\n}}\n"
    )
    assert run(["javac", "-Xlint:all", "-Werror", "Main.java"], tmp_path) == ""
    assert_said(run(["java", "Main"], tmp_path).split())


def test_postgresql(tables: dict[str, Table], postgresql: Any) -> None:
    said = []
    for family, table in tables.items():
        plan = plan_of(table.document)
        assert postgresql.query(postgresql_sources.sources(plan, [])[f"{plan.stem}.postgresql.sql"]) == ""
        for name in constants(family):
            query = f"SELECT encode(convert_to(x, 'UTF8'), 'hex') FROM unnest({plan.stem}_{name.lower()}()) AS t(x)"
            said += postgresql.query(query).split()
    assert_said(said)


def test_duckdb(tables: dict[str, Table]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    with duckdb.connect() as connection:
        for family, table in tables.items():
            plan = plan_of(table.document)
            connection.execute(duckdb_sources.sources(plan, [])[f"{plan.stem}.duckdb.sql"])
            calls = ", ".join(f"{plan.stem}_{name.lower()}()" for name in constants(family))
            found = connection.execute(f"SELECT {calls}").fetchone()
            assert found is not None
            assert tuple(map(tuple, found)) == FAMILIES[family]
