"""WebAssembly of the Rust runtime, compiled when a package is built, in Node; skipped by name without its target."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from scipy import stats

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Labels, Table, load_table, make_table
from mechdesign.tables.export.folder import export_package
from mechdesign.tables.export.shared_vectors import FOLDER
from mechdesign.tables.reports.collection import Attribute, Collection, Spending
from mechdesign.words.domains import Finite

ROOT = Path(__file__).parents[2]
TARGET = "wasm32-unknown-unknown"
DRAWS = 4000
LABELS = Labels(("no", "rather $not", "yes"), ("n", "r", "y"))


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {
        "smokes": make_table(catalogue.randomised_response(1.3, Finite((-2, 0, 1))), 32, labels=LABELS),
        "age": make_table(catalogue.pm(1.0), 32),
        "fruit": protocol_table("oue", 1.0, 12),
        "pets": protocol_table("ss", 1.0, ("cat", "dog", "no $pet", "other")),
    }


def with_target() -> str | None:
    """The folder of a Rust compiler that has WebAssembly's standard library."""
    for folder in (*os.environ["PATH"].split(os.pathsep), "/usr/bin"):
        compiler = Path(folder) / "rustc"
        if compiler.exists():
            asked = [str(compiler), "--print", "target-libdir", "--target", TARGET]
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
            if done.returncode == 0 and Path(done.stdout.strip()).is_dir():
                return folder
    return None


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def run(command: list[str], folder: Path, **more: str) -> str:
    """What a command prints; one that fails is an error with all of it."""
    environment = {**os.environ, **more}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def built(tables: dict[str, Table] | Collection, folder: Path) -> Path:
    """A package that is compiled and passes its own tests, three a table."""
    needs("node", "npm")
    compiler = with_target()
    if compiler is None:
        pytest.skip(f"no rustc here has the target {TARGET}")
    export_package(tables, "wasm", "survey", folder / "made", cases=20)
    package = folder / "made"
    said = run(["npm", "run", "build"], package, PATH=os.pathsep.join([compiler, os.environ["PATH"]]))
    assert "warning: " not in said
    assert (package / "samplers.wasm").stat().st_size < 100_000
    count = len(tables.attributes) if isinstance(tables, Collection) else len(tables)
    assert re.search(f"^(#|ℹ) pass {3 * count}$", run(["npm", "test"], package), re.MULTILINE)
    return package


@pytest.mark.slow
def test_every_kind_of_table_reproduces_its_vectors(tmp_path: Path) -> None:
    named = [path for path in FOLDER.glob("*.json") if path.with_suffix(".txt").exists()]
    built({path.stem: load_table(path) for path in named if not path.stem.endswith("_device")}, tmp_path)


@pytest.mark.slow
def test_reports_follow_their_table_and_what_is_no_input_is_refused(tables: dict[str, Table], tmp_path: Path) -> None:
    """Chi-square: false alarms with probability 1e-6; with n = 4000, twice the mass on 1% of the outputs is noticed."""
    folder = built(tables, tmp_path)
    (folder / "draw.mjs").write_text(
        'import { load } from "survey";\nconst { fruit, pets, smokes } = await load();\n'
        f"for (let i = 0; i < {DRAWS}; i++) console.log(smokes.sample('rather $not'));\n"
        'const y = pets.sample("no $pet");\nconsole.log(y instanceof Uint8Array, y.length, pets.sample("dog") !== y);\n'
        "console.log(JSON.stringify(pets.INPUT_LABELS), Object.isFrozen(pets.INPUT_LABELS));\n"
        "const wrong = [-1, 12, 0.5, NaN, Infinity, 1e300, -Infinity].map((x) => () => fruit.sample(x));\n"
        "wrong.push(() => smokes.sample('maybe'), () => smokes.envelope('maybe', 1));\n"
        "wrong.push(() => smokes.envelope('n', 0.5), () => pets.envelope(y, -1));\n"
        "wrong.push(() => pets.envelope(new Uint8Array(2), 1));\n"
        "for (const call of wrong) {\n  try {\n    console.log(call());\n  } catch (error) {\n"
        "    if (!(error instanceof RangeError)) console.log(error);\n  }\n}\n"
    )
    said = run(["node", "draw.mjs"], folder).splitlines()
    assert said[DRAWS:] == ["true 1 true", '["cat","dog","no $pet","other"] true']
    row = tables["smokes"].document["law"]["rows"][1]
    observed = [Counter(said[:DRAWS])[label] for label in LABELS.outputs or ()]
    assert sum(observed) == DRAWS
    assert stats.chisquare(observed, [DRAWS * count / sum(row) for count in row]).pvalue > 1e-6


@pytest.mark.slow
def test_a_collection_and_65536_labels_are_built_and_pass(tables: dict[str, Table], tmp_path: Path) -> None:
    many = protocol_table("olh", 1, tuple(f"label {i}" for i in range(65_536)))
    parts = [Attribute(name, table) for name, table in {**tables, "places": many}.items()]
    built(Collection("people", Spending.SPLIT, tuple(parts)), tmp_path)


@pytest.mark.slow
def test_types_are_those_of_the_functions(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("node")
    compiler = Path(shutil.which("tsc") or ROOT / ".toolchains" / "node_modules" / "typescript" / "bin" / "tsc")
    if not compiler.exists():
        pytest.skip("tsc is not installed (make toolchains)")
    folder = tmp_path / "made"
    export_package(tables, "wasm", "survey", folder, cases=2)
    wrong = (
        'smokes.sample("maybe")',
        "smokes.sample(1)",
        'age.sample("1")',
        'const y: "maybe" = smokes.sample("no")',
        "smokes.INPUT_LABELS[3]",
        'pets.sample("maybe")',
        "pets.INPUT_LABELS[4]",
        'const z: string = pets.sample("dog")',
        'smokes.envelope("no", 1)',
    )
    right = ("age.sample(0)", "const report: Uint8Array = pets.sample(pets.INPUT_LABELS[2])")
    lines = "".join(f"{line};\n" for line in (*right, *wrong))
    taken = 'import { load } from "./index.mjs"; const { age, pets, smokes } = await load();\n'
    (folder / "wrong.ts").write_text(taken + lines)
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "wrong.ts"]
    check = ["node", str(compiler), *options]
    said = subprocess.run(check, cwd=folder, capture_output=True, text=True, timeout=120, check=False).stdout
    assert re.findall(r"^([\w./]+)\((\d+)", said, re.MULTILINE) == [("wrong.ts", str(i)) for i in range(4, 13)], said
