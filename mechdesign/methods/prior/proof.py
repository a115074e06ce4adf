"""Bounds on the average error over *all* epsilon-LDP mechanisms on a line under a prior.

From below the best bins bound every mechanism (`mechdesign.exact.bins` has the theorem); from above stands the
mechanism's own average (`mechdesign.exact.window`). A prior of many values, or a density, is gathered in cells: then
both bounds hold for every prior with these cells.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.exact.bins import least_average
from mechdesign.exact.cuts import cells_of
from mechdesign.exact.rational import float_down, float_up
from mechdesign.exact.window import exact_average
from mechdesign.mechanisms.window import Window
from mechdesign.methods.evidence import require_mechanism
from mechdesign.methods.line import line_of
from mechdesign.methods.prior.supports import supports
from mechdesign.values.declare import array, frozen, optional, stored
from mechdesign.words.cells import Cells, KnownPrior
from mechdesign.words.criteria import Family, Scope

Floats = NDArray[np.float64]


@frozen
class BinsBound:
    """Where the prior is cut into cells; None bounds the average under its values, each for itself.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.priors import Atoms
    >>> from mechdesign.words.privacy import Pure
    >>> from mechdesign.words.problem import Problem
    >>> two = Average(Atoms([0.0, 1.0], [0.5, 0.5]))
    >>> problem = Problem(inputs=(0, 1), loss="squared", privacy=Pure(1.0), criterion=two)
    >>> 0.196611 < BinsBound().bound(problem, None) < 0.19661194  # c / (1 + c)^2
    True
    """

    kind: ClassVar[str] = "bins"
    claimed: ClassVar[bool] = False

    cuts: Floats | None = array(optional(stored), default=None)

    def __attrs_post_init__(self) -> None:
        if self.cuts is None:
            return
        if self.cuts.ndim != 1 or not np.isfinite(self.cuts).all() or not (np.diff(self.cuts) > 0).all():
            raise InvalidInput("cuts", self.cuts.shape, "be finite numbers in increasing order")

    def cells(self, prior: KnownPrior) -> Cells:
        """A prior between these cuts."""
        return _cells(prior, self)

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = line_of(problem, supports)
        return float_down(least_average(asked.epsilon, int(asked.exponent), self.cells(asked.prior)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The mechanism's average error under the prior; if that has wide cells, the most it can be."""
        asked, window = line_of(problem, supports), require_mechanism(mechanism, Window, problem)
        return float_up(exact_average(window, self.cells(asked.prior), int(asked.exponent)))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        are_atoms = self.cells(line_of(problem, supports).prior).are_atoms
        return Scope(Family.ALL, prior="" if are_atoms else ", under every prior with these cells")


@lru_cache(maxsize=8)
def _cells(prior: KnownPrior, evidence: BinsBound) -> Cells:
    return cells_of(prior, evidence.cuts)
