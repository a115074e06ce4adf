"""Vectors of bounded length: a direction is reported, more often one that leans to one's own side."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.ball.proof import DirectionBound as DirectionBound
else:
    __getattr__, __dir__ = facade(__name__)
