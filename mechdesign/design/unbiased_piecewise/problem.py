"""What is asked of an unbiased piecewise mechanism."""

from __future__ import annotations

from typing import ClassVar

from mechdesign.criteria import Aim, Criterion
from mechdesign.domains import UNIT, Interval, interval_field
from mechdesign.errors import InvalidInput
from mechdesign.losses import Loss, Power, loss_field
from mechdesign.privacy import Pure
from mechdesign.values.codec import named
from mechdesign.values.declare import epsilon, frozen

MOST_EPSILON = 30.0  # beyond it doubles cannot hold the window that the proof needs

_SQUARED = Power(2.0)


@frozen
class UnbiasedPiecewiseProblem:
    """The least worst-case variance over inputs, among piecewise mechanisms with ``E[Y|x] = x`` and any outputs."""

    kind: ClassVar[str] = "unbiased piecewise"
    optimum: ClassVar[str] = "OGPM (unbiased)"

    epsilon: float = epsilon()
    inputs: Interval = interval_field(default=UNIT)
    loss: Loss = loss_field(default=_SQUARED, metadata=named("loss_form"))

    def __attrs_post_init__(self) -> None:
        if self.epsilon > MOST_EPSILON:
            raise InvalidInput("eps", self.epsilon, f"be at most {MOST_EPSILON:g} for an unbiased piecewise mechanism")
        if not isinstance(self.inputs, Interval):
            raise InvalidInput("domain", str(self.inputs), "be an interval for an unbiased mechanism")
        if self.loss != _SQUARED:
            raise InvalidInput("loss", self.loss, "be squared for an unbiased mechanism: its error is a variance")

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.WORST_UNBIASED)

    def echo(self) -> dict[str, str]:
        """What loss and criterion are called."""
        return {"loss": self.loss.name, "criterion": self.criterion.words}
