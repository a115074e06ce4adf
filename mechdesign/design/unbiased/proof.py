"""A lower bound on the prior-weighted variance of *every* unbiased epsilon-LDP mechanism, in rational arithmetic.

Write ``c = e^eps`` and ``phi(t) = min(t, c t)``. A mechanism is epsilon-LDP on finitely many inputs iff some base
measure mu satisfies ``mu(y) <= q(y|x) <= c mu(y)`` for all of them. Let ``t_x(y) = (y - x - b)(p (y - x) + s)`` be any
quadratic (or, for p = 0, line) with a root at ``x + b``. Since ``E[Y|x] = x``,

    ``p Var(Y|x) = b s + E[t_x(Y)|x] >= b s + sum_y mu(y) phi(t_x(y))``.

Summed over inputs with weights p, ``G(y) = sum_x phi(t_x(y))``, and because mu has mass at most 1,

    ``sum_x p_x Var(Y|x) >= sum_x b_x s_x + min(0, min over real y of G(y))``.

Nothing is assumed about the outputs. An input without weight may still bind, since reports must be unbiased there too:
its line says so. With two roots a < b' in place of ``(b, s)`` this is ``p (x - a)(b' - x)`` and ``p (y - a)(y - b')``;
the form used here stays accurate when p is tiny and one root far away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.evidence import freeze_columns
from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon, require_finite
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.statement import Aim, Criterion, Statement, require_said, stated
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.values.dyadic import dyadic

Floats = NDArray[np.float64]

UNBIASED = "unbiased mechanisms"
CRITERION = Aim.AVERAGE_UNBIASED.value


@dataclass(frozen=True, slots=True, eq=False)
class UnbiasedPriorBound:
    """A quadratic for each of n equispaced inputs, ends included; ``offsets`` b and ``slopes`` s as if on [-1, 1].

    ``weights`` are the prior on the inputs, used as they are and divided by their exact sum; ``rounded`` says that they
    stand for a prior of other values.

    >>> bound = UnbiasedPriorBound(1.0, -1.0, 1.0, [0.5, 0.0, 0.5], [1.0, 0.0, -1.0], [1.5, 0.0, -1.5])
    >>> 0 < bound.value() < 3.7  # Duchi's mechanism has 3.68 here
    True
    """

    kind: ClassVar[str] = "unbiased prior"

    epsilon: float
    lower: float
    upper: float
    weights: Floats
    offsets: Floats
    slopes: Floats
    rounded: bool = False

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)
        if not require_finite(self.lower, "lower") < require_finite(self.upper, "upper"):
            raise InvalidInput("inputs", (self.lower, self.upper), "have their lower end below their upper end")
        freeze_columns(self, ("weights", "offsets", "slopes"))
        if not isinstance(self.rounded, bool):
            raise InvalidInput("rounded", self.rounded, "be true or false")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnbiasedPriorBound) and (
            (self.epsilon, self.lower, self.upper, self.rounded)
            == (other.epsilon, other.lower, other.upper, other.rounded)
            and np.array_equal(self._columns(), other._columns())
        )

    def __hash__(self) -> int:
        return hash((self.epsilon, self.lower, self.upper, self._columns().tobytes()))

    def _columns(self) -> Floats:
        return np.stack([self.weights, self.offsets, self.slopes])

    def value(self) -> Fraction:
        """The bound on [-1, 1], an exact rational."""
        (weights, p), (offsets, b), (slopes, s) = map(dyadic, (self.weights, self.offsets, self.slopes))
        intervals = len(weights) - 1
        level = Fraction(sum(x * y for x, y in zip(offsets, slopes, strict=True)), 1 << (b + s))
        # y is measured in units of 1 / (intervals 2^b), which makes inputs, roots and coefficients whole numbers
        quadratics = []
        for k, (weight, offset, slope) in enumerate(zip(weights, offsets, slopes, strict=True)):
            x = (2 * k - intervals) << b
            root, steep, rise = x + offset * intervals, weight << s, (slope * intervals) << (b + p)
            if steep or rise:
                quadratics.append(_Quadratic(steep, rise - steep * x, root))
        least = _least_value(quadratics, exp_upper(self.epsilon)) / ((intervals << b) ** 2 << (p + s))
        return (level + min(Fraction(0), least)) / Fraction(sum(weights), 1 << p)

    def bound(self, mechanism: Mechanism | Product) -> float:
        half = (Fraction(self.upper) - Fraction(self.lower)) / 2
        return max(0.0, float_down(self.value() * half**2))

    def attained(self, mechanism: Mechanism | Product) -> float:
        """The average variance: unbiased for every real input by its definition, which its constructor checks."""
        if not isinstance(mechanism, UnbiasedWindow) or mechanism.inputs != Interval(self.lower, self.upper):
            raise CheckFailed(f"the evidence is about other mechanisms than {mechanism.name}")
        return float_up(average_variance(mechanism, self.weights))

    def scope(self, mechanism: Mechanism | Product) -> str:
        return f"{UNBIASED}, under the prior rounded to {self.weights.size} inputs" if self.rounded else UNBIASED

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        return stated_on_grid(self, problem, {"kind": "unbiased", "size": self.weights.size}, self.scope(mechanism))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "epsilon": self.epsilon,
            "lower": self.lower,
            "upper": self.upper,
            "weights": self.weights.tolist(),
            "offsets": self.offsets.tolist(),
            "slopes": self.slopes.tolist(),
            "rounded": self.rounded,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        names = "weights", "offsets", "slopes"
        weights, offsets, slopes = (np.array(fields[name], dtype=np.float64) for name in names)
        ends = fields["lower"], fields["upper"]
        return cls(fields["epsilon"], *ends, weights, offsets, slopes, rounded=fields["rounded"])


class GridPrior(Protocol):
    """A prior on equispaced inputs, as evidence holds it."""

    @property
    def epsilon(self) -> float: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def weights(self) -> Floats: ...
    @property
    def rounded(self) -> bool: ...


def stated_on_grid(evidence: GridPrior, problem: Mapping[str, Any], fields: Mapping[str, Any], scope: str) -> Statement:
    """What evidence about the average variance under a prior on a grid states, ``fields`` beside those all have."""
    # a density is never a few atoms; which law the weights stand for cannot be told from them
    require_said(problem, "prior", *(("atoms", "density") if evidence.rounded else ("atoms",)))
    criterion, loss = Criterion(Aim.AVERAGE_UNBIASED), "squared"
    shared = {
        "epsilon": evidence.epsilon,
        "loss": loss,
        "criterion": criterion.words,
        "inputs": {"kind": "interval", "lower": evidence.lower, "upper": evidence.upper},
        "weights": evidence.weights.tolist(),
        "rounded": evidence.rounded,
        "prior": problem["prior"],
    }
    prior = f"the weights in the file on {evidence.weights.size} inputs"
    return stated(problem, {**fields, **shared}, criterion, loss, scope, prior)


def average_variance(mechanism: UnbiasedWindow, weights: Floats) -> Fraction:
    """``sum p_x Var(Y|x) / sum p_x`` over equispaced inputs: each variance is exact, then rounded up to a double."""
    lower, upper = Fraction(mechanism.inputs.lower), Fraction(mechanism.inputs.upper)
    step = (upper - lower) / (len(weights) - 1)
    exact = [Fraction(weight) for weight in weights.tolist()]
    variances = (Fraction(float_up(mechanism.exact_variance(lower + k * step))) for k in range(len(exact)))
    return sum((p * v for p, v in zip(exact, variances, strict=True) if p), Fraction(0)) / sum(exact)


class _Quadratic(NamedTuple):
    """``(y - root)(steep y + rise)`` with ``steep >= 0``."""

    steep: int
    rise: int
    root: int

    @property
    def coefficients(self) -> tuple[int, int, int]:
        return self.steep, self.rise - self.steep * self.root, -self.rise * self.root

    def negative(self) -> tuple[Fraction | None, Fraction | None]:
        """Where it is negative, from and to; None is infinity."""
        root = Fraction(self.root)
        if not self.steep:
            return (None, root) if self.rise > 0 else (root, None)
        other = Fraction(-self.rise, self.steep)
        return min(root, other), max(root, other)


def _least_value(quadratics: list[_Quadratic], ratio: Fraction) -> Fraction:
    """The least value of ``sum phi(t)`` over all real y.

    Every way to choose t or ``c t`` for each term gives a quadratic above G, and G equals one of them on each piece:
    the least of the unconstrained minima of the pieces' quadratics is the least value of G.
    """
    one, gain = ratio.denominator, ratio.numerator - ratio.denominator
    everywhere = [sum(column) for column in zip(*(term.coefficients for term in quadratics), strict=True)]
    covered = [0, 0, 0]
    changes: dict[Fraction, list[int]] = {}
    for term in quadratics:
        start, stop = term.negative()
        for event, sign in ((start, 1), (stop, -1)):
            if event is not None:
                entry = changes.setdefault(event, [0, 0, 0])
                for k, coefficient in enumerate(term.coefficients):
                    entry[k] += sign * coefficient
        if start is None:
            covered = [c + t for c, t in zip(covered, term.coefficients, strict=True)]

    def least_of_piece() -> Fraction:
        a, b, d = (one * e + gain * c for e, c in zip(everywhere, covered, strict=True))
        return Fraction(4 * a * d - b * b, 4 * a)

    least = least_of_piece()
    for event in sorted(changes):
        covered = [c + change for c, change in zip(covered, changes[event], strict=True)]
        least = min(least, least_of_piece())
    return least / one
