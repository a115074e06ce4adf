"""Bounds for any loss matrix, over *all* epsilon-LDP mechanisms with its finitely many inputs and outputs.

Write ``c = e^eps``, ``phi(t) = min(t, c t)`` and ``E_x`` for the expected loss at input x. A mechanism is epsilon-LDP
iff some base measure mu satisfies ``mu(y) <= q(y|x) <= c mu(y)`` for all x, and then for any level v

    ``E_x >= v + sum_y mu(y) phi(loss[x, y] - v)``.

So for weights ``w_x >= 0`` and levels ``v_x``, with ``G(y) = sum_x w_x phi(loss[x, y] - v_x)`` and since
``1/c <= |mu| <= 1``,

    ``sum_x w_x E_x >= sum_x w_x v_x + min over such mu of sum_y mu(y) G(y)``,

where the minimum is ``min G`` if that is negative and ``min G / c`` if not. Weights that sum to one bound the worst
case. Weights equal to a prior bound the average. Weights ``prior + lambda`` bound ``average + sum_x lambda_x E_x``, and
so the average of every mechanism whose worst case is at most a ``cap``, by ``sum(lambda) cap`` less.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms.discrete import Discrete, whole_numbers

Floats = NDArray[np.float64]


def matrix_bound(
    epsilon: float,
    losses: Floats,
    levels: Floats,
    weights: Floats,
    prior: Floats | None = None,
    cap: float | None = None,
) -> Fraction:
    """A bound on the worst case (no ``prior``), or on the average under a prior, of every epsilon-LDP mechanism.

    With a ``cap`` the average is that of mechanisms whose worst case is at most the cap, and ``weights`` are the
    multipliers lambda of their errors; without one they must be 0. Exact in the numbers given and an upper bound of
    ``e^epsilon``; `CheckFailed` where numbers are not one for each input, or weights prove nothing.

    >>> levels, weights = np.array([0.2689, 0.2689]), np.array([0.5, 0.5])
    >>> bound = matrix_bound(1.0, np.array([[0.0, 1.0], [1.0, 0.0]]), levels, weights)
    >>> round(float(bound), 4)  # the optimum is that of randomised response, 1 / (1 + e) = 0.26894
    0.2689
    """
    for column in (levels, weights) if prior is None else (levels, weights, prior):
        if column.shape != losses.shape[:1]:
            raise CheckFailed(f"levels and weights must be one for each of the {losses.shape[0]} inputs")
    shares = weights if prior is None else prior
    if (weights < 0).any() or (shares < 0).any() or not shares.any():
        raise CheckFailed("weights must be at least 0, with a positive sum")
    if prior is not None and cap is None and weights.any():
        raise CheckFailed("weights beside a prior are multipliers of a cap, and there is none")
    if prior is None and cap is not None:
        raise CheckFailed("a cap says nothing where the worst case itself is bounded")
    least = least_weighted_loss(epsilon, losses, levels, *((weights,) if prior is None else (prior, weights)))
    if cap is not None:
        least -= exact_sum(weights) * Fraction(cap)
    return max(least / exact_sum(shares), Fraction(float(losses.min())))


def matrix_error(mechanism: Discrete, losses: Floats, prior: Floats | None = None) -> Fraction:
    """The exact worst case of a mechanism, or its average under a prior; outputs are numbers of columns.

    >>> from mechdesign.words.domains import Finite
    >>> coin = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.75, 0.25], [0.5, 0.5]])
    >>> matrix_error(coin, np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5]))
    Fraction(3, 8)
    """
    errors = exact_errors(mechanism, losses)
    return max(errors) if prior is None else weighted_mean(errors, prior)


def weighted_mean(values: list[Fraction], weights: Floats) -> Fraction:
    """``sum w v / sum w``, without rounding.

    >>> weighted_mean([Fraction(1, 3), Fraction(0)], np.array([0.5, 1.0]))
    Fraction(1, 9)
    """
    shares, exponent = whole_numbers(weights)
    total = sum((share * value for share, value in zip(shares.tolist(), values, strict=True)), Fraction(0))
    return total * Fraction(2) ** exponent / exact_sum(weights)


def least_weighted_loss(epsilon: float, losses: Floats, levels: Floats, *weights: Floats) -> Fraction:
    """A bound of ``sum_x w_x E_x`` from below for all epsilon-LDP mechanisms, w the exact sum of ``weights``.

    Everything is a Python integer on a common scale but the bound of ``e^epsilon``, which enters once.

    >>> least_weighted_loss(1.0, np.array([[2.0, 3.0]]), np.array([2.0]), np.array([0.5]))
    Fraction(1, 1)
    """
    numbers, weight_exponent = whole_numbers(np.stack(weights))
    shares = numbers.sum(axis=0)
    used = np.flatnonzero(shares)
    whole, exponent = whole_numbers(np.concatenate([levels[used, None], losses[used]], axis=1))
    gaps = whole[:, 1:] - whole[:, :1]
    ratio = exp_upper(epsilon)
    above, below = shares[used] @ np.maximum(gaps, 0), shares[used] @ np.minimum(gaps, 0)
    least = Fraction(min(above * ratio.denominator + below * ratio.numerator), ratio.denominator)
    level = int(shares[used] @ whole[:, 0])
    return (level + (least if least < 0 else least / ratio)) * Fraction(2) ** (exponent + weight_exponent)


def exact_errors(mechanism: Discrete, losses: Floats) -> list[Fraction]:
    """The expected loss at each input, exactly; the mechanism's outputs are numbers of columns of ``losses``.

    >>> from mechdesign.words.domains import Finite
    >>> coin = Discrete(1.0, Finite((0, 1)), Finite((0, 1)), [[0.75, 0.25], [0.5, 0.5]])
    >>> exact_errors(coin, np.array([[0.0, 1.0], [1.0, 0.0]]))
    [Fraction(1, 4), Fraction(1, 2)]
    """
    entries, _ = whole_numbers(mechanism.probabilities)
    costs, exponent = whole_numbers(losses[:, np.array(mechanism.outputs.points, dtype=np.intp)])
    unit = Fraction(2) ** exponent
    pairs = zip((entries * costs).sum(axis=1), entries.sum(axis=1), strict=True)
    return [Fraction(cost, total) * unit for cost, total in pairs]


def exact_sum(values: Floats) -> Fraction:
    """The sum of doubles without rounding."""
    whole, exponent = whole_numbers(values)
    return Fraction(int(whole.sum())) * Fraction(2) ** exponent
