"""SCIP finds what the closed form says."""

from __future__ import annotations

import pytest

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.exact.collusion import prove_joint_privacy
from mechdesign.methods.joint.problem import JointProblem
from mechdesign.methods.joint.program import pair_program, search_joint
from mechdesign.methods.joint.search import optimal_joint


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem",
    [
        JointProblem(1.0, 10000, 0.033, colluders=500),
        JointProblem(1.0, 10000, 0.033, colluders=500, caps=(2.0,)),
        JointProblem(0.01, 10000, 0.076, colluders=5),
        JointProblem(1.0, 10000, 0.1, colluders=1500),
    ],
)
def test_scip_and_the_closed_form_agree(problem):
    found, closed = search_joint(problem, 60.0), optimal_joint(problem)
    assert found.certificate.claimed
    assert found.certificate.lower <= closed.certificate.upper * (1 + 1e-9)
    assert found.certificate.upper == pytest.approx(closed.certificate.upper, rel=1e-6)
    assert found.report.details["solver_objective"] == pytest.approx(closed.certificate.upper, rel=1e-5)
    prove_joint_privacy(found.mechanism, problem.epsilon, problem.users, problem.colluders, problem.caps)


@pytest.mark.parametrize("colluders", [0, 300])
def test_the_program_holds_the_closed_form_s_point_at_its_value(colluders):
    problem = JointProblem(1.0, 10000, 0.05, colluders=colluders)
    design = optimal_joint(problem)
    unit, program = pair_program(problem)
    p, r = float(design.mechanism.truth), -float(design.mechanism.rho)
    x0 = (unit * 4 / 10000) ** 0.5
    x = 1 / (2 * p - 1) / x0
    point = [p, r, x, x * x]
    assert program.violation_at(point) < 1e-9
    assert program.objective_at(point) * unit - 2500 == pytest.approx(design.certificate.upper, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("colluders", [0, 500])
def test_at_the_edge_no_pair_lies_together_as_in_the_closed_form(colluders):
    problem = JointProblem(1.0, 10000, 0.033, colluders=colluders)
    assert optimal_joint(problem).mechanism.weights[0] == 0
    assert search_joint(problem, 60.0).mechanism.weights[0] == 0


def test_a_limit_raises_with_bounds():
    with pytest.raises(NoAnswer) as caught:
        search_joint(JointProblem(1.0, 10000, 0.033, colluders=500), 1e-3)
    assert caught.value.lower <= 7069.6 <= caught.value.upper * (1 + 1e-6)


@pytest.mark.parametrize(
    ("problem", "field"),
    [
        (JointProblem(1.0, 100, 0.1, group=4), "group"),
        (JointProblem(1.0, 100, 0.5), "share"),
        (JointProblem(0.001, 100, 0.1), "eps"),
        (JointProblem(9.0, 100, 0.1), "eps"),
    ],
)
def test_what_the_program_does_not_cover_is_refused(problem, field):
    with pytest.raises(InvalidInput) as caught:
        search_joint(problem)
    assert caught.value.field == field
