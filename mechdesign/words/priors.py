"""What is known about the inputs before any report: weights on points, or a density on an interval or circle."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.numbers import require_number_text
from mechdesign.data.values import number_chunks
from mechdesign.errors import InvalidInput, sealed
from mechdesign.values.codec import left_out, named
from mechdesign.values.declare import array, derived, field, finite, frozen, option, settle, stored
from mechdesign.words.domains import Circle, Finite, Interval, interval_field, only, require_domain, require_numbers

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

OPTION = option(
    "--prior",
    "uniform, normal:MEAN,DEVIATION, ...",
    words=lambda: ("uniform", "normal:", "beta:", "exponential:"),
)
"""How commands take a prior: `parse_prior` reads it."""

_NARROWEST = 1e-12  # a deviation, for an interval and a mean of size 1
_EDGE = 2.0**-33  # of the length: the mass nearer to an end than this is spread evenly


def _numbers(said: ArrayLike, name: str) -> Floats:
    return stored(require_numbers(said, name))


def _listed(said: ArrayLike, name: str) -> Floats:
    """The same, a single number included."""
    return stored(np.atleast_1d(require_numbers(said, name)))


@frozen
class Atoms:
    """Probability ``weights`` on ``points``; a data set is equal weights on its values.

    >>> Atoms.of_data([0.2, 0.2, 0.8]).weights.tolist()
    [0.6666666666666666, 0.3333333333333333]
    """

    kind: ClassVar[str] = "atoms"

    points: Floats = array(partial(_listed, name="prior points"))
    weights: Floats = array(partial(_listed, name="prior weights"))

    def __attrs_post_init__(self) -> None:
        points, weights = self.points, self.weights
        if points.shape != weights.shape or points.ndim != 1 or points.size == 0:
            raise InvalidInput("prior", (points.shape, weights.shape), "have one weight for each point, and a point")
        if not np.isfinite(points).all():
            raise InvalidInput("prior points", points, "be finite")
        _require_weights(weights)

    @classmethod
    def of_data(cls, values: ArrayLike) -> Atoms:
        points, counts = np.unique(require_numbers(values, "prior data"), return_counts=True)
        if points.size == 0:
            raise InvalidInput("prior data", values, "hold at least one value")
        return cls(points, counts / counts.sum())


# -- named laws -------------------------------------------------------------------------------------------------------


@frozen
class UniformLaw:
    """The same density everywhere."""

    kind: ClassVar[str] = "uniform"

    @property
    def name(self) -> str:
        return "uniform"

    def breakpoints(self, domain: Interval | Circle) -> tuple[float, ...]:
        return ()

    def on(self, domain: Interval | Circle) -> Function:
        return partial(_constant, height=1 / domain.length)


def _constant(x: Floats, height: float) -> Floats:
    return np.full_like(x, height)


@frozen
class NormalLaw:
    """The normal law conditioned on a domain."""

    kind: ClassVar[str] = "normal"

    mean: float = finite("prior mean")
    deviation: float = finite("prior deviation")

    def __attrs_post_init__(self) -> None:
        if not self.deviation > 0:
            raise InvalidInput("prior deviation", self.deviation, "be above 0")

    @property
    def name(self) -> str:
        return f"normal({_shown(self.mean)}, {_shown(self.deviation)})"

    def breakpoints(self, domain: Interval | Circle) -> tuple[float, ...]:
        spread = (self.mean + k * self.deviation for k in (-8, -4, -2, -1, 0, 1, 2, 4, 8))
        return tuple(point for point in spread if domain.lower < point < domain.upper)

    def on(self, domain: Interval | Circle) -> Function:
        mean, deviation = self.mean, self.deviation
        least = _NARROWEST * max(domain.length, abs(mean))
        if deviation < least:
            rule = f"be at least {least:.3g}"
            raise InvalidInput("prior deviation", deviation, rule, "doubles resolve no narrower law")
        if domain.lower > mean:  # mirrored into the lower tail, where probabilities keep their digits
            mass = self._below(2 * mean - domain.lower) - self._below(2 * mean - domain.upper)
        else:
            mass = self._below(domain.upper) - self._below(domain.lower)
        if not mass > 1e-12:
            is_wide = domain.lower <= mean <= domain.upper
            step = "narrow the prior, or take the uniform one" if is_wide else "move the prior"
            raise InvalidInput("prior", (mean, deviation), f"have at least 1e-12 of its mass inside {domain}", step)
        return partial(_bell, mean=mean, deviation=deviation, scale=mass * deviation * math.sqrt(2 * math.pi))

    def _below(self, value: float) -> float:
        return 0.5 * math.erfc(-(value - self.mean) / self.deviation / math.sqrt(2))


def _bell(x: Floats, mean: float, deviation: float, scale: float) -> Floats:
    return np.asarray(np.exp(-0.5 * ((x - mean) / deviation) ** 2) / scale)


@frozen
class BetaLaw:
    """The beta law with shapes ``first`` and ``second``, stretched from [0, 1] to a domain.

    Shapes below 1 have an infinite density at an end: the mass within 2^-33 of the length of an end is spread evenly.
    """

    kind: ClassVar[str] = "beta"

    first: float = finite("prior shape")
    second: float = finite("prior shape")

    def __attrs_post_init__(self) -> None:
        if not (1e-3 <= self.first <= 1e4 and 1e-3 <= self.second <= 1e4):
            raise InvalidInput("prior shapes", (self.first, self.second), "lie between 0.001 and 10000")

    @property
    def name(self) -> str:
        return f"beta({_shown(self.first)}, {_shown(self.second)})"

    def breakpoints(self, domain: Interval | Circle) -> tuple[float, ...]:
        """Halving towards both ends, and around the middle of the mass."""
        a, b = self.first, self.second
        mean, spread = a / (a + b), math.sqrt(a * b / (a + b + 1)) / (a + b)
        shares = [_EDGE * 2.0**k for k in range(33)]
        shares += [1 - share for share in shares] + [mean + k * spread for k in (-8, -4, -2, -1, 0, 1, 2, 4, 8)]
        inside = {domain.lower + share * domain.length for share in shares if _EDGE <= share <= 1 - _EDGE}
        return tuple(sorted(point for point in inside if domain.lower < point < domain.upper))

    def on(self, domain: Interval | Circle) -> Function:
        from scipy.special import betainc, betaln

        a, b = self.first, self.second
        norm = float(betaln(a, b)) + math.log(domain.length)
        ends = tuple(float(betainc(*shapes, _EDGE)) / (_EDGE * domain.length) for shapes in ((a, b), (b, a)))
        return partial(_hill, shapes=(a, b), norm=norm, ends=ends, domain=domain)


def _hill(
    x: Floats, shapes: tuple[float, float], norm: float, ends: tuple[float, ...], domain: Interval | Circle
) -> Floats:
    a, b = shapes
    left, right = (x - domain.lower) / domain.length, (domain.upper - x) / domain.length
    inner = np.clip(left, _EDGE, 1.0), np.clip(right, _EDGE, 1.0)
    values = np.exp((a - 1) * np.log(inner[0]) + (b - 1) * np.log(inner[1]) - norm)
    values = np.where(left < _EDGE, ends[0], np.where(right < _EDGE, ends[1], values))
    return np.asarray(np.where((left >= 0) & (right >= 0), values, 0.0))


@frozen
class ExponentialLaw:
    """The exponential law of this rate from the lower end, conditioned on a domain."""

    kind: ClassVar[str] = "exponential"

    rate: float = finite("prior rate")

    def __attrs_post_init__(self) -> None:
        if not self.rate > 0:
            raise InvalidInput("prior rate", self.rate, "be above 0")

    @property
    def name(self) -> str:
        return f"exponential({_shown(self.rate)})"

    def breakpoints(self, domain: Interval | Circle) -> tuple[float, ...]:
        steps = (domain.lower + k / self.rate for k in (0.5, 1, 2, 4, 8, 16, 32, 64))
        return tuple(point for point in steps if domain.lower < point < domain.upper)

    def on(self, domain: Interval | Circle) -> Function:
        scale = self.rate / -math.expm1(-self.rate * domain.length)
        return partial(_decay, rate=self.rate, scale=scale, start=domain.lower)


def _decay(x: Floats, rate: float, scale: float, start: float) -> Floats:
    return np.asarray(scale * np.exp(-rate * (x - start)))


@frozen
class HistogramLaw:
    """Probability ``weights`` spread evenly over the bins between ``edges``."""

    kind: ClassVar[str] = "histogram"

    edges: Floats = array(partial(_numbers, name="prior edges"))
    weights: Floats = array(partial(_numbers, name="prior weights"))

    def __attrs_post_init__(self) -> None:
        edges, weights = self.edges, self.weights
        is_flat = edges.ndim == weights.ndim == 1 and weights.size > 0
        if not is_flat or edges.size != weights.size + 1 or not (np.diff(edges) > 0).all():
            raise InvalidInput("prior edges", edges, "be increasing, one more than the weights")
        _require_weights(weights)

    @property
    def name(self) -> str:
        return "histogram"

    @property
    def domain(self) -> Interval:
        """From the first edge to the last."""
        return Interval(float(self.edges[0]), float(self.edges[-1]))

    def breakpoints(self, domain: Interval | Circle) -> tuple[float, ...]:
        return tuple(self.edges[1:-1].tolist())

    def on(self, domain: Interval | Circle) -> Function:
        if domain != self.domain:
            raise InvalidInput("prior domain", str(domain), f"be that of the histogram, {self.domain}")
        return partial(_steps, cuts=self.edges, heights=self.weights / np.diff(self.edges))


def _steps(x: Floats, cuts: Floats, heights: Floats) -> Floats:
    place = np.searchsorted(cuts, x, side="right") - 1
    return np.asarray(heights[np.clip(place, 0, heights.size - 1)])


Law = UniformLaw | NormalLaw | BetaLaw | ExponentialLaw | HistogramLaw


def _shown(number: float) -> str:
    """Six digits if they say it all, else all there are: names must tell laws apart."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


