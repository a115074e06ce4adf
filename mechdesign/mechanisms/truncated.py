"""Truncation as post-processing: outputs beyond an interval are moved to its ends (T-Laplace, T-PM, T-SW)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.additive import Additive
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Loss, Power

Floats = NDArray[np.float64]


@frozen
class Truncated:
    """The outputs of ``base``, moved to the nearest end of the input interval when they fall outside.

    *Guarantee.* Post-processing never raises the likelihood ratio, so the base's ratio is an upper bound; it is
    attained, since truncation leaves the densities inside the interval as they were.

    >>> from mechdesign.mechanisms.noise import Laplace
    >>> mechanism = Truncated(Additive(1.0, Interval(0, 1), Laplace(1.0)))
    >>> mechanism.mass(0.0, 0.0).item()
    0.5
    """

    kind: ClassVar[str] = "truncated"

    base: Additive | Piecewise
    name: str = "truncated"

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.base, Additive | Piecewise):
            raise InvalidInput("base", self.base, "be an additive or piecewise mechanism")
        if not isinstance(self.base.inputs, Interval):
            raise InvalidInput("base", self.base.name, "have an interval as inputs to be truncated")

    @property
    def epsilon(self) -> float:
        return self.base.epsilon

    @property
    def inputs(self) -> Interval:
        assert isinstance(self.base.inputs, Interval)
        return self.base.inputs

    @property
    def outputs(self) -> Interval:
        return self.inputs

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs = analysis.require_outputs(y)
        inside = (outputs > self.inputs.lower) & (outputs < self.inputs.upper)
        return np.where(inside, self.base.density(outputs, x), 0.0)

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs = analysis.require_outputs(y)
        below, above = self._ends(x)
        at_lower, at_upper = outputs == self.inputs.lower, outputs == self.inputs.upper
        return np.where(at_lower, below, np.where(at_upper, above, 0.0))

    def _ends(self, x: ArrayLike) -> tuple[Floats, Floats]:
        below = self.base.cdf(self.inputs.lower, x)
        return below, self.base.moment_between(x, 0, self.inputs.upper, np.inf)

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs = analysis.require_outputs(y)
        free = self.base.cdf(outputs, x)
        return np.where(outputs < self.inputs.lower, 0.0, np.where(outputs >= self.inputs.upper, 1.0, free))

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        return self._truncate(self.base.quantile(u, x))

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        return self._truncate(self.base.sample(x, rng, size))

    def _truncate(self, outputs: Floats) -> Floats:
        return np.asarray(np.minimum(np.maximum(outputs, self.inputs.lower), self.inputs.upper))

    def moment(self, x: ArrayLike, order: int) -> Floats:
        below, above = self._ends(x)
        lower, upper = self.inputs.lower, self.inputs.upper
        return np.asarray(
            self.base.moment_between(x, order, lower, upper) + below * lower**order + above * upper**order
        )

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        below, above = self._ends(x)
        lower, upper = self.inputs.lower, self.inputs.upper
        inside = self.base.loss_between(x, loss, lower, upper)
        return np.asarray(inside + below * loss(lower, x) + above * loss(upper, x))

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        """The base's own, and the inputs at which a window edge passes an end of the interval."""
        cuts = set(self.base.breakpoints(loss))
        if isinstance(loss, Power) and loss.period is not None:
            cuts |= {end + side * loss.period / 2 for end in (self.inputs.lower, self.inputs.upper) for side in (-1, 1)}
        if isinstance(self.base, Piecewise):
            cuts |= set(self.base.edge_meets((self.inputs.lower, self.inputs.upper)))
        return (*sorted(cut for cut in cuts if self.inputs.lower <= cut <= self.inputs.upper),)

    def likelihood_ratio(self) -> LikelihoodRatio:
        return self.base.likelihood_ratio()

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss
