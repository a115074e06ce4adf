"""Privacy of every pair of inputs, decided for a table of doubles or of whole numbers.

A pair holds if ``row_x[y] * sum_x' <= c row_x'[y] * sum_x`` for all outputs y, with c a rational lower bound of
``e^E(x,x')``. Doubles decide what is not close: quotients of doubles and row sums that are rounded once are off by less
than ``_CLOSE``, relative; whatever comes nearer to its limit than that is decided in rational arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_up
from mechdesign.words.pairs import Pairs

Floats = NDArray[np.float64]

_CLOSE = 1e-12
_FARTHEST = 1500.0  # beyond the logarithm of any quotient of positive doubles
_TINY = 1e-290  # below, quotients lose digits: decided in rationals
_SHOWN = 1e6  # slacks are rounded down to millionths


@frozen
class PairsProof:
    """What a mechanism keeps for each pair, the pair that is nearest to its limit, and how far that is from it.

    ``slack`` is what is left of the pair's epsilon, rounded down to a millionth; ``loss`` the epsilon between any two
    inputs, infinite where an output shows that it was not some input.
    """

    privacy: Pairs
    loss: float
    pair: tuple[int, int]
    slack: float

    @property
    def words(self) -> tuple[str, ...]:
        """The pair that is nearest to its limit, and loudly what is not protected."""
        one, other = self.pair
        return (
            f"privacy: every pair keeps its eps (decided exactly); nearest to its limit are inputs {one} and {other}, "
            f"with {self.slack:g} left",
            f"between any two inputs: eps at most {rounded_up(self.loss, 6)}",
            *self.privacy.notes,
        )

    def document(self) -> dict[str, Any]:
        """The account as JSON: the problem beside it says the epsilons."""
        return {"kind": self.privacy.kind, "loss": self.loss, "pair": list(self.pair), "slack": self.slack}


def prove_pairs(mechanism: Any, privacy: Pairs) -> PairsProof:
    """The proof that every pair keeps its epsilon, or `CheckFailed` that names one that does not.

    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.words.pairs import Pairwise
    >>> coin = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.6, 0.4], [0.4, 0.6]])
    >>> prove_pairs(coin, Pairwise([[0, 0.5], [1, 0]])).slack
    0.094534
    """
    if not isinstance(mechanism, Discrete) or len(mechanism.inputs) != len(privacy):
        name = getattr(mechanism, "name", type(mechanism).__name__)
        raise CheckFailed(f"the privacy is about tables of {len(privacy)} inputs, and {name} is none")
    return _proof(mechanism.probabilities, privacy, mechanism.name)


def _proof(table: Floats, privacy: Pairs, name: str) -> PairsProof:
    epsilons = privacy.epsilons
    table = table[:, (table > 0).any(axis=0)]
    sums = np.array([math.fsum(row) for row in table.tolist()])
    exact_sums: dict[int, Fraction] = {}
    rows = table / sums[:, None]
    size = len(rows)
    largest = 1.0
    nearest: list[tuple[float, int, int]] = []
    for first in range(size):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = rows[first] / rows
            ratios[(rows == 0) & (rows[first] == 0)] = 0.0
            tops = ratios.max(axis=1)
            largest = max(largest, float(tops.max()))
            limits = np.exp(np.minimum(epsilons[first], 700.0))
        open_ = np.isfinite(epsilons[first])
        open_[first] = False
        unsure = open_ & ~((tops <= limits * (1 - _CLOSE)) & _is_usual(rows[first], rows))
        for second in np.flatnonzero(unsure).tolist():
            eps = float(epsilons[first, second])
            close = np.flatnonzero(
                (ratios[second] > limits[second] * (1 - _CLOSE)) | (rows[first] < _TINY) | (rows[second] < _TINY)
            )
            for row in (first, second):
                if row not in exact_sums:
                    exact_sums[row] = sum(map(Fraction, table[row].tolist()), Fraction(0))
            if not _holds(table, exact_sums, first, second, close.tolist(), eps):
                raise CheckFailed(
                    f"{name} does not keep the eps {eps!r} of inputs {first} and {second}: its ratio is "
                    f"e^{math.log(tops[second]) if tops[second] > 0 else 0.0:.12g}"
                )
        left = np.full(size, math.inf)
        left[open_] = epsilons[first][open_] - np.log(tops[open_])
        at = int(np.argmin(left))
        if left[at] < math.inf:
            # of pairs that are equally near to a millionth the first: rounding must not choose
            nearest.append((float(left[at]), first, int(np.flatnonzero(left <= left[at] + 1 / _SHOWN)[0])))
    slack = min((left for left, _, _ in nearest), default=math.inf)
    worst = next(((x, other) for left, x, other in nearest if left <= slack + 1 / _SHOWN), (0, 0))
    shown = max(math.floor(min(slack, 1e6) * _SHOWN) / _SHOWN, 0.0) if math.isfinite(slack) else math.inf
    return PairsProof(privacy, math.log(largest), worst, shown)


def _is_usual(row: Floats, rows: Floats) -> NDArray[np.bool_]:
    """Whether all positive entries of two rows have quotients that doubles round once."""
    fine = (rows >= _TINY) | (rows == 0)
    mine = bool(((row >= _TINY) | (row == 0)).all())
    return np.asarray(fine.all(axis=1) & mine)


def _holds(
    table: Floats, sums: dict[int, Fraction], first: int, second: int, outputs: Sequence[int], epsilon: float
) -> bool:
    most = exp_lower(Fraction(min(epsilon, _FARTHEST))) * sums[first] / sums[second]
    up, down = most.numerator, most.denominator
    for y in outputs:
        (a, b), (c, d) = float(table[first, y]).as_integer_ratio(), float(table[second, y]).as_integer_ratio()
        if a * d * down > up * c * b:
            return False
    return True
