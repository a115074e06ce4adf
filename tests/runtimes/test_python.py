"""The Python runtime: its own tests, packages by setuptools, OpenDP, 65,536 labels, the law, and changed numbers."""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scipy import stats

from mechdesign.mechanisms import catalogue
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import Labels, Table, export_package, export_table, load_table, make_table, sample
from mechdesign.tables.export.shared_vectors import FOLDER
from mechdesign.tables.vectors import Vector, refusals, vectors
from mechdesign.words.domains import Finite

RUNTIME = FOLDER.parent / "python"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt") if (FOLDER / f"{path.stem}_envelopes.txt").exists())
NAMES = [name for name in NAMES if not name.endswith("_device")]
DRAWS = 20_000
SEED = 11


def run(command: list[str], folder: Path, **more: str) -> str:
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def loaded(text: str) -> ModuleType:
    module = ModuleType("runtime")
    exec(compile(text, "runtime.py", "exec"), module.__dict__)
    return module


def whole() -> str:
    """The runtime with its device, as one module."""
    core, device = ((RUNTIME / "mechdesign_runtime" / f"{name}.py").read_text() for name in ("__init__", "device"))
    return core + re.sub(r"^from (__future__|\.) import .*\n", "", device, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def runtime() -> ModuleType:
    return loaded(whole())


def table_of(name: str) -> Table:
    return load_table(FOLDER / f"{name}.json")


# -- its own tests, and packages ---------------------------------------------------------------------------------------


def test_the_runtime_passes_its_own_tests() -> None:
    said = run([sys.executable, "-W", "error", "-m", "unittest"], RUNTIME, PYTHONDONTWRITEBYTECODE="1")
    assert "OK" in said


def test_a_runtime_is_small() -> None:
    assert (RUNTIME / "mechdesign_runtime" / "__init__.py").stat().st_size < 25_000
    assert len(whole()) < 34_000


@pytest.mark.parametrize("name", ["window", "labels"])
def test_the_replay_program_says_pass_and_names_the_case_that_differs(name: str, tmp_path: Path) -> None:
    for vectors_of, *files in (
        (f"{name}.txt", f"{name}.json"),
        (f"{name}_device.txt", f"{name}.json", *(["labels_again.json"] * (name == "labels")), f"{name}_device.json"),
        (f"{name}_envelopes.txt", f"{name}.json"),
    ):
        paths = [str(FOLDER / file) for file in files]
        rows = (FOLDER / vectors_of).read_text().splitlines()
        said = run([sys.executable, "replay.py", str(FOLDER / vectors_of), *paths], RUNTIME)
        assert said.strip() == f"PASS {len(rows) - 2}"
        (tmp_path / vectors_of).write_text("\n".join([*rows[:6], rows[6] + "0", *rows[7:]]))
        command = [sys.executable, "replay.py", str(tmp_path / vectors_of), *paths]
        done = subprocess.run(command, cwd=RUNTIME, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (1, "FAIL case 5")


@pytest.mark.parametrize("language", ["python", "opendp"])
def test_packages_as_setuptools_lays_them_out_pass_their_unit_tests(language: str, tmp_path: Path) -> None:
    if language == "opendp":
        pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    tables = {name: table_of(name) for name in ("labels", "window", "unary", "response")}
    folder = tmp_path / "made"
    export_package(tables, language, "survey", folder)
    build = "from setuptools import setup; setup()"
    run([sys.executable, "-c", build, "-q", "build_py", "--build-lib", str(tmp_path / "lib")], folder)
    shutil.rmtree(folder / "src")
    path = {"PYTHONPATH": str(tmp_path / "lib")}
    command = [sys.executable, "-W", "error", "-m", "unittest", "discover", "tests"]
    assert "Ran 4 tests" in run(command, folder, **path)
    code = "import survey; assert survey.labels.sample('z') in survey.labels.output_labels"
    run([sys.executable, "-c", code], tmp_path, **path)


@pytest.mark.slow
def test_a_package_is_typed_for_strict_checkers(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    export_package({"labels": table_of("labels"), "unary": table_of("unary")}, "python", "survey", tmp_path / "made")
    (tmp_path / "app.py").write_text(
        "import survey\nfrom typing import Literal\n"
        "answer: Literal['z'] = 'z'\nreport = survey.labels.sample(answer)\nsurvey.labels.sample('none')\n"
    )
    command = [sys.executable, "-m", "mypy", "app.py", "--strict", "--follow-imports=silent"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "MYPYPATH": "made/src"}, capture_output=True, text=True, check=False
    )
    assert "app.py:5: error: Argument 1" in done.stdout
    assert done.stdout.count("error:") == done.stdout.count("app.py:5: error:"), done.stdout


def test_most_labels_are_taken_and_given(tmp_path: Path) -> None:
    labels = tuple(f"label {i}" for i in range(65_536))
    table = protocol_table("olh", 1.0, labels)
    export_table(table, "python", tmp_path, cases=0)
    (source,) = tmp_path.glob("*.py")
    spec = importlib.util.spec_from_file_location("sampler", source)
    assert spec is not None
    assert spec.loader is not None
    sampler = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sampler)
    assert len(sampler.sample(labels[-1])) == table.law.report_bytes
    with pytest.raises(ValueError, match="be one of input_labels"):
        sampler.sample("label 65536")


@pytest.mark.parametrize("name", ["finite", "labels", "unary"])
def test_opendp_measures_with_the_epsilon_of_the_table(name: str, tmp_path: Path) -> None:
    dp = pytest.importorskip("opendp.prelude", reason="the Python package opendp is not installed")
    dp.enable_features("contrib", "honest-but-curious")
    table = table_of(name)
    export_table(table, "opendp", tmp_path, cases=0)
    (source,) = tmp_path.glob("*.py")
    measurement = loaded(source.read_text()).make_measurement()
    assert measurement.map(0) == 0
    assert Fraction(measurement.map(1)) >= table.epsilon > Fraction(math.nextafter(measurement.map(1), 0))
    x = {"finite": 0.0, "labels": "z", "unary": 3}[name]
    said = {measurement(x) for _ in range(100)}
    if name == "unary":
        assert {len(bytes.fromhex(report)) for report in said} == {2}
    else:
        assert said <= set(table.labels.outputs or table.law.outputs)
    with pytest.raises(dp.OpenDPException):
        measurement({"finite": 0.5, "labels": "none", "unary": 9}[name])


def test_labels_that_could_end_a_literal_do_not(tmp_path: Path) -> None:
    labels = ("'", '"', '"""', "\\", "\\N{BULLET}", "{{ x }}", "#", "\u00e9", "\U0001f600", "\u2028", "\x7f".strip())
    labels = tuple(label for label in labels if label.isprintable())
    table = make_table(
        catalogue.randomised_response(20.0, Finite(tuple(range(len(labels))))), 62, labels=Labels(labels, labels)
    )
    export_table(table, "python", tmp_path, cases=0)
    (source,) = tmp_path.glob("*.py")
    assert source.read_text().isascii()
    module = loaded(source.read_text())
    assert [module.sample(label) for label in labels] == list(labels)  # another one with a chance below 1e-6
    export_package({"t": table}, "python", "survey", tmp_path / "made", cases=0)
    ast.parse((tmp_path / "made" / "src" / "survey" / "__init__.pyi").read_text())


# -- the law -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "row"), [("finite", 1), ("window", 0), ("labels", 3)])
def test_listed_reports_have_the_law_of_their_row(runtime: ModuleType, name: str, row: int) -> None:
    """Chi-square: false alarms with probability 1e-6."""
    table, drawing = table_of(name), runtime.Table(table_of(name).document)
    x = table.law.ends[0] if name == "window" else table.domain.points[row]
    weights = table.law.counts(0) if name == "window" else table.law.rows[row]
    counts = Counter(drawing.sample_code(x) for _ in range(DRAWS))
    observed = [counts[y] for y in table.law.outputs]
    assert sum(observed) == DRAWS
    assert stats.chisquare(observed, [DRAWS * count / sum(weights) for count in weights]).pvalue > 1e-6


@pytest.mark.parametrize("name", ["pieces", "circle", "additive", "unbiased"])
def test_spread_reports_agree_with_the_reference_sampler(runtime: ModuleType, name: str) -> None:
    """Kolmogorov and Smirnov for two samples: false alarms with probability 1e-6."""
    table, drawing = table_of(name), runtime.Table(table_of(name).document)
    lower, upper = table.law.ends
    x = lower + (upper - lower) / 3
    ours = [drawing.sample(x) for _ in range(DRAWS)]
    assert stats.ks_2samp(ours, sample(table, [x] * DRAWS)).pvalue > 1e-6


# -- changed numbers, comparisons and steps ----------------------------------------------------------------------------

SWAPS = {"<": ["<=", ">"], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "+": ["-"], "-": ["+"], "%": ["//"]}
SWAPS |= {"//": ["%"], "<<": [">>"], ">>": ["<<"], "^": ["|"], "&": ["|"], "|": ["&"], "!=": ["=="]}


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """Sources with one number, comparison or operator changed in what draws, reads and keeps, and the line.

    What only refuses files is tested on changed files, by the runtime's own tests.
    """
    lines = text.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines, 1) if line.startswith("def draw("))
    last = next(i for i, line in enumerate(lines, 1) if line.startswith("def require_within"))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, column = token.start
        if not first <= row < last or re.search("->|raise |require|whole_number", token.line):
            continue
        others: list[str] = []
        if token.type == tokenize.NUMBER and re.fullmatch(r"\d+", token.string):
            others = [str(int(token.string) + 1)]
        elif token.type == tokenize.OP:
            others = SWAPS.get(token.string, [])
        for other in others:
            line = lines[row - 1]
            changed = line[:column] + other + line[column + len(token.string) :]
            yield "".join([*lines[: row - 1], changed, *lines[row:]]), line.strip()


