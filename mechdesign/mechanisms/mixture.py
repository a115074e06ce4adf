"""A coin that chooses between two mechanisms (HM)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.mechanisms.two_point import TwoPoint
from mechdesign.values.declare import epsilon, finite, frozen
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Loss

Floats = NDArray[np.float64]

_HALVINGS = 200


@frozen
class Mixture:
    """With probability ``weight`` the piecewise mechanism, else the two-point one; the coin ignores the input.

    *Guarantee.* Density and atoms never meet in one output, so the likelihood ratio is the larger of the two.
    """

    kind: ClassVar[str] = "mixture"

    epsilon: float = epsilon()
    weight: float = finite("mixture weight")
    spread: Piecewise
    atoms: TwoPoint
    name: str = "mixture"

    def __attrs_post_init__(self) -> None:
        if not (isinstance(self.spread, Piecewise) and isinstance(self.atoms, TwoPoint)):
            raise InvalidInput("mixture", (self.spread, self.atoms), "mix a piecewise and a two-point mechanism")
        if not 0 < self.weight < 1:
            raise InvalidInput("mixture weight", self.weight, "lie strictly between 0 and 1")
        if self.spread.inputs != self.atoms.inputs:
            raise InvalidInput("inputs", self.atoms.inputs, f"be the same for both mechanisms, {self.spread.inputs}")

    @property
    def inputs(self) -> Interval:
        return self.atoms.inputs

    @property
    def outputs(self) -> Interval:
        low, high = self.atoms.outputs.points
        return Interval(min(low, self.spread.outputs.lower), max(high, self.spread.outputs.upper))

    def _mix(self, spread: Floats, atoms: Floats) -> Floats:
        return np.asarray(self.weight * spread + (1 - self.weight) * atoms)

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.asarray(self.weight * self.spread.density(y, x))

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.asarray((1 - self.weight) * self.atoms.mass(y, x))

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return self._mix(self.spread.cdf(y, x), self.atoms.cdf(y, x))

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        """The smallest y with ``cdf(y) >= u``, by bisection down to neighbouring doubles."""
        probabilities, inputs = np.broadcast_arrays(analysis.require_probabilities(u), self.inputs.require(x))
        low = np.full(inputs.shape, np.nextafter(self.outputs.lower, -np.inf))
        high = np.full(inputs.shape, self.outputs.upper)
        for _ in range(_HALVINGS):
            middle = low + (high - low) / 2
            if not ((low < middle) & (middle < high)).any():
                break
            enough = self.cdf(middle, inputs) >= probabilities
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.asarray(np.maximum(high, self.outputs.lower))

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        heads = analysis.require_generator(rng).random(inputs.shape) < self.weight
        return np.where(heads, self.spread.sample(inputs, rng), self.atoms.sample(inputs, rng))

    def moment(self, x: ArrayLike, order: int) -> Floats:
        return self._mix(self.spread.moment(x, order), self.atoms.moment(x, order))

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        return self._mix(self.spread.expected_loss(x, loss), self.atoms.expected_loss(x, loss))

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        return (*sorted({*self.spread.breakpoints(loss), *self.atoms.breakpoints(loss)}),)

    def likelihood_ratio(self) -> LikelihoodRatio:
        pair = (self.spread.likelihood_ratio(), self.atoms.likelihood_ratio())
        return max(pair, key=lambda ratio: ratio.loss)

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss
