"""Independent mechanisms, one a coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign import domains
from mechdesign.errors import InvalidInput
from mechdesign.losses import Loss
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.ratio import LikelihoodRatio

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Product:
    """Each coordinate goes through its own mechanism; the loss is the sum of the coordinates' losses.

    *Guarantee.* Likelihood ratios multiply, so the privacy losses add up (sequential composition, attained).

    >>> from mechdesign.mechanisms.catalogue import ogpm, ogpm_circle
    >>> polar = Product((ogpm(1.0), ogpm_circle(2.0)))
    >>> round(polar.privacy_loss(), 12)
    3.0
    """

    parts: tuple[Mechanism, ...]
    name: str = "product"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise InvalidInput("parts", self.parts, "hold at least one mechanism")

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
        outputs, inputs = self._columns(y, "y"), self._columns(x, "x")
        factors = [part.density(a, b) for part, a, b in zip(self.parts, outputs, inputs, strict=True)]
        return np.asarray(reduce(np.multiply, factors))

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

    def average_loss(self, losses: Sequence[Loss]) -> float:
        """The expected loss averaged over uniform inputs."""
        return sum(part.average_loss(loss) for part, loss in zip(self.parts, self._one_each(losses), strict=True))

    def likelihood_ratio(self) -> LikelihoodRatio:
        return reduce(LikelihoodRatio.times, (part.likelihood_ratio() for part in self.parts))

    def privacy_loss(self) -> float:
        """The epsilon of the whole: the sum of the parts'."""
        return self.likelihood_ratio().loss

    def _one_each(self, losses: Sequence[Loss]) -> Sequence[Loss]:
        if len(losses) != len(self.parts):
            raise InvalidInput("losses", len(losses), f"be {len(self.parts)}, one a coordinate")
        return losses

    def _columns(self, values: ArrayLike, field: str) -> list[Floats]:
        table = domains.require_numbers(values, field)
        if table.ndim == 0 or table.shape[-1] != len(self.parts):
            raise InvalidInput(field, table.shape, f"have a last axis of {len(self.parts)} coordinates")
        return [table[..., k] for k in range(len(self.parts))]
