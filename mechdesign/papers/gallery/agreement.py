"""When the two numbers of a gallery file agree: near each other, or one on the right side of the other.

>>> near(1e-3).holds(1.0004, 1.0), near(1e-3).holds(1.002, 1.0)
(True, False)
>>> at_most(0.0).holds(0.9, 1.0), at_least(0.0).holds(0.9, 1.0)
(True, False)
"""

from __future__ import annotations

from dataclasses import dataclass

IS, AT_MOST, AT_LEAST = "is", "at most", "at least"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Ours stands in this ``relation`` to the reference, up to a ``share`` of the reference.

    >>> near(1e-6).in_words, at_most(0.0).in_words
    ('within 1e-06 of', 'at most')
    """

    relation: str
    share: float

    def holds(self, ours: float, reference: float) -> bool:
        slack = self.share * abs(reference)
        above = self.relation == AT_LEAST or ours <= reference + slack
        below = self.relation == AT_MOST or ours >= reference - slack
        return above and below

    @property
    def in_words(self) -> str:
        """What ours is, before the words "the reference"."""
        within = f"within {self.share:g} of" if self.share else ""
        return within or "equal to" if self.relation == IS else " ".join(filter(None, (self.relation, within)))


def near(share: float) -> Tolerance:
    """Both are the same number, up to a share of it."""
    return Tolerance(IS, share)


def at_most(share: float) -> Tolerance:
    """Ours is the reference or below it."""
    return Tolerance(AT_MOST, share)


def at_least(share: float) -> Tolerance:
    """Ours is the reference or above it."""
    return Tolerance(AT_LEAST, share)
