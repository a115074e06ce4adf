"""What the reports of a period lose together, for each relation of two histories: exactly, or within bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

from mechdesign.errors import NoAnswer
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.tables.device.description import Device
from mechdesign.tables.device.losses import all_values_changed, changes_bounded, one_value_changed
from mechdesign.values.declare import frozen

_DIGITS = 6


@frozen
class Loss:
    """What the reports of one period lose together where two histories are related so: exactly, or within bounds.

    >>> Loss("one value changed", 7, 1.25, 1.25, exact=True).words
    '1.25 (exactly)'
    """

    relation: str
    reports: int
    lower: float
    upper: float
    exact: bool

    @property
    def words(self) -> str:
        """The loss as it is told: bounds are rounded outward."""
        if self.exact:
            return "no bound" if math.isinf(self.upper) else f"{self.upper:.{_DIGITS}g} (exactly)"
        scale = 10.0**_DIGITS
        return f"between {math.floor(self.lower * scale) / scale:g} and {math.ceil(self.upper * scale) / scale:g}"


def losses_together(device: Device) -> tuple[Loss, ...]:
    """The losses of all reports of a period, by how two histories differ."""
    n = device.reports
    relations: tuple[tuple[str, Callable[[], LikelihoodRatio]], ...] = (
        ("one value changed", lambda: one_value_changed(device, n)),
        ("all values changed", lambda: all_values_changed(device, n)),
        ("at most one change each", lambda: changes_bounded(device, n, 1)),
    )
    return tuple(_loss(relation, n, stated) for relation, stated in relations)


def _loss(relation: str, reports: int, stated: Callable[[], LikelihoodRatio]) -> Loss:
    try:
        loss = stated().loss
    except NoAnswer as bounds:
        return Loss(relation, reports, bounds.lower, bounds.upper, exact=False)
    return Loss(relation, reports, loss, loss, exact=True)
