"""Files edited so that they say something false: each of these was once shown as checked, or could have been.

They stand in ``forgeries`` as files, each an honest design but for the edit that its name tells. Files
hold multipliers and no copies, so some of the old lies have no place there any more, and the nearest attempt is made:

* ``atom_without_weight`` and ``circle_atom_off_the_middle`` put atoms of their own beside the one radius;
* ``certified_at_another_input`` keeps the bounds of another input where the proof cannot name an input;
* ``matrix_without_evidence``, ``custom_without_evidence`` and ``proven_design_called_claimed`` bring a claim of another
  problem, or of their own, as there are no files without evidence;
* ``values_called_normal`` changes what only echoes the prior, and ``values_with_a_law_beside_them`` adds a law to it.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

from mechdesign import (
    FileProblem,
    Interval,
    InvalidInput,
    Squared,
    load_design,
    priors,
)
from mechdesign.mechanisms import Piecewise
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.joint_encodings import JointHashing, JointUnary
from mechdesign.methods import Design
from mechdesign.methods.registry import CODEC, solve
from mechdesign.methods.result import FORMAT, USE, VERSION
from mechdesign.methods.saved import design_of_document
from mechdesign.values import files
from mechdesign.values.codec import encoded
from mechdesign.words.classes import UnbiasedPiecewise
from mechdesign.words.criteria import Average, Total
from mechdesign.words.finite_losses import Matrix
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods.problems import custom, numbers


def _unbiased_piecewise(epsilon: float) -> Problem:
    return Problem(inputs=(0, 1), loss="squared", privacy=Pure(epsilon), among=UnbiasedPiecewise())


UNIT = Interval(0, 1)
FORGERIES = {path.stem: path for path in sorted((Path(__file__).parent / "forgeries").glob("*.json"))}
RULES = {
    "at_a_place_that_is_no_input": r"problem at must lie in \[0, 0.5\]",
    "atom_without_weight": "evidence atoms must be left out",
    "called_fit_for_deployment": "file use must be 'research only",
    "certified_at_another_input": "certificate lower must be",
    "circle_atom_off_the_middle": "evidence x must be left out",
    "claimed_at_another_input": "what the mechanism attains",
    "claimed_below_its_own_error": "certificate upper must be 0.2779",
    "claimed_called_bathtub": "whole powers of the distance, not about power:1.5",
    "claimed_called_proven": "certificate claimed must be True",
    "claimed_for_all_mechanisms": "valid_for must be 'piecewise mechanisms'",
    "claimed_for_another_loss": "certificate upper must be 0.2938",
    "claimed_optimum_below_its_own_error": "certificate upper must be 0.2524",
    "custom_with_other_outputs": "outputs that are not the problem's",
    "custom_without_evidence": "proven and not claimed",
    "fewer_pieces_than_the_mechanism": "2 pieces at 0.0, more than 1",
    "field_of_no_file": "file note must be left out",
    "field_of_no_problem": "problem note must be left out",
    "group_with_a_box_left_out": "leaves out 3 boxes",
    "group_with_a_multiplier_below_nothing": "finite and at least 0",
    "matrix_called_absolute": "certificate lower must be",
    "matrix_without_evidence": "about an objective of one's own",
    "pair_against_fewer_colluders": "averaged epsilon .* is above 1.0",
    "pair_called_more_private": "certificate privacy_loss must be",
    "pair_claimed_above_another_pair": "which another law attains",
    "pair_in_a_group": "mechanism group must be 2",
    "polar_below_its_own_error": "certificate upper must be 0.7343",
    "polar_for_all_mechanisms": "an independent piecewise mechanism",
    "problem_with_other_outputs": "the mechanism's outputs are",
    "proof_of_any_pieces_for_one": "any number of pieces, not about one",
    "proven_design_called_claimed": "proven and not claimed",
    "unbiased_of_another_kind": "about the variance of unbiased piecewise mechanisms",
    "unbiased_window_too_steep": "bias",
    "unbiased_with_another_criterion": "about the variance of unbiased piecewise mechanisms",
    "upper_end_far_above_the_error": "certificate upper must be 1.266",
    "values_called_normal": "does not cut|certificate",
    "values_with_a_law_beside_them": "prior law must be left out",
}


def test_every_forgery_has_its_rule() -> None:
    assert FORGERIES.keys() == RULES.keys()


@pytest.mark.parametrize("name", RULES)
def test_a_forgery_is_not_read(name: str) -> None:
    with pytest.raises(FileProblem, match=RULES[name]):
        load_design(FORGERIES[name])


def _document(design: Design) -> dict[str, Any]:
    said = {"format": FORMAT, "version": VERSION, "use": USE} | design.document()
    written = json.loads(files.dump_json(said))
    assert isinstance(written, dict)
    return written


def _read(document: dict[str, Any]) -> Design:
    return design_of_document(document, "a file")


@pytest.mark.parametrize("name", RULES)
def test_a_forgery_is_true_json_of_its_time(name: str) -> None:
    """None is refused for its age or for a part that is missing: what is wrong is what its name says."""
    document = json.loads(FORGERIES[name].read_text())
    assert (document["format"], document["version"]) == (FORMAT, VERSION)
    assert document.keys() >= {"use", "problem", "mechanism", "certificate", "report"}


def test_the_steep_window_of_the_forgery_is_biased() -> None:
    """What the checker says of it, from the mechanism's own means."""
    said = json.loads(FORGERIES["unbiased_window_too_steep"].read_text())["mechanism"]
    mechanism = CODEC.of_kind((Piecewise,), said, "mechanism")
    inputs = np.linspace(mechanism.inputs.lower, mechanism.inputs.upper, 2001)
    assert abs(mechanism.mean(inputs) - inputs).max() > 0.4