def replayed(module: Any, cases: dict[str, tuple[dict[str, Any], list[Vector]]], devices: dict[str, Any]) -> bool:
    """Whether tables, devices and envelopes answer their vectors."""
    replay = loaded((RUNTIME / "replay.py").read_text().replace("from __future__ import annotations", ""))
    for name in cases:
        table = module.Table(cases[name][0])
        if replay.first_failure(module, FOLDER / f"{name}.txt", table) is not None:
            return False
        if replay.first_failure(module, FOLDER / f"{name}_envelopes.txt", table) is not None:
            return False
    for name, (document, *tables) in devices.items():
        device = module.Device(document, *map(module.Table, tables))
        if replay.first_failure(module, FOLDER / f"{name}_device.txt", device) is not None:
            return False
    return True


def answers(module: Any, name: str, every: list[Vector]) -> bool:
    """Whether the runtime answers these vectors of a table."""
    table = module.Table(dict(table_of(name).document))
    for vector in every:
        used = 0

        def read(count: int, vector: Vector = vector) -> bytes:
            nonlocal used
            used += count
            return vector.stream[used - count : used]

        if table.sample_code(vector.x, read) != vector.y or used != vector.used:
            return False
    return True


@pytest.mark.slow
def test_a_changed_runtime_fails_the_shared_vectors() -> None:
    """Of 200 changes those that pass all shared vectors answer as many other vectors of each table as before.

    What is left changes no report: how many bytes are set apart (which tests of the runtime see), what is refused when
    a file is read, steps that are one too many.
    """
    text = whole()
    tables = {name: table_of(name) for name in NAMES}
    cases = {name: (dict(table.document), []) for name, table in tables.items()}
    documents = {path.stem[:-7]: path for path in sorted(FOLDER.glob("*_device.json"))}
    devices: dict[str, Any] = {}
    for name, path in documents.items():
        document = json.loads(path.read_text())
        by_hash = {table.sha256: dict(table.document) for table in tables.values()}
        devices[name] = (
            document,
            by_hash[document["table"]],
            *([by_hash[document["again"]]] if document["again"] else []),
        )
    assert replayed(loaded(text), cases, devices)
    others = {name: list(vectors(tables[name], 30, b"others", most=0)) for name in NAMES}
    assert all(answers(loaded(text), name, every) for name, every in others.items())
    caught, missed = 0, []
    for changed, line in random.Random(SEED).sample(list(mutants(text)), 200):
        if not _in_time(lambda module: replayed(module, cases, devices), changed):
            caught += 1
        elif not _in_time(lambda module: all(answers(module, name, every) for name, every in others.items()), changed):
            missed.append(line)
    assert missed == []
    assert caught > 140


def _in_time(judge: Callable[[ModuleType], bool], text: str) -> bool:
    """What is said of a changed runtime; one that draws for ever, or goes wrong in another way, does not pass."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 20)
    try:
        return judge(loaded(text))
    except Exception:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# -- against the package -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_other_vectors_than_the_shared_ones_are_answered(runtime: ModuleType, name: str) -> None:
    table, drawing = table_of(name), runtime.Table(table_of(name).document)
    assert answers(runtime, name, list(vectors(table, 60, b"others", most=0)))
    for vector in refusals(table):
        with pytest.raises(ValueError, match="the input must"):
            drawing.sample_code(vector.x)
