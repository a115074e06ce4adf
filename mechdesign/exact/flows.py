"""A lower bound from flows on pairs: what every mechanism that keeps an epsilon for each pair must lose.

A pair says ``e^E(i,j) q(y|j) - q(y|i) >= 0``. So for flows ``f >= 0`` on pairs and outputs and weights w of the inputs

    ``sum_xy w_x loss[x, y] q(y|x) >= sum_xy (w_x loss[x, y] - got_xy) q(y|x) >= sum_x min_y (w_x loss[x, y] - got_xy)``

where ``got_xy`` is ``e^E`` times what flows into x as the second of a pair, less what flows out of it as the first; the
last step holds as rows are laws. A bound of the worst case has weights that sum to one, that of an average the prior.
All in integers on one scale, rounded against the bound.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_upper

Floats = NDArray[np.float64]

_BITS = 160
_CAP_BITS = 128
_MOST = 600.0  # epsilons beyond say nothing in numbers of this scale


def flow_bound(epsilons: Floats, losses: Floats, weights: Floats, flows: Floats) -> Fraction:
    """The bound on the weighted loss, for weights as they are: divide by their sum for an average.

    A flow is a row ``output, first, second, amount``. `CheckFailed` where one is negative, or on a pair or an output
    that there is none of.

    >>> epsilons, flows = np.array([[0.0, 1.0], [1.0, 0.0]]), [[0, 0, 1, 0.1344707], [1, 1, 0, 0.1344707]]
    >>> bound = flow_bound(epsilons, 1 - np.eye(2), np.array([0.5, 0.5]), np.array(flows))
    >>> round(float(bound), 6)  # randomised response is optimal: 1 / (1 + e)
    0.268941
    """
    size, outputs = losses.shape
    if epsilons.shape != (size, size) or weights.shape != (size,) or (weights < 0).any() or not weights.any():
        raise CheckFailed("the bound needs weights of at least 0, one for each input of the loss matrix")
    got: defaultdict[tuple[int, int], int] = defaultdict(int)
    if flows.size:
        places, amounts = flows[:, :3], flows[:, 3]
        is_place = ((places >= 0) & (places < (outputs, size, size)) & (places == np.floor(places))).all()
        whole = (places if is_place else np.zeros_like(places)).astype(np.intp)
        if not is_place or not (np.isfinite(amounts) & (amounts >= 0)).all():
            raise CheckFailed("flows must be at least 0, on pairs of inputs and outputs of the problem")
        apart = epsilons[whole[:, 1], whole[:, 2]]
        if (whole[:, 1] == whole[:, 2]).any() or not (apart <= _MOST).all():
            raise CheckFailed(f"flows must be on pairs with an epsilon of at most {_MOST:g}")
        for (y, first, second), amount, eps in zip(whole.tolist(), amounts.tolist(), apart.tolist(), strict=True):
            up, down = amount.as_integer_ratio()
            got[first, y] += -((up << _BITS) // down)
            got[second, y] -= (-(up << _BITS) * _cap(eps) // down) >> _CAP_BITS
    touched = np.zeros((size, outputs), dtype=bool)
    if got:
        touched[tuple(np.array(list(got)).T)] = True
    # among outputs without flow the least loss decides, which needs no arithmetic
    free = np.where(touched, np.inf, losses).min(axis=1)
    least = [
        _scaled(w, loss) if np.isfinite(loss) else None for w, loss in zip(weights.tolist(), free.tolist(), strict=True)
    ]
    for (x, y), amount in got.items():
        left = _scaled(float(weights[x]), float(losses[x, y])) - amount
        known = least[x]
        if known is None or left < known:
            least[x] = left
    return Fraction(sum(part for part in least if part is not None), 1 << _BITS)


def _scaled(weight: float, loss: float) -> int:
    (a, b), (c, d) = weight.as_integer_ratio(), loss.as_integer_ratio()
    return (a * c << _BITS) // (b * d)


@lru_cache(maxsize=1 << 17)
def _cap(epsilon: float) -> int:
    """At least ``2^128 e^epsilon``."""
    upper = exp_upper(epsilon)
    return -((-upper.numerator << _CAP_BITS) // upper.denominator)


def flows_left(epsilons: Floats, losses: Floats, weights: Floats, flows: Floats) -> Floats:
    """The same in doubles, ``w_x loss[x, y] - got_xy``: its row minima say where a bound is weak."""
    size, outputs = losses.shape
    left = (weights[:, None] * losses).ravel()
    if flows.size:
        y, first, second = flows[:, :3].astype(np.intp).T
        left = left + np.bincount(first * outputs + y, flows[:, 3], left.size)
        gained = flows[:, 3] * np.exp(epsilons[first, second])
        left = left - np.bincount(second * outputs + y, gained, left.size)
    return np.asarray(left.reshape(size, outputs))
