"""The one shape that every estimate has as JSON."""

from __future__ import annotations

from mechdesign.values.declare import frozen


@frozen
class Estimated:
    """An estimate, its interval and its standard error, which are null where nobody knows them."""

    estimate: float
    lower: float | None
    upper: float | None
    standard_error: float | None


@frozen
class OfReports:
    """How sure the interval is, and how many reports it rests on."""

    confidence: float
    count: int
