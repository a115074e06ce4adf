"""What is asked of a piecewise mechanism."""

from __future__ import annotations

import math
from typing import ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.exact.piecewise import hardest_input
from mechdesign.values.codec import named
from mechdesign.values.declare import epsilon, field, frozen, option, settle
from mechdesign.words import losses
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import (
    INTERVAL_OPTION,
    UNIT,
    Circle,
    Interval,
    interval_field,
    require_between,
    require_domain,
)
from mechdesign.words.losses import Custom, Loss, Power, named_loss
from mechdesign.words.privacy import Pure

ABSOLUTE = Power(1.0)
MOST_PIECES = 100

_MOST_DIGITS = 150


@frozen
class PiecewiseProblem:
    """The best piecewise mechanism for a loss: over the worst input, or at the input ``at``.

    ``pieces`` bounds the number of pieces at the input the program is solved at; None leaves it free.
    """

    kind: ClassVar[str] = "piecewise"

    epsilon: float = epsilon()
    loss: Loss = field(default=ABSOLUTE, metadata=named("loss_form") | losses.OPTION)
    inputs: Interval | Circle = interval_field(default=UNIT, metadata=INTERVAL_OPTION)
    outputs: Interval | Circle | None = interval_field(
        default=None, metadata=option("--outputs", "Outputs, as LO,HI (the inputs unless given).", metavar="LO,HI")
    )
    at: float | None = field(default=None, metadata=option("--at", "Minimise the error at this input only."))
    pieces: int | None = field(default=None, metadata=option("--pieces", "Most pieces m (free unless given)."))

    def __attrs_post_init__(self) -> None:
        require_domain(self.inputs, (Interval, Circle), "inputs")
        settle(self, outputs=self.inputs if self.outputs is None else self.outputs)
        require_domain(self.outputs, (Interval, Circle), "outputs")
        if self.at is not None and isinstance(self.inputs, Circle):
            raise InvalidInput("at", self.at, "be left out on a circle", "every input is alike there")
        if self.at is not None:
            settle(self, at=require_between(self.at, self.inputs, "at"))
        # a text names the distance round the circle where inputs are on one
        settle(self, loss=named_loss(self.loss, self._period))
        self._check_outputs()
        self._check_loss()
        if self.pieces is not None:
            self._check_pieces(self.pieces)

    def _check_outputs(self) -> None:
        outputs = self.output_domain
        if isinstance(self.inputs, Circle) or isinstance(outputs, Circle):
            if outputs != self.inputs:
                raise InvalidInput("outputs", str(outputs), f"be the inputs' own circle, {self.inputs}")
        elif not outputs.contains(self.inputs):
            raise InvalidInput("outputs", str(outputs), f"contain the inputs {self.inputs}", "widen the outputs")

    def _check_loss(self) -> None:
        if not isinstance(self.loss, Power | Custom):
            raise InvalidInput(
                "loss", self.loss, "be a loss", "use Absolute(), Squared(), Power(p) or Custom(function)"
            )
        exponent = self.loss.exponent if isinstance(self.loss, Power) else 1.0
        if abs((exponent + 1) * math.log10(self.output_domain.length)) > _MOST_DIGITS:
            raise InvalidInput(
                "domain", str(self.output_domain), "leave room for its errors in doubles", "rescale the data"
            )
        period = self._period
        if isinstance(self.loss, Power) and self.loss.period != period:
            kind = "on the line" if period is None else f"circular with period {period:g}"
            raise InvalidInput("loss", self.loss.name, f"be {kind} for inputs on {self.inputs}")

    def _check_pieces(self, pieces: int) -> None:
        if isinstance(pieces, bool) or not isinstance(pieces, int) or not 1 <= pieces <= MOST_PIECES:
            raise InvalidInput("pieces", pieces, f"be a whole number from 1 to {MOST_PIECES}", "3 are always enough")
        if pieces == 2 and isinstance(self.loss, Power) and not self.solved_at_an_end:
            raise InvalidInput(
                "pieces", pieces, "be 1 or at least 3: outputs lie on both sides of the input", "3 are always enough"
            )

    @property
    def _period(self) -> float | None:
        return self.inputs.period if isinstance(self.inputs, Circle) else None

    @property
    def output_domain(self) -> Interval | Circle:
        assert self.outputs is not None
        return self.outputs

    @property
    def optimum(self) -> str:
        return "OGPM" if isinstance(self.loss, Power) else f"OGPM ({self.loss.name})"

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.WORST) if self.at is None else Criterion(Aim.AT, self.at)

    @property
    def headline(self) -> str:
        error = f"{self.loss.name} error"
        return f"worst-case {error}" if self.at is None else f"{error} at x = {self.at:g}"

    @property
    def hardest_input(self) -> float:
        """The input a program for a distance loss is solved at: the given one, or the farthest from the middle."""
        return self.at if self.at is not None else hardest_input(self.inputs, self.output_domain)

    @property
    def solved_at_an_end(self) -> bool:
        """Whether the input the program is solved at is an end of the outputs."""
        outputs = self.output_domain
        return not isinstance(outputs, Circle) and self.hardest_input in (outputs.lower, outputs.upper)

    def echo(self) -> dict[str, str]:
        """What loss and criterion are called."""
        return {"loss": self.loss.name, "criterion": self.criterion.words}