# -- densities --------------------------------------------------------------------------------------------------------


def _height_of(density: Density) -> Function:
    """The density as a function, if there is such a law on the domain."""
    law, domain = density.function, density.domain
    if not isinstance(law, Law):
        return law
    require_domain(domain, (Interval, Circle) if isinstance(law, UniformLaw) else (Interval,), "prior domain")
    return law.on(domain)


@frozen
class Density:
    """A probability density on a domain: a named law, or any function that is smooth between its ``breakpoints``.

    A law has break points and a name of its own, and files hold it; a function has no file form.

    >>> normal(0.3, 0.1, Interval(0, 1)) == Density(NormalLaw(0.3, 0.1), Interval(0, 1))
    True
    """

    kind: ClassVar[str] = "density"

    function: Law | Function = field(metadata=named("law"))
    domain: Interval | Circle = interval_field(validator=only(Interval, Circle))
    breakpoints: tuple[float, ...] = field(default=(), converter=tuple, metadata=left_out())
    name: str = field(default="density", metadata=left_out())
    _height: Function = derived(_height_of)

    def __attrs_post_init__(self) -> None:
        law = self.function
        if isinstance(law, Law):
            own = law.breakpoints(self.domain), law.name
            if (self.breakpoints, self.name) not in (((), "density"), own):
                raise InvalidInput("prior name", self.name, f"be left out: the law's own is {law.name}")
            settle(self, breakpoints=own[0], name=own[1])

    def __call__(self, x: ArrayLike) -> Floats:
        places = np.asarray(x, dtype=np.float64)
        values = self._height(places)
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
    return Density(UniformLaw(), domain)


