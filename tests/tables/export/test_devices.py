"""Packages with a device: what is in them, and what is one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import PACKAGED, Table, export_package, make_table, package_difference
from mechdesign.tables.device import Device, losses_together
from mechdesign.tables.export.folder import package_texts
from mechdesign.tables.export.registry import STATEFUL
from mechdesign.tables.reports import Attribute, Collection, Envelope, Subject
from mechdesign.words.domains import Interval
from tests.oracles.device_reports import LABELS, response

NAMES = {"swift": "Survey", "kotlin": "com.example.survey", "java": "com.example.survey"}
TABLES = {"smokes": response(2.0, 3, LABELS), "again": response(1.0, 3, LABELS)}
DEVICE = Device(TABLES["smokes"], TABLES["again"], values=2, reports=5)


@lru_cache
def counting() -> tuple[dict[str, Table], Device]:
    """A device that only counts, over numbers."""
    table = make_table(catalogue.pm(1.0, Interval(-3, 7)), 16)
    return {"mood": table}, Device(table, None, values=0, reports=3)


def made(language: str, folder: Path, tables: dict[str, Table] = TABLES, device: Device = DEVICE) -> Path:
    export_package(tables, language, NAMES.get(language, "survey"), folder / "made", cases=3, device=device)
    return folder / "made"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Packages with all vectors of samplers, which `package_difference` compares with; each is written once."""

    @lru_cache
    def of(language: str) -> Path:
        folder = tmp_path_factory.mktemp(language) / "made"
        export_package(TABLES, language, NAMES.get(language, "survey"), folder, device=DEVICE)
        return folder

    return of


def copied(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / "made"))


# -- what is in it, and what is one ------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", STATEFUL)
def test_a_package_with_a_device_is_recognised_and_a_changed_line_of_it_named(
    kept: Callable[[str], Path], language: str, tmp_path: Path
) -> None:
    folder = copied(kept(language), tmp_path)
    assert package_difference(TABLES["smokes"], folder) is None
    source = next(path for path in sorted(folder.rglob("*.txt")) if "# test vectors of device" in path.read_text())
    source.write_text(source.read_text().replace("report", "create", 1))
    difference = package_difference(TABLES["again"], folder)
    assert difference is not None
    assert difference.path == source.relative_to(folder).as_posix()


@pytest.mark.parametrize("language", STATEFUL)
def test_a_package_says_what_reports_lose_and_what_a_lost_state_does(language: str) -> None:
    texts = package_texts(TABLES, language, NAMES.get(language, "survey"), cases=2, device=DEVICE)
    readme = texts["README.md"]
    assert all(f"| {loss.relation} | {loss.words} |" in readme for loss in losses_together(DEVICE))
    assert "| missing or damaged (a first start, cleared data, a new phone) | no report." in readme
    assert DEVICE.sha256 in readme
    assert texts["device.json"].encode() == DEVICE.content
    manifest = json.loads(texts["mechdesign-package.json"])
    assert manifest["device"] == {
        "file": "device.json",
        "table": "smokes",
        "again": "again",
        "sha256": DEVICE.sha256,
    }
    assert any("# test vectors of device" in text for text in texts.values())


@pytest.mark.parametrize("language", STATEFUL)
def test_a_package_says_that_the_state_holds_true_answers_in_clear(language: str) -> None:
    texts = package_texts(TABLES, language, NAMES.get(language, "survey"), cases=2, device=DEVICE)
    assert "**The state holds the person's true answers in clear**" in texts["README.md"]
    assert "What one person spends is what the reports of the device lose together" in texts["README.md"]
    assert "in all.**" not in texts["README.md"]


def test_a_device_that_only_counts_says_that_its_state_holds_no_answer() -> None:
    tables, device = counting()
    texts = package_texts(tables, "typescript", "survey", cases=2, device=device)
    assert "The state holds no answer: only counts." in texts["README.md"]


@pytest.mark.parametrize("language", STATEFUL)
def test_envelopes_of_a_package_with_a_device_are_of_it_and_those_of_its_first_table_of_the_table(
    language: str,
) -> None:
    texts = package_texts(TABLES, language, NAMES.get(language, "survey"), cases=3, device=DEVICE)
    subjects = {}
    for name in TABLES:
        (text,) = (text for path, text in texts.items() if Path(path).name == f"{name}_envelopes.txt")
        made = [line.split()[3] for line in text.splitlines() if not line.startswith("#")]
        subjects[name] = {Envelope.read(bytes.fromhex(content)).subject for content in made if content != "error"}
    assert subjects == {
        "smokes": {Subject(TABLES["smokes"].sha256)},
        "again": {Subject(DEVICE.sha256, is_device=True)},
    }
    assert "collect-reports --device device.json" in texts["README.md"]


