"""The choice of (p, rho) for pairs as a bilinear program, for a global solver: an independent check of the closed form.

With ``r = -rho >= 0``, ``d = 2p - 1`` and ``x = 1/d`` the variance is ``n/4 (x^2 - 1)(1 - A r)``. In units of
independent responses' ``x_0`` and with ``z = (x/x_0)^2`` only products of two variables are left:

    minimise  ``z - A z r + A r / x_0^2``   subject to   ``d x = 1``,  ``z = (x/x_0)^2``,  ``p + a p r <= U``,
    ``p + p r <= S``.

It stands for negative correlation, where the counts in question are on one side of half.
"""

from __future__ import annotations

import math
from fractions import Fraction

from mechdesign_solvers import BackendMissing, BilinearProgram, Limits, LinearProgram, Product, Scip, Status

from mechdesign.errors import CheckFailed, MissingExtra, NoAnswer
from mechdesign.exact.joint_limits import pair_limits
from mechdesign.exact.joint_variance import PairPoint
from mechdesign.methods.broken_solver import require_working
from mechdesign.methods.joint.grouping import Grouping, grouping_of
from mechdesign.methods.joint.proof import JointClaim, attained_by
from mechdesign.methods.joint.search import answer as closed_form, finish, grid_bits, law_of
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, versions
from mechdesign.words.problem import Problem

RELATIVE_GAP = 1e-6
_AGREEMENT = 1e-5
_SAME_CORNER = 1e-5


def answer(problem: Problem, demands: Demands) -> Design:
    """The best pair by global bilinear optimisation (SCIP through Pyomo), which must agree with the closed form.

    The lower bound is the solver's own, so the certificate says ``claimed``. A limit raises `NoAnswer` with the bounds.
    """
    clock, asked = demands.clock(), grouping_of(problem)
    unit, program = pair_program(asked)
    try:
        solution = require_working(Scip().solve(program, Limits(seconds=clock.left(), relative_gap=RELATIVE_GAP)))
    except BackendMissing:
        raise MissingExtra("method='scip'", "scip") from None
    constant = asked.users / 4  # the program leaves out the constant -n/4
    lower = solution.bound * unit - constant
    found = math.inf if solution.objective is None else solution.objective * unit - constant
    if solution.status is not Status.OPTIMAL or solution.primal is None:
        raise NoAnswer(f"SCIP stopped early ({solution.status.value})", max(lower, 0.0), max(found, lower, 0.0))
    proven = closed_form(problem, Demands()).certificate
    tolerance = _AGREEMENT * proven.upper
    if lower > proven.upper + tolerance or not abs(found - proven.upper) <= tolerance:
        raise CheckFailed(f"SCIP says [{lower!r}, {found!r}], the closed form [{proven.lower!r}, {proven.upper!r}]")
    # the solver's numbers hold up to its tolerance only: keep r, and take the largest p that is private
    r = max(Fraction(0), Fraction(float(solution.primal[1])))
    budget, cap, chance = pair_limits(asked.privacy, up=False, margin=1e-12)
    # where both limits meet, r is the corner's: a little less would let two users of a pair both lie, hardly ever
    corner = (cap - budget) / (budget - chance * cap) if budget > chance * cap else r
    if abs(r - corner) <= _SAME_CORNER * corner:
        r = corner
    p = min(budget / (1 + chance * r), cap / (1 + r))
    law = law_of(PairPoint(p, -r, Fraction(0)), grid_bits(asked.epsilon))
    claim = JointClaim(min(lower, attained_by(law, asked)))
    details = {"closed_form": [proven.lower, proven.upper], "solver_bound": lower, "solver_objective": found}
    report = Report(clock.used, solution.version, versions("numpy", "scipy", "highspy"), details, demands.gap)
    return demands.met_by(finish(problem, law, claim, report), "the search ended")


def pair_program(problem: Grouping) -> tuple[float, BilinearProgram]:
    """The program in the variables ``p, r, x/x_0, z`` and the variance of one unit of its objective."""
    budget, cap, chance = (float(limit) for limit in pair_limits(problem.privacy, up=False))
    share = float(problem.goal().low) / problem.users
    most = min(budget, cap)
    x0 = 1 / (2 * most - 1)
    # p <= S/(1+r) <= 1/(1+r) gives 1 - A r >= d, hence x - 1/x <= x_0^2 where nothing is worse than independence
    furthest = x0 + 1 / x0 + 1
    least = (1 + 1 / (x0 * furthest)) / 2
    rows = [
        [1.0, 0.0, 0.0, 0.0],  # p + a p r <= U
        [1.0, 0.0, 0.0, 0.0],  # p + p r <= S
        [0.0, 0.0, -1.0 * x0, 0.0],  # 2 p x - x = 1, with x in units of x_0
        [0.0, 0.0, 0.0, 1.0],  # z - x^2 = 0
    ]
    linear = LinearProgram.of(
        cost=[0.0, share / x0**2, 0.0, 1.0],
        matrix=rows,
        row_lower=[-math.inf, -math.inf, 1.0, 0.0],
        row_upper=[budget, cap, 1.0, 0.0],
        lower=[least, 0.0, 1.0, 1.0],
        upper=[most, 1.0, furthest, furthest**2],
    )
    products = (
        (0, Product(0, 1, chance)),
        (1, Product(0, 1, 1.0)),
        (2, Product(0, 2, 2 * x0)),
        (3, Product(2, 2, -1.0)),
    )
    return problem.users / 4 * x0**2, BilinearProgram(linear, (Product(3, 1, -share),), products)
