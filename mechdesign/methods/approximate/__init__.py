"""A loss matrix, and one epsilon for all inputs but for a probability delta."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.approximate.proof import HockeyBound as HockeyBound
else:
    __getattr__, __dir__ = facade(__name__)
