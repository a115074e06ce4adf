"""What is least, and among which mechanisms: values with words, which nobody has to parse."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.values.codec import if_any
from mechdesign.values.declare import (
    SLACK_OPTION,
    Floats,
    array,
    evolved,
    field,
    finite,
    frozen,
    option,
    optional,
    stored,
)
from mechdesign.words.cells import Cells, KnownPrior
from mechdesign.words.domains import Circle, Domain, Finite, Interval, Product, require_between, require_numbers
from mechdesign.words.priors import OPTION, Atoms, Density, named_prior

LEAST_SLACK, SLACK = 1e-9, 1e-3


def _read_prior(said: Any) -> Any:
    """Weights in a row, one for each input; other priors as they are, and texts, which wait for the inputs."""
    if isinstance(said, Atoms | Density | Cells | str):
        return said
    if np.ma.isMaskedArray(said):
        raise InvalidInput("prior", "a masked array", "be a plain array", "fill the masked entries")
    weights = np.atleast_1d(require_numbers(said, "prior"))
    if weights.ndim != 1:
        raise InvalidInput("prior", weights.shape, "be weights in a row, one for each input")
    return stored(Atoms(np.arange(float(weights.size)), weights).weights)


def prior_on(said: Any, inputs: Domain) -> Floats | KnownPrior:
    """The prior on these inputs: a weight for each where they are finitely many, else a law; uniform if None.

    >>> prior_on("uniform", Finite((0, 1))).tolist(), prior_on(None, Interval(0, 4)).name
    ([0.5, 0.5], 'uniform')

    On a product of equal intervals it is the law of each number, and numbers are independent.

    >>> from mechdesign.words.domains import cube_of
    >>> prior_on("uniform", cube_of(2)).domain
    Interval(lower=-1.0, upper=1.0)
    """
    if isinstance(inputs, Product) and len(set(inputs.parts)) == 1:
        inputs = inputs.parts[0]
    prior = named_prior("uniform" if said is None else said, inputs)
    if isinstance(inputs, Finite):
        return _weights_on(prior, inputs)
    if not isinstance(inputs, Interval):
        raise InvalidInput("prior", prior, f"be left out: inputs are {inputs}")
    match prior:
        case Atoms(points=points):
            inputs.require(points, "prior points")
        case Cells(lows=lows, highs=highs):
            inputs.require([lows[0], highs[-1]], "prior cells")
        case Density(domain=domain, name=name):
            if not isinstance(domain, Interval) or not inputs.contains(domain):
                raise InvalidInput("prior", f"{name} on {domain}", f"live inside the inputs {inputs}")
        case _:
            step = "for example priors.Atoms(points, weights)"
            raise InvalidInput("prior", "weights", "say where its weights are on an interval", step)
    return cast(KnownPrior, prior)


def _weights_on(prior: Any, inputs: Finite) -> Floats:
    if isinstance(prior, np.ndarray):
        if prior.shape != (len(inputs),):
            raise InvalidInput("prior", prior.shape, f"be one weight for each of the {len(inputs)} inputs")
        return stored(prior)
    if not isinstance(prior, Atoms):
        step = "take weights on the points, priors.Atoms, or data"
        name = getattr(prior, "name", type(prior).__name__)
        raise InvalidInput("prior", name, "have its weights on points of a finite domain", step)
    weights = np.zeros(len(inputs))
    np.add.at(weights, inputs.index(prior.points, "prior points"), prior.weights)
    return stored(weights)


@frozen
class Worst:
    """The expected loss of the input that loses most."""

    kind: ClassVar[str] = "worst"
    prior: ClassVar[None] = None
    ranks_by: ClassVar[str] = "worst"
    words: ClassVar[str] = "worst case"

    def headline(self, measure: str) -> str:
        """The quantity that is least."""
        return f"worst-case {measure}"

    def over(self, inputs: Domain) -> Worst:
        """The same: it asks for no prior."""
        return self


@frozen
class Average:
    """The expected loss averaged under a prior; uniform if left out.

    It is a weight for each of finitely many inputs, or weights on points, a density or cells, or the name of one.

    >>> Average([0.75, 0.25]).prior.tolist(), Average().over(Finite((0, 1))).prior.tolist()
    ([0.75, 0.25], [0.5, 0.5])
    >>> Average("normal:0.3,0.1").over(Interval(0, 1)).prior.name
    'normal(0.3, 0.1)'
    """

    kind: ClassVar[str] = "average"
    ranks_by: ClassVar[str] = "average"
    words: ClassVar[str] = "average under the prior"

    prior: Floats | KnownPrior | None = array(optional(_read_prior), default=None, metadata=if_any() | OPTION)

    def headline(self, measure: str) -> str:
        """The quantity that is least."""
        return f"average {measure} under the prior"

    def over(self, inputs: Domain) -> Average:
        """The same with its prior on these inputs, uniform where nothing else is said."""
        return evolved(self, prior=prior_on(self.prior, inputs))


@frozen
class Lexicographic:
    """The average under a prior, among mechanisms whose worst case is at most ``1 + slack`` times the least, or a cap.

    A larger slack trades one for the other. With a ``cap`` it means nothing, and is left out.

    >>> Lexicographic(cap=0.25).headline("absolute error")
    'average absolute error under the prior, worst case at most 0.25'
    """

    kind: ClassVar[str] = "lexicographic"
    words: ClassVar[str] = "lexicographic"

    prior: Floats | KnownPrior | None = array(optional(_read_prior), default=None, metadata=if_any() | OPTION)
    slack: float = finite("slack", default=SLACK, metadata=SLACK_OPTION)
    cap: float | None = field(
        default=None,
        converter=optional(lambda said: require_finite(said, "cap")),
        metadata=if_any() | option("--cap", "With --criterion lexicographic: worst case at most this."),
    )

    def __attrs_post_init__(self) -> None:
        if not self.slack >= LEAST_SLACK:
            raise InvalidInput("slack", self.slack, f"be at least {LEAST_SLACK:g}", "for example 0.001")
        if self.cap is not None and not self.cap > 0:
            raise InvalidInput("cap", self.cap, "be above 0")
        if self.cap is not None and self.slack != SLACK:
            raise InvalidInput("slack", self.slack, "be left out with a cap", "drop the one or the other")

    @property
    def ranks_by(self) -> str:
        """The worst case, which comes first, unless it is capped by a number."""
        return "worst" if self.cap is None else "average"

    def headline(self, measure: str) -> str:
        """The quantity that is least, and how near a worst case that comes first is to the least one."""
        within = f"within {100 * self.slack:g}% of the least" if self.cap is None else f"at most {self.cap!r}"
        return f"average {measure} under the prior, worst case {within}"

    def over(self, inputs: Domain) -> Lexicographic:
        """The same with its prior on these inputs, uniform where nothing else is said."""
        return evolved(self, prior=prior_on(self.prior, inputs))


@frozen
class At:
    """The expected loss of one input.

    >>> At(0.25).words
    'at 0.25'
    """

    kind: ClassVar[str] = "at"
    prior: ClassVar[None] = None
    ranks_by: ClassVar[str] = "at"

    x: float = finite("at")

    @property
    def words(self) -> str:
        return f"at {self.x!r}"

    def headline(self, measure: str) -> str:
        """The quantity that is least."""
        return f"{measure} at x = {self.x:g}"

    def over(self, inputs: Domain) -> At:
        """The same, if it is about one of these inputs."""
        if not isinstance(inputs, Interval):
            rule = "be left out on a circle" if isinstance(inputs, Circle) else "be asked of an interval"
            raise InvalidInput("at", self.x, rule, "take Worst()")
        require_between(self.x, inputs, "at")
        return self


@frozen
class Total:
    """One number for all inputs together: an objective of one's own says what it is."""

    kind: ClassVar[str] = "total"
    prior: ClassVar[None] = None
    ranks_by: ClassVar[str] = "worst"
    words: ClassVar[str] = "in total"

    def headline(self, measure: str) -> str:
        """The quantity that is least."""
        return measure

    def over(self, inputs: Domain) -> Total:
        """None: what each input loses is no number for all of them."""
        step = "take Worst() or Average(prior)"
        raise InvalidInput("criterion", "Total()", "be left to objectives of one's own, Objective(function)", step)


