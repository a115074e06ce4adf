"""The least average error under a prior where the worst case is capped."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.trade_off.proof import TradeOffBound as TradeOffBound
    from mechdesign.methods.trade_off.search import pareto as pareto
else:
    __getattr__, __dir__ = facade(__name__)
