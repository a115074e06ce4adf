"""Reports of paths and errors of path mechanisms, asked for from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

import mechdesign as md
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.studies.places import Rectangle
from mechdesign.studies.places.files import found_columns, read_paths
from mechdesign.words.domains import Interval

UNIT = Rectangle(0, 1, 0, 1)


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    path = tmp_path / "walk.csv"
    path.write_text("id,x,y\na,0.1,0.2\na,0.3,0.4\nb,0.5,0.5\n")
    return path


def test_a_region_is_itself_or_what_options_say(walk: Path, tmp_path: Path) -> None:
    said = [md.PerturbStudy(walk, 2, tmp_path / f"{k}.csv", seed=1, where=UNIT).answer() for k in "pq"]
    assert (tmp_path / "p.csv").read_bytes() == (tmp_path / "q.csv").read_bytes()
    assert (said[0].reports, said[0].paths, said[0].epsilon_longest_path) == (3, 2, 4.0)


def test_reports_are_drawn_beside_the_paths(walk: Path, tmp_path: Path) -> None:
    assert md.PerturbStudy(walk, 2, tmp_path / "out.csv", where=UNIT).answer().plot().axes


def test_reports_for_release_spend_what_their_tables_do(walk: Path, tmp_path: Path) -> None:
    table, out = tmp_path / "table.json", tmp_path / "out.csv"
    md.make_table(catalogue.ogpm(2.0, Interval(0, 1)), 16).save(table)
    found = md.ReleaseStudy(walk, out, where=UNIT, x_table=table, y_table=table).answer()
    assert (found.epsilon_location, found.released) == (4.0, True)
    assert UNIT.contains(read_paths(out, found_columns(out), None)[0].places).all()


def test_files_are_not_written_over(walk: Path, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("mine")
    with pytest.raises(InvalidInput, match="not exist"):
        md.PerturbStudy(walk, 2, tmp_path / "out.csv", where=UNIT).answer()
    assert (tmp_path / "out.csv").read_text() == "mine"


@pytest.mark.parametrize("more", [{"paths": 7}, {"length": 7}])
def test_made_paths_and_given_ones_are_refused_together(walk: Path, more: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match="be left out with --data"):
        md.PathStudy(data=walk, where=UNIT, **more)


def test_one_location_spends_no_more_than_a_location_may() -> None:
    with pytest.raises(InvalidInput, match="eps"):
        md.PathStudy(eps=1000.0)
    assert md.PathStudy(eps=1000.0, whole_path=True).eps == (1000.0,)
