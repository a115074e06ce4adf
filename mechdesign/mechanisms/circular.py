"""Laplace noise round a circle: the Purkayastha mechanism on the circle (Weggenmann and Kerschbaum 2021)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.panels import integrate_between
from mechdesign.values.declare import epsilon, field, frozen
from mechdesign.values.later import special
from mechdesign.words.domains import Circle, only
from mechdesign.words.losses import Custom, Loss, Power

Floats = NDArray[np.float64]


@frozen
class CircularLaplace:
    """Density proportional to ``e^(-epsilon d / (period/2))``, ``d`` the distance round the circle.

    *Guarantee.* The likelihood ratio is ``e^epsilon``, between an input and its antipode.

    >>> mechanism = CircularLaplace(2.0, Circle(360.0))
    >>> mechanism.cdf(360.0, 10.0).item()
    1.0
    """

    kind: ClassVar[str] = "circular laplace"

    epsilon: float = epsilon()
    inputs: Circle = field(validator=only(Circle))
    name: str = "Purkayastha"

    @property
    def outputs(self) -> Circle:
        return self.inputs

    @property
    def rate(self) -> float:
        """Decay of the density a unit of distance."""
        return self.epsilon / (self.inputs.period / 2)

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs = analysis.require_outputs(y)
        inside = (outputs >= 0) & (outputs <= self.inputs.period)
        distance = Power(1.0, self.inputs.period)(np.where(inside, outputs, 0.0), self.inputs.require(x))
        height = self.rate / (-2 * math.expm1(-self.epsilon))
        return np.where(inside, height * np.exp(-self.rate * distance), 0.0)

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.zeros_like(self.density(y, x))

    def _turned(self, offset: Floats) -> Floats:
        """Mass between the input and ``offset`` from it, any number of turns, signed."""
        turns = np.round(offset / self.inputs.period)
        rest = offset - turns * self.inputs.period
        half = np.expm1(-self.rate * np.abs(rest)) / (2 * math.expm1(-self.epsilon))
        return np.asarray(turns + np.sign(rest) * half)

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, inputs = np.broadcast_arrays(analysis.require_outputs(y), self.inputs.require(x))
        reach = np.minimum(np.maximum(outputs, 0.0), self.inputs.period)
        return np.asarray(self._turned(reach - inputs) - self._turned(-inputs))

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        probabilities, inputs = np.broadcast_arrays(analysis.require_probabilities(u), self.inputs.require(x))
        signed = probabilities + self._turned(-inputs)
        turns = np.round(signed)
        rest = signed - turns
        with np.errstate(divide="ignore"):
            size = -np.log1p(2 * np.abs(rest) * math.expm1(-self.epsilon)) / self.rate
        size = np.minimum(size, self.inputs.period / 2)  # at the antipode the logarithm may round to infinity
        answer = inputs + turns * self.inputs.period + np.sign(rest) * size
        return np.asarray(np.minimum(np.maximum(answer, 0.0), self.inputs.period))

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        return self.inputs.reduce(self.quantile(analysis.require_generator(rng).random(inputs.shape), inputs))

    def moment(self, x: ArrayLike, order: int) -> Floats:
        if analysis.require_order(order) > 0:
            raise InvalidInput("moment", order, "be asked of outputs on a line", "use a circular loss instead")
        return np.ones_like(self.inputs.require(x))

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        analysis.require_matching_loss(loss, self.outputs)
        inputs = self.inputs.require(x)
        if isinstance(loss, Power):
            power = loss.exponent
            value = special.gammainc(power + 1, self.epsilon) * math.gamma(power + 1) / self.rate**power
            return np.full(inputs.shape, value / -math.expm1(-self.epsilon))
        return np.array([self._loss_at(loss, at) for at in inputs.ravel().tolist()]).reshape(inputs.shape)

    def _loss_at(self, loss: Loss, x: float) -> float:
        kinks = loss.kinks(x) if isinstance(loss, Custom) else ()
        bends = self.inputs.reduce([x, x + self.inputs.period / 2, *kinks])
        cuts = np.concatenate([bends, [0.0, self.inputs.period]])
        return integrate_between(lambda y: loss(y, x) * self.density(y, x), cuts)

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        return (0.0, self.inputs.period)

    def likelihood_ratio(self) -> LikelihoodRatio:
        return LikelihoodRatio(Fraction(1), Fraction(self.epsilon))

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss
