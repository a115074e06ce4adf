"""A distance and an angle: how to split epsilon between two piecewise mechanisms."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.polar.proof import SplitClaim as SplitClaim
    from mechdesign.methods.polar.search import best_split as best_split
else:
    __getattr__, __dir__ = facade(__name__)
