"""Packages, built and tested by the tools of their ecosystems; where one is missing, its test is skipped by name.

Every package holds its vectors as tests of that ecosystem. Beside them 4000 reports are drawn through its public
functions with the system's randomness and compared with the row of the table.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from mechdesign.collect import protocol_table
from mechdesign.deploy import Labels, Table, export_package, make_table
from mechdesign.deploy.export.plan import plan_of
from mechdesign.domains import Finite
from mechdesign.mechanisms import catalogue

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".toolchains" / "node_modules"
"""Where ``make toolchains`` puts the compilers that npm has."""

DRAWS = 4000
LABELS = Labels(("no", "rather $not", "yes"), ("n", "r", "y"))


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {
        "smokes": make_table(catalogue.randomised_response(1.3, Finite((-2, 0, 1))), 32, labels=LABELS),
        "age": make_table(catalogue.pm(1.0), 32),
    }


@pytest.fixture(scope="module")
def items() -> dict[str, Table]:
    """Tables whose reports are bytes, one of them with labels."""
    return {
        "fruit": protocol_table("oue", 1.0, 12),
        "pets": protocol_table("ss", 1.0, ("cat", "dog", "no $pet", "other")),
    }


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


def made(tables: dict[str, Table], language: str, name: str, folder: Path) -> Path:
    export_package(tables, language, name, folder / "made", cases=20)
    return folder / "made"


def assert_follows(said: str, table: Table, place: int = 1) -> None:
    """Chi-square: false alarms with probability 1e-6; with n = 4000, twice the mass on 1% of the outputs is noticed."""
    counts = Counter(said.split())
    row = table.law.rows[place]
    observed = [counts[label] for label in LABELS.outputs or ()]
    assert sum(observed) == DRAWS == counts.total()
    assert stats.chisquare(observed, [DRAWS * count / sum(row) for count in row]).pvalue > 1e-6


def test_c_by_make_and_by_cmake(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("gcc", "make", "ar")
    folder = made(tables, "c", "survey", tmp_path)
    strict = "-O2 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
    said = run(["make", "-s", "check", f"CFLAGS={strict}", "CC=gcc"], folder)
    assert said.splitlines()[0] == "PASS without randomness"
    assert len(re.findall("^PASS [0-9]+$", said, re.MULTILINE)) == len(tables)
    assert len(re.findall("^PASS envelopes [0-9]+$", said, re.MULTILINE)) == len(tables)
    (folder / "draw.c").write_text(
        "#include <survey.h>\n#include <stdio.h>\nint main(void) {\n    const char *y;\n    int i;\n"
        f"    for (i = 0; i < {DRAWS}; i++) {{\n"
        '        if (survey_smokes("rather $not", &y) != SURVEY_OK) return 1;\n        puts(y);\n    }\n'
        '    return survey_smokes("maybe", &y) != SURVEY_BAD_INPUT;\n}\n'
    )
    run(["gcc", "-Iinclude", "draw.c", "libsurvey.a", "-pthread", "-o", "draw"], folder)
    assert_follows(run(["./draw"], folder), tables["smokes"])
    if shutil.which("cmake") is not None:
        run(["cmake", "-B", "build"], folder)
        run(["cmake", "--build", "build"], folder)
        assert "100% tests passed, 0 tests failed out of 5" in run(["ctest"], folder / "build")


@pytest.mark.slow
def test_rust_by_cargo(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("cargo", "rustc")
    folder = made(tables, "rust", "sur-vey", tmp_path)
    (folder / "examples").mkdir()
    (folder / "examples" / "draw.rs").write_text(
        "use sur_vey::smokes::{sample, Error};\nfn main() {\n"
        f'    for _ in 0..{DRAWS} {{\n        println!("{{}}", sample("rather $not").unwrap());\n    }}\n'
        '    assert_eq!(sample("maybe"), Err(Error::BadInput));\n}\n'
    )
    said = run(["cargo", "test", "--offline"], folder, RUSTFLAGS="-D warnings")
    assert said.count("test result: ok. 4 passed; 0 failed") == 2
    said = run(["cargo", "run", "-q", "--offline", "--example", "draw"], folder, RUSTFLAGS="-D warnings")
    assert_follows(said, tables["smokes"])


@pytest.mark.slow
def test_rust_pleases_clippy_and_its_formatter(
    tables: dict[str, Table], items: dict[str, Table], tmp_path: Path
) -> None:
    """With one block (hr at eps 1) a remainder by 1 is taken, which clippy refuses by default."""
    needs("cargo", "cargo-clippy", "rustfmt")
    folder = made(tables | items | {"block": protocol_table("hr", 1, 5)}, "rust", "survey", tmp_path)
    run(["cargo", "clippy", "-q", "--offline", "--all-targets", "--", "-D", "warnings"], folder)
    run(["cargo", "fmt", "--check"], folder)


@pytest.mark.slow
def test_python_is_typed_for_strict_checkers(tables: dict[str, Table], items: dict[str, Table], tmp_path: Path) -> None:
    more = {name: protocol_table(name, 1, 5) for name in ("olh", "oue", "hr", "grr")}
    more |= {"noise": make_table(catalogue.laplace(1.0), 16), "duchi": make_table(catalogue.duchi(1.0), 16)}
    folder = made(tables | items | more, "python", "survey", tmp_path)
    (folder / "user.py").write_text(
        'import survey\n\nlabel: str = survey.smokes.sample("no")\nnumber: float = survey.age.sample(0.5)\n'
        "content: bytes = survey.fruit.sample(2)\nenvelope: bytes = survey.envelopes.smokes(label, 20000)\n"
    )
    check = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "src/survey", "user.py"]
    assert "Success" in run(check, folder, MYPYPATH="src")
    assert (folder / "src" / "survey" / "py.typed").exists()


def test_typescript_by_npm(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("node", "npm")
    folder = made(tables, "typescript", "@example/survey", tmp_path)
    assert re.search("^(#|ℹ) pass 8$", run(["npm", "test"], folder), re.MULTILINE)
    (folder / "draw.mjs").write_text(
        f'import {{ smokes }} from "@example/survey";\nfor (let i = 0; i < {DRAWS}; i++) '
        'console.log(smokes.sample("rather $not"));\n'
        'try {\n  smokes.sample("maybe");\n} catch (error) {\n'
        "  if (!(error instanceof RangeError)) console.log(error);\n}\n"
    )
    assert_follows(run(["node", "draw.mjs"], folder), tables["smokes"])


@pytest.mark.slow
@pytest.mark.parametrize("language", ["typescript", "wasm"])
def test_the_types_of_npm_packages_are_those_of_their_functions(
    tables: dict[str, Table], items: dict[str, Table], language: str, tmp_path: Path
) -> None:
    needs("node")
    compiler = shutil.which("tsc") or TOOLS / "typescript" / "bin" / "tsc"
    if not Path(compiler).exists():
        pytest.skip("tsc is not installed (make toolchains)")
    folder = made(tables | items, language, "survey", tmp_path)
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    wrong = (
        'smokes.sample("maybe")',
        "smokes.sample(1)",
        'age.sample("1")',
        'const y: "maybe" = smokes.sample("no")',
        "smokes.INPUT_LABELS[3]",
        'pets.sample("maybe")',
        "pets.INPUT_LABELS[4]",
        'const z: string = pets.sample("dog")',
    )
    right = ("age.sample(0)", "const report: Uint8Array = pets.sample(pets.INPUT_LABELS[2])")
    lines = "".join(f"{line};\n" for line in (*right, *wrong))
    names = "age, pets, smokes"
    taken = f'import {{ {names} }} from "./index.mjs";\n'
    if language == "wasm":
        taken = f'import {{ load }} from "./index.mjs"; const {{ {names} }} = await load();\n'
    (folder / "wrong.ts").write_text(taken + lines)
    checked = ["test/types.ts"] if language == "typescript" else []
    check = ["node", str(compiler), *options, *checked, "wrong.ts"]
    said = subprocess.run(check, cwd=folder, capture_output=True, text=True, timeout=120, check=False).stdout
    assert re.findall(r"^([\w./]+)\((\d+)", said, re.MULTILINE) == [("wrong.ts", str(i)) for i in range(4, 12)], said


# -- reports that are bytes --------------------------------------------------------------------------------------------


def test_c_of_items(items: dict[str, Table], tmp_path: Path) -> None:
    needs("gcc", "make", "ar")
    folder = made(items, "c", "survey", tmp_path)
    strict = "-O2 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
    said = run(["make", "-s", "check", f"CFLAGS={strict}", "CC=gcc"], folder)
    assert said.splitlines()[0] == "PASS without randomness"
    assert len(re.findall("^PASS [0-9]+$", said, re.MULTILINE)) == len(items)
    assert len(re.findall("^PASS envelopes [0-9]+$", said, re.MULTILINE)) == len(items)


@pytest.mark.slow
def test_rust_of_items(items: dict[str, Table], tmp_path: Path) -> None:
    needs("cargo", "rustc")
    folder = made(items, "rust", "survey", tmp_path)
    said = run(["cargo", "test", "--offline"], folder, RUSTFLAGS="-D warnings")
    assert said.count("test result: ok. 4 passed; 0 failed") == 2


def test_npm_of_items(items: dict[str, Table], tmp_path: Path) -> None:
    needs("node", "npm")
    folder = made(items, "typescript", "survey", tmp_path)
    assert re.search("^(#|ℹ) pass 8$", run(["npm", "test"], folder), re.MULTILINE)


@pytest.mark.parametrize("language", ["python", "opendp"])
def test_python_of_items(items: dict[str, Table], language: str, tmp_path: Path) -> None:
    if language == "opendp":
        pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    folder = made(items, language, "survey", tmp_path)
    command = [sys.executable, "-W", "error", "-m", "unittest", "discover", "tests"]
    assert f"Ran {4 if language == 'opendp' else 8} tests" in run(command, folder, PYTHONPATH=str(folder / "src"))


@pytest.mark.slow
def test_java_of_items(items: dict[str, Table], tmp_path: Path) -> None:
    needs("mvn", "javac", "java")
    folder = made(items, "java", "com.example.survey", tmp_path)
    done = subprocess.run(
        ["mvn", "-o", "-q", "-B", "package"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    if "in offline mode and the artifact" in done.stdout:
        pytest.skip("Maven has not its plugins or JUnit here, and does not fetch them in tests")
    assert done.returncode == 0, done.stdout
    reports = sorted((folder / "target" / "surefire-reports").glob("*.txt"))
    assert [report.name.split(".")[-2] for report in reports] == ["EnvelopesTest", "VectorsTest"]
    assert all("Tests run: 4, Failures: 0, Errors: 0, Skipped: 0" in report.read_text() for report in reports)


@pytest.mark.slow
def test_kotlin_of_items(items: dict[str, Table], tmp_path: Path) -> None:
    needs("javac", "java")
    folder = made(items, "kotlin", "com.example.survey", tmp_path)
    (folder / "Main.kt").write_text(
        "import com.example.survey.Fruit\nimport com.example.survey.Pets\n\nfun main() {\n"
        "    println(Fruit.sample(3).size + Pets.sample(Pets.Input.LABEL_0_CAT).size)\n"
        "    check(Fruit.envelope(Fruit.sample(3), 40000).size == 62)\n"
        "    check(runCatching { Fruit.envelope(ByteArray(1), 1) }.exceptionOrNull() is IllegalArgumentException)\n"
        "    check(runCatching { Fruit.sample(12) }.exceptionOrNull() is IllegalArgumentException)\n"
        '    check(Pets.Input.values().map { it.label } == listOf("cat", "dog", "no \\$pet", "other"))\n}\n'
    )
    sources = [str(path.relative_to(folder)) for path in (folder / "src/main/java").rglob("*.java")]
    run(["javac", "-Xlint:all", "-Werror", "-d", "out", *sources], folder)
    place = TOOLS / "kotlin-compiler"
    if not (place / "lib" / "kotlin-compiler.jar").exists():
        pytest.skip("the compiler of Kotlin is not installed (make toolchains)")
    compiler = ["java", "-Xmx1g", "-cp", str(place / "lib" / "kotlin-preloader.jar")]
    compiler += ["org.jetbrains.kotlin.preloading.Preloader", "-cp", str(place / "lib" / "kotlin-compiler.jar")]
    compiler += ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-Werror", "-no-reflect"]
    run([*compiler, "src/main/kotlin", "src/main/java", "Main.kt", "-d", "out"], folder)
    library = os.pathsep.join(["out", str(place / "lib" / "kotlin-stdlib.jar")])
    assert run(["java", "-cp", library, "MainKt"], folder).split() == ["3"]
    (folder / "Draw.java").write_text(JAVA.replace("@class@", "PetsSampler").replace('"yes"', '"cat"'))
    run(["javac", "-cp", "out", "-d", "out", "Draw.java"], folder)
    assert run(["java", "-cp", "out", "Draw", "fail"], folder) == "no randomness\n"


# -- WebAssembly, Python, Java -----------------------------------------------------------------------------------------


def with_target() -> str | None:
    """The folder of a Rust compiler that has WebAssembly's standard library."""
    for folder in (*os.environ["PATH"].split(os.pathsep), "/usr/bin"):
        compiler = Path(folder) / "rustc"
        if compiler.exists():
            asked = [str(compiler), "--print", "target-libdir", "--target", "wasm32-unknown-unknown"]
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
            if done.returncode == 0 and Path(done.stdout.strip()).is_dir():
                return folder
    return None