def test_a_package_says_that_more_values_than_remembered_bias_estimates() -> None:
    one = Device(TABLES["smokes"], TABLES["again"], values=1, reports=5)
    all_of_them = Device(TABLES["smokes"], TABLES["again"], values=3, reports=5)
    said = [package_texts(TABLES, "c", "survey", cases=3, device=device)["README.md"] for device in (one, all_of_them)]
    assert ["bias every estimate" in text for text in said] == [True, False]


def test_a_device_that_only_counts_says_so() -> None:
    tables, device = counting()
    readme = package_texts(tables, "rust", "survey", cases=2, device=device)["README.md"]
    assert "It remembers nothing, so that every report is a fresh draw of `mood`" in readme
    assert "| full:" not in readme
    assert "between" in readme


def test_a_table_that_draws_twice_is_in_the_package_once() -> None:
    table = TABLES["smokes"]
    texts = package_texts({"smokes": table}, "python", "survey", cases=2, device=Device(table, table, 2, 5))
    assert [path for path in texts if path.startswith("tables/")] == ["tables/smokes.json"]
    assert json.loads(texts["mechdesign-package.json"])["device"]["again"] == "smokes"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda text: text.replace('"reports":5', '"reports":50'), "device.json"),
        (lambda text: text.replace('"reports":5', '"reports":"many"'), "device.json"),
        (lambda text: text.replace('"values":2', '"values":99999'), "device.json"),
        (lambda text: text[:-3], "device.json"),
        (lambda text: counting()[1].content.decode(), "device.json"),
        (lambda text: Device(TABLES["smokes"], TABLES["again"], 2, 6).content.decode(), "README.md"),
    ],
)
def test_a_device_file_in_a_package_is_decided_from_its_tables(
    kept: Callable[[str], Path], change: Callable[[str], str], path: str, tmp_path: Path
) -> None:
    folder = copied(kept("c"), tmp_path)
    file = folder / "device.json"
    file.write_text(change(file.read_text()))
    difference = package_difference(TABLES["smokes"], folder)
    assert difference is not None
    assert difference.path == path


def test_a_device_in_a_package_is_not_taken_out_of_its_manifest(kept: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied(kept("python"), tmp_path)
    (folder / "device.json").unlink()
    difference = package_difference(TABLES["smokes"], folder)
    assert difference is not None
    assert difference.path == "device.json"
    manifest = folder / "mechdesign-package.json"
    said = json.loads(manifest.read_text())
    del said["device"]
    manifest.write_text(json.dumps(said, indent=2) + "\n")
    difference = package_difference(TABLES["smokes"], folder)
    assert difference is not None
    assert difference.path == "README.md"


# -- what is none ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", sorted(set(PACKAGED) - set(STATEFUL)))
def test_a_language_without_a_state_is_refused_with_the_reason_and_the_next_step(language: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"where a device keeps a state: .*--to (swift|python|typescript)"):
        made(language, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "tables",
    [
        {"smokes": TABLES["smokes"]},
        {"again": TABLES["again"]},
        {**TABLES, "mood": response(0.5, 2)},
        {"smokes": TABLES["smokes"], "mood": response(0.5, 2)},
    ],
)
def test_other_tables_than_those_of_the_device_are_refused(tables: dict[str, Table], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="export a package for every question"):
        made("c", tmp_path, tables)


def test_a_collection_has_no_device_since_each_attribute_would_have_one(tmp_path: Path) -> None:
    collection = Collection("survey", "split", [Attribute(name, table) for name, table in TABLES.items()])
    with pytest.raises(InvalidInput, match="each attribute has a device of its own"):
        export_package(collection, "c", "survey", tmp_path / "made", device=DEVICE)


@pytest.mark.parametrize("name", ["smokes_device", "smokes_device_report", "device_test", "device_error"])
def test_a_table_may_not_be_called_as_a_part_of_the_device(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has already"):
        made("java", tmp_path, {"smokes": TABLES["smokes"], name: TABLES["again"]})
