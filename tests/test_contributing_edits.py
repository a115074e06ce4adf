"""The worked examples of CONTRIBUTING.md that edit files are carried out in a copy of the package, and used there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHAPTERS: dict[str, str] = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
WORD = "A new word"
PROTOCOL = "A new frequency protocol, start to bench and table"
TABLE = "A new kind of table"

Run = Callable[..., str]


def new_files(chapter: str) -> list[tuple[str, str]]:
    return re.findall(r"```python\n# (mechdesign/\S+\.py)\n(.*?)```", CHAPTERS[chapter], re.DOTALL)


def edits(chapter: str) -> list[tuple[str, str, str]]:
    """Path, the lines as they are, and as they become."""
    found = re.findall(r"```diff\n--- (\S+)\n(.*?)```", CHAPTERS[chapter], re.DOTALL)
    return [
        (path, *("".join(line[1:] for line in body.splitlines(True) if line[0] in kept) for kept in (" -", " +")))
        for path, body in found
    ]


def programs(chapter: str) -> list[str]:
    """What is run and is no file."""
    blocks = re.findall(r"```python\n(.*?)```", CHAPTERS[chapter], re.DOTALL)
    return [block for block in blocks if not block.startswith("# mechdesign/")]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    """A copy of the package with the edits of a chapter, in which Python is run."""
    made: dict[str, Run] = {}

    def make(chapter: str) -> Run:
        folder = tmp_path_factory.mktemp("copy")
        ignored = shutil.ignore_patterns("__pycache__")
        for name in ("mechdesign", "solvers", "tests"):
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for name in ("pyproject.toml", "FORMAT.md"):
            shutil.copy(ROOT / name, folder)
        for path, code in new_files(chapter):
            assert not (folder / path).exists()
            (folder / path).write_text(code, encoding="utf-8")
        for path, old, new in edits(chapter):
            text = (folder / path).read_text(encoding="utf-8")
            assert text.count(old) == 1, f"{path}: the lines to change stand there {text.count(old)} times"
            (folder / path).write_text(text.replace(old, new), encoding="utf-8")

        def run(*arguments: str) -> str:
            paths = os.pathsep.join(map(str, (folder, folder / "solvers")))
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        assert str(folder) in run("-c", "import mechdesign; print(mechdesign.__file__)")
        return run

    def once(chapter: str) -> Run:
        if chapter not in made:
            made[chapter] = make(chapter)
        return made[chapter]

    return once


def passed_in(run: Run, *arguments: str) -> int:
    """How many tests pass in the copy."""
    said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments)
    return int(re.search(r"(\d+) passed", said)[1])  # type: ignore[index]


def test_a_word_takes_a_class_a_name_and_rows_of_one_test() -> None:
    assert not new_files(WORD)
    touched = {"mechdesign/words/pairs.py", "mechdesign/__init__.py", "tests/methods/test_fields_in_words.py"}
    assert {path for path, _, _ in edits(WORD)} == touched


@pytest.mark.slow
def test_the_word_of_the_page_is_answered_told_saved_and_shipped(edited: Callable[[str], Run]) -> None:
    run = edited(WORD)
    (program,) = programs(WORD)
    said = run("-c", program)
    assert "eps = 0.5 a step: average loss under the prior" in said
    assert "every pair of inputs keeps its own eps: from 0.5 to 3" in said
    assert "eps = 0.5 a step" in run("-m", "mechdesign", "show", "hours.json")
    tests = "tests/methods/test_fields_in_words.py", "mechdesign/words/pairs.py"
    assert passed_in(run, *tests, "-k", "cycle or Cycle or declared") >= 4


def test_a_protocol_takes_one_file_and_two_registries() -> None:
    assert [path for path, _ in new_files(PROTOCOL)] == ["mechdesign/studies/frequencies/protocols/plane.py"]
    touched = {path for path, _, _ in edits(PROTOCOL)}
    assert touched == {
        "mechdesign/studies/frequencies/protocols/catalogue.py",
        "mechdesign/studies/frequencies/protocols/glossary.toml",
    }


@pytest.mark.slow
def test_the_protocol_of_the_page_passes_the_tests_of_all_protocols(edited: Callable[[str], Run]) -> None:
    tests = (
        "tests/studies/frequencies/protocols",
        "tests/studies/frequencies/test_reports.py",
        "tests/studies/frequencies/test_survey.py",
    )
    run = edited(PROTOCOL)
    assert (
        passed_in(
            run, *tests, "tests/test_glossary.py", "mechdesign/studies/frequencies/protocols/plane.py", "-k", "plane"
        )
        >= 100
    )


@pytest.mark.slow
def test_the_protocol_of_the_page_is_known_to_the_commands_and_becomes_a_table(edited: Callable[[str], Run]) -> None:
    run = edited(PROTOCOL)
    assert "PLANE" in run("-m", "mechdesign", "protocols", "--eps", "2.4", "--size", "100")
    run("-m", "mechdesign", "examples")
    command = "bench -e 2 -d categories.csv --column app -p plane,oue -m raw -r 2 -u mae --quiet"
    assert "plane" in run("-m", "mechdesign", *command.split())
    (program,) = programs(PROTOCOL)
    said = run("-c", program)
    assert "finite table 'projective plane'" in said
    assert "privacy loss: 0.99999" in said


def test_a_kind_of_table_takes_one_file_a_name_a_runtime_and_its_checks() -> None:
    assert [path for path, _ in new_files(TABLE)] == ["mechdesign/tables/kinds/cyclic.py"]
    tables, tests = "mechdesign/tables", ("tests/tables/conftest.py", "tests/tables/test_privacy_checker.py")
    runtime = "mechdesign/runtimes/python/mechdesign_runtime/__init__.py"
    alone = {f"{tables}/checker.py", f"{tables}/privacy_checker.py", f"{tables}/table.schema.json"}
    assert {path for path, _, _ in edits(TABLE)} == {f"{tables}/kinds/__init__.py", runtime, *tests, *alone}


USE = """
import itertools, json, subprocess, sys
from fractions import Fraction
import numpy as np
import mechdesign as md
from mechdesign.tables import checker, privacy_checker, sample
from mechdesign.tables.export import export_table

