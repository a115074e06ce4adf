"""Bounds on the worst-case error over *all* epsilon-LDP mechanisms on an interval, in rational arithmetic.

Write ``c = e^eps`` and ``phi(t) = min(t, c t)``. A mechanism is epsilon-LDP iff some base measure mu satisfies
``mu(y) <= q(y|x) <= c mu(y)`` for all x (take ``mu = min_x q``). For an input x and any level v

    ``E[loss(Y, x)] >= v + sum_y mu(y) phi(loss(y, x) - v)``,

so for atoms ``(x_j, r_j, w_j)`` with weights that sum to one, and ``G(y) = sum_j w_j phi(|y - x_j|^p - r_j^p)``,

    ``max_x E|Y - x|^p >= sum_j w_j r_j^p + min(g, g / c)``,   ``g = min over real y of G(y)``,

because mu has mass between 1/c and 1. Nothing is assumed about the outputs. The minimum of G is exact for p = 1 (linear
between the events ``x_j`` and ``x_j +- r_j``) and p = 2 (convex quadratics between ``x_j +- r_j``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.evidence import EVERYWHERE
from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon, require_finite
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.statement import Aim, Criterion, Statement, stated
from mechdesign.losses import Power
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.window import Window
from mechdesign.values.dyadic import dyadic

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MinimaxBound:
    """Atoms that bound the worst case of ``|y - x|^exponent`` over inputs ``[lower, upper]`` from below.

    The value is an exact rational in the numbers stored here and an upper bound of ``e^epsilon``: checking it needs no
    solver. The normalised weights are a least-favourable prior.

    >>> half = np.array([0.5, 0.5])
    >>> bound = MinimaxBound(1.0, 2, 0.0, 1.0, np.array([0.0, 1.0]), np.array([0.4434, 0.4434]), half)
    >>> 0.19 < bound.value() < 0.19661194
    True
    """

    kind: ClassVar[str] = "minimax"

    epsilon: float
    exponent: int
    lower: float
    upper: float
    inputs: Floats
    radii: Floats
    weights: Floats

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)
        if type(self.exponent) is not int or self.exponent not in (1, 2):
            raise InvalidInput("exponent", self.exponent, "be 1 or 2: only these have an exact sweep")
        if not require_finite(self.lower, "lower") < require_finite(self.upper, "upper"):
            raise InvalidInput("inputs", (self.lower, self.upper), "have their lower end below their upper end")
        arrays = {name: np.array(getattr(self, name), dtype=np.float64) for name in ("inputs", "radii", "weights")}
        shapes = {array.shape for array in arrays.values()}
        if len(shapes) != 1 or len(next(iter(shapes))) != 1 or not arrays["inputs"].size:
            raise InvalidInput(
                "atoms", sorted(map(str, shapes)), "be at least one, with an input, a radius and a weight"
            )
        for name, array in arrays.items():
            if not np.isfinite(array).all() or (name != "inputs" and (array < 0).any()):
                raise InvalidInput(f"atom {name}", float(array.min()), "be finite and, but for inputs, at least 0")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if ((self.inputs < self.lower) | (self.inputs > self.upper)).any():
            raise InvalidInput("atom inputs", float(self.inputs.min()), f"lie in [{self.lower:g}, {self.upper:g}]")
        if not self.weights.sum() > 0:
            raise InvalidInput("atom weights", float(self.weights.sum()), "have a positive sum")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MinimaxBound) and (
            (self.epsilon, self.exponent, self.lower, self.upper)
            == (other.epsilon, other.exponent, other.lower, other.upper)
            and all(np.array_equal(a, b) for a, b in zip(self._arrays(), other._arrays(), strict=True))
        )

    def __hash__(self) -> int:
        return hash((self.epsilon, self.exponent, self.lower, self.upper, self.weights.tobytes()))

    def _arrays(self) -> tuple[Floats, Floats, Floats]:
        return self.inputs, self.radii, self.weights

    def value(self) -> Fraction:
        """The bound: valid for every epsilon-LDP mechanism with any outputs."""
        places, shift = dyadic(np.concatenate([self.inputs, self.radii]))
        count = self.inputs.size
        weights, _ = dyadic(self.weights)
        atoms = [atom for atom in zip(places[:count], places[count:], weights, strict=True) if atom[2]]
        total = sum(weights)
        level: int = sum(w * r**self.exponent for _, r, w in atoms)
        ratio = exp_upper(self.epsilon)
        least = _least_linear(atoms, ratio) if self.exponent == 1 else _least_quadratic(atoms, ratio)
        return (level + min(least, least / ratio)) / (total << (self.exponent * shift))

    def bound(self, mechanism: Mechanism | Product) -> float:
        return float_down(self.value())

    def attained(self, mechanism: Mechanism | Product) -> float:
        if not isinstance(mechanism, Window) or mechanism.inputs != Interval(self.lower, self.upper):
            raise CheckFailed(f"the evidence is about other mechanisms than {mechanism.name}")
        return float_up(exact_worst_error(mechanism, self.exponent))

    def scope(self, mechanism: Mechanism | Product) -> str:
        return EVERYWHERE

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        criterion, loss = Criterion(Aim.WORST), Power(float(self.exponent)).name
        inputs = {"kind": "interval", "lower": self.lower, "upper": self.upper}
        fields = {"kind": self.kind, "epsilon": self.epsilon, "loss": loss, "criterion": criterion.words}
        return stated(problem, fields | {"inputs": inputs}, criterion, loss, self.scope(mechanism))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "epsilon": self.epsilon,
            "exponent": self.exponent,
            "lower": self.lower,
            "upper": self.upper,
            "inputs": self.inputs.tolist(),
            "radii": self.radii.tolist(),
            "weights": self.weights.tolist(),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        arrays = (np.array(fields[name], dtype=np.float64) for name in ("inputs", "radii", "weights"))
        return cls(fields["epsilon"], fields["exponent"], fields["lower"], fields["upper"], *arrays)


Atom = tuple[int, int, int]
"""Input, radius and weight, as integers on common scales."""


def _least_linear(atoms: list[Atom], ratio: Fraction) -> Fraction:
    """The least value of ``sum w phi(|y - x| - r)``: G is linear between events, so it is taken at one of them."""
    most, one = ratio.numerator, ratio.denominator  # all slopes and values below are multiplied by ``one``
    changes: dict[int, int] = {}
    for x, r, w in atoms:
        for event, change in ((x - r, (one - most) * w), (x, 2 * most * w), (x + r, (one - most) * w)):
            changes[event] = changes.get(event, 0) + change
    events = sorted(changes)
    slope = -one * sum(w for _, _, w in atoms)
    value = one * sum(w * (x - events[0] - r) for x, r, w in atoms)
    least = value
    for here, following in pairwise(events):
        slope += changes[here]
        value += slope * (following - here)
        least = min(least, value)
    return Fraction(least, one)


def _least_quadratic(atoms: list[Atom], ratio: Fraction) -> Fraction:
    """The least value of ``sum w phi((y - x)^2 - r^2)``.

    Every way to choose t or ``c t`` for each atom gives a quadratic ``a y^2 - 2 b y + d`` above G, and G equals one of
    them on each piece: the least of the unconstrained minima of the pieces' quadratics is the least value of G.
    """
    most, one = ratio.numerator, ratio.denominator  # a, b and d are multiplied by ``one``
    a = one * sum(w for _, _, w in atoms)
    b = one * sum(w * x for x, _, w in atoms)
    d = one * sum(w * (x * x - r * r) for x, r, w in atoms)
    changes: dict[int, tuple[int, int, int]] = {}
    for x, r, w in atoms:
        if not r:
            continue
        for event, gain in ((x - r, (most - one) * w), (x + r, (one - most) * w)):
            da, db, dd = changes.get(event, (0, 0, 0))
            changes[event] = da + gain, db + gain * x, dd + gain * (x * x - r * r)
    least, under = d * a - b * b, a
    for event in sorted(changes):
        da, db, dd = changes[event]
        a, b, d = a + da, b + db, d + dd
        value = d * a - b * b
        if value * under < least * a:
            least, under = value, a
    return Fraction(least, under * one)


def exact_worst_error(mechanism: Window, exponent: int) -> Fraction:
    """``max over inputs of E|Y - x|^exponent`` of a window mechanism, over all real inputs, as an exact rational.

    Between turns the law is constant and the error convex in x, so the maximum is at a turn or an end. The turns are
    found again here with rational cumulative sums.

    >>> from mechdesign.domains import Interval
    >>> exact_worst_error(Window(1.0, Interval(0, 1), [0.25, 0.75], [0.25, 0.25], 2.5), 1)
    Fraction(7, 16)
    """
    # twice the points, so that turns are whole; the cumulative base times c - 1, so that the window's length is
    sites, place_shift = dyadic([mechanism.inputs.lower, mechanism.inputs.upper, *mechanism.points.tolist()])
    lower, upper, *points = (2 * site for site in sites)
    base, mass_shift = dyadic(mechanism.base)
    (ratio,), digits = dyadic([mechanism.ratio])
    one = 1 << digits
    gain = ratio - one
    sums = _Sums(points, base, exponent)
    length = ((1 << mass_shift) - sums.mass[-1]) * one
    cumulative = [gain * m for m in sums.mass]
    worst = start = left = right = 0
    current: int | None = None
    while True:
        while left < len(base) - 1 and cumulative[left + 1] <= start:
            left += 1
        while right < len(base) - 1 and cumulative[right + 1] <= start + length:
            right += 1
        turn = (points[left] + points[right]) // 2
        done = start + length >= cumulative[-1]
        # this law holds from the last turn to the next one: the ends of that stretch are candidates
        begin = lower if current is None else max(lower, current)
        finish = upper if done else min(upper, turn)
        if begin <= finish:
            for x in {begin, finish}:
                # over the base, plus c - 1 times over the window: both times ``one``
                window = sums.upto_place(x, start + length, right, gain) - sums.upto_place(x, start, left, gain)
                worst = max(worst, one * sums.upto(x, len(points)) + window)
        if done or turn >= upper:
            scale = one << (mass_shift + exponent * (place_shift + 1))
            return Fraction(worst, scale)
        current = turn if current is None else max(current, turn)
        start += min(cumulative[left + 1] - start, cumulative[right + 1] - start - length)


class _Sums:
    """Running sums of ``mu y^k`` in integers, from which ``sum mu |y - x|^p`` over the first outputs costs O(p)."""

    def __init__(self, points: list[int], base: list[int], exponent: int) -> None:
        self.points, self.exponent = points, exponent
        self.moments = [
            list(accumulate((m * y**order for y, m in zip(points, base, strict=True)), initial=0))
            for order in range(exponent + 1)
        ]
        self.mass = self.moments[0]

    def upto(self, x: int, count: int) -> int:
        """``sum mu |y - x|^p`` over the first ``count`` outputs."""
        split = min(bisect_left(self.points, x), count)
        below = self._signed(x, 0, split)
        return self._signed(x, split, count) + (-below if self.exponent % 2 else below)

    def upto_place(self, x: int, place: int, whole: int, gain: int) -> int:
        """The same, times ``gain``, up to a place of the cumulative base (times gain) inside output ``whole``."""
        rest = place - gain * self.mass[whole]
        value: int = gain * self.upto(x, whole) + rest * abs(self.points[whole] - x) ** self.exponent
        return value

    def _signed(self, x: int, first: int, last: int) -> int:
        total, binomial = 0, 1
        for k in range(self.exponent + 1):
            moment = self.moments[self.exponent - k][last] - self.moments[self.exponent - k][first]
            total += binomial * (-x) ** k * moment
            binomial = binomial * (self.exponent - k) // (k + 1)
        return total
