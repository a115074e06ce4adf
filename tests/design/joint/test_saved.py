"""Joint responses in files: read back as they were, and nothing that is false in them believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mechdesign import Interval, priors
from mechdesign.design.joint.problem import JointProblem, Moments
from mechdesign.design.joint.program import search_joint
from mechdesign.design.joint.proof import averaged_ratio
from mechdesign.design.joint.saved import load_joint, save_joint
from mechdesign.design.joint.search import JointDesign, optimal_joint
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.exact.rational import exp_lower
from mechdesign.priors import Atoms

UNIT = Interval(0, 1)
PROBLEMS = {
    "pair": JointProblem(1.0, 10000, 0.03, colluders=500),
    "capped": JointProblem(1.0, 10000, 0.03, colluders=500, caps=(2.0,)),
    "group": JointProblem(1.0, 800, 0.03, colluders=20, group=8, caps=(1.0, None, 3.0)),
    "independent": JointProblem(1.0, 900, 0.5, group=3),
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


def _saved(tmp_path: Path, name: str = "pair") -> tuple[JointDesign, Path]:
    design = optimal_joint(PROBLEMS[name])
    return design, save_joint(design, tmp_path / "joint.json")


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_design_is_read_back_with_all_its_numbers(tmp_path: Path, name: str) -> None:
    design, file = _saved(tmp_path, name)
    again = load_joint(file)
    assert again.law == design.law
    assert again.problem.goal() == design.problem.goal()
    assert again.to_dict() == json.loads(json.dumps(design.to_dict()))


def test_of_a_density_the_moments_are_kept_and_the_name_is_in_the_report(tmp_path: Path) -> None:
    _, file = _saved(tmp_path, "density")
    again = load_joint(file)
    assert isinstance(again.problem.share, Moments)
    assert again.report.details["prior"] == "normal(0.1234567891, 0.05)"
    assert again.to_dict() == load_joint(save_joint(again, tmp_path / "again.json")).to_dict()


def test_a_claimed_bound_stays_a_claim(tmp_path: Path) -> None:
    pytest.importorskip("pyscipopt")
    design = search_joint(PROBLEMS["pair"])
    again = load_joint(save_joint(design, tmp_path / "joint.json"))
    assert again.certificate == design.certificate
    assert again.certificate.claimed


def _set(*path: str, to: Any) -> Callable[[dict[str, Any]], object]:
    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = to(place[path[-1]]) if callable(to) else to

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("privacy", "averaged_epsilon", to=0.5), "privacy.averaged_epsilon must be 1.0, what"),
        (_set("privacy", "conditional_epsilons", to=[0.5, 0.5]), "privacy.conditional_epsilons must be"),
        (_set("privacy", to={}), "privacy.averaged_epsilon must be there"),
        (_set("problem", "epsilon", to=0.9), "averaged epsilon .* is above 0.9"),
        (_set("problem", "epsilon", to=1.1), "independent_variance must be"),
        (_set("problem", "colluders", to=5000), "is above 1.0"),
        (_set("problem", "colluders", to=0), "averaged_epsilon must be"),
        (_set("problem", "conditional_epsilons", to=[1.5]), "with 1 known"),
        (_set("problem", "share", to=0.04), "must be"),
        (_set("problem", "count", to=301), "problem.count must be 300"),
        (_set("problem", "kind", to="finite"), "problem.kind must be 'joint'"),
        (_set("problem", "group", to=4), "the law is for groups of 2"),
        (_set("problem", "categories", to=3), "with 2 values"),
        (_set("problem", "users", to=9999), "multiple of the group size"),
        (_set("problem", "users", to=True), "whole number"),
        (_set("problem", "share", to="uniform"), "share must be a number"),
        (_set("problem", "share", to={"mean": 0.1, "mean_square": 0.5}), "share must be the mean"),
        (_set("problem", "share", to={"mean": 0.1}), "complete and well-formed"),
        (_set("problem", "note", to="private"), "problem.note must not be there"),
        (lambda document: document.update(note="private"), "note must not be there"),
        (_set("mechanism", "p", to=0.7), "mechanism.p must be"),
        (_set("mechanism", "rho", to=-0.1), "mechanism.rho must be"),
        (_set("mechanism", "weights", to=["0", "0", "1"]), "averaged epsilon inf"),
        (_set("mechanism", "weights", to=["0", "1/2", "1/4"]), "add up to exactly 1"),
        (_set("mechanism", "weights", to=["0", "1/2", "1/2"]), "averaged epsilon 1.166.* above 1.0"),
        (_set("mechanism", "weights", to=["3/10", "0", "7/10"]), "certificate.upper must be"),
        (_set("mechanism", "weights", to=["0", "1e999999999", "0"]), "weights must be texts"),
        (_set("mechanism", "weights", to=["0", "1/0", "0"]), "complete and well-formed"),
        (_set("mechanism", "weights", to=[0, 0.5, 0.5]), "weights must be texts"),
        (_set("mechanism", "weights", to=["0", "9" * 9000, "0"]), "weights must be texts"),
        (_set("mechanism", "weights", to=3), "complete and well-formed"),
        (_set("variance", to=lambda value: value * 0.99), "variance must be"),
        (_set("independent_variance", to=lambda value: value * 2), "independent_variance must be"),
        (_set("certificate", "upper", to=lambda value: value * 1.01), "certificate.upper must be"),
        (_set("certificate", "lower", to=lambda value: value * 1.01), "the bounds .* cross"),
        (_set("certificate", "lower", to=-1.0), "at least 0"),
        (_set("certificate", "lower", to="0"), "lower a number"),
        (_set("certificate", "valid_for", to="all mechanisms"), "certificate.valid_for must be"),
        (_set("certificate", "claimed", to=1), "true or false"),
        (_set("report", "seconds", to="fast"), "seconds must be a number"),
        (_set("report", "versions", to={"numpy": 2}), "versions must be texts"),
        (_set("report", "details", to=[]), "details must be objects"),
        (_set("format", to="mechdesign research file"), "file format must be"),
        (_set("version", to=2), "file version must be 1"),
        (_set("certificate", to=[]), "hold an object under 'certificate'"),
        (lambda document: document.pop("report"), "hold an object under 'report'"),
        (lambda document: document["problem"].pop("gap"), "complete and well-formed: KeyError 'gap'"),
    ],
    ids=range(47),
)
def test_a_file_that_says_anything_else_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    _, file = _saved(tmp_path)
    with pytest.raises(FileProblem, match=words):
        load_joint(_rewritten(file, change))


def test_every_prefix_of_a_file_is_refused(tmp_path: Path) -> None:
    _, file = _saved(tmp_path)
    content = file.read_bytes()
    for size in range(0, len(content) - 1, 37):
        file.write_bytes(content[:size])
        with pytest.raises(FileProblem, match="valid JSON"):
            load_joint(file)


def test_a_bound_above_what_another_law_attains_is_refused(tmp_path: Path) -> None:
    """A worse law with all numbers its own, whose lower bound is just its own variance, proves nothing."""
    design = optimal_joint(PROBLEMS["pair"])
    worse = optimal_joint(replace(PROBLEMS["pair"], caps=(1.0,)))
    upper = worse.certificate.upper
    assert upper > design.certificate.upper
    forged = replace(worse, problem=design.problem, certificate=replace(worse.certificate, lower=upper))
    with pytest.raises(FileProblem, match="another law attains"):
        load_joint(save_joint(forged, tmp_path / "joint.json"))


def test_a_bound_between_what_is_proven_and_what_is_attained_is_not_echoed(tmp_path: Path) -> None:
    design, file = _saved(tmp_path, "group")
    proven, upper = design.certificate.lower, design.certificate.upper
    assert proven < upper
    again = load_joint(_rewritten(file, _set("certificate", "lower", to=upper)))
    assert (again.certificate.lower, again.certificate.upper) == (proven, upper)


def test_a_search_without_time_keeps_the_bound_that_it_reached(tmp_path: Path) -> None:
    design, file = _saved(tmp_path, "group")
    again = load_joint(file, seconds=1e-6)
    assert again.certificate.lower < design.certificate.lower
    assert again.privacy == design.privacy


def test_a_saved_law_keeps_its_averaged_budget_as_a_rational(tmp_path: Path) -> None:
    _, file = _saved(tmp_path)
    again = load_joint(file)
    ratio = averaged_ratio(again.law, 10000, 500)
    assert ratio is not None
    assert ratio <= exp_lower(1.0)


@pytest.mark.parametrize(("mean", "square"), [(1.1, 1.0), (0.2, 0.01), (0.2, 0.3), (float("nan"), 0.1), (True, 1.0)])
def test_moments_of_no_share_are_refused(mean: float, square: float) -> None:
    with pytest.raises(InvalidInput):
        Moments(mean, square)
