"""Privacy but for a small probability: how far a table is from epsilon-LDP, exactly.

``excess(e^eps) = max over pairs of inputs of sum_y max(0, q(y|x) - e^eps q(y|x'))`` is the least delta with which a
table is (epsilon, delta)-LDP. It falls as epsilon grows.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_lower, float_up
from mechdesign.mechanisms.discrete import Discrete, whole_numbers
from mechdesign.values.codec import encoded
from mechdesign.values.declare import frozen
from mechdesign.words.privacy import Approximate

_HALVINGS = 60
_ROOMS = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)


def hockey_excess(table: Discrete, ratio: Fraction) -> Fraction:
    """The largest sum of what one row has above ``ratio`` times another.

    >>> from mechdesign.words.domains import Finite
    >>> coin = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.75, 0.25], [0.25, 0.75]])
    >>> hockey_excess(coin, Fraction(2)), hockey_excess(coin, Fraction(3))
    (Fraction(1, 4), Fraction(0, 1))
    """
    entries, _ = whole_numbers(table.probabilities)
    sums, numerator, denominator = entries.sum(axis=1), ratio.numerator, ratio.denominator
    worst = Fraction(0)
    for row, own in zip(entries, sums, strict=True):
        # n / N - (P / D) n' / N' on the common denominator N N' D, for all other rows n' at once
        above = np.maximum(np.outer(denominator * sums, row) - numerator * own * entries, 0).sum(axis=1)
        worst = max(worst, *map(Fraction, above.tolist(), (own * denominator * sums).tolist()))
    return worst


@frozen
class ApproximateProof:
    """What a table was proven to keep; ``loss`` is an epsilon that it keeps with the same delta.

    ``excess`` is the delta that it keeps with the epsilon of the requirement, rounded up.
    """

    privacy: Approximate
    loss: float
    excess: float

    @property
    def words(self) -> tuple[str, ...]:
        return (
            f"privacy loss: {self.loss:.12g} but for a probability of {self.privacy.delta:g} "
            "(decided exactly, at most eps)",
        )

    def document(self) -> dict[str, Any]:
        return {**encoded(self.privacy), "loss": self.loss, "excess": self.excess}


def prove_approximate(mechanism: Any, privacy: Approximate) -> ApproximateProof:
    """The proof that a table is (epsilon, delta)-LDP, or `CheckFailed`.

    >>> from mechdesign.words.domains import Finite
    >>> coin = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.75, 0.25], [0.25, 0.75]])
    >>> proof = prove_approximate(coin, Approximate(1.0, 0.1))
    >>> round(proof.loss, 6) == round(math.log(2.6), 6), round(proof.excess, 6)  # .75 - 2.6 x .25 = .1
    (True, 0.07043)
    """
    if not isinstance(mechanism, Discrete):
        raise CheckFailed(f"a delta is decided for tables of probabilities, not for a {type(mechanism).__name__}")
    delta = Fraction(privacy.delta)
    excess = hockey_excess(mechanism, exp_lower(privacy.epsilon))
    if excess > delta:
        raise CheckFailed(
            f"{mechanism.name} exceeds epsilon {privacy.epsilon!r} with a probability of {float_up(excess)!r}, "
            f"above the delta {privacy.delta!r} it is held to"
        )
    return ApproximateProof(privacy, _least_epsilon(mechanism, privacy.epsilon, delta), float_up(excess))


def _least_epsilon(table: Discrete, most: float, delta: Fraction) -> float:
    """An epsilon that is kept with this delta; where doubles find the least one, next to it.

    Doubles look for it, and what they find is decided exactly: if it is not kept, one a little larger may be.
    """
    rows = table.probabilities / table.probabilities.sum(axis=1, keepdims=True)

    def excess(epsilon: float) -> float:
        return max(float(np.maximum(row - math.exp(epsilon) * rows, 0).sum(axis=1).max()) for row in rows)

    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) <= delta else (middle, high)
    for room in _ROOMS:
        if (wider := min(high + room * most, most)) < most and hockey_excess(table, exp_lower(wider)) <= delta:
            return wider
    return most
