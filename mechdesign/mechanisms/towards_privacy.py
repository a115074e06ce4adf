"""A table of probabilities as a formula gives it, in doubles that keep epsilon to the last bit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.words.domains import Finite

Floats = NDArray[np.float64]

_FINEST_BITS = 52
_BELOW = Fraction(1, 2**50)  # more than the rounding of exp
_ROUNDING = Fraction(1, 10**9)
"""How far above ``e^epsilon`` a ratio may be for rounding to be its cause."""


def rounded_towards_privacy(
    epsilon: float,
    inputs: Finite,
    outputs: Finite,
    rows: Sequence[Sequence[float | Fraction]] | Floats,
    name: str = "discrete",
) -> Discrete:
    """The mechanism ``P(outputs[j] | inputs[i]) = rows[i][j]`` in doubles, rounded so that it keeps ``epsilon``.

    A formula that is private on paper is rarely so in doubles: the last bit of a probability may break the ratio. Here
    entries below ``(1 + s) e^-epsilon`` times the largest of their column are raised to that, and rows divided by their
    sums; ``s`` is the first of 0, 2^-52, 2^-51, ... that suffices. So the rows given stay what they are up to rounding.

    *Guarantee.* In every column the largest ratio of two rows, each divided by its exact sum, is at most ``e^epsilon``
    as a rational number. Rows that break epsilon by more than a billionth are refused: that is no rounding.

    Noise with ``P(z) ~ a^abs(z)`` on ``{0, ..., n}``, reports beyond the ends moved to them (epsilon is between 0 and
    n, so that ``a = e^(-epsilon / n)``):

    >>> n, epsilon = 4, 2.0
    >>> a = math.exp(-epsilon / n)
    >>> inside = lambda x, y: (1 - a) / (1 + a) * a ** abs(y - x)
    >>> end = lambda x, y: a ** abs(y - x) / (1 + a)
    >>> rows = [[end(x, y) if y in (0, n) else inside(x, y) for y in range(n + 1)] for x in range(n + 1)]
    >>> points = Finite(range(n + 1))
    >>> law = rounded_towards_privacy(epsilon, points, points, rows, "clamped geometric")
    >>> round(law.privacy_loss(), 12), bool(np.allclose(law.probabilities, rows, rtol=1e-14, atol=0))
    (2.0, True)
    """
    epsilon = require_epsilon(epsilon)
    given = Discrete(epsilon, inputs, outputs, _doubles(rows), name).probabilities
    law = given / given.sum(axis=1, keepdims=True)
    limit = max(Fraction(1), Fraction(math.exp(epsilon)) * (1 - _BELOW))
    _require_nearly_private(Discrete(epsilon, inputs, outputs, law, name), limit)
    largest = law.max(axis=0)
    for slack in (0.0, *(2.0**-bits for bits in range(_FINEST_BITS, 0, -1))):
        raised = np.maximum(law, np.minimum((1 + slack) / float(limit), 1.0) * largest)
        found = Discrete(epsilon, inputs, outputs, raised / raised.sum(axis=1, keepdims=True), name)
        ratio = found.likelihood_ratio().ratio
        if ratio is not None and ratio <= limit:
            return found
    raise CheckFailed(f"no doubles were found that keep e^{epsilon:g} and are the rows given, up to rounding")


def _doubles(rows: Sequence[Sequence[float | Fraction]] | Floats) -> Floats:
    """The entries as doubles, rationals rounded once."""
    try:
        return np.array([[float(entry) for entry in row] for row in rows])
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput("probabilities", "an entry that is no number", "be numbers, a row an input") from None


def _require_nearly_private(law: Discrete, limit: Fraction) -> None:
    ratio = law.likelihood_ratio().ratio
    if ratio is not None and ratio <= limit * (1 + _ROUNDING):
        return
    table = law.probabilities
    used = (table > 0).any(axis=0)
    least = np.where(used, table.min(axis=0), 1.0)
    with np.errstate(divide="ignore"):
        column = int(np.argmax(np.where(used, table.max(axis=0) / least, 1.0)))
    rows = int(np.argmax(table[:, column])), int(np.argmin(table[:, column]))
    raise InvalidInput(
        "probabilities",
        f"rows {rows[0]} and {rows[1]} in column {column}",
        f"have ratios of at most e^{law.epsilon:g}, up to rounding",
        "mechdesign.tables.repaired makes a private table of one that is not",
    )
