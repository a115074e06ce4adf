"""One primal-dual interior-point loop: Mehrotra's predictor and corrector.

A structure brings its variables in cones, each with its multiplier, and its Newton system: factorised once at a point,
solved for every right side that the loop asks for. What a structure is asked for are multipliers T, in which products
of variables and multipliers would be what is aimed at; it answers the changes, of which those of a pair keep
``S + dS = T - (what dX costs)``.

Sources: Mehrotra, On the implementation of a primal-dual interior point method, 1992; Helmberg, Rendl,
Vanderbei, Wolkowicz, An interior-point method for semidefinite programming, 1996.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_POWER = 2  # of what the predictor leaves of the products, which is how far the corrector aims
_LEAST_AIM = 1e-3  # of the products
_SHORTEST = 1e-8


class Positive(NamedTuple):
    """Numbers above 0 and their multipliers."""

    values: Floats
    duals: Floats

    @property
    def degree(self) -> int:
        return self.values.size

    def product(self, step: Change | None = None, primal: float = 0.0, dual: float = 0.0) -> float:
        """Of all numbers with their multipliers, here or along a step."""
        return _product(self, step, primal, dual)

    def centred(self, level: float) -> Floats:
        """The multipliers whose products are all ``level``."""
        return np.asarray(level / self.values)

    def bend(self, step: Change) -> Floats:
        """What a step changes of products in second order, as multipliers."""
        return np.asarray(step[0] * step[1] / self.values)

    def lengths(self, step: Change) -> tuple[float, float]:
        return _length(self.values, step[0]), _length(self.duals, step[1])


class Definite(NamedTuple):
    """A positive definite matrix and its multiplier, which is one, too; the inverse of the first."""

    values: Floats
    duals: Floats
    inverse: Floats

    @property
    def degree(self) -> int:
        return len(self.values)

    def product(self, step: Change | None = None, primal: float = 0.0, dual: float = 0.0) -> float:
        return _product(self, step, primal, dual)

    def centred(self, level: float) -> Floats:
        return level * self.inverse

    def bend(self, step: Change) -> Floats:
        turned = self.inverse @ step[0] @ step[1]
        return np.asarray((turned + turned.T) / 2)

    def lengths(self, step: Change) -> tuple[float, float]:
        return _inside(self.values, step[0]), _inside(self.duals, step[1])


Change = tuple[Floats, Floats]
Pair = Positive | Definite


class Step(NamedTuple):
    """Changes of all pairs, and whatever else a structure moves with them."""

    pairs: Sequence[Change]
    beside: Any


class Structure(Protocol):
    """A program at a point inside its cones."""

    @property
    def pairs(self) -> Sequence[Pair]: ...

    def is_done(self) -> bool: ...

    def newton(self) -> Callable[[Sequence[Floats]], Step]:
        """The Newton system here, for any T; `numpy.linalg.LinAlgError` where doubles cannot solve it."""
        ...

    def move(self, step: Step, primal: float, dual: float) -> None:
        """Go on; `numpy.linalg.LinAlgError`, and nothing changed, where rounding would lead out of a cone."""
        ...


@dataclass(frozen=True, slots=True)
class Manner:
    """How steps are made: so much of the way to the edge, both sides ``together`` where the objective bends.

    With ``centring`` a step aims at so much of the products, without a predictor: from a start that was good for a
    program with fewer rows, and is far from centred for this one, a predictor gets nowhere.
    """

    back_off: float = 0.99
    together: bool = False
    centring: float | None = None
    steps: int = 120


def run(at: Structure, manner: Manner, deadline: float | None = None) -> int:
    """Steps until it is done, or as far as doubles, so many steps and the deadline allow: how many there were.

    ``deadline`` is a reading of `time.perf_counter`.
    """
    for steps in range(manner.steps):
        if at.is_done() or (deadline is not None and time.perf_counter() >= deadline) or not advance(at, manner):
            return steps
    return manner.steps


@np.errstate(all="ignore")  # what is not finite is not taken
def advance(at: Structure, manner: Manner) -> bool:
    """One step; False, and nothing changed, where doubles allow none."""
    try:
        step, primal, dual = _step(at, manner)
        if not all(np.isfinite(part).all() for own in step.pairs for part in own) or max(primal, dual) < _SHORTEST:
            return False
        at.move(step, primal, dual)
    except np.linalg.LinAlgError:
        return False
    return True


def _step(at: Structure, manner: Manner) -> tuple[Step, float, float]:
    pairs, direction = at.pairs, at.newton()
    degree = sum(pair.degree for pair in pairs)
    mean = sum(pair.product() for pair in pairs) / degree
    if manner.centring is None:
        step = direction([pair.centred(0.0) for pair in pairs])
        primal, dual = _lengths(pairs, step, 1.0, manner.together)
        every = list(zip(pairs, step.pairs, strict=True))
        ahead = sum(pair.product(own, primal, dual) for pair, own in every) / degree
        level = mean * min(1.0, max((ahead / mean) ** _POWER, _LEAST_AIM))
        aims = [pair.centred(level) - pair.bend(own) for pair, own in every]
    else:
        aims = [pair.centred(manner.centring * mean) for pair in pairs]
    step = direction(aims)
    return step, *_lengths(pairs, step, manner.back_off, manner.together)


def _lengths(pairs: Sequence[Pair], step: Step, back_off: float, together: bool) -> tuple[float, float]:
    """How far both sides may go, at most 1."""
    ends = [pair.lengths(own) for pair, own in zip(pairs, step.pairs, strict=True)]
    primal, dual = (min(1.0, back_off * min(side)) for side in zip(*ends, strict=True))
    return (min(primal, dual),) * 2 if together else (primal, dual)


def _product(pair: Pair, step: Change | None, primal: float, dual: float) -> float:
    if step is None:
        return float(np.sum(pair.values * pair.duals))
    return float(np.sum((pair.values + primal * step[0]) * (pair.duals + dual * step[1])))


def _length(values: Floats, change: Floats) -> float:
    """How far one may go until some value is 0."""
    worst = float((change / values).min(initial=0.0))
    return 1 / -worst if worst < 0 else math.inf


def _inside(matrix: Floats, change: Floats) -> float:
    """How far one may go until a positive definite matrix is one no more."""
    root = np.linalg.inv(np.linalg.cholesky(matrix))
    least = float(np.linalg.eigvalsh(root @ change @ root.T)[0])
    return 1 / -least if least < 0 else math.inf
