"""What is asked of a mechanism of least average error under a prior."""

from __future__ import annotations

from typing import Any, ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.exact.cuts import coarse_cells, prior_echo
from mechdesign.methods.minimax.problem import ABSOLUTE, LEAST_EPSILON, MOST_EPSILON
from mechdesign.methods.points.problem import require_points_problem, weights_on
from mechdesign.values.codec import named
from mechdesign.values.declare import Floats, epsilon, field, frozen, gap, settle
from mechdesign.values.fingerprint import weights_in_words
from mechdesign.words import priors
from mechdesign.words.cells import Cells, KnownPrior, in_words
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import POINTS_OPTION, STEP, UNIT, Finite, Interval, interval_field
from mechdesign.words.losses import Loss, Power, loss_field
from mechdesign.words.priors import Atoms, Density
from mechdesign.words.privacy import Pure

MOST_ATOMS = 1000
"""More values than this are gathered in cells."""


@frozen
class PriorProblem:
    """The least average error under a prior over all epsilon-LDP mechanisms, for the absolute or squared error.

    ``gap`` is the relative distance between the proven bounds at which the search stops. For densities, and data of
    more than 1000 values, the default is out of reach from about epsilon 6 on; `NoAnswer` says which gap is not, and
    holds the design found. On a `Finite` domain the prior has its weights on points of it, and outputs are points too.

    A density that is a function can be asked about, but not be in a file: the design's own problem then has the `Cells`
    that were cut from it as its prior, and is proven for every prior with these cells.
    """

    kind: ClassVar[str] = "prior"

    epsilon: float = epsilon()
    prior: KnownPrior = field(metadata=named("prior_form") | priors.OPTION)
    loss: Loss = loss_field(default=ABSOLUTE)
    inputs: Interval | Finite = interval_field(default=UNIT, metadata=POINTS_OPTION)
    gap: float = gap(1e-9, default=1e-6)

    def __attrs_post_init__(self) -> None:
        settle(self, prior=priors.named_prior(self.prior, self.inputs))
        if isinstance(self.inputs, Finite):
            require_points_problem(self.inputs, self.loss)
            weights_on(self.inputs, self.prior)
            require_prior_problem(self.epsilon, self.prior, self.loss, Interval(self.inputs.lower, self.inputs.upper))
        else:
            require_prior_problem(self.epsilon, self.prior, self.loss, self.inputs)

    @property
    def exponent(self) -> int:
        assert isinstance(self.loss, Power)
        return int(self.loss.exponent)

    @property
    def optimum(self) -> str:
        return "finite optimum" if isinstance(self.inputs, Finite) else "randomised response on bins"

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.AVERAGE)

    @property
    def point_weights(self) -> Floats | None:
        """The prior's weights on the points of a `Finite` domain."""
        return weights_on(self.inputs, self.prior) if isinstance(self.inputs, Finite) else None

    @property
    def prior_in_words(self) -> str:
        weights = self.point_weights
        return in_words(self.prior) if weights is None else weights_in_words(weights)

    def echo(self) -> dict[str, Any]:
        """What loss, criterion and prior are called, and what the prior's range and mean are."""
        return {"loss": self.loss.name, "criterion": self.criterion.words, "prior": self._prior_echo()}

    def _prior_echo(self) -> dict[str, Any]:
        weights = self.point_weights
        if weights is not None:
            return {"name": "weights", "weights": weights.tolist()}
        return prior_echo(self.prior, coarse_cells(self.prior, MOST_ATOMS))


def require_prior_problem(epsilon: float, prior: KnownPrior, loss: Loss, inputs: Interval) -> None:
    """A problem with a prior on an interval, or `InvalidInput`."""
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InvalidInput(
            "eps", epsilon, f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
        )
    if loss not in (Power(1.0), Power(2.0)):
        raise InvalidInput("loss", loss, "be absolute or squared for a certified optimum")
    if not isinstance(inputs, Interval):
        raise InvalidInput("domain", str(inputs), "be an interval for a certified optimum", STEP)
    if isinstance(prior, Atoms):
        inputs.require(prior.points, "prior points")
    elif isinstance(prior, Cells):
        inputs.require([prior.lows[0], prior.highs[-1]], "prior cells")
    elif not isinstance(prior, Density):
        raise InvalidInput("prior", prior, "be priors.Atoms or priors.Density")
    elif not isinstance(prior.domain, Interval) or not inputs.contains(prior.domain):
        raise InvalidInput("prior", f"{prior.name} on {prior.domain}", f"live inside the inputs {inputs}")
