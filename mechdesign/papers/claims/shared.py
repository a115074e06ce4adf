"""What claims share with the gallery: a file there computes a number and draws it once, for both."""

from __future__ import annotations

from typing import Any

from mechdesign.papers.claims.claim import Picture
from mechdesign.papers.gallery import entry


def number_of(name: str) -> float:
    """The number that a gallery file calls ours.

    >>> round(number_of("jrr_categories"), 12)
    -0.05
    """
    return float(entry(name).exhibit().answer()[0])


def picture_of(name: str) -> Picture:
    """The picture that a gallery file draws; the file is imported when it is drawn."""
    shown = entry(name)

    def draw(axes: Any) -> None:
        shown.exhibit().picture(axes)

    return draw
