"""Designs, problems and priors are values: they go to other processes and come back equal."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

from mechdesign import (
    Absolute,
    Circle,
    Interval,
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
from mechdesign.design import AdditiveProblem, FiniteProblem, JointProblem, custom, optimal_additive, optimal_finite
from mechdesign.design.joint.search import optimal_joint

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
MATRIX = np.array([[0.0, 1.0], [2.0, 0.0]])
DESIGNS: dict[str, Callable[[], Any]] = {
    "piecewise": lambda: optimal_piecewise(PiecewiseProblem(1.0, Squared())),
    "circle": lambda: optimal_piecewise(PiecewiseProblem(1.0, Squared(360.0), Circle(360.0))),
    "minimax": lambda: optimal_minimax(MinimaxProblem(1.0, Squared(), gap=1e-2)),
    "claimed minimax": lambda: optimal_minimax(MinimaxProblem(1.0, Power(1.5), gap=1e-2)),
    "prior": lambda: optimal_prior(PriorProblem(1.0, NORMAL, Squared(), gap=1e-3)),
    "trade-off": lambda: optimal_trade_off(TradeOffProblem(1.0, NORMAL, cap=0.4, gap=1e-2)),
    "pareto": lambda: optimal_trade_off(TradeOffProblem(1.0, priors.Atoms.of_data([0.1, 0.2, 0.7]))),
    "unbiased": lambda: optimal_unbiased(UnbiasedProblem(1.0, priors.uniform(Interval(-1, 1)), size=5)),
    "unbiased piecewise": lambda: optimal_unbiased_piecewise(UnbiasedPiecewiseProblem(1.0)),
    "additive": lambda: optimal_additive(
        AdditiveProblem(2.0, priors.uniform(Interval(-1, 1)), bins=2, reach=3, tail=1)
    ),
    "finite": lambda: optimal_finite(FiniteProblem(1.0, MATRIX, "lexicographic", input_labels=("a", "b"))),
    "joint": lambda: optimal_joint(JointProblem(1.0, 1000, NORMAL)),
    "polar": lambda: optimal_polar(PolarProblem(4.0)),
    "custom": lambda: custom(1.0, (0, 1, 2), (0, 1, 2), cvxpy.trace),
    "claimed custom": lambda: custom(1.0, (0, 1), (0, 1), cvxpy.sum_squares),
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


@pytest.mark.slow
def test_designs_go_through_another_process_and_come_back_equal(tmp_path: Path) -> None:
    values = [_design(name) for name in DESIGNS] + [_through_a_file(name, tmp_path) for name in DESIGNS]
    with ProcessPoolExecutor(1) as pool:
        returned = list(pool.map(copy.copy, values))
    for value, back in zip(values, returned, strict=True):
        assert back == value
        assert hash(back) == hash(value)
        assert copy.deepcopy(value) == value


@pytest.mark.parametrize("name", ["piecewise", "prior", "finite", "custom", "joint"])
def test_a_problem_and_its_design_come_back_equal_from_pickles_and_copies(name: str, tmp_path: Path) -> None:
    design = _design(name)
    for value in (design, design.problem, _through_a_file(name, tmp_path)):
        for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert copied == value
            assert hash(copied) == hash(value)


def test_a_design_found_more_slowly_is_the_same_design() -> None:
    design = _design("piecewise")
    slower = replace(design, report=replace(design.report, seconds=1e9, details={"note": "took long"}))
    assert slower == design
    assert hash(slower) == hash(design)
    assert design != replace(design, problem=PiecewiseProblem(1.0, Absolute()))


def test_reports_stay_read_only_after_a_copy() -> None:
    report = copy.deepcopy(_design("piecewise").report)
    with pytest.raises(TypeError):
        report.details["note"] = "changed"
