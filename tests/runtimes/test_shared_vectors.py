"""The folder that every runtime is tested on holds what the package says, of every kind of table."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechdesign.tables import load_table
from mechdesign.tables.export.shared_vectors import FOLDER, shared_vectors
from mechdesign.tables.kinds import KINDS
from mechdesign.tables.table import Table
from mechdesign.words.domains import Circle

MOST_BYTES = 800_000


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    paths = (path for path in FOLDER.glob("*.json") if path.with_suffix(".txt").exists())
    return {path.stem: load_table(path) for path in paths if not path.stem.endswith("_device")}


def test_every_file_is_what_the_package_says_and_there_is_no_other() -> None:
    found = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    assert found == shared_vectors()


def test_an_empty_folder_gets_the_same_files(tmp_path: Path) -> None:
    """Of as many cases each: counts that come from exponentials may differ in a last digit on another machine."""
    made = shared_vectors(tmp_path)
    assert set(made) == set(shared_vectors())
    assert all(made[name].count(b"\n") == content.count(b"\n") for name, content in shared_vectors().items())


def test_there_are_tables_of_every_kind_and_width_with_labels_on_either_side(tables: dict[str, Table]) -> None:
    assert {table.kind for table in tables.values()} == set(KINDS)
    assert {table.bits for table in tables.values()} == {16, 32, 53, 62}
    sides = {(table.labels.inputs is not None, table.labels.outputs is not None) for table in tables.values()}
    assert sides == {(False, False), (True, False), (False, True), (True, True)}
    assert any(isinstance(table.domain, Circle) for table in tables.values())
    assert {table.law.is_clamped for table in tables.values()} == {False, True}


def test_the_folder_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST_BYTES
