"""Independent mechanisms, one a coordinate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.values.declare import field, frozen
from mechdesign.words import domains
from mechdesign.words.losses import Loss
from mechdesign.words.priors import Prior

Floats = NDArray[np.float64]

MOST_PARTS = 10_000
"""More would make the exact ratio, a product of all, slow."""


@frozen
class Product:
    """Each coordinate goes through its own mechanism; the loss is the sum of the coordinates' losses.

    *Guarantee.* Likelihood ratios multiply, so the privacy losses add up (sequential composition, attained).

    Inputs and outputs have one more axis than those of a part: the coordinates come last. So do means, variances and
    moments. Losses and priors are given one a coordinate.

    >>> from mechdesign.mechanisms.catalogue import ogpm, ogpm_circle
    >>> polar = Product((ogpm(1.0), ogpm_circle(2.0)))
    >>> round(polar.privacy_loss(), 12)
    3.0
    """

    kind: ClassVar[str] = "product"

    parts: tuple[ScalarMechanism, ...] = field(converter=tuple)
    name: str = "product"

    def __attrs_post_init__(self) -> None:
        if not 1 <= len(self.parts) <= MOST_PARTS:
            raise InvalidInput("parts", len(self.parts), f"hold at least one mechanism, and at most {MOST_PARTS}")

    @property
    def epsilon(self) -> float:
        return sum(part.epsilon for part in self.parts)

    @property
    def inputs(self) -> domains.Product:
        return domains.Product(tuple(part.inputs for part in self.parts))

    @property
    def outputs(self) -> domains.Product:
        return domains.Product(tuple(part.outputs for part in self.parts))

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return self._multiplied(y, x, [part.density for part in self.parts])

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """The probability of exactly ``y``."""
        return self._multiplied(y, x, [part.mass for part in self.parts])

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """The probability that no coordinate is above its own in ``y``."""
        return self._multiplied(y, x, [part.cdf for part in self.parts])

    def _multiplied(self, y: ArrayLike, x: ArrayLike, laws: Sequence[Callable[[Floats, Floats], Floats]]) -> Floats:
        columns = zip(laws, self._columns(y, "y"), self._columns(x, "x"), strict=True)
        return np.asarray(reduce(np.multiply, [law(a, b) for law, a, b in columns]))

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        """The quantile of each coordinate, at its own entry of ``u``."""
        levels, inputs = self._columns(u, "u"), self._columns(x, "x")
        return np.stack([p.quantile(a, b) for p, a, b in zip(self.parts, levels, inputs, strict=True)], axis=-1)

    def moment(self, x: ArrayLike, order: int) -> Floats:
        """``E[Y^order | x]`` of each coordinate."""
        return np.stack([p.moment(b, order) for p, b in zip(self.parts, self._columns(x, "x"), strict=True)], axis=-1)

    def mean(self, x: ArrayLike) -> Floats:
        """The mean of each coordinate."""
        return np.stack([p.mean(b) for p, b in zip(self.parts, self._columns(x, "x"), strict=True)], axis=-1)

    def variance(self, x: ArrayLike) -> Floats:
        """The variance of each coordinate; coordinates are independent."""
        return np.stack([p.variance(b) for p, b in zip(self.parts, self._columns(x, "x"), strict=True)], axis=-1)

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        """Outputs with one more axis than the inputs of a part: the coordinates come last."""
        inputs = self._columns(x, "x")
        return np.stack(
            [part.sample(column, rng, size) for part, column in zip(self.parts, inputs, strict=True)], axis=-1
        )

    def expected_loss(self, x: ArrayLike, losses: Sequence[Loss]) -> Floats:
        """The sum over coordinates of the expected losses, one loss a coordinate."""
        inputs = self._columns(x, "x")
        terms = [
            part.expected_loss(column, loss)
            for part, column, loss in zip(self.parts, inputs, self._one_each(losses), strict=True)
        ]
        return np.asarray(sum(terms))

    def worst_case(self, losses: Sequence[Loss]) -> tuple[float, tuple[float, ...]]:
        """The largest expected loss and where: coordinates are independent, so each takes its own worst input."""
        worst = [part.worst_case(loss) for part, loss in zip(self.parts, self._one_each(losses), strict=True)]
        return sum(value for value, _ in worst), tuple(point for _, point in worst)

    def average_loss(self, losses: Sequence[Loss], priors: Sequence[Prior] | None = None) -> float:
        """The expected loss averaged over inputs: uniform ones, or a prior for each coordinate."""
        if priors is not None and (not isinstance(priors, Sequence) or len(priors) != len(self.parts)):
            rule = f"be {len(self.parts)} priors, one a coordinate"
            raise InvalidInput("priors", priors, rule, "the average needs those of the coordinates only")
        each = [None] * len(self.parts) if priors is None else priors
        columns = zip(self.parts, self._one_each(losses), each, strict=True)
        return sum(part.average_loss(loss, prior) for part, loss, prior in columns)

    def breakpoints(self, losses: Sequence[Loss]) -> tuple[tuple[float, ...], ...]:
        """The inputs of each coordinate between which its expected loss is smooth."""
        return tuple(part.breakpoints(loss) for part, loss in zip(self.parts, self._one_each(losses), strict=True))

    def likelihood_ratio(self) -> LikelihoodRatio:
        return reduce(LikelihoodRatio.times, (part.likelihood_ratio() for part in self.parts))

    def privacy_loss(self) -> float:
        """The epsilon of the whole: the sum of the parts'."""
        return self.likelihood_ratio().loss

    def _one_each(self, losses: Sequence[Loss]) -> Sequence[Loss]:
        if not isinstance(losses, Sequence) or len(losses) != len(self.parts):
            own = ", ".join(
                f"Squared({part.inputs.period!r})" if isinstance(part.inputs, domains.Circle) else "Squared()"
                for part in self.parts
            )
            raise InvalidInput("losses", losses, f"be {len(self.parts)}, one a coordinate", f"for example [{own}]")
        return losses

    def _columns(self, values: ArrayLike, field: str) -> list[Floats]:
        table = domains.require_numbers(values, field)
        if table.ndim == 0 or table.shape[-1] != len(self.parts):
            raise InvalidInput(field, table.shape, f"have a last axis of {len(self.parts)} coordinates")
        return [table[..., k] for k in range(len(self.parts))]
