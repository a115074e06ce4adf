"""Bounds on joint responses: derived again from files, weaker but never wrong with other multipliers, not believed."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import pytest

from mechdesign import Interval, priors
from mechdesign.design.joint import ClosedForm, DualBound, JointClaim, JointProblem, Moments, optimal_joint
from mechdesign.design.joint.program import search_joint
from mechdesign.design.joint.proof import Duals, Leaf, scope_of
from mechdesign.design.result import Design
from mechdesign.design.saved import load_design
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput
from mechdesign.exact.collusion import averaged_ratio
from mechdesign.exact.joint_limits import Split
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.catalogue import pm
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.priors import Atoms

UNIT = Interval(0, 1)
PROBLEMS = {
    "pair": JointProblem(1.0, 10000, 0.03, colluders=500),
    "capped": JointProblem(1.0, 10000, 0.03, colluders=500, caps=(2.0,)),
    "group": JointProblem(1.0, 800, 0.03, colluders=20, group=8, caps=(1.0, None, 3.0)),
    "boxes": JointProblem(1.0, 10000, 0.033, colluders=500, group=4),
    "positive": JointProblem(1.0, 900, 0.25, colluders=5, group=3, categories=4),
    "independent": JointProblem(1.0, 900, 0.5, group=3),
    "across": JointProblem(1.0, 10000, (0.1, 0.7), group=4),
    "categories": JointProblem(1.0, 1000, 0.4, group=2, categories=4),
    "range": JointProblem(0.5, 1000, (0.02, 0.1)),
    "atoms": JointProblem(1.0, 1000, Atoms([0.1, 0.3], [0.4, 0.6]), group=4),
    "density": JointProblem(1.0, 1000, priors.normal(0.1234567891, 0.05, UNIT), group=4),
    "fine": JointProblem(60.0, 160, 0.1, group=16),
}


def _rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def _saved(tmp_path: Path, name: str = "pair") -> tuple[Design, Path]:
    design = optimal_joint(PROBLEMS[name])
    return design, design.save(tmp_path / "joint.json")


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_design_is_read_back_as_the_same_design_with_the_same_certificate(tmp_path: Path, name: str) -> None:
    design, file = _saved(tmp_path, name)
    again = load_design(file)
    assert again == design
    assert again.certificate == design.certificate
    assert again.document() == design.document()


@pytest.mark.parametrize("name", ["pair", "boxes", "density"])
def test_a_design_is_pickled(name: str) -> None:
    design = optimal_joint(PROBLEMS[name])
    assert pickle.loads(pickle.dumps(design)) == design


def test_of_a_density_the_design_s_problem_holds_the_moments_and_the_report_the_name(tmp_path: Path) -> None:
    design, file = _saved(tmp_path, "density")
    assert isinstance(design.problem, JointProblem)
    assert isinstance(design.problem.share, Moments)
    assert design.problem.goal() == PROBLEMS["density"].goal()
    assert load_design(file).report.details["prior"] == "normal(0.1234567891, 0.05)"


def test_a_claimed_bound_stays_a_claim(tmp_path: Path) -> None:
    pytest.importorskip("pyscipopt")
    design = search_joint(PROBLEMS["pair"])
    again = load_design(design.save(tmp_path / "joint.json"))
    assert again.certificate == design.certificate
    assert again.certificate.claimed


def test_a_joint_design_has_no_law_of_one_user_and_what_to_do_instead_is_said() -> None:
    with pytest.raises(InvalidInput, match=r"no table holds that.*run_parties.*randomised_response"):
        _ = optimal_joint(PROBLEMS["pair"]).own_law


def _set(*path: str | int, to: Any) -> Callable[[dict[str, Any]], object]:
    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = to(place[path[-1]]) if callable(to) else to

    return change


def _weights(*weights: str) -> Callable[[dict[str, Any]], object]:
    """Another law, with all that follows from its weights."""
    law = JointResponse(tuple(map(Fraction, weights)))
    said = {"weights": list(weights), "p": float(law.truth), "rho": float(law.rho)}
    return lambda document: document["mechanism"].update(said)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("certificate", "privacy_loss", to=0.5), "privacy_loss must be 1.0, what"),
        (_set("certificate", "privacy", "averaged_epsilon", to=0.5), "averaged_epsilon must be 1.0, what"),
        (_set("certificate", "privacy", "conditional_epsilons", to=[0.5, 0.5]), "conditional_epsilons must be"),
        (_set("certificate", "privacy", "conditional_epsilons", to=[]), "conditional_epsilons must be"),
        (_set("certificate", "privacy", "colluders", to=600), "colluders must be 500, what was derived"),
        (_set("certificate", "privacy", "kind", to="pure"), "kind must be 'collusion'"),
        (_set("certificate", "privacy", to={}), "privacy must hold kind"),
        (_set("problem", "epsilon", to=0.9), "averaged epsilon .* is above 0.9"),
        (_set("problem", "epsilon", to=1.1), "must be"),
        (_set("problem", "colluders", to=5000), "is above 1.0"),
        (_set("problem", "colluders", to=0), "must be"),
        (_set("problem", "conditional_epsilons", to=[1.5]), "with 1 known"),
        (_set("problem", "share", to=0.04), "must be"),
        (_set("problem", "count", to=301), "problem count must be 300"),
        (_set("problem", "kind", to="piecewise"), "must"),
        (_set("problem", "group", to=4), "no closed form for groups of 4"),
        (_set("problem", "categories", to=3), "no closed form"),
        (_set("problem", "users", to=9999), "multiple of the group size"),
        (_set("problem", "users", to=True), "whole number"),
        (_set("problem", "share", to="uniform"), "share must be of a kind that is known"),
        (
            _set("problem", "share", to={"kind": "moments", "mean": 0.1, "mean_square": 0.5}),
            "share must be the mean",
        ),
        (_set("problem", "share", to={"kind": "moments", "mean": 0.1}), "mean_square"),
        (_set("problem", "note", to="private"), "problem note must be left out"),
        (_set("mechanism", "p", to=0.7), "mechanism p must be"),
        (_set("mechanism", "rho", to=-0.1), "mechanism rho must be"),
        (_weights("0/1", "0/1", "1/1"), "averaged epsilon inf"),
        (_set("mechanism", "weights", to=["0/1", "1/2", "1/4"]), "add up to exactly 1"),
        (_weights("0/1", "1/2", "1/2"), "averaged epsilon 1.166.* above 1.0"),
        (_weights("3/10", "0/1", "7/10"), "certificate (upper|privacy_loss) must be"),
        (_set("mechanism", "weights", to=["0/1", "1e999999999", "0/1"]), "be a fraction"),
        (_set("mechanism", "weights", to=["0/1", "1/0", "0/1"]), "be a fraction"),
        (_set("mechanism", "weights", to=["0/1", "--1/2", "1/2"]), "be a fraction"),
        (_set("mechanism", "weights", to=["0/1", "9" * 9000 + "/1", "0/1"]), "be a fraction"),
        (_set("mechanism", "weights", to=[0, 0.5, 0.5]), "be a text like"),
        (_set("mechanism", "weights", to=3), "be a list"),
        (_set("certificate", "upper", to=lambda value: value * 1.01), "certificate upper must be"),
        (_set("certificate", "lower", to=lambda value: value * 1.01), "certificate lower must be"),
        (_set("certificate", "lower", to=-1.0), "certificate lower must be"),
        (_set("certificate", "lower", to="0"), "be a number"),
        (_set("certificate", "valid_for", to="all mechanisms"), "certificate valid_for must be"),
        (_set("certificate", "claimed", to=1), "certificate claimed must be"),
        (_set("certificate", "claimed", to=True), "certificate claimed must be"),
        (_set("certificate", "evidence", to={"kind": "joint duals", "parts": []}), "boxes hold no law of small p"),
        (_set("certificate", "evidence", "kind", to="bathtub"), "evidence kind must be one of"),
        (_set("report", "seconds", to="fast"), "seconds must be a number"),
        (_set("report", "versions", to={"numpy": 2}), "be a text"),
        (_set("report", "details", to=[]), "be an object"),
        (_set("format", to="mechdesign joint response"), "file format must be"),
        (_set("version", to=1), "file version must be 2"),
        (_set("certificate", to=[]), "hold an object under 'certificate'"),
        (lambda document: document.pop("report"), "hold an object under 'report'"),
        (lambda document: document["problem"].pop("gap"), "problem gap must be there"),
    ],
    ids=range(52),
)
def test_a_file_that_says_anything_else_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    _, file = _saved(tmp_path)
    with pytest.raises(InvalidInput, match=words):
        load_design(_rewritten(file, change))


def test_every_prefix_of_a_file_is_refused(tmp_path: Path) -> None:
    _, file = _saved(tmp_path)
    content = file.read_bytes()
    for size in range(0, len(content) - 1, 37):
        file.write_bytes(content[:size])
        with pytest.raises(FileProblem, match="valid JSON"):
            load_design(file)


def test_a_bound_above_what_is_proven_is_refused_and_not_cut_down(tmp_path: Path) -> None:
    design, file = _saved(tmp_path, "boxes")
    assert design.certificate.lower < design.certificate.upper
    with pytest.raises(FileProblem, match="certificate lower must be"):
        load_design(_rewritten(file, _set("certificate", "lower", to=design.certificate.upper)))


def test_a_worse_law_is_no_optimum_whatever_its_file_says(tmp_path: Path) -> None:
    """A law with all numbers its own, in a file that calls its own variance the lower bound."""
    design = optimal_joint(PROBLEMS["pair"])
    worse = optimal_joint(attrs.evolve(PROBLEMS["pair"], caps=(1.0,)))
    forged = Design(design.problem, worse.mechanism, design.evidence, design.report)
    assert forged.certificate.lower == design.certificate.lower < forged.certificate.upper
    file = _rewritten(forged.save(tmp_path / "joint.json"), _set("certificate", "lower", to=worse.certificate.upper))
    with pytest.raises(FileProblem, match="certificate lower must be"):
        load_design(file)


def test_a_saved_law_keeps_its_averaged_budget_as_a_rational(tmp_path: Path) -> None:
    _, file = _saved(tmp_path)
    law = load_design(file).mechanism
    assert isinstance(law, JointResponse)
    ratio = averaged_ratio(law, 10000, 500)
    assert ratio is not None
    assert ratio <= exp_lower(1.0)


# -- evidence ----------------------------------------------------------------------------------------------------------


def _evidence(name: str) -> DualBound:
    evidence = optimal_joint(PROBLEMS[name]).evidence
    assert isinstance(evidence, DualBound)
    return evidence


def _mutants(evidence: DualBound) -> list[DualBound]:
    """Every multiplier, slope, cut and list of lines changed, one at a time."""
    found = []
    for place, part in enumerate(evidence.parts):
        for other in _other_splits(part) if isinstance(part, Split) else _other_leaves(part):
            found.append(DualBound((*evidence.parts[:place], other, *evidence.parts[place + 1 :])))
    return found


def _other_splits(part: Split) -> list[Split]:
    return [
        attrs.evolve(part, at=part.at * Fraction(9, 10)),
        attrs.evolve(part, at=Fraction(2)),
        attrs.evolve(part, of_truth=not part.of_truth),
        attrs.evolve(part, known=part.known + 1),
        attrs.evolve(part, known=0),
    ]


def _other_leaves(part: Leaf) -> list[Leaf]:
    found = [attrs.evolve(part, largest=other) for other in _other_duals(part.largest)]
    for place, duals in enumerate(part.lines):
        rest = part.lines[:place], part.lines[place + 1 :]
        found.append(attrs.evolve(part, lines=(*rest[0], *rest[1])))
        found += [attrs.evolve(part, lines=(*rest[0], other, *rest[1])) for other in _other_duals(duals)]
    return found


def _other_duals(duals: Duals) -> list[Duals]:
    found = [attrs.evolve(duals, slope=duals.slope * factor) for factor in (0.9, 1.1)]
    for place, (known, truthful, of_truth, weight) in enumerate(duals.multipliers):
        for other in (
            (known, truthful, of_truth, weight * 2),
            (known, truthful, of_truth, 0.0),
            (known, truthful, not of_truth, weight),
        ):
            multipliers = (*duals.multipliers[:place], other, *duals.multipliers[place + 1 :])
            found.append(attrs.evolve(duals, multipliers=multipliers))
    return found


@pytest.mark.parametrize("name", ["group", "boxes", "positive", "categories"])
def test_no_other_multipliers_and_cuts_prove_more_than_a_law_attains(name: str) -> None:
    evidence, design = _evidence(name), optimal_joint(PROBLEMS[name])
    mutants = _mutants(evidence)
    assert len(mutants) >= 8
    values = [mutant.value(PROBLEMS[name]) for mutant in mutants]
    assert max(values) <= Fraction(design.certificate.upper)
    assert min(values) < evidence.value(PROBLEMS[name])


@pytest.mark.parametrize("name", ["boxes", "positive"])
def test_a_box_left_out_or_too_many_is_refused(name: str) -> None:
    parts = _evidence(name).parts
    assert len(parts) > 1
    with pytest.raises(CheckFailed, match="leaves out"):
        DualBound(parts[:-1]).value(PROBLEMS[name])
    with pytest.raises(CheckFailed, match="more boxes than there are"):
        DualBound((*parts, parts[-1])).value(PROBLEMS[name])


def test_a_multiplier_below_zero_infinite_or_of_nobody_is_refused() -> None:
    for multiplier in ((1, 0, True, -1.0), (1, 0, True, math.inf), (1, 2, True, 1.0), (-1, -1, True, 1.0)):
        with pytest.raises(InvalidInput, match="multiplier"):
            Duals(0.0, (multiplier,))
    with pytest.raises(CheckFailed, match="9 partners in a group of 4"):
        DualBound((Leaf(Duals(0.0, ((9, 0, True, 1.0),))),)).value(PROBLEMS["boxes"])


def test_without_lines_nothing_is_proven() -> None:
    assert DualBound((Leaf(),)).value(PROBLEMS["boxes"]) == 0


def test_the_law_must_be_for_the_problem_s_groups() -> None:
    group = optimal_joint(PROBLEMS["group"])
    with pytest.raises(CheckFailed, match="3 partners are capped, and a group of 2 has fewer"):
        Design(group.problem, JointResponse.independent(0.6), group.evidence, group.report)
    boxes = optimal_joint(PROBLEMS["boxes"])
    with pytest.raises(CheckFailed, match="groups of 2 with 2 values, the problem for groups of 4"):
        Design(boxes.problem, JointResponse.independent(0.6), boxes.evidence, boxes.report)


def test_a_mechanism_of_one_user_is_no_joint_response() -> None:
    pair = optimal_joint(PROBLEMS["pair"])
    with pytest.raises(CheckFailed, match="matter of joint responses"):
        Design(pair.problem, pm(1.0), pair.evidence, pair.report)


def test_the_evidence_must_be_about_the_problem() -> None:
    pair, group = optimal_joint(PROBLEMS["pair"]), optimal_joint(PROBLEMS["group"])
    with pytest.raises(CheckFailed, match="no closed form for groups of 8"):
        Design(group.problem, group.mechanism, ClosedForm(), group.report)
    with pytest.raises(CheckFailed, match="a claim is about pairs"):
        Design(group.problem, group.mechanism, JointClaim(1.0), group.report)
    with pytest.raises(CheckFailed, match="which another law attains"):
        Design(pair.problem, pair.mechanism, JointClaim(pair.certificate.upper * 1.001), pair.report)


@pytest.mark.parametrize(("mean", "square"), [(1.1, 1.0), (0.2, 0.01), (0.2, 0.3), (float("nan"), 0.1), (True, 1.0)])
def test_moments_of_no_share_are_refused(mean: float, square: float) -> None:
    with pytest.raises(InvalidInput):
        Moments(mean, square)


@pytest.mark.parametrize("name", ["pair", "across"])
def test_boxes_prove_nothing_where_a_closed_form_is_about_laws_of_any_p(name: str) -> None:
    """Boxes leave out laws that are hardly ever truthful, which the scope of a closed form does not."""
    design = optimal_joint(PROBLEMS[name])
    boxes = DualBound((Leaf(lines=(Duals(1.0),)),))
    with pytest.raises(CheckFailed, match="no law of small p"):
        Design(design.problem, design.mechanism, boxes, design.report)


def test_the_least_p_that_a_scope_names_is_rounded_up() -> None:
    problem = PROBLEMS["boxes"]
    least = problem.limits(up=True).least_truth(problem.categories)
    said = Fraction(scope_of(problem).words.rpartition(" ")[2])
    assert least <= said <= least * (1 + Fraction(1, 10**5))
