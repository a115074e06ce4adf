"""Bounds on the average error of mechanisms whose worst case is capped, in integer arithmetic.

For a prior p and prices ``s_j >= 0`` on inputs ``x_j``, every epsilon-LDP mechanism of worst case at most ``cap`` has

    ``sum p_i E|Y - x_i|^p >= sum p_i E|Y - x_i|^p + sum s_j (E|Y - x_j|^p - cap)``,

and the right-hand side is the average under the prior ``p + s``, which `mechdesign.design.prior.proof` bounds over all
epsilon-LDP mechanisms, less ``cap * sum s_j``. (Prices are the multiplier of the cap times a least-favourable prior.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.evidence import EVERYWHERE
from mechdesign.design.minimax.proof import MinimaxBound, exact_worst_error
from mechdesign.design.prior.proof import least_average
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon, require_finite
from mechdesign.exact.cells import Cells, covers, exact_average, prior_fields
from mechdesign.exact.rational import float_down, float_up
from mechdesign.exact.statement import Aim, Criterion, Statement, require_said, stated
from mechdesign.mechanisms.window import Window

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TradeOffBound:
    """The average of ``|y - x|^exponent`` under a prior on atoms, among mechanisms of worst case at most ``cap``.

    ``rounded`` says that the atoms stand for a prior of other values. ``least`` bounds the worst case of all mechanisms
    from below, for a lexicographic optimum: the cap is at most ``1 + 1.5 slack`` times that.

    >>> bound = TradeOffBound(1.0, 2, Cells.of_atoms([0.5], [1.0]), 0.197, np.array([0.0, 1.0]), np.array([9.0, 9.0]))
    >>> bound.value() > 0.04  # a small worst case keeps outputs away from the middle
    True
    """

    kind: ClassVar[str] = "trade-off"

    epsilon: float
    exponent: int
    prior: Cells
    cap: float
    inputs: Floats
    prices: Floats
    rounded: bool = False
    least: MinimaxBound | None = None
    slack: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        if isinstance(self.exponent, bool) or self.exponent not in (1, 2):
            raise InvalidInput("exponent", self.exponent, "be 1 or 2: only these have exact costs of bins")
        if not self.prior.are_atoms:
            raise InvalidInput("prior", "cells with width", "be atoms")
        object.__setattr__(self, "cap", require_finite(self.cap, "cap"))
        if not self.cap >= 0:
            raise InvalidInput("cap", self.cap, "be at least 0")
        for name in ("inputs", "prices"):
            array = np.array(getattr(self, name), dtype=np.float64)
            if array.ndim != 1 or array.shape != np.shape(self.inputs) or not np.isfinite(array).all():
                raise InvalidInput(f"priced {name}", array.shape, "be finite, one price an input")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not (np.diff(self.inputs) > 0).all():
            raise InvalidInput("priced inputs", "unsorted", "be strictly increasing")
        if not (self.prices > 0).all():
            raise InvalidInput("prices", float(self.prices.min(initial=0.0)), "be above 0", "drop inputs without price")
        if not isinstance(self.rounded, bool):
            raise InvalidInput("rounded", self.rounded, "be true or false")
        object.__setattr__(self, "slack", require_finite(self.slack, "slack"))
        if not 0 <= self.slack < 1:
            raise InvalidInput("slack", self.slack, "be at least 0 and below 1")
        if self.least is not None and (self.least.epsilon, self.least.exponent) != (self.epsilon, self.exponent):
            raise InvalidInput("least", (self.least.epsilon, self.least.exponent), "have the same epsilon and loss")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TradeOffBound) and (
            (self.epsilon, self.exponent, self.prior, self.cap, self.rounded, self.least, self.slack)
            == (other.epsilon, other.exponent, other.prior, other.cap, other.rounded, other.least, other.slack)
            and np.array_equal(self.inputs, other.inputs)
            and np.array_equal(self.prices, other.prices)
        )

    def __hash__(self) -> int:
        return hash((self.epsilon, self.exponent, self.prior, self.cap, self.inputs.tobytes(), self.prices.tobytes()))

    @property
    def multiplier(self) -> float:
        """What the average gains when the cap is lifted by a little."""
        return float(self.prices.sum() / self.prior.weights.sum())

    def value(self) -> Fraction:
        """The bound, an exact rational in the numbers stored here."""
        mixture = self._mixture()
        total = sum(map(Fraction, self.prior.weights.tolist()))
        mass = sum(map(Fraction, mixture.weights.tolist()))
        paid = Fraction(self.cap) * sum(map(Fraction, self.prices.tolist()), Fraction(0))
        return max(Fraction(0), (mass * least_average(self.epsilon, self.exponent, mixture) - paid) / total)

    def _mixture(self) -> Cells:
        """Prior and prices together; sums are rounded down, and errors are not negative."""
        weights = dict(zip(self.prior.means.tolist(), self.prior.weights.tolist(), strict=True))
        for x, price in zip(self.inputs.tolist(), self.prices.tolist(), strict=True):
            weights[x] = float_down(Fraction(weights[x]) + Fraction(price)) if x in weights else price
        points = sorted(weights)
        return Cells.of_atoms(points, [weights[x] for x in points])

    def bound(self, mechanism: object) -> float:
        if isinstance(mechanism, Window) and self.inputs.size:
            ends = mechanism.inputs.lower, mechanism.inputs.upper
            if not ends[0] <= self.inputs[0] <= self.inputs[-1] <= ends[1]:
                raise CheckFailed("the evidence prices inputs the mechanism does not have")
        return float_down(self.value())

    def attained(self, mechanism: object) -> float:
        """The mechanism's average error under the prior, if its worst case keeps the cap."""
        window = self._window(mechanism)
        worst = exact_worst_error(window, self.exponent)
        if not worst <= Fraction(self.cap):
            raise CheckFailed(f"the mechanism has worst case {float_up(worst)!r}, above the cap {self.cap!r}")
        self._require_near_least(window)
        return float_up(exact_average(window, self.prior, self.exponent))

    def _window(self, mechanism: object) -> Window:
        if not isinstance(mechanism, Window) or not covers(mechanism, self.prior):
            raise CheckFailed("the evidence is about window mechanisms on inputs that hold the prior")
        return mechanism

    def _require_near_least(self, mechanism: Window) -> None:
        if self.least is None:
            return
        if (self.least.lower, self.least.upper) != (mechanism.inputs.lower, mechanism.inputs.upper):
            raise CheckFailed("the least worst case is about other inputs than the mechanism's")
        if not Fraction(self.cap) <= self.least.value() * (1 + Fraction(3, 2) * Fraction(self.slack)):
            raise CheckFailed(f"the cap {self.cap!r} is further above the least worst case than its slack allows")

    def scope(self, mechanism: object) -> str:
        scope = f"{EVERYWHERE} with worst case at most {self.cap!r}"
        return f"{scope}, under the prior rounded to {self.prior.means.size} atoms" if self.rounded else scope

    def statement(self, problem: Mapping[str, Any], mechanism: object) -> Statement:
        window, criterion = self._window(mechanism), Criterion(Aim.AVERAGE_CAPPED)
        shared, prior = prior_fields(problem, self.epsilon, self.exponent, self.prior, window)
        require_said(problem["prior"], "rounded", self.rounded)
        fields = {"kind": self.kind, "criterion": criterion.words} | shared
        asked = {"cap": self.cap} if self.least is None else {"cap": None, "slack": self.slack}
        return stated(problem, fields | asked, criterion, shared["loss"], self.scope(mechanism), prior)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "epsilon": self.epsilon,
            "exponent": self.exponent,
            "prior": self.prior.to_dict(),
            "cap": self.cap,
            "inputs": self.inputs.tolist(),
            "prices": self.prices.tolist(),
            "rounded": self.rounded,
            "least": None if self.least is None else self.least.to_dict(),
            "slack": self.slack,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        inputs, prices = (np.array(fields[name], dtype=np.float64) for name in ("inputs", "prices"))
        prior = Cells.from_dict(fields["prior"])
        least = None if fields["least"] is None else MinimaxBound.from_dict(fields["least"])
        start = fields["epsilon"], fields["exponent"], prior, fields["cap"], inputs, prices
        return cls(*start, rounded=fields["rounded"], least=least, slack=fields["slack"])
