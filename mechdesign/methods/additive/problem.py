"""What is asked of additive noise with a law for each input of a grid."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.catalogue import SYMMETRIC
from mechdesign.mechanisms.conditional import LARGEST, require_shape
from mechdesign.methods.grid_prior import (
    GridPrior,
    grid_echo,
    is_on_grid,
    settled_weights,
    variance_headline,
    weights_on_grid,
    written,
)
from mechdesign.methods.unbiased.problem import UnbiasedProblem
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
LEAST_BINS, MOST_BINS, USUAL_BINS = 2, 512, 32
LEAST_GAP = 1e-6

_USUAL_SPAN = 4  # reports reach this many lengths of the domain beyond it, unless eps asks for more
_REACH_HELP = "M: tails begin M steps beyond the inputs (4 N, more for small eps)."
_REACH, _LEAST_REACH = 1.5, 1.25  # times coth(eps / 2), the reach without which nothing is unbiased
_BARE_REACH = 1 + 1e-3


@frozen
class AdditiveProblem:
    """The least average variance under a prior over unbiased epsilon-LDP mechanisms that report on a grid.

    The prior is rounded to the ``bins + 1`` inputs of the grid, linearly and so without moving its mean: ``weights``,
    which follow from it. ``reach`` and ``tail`` say where the tails begin and how they decay; left out, they are chosen
    so that tails hardly matter. ``gap`` is the relative distance between the proven bounds to reach.

    >>> from mechdesign.words.priors import uniform
    >>> problem = AdditiveProblem(1.0, uniform(Interval(0, 1)), Interval(0, 1), bins=2)
    >>> problem.weights.round(12).tolist(), problem.reach, problem.tail
    ([0.25, 0.5, 0.25], 8, 1)
    """

    kind: ClassVar[str] = "additive"
    loss: ClassVar[Power] = Power(2.0)
    measure: ClassVar[str] = "variance"

    epsilon: float = epsilon()
    prior: GridPrior = field(metadata=named("prior_form") | priors.OPTION)
    inputs: Interval = interval_field(default=SYMMETRIC, metadata=INTERVAL_OPTION)
    bins: int = whole(
        "bins",
        LEAST_BINS,
        MOST_BINS,
        default=USUAL_BINS,
        metadata=option("--bins", "N: the grid has N + 1 inputs (for tiny eps 16)."),
    )
    reach: int = whole("reach", 0, LARGEST, default=0, metadata=option("--reach", _REACH_HELP))
    tail: int = whole("tail", 0, LARGEST, default=0)
    gap: float = finite("gap", default=1e-4, metadata=GAP_OPTION)
    weights: Floats = array(optional(stored), default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified additive optimum"
            raise InvalidInput("eps", self.epsilon, rule)
        if not isinstance(self.inputs, Interval):
            raise InvalidInput("domain", str(self.inputs), "be an interval for additive noise")
        bins, needed = self.bins, 1 / math.tanh(self.epsilon / 2)
        if not self.reach and not fits(self.epsilon, bins):
            rule = f"be at least {_least_epsilon(bins):g} with {bins} bins"
            raise InvalidInput("eps", self.epsilon, rule, "take fewer bins")
        usual = max(_USUAL_SPAN * bins, math.ceil(bins * (_REACH * needed - 1) / 2))
        reach = self.reach or min(usual, _most_reach(bins))
        missing = math.ceil(bins * (_LEAST_REACH * needed - 1) / 2) - reach
        tail = self.tail or max(1, missing)
        require_shape(bins, reach, tail)
        if bins / 2 + reach + tail < _BARE_REACH * needed * bins / 2:
            rule = f"reach {math.ceil(_BARE_REACH * needed * bins / 2 - bins / 2)} steps together"
            raise InvalidInput("reach and tail", (reach, tail), rule, "leave out tail, or raise reach")
        if not LEAST_GAP <= self.gap < 1:
            raise InvalidInput("gap", self.gap, f"lie between {LEAST_GAP:g} and 1")
        settle(self, prior=priors.named_prior(self.prior, self.inputs))
        settle(self, reach=reach, tail=tail)
        settle(self, weights=settled_weights(self.prior, self.inputs, bins + 1, self.weights))

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.AVERAGE_UNBIASED)

    @property
    def free(self) -> UnbiasedProblem:
        """The same problem with reports that are any real numbers."""
        return UnbiasedProblem(self.epsilon, self.prior, self.inputs, self.bins + 1, self.gap, self.weights)

    @property
    def span(self) -> float:
        """The paper's ``q = |A| / |X|``: the noise from -M to M steps, over the inputs."""
        return span(self.bins, self.reach)

    @property
    def headline(self) -> str:
        return variance_headline(self.prior)

    @property
    def prior_in_words(self) -> str:
        return weights_on_grid(self.weights)

    @property
    def particulars(self) -> tuple[str, ...]:
        return (f"noise: up to {self.reach} steps and tails of ratio {self.tail}/{self.tail + 1} beyond the inputs",)

    @property
    def is_rounded(self) -> bool:
        """Whether the prior is not already one on the grid."""
        return not is_on_grid(self.prior, self.inputs, self.bins + 1)

    @property
    def written(self) -> AdditiveProblem:
        """The same problem as files can hold it."""
        return evolved(self, prior=written(self.prior))

    def echo(self) -> dict[str, Any]:
        """What loss and criterion are called, of which kind the prior is, and whether it was rounded."""
        return grid_echo(self.criterion, self.prior) | {"rounded": self.is_rounded}


def span(bins: int, reach: int) -> float:
    return (2 * reach + 1) / (bins + 1)


def usual_bins(epsilon: float) -> int:
    """The usual number of bins, or the half of it where epsilon asks for so long a reach that more would not fit.

    >>> usual_bins(1.0), usual_bins(1e-3)
    (32, 16)
    """
    return USUAL_BINS if fits(epsilon, USUAL_BINS) else USUAL_BINS // 2


def fits(epsilon: float, bins: int) -> bool:
    """Whether the reach that this epsilon needs fits into the table of laws.

    >>> fits(1.0, 512), fits(1e-3, 64)
    (True, False)
    """
    return bins * (_REACH / math.tanh(epsilon / 2) - 1) / 2 <= _most_reach(bins)


def _most_reach(bins: int) -> int:
    return (LARGEST // (bins + 1) - bins - 1) // 2


def _least_epsilon(bins: int) -> float:
    """The smallest epsilon that `fits`, in three digits."""
    least = 2 * math.atanh(_REACH / (2 * _most_reach(bins) / bins + 1))
    digit = 10.0 ** (math.floor(math.log10(least)) - 2)
    return float(f"{math.ceil(least / digit) * digit:.3g}")
