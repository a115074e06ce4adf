"""What is asked of a pair of mechanisms for a distance and an angle."""

from __future__ import annotations

from typing import Any, ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.values.codec import encoded
from mechdesign.values.declare import epsilon, frozen
from mechdesign.words import domains
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import Circle, Interval, interval_field, require_domain
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure


@frozen
class PolarProblem:
    """The best split of epsilon between distance and angle, and the best piecewise mechanism for each."""

    kind: ClassVar[str] = "polar"
    optimum: ClassVar[str] = "OGPM (polar)"

    epsilon: float = epsilon()
    exponent: float = 2.0
    distances: Interval = interval_field(default=Interval(0.0, 1.0))
    angles: Circle = Circle()

    def __attrs_post_init__(self) -> None:
        require_domain(self.distances, (Interval,), "distances")
        require_domain(self.angles, (Circle,), "angles")
        if not self.epsilon > 1e-3:
            raise InvalidInput("eps", self.epsilon, "be above 0.001 to be split between two coordinates")
        Power(self.exponent)

    @property
    def losses(self) -> tuple[Power, Power]:
        return Power(self.exponent), Power(self.exponent, self.angles.period)

    @property
    def inputs(self) -> domains.Product:
        return domains.Product((self.distances, self.angles))

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.WORST)

    @property
    def headline(self) -> str:
        return f"worst-case {Power(self.exponent).name} error, sum of both"

    def echo(self) -> dict[str, Any]:
        """What losses and criterion are called, and the inputs as one domain."""
        name = " + ".join(loss.name for loss in self.losses)
        return {"loss": name, "inputs": encoded(self.inputs), "criterion": self.criterion.words}
