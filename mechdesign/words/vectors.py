"""Vectors of many coordinates whose length is bounded: on a sphere, in a ball, or with a bounded sum of sizes.

Arrays of them have one more axis than arrays of numbers: coordinates come last.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.values.declare import finite, frozen, whole, within
from mechdesign.words.domains import Floats, require_numbers

MOST_COORDINATES = 100_000

_NEAR = 1e-9  # relative: how far rounding may put what was divided by its length


def _radius() -> float:
    limits = within("radius", 1e-50, 1e50)
    found: float = finite("radius", default=1.0, validator=limits)
    return found


def _count() -> int:
    found: int = whole("count", 2, MOST_COORDINATES)
    return found


@frozen
class Sphere:
    """Vectors of one length.

    >>> str(Sphere(3)), Sphere(2).require([0.6, 0.8]).tolist()
    ('sphere of R^3', [0.6, 0.8])
    """

    kind: ClassVar[str] = "sphere"
    least_square: ClassVar[float] = 1.0
    """The least ``|x|^2``, of radius 1."""
    mean_square: ClassVar[float] = 1.0
    """The mean of ``|x|^2`` for uniform x, of radius 1."""

    count: int = _count()
    radius: float = _radius()

    def require(self, values: ArrayLike, field: str = "x") -> Floats:
        """Vectors of this length, or `InvalidInput`."""
        array, sizes = _lengths(values, self.count, field, 2)
        _reject_first(abs(sizes / self.radius - 1) > _NEAR, field, f"have the length {self.radius:g}")
        return array

    def corner(self, x: Floats, rng: np.random.Generator) -> Floats:
        """A vector of length 1 for each x: its direction."""
        return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))

    def __str__(self) -> str:
        return f"sphere of R^{self.count}{_scale(self.radius)}"


@frozen
class Ball:
    """Vectors of at most a length.

    >>> str(Ball(3)), str(Ball(3, 10.0))
    ('ball of R^3', 'ball of R^3 of radius 10')
    """

    kind: ClassVar[str] = "ball"
    least_square: ClassVar[float] = 0.0

    count: int = _count()
    radius: float = _radius()

    @property
    def mean_square(self) -> float:
        return self.count / (self.count + 2)

    def require(self, values: ArrayLike, field: str = "x") -> Floats:
        """Vectors of at most this length, or `InvalidInput`."""
        array, sizes = _lengths(values, self.count, field, 2)
        _reject_first(sizes / self.radius > 1 + _NEAR, field, f"have at most the length {self.radius:g}")
        return array

    def corner(self, x: Floats, rng: np.random.Generator) -> Floats:
        """A vector of length 1 for each x, with the mean ``x / radius``: its direction or, less often, the opposite."""
        sizes = np.linalg.norm(x, axis=-1, keepdims=True)
        first = np.eye(1, self.count)[0]
        ahead = np.where(sizes > 0, x / np.where(sizes > 0, sizes, 1.0), first)
        return np.where(rng.random(sizes.shape) < (1 + sizes / self.radius) / 2, ahead, -ahead)

    def __str__(self) -> str:
        return f"ball of R^{self.count}{_scale(self.radius)}"


@frozen
class CrossPolytope:
    """Vectors the sizes of whose entries sum to at most a radius: histograms with signs.

    >>> str(CrossPolytope(3))
    'cross-polytope of R^3'
    """

    kind: ClassVar[str] = "cross-polytope"
    least_square: ClassVar[float] = 0.0

    count: int = _count()
    radius: float = _radius()

    @property
    def mean_square(self) -> float:
        return 2 * self.count / ((self.count + 1) * (self.count + 2))

    def require(self, values: ArrayLike, field: str = "x") -> Floats:
        """Vectors whose sizes sum to at most the radius, or `InvalidInput`."""
        array, sizes = _lengths(values, self.count, field, 1)
        _reject_first(sizes / self.radius > 1 + _NEAR, field, f"have sizes that sum to at most {self.radius:g}")
        return array

    def corner(self, x: Floats, rng: np.random.Generator) -> Floats:
        """One entry of 1 or -1 for each x, with the mean ``x / radius``."""
        sizes = abs(x) / self.radius
        rest = np.maximum(1 - sizes.sum(axis=-1), 0.0)
        even = rng.random(rest.shape) < rest
        drawn = rng.random((*rest.shape, 1)) * sizes.sum(axis=-1, keepdims=True)
        own = np.minimum((sizes.cumsum(axis=-1) <= drawn).sum(axis=-1), self.count - 1)
        place = np.where(even, rng.integers(self.count, size=rest.shape), own)
        sign = np.where(even, 2 * rng.integers(2, size=rest.shape) - 1, _at(np.sign(x), own))
        return np.asarray((np.arange(self.count) == place[..., None]) * sign[..., None], dtype=np.float64)

    def __str__(self) -> str:
        return f"cross-polytope of R^{self.count}{_scale(self.radius)}"


Vectors = Sphere | Ball | CrossPolytope


def _at(values: Floats, places: NDArray[np.intp]) -> Floats:
    return np.asarray(np.take_along_axis(values, places[..., None], axis=-1)[..., 0])


def _scale(radius: float) -> str:
    return "" if radius == 1 else f" of radius {radius:.10g}"


def _lengths(values: ArrayLike, count: int, field: str, order: int) -> tuple[Floats, Floats]:
    array = require_numbers(values, field)
    if array.ndim == 0 or array.shape[-1] != count:
        raise InvalidInput(field, array.shape, f"have a last axis of {count} coordinates")
    return array, np.asarray(np.linalg.norm(array, ord=order, axis=-1))


def _reject_first(wrong: NDArray[np.bool_], field: str, rule: str) -> None:
    """Name the first vector that breaks the rule; what it holds is not shown."""
    if wrong.any():
        place = "" if wrong.ndim == 0 else f"[{int(np.flatnonzero(wrong)[0])}]"
        step = "" if wrong.ndim == 0 else f"{int(wrong.sum())} of {wrong.size} vectors break this rule"
        raise InvalidData(f"{field}{place}", "a vector", rule, step)
