"""Bounds on the average error of mechanisms whose worst case is capped, in integer arithmetic.

For a prior p and prices ``s_j >= 0`` on inputs ``x_j``, every epsilon-LDP mechanism of worst case at most ``cap`` has

    ``sum p_i E|Y - x_i|^p >= sum p_i E|Y - x_i|^p + sum s_j (E|Y - x_j|^p - cap)``,

and the right-hand side is the average under the prior ``p + s``, which `mechdesign.exact.bins` bounds over all
epsilon-LDP mechanisms, less ``cap * sum s_j``. (Prices are the multiplier of the cap times a least-favourable prior.)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput, require_finite
from mechdesign.exact.bins import least_average
from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.exact.rational import float_down, float_up
from mechdesign.exact.window import exact_average, exact_worst_error
from mechdesign.mechanisms.window import Window
from mechdesign.methods.evidence import require_mechanism
from mechdesign.methods.trade_off.supports import Cap, capped_of
from mechdesign.values.declare import array, field, frozen, optional
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Family, Scope
from mechdesign.words.domains import Interval

Floats = NDArray[np.float64]


@frozen
class TradeOffBound:
    """Prices on inputs, and for a lexicographic optimum its cap and what shows that no worst case is much lower.

    Where the problem has a ``cap`` it is that one. Where it asks for the least worst case first, ``cap`` is at most
    ``1 + 1.5 slack`` times what ``least`` proves of the worst case of all mechanisms.

    >>> from mechdesign.words.criteria import Lexicographic
    >>> from mechdesign.words.priors import Atoms
    >>> from mechdesign.words.privacy import Pure
    >>> from mechdesign.words.problem import Problem
    >>> near = Lexicographic(Atoms([0.5], [1.0]), cap=0.197)
    >>> problem = Problem(inputs=(0, 1), loss="squared", privacy=Pure(1.0), criterion=near)
    >>> TradeOffBound([0.0, 1.0], [9.0, 9.0]).bound(problem, None) > 0.04  # a small worst case keeps outputs off 1/2
    True
    """

    kind: ClassVar[str] = "trade-off"
    claimed: ClassVar[bool] = False

    inputs: Floats = array()
    prices: Floats = array()
    cap: float | None = field(default=None, converter=optional(lambda said: require_finite(said, "cap")))
    least: LevelledPrior | None = None

    def __attrs_post_init__(self) -> None:
        for name, column in (("inputs", self.inputs), ("prices", self.prices)):
            if column.ndim != 1 or column.shape != self.inputs.shape or not np.isfinite(column).all():
                raise InvalidInput(f"priced {name}", column.shape, "be finite, one price an input")
        if not (np.diff(self.inputs) > 0).all():
            raise InvalidInput("priced inputs", "unsorted", "be strictly increasing")
        if not (self.prices > 0).all():
            raise InvalidInput("prices", float(self.prices.min(initial=0.0)), "be above 0", "drop inputs without price")
        if (self.cap is None) != (self.least is None):
            raise InvalidInput("cap", self.cap, "be there with the proof of the least worst case, or both left out")
        if self.cap is not None and not self.cap >= 0:
            raise InvalidInput("cap", self.cap, "be at least 0")

    def multiplier(self, asked: Cap) -> float:
        """What the average gains when the cap is lifted by a little."""
        return float(self.prices.sum() / asked.atoms.weights.sum())

    def cap_of(self, asked: Cap) -> float:
        """The most that a worst case may be; one that was not asked for must be near the least."""
        if asked.cap is not None:
            if self.cap is not None:
                raise CheckFailed("the problem has a cap, and the evidence another one")
            return asked.cap
        if self.cap is None or self.least is None:
            raise CheckFailed("the problem has no cap, and the evidence does not prove what worst case is the least")
        _require_inside(self.least.inputs, asked.line.inputs)
        least = self.least.least_worst_case(asked.line.epsilon, asked.exponent)
        if not Fraction(self.cap) <= least * (1 + Fraction(3, 2) * Fraction(asked.slack)):
            raise CheckFailed(f"the cap {self.cap!r} is further above the least worst case than its slack allows")
        return self.cap

    def value(self, asked: Cap) -> Fraction:
        """The bound, an exact rational."""
        atoms = asked.atoms
        mixture = self._mixture(atoms)
        total = sum(map(Fraction, atoms.weights.tolist()))
        mass = sum(map(Fraction, mixture.weights.tolist()))
        paid = Fraction(self.cap_of(asked)) * sum(map(Fraction, self.prices.tolist()), Fraction(0))
        return max(Fraction(0), (mass * least_average(asked.line.epsilon, asked.exponent, mixture) - paid) / total)

    def _mixture(self, prior: Cells) -> Cells:
        """Prior and prices together; sums are rounded down, and errors are not negative."""
        weights = dict(zip(prior.means.tolist(), prior.weights.tolist(), strict=True))
        for x, price in zip(self.inputs.tolist(), self.prices.tolist(), strict=True):
            weights[x] = float_down(Fraction(weights[x]) + Fraction(price)) if x in weights else price
        points = sorted(weights)
        return Cells.of_atoms(points, [weights[x] for x in points])

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = capped_of(problem)
        _require_inside(self.inputs, asked.line.inputs)
        return float_down(self.value(asked))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The mechanism's average error under the prior, if its worst case keeps the cap."""
        asked = capped_of(problem)
        window, cap = require_mechanism(mechanism, Window, problem), self.cap_of(asked)
        worst = exact_worst_error(window, asked.exponent)
        if not worst <= Fraction(cap):
            raise CheckFailed(f"the mechanism has worst case {float_up(worst)!r}, above the cap {cap!r}")
        return float_up(exact_average(window, asked.atoms, asked.exponent))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        asked = capped_of(problem)
        rounded = f", under the prior rounded to {asked.atoms.means.size} atoms" if asked.is_rounded else ""
        return Scope(Family.ALL, cap=self.cap_of(asked), prior=rounded)


def _require_inside(places: Floats, inputs: Interval) -> None:
    if ((places < inputs.lower) | (places > inputs.upper)).any():
        raise CheckFailed(f"the evidence prices inputs or has atoms that are not among the inputs {inputs}")
