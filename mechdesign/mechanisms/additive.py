"""Additive mechanisms: the input plus noise, kept as it is or conditioned to stay inside an interval."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.noise import Laplace, Noise, require_positive
from mechdesign.mechanisms.quadrature import integrate
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.values.declare import epsilon, field, frozen
from mechdesign.words.domains import Interval, Line, only
from mechdesign.words.losses import Loss, Power

Floats = NDArray[np.float64]


@frozen
class Additive:
    """``Y = x + Z``. Unbiased; outputs reach beyond any interval.

    *Guarantee.* The likelihood ratio is the noise's own, for inputs as far apart as the domain allows.

    >>> mechanism = Additive(1.0, Interval(0, 1), Laplace(1.0))
    >>> mechanism.worst_case(Power(2.0))[0]
    2.0
    """

    kind: ClassVar[str] = "additive"

    epsilon: float = epsilon()
    inputs: Interval = field(validator=only(Interval))
    noise: Noise
    name: str = "additive"

    @property
    def outputs(self) -> Line:
        return Line()

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return self.noise.density(self._offset(y, x))

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.zeros_like(self._offset(y, x))

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        offset = self._offset(y, x)
        return np.asarray(0.5 + np.sign(offset) * self.noise.partial(0.0, np.abs(offset)))

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        return np.asarray(self.inputs.require(x) + self.noise.quantile(analysis.require_probabilities(u)))

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        analysis.require_generator(rng)
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        return np.asarray(inputs + self.noise.sample(rng, inputs.shape))

    def moment(self, x: ArrayLike, order: int) -> Floats:
        return self.moment_between(x, order, -np.inf, np.inf)

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        if isinstance(loss, Power):  # of the noise alone: the same for every input
            value = self.loss_between(self.inputs.middle, loss, -np.inf, np.inf)
            return np.full(self.inputs.require(x).shape, value)
        return self.loss_between(x, loss, -np.inf, np.inf)

    def moment_between(self, x: ArrayLike, order: int, start: ArrayLike, stop: ArrayLike) -> Floats:
        inputs, lower, upper = np.broadcast_arrays(self.inputs.require(x), start, stop)
        total = np.zeros_like(inputs)
        for k in range(analysis.require_order(order) + 1):
            part = _signed(self.noise, k, upper - inputs) - _signed(self.noise, k, lower - inputs)
            total += math.comb(order, k) * inputs ** (order - k) * part
        return total

    def loss_between(self, x: ArrayLike, loss: Loss, start: ArrayLike, stop: ArrayLike) -> Floats:
        inputs, lower, upper = np.broadcast_arrays(self.inputs.require(x), start, stop)
        if isinstance(loss, Power) and loss.period is None:
            return np.asarray(
                _odd(self.noise, loss.exponent, upper - inputs) - _odd(self.noise, loss.exponent, lower - inputs)
            )
        return integrate(self, inputs, loss, lower, upper, self.noise.kinks)

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        """The error does not depend on the input as long as outputs are free."""
        return noise_breakpoints(self.inputs, self.noise)

    def likelihood_ratio(self) -> LikelihoodRatio:
        return self.noise.likelihood_ratio(Fraction(self.inputs.upper) - Fraction(self.inputs.lower))

    def _offset(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.asarray(analysis.require_outputs(y) - self.inputs.require(x))

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss


@frozen
class BoundedLaplace:
    """Laplace noise conditioned to keep the output in the input interval (B-Laplace, Holohan et al. 2020).

    Every law is normalised by its own mass; the constant the OGPM chapter prints is right at the ends of the interval
    only (at the middle its total mass is 1.46 for eps = 2).

    *Guarantee.* The likelihood ratio is ``e^(length / scale)``. For ``x < x'`` the ratio of densities is largest at
    ``y = x``, where its logarithm is ``h(x') - h(x)`` with ``h(t) = t/scale + ln Z(t)`` and Z the mass inside. As h
    increases, the two ends of the interval, where Z agrees, are the worst pair.

    >>> mechanism = BoundedLaplace(2.0, Interval(0, 1), scale=0.5)
    >>> mechanism.cdf(1.0, 0.5).item()
    1.0
    """

    kind: ClassVar[str] = "bounded laplace"

    epsilon: float = epsilon()
    inputs: Interval = field(validator=only(Interval))
    scale: float = field(converter=partial(require_positive, field="noise scale"))
    name: str = "B-Laplace"

    @property
    def outputs(self) -> Interval:
        return self.inputs

    @property
    def noise(self) -> Laplace:
        """The noise before the condition."""
        return Laplace(self.scale)

    @property
    def _free(self) -> Additive:
        return Additive(self.epsilon, self.inputs, self.noise)

    def _inside(self, x: ArrayLike) -> Floats:
        return self._free.moment_between(x, 0, self.inputs.lower, self.inputs.upper)

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs = analysis.require_outputs(y)
        inside = (outputs >= self.inputs.lower) & (outputs <= self.inputs.upper)
        return np.where(inside, self._free.density(outputs, x) / self._inside(x), 0.0)

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return self._free.mass(y, x)

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        reach = np.minimum(np.maximum(analysis.require_outputs(y), self.inputs.lower), self.inputs.upper)
        return self.moment_between(x, 0, self.inputs.lower, reach)

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        probabilities, inputs = np.broadcast_arrays(analysis.require_probabilities(u), self.inputs.require(x))
        scale, inside = self.scale, self._inside(inputs)
        # inverted from the nearer end: a difference of cdfs would lose the digits of wide noise
        below = self._free.moment_between(inputs, 0, self.inputs.lower, inputs) / inside
        left = np.exp((self.inputs.lower - inputs) / scale)
        right = np.exp((inputs - self.inputs.upper) / scale)
        up = self.inputs.lower + scale * np.log1p(2 * inside * np.minimum(probabilities, below) / left)
        down = self.inputs.upper - scale * np.log1p(2 * inside * np.minimum(1 - probabilities, 1 - below) / right)
        answer = np.where(probabilities <= below, up, down)
        return np.asarray(np.minimum(np.maximum(answer, self.inputs.lower), self.inputs.upper))

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        return self.quantile(analysis.require_generator(rng).random(inputs.shape), inputs)

    def moment(self, x: ArrayLike, order: int) -> Floats:
        return self.moment_between(x, order, self.inputs.lower, self.inputs.upper)

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        return self.loss_between(x, loss, self.inputs.lower, self.inputs.upper)

    def moment_between(self, x: ArrayLike, order: int, start: ArrayLike, stop: ArrayLike) -> Floats:
        lower, upper = self._clamp(start, stop)
        return np.asarray(self._free.moment_between(x, order, lower, upper) / self._inside(x))

    def loss_between(self, x: ArrayLike, loss: Loss, start: ArrayLike, stop: ArrayLike) -> Floats:
        lower, upper = self._clamp(start, stop)
        return np.asarray(self._free.loss_between(x, loss, lower, upper) / self._inside(x))

    def _clamp(self, start: ArrayLike, stop: ArrayLike) -> tuple[Floats, Floats]:
        return np.asarray(np.maximum(start, self.inputs.lower)), np.asarray(np.minimum(stop, self.inputs.upper))

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        return noise_breakpoints(self.inputs, self.noise)

    def likelihood_ratio(self) -> LikelihoodRatio:
        return self._free.likelihood_ratio()

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss


def noise_breakpoints(inputs: Interval, noise: Noise) -> tuple[float, ...]:
    """Inputs where a kink of the noise density meets an end of the interval, when outputs are cut off there."""
    kinks = noise.kinks(inputs.length)
    cuts = np.concatenate([inputs.lower + kinks, inputs.upper - kinks])
    inside = cuts[(cuts > inputs.lower) & (cuts < inputs.upper)]
    return (*sorted({inputs.lower, inputs.middle, inputs.upper, *inside.tolist()}),)


def _signed(noise: Noise, power: int, offset: Floats) -> Floats:
    """Primitive of ``z^power g(z)``."""
    value = noise.partial(float(power), np.abs(offset))
    return np.asarray(value if power % 2 else np.sign(offset) * value)


def _odd(noise: Noise, power: float, offset: Floats) -> Floats:
    """Primitive of ``|z|^power g(z)``."""
    return np.asarray(np.sign(offset) * noise.partial(power, np.abs(offset)))
