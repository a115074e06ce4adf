"""Envelopes that packages write: their vectors are Python's bytes, what they write is read back, and who they are of.

That runtimes reproduce the vectors is tested where packages are built, by the ecosystems' own tests
(``tests/runtimes``).
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import PACKAGED, Labels, Table, export_package, make_table, package_difference
from mechdesign.tables.export.folder import package_texts
from mechdesign.tables.reports import Attribute, Collection, Collector, Envelope, Store, Subject, payload_of
from mechdesign.words.domains import Finite

EPOCH = date(1970, 1, 1)
NAMES = {"swift": "Survey", "kotlin": "com.example.survey", "java": "com.example.survey"}
WRITING = [language for language in PACKAGED if language != "sql"]
"""Warehouses hold what they draw: packages for them have no envelopes."""


@pytest.fixture(scope="module")
def numbers() -> dict[str, Table]:
    """Reports that are labels, listed numbers of one byte and of two, and any numbers."""
    labels = Labels(("no", "rather $not", "yes"), ("n", '"r"', "ä"))
    return {
        "smokes": make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), labels=labels),
        "mood": make_table(catalogue.duchi(1.0)),
        "steps": make_table(
            Discrete(1.0, Finite((0, 1)), Finite(tuple(range(300))), np.full((2, 300), 1 / 300), "flat")
        ),
        "age": make_table(catalogue.pm(1.0), 32),
        "noise": make_table(catalogue.laplace(1.0), 16),
    }


@pytest.fixture(scope="module")
def tables(numbers: dict[str, Table]) -> dict[str, Table]:
    return numbers | {"fruit": protocol_table("oue", 1.0, 12), "pets": protocol_table("ss", 1.0, ("cat", "dog", "no"))}


@pytest.fixture(scope="module")
def study(tables: dict[str, Table]) -> Collection:
    return Collection("study", "split", [Attribute(name, table) for name, table in tables.items()])


def vectors(texts: dict[str, str], name: str) -> list[list[str]]:
    (text,) = (text for path, text in texts.items() if Path(path).name == f"{name}_envelopes.txt")
    return [line.split() for line in text.splitlines() if not line.startswith("#")]


def output_of(table: Table, digits: str) -> object:
    """The output that the report of a vector is."""
    names = table.output_names
    if payload_of(table).kind == "bytes":
        return bytes.fromhex(digits)
    return struct.unpack(">d", bytes.fromhex(digits))[0] if names is None else bytes.fromhex(digits).decode()


@pytest.mark.parametrize("of", ["tables", "collection"])
def test_envelopes_of_vectors_hold_the_report_day_and_nonce_that_they_are_made_of(
    tables: dict[str, Table], study: Collection, of: str
) -> None:
    texts = package_texts(tables if of == "tables" else study, "rust", "survey", cases=20)
    for number, (name, table) in enumerate(tables.items()):
        made = [line for line in vectors(texts, name) if line[3] != "error"]
        assert len(made) > 1
        for report, day, nonce, content in made:
            envelope = Envelope.read(bytes.fromhex(content))
            assert envelope.subject == (Subject(table.sha256) if of == "tables" else study.subject(number))
            assert (envelope.expires, envelope.nonce.hex()) == (EPOCH + timedelta(days=int(day)), nonce)
            output = payload_of(table).read(envelope.report, table)
            given = output_of(table, report)
            if table.output_names is not None:
                assert table.output_names.labels([output])[0] == given
            else:
                assert bytes(output) == given if isinstance(given, bytes) else output == given


def test_vectors_have_both_ends_of_the_days_and_both_bytes_of_a_place(tables: dict[str, Table]) -> None:
    texts = package_texts(tables, "rust", "survey", cases=20)
    made = [Envelope.read(bytes.fromhex(line[3])) for line in vectors(texts, "steps") if line[3] != "error"]
    assert {envelope.report for envelope in made} >= {b"\x00\x00", b"\xff\x00", b"\x00\x01", b"\x2b\x01"}
    assert {envelope.expires for envelope in made} >= {EPOCH, date.max}
    assert len({envelope.nonce for envelope in made}) == len(made)
    refused = [line for line in vectors(texts, "age") if line[3] == "error"]
    assert int(refused[0][1]) == (date.max - EPOCH).days + 1
    assert {line[0][:3] for line in refused[1:]} == {"7ff", "fff"}  # no numbers, and none that is finite


@pytest.mark.parametrize("language", PACKAGED)
def test_packages_for_devices_have_a_writer_a_test_and_vectors_for_every_table(
    tables: dict[str, Table], language: str
) -> None:
    texts = package_texts(tables, language, NAMES.get(language, "survey"), cases=2)
    found = [path for path in texts if "nvelope" in path]
    assert bool(found) == (language in WRITING)
    assert ("envelope" in texts["README.md"]) == (language in WRITING)
    if found:
        assert all(vectors(texts, name) for name in tables)


@pytest.mark.parametrize("language", WRITING)
def test_a_package_of_a_collection_says_so_and_its_envelopes_are_of_it(
    numbers: dict[str, Table], language: str, tmp_path: Path
) -> None:
    parts = {name: numbers[name] for name in ("smokes", "mood")}
    whole = Collection("study", "split", [Attribute(name, table) for name, table in parts.items()])
    folder = tmp_path / "made"
    export_package(whole, language, NAMES.get(language, "survey"), folder)
    assert json.loads((folder / "mechdesign-package.json").read_text())["collection"] == whole.sha256
    assert (folder / "collection.json").read_bytes() == whole.content
    assert package_difference(numbers["mood"], folder) is None
    for number, name in enumerate(parts):
        (text,) = (path.read_text() for path in folder.rglob(f"{name}_envelopes.txt"))
        made = [line.split()[3] for line in text.splitlines() if not line.startswith("#")]
        subjects = {Envelope.read(bytes.fromhex(content)).subject for content in made if content != "error"}
        assert subjects == {whole.subject(number)}


def test_a_package_whose_collection_was_changed_is_seen(numbers: dict[str, Table], tmp_path: Path) -> None:
    folder = tmp_path / "made"
    parts = [Attribute(name, numbers[name]) for name in ("smokes", "age")]
    export_package(Collection("study", "split", parts), "c", "survey", folder)
    other = Collection("another", "split", parts)
    (folder / "collection.json").write_bytes(other.content)
    found = package_difference(numbers["age"], folder)
    assert found is not None
    assert (found.path, found.rule) == ("collection.json", "is another collection than the manifest names")
    (folder / "collection.json").unlink()
    found = package_difference(numbers["age"], folder)
    assert found is not None
    assert found.rule.startswith("is no collection")


def test_a_collection_of_which_one_question_is_drawn_is_refused(numbers: dict[str, Table], tmp_path: Path) -> None:
    parts = [Attribute(name, table) for name, table in numbers.items()]
    with pytest.raises(InvalidInput, match="have a report of every attribute from each person"):
        export_package(Collection("study", "sample", parts), "c", "survey", tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["envelope", "envelopes", "smokes_envelope", "smokes_envelope_"])
def test_a_table_is_not_called_as_another_one_s_envelopes(numbers: dict[str, Table], name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not end with envelope or envelopes"):
        export_package({"smokes": numbers["smokes"], name: numbers["age"]}, "c", "survey", tmp_path / "made")


# -- what devices write, the collector takes ---------------------------------------------------------------------------

EACH = 50

IN_NODE = f"""
import * as all from "./index.mjs";
const inputs = {{ smokes: "yes", mood: 0.5, steps: 1, age: 0.25, noise: 0.5, fruit: 3, pets: "dog" }};
for (const [name, x] of Object.entries(inputs))
  for (let i = 0; i < {EACH}; i++)
    console.log(Buffer.from(all.envelopes[name](all[name].sample(x), 40000)).toString("base64"));
for (const wrong of ["", "maybe", null, 0, undefined]) {{
  let error = null;
  try {{ all.envelopes.smokes(wrong, 1); }} catch (found) {{ error = found; }}
  if (!(error instanceof RangeError)) console.log("no error");
}}
for (const day of [-1, 0.5, 2932897, "1", NaN, 4e12]) {{
  let error = null;
  try {{ all.envelopes.smokes("n", day); }} catch (found) {{ error = found; }}
  if (!(error instanceof RangeError)) console.log("no error");
}}
for (const wrong of [new Uint8Array(1), [1, 2], "ab"]) {{
  let error = null;
  try {{ all.envelopes.fruit(wrong, 1); }} catch (found) {{ error = found; }}
  if (!(error instanceof RangeError)) console.log("no error");
}}
"""

IN_PYTHON = f"""
import base64, survey
inputs = {{"smokes": "yes", "mood": 0.5, "steps": 1, "age": 0.25, "noise": 0.5, "fruit": 3, "pets": "dog"}}
for name, x in inputs.items():
    for _ in range({EACH}):
        report = getattr(survey, name).sample(x)
        print(base64.b64encode(getattr(survey.envelopes, name)(report, 40000)).decode())
wrong = [("smokes", "maybe", 1), ("smokes", None, 1), ("age", "1", 1), ("age", True, 1), ("fruit", b"a", 1)]
wrong += [("smokes", "n", day) for day in (-1, True, 0.5, 2932897, "1", None)]
for name, report, day in wrong:
    try:
        getattr(survey.envelopes, name)(report, day)
        print("no error")
    except ValueError:
        pass
