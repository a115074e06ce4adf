"""The exact law of tables of items, drawn through every exported sampler with the operating system's randomness.

Chi-square against the law as FORMAT.md writes it, on all reports there are (of local hashing, on the last two bits of
the seed and the group counted from the item's own). There is no seed; n = 4000 for every kind and language, and a false
alarm has a probability of 1e-6 for each, 6e-5 for all. What is noticed with a probability over 0.99 is computed below:
0.07 of the chance moved from one report to another, and a law for another item.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from mechdesign.deploy import Table, export_package, export_table, make_table
from mechdesign.deploy.export import duckdb as duckdb_sources, postgresql as postgresql_sources
from mechdesign.deploy.export.plan import plan_of
from mechdesign.deploy.kinds import ON_ITEMS, Encoding
from mechdesign.deploy.kinds.hashing import hashed
from tests.oracles.exact_items import exact

DRAWS, ITEM, FALSE_ALARM = 4000, 2, 1e-6
OPTIONS: dict[str, dict[str, Any]] = {
    "response": {},
    "unary": {"form": "symmetric"},
    "hashing": {"hashes": 3},
    "subset": {"subset": 2},
    "hadamard": {"blocks": 2},
    "sketch": {"functions": 4, "buckets": 3},
}
FUNCTIONS = 4


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {kind: make_table(Encoding(kind, 1.0, 5, kind, options), 32) for kind, options in OPTIONS.items()}


def cells(table: Table, item: int = ITEM) -> dict[Any, Fraction]:
    """What is counted, and its chance."""
    if table.kind == "hashing":
        law = exact(table, item)
        own, *others = sorted(law.values(), reverse=True)
        groups = dict(enumerate([own, *others]))
        return {(low, group): chance / 4 for low in range(4) for group, chance in groups.items()}
    if table.kind == "sketch":
        laws = (exact(table, item, function) for function in range(FUNCTIONS))
        return {y: chance / FUNCTIONS for law in laws for y, chance in law.items()}
    return dict(exact(table, item))


def cell(table: Table, report: bytes) -> Any:
    if table.kind != "hashing":
        return report
    seed = int.from_bytes(report[:8], "little")
    return seed % 4, (report[8] - hashed(ITEM, seed) % 3) % 3


def assert_follow(said: str, tables: dict[str, Table]) -> None:
    """Lines with a kind, and a report of it in hexadecimal digits."""
    reports: dict[str, list[bytes]] = {kind: [] for kind in tables}
    for kind, digits in (line.split() for line in said.splitlines()):
        reports[kind].append(bytes.fromhex(digits))
    for kind, table in tables.items():
        chances, found = cells(table), Counter(cell(table, report) for report in reports[kind])
        assert found.total() == DRAWS, kind
        assert set(found) <= set(chances), kind
        expected = [float(chance) * DRAWS for chance in chances.values()]
        assert stats.chisquare([found[y] for y in chances], expected).pvalue > FALSE_ALARM, kind


def power(chances: dict[Any, Fraction], others: dict[Any, Fraction]) -> float:
    """How probably this test notices another law."""
    far = DRAWS * sum(float((others.get(y, Fraction(0)) - chance) ** 2 / chance) for y, chance in chances.items())
    freedom = len(chances) - 1
    return float(stats.ncx2.sf(stats.chi2.isf(FALSE_ALARM, freedom), freedom, far))


def test_every_kind_is_drawn_here() -> None:
    assert set(OPTIONS) == {law.kind for law in ON_ITEMS}


@pytest.mark.parametrize("kind", OPTIONS)
def test_the_power_is_as_stated(tables: dict[str, Table], kind: str) -> None:
    chances = cells(tables[kind])
    largest, *_, least = sorted(chances, key=chances.__getitem__)[::-1]
    moved = dict(chances)
    share = min(Fraction(7, 100), chances[largest])
    moved[largest], moved[least] = moved[largest] - share, moved[least] + share
    assert power(chances, moved) > 0.99
    if kind == "hashing":
        swapped = {(low, (group + 1) % 3): chance for (low, group), chance in chances.items()}
    else:
        swapped = cells(tables[kind], ITEM + 1)
    assert power(chances, swapped) > 0.99


def run(command: list[str], folder: Path, path: str = os.environ["PATH"]) -> str:
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def exported(tables: dict[str, Table], language: str, folder: Path) -> dict[str, str]:
    """The names of the samplers, by their kinds."""
    for table in tables.values():
        export_table(table, language, folder, cases=0)
    return {kind: plan_of(table.document).stem for kind, table in tables.items()}


def test_python(tables: dict[str, Table], tmp_path: Path) -> None:
    stems = exported(tables, "python", tmp_path)
    text = "".join(
        f"import {stem} as s\nfor _ in range({DRAWS}):\n    print('{kind}', s.sample({ITEM}).hex())\n"
        for kind, stem in stems.items()
    )
    (tmp_path / "draw.py").write_text(text)
    assert_follow(run([sys.executable, "draw.py"], tmp_path), tables)


def test_opendp(tables: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process, in which the library is loaded already."""
    dp = pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    dp.enable_features("contrib", "honest-but-curious")
    stems = exported(tables, "opendp", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    measures = {kind: import_module(f"{stem}_opendp").make_measurement() for kind, stem in stems.items()}
    said = [f"{kind} {measure(ITEM)}" for kind, measure in measures.items() for _ in range(DRAWS)]
    assert_follow("\n".join(said), tables)


def test_javascript(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("node")
    stems = exported(tables, "javascript", tmp_path)
    imports = "".join(f'import * as {kind} from "./{stem}.mjs";\n' for kind, stem in stems.items())
    (tmp_path / "draw.mjs").write_text(
        f"{imports}for (const [kind, s] of Object.entries({{ {', '.join(stems)} }}))\n"
        f"  for (let i = 0; i < {DRAWS}; i++) console.log(kind, Buffer.from(s.sample({ITEM})).toString('hex'));\n"
    )
    assert_follow(run(["node", "draw.mjs"], tmp_path), tables)


def test_c(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("gcc")
    stems = exported(tables, "c", tmp_path)
    includes = "".join(f'#include "{stem}.h"\n' for stem in stems.values())
    draws = "".join(
        f"    for (i = 0; i < {DRAWS}; i++) {{\n        if ({stem}({ITEM}, y)) return 1;\n"
        f'        printf("{kind} ");\n        for (j = 0; j < {stem.upper()}_REPORT_BYTES; j++) printf("%02x", y[j]);\n'
        '        puts("");\n    }\n'
        for kind, stem in stems.items()
    )
    (tmp_path / "draw.c").write_text(
        f"{includes}#include <stdio.h>\nint main(void) {{\n    unsigned char y[64];\n    int i, j;\n{draws}"
        "    return 0;\n}\n"
    )
    run(["gcc", "draw.c", *(f"{stem}.c" for stem in stems.values()), "-pthread", "-o", "draw"], tmp_path)
    assert_follow(run(["./draw"], tmp_path), tables)


@pytest.mark.slow
def test_rust(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("rustc")
    stems = exported(tables, "rust", tmp_path)
    modules = "".join(f'#[path = "{stem}.rs"]\n#[allow(dead_code)]\nmod {kind};\n' for kind, stem in stems.items())
    draws = "".join(
        f"    for _ in 0..{DRAWS} {{\n        let y = {kind}::sample({ITEM}).unwrap();\n"
        '        let y: String = y.iter().map(|byte| format!("{byte:02x}")).collect();\n'
        f'        println!("{kind} {{y}}");\n    }}\n'
        for kind in stems
    )
    (tmp_path / "draw.rs").write_text(f"{modules}fn main() {{\n{draws}}}\n")
    run(["rustc", "--edition", "2021", "draw.rs", "-o", "draw"], tmp_path)
    assert_follow(run(["./draw"], tmp_path), tables)


@pytest.mark.slow
def test_java_whose_classes_kotlin_s_packages_hold(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("javac", "java")
    exported(tables, "java", tmp_path)
    draws = "".join(
        f"        for (int i = 0; i < {DRAWS}; i++) {{\n            StringBuilder line = new StringBuilder();\n"
        f"            for (byte part : Sampler_{table.sha256[:8]}.sample({ITEM})) "
        'line.append(String.format("%02x", part));\n'
        f'            System.out.println("{kind} " + line);\n        }}\n'
        for kind, table in tables.items()
    )
    text = f"public class Draw {{\n    public static void main(String[] a) {{\n{draws}    }}\n}}\n"
    (tmp_path / "Draw.java").write_text(text)
    run(["javac", "Draw.java"], tmp_path)
    assert_follow(run(["java", "Draw"], tmp_path), tables)


@pytest.mark.slow
def test_wasm(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("node", "npm")
    compiler = next(
        (folder for folder in (*os.environ["PATH"].split(os.pathsep), "/usr/bin") if _has_target(folder)), ""
    )
    if not compiler:
        pytest.skip("no rustc here has the target wasm32-unknown-unknown")
    folder = tmp_path / "made"
    export_package(tables, "wasm", "survey", folder, cases=0)
    run(["npm", "run", "build"], folder, os.pathsep.join([compiler, os.environ["PATH"]]))
    (folder / "draw.mjs").write_text(
        'import { load } from "survey";\nfor (const [kind, s] of Object.entries(await load()))\n'
        f"  for (let i = 0; i < {DRAWS}; i++) console.log(kind, Buffer.from(s.sample({ITEM})).toString('hex'));\n"
    )
    assert_follow(run(["node", "draw.mjs"], folder), tables)


def _has_target(folder: str) -> bool:
    compiler = Path(folder) / "rustc"
    if not compiler.exists():
        return False
    asked = [str(compiler), "--print", "target-libdir", "--target", "wasm32-unknown-unknown"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.returncode == 0 and Path(done.stdout.strip()).is_dir()


def test_postgresql(tables: dict[str, Table], postgresql: Any) -> None:
    said = []
    for kind, table in tables.items():
        plan = plan_of(table.document)
        assert postgresql.query(postgresql_sources.sources(plan, [])[f"{plan.stem}.postgresql.sql"]) == ""
        query = f"SELECT encode({plan.stem}({ITEM}), 'hex') FROM generate_series(1, {DRAWS})"
        said += [f"{kind} {line}" for line in postgresql.query(query).splitlines()]
    assert_follow("\n".join(said), tables)


def test_duckdb(tables: dict[str, Table]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    said = []
    for kind, table in tables.items():
        plan = plan_of(table.document)
        with duckdb.connect() as connection:
            connection.create_function("os_random", os.urandom, ["BIGINT"], "BLOB", side_effects=True)
            connection.execute(duckdb_sources.sources(plan, [])[f"{plan.stem}.duckdb.sql"])
            query = f"SELECT hex({plan.stem}({ITEM}, os_random({plan.stem}_bytes()))) FROM range({DRAWS})"
            said += [f"{kind} {row[0]}" for row in connection.execute(query).fetchall()]
    assert_follow("\n".join(said), tables)
