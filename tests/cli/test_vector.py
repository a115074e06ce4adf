"""Several numbers of each person: from a file to what people send and to estimates, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign.studies.frequencies.vector_designs import GRID, NUMBERS, SIGNS
from mechdesign.studies.vector import VectorStudy
from tests.cli.conftest import Run
from tests.methods.problems import several

COLUMNS = ("--columns", "age,income,steps,sleep,score", "--bounds", "18,90;0,100;0,20000;0,12;-1,1")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    table = np.column_stack(
        [rng.uniform(*ends, 4000) for ends in ((18, 60), (0, 50), (0, 9000), (5, 9), (-0.5, 0.5))]
    ).round(3)
    path = tmp_path / "people.csv"
    np.savetxt(path, table, delimiter=",", header="age,income,steps,sleep,score", comments="", fmt="%.3f")
    return path


def test_five_columns_become_estimates_in_two_commands(run: Run, people: Path, tmp_path: Path) -> None:
    sent = tmp_path / "sent.csv"
    first = json.loads(run("vector", "--eps", "2", *COLUMNS, "--data", str(people), "--send", str(sent), "--json").out)
    second = json.loads(run("vector", "--eps", "2", *COLUMNS, "--reports", str(sent), "--json").out)
    assert first["numbers"] == second["numbers"]
    assert second["users"] == 4000
    reports = np.loadtxt(sent, delimiter=",", skiprows=1)
    assert (abs(reports).sum(axis=1) == second["drawn"]).all()
    held = np.loadtxt(people, delimiter=",", skiprows=1).mean(axis=0)
    for number, mean in zip(second["numbers"], held, strict=True):
        found, error = number["estimate"]["estimate"], number["estimate"]["standard_error"]
        assert abs(found - mean) <= 6 * error  # the system's randomness: off in one of 10^8 runs


def test_the_text_has_the_design_each_number_and_published_ways(run: Run) -> None:
    said = run("vector", "--eps", "4", "--count", "10", "--users", "100000", "--width", "0.05").out
    assert "4 are drawn" in said
    assert "42.1537" in said
    assert "duchi, sampled" in said
    assert "6,478" in said  # 1.96^2 * 4.2154 / .05^2
    assert "All are within +-0.05 from eps = " in said


def test_the_eps_for_a_width_is_that_at_which_the_intervals_are_as_narrow() -> None:
    """With k = 1 the reach is ``1.96 coth(eps / 2) sqrt(d / n)`` in units of half a range."""
    found = VectorStudy(1.0, count=5, users=20_000, width=0.06).answer().epsilon_for_width
    assert found is not None
    assert 1.959964 / np.tanh(found / 2) * np.sqrt(5 / 20_000) <= 0.06
    assert 1.959964 / np.tanh((found - 0.002) / 2) * np.sqrt(5 / 20_000) >= 0.06
    assert VectorStudy(1.0, count=5, users=20, width=0.06).answer().epsilon_for_width is None


def test_the_same_seed_simulates_the_same(people: Path) -> None:
    asked: dict[str, Any] = {"columns": COLUMNS[1], "bounds": COLUMNS[3], "data": people}
    assert VectorStudy(2.0, **asked, seed=3).answer() == VectorStudy(2.0, **asked, seed=3).answer()


def test_a_design_that_is_kept_is_proven_again(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "design.json"
    run("vector", "--eps", "2", "--count", "3", "--weights", "1,4,9", "--by", "signs", "--out", str(kept))
    assert str(md.load_design(kept).problem.inputs) == "[-1, 1] x [-2, 2] x [-3, 3]"
    assert run("table", str(kept), "--out", str(tmp_path / "table.json")).code == 0
    table = md.load_table(tmp_path / "table.json")
    assert table.labels.inputs == table.labels.outputs == ("minus/minus", "plus/minus", "minus/plus", "plus/plus")


def test_a_guess_chooses_the_design_with_the_least_error_expected_then() -> None:
    """Where values are small, rounding to signs throws that away; at the worst values it is far better."""
    found = VectorStudy(4.0, count=5, guess="normal:0,0.05").answer()
    ways = {way.name: way for way in found.ways}
    assert found.way.startswith(NUMBERS)
    assert found.expected == min(way.expected for way in found.ways)
    assert found.expected < ways["pm, sampled"].expected < ways[SIGNS].expected / 1.5
    assert found.worst > 2 * ways[SIGNS].worst
    assert found.upper == ways[SIGNS].worst
    assert VectorStudy(4.0, count=5).answer().way == SIGNS


@pytest.mark.parametrize(("count", "epsilon"), [(2, 1.3), (2, 4.0), (3, 6.0), (3, 8.0)])
def test_with_few_numbers_and_a_large_eps_the_optimum_for_one_number_is_best_for_the_worst_values(
    count: int, epsilon: float
) -> None:
    """It is no worse than HM's, which has the least error of what is published there, and above the proven bound."""
    found = VectorStudy(epsilon, count=count).answer()
    ways = {way.name: way for way in found.ways}
    assert found.way.startswith(NUMBERS)
    assert found.lower < found.worst == found.upper < ways[SIGNS].worst
    assert found.worst <= 1.001 * min(way.worst for name, way in ways.items() if name.startswith("hm"))