@pytest.mark.parametrize("factor", [0.5, 1 - 1e-6, 1 + 1e-6, 1.5])
def test_any_other_slope_than_the_unbiased_one_is_refused(factor: float) -> None:
    document = _document(solve(_unbiased_piecewise(1.0)))
    document["mechanism"]["window"]["slope"] *= factor
    with pytest.raises(FileProblem, match="bias"):
        _read(document)


# -- priors -----------------------------------------------------------------------------------------------------------


NORMAL = solve(numbers(1.0, Squared(), criterion=Average(priors.normal(0.3, 0.1, UNIT))), gap=1e-3)


def test_a_named_prior_is_said_with_its_domain_and_how_its_cells_were_checked() -> None:
    problem: Any = _read(_document(NORMAL)).problem
    assert problem.criterion.prior == priors.normal(0.3, 0.1, UNIT)
    assert problem.words.prior == "normal(0.3, 0.1) on [0, 1] (its cells agree with it to 1e-09)"


OTHER_LAWS = [
    priors.uniform(UNIT),
    priors.normal(0.3, 0.1001, UNIT),
    priors.normal(0.3000001, 0.1, UNIT),
    priors.normal(0.3, 0.1, Interval(0, 2)),
    priors.exponential(3.0, UNIT),
    priors.beta(2.0, 5.0, UNIT),
]


@pytest.mark.parametrize(
    "law",
    [
        {"kind": "normal", "mean": 0.3},
        {"kind": "cauchy", "mean": 0.3},
        {"kind": "normal", "mean": "0.3"},
        "normal",
        None,
    ],
    ids=str,
)
def test_a_law_that_is_none_is_not_read(law: Any) -> None:
    document = _document(NORMAL)
    document["problem"]["criterion"]["prior"]["law"] = law
    with pytest.raises(FileProblem, match="criterion prior law"):
        _read(document)


@pytest.mark.parametrize("law", OTHER_LAWS, ids=lambda law: f"{law.name} on {law.domain}")
def test_a_certificate_of_one_law_is_not_that_of_another(law: priors.Density) -> None:
    """The cells are cut anew from the law, and their bounds are others."""
    document = _document(NORMAL)
    document["problem"]["criterion"]["prior"] = json.loads(files.dump_json(encoded(law)))
    with pytest.raises(FileProblem, match=r"certificate|prior"):
        _read(document)


