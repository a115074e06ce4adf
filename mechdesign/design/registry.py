"""Every design problem with what proves it: one line a problem, which files, commands and documentation go by."""

from __future__ import annotations

from mechdesign.design.additive import AdditiveBound, AdditiveProblem
from mechdesign.design.convex import ConvexClaim, LinearBound, TableProblem
from mechdesign.design.evidence import Evidence, Problem
from mechdesign.design.finite import FiniteBound, FiniteProblem, LexicographicBound
from mechdesign.design.joint import ClosedForm, DualBound, JointClaim, JointProblem
from mechdesign.design.minimax import MinimaxBound, MinimaxClaim, MinimaxProblem
from mechdesign.design.piecewise import BathtubBound, PiecewiseClaim, PiecewiseProblem
from mechdesign.design.points import PointsBound
from mechdesign.design.polar import PolarProblem, SplitClaim
from mechdesign.design.prior import BinsBound, PriorProblem
from mechdesign.design.trade_off import TradeOffBound, TradeOffProblem
from mechdesign.design.unbiased import UnbiasedPriorBound, UnbiasedProblem
from mechdesign.design.unbiased_piecewise import UnbiasedBound, UnbiasedPiecewiseProblem
from mechdesign.mechanisms.kinds import PROTOCOLS
from mechdesign.values.codec import Codec

PROVEN_BY: dict[type[Problem], tuple[type[Evidence], ...]] = {
    JointProblem: (ClosedForm, DualBound, JointClaim),
    PiecewiseProblem: (BathtubBound, PiecewiseClaim),
    MinimaxProblem: (MinimaxBound, MinimaxClaim, PointsBound),
    PriorProblem: (BinsBound, PointsBound),
    TradeOffProblem: (TradeOffBound,),
    PolarProblem: (SplitClaim,),
    UnbiasedPiecewiseProblem: (UnbiasedBound,),
    UnbiasedProblem: (UnbiasedPriorBound,),
    AdditiveProblem: (AdditiveBound,),
    FiniteProblem: (FiniteBound, LexicographicBound),
    TableProblem: (LinearBound, ConvexClaim),
}
"""The problems, and for each the kinds of evidence that its designs may rest on."""

CODEC = Codec(PROTOCOLS)
"""How designs are read from files."""
