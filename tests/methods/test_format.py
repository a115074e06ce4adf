"""FORMAT.md says what is in a design file: its tables are compared with the classes that are written and read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import attrs
import pytest

from mechdesign import Absolute, Interval, Squared, solve
from mechdesign.mechanisms import Discrete, Piecewise, Product, UnbiasedWindow, Window
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods import HiddenJointProblem, JointProblem, optimal_hidden, optimal_joint
from mechdesign.methods.additive import AdditiveBound
from mechdesign.methods.registry import CODEC, PROVEN_BY
from mechdesign.methods.result import FORMAT, USE, VERSION
from tests import problems

MECHANISMS: tuple[type, ...] = (
    *(Piecewise, Window, UnbiasedWindow, ConditionalNoise, Discrete, Product, JointResponse),
    *(PeakedResponse, CountedResponse),
)
TEXT = (Path(__file__).parents[2] / "FORMAT.md").read_text(encoding="utf-8")
SECTION = TEXT.partition(f"# The design file, schema version {VERSION}\n")[2].partition("\n# ")[0]


def _table(title: str) -> dict[str, list[set[str]]]:
    """The rows of the table below a title: the code of each cell, by that of the first."""
    part = SECTION.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("| `")]
    codes = [[set(re.findall(r"`([^`]+)`", cell)) for cell in row] for row in rows]
    return {row[0].strip().strip("`"): cells[1:] for row, cells in zip(rows, codes, strict=True)}


def _keys(kind: type) -> set[str]:
    fields = (field for field in attrs.fields(kind) if field.init and field.metadata.get("in files", True))
    return {field.metadata.get("key", field.name) for field in fields}


def _inside(kind: Any) -> Iterator[type]:
    """The value classes that a type of a field can hold, and those inside them."""
    for member in CODEC.protocols.get(kind, ()) if isinstance(kind, type) else ():
        yield from _inside(member)
    if isinstance(kind, type) and attrs.has(kind):
        yield kind
        hints = get_type_hints(kind)
        for field in attrs.fields(kind):
            if field.init and field.metadata.get("in files", True):
                yield from _inside(hints[field.name])
    for argument in get_args(kind):
        yield from _inside(argument)


PROBLEMS = {problem.kind: problem for problem in PROVEN_BY}
EVIDENCE = {evidence.kind: evidence for kinds in PROVEN_BY.values() for evidence in kinds}


def test_every_problem_is_documented_with_its_fields_and_its_evidence() -> None:
    said = _table("Problems")
    assert said.keys() == PROBLEMS.keys()
    for name, kind in PROBLEMS.items():
        assert said[name][0] == _keys(kind), name
        assert said[name][2] == {evidence.kind for evidence in PROVEN_BY[kind]}, name


def test_every_evidence_is_documented_with_its_fields() -> None:
    said = _table("Evidence")
    assert said.keys() == EVIDENCE.keys()
    assert {name: cells[0] for name, cells in said.items()} == {name: _keys(kind) for name, kind in EVIDENCE.items()}


def test_claims_are_said_to_be_claimed() -> None:
    part = SECTION.partition("\n## Evidence\n")[2].partition("\n## ")[0]
    rows = {line.split("`")[1]: line for line in part.splitlines() if line.startswith("| `")}
    assert {name for name, row in rows.items() if "claimed" in row} == {n for n, e in EVIDENCE.items() if e.claimed}


def test_every_mechanism_of_a_design_is_documented_with_its_fields() -> None:
    said = _table("Mechanisms")
    kinds: dict[str, Any] = {vars(kind)["kind"]: kind for kind in MECHANISMS}
    assert {name: cells[0] for name, cells in said.items()} == {name: _keys(kind) for name, kind in kinds.items()}


def test_every_value_inside_is_documented_with_its_fields() -> None:
    outer = {*PROVEN_BY, *EVIDENCE.values(), *MECHANISMS}
    found: set[Any] = {kind for one in outer for kind in _inside(one)} - outer
    # what may be a part of a product: no evidence is about such a product
    parts = {kind for member in CODEC.protocols.values() for kind in member if kind not in CODEC.protocols}
    found -= {kind for kind in parts if _keys(kind) != {"exponent", "period"}}
    said = _table("Values inside")
    kinds = {kind.kind: kind for kind in found if hasattr(kind, "kind")}
    assert said.keys() == kinds.keys()
    assert {name: cells[0] for name, cells in said.items()} == {name: _keys(kind) for name, kind in kinds.items()}
    for kind in found - {*kinds.values()}:
        keys = [field.metadata.get("key", field.name) for field in attrs.fields(kind)]
        assert json.dumps(keys).replace(" ", "")[1:-1] in SECTION, kind


def test_what_a_tail_may_be_is_said() -> None:
    assert all(f'"{tail.value}"' in SECTION for tail in get_type_hints(AdditiveBound)["tails"])


def _saved(design: Any, folder: Path) -> dict[str, Any]:
    document = json.loads(design.save(folder / "design.json").read_text())
    assert isinstance(document, dict)
    return document


DESIGNS: dict[str, Any] = {
    "line": lambda: solve(problems.piecewise(1.0, Squared())),
    "line onto more": lambda: solve(problems.piecewise(2.0, Absolute(), outputs=Interval(-0.5, 2))),
    "at": lambda: solve(problems.piecewise(0.5, Absolute(), at=0.3)),
    "hidden joint": lambda: optimal_hidden(HiddenJointProblem(1.0, 200, 0.03)),
    "hidden joint with a delta": lambda: optimal_hidden(HiddenJointProblem(1.0, 20, 0.0, delta=1e-2)),
    "joint": lambda: optimal_joint(JointProblem(1.0, 1000, 0.2, caps=(1.5,))),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_file_has_the_documented_keys_and_no_others(name: str, tmp_path: Path) -> None:
    document = _saved(DESIGNS[name](), tmp_path)
    top = re.findall(r"^\| `(\w+)` \|", SECTION.partition("\n**What is believed")[0], re.MULTILINE)
    assert set(top) == document.keys()
    assert (document["format"], document["version"], document["use"]) == (FORMAT, VERSION, USE)
    assert all(word in SECTION for word in (f'"{FORMAT}"', f'"{USE}"'))
    certificate = document["certificate"]
    assert _table("The certificate").keys() == certificate.keys()
    assert json.dumps([*certificate["privacy"]][1:]).replace(" ", "")[1:-1] in SECTION
    kind, fields = PROBLEMS[document["problem"]["kind"]], _table("Problems")[document["problem"]["kind"]]
    assert document["problem"].keys() == {"kind"} | _keys(kind) | fields[1]
    echo = _table("Mechanisms")[document["mechanism"]["kind"]][1]
    assert document["mechanism"].keys() - {"kind"} - echo == _table("Mechanisms")[document["mechanism"]["kind"]][0]
    assert all(f"`{key}`" in SECTION for key in document["report"])


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
