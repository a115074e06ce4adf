"""Capacity planning (CAPRI): does the estimated total consumption land on the right side of the capacity?

``TTC = sum_v v X(v)`` is true, ``ETC = sum_v v Xbar(v)`` estimated. A capacity is exceeded by either or not:

    TP: TTC > cap and ETC > cap    FN: TTC > cap and ETC <= cap
    FP: TTC <= cap and ETC > cap   TN: TTC <= cap and ETC <= cap
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_chance, require_epsilon, require_name
from mechdesign.studies.budgets.constraint import AT_LEAST, AT_MOST
from mechdesign.values.declare import Counts, Floats, array, field, finite, frozen
from mechdesign.words.domains import require_numbers

if TYPE_CHECKING:
    from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol

EVENTS = ("tp", "tn", "fp", "fn")
LEAST, MOST, PRECISION = 0.001, 10.0, 0.01
RUNS = 50_000
"""Collections at an epsilon, as CAPRI has them."""

_FINEST = 10**6


def _consumption(said: ArrayLike) -> Floats:
    values = require_numbers(said, "consumption")
    if values.ndim != 1 or values.size < 2:
        raise InvalidInput("consumption", values.tolist(), "be a list of at least two values")
    if not np.isfinite(values).all() or (values < 0).any():
        bad = values[~np.isfinite(values) | (values < 0)][0]
        raise InvalidInput("consumption", float(bad), "be finite and at least 0")
    if (np.diff(values) <= 0).any():
        raise InvalidInput("consumption", values.tolist(), "increase strictly", "sum the households of equal values")
    return values


def _households(said: ArrayLike) -> Counts:
    counts = np.asarray(said)
    if counts.dtype.kind not in "iu" or (counts < 0).any() or not counts.any():
        raise InvalidInput("counts", said, "be whole numbers of at least 0, not all 0")
    return counts.astype(np.int64)


@frozen
class Capacity:
    """A population by consumption (``counts[i]`` households consume ``values[i]``) and the capacity they share.

    >>> Capacity([0, 10, 15], [1, 2, 1], 32).total
    35.0
    """

    values: ArrayLike = array(_consumption)
    counts: ArrayLike = array(_households)
    cap: float = finite("capacity")

    def __attrs_post_init__(self) -> None:
        if self.x.shape != self.v.shape:
            raise InvalidInput("counts", self.counts, f"be {self.v.size} whole numbers of at least 0, not all 0")

    @property
    def v(self) -> Floats:
        return np.asarray(self.values, dtype=np.float64)

    @property
    def x(self) -> Counts:
        return np.asarray(self.counts, dtype=np.int64)

    @property
    def users(self) -> int:
        return int(self.x.sum())

    @property
    def total(self) -> float:
        """TTC, the true total consumption, of values as they are written: 0.1 + 0.2 is 0.3."""
        shares = zip(self.v.tolist(), self.x.tolist(), strict=True)
        return float(sum((Fraction(str(value)) * count for value, count in shares), Fraction()))

    @property
    def exceeded(self) -> bool:
        """Whether the true total is above the capacity."""
        return self.total > self.cap

    def lattice(self, origin: float) -> tuple[Counts, float]:
        """Whole numbers m and the largest unit with ``v = origin + m * unit``; the origin is 0 or the least value."""
        exact = [Fraction(str(value)) for value in self.v.tolist()]
        scale = lcm(*(value.denominator for value in exact))
        if scale > _FINEST:
            rule = f"be multiples of 1/{_FINEST} or coarser"
            raise InvalidInput("consumption", self.v.tolist(), rule, "round the values")
        whole = [int((value - Fraction(str(origin))) * scale) for value in exact]
        step = gcd(*whole)
        return np.array([value // step for value in whole], dtype=np.int64), float(Fraction(step, scale))

    def etc(self, law: FrequencyProtocol, support: Floats) -> Floats:
        """ETC from support counts, a collection a row."""
        return np.asarray((support - self.users * law.q) / (law.p - law.q) @ self.v)

    def deviation(self, law: FrequencyProtocol) -> float:
        """The standard deviation of ETC, exactly, from the covariance of the estimates."""
        covariance = law.covariance(self.x / self.users, self.users)
        variance = float(self.v @ covariance @ self.v)
        return math.sqrt(max(variance, 0.0)) * self.users


@frozen
class Requirement:
    """``Pr[event] < tau`` for FP and FN, ``Pr[event] >= tau`` for TP and TN (Algorithm 8)."""

    event: str = field(converter=lambda said: require_name(said, "metric", EVENTS))
    tau: float = field(converter=lambda said: require_chance(said, "tau"))

    @property
    def is_right(self) -> bool:
        """Whether the event is the right answer, which has to be frequent."""
        return self.event in ("tp", "tn")

    @property
    def direction(self) -> str:
        return AT_LEAST if self.is_right else AT_MOST

    @property
    def threshold(self) -> float:
        return self.tau

    @property
    def words(self) -> str:
        return f"Pr[{self.event.upper()}] {'>=' if self.is_right else '<'} {self.tau:g}"

    def holds(self, probability: float) -> bool:
        """Algorithm 8."""
        return probability >= self.tau if self.is_right else probability < self.tau

    def is_met(self, mean: float, share: float) -> bool:
        """Algorithm 8, of the share of collections in which the event happened: there is no second probability."""
        return self.holds(mean)

    def unmet(self, by: str, span: tuple[float, float], epsilon: float, mean: float, share: float) -> InvalidInput:
        """The error where no epsilon looked at meets it, with the best one."""
        return unmet_requirement(self, *span, mean, epsilon)

    def probability(self, capacity: Capacity, above: float) -> float:
        """The event's probability where ETC is above the capacity with probability ``above``."""
        if capacity.exceeded != (self.event in ("tp", "fn")):
            return 0.0
        return above if self.event in ("tp", "fp") else 1.0 - above

    def require_possible(self, capacity: Capacity) -> None:
        """Refuse what no epsilon can change: an event that cannot happen, a capacity at the total, an easy tau."""
        require_capacity(capacity)
        if capacity.cap == capacity.total:
            rule = "differ from the true total consumption: there ETC is above it about half the time at every eps"
            raise InvalidInput("capacity", capacity.cap, rule)
        needs = self.event in ("tp", "fn")
        if capacity.exceeded != needs:
            other = {"tp": "fp or tn", "fn": "fp or tn", "fp": "tp or fn", "tn": "tp or fn"}[self.event]
            side = "above" if needs else "at or below"
            rule = f"be one that can happen: {self.event.upper()} needs a true total {side} the capacity"
            shown = f"total {capacity.total:.12g}, capacity {capacity.cap:.12g}"
            raise InvalidInput("metric", self.event, rule, f"{shown}: use {other}")


def require_capacity(capacity: Capacity) -> None:
    """`InvalidInput` for a capacity that no consumption could keep to."""
    if capacity.cap < 0:
        raise InvalidInput("capacity", capacity.cap, "be at least 0, as consumption is")


def require_range(least: float, most: float) -> tuple[float, float]:
    """Where to look for an epsilon."""
    low, high = require_epsilon(least, "least eps"), require_epsilon(most, "most eps")
    if low >= high:
        raise InvalidInput("eps range", (low, high), "go up", f"for example {LEAST} to {MOST:g}")
    return low, high


def unmet_requirement(requirement: Requirement, least: float, most: float, best: float, at: float) -> InvalidInput:
    """The error of a requirement no epsilon of the range meets."""
    rule = f"be met by some eps in [{least:g}, {most:g}]"
    return InvalidInput("requirement", requirement.words, rule, f"best reached: {best:.6g} at eps = {at:g}")


Above = Callable[[float], float]
"""``Pr[ETC > cap]`` as a function of epsilon."""
