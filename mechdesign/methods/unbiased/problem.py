"""What is asked of an unbiased mechanism under a prior."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.catalogue import SYMMETRIC
from mechdesign.methods.grid_prior import (
    GridPrior,
    grid_echo,
    is_on_grid,
    settled_weights,
    variance_headline,
    weights_on_grid,
    written,
)
from mechdesign.values.codec import named
from mechdesign.values.declare import (
    GAP_OPTION,
    array,
    epsilon,
    evolved,
    field,
    finite,
    frozen,
    option,
    optional,
    settle,
    stored,
    whole,
)
from mechdesign.words import priors
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import INTERVAL_OPTION, Interval, interval_field
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure

Floats = NDArray[np.float64]

LEAST_EPSILON, MOST_EPSILON = 1e-3, 12.0
LEAST_SIZE, MOST_SIZE = 3, 513
LEAST_GAP = 1e-6


@frozen
class UnbiasedProblem:
    """The least average variance under a prior over all unbiased epsilon-LDP mechanisms on an interval.

    The prior is rounded to ``size`` equispaced inputs, linearly and so without moving its mean: ``weights``, which
    follow from it. ``gap`` is the relative distance between the proven bounds at which the search stops.

    >>> from mechdesign.words.priors import uniform
    >>> UnbiasedProblem(1.0, uniform(Interval(0, 1)), Interval(0, 1), size=3).weights.round(12).tolist()
    [0.25, 0.5, 0.25]
    """

    kind: ClassVar[str] = "unbiased"
    loss: ClassVar[Power] = Power(2.0)
    measure: ClassVar[str] = "variance"

    epsilon: float = epsilon()
    prior: GridPrior = field(metadata=named("prior_form") | priors.OPTION)
    inputs: Interval = interval_field(default=SYMMETRIC, metadata=INTERVAL_OPTION)
    size: int = whole(
        "size",
        LEAST_SIZE,
        MOST_SIZE,
        default=33,
        metadata=option("--size", "Equispaced inputs the prior of --unbiased is rounded to."),
    )
    gap: float = finite("gap", default=1e-4, metadata=GAP_OPTION)
    weights: Floats = array(optional(stored), default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified unbiased optimum"
            raise InvalidInput("eps", self.epsilon, rule)
        if not isinstance(self.inputs, Interval):
            raise InvalidInput("domain", str(self.inputs), "be an interval for an unbiased mechanism")
        if not LEAST_GAP <= self.gap < 1:
            raise InvalidInput("gap", self.gap, f"lie between {LEAST_GAP:g} and 1")
        settle(self, prior=priors.named_prior(self.prior, self.inputs))
        settle(self, weights=settled_weights(self.prior, self.inputs, self.size, self.weights))

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.AVERAGE_UNBIASED)

    @property
    def headline(self) -> str:
        return variance_headline(self.prior)

    @property
    def prior_in_words(self) -> str:
        return weights_on_grid(self.weights)

    @property
    def is_rounded(self) -> bool:
        """Whether the prior is not already one on the equispaced inputs."""
        return not is_on_grid(self.prior, self.inputs, self.size)

    @property
    def written(self) -> UnbiasedProblem:
        """The same problem as files can hold it."""
        return evolved(self, prior=written(self.prior))

    def echo(self) -> dict[str, Any]:
        """What loss and criterion are called, of which kind the prior is, and whether it was rounded."""
        return grid_echo(self.criterion, self.prior) | {"rounded": self.is_rounded}
