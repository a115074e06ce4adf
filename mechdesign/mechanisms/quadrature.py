"""Expected losses without a closed form: Gauss-Legendre between every kink of the density and of the loss."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.losses import Custom, Loss, Power

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_NEGLIGIBLE = 1e-17


class _Law(Protocol):
    def density(self, y: ArrayLike, x: ArrayLike) -> Floats: ...
    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats: ...


def integrate(law: _Law, inputs: Floats, loss: Loss, lower: Floats, upper: Floats, kinks: Floats) -> Floats:
    """``E[loss(Y, x); lower < Y < upper | x]`` for each input; ``kinks`` are distances from x where the density bends.

    Infinite ends are replaced by quantiles that leave out 1e-17 of the mass on each side.
    """
    cells = [
        _integrate_at(law, x, loss, start, stop, kinks)
        for x, start, stop in zip(inputs.ravel().tolist(), lower.ravel().tolist(), upper.ravel().tolist(), strict=True)
    ]
    return np.asarray(cells, dtype=np.float64).reshape(inputs.shape)


def _integrate_at(law: _Law, x: float, loss: Loss, start: float, stop: float, kinks: Floats) -> float:
    start = max(start, float(law.quantile(_NEGLIGIBLE, x)))
    stop = min(stop, 2 * x - float(law.quantile(_NEGLIGIBLE, x)))
    if not start < stop:
        return 0.0
    cuts = np.concatenate([x + kinks, x - kinks, _loss_kinks(loss, x, start, stop)])
    panels = np.unique(np.concatenate([[start, stop], cuts[(cuts > start) & (cuts < stop)]]))
    edges = np.unique(np.concatenate([np.linspace(a, b, 9) for a, b in zip(panels[:-1], panels[1:], strict=True)]))
    half = np.diff(edges) / 2
    nodes = (edges[:-1] + half)[:, None] + half[:, None] * _NODES
    return float(np.sum(half[:, None] * _WEIGHTS * loss(nodes, x) * law.density(nodes, x)))


def _loss_kinks(loss: Loss, x: float, start: float, stop: float) -> Floats:
    if isinstance(loss, Custom):
        return np.asarray(loss.kinks(x), dtype=np.float64)
    if isinstance(loss, Power) and loss.period is not None:
        half = loss.period / 2
        first, last = np.floor((start - x) / half), np.ceil((stop - x) / half)
        return x + half * np.arange(first, last + 1)
    return np.array([x])
