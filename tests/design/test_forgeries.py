"""Files edited so that they say something false: each of these was once shown as checked. None is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest
from mechdesign.exact.statement import Aim
from mechdesign.mechanisms.serialise import mechanism_from_dict

from mechdesign import (
    FileProblem,
    Interval,
    InvalidInput,
    PriorProblem,
    Squared,
    UnbiasedPiecewiseProblem,
    files,
    load_design,
    optimal_prior,
    optimal_unbiased_piecewise,
    priors,
)
from mechdesign.design import FiniteProblem, custom, optimal_finite
from mechdesign.design.result import FORMAT, VERSION
from mechdesign.design.saved import SavedDesign, design_of_document

UNIT = Interval(0, 1)
FORGERIES = {path.stem: path for path in sorted((Path(__file__).parent / "forgeries").glob("*.json"))}
RULES = {
    "at_a_place_that_is_no_input": "not among the inputs",
    "atom_without_weight": "a weight above 0",
    "circle_atom_off_the_middle": "not the middle",
    "claimed_at_another_input": "what the mechanism attains",
    "claimed_below_its_own_error": "what the mechanism attains",
    "claimed_called_proven": "holds no evidence",
    "claimed_for_all_mechanisms": "valid_for must be 'piecewise mechanisms'",
    "claimed_for_another_loss": "what the mechanism attains",
    "claimed_optimum_below_its_own_error": "what the mechanism attains",
    "custom_with_other_outputs": "problem outputs",
    "custom_without_evidence": "problem costs",
    "fewer_pieces_than_the_mechanism": "null or at least 2",
    "field_of_no_problem": "nothing decides such a field",
    "matrix_called_absolute": "problem loss",
    "matrix_without_evidence": "certificate evidence must be there",
    "polar_below_its_own_error": "what the mechanism attains",
    "polar_for_all_mechanisms": "an independent piecewise mechanism",
    "problem_with_other_outputs": "problem outputs",
    "proven_design_called_claimed": "certificate evidence must be there",
    "unbiased_of_another_kind": "problem kind",
    "unbiased_window_too_steep": "bias",
    "unbiased_with_another_criterion": "problem criterion",
    "upper_end_far_above_the_error": "not the certificate's 1e",
    "values_called_normal": "be 'data'",
}


def test_every_forgery_has_its_rule() -> None:
    assert FORGERIES.keys() == RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_forgery_is_not_read(name: str) -> None:
    with pytest.raises(FileProblem, match=RULES[name]):
        load_design(FORGERIES[name])


def _document(design: Any) -> dict[str, Any]:
    written = json.loads(files.dump_json({"format": FORMAT, "version": VERSION} | design.to_dict()))
    assert isinstance(written, dict)
    return written


def _read(document: dict[str, Any]) -> SavedDesign:
    return design_of_document(document, "a file")


def test_the_steep_window_of_the_forgery_is_biased() -> None:
    """What the checker says of it, from the mechanism's own means."""
    mechanism: Any = mechanism_from_dict(json.loads(FORGERIES["unbiased_window_too_steep"].read_text())["mechanism"])
    inputs = np.linspace(mechanism.inputs.lower, mechanism.inputs.upper, 2001)
    assert abs(mechanism.mean(inputs) - inputs).max() > 0.4


@pytest.mark.parametrize("factor", [0.5, 1 - 1e-6, 1 + 1e-6, 1.5])
def test_any_other_slope_than_the_unbiased_one_is_refused(factor: float) -> None:
    document = _document(optimal_unbiased_piecewise(UnbiasedPiecewiseProblem(1.0)))
    document["mechanism"]["window"]["slope"] *= factor
    with pytest.raises(FileProblem, match="bias"):
        _read(document)


NORMAL = optimal_prior(PriorProblem(1.0, priors.normal(0.3, 0.1, UNIT), Squared(), gap=1e-3))


def test_a_named_prior_is_said_with_its_domain_and_how_its_cells_were_checked() -> None:
    said = _read(_document(NORMAL)).statement.prior
    assert said is not None
    assert said.startswith("normal(0.3, 0.1) on [0, 1] (its ")
    assert said.endswith("agree with it to 1e-09)")


