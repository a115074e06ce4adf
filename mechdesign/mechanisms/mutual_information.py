"""How much a report tells about its input: their mutual information, in nats, for mechanisms that are tables.

``I(X; Y) = sum p(x) q(y|x) ln(q(y|x) / p(y))`` is a finite sum, which is added up here over the whole table. It is at
most the entropy of X, so at most ``ln k`` for k inputs. And it is at most epsilon: every quotient is, since ``p(y)`` is
a mean of the ``q(y|x')`` and none of them is below ``e^-eps q(y|x)`` (theorem 19 of "Refined mechanism design").
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.values.declare import Floats, frozen

_ROUNDING = 2.0**-52


@frozen
class MutualInformation:
    """The mutual information lies in ``[lower, upper]``; no mechanism of that privacy loss and size has above ``most``.

    All are in nats: divide by ln 2 for bits.
    """

    lower: float
    upper: float
    most: float


def mutual_information(mechanism: Discrete, prior: ArrayLike | None = None) -> MutualInformation:
    """Of an input drawn from ``prior`` (weights of the inputs; uniform if none are given) and its report.

    >>> from mechdesign.words.domains import Finite
    >>> coin = Discrete(math.log(3), Finite((0, 1)), Finite((0, 1)), [[0.75, 0.25], [0.25, 0.75]])
    >>> found = mutual_information(coin)
    >>> round(found.lower, 6), round(found.upper, 6), round(found.most, 6)
    (0.130812, 0.130812, 0.693147)
    >>> round(mutual_information(coin, [0.9, 0.1]).upper, 6)
    0.048529
    """
    if not isinstance(mechanism, Discrete):
        step = "those of the catalogue on Finite inputs are tables, and so are those of a saved matrix"
        raise InvalidInput("mechanism", type(mechanism).__name__, "be a table of probabilities (Discrete)", step)
    chances = mechanism.probabilities / mechanism.probabilities.sum(axis=1, keepdims=True)
    weights = _weights(prior, len(chances))
    reports = weights @ chances
    joint = weights[:, None] * chances
    seen = joint > 0
    quotients = np.log(np.divide(chances, reports, out=np.ones_like(chances), where=seen))
    terms = joint[seen] * quotients[seen]
    total = math.fsum(terms.tolist())
    # sums of terms above 0 are off by their number of roundings at most, and so are quotients of them
    roundings = sum(chances.shape) + 16
    slack = roundings * _ROUNDING * math.fsum((joint[seen] * (1 + np.abs(quotients[seen]))).tolist())
    most = _up(min(math.log(np.count_nonzero(weights)), mechanism.privacy_loss()))
    return MutualInformation(max(0.0, total - slack), min(most, total + slack), most)


def _up(value: float) -> float:
    return math.nextafter(value, math.inf) if value else 0.0


def _weights(prior: Any, size: int) -> Floats:
    if prior is None:
        return np.full(size, 1 / size)
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape != (size,) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.sum() > 0:
        raise InvalidInput("prior", "other weights", f"be {size} weights, at least 0, one for each input", "not all 0")
    return np.asarray(weights / weights.sum())