OverInputs = Worst | Average | Lexicographic
"""What is least over the inputs."""

Criteria = OverInputs | At | Total
"""Every criterion there is."""

CRITERIA: Mapping[str, type[Worst | Average | Lexicographic]] = {
    "worst": Worst,
    "prior": Average,
    "lexicographic": Lexicographic,
}
"""As commands name them."""


def named_criterion(said: str, prior: ArrayLike | None = None, slack: float | None = None) -> OverInputs:
    """The criterion that a word names, with what belongs to it; what does not is refused.

    >>> named_criterion("lexicographic", [0.5, 0.5], 0.01).words
    'lexicographic'
    """
    if said not in CRITERIA:
        raise InvalidInput("criterion", said, f"be one of {', '.join(CRITERIA)}")
    if slack is not None and CRITERIA[said] is not Lexicographic:
        raise InvalidInput("slack", slack, "come with --criterion lexicographic", "add --criterion lexicographic")
    if prior is not None and CRITERIA[said] is Worst:
        raise InvalidInput("prior", "weights", "be left out for the worst case", "take criterion prior")
    given: dict[str, Any] = {"prior": prior, "slack": slack}
    return CRITERIA[said](**{name: value for name, value in given.items() if value is not None})


class Family(Enum):
    """A class of mechanisms that a lower bound holds for, before what narrows it."""

    ALL = "all mechanisms"
    ON_OUTPUTS = "all mechanisms with these outputs"
    PIECEWISE = "piecewise mechanisms"
    ONE_PIECE = "one-piece mechanisms"
    UNBIASED_PIECEWISE = "unbiased piecewise mechanisms"
    EACH_COORDINATE = "an independent piecewise mechanism for each coordinate"
    UNBIASED = "unbiased mechanisms"
    ALL_OF_CELLS = "all mechanisms that see the cell alone"
    UNBIASED_LINEAR = "all mechanisms with unbiased linear estimators"
    UNBIASED_ON_GRID = "unbiased mechanisms with reports on the grid"
    PAIRS = "joint responses of pairs"
    GROUPS = "joint responses of exchangeable groups"
    EXCHANGEABLE = "joint responses of all users that treat them alike"


