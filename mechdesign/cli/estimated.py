"""What every estimate says: its one shape as JSON, and what nobody can tell of labels."""

from __future__ import annotations

from mechdesign.values.declare import frozen

CODES_LOOK_LIKE_LABELS = (
    "some labels of this table are the codes of other categories: what samplers give as codes (sample_code) must be "
    "read with estimate --codes, and labels without it; the one read as the other is swapped, and nobody can tell"
)


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
