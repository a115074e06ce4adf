"""Packages: what is in them, what they may be called, that they appear whole, and what is one."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.studies.frequencies import protocol_table
from mechdesign.tables import PACKAGED, Labels, Table, export_package, make_table, package_difference
from mechdesign.tables.export.folder import package_for, package_texts
from mechdesign.tables.export.registry import packaging_of
from mechdesign.tables.export.runtime import runtime, runtime_hash
from mechdesign.tables.reports import Attribute, Collection, Spending
from mechdesign.words.domains import Finite, Interval

ROOT = Path(__file__).parents[3]
RUNTIMES = ROOT / "mechdesign" / "runtimes"
NAMES = {"swift": "Survey", "kotlin": "com.example.survey", "java": "com.example.survey"}


def named(language: str) -> str:
    return NAMES.get(language, "survey")


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    labels = Labels(("no", "rather $not", "yes"), ("n", '"r"', "y"))
    return {
        "smokes": make_table(catalogue.randomised_response(1.0, Finite((0, 1, 2))), labels=labels),
        "age": make_table(catalogue.pm(1.0), 32),
    }


@pytest.mark.parametrize("language", PACKAGED)
def test_a_package_has_a_manifest_a_licence_a_readme_and_the_vectors_of_every_table(
    tables: dict[str, Table], language: str, tmp_path: Path
) -> None:
    folder = tmp_path / "made"
    written = export_package(tables, language, named(language), folder)
    assert sorted(written) == sorted(path for path in folder.rglob("*") if path.is_file())
    manifest = json.loads((folder / "mechdesign-package.json").read_text())
    assert manifest["tables"] == {name: table.sha256 for name, table in tables.items()}
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert all(table.sha256 in (folder / "README.md").read_text() for table in tables.values())
    found = [path.read_text() for path in written if path.suffix == ".txt"]
    for member in package_for(tables, language, named(language)).members:
        assert member.vectors in found or language == "sql"
    assert all((folder / "tables" / f"{name}.json").read_bytes() == table.content for name, table in tables.items())


@pytest.mark.parametrize("language", PACKAGED)
def test_packages_are_the_same_every_time_and_no_place_is_left_unfilled(
    tables: dict[str, Table], language: str
) -> None:
    texts = package_texts(tables, language, named(language), cases=2)
    assert texts == package_texts(tables, language, named(language), cases=2)
    assert [path for path, text in texts.items() if "{{" in text and "}}" in text and "{% " in text] == []


@pytest.mark.parametrize("language", sorted(set(PACKAGED) - {"sql"}))
def test_a_runtime_is_carried_as_it_stands_whatever_the_tables_and_the_manifest_has_its_hash(
    tables: dict[str, Table], language: str
) -> None:
    packaging = packaging_of(language)
    hashes = set()
    for of in (tables, {"age": tables["age"]}):
        carried = packaging.carried(package_for(of, language, named(language), 2))
        texts = package_texts(of, language, named(language), cases=2)
        assert all(texts[path].encode() == (RUNTIMES / source).read_bytes() for path, source in carried.items())
        hashes.add(json.loads(texts["mechdesign-package.json"])["runtime"])
    assert hashes == {runtime_hash(carried.values())}


def test_the_hash_of_a_runtime_is_that_of_the_listing_of_its_files() -> None:
    """As ``sha256sum FILE... | sha256sum`` says it."""
    paths = ["python/replay.py", "python/mechdesign_runtime/__init__.py"]
    listing = "".join(
        f"{hashlib.sha256((RUNTIMES / path).read_bytes()).hexdigest()}  {path}\n" for path in sorted(paths)
    )
    assert runtime_hash(paths) == hashlib.sha256(listing.encode()).hexdigest()
    assert runtime("python/replay.py").encode() == (RUNTIMES / "python" / "replay.py").read_bytes()


@pytest.mark.parametrize("language", PACKAGED)
def test_text_of_a_table_ends_no_literal_and_reaches_no_readme(language: str) -> None:
    hostile = "*/ \"\"\" ''' \n $$; DROP TABLE users; --"
    channel = Discrete(
        1.0, Finite((0, 1)), Finite((0, 1)), catalogue.randomised_response(1.0, Finite((0, 1))).probabilities, hostile
    )
    table = make_table(channel, provenance={"command": hostile})
    texts = package_texts({"t": table}, language, named(language), cases=2)
    assert all(hostile not in text for text in texts.values())  # nothing ends the literal of a table's file
    assert not any("DROP" in texts[path] for path in ("README.md", "mechdesign-package.json"))


@pytest.mark.parametrize(
    ("language", "name", "rule"),
    [
        ("typescript", "Survey", "be small letters, digits, dots"),
        ("typescript", "node_modules", "not have 'node_modules' in it"),
        ("typescript", "@a/fs", "not have 'fs' in it"),
        ("wasm", "../survey", "be small letters"),
        ("rust", "fn", "not have 'fn' in it"),
        ("rust", "std", "not have 'std' in it"),
        ("rust", "1st", "be a small letter"),
        ("python", "json", "not have 'json' in it"),
        ("python", "my-survey", "be a small letter, then small letters, digits and _"),
        ("opendp", "class", "not have 'class' in it"),
        ("opendp", "opendp", "not have 'opendp' in it"),
        ("java", "com.Example", "small letters and digits in parts"),
        ("java", "com.int.x", "not have 'int' in it"),
        ("kotlin", "com.fun.x", "not have 'fun' in it"),
        ("swift", "survey", "be a capital letter"),
        ("swift", "Foundation", "not have 'Foundation' in it"),
        ("c", "double", "not have 'double' in it"),
        ("c", "string", "not have 'string' in it"),
        ("c", "", "be a small letter"),
        ("sql", "select", "not have 'select' in it"),
        ("sql", "a\nb", "be a small letter"),
        ("sql", "x" * 300, "be a small letter"),
    ],
)
def test_a_name_that_is_none_in_the_ecosystem_is_refused_with_the_rule(
    tables: dict[str, Table], language: str, name: str, rule: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=rule):
        export_package(tables, language, name, tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["Smokes", "1st", "", "a-b", "ä", "x" * 41, "../t"])
def test_a_table_s_name_that_is_no_identifier_is_refused(tables: dict[str, Table], name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="be a small letter, then small letters, digits and _"):
        export_package({name: tables["age"]}, "rust", "survey", tmp_path / "made")


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("rust", "all"),
        ("typescript", "new"),
        ("typescript", "eval"),
        ("typescript", "arguments"),
        ("wasm", "new"),
        ("python", "lambda"),
        ("java", "string"),
        ("kotlin", "any"),
        ("swift", "double"),
        ("swift", "survey"),
        ("swift", "device"),
        ("c", "double"),
    ],
)
def test_a_table_s_name_that_the_language_has_already_is_refused(
    tables: dict[str, Table], language: str, name: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=r"not be a word that .* has already"):
        export_package({name: tables["age"]}, language, named(language), tmp_path / "made")


def test_a_table_is_not_packed_twice(tables: dict[str, Table], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="be another table than age"):
        export_package({"age": tables["age"], "years": tables["age"]}, "rust", "survey", tmp_path / "made")
    with pytest.raises(InvalidInput, match="and of another name"):
        export_package(
            {"a_b": tables["age"], "ab": tables["smokes"], "a__b": tables["smokes"]}, "c", "survey", tmp_path / "m"
        )
    with pytest.raises(InvalidInput, match="be at least one"):
        export_package({}, "rust", "survey", tmp_path / "made")


def test_a_language_without_packages_is_refused(tables: dict[str, Table], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="be one of swift, kotlin, typescript"):
        export_package(tables, "cobol", "survey", tmp_path / "made")


def test_labels_that_swift_takes_for_the_same_text_are_refused(tmp_path: Path) -> None:
    labels = Labels(("\u00e9", "e\u0301"))
    table = make_table(catalogue.randomised_response(1.0, Finite((0, 1))), labels=labels)
    with pytest.raises(InvalidInput, match="differ by more than how letters are composed"):
        export_package({"t": table}, "swift", "Survey", tmp_path / "made")
    export_package({"t": table}, "kotlin", "survey", tmp_path / "made")


@pytest.mark.parametrize("language", PACKAGED)
def test_every_package_takes_numbers_and_bytes_beside_each_other(tables: dict[str, Table], language: str) -> None:
    mixed = tables | {"fruit": protocol_table("oue", 1.0, 12)}
    texts = package_texts(mixed, language, named(language), cases=2)
    assert all(any(table.sha256 in text for text in texts.values()) for table in mixed.values())


# -- all or nothing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_is_there_stays(tables: dict[str, Table], kind: str, tmp_path: Path) -> None:
    place = tmp_path / "made"
    {"folder": place.mkdir, "file": place.touch, "link": lambda: place.symlink_to("nowhere")}[kind]()
    with pytest.raises(FileProblem, match="not exist yet"):
        export_package(tables, "c", "survey", place)
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.mark.parametrize("calls", [0, 3, 9])
def test_nothing_is_left_if_a_file_cannot_be_written(
    tables: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    left = iter(range(calls))
    works = os.fsync

    def full(descriptor: int) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        works(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileProblem, match="be writable: no space left"):
        export_package(tables, "c", "survey", tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_process_makes_meanwhile_stays(
    tables: dict[str, Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def late(path: Path, target: Path) -> Any:
        target.mkdir()
        (target / "mine").touch()
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", late)
    with pytest.raises(FileProblem, match="be writable"):
        export_package(tables, "c", "survey", tmp_path / "made")
    assert [path.name for path in tmp_path.rglob("*")] == ["made", "mine"]


# -- what is a package -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", PACKAGED)
def test_a_package_is_recognised_and_any_changed_file_named(
    tables: dict[str, Table], language: str, tmp_path: Path
) -> None:
    folder = tmp_path / "made"
    written = export_package(tables, language, named(language), folder)
    for table in tables.values():
        assert package_difference(table, folder) is None
        assert package_difference(table, folder, written[0]) is None
    for path in written:
        if path.name == "mechdesign-package.json" or path.parent.name == "tables":
            continue
        content = path.read_bytes()
        place = len(content) // 2
        other = content[place] ^ 1 if content else 32
        path.write_bytes(content[:place] + bytes([other]) + content[place + 1 :])
        difference = package_difference(tables["age"], folder)
        assert difference is not None
        assert (difference.path, difference.rule[:29]) == (
            path.relative_to(folder).as_posix(),
            "differs from the export in li",
        )
        path.write_bytes(content)


def test_files_that_are_more_or_less_or_links_are_seen(tables: dict[str, Table], tmp_path: Path) -> None:
    folder = tmp_path / "made"
    export_package(tables, "rust", "survey", folder)
    (folder / "build.rs").touch()  # cargo would run it
    found = package_difference(tables["age"], folder)
    assert found is not None
    assert (found.path, found.rule[:25]) == ("build.rs", "is no file of the export ")
    (folder / "build.rs").unlink()
    (folder / "src" / "empty").mkdir()
    found = package_difference(tables["age"], folder)
    assert found is not None
    assert (found.path, found.rule[:25]) == ("src/empty", "is no file of the export ")
    (folder / "src" / "empty").rmdir()
    source = folder / "src" / "lib.rs"
    source.rename(tmp_path / "lib.rs")
    found = package_difference(tables["age"], folder)
    assert found is not None
    assert (found.path, found.rule) == ("src/lib.rs", "is missing, or no plain file")
    source.symlink_to(tmp_path / "lib.rs")
    assert package_difference(tables["age"], folder) == found


def test_a_package_of_other_tables_is_none_of_this(tables: dict[str, Table], tmp_path: Path) -> None:
    export_package({"age": tables["age"]}, "c", "survey", tmp_path / "made")
    found = package_difference(tables["smokes"], tmp_path / "made")
    assert found is not None
    assert found.rule == "names other tables, not this one"


def test_a_package_whose_table_was_changed_is_refused(tables: dict[str, Table], tmp_path: Path) -> None:
    folder = tmp_path / "made"
    export_package(tables, "c", "survey", folder)
    other = make_table(catalogue.pm(2.0), 32)
    path = folder / "tables" / "smokes.json"
    path.write_bytes(other.content)
    found = package_difference(tables["age"], folder)
    assert found is not None
    assert found.rule == "is another table than the manifest names"
    path.write_bytes(tables["smokes"].content.replace(b'"bits":32', b'"bits":31'))
    found = package_difference(tables["age"], folder)
    assert found is not None
    assert found.rule.startswith("is no table that passes its check")
    path.unlink()
    found = package_difference(tables["age"], folder)
    assert found is not None
    assert (found.path, found.rule) == ("tables/smokes.json", "is missing")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "mechdesign package", "version": 2, "language": "c", "name": "survey", "tables": []}',
        '{"format": "mechdesign package", "version": 2, "language": "c", "name": 7, "tables": {}}',
        '{"format": "mechdesign package", "version": 1, "language": "c", "name": "survey", "tables": {}}',
        '{"format": "mechdesign package", "version": 2, "language": "c", "name": "s", "tables": {"../x": ""}}',
        "[" * 100_000,
    ],
)
def test_a_folder_without_a_manifest_of_ours_is_bad_input(tables: dict[str, Table], text: str, tmp_path: Path) -> None:
    (tmp_path / "mechdesign-package.json").write_text(text)
    with pytest.raises(FileProblem, match=r"mechdesign-package\.json of a package"):
        package_difference(tables["age"], tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("language", "cobol", "be one of swift"),
        ("name", "../../x", "be a small letter"),
    ],
)
def test_names_in_a_manifest_are_not_believed(
    tables: dict[str, Table], key: str, value: Any, rule: str, tmp_path: Path
) -> None:
    folder = tmp_path / "made"
    export_package(tables, "c", "survey", folder)
    path = folder / "mechdesign-package.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(InvalidInput, match=rule):
        package_difference(tables["age"], folder)


def test_a_copied_package_is_one_still_and_another_one_s_name_is_not(tables: dict[str, Table], tmp_path: Path) -> None:
    export_package(tables, "c", "survey", tmp_path / "made")
    shutil.copytree(tmp_path / "made", tmp_path / "copy")
    assert package_difference(tables["age"], tmp_path / "copy") is None
    path = tmp_path / "copy" / "mechdesign-package.json"
    path.write_text(path.read_text().replace('"survey"', '"ballot"'))
    assert package_difference(tables["age"], tmp_path / "copy") is not None


def test_noise_wide_for_its_domain_says_that_some_reports_need_more_bytes() -> None:
    table = make_table(catalogue.laplace(0.01, Interval(0, 1)), 16)
    text = package_texts({"t": table}, "rust", "survey", cases=2)["README.md"]
    assert "takes 4096 bytes, whatever the input (the noise is so wide that some reports need more)" in text


def test_the_readme_says_what_one_person_spends(tables: dict[str, Table]) -> None:
    readme = package_texts(tables, "c", "survey", cases=0)["README.md"]
    assert "**Who answers every question once spends epsilon 2 in all.**" in readme
    readme = package_texts({"smokes": tables["smokes"]}, "sql", "survey", cases=0)["README.md"]
    assert "**Who answers the question once spends epsilon 1 in all.**" in readme


def test_the_readme_of_a_collection_says_its_name_its_hash_and_its_total(tables: dict[str, Table]) -> None:
    third = make_table(catalogue.randomised_response(0.1, Finite((0, 1))))
    parts = [Attribute(name, table) for name, table in {**tables, "third": third}.items()]
    collection = Collection("health @sha@", Spending.SPLIT, parts)
    readme = package_texts(collection, "python", "survey", cases=0)["README.md"]
    assert f'Together they are the collection "health @sha@", `{collection.sha256}`.' in readme
    assert re.search(r"Who answers it once spends epsilon at most 2[.]10001 in all", readme)


def test_a_package_called_like_one_of_its_own_files_is_refused() -> None:
    table = make_table(catalogue.randomised_response(1.0, Finite((0, 1))), bits=16)
    with pytest.raises(InvalidInput, match="packages have beside the tables"):
        package_texts({"smokes": table}, "c", "envelope", cases=1)