def built_for_wasm(tables: dict[str, Table], folder: Path) -> Path:
    """A package that is compiled and passes its own tests, two a table."""
    needs("node", "npm")
    compiler = with_target()
    if compiler is None:
        pytest.skip("no rustc here has the target wasm32-unknown-unknown")
    package = made(tables, "wasm", "survey", folder)
    said = run(["npm", "run", "build"], package, PATH=os.pathsep.join([compiler, os.environ["PATH"]]))
    assert "warning: " not in said
    assert (package / "samplers.wasm").stat().st_size < 100_000
    assert re.search(f"^(#|ℹ) pass {4 * len(tables)}$", run(["npm", "test"], package), re.MULTILINE)
    return package


@pytest.mark.slow
@pytest.mark.parametrize("of", ["items", "both"])
def test_wasm_of_items(tables: dict[str, Table], items: dict[str, Table], of: str, tmp_path: Path) -> None:
    folder = built_for_wasm(items | tables if of == "both" else items, tmp_path)
    (folder / "draw.mjs").write_text(
        'import { load } from "survey";\nconst { fruit, pets } = await load();\n'
        'const y = pets.sample("no $pet");\nconsole.log(y instanceof Uint8Array, y.length, pets.sample("dog") !== y);\n'
        "console.log(JSON.stringify(pets.INPUT_LABELS), Object.isFrozen(pets.INPUT_LABELS));\n"
        "for (const wrong of [-1, 12, 0.5, NaN, Infinity, 1e300, -Infinity]) {\n  try {\n"
        "    console.log(fruit.sample(wrong));\n  } catch (error) {\n"
        "    if (!(error instanceof RangeError)) console.log(error);\n  }\n}\n"
    )
    said = run(["node", "draw.mjs"], folder).splitlines()
    assert said == ["true 1 true", '["cat","dog","no $pet","other"] true']


