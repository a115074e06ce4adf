"""The rivals of a least average next to a least worst case: published mechanisms, under the prior of the proof."""

from __future__ import annotations

from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import NumbersRivalry, as_atoms
from mechdesign.methods.trade_off.proof import TradeOffBound
from mechdesign.methods.trade_off.supports import capped_of


def _least(design: Design) -> float | None:
    """The least worst case there is, which a lexicographic optimum stays near to; None where a number caps it."""
    asked, evidence = capped_of(design.problem), design.evidence
    if asked.cap is not None or not isinstance(evidence, TradeOffBound):
        return None
    return evidence.cap_of(asked) / (1 + asked.slack)


RIVALRY = NumbersRivalry(lambda design: as_atoms(capped_of(design.problem).atoms), _least)
