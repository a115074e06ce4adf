"""The design that a table and its evidence give, or `NoAnswer` where its gap is wider than was asked."""

from __future__ import annotations

from typing import Any

from mechdesign.design.evidence import Evidence
from mechdesign.design.pairwise.problem import PairwiseProblem
from mechdesign.design.pairwise.repair import kept
from mechdesign.design.result import Design, Report, saying_why, versions, within_gap
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats

_UNUSED = 0.01  # of the gap: the share of reports on outputs that are left out


def answered(
    problem: PairwiseProblem,
    clock: Clock,
    evidence: Evidence,
    table: Floats,
    details: dict[str, Any],
    ended: str = "rounding ended the search",
) -> Design:
    """The design; ``ended`` says why the search did not go on, unless time was over."""
    return concluded(problem, clock, evidence, repaired(problem, table), details, ended)


def repaired(problem: PairwiseProblem, table: Floats) -> Discrete:
    """A mechanism near the table that keeps every pair, without outputs that are hardly used."""
    unused = _UNUSED * problem.gap
    return kept(table, problem.privacy, problem.outputs, problem.inputs, problem.epsilon, "pairwise optimum", unused)


def concluded(
    problem: PairwiseProblem,
    clock: Clock,
    evidence: Evidence,
    mechanism: Discrete,
    details: dict[str, Any],
    ended: str = "rounding ended the search",
) -> Design:
    """The same for a mechanism that keeps every pair."""
    report = Report(
        clock.used,
        "interior point on cones",
        versions("numpy", "scipy"),
        {"outputs": len(mechanism.outputs), **details},
    )
    stopped = "the time limit was reached" if clock.is_over else ended
    design = Design(problem, mechanism, evidence, report)
    certificate = design.certificate
    if certificate.upper - certificate.lower <= problem.negligible:
        return design
    return within_gap(saying_why(design, problem.gap, stopped), problem.gap, stopped)
