"""Bounds on the worst-case error over *all* epsilon-LDP mechanisms on an interval, in rational arithmetic.

Write ``c = e^eps`` and ``phi(t) = min(t, c t)``. A mechanism is epsilon-LDP iff some base measure mu satisfies
``mu(y) <= q(y|x) <= c mu(y)`` for all x (take ``mu = min_x q``). For an input x and any level v

    ``E[loss(Y, x)] >= v + sum_y mu(y) phi(loss(y, x) - v)``,

so for atoms ``(x_j, r_j, w_j)`` with weights that sum to one, and ``G(y) = sum_j w_j phi(|y - x_j|^p - r_j^p)``,

    ``max_x E|Y - x|^p >= sum_j w_j r_j^p + min(0, min over real y of G(y))``

because mu has mass at most 1. Nothing is assumed about the outputs. The minimum of G is exact for p = 1 (G is linear
between the events ``x_j`` and ``x_j +- r_j``) and p = 2 (convex quadratics between ``x_j +- r_j``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon, require_finite
from mechdesign.losses import Power
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.window import Window
from mechdesign.proof.evidence import EVERYWHERE, require_said
from mechdesign.proof.rational import exp_upper, float_down, float_up

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
        if isinstance(self.exponent, bool) or self.exponent not in (1, 2):
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
        columns = (map(Fraction, array.tolist()) for array in self._arrays())
        atoms = [(x, r, w) for x, r, w in zip(*columns, strict=True) if w]
        total = sum((w for _, _, w in atoms), Fraction(0))
        level = sum((w * r**self.exponent for _, r, w in atoms), Fraction(0))
        ratio = exp_upper(self.epsilon)
        least = _least_linear(atoms, ratio) if self.exponent == 1 else _least_quadratic(atoms, ratio)
        return (level + min(Fraction(0), least)) / total

    def bound(self, mechanism: Mechanism | Product) -> float:
        return float_down(self.value())

    def attained(self, mechanism: Mechanism | Product) -> float:
        if not isinstance(mechanism, Window) or mechanism.inputs != Interval(self.lower, self.upper):
            raise CheckFailed(f"the evidence is about other mechanisms than {mechanism.name}")
        return float_up(exact_worst_error(mechanism, self.exponent))

    def scope(self, mechanism: Mechanism | Product) -> str:
        return EVERYWHERE

    def require_problem(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> None:
        require_said(problem, "loss", Power(float(self.exponent)).name)
        require_said(problem, "criterion", "worst case")

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


Atom = tuple[Fraction, Fraction, Fraction]


def _least_linear(atoms: list[Atom], ratio: Fraction) -> Fraction:
    """The least value of ``sum w phi(|y - x| - r)``: G is linear between events, so it is taken at one of them."""
    changes: dict[Fraction, Fraction] = {}
    for x, r, w in atoms:
        for event, change in ((x - r, (1 - ratio) * w), (x, 2 * ratio * w), (x + r, (1 - ratio) * w)):
            changes[event] = changes.get(event, Fraction(0)) + change
    events = sorted(changes)
    slope = -sum((w for _, _, w in atoms), Fraction(0))
    value = sum((w * (x - events[0] - r) for x, r, w in atoms), Fraction(0))
    least = value
    for here, following in pairwise(events):
        slope += changes[here]
        value += slope * (following - here)
        least = min(least, value)
    return least


def _least_quadratic(atoms: list[Atom], ratio: Fraction) -> Fraction:
    """The least value of ``sum w phi((y - x)^2 - r^2)``.

    Every way to choose t or ``c t`` for each atom gives a quadratic above G, and G equals one of them on each piece:
    the least of the unconstrained minima of the pieces' quadratics is the least value of G.
    """
    gain = ratio - 1
    a = sum((w for _, _, w in atoms), Fraction(0))
    b = sum((w * x for x, _, w in atoms), Fraction(0))
    d = sum((w * (x * x - r * r) for x, r, w in atoms), Fraction(0))
    changes: dict[Fraction, list[Fraction]] = {}
    for x, r, w in atoms:
        if not r:
            continue
        for event, sign in ((x - r, gain), (x + r, -gain)):
            entry = changes.setdefault(event, [Fraction(0)] * 3)
            entry[0] += sign * w
            entry[1] += sign * w * x
            entry[2] += sign * w * (x * x - r * r)
    least = d - b * b / a
    for event in sorted(changes):
        step = changes[event]
        a, b, d = a + step[0], b + step[1], d + step[2]
        least = min(least, d - b * b / a)
    return least


def exact_worst_error(mechanism: Window, exponent: int) -> Fraction:
    """``max over inputs of E|Y - x|^exponent`` of a window mechanism, over all real inputs, as an exact rational.

    Between turns the law is constant and the error convex in x, so the maximum is at a turn or an end. The turns are
    found again here with rational cumulative sums.

    >>> from mechdesign.domains import Interval
    >>> exact_worst_error(Window(1.0, Interval(0, 1), [0.25, 0.75], [0.25, 0.25], 2.5), 1)
    Fraction(7, 16)
    """
    points, base = [Fraction(y) for y in mechanism.points.tolist()], [Fraction(m) for m in mechanism.base.tolist()]
    prefix = _Prefix(points, base, exponent)
    ratio = Fraction(mechanism.ratio)
    extra = 1 - prefix.mass[-1]
    length = extra / (ratio - 1) if extra else Fraction(0)
    lower, upper = Fraction(mechanism.inputs.lower), Fraction(mechanism.inputs.upper)
    worst = Fraction(0)
    start, left, right, current = Fraction(0), 0, 0, None
    while True:
        while left < len(base) - 1 and prefix.mass[left + 1] <= start:
            left += 1
        while right < len(base) - 1 and prefix.mass[right + 1] <= start + length:
            right += 1
        turn = (points[left] + points[right]) / 2
        done = start + length >= prefix.mass[-1]
        # this law holds from the last turn to the next one: the ends of that stretch are candidates
        begin = lower if current is None else max(lower, current)
        finish = upper if done else min(upper, turn)
        if begin <= finish:
            for x in {begin, finish}:
                error = prefix.error(x) + (ratio - 1) * prefix.window_error(x, start, length)
                worst = max(worst, error)
        if done or turn >= upper:
            return worst
        current = turn if current is None else max(current, turn)
        following = min(prefix.mass[left + 1] - start, prefix.mass[right + 1] - start - length)
        start += following


class _Prefix:
    """Running sums of ``mu y^k``, from which ``sum mu |y - x|^p`` over any stretch of outputs costs O(p)."""

    def __init__(self, points: list[Fraction], base: list[Fraction], exponent: int) -> None:
        self.points, self.base, self.exponent = points, base, exponent
        self.moments: list[list[Fraction]] = []
        for order in range(exponent + 1):
            sums = [Fraction(0)]
            for y, m in zip(points, base, strict=True):
                sums.append(sums[-1] + m * y**order)
            self.moments.append(sums)
        self.mass = self.moments[0]

    def error(self, x: Fraction) -> Fraction:
        """``sum mu |y - x|^p`` over all outputs."""
        return self.between(x, 0, len(self.points))

    def between(self, x: Fraction, first: int, last: int) -> Fraction:
        """``sum mu |y - x|^p`` over outputs first .. last - 1."""
        split = min(max(_count_below(self.points, x), first), last)
        below = self._signed(x, first, split)
        return self._signed(x, split, last) + (-below if self.exponent % 2 else below)

    def _signed(self, x: Fraction, first: int, last: int) -> Fraction:
        total, binomial = Fraction(0), 1
        for k in range(self.exponent + 1):
            moment = self.moments[self.exponent - k][last] - self.moments[self.exponent - k][first]
            total += binomial * (-x) ** k * moment
            binomial = binomial * (self.exponent - k) // (k + 1)
        return total

    def window_error(self, x: Fraction, start: Fraction, length: Fraction) -> Fraction:
        """``sum |y - x|^p`` weighted by the overlap of each output's stretch of the cumulative base with the window."""
        return self._upto(x, start + length) - self._upto(x, start)

    def _upto(self, x: Fraction, place: Fraction) -> Fraction:
        whole = _count_below(self.mass, place, inclusive=True) - 1
        if whole >= len(self.points):
            return self.error(x)
        return self.between(x, 0, whole) + (place - self.mass[whole]) * abs(self.points[whole] - x) ** self.exponent


def _count_below(values: list[Fraction], bound: Fraction, *, inclusive: bool = False) -> int:
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < bound or (inclusive and values[middle] == bound):
            low = middle + 1
        else:
            high = middle
    return low
