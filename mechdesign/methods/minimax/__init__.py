"""The least worst-case error over all mechanisms on an interval."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.minimax.proof import MinimaxBound as MinimaxBound, MinimaxClaim as MinimaxClaim
    from mechdesign.methods.minimax.search import minimax_sweep as minimax_sweep
else:
    __getattr__, __dir__ = facade(__name__)
