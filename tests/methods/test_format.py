"""FORMAT.md and `schema design` say what is in a design file: they are compared with files."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mechdesign import Absolute, Approximate, Average, Distances, Interval, Metric, Problem, Squared, solve
from mechdesign.methods.result import FORMAT, USE, VERSION
from mechdesign.methods.saved import design_schema
from tests.methods import problems
from tests.methods.problems import hidden_problem, joint_problem

TEXT = (Path(__file__).parents[2] / "FORMAT.md").read_text(encoding="utf-8")
SECTION = TEXT.partition(f"# The design file, schema version {VERSION}\n")[2].partition("\n# ")[0]
SCHEMA = Draft202012Validator(design_schema())


def _saved(design: Any, folder: Path) -> dict[str, Any]:
    document = json.loads(design.save(folder / "design.json", overwrite=True).read_text())
    assert isinstance(document, dict)
    return document


DESIGNS: dict[str, Any] = {
    "line": lambda: solve(problems.piecewise(1.0, Squared())),
    "line onto more": lambda: solve(problems.piecewise(2.0, Absolute(), outputs=Interval(-0.5, 2))),
    "at": lambda: solve(problems.piecewise(0.5, Absolute(), at=0.3)),
    "hidden joint": lambda: solve(hidden_problem(1.0, 200, 0.03)),
    "hidden joint with a delta": lambda: solve(hidden_problem(1.0, 20, 0.0, delta=1e-2)),
    "delta": lambda: solve(Problem(loss=[[0, 1], [1, 0]], privacy=Approximate(1.0, 1e-3))),
    "places": lambda: solve(Problem(loss=Distances(), privacy=Metric([0, 1], 1.0), criterion=Average())),
    "joint": lambda: solve(joint_problem(1.0, 1000, 0.2, caps=(1.5,))),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_file_has_the_documented_keys_and_no_others(name: str, tmp_path: Path) -> None:
    document = _saved(DESIGNS[name](), tmp_path)
    assert SCHEMA.is_valid(document)
    intro, _, rest = SECTION.partition("\n**What is believed")
    certificate = document["certificate"]
    for part, said in ((intro, document), (rest.partition("\n## Kinds\n")[0], certificate)):
        assert set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) == said.keys()
    assert (document["format"], document["version"], document["use"]) == (FORMAT, VERSION, USE)
    assert all(word in SECTION for word in (f'"{FORMAT}"', f'"{USE}"'))
    assert json.dumps([*certificate["privacy"]][1:]).replace(" ", "")[1:-1] in SECTION
    assert all(f"`{key}`" in SECTION for key in document["report"])


ECHOES = {("joint", "mechanism"): {"group", "p", "rho"}, ("joint", "report"): {"gap"}}


@pytest.mark.parametrize("part", ["problem", "mechanism", "certificate", "evidence", "report"])
@pytest.mark.parametrize("name", ["line", "joint"])
def test_the_schema_asks_for_every_key_but_an_echo_or_a_gap(name: str, part: str, tmp_path: Path) -> None:
    text = json.dumps(_saved(DESIGNS[name](), tmp_path))
    for key in _part(json.loads(text), part):
        document = json.loads(text)
        del _part(document, part)[key]
        assert SCHEMA.is_valid(document) == (key in ECHOES.get((name, part), ())), key


def _part(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = document["certificate"]["evidence"] if name == "evidence" else document[name]
    return found


def test_the_schema_takes_evidence_of_a_known_kind_and_claims_that_are_called_so(tmp_path: Path) -> None:
    document = _saved(DESIGNS["line"](), tmp_path)
    claimed = {"claimed": True, "evidence": {"kind": "piecewise claim", "lower": 0.0}}
    assert SCHEMA.is_valid(document | {"certificate": document["certificate"] | claimed})
    for certificate in (
        claimed | {"claimed": False},
        {"claimed": True},
        {"evidence": {"kind": "joint", "lower": 0.0}},
    ):
        assert not SCHEMA.is_valid(document | {"certificate": document["certificate"] | certificate})


@pytest.mark.parametrize("name", ["line", "line onto more", "at"])
def test_a_bound_can_be_checked_by_hand_as_it_is_said(name: str, tmp_path: Path) -> None:
    """From the numbers of the file alone, by the formulas of FORMAT.md."""
    document = _saved(DESIGNS[name](), tmp_path)
    problem, mechanism, certificate = (document[part] for part in ("problem", "mechanism", "certificate"))
    p, c = problem["loss"]["exponent"], math.exp(problem["privacy"]["epsilon"])
    outputs = problem["among"].get("outputs", problem["inputs"])
    a, b = outputs["lower"], outputs["upper"]
    ends = problem["inputs"]["lower"], problem["inputs"]["upper"]
    x = (
        max(ends, key=lambda end: abs(end - (a + b) / 2))
        if problem["criterion"]["kind"] == "worst"
        else problem["criterion"]["x"]
    )
    r, length = certificate["evidence"]["radius"], b - a

    def excess(s: float, t: float, level: float) -> float:
        return ((x - s) ** (p + 1) + (t - x) ** (p + 1)) / (p + 1) - level * (t - s)

    gain = excess(a, b, r**p) + (c - 1) * excess(max(a, x - r), min(b, x + r), r**p)
    assert certificate["lower"] == pytest.approx(r**p + gain / (length if gain < 0 else c * length), rel=1e-9)
    low, high = mechanism["low"], mechanism["high"]
    width = (1 - low * length) / (high - low)
    start = min(max(x - width / 2, a), b - width)
    error = low * excess(a, b, 0) + (high - low) * excess(start, start + width, 0)
    assert certificate["upper"] == pytest.approx(error, rel=1e-9)
    assert high / low <= c
    assert certificate["privacy_loss"] == pytest.approx(math.log(high / low), rel=1e-9)
