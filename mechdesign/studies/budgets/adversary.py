"""What a Bayesian adversary learns from one report: success rate, squared error, and who is below a threshold.

The adversary knows the protocol and a prior and predicts ``argmax_v P(v | report)``; equal candidates are drawn from
evenly. Everything follows from the confusion matrix ``P(predicted w | true v)``, which is computed exactly: by
enumeration of the channel where reports are few, and in closed form where items are supported independently.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.studies.budgets.simulation import has_independent_items
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.protocols.subset import SubsetSelection
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import require_numbers

_SAME = 1e-12


@frozen
class Threat:
    """Averages over the population of true values: attack success rate and mean squared error of the prediction."""

    success: float
    squared_error: float


@frozen
class Detection:
    """Predicting "at most eta": precision, recall and F-score (0 where there is nothing to divide by)."""

    precision: float
    recall: float
    f_score: float


def confusion(law: FrequencyProtocol, prior: ArrayLike | None = None) -> Floats:
    """``P(predicted w | true v)``, a row a true value, for a prior (even unless given, as in the paper).

    >>> from mechdesign.studies.frequencies.protocols import protocol
    >>> confusion(protocol("oue", 1.0, 3)).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    size = law.size
    weights = np.full(size, 1 / size) if prior is None else _prior(prior, size)
    once = law.once if isinstance(law, Longitudinal) else law
    even = bool(np.ptp(weights) <= _SAME)
    if has_independent_items(law):
        p, q = float(law.p), float(law.q)
        return _alike(_unary_success(size, p, q), size) if even else _unary(weights, p, q)
    if isinstance(once, SubsetSelection) and even:
        return _alike(once.p / once.subset, size)
    channel = law.channel()
    posterior = channel * weights[:, None]
    best = posterior >= posterior.max(axis=0) * (1 - _SAME)
    return np.asarray(channel @ (best / best.sum(axis=0)).T)


def threat(law: FrequencyProtocol, values: ArrayLike, counts: ArrayLike, prior: ArrayLike | None = None) -> Threat:
    """ASR and MSE over a population that holds ``values[v]`` with ``counts[v]``."""
    v, shares = _population(values, counts, law.size)
    table = confusion(law, prior)
    return Threat(float(shares @ np.diag(table)), float(shares @ (table * (v[:, None] - v[None, :]) ** 2).sum(axis=1)))


def detection(
    law: FrequencyProtocol, values: ArrayLike, counts: ArrayLike, eta: float, prior: ArrayLike | None = None
) -> Detection:
    """How well the adversary tells who is at most eta."""
    v, shares = _population(values, counts, law.size)
    below = v <= require_finite(eta, "eta")
    said = confusion(law, prior)[:, below].sum(axis=1)
    atp, afp = float(shares[below] @ said[below]), float(shares[~below] @ said[~below])
    truth = float(shares[below].sum())
    precision = atp / (atp + afp) if atp + afp > 0 else 0.0
    recall = atp / truth if truth > 0 else 0.0
    both = precision + recall
    return Detection(precision, recall, 2 * precision * recall / both if both > 0 else 0.0)


def _alike(success: float, size: int) -> Floats:
    """The true value with this probability, each other one equally often."""
    table = np.full((size, size), (1 - success) / (size - 1))
    np.fill_diagonal(table, success)
    return table


def _unary_success(size: int, p: float, q: float) -> float:
    """Own item supported and drawn among the supported, ``p E[1 / (1 + Bin(k - 1, q))]``, or drawn from none."""
    none = (1 - q) ** (size - 1)
    own = (1 - (1 - q) * none) / (size * q)
    return p * own + (1 - p) * none / size


def _unary(weights: Floats, p: float, q: float) -> Floats:
    """The heaviest item wins: it weighs its prior, times ``p (1 - q) / (q (1 - p))`` where it is supported.

    With T items as heavy as the chosen one it is drawn with probability ``1 / (1 + T)``, on average
    ``int_0^1 E[s^T 1(none is heavier)] ds``: a product over the items under a polynomial integral.
    """
    size = weights.size
    lift = p * (1 - q) / (q * (1 - p))
    points, parts = np.polynomial.legendre.leggauss(size // 2 + 1)
    s, parts = (points[:, None] + 1) / 2, parts / 2
    table = np.zeros((size, size))
    for chosen in range(size):
        for supported in (True, False):
            weight = weights[chosen] * (lift if supported else 1.0)
            absent, present = _not_heavier(weights, weight, s), _not_heavier(weights * lift, weight, s)
            other, true = (1 - q) * absent + q * present, (1 - p) * absent + p * present
            other[:, chosen] = 1.0
            true[:, chosen] = p / q if supported else (1 - p) / (1 - q)
            # the true item's factor is another one: the product of all others, from both sides
            before = np.cumprod(np.hstack([np.ones_like(s), other[:, :-1]]), axis=1)
            after = np.cumprod(np.hstack([np.ones_like(s), other[:, :0:-1]]), axis=1)[:, ::-1]
            table[:, chosen] += (q if supported else 1 - q) * (parts @ (before * true * after))
    return table


def _not_heavier(weights: Floats, weight: float, s: Floats) -> Floats:
    """1 where an item weighs less, s where it weighs the same, 0 where more: a row for every s."""
    same = np.abs(weights - weight) <= _SAME * weight
    return np.where(same, s, (weights < weight).astype(np.float64))


def _prior(prior: ArrayLike, size: int) -> Floats:
    weights = require_numbers(prior, "prior")
    if weights.shape != (size,) or (weights < 0).any() or not np.isfinite(weights).all() or weights.sum() <= 0:
        raise InvalidInput("prior", prior, f"be {size} weights of at least 0, not all 0")
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _population(values: ArrayLike, counts: ArrayLike, size: int) -> tuple[Floats, Floats]:
    v, x = require_numbers(values, "values"), require_numbers(counts, "counts")
    if v.shape != (size,) or x.shape != (size,) or (x < 0).any() or x.sum() <= 0:
        raise InvalidInput("values, counts", (v.shape, x.shape), f"be {size} values and as many counts, not all 0")
    return np.asarray(v, dtype=np.float64), np.asarray(x / x.sum(), dtype=np.float64)
