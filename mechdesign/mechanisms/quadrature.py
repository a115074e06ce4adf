"""Expected losses without a closed form: Gauss-Legendre between every kink of the density and of the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.panels import integrate_between
from mechdesign.words.losses import Custom, Loss, Power

Floats = NDArray[np.float64]

_NEGLIGIBLE = 1e-17


class _Law(Protocol):
    def density(self, y: ArrayLike, x: ArrayLike) -> Floats: ...
    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats: ...


def integrate(
    law: _Law, inputs: Floats, loss: Loss, lower: Floats, upper: Floats, kinks: Callable[[float], Floats]
) -> Floats:
    """``E[loss(Y, x); lower < Y < upper | x]`` for each input, for a law symmetric about x.

    ``kinks(reach)`` are the distances from x, up to ``reach``, where the density bends. Infinite ends are replaced by
    quantiles that leave out 1e-17 of the mass on each side.
    """
    cells = [
        _integrate_at(law, x, loss, start, stop, kinks)
        for x, start, stop in zip(inputs.ravel().tolist(), lower.ravel().tolist(), upper.ravel().tolist(), strict=True)
    ]
    return np.asarray(cells, dtype=np.float64).reshape(inputs.shape)


def _integrate_at(
    law: _Law, x: float, loss: Loss, start: float, stop: float, kinks: Callable[[float], Floats]
) -> float:
    start = max(start, float(law.quantile(_NEGLIGIBLE, x)))
    stop = min(stop, 2 * x - float(law.quantile(_NEGLIGIBLE, x)))
    if not start < stop:
        return 0.0
    bends = kinks(max(abs(start - x), abs(stop - x)))
    cuts = np.concatenate([x + bends, x - bends, loss_kinks(loss, x, start, stop)])
    inside = cuts[(cuts > start) & (cuts < stop)]
    return integrate_between(lambda y: loss(y, x) * law.density(y, x), np.concatenate([[start, stop], inside]))


def loss_kinks(loss: Loss, x: float, start: float, stop: float) -> Floats:
    """The outputs from ``start`` to ``stop`` where the loss at the input x is not smooth; some may lie outside."""
    if isinstance(loss, Custom):
        return np.asarray(loss.kinks(x), dtype=np.float64)
    if isinstance(loss, Power) and loss.period is not None:
        half = loss.period / 2
        first, last = np.floor((start - x) / half), np.ceil((stop - x) / half)
        return x + half * np.arange(first, last + 1)
    return np.array([x])
