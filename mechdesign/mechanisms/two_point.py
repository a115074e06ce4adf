"""Two outputs, chosen with a probability linear in the input (Duchi, Jordan and Wainwright)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.ratio import INFINITE, LikelihoodRatio
from mechdesign.values.declare import epsilon, field, finite, frozen
from mechdesign.words.domains import Finite, Interval, only
from mechdesign.words.losses import Loss, Power

Floats = NDArray[np.float64]


@frozen
class TwoPoint:
    """Report the upper output with probability ``rare + (1 - 2 rare) t``, ``t`` the input's place in its interval.

    The outputs lie ``length rare / (1 - 2 rare)`` beyond the ends of the inputs, which makes the report unbiased.

    *Guarantee.* Probabilities run from ``rare`` to ``1 - rare``: the likelihood ratio is ``(1 - rare) / rare``.

    >>> mechanism = TwoPoint(1.0, Interval(-1, 1), rare=0.25)
    >>> mechanism.outputs.points
    (-2.0, 2.0)
    >>> mechanism.mean([-1.0, 0.5]).tolist()
    [-1.0, 0.5]
    """

    kind: ClassVar[str] = "two-point"

    epsilon: float = epsilon()
    inputs: Interval = field(validator=only(Interval))
    rare: float = finite("rare probability")
    name: str = "two-point"

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.rare < 0.5:
            raise InvalidInput("rare probability", self.rare, "lie in [0, 0.5)")

    @property
    def outputs(self) -> Finite:
        reach = self.inputs.length * self.rare / (1 - 2 * self.rare)
        return Finite((self.inputs.lower - reach, self.inputs.upper + reach))

    def _chances(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """Probabilities of the lower and the upper output; one minus the other would lose the digits of a rare one."""
        inputs = self.inputs.require(x)
        to_lower, to_upper = inputs - self.inputs.lower, self.inputs.upper - inputs
        usual = (1 - 2 * self.rare) / self.inputs.length
        return np.asarray(self.rare + usual * to_upper), np.asarray(self.rare + usual * to_lower)

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(analysis.require_outputs(y).shape, self.inputs.require(x).shape))

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, below, above = np.broadcast_arrays(analysis.require_outputs(y), *self._chances(x))
        low, high = self.outputs.points
        return np.where(outputs == high, above, np.where(outputs == low, below, 0.0))

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, below = np.broadcast_arrays(analysis.require_outputs(y), self._chances(x)[0])
        low, high = self.outputs.points
        return np.where(outputs >= high, 1.0, np.where(outputs >= low, below, 0.0))

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        low, high = self.outputs.points
        return np.where(analysis.require_probabilities(u) <= self._chances(x)[0], low, high)

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        return self.quantile(analysis.require_generator(rng).random(inputs.shape), inputs)

    def moment(self, x: ArrayLike, order: int) -> Floats:
        chance = self._chances(x)[1]
        low, high = (point ** analysis.require_order(order) for point in self.outputs.points)
        return np.asarray(low + (high - low) * chance)

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        below, above = self._chances(x)
        low, high = self.outputs.points
        return np.asarray(below * loss(low, x) + above * loss(high, x))

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        ends = (self.inputs.lower, self.inputs.upper)
        if not (isinstance(loss, Power) and loss.period is not None):
            return ends
        turns = {y + k * loss.period / 2 for y in self.outputs.points for k in range(-4, 5)}
        return (*sorted({*ends, *(cut for cut in turns if ends[0] < cut < ends[1])}),)

    def likelihood_ratio(self) -> LikelihoodRatio:
        rare = Fraction(self.rare)
        return LikelihoodRatio((1 - rare) / rare) if rare else INFINITE

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss
