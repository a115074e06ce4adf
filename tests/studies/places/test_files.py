"""Paths in files: what comes in goes out in its order, bad rows are named and never shown, nothing is half written."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

from mechdesign.errors import FileProblem, InvalidInput  # noqa: E402
from mechdesign.mechanisms import catalogue  # noqa: E402
from mechdesign.studies.places.files import (  # noqa: E402
    Columns,
    batches,
    found_columns,
    geojson,
    lengths_of,
    read_geojson,
    read_paths,
)
from mechdesign.studies.places.paths import Paths, uniform_paths  # noqa: E402
from mechdesign.studies.places.regions import Disc, Rectangle  # noqa: E402
from mechdesign.studies.places.tracs import tracs_c, tracs_d  # noqa: E402
from mechdesign.studies.places.walk import Walk, from_the_system, tables_c, tables_d, walk_file  # noqa: E402
from mechdesign.tables import make_table  # noqa: E402
from mechdesign.words.domains import Circle, Interval  # noqa: E402

SQUARE = Rectangle(0, 1, 0, 1)
COLUMNS = Columns("id", "x", "y", "t")
TRUE = [("a", 1, 0.1, 0.2), ("b", 1, 0.9, 0.8), ("a", 2, 0.15, 0.25), ("a", 3, 0.2, 0.3), ("b", 5, 0.85, 0.75)]


def rng(seed=1):
    return np.random.default_rng(seed)


def write(path, rows=TRUE, names=("id", "t", "x", "y")):
    table = pa.table({name: [row[k] for row in rows] for k, name in enumerate(names)})
    (parquet.write_table if path.suffix == ".parquet" else csv.write_csv)(table, path)
    return path


def read(path):
    return parquet.read_table(path) if path.suffix == ".parquet" else csv.read_csv(path)


@pytest.mark.parametrize("form", [".csv", ".parquet"])
@pytest.mark.parametrize("make", [tracs_c, tracs_d])
def test_rows_come_out_in_their_order_with_their_ids_and_times(tmp_path, form, make):
    source, out = write(tmp_path / f"in{form}"), tmp_path / f"out{form}"
    done = walk_file(source, out, COLUMNS, Walk(SQUARE, make(SQUARE, 60.0)), rng())
    told = read(out)
    assert told.column_names == ["id", "t", "x", "y"]
    assert told["id"].to_pylist() == ["a", "b", "a", "a", "b"]
    assert told["t"].to_pylist() == [1, 1, 2, 3, 5]
    assert np.abs(told["x"].to_numpy() - [row[2] for row in TRUE]).max() < 0.01
    assert (done.rows, done.paths, done.longest, done.most) == (5, 2, 3, 180.0)


def test_other_columns_are_left_out(tmp_path):
    source = write(tmp_path / "in.csv", [(*row, "my-secret") for row in TRUE], ("id", "t", "x", "y", "note"))
    walk_file(source, tmp_path / "out.csv", COLUMNS, Walk(SQUARE, tracs_c(SQUARE, 1.0)), rng())
    assert "secret" not in (tmp_path / "out.csv").read_text()


def test_the_reference_of_a_path_lives_on_over_batches(tmp_path, monkeypatch):
    """A file in pieces of one row gives the reports of the file in one piece, by the same uniform numbers."""
    import mechdesign.data.sources as sources

    rows = [("a", k, *row) for k, row in enumerate(rng(5).random((40, 2)).tolist())]
    source = write(tmp_path / "in.parquet", rows)
    told = []
    for size in (1 << 18, 1):
        monkeypatch.setattr(sources, "_ROWS", size)
        out = tmp_path / f"out{size}.parquet"
        walk_file(source, out, COLUMNS, Walk(SQUARE, tracs_d(SQUARE, 2.0)), rng(2))
        told.append(read(out))
    assert told[0].equals(told[1])
    assert len(set(told[0]["x"].to_pylist())) > 30


def test_a_whole_path_shares_its_total(tmp_path):
    made = []

    def make(epsilon):
        made.append(epsilon)
        return tracs_c(SQUARE, epsilon)

    source = write(tmp_path / "in.csv")
    done = walk_file(source, tmp_path / "out.csv", COLUMNS, Walk(SQUARE, make=make, total=6.0), rng())
    assert sorted(made) == [2.0, 3.0]
    assert (done.epsilon, done.most) == (3.0, 6.0)
    assert lengths_of(source, COLUMNS).tolist() == [3, 2]


def test_geojson_comes_back_as_it_went(tmp_path):
    source, out = write(tmp_path / "in.csv"), tmp_path / "out.geojson"
    walk_file(source, out, COLUMNS, Walk(SQUARE, tracs_c(SQUARE, 60.0)), rng())
    document = json.loads(out.read_text())
    assert [feature["properties"]["id"] for feature in document["features"]] == ["a", "b"]
    paths, names = read_paths(out, COLUMNS, SQUARE)
    assert (names, paths.lengths.tolist()) == (["a", "b"], [3, 2])
    again = tmp_path / "again.geojson"
    walk_file(out, again, COLUMNS, Walk(SQUARE, tracs_c(SQUARE, 60.0)), rng())
    assert np.abs(read_paths(again, COLUMNS, SQUARE)[0].places - paths.places).max() < 0.01


def test_a_path_of_one_location_is_a_point_of_geojson(tmp_path):
    source, out = write(tmp_path / "in.csv", TRUE[:2]), tmp_path / "out.geojson"
    walk_file(source, out, COLUMNS, Walk(SQUARE, tracs_d(SQUARE, 1.0)), rng())
    assert {feature["geometry"]["type"] for feature in json.loads(out.read_text())["features"]} == {"Point"}
    assert read_paths(out, COLUMNS, SQUARE)[0].lengths.tolist() == [1, 1]


BAD = [
    ([("a", 1, 0.1, 0.2), ("a", 2, 7.654321, 0.2)], "row 2", "lie in"),
    ([("a", 1, 0.1, 0.2), ("a", 2, None, 0.2)], "row 2", "number"),
    ([("a", 1, 0.1, 0.2), (None, 2, 0.7654321, 0.2)], "row 2", "path"),
    ([("a", 1, 0.1, 0.2), ("a", 1, 0.7654321, 0.2)], "row 2", "is the same"),
    ([("a", 2, 0.1, 0.2), ("b", 1, 0.1, 0.2), ("a", 1, 0.7654321, 0.2)], "row 3", "after the time"),
]


@pytest.mark.parametrize("form", [".csv", ".parquet"])
@pytest.mark.parametrize(("rows", "row", "rule"), BAD)
def test_a_bad_row_is_named_and_not_shown_and_leaves_no_file(tmp_path, form, rows, row, rule):
    source, out = write(tmp_path / f"in{form}", rows), tmp_path / f"out{form}"
    with pytest.raises(InvalidInput) as caught:
        walk_file(source, out, COLUMNS, Walk(SQUARE, tracs_c(SQUARE, 1.0)), rng())
    said = str(caught.value) + repr(caught.value.__dict__)
    assert row in said
    assert rule in said
    assert "654321" not in said
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


def test_places_outside_can_be_moved_inside_first(tmp_path):
    source = write(tmp_path / "in.csv", [("a", 1, 1.5, 0.5)])
    walk_file(source, tmp_path / "out.csv", COLUMNS, Walk(SQUARE, tracs_c(SQUARE, 60.0), project=True), rng())
    assert read(tmp_path / "out.csv")["x"].to_pylist() == pytest.approx([1.0], abs=0.01)


def test_times_may_be_texts_stamps_or_numbers(tmp_path):
    for k, times in enumerate((["2026-01-01T00:00:00", "2026-01-02T00:00:00"], ["3", "20"], [1.5, 2.5])):
        source = write(tmp_path / f"in{k}.csv", [("a", times[0], 0.1, 0.1), ("a", times[1], 0.2, 0.2)])
        assert sum(len(batch.slots) for batch in batches(source, COLUMNS, SQUARE)) == 2


def test_usual_names_of_columns_are_found(tmp_path):
    source = write(tmp_path / "in.csv", names=("User", "timestamp", "Longitude", "Latitude"))
    assert found_columns(source) == Columns("User", "Longitude", "Latitude", "timestamp")


def test_a_missing_column_is_named_with_those_there_are(tmp_path):
    source = write(tmp_path / "in.csv", names=("id", "t", "east", "y"))
    with pytest.raises(InvalidInput, match="east"):
        found_columns(source)


def test_the_data_are_never_overwritten(tmp_path):
    source = write(tmp_path / "in.csv")
    with pytest.raises(FileProblem, match="never overwritten"):
        walk_file(source, source, COLUMNS, Walk(SQUARE, tracs_c(SQUARE, 1.0)), rng(), overwrite=True)


def test_reports_can_be_read_by_whom_the_data_can_be_read(tmp_path):
    source = write(tmp_path / "in.csv")
    source.chmod(0o600)
    walk_file(source, tmp_path / "out.csv", COLUMNS, Walk(SQUARE, tracs_c(SQUARE, 1.0)), rng())
    assert (tmp_path / "out.csv").stat().st_mode & 0o077 == 0


def test_tables_release_exactly_their_outputs(tmp_path):
    """Reports of a two-output table are its two outputs, and their loss is the product of the tables' ratios."""
    table = make_table(catalogue.redesigned_sw(2.0, Interval(0, 1)), 16)
    tracs = tables_c(SQUARE, table, table)
    assert tracs.likelihood_ratio().ratio == table.ratio**2
    assert tracs.privacy_loss() <= 4.0
    source = write(tmp_path / "in.csv")
    walk_file(source, tmp_path / "out.csv", COLUMNS, Walk(SQUARE, tracs), from_the_system)
    assert read(tmp_path / "out.csv")["id"].to_pylist() == ["a", "b", "a", "a", "b"]


