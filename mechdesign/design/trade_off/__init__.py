"""The least average error under a prior where the worst case is capped."""

from mechdesign.design.trade_off.problem import TradeOffProblem
from mechdesign.design.trade_off.proof import TradeOffBound
from mechdesign.design.trade_off.search import optimal_trade_off, pareto

__all__ = ["TradeOffBound", "TradeOffProblem", "optimal_trade_off", "pareto"]
