"""What is asked of a mechanism for one parameter."""

from __future__ import annotations

from typing import Any, ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.methods.information.models import Cells, Known
from mechdesign.values.declare import derived, epsilon, field, frozen, gap
from mechdesign.values.fingerprint import fingerprint
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import Finite
from mechdesign.words.privacy import Pure

LEAST_EPSILON, MOST_EPSILON = 1e-2, 12.0


@frozen
class InformationProblem:
    """The most Fisher information about one parameter over all epsilon-LDP mechanisms that see a cell.

    What is small is its inverse: n times the variance of an efficient estimate from n reports. ``gap`` is the relative
    distance of the proven bounds at which the search stops.

    >>> from mechdesign.methods.information.models import GaussianLocation
    >>> len(InformationProblem(1.0, GaussianLocation()).inputs)
    40
    """

    kind: ClassVar[str] = "information"
    measure: ClassVar[str] = "variance"
    headline: ClassVar[str] = "variance of an efficient estimate, times the users"

    epsilon: float = epsilon()
    model: Known = field()
    gap: float = gap(1e-10, default=1e-6)
    inputs: Finite = derived(lambda problem: Finite(tuple(range(problem.model.chances.size))))
    """The numbers of the cells."""

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.model, Known):
            step = "for example design.information.GaussianLocation(40)"
            raise InvalidInput("model", self.model, "be a model with one parameter", step)
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for certified information"
            raise InvalidInput("eps", self.epsilon, rule)

    @property
    def optimum(self) -> str:
        return f"optimum for {self.model.kind}"

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.INFORMATION)

    @property
    def subject(self) -> str:
        return self.model.words

    @property
    def particulars(self) -> tuple[str, ...]:
        if not isinstance(self.model, Cells):
            return ()
        return (f"chances and slopes: {fingerprint(self.model.chances, self.model.slopes)}",)

    @property
    def asked_in_words(self) -> str:
        return f"{self.subject}: {self.headline}"

    def echo(self) -> dict[str, Any]:
        """What is asked in words, and the cells."""
        return {"loss": "inverse Fisher information", "asked": self.model.words, "inputs": self.inputs}
