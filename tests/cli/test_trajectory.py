"""`trajectory perturb`, `apply` and `compare` as a shell sees them."""

from __future__ import annotations

import contextlib
import json
import math

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from mechdesign.cli import main
from mechdesign.mechanisms import catalogue
from mechdesign.plot.trajectory import map_of_paths
from mechdesign.studies.path_options import Reference, ReferenceOptions, make_mechanism
from mechdesign.studies.places import Disc, Parallelogram, Paths, Rectangle, TracsD
from mechdesign.studies.places.files import found_columns, read_paths
from mechdesign.tables import make_table
from mechdesign.words.domains import Circle, Interval

UNIT = "--bounds=0,1,0,1"


@pytest.fixture
def walk(tmp_path):
    places = np.random.default_rng(1).random((30, 2)).round(4)
    lines = [f"{'abc'[k % 3]},{k},{x},{y},hidden" for k, (x, y) in enumerate(places)]
    path = tmp_path / "walk.csv"
    path.write_text("id,t,lon,lat,note\n" + "\n".join(lines) + "\n")
    return path


def run(capsys, *arguments, code=0):
    ended = 0
    try:
        main(["trajectory", *map(str, arguments)])
    except SystemExit as end:
        ended = end.code or 0
    said = capsys.readouterr()
    assert ended == code, said.err
    return said


def answer(capsys, *arguments):
    return json.loads(run(capsys, *arguments, "--json").out)


@pytest.mark.parametrize("method", ["tracs-c", "tracs-d", "plane", "laplace"])
@pytest.mark.parametrize("form", ["csv", "parquet", "geojson"])
def test_perturb_writes_every_form_by_every_method(capsys, walk, tmp_path, method, form):
    said = answer(capsys, "perturb", walk, "--eps", "3", UNIT, "--method", method, "--out", tmp_path / f"out.{form}")
    assert (said["rows"], said["paths"], said["epsilon_location"], said["epsilon_longest_path"]) == (30, 3, 3.0, 30.0)
    assert (tmp_path / f"out.{form}").stat().st_size > 0


