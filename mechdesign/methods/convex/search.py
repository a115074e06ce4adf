"""A design problem of your own: a convex objective and constraints in CVXPY on the table ``q[x, y]``.

**Formulation.** The user's ``objective(q)`` is minimised subject to the user's ``constraints(q)`` and, added here,
``mu(y) <= q[x, y] <= c mu(y)`` for a free base measure mu and ``sum_y q[x, y] = 1``: together exactly epsilon-LDP.

**Answer.** The solver's table is moved to one that is epsilon-LDP in exact arithmetic; the objective is reported at
that table, and a table that breaks the user's constraints by more than ``tolerance`` is withheld.

**Proof.** Where objective and constraints are made of linear functions of q, their maxima, sizes and squares
(`mechdesign.methods.convex.reading`) the solver's multipliers prove a lower bound in rational arithmetic
(`mechdesign.methods.convex.proof`), for all tables that meet the constraints up to the same tolerance. For other convex
problems the bound is the solver's word, and the certificate says ``claimed``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.methods.convex.model import ConvexModel
from mechdesign.methods.convex.problem import Constraints, CustomProblem, Objective
from mechdesign.methods.convex.proof import ConvexBound
from mechdesign.methods.evidence import require_asked
from mechdesign.methods.result import Design, Report, versions
from mechdesign.values.clock import Clock
from mechdesign.words.domains import Finite


def custom(
    epsilon: float,
    inputs: Finite | Sequence[float],
    outputs: Finite | Sequence[float],
    objective: Objective,
    constraints: Constraints | None = None,
    *,
    criterion: Literal["worst", "average"] | None = None,
    tolerance: float = 1e-6,
    gap: float = 1e-4,
    seconds: float | None = None,
) -> Design:
    """The certified answer to a problem of your own; see `CustomProblem` for what may be asked.

    A new mechanism in ten lines: the least average error on five points that leaves the middle unbiased.

    >>> import cvxpy as cp
    >>> points = np.linspace(-1, 1, 5)
    >>> loss = abs(points[:, None] - points[None, :])
    >>> design = custom(
    ...     1.0, points, points,
    ...     objective=lambda q: cp.sum(cp.multiply(loss, q)) / 5,
    ...     constraints=lambda q: [q[2] @ points == 0],
    ... )
    >>> print(design.certificate.valid_for)
    all mechanisms with these outputs that meet the stated constraints within 1e-06
    >>> [round(end, 4) for end in (design.certificate.lower, design.certificate.upper)]
    [0.4967, 0.4967]
    """
    domains = _domain(inputs, "inputs"), _domain(outputs, "outputs")
    problem = CustomProblem(epsilon, *domains, objective, constraints, tolerance, gap, criterion)
    return optimal_custom(problem, seconds)


def optimal_custom(problem: CustomProblem, seconds: float | None = None) -> Design:
    """The answer to a `CustomProblem`, or `NoAnswer` if the solver did not reach an optimum or the proof its gap.

    The problem of the design is what was understood of the functions, as data.
    """
    require_asked(problem, CustomProblem)
    clock = Clock(seconds)
    model = ConvexModel(problem)
    solution, mechanism, evidence = model.answer(clock)
    asked = model.understood
    lower, upper = evidence.bound(asked, mechanism), evidence.attained(asked, mechanism)
    if lower < 0:
        raise InvalidInput("objective", lower, "be at least 0 at its optimum", "add a constant to the objective")
    is_proven = isinstance(evidence, ConvexBound)
    if is_proven and not model.is_near(lower, upper):
        step = "; a smaller tolerance may narrow it" if model.constraints else ""
        raise NoAnswer(f"the relative gap {(upper - lower) / upper:.2g} is above {problem.gap:g}{step}", lower, upper)
    report = Report(
        clock.used,
        solution.solver,
        versions("numpy", "scipy", "cvxpy", "highspy", "clarabel"),
        {"outputs": len(mechanism.outputs), "proven": is_proven},
    )
    return Design(asked, mechanism, evidence, report)


def _domain(points: Finite | Sequence[float], field: str) -> Finite:
    if isinstance(points, Finite):
        return points
    if np.ma.isMaskedArray(points):
        raise InvalidInput(field, "a masked array", "be a Finite domain or a list of numbers")
    try:
        return Finite(tuple(points))
    except TypeError:
        raise InvalidInput(field, points, "be a Finite domain or a list of numbers") from None
