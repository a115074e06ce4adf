"""Designs as values and files: what is saved is checked again, and tampering is caught."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

from mechdesign import (
    Absolute,
    CheckFailed,
    Circle,
    Custom,
    FileProblem,
    Finite,
    Interval,
    InvalidInput,
    Power,
    Squared,
    load_design,
    priors,
)
from mechdesign.methods import (
    Design,
)
from mechdesign.methods.piecewise import BathtubBound, PiecewiseClaim
from mechdesign.methods.registry import solve
from mechdesign.methods.result import certify
from mechdesign.values.codec import encoded
from mechdesign.values.declare import evolved
from mechdesign.words.classes import UnbiasedPiecewise
from mechdesign.words.criteria import Average, Lexicographic
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods import problems
from tests.methods.problems import custom, hidden_problem, joint_problem, numbers


def _unbiased_piecewise(epsilon: float) -> Problem:
    return Problem(inputs=(0, 1), loss="squared", privacy=Pure(epsilon), among=UnbiasedPiecewise())


DESIGNS = {
    "line": lambda: solve(problems.piecewise(1.0, Squared())),
    "at": lambda: solve(problems.piecewise(1.0, Absolute(), at=0.2)),
    "power": lambda: solve(problems.piecewise(1.0, Power(1.5))),
    "circle": lambda: solve(problems.piecewise(1.0, Squared(360.0), Circle(360.0))),
    "polar": lambda: solve(problems.polar(4.0)),
    "unbiased": lambda: solve(_unbiased_piecewise(1.0)),
    "minimax": lambda: solve(numbers(1.0, Absolute()), gap=1e-3),
    "claimed minimax": lambda: solve(numbers(1.0, Power(1.5)), gap=1e-3),
    "prior": lambda: solve(numbers(1.0, Squared(), criterion=Average(DATA))),
    "density prior": lambda: solve(numbers(1.0, criterion=Average(priors.uniform(Interval(0, 1)))), gap=1e-4),
    "lexicographic": lambda: solve(numbers(1.0, criterion=Lexicographic(DATA))),
    "capped": lambda: solve(numbers(1.0, criterion=Lexicographic(DATA, cap=0.36))),
    "unbiased prior": lambda: solve(problems.unbiased_under(1.0), size=9),
    "finite worst": lambda: solve(Problem(loss=MATRIX, privacy=Pure(1.0))),
    "finite prior": lambda: solve(Problem(loss=MATRIX, privacy=Pure(1.0), criterion=Average([0.5, 0.3, 0.2]))),
    "finite lexicographic": lambda: solve(
        Problem(loss=MATRIX, privacy=Pure(1.0), criterion=Lexicographic([0.5, 0.3, 0.2], slack=1e-5))
    ),
    "custom": lambda: custom(1.0, (0, 1, 2), (0, 1, 2), lambda q: cvxpy.sum(cvxpy.multiply(MATRIX, q)) / 3),
    "claimed custom": lambda: custom(1.0, (0, 1), (0, 1), lambda q: cvxpy.sum_squares(q - np.eye(2))),
    "additive": lambda: solve(problems.additive(2.0, bins=2, reach=3, tail=1)),
    "whole numbers": lambda: solve(numbers(1.0, Absolute(), Finite((1, 2, 4)))),
    "pair": lambda: solve(joint_problem(1.0, 1000, 0.2, colluders=10)),
    "hidden": lambda: solve(hidden_problem(1.0, 300, 0.03)),
    "hidden and even": lambda: solve(hidden_problem(1.0, 300, 0.5)),
    "hidden with a delta": lambda: solve(hidden_problem(1.0, 20, 0.0, delta=1e-2)),
    "group": lambda: solve(joint_problem(1.0, 900, 0.2, group=3, caps=(2.0,)), gap=1e-2),
}
DATA = priors.Atoms.of_data([0.1, 0.2, 0.2, 0.7])
MATRIX = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [4.0, 2.0, 0.0]])


@pytest.mark.parametrize("name", DESIGNS)
def test_a_saved_design_comes_back_equal(name: str, tmp_path: Path) -> None:
    design: Design = DESIGNS[name]()
    saved = load_design(design.save(tmp_path / "design.json"))
    assert saved == design
    assert hash(saved) == hash(design)
    assert saved.certificate == design.certificate
    assert type(saved.problem) is type(design.problem)
    again = saved.save(tmp_path / "again.json")
    assert again.read_bytes() == (tmp_path / "design.json").read_bytes()


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("factor", [1 - 1e-6, 1 + 1e-6])
@pytest.mark.parametrize("key", ["lower", "upper", "privacy_loss"])
def test_a_certificate_off_by_a_millionth_is_refused(name: str, factor: float, key: str, tmp_path: Path) -> None:
    """Up and down: a file says what is derived from problem, mechanism and evidence, or is not read."""
    path = DESIGNS[name]().save(tmp_path / "design.json")
    document = json.loads(path.read_text())
    document["certificate"][key] *= factor
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match=f"certificate {key} must be"):
        load_design(path)


def test_the_certificate_is_derived_and_cannot_be_passed() -> None:
    """A design is made of problem, mechanism and evidence; there is no place for a certificate of one's own."""
    design = DESIGNS["line"]()
    assert Design(design.problem, design.mechanism, design.evidence, design.report).certificate == design.certificate
    with pytest.raises(TypeError):
        evolved(design, certificate=evolved(design.certificate, lower=0.0))


