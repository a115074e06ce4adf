"""Every route to the least noise of a workload holds the same optimum, asked alone."""

from __future__ import annotations

from typing import Any

import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.methods.method import Demands
from mechdesign.methods.workload.search import ROUTES
from mechdesign.methods.workload.task import Task
from mechdesign.words.workloads import Marginals, Mean, Moments, Parity, Prefix, Queries
from tests.methods.problems import workload_problem

ASKED = {
    "prefix": workload_problem(1.0, Prefix(6)),
    "mean": workload_problem(1.0, Mean((0.0, 1.0, 2.0, 3.0))),
    "marginals": workload_problem(1.0, Marginals((2, 2, 2), 2)),
    "parity": workload_problem(2.0, Parity(3, 1)),
    "worst": workload_problem(1.0, Prefix(5), "worst"),
    "moments": workload_problem(1.0, Moments((0.0, 1.0, 2.0, 4.0, 5.0), 2), "worst"),
    "more queries than types": workload_problem(1.0, Queries([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]), "worst"),
}
NAMES = {
    "prefix": {"rows", "relaxed", "split"},
    "mean": {"equal_steps", "rows", "relaxed", "split"},
    "marginals": {"pairs", "rows", "relaxed", "split"},
    "parity": {"pairs", "rows", "relaxed", "space", "split"},
    "worst": {"few", "games"},
    "moments": {"few", "games", "space"},
    "more queries than types": {"few", "games"},
}


def _fitting(problem: Any) -> list[str]:
    task = Task(problem, Demands())
    return [route.name for route in ROUTES if route.fits(task)]


def _certificate(problem: Any, route: str) -> md.Certificate:
    """Of what is found in time, at the gap demanded or not."""
    try:
        return md.solve(problem, gap=1e-4, seconds=5, route=route).certificate
    except NoAnswer as stopped:
        found = stopped.design
    return found.certificate  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ASKED)
def test_routes_that_fit_are_those_for_the_criterion_and_the_queries(name: str) -> None:
    assert set(_fitting(ASKED[name])) == NAMES[name]


@pytest.mark.parametrize(
    ("name", "route"), [(name, route) for name, routes in NAMES.items() for route in sorted(routes)]
)
def test_what_one_route_proves_no_other_one_contradicts(name: str, route: str) -> None:
    usual = md.solve(ASKED[name], gap=1e-4).certificate
    found = _certificate(ASKED[name], route)
    assert found.lower <= usual.upper
    assert usual.lower <= found.upper
    assert found.relative_gap <= 0.05


def test_a_route_that_does_not_fit_is_refused_with_those_that_do() -> None:
    with pytest.raises(InvalidInput, match="which has few, games"):
        md.solve(ASKED["worst"], route="rows")
