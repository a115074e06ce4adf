"""Packages of a table with as many labels as a table may have, 65,536, built by real compilers and asked for a report.

Each program knows the first and the last label, refuses a text that is none, and prints how long a report is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mechdesign.collect import protocol_table
from mechdesign.deploy import Table, export_package
from mechdesign.deploy.export.packages import package_texts
from mechdesign.deploy.export.texts import MOST_CASES

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".toolchains" / "node_modules"
MOST = 65_536
NAMES = {"kotlin": "com.example.survey", "java": "com.example.survey", "swift": "Survey"}
LONG = "a label that is as long as these are: "


def labels(count: int) -> tuple[str, ...]:
    """In no order of letters; one has as many letters as a label may have."""
    return (*(f"{LONG}{(i * 40_503) % MOST:05}" for i in range(count - 1)), "\U0001f600" * 200)


@pytest.fixture(scope="module")
def most() -> dict[str, Table]:
    return {"fruit": protocol_table("olh", 1, labels(MOST))}


def run(command: list[str], folder: Path, **more: str) -> str:
    environment = {**os.environ, **more}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=550, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def made(tables: dict[str, Table], language: str, folder: Path) -> Path:
    export_package(tables, language, NAMES.get(language, "survey"), folder / "made", cases=0)
    return folder / "made"


LAST = "\\ud83d\\ude00"
MAIN = {
    "c": (
        "#include <survey.h>\n#include <stdio.h>\n#include <string.h>\nint main(void) {\n"
        "    unsigned char y[64];\n    char last[801] = {0};\n    int i;\n"
        '    for (i = 0; i < 200; i++) strcat(last, "\\360\\237\\230\\200");\n'
        f'    if (survey_fruit("{LONG}00000", y) || survey_fruit(last, y)) return 1;\n'
        '    if (survey_fruit("none", y) != SURVEY_BAD_INPUT) return 2;\n'
        '    puts("9");\n    return 0;\n}\n'
    ),
    "rust": (
        "use survey::fruit::{sample, Error};\nfn main() {\n"
        f'    sample("{LONG}00000").unwrap();\n    assert_eq!(sample("none"), Err(Error::BadInput));\n'
        '    println!("{}", sample(&"\\u{1f600}".repeat(200)).unwrap().len());\n}\n'
    ),
    "python": (
        f'import survey\nsurvey.fruit.sample("{LONG}00000")\ntry:\n    survey.fruit.sample("none")\n'
        'except ValueError:\n    print(len(survey.fruit.sample("\\U0001f600" * 200)))\n'
    ),
    "typescript": (
        f'import {{ fruit }} from "survey";\nfruit.sample("{LONG}00000");\n'
        '// @ts-expect-error: no label\ntry { fruit.sample("none"); } catch (error) {\n'
        "  const last: fruit.Input = fruit.INPUT_LABELS[65535];\n  console.log(fruit.sample(last).length);\n}\n"
    ),
    "java": (
        "import com.example.survey.Fruit;\npublic class Main {\n    public static void main(String[] a) {\n"
        f'        Fruit.sample("{LONG}00000");\n'
        '        try {\n            Fruit.sample("none");\n        } catch (IllegalArgumentException error) {\n'
        f'            System.out.println(Fruit.sample("{LAST}".repeat(200)).length);\n        }}\n    }}\n}}\n'
    ),
    "kotlin": (
        "import com.example.survey.Fruit\n\nfun main() {\n"
        f'    Fruit.sample(Fruit.Input.of("{LONG}00000"))\n'
        '    check(runCatching { Fruit.Input.of("none") }.exceptionOrNull() is IllegalArgumentException)\n'
        f'    val report = Fruit.sample(Fruit.Input.of("{LAST}".repeat(200)))\n'
        "    check(Fruit.envelope(report, 40000).size == 60 + report.size)\n    println(report.size)\n}\n"
    ),
}


@pytest.mark.slow
def test_c_takes_every_label(most: dict[str, Table], tmp_path: Path) -> None:
    needs("gcc", "make", "ar")
    folder = made(most, "c", tmp_path)
    run(["make", "-s", "libsurvey.a", "CFLAGS=-O2 -Wall -Wextra -Wconversion -pedantic -Werror", "CC=gcc"], folder)
    (folder / "main.c").write_text(MAIN["c"])
    run(["gcc", "-Iinclude", "main.c", "libsurvey.a", "-pthread", "-o", "main"], folder)
    assert run(["./main"], folder) == "9\n"


@pytest.mark.slow
def test_rust_takes_every_label(most: dict[str, Table], tmp_path: Path) -> None:
    needs("cargo", "rustc")
    folder = made(most, "rust", tmp_path)
    (folder / "examples").mkdir()
    (folder / "examples" / "main.rs").write_text(MAIN["rust"])
    assert run(["cargo", "run", "-q", "--offline", "--example", "main"], folder, RUSTFLAGS="-D warnings") == "9\n"


@pytest.mark.slow
def test_python_takes_every_label(most: dict[str, Table], tmp_path: Path) -> None:
    folder = made(most, "python", tmp_path)
    (folder / "main.py").write_text(MAIN["python"])
    assert run([sys.executable, "main.py"], folder, PYTHONPATH="src") == "9\n"


@pytest.mark.slow
def test_typescript_takes_every_label(most: dict[str, Table], tmp_path: Path) -> None:
    needs("node")
    compiler = shutil.which("tsc") or str(TOOLS / "typescript" / "bin" / "tsc")
    if not Path(compiler).exists():
        pytest.skip("tsc is not installed (make toolchains)")
    folder = made(most, "typescript", tmp_path)
    (folder / "main.mts").write_text(MAIN["typescript"])
    options = ["--strict", "--module", "nodenext", "--target", "es2022"]
    run(["node", compiler, *options, "main.mts"], folder)
    assert run(["node", "main.mjs"], folder) == "9\n"


@pytest.mark.slow
def test_java_takes_every_label(most: dict[str, Table], tmp_path: Path) -> None:
    needs("javac", "java")
    folder = made(most, "java", tmp_path)
    (folder / "Main.java").write_text(MAIN["java"])
    sources = [str(path.relative_to(folder)) for path in (folder / "src/main/java").rglob("*.java")]
    run(["javac", "-Xlint:all", "-Werror", "-d", "out", "Main.java", *sources], folder)
    assert run(["java", "-cp", "out", "Main"], folder) == "9\n"


def compiled_kotlin(folder: Path) -> str:
    """What the program says that the compilers of Kotlin and Java make of a package and of ``Main.kt``."""
    needs("javac", "java")
    place = TOOLS / "kotlin-compiler"
    if not (place / "lib" / "kotlin-compiler.jar").exists():
        pytest.skip("the compiler of Kotlin is not installed (make toolchains)")
    compiler = ["java", "-Xmx1g", "-cp", str(place / "lib" / "kotlin-preloader.jar")]
    compiler += ["org.jetbrains.kotlin.preloading.Preloader", "-cp", str(place / "lib" / "kotlin-compiler.jar")]
    compiler += ["org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-Werror", "-no-reflect", "-Xexplicit-api=strict"]
    sources = [str(path.relative_to(folder)) for path in (folder / "src/main").rglob("*.*")]
    run([*compiler, *sources, "-d", "out"], folder)
    main = [entry for entry in compiler if entry != "-Xexplicit-api=strict"]
    run([*main, "-cp", "out", "Main.kt", "-d", "out"], folder)
    run(["javac", "-Xlint:all", "-Werror", "-d", "out", *(path for path in sources if path.endswith("java"))], folder)
    return run(["java", "-cp", os.pathsep.join(["out", str(place / "lib" / "kotlin-stdlib.jar")]), "MainKt"], folder)


@pytest.mark.slow
def test_kotlin_takes_every_label(most: dict[str, Table], tmp_path: Path) -> None:
    folder = made(most, "kotlin", tmp_path)
    (folder / "Main.kt").write_text(MAIN["kotlin"])
    assert compiled_kotlin(folder) == "9\n"


@pytest.mark.parametrize(
    ("language", "path", "enum", "instead"),
    [
        ("kotlin", "src/main/kotlin/com/example/survey/Fruit.kt", "enum class Input", "value class Input"),
        ("swift", "Sources/Survey/Fruit.swift", "enum Input: String", "struct Input: RawRepresentable"),
    ],
)
def test_only_few_labels_are_an_enum(language: str, path: str, enum: str, instead: str) -> None:
    for count, there, missing in ((MOST_CASES, enum, instead), (MOST_CASES + 1, instead, enum)):
        tables = {"fruit": protocol_table("olh", 1, labels(count))}
        texts = package_texts(tables, language, NAMES[language], cases=0)
        assert there in texts[path]
        assert missing not in texts[path]
        assert re.search(r"Input\.of\(|Input\(rawValue:", texts["README.md"]) is not None or there == enum


def test_no_constant_of_java_is_longer_than_a_class_file_allows(most: dict[str, Table]) -> None:
    """At most 65,535 bytes of modified UTF-8 each, and of two numbers by which a method names one, 65,535 in all."""
    text = package_texts(most, "java", "com.example.survey", cases=0)["src/main/java/com/example/survey/Fruit.java"]
    constants = re.findall(r'"[^"\n]*"(?:\n +\+ "[^"\n]*")*', text)
    letters = [re.sub(r"\\u[0-9a-f]{4}", "xxx", constant) for constant in constants]
    assert max(map(len, letters)) < 65_535
    assert len(constants) < 1000