def test_a_seed_repeats_the_reports(capsys, walk, tmp_path):
    for name in ("one", "two"):
        run(capsys, "perturb", walk, "--eps", "3", UNIT, "--seed", "7", "--out", tmp_path / f"{name}.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_several_files_go_to_a_folder_and_do_not_depend_on_workers(capsys, walk, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("p.csv", "q.csv"):
        (folder / name).write_text(walk.read_text())
    for workers in (1, 2):
        said = answer(
            capsys,
            "perturb",
            folder,
            "--eps",
            "3",
            UNIT,
            "--seed",
            "1",
            "--workers",
            workers,
            "--out",
            tmp_path / f"o{workers}",
        )
        assert (said["rows"], len(said["files"])) == (60, 2)
    for name in ("p.csv", "q.csv"):
        assert (tmp_path / "o1" / name).read_bytes() == (tmp_path / "o2" / name).read_bytes()
    assert (tmp_path / "o1" / "p.csv").read_bytes() != (tmp_path / "o1" / "q.csv").read_bytes()


@pytest.mark.slow
def test_dask_gives_what_local_processes_give(capsys, walk, tmp_path):
    pytest.importorskip("distributed")
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("p.csv", "q.csv"):
        (folder / name).write_text(walk.read_text())
    base = ("perturb", folder, "--eps", "3", UNIT, "--seed", "1")
    answer(capsys, *base, "--out", tmp_path / "local")
    answer(capsys, *base, "--engine", "dask", "--workers", "2", "--out", tmp_path / "dask")
    assert (tmp_path / "local" / "q.csv").read_bytes() == (tmp_path / "dask" / "q.csv").read_bytes()


def test_reports_can_be_rounded_to_points(capsys, walk, tmp_path):
    (tmp_path / "points.csv").write_text("x,y\n0.25,0.25\n0.75,0.75\n")
    out = tmp_path / "out.csv"
    run(capsys, "perturb", walk, "--eps", "3", UNIT, "--points", tmp_path / "points.csv", "--out", out)
    told = {tuple(line.split(",")[2:4]) for line in out.read_text().splitlines()[1:]}
    assert told <= {("0.25", "0.25"), ("0.75", "0.75")}


def test_apply_draws_from_tables(capsys, walk, tmp_path):
    table = make_table(catalogue.ogpm(2.0, Interval(0, 1)), 16)
    table.save(tmp_path / "t.json")
    said = answer(
        capsys,
        "apply",
        walk,
        UNIT,
        "--x-table",
        tmp_path / "t.json",
        "--y-table",
        tmp_path / "t.json",
        "--out",
        tmp_path / "out.csv",
    )
    assert (said["rows"], said["epsilon_location"], said["released"]) == (30, 4.0, True)


def test_apply_draws_directions_and_shares_from_tables(capsys, walk, tmp_path):
    make_table(catalogue.ogpm_circle(2.0, Circle(2 * math.pi)), 16).save(tmp_path / "d.json")
    make_table(catalogue.ogpm(1.0, Interval(0, 1)), 16).save(tmp_path / "s.json")
    said = answer(
        capsys,
        "apply",
        walk,
        UNIT,
        "--direction",
        tmp_path / "d.json",
        "--distance",
        tmp_path / "s.json",
        "--out",
        tmp_path / "out.parquet",
    )
    assert said["epsilon_location"] == 3.0


def test_compare_has_a_cell_for_every_method_and_eps_and_the_constant_answer(capsys, tmp_path):
    said = answer(
        capsys,
        "compare",
        "--eps",
        "2,6",
        "--methods",
        "tracs-c,tracs-c-certified",
        "--paths",
        "20",
        "--seed",
        "1",
        "--plot",
        tmp_path / "c.png",
    )
    assert [(cell["method"], cell["epsilon"]) for cell in said["cells"]] == [
        (name, eps) for name in ("tracs-c", "tracs-c-certified") for eps in (2.0, 6.0)
    ]
    assert said["centre"] == pytest.approx(0.3826, abs=0.02)
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_compare_says_where_a_constant_answer_is_better(capsys):
    said = run(capsys, "compare", "--eps", "2", "--methods", "laplace,plane", "--paths", "30", "--seed", "1").out
    assert "worse than always answering the centre: laplace at 2" in said


def test_compare_takes_given_paths_points_and_metrics(capsys, walk):
    said = answer(
        capsys,
        "compare",
        UNIT,
        "--data",
        walk,
        "--grid",
        "5",
        "--metric",
        "range:0.3",
        "--eps",
        "4",
        "--runs",
        "2",
        "--methods",
        "tracs-c,l-srr",
        "--seed",
        "2",
    )
    assert (said["paths"], said["locations"]) == (3, 30)
    assert all(0 <= cell["mean"] <= 1 for cell in said["cells"])


def test_a_picture_of_paths_is_drawn(capsys, walk, tmp_path):
    run(capsys, "perturb", walk, "--eps", "3", UNIT, "--out", tmp_path / "o.csv", "--plot", tmp_path / "m.png")
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--eps", "3"),
        ("--eps", "3", "--bounds=0,1,0"),
        ("--eps", "3", "--bounds=0,0,0,1"),
        ("--eps", "-1", UNIT),
        ("--eps", "3", UNIT, "--disc", "0,0,1"),
        ("--eps", "3", UNIT, "--method", "best"),
        ("--eps", "3", UNIT, "--method", "tracs-c", "--split", "best"),
        ("--eps", "3", UNIT, "--method", "laplace", "--mechanism", "certified"),
        ("--eps", "3", UNIT, "--mechanism", "best"),
        ("--eps", "3", UNIT, "--cells", "0,3"),
        ("--eps", "3", UNIT, "--cells", "2.5,3"),
        ("--eps", "3", UNIT, "--title", "mine"),
        ("--eps", "3", UNIT, "--method", "tracs-d", "--split", "half"),
        ("--eps", "3", UNIT, "--x", "nowhere"),
        ("--eps", "3", "--bounds=0,0.1,0,0.1"),
        ("--eps", "3", UNIT, "--method", "tracs-d", "--start", "5,5"),
        ("--eps", "3", "--sphere", "--method", "plane"),
        ("--eps", "65", UNIT),
        ("--eps", "inf", UNIT, "--whole-path"),
        ("--eps", "0", UNIT, "--whole-path"),
        ("--eps", "21", UNIT, "--mechanism", "certified"),
        ("--eps", "3", "--parallelogram", "0,0,1,0"),
        ("--eps", "3", "--parallelogram", "0,0,1,1,2,2"),
    ],
)
def test_bad_input_ends_in_one_line_and_leaves_no_file(capsys, walk, tmp_path, arguments):
    said = run(capsys, "perturb", walk, *arguments, "--out", tmp_path / "out.csv", code=2)
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not (tmp_path / "out.csv").exists()


