"""The rivals of a least worst case on an interval: published mechanisms of numbers."""

from __future__ import annotations

from mechdesign.methods.rivalry import NumbersRivalry

RIVALRY = NumbersRivalry()
