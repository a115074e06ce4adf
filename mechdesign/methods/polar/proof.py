"""What is known of a distance and an angle: the error is exact, the bound on other splits of epsilon is in doubles."""

from __future__ import annotations

from typing import Any, ClassVar

from mechdesign.errors import CheckFailed
from mechdesign.exact.piecewise import error_up
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.methods.piecewise.supports import domains_of, solved_at
from mechdesign.methods.polar.supports import coordinates_of
from mechdesign.values.declare import finite, frozen
from mechdesign.words.criteria import Family, Scope
from mechdesign.words.losses import Power

_ROUNDING = 1e-12


@frozen
class SplitClaim:
    """A lower bound, in doubles, on the sum of errors at any split of epsilon."""

    kind: ClassVar[str] = "split claim"
    claimed: ClassVar[bool] = True

    lower: float = finite("lower")

    def bound(self, problem: Any, mechanism: Any) -> float:
        coordinates_of(problem)
        return self.lower

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The sum of the worst errors of the two coordinates, each at its hardest input."""
        total = 0.0
        for part, asked in zip(_parts(mechanism, problem), coordinates_of(problem), strict=True):
            assert isinstance(asked.loss, Power)
            total += error_up(part, solved_at(asked), asked.loss)
        return total

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        coordinates_of(problem)
        return Scope(Family.EACH_COORDINATE, onto=str(problem.inputs))


def _parts(mechanism: Any, problem: Any) -> tuple[Piecewise, Piecewise]:
    asked = coordinates_of(problem)
    parts = [part for part in mechanism.parts if isinstance(part, Piecewise)] if isinstance(mechanism, Product) else []
    if len(parts) != 2 or len(mechanism.parts) != 2:
        raise CheckFailed("the mechanism is not a pair of piecewise mechanisms")
    if [(part.inputs, part.outputs) for part in parts] != [domains_of(one) for one in asked]:
        raise CheckFailed("the mechanism's domains are not the distances and angles of the problem")
    # shares of epsilon add up in doubles
    if not abs(sum(part.epsilon for part in parts) - problem.epsilon) <= _ROUNDING * problem.epsilon:
        raise CheckFailed(f"the shares of the parts do not add up to eps = {problem.epsilon!r}")
    return parts[0], parts[1]