@frozen
class Scope:
    """The mechanisms that a lower bound holds for: a family, what narrows it, and what the prior stands for.

    ``narrowed``, ``cap_is`` and ``prior`` are phrases for the reader; ``cap`` is the worst case that is allowed, as a
    number, for who compares scopes. ``onto`` are the outputs of a class that is tied to those of the problem: narrower
    ones can do better. The words of files leave them to the problem, which stands beside.

    >>> Scope(Family.ALL, cap=0.25).words
    'all mechanisms with worst case at most 0.25'
    >>> Scope(Family.PIECEWISE, onto="[0, 1]").words_onto
    'piecewise mechanisms onto [0, 1]'
    """

    family: Family
    narrowed: str = ""
    cap: float | None = None
    prior: str = ""
    cap_is: str = ""
    onto: str = ""

    @property
    def words(self) -> str:
        capped = "" if self.cap is None else f"{_capped(self.family)} {self.cap!r}{self.cap_is}"
        return f"{self.family.value}{self.narrowed}{capped}{self.prior}"

    @property
    def words_onto(self) -> str:
        """The words with the outputs of the class, for who reads them without the problem."""
        return f"{self.words} onto {self.onto}" if self.onto else self.words

    @property
    def words_for_any_cap(self) -> str:
        """What scopes that differ in the cap alone have in common."""
        return self.words if self.cap is None else self.words.replace(repr(self.cap), "the cap at each eps")


def _capped(family: Family) -> str:
    return " and worst case <=" if family is Family.ON_OUTPUTS else " with worst case at most"