def normal(mean: float, deviation: float, domain: Interval) -> Density:
    """The normal law conditioned on the domain."""
    return Density(NormalLaw(mean, deviation), domain)


def histogram(edges: ArrayLike, weights: ArrayLike) -> Density:
    """Probability ``weights`` spread evenly over the bins between ``edges``.

    >>> histogram([0, 1, 3], [0.5, 0.5])([0.5, 2.0]).tolist()
    [0.5, 0.25]
    """
    law = HistogramLaw(np.asarray(edges), np.asarray(weights))
    return Density(law, law.domain)


def beta(first: float, second: float, domain: Interval) -> Density:
    """The beta law with shapes ``first`` and ``second``, stretched from [0, 1] to the domain.

    >>> round(float(beta(2.0, 3.0, Interval(0, 1))(0.5)), 12)
    1.5
    """
    return Density(BetaLaw(first, second), domain)


def exponential(rate: float, domain: Interval) -> Density:
    """The exponential law of this rate from the lower end, conditioned on the domain.

    >>> law = exponential(6.0, Interval(-1, 1))
    >>> round(float(law(-1.0) / law(0.0)), 6) == round(math.exp(6), 6)
    True
    """
    return Density(ExponentialLaw(rate), domain)


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


def named_prior(said: Any, inputs: Any) -> Any:
    """The prior on the inputs that a text names, and anything else as it is."""
    if not isinstance(said, str) or not isinstance(inputs, Interval | Circle | Finite):
        return said
    if not isinstance(inputs, Finite):
        return parse_prior(said, inputs)
    if said.strip().lower() != "uniform":
        raise InvalidInput("prior", said, "be uniform on a finite domain", "or take weights on its points, or data")
    return Atoms(np.array(inputs.points), np.full(len(inputs), 1 / len(inputs)))


def parse_prior(text: str, domain: Interval | Circle) -> Density:
    """The prior that a text names: ``uniform``, ``normal:MEAN,DEVIATION``, ``beta:A,B`` or ``exponential:RATE``.

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
