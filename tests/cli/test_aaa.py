"""`aaa`: the JSON interface, the reference numbers, data files, tuning, pictures, and every kind of bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign import load_design
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.additive import tune

PNG = b"\x89PNG\r\n\x1a\n"
NORMAL = ("aaa", "--eps", "1", "--prior", "normal:0,0.1")


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    file = tmp_path / "ages.csv"
    values = np.clip(np.random.default_rng(4).normal(40, 10, 300), 1, 99).round()
    values[:3] = (-5, 104, 104)
    file.write_text("id,age\n" + "".join(f"{k},{value:g}\n" for k, value in enumerate(values)))
    return file


def test_json_gives_both_optima_and_the_field(run: Any) -> None:
    outcome = run(*NORMAL, "--json", "--quiet")
    document = outcome.json
    assert outcome.err == ""
    assert {"problem", "mechanism", "certificate", "report", "comparison", "best_published"} <= document.keys()
    additive, free = document["optima"]["additive"], document["optima"]["free"]
    assert additive["lower"] <= 3.35097 * (1 + 1e-5)
    assert additive["upper"] >= 3.35097 * (1 - 1e-5)
    assert free["lower"] <= 3.35084 * (1 + 1e-5)
    assert free["upper"] >= 3.35084 * (1 - 1e-5)
    assert (additive["claimed"], free["claimed"]) == (False, False)
    assert additive["total"] == pytest.approx(additive["upper"] + 0.0625**2 / 6, rel=1e-6)  # of a smooth prior
    assert document["best_published"] == "pm"
    averages = {row["name"]: row["average"] for row in document["comparison"]}
    assert averages["pm"] == pytest.approx(3.698, abs=1e-3)
    assert min(averages, key=averages.__getitem__) == "free reports"
    assert all({"average", "total", "above_optimum", "published"} <= row.keys() for row in document["comparison"])
    assert (document["form"], document["clipped"], document["tuning"]) == ("additive", 0.0, None)


def test_people_read_both_certificates_and_the_field(run: Any) -> None:
    out = run(*NORMAL, "--bins", "16").out
    assert "reports on the grid: 3.362" in out
    assert "proven in rational arithmetic" in out
    assert "free reports: 3.36" in out
    assert "rounding to the grid adds 0.0026" in out
    assert "best published: pm" in out


def test_the_saved_design_is_of_the_form_asked_for_and_shown(run: Any, tmp_path: Path) -> None:
    kinds = {"additive": ConditionalNoise, "free": UnbiasedWindow}
    for form, kind in kinds.items():
        file, picture = tmp_path / f"{form}.json", tmp_path / f"{form}.png"
        out = run(*NORMAL, "--bins", "8", "--form", form, "--out", str(file), "--plot", str(picture)).out
        assert f"saved {file}" in out
        assert picture.read_bytes().startswith(PNG)
        assert isinstance(load_design(file).mechanism, kind)
        again = tmp_path / f"{form}-again.png"
        shown = run("show", str(file), "--plot", str(again))
        assert shown.code == 0
        assert "checked again" in shown.out
        assert again.read_bytes().startswith(PNG)


def test_reach_and_domain_are_taken(run: Any) -> None:
    document = run(
        "aaa", "--eps", "2", "--prior", "uniform", "--domain=0,10", "--bins", "4", "--reach", "3", "--json"
    ).json
    assert (document["problem"]["among"]["bins"], document["problem"]["among"]["reach"]) == (4, 3)
    assert document["problem"]["inputs"] == {"kind": "interval", "lower": 0.0, "upper": 10.0}
    assert document["span"] == pytest.approx(7 / 5)


def test_tuning_shows_what_was_tried_and_uses_the_best(run: Any) -> None:
    command = ("aaa", "--eps", "0.5", "--prior", "normal:0,0.1", "--tune")
    document = run(*command, "--json").json
    tried = {(trial["bins"], trial["reach"]): trial["total"] for trial in document["tuning"]}
    chosen = document["problem"]["among"]["bins"], document["problem"]["among"]["reach"]
    assert tried[chosen] <= 1.001 * min(tried.values())
    assert document["optima"]["additive"]["total"] == pytest.approx(tried[chosen], rel=2e-4)
    assert "chosen" in run(*command).out


def test_data_outside_the_bounds_is_an_error_unless_clipped(run: Any, ages: Path) -> None:
    command = ("aaa", "--eps", "1", "--data", str(ages), "--column", "age", "--bounds", "0,100", "--bins", "10")
    refused = run(*command)
    assert refused.code == 2
    assert "1% of the rows" in refused.err
    assert "--clip" in refused.err
    document = run(*command, "--clip", "--json").json
    assert document["clipped"] == pytest.approx(0.01)
    assert sum(document["problem"]["criterion"]["prior"]["weights"]) == pytest.approx(1)
    assert "moved into the bounds" in run(*command, "--clip").out


def test_a_design_from_data_says_what_it_reveals(run: Any, ages: Path) -> None:
    command = ("aaa", "--eps", "1", "--data", str(ages), "--column", "age", "--bounds=-10,110", "--bins", "6")
    (note,) = run(*command, "--json").json["notes"]
    assert "reveals this column" in note
    assert f"note: {note}" in run(*command).out
    assert run(*NORMAL, "--bins", "6", "--json").json["notes"] == []
    assert "reveals" in run("aaa", "--help").out


def test_a_search_that_ends_early_is_told(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechdesign.studies.additive.tune", lambda *given, **more: tune(*given, most_bins=8, **more))
    command = ("aaa", "--eps", "4", "--prior", "normal:0,0.05", "--tune")
    (note,) = run(*command, "--json").json["notes"]
    assert "more than 8 bins were not tried" in note
    assert f"note: {note}" in run(*command).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--eps", "1"), "be one of --prior, --data, and one only (got None)"),
        (("--eps", "0", "--prior", "uniform"), "eps must"),
        (("--eps", "20", "--prior", "uniform"), "eps must"),
        (("--eps", "1", "--prior", "normal:0"), "prior must"),
        (("--eps", "1", "--prior", "uniform", "--bins", "1"), "bins must"),
        (("--eps", "1", "--prior", "uniform", "--reach", "0"), "reach must"),
        (("--eps", "1", "--prior", "uniform", "--form", "fancy"), "form must"),
        (("--eps", "1", "--prior", "uniform", "--gap", "0"), "gap must"),
        (("--eps", "1", "--prior", "uniform", "--time-limit", "0"), "time limit must"),
        (("--eps", "1", "--prior", "uniform", "--tune", "--bins", "8"), "left out with --tune (got '--bins')"),
        (("--eps", "1", "--prior", "uniform", "--clip"), "clip must come with --data"),
        (("--eps", "1", "--prior", "uniform", "--column", "age"), "column must come with --data (got 'age')"),
        (("--eps", "1", "--prior", "uniform", "--column", "age", "--clip"), "column must come with --data"),
        (("--eps", "0.001", "--prior", "uniform", "--bins", "64"), "eps must be at least 0.0"),
        (("--eps", "1", "--data", __file__, "--column", "age", "--bounds", "1,0"), "bounds must have its lower end"),
        (("--eps", "1", "--prior", "uniform", "--bounds", "0,1"), "--domain"),
        (("--eps", "1", "--prior", "uniform", "--domain", "1,0"), "domain"),
        (("--eps", "1", "--prior", "uniform", "--plot", "noise.txt"), "plot file"),
        (
            ("--eps", "1", "--prior", "uniform", "--data", __file__, "--column", "a", "--bounds", "0,1"),
            "one or the other",
        ),
        (("--eps", "1", "--data", __file__, "--column", "age", "--bounds", "0,1;0,2"), "bounds must"),
        (("--eps", "1", "--data", __file__, "--column", "age"), "bounds must be given"),
        (("--eps", "1", "--data", "x.csv", "--bounds", "0,1"), "data file"),
        (("--eps", "1", "--data", __file__, "--column", "age", "--domain", "0,1"), "--bounds"),
        (("--eps", "1", "--data", "none.csv", "--column", "age", "--bounds", "0,1"), "data file"),
    ],
)
def test_bad_input_is_refused_in_one_line(run: Any, arguments: tuple[str, ...], words: str) -> None:
    outcome = run("aaa", *arguments)
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_search_that_is_stopped_leaves_with_three(run: Any) -> None:
    outcome = run(*NORMAL, "--time-limit", "1e-6")
    assert outcome.code == 3
    assert "the optimum lies in" in outcome.err
