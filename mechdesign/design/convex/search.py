"""A design problem of your own: a convex objective and constraints in CVXPY on the table ``q[x, y]``.

**Formulation.** The user's ``objective(q)`` is minimised subject to the user's ``constraints(q)`` and, added here,
``mu(y) <= q[x, y] <= c mu(y)`` for a free base measure mu and ``sum_y q[x, y] = 1``: together exactly epsilon-LDP.

**Answer.** The solver's table is moved to one that is epsilon-LDP in exact arithmetic; the objective is reported at
that table, and a table that breaks the user's constraints by more than ``tolerance`` is withheld.

**Proof.** Where objective and constraints are linear in q the solver's multipliers prove a lower bound in rational
arithmetic (`mechdesign.design.convex.proof`), for all tables that meet the constraints up to the same tolerance. For
other convex problems the bound is the solver's word, and the certificate says ``claimed``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.convex.model import ConvexModel
from mechdesign.design.finite.proof import EVERYWHERE_ON_OUTPUTS
from mechdesign.design.result import Certificate, Design, Report, versions
from mechdesign.domains import Finite
from mechdesign.errors import InvalidInput, NoAnswer, require_epsilon, require_finite, require_seconds
from mechdesign.mechanisms.serialise import domain_to_dict

Floats = NDArray[np.float64]
Objective = Callable[[Any], Any]
Constraints = Callable[[Any], Sequence[Any]]

LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0
MOST_ENTRIES = 10_000
_CLAIMED = 1e-7  # what a claimed bound allows for the solver's own tolerance


@dataclass(frozen=True, slots=True)
class CustomProblem:
    """Minimise ``objective(q)`` over epsilon-LDP tables that meet ``constraints(q)``.

    Both receive a CVXPY variable of shape (inputs, outputs) with entries at least 0. The objective must be convex in q
    and at least 0 at its optimum; constraints are a list. Both must be written in q alone. Where all is linear, an
    answer's proven bounds are at most ``gap`` apart, relative to the upper one, or 1e-12 of the largest coefficient.
    """

    epsilon: float
    inputs: Finite
    outputs: Finite
    objective: Objective
    constraints: Constraints | None = None
    tolerance: float = 1e-6
    gap: float = 1e-4

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            raise InvalidInput("eps", self.epsilon, f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} here")
        for name in ("inputs", "outputs"):
            domain = getattr(self, name)
            object.__setattr__(self, name, domain if isinstance(domain, Finite) else Finite(tuple(domain)))
        if len(self.inputs) * len(self.outputs) > MOST_ENTRIES:
            rule = f"make a table of at most {MOST_ENTRIES} entries"
            raise InvalidInput("inputs", f"{len(self.inputs)} x {len(self.outputs)}", rule)
        for name in ("objective", "constraints"):
            if not callable(getattr(self, name)) and (name == "objective" or self.constraints is not None):
                raise InvalidInput(name, getattr(self, name), "be a function of the table q", f"{name}=lambda q: ...")
        if not 0 < require_finite(self.tolerance, "tolerance") <= 1e-2:
            raise InvalidInput("tolerance", self.tolerance, "lie in (0, 0.01]")
        if not 0 < require_finite(self.gap, "gap") < 1:
            raise InvalidInput("gap", self.gap, "lie between 0 and 1")
        for name in ("tolerance", "gap"):
            object.__setattr__(self, name, float(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        model = ConvexModel(self)
        linear = model.linear()
        said = dict.fromkeys(("costs", "offset", "rows", "limits", "equal"))
        return {
            "kind": "custom",
            "epsilon": self.epsilon,
            "inputs": domain_to_dict(self.inputs),
            "outputs": domain_to_dict(self.outputs),
            "objective": str(model.objective),
            "constraints": [str(constraint) for constraint in model.constraints],
            "tolerance": self.tolerance,
            "gap": self.gap,
        } | (said if linear is None else linear.to_dict())


def custom(
    epsilon: float,
    inputs: Finite | Sequence[float],
    outputs: Finite | Sequence[float],
    objective: Objective,
    constraints: Constraints | None = None,
    *,
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
    problem = CustomProblem(epsilon, *domains, objective, constraints, tolerance, gap)
    return optimal_custom(problem, seconds)


def optimal_custom(problem: CustomProblem, seconds: float | None = None) -> Design:
    """The answer to a `CustomProblem`, or `NoAnswer` if the solver did not reach an optimum or the proof its gap."""
    seconds = require_seconds(seconds)
    started = time.perf_counter()
    model = ConvexModel(problem)
    solution, mechanism, attained, evidence = model.answer(None if seconds is None else started + seconds)
    if evidence is None:
        upper = attained
        size = math.ldexp(1.0, model.exponent)
        lower = min(model.solved - _CLAIMED * max(size, abs(upper)), upper)
        lower = max(lower, 0.0) if model.objective.is_nonneg() else lower
        scope = EVERYWHERE_ON_OUTPUTS + (" that meet the stated constraints" if model.constraints else "")
    else:
        lower, upper, scope = evidence.bound(mechanism), evidence.attained(mechanism), evidence.scope(mechanism)
    if lower < 0:
        raise InvalidInput("objective", lower, "be at least 0 at its optimum", "add a constant to the objective")
    if evidence is not None and not model.is_near(lower, upper):
        step = "; a smaller tolerance may narrow it" if model.constraints else ""
        raise NoAnswer(f"the relative gap {(upper - lower) / upper:.2g} is above {problem.gap:g}{step}", lower, upper)
    certificate = Certificate(lower, upper, scope, evidence is None, mechanism.privacy_loss(), evidence)
    report = Report(
        time.perf_counter() - started,
        solution.solver,
        versions("numpy", "scipy", "cvxpy", "highspy", "clarabel"),
        MappingProxyType({"outputs": len(mechanism.outputs), "linear": evidence is not None}),
    )
    return Design(problem, mechanism, certificate, report)


def _domain(points: Finite | Sequence[float], field: str) -> Finite:
    if isinstance(points, Finite):
        return points
    if np.ma.isMaskedArray(points):
        raise InvalidInput(field, "a masked array", "be a Finite domain or a list of numbers")
    try:
        return Finite(tuple(points))
    except TypeError:
        raise InvalidInput(field, points, "be a Finite domain or a list of numbers") from None