@pytest.mark.parametrize("guess", [(), ("--guess", "normal:0,0.2")])
def test_what_is_reported_as_numbers_becomes_estimates_in_two_commands(
    run: Run, tmp_path: Path, guess: tuple[str, ...]
) -> None:
    """The system's randomness: off in one of 10^8 runs."""
    rng = np.random.default_rng(1)
    held = np.clip(rng.normal((0.0, 0.3), 0.2, (4000, 2)), -1, 1).round(3)
    people, sent = tmp_path / "people.csv", tmp_path / "sent.csv"
    np.savetxt(people, held, delimiter=",", header="a,b", comments="", fmt="%.3f")
    asked = ("vector", "--eps", "4", "--columns", "a,b", *guess, "--json")
    first = json.loads(run(*asked, "--data", str(people), "--send", str(sent)).out)
    second = json.loads(run(*asked, "--reports", str(sent)).out)
    assert first["numbers"] == second["numbers"]
    assert second["way"].startswith(NUMBERS)
    for number, mean in zip(second["numbers"], held.mean(axis=0), strict=True):
        found, error = number["estimate"]["estimate"], number["estimate"]["standard_error"]
        assert abs(found - mean) <= 6 * error
        assert 1.96 * error <= 1.02 * number["reach"]
    other = run("vector", "--eps", "4.5", "--columns", "a,b", "--reports", str(sent))
    assert "reports of this design" in " ".join(other.err.split())


def test_numbers_may_weigh_the_same() -> None:
    """Half-lengths 2, 1, 1 and one number drawn: ``coth(eps / 2)^2 (2 + 1 + 1)^2``."""
    found = VectorStudy(1.0, count=3, weights="4,1,1", by="signs").answer()
    assert [one.weight for one in found.numbers] == [4.0, 1.0, 1.0]
    assert found.worst == pytest.approx(16 / np.tanh(0.5) ** 2)


def test_either_design_can_be_had_where_the_other_is_better() -> None:
    patterns = VectorStudy(4.0, count=2, by="signs").answer()
    assert (patterns.way, round(patterns.upper, 4)) == (SIGNS, 2.3097)
    numbers = VectorStudy(2.0, count=5, by="numbers").answer()
    assert numbers.way.startswith(NUMBERS)
    assert numbers.worst > numbers.upper == VectorStudy(2.0, count=5).answer().worst
    assert numbers.lower < numbers.upper


def test_places_on_a_grid_become_estimates_in_two_commands(run: Run, tmp_path: Path) -> None:
    """The system's randomness: off in one of 10^8 runs."""
    held = np.random.default_rng(1).uniform((18, 0), (60, 50), (4000, 2)).round(3)
    people, sent, kept, other = (tmp_path / name for name in ("people.csv", "sent.csv", "pair.json", "other.json"))
    np.savetxt(people, held, delimiter=",", header="a,b", comments="", fmt="%.3f")
    md.solve(several(2.0), method="cube", levels=5).save(kept)
    md.solve(several(2.0), method="cube", levels=3).save(other)
    asked = ("vector", "--eps", "2", "--columns", "a,b", "--bounds", "18,90;0,100", "--by", "grid", "--json")
    first = json.loads(run(*asked, "--design", str(kept), "--data", str(people), "--send", str(sent)).out)
    again = (*asked, "--reports", str(sent), "--design")
    second = json.loads(run(*again, str(kept)).out)
    assert first["numbers"] == second["numbers"]
    assert second["way"] == GRID
    assert second["worst"] == second["upper"] == min(way["worst"] for way in second["ways"])
    for number, mean in zip(second["numbers"], held.mean(axis=0), strict=True):
        found, error = number["estimate"]["estimate"], number["estimate"]["standard_error"]
        assert abs(found - mean) <= 6 * error
        assert 1.96 * error <= 1.1 * number["reach"]
    assert "column must be one of" in run(*again, str(other)).err
    sent.write_text(sent.read_text() + "0.5\n")
    refused = " ".join(run(*again, str(kept)).err.split())
    assert "data row 4001" in refused
    assert "reports of this design" in refused


