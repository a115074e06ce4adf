"""What is known about the inputs before any report: weights on points, or a density on an interval or circle."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.numbers import require_number_text
from mechdesign.data.values import number_chunks
from mechdesign.domains import Circle, Interval, require_numbers
from mechdesign.errors import InvalidInput, require_finite, sealed

Floats = NDArray[np.float64]

_NARROWEST = 1e-12  # a deviation, for an interval and a mean of size 1


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
        places = np.asarray(x, dtype=np.float64)
        values = self.function(places)
        if not isinstance(values, np.ndarray | np.generic) or values.shape != places.shape:
            raise InvalidInput(
                "prior", self.name, "return an array with a density for each number", "use numpy functions of x"
            )
        if not (np.issubdtype(values.dtype, np.floating) or np.issubdtype(values.dtype, np.integer)):
            raise InvalidInput("prior", self.name, "return real numbers")
        return np.asarray(values, dtype=np.float64)


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
    least = _NARROWEST * max(domain.length, abs(mean))
    if deviation < least:
        raise InvalidInput("prior deviation", deviation, f"be at least {least:.3g}", "doubles resolve no narrower law")

    def below(value: float) -> float:
        return 0.5 * math.erfc(-(value - mean) / deviation / math.sqrt(2))

    if domain.lower > mean:  # mirrored into the lower tail, where probabilities keep their digits
        mass = below(2 * mean - domain.lower) - below(2 * mean - domain.upper)
    else:
        mass = below(domain.upper) - below(domain.lower)
    if not mass > 1e-12:
        step = "narrow the prior, or take the uniform one" if domain.lower <= mean <= domain.upper else "move the prior"
        raise InvalidInput("prior", (mean, deviation), f"have at least 1e-12 of its mass inside {domain}", step)
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


def beta(first: float, second: float, domain: Interval) -> Density:
    """The beta law with shapes ``first`` and ``second``, stretched from [0, 1] to the domain.

    Shapes below 1 have an infinite density at an end: the mass within 2^-33 of the length of an end is spread evenly.

    >>> round(float(beta(2.0, 3.0, Interval(0, 1))(0.5)), 12)
    1.5
    """
    a, b = require_finite(first, "prior shape"), require_finite(second, "prior shape")
    if not (1e-3 <= a <= 1e4 and 1e-3 <= b <= 1e4):
        raise InvalidInput("prior shapes", (first, second), "lie between 0.001 and 10000")
    from scipy.special import betainc, betaln

    norm = float(betaln(a, b)) + math.log(domain.length)
    edge = 2.0**-33
    ends = [float(betainc(*shapes, edge)) / (edge * domain.length) for shapes in ((a, b), (b, a))]

    def height(x: Floats) -> Floats:
        left, right = (x - domain.lower) / domain.length, (domain.upper - x) / domain.length
        inner = np.clip(left, edge, 1.0), np.clip(right, edge, 1.0)
        values = np.exp((a - 1) * np.log(inner[0]) + (b - 1) * np.log(inner[1]) - norm)
        values = np.where(left < edge, ends[0], np.where(right < edge, ends[1], values))
        return np.asarray(np.where((left >= 0) & (right >= 0), values, 0.0))

    # halving towards both ends, and around the middle of the mass
    mean, spread = a / (a + b), math.sqrt(a * b / (a + b + 1)) / (a + b)
    shares = [edge * 2.0**k for k in range(33)]
    shares += [1 - share for share in shares] + [mean + k * spread for k in (-8, -4, -2, -1, 0, 1, 2, 4, 8)]
    inside = {domain.lower + share * domain.length for share in shares if edge <= share <= 1 - edge}
    breaks = tuple(sorted(point for point in inside if domain.lower < point < domain.upper))
    return Density(height, domain, breaks, f"beta({a:g}, {b:g})")


def exponential(rate: float, domain: Interval) -> Density:
    """The exponential law of this rate from the lower end, conditioned on the domain.

    >>> law = exponential(6.0, Interval(-1, 1))
    >>> round(float(law(-1.0) / law(0.0)), 6) == round(math.exp(6), 6)
    True
    """
    rate = require_finite(rate, "prior rate")
    if not rate > 0:
        raise InvalidInput("prior rate", rate, "be above 0")
    reach = rate * domain.length
    scale = rate / -math.expm1(-reach)
    steps = (domain.lower + k / rate for k in (0.5, 1, 2, 4, 8, 16, 32, 64))
    breaks = tuple(point for point in steps if domain.lower < point < domain.upper)
    return Density(
        lambda x: np.asarray(scale * np.exp(-rate * (x - domain.lower))), domain, breaks, f"exponential({rate:g})"
    )


@sealed
def prior_of_file(path: Path | str, column: str | None = None) -> Atoms:
    """The values of one column of a CSV or Parquet file, each with its share of the rows.

    Read piece by piece: memory grows with the distinct values only. A file of one column need not name it.
    """
    counts: Counter[float] = Counter()
    for chunk in number_chunks(path, column):
        values, times = np.unique(chunk, return_counts=True)
        counts.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
    points = np.array(sorted(counts))
    shares = np.array([counts[point] for point in points.tolist()], dtype=np.float64)
    return Atoms(points, shares / shares.sum())


@sealed
def values_of_file(path: Path | str, column: str | None = None) -> Floats:
    """The values of one column of a CSV or Parquet file, one a row."""
    return np.concatenate(list(number_chunks(path, column)))


_FORMS = "uniform, normal:MEAN,DEVIATION, beta:A,B or exponential:RATE"


def parse_prior(text: str, domain: Interval | Circle) -> Density:
    """The prior a command line names: ``uniform``, ``normal:MEAN,DEVIATION``, ``beta:A,B`` or ``exponential:RATE``.

    >>> parse_prior("exponential:6", Interval(-1, 1)).name
    'exponential(6)'
    """
    name, _, arguments = text.strip().lower().partition(":")
    if name == "uniform" and not arguments:
        return uniform(domain)
    builders: dict[str, tuple[int, Callable[..., Density]]] = {
        "normal": (2, normal),
        "beta": (2, beta),
        "exponential": (1, exponential),
    }
    if name in builders and isinstance(domain, Interval):
        count, build = builders[name]
        numbers: list[Any] = arguments.split(",")
        if len(numbers) == count:
            try:
                return build(*map(require_number_text, numbers), domain)
            except ValueError as error:
                if isinstance(error, InvalidInput):
                    raise
    raise InvalidInput("prior", text, f"be {_FORMS}", "for example --prior normal:0.3,0.1")


def _require_weights(weights: Floats) -> None:
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidInput("prior weights", weights, "be finite and at least 0")
    total = float(weights.sum())
    if abs(total - 1) > 1e-9:
        raise InvalidInput("prior weights", total, "sum to 1", "divide the weights by their sum")