def _saved(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    path = DESIGNS["line"]().save(tmp_path / "design.json")
    return path, json.loads(path.read_text())


@pytest.mark.parametrize(
    "keys",
    [
        ("mechanism", "high"),
        ("mechanism", "low"),
        ("certificate", "lower"),
        ("certificate", "privacy_loss"),
        ("certificate", "upper"),
        ("certificate", "evidence", "radius"),
        ("problem", "privacy", "epsilon"),
        ("problem", "inputs", "upper"),
        ("problem", "loss", "exponent"),
        ("certificate", "privacy", "epsilon"),
        ("certificate", "privacy", "loss"),
    ],
)
def test_raising_a_number_by_a_millionth_is_caught(keys: tuple[str, ...], tmp_path: Path) -> None:
    path, document = _saved(tmp_path)
    target = document
    for key in keys[:-1]:
        target = target[key]
    target[keys[-1]] *= 1 + 1e-6
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInput):
        load_design(path)


def test_lowering_the_upper_bound_is_caught(tmp_path: Path) -> None:
    path, document = _saved(tmp_path)
    document["certificate"]["upper"] *= 1 - 1e-9
    document["certificate"]["lower"] *= 1 - 1e-8
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match="certificate lower"):
        load_design(path)


def test_moving_an_atom_is_caught(tmp_path: Path) -> None:
    path = DESIGNS["minimax"]().save(tmp_path / "design.json")
    document = json.loads(path.read_text())
    document["certificate"]["evidence"]["atoms"]["radii"][0] *= 1.001
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match="certificate lower"):
        load_design(path)


@pytest.mark.parametrize("key", ["format", "version", "problem", "mechanism", "certificate", "report"])
def test_a_missing_key_is_named(key: str, tmp_path: Path) -> None:
    path, document = _saved(tmp_path)
    del document[key]
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match=key):
        load_design(path)


@pytest.mark.parametrize("key", ["lower", "upper", "valid_for", "claimed", "privacy_loss", "privacy", "evidence"])
def test_an_incomplete_certificate_is_refused(key: str, tmp_path: Path) -> None:
    path, document = _saved(tmp_path)
    del document["certificate"][key]
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem):
        load_design(path)


@pytest.mark.parametrize("value", ["nan", "abc", None, [], {"a": 1}])
def test_a_certificate_number_of_the_wrong_type_is_refused(value: object, tmp_path: Path) -> None:
    path, document = _saved(tmp_path)
    document["certificate"]["lower"] = value
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem):
        load_design(path)


def test_a_function_loss_cannot_be_saved_and_leaves_no_file(tmp_path: Path) -> None:
    design = solve(problems.piecewise(1.0, Custom(lambda y, x: abs(y - x))))
    with pytest.raises(InvalidInput, match="problem loss function must be data: a file cannot hold it"):
        design.save(tmp_path / "design.json")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    path.write_text("precious")
    with pytest.raises(FileProblem, match="not exist"):
        DESIGNS["line"]().save(path)
    assert path.read_text() == "precious"


def test_a_design_with_a_false_bound_cannot_be_made() -> None:
    """A claim above what the mechanism attains, an input of another problem, a mechanism that is not private."""
    design = solve(problems.piecewise(1.0, Power(1.5)))
    with pytest.raises(CheckFailed, match="is above"):
        Design(design.problem, design.mechanism, PiecewiseClaim(design.certificate.upper * 2), design.report)
    line = DESIGNS["line"]()
    with pytest.raises(CheckFailed, match="inputs"):
        certify(problems.piecewise(1.0, Squared(), Interval(0, 2)), line.mechanism, line.evidence)
    with pytest.raises(CheckFailed, match="privacy loss"):
        certify(problems.piecewise(0.5, Squared()), line.mechanism, line.evidence)


def test_a_wrong_multiplier_makes_a_bound_weaker_and_never_wrong() -> None:
    design = DESIGNS["line"]()
    best, radius = design.certificate.lower, design.evidence.radius
    for factor in (0.9, 0.99, 1.01, 1.1):
        weaker = evolved(design, evidence=BathtubBound(radius * factor)).certificate
        assert weaker.lower < best
        assert weaker.upper == design.certificate.upper


def test_the_report_records_versions() -> None:
    versions = DESIGNS["line"]().report.versions
    assert {"python", "mechdesign", "numpy", "scipy"} <= set(versions)
    assert all(text[0].isdigit() for text in versions.values())
    assert not math.isnan(DESIGNS["line"]().report.seconds)


def _rewritten(path: Path, change: Any) -> Path:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


