"""Symmetric noise laws on the line, described by their partial moments.

``partial(power, t)`` is the integral of ``z^power g(z)`` over ``0 <= z <= t``; everything a mechanism needs (cdf,
expected losses, truncation) follows from it by symmetry.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, require_epsilon, require_finite
from mechdesign.mechanisms.ratio import INFINITE, LikelihoodRatio
from mechdesign.values.declare import epsilon, field, finite, frozen
from mechdesign.values.later import special

Floats = NDArray[np.float64]


def require_positive(value: float, field: str) -> float:
    """A finite number above 0, or `InvalidInput`."""
    number = require_finite(value, field)
    if not number > 0:
        raise InvalidInput(field, value, "be above 0")
    return number


class Noise(Protocol):
    """A symmetric law on the line with a density."""

    def density(self, z: Floats) -> Floats: ...
    def partial(self, power: float, t: Floats) -> Floats: ...
    def quantile(self, u: Floats) -> Floats: ...
    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats: ...
    def likelihood_ratio(self, sensitivity: Fraction) -> LikelihoodRatio:
        """The exact ratio when inputs differ by at most ``sensitivity``."""
        ...

    def kinks(self, reach: float) -> Floats:
        """Non-negative points up to ``reach`` where the density is not smooth."""
        ...


@frozen
class Laplace:
    """Density ``e^(-|z|/scale) / (2 scale)``.

    >>> float(Laplace(2.0).partial(1.0, np.float64(np.inf))) * 2
    2.0
    """

    kind: ClassVar[str] = "laplace"

    scale: float = field(converter=partial(require_positive, field="noise scale"))

    def density(self, z: Floats) -> Floats:
        return np.asarray(np.exp(-np.abs(z) / self.scale) / (2 * self.scale))

    def partial(self, power: float, t: Floats) -> Floats:
        share = special.gammainc(power + 1, t / self.scale)
        return np.asarray(share * math.gamma(power + 1) * self.scale**power / 2)

    def quantile(self, u: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            lower, upper = np.log(2 * np.minimum(u, 0.5)), -np.log(2 * np.minimum(1 - u, 0.5))
        return np.asarray(self.scale * np.where(u < 0.5, lower, upper))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return rng.laplace(0.0, self.scale, shape)

    def likelihood_ratio(self, sensitivity: Fraction) -> LikelihoodRatio:
        return LikelihoodRatio(Fraction(1), sensitivity / Fraction(self.scale))

    def kinks(self, reach: float) -> Floats:
        return np.zeros(1)


@frozen
class Gaussian:
    """Density of the normal law. Its likelihood ratio is unbounded: it is private only with a delta."""

    kind: ClassVar[str] = "gaussian"

    deviation: float = field(converter=partial(require_positive, field="noise deviation"))

    def density(self, z: Floats) -> Floats:
        return np.asarray(np.exp(-0.5 * self._deviations(z) ** 2) / (self.deviation * math.sqrt(2 * math.pi)))

    def partial(self, power: float, t: Floats) -> Floats:
        shape = (power + 1) / 2
        share = special.gammainc(shape, 0.5 * self._deviations(t) ** 2)
        full = self.deviation**power * 2 ** (power / 2 - 1) * math.gamma(shape) / math.sqrt(math.pi)
        return np.asarray(share * full)

    def quantile(self, u: Floats) -> Floats:
        return np.asarray(self.deviation * special.ndtri(u))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return rng.normal(0.0, self.deviation, shape)

    def likelihood_ratio(self, sensitivity: Fraction) -> LikelihoodRatio:
        return INFINITE

    def _deviations(self, z: Floats) -> Floats:
        """``|z|`` in deviations, no more than can be squared."""
        return np.minimum(np.abs(z) / self.deviation, 1e100)

    def kinks(self, reach: float) -> Floats:
        return np.zeros(1)

    def delta(self, epsilon: float, sensitivity: float) -> float:
        """The smallest delta for which the noise is (epsilon, delta)-private (Balle and Wang 2018).

        >>> round(Gaussian(1.0).delta(1.0, 1.0), 6)
        0.126937
        """
        require_epsilon(epsilon)
        ratio = require_positive(sensitivity, "sensitivity") / self.deviation
        first = special.log_ndtr(ratio / 2 - epsilon / ratio)
        second = special.log_ndtr(-ratio / 2 - epsilon / ratio)
        return max(0.0, float(np.exp(first) - np.exp(epsilon + second)))


@frozen
class Staircase:
    """The staircase law of Geng and Viswanath: steps of width ``sensitivity``, each lower by ``e^epsilon``.

    ``share`` (their gamma) is the part of each step that keeps the upper height. Their optimum for the absolute error
    is ``1 / (1 + e^(epsilon/2))``, with expected absolute value ``sensitivity e^(epsilon/2) / (e^epsilon - 1)``.

    >>> noise = Staircase(2.0, 1.0, 1 / (1 + math.e))
    >>> round(2 * float(noise.partial(1.0, np.float64(np.inf))), 12) == round(math.e / (math.e**2 - 1), 12)
    True
    """

    kind: ClassVar[str] = "staircase"

    epsilon: float = epsilon()
    sensitivity: float = field(converter=partial(require_positive, field="sensitivity"))
    share: float = finite("staircase share")

    def __attrs_post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise InvalidInput("staircase share", self.share, "lie strictly between 0 and 1")

    @property
    def _drop(self) -> float:
        return math.exp(-self.epsilon)

    @property
    def _top(self) -> float:
        inner = self.share + self._drop * (1 - self.share)
        return -math.expm1(-self.epsilon) / (2 * self.sensitivity * inner)

    def density(self, z: Floats) -> Floats:
        # beyond 2^53 steps the density is 0 at every epsilon; infinities have no step of their own
        steps = np.minimum(np.abs(z) / self.sensitivity, 2.0**53)
        level = np.floor(steps)
        return np.asarray(self._top * np.exp(-self.epsilon * (level + (steps - level >= self.share))))

    def partial(self, power: float, t: Floats) -> Floats:
        steps = np.asarray(t, dtype=np.float64) / self.sensitivity
        endless = np.isinf(steps)
        finite = np.where(endless, 0.0, steps)
        level = np.floor(finite)
        scale = self._top * self.sensitivity ** (power + 1) / (power + 1)
        rest = self._drop**level * self._within_step(power, level, finite)
        total = self._all_steps(power) if endless.any() else 0.0
        return np.asarray(scale * np.where(endless, total, self._whole_steps(power, level) + rest))

    def _within_step(self, power: float, level: Floats, upto: Floats) -> Floats:
        """Integral of ``(power+1) z^power`` over the part of step ``level`` under ``upto``, in units of its top."""
        corner = np.minimum(level + self.share, upto)
        high = corner ** (power + 1) - level ** (power + 1)
        return np.asarray(high + self._drop * (upto ** (power + 1) - corner ** (power + 1)))

    def _whole_steps(self, power: float, level: Floats) -> Floats:
        if power == 0:  # a geometric sum
            inner = self.share + self._drop * (1 - self.share)
            return np.asarray(np.expm1(-self.epsilon * level) / math.expm1(-self.epsilon) * inner)
        most = int(min(level.max(initial=0.0), math.ceil(800 / self.epsilon)))
        if most > 10**7:
            raise InvalidInput("y", most, "lie within 10^7 sensitivities of x at so small an eps")
        steps = np.arange(most, dtype=np.float64)
        table = np.concatenate([[0.0], np.cumsum(self._drop**steps * self._within_step(power, steps, steps + 1))])
        return np.asarray(table[np.minimum(level, most).astype(np.intp)])

    def _all_steps(self, power: float) -> float:
        """The sum over all steps, in closed form for whole powers."""
        if power != int(power):
            count = math.ceil((60 + 20 * power) / self.epsilon) + 10
            if count > 10**7:
                raise InvalidInput("eps", self.epsilon, "be larger for a loss with a fractional power")
            steps = np.arange(count, dtype=np.float64)
            return float(np.sum(self._drop**steps * self._within_step(power, steps, steps + 1)))
        order, share, drop = int(power) + 1, self.share, self._drop
        sums = [1 / -math.expm1(-self.epsilon)]  # sums[j] = sum over k of k^j drop^k
        for j in range(1, order):
            sums.append(sums[0] * drop * sum(math.comb(j, i) * sums[i] for i in range(j)))
        # (k + s)^order - k^order = sum over j < order of C(order, j) k^j s^(order - j)
        total = 0.0
        for j in range(order):
            corner = share ** (order - j)
            total += math.comb(order, j) * sums[j] * (corner + drop * (1 - corner))
        return total

    def quantile(self, u: Floats) -> Floats:
        tail = 2 * np.minimum(u, 1 - u)  # P(|Z| > |z|)
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.floor(-np.log(tail) / self.epsilon)
            level = np.where(np.isfinite(level), np.maximum(level, 0.0), 0.0)
            left = 1 - tail / self._drop**level
        inner = self.share + self._drop * (1 - self.share)
        mass = left / -math.expm1(-self.epsilon) * inner
        offset = np.where(mass <= self.share, mass, self.share + (mass - self.share) / self._drop)
        size = np.where(tail > 0, self.sensitivity * (level + np.minimum(np.maximum(offset, 0.0), 1.0)), np.inf)
        return np.asarray(np.where(u < 0.5, -size, size))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        # random() may be 0, whose quantile is minus infinity
        return self.quantile(np.maximum(rng.random(shape), 2.0**-54))

    def likelihood_ratio(self, sensitivity: Fraction) -> LikelihoodRatio:
        steps = math.ceil(sensitivity / Fraction(self.sensitivity))
        return LikelihoodRatio(Fraction(1), steps * Fraction(self.epsilon))

    def kinks(self, reach: float) -> Floats:
        steps = np.arange(min(math.ceil(reach / self.sensitivity) + 1, math.ceil(800 / self.epsilon)))
        return np.sort(np.concatenate([steps, steps + self.share])) * self.sensitivity