def test_a_prior_without_its_law_is_only_the_cells_in_the_file() -> None:
    problem: Any = NORMAL.problem
    evidence: Any = NORMAL.evidence
    cells = numbers(1.0, Squared(), criterion=Average(evidence.cells(problem.criterion.prior)))
    design = Design(cells, NORMAL.mechanism, type(evidence)(), NORMAL.report)
    read: Any = _read(_document(design)).problem
    assert read.words.prior.startswith(f"{evidence.cuts.size + 1} cells (sha256 ")
    document = _document(design)
    document["problem"]["criterion"]["prior"] |= {"law": encoded(priors.uniform(UNIT))["law"]}
    with pytest.raises(FileProblem, match="law must be left out"):
        _read(document)


@pytest.mark.parametrize("field", ["law", "profile"])
def test_values_have_neither_the_law_nor_the_profile_of_a_density(field: str) -> None:
    design = solve(numbers(1.0, Squared(), criterion=Average(priors.Atoms.of_data([0.25, 0.5]))))
    document = _document(design)
    problem: Any = _read(document).problem
    assert problem.words.prior.startswith("2 values (sha256 ")
    document["problem"]["criterion"]["prior"][field] = "normal(0.3, 0.2)"
    with pytest.raises(FileProblem, match="must be left out"):
        _read(document)


def test_cells_of_largest_variance_do_not_pass_for_those_of_a_named_law() -> None:
    """They bound every prior with these cells, so the bracket is true of them, but not of the law.

    A file says which law or which cells, never both: cells have no place beside a law, nor a law beside cells.
    """
    document = _document(NORMAL)
    problem: Any = NORMAL.problem
    evidence: Any = NORMAL.evidence
    cells = evidence.cells(problem.criterion.prior)
    widest = encoded(cells) | {"variances": ((cells.means - cells.lows) * (cells.highs - cells.means)).tolist()}
    law = document["problem"]["criterion"]["prior"]
    for form in (law | {"cells": widest}, widest | {"law": law["law"]}, widest):
        criterion = {"kind": "average", "prior": form}
        with pytest.raises(FileProblem, match=r"prior|certificate"):
            _read(document | {"problem": document["problem"] | {"criterion": criterion}})


def test_cuts_that_give_no_cells_of_the_law_are_refused() -> None:
    """Quadrature over one wide cell is off: what it would prove is not the law's."""
    narrow = numbers(1.0, Squared(), criterion=Average(priors.beta(0.5, 0.5, UNIT)))
    evidence: Any = NORMAL.evidence
    document = _document(NORMAL)
    document["problem"] = json.loads(files.dump_json(encoded(narrow)))
    document["certificate"]["evidence"] = encoded(type(evidence)([0.5]))
    with pytest.raises(FileProblem, match="doubles do not give the cells"):
        _read(document)


# -- texts that nothing decides ---------------------------------------------------------------------------------------


MATRIX = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [4.0, 2.0, 0.0]])


def test_texts_of_an_objective_are_named_and_not_decided() -> None:
    """They come back as what they are: names, while criterion and scope do not repeat them."""
    document = _document(custom(1.0, (0, 1, 2), (0, 1, 2), lambda q: cvxpy.sum(cvxpy.multiply(MATRIX, q)) / 3))
    document["problem"]["loss"]["objective"] = "the variance, proven to be least"
    saved: Any = _read(document)
    assert saved.problem.criterion == Total()
    assert saved.problem.loss.objective == "the variance, proven to be least"
    assert "variance" not in saved.problem.criterion.words + saved.certificate.valid_for


def test_labels_are_named_and_not_decided() -> None:
    document = _document(solve(Problem(loss=Matrix(MATRIX, input_labels=("a", "b", "c")), privacy=Pure(1.0))))
    document["problem"]["loss"]["input_labels"] = ["b", "a", "c"]
    saved: Any = _read(document)
    assert saved.problem.loss.input_labels == ("b", "a", "c")
    assert saved.certificate.valid_for == "all mechanisms with these outputs"


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        (("report",), "gap", "1e-9, proven"),
        (("report",), "gap", -1.0),
        (("report",), "gap", True),
        (("problem", "loss"), "input_labels", "abc"),
        (("problem", "loss"), "input_labels", [1, 2, 3]),
    ],
)
def test_settings_of_another_type_are_refused(part: tuple[str, ...], field: str, value: object) -> None:
    document = _document(solve(Problem(loss=MATRIX, privacy=Pure(1.0))))
    inside = document
    for key in part:
        inside = inside[key]
    inside[field] = value
    with pytest.raises(FileProblem, match=field):
        _read(document)


