"""SCIP finds what the closed form says."""

from __future__ import annotations

import pytest

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.exact.privacy import prove_collusion
from mechdesign.methods import methods, solve
from mechdesign.methods.joint.grouping import grouping_of
from mechdesign.methods.joint_program.search import pair_program
from tests.methods.problems import joint_problem


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem",
    [
        joint_problem(1.0, 10000, 0.033, colluders=500),
        joint_problem(1.0, 10000, 0.033, colluders=500, caps=(2.0,)),
        joint_problem(0.01, 10000, 0.076, colluders=5),
        joint_problem(1.0, 10000, 0.1, colluders=1500),
    ],
)
def test_scip_and_the_closed_form_agree(problem):
    found, closed = solve(problem, 60.0, method="joint_program"), solve(problem)
    assert found.certificate.claimed
    assert found.certificate.lower <= closed.certificate.upper * (1 + 1e-9)
    assert found.certificate.upper == pytest.approx(closed.certificate.upper, rel=1e-6)
    assert found.report.details["solver_objective"] == pytest.approx(closed.certificate.upper, rel=1e-5)
    prove_collusion(found.mechanism, problem.privacy)


@pytest.mark.parametrize("colluders", [0, 300])
def test_the_program_holds_the_closed_form_s_point_at_its_value(colluders):
    problem = joint_problem(1.0, 10000, 0.05, colluders=colluders)
    design = solve(problem)
    unit, program = pair_program(grouping_of(problem))
    p, r = float(design.mechanism.truth), -float(design.mechanism.rho)
    x0 = (unit * 4 / 10000) ** 0.5
    x = 1 / (2 * p - 1) / x0
    point = [p, r, x, x * x]
    assert program.violation_at(point) < 1e-9
    assert program.objective_at(point) * unit - 2500 == pytest.approx(design.certificate.upper, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("colluders", [0, 500])
def test_at_the_edge_no_pair_lies_together_as_in_the_closed_form(colluders):
    problem = joint_problem(1.0, 10000, 0.033, colluders=colluders)
    assert solve(problem).mechanism.weights[0] == 0
    assert solve(problem, 60.0, method="joint_program").mechanism.weights[0] == 0


def test_a_limit_raises_with_bounds():
    with pytest.raises(NoAnswer) as caught:
        solve(joint_problem(1.0, 10000, 0.033, colluders=500), 1e-3, method="joint_program")
    assert caught.value.lower <= 7069.6 <= caught.value.upper * (1 + 1e-6)


@pytest.mark.parametrize(
    ("problem", "missed"),
    [
        (joint_problem(1.0, 100, 0.1, group=4), "group must be 2"),
        (joint_problem(1.0, 100, 0.5), "share must lie clearly on one side of half"),
        (joint_problem(0.001, 100, 0.1), "eps must lie between 0.01 and 8"),
        (joint_problem(9.0, 100, 0.1), "eps must lie between 0.01 and 8"),
    ],
)
def test_what_the_program_does_not_cover_is_refused(problem, missed):
    assert missed in (methods(problem)["joint_program"] or "")
    with pytest.raises(InvalidInput, match=missed):
        solve(problem, method="joint_program")
