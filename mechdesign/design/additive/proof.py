"""A lower bound on the prior-weighted variance of every unbiased epsilon-LDP mechanism that reports on a grid.

In steps of the grid the inputs are ``x = 0, ..., N`` and reports whole numbers y. As in
`mechdesign.design.unbiased.proof`, with ``c = e^eps``, ``phi(t) = min(t, c t)`` and a base measure mu of mass at most
1, any value v and slope s for each input give, since ``E[Y|x] = x`` and ``t_x(y) = p (y - x)^2 - s (y - x) - v``,

    ``sum_x p_x Var(Y|x) = sum_x v_x + sum_x E[t_x(Y)|x] >= sum_x v_x + min(0, min over y of G(y))``,
    ``G(y) = sum_x phi(t_x(y))``.

G has to be known on whole numbers only. From a place S on it is bounded by one parabola: phi is concave and
homogeneous, hence superadditive, and with h = y - S

    ``G(S + h) >= h^2 sum_x p_x + h sum_x phi(t_x'(S)) + sum_x phi(t_x(S))``.

That bound holds whatever the tails are. For laws with geometric tails of one ratio from S on, as in the paper of AAA,
it is enough to know the sum of phi over the average of ``t_x`` in the tail: if it is proven that way, ``tail`` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.evidence import freeze_columns
from mechdesign.design.unbiased.proof import stated_on_grid
from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.statement import Statement
from mechdesign.mechanisms.conditional import ConditionalNoise, require_shape
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.values.dyadic import dyadic

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveBound:
    """A value v and a slope s for each input of the grid, in steps: whole numbers are the reports.

    Reports are looked at one by one up to ``reach`` steps beyond the inputs. ``tail`` k restricts the bound to laws
    that decay geometrically from there on, by ``k / (k + 1)`` a step. ``weights`` are the prior on the inputs, used as
    they are and divided by their exact sum; ``rounded`` says that they stand for a prior of other values.

    >>> bound = AdditiveBound(1.0, -1.0, 1.0, 4, None, [0.5, 0.0, 0.5], [1.8, 0.0, 1.8], [-1.4, 0.0, 1.4])
    >>> 0 < bound.value() < 3.7  # Duchi's mechanism has 3.68 here, with reports between those of the grid
    True
    """

    kind: ClassVar[str] = "additive"

    epsilon: float
    lower: float
    upper: float
    reach: int
    tail: int | None
    weights: Floats
    values: Floats
    slopes: Floats
    rounded: bool = False

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)
        Interval(self.lower, self.upper)
        freeze_columns(self, ("weights", "values", "slopes"))
        require_shape(self.weights.size - 1, self.reach, 1 if self.tail is None else self.tail)
        if not isinstance(self.rounded, bool):
            raise InvalidInput("rounded", self.rounded, "be true or false")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AdditiveBound) and (
            (self.epsilon, self.lower, self.upper, self.reach, self.tail, self.rounded)
            == (other.epsilon, other.lower, other.upper, other.reach, other.tail, other.rounded)
            and np.array_equal(self._columns(), other._columns())
        )

    def __hash__(self) -> int:
        return hash((self.epsilon, self.lower, self.upper, self.reach, self.tail, self._columns().tobytes()))

    def _columns(self) -> Floats:
        return np.stack([self.weights, self.values, self.slopes])

    @property
    def bins(self) -> int:
        return self.weights.size - 1

    def value(self) -> Fraction:
        """The bound in units of the whole domain, as if it were [0, 1]: an exact rational."""
        whole, _ = dyadic(self._columns().ravel())  # the common scale drops out of the quotient at the end
        count = self.bins + 1
        weights, values, slopes = (whole[k * count : (k + 1) * count] for k in range(3))
        terms = _Terms(weights, values, slopes, exp_upper(self.epsilon))
        last = self.bins + self.reach
        least = min(terms.sum_at(y) for y in range(1 - self.reach, last))
        if self.tail is None:
            ends = [terms.least_beyond(-self.reach, -1), terms.least_beyond(last, 1)]
        else:
            ends = [terms.mean_of_tail(-self.reach, -1, self.tail), terms.mean_of_tail(last, 1, self.tail)]
        return (sum(values) + min(Fraction(0), least, *ends)) / (sum(weights) * self.bins**2)

    def bound(self, mechanism: Mechanism | Product) -> float:
        length = Fraction(self.upper) - Fraction(self.lower)
        return max(0.0, float_down(self.value() * length**2))

    def attained(self, mechanism: Mechanism | Product) -> float:
        """The average variance on the grid: unbiased for every real input by its definition, checked when built."""
        if not isinstance(mechanism, ConditionalNoise) or (
            (mechanism.inputs, mechanism.bins) != (Interval(self.lower, self.upper), self.bins)
        ):
            raise CheckFailed(f"the evidence is about other mechanisms than {mechanism.name}")
        if self.tail is not None and (mechanism.reach, mechanism.tail) != (self.reach, self.tail):
            raise CheckFailed(f"the evidence is about other tails than those of {mechanism.name}")
        return float_up(average_variance(mechanism, self.weights))

    def scope(self, mechanism: Mechanism | Product) -> str:
        grid = f"unbiased mechanisms with reports on the grid of {self.bins + 1} inputs"
        if self.tail is not None:
            ratio = f"{self.tail}/{self.tail + 1}"
            grid += f" and tails of ratio {ratio} from {self.reach} steps beyond them"
        return f"{grid}, under the prior rounded to them" if self.rounded else grid

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        if not isinstance(mechanism, ConditionalNoise):
            raise CheckFailed(f"the evidence is about other mechanisms than {mechanism.name}")
        fields = {"kind": "additive", "bins": self.bins, "reach": mechanism.reach, "tail": mechanism.tail}
        return stated_on_grid(self, problem, fields, self.scope(mechanism))

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "epsilon": self.epsilon,
            "lower": self.lower,
            "upper": self.upper,
            "reach": int(self.reach),
            "tail": None if self.tail is None else int(self.tail),
            "weights": self.weights.tolist(),
            "values": self.values.tolist(),
            "slopes": self.slopes.tolist(),
            "rounded": self.rounded,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        names = "weights", "values", "slopes"
        weights, values, slopes = (np.array(fields[name], dtype=np.float64) for name in names)
        numbers = fields["epsilon"], fields["lower"], fields["upper"], fields["reach"], fields["tail"]
        return cls(*numbers, weights, values, slopes, rounded=fields["rounded"])


def average_variance(mechanism: ConditionalNoise, weights: Floats) -> Fraction:
    """``sum p_x Var(Y|x) / sum p_x`` over the inputs of the grid: each variance is rounded up to a double."""
    exact = [Fraction(weight) for weight in weights.tolist()]
    variances = (Fraction(float_up(mechanism.exact_variance(k))) for k in range(len(exact)))
    return sum((p * v for p, v in zip(exact, variances, strict=True) if p), Fraction(0)) / sum(exact)


class _Terms(NamedTuple):
    """The quadratics of the inputs in whole numbers, all on one scale, and ``ratio >= e^eps``."""

    weights: list[int]
    values: list[int]
    slopes: list[int]
    ratio: Fraction

    def _phi_sum(self, term: Callable[[int, int, int, int], int]) -> Fraction:
        """The sum of phi over the inputs; ``term`` maps place, weight, value and slope to a number."""
        columns = zip(self.weights, self.values, self.slopes, strict=True)
        numbers = [term(x, p, v, s) for x, (p, v, s) in enumerate(columns)]
        return sum(n for n in numbers if n > 0) + self.ratio * sum(n for n in numbers if n < 0)

    def sum_at(self, y: int) -> Fraction:
        """``G(y)``."""
        return self._phi_sum(lambda x, p, v, s: ((y - x) * p - s) * (y - x) - v)

    def least_beyond(self, place: int, side: int) -> Fraction:
        """At most the least of G from a place on, to the right (``side`` 1) or to the left (-1)."""
        start = self.sum_at(place)
        rise = self._phi_sum(lambda x, p, v, s: side * (2 * p * (place - x) - s))
        return start if rise >= 0 else start - rise * rise / (4 * sum(self.weights))

    def mean_of_tail(self, place: int, side: int, tail: int) -> Fraction:
        """The sum of phi over the averages of the quadratics in a geometric tail: its mean and variance are whole."""
        mean, variance = place + side * tail, tail * (tail + 1)
        return self._phi_sum(lambda x, p, v, s: ((mean - x) * p - s) * (mean - x) - v + p * variance)