@pytest.mark.slow
def test_wasm_by_rustc_and_npm(tables: dict[str, Table], tmp_path: Path) -> None:
    folder = built_for_wasm(tables, tmp_path)
    (folder / "draw.mjs").write_text(
        f'import {{ load }} from "survey";\nconst {{ smokes }} = await load();\nfor (let i = 0; i < {DRAWS}; i++) '
        'console.log(smokes.sample("rather $not"));\n'
        'try {\n  smokes.sample("maybe");\n} catch (error) {\n'
        "  if (!(error instanceof RangeError)) console.log(error);\n}\n"
    )
    assert_follows(run(["node", "draw.mjs"], folder), tables["smokes"])


BUILD = "from setuptools import setup; setup()"


@pytest.mark.parametrize("language", ["python", "opendp"])
def test_python_by_setuptools_and_unittest(tables: dict[str, Table], language: str, tmp_path: Path) -> None:
    """As a wheel lays it out: no network, nothing left in the tree."""
    if language == "opendp":
        pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    folder = made(tables, language, "survey", tmp_path)
    run([sys.executable, "-c", BUILD, "-q", "build_py", "--build-lib", str(tmp_path / "lib")], folder)
    shutil.rmtree(folder / "src")
    path = {"PYTHONPATH": str(tmp_path / "lib")}
    command = [sys.executable, "-W", "error", "-m", "unittest", "discover", "tests"]
    assert f"Ran {4 if language == 'opendp' else 8} tests" in run(command, folder, **path)
    sample = "survey.smokes.sample"
    text = "import survey\n"
    if language == "opendp":
        sample = "measure"
        text += (
            "import opendp.prelude as dp\n"
            'dp.enable_features("contrib", "honest-but-curious")\nmeasure = survey.smokes.make_measurement()\n'
        )
    (folder / "draw.py").write_text(f'{text}for _ in range({DRAWS}):\n    print({sample}("rather $not"))\n')
    assert_follows(run([sys.executable, "draw.py"], folder, **path), tables["smokes"])


