"""Exports of labelled tables take and give labels: any text, never a code in its place, and nothing is injected."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mechdesign.deploy import LANGUAGES, Labels, Table, export_table, make_table
from mechdesign.deploy.export import duckdb as duckdb_sources, postgresql as postgresql_sources, texts
from mechdesign.deploy.export.plan import plan_of
from mechdesign.domains import Finite
from mechdesign.mechanisms import catalogue

EPSILON = 20.0
"""An input is reported as itself: all draws of these tests together fail to with a probability of about 1e-5."""

LABELS = (
    "no", "NO", "neither, nor", '"', "'", "\\", '\\"', "*/", "/*", "//", "--", "${x}", "`", "??/", "\\u0022", "\\x27",
    "'; DROP TABLE users; --", "$$; DROP TABLE users; --", "@stem@", "%s%n", "{0}", "</script>", "#", "\u00e9",
    "e\u0301", "\u65e5\u672c\u8a9e", "\U0001f600", "\u202eright to left\u202c", "line\u2028line", "nbsp\u00a0nbsp",
    "\ufeffbom", "1", "0", "-5", "null", "x" * 200,
)  # fmt: skip
REPORTS = tuple(f">{label[:199]}" for label in LABELS)
SECRET = "my-HIV-status: positive"
PROGRAMS = ("python", "javascript", "c", "rust", "java")
TOOLS = {"python": (), "javascript": ("node",), "c": ("gcc",), "rust": ("rustc",), "java": ("javac", "java")}


def table_of(inputs: tuple[str, ...] | None, outputs: tuple[str, ...] | None, count: int) -> Table:
    """Codes are not the places of labels, so that the two are never confused unseen."""
    points = Finite(tuple(10.0 * i - 5 for i in range(count)))
    return make_table(catalogue.randomised_response(EPSILON, points), labels=Labels(inputs, outputs), bits=62)


@pytest.fixture(scope="module")
def nasty() -> Table:
    return table_of(LABELS, REPORTS, len(LABELS))


def run(command: list[str], folder: Path, text: str = "") -> str:
    done = subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True, timeout=120, check=False)
    return (done.stdout + done.stderr).strip()


# -- programs that read an input a line, as the hexadecimal digits of its UTF-8, and write reports alike ---------------

PYTHON = r"""import sys
import @stem@ as sampler
for line in sys.stdin:
    x = bytes.fromhex(line).decode()
    try:
        y = sampler.sample(x if @text_in@ else float(x), lambda n: bytes([128]) * n)
        print(str(y).encode().hex())
    except ValueError as error:
        print("error:", error)
