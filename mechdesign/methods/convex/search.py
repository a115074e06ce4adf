"""A design problem of your own: a convex objective and constraints in CVXPY on the table ``q[x, y]``.

**Formulation.** The user's ``objective(q)`` is minimised subject to the user's ``constraints(q)`` and, added here,
``mu(y) <= q[x, y] <= c mu(y)`` for a free base measure mu and ``sum_y q[x, y] = 1``: together exactly epsilon-LDP.

Variables of the user's own that stand above functions of q are maxima in other words
(`mechdesign.methods.convex.epigraph`).

**Answer.** The solver's table is moved to one that is epsilon-LDP in exact arithmetic; the objective is reported at
that table, and a table that breaks the user's constraints by more than ``tolerance`` is withheld.

**Proof.** Where objective and constraints are made of linear functions of q, squares and norms of them, and maxima
(`mechdesign.methods.convex.reading`) the solver's multipliers prove a lower bound in rational arithmetic
(`mechdesign.methods.convex.proof`), for all tables that meet the constraints up to the same tolerance. For other convex
problems the bound is the solver's word, and the certificate says ``claimed``.
"""

from __future__ import annotations

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.methods.convex.model import ConvexModel
from mechdesign.methods.convex.proof import ConvexBound
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, saying_why, versions
from mechdesign.words.problem import Problem

_GAP = 1e-4  # unless another is demanded


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified answer, or `NoAnswer` if the solver did not reach an optimum or the proof its gap.

    The problem of the design is what was understood of the functions, as data. Where all is made of linear functions,
    their maxima, squares and norms, its proven bounds are at most the gap apart, relative to the upper one, or 1e-12
    of the largest coefficient.

    A new mechanism in ten lines: the least average error on five points that leaves the middle unbiased.

    >>> import cvxpy as cp, numpy as np
    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.objectives import Objective
    >>> from mechdesign.words.privacy import Pure
    >>> points = np.linspace(-1, 1, 5)
    >>> loss = abs(points[:, None] - points[None, :])
    >>> errors = Objective(
    ...     lambda q: cp.sum(cp.multiply(loss, q), axis=1),
    ...     constraints=lambda q: [q[2] @ points == 0],
    ... )
    >>> design = answer(Problem(inputs=points, loss=errors, privacy=Pure(1.0), criterion=Average()), Demands())
    >>> print(design.certificate.valid_for)
    all mechanisms with these outputs that meet the stated constraints within 1e-06
    >>> [round(end, 4) for end in (design.certificate.lower, design.certificate.upper)]
    [0.4967, 0.4967]
    """
    clock, gap = demands.clock(), demands.within(_GAP)
    model = ConvexModel(problem, gap)
    solution, mechanism, evidence = model.answer(clock)
    asked = model.understood
    lower, upper = evidence.bound(asked, mechanism), evidence.attained(asked, mechanism)
    if lower < 0:
        raise InvalidInput("objective", lower, "be at least 0 at its optimum", "add a constant to the objective")
    is_proven = isinstance(evidence, ConvexBound)
    report = Report(
        clock.used,
        solution.solver,
        versions("numpy", "scipy", "cvxpy", "highspy", "clarabel"),
        {"outputs": len(mechanism.outputs), "proven": is_proven},
        gap,
    )
    design = Design(asked, mechanism, evidence, report)
    if is_proven and not model.is_near(lower, upper):
        step = "; a smaller tolerance may narrow it" if model.constraints else ""
        reason = f"the relative gap {(upper - lower) / upper:.2g} is above {gap:g}{step}"
        raise NoAnswer(reason, lower, upper, design=saying_why(design, gap, reason))
    return design