@pytest.mark.parametrize("region", [SQUARE, Disc((0, 0), 2)], ids=str)
def test_tables_of_directions_and_shares_release_places_inside(tmp_path, region):
    direction = make_table(catalogue.ogpm_circle(2.0, Circle(2 * math.pi)), 16)
    distance = make_table(catalogue.ogpm(1.0, Interval(0, 1)), 16)
    tracs = tables_d(region, direction, distance)
    assert tracs.privacy_loss() <= 3.0
    source = write(tmp_path / "in.csv", [("a", k, *row) for k, row in enumerate((rng(3).random((50, 2)) / 2).tolist())])
    walk_file(source, tmp_path / "out.csv", COLUMNS, Walk(region, tracs), from_the_system)
    told = read(tmp_path / "out.csv")
    assert region.contains(np.column_stack([told["x"].to_numpy(), told["y"].to_numpy()])).all()


def test_tables_for_other_domains_are_refused_with_the_domain_to_make():
    table = make_table(catalogue.ogpm(1.0, Interval(0, 1)), 16)
    with pytest.raises(InvalidInput, match="--domain 0,2"):
        tables_c(Rectangle(0, 2, 0, 1), table, table)
    with pytest.raises(InvalidInput, match="circular"):
        tables_d(SQUARE, table, table)