"""

JAVASCRIPT = r"""import { readFileSync } from "node:fs";
import { sample } from "./@stem@.mjs";
for (const line of readFileSync(0, "utf8").split("\n").slice(0, -1)) {
  const x = Buffer.from(line, "hex").toString("utf8");
  try {
    const y = sample(@text_in@ ? x : Number(x), (bytes) => bytes.fill(128));
    console.log(Buffer.from(@text_out@ ? y : y.toFixed(1), "utf8").toString("hex"));
  } catch (error) {
    console.log(error instanceof RangeError ? "error: " + error.message : String(error));
  }
}
"""

C = r"""#include "@stem@.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char line[4096], label[2048], text[2048];
static int fill(void *state, unsigned char *bytes, size_t count) {
    (void)state;
    memset(bytes, 128, count);
    return 0;
}
int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        size_t i, length = strcspn(line, "\n") / 2;
        @c_type@ y;
        for (i = 0; i < length; i++) {
            unsigned int byte;
            if (sscanf(line + 2 * i, "%2x", &byte) != 1) return 1;
            label[i] = (char)byte;
        }
        label[length] = 0;
        if (@stem@_from(@c_in@, fill, NULL, &y)) {
            puts("error: ");
            continue;
        }
        snprintf(text, sizeof text, @c_out@, y);
        for (i = 0; text[i]; i++) printf("%02x", (unsigned int)(unsigned char)text[i]);
        puts("");
    }
    return 0;
}
"""

RUST = r"""#[path = "@stem@.rs"]
#[allow(dead_code)]
mod sampler;
fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let bytes = (0..line.len() / 2).map(|i| u8::from_str_radix(&line[2 * i..2 * i + 2], 16).unwrap()).collect();
        let label = String::from_utf8(bytes).unwrap();
        let mut fill = |bytes: &mut [u8]| {
            bytes.fill(128);
            Ok(())
        };
        match sampler::sample_from(@rust_in@, &mut fill) {
            Ok(y) => println!("{}", format!(@rust_out@, y).bytes().map(|b| format!("{b:02x}")).collect::<String>()),
            Err(error) => println!("error: {error:?}"),
        }
    }
}
"""

JAVA = r"""import java.nio.charset.StandardCharsets;
import java.util.Arrays;
public class Main {
    public static void main(String[] a) {
        java.util.Scanner lines = new java.util.Scanner(System.in);
        while (lines.hasNextLine()) {
            String line = lines.nextLine();
            byte[] bytes = new byte[line.length() / 2];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) Integer.parseInt(line.substring(2 * i, 2 * i + 2), 16);
            }
            String label = new String(bytes, StandardCharsets.UTF_8);
            try {
                String y = "" + @name@.sample(@java_in@, target -> Arrays.fill(target, (byte) 128));
                StringBuilder out = new StringBuilder();
                for (byte one : y.getBytes(StandardCharsets.UTF_8)) out.append(String.format("%02x", one));
                System.out.println(out);
            } catch (IllegalArgumentException error) {
                System.out.println("error: " + error.getMessage());
            }
        }
    }
}
"""

DRIVERS = {
    "python": ("main.py", PYTHON),
    "javascript": ("main.mjs", JAVASCRIPT),
    "c": ("main.c", C),
    "rust": ("main.rs", RUST),
    "java": ("Main.java", JAVA),
}


def asker(table: Table, language: str, folder: Path) -> Callable[[list[str]], list[str]]:
    """A program compiled with every warning an error, and asked with the bytes 0x80 for all randomness."""
    for tool in TOOLS[language]:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    plan = plan_of(table.document)
    export_table(table, language, folder, cases=2)
    text_in, text_out = plan.input_labels is not None, plan.output_labels is not None
    truth = ("True", "False") if language == "python" else ("true", "false")
    places = {
        "stem": plan.stem,
        "name": f"Sampler_{plan.sha256[:8]}",
        "text_in": truth[not text_in],
        "text_out": truth[not text_out],
        "c_type": "const char *" if text_out else "double",
        "c_in": "label" if text_in else "atof(label)",
        "c_out": '"%s"' if text_out else '"%.1f"',
        "rust_in": "&label" if text_in else "label.parse().unwrap()",
        "rust_out": '"{}"' if text_out else '"{:?}"',
        "java_in": "label" if text_in else "Double.parseDouble(label)",
    }
    name, text = DRIVERS[language]
    for place, value in places.items():
        text = text.replace(f"@{place}@", value)
    (folder / name).write_text(text)
    strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
    steps = {
        "python": [[sys.executable, name]],
        "javascript": [["node", name]],
        "c": [[*strict, name, f"{plan.stem}.c", "-o", "main"], ["./main"]],
        "rust": [["rustc", "--edition", "2021", "-D", "warnings", name, "-o", "main"], ["./main"]],
        "java": [["javac", "-Xlint:all", "-Werror", name, f"Sampler_{plan.sha256[:8]}.java"], ["java", "Main"]],
    }
    *build, start = steps[language]
    for command in build:
        assert run(command, folder) == ""

    def ask(inputs: list[str]) -> list[str]:
        said = run(start, folder, "".join(f"{text.encode().hex()}\n" for text in inputs)).split("\n")
        return [line if line.startswith("error") else bytes.fromhex(line).decode() for line in said]

    return ask


@pytest.mark.parametrize("language", PROGRAMS)
def test_programs_take_and_give_every_text(nasty: Table, language: str, tmp_path: Path) -> None:
    ask = asker(nasty, language, tmp_path)
    assert ask(list(LABELS)) == list(REPORTS)
    unknown = [SECRET, "", "No", "no ", "2", "5.0", ">no", "-5.0", "\u00c3\u00a9"]
    said = ask(unknown)
    assert len(said) == len(unknown)
    assert all(line.startswith("error") for line in said)
    assert not any("HIV" in line for line in said)


@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_one_side_may_have_labels_and_the_other_numbers(side: str, language: str, tmp_path: Path) -> None:
    names, numbers = ("no", "it's"), ("-5.0", "5.0")
    table = table_of(names if side == "inputs" else None, names if side == "outputs" else None, 2)
    ask = asker(table, language, tmp_path)
    asked, expected = (names, numbers) if side == "inputs" else (numbers, names)
    assert ask(list(asked)) == list(expected)
    assert ask(["7.0"])[0].startswith("error")


@pytest.mark.parametrize("language", PROGRAMS)
def test_numbers_as_labels_mean_the_label_and_not_the_place(language: str, tmp_path: Path) -> None:
    table = table_of(("1", "0", "-5"), ("1", "0", "-5"), 3)
    assert asker(table, language, tmp_path)(["1", "0", "-5"]) == ["1", "0", "-5"]


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_number_is_not_taken_for_a_label(nasty: Table, language: str, tmp_path: Path) -> None:
    if language == "javascript" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    stem = plan_of(nasty.document).stem
    export_table(nasty, language, tmp_path, cases=1)
    (tmp_path / "ask.py").write_text(
        f"import {stem} as s\ntry:\n    s.sample(-5.0)\nexcept TypeError as error:\n    print(error)\n"
    )
    (tmp_path / "ask.mjs").write_text(
        f'import {{ sample }} from "./{stem}.mjs";\n'
        "try { sample(-5); } catch (error) { if (error instanceof TypeError) console.log(error.message); }\n"
    )
    command = [sys.executable, "ask.py"] if language == "python" else ["node", "ask.mjs"]
    assert run(command, tmp_path) == "the input must be a text, one of INPUT_LABELS"


@pytest.mark.parametrize("language", LANGUAGES)
def test_sources_are_ascii_and_hold_no_label_that_could_end_a_literal(
    nasty: Table, language: str, tmp_path: Path
) -> None:
    for path in export_table(nasty, language, tmp_path, cases=1):
        text = path.read_text()
        assert text.isascii()
        assert not any(part in text for part in ("; DROP", "</script>", "??/", "${x}"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_sources_say_what_goes_in_and_what_comes_out(nasty: Table, language: str, tmp_path: Path) -> None:
    written = export_table(nasty, language, tmp_path, cases=1)
    silent = (
        ".txt",
        ".c",
        *([".py"] if language == "sql" else []),
    )  # DuckDB registers any table alike
    said = [path for path in written if "replay" not in path.name.lower() and path.suffix not in silent]
    for path in said:
        text = path.read_text()
        assert f"one of the {len(LABELS)} input labels" in text
        assert f"one of the {len(LABELS)} output labels" in text
    assert said


def test_names_of_constants_are_different_and_plain() -> None:
    names = texts.constant_names("INPUT", LABELS)
    assert len(set(names)) == len(LABELS)
    assert all(name.isascii() and name.isidentifier() and len(name) <= 60 for name in names)


def test_labels_that_look_alike_are_different_literals() -> None:
    languages = (texts.python_text, texts.braced_text, texts.java_text, texts.c_text, texts.postgresql_text)
    for write in (*languages, texts.duckdb_text):
        assert all(write(one) != write(other) for one, other in itertools.combinations(LABELS, 2))


def test_c_names_the_places_of_labels(nasty: Table, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    stem = plan_of(nasty.document).stem
    export_table(nasty, "c", tmp_path, cases=1)
    upper = stem.upper()
    (tmp_path / "main.c").write_text(
        f'#include "{stem}.h"\n#include <stdio.h>\nint main(void) {{\n'
        f'    printf("%s %s %d", {stem}_input_labels[{upper}_INPUT_2_NEITHER_NOR],\n'
        f"        {stem}_output_labels[{upper}_OUTPUT_0_NO], {stem}(NULL, NULL));\n    return 0;\n}}\n"
    )
    assert run(["gcc", "-Wall", "-Werror", "main.c", f"{stem}.c", "-o", "main"], tmp_path) == ""
    assert run(["./main"], tmp_path) == "neither, nor >no 1"


# -- databases and libraries -------------------------------------------------------------------------------------------

SIDES = [(True, True), (True, False), (False, True)]


@pytest.mark.parametrize(("inputs", "outputs"), SIDES)
def test_duckdb_takes_and_gives_labels(inputs: bool, outputs: bool) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the Python package duckdb is not installed")
    table = table_of(LABELS if inputs else None, REPORTS if outputs else None, len(LABELS))
    plan = plan_of(table.document)
    points = plan.inputs.points
    with duckdb.connect() as connection:
        connection.create_function("os_random", os.urandom, ["BIGINT"], "BLOB", side_effects=True)
        connection.execute(duckdb_sources.sources(plan, [])[f"{plan.stem}.duckdb.sql"])
        kind = "VARCHAR" if inputs else "DOUBLE"
        query = f"SELECT {plan.stem}(x, os_random({plan.stem}_bytes())) FROM (SELECT unnest(?::{kind}[]) AS x)"
        said = connection.execute(query, [list(LABELS if inputs else points)]).fetchall()
        assert [row[0] for row in said] == list(REPORTS if outputs else points)
        for wrong in (SECRET, None) if inputs else (-6.0, None):
            with pytest.raises(duckdb.Error, match="the input must") as caught:
                connection.execute(query, [[wrong]]).fetchall()
            assert "HIV" not in str(caught.value)


@pytest.mark.parametrize(("inputs", "outputs"), SIDES)
def test_postgresql_takes_and_gives_labels(postgresql: Any, inputs: bool, outputs: bool) -> None:
    """Labels go to the server and come back as their bytes, so that this test has no escapes of its own."""
    table = table_of(LABELS if inputs else None, REPORTS if outputs else None, len(LABELS))
    plan = plan_of(table.document)
    points = [f"{point:.0f}" for point in plan.inputs.points]
    assert postgresql.query(postgresql_sources.sources(plan, [])[f"{plan.stem}.postgresql.sql"]) == ""
    labels = [f"convert_from('\\x{text.encode().hex()}', 'UTF8')" for text in LABELS]
    given = "encode(convert_to(y, 'UTF8'), 'hex')" if outputs else "y"
    asked = ", ".join(labels if inputs else points)
    query = f"SELECT {given} FROM (SELECT {plan.stem}(x) AS y FROM unnest(ARRAY[{asked}]) AS t(x)) AS r;"
    assert postgresql.query(query).split() == ([text.encode().hex() for text in REPORTS] if outputs else points)
    for wrong in ("NULL", f"'{SECRET}'") if inputs else ("NULL", "-6"):
        said = postgresql.query(f"SELECT {plan.stem}({wrong});")
        assert "the input must" in said
        assert "HIV" not in said


def test_opendp_measures_labels(nasty: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dp = pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    export_table(nasty, "opendp", tmp_path, cases=1)
    monkeypatch.syspath_prepend(str(tmp_path))
    dp.enable_features("contrib", "honest-but-curious")
    measurement = import_module(f"{plan_of(nasty.document).stem}_opendp").make_measurement()
    assert measurement.map(1) == EPSILON
    assert [measurement(label) for label in LABELS] == list(REPORTS)
    with pytest.raises(dp.OpenDPException) as caught:
        measurement(SECRET)
    assert "HIV" not in str(caught.value)
