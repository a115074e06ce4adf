"""Where trips begin, and how many in each cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mechdesign.data.trips import cell_counts, trip_starts
from mechdesign.errors import FileProblem, InvalidData, InvalidInput

HEADER = '"TRIP_ID","MISSING_DATA","POLYLINE"\n'


def written(folder: Path, *polylines: str) -> Path:
    path = folder / "train.csv"
    path.write_text(HEADER + "".join(f'"7","False","{polyline}"\n' for polyline in polylines))
    return path


def test_a_trip_begins_at_its_first_place(tmp_path: Path) -> None:
    found = trip_starts(written(tmp_path, "[[-8.61,41.14],[-8.6,41.2]]", "[]", "[[-8.5,41]]"))
    assert found.places.tolist() == [[-8.61, 41.14], [-8.5, 41.0]]
    assert found.empty == 1


@pytest.mark.parametrize("polyline", ["[[-8.61]]", "41.14,-8.61", "", "[[secret,1]]"])
def test_a_polyline_of_another_form_is_named_and_not_shown(tmp_path: Path, polyline: str) -> None:
    with pytest.raises(InvalidData, match=r"row 3 of train.csv, column 'POLYLINE'") as error:
        trip_starts(written(tmp_path, "[[0,0]]", polyline))
    assert "secret" not in str(error.value)


def test_a_file_without_the_column_and_one_without_a_trip_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match="be one of the columns"):
        trip_starts(tmp_path / "other.csv")
    with pytest.raises(FileProblem, match="hold a trip"):
        trip_starts(written(tmp_path, "[]"))


def test_every_place_is_in_one_cell_or_outside() -> None:
    """Against a histogram of two dimensions."""
    places = np.random.default_rng(1).normal(0.5, 0.4, (2000, 2))
    counts, outside = cell_counts(places, (0, 1, 0, 1), 4, 3)
    inside = places[((places >= 0) & (places < 1)).all(axis=1)]
    expected, _, _ = np.histogram2d(inside[:, 1], inside[:, 0], bins=(3, 4), range=((0, 1), (0, 1)))
    assert counts.tolist() == expected.ravel().tolist()
    assert counts.sum() + outside == 2000


def test_a_box_is_west_east_south_north() -> None:
    with pytest.raises(InvalidInput, match="box"):
        cell_counts(np.zeros((1, 2)), (1, 0, 0, 1), 2, 2)