def test_tables_come_in_pairs(capsys, walk, tmp_path):
    make_table(catalogue.ogpm(2.0, Interval(0, 1)), 16).save(tmp_path / "t.json")
    said = run(capsys, "apply", walk, UNIT, "--x-table", tmp_path / "t.json", "--out", tmp_path / "o.csv", code=2)
    assert "--y-table" in said.err


def outside(tmp_path, *more):
    path = tmp_path / "outside.csv"
    path.write_text("id,x,y\na,0.5,0.5\na,7.654321,0.5\n")
    return ("perturb", path, "--eps", "3", UNIT, "--out", tmp_path / "out.csv", *more)


def test_values_are_shown_only_if_asked(capsys, tmp_path):
    silent = run(capsys, *outside(tmp_path), code=2).err
    assert silent.endswith("--show-values shows the value\n")
    assert "7.654321" not in silent
    assert "(got (7.654321, 0.5))" in run(capsys, *outside(tmp_path, "--show-values"), code=2).err


def test_places_moved_inside_are_counted(capsys, tmp_path):
    assert answer(capsys, *outside(tmp_path, "--project"))["moved_inside"] == 1
    assert "1 locations lay outside" in run(capsys, *outside(tmp_path, "--project", "--force")).out


@pytest.mark.parametrize("command", ["perturb", "apply", "compare"])
def test_every_subcommand_reads_data_and_numbers_as_the_other_commands_do(capsys, command):
    shown = run(capsys, command, "--help").out
    assert "--show-values" in shown
    assert ("--title" in shown) == ("--plot" in shown)


def test_numbers_are_plain(capsys):
    assert "not a valid" in run(capsys, "compare", "--paths", "1_0", code=2).err


def test_a_picture_has_the_size_and_title_asked_for(capsys, walk, tmp_path):
    arguments = ("--out", tmp_path / "o.csv", "--plot", tmp_path / "m.svg", "--title", "Our walk", "--plot-size", "4,3")
    run(capsys, "perturb", walk, "--eps", "3", UNIT, *arguments)
    assert 'width="288pt"' in (tmp_path / "m.svg").read_text()


def test_a_first_line_with_one_bad_number_is_no_heading(capsys, walk, tmp_path):
    (tmp_path / "points.csv").write_text("O.5,0.5\n0.25,0.25\n0.75,0.75\n")
    arguments = ("--points", tmp_path / "points.csv", "--out", tmp_path / "out.csv")
    assert "line 1" in run(capsys, "perturb", walk, "--eps", "3", UNIT, *arguments, code=2).err


def test_compare_counts_lost_visits_of_hotspots(capsys):
    told = answer(
        capsys,
        "compare",
        "--eps",
        "60",
        "--grid",
        "4",
        "--metric",
        "hotspots:0.25",
        "--methods",
        "exponential",
        "--paths",
        "10",
        "--seed",
        "1",
    )
    assert told["cells"][0]["mean"] == 0
    assert told["centre"] > 10
    assert "points of interest" in run(capsys, "compare", "--metric", "hotspots:0.2", code=2).err


