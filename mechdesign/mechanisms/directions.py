"""Reports of a direction for vectors: those that lean to one's own side more often than others.

With chance one's own side is a corner of the inputs whose mean is the vector itself, so that reports are without bias.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.values.declare import Floats, epsilon, finite, frozen, whole, within
from mechdesign.words.domains import require_numbers
from mechdesign.words.losses import Power
from mechdesign.words.vectors import MOST_COORDINATES, CrossPolytope, Sphere, Vectors

HIGHEST = 0.995
"""The height of the smallest cap: its constants are proven by a series with so many terms."""


@frozen
class CapReports:
    """All directions: those whose inner product u with one's own is above a height are favoured.

    >>> round(CapReports(0.5).share(3), 12), round(CapReports(0.5).lean(3), 12)  # u is uniform on [-1, 1] in space
    (0.25, 0.1875)
    """

    kind: ClassVar[str] = "caps"

    height: float = finite("height", validator=within("height", 0.0, HIGHEST))

    def share(self, count: int) -> float:
        """The chance that a uniform report is favoured."""
        from scipy.special import betainc

        return float(betainc((count - 1) / 2, 0.5, 1 - self.height**2)) / 2

    def lean(self, count: int) -> float:
        """``E[u; u > height]`` of a uniform report."""
        density = math.exp(math.lgamma(count / 2) - math.lgamma((count - 1) / 2)) / math.sqrt(math.pi)
        return float(density * (1 - self.height**2) ** ((count - 1) / 2) / (count - 1))

    def square(self, count: int) -> float:
        """``E[u^2; u > height]`` of a uniform report."""
        return ((count - 1) * self.height * self.lean(count) + self.share(count)) / count

    def favour(self, direction: Floats, x: Floats) -> Floats:
        """The chance that a report is favoured by an x in the ball of radius 1, which is drawn to a corner."""
        sizes = np.linalg.norm(x, axis=-1)
        along = (direction * x).sum(axis=-1) / np.where(sizes > 0, sizes, 1.0)
        along = np.where(sizes > 0, along, direction[..., 0])
        return np.asarray((1 + sizes) / 2 * (along > self.height) + (1 - sizes) / 2 * (-along > self.height))

    def draw(self, own: Floats, favoured: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
        """A direction for each own one, uniform among those that are favoured, or among the others."""
        from scipy.special import betaincinv

        count, share = own.shape[-1], self.share(own.shape[-1])
        above = np.where(favoured, 0.0, share) + rng.random(favoured.shape) * np.where(favoured, share, 1 - share)
        size = np.sqrt(betaincinv(0.5, (count - 1) / 2, 1 - 2 * np.minimum(above, 1 - above)))
        along = np.where(above <= 0.5, size, -size)[..., None]
        across = rng.normal(size=own.shape)
        across -= (across * own).sum(axis=-1, keepdims=True) * own
        across /= np.linalg.norm(across, axis=-1, keepdims=True)
        return np.asarray(along * own + np.sqrt(1 - along**2) * across)


@frozen
class SignedSets:
    """Sets of coordinates, each with a sign: those that hold one's own coordinate with its sign are favoured.

    As a direction a set of k has the entries ``1 / sqrt k`` and ``-1 / sqrt k`` there, and 0 elsewhere.

    >>> SignedSets(2).share(4), round(SignedSets(2).lean(4), 6)
    (0.25, 0.176777)
    """

    kind: ClassVar[str] = "signed sets"

    size: int = whole("size", 1, MOST_COORDINATES)

    def share(self, count: int) -> float:
        return self.size / (2 * count)

    def lean(self, count: int) -> float:
        return math.sqrt(self.size) / (2 * count)

    def square(self, count: int) -> float:
        return 1 / (2 * count)

    def favour(self, direction: Floats, x: Floats) -> Floats:
        """The same for an x in the cross-polytope of radius 1."""
        rest = np.maximum(1 - abs(x).sum(axis=-1), 0.0)
        return np.asarray((np.maximum(np.sign(direction) * x, 0.0)).sum(axis=-1) + rest * self.share(x.shape[-1]))

    def draw(self, own: Floats, favoured: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
        count, shape = own.shape[-1], own.shape
        place = abs(own).argmax(axis=-1)
        holds = favoured | (rng.random(favoured.shape) < (self.size / 2 / (count - self.size / 2)))
        order = rng.random(shape)
        np.put_along_axis(order, place[..., None], np.where(holds, -1.0, 2.0)[..., None], axis=-1)
        chosen = order.argsort(axis=-1).argsort(axis=-1) < self.size
        signs = 2.0 * rng.integers(2, size=shape) - 1
        sign = np.where(favoured, 1.0, -1.0) * np.take_along_axis(own, place[..., None], axis=-1)[..., 0]
        np.put_along_axis(signs, place[..., None], sign[..., None], axis=-1)
        return chosen * signs / math.sqrt(self.size)


@frozen
class DirectionResponse:
    """A direction v, favoured ones with ``ratio`` times the density of others, stretched so that ``E[Y|x] = x``.

    With P the share of favoured directions and m their lean ``|E[Y|x]|`` would be
    ``h = (ratio - 1) m / ((ratio - 1) P + 1)``: ``Y = radius v / h``, and ``E|Y|^2 = (radius / h)^2`` for every x.
    Densities are with respect to uniform reports. Numbers are doubles, for simulation; what is proven of them is
    proven in `mechdesign.methods.ball.proof`.

    *Guarantee.* Two chances: the likelihood ratio is ``ratio``, whatever P and m are.

    >>> law = DirectionResponse(1.0, Sphere(3), CapReports(0.25), 2.718)
    >>> round(law.privacy_loss(), 3), round(float(law.scale), 3)
    (1.0, 4.084)
    """

    kind: ClassVar[str] = "direction"

    epsilon: float = epsilon()
    inputs: Vectors
    reports: CapReports | SignedSets
    ratio: float = finite("ratio")
    name: str = "direction"

    def __attrs_post_init__(self) -> None:
        if not self.ratio > 1:
            raise InvalidInput("ratio", self.ratio, "be above 1", "pass exp(eps), rounded down")
        sets = isinstance(self.reports, SignedSets)
        if sets != isinstance(self.inputs, CrossPolytope):
            rule = "be SignedSets for a cross-polytope and CapReports for a sphere or a ball"
            raise InvalidInput("reports", str(self.reports), rule)
        if isinstance(self.reports, SignedSets) and self.reports.size > self.inputs.count:
            raise InvalidInput("size", self.reports.size, f"be at most the {self.inputs.count} coordinates")

    @property
    def scale(self) -> float:
        """The length of every report."""
        gain, count = self.ratio - 1, self.inputs.count
        kept = gain * self.reports.lean(count)
        if not kept > 0:
            raise InvalidInput("reports", str(self.reports), "hold caps that doubles see", "take a lower one")
        return self.inputs.radius * (gain * self.reports.share(count) + 1) / kept

    @property
    def favoured(self) -> float:
        """The chance that a report is one of those that lean to one's own side."""
        return self.ratio * self.reports.share(self.inputs.count) * self._least

    @property
    def outputs(self) -> Sphere:
        """The sphere that reports lie on."""
        return Sphere(self.inputs.count, self.scale)

    @property
    def _least(self) -> float:
        """The density of a report that nobody favours."""
        return 1 / ((self.ratio - 1) * self.reports.share(self.inputs.count) + 1)

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """The density, or of signed sets the chance, as a multiple of that of a uniform report."""
        favour = self.reports.favour(require_numbers(y, "y") / self.scale, self.inputs.require(x) / self.inputs.radius)
        return self._least * (1 + (self.ratio - 1) * favour)

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """The chance of exactly this report."""
        density = self.density(y, x)
        if isinstance(self.reports, CapReports):
            return np.zeros_like(density)
        count, size = self.inputs.count, self.reports.size
        sets = math.lgamma(count + 1) - math.lgamma(size + 1) - math.lgamma(count - size + 1) + size * math.log(2)
        return np.asarray(density * math.exp(-sets))

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Never:
        """None: directions have no order."""
        raise InvalidInput("mechanism", self.name, "be about numbers, which have an order", "ask for its density")

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Never:
        """None: directions have no order."""
        raise InvalidInput("mechanism", self.name, "be about numbers, which have an order", "draw a sample")

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        """One report for each vector, or ``size`` of them for a single one; for simulation."""
        inputs = self.inputs.require(x)
        if size is not None:
            if inputs.ndim != 1:
                raise InvalidInput("size", size, "be left out when x is an array", "the sample has the shape of x")
            inputs = np.broadcast_to(inputs, (size, self.inputs.count))
        own = self.inputs.corner(inputs, require_generator(rng))
        return self.scale * self.reports.draw(own, rng.random(own.shape[:-1]) < self.favoured, rng)

    def moment(self, x: ArrayLike, order: int) -> Floats:
        """The mean of each coordinate, or of its square."""
        inputs = self.inputs.require(x)
        if order == 1:
            return inputs
        if order != 2:
            raise InvalidInput("order", order, "be 1 or 2 for directions")
        count, gain = self.inputs.count, self.ratio - 1
        along = self._least * (1 / count + gain * self.reports.square(count))
        if isinstance(self.inputs, CrossPolytope):
            sizes = abs(inputs) / self.inputs.radius
            own = sizes + np.maximum(1 - sizes.sum(axis=-1, keepdims=True), 0.0) / count
        else:
            lengths = np.linalg.norm(inputs, axis=-1, keepdims=True)
            ahead = np.where(lengths > 0, inputs / np.where(lengths > 0, lengths, 1.0), np.eye(1, count)[0])
            own = ahead**2
        return np.asarray(self.scale**2 * (along * own + (1 - along) / (count - 1) * (1 - own)))

    def mean(self, x: ArrayLike) -> Floats:
        return self.moment(x, 1)

    def variance(self, x: ArrayLike) -> Floats:
        """The variance of each coordinate."""
        return self.moment(x, 2) - self.moment(x, 1) ** 2

    def expected_loss(self, x: ArrayLike, loss: Power) -> Floats:
        """``E|Y - x|^2``."""
        self._require_squared(loss)
        return np.asarray(self.scale**2 - (self.inputs.require(x) ** 2).sum(axis=-1))

    def worst_case(self, loss: Power) -> tuple[float, tuple[float, ...]]:
        """The largest expected loss, and a vector where it is taken."""
        self._require_squared(loss)
        least = self.inputs.least_square
        place = (self.inputs.radius * math.sqrt(least), *(0.0,) * (self.inputs.count - 1))
        return self.scale**2 - self.inputs.radius**2 * least, place

    def average_loss(self, loss: Power, prior: None = None) -> float:
        """The expected loss averaged over uniform inputs."""
        self._require_squared(loss)
        if prior is not None:
            raise InvalidInput("prior", str(prior), "be left out: averages are over uniform vectors")
        return self.scale**2 - self.inputs.radius**2 * self.inputs.mean_square

    def breakpoints(self, loss: Power) -> tuple[float, ...]:
        """None: the expected loss is smooth."""
        return ()

    def likelihood_ratio(self) -> LikelihoodRatio:
        return LikelihoodRatio(Fraction(self.ratio))

    def privacy_loss(self) -> float:
        return self.likelihood_ratio().loss

    def _require_squared(self, loss: Power) -> None:
        if loss != Power(2.0):
            raise InvalidInput("loss", str(loss), "be Squared() for directions")
