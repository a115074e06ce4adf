"""Doubles as whole numbers on a common power-of-two scale: exact sums and products at the speed of integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

_BITS = 53


def dyadic(values: ArrayLike) -> tuple[list[int], int]:
    """Integers ``n`` and a common shift ``k >= 0`` with ``value = n / 2^k`` exactly.

    >>> (half, three), shift = dyadic([0.5, 3.0])
    >>> half / 2**shift, three / 2**shift
    (0.5, 3.0)
    >>> all(n / 2**k == x for x in (0.1, 1e300, -5e-324) for (n,), k in [dyadic([x])])
    True
    """
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    least = min(int(exponents.min(initial=_BITS)), _BITS)
    whole = (mantissas * 2.0**_BITS).astype(np.int64).tolist()
    shifts = np.where(mantissas == 0, 0, exponents - least).tolist()
    return [n << shift for n, shift in zip(whole, shifts, strict=True)], _BITS - least
