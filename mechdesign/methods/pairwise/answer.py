"""The design that a table and its evidence give, or `NoAnswer` where its gap is wider than was asked."""

from __future__ import annotations

from typing import Any

from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.evidence import Evidence
from mechdesign.methods.pairwise.repair import kept
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats
from mechdesign.words.problem import Problem

_UNUSED = 0.01  # of the gap: the share of reports on outputs that are left out


def answered(
    problem: Problem,
    gap: float,
    clock: Clock,
    evidence: Evidence,
    table: Floats,
    details: dict[str, Any],
    ended: str = "rounding ended the search",
) -> Design:
    """The design; ``ended`` says why the search did not go on, unless time was over."""
    return concluded(problem, gap, clock, evidence, repaired(problem, gap, table), details, ended)


def repaired(problem: Problem, gap: float, table: Floats) -> Discrete:
    """A mechanism near the table that keeps every pair, without outputs that are hardly used."""
    privacy, outputs = pairs_of(problem), problem.table.outputs
    return kept(table, privacy, outputs, problem.numbers, problem.epsilon, "pairwise optimum", _UNUSED * gap)


def concluded(
    problem: Problem,
    gap: float,
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
        gap,
    )
    stopped = "the time limit was reached" if clock.is_over else ended
    design = Design(problem, mechanism, evidence, report)
    certificate = design.certificate
    if certificate.upper - certificate.lower <= problem.negligible:
        return design
    return within_gap(saying_why(design, gap, stopped), gap, stopped)