# -- files that would keep a reader busy ------------------------------------------------------------------------------


def test_numbers_of_too_many_sizes_are_not_added_up_for_hours() -> None:
    """Two hundred kilobytes whose exact sums would have millions of digits."""
    rng = np.random.default_rng(1)
    points = np.unique(rng.random(4000) * 10.0 ** rng.integers(-300, 0, 4000))
    weights = rng.random(points.size) * 10.0 ** rng.integers(-290, 0, points.size)
    prior = priors.Atoms(points, weights / weights.sum())
    document = _document(solve(numbers(1.0, Squared(), criterion=Average(priors.Atoms.of_data([0.25, 0.5])))))
    document["problem"] = json.loads(files.dump_json(encoded(numbers(1.0, Squared(), criterion=Average(prior)))))
    with pytest.raises(FileProblem, match=r"differ in size by [0-9]+ bits"):
        _read(document)


def _group() -> dict[str, Any]:
    document = json.loads(FORGERIES["group_with_a_box_left_out"].read_text())
    assert isinstance(document, dict)
    return document


LEAF = {"kind": "leaf", "largest": {"slope": 0.0, "multipliers": []}, "lines": []}


@pytest.mark.parametrize(
    "parts",
    [
        [{"kind": "split", "known": 1, "of_truth": True, "at": "3/4"}] * 50_000 + [LEAF] * 50_001,
        [LEAF | {"lines": [{"slope": 0.1, "multipliers": [[1, 0, True, 0.5]] * 10}] * 10_000}],
        [{"kind": "split", "known": 1, "of_truth": True, "at": "1/" + "3" * 4000}] * 2000 + [LEAF] * 2001,
    ],
    ids=["boxes", "multipliers", "digits"],
)
def test_a_proof_of_more_boxes_than_any_is_refused(parts: Any) -> None:
    document = _group()
    document["certificate"]["evidence"]["parts"] = parts
    with pytest.raises(FileProblem, match="at most 100000 boxes, lines and multipliers"):
        _read(document)


def test_a_product_of_very_many_parts_is_refused() -> None:
    document = json.loads(FORGERIES["polar_for_all_mechanisms"].read_text())
    document["mechanism"]["parts"] *= 6000
    with pytest.raises(FileProblem, match="at most 10000"):
        _read(document)


def test_more_constraints_than_a_proof_takes_are_refused() -> None:
    document = _document(custom(1.0, (0, 1, 2), (0, 1, 2), lambda q: cvxpy.sum(cvxpy.multiply(MATRIX, q))))
    document["problem"]["loss"]["coefficients"] |= {"rows": [[[0] * 3] * 3] * 230_000}
    with pytest.raises(FileProblem, match="at most 2000000 coefficients"):
        _read(document)


def test_details_nested_without_end_are_refused() -> None:
    """They could be read, and then neither copied nor saved again."""
    document = _document(NORMAL)
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    document["report"]["details"]["note"] = deep
    with pytest.raises(FileProblem, match="levels deep"):
        _read(document)


@pytest.mark.parametrize("name", ["joint unary", "joint hashing"])
def test_a_joint_encoding_is_no_answer_to_a_design_problem(name: str) -> None:
    """It has a file form and no name of its own: what refuses it must not stumble over that."""
    laws = {
        "joint unary": JointUnary(3, Fraction(3, 4), Fraction(1, 4), Fraction(1, 8)),
        "joint hashing": JointHashing(JointResponse.pair(Fraction(3, 4), Fraction(-1, 6), 4), 16),
    }
    law = json.loads(files.dump_json(encoded(laws[name])))
    for document in (_group(), _document(NORMAL)):
        with pytest.raises(FileProblem, match="joint response"):
            _read(document | {"mechanism": law})


def test_an_error_about_a_file_has_no_control_characters() -> None:
    document = _document(solve(_unbiased_piecewise(1.0)))
    document["mechanism"]["name"] = "\x1b[2Jproven optimal\x07"
    document["problem"]["inputs"]["upper"] = 2.0
    with pytest.raises(InvalidInput) as failure:
        _read(document)
    assert str(failure.value).isprintable()
