"""What multipliers and rays prove about a linear program, in floating point.

One formula serves three proofs. For any row multipliers ``y`` and ``r = cost - matrix.T @ y``,

    sum(max(y, 0) * row_lower - max(-y, 0) * row_upper) + sum(max(r, 0) * lower - max(-r, 0) * upper)

is at most ``cost @ x`` at every feasible ``x``. With the true cost it bounds the optimum from below; with
cost zero a positive value proves that there is no feasible ``x`` (Farkas).
"""

from __future__ import annotations

import numpy as np

from .programs import FloatArray, LinearProgram

DUAL_TOLERANCE = 1e-7


def dual_objective(program: LinearProgram, row_duals: FloatArray, tolerance: float = DUAL_TOLERANCE) -> float:
    """The lower bound on the optimum which these row multipliers claim.

    Multipliers whose sign calls for an infinite side make the bound ``-inf``, unless they are within
    ``tolerance`` of zero: solvers leave such dust, and it is dropped. The bound is therefore a claim.

    >>> program = LinearProgram.of(cost=[2, 3], matrix=[[1, 1]], row_lower=1, lower=0)
    >>> dual_objective(program, np.array([2.0])), dual_objective(program, np.array([3.0]))
    (2.0, -inf)
    """
    reduced_costs = program.cost - program.matrix.T @ row_duals
    return bound_from_duals(
        row_duals,
        reduced_costs,
        program.row_lower,
        program.row_upper,
        program.lower,
        program.upper,
        tolerance,
    )


def bound_from_duals(
    row_duals: FloatArray,
    reduced_costs: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    tolerance: float = DUAL_TOLERANCE,
) -> float:
    """The same bound where a solver has computed the reduced costs, which spares the matrix."""
    rows = _support(row_duals, row_lower, row_upper, tolerance)
    return rows + _support(reduced_costs, lower, upper, tolerance)


def proves_infeasible(program: LinearProgram, multipliers: FloatArray, tolerance: float = 1e-9) -> bool:
    """Whether these row multipliers show, up to rounding, that no point satisfies the program.

    >>> program = LinearProgram.of(cost=[0], matrix=[[1]], row_lower=2, lower=0, upper=1)
    >>> proves_infeasible(program, np.array([1.0])), proves_infeasible(program, np.array([-1.0]))
    (True, False)
    """
    scale = float(np.max(np.abs(multipliers), initial=0.0))
    if scale == 0.0 or not np.isfinite(scale):
        return False
    unit = multipliers / scale
    costless = bound_from_duals(
        unit,
        -(program.matrix.T @ unit),
        program.row_lower,
        program.row_upper,
        program.lower,
        program.upper,
        tolerance,
    )
    return costless > tolerance


def proves_unbounded(program: LinearProgram, direction: FloatArray, tolerance: float = 1e-9) -> bool:
    """Whether moving along this direction, up to rounding, keeps feasible points feasible and lowers the cost.

    >>> program = LinearProgram.of(cost=[-1, 0], matrix=[[1, -1]], row_upper=0, lower=0)
    >>> proves_unbounded(program, np.array([1.0, 1.0])), proves_unbounded(program, np.array([1.0, 0.0]))
    (True, False)
    """
    scale = float(np.max(np.abs(direction), initial=0.0))
    if scale == 0.0 or not np.isfinite(scale):
        return False
    unit = direction / scale
    along = program.matrix @ unit
    stays = (
        (along >= -tolerance) | np.isneginf(program.row_lower),
        (along <= tolerance) | np.isposinf(program.row_upper),
        (unit >= -tolerance) | np.isneginf(program.lower),
        (unit <= tolerance) | np.isposinf(program.upper),
    )
    return all(bool(np.all(kept)) for kept in stays) and program.objective_at(unit) < -tolerance


def _support(multipliers: FloatArray, low: FloatArray, high: FloatArray, tolerance: float) -> float:
    sides = np.where(multipliers > 0, low, high)
    active = (multipliers != 0) & ~(np.isinf(sides) & (np.abs(multipliers) <= tolerance))
    return float(multipliers[active] @ sides[active])
