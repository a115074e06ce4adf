"""Where the randomness of a report comes from: a numpy generator in simulations, the operating system on devices."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.tables.draws import below, draw
from mechdesign.values.declare import Floats

Shape = int | tuple[int, ...]


class Randomness(Protocol):
    """The two draws clients make; a numpy Generator has them."""

    def random(self, size: Shape) -> Floats: ...
    def integers(self, low: int, high: int, size: Shape, dtype: Any) -> NDArray[Any]: ...


class OperatingSystem:
    """The same two draws from the operating system's randomness, which has no seed.

    *Guarantee.* ``random`` is a uniform multiple of 2^-53 in [0, 1), ``integers`` is exactly uniform, by rejection.

    >>> bool((OperatingSystem().integers(0, 3, 100, np.int64) < 3).all())
    True
    """

    __slots__ = ()

    def random(self, size: Shape) -> Floats:
        bits = draw(64, int(np.prod(size))) >> np.uint64(11)
        return np.asarray((bits * 2.0**-53).reshape(size))

    def integers(self, low: int, high: int, size: Shape, dtype: Any) -> NDArray[Any]:
        count = int(np.prod(size))
        span = high - low
        numbers = draw(64, count) if span == 1 << 64 else below(np.full(count, span, dtype=np.uint64))
        return np.asarray(numbers.reshape(size).astype(dtype) + np.asarray(low, dtype=dtype))


def require_randomness(rng: Any) -> Randomness:
    """Randomness is passed explicitly: a numpy Generator, or `OperatingSystem`."""
    if not isinstance(rng, np.random.Generator | OperatingSystem):
        raise InvalidInput("rng", rng, "be a numpy Generator or OperatingSystem()", "pass numpy.random.default_rng(1)")
    return rng