FORGERIES = {
    "a window that hardly moves": lambda d: d["mechanism"]["window"].update(slope=1e-9),
    "a window off its input": lambda d: d["mechanism"]["window"].update(offset=0.2),
    "a wider class": lambda d: d["certificate"].update(valid_for="all mechanisms"),
    "a name for a loss": lambda d: d["problem"].update(loss="absolute"),
    "another loss": lambda d: d["problem"]["loss"].update(exponent=1.0),
    "another criterion": lambda d: d["problem"].update(criterion={"kind": "at", "x": 0.5}),
    "an input beside the worst case": lambda d: d["problem"]["criterion"].update(x=0.5),
    "other outputs": lambda d: d["problem"]["among"].update(outputs={"kind": "interval", "lower": 0.0, "upper": 2.0}),
    "another class": lambda d: d["problem"].update(among={"kind": "all"}),
    "another epsilon in the problem": lambda d: d["problem"]["privacy"].update(epsilon=0.5),
    "other inputs in the problem": lambda d: d["problem"]["inputs"].update(upper=2.0),
    "a text for a truth value": lambda d: d["certificate"].update(claimed="false"),
    "a truth value for the version": lambda d: d.update(version=True),
    "a fractional version": lambda d: d.update(version=1.0),
    "a number beyond doubles": lambda d: d["certificate"].update(lower=10**400),
    "a negative lower bound": lambda d: d["certificate"].update(lower=-5.0),
    "an infinite upper bound": lambda d: d["certificate"].update(upper="inf"),
    "a claim without a number": lambda d: d["certificate"].update(claimed=True, evidence={"kind": "piecewise claim"}),
    "a claim below nothing": lambda d: d["certificate"].update(evidence={"kind": "piecewise claim", "lower": -5.0}),
    "no evidence": lambda d: d["certificate"].update(evidence=None),
    "a list for a certificate": lambda d: d.update(certificate=[d["certificate"]]),
    "a list for a problem": lambda d: d.update(problem=[d["problem"]]),
    "the evidence of another problem": lambda d: d["certificate"].update(
        evidence={"kind": "minimax claim", "lower": 0}
    ),
    "a radius with a copy of epsilon": lambda d: d["certificate"]["evidence"].update(epsilon=1.0),
    "a kind that is a list": lambda d: d["problem"].update(kind=["piecewise"]),
    "a kind that is no text": lambda d: d["certificate"]["evidence"].update(kind=1),
    "half of a surrogate pair": lambda d: d["report"].update(solver="\ud800"),
    "another use": lambda d: d.update(use="deployment"),
    "a key beside the parts": lambda d: d.update(proof="complete"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_file_is_refused(name: str, tmp_path: Path) -> None:
    path = _rewritten(DESIGNS["line"]().save(tmp_path / "design.json"), FORGERIES[name])
    with pytest.raises(InvalidInput):
        load_design(path)


def _atoms(document: dict[str, Any]) -> Any:
    return document["certificate"]["evidence"]["atoms"]


MINIMAX_FORGERIES = {
    "a ratio beyond epsilon": lambda d: d["mechanism"].update(ratio=1e16),
    "a claim beside evidence": lambda d: d["certificate"].update(claimed=True, lower=0.3, upper=0.3),
    "another kind of problem": lambda d: d["problem"].update(kind="prior"),
    "a claim in place of evidence": lambda d: d["certificate"].update(
        claimed=True, evidence={"kind": "minimax claim", "lower": d["certificate"]["lower"]}
    ),
    "an exponent of its own": lambda d: d["certificate"]["evidence"].update(exponent=1),
    "an atom outside the inputs": lambda d: _atoms(d)["inputs"].__setitem__(-1, 1.5),
    "a number beyond doubles": lambda d: _atoms(d)["radii"].__setitem__(0, 10**400),
    "a number whose square overflows": lambda d: _atoms(d)["radii"].__setitem__(0, 1e308),
    "a text for a number": lambda d: _atoms(d)["weights"].__setitem__(0, "0.5"),
    "a truth value for a number": lambda d: _atoms(d)["weights"].__setitem__(0, True),
    "an atom that is a list": lambda d: _atoms(d)["weights"].__setitem__(0, [0.5]),
    "one weight less": lambda d: _atoms(d)["weights"].pop(),
}


@pytest.mark.parametrize("name", MINIMAX_FORGERIES)
def test_a_forged_minimax_file_is_refused(name: str, tmp_path: Path) -> None:
    path = _rewritten(DESIGNS["minimax"]().save(tmp_path / "design.json"), MINIMAX_FORGERIES[name])
    with pytest.raises(InvalidInput):
        load_design(path)


def test_a_biased_mechanism_cannot_carry_an_unbiased_certificate(tmp_path: Path) -> None:
    biased = encoded(solve(problems.piecewise(1.0, Squared())).mechanism)
    path = _rewritten(
        DESIGNS["unbiased"]().save(tmp_path / "design.json"), lambda document: document.update(mechanism=biased)
    )
    with pytest.raises(FileProblem, match="bias"):
        load_design(path)