"""

IN_C = """
#include <stdio.h>
#include <survey.h>

static int say(const char *json, size_t length, const mdp_subject *subject, const char *label, double x) {
    static unsigned char envelope[4096];
    mdp_table *table;
    mdp_report report;
    size_t i, count;
    int n;
    if (mdp_table_read(json, length, &table)) return 1;
    for (n = 0; n < EACH; n++) {
        if (label ? mdp_sample_label(table, label, &report) : mdp_sample(table, x, &report)) return 1;
        if (mdp_envelope(table, subject, &report, 40000, envelope)) return 1;
        count = mdp_envelope_size(table);
        for (i = 0; i < count; i++) printf("%02x", envelope[i]);
        puts("");
    }
    mdp_table_free(table);
    return 0;
}

int main(void) {
    return CALLS;
}
"""
INPUTS = {"smokes": "yes", "mood": 0.5, "steps": 1, "age": 0.25, "noise": 0.5, "fruit": 3, "pets": "dog"}


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def run(command: list[str], folder: Path, **more: str) -> list[bytes]:
    """The lines that a command prints."""
    environment = {**os.environ, **more}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.splitlines(keepends=True)


def assert_taken_once(study: Collection, lines: list[bytes], folder: Path) -> None:
    """All count, for each attribute as many, until the day they say; and none a second time."""
    with Store(folder / "store", new=True) as store:
        collector = Collector(store, [study], today=EPOCH + timedelta(days=40000))
        assert collector.take(lines).accepted == len(lines) == EACH * len(study.attributes)
        assert [store.waiting(subject) for subject in collector.questions] == [EACH] * len(study.attributes)
        assert collector.take(lines).refused["repeated"] == len(lines)
        late = Collector(store, [study], today=EPOCH + timedelta(days=40001))
        assert late.take(lines).refused["expired"] == len(lines)


def test_the_collector_takes_what_the_npm_package_writes(study: Collection, tmp_path: Path) -> None:
    needs("node")
    export_package(study, "typescript", "survey", tmp_path / "made", cases=0)
    (tmp_path / "made" / "people.mjs").write_text(IN_NODE)
    assert_taken_once(study, run(["node", "people.mjs"], tmp_path / "made"), tmp_path)


def test_the_collector_takes_what_the_python_package_writes(study: Collection, tmp_path: Path) -> None:
    export_package(study, "python", "survey", tmp_path / "made", cases=0)
    lines = run([sys.executable, "-c", IN_PYTHON], tmp_path, PYTHONPATH=str(tmp_path / "made" / "src"))
    assert_taken_once(study, lines, tmp_path)


def test_the_collector_takes_what_the_c_package_writes(study: Collection, tmp_path: Path) -> None:
    needs("gcc", "make", "ar")
    export_package(study, "c", "survey", tmp_path / "made", cases=0)
    calls = (
        f"say(survey_{name}_json, survey_{name}_length, &survey_{name}_subject, "
        + (f'"{x}", 0)' if isinstance(x, str) else f"NULL, {x})")
        for name, x in INPUTS.items()
    )
    text = IN_C.replace("EACH", str(EACH)).replace("CALLS", " | ".join(calls))
    (tmp_path / "made" / "people.c").write_text(text)
    run(["make", "-s", "CC=gcc"], tmp_path / "made")
    run(["gcc", "-Iinclude", "people.c", "libsurvey.a", "-pthread", "-o", "people"], tmp_path / "made")
    found = run(["./people"], tmp_path / "made")
    assert_taken_once(study, [Envelope.read(bytes.fromhex(line.decode())).line for line in found], tmp_path)
