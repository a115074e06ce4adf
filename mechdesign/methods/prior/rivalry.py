"""The rivals of a least average on an interval: published mechanisms of numbers, under the prior of the proof."""

from __future__ import annotations

from mechdesign.methods.line import line_of
from mechdesign.methods.prior.supports import supports
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import NumbersRivalry, as_atoms
from mechdesign.words.cells import Cells
from mechdesign.words.priors import Prior


def _proven(design: Design) -> Prior:
    """The prior itself; of cells the means."""
    prior: Prior | Cells = line_of(design.problem, supports).prior
    return as_atoms(prior) if isinstance(prior, Cells) else prior


RIVALRY = NumbersRivalry(_proven)
