"""An objective and constraints of one's own, in CVXPY."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.convex.proof import ConvexBound as ConvexBound, ConvexClaim as ConvexClaim
else:
    __getattr__, __dir__ = facade(__name__)
