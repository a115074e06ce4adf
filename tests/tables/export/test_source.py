"""Whether a file is an export of a table: every exported file is, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.tables import LANGUAGES, Labels, Table, export_table, make_table, source_difference
from mechdesign.words.domains import Finite


@pytest.fixture(scope="module")
def table() -> Table:
    labels = Labels(("no", "yes"), ("no", "yes"))
    return make_table(catalogue.randomised_response(1.0, Finite((0, 1))), labels=labels)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_exported_file_is_recognised_whatever_its_name(table: Table, language: str, tmp_path: Path) -> None:
    for path in export_table(table, language, tmp_path):
        assert source_difference(table, path) is None
        assert source_difference(table, path.rename(tmp_path / f"renamed{path.suffix}")) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_line_that_differs_is_named(table: Table, language: str, tmp_path: Path) -> None:
    for path in export_table(table, language, tmp_path):
        if path.suffix == ".txt":
            continue
        before = path.read_text().split("\n")
        place = len(before) - 3
        path.write_text("\n".join([*before[:place], before[place] + " ", *before[place + 1 :]]))
        difference = source_difference(table, path)
        assert difference is not None
        assert (difference.line, difference.expected, difference.found) == (
            place + 1,
            before[place],
            before[place] + " ",
        )


def test_swapped_labels_are_seen(table: Table, tmp_path: Path) -> None:
    """Test vectors hold codes, so they do not see it."""
    path, *_ = export_table(table, "python", tmp_path)
    path.write_text(path.read_text().replace(r'"inputs\":[\"no\",\"yes\"]', r'"inputs\":[\"yes\",\"no\"]'))
    difference = source_difference(table, path)
    assert difference is not None
    assert r'"inputs\":[\"yes\",\"no\"]' in difference.found


@pytest.mark.parametrize(("dropped", "added"), [(0, "#"), (1, ""), (0, "\n"), (100_000, "")])
def test_more_and_less_at_the_end_are_seen(table: Table, tmp_path: Path, dropped: int, added: str) -> None:
    path, *_ = export_table(table, "c", tmp_path)
    text = path.read_text()
    path.write_text(text[: max(len(text) - dropped, 0)] + added)
    assert source_difference(table, path) is not None


def test_an_export_of_another_table_is_none_of_this(table: Table, tmp_path: Path) -> None:
    other = make_table(catalogue.randomised_response(1.0, Finite((0, 1))))
    path, *_ = export_table(other, "rust", tmp_path)
    difference = source_difference(table, path)
    assert difference is not None
    assert table.sha256 in difference.expected


@pytest.mark.parametrize("name", ["sampler", "sampler.cob"])
def test_files_of_no_language_are_refused(table: Table, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("x")
    with pytest.raises(InvalidInput, match="have a name that ends in"):
        source_difference(table, path)
