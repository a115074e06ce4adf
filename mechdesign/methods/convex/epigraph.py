"""Variables of the user's own that stand above functions of the table, which take their place.

Let an entry of t be bounded from below by ``g_k(q) <= a_k t``, a_k above 0, and let objective and all other constraints
not fall where t rises, which is what CVXPY's rules ask of a function that a convex one is put into. Then the least t,
``max_k g_k(q) / a_k``, does as well as any: it is put for t, and the constraints that bounded it are gone. What is left
is written in q alone and reads as maxima, and so it can be proven. (The rules are asked with something convex added:
a least t that is a number goes in anywhere, and a t that had better be larger would be held at it.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def replace_tops(q: Any, objective: Any, constraints: Mapping[int | str, Any]) -> tuple[Any, dict[int | str, Any]]:
    """The objective and the constraints that are left, without such variables as far as there are any."""
    left = dict(constraints)
    own = {id(variable): variable for stated in (objective, *left.values()) for variable in stated.variables()}
    for variable in (variable for variable in own.values() if variable is not q):
        bounds = {key: bound for key, stated in left.items() if (bound := _bounds(variable, stated)) is not None}
        others = {key: stated for key, stated in left.items() if key not in bounds}
        top = _greatest(variable, [pair for bound in bounds.values() for pair in bound])
        among = [stated for stated in (objective, *others.values()) if _holds(stated, variable)]
        if top is not None and among and all(_never_falls(stated, variable, top, q) for stated in among):
            objective = objective.tree_copy({id(variable): top})
            left = {
                key: stated.tree_copy({id(variable): top}) if _holds(stated, variable) else stated
                for key, stated in others.items()
            }
    return objective, left


def _holds(stated: Any, variable: Any) -> bool:
    return any(found is variable for found in stated.variables())


def _never_falls(stated: Any, variable: Any, top: Any, q: Any) -> bool:
    """Whether an objective or a constraint gets no easier where the variable rises above its least."""
    import cvxpy

    higher = stated.tree_copy({id(variable): top + cvxpy.pos(q[0, 0])})
    return bool(higher.is_dcp() if isinstance(higher, cvxpy.constraints.constraint.Constraint) else higher.is_convex())


def _bounds(variable: Any, constraint: Any) -> list[tuple[int, Any]] | None:
    """Entries of the variable with what they are at least, if that is all the constraint says."""
    import cvxpy

    if not isinstance(constraint, cvxpy.constraints.nonpos.Inequality) or not _holds(constraint, variable):
        return None
    others = {id(v): cvxpy.Constant(np.zeros(v.shape)) for v in constraint.variables() if v is not variable}
    alone = constraint.expr.tree_copy(others)
    if not (constraint.is_dcp() and alone.is_affine()):
        return None
    variable.value = np.zeros(variable.shape)
    gradient = alone.grad[variable]
    shares = (gradient.toarray() if hasattr(gradient, "toarray") else np.asarray(gradient)).reshape(variable.size, -1)
    if (shares > 0).any() or ((shares < 0).sum(axis=0) != 1).any():
        return None
    nothing = cvxpy.Constant(np.zeros(variable.shape))
    rest = cvxpy.vec(constraint.expr.tree_copy({id(variable): nothing}), order="F")
    places = ((entry, np.flatnonzero(own)) for entry, own in enumerate(shares))
    return [(entry, rest[own] / -shares[entry, own]) for entry, own in places if own.size]


def _greatest(variable: Any, bounds: list[tuple[int, Any]]) -> Any:
    """The least that the variable can be, or None where nothing holds some entry of it up."""
    import cvxpy

    said = {name for name, value in variable.attributes.items() if value is not None and value is not False}
    above: list[list[Any]] = [[cvxpy.Constant([0.0])] if said else [] for _ in range(variable.size)]
    for entry, least in bounds:
        above[entry].append(least)
    if not (said <= {"nonneg"} and all(above)):
        return None
    tops = [cvxpy.max(cvxpy.hstack(parts)) for parts in above]
    return tops[0] if variable.is_scalar() else cvxpy.reshape(cvxpy.hstack(tops), variable.shape, order="F")
