"""What is known about the inputs before any report: weights on points, or a density on an interval or circle."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.domains import Circle, Interval, require_numbers
from mechdesign.errors import InvalidInput, require_finite

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Probability ``weights`` on ``points``; a data set is equal weights on its values.

    >>> Atoms.of_data([0.2, 0.2, 0.8]).weights.tolist()
    [0.6666666666666666, 0.3333333333333333]
    """

    points: Floats
    weights: Floats

    def __post_init__(self) -> None:
        points = np.atleast_1d(require_numbers(self.points, "prior points"))
        weights = np.atleast_1d(require_numbers(self.weights, "prior weights"))
        if points.shape != weights.shape or points.ndim != 1 or points.size == 0:
            raise InvalidInput("prior", (points.shape, weights.shape), "have one weight for each point, and a point")
        if not np.isfinite(points).all():
            raise InvalidInput("prior points", points, "be finite")
        _require_weights(weights)
        for name, array in (("points", points), ("weights", weights)):
            array = array.copy()
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Atoms)
            and np.array_equal(self.points, other.points)
            and np.array_equal(self.weights, other.weights)
        )

    def __hash__(self) -> int:
        return hash((self.points.tobytes(), self.weights.tobytes()))

    @classmethod
    def of_data(cls, values: ArrayLike) -> Atoms:
        points, counts = np.unique(require_numbers(values, "prior data"), return_counts=True)
        if points.size == 0:
            raise InvalidInput("prior data", values, "hold at least one value")
        return cls(points, counts / counts.sum())


@dataclass(frozen=True, slots=True)
class Density:
    """A probability density on a domain, smooth between its ``breakpoints``; the named constructors normalise it."""

    function: Callable[[Floats], Floats]
    domain: Interval | Circle
    breakpoints: tuple[float, ...] = ()
    name: str = "density"

    def __call__(self, x: ArrayLike) -> Floats:
        return self.function(np.asarray(x, dtype=np.float64))


Prior = Atoms | Density


def uniform(domain: Interval | Circle) -> Density:
    """The uniform law.

    >>> uniform(Interval(0, 4))(1.0).item()
    0.25
    """
    height = 1 / domain.length
    return Density(lambda x: np.full_like(x, height), domain, name="uniform")


def normal(mean: float, deviation: float, domain: Interval) -> Density:
    """The normal law conditioned on the domain."""
    mean = require_finite(mean, "prior mean")
    deviation = require_finite(deviation, "prior deviation")
    if not deviation > 0:
        raise InvalidInput("prior deviation", deviation, "be above 0")

    def below(value: float) -> float:
        return 0.5 * math.erfc(-(value - mean) / deviation / math.sqrt(2))

    if domain.lower > mean:  # mirrored into the lower tail, where probabilities keep their digits
        mass = below(2 * mean - domain.lower) - below(2 * mean - domain.upper)
    else:
        mass = below(domain.upper) - below(domain.lower)
    if not mass > 1e-12:
        raise InvalidInput("prior", (mean, deviation), f"have mass inside {domain}", "move or widen the prior")
    scale = mass * deviation * math.sqrt(2 * math.pi)
    spread = tuple(mean + k * deviation for k in (-8, -4, -2, -1, 0, 1, 2, 4, 8))
    inside = tuple(point for point in spread if domain.lower < point < domain.upper)
    return Density(
        lambda x: np.exp(-0.5 * ((x - mean) / deviation) ** 2) / scale,
        domain,
        inside,
        f"normal({mean:g}, {deviation:g})",
    )


def histogram(edges: ArrayLike, weights: ArrayLike) -> Density:
    """Probability ``weights`` spread evenly over the bins between ``edges``.

    >>> histogram([0, 1, 3], [0.5, 0.5])([0.5, 2.0]).tolist()
    [0.5, 0.25]
    """
    cuts = require_numbers(edges, "prior edges")
    probabilities = require_numbers(weights, "prior weights")
    if (
        cuts.ndim != 1
        or probabilities.ndim != 1
        or probabilities.size == 0
        or cuts.size != probabilities.size + 1
        or not (np.diff(cuts) > 0).all()
    ):
        raise InvalidInput("prior edges", edges, "be increasing, one more than the weights")
    _require_weights(probabilities)
    heights = probabilities / np.diff(cuts)
    domain = Interval(float(cuts[0]), float(cuts[-1]))

    def height(x: Floats) -> Floats:
        return np.asarray(heights[np.clip(np.searchsorted(cuts, x, side="right") - 1, 0, heights.size - 1)])

    return Density(height, domain, tuple(cuts[1:-1].tolist()), "histogram")


def parse_prior(text: str, domain: Interval | Circle) -> Density:
    """The prior a command line names: ``uniform`` or ``normal:MEAN,DEVIATION``."""
    name, _, arguments = text.strip().lower().partition(":")
    if name == "uniform" and not arguments:
        return uniform(domain)
    if name == "normal" and isinstance(domain, Interval):
        numbers: list[Any] = arguments.split(",")
        if len(numbers) == 2:
            try:
                return normal(float(numbers[0]), float(numbers[1]), domain)
            except ValueError as error:
                if isinstance(error, InvalidInput):
                    raise
    raise InvalidInput("prior", text, "be uniform or normal:MEAN,DEVIATION", "for example --prior normal:0.3,0.1")


def _require_weights(weights: Floats) -> None:
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidInput("prior weights", weights, "be finite and at least 0")
    total = float(weights.sum())
    if abs(total - 1) > 1e-9:
        raise InvalidInput("prior weights", total, "sum to 1", "divide the weights by their sum")
