"""What a study says from Python: the same as its command, in every form."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput

WATER = {"population": "water-sample", "metric": "fp", "tau": 0.05}
CAPACITY = md.CapacityStudy("grr,oue", 18000, **WATER)
BENCH = md.BenchStudy(1.0, law="poisson", users=400, bins=6, protocols="grr,oue", methods="raw,norm-sub", runs=2)
ASKED = {
    "capacity": (CAPACITY, "-p grr,oue --capacity 18000 --population water-sample --metric fp --tau 0.05"),
    "bench": (BENCH, "-e 1 --law poisson --users 400 --bins 6 -p grr,oue -m raw,norm-sub -r 2"),
    "gain": (
        md.GainStudy("grr", "poisson", 1, 8, 500, runs=1, method="ibu"),
        "-p grr --laws poisson --eps 1 --bins 8 --users 500 -r 1 --method ibu",
    ),
    "trajectory compare": (
        md.PathStudy(eps=(2.0, 4.0), methods="tracs-c,laplace", paths=5, length=4, seed=1),
        "--eps 2,4 --methods tracs-c,laplace --paths 5 --length 4 --seed 1",
    ),
    "compare": (md.CompareStudy(2.0, mechanisms="ogpm,laplace"), "--eps 2 --mechanisms ogpm,laplace"),
}


@pytest.fixture(params=ASKED)
def command(request: pytest.FixtureRequest) -> str:
    return request.param


def test_the_answer_in_python_is_that_of_the_command(command: str) -> None:
    study, words = ASKED[command]
    run = [sys.executable, "-m", "mechdesign", *command.split(), *words.split(), "--json", "--quiet"]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert json.loads(study.answer().json()) == json.loads(done.stdout)


def test_text_html_and_frame_hold_every_row(command: str) -> None:
    found: Any = ASKED[command][0].answer()
    frame = found.frame()
    assert len(frame) == len(found.rows) > 0
    name = next(word for word in ("protocol", "name", "method") if word in frame)
    assert all(one in str(found) and one in found._repr_html_() for one in frame[name])


def test_texts_and_values_are_the_same_question() -> None:
    assert md.CapacityStudy(("grr", "oue"), (18000.0,), **WATER) == CAPACITY


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"delta": 0.001}, "come with --method relaxed"),
        ({"at_eps": 1.0, "max_eps": 2.0}, "be left out with --at-eps"),
        ({"data": "meters.csv"}, "be one of --data, --population, and one only"),
    ],
)
def test_an_option_without_effect_is_refused_in_python_too(more: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        md.CapacityStudy("grr", 18000, **WATER | more)


def test_an_answer_draws_itself() -> None:
    assert CAPACITY.answer().plot().axes
