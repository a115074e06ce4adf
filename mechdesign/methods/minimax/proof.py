"""Bounds on the worst-case error over *all* epsilon-LDP mechanisms on an interval.

From below a prior with a level for every input bounds every mechanism (`mechdesign.exact.levelled_prior` has the
inequality); from above stands the mechanism's own worst error over all real inputs (`mechdesign.exact.window`). Both
are rational for the absolute and the squared error.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import CheckFailed
from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.exact.rational import float_down, float_up
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms.window import Window
from mechdesign.methods.evidence import require_mechanism
from mechdesign.methods.line import Line, line_of
from mechdesign.methods.minimax.supports import supports
from mechdesign.values.declare import finite, frozen
from mechdesign.words.criteria import Family, Scope

_ROUNDING = 1e-9


@frozen
class MinimaxBound:
    """Atoms that bound the worst case from below: a least-favourable prior with the radius of each input's level.

    >>> from mechdesign.words.privacy import Pure
    >>> from mechdesign.words.problem import Problem
    >>> bound = MinimaxBound(LevelledPrior([0.0, 1.0], [0.4434, 0.4434], [0.5, 0.5]))
    >>> 0.19 < bound.bound(Problem(inputs=(0, 1), loss="squared", privacy=Pure(1.0)), None) < 0.19661194
    True
    """

    kind: ClassVar[str] = "minimax"
    claimed: ClassVar[bool] = False

    atoms: LevelledPrior

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = _line(problem)
        places = self.atoms.inputs
        if ((places < asked.inputs.lower) | (places > asked.inputs.upper)).any():
            raise CheckFailed(f"the evidence has atoms at places that are not among the inputs {asked.inputs}")
        return float_down(self.atoms.least_worst_case(asked.epsilon, _whole_exponent(asked)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        asked = _line(problem)
        window = require_mechanism(mechanism, Window, problem)
        return float_up(exact_worst_error(window, _whole_exponent(asked)))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return Scope(Family.ALL)


@frozen
class MinimaxClaim:
    """A lower bound in doubles, for powers of the distance other than the absolute and the squared error."""

    kind: ClassVar[str] = "minimax claim"
    claimed: ClassVar[bool] = True

    lower: float = finite("lower")

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = _line(problem)
        if asked.has_exact_proof:
            raise CheckFailed(f"the bound for the {asked.loss.name} error is proven and not claimed")
        return self.lower

    def attained(self, problem: Any, mechanism: Any) -> float:
        asked = _line(problem)
        with np.errstate(over="ignore"):  # an error beyond doubles is infinite, and so no certificate
            return require_mechanism(mechanism, Window, problem).worst_case(asked.loss)[0] * (1 + _ROUNDING)

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return Scope(Family.ALL)


def _line(problem: Any) -> Line:
    return line_of(problem, supports)


def _whole_exponent(asked: Line) -> int:
    if not asked.has_exact_proof:
        raise CheckFailed(f"the evidence is about the absolute and the squared error, not about {asked.loss.name}")
    return int(asked.exponent)
