"""What problems say of their rivals: found in their folders, measured as the design is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mechdesign
from mechdesign.errors import InvalidInput
from mechdesign.field import THIS, Rank, field_of
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.registry import METHODS, solve
from mechdesign.values.declare import evolved
from mechdesign.words.criteria import Average, Lexicographic
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Ball, CrossPolytope, Sphere
from mechdesign.words.workloads import Prefix
from tests.methods.problems import several, vectors, workload_problem

RANKED = {
    *("approximate", "finite", "minimax", "pairwise", "piecewise", "prior", "trade_off", "unbiased_piecewise"),
    *("ball", "cube", "sign_patterns", "unbiased_worst", "workload"),
}
LINE = Metric(range(4), 1.0)
DESIGNS = {
    "pairs": lambda: solve(Problem(loss=Distances(), privacy=LINE, criterion=Average([0.4, 0.3, 0.2, 0.1]))),
    "pairs worst": lambda: solve(Problem(loss=Distances(), privacy=LINE)),
    "workload": lambda: solve(workload_problem(1.0, Prefix(4))),
    "signs worst": lambda: solve(several(2.0, 3), method="sign_patterns"),
    "grid": lambda: solve(evolved(several(2.0), criterion=Average()), levels=3),
    "sphere worst": lambda: solve(vectors(2.0, Sphere(30, 3.0))),
    "ball worst": lambda: solve(vectors(2.0, Ball(2, 0.5))),
    "cross-polytope worst": lambda: solve(vectors(2.0, CrossPolytope(30))),
    "workload worst": lambda: solve(workload_problem(1.0, Prefix(3), "worst")),
}


def test_every_module_of_rivals_belongs_to_what_answers_in_its_folder() -> None:
    folder = Path(mechdesign.__file__).parent / "methods"
    said = {path.parent.name for path in folder.glob("*/rivalry.py")}
    found = {method.folder for method in METHODS}
    assert RANKED <= said <= found
    assert {method.folder for method in METHODS if method.rivals is not None} == said & {one.folder for one in METHODS}


@pytest.mark.parametrize("name", DESIGNS)
def test_the_design_has_its_certificate_and_no_rival_is_below_its_bound(name: str) -> None:
    design = DESIGNS[name]()
    field = field_of(design)
    assert field.rank is (Rank.WORST if name.endswith("worst") else Rank.AVERAGE)
    assert field.rows[0].by(field.rank) == pytest.approx(field.this.by(field.rank), rel=1e-5)
    assert field.this.by(field.rank) == pytest.approx(design.certificate.upper, rel=1e-12)
    assert len(field.rivals) >= 3
    for row in field.rivals:
        assert row.by(field.rank) >= design.certificate.lower * (1 - 1e-9)
        above = 100 * (row.by(field.rank) / design.certificate.upper - 1)
        assert row.above_optimum == pytest.approx(max(above, 0.0), abs=1e-9)


def test_a_lexicographic_design_is_ranked_by_its_worst_case() -> None:
    design = solve(Problem(loss=Distances(), privacy=LINE, criterion=Lexicographic([0.4, 0.3, 0.2, 0.1])))
    field = field_of(design)
    assert field.rank is Rank.WORST
    assert field.this.above_optimum == 0
    assert field.this.worst <= design.certificate.scope.cap
    assert field.this.average == pytest.approx(design.certificate.upper, rel=1e-12)


def test_a_table_of_ones_own_is_ranked_if_it_keeps_every_pair() -> None:
    design = DESIGNS["pairs"]()
    flat = Discrete(design.problem.epsilon, design.problem.inputs, design.problem.inputs, np.full((4, 4), 0.25), "flat")
    row = field_of(design, {"mine": flat}).row("mine")
    assert row is not None
    assert not row.published
    assert row.average == pytest.approx(float(design.problem.weights @ design.problem.table.up.mean(axis=1)))
    with pytest.raises(InvalidInput, match="no other mechanism has"):
        field_of(design, {THIS: flat})
    two = Finite((0, 1))
    with pytest.raises(InvalidInput, match="take the problem's inputs"):
        field_of(design, {"mine": Discrete(1.0, two, two, np.full((2, 2), 0.5), "flat")})
