"""Designs as values and files: what is saved is checked again, and tampering is caught."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest
from mechdesign.mechanisms.serialise import mechanism_to_dict

from mechdesign import (
    Absolute,
    CheckFailed,
    Circle,
    Custom,
    FileProblem,
    Interval,
    InvalidInput,
    MinimaxProblem,
    PiecewiseProblem,
    PolarProblem,
    Power,
    PriorProblem,
    Squared,
    TradeOffProblem,
    UnbiasedPiecewiseProblem,
    UnbiasedProblem,
    load_design,
    optimal_minimax,
    optimal_piecewise,
    optimal_polar,
    optimal_prior,
    optimal_trade_off,
    optimal_unbiased,
    optimal_unbiased_piecewise,
    priors,
)
from mechdesign.design import Design, FiniteProblem, custom, optimal_finite

DESIGNS = {
    "line": lambda: optimal_piecewise(PiecewiseProblem(1.0, Squared())),
    "at": lambda: optimal_piecewise(PiecewiseProblem(1.0, Absolute(), at=0.2)),
    "power": lambda: optimal_piecewise(PiecewiseProblem(1.0, Power(1.5))),
    "circle": lambda: optimal_piecewise(PiecewiseProblem(1.0, Squared(360.0), Circle(360.0))),
    "polar": lambda: optimal_polar(PolarProblem(4.0)),
    "unbiased": lambda: optimal_unbiased_piecewise(UnbiasedPiecewiseProblem(1.0)),
    "minimax": lambda: optimal_minimax(MinimaxProblem(1.0, Absolute(), gap=1e-3)),
    "claimed minimax": lambda: optimal_minimax(MinimaxProblem(1.0, Power(1.5), gap=1e-3)),
    "prior": lambda: optimal_prior(PriorProblem(1.0, DATA, Squared())),
    "density prior": lambda: optimal_prior(PriorProblem(1.0, priors.uniform(Interval(0, 1)), gap=1e-4)),
    "lexicographic": lambda: optimal_trade_off(TradeOffProblem(1.0, DATA)),
    "capped": lambda: optimal_trade_off(TradeOffProblem(1.0, DATA, cap=0.36)),
    "unbiased prior": lambda: optimal_unbiased(UnbiasedProblem(1.0, priors.uniform(Interval(-1, 1)), size=9)),
    "finite worst": lambda: optimal_finite(FiniteProblem(1.0, MATRIX)),
    "finite prior": lambda: optimal_finite(FiniteProblem(1.0, MATRIX, "prior", [0.5, 0.3, 0.2])),
    "finite lexicographic": lambda: optimal_finite(FiniteProblem(1.0, MATRIX, "lexicographic", [0.5, 0.3, 0.2])),
    "custom": lambda: custom(1.0, (0, 1, 2), (0, 1, 2), lambda q: cvxpy.sum(cvxpy.multiply(MATRIX, q)) / 3),
}
DATA = priors.Atoms.of_data([0.1, 0.2, 0.2, 0.7])
MATRIX = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [4.0, 2.0, 0.0]])


@pytest.mark.parametrize("name", DESIGNS)
def test_a_saved_design_comes_back_equal(name: str, tmp_path: Path) -> None:
    design: Design = DESIGNS[name]()
    saved = load_design(design.save(tmp_path / "design.json"))
    assert saved.mechanism == design.mechanism
    assert saved.certificate == design.certificate


@pytest.mark.parametrize("name", DESIGNS)
def test_evidence_of_one_design_does_not_carry_over_to_another(name: str) -> None:
    """A certificate with its bounds raised by a millionth is caught for every kind that claims a proof."""
    design = DESIGNS[name]()
    certificate = design.certificate
    if certificate.claimed or certificate.lower == 0:
        return
    raised = replace(certificate, lower=certificate.lower * (1 + 1e-6), upper=certificate.upper * (1 + 2e-6))
    if design.certificate.relative_gap < 1e-7:  # otherwise the evidence may prove a little more than was claimed
        with pytest.raises(CheckFailed):
            raised.check(design.mechanism, design.problem.epsilon)
    lowered = replace(certificate, lower=0.0, upper=certificate.upper * (1 - 1e-6))
    with pytest.raises(CheckFailed):
        lowered.check(design.mechanism, design.problem.epsilon)


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
        ("certificate", "evidence", "upper"),
        ("certificate", "evidence", "epsilon"),
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
    with pytest.raises(FileProblem, match="error"):
        load_design(path)


def test_moving_an_atom_is_caught(tmp_path: Path) -> None:
    path, document = _saved(tmp_path)
    document["certificate"]["evidence"]["atoms"][0]["radius"] *= 1.001
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match="evidence"):
        load_design(path)


@pytest.mark.parametrize("key", ["format", "version", "problem", "mechanism", "certificate", "report"])
def test_a_missing_key_is_named(key: str, tmp_path: Path) -> None:
    path, document = _saved(tmp_path)
    del document[key]
    path.write_text(json.dumps(document))
    with pytest.raises(FileProblem, match=key):
        load_design(path)


@pytest.mark.parametrize("key", ["lower", "upper", "valid_for", "claimed", "privacy_loss", "evidence"])
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
    design = optimal_piecewise(PiecewiseProblem(1.0, Custom(lambda y, x: abs(y - x))))
    with pytest.raises(InvalidInput, match="file form"):
        design.save(tmp_path / "design.json")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    path.write_text("precious")
    with pytest.raises(FileProblem, match="not exist"):
        DESIGNS["line"]().save(path)
    assert path.read_text() == "precious"


def test_a_design_with_a_false_certificate_cannot_be_made() -> None:
    design = DESIGNS["line"]()
    false = replace(design.certificate, lower=design.certificate.upper * 2)
    with pytest.raises(CheckFailed):
        Design(design.problem, design.mechanism, false, design.report)


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
    "another loss": lambda d: d["problem"].update(loss="absolute"),
    "another criterion": lambda d: d["problem"].update(criterion="at 0.5"),
    "another epsilon in the problem": lambda d: d["problem"].update(epsilon=0.5),
    "other inputs in the problem": lambda d: d["problem"]["inputs"].update(upper=2.0),
    "a text for a truth value": lambda d: d["certificate"].update(claimed="false"),
    "a truth value for the version": lambda d: d.update(version=True),
    "a fractional version": lambda d: d.update(version=1.0),
    "a number beyond doubles": lambda d: d["certificate"].update(lower=10**400),
    "a negative lower bound": lambda d: d["certificate"].update(claimed=True, lower=-5.0),
    "an infinite upper bound": lambda d: d["certificate"].update(claimed=True, upper="inf"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_file_is_refused(name: str, tmp_path: Path) -> None:
    path = _rewritten(DESIGNS["line"]().save(tmp_path / "design.json"), FORGERIES[name])
    with pytest.raises(InvalidInput):
        load_design(path)


MINIMAX_FORGERIES = {
    "a ratio beyond epsilon": lambda d: d["mechanism"].update(ratio=1e16),
    "a claim beside evidence": lambda d: d["certificate"].update(claimed=True, lower=0.3, upper=0.3),
    "another kind of problem": lambda d: d["problem"].update(kind="prior"),
    "an exponent that is no integer": lambda d: d["certificate"]["evidence"].update(exponent=1.0),
    "a number beyond doubles": lambda d: d["certificate"]["evidence"]["radii"].__setitem__(0, 10**400),
    "a number whose square overflows": lambda d: d["certificate"]["evidence"]["radii"].__setitem__(0, 1e308),
    "a text for a number": lambda d: d["certificate"]["evidence"]["weights"].__setitem__(0, "0.5"),
    "a truth value for a number": lambda d: d["certificate"]["evidence"]["weights"].__setitem__(0, True),
}


@pytest.mark.parametrize("name", MINIMAX_FORGERIES)
def test_a_forged_minimax_file_is_refused(name: str, tmp_path: Path) -> None:
    path = _rewritten(DESIGNS["minimax"]().save(tmp_path / "design.json"), MINIMAX_FORGERIES[name])
    with pytest.raises(InvalidInput):
        load_design(path)


def test_a_biased_mechanism_cannot_carry_an_unbiased_certificate(tmp_path: Path) -> None:
    biased = mechanism_to_dict(optimal_piecewise(PiecewiseProblem(1.0, Squared())).mechanism)
    path = _rewritten(
        DESIGNS["unbiased"]().save(tmp_path / "design.json"), lambda document: document.update(mechanism=biased)
    )
    with pytest.raises(FileProblem, match="bias"):
        load_design(path)
