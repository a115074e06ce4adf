"""Designs, problems and priors are values: they go to other processes and come back equal."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest
from jsonschema import Draft202012Validator

import mechdesign as md
from mechdesign import (
    Absolute,
    Circle,
    Finite,
    Interval,
    Power,
    Squared,
    load_design,
    priors,
)
from mechdesign.methods.registry import EVIDENCE, solve
from mechdesign.methods.saved import design_schema
from mechdesign.values.declare import evolved
from mechdesign.words.cells import Cells
from mechdesign.words.classes import InPlane, UnbiasedPiecewise
from mechdesign.words.criteria import Average, Lexicographic
from mechdesign.words.finite_losses import Distances, Matrix
from mechdesign.words.models import GaussianLocation
from mechdesign.words.pairs import Metric, Pairwise
from mechdesign.words.privacy import Approximate, Pure
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Ball, CrossPolytope
from mechdesign.words.workloads import Marginals, Prefix
from tests.methods import problems
from tests.methods.problems import custom, hidden_problem, information, joint_problem, numbers, workload_problem


def _unbiased_piecewise(epsilon: float) -> Problem:
    return Problem(inputs=(0, 1), loss="squared", privacy=Pure(epsilon), among=UnbiasedPiecewise())


UNIT = Interval(0, 1)
NORMAL = priors.normal(0.3, 0.2, UNIT)
PRIORS: dict[str, Callable[[], Any]] = {
    "atoms": lambda: priors.Atoms.of_data([0.1, 0.1, 0.9]),
    "uniform": lambda: priors.uniform(UNIT),
    "uniform on a circle": lambda: priors.uniform(Circle(360.0)),
    "normal": lambda: priors.normal(0.3, 0.1, UNIT),
    "beta": lambda: priors.beta(0.5, 2.0, UNIT),
    "exponential": lambda: priors.exponential(6.0, UNIT),
    "histogram": lambda: priors.histogram([0, 1, 3], [0.5, 0.5]),
}
VALUES = priors.Atoms.of_data([0.1, 0.2, 0.7])
HISTOGRAM = priors.histogram([0.0, 0.25, 1.0], [0.75, 0.25])


def _tent(x: Any) -> Any:
    return 2 - 4 * abs(x - 0.5)


FUNCTION = priors.Density(_tent, UNIT, (0.5,), "tent")
MATRIX = np.array([[0.0, 1.0], [2.0, 0.0]])
DESIGNS: dict[str, Callable[[], Any]] = {
    "piecewise": lambda: solve(problems.piecewise(1.0, Squared())),
    "circle": lambda: solve(problems.piecewise(1.0, Squared(360.0), Circle(360.0))),
    "at": lambda: solve(problems.piecewise(1.0, Absolute(), UNIT, Interval(-0.5, 2), at=0.25)),
    "claimed piecewise": lambda: solve(problems.piecewise(1.0, Power(1.5))),
    "minimax": lambda: solve(numbers(1.0, Squared()), gap=1e-2),
    "claimed minimax": lambda: solve(numbers(1.0, Power(1.5)), gap=1e-2),
    "whole numbers": lambda: solve(numbers(1.0, Absolute(), Finite((1, 2, 4)))),
    "prior": lambda: solve(numbers(1.0, Squared(), criterion=Average(NORMAL)), gap=1e-3),
    "prior of values": lambda: solve(numbers(1.0, criterion=Average(VALUES))),
    "prior of a histogram": lambda: solve(numbers(1.0, Squared(), criterion=Average(HISTOGRAM)), gap=1e-2),
    "prior of a function": lambda: solve(numbers(1.0, Squared(), criterion=Average(FUNCTION)), gap=1e-2),
    "prior of whole numbers": lambda: solve(
        numbers(1.0, Squared(), Finite((1, 2, 4)), Average(priors.Atoms([1.0, 4.0], [0.5, 0.5])))
    ),
    "trade-off": lambda: solve(numbers(1.0, criterion=Lexicographic(NORMAL, cap=0.4)), gap=1e-2),
    "trade-off of a function": lambda: solve(numbers(1.0, criterion=Lexicographic(FUNCTION, cap=0.4)), gap=1e-2),
    "pareto": lambda: solve(numbers(1.0, criterion=Lexicographic(VALUES))),
    "unbiased": lambda: solve(problems.unbiased_under(1.0), size=5),
    "unbiased values": lambda: solve(problems.unbiased_under(1.0, VALUES, UNIT), size=5),
    "unbiased function": lambda: solve(problems.unbiased_under(1.0, FUNCTION, UNIT), size=5),
    "unbiased worst": lambda: solve(problems.unbiased(1.0), gap=1e-2),
    "ball": lambda: solve(problems.vectors(2.0, Ball(5, 3.0))),
    "cross-polytope": lambda: solve(problems.vectors(2.0, CrossPolytope(9))),
    "sign patterns": lambda: solve(problems.several(2.0, 9), method="sign_patterns"),
    "cube": lambda: solve(problems.several(2.0), method="cube", levels=3),
    "cube prior": lambda: solve(evolved(problems.several(2.0), criterion=Average()), levels=3),
    "unbiased piecewise": lambda: solve(_unbiased_piecewise(1.0)),
    "additive": lambda: solve(problems.additive(2.0, bins=2, reach=3, tail=1)),
    "additive function": lambda: solve(problems.additive(2.0, FUNCTION, UNIT, bins=2, reach=3, tail=1)),
    "approximate": lambda: solve(Problem(loss=[[0, 1], [1, 0]], privacy=Approximate(1.0, 0.1))),
    "finite": lambda: solve(
        Problem(loss=Matrix(MATRIX, input_labels=("a", "b")), privacy=Pure(1.0), criterion=Lexicographic(slack=1e-5))
    ),
    "finite worst": lambda: solve(
        Problem(loss=Matrix(MATRIX, output_labels=("\u00e4", "\U0001f600")), privacy=Pure(1.0))
    ),
    "joint": lambda: solve(joint_problem(1.0, 1000, NORMAL)),
    "joint values": lambda: solve(joint_problem(1.0, 1000, VALUES, colluders=10, caps=(1.5,))),
    "joint range": lambda: solve(joint_problem(1.0, 1000, (0.1, 0.3))),
    "hidden": lambda: solve(hidden_problem(1.0, 300, NORMAL)),
    "hidden values": lambda: solve(hidden_problem(1.0, 300, VALUES, categories=3, encoding="unary")),
    "hidden hashes": lambda: solve(hidden_problem(1.0, 60, 0.3, categories=4, encoding="hashing")),
    "hidden even": lambda: solve(hidden_problem(1.0, 60, 0.5)),
    "hidden delta": lambda: solve(hidden_problem(1.0, 20, (0.0, 0.1), delta=1e-2)),
    "group": lambda: solve(joint_problem(1.0, 900, 0.2, group=3, caps=(None, 2.0), categories=3), gap=0.1),
    "claimed joint": lambda: solve(joint_problem(1.0, 1000, 0.2), method="joint_program"),
    "pairs": lambda: solve(Problem(loss=MATRIX, privacy=Pairwise([[0, 0.5], [1, 0]]), criterion=Average([0.5, 0.5]))),
    "places": lambda: solve(
        Problem(loss=Distances(), privacy=Metric([[0, 0], [3, 4], [6, 0]], 0.5), criterion=Average())
    ),
    "pairs least": lambda: solve(
        Problem(loss=MATRIX, privacy=Pairwise([[0, 0.5], [1, 0]]), criterion=Lexicographic([0.5, 0.5]))
    ),
    "plane": lambda: solve(
        Problem(loss=Distances(), privacy=Metric([[0, 0], [3, 4], [6, 0]], 0.5), criterion=Average(), among=InPlane()),
        gap=0.1,
    ),
    "workload": lambda: md.solve(workload_problem(1.0, Prefix(4), prior=[0.25, 0.25, 0.375, 0.125])),
    "workload worst": lambda: md.solve(workload_problem(1.0, Prefix(3), "worst")),
    "workload grid": lambda: md.solve(workload_problem(2.0, Marginals((3, 3, 3), 1)), gap=0.2),
    "information": lambda: solve(information(3.0, GaussianLocation(6))),
    "polar": lambda: solve(problems.polar(4.0)),
    "custom": lambda: custom(1.0, (0, 1, 2), (0, 1, 2), cvxpy.trace, lambda q: [q[0, 0] <= 0.5, q[1, 1] == 0.4]),
    "claimed custom": lambda: custom(1.0, (0, 1), (0, 1), lambda q: cvxpy.log_sum_exp(q - np.eye(2))),
}


@cache
def _design(name: str) -> Any:
    return DESIGNS[name]()


def _through_a_file(name: str, folder: Path) -> Any:
    path = folder / f"{name}.json"
    return load_design(_design(name).save(path))


@pytest.mark.parametrize("name", PRIORS)
def test_priors_come_back_equal_and_hash_alike(name: str) -> None:
    prior, again = PRIORS[name](), PRIORS[name]()
    assert prior == again
    assert hash(prior) == hash(again)
    for copied in (pickle.loads(pickle.dumps(prior)), copy.deepcopy(prior)):
        assert copied == prior
        assert hash(copied) == hash(prior)


def test_laws_with_other_parameters_are_other_priors_with_other_names() -> None:
    near = priors.normal(0.3, 0.1, UNIT), priors.normal(0.30000000000000004, 0.1, UNIT)
    assert near[0] != near[1]
    assert near[0].name != near[1].name
    assert near[0] != priors.normal(0.3, 0.1, Interval(0, 2))


@pytest.mark.parametrize("name", sorted(PRIORS))
def test_a_copied_density_has_the_same_values(name: str) -> None:
    prior = PRIORS[name]()
    if isinstance(prior, priors.Density):
        places = np.linspace(prior.domain.lower, prior.domain.upper, 33)
        assert np.array_equal(pickle.loads(pickle.dumps(prior))(places), prior(places))


def test_every_evidence_is_among_them() -> None:
    assert {type(_design(name).evidence) for name in DESIGNS} == set(EVIDENCE)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_read_from_its_file_is_the_same_design(name: str, tmp_path: Path) -> None:
    design, read = _design(name), _through_a_file(name, tmp_path)
    assert read == design
    assert hash(read) == hash(design)
    assert (read.problem, read.mechanism, read.evidence) == (design.problem, design.mechanism, design.evidence)
    assert read.certificate == design.certificate
    assert (read.report.solver, read.report.versions) == (design.report.solver, design.report.versions)
    assert {*read.report.details} == {*design.report.details}


def test_every_file_fits_the_schema_of_files_that_hold_designs(tmp_path: Path) -> None:
    schema = Draft202012Validator(design_schema())
    for number, name in enumerate(DESIGNS):
        document = json.loads(_design(name).save(tmp_path / f"{number}.json").read_text())
        assert schema.is_valid(document), name


@pytest.mark.parametrize("name", DESIGNS)
def test_a_problem_and_its_design_come_back_equal_from_pickles_and_copies(name: str, tmp_path: Path) -> None:
    design = _design(name)
    for value in (design, design.problem, design.certificate, _through_a_file(name, tmp_path)):
        for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert copied == value
            assert hash(copied) == hash(value)


@pytest.mark.slow
def test_designs_go_through_another_process_and_come_back_equal(tmp_path: Path) -> None:
    values = [_design(name) for name in DESIGNS] + [_through_a_file(name, tmp_path) for name in DESIGNS]
    with ProcessPoolExecutor(1) as pool:
        returned = list(pool.map(copy.copy, values))
    for value, back in zip(values, returned, strict=True):
        assert back == value
        assert hash(back) == hash(value)
        assert copy.deepcopy(value) == value


HELD = {
    "prior of a function": lambda problem: isinstance(problem.criterion.prior, Cells),
    "trade-off of a function": lambda problem: isinstance(problem.criterion.prior, Cells),
    "unbiased function": lambda problem: problem.criterion.prior.points.size == 5,
    "additive function": lambda problem: problem.criterion.prior.points.size == 3,
    "joint": lambda problem: problem.loss.share.kind == "moments",
    "hidden": lambda problem: problem.loss.share.kind == "moments",
    "prior": lambda problem: problem.criterion.prior == NORMAL,
    "prior of a histogram": lambda problem: problem.criterion.prior == HISTOGRAM,
    "prior of values": lambda problem: problem.criterion.prior == VALUES,
}


@pytest.mark.parametrize("name", HELD)
def test_a_design_holds_the_prior_that_was_given_or_what_was_proven_of_a_function(name: str) -> None:
    assert HELD[name](_design(name).problem)


def test_a_design_found_more_slowly_is_the_same_design() -> None:
    design = _design("piecewise")
    slower = evolved(design, report=evolved(design.report, seconds=1e9, details={"note": "took long"}))
    assert slower == design
    assert hash(slower) == hash(design)
    assert design != _design("circle")
    at_the_end = evolved(design, problem=problems.piecewise(1.0, Squared(), at=0.0))  # the same bounds, asked otherwise
    assert at_the_end.certificate == design.certificate
    assert at_the_end != design


def test_reports_stay_read_only_after_a_copy() -> None:
    report = copy.deepcopy(_design("piecewise").report)
    with pytest.raises(TypeError):
        report.details["note"] = "changed"