@pytest.mark.parametrize(
    "law",
    [
        priors.uniform(UNIT).law,
        priors.normal(0.3, 0.1001, UNIT).law,
        priors.normal(0.3000001, 0.1, UNIT).law,
        priors.normal(0.3, 0.1, Interval(0, 2)).law,
        {"kind": "normal", "parameters": [0.3], "lower": 0, "upper": 1},
        {"kind": "cauchy", "parameters": [0.3, 0.1], "lower": 0, "upper": 1},
        {"kind": "normal", "parameters": ["0.3", 0.1], "lower": 0, "upper": 1},
        "normal",
    ],
    ids=str,
)
def test_a_prior_is_not_called_by_the_name_of_another_law(law: Any) -> None:
    document = _document(NORMAL)
    document["problem"]["prior"]["law"] = law
    with pytest.raises(InvalidInput, match=r"prior|name"):
        _read(document)


@pytest.mark.parametrize(
    "law",
    [
        priors.uniform(UNIT),
        priors.normal(0.3, 0.1001, UNIT),
        priors.normal(0.3000001, 0.1, UNIT),
        priors.normal(0.3, 0.1, Interval(0, 2)),
        priors.exponential(3.0, UNIT),
        priors.beta(2.0, 5.0, UNIT),
    ],
    ids=lambda law: law.name,
)
def test_cells_of_one_law_are_not_those_of_another(law: priors.Density) -> None:
    document = _document(NORMAL)
    document["problem"]["prior"] |= {"law": law.law, "name": law.name}
    with pytest.raises(FileProblem, match="prior law"):
        _read(document)


def test_a_prior_without_its_law_is_only_the_cells_in_the_file() -> None:
    document = _document(NORMAL)
    document["problem"]["prior"] |= {"law": None, "name": "uniform"}
    said = _read(document).statement.prior
    assert said is not None
    assert said.startswith("the ")
    assert said.endswith("cells in the file (named 'uniform' there, which is not checked)")


@pytest.mark.parametrize("field", ["law", "profile"])
def test_values_have_neither_the_law_nor_the_profile_of_a_density(field: str) -> None:
    design = optimal_prior(PriorProblem(1.0, priors.Atoms.of_data([0.25, 0.5]), Squared()))
    document = {"format": FORMAT, "version": VERSION, **json.loads(files.dump_json(design.to_dict()))}
    assert design_of_document(document, "as written").statement.prior == "the 2 values in the file"
    document["problem"]["prior"][field] = "normal(0.3, 0.2)"
    with pytest.raises(FileProblem, match=f"prior {field} must"):
        design_of_document(document, "edited")


def test_cells_of_largest_variance_do_not_pass_for_those_of_a_named_law() -> None:
    """They bound every prior with these cells, so the bracket is true of them, but not of the law."""
    document = _document(NORMAL)
    cells = document["certificate"]["evidence"]["prior"]
    inside, means = cells["inside"], np.array(cells["means"])
    lows, highs = np.array(inside["lows"]), np.array(inside["highs"])
    inside["variances"] = ((means - lows) * (highs - means)).tolist()
    document["certificate"] |= {"lower": 0.0}
    with pytest.raises(FileProblem, match="prior law"):
        _read(document)


MATRIX = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [4.0, 2.0, 0.0]])


def test_texts_of_an_objective_are_named_and_not_decided() -> None:
    document = _document(custom(1.0, (0, 1, 2), (0, 1, 2), lambda q: cvxpy.sum(cvxpy.multiply(MATRIX, q)) / 3))
    document["problem"]["objective"] = "the variance, proven to be least"
    saved = _read(document)
    assert saved.statement.criterion.aim is Aim.OBJECTIVE
    assert "objective" in saved.statement.named
    assert "variance" not in saved.statement.loss


def test_labels_are_named_and_not_decided() -> None:
    document = _document(optimal_finite(FiniteProblem(1.0, MATRIX, input_labels=("a", "b", "c"))))
    document["problem"]["input_labels"] = ["b", "a", "c"]
    assert "input_labels" in _read(document).statement.named


@pytest.mark.parametrize(
    ("field", "value"),
    [("gap", "1e-9, proven"), ("gap", -1.0), ("gap", True), ("input_labels", "abc"), ("input_labels", [1, 2, 3])],
)
def test_settings_of_another_type_are_refused(field: str, value: object) -> None:
    document = _document(optimal_finite(FiniteProblem(1.0, MATRIX)))
    document["problem"][field] = value
    with pytest.raises(FileProblem, match=field):
        _read(document)