def test_a_whole_path_is_compared_as_its_locations_that_share_its_epsilon(capsys):
    made = ("--paths", "6", "--length", "20", "--grid", "4", "--methods", "tracs-c,ngram,laplace", "--seed", "1")
    paths = answer(capsys, "compare", "--eps", "40,2000", "--whole-path", *made)
    places = answer(capsys, "compare", "--eps", "2", *made[:-2], "--seed", "1")
    assert (paths["per"], places["per"]) == ("path", "location")
    whole, single = (said["cells"][0] for said in (paths, places))
    assert (whole["epsilon"], single["epsilon"]) == (40.0, 2.0)
    assert whole["mean"] == single["mean"]
    assert whole["privacy_loss"] == pytest.approx(20 * single["privacy_loss"])
    said = run(capsys, "compare", "--eps", "40", "--whole-path", *made)
    assert "eps of a path" in said.out
    assert "spend more than they say" not in said.out


def test_the_published_atp_is_shown_to_overspend(capsys):
    made = (
        "--paths",
        "3",
        "--length",
        "5",
        "--grid",
        "4",
        "--methods",
        "atp,atp-published",
        "--seed",
        "1",
        "--eps",
        "2",
    )
    assert "these spend more than they say: atp-published" in run(capsys, "compare", *made).out


def test_metres_are_refused_off_the_sphere(capsys):
    arguments = ("--bounds=0,1000,0,1000", "--metric", "metres", "--methods", "tracs-c", "--paths", "2")
    assert "latitudes" in run(capsys, "compare", *arguments, code=2).err


@pytest.mark.parametrize("workers", [1, 2])
def test_bad_data_in_one_of_several_files_are_bad_input_from_any_worker(capsys, walk, tmp_path, workers):
    _, source, *rest = outside(tmp_path)
    arguments = ("perturb", walk, source, "--workers", workers, *rest[:-1], tmp_path / "told")
    silent = run(capsys, *arguments, "--force", code=2).err
    assert "outside.csv, data row 2" in silent
    assert "7.654321" not in silent
    assert "7.654321" in run(capsys, *arguments, "--force", "--show-values", code=2).err


def test_a_whole_path_may_spend_more_than_a_location_ever_can(capsys, walk, tmp_path):
    said = answer(capsys, "perturb", walk, "--eps", "200", UNIT, "--whole-path", "--out", tmp_path / "o.csv")
    assert (said["epsilon_location"], said["epsilon_longest_path"]) == (20.0, 200.0)


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ((), 64.0),
        (("--mechanism", "certified"), 20.0),
        (("--method", "plane"), 10.0),
        (("--method", "tracs-d", "--mechanism", "certified", "--split", "0.5"), 20.0),
    ],
)
def test_a_path_of_one_location_spends_no_more_of_its_total_than_its_mechanism_can(capsys, tmp_path, options, most):
    (tmp_path / "one.csv").write_text("id,x,y\na,0.25,0.25\n")
    arguments = ("--eps", "500", UNIT, "--whole-path", *options, "--out", tmp_path / "o.csv")
    said = answer(capsys, "perturb", tmp_path / "one.csv", *arguments)
    assert (said["epsilon_location"], said["epsilon_longest_path"]) == (most, most)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_geojson_is_written_as_rows_if_the_name_says_so(capsys, walk, tmp_path, form):
    run(capsys, "perturb", walk, "--eps", "3", UNIT, "--out", tmp_path / "paths.geojson")
    arguments = ("perturb", tmp_path / "paths.geojson", "--eps", "3", UNIT, "--seed", "1", "--out")
    run(capsys, *arguments, tmp_path / f"told.{form}")
    run(capsys, *arguments, tmp_path / "told.geojson")
    rows, lines = (
        read_paths(path, found_columns(path), None) for path in (tmp_path / f"told.{form}", tmp_path / "told.geojson")
    )
    assert rows[1] == lines[1] == ["a", "b", "c"]
    assert rows[0].places.tolist() == lines[0].places.tolist()


