"""`ogpm`: the JSON interface, the numbers of the spec, files, and every kind of bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("arguments", "p", "worst"),
    [
        (("--eps", "1"), 1.6487, 0.37754),
        (("--eps", "1", "--loss", "squared"), 1.5093, 0.21730),
        (("--eps", "4", "--loss", "squared"), 4.6252, 0.04064),
        (("--eps", "1", "--method", "scip"), 1.6487, 0.37754),
        (("--eps", "1", "--loss", "squared", "--method", "scip"), 1.5093, 0.21730),
        (("--eps", "4", "--loss", "squared", "--method", "scip"), 4.6252, 0.04064),
        (("--eps", "1", "--pieces", "19"), 1.6487, 0.37754),
    ],
)
def test_both_methods_reach_the_numbers_of_the_spec(
    run: Any, arguments: tuple[str, ...], p: float, worst: float
) -> None:
    document = run("ogpm", *arguments, "--json").json
    assert document["mechanism"]["p"] == pytest.approx(p, abs=6e-5)
    assert document["certificate"]["upper"] == pytest.approx(worst, abs=6e-6)
    assert document["certificate"]["lower"] <= document["certificate"]["upper"]
    assert document["certificate"]["claimed"] is ("scip" in arguments)


def test_json_has_the_keys_of_the_interface(run: Any) -> None:
    outcome = run("ogpm", "--eps", "2", "--json")
    document = outcome.json
    assert outcome.err == ""
    assert {"problem", "mechanism", "certificate", "report", "floor", "comparison"} <= document.keys()
    assert {"kind", "p", "pieces"} <= document["mechanism"].keys()
    assert {"lower", "upper", "valid_for", "claimed", "privacy_loss"} <= document["certificate"].keys()
    assert {"seconds", "solver", "versions"} <= document["report"].keys()
    assert [row["x"] for row in document["mechanism"]["pieces"]] == [0.0, 0.5, 1.0]
    for row in document["mechanism"]["pieces"]:
        assert len(row["edges"]) == len(row["densities"]) + 1
        mass = sum(
            density * (stop - start)
            for density, start, stop in zip(row["densities"], row["edges"], row["edges"][1:], strict=False)
        )
        assert mass == pytest.approx(1.0, abs=1e-12)
    assert all({"name", "worst", "average"} <= row.keys() for row in document["comparison"])
    assert document["floor"]["lower"] <= document["floor"]["upper"] <= document["certificate"]["upper"]


def test_the_floor_on_a_circle_is_the_design_itself(run: Any) -> None:
    document = run("ogpm", "--eps", "4", "--circular", "--loss", "squared", "--json").json
    assert document["floor"]["upper"] == pytest.approx(0.40106, abs=5e-6)
    assert document["certificate"]["valid_for"] == "all mechanisms"


def test_at_minimises_the_error_at_one_input(run: Any) -> None:
    document = run("ogpm", "--eps", "1", "--at", "0.2", "--json").json
    assert document["mechanism"]["p"] == pytest.approx(1.546, abs=1e-3)
    names = [row["name"] for row in document["comparison"]]
    assert names[:2] == ["rr-bins", "this design"]  # bins are no piecewise mechanism: they can beat its optimum
    assert document["comparison"][1]["at"] == pytest.approx(0.241, abs=5e-4)


def test_polar_splits_epsilon(run: Any) -> None:
    document = run("ogpm", "--eps", str(1 + 2 * math.pi), "--polar", "--loss", "squared", "--json").json
    assert document["mechanism"]["epsilons"] == pytest.approx([1.5298, 5.7534], abs=1e-3)


def test_unbiased_beats_pm_and_defaults_to_the_squared_error(run: Any) -> None:
    document = run("ogpm", "--eps", "2", "--unbiased", "--json").json
    rows = {row["name"]: row["worst"] for row in document["comparison"]}
    assert document["problem"]["loss"] == {"kind": "power", "exponent": 2.0, "period": None}
    assert rows["this design"] < rows["pm"] < rows["ogpm-u"]


@pytest.mark.parametrize(
    "extra", [(), ("--circular",), ("--polar",), ("--unbiased",), ("--at", "0.3"), ("--pieces", "2"), ("--pieces", "1")]
)
def test_people_get_tables_and_a_certificate(run: Any, extra: tuple[str, ...]) -> None:
    outcome = run("ogpm", "--eps", "2", *extra)
    assert outcome.code == 0
    assert ("privacy loss: 0" if extra == ("--pieces", "1") else "privacy loss: 2") in outcome.out
    assert "optimum over" in outcome.out


BAD: list[tuple[tuple[str, ...], str]] = [
    (("--eps", "nan"), "eps must be a number"),
    (("--eps", "1", "--loss", ""), "absolute, squared or power:P"),
    (("--eps", "inf"), "eps must be a finite number"),
    (("--eps", "0"), "eps must be a finite number above 0"),
    (("--eps", "-1"), "eps must be a finite number above 0"),
    (("--eps", "1e4"), "at most 64"),
    (("--eps", "abc"), "valid"),
    (("--eps", "1", "--pieces", "0"), "pieces must be a whole number"),
    (("--eps", "1", "--pieces", "1000"), "pieces must be a whole number"),
    (("--eps", "1", "--domain", "1,0"), "lower end below"),
    (("--eps", "1", "--domain", "1,1"), "lower end below"),
    (("--eps", "1", "--domain", "x,y"), "two numbers"),
    (("--eps", "1", "--domain", "0,1,2"), "two numbers"),
    (("--eps", "1", "--domain", "0,inf"), "finite"),
    (("--eps", "1", "--at", "7"), "at must lie in [0, 1]"),
    (("--eps", "1", "--loss", "cubic"), "absolute, squared or power:P"),
    (("--eps", "1", "--loss", "power:x"), "absolute, squared or power:P"),
    (("--eps", "1", "--loss", "power:-1"), "(0, 16]"),
    (("--eps", "1", "--method", "gurobi"), "reduction or scip"),
    (("--eps", "1", "--polar", "--circular"), "at most one"),
    (("--eps", "1", "--unbiased", "--loss", "absolute"), "squared"),
    (("--eps", "1", "--outputs", "0.5,2"), "contain the inputs"),
    (("--eps", "1", "--circular", "--domain", "1,3"), "start at 0"),
    (("--eps", "1", "--plot", "x.docx"), ".png, .pdf, .svg"),
    (("--eps", "1", "--out", "no/such/folder/x.json"), "existing folder"),
    (("--eps", "1", "--method", "scip", "--time-limit", "0"), "above 0"),
    (("--eps", "1", "--time-limit", "nan"), "above 0"),
    (("--eps", "1", "--circular", "--at", "1"), "on a circle"),
    (("--eps", "40", "--domain", "1000000,1000001"), "lie nearer to 0"),
    (("--eps", "1", "--domain", "1e15,1000000000000001"), "domain"),
    (("--eps", "1", "--domain", "0,1e20", "--loss", "power:16"), "domain"),
    ((), "--eps"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[" ".join(arguments) or "nothing" for arguments, _ in BAD])
def test_bad_input_exits_with_2_and_says_what_is_wrong(
    run: Any, arguments: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("ogpm", *arguments)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_reaching_the_time_limit_exits_with_3_and_prints_bounds(run: Any) -> None:
    arguments = ("--eps", "4", "--method", "scip", "--pieces", "8", "--at", "0.3", "--time-limit", "1", "--quiet")
    outcome = run("ogpm", *arguments)
    assert outcome.code == 3
    assert "the optimum lies in [" in outcome.err
    assert outcome.out == ""


def test_files_are_written_whole_and_never_over_others(run: Any, tmp_path: Path) -> None:
    out, plot = tmp_path / "design.json", tmp_path / "design.png"
    arguments = ("ogpm", "--eps", "1", "--out", str(out), "--plot", str(plot))
    assert run(*arguments).code == 0
    assert json.loads(out.read_text())["mechanism"]["kind"] == "piecewise"
    assert plot.read_bytes().startswith(PNG)
    before = out.read_bytes()
    refused = run(*arguments)
    assert refused.code == 2
    assert "not exist" in refused.err
    assert out.read_bytes() == before
    assert run(*arguments, "--force").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["design.json", "design.png"]


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
@pytest.mark.parametrize("extra", [(), ("--circular",), ("--polar",), ("--unbiased",)])
def test_every_kind_of_design_can_be_drawn(run: Any, extra: tuple[str, ...], ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture.{ending}"
    assert run("ogpm", "--eps", "3", *extra, "--plot", str(path)).code == 0
    assert path.stat().st_size > 5_000


def test_one_piece_on_a_circle_is_not_called_the_global_optimum(run: Any) -> None:
    outcome = run("ogpm", "--eps", "1", "--circular", "--pieces", "1")
    assert outcome.code == 0
    assert "global optimum" not in outcome.out


def test_far_away_domains_print_edges_with_enough_digits(run: Any) -> None:
    outcome = run("ogpm", "--eps", "2", "--domain", "1000000,1000001", "--loss", "squared")
    assert outcome.code == 0
    assert "1000000.36" in outcome.out


def test_polar_json_has_the_pieces_of_each_coordinate(run: Any) -> None:
    parts = run("ogpm", "--eps", "6", "--polar", "--json").json["mechanism"]["parts"]
    assert [len(part["pieces"]) for part in parts] == [3, 3]
    assert all(part["p"] == part["high"] for part in parts)
