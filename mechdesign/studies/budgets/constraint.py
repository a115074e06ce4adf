"""What a collection has to achieve: a metric on the right side of a threshold, with a probability."""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_chance
from mechdesign.studies.frequencies import metrics
from mechdesign.values.declare import field, finite, frozen, settle

Measure = Callable[[ArrayLike, ArrayLike], float]

AT_LEAST, AT_MOST = "at least", "at most"

_KENDALL = ("kendall", "kendall-optimus", "kendall-optimus-squared")
_RANGES = {"top": (0.0, 1.0)} | dict.fromkeys(_KENDALL, (-1.0, 1.0))  # by the name before a colon


def _probability(said: object) -> float:
    tip = "no number of simulations can show that something always or never happens"
    return require_chance(said, "probability", tip)


@frozen
class Constraint:
    """``P(metric(truth, estimate) <= threshold) >= probability``, or with ``>=`` where more of the metric is better.

    ``metric`` is a name of `frequencies.metrics` or any function of (truth, estimate), for which ``direction`` has to
    say which side of the threshold is the good one.

    >>> Constraint("kendall", 0.7, 0.9).words
    'kendall at least 0.7 with probability at least 0.9'
    >>> Constraint("top", 0.7, 0.9).words
    'precision of the top 10 at least 0.7 with probability at least 0.9'
    """

    metric: str | Measure
    threshold: float = finite("threshold")
    probability: float = field(converter=_probability)
    direction: str | None = None
    measure: Measure = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        known = metrics.metric(self.metric) if isinstance(self.metric, str) else None
        if known is None and not callable(self.metric):
            raise InvalidInput("metric", self.metric, "be a name or a function of (truth, estimate)")
        better = None if known is None else (AT_LEAST if known.more_is_better else AT_MOST)
        direction = self.direction if self.direction is not None else better
        if direction not in (AT_LEAST, AT_MOST):
            raise InvalidInput("direction", self.direction, f"be {AT_LEAST!r} or {AT_MOST!r}")
        if better is not None and direction != better:
            rule = (
                f"be {better!r} for {self.name}, whose {'larger' if better == AT_LEAST else 'smaller'} values are good"
            )
            raise InvalidInput("direction", self.direction, rule)
        everything = (-math.inf, math.inf)
        low, high = everything if known is None else _RANGES.get(self.name.partition(":")[0], (0.0, math.inf))
        if not low <= self.threshold <= high:
            raise InvalidInput("threshold", self.threshold, f"lie in the range [{low:g}, {high:g}] of {self.name}")
        settle(self, direction=direction, measure=known.measure if known is not None else self.metric)

    @property
    def name(self) -> str:
        """The metric in one word."""
        return self.metric if isinstance(self.metric, str) else getattr(self.metric, "__name__", "metric")

    @property
    def called(self) -> str:
        """The metric as people read it: a top says how many."""
        is_top = isinstance(self.metric, str) and self.metric.partition(":")[0] == "top"
        return metrics.metric(self.name).meaning if is_top else self.name

    @property
    def words(self) -> str:
        return f"{self.called} {self.direction} {self.threshold:g} with probability at least {self.probability:g}"

    def holds(self, value: float) -> bool:
        """Whether a value of the metric is on the good side."""
        return value >= self.threshold if self.direction == AT_LEAST else value <= self.threshold

    def is_met(self, mean: float, share: float) -> bool:
        """Line 13 of Algorithm 1: the average is on the good side, and so is a large enough share of collections."""
        return self.holds(mean) and share >= self.probability

    def unmet(self, by: str, span: tuple[float, float], epsilon: float, mean: float, share: float) -> InvalidInput:
        """The error where no epsilon looked at meets it, with the best one."""
        rule = f"be met by some eps in [{span[0]:g}, {span[1]:g}] with {by}"
        seen = f"best seen: probability {share:.4g}, average {mean:.4g}, at eps = {epsilon:.6g}"
        return InvalidInput("constraint", self.words, rule, seen)
