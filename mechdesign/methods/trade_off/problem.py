"""What is asked of a mechanism of least average error whose worst case is capped."""

from __future__ import annotations

from typing import Any, ClassVar

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.exact.cuts import coarse_cells, prior_echo, rounded_to_atoms
from mechdesign.methods.minimax.problem import ABSOLUTE
from mechdesign.methods.prior.problem import require_prior_problem
from mechdesign.values.codec import named
from mechdesign.values.declare import SLACK_OPTION, epsilon, field, finite, frozen, gap, option, optional, settle
from mechdesign.words import priors
from mechdesign.words.cells import Cells, KnownPrior, in_words
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.domains import INTERVAL_OPTION, UNIT, Interval, interval_field
from mechdesign.words.losses import Loss, Power, loss_field
from mechdesign.words.privacy import Pure

MOST_ATOMS = 256
"""A prior of more values is rounded to this many cell means, which keeps its mean."""

LEAST_SLACK = 1e-5


@frozen
class TradeOffProblem:
    """The least average under a prior with worst case at most ``cap``; None asks for the least worst case first.

    Then the cap is the certified least worst case times ``1 + slack``, and proven to be at most ``1 + 1.5 slack`` times
    the least there is; ``slack`` means nothing for a given cap. ``gap`` is the relative distance between the proven
    bounds on the average at which the search stops. The average is taken under the prior as given if it has at most 256
    values, else under its rounding to the means of that many cells, `atoms`, which the certificate's scope names.

    A density that is a function can be asked about, but not be in a file: the design's own problem then has the `Cells`
    that were cut from it, whose means the atoms are.
    """

    kind: ClassVar[str] = "trade-off"
    optimum: ClassVar[str] = "capped average"

    epsilon: float = epsilon()
    prior: KnownPrior = field(metadata=named("prior_form") | priors.OPTION)
    loss: Loss = loss_field(default=ABSOLUTE)
    inputs: Interval = interval_field(default=UNIT, metadata=INTERVAL_OPTION)
    cap: float | None = field(
        default=None,
        converter=optional(lambda said: require_finite(said, "cap")),
        metadata=option("--cap", "With --criterion lexicographic: worst case at most this."),
    )
    gap: float = gap(1e-6, default=1e-3)
    slack: float = finite("slack", default=1e-3, metadata=SLACK_OPTION)

    def __attrs_post_init__(self) -> None:
        settle(self, prior=priors.named_prior(self.prior, self.inputs))
        require_prior_problem(self.epsilon, self.prior, self.loss, self.inputs)
        if self.cap is not None and not self.cap > 0:
            raise InvalidInput("cap", self.cap, "be above 0")
        if not LEAST_SLACK <= self.slack < 1:
            raise InvalidInput("slack", self.slack, f"lie between {LEAST_SLACK:g} and 1")

    @property
    def exponent(self) -> int:
        assert isinstance(self.loss, Power)
        return int(self.loss.exponent)

    @property
    def privacy(self) -> Pure:
        return Pure(self.epsilon)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.AVERAGE_CAPPED)

    @property
    def atoms(self) -> Cells:
        """The prior the average is taken under."""
        return rounded_to_atoms(self.prior, MOST_ATOMS)

    @property
    def is_rounded(self) -> bool:
        return not coarse_cells(self.prior, MOST_ATOMS).are_atoms

    @property
    def headline(self) -> str:
        # what evidence decides of a cap that was found: the least itself is known to a part of the slack only
        within = f"within {150 * self.slack:g}% of the least" if self.cap is None else f"at most {self.cap!r}"
        return f"average {self.loss.name} error under the prior, worst case {within}"

    @property
    def asked_in_words(self) -> str:
        return self.headline

    @property
    def prior_in_words(self) -> str:
        if not self.is_rounded:
            return in_words(self.prior)
        return f"the {self.atoms.means.size} atoms that {in_words(self.prior)} are rounded to"

    def echo(self) -> dict[str, Any]:
        """What loss, criterion and prior are called, and what range and mean of the atoms are."""
        prior = prior_echo(self.prior, self.atoms) | {"rounded": self.is_rounded}
        return {"loss": self.loss.name, "criterion": self.criterion.words, "prior": prior}