def test_files_and_memory_agree_in_law(tmp_path):
    """The same seed through a file and in memory gives the same reports of TraCS-C."""
    paths = uniform_paths(SQUARE, 3, 4, rng(7))
    rows = [(f"p{k}", t, *place) for k, path in enumerate(paths) for t, place in enumerate(path.tolist())]
    source = write(tmp_path / "in.parquet", rows)
    walk_file(source, tmp_path / "out.parquet", COLUMNS, Walk(SQUARE, tracs_c(SQUARE, 2.0)), rng(8))
    told = read_paths(tmp_path / "out.parquet", COLUMNS, SQUARE)[0]
    assert told.places == pytest.approx(tracs_c(SQUARE, 2.0).perturb(Paths(paths.places, paths.starts), rng(8)).places)


def feature(kind, coordinates, **properties):
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": properties}


def collection(path, *features):
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def test_geojson_lines_without_an_id_are_paths_of_their_own(tmp_path):
    lines = [feature("LineString", [[0.1, 0.2], [0.3, 0.4]], id=name) for name in (None, None, "2")]
    source = collection(tmp_path / "in.geojson", *lines, feature("Point", [0.5, 0.5]))
    paths, names = read_paths(source, COLUMNS, SQUARE)
    assert (names, paths.lengths.tolist()) == (["1", "line 2", "2", "points"], [2, 2, 2, 1])


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [7654321%s, 0.5]}}' % ("0" * 400),
        '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [7654321e999, 0.5]}}',
        '{"type": "Feature", "geometry": {"type": "Point", "coordinates": 7654321}}',
        '{"type": "Feature", "geometry": {"type": "Point", "coordinates": ["7654321", 0.5]}}',
        '{"type": "Feature", "id": ["7654321"], "geometry": {"type": "Point", "coordinates": [0.5, 0.5]}}',
        '{"type": "Feature", "7654321": 1, "7654321": 1}',
        '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [7654321, 0.5]}}',
    ],
)
def test_errors_about_geojson_never_show_what_it_holds(tmp_path, text):
    source = tmp_path / "in.geojson"
    source.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_paths(source, COLUMNS, SQUARE)
    assert "7654321" not in str(caught.value)
    assert caught.value.__context__ is None or "7654321" not in str(caught.value.__context__)


