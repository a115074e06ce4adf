"""`compare`: the table over epsilon and its picture."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from mechdesign import Absolute, Interval, catalogue


def test_cells_are_the_catalogue_s_own_numbers(run: Any) -> None:
    cells = run("compare", "--eps", "1,2", "--domain", "-2,3", "--json").json["cells"]
    assert len(cells) == 2 * (len(catalogue.ON_INTERVALS) + 1)
    for cell in cells:
        if cell["name"] == "optimal piecewise":
            continue
        mechanism = catalogue.build(cell["name"], cell["eps"], Interval(-2, 3), Absolute())
        assert cell["worst"] == pytest.approx(mechanism.worst_case(Absolute())[0])
        assert cell["average"] == pytest.approx(mechanism.average_loss(Absolute()))


def test_section_5_6_s_ratios_come_out(run: Any) -> None:
    cells = run("compare", "--eps", "2,4", "--mechanisms", "ogpm,pm-c,sw-c", "--json").json["cells"]
    average = {(cell["name"], cell["eps"]): cell["average"] for cell in cells}
    ratios = [average["ogpm", eps] / average[rival, eps] for eps in (2.0, 4.0) for rival in ("pm-c", "sw-c")]
    assert ratios == pytest.approx([0.942, 0.923, 0.905, 0.747], abs=5e-4)


def test_a_range_is_drawn(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "errors.png"
    outcome = run("compare", "--eps", "0.5:4:12", "--circular", "--plot", str(path))
    assert outcome.code == 0
    assert "optimal piecewise" in outcome.out
    assert path.stat().st_size > 20_000


def test_every_cell_is_measured_from_the_certified_floor(run: Any) -> None:
    document = run("compare", "--eps", "1,2", "--loss", "squared", "--json").json
    floor = {row["eps"]: row for row in document["floor"]}
    assert floor[2.0]["lower"] <= 0.10688314
    assert floor[2.0]["upper"] >= 0.10688294
    for cell in document["cells"]:
        assert cell["above_optimum"] == pytest.approx(100 * (cell["worst"] / floor[cell["eps"]]["upper"] - 1))
        assert cell["worst"] >= floor[cell["eps"]]["lower"]


def test_one_epsilon_is_a_leaderboard_with_the_optimum_on_top(run: Any) -> None:
    lines = run("compare", "--eps", "2").out.splitlines()
    assert lines[1].split() == ["mechanism", "worst", "case", "above", "optimum", "average"]
    assert lines[2].startswith("certified optimum")
    excess = {line.split()[0]: line.split()[2] for line in lines[3:-1] if not line.startswith("optimal")}
    assert excess["t-sw"] == "+16.8%"
    assert excess["ogpm"] == "+33.9%"
    assert "proven to within" in lines[-1]


def test_several_epsilons_have_a_table_of_per_cents(run: Any) -> None:
    out = run("compare", "--eps", "1,2").out
    assert "Above the certified optimum" in out
    assert out.count("certified optimum  ") == 1


def test_a_wide_floor_is_shown_as_an_interval_and_its_excess_as_at_least(run: Any) -> None:
    out = run("compare", "--eps", "20", "--loss", "squared").out
    assert "certified optimum    [" in out
    assert "≥ +" in out
    assert "interval" in out


def test_a_floor_that_rests_on_doubles_is_not_called_proven(run: Any) -> None:
    out = run("compare", "--eps", "1", "--loss", "power:1.5").out
    assert "proven" not in out
    assert "proven" not in run("ogpm", "--eps", "1", "--loss", "power:1.5").out.split("optimum over all")[1]
    assert "proven" in run("compare", "--eps", "1", "--loss", "squared").out


def test_on_a_circle_the_optimal_piecewise_mechanism_is_the_floor(run: Any) -> None:
    document = run("compare", "--eps", "2", "--circular", "--json").json
    above = {cell["name"]: cell["above_optimum"] for cell in document["cells"]}
    assert above["optimal piecewise"] == pytest.approx(0.0, abs=1e-9)
    assert all(value >= -1e-9 for value in above.values())


@pytest.mark.parametrize("eps", ["2", "1,2"])
def test_the_leaderboard_is_drawn(run: Any, tmp_path: Path, eps: str) -> None:
    path = tmp_path / "board.svg"
    assert run("compare", "--eps", eps, "--plot", str(path)).code == 0
    assert path.stat().st_size > 20_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--eps", "1", "--mechanisms", "gauss"), "be one of laplace"),
        (("--eps", "2,1"), "increase"),
        (("--eps", "1:2"), "FROM:TO:COUNT"),
        (("--eps", "1:2:1"), "count from 2"),
        (("--eps", "1,nan"), "eps must be a number"),
        (("--eps", ""), "FROM:TO:COUNT"),
        (("--eps", "1", "--plot", "x"), ".png"),
    ],
    ids=str,
)
def test_bad_input_exits_with_2(run: Any, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("compare", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""


def test_the_numbers_of_the_picture_are_a_table(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "errors.csv"
    asked = ("compare", "--eps", "1,2", "--mechanisms", "ogpm,pm-c")
    assert f"saved {path}" in run(*asked, "--out", str(path)).out
    document = run(*asked, "--json").json
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(float(row["eps"]), row["name"], float(row["worst"])) for row in rows] == [
        (cell["eps"], cell["name"], cell["worst"]) for cell in document["cells"]
    ]
    found = sorted({float(row["optimum_upper"]) for row in rows})  # of another search, which a clock may have ended
    assert found == pytest.approx(sorted(floor["upper"] for floor in document["floor"]), rel=1e-4)
    assert run(*asked, "--out", str(tmp_path / "errors.txt")).code == 2


@pytest.mark.parametrize("epsilon", ["1", "16", "64"])
def test_nothing_is_below_the_optimum_over_all_mechanisms(run: Any, epsilon: str) -> None:
    outcome = run("compare", "--eps", epsilon, "--json")
    assert min(cell["above_optimum"] for cell in outcome.json["cells"]) >= 0