FAILING = """
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
"""
JAVA = f"""
import com.example.survey.@class@;

public class Draw {{
{FAILING}
    public static void main(String[] arguments) {{
        if (arguments.length > 0) {{
            java.security.Security.insertProviderAt(new Nothing(), 1);
            try {{
                System.out.println(@class@.sample("yes"));
            }} catch (@class@.NoRandomness error) {{
                System.out.println("no randomness");
            }}
            return;
        }}
        for (int i = 0; i < {DRAWS}; i++) System.out.println(@class@.sample("rather $not"));
        try {{
            System.out.println(@class@.sample("maybe"));
        }} catch (IllegalArgumentException error) {{
            return;
        }}
    }}
}}
"""


@pytest.mark.slow
def test_java_by_maven(tables: dict[str, Table], tmp_path: Path) -> None:
    needs("mvn", "javac", "java")
    folder = made(tables, "java", "com.example.survey", tmp_path)
    done = subprocess.run(
        ["mvn", "-o", "-q", "-B", "package"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    if "in offline mode and the artifact" in done.stdout:
        pytest.skip("Maven has not its plugins or JUnit here, and does not fetch them in tests")
    assert done.returncode == 0, done.stdout
    reports = sorted((folder / "target" / "surefire-reports").glob("*.txt"))
    assert [report.name.split(".")[-2] for report in reports] == ["EnvelopesTest", "VectorsTest"]
    assert all("Tests run: 4, Failures: 0, Errors: 0, Skipped: 0" in report.read_text() for report in reports)
    assert (folder / "target" / "survey-1.0.0.jar").exists()
    (folder / "Draw.java").write_text(JAVA.replace("@class@", "Smokes"))
    run(["javac", "-cp", "target/classes", "Draw.java"], folder)
    start = ["java", "-cp", f"target/classes{os.pathsep}.", "Draw"]
    assert_follows(run(start, folder), tables["smokes"])
    assert run([*start, "fail"], folder) == "no randomness\n"


KOTLIN = f"""
import com.example.survey.Age
import com.example.survey.Smokes

fun main() {{
    repeat({DRAWS}) {{ println(Smokes.sample(Smokes.Input.LABEL_1_RATHER_NOT).label) }}
    check(Smokes.Input.of("rather \\$not") == Smokes.Input.LABEL_1_RATHER_NOT)
    check(Smokes.Output.values().map {{ it.label }} == listOf("n", "r", "y"))
    check(Age.sample(0.5).isFinite())
    check(Age.envelope(Age.sample(0.5), 40000).size == 68)
    check(Smokes.envelope(Smokes.Output.of("r"), 40000)[60] == 1.toByte())
    check(runCatching {{ Age.envelope(0.5, -1) }}.exceptionOrNull() is IllegalArgumentException)
    check(runCatching {{ Age.sample(2.0) }}.exceptionOrNull() is IllegalArgumentException)
}}
"""


@pytest.mark.slow
def test_kotlin_by_its_compiler(tables: dict[str, Table], tmp_path: Path) -> None:
    """The law is in the Java classes, which are those of the Java package but for their names."""
    needs("javac", "java")
    folder = made(tables, "kotlin", "com.example.survey", tmp_path)
    place = TOOLS / "kotlin-compiler"
    if not (place / "lib" / "kotlin-compiler.jar").exists():
        pytest.skip("the compiler of Kotlin is not installed (make toolchains)")
    (folder / "Main.kt").write_text(KOTLIN)
    compiler = ["java", "-Xmx1g", "-cp", str(place / "lib" / "kotlin-preloader.jar")]
    compiler += ["org.jetbrains.kotlin.preloading.Preloader", "-cp", str(place / "lib" / "kotlin-compiler.jar")]
    compiler += ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-Werror", "-no-reflect"]
    run([*compiler, "src/main/kotlin", "src/main/java", "Main.kt", "-d", "out"], folder)
    sources = [str(path.relative_to(folder)) for path in (folder / "src/main/java").rglob("*.java")]
    run(["javac", "-Xlint:all", "-Werror", "-d", "out", *sources], folder)
    library = os.pathsep.join(["out", str(place / "lib" / "kotlin-stdlib.jar")])
    assert_follows(run(["java", "-cp", library, "MainKt"], folder), tables["smokes"])
    (folder / "Draw.java").write_text(JAVA.replace("@class@", "SmokesSampler"))
    run(["javac", "-cp", "out", "-d", "out", "Draw.java"], folder)
    assert run(["java", "-cp", "out", "Draw", "fail"], folder) == "no randomness\n"


@pytest.mark.parametrize("of", ["tables", "items"])
def test_swift_is_of_its_grammar_and_its_c_compiles(of: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """There is no compiler of Swift here: the law is the C of the C package, and what is above it is parsed."""
    tree_sitter = pytest.importorskip("tree_sitter", reason="the Python package tree-sitter is not installed")
    grammar = pytest.importorskip("tree_sitter_swift", reason="the Python package tree-sitter-swift is not installed")
    needs("gcc")
    tables: dict[str, Table] = request.getfixturevalue(of)
    folder = made(tables, "swift", "Survey", tmp_path)
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    assert parser.parse(b"enum A { case }").root_node.has_error
    sources = sorted(folder.rglob("*.swift"))
    assert len(sources) == 4 + 2 * len(tables)
    assert [path.name for path in sources if parser.parse(path.read_bytes()).root_node.has_error] == []
    inner = folder / "Sources" / "CSurvey"
    header = "".join(path.read_text() for path in inner.glob("include/*.h"))
    for path in sources:
        for name in re.findall(r"\bsampler_\w+(?=\()", path.read_text()):
            assert f"int {name}(" in header
    for table in tables.values():
        stem = plan_of(table.document).stem
        strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Iinclude"]
        for source in (stem, f"{stem}_envelope"):
            run([*strict, "-c", f"{source}.c", "-o", str(tmp_path / f"{source}.o")], inner)


def test_sql_in_both_engines(
    tables: dict[str, Table], items: dict[str, Table], postgresql: Any, tmp_path: Path
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    folder = made(tables | items, "sql", "survey", tmp_path)
    text = (folder / "survey--1.0.0.sql").read_text().replace("@extschema@", "public")
    assert not re.search(r"^(BEGIN|COMMIT)\s*;", text, re.MULTILINE)
    assert "ERROR" not in postgresql.query(f"BEGIN;\n{text}\nCOMMIT;")
    for name in tables | items:
        stem = f"survey_{name}"
        replay = postgresql.query((folder / "postgresql" / f"{stem}_replay.postgresql.sql").read_text())
        assert re.search("PASS [0-9]+", replay), replay
        with duckdb.connect() as connection:
            connection.execute((folder / "duckdb" / f"{stem}.duckdb.sql").read_text())
            found = connection.execute((folder / "duckdb" / f"{stem}_replay.duckdb.sql").read_text()).fetchall()
            assert found[0][0].startswith("PASS ")
    drawn = postgresql.query(f"SELECT survey_smokes('rather $not') FROM generate_series(1, {DRAWS});")
    assert_follows(drawn, tables["smokes"])