@pytest.mark.parametrize(
    ("region", "missing"),
    [
        (("--disc", "0,0,1"), {"tracs-c", "tracs-c-certified", "plane"}),
        (("--sphere",), {"tracs-d", "plane", "strawman"}),
        (("--parallelogram", "0,0,2,0,1,1"), {"plane"}),
    ],
)
def test_compare_takes_every_region_and_the_methods_that_fit_it(capsys, region, missing):
    usual = {"tracs-d", "tracs-c", "tracs-c-certified", "plane", "laplace", "strawman"}
    said = answer(capsys, "compare", *region, "--eps", "2", "--paths", "2", "--length", "3")
    assert {cell["method"] for cell in said["cells"]} == usual - missing
    assert "must be among" in run(capsys, "compare", *region, "--methods", min(missing), "--eps", "2", code=2).err


def test_reports_in_a_parallelogram_lie_in_it(capsys, walk, tmp_path):
    out = tmp_path / "o.csv"
    sides = "--parallelogram=-1,-1,4,0.5,1,4"
    run(capsys, "perturb", walk, "--eps", "2", sides, "--method", "tracs-d", "--out", out)
    told = read_paths(out, found_columns(out), None)[0].places
    assert Parallelogram((-1, -1), (4, 0.5), (1, 4)).contains(told).all()


def test_the_best_of_public_candidates_is_the_reference(capsys, walk, tmp_path):
    """At so much epsilon reports are the places unless the reference is one: so they tell it by its own error."""
    (tmp_path / "c.csv").write_text("x,y\n0,0\n0.9,0.9\n1,1\n0.9,1\n")
    tracs = make_mechanism(
        "tracs-d",
        Rectangle(0, 1, 0, 1),
        "ogpm",
        Reference.of("tracs-d", ReferenceOptions(candidates=tmp_path / "c.csv")),
        2.0,
    )
    assert isinstance(tracs, TracsD)
    assert tracs.start in {(0.9, 0.9), (1.0, 1.0), (0.9, 1.0)}
    assert not tracs.follow
    arguments = ("--eps", "2", UNIT, "--method", "tracs-d", "--candidates", tmp_path / "c.csv", "--out")
    run(capsys, "perturb", walk, *arguments, tmp_path / "o.csv")
    run(capsys, "perturb", walk, "--start", "0,0", *arguments, tmp_path / "p.csv", code=2)


def test_a_disc_is_drawn_round():
    disc, paths = Disc((0, 0), 1), Paths.of([[[0.1, 0.2]]])
    assert map_of_paths(disc, paths, paths, ["a"], title="a disc").axes[0].get_aspect() == 1.0


@pytest.mark.parametrize(
    ("region", "command"), [("--sphere", "ogpm --eps E --circular --domain 0,360"), (UNIT, "table --domain 0,1")]
)
def test_a_table_for_another_domain_is_refused_with_the_command_that_makes_it(capsys, walk, tmp_path, region, command):
    make_table(catalogue.ogpm(2.0, Interval(0, 3)), 16).save(tmp_path / "t.json")
    tables = ("--x-table", tmp_path / "t.json", "--y-table", tmp_path / "t.json")
    assert (
        command.removeprefix("table ")
        in run(capsys, "apply", walk, region, *tables, "--out", tmp_path / "o.csv", code=2).err
    )


def test_the_commands_named_for_directions_make_tables_that_fit(capsys, walk, tmp_path):
    design, direction, distance = (tmp_path / name for name in ("design.json", "direction.json", "distance.json"))
    for words in (
        ("ogpm", "--eps", "3", "--circular", "--out", design),
        ("table", design, "--out", direction),
        ("table", "--eps", "1", "--mechanism", "ogpm", "--out", distance),
    ):
        with contextlib.suppress(SystemExit):
            main([*map(str, words), "--quiet"])
    capsys.readouterr()
    arguments = ("--direction", direction, "--distance", distance, "--out", tmp_path / "o.csv")
    assert answer(capsys, "apply", walk, UNIT, *arguments)["epsilon_location"] == 4.0
