"""The formulas behind every confidence interval of the package; how often each covers stands on a page of its own.

There are three:

* `clopper_pearson`, for a chance from how often it came true: it covers with at least the confidence, always.
* `reach_of_mean`, for the mean of numbers between known ends.
* `interval_of_runs`, for the expectation of what a few simulated runs gave: Student's, which knows no ends and is an
  approximation: of values with a long tail it holds less often than it says.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import require_chance
from mechdesign.values.declare import Floats
from mechdesign.values.later import special

CONFIDENCE = 0.95
LEAST_RUNS = 5
"""Of fewer runs no interval is told: their spread says too little about the next one."""


def require_confidence(confidence: float) -> float:
    """A confidence, strictly between 0 and 1."""
    return require_chance(confidence, "confidence", "for example 0.95")


def normal_quantile(confidence: float) -> float:
    """z with ``P(|Z| <= z) = confidence`` for a standard normal Z."""
    return float(special.ndtri(0.5 + require_confidence(confidence) / 2))


def reach_of_mean(
    average: ArrayLike, variance: ArrayLike, count: float, ends: tuple[ArrayLike, ArrayLike], confidence: float
) -> tuple[Floats, Floats]:
    """How far below and above the average of n numbers the mean of the population they come from may be.

    ``sqrt((z s)^2 / n + ((1 - t^(1/n)) d)^2)`` with ``t = (1 - confidence) / 2``, the variance s^2 of a number and the
    distance d from the average to the end on that side (0 where the average is beyond it). The first part is the normal
    interval. The second is what the n numbers cannot tell: a share of ``1 - t^(1/n)``, nearly ``ln(1 / t) / n``, of the
    population may lie at the end and be missed by all of them with chance t.

    *Guarantee.* Where all numbers agree it is exact, Clopper and Pearson's; for many it is the normal one, up to a
    share of order 1/n. Two-valued numbers are covered in at least 94% of all cases at a confidence of 95%, whatever n
    and their mean (computed, not proven: for n up to 1,000). No interval can do without the second part: one that
    covers every population between the ends in 95% of all cases has, where all the population agrees, a mean length of
    at least 1.6/n of the distance between the ends (n of 5 and more; 2/n for many): whoever lies at an end and is
    missed leaves no trace.

    >>> below, above = reach_of_mean(0.0, 0.0, 10, (0.0, 1.0), 0.95)  # ten zeros
    >>> float(below), round(float(above), 3)
    (0.0, 0.308)
    """
    noise = normal_quantile(confidence) * np.sqrt(np.asarray(variance, dtype=np.float64) / count)
    missed = -math.expm1(math.log((1 - confidence) / 2) / count)
    below = np.maximum(np.subtract(average, ends[0]), 0.0)
    above = np.maximum(np.subtract(ends[1], average), 0.0)
    return np.asarray(np.hypot(noise, missed * below)), np.asarray(np.hypot(noise, missed * above))


def sample_variance(square: ArrayLike, count: float) -> Floats:
    """The variance of a number from the mean square about the average of so many; one alone has none to be seen."""
    return np.maximum(np.asarray(square, dtype=np.float64), 0.0) * (count / max(count - 1, 1))


def clopper_pearson(successes: Floats, n: float | Floats, confidence: float) -> tuple[Floats, Floats]:
    """The exact interval of a chance from how often it came true in n trials.

    >>> [round(float(end), 4) for end in clopper_pearson(np.array(3.0), 10, 0.95)]
    [0.0667, 0.6525]
    """
    tail = (1 - confidence) / 2
    inside, some = successes < n, successes > 0
    low = np.where(some, special.betaincinv(np.where(some, successes, 1), n - successes + 1, tail), 0.0)
    high = np.where(inside, special.betaincinv(successes + 1, np.where(inside, n - successes, 1), 1 - tail), 1.0)
    return low, high


def interval_of_runs(values: ArrayLike, step: float = 0.0) -> tuple[float, float] | None:
    """Where the expectation of a run's value is, by Student's t; None of fewer than `LEAST_RUNS` runs.

    Runs that agree have no spread. Where values move in known steps one more is added to the reach, in squares, with
    the chance that all runs may have missed: as in `reach_of_mean`.

    >>> interval_of_runs([1.0, 1.0, 1.0]), interval_of_runs([1.0] * 10)
    (None, (1.0, 1.0))
    """
    seen = np.asarray(values, dtype=np.float64)
    if seen.size < LEAST_RUNS:
        return None
    mean = math.fsum(seen.tolist()) / seen.size
    spread = float(special.stdtrit(seen.size - 1, 0.5 + CONFIDENCE / 2)) * float(seen.std(ddof=1))
    missed = -math.expm1(math.log((1 - CONFIDENCE) / 2) / seen.size)
    reach = math.hypot(spread / math.sqrt(seen.size), missed * step)
    return mean - reach, mean + reach
