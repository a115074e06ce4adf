"""Lower bounds on the error of every piecewise mechanism, checked in rational arithmetic.

Write ``c = e^eps`` and ``phi(t) = min(t, c t)``. The densities of a piecewise mechanism lie between a base density
``b`` and ``c b`` on outputs of length L. For an input x and any level v,

    ``E[loss(Y, x)] = v + integral of q(y|x) (loss(y, x) - v) >= v + b G(x, v)``,
    ``G(x, v) = integral of phi(loss(y, x) - v) over the outputs``,

because ``b <= q <= c b``. Taking the worst b in ``[1/(cL), 1/L]`` bounds the error at x for *any number of pieces*. At
the optimum G = 0 and the bound is attained. The input x is the one that was asked about, or the hardest one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, TypeGuard

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.piecewise import error_up
from mechdesign.exact.rational import exp_upper, float_down
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.methods.evidence import require_mechanism
from mechdesign.methods.piecewise.supports import domains_of, loss_of, pieces_of, solved_at
from mechdesign.values.declare import finite, frozen
from mechdesign.words.criteria import At, Family, Scope
from mechdesign.words.domains import Circle
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_GRID_INPUTS = 257


@frozen
class BathtubBound:
    """One number: the radius whose loss is the level ``v = radius^exponent``. It bounds the error of every mechanism.

    >>> from mechdesign.words import classes, privacy
    >>> problem = Problem(inputs=(0, 1), loss="absolute", privacy=privacy.Pure(1.0), among=classes.Piecewise())
    >>> round(float(BathtubBound(0.3775406687).value(problem)), 9)
    0.377540669
    """

    kind: ClassVar[str] = "bathtub"
    claimed: ClassVar[bool] = False

    radius: float = finite("radius")

    def __attrs_post_init__(self) -> None:
        if not self.radius >= 0:
            raise InvalidInput("radius", self.radius, "be at least 0")

    def value(self, problem: Problem) -> Fraction:
        """The bound, an exact rational: valid for every piecewise mechanism with the problem's outputs."""
        outputs, exponent = domains_of(problem)[1], int(_whole_power(problem).exponent)
        ratio = exp_upper(problem.epsilon)
        # distances round a circle are those on the line if it is cut open opposite the input, which is the middle then
        x, radius = Fraction(solved_at(problem)), Fraction(self.radius)
        lower, upper = Fraction(outputs.lower), Fraction(outputs.upper)
        gain = _gain(x, radius, exponent, (lower, upper), ratio)
        length = upper - lower
        return radius**exponent + (gain / length if gain < 0 else gain / (ratio * length))

    def bound(self, problem: Any, mechanism: Any) -> float:
        domains_of(problem)
        if pieces_of(problem) == 1:
            raise CheckFailed("the evidence is about any number of pieces, not about one")
        return float_down(self.value(problem))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The exact error at the input the problem is solved at.

        For a window centred at the input, pushed back inside, errors in a power of the distance grow with the distance
        from the middle of the outputs: at the hardest input this is the worst case.
        """
        piecewise = of_problem(mechanism, problem)
        return error_up(piecewise, solved_at(problem), _whole_power(problem))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return scope_of(problem)


@frozen
class PiecewiseClaim:
    """A lower bound in doubles, or of a solver: for losses that are no whole power of the distance, for one piece, for
    a number of pieces that was searched. What can be proven is not claimed."""

    kind: ClassVar[str] = "piecewise claim"
    claimed: ClassVar[bool] = True

    lower: float = finite("lower")

    def bound(self, problem: Any, mechanism: Any) -> float:
        domains_of(problem)
        if pieces_of(problem) is None and _has_whole_exponent(problem.loss):
            raise CheckFailed(f"the bound for the {problem.loss.name} error is proven and not claimed")
        return self.lower

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The error at the input the problem is solved at; for a loss that is a function the largest on a grid."""
        piecewise = of_problem(mechanism, problem)
        if isinstance(problem.loss, Power):
            return error_up(piecewise, solved_at(problem), problem.loss)
        return float(np.max(piecewise.expected_loss(sampled_inputs(problem, _GRID_INPUTS), loss_of(problem))))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return scope_of(problem)


def sampled_inputs(problem: Problem, count: int) -> Floats:
    """Where a loss that is a function is looked at: the input that was asked about, or a grid of them."""
    if isinstance(problem.criterion, At):
        return np.array([problem.criterion.x])
    inputs, _ = domains_of(problem)
    return np.linspace(inputs.lower, inputs.upper, count)


def scope_of(problem: Problem) -> Scope:
    """Whom a bound is about: those with the problem's outputs, as narrower ones can do better.

    Round a circle any mechanism can be averaged: for a distance the bound is about all.
    """
    inputs, outputs = domains_of(problem)
    if pieces_of(problem) != 1 and isinstance(inputs, Circle) and isinstance(problem.loss, Power):
        return Scope(Family.ALL)
    family = Family.ONE_PIECE if pieces_of(problem) == 1 else Family.PIECEWISE
    return Scope(family, onto=str(outputs))


def of_problem(mechanism: Any, problem: Any) -> Piecewise:
    """The mechanism, if its domains are the problem's, and its pieces no more than the problem allows."""
    outputs, x, most = domains_of(problem)[1], solved_at(problem), pieces_of(problem)
    piecewise = require_mechanism(mechanism, Piecewise, problem)
    if piecewise.outputs != outputs:
        raise CheckFailed(f"the mechanism's outputs are {piecewise.outputs}, and the problem's {outputs}")
    needed = piecewise.pieces(x).densities.size
    if most is not None and most < needed:
        raise CheckFailed(f"the mechanism has {needed} pieces at {x!r}, more than {most}")
    return piecewise


def _has_whole_exponent(loss: object) -> TypeGuard[Power]:
    return isinstance(loss, Power) and loss.exponent == int(loss.exponent)


def _whole_power(problem: Problem) -> Power:
    if not _has_whole_exponent(problem.loss):
        raise CheckFailed(f"the evidence is about whole powers of the distance, not about {loss_of(problem).name}")
    return problem.loss


def _gain(
    x: Fraction, radius: Fraction, exponent: int, outputs: tuple[Fraction, Fraction], ratio: Fraction
) -> Fraction:
    """``G(x, v)`` with an upper bound of ``e^eps``: phi, and so the bound, decreases in it."""
    power = exponent + 1

    def excess(start: Fraction, stop: Fraction) -> Fraction:
        """Integral of ``|y - x|^exponent - radius^exponent`` from start to stop, where ``start <= x <= stop``."""
        return ((x - start) ** power + (stop - x) ** power) / power - radius**exponent * (stop - start)

    inside = excess(max(outputs[0], x - radius), min(outputs[1], x + radius))
    return excess(*outputs) + (ratio - 1) * inside