def test_a_grid_is_named_where_it_has_less_variance(run: Run) -> None:
    assert "--by grid" in run("vector", "--eps", "2", "--count", "2").out
    assert "--by grid" not in run("vector", "--eps", "2", "--count", "2", "--weights", "1,2").out
    assert "--by grid" not in run("vector", "--eps", "2", "--count", "4").out


def test_a_grid_is_not_for_a_small_eps(run: Run) -> None:
    said = run("vector", "--eps", "0.1", "--count", "2", "--by", "grid").err
    assert "an eps of at least 0.2" in " ".join(said.split())


def test_a_saved_design_is_of_a_grid() -> None:
    with pytest.raises(md.InvalidInput, match="design must come with --by grid"):
        VectorStudy(2.0, count=2, design=Path("pair.json"))


def test_a_design_of_one_number_is_kept_and_ships_as_a_table(run: Run, tmp_path: Path) -> None:
    kept = tmp_path / "design.json"
    run("vector", "--eps", "4", "--count", "2", "--out", str(kept))
    assert md.load_design(kept).problem.epsilon == 2.0
    assert run("table", str(kept), "--out", str(tmp_path / "table.json")).code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--count", "1"], "count must be a whole number"),
        (["--count", "1001"], "of 1001 numbers little is proven"),
        (["--columns", "age"], "one column is for mean"),
        (["--count", "3", "--weights", "1,0,2"], r"weights\[1\] must be above 0"),
        (["--count", "3", "--weights", "1,2"], "one for each of the 3 numbers"),
        (["--count", "3", "--bounds", "0,1;0,2"], "one for each of the 3 numbers"),
        (["--count", "3", "--users", "0"], "users must be"),
        (["--count", "3", "--width", "0"], "width must be above 0"),
        (["--count", "3", "--send", "sent.csv"], "come with --data"),
        (["--count", "3", "--confidence", "1"], "confidence must"),
        (["--count", "3", "--by", "magic"], "by must be one of signs, numbers, grid"),
        (["--count", "4", "--by", "grid"], "but for 2 or 3 numbers of the same weight"),
        (["--count", "2", "--by", "grid", "--weights", "1,2"], "but for 2 or 3 numbers of the same weight"),
        (["--count", "2", "--by", "grid", "--users", "9", "--width", "0.1"], "where the eps for a width is asked"),
        ([], "columns must be given, or --count"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, options: list[str], words: str) -> None:
    result = run("vector", "--eps", "2", *options)
    assert result.code != 0
    assert not result.out
    assert re.search(words, " ".join(result.err.split()))


def test_values_outside_their_bounds_are_named_by_row_and_column_alone(run: Run, people: Path) -> None:
    lines = people.read_text().splitlines()
    lines[7] = "99.123,1,1,6,0"
    people.write_text("\n".join(lines))
    result = run("vector", "--eps", "2", *COLUMNS, "--data", str(people))
    said = " ".join(result.err.split())
    assert "column 'age', data row 7 first, must lie in the bounds [18, 90]" in said
    assert "99.123" not in said


def test_missing_values_are_named_by_their_row(run: Run, people: Path) -> None:
    lines = people.read_text().splitlines()
    lines[5] = "30,,1000,6,0"
    people.write_text("\n".join(lines))
    result = run("vector", "--eps", "2", *COLUMNS, "--data", str(people))
    assert result.code != 0
    assert "income" in result.err
    assert "6" in result.err


def test_a_file_that_holds_no_signs_is_no_file_of_reports(run: Run, people: Path) -> None:
    result = run("vector", "--eps", "2", *COLUMNS, "--reports", str(people))
    assert "reports must hold 1 or -1 for 2 numbers" in " ".join(result.err.split())
    assert "data row 1" in result.err


def test_a_row_with_more_signs_than_are_asked_for_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "sent.csv"
    path.write_text("age,income,steps,sleep,score\n1,0,0,0,-1\n1,1,0,0,-1\n")
    result = run("vector", "--eps", "2", *COLUMNS, "--reports", str(path))
    assert result.code != 0
    assert "data row 2" in result.err


def test_the_picture_has_what_is_proven_and_published_ways(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "errors.svg"
    assert run("vector", "--eps", "2", "--count", "5", "--plot", str(picture)).code == 0
    drawn = picture.read_text()
    assert "where the optimum is proven to be" in drawn
    assert "duchi" in drawn
