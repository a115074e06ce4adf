"""Who was where, from CSV files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mechdesign.data.checkins import read_checkins
from mechdesign.errors import FileProblem, InvalidData

HEADER = "User ID,Venue,Latitude,Longitude\n"


def written(folder: Path, rows: str, header: str = HEADER) -> Path:
    path = folder / "chi.csv"
    path.write_bytes((header + rows).encode("latin-1"))
    return path


def test_users_and_places_are_read_beside_words_in_any_encoding(tmp_path: Path) -> None:
    found = read_checkins(written(tmp_path, "17,Café,41.86,-87.61\n3,x,41.9,-87.6\n"))
    assert found.users.tolist() == [17, 3]
    assert found.places.tolist() == [[41.86, -87.61], [41.9, -87.6]]


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ("17,x,91,0\n", "column 'Latitude'"),
        ("17,x,0,secret\n", "column 'Longitude'"),
        ("inf,x,0,0\n", "column 'User ID'"),
        ("17,0,0\n", "row 3"),
    ],
)
def test_a_row_that_breaks_a_rule_is_named_and_not_shown(tmp_path: Path, row: str, place: str) -> None:
    with pytest.raises(InvalidData, match=place) as error:
        read_checkins(written(tmp_path, "1,x,0,0\n" + row))
    assert "row 3 of chi.csv" in str(error.value)
    assert "secret" not in str(error.value)


def test_a_file_without_the_columns_or_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="name columns"):
        read_checkins(written(tmp_path, "1,2\n", "user,lat\n"))
    with pytest.raises(FileProblem, match="at least one row"):
        read_checkins(written(tmp_path, ""))
