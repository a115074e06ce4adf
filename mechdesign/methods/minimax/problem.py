"""What is asked of a mechanism of least worst-case error."""

from __future__ import annotations

from typing import ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.methods.points.problem import require_points_problem
from mechdesign.values.declare import Floats, epsilon, frozen, gap, whole
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import POINTS_OPTION, STEP, UNIT, Finite, Interval, interval_field
from mechdesign.words.losses import Loss, Power, loss_field
from mechdesign.words.privacy import Pure

LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0
LEAST_FINE, MOST_FINE = 64, 65536
"""Spacings of the finest grid that a search may use."""

ABSOLUTE = Power(1.0)


@frozen
class MinimaxProblem:
    """The least worst-case error over all epsilon-LDP mechanisms, for a power of the distance.

    ``gap`` is the relative distance between the bounds at which the search stops; ``most_outputs`` limits the finest
    grid it may use on the way. Exponents 1 and 2 are proven in rational arithmetic, other exponents above 1 in doubles
    (the certificate then says ``claimed``). On a `Finite` domain, such as whole numbers, outputs are its points, and
    the loss is absolute or squared.
    """

    kind: ClassVar[str] = "minimax"

    epsilon: float = epsilon()
    loss: Loss = loss_field(default=ABSOLUTE)
    inputs: Interval | Finite = interval_field(default=UNIT, metadata=POINTS_OPTION)
    gap: float = gap(1e-6, default=1e-4)
    most_outputs: int = whole("most_outputs", LEAST_FINE + 1, MOST_FINE + 1, default=16385)

    def __attrs_post_init__(self) -> None:
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
            raise InvalidInput("eps", self.epsilon, rule)
        if not isinstance(self.loss, Power) or self.loss.period is not None or self.loss.exponent < 1:
            rule = "be absolute, squared or power:P with P at least 1 for a certified optimum"
            raise InvalidInput("loss", self.loss, rule)
        if isinstance(self.inputs, Finite):
            require_points_problem(self.inputs, self.loss)
        elif not isinstance(self.inputs, Interval):
            raise InvalidInput(
                "domain", str(self.inputs), "be an interval or a finite set for a certified optimum", STEP
            )
        elif not 1e-40 <= self.inputs.length <= 1e40 or self.inputs.length < 1e-9 * abs(self.inputs.middle):
            raise InvalidInput("domain", str(self.inputs), "be wide enough for a grid of doubles", "rescale the data")

    @property
    def exponent(self) -> float:
        assert isinstance(self.loss, Power)
        return self.loss.exponent

    @property
    def has_exact_proof(self) -> bool:
        return self.loss in (Power(1.0), Power(2.0))

    @property
    def optimum(self) -> str:
        return "finite optimum" if isinstance(self.inputs, Finite) else "minimax"

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.WORST)

    @property
    def point_weights(self) -> Floats | None:
        """No prior on the points of a `Finite` domain."""
        return None

    def echo(self) -> dict[str, str]:
        """What loss and criterion are called."""
        return {"loss": self.loss.name, "criterion": self.criterion.words}