def test_names_of_some_columns_leave_the_others_to_be_found(tmp_path):
    source = write(tmp_path / "in.csv", names=("who", "t", "lon", "lat"))
    assert found_columns(source, {"id": "who", "x": None}) == Columns("who", "lon", "lat", "t")


def test_a_column_serves_once(tmp_path):
    with pytest.raises(InvalidInput, match="different"):
        found_columns(write(tmp_path / "in.csv"), {"y": "x"})


def test_geojson_has_no_columns_to_name(tmp_path):
    source = collection(tmp_path / "in.geojson", feature("Point", [0.5, 0.5]))
    with pytest.raises(InvalidInput, match="GeoJSON"):
        found_columns(source, {"x": "lon"})


def test_projection_counts_what_it_moves(tmp_path):
    source = write(tmp_path / "in.csv", [("a", 1, 0.1, 0.2), ("a", 2, 5.0, 0.2), ("b", 1, 0.1, -3.0)])
    walk = Walk(SQUARE, tracs_c(SQUARE, 1.0), project=True)
    assert walk_file(source, tmp_path / "out.csv", COLUMNS, walk, rng()).moved == 2
    lines = collection(tmp_path / "in.geojson", feature("LineString", [[0.1, 0.2], [0.3, 4.0]]))
    assert walk_file(lines, tmp_path / "out.geojson", COLUMNS, walk, rng()).moved == 1


def test_projection_does_not_pile_exchanged_coordinates_into_a_corner(tmp_path):
    """Where the region and its mirror image share nothing; where they share something such places are moved."""
    city, wide = Rectangle(139.4, 139.9, 35.5, 35.9), Rectangle(0, 2, 0, 10)
    source = write(tmp_path / "in.csv", [("a", 1, 35.6, 139.7), ("a", 2, 35.7, 139.6)])
    with pytest.raises(InvalidInput, match="exchanged"):
        list(batches(source, COLUMNS, city, project=True))
    source = write(tmp_path / "other.csv", [("a", 1, 5.0, 1.0)])
    assert next(iter(batches(source, COLUMNS, wide, project=True))).places.tolist() == [[2.0, 1.0]]


def test_a_time_that_is_none_is_named_by_its_row(tmp_path):
    source = write(tmp_path / "in.csv", [("a", "2026-01-31", 0.1, 0.2), ("a", "yesterday", 0.1, 0.2)])
    with pytest.raises(InvalidInput, match="row 2") as caught:
        list(batches(source, COLUMNS, SQUARE))
    assert "yesterday" not in str(caught.value)


def test_a_line_without_an_id_never_joins_the_path_whose_id_is_its_number(tmp_path):
    features = [
        {"type": "Feature", "properties": given, "geometry": {"type": "LineString", "coordinates": [[x, 0], [x, 1]]}}
        for x, given in enumerate([{}, {"id": 1}])
    ]
    (tmp_path / "a.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    paths, names = read_geojson(tmp_path / "a.geojson")
    (tmp_path / "b.geojson").write_bytes(geojson(paths, names))
    assert len(set(names)) == len(paths) == len(read_geojson(tmp_path / "b.geojson")[0]) == 2
