"""The command for places: what it prints, how it is read, and every bad input with its next step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

GRID = "name,x,y,people\n" + "".join(f"p{i}{j},{i},{j},{1 + i}\n" for i in range(3) for j in range(3))


@pytest.fixture
def places(tmp_path: Path) -> str:
    file = tmp_path / "places.csv"
    file.write_text(GRID)
    return str(file)


def test_a_grid_has_its_optimum_rivals_and_adversary(run: Any, places: str) -> None:
    outcome = run("metric", "--points", places, "--eps", "1")
    assert outcome.code == 0
    assert "eps = 1 a unit of distance" in outcome.out
    assert "[0.88393964" in outcome.out
    assert "every pair keeps its eps" in outcome.out
    assert "Bayesian adversary" in outcome.out
    assert "exponential, remapped" in outcome.out


def test_per_says_for_how_many_units_eps_is(run: Any, tmp_path: Path) -> None:
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text("x,y\n0,0\n0,1\n1,0\n")
    large.write_text("x,y\n0,0\n0,100\n100,0\n")
    ends = []
    for file, more, unit in ((small, (), 1), (large, ("--per", "100"), 100)):
        outcome = run("metric", "--points", str(file), "--eps", "1", *more, "--json", "--no-compare", "--quiet")
        ends.append(json.loads(outcome.out)["certificate"]["upper"] / unit)
    assert ends[0] == pytest.approx(ends[1], rel=1e-5)


def test_a_column_is_the_prior_and_worst_has_none(run: Any, places: str) -> None:
    outcome = run("metric", "--points", places, "--eps", "1", "--prior", "people", "--json", "--quiet")
    said = json.loads(outcome.out)
    assert said["problem"]["criterion"]["prior"][-1] == pytest.approx(3 / 18)
    assert said["adversary_error"] == pytest.approx(said["certificate"]["upper"], rel=1e-5)
    worst = run("metric", "--points", places, "--eps", "1", "--criterion", "worst", "--json", "--quiet")
    assert json.loads(worst.out)["certificate"]["lower"] > said["certificate"]["upper"]
    refused = run("metric", "--points", places, "--eps", "1", "--criterion", "worst", "--prior", "people")
    assert refused.code == 2


def test_lexicographic_has_a_capped_worst_case_and_rivals_by_theirs(run: Any, places: str) -> None:
    given = ("metric", "--points", places, "--eps", "1", "--prior", "people", "--json", "--quiet")
    average = json.loads(run(*given).out)["certificate"]["upper"]
    both = json.loads(run(*given, "--criterion", "lexicographic", "--slack", "0.01").out)
    assert both["problem"]["criterion"]["slack"] == 0.01
    assert both["certificate"]["upper"] > average
    low, cap = both["report"]["details"]["worst case"]
    assert cap == pytest.approx(1.01 * low, rel=1e-9)
    assert all(rival["lower"] >= low for rival in both["comparison"])
    shown = run(*given[:-2], "--criterion", "lexicographic").out
    assert "average loss under the prior, worst case within 0.1% of the least: " in shown
    assert "worst above least" in shown


def test_the_globe_and_numbers_are_read_by_their_columns(run: Any, tmp_path: Path) -> None:
    globe, line = tmp_path / "globe.csv", tmp_path / "line.csv"
    globe.write_text("lat,lon\n52.5,13.4\n52.51,13.41\n52.52,13.38\n")
    line.write_text("x\n3\n1\n2\n")
    outcome = run("metric", "--points", str(globe), "--eps", "1", "--per", "1")
    assert outcome.code == 0
    assert "a kilometre" in outcome.out
    numbers = run("metric", "--points", str(line), "--eps", "1")
    assert "optimum over all mechanisms:" in numbers.out
    assert "geometric, remapped" in numbers.out


@pytest.mark.parametrize(
    ("text", "more"),
    [("x\n3\n1\n", ()), ("lat,lon\n9,0\n1,1\n", ("--per", "100")), (GRID, ("--criterion", "lexicographic"))],
)
def test_free_reports_that_there_is_no_bound_for_are_refused_in_words_of_the_command(
    run: Any, tmp_path: Path, text: str, more: tuple[str, ...]
) -> None:
    file = tmp_path / "places.csv"
    file.write_text(text)
    outcome = run("metric", "--points", str(file), "--eps", "1", "--free", *more)
    assert outcome.code == 2
    assert "drop --free" in outcome.err


def test_the_adversary_of_free_reports_guesses_places(run: Any, places: str) -> None:
    """Guesses anywhere would leave less than the loss; what is printed may be more."""
    outcome = run("metric", "--points", places, "--eps", "1", "--free", "--gap", "0.1")
    assert "guesses one of the places is left with" in outcome.out


def test_a_design_of_places_becomes_a_table_that_takes_and_gives_names(run: Any, places: str, tmp_path: Path) -> None:
    design, table, data, out = (str(tmp_path / name) for name in ("d.json", "t.json", "in.csv", "out.csv"))
    assert run("metric", "--points", places, "--eps", "1", "--out", design, "--quiet").code == 0
    assert "a unit of distance" in run("show", design).out
    assert run("table", design, "--out", table).code == 0
    verified = run("verify", table)
    assert verified.out.startswith("PASS")
    assert "every pair of inputs keeps its own eps" in verified.out
    Path(data).write_text("where\n" + "p00\np22\n" * 500)
    assert run("apply", table, "--in", data, "--column", "where", "--out", out).code == 0
    estimate = run("estimate", table, "--in", out, "--column", "where")
    assert estimate.code == 0
    assert "p00" in estimate.out
    assert run("export", table, "--to", "python", "--out", str(tmp_path / "exported")).code == 0


def test_a_privacy_matrix_takes_the_place_of_eps(run: Any, tmp_path: Path) -> None:
    loss, privacy = tmp_path / "loss.csv", tmp_path / "privacy.csv"
    loss.write_text("0,1,1\n1,0,1\n1,1,0\n")
    privacy.write_text("0,1,inf\n1,0,1\ninf,inf,0\n")
    given = ("minimax", "--loss-matrix", str(loss), "--privacy-matrix", str(privacy))
    outcome = run(*given, "--criterion", "prior")
    assert outcome.code == 0
    assert "NOT PROTECTED: 2 of 6" in outcome.err
    assert "NOT PROTECTED: 2 of 6" in outcome.out
    both = run(*given, "--criterion", "lexicographic", "--prior", "0.2,0.3,0.5", "--slack", "0.01")
    assert both.code == 0
    assert "at most 1.01 times the least" in both.out
    assert run(*given, "--slack", "0.01").code == 2
    assert run(*given, "--eps", "1").code == 2
    assert run("minimax", "--privacy-matrix", str(privacy)).code == 2
    assert run(*given, "--criterion", "pareto").code == 2


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        ("x,y\n0,0\n0,0\n", (), "rows 0 and 1 are the same"),
        ("x,y\n0,\n1,1\n", (), "row 2 of places.csv, column 'y' must hold a finite number"),
        ("x,y\n0,nan\n1,1\n", (), "hold a finite number"),
        ("lat\n1\n", (), "have a column longitude"),
        ("lat,lon\n95,0\n1,1\n", ("--per", "1"), "latitude between -90 and 90"),
        ("lat,lon\n5,0\n1,1\n", (), "for how many kilometres"),
        ("a,b\n1,2\n", (), "x and y; latitude and longitude; or x alone"),
        ("x,y\n0,0\n1,1\n", ("--per", "0"), "per must be above 0"),
        ("x,y\n0,0\n1,1\n", ("--prior", "w"), "be one of x, y"),
        ("x,y\n0,0\n1,1\n", ("--loss", "cubed"), "be euclidean, squared, or a matrix"),
        ("x,y\n0,0\n1,1\n", ("--criterion", "pareto"), "be one of worst, prior"),
        ("x,y\n0,0\n1,1\n", ("--slack", "0.1"), "slack must come with --criterion lexicographic"),
        ("x,y\n0,0\n1,1\n", ("--criterion", "lexicographic", "--slack", "0"), "slack must be at least 1e-09"),
        ("x,y\n0,0\n1,1\n", ("--criterion", "lexicographic", "--free"), "prior or worst with --free"),
        ("x,y\n", (), "hold a place"),
    ],
)
def test_bad_places_are_refused_with_their_row_and_rule(
    run: Any, tmp_path: Path, text: str, more: tuple[str, ...], words: str
) -> None:
    file = tmp_path / "places.csv"
    file.write_text(text)
    outcome = run("metric", "--points", str(file), "--eps", "1", *more)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


def test_a_limit_that_comes_first_exits_with_3_and_bounds_and_best_so_far_with_a_design(run: Any, places: str) -> None:
    outcome = run("metric", "--points", places, "--eps", "1", "--time-limit", "0.000001")
    assert outcome.code == 3
    assert "the optimum lies in" in outcome.err
    found = run("metric", "--points", places, "--eps", "1", "--time-limit", "0.000001", "--best-so-far", "--no-compare")
    assert found.code == 0
    assert "best design so far" in found.out


def test_free_reports_are_places_of_the_plane_and_beat_the_grid(run: Any, places: str, tmp_path: Path) -> None:
    design, table = str(tmp_path / "d.json"), str(tmp_path / "t.json")
    outcome = run("metric", "--points", places, "--eps", "1", "--free", "--out", design, "--json", "--quiet")
    said = json.loads(outcome.out)
    assert said["certificate"]["valid_for"] == "all mechanisms"
    assert said["certificate"]["upper"] <= 0.8741
    assert said["certificate"]["lower"] >= 0.8731
    told = said["problem"]["among"]["places"]
    assert {len(place) for place in told} == {2}
    assert "the plane" in run("metric", "--points", places, "--eps", "1", "--free", "--gap", "0.05", "--quiet").out
    assert run("table", design, "--out", table).code == 0
    assert run("verify", table).out.startswith("PASS")