law, size = table.law, len(table.law.counts)
assert md.load_table(table.save("t.json")) == table
assert privacy_checker.check(table.content) == 1
for i in range(size):  # every input has the chances asked for, turned
    shares = [float(mass / 2**32) for mass in law.row(float(i))]
    assert np.allclose(shares, np.roll([0.3, 0.2, 0.15, 0.15, 0.2], i), atol=1e-9)
    assert sum(law.row(float(i))) == 2**32
reports = sample(table, np.full(20000, 3.0))  # 20,000 reports: five standard deviations are 0.0162
assert abs((reports == 3).mean() - 0.3) < 0.0162
for change in range(size):  # one count moved to the next place, behind a new hash
    said = json.loads(table.content)
    said["law"]["counts"][change] += 2**31
    said["law"]["counts"][change - 1] -= 2**31
    body = {key: value for key, value in said.items() if key != "sha256"}
    said["sha256"] = __import__("hashlib").sha256(checker.canonical(body)).hexdigest()
    for reader in (checker, privacy_checker):
        try:
            reader.check(checker.canonical(said))
        except reader.Failed:
            continue
        raise AssertionError(reader.__name__)
for language in ("python", "sql"):
    assert export_table(table, language, language)
(vectors,) = __import__("pathlib").Path("python").glob("*_vectors.txt")
replay = md.tables.__path__[0] + "/../runtimes/python/replay.py"
subprocess.run([sys.executable, replay, vectors, "t.json"], check=True)
import jsonschema
schema = json.loads(md.tables.__spec__.loader.get_data(md.tables.__path__[0] + "/table.schema.json"))
jsonschema.validate(table.document, schema)
"""


@pytest.mark.slow
def test_a_table_of_the_kind_of_the_page_is_checked_sampled_and_exported(edited: Callable[[str], Run]) -> None:
    (program,) = programs(TABLE)
    said = edited(TABLE)("-c", program + USE)
    assert "cyclic table 'hours'" in said


@pytest.mark.slow
def test_the_kind_of_the_page_is_what_tables_ask_of_kinds(edited: Callable[[str], Run]) -> None:
    run = edited(TABLE)
    assert passed_in(run, "tests/tables/kinds/test_law.py", "-k", "checker or every_kind") >= 1
    of_each = ("checker", "estimators", "reference", "sampler", "table", "vectors")
    files = (f"tests/tables/test_{name}.py" for name in of_each)
    assert passed_in(run, *files, "-k", "cyclic", "-m", "not slow") >= 15
