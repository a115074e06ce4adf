"""Functions smooth between known break points: their maximum and integral, to rounding.

Each smooth stretch is replaced by a Chebyshev interpolant whose last coefficients are at rounding level; a stretch that
does not reach that level hides a break and is halved. Polynomials (the error of a piecewise mechanism) come out exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

_DEGREES = (8, 16, 32, 64)
_LEVEL = 4e-15
_NOISE = 1e-12
_MOST_BLUR = 1e-6
_NARROWEST = 1e-11
_MOST_STRETCHES = 1024


@dataclass(frozen=True, slots=True)
class Stretch:
    """One smooth piece: the Chebyshev coefficients of the function on ``[start, stop]``."""

    start: float
    stop: float
    coefficients: Floats

    def integral(self) -> float:
        primitive = chebyshev.chebint(self.coefficients)
        ends = chebyshev.chebval(np.array([-1.0, 1.0]), primitive)
        return float(ends[1] - ends[0]) * (self.stop - self.start) / 2

    def stationary_points(self) -> Floats:
        slope = chebyshev.chebder(self.coefficients)
        if slope.size < 2:
            return np.empty(0)
        roots = chebyshev.chebroots(slope)
        real = roots[np.abs(roots.imag) < 1e-6].real
        return _to_interval(real[np.abs(real) <= 1], self.start, self.stop)


def split(function: Function, breakpoints: Iterable[float]) -> list[Stretch]:
    """Cover the range of the break points with smooth stretches."""
    cuts = np.unique(np.asarray(list(breakpoints), dtype=np.float64))
    narrowest = _NARROWEST * (cuts[-1] - cuts[0])
    scale = float(np.max(np.abs(function(cuts)), initial=0.0))
    waiting = [(a, b) for a, b in zip(cuts[-2::-1].tolist(), cuts[:0:-1].tolist(), strict=True)]
    done: list[Stretch] = []
    while waiting:
        start, stop = waiting.pop()
        stretch = _interpolate(function, start, stop, scale)
        if stretch is not None:
            done.append(stretch)
        elif stop - start < narrowest:
            ends = function(np.array([start, stop]))
            done.append(Stretch(start, stop, np.array([ends.mean(), (ends[1] - ends[0]) / 2])))
        else:
            middle = start + (stop - start) / 2
            waiting += [(middle, stop), (start, middle)]
        if len(done) + len(waiting) > _MOST_STRETCHES + cuts.size:
            raise CheckFailed(f"the function is not smooth between its break points near {start:g}")
    return done


def maximum(function: Function, breakpoints: Iterable[float]) -> tuple[float, float]:
    """The largest value and a point where it is taken.

    >>> value, point = maximum(lambda x: x * (1 - x), [0, 1])
    >>> (round(value, 12), round(point, 12))
    (0.25, 0.5)
    """
    stretches = split(function, breakpoints)
    points = np.concatenate(
        [np.array([stretches[0].start])]
        + [np.append(stretch.stationary_points(), stretch.stop) for stretch in stretches]
    )
    values = function(points)
    best = int(np.argmax(values))
    return float(values[best]), float(points[best])


def integral(function: Function, breakpoints: Iterable[float]) -> float:
    """The integral over the range of the break points.

    >>> round(integral(lambda x: abs(x - 1 / 3), [0, 1]), 12)
    0.277777777778
    """
    return float(sum(stretch.integral() for stretch in split(function, breakpoints)))


def _interpolate(function: Function, start: float, stop: float, scale: float) -> Stretch | None:
    for degree in _DEGREES:
        nodes = chebyshev.chebpts1(degree + 1)
        values = function(_to_interval(nodes, start, stop))
        coefficients = _coefficients(values)
        size = max(scale, float(np.max(np.abs(values))))
        tolerance = _LEVEL * size
        if degree == _DEGREES[-1]:
            # forgive values that carry more rounding than the function deserves, and the rounding of the points:
            # a stretch of width 1e-10 around 1 holds few doubles
            blur = 16 * np.finfo(float).eps * max(abs(start), abs(stop)) / (stop - start)
            tolerance = max(_NOISE, min(blur, _MOST_BLUR)) * size
        small = np.abs(coefficients) <= tolerance
        if small[-3:].all():
            kept = int(np.max(np.flatnonzero(~small), initial=0)) + 1
            return Stretch(start, stop, coefficients[:kept])
    return None


def _coefficients(values: Floats) -> Floats:
    count = values.size
    angles = np.arccos(chebyshev.chebpts1(count))
    basis = np.cos(np.outer(np.arange(count), angles))
    coefficients = 2 / count * (basis @ values)
    coefficients[0] /= 2
    return np.asarray(coefficients)


def _to_interval(unit: Floats, start: float, stop: float) -> Floats:
    return np.asarray(start + (unit + 1) / 2 * (stop - start))
