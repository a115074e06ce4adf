"""What is least, and among which mechanisms: values with words, which nobody has to parse."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput
from mechdesign.values.codec import if_any
from mechdesign.values.declare import SLACK_OPTION, Floats, array, evolved, finite, frozen, optional, stored
from mechdesign.words.domains import require_numbers
from mechdesign.words.priors import Atoms

LEAST_SLACK = 1e-9


def _weights(said: ArrayLike) -> Floats:
    if np.ma.isMaskedArray(said):
        raise InvalidInput("prior", "a masked array", "be a plain array", "fill the masked entries")
    weights = np.atleast_1d(require_numbers(said, "prior"))
    if weights.ndim != 1:
        raise InvalidInput("prior", weights.shape, "be weights in a row, one for each input")
    return stored(Atoms(np.arange(float(weights.size)), weights).weights)


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

    def over(self, inputs: int) -> Worst:
        """The same: it asks for no weights."""
        return self


@frozen
class Average:
    """The expected loss averaged under a prior, weights on the inputs; uniform if left out.

    >>> Average([0.75, 0.25]).prior.tolist(), Average().over(2).prior.tolist()
    ([0.75, 0.25], [0.5, 0.5])
    """

    kind: ClassVar[str] = "average"
    ranks_by: ClassVar[str] = "average"
    words: ClassVar[str] = "average under the prior"

    prior: Floats | None = array(optional(_weights), default=None, metadata=if_any())

    def headline(self, measure: str) -> str:
        """The quantity that is least."""
        return f"average {measure} under the prior"

    def over(self, inputs: int) -> Average:
        """The same, uniform over so many inputs where nothing else is said."""
        return self if self.prior is not None else evolved(self, prior=np.full(inputs, 1 / inputs))


@frozen
class Lexicographic:
    """The average under a prior, among mechanisms whose worst case is at most ``1 + slack`` times the least.

    A larger slack trades one for the other.
    """

    kind: ClassVar[str] = "lexicographic"
    ranks_by: ClassVar[str] = "worst"
    words: ClassVar[str] = "lexicographic"

    prior: Floats | None = array(optional(_weights), default=None, metadata=if_any())
    slack: float = finite("slack", default=1e-3, metadata=SLACK_OPTION)

    def __attrs_post_init__(self) -> None:
        if not self.slack >= LEAST_SLACK:
            raise InvalidInput("slack", self.slack, f"be at least {LEAST_SLACK:g}", "for example 0.001")

    def headline(self, measure: str) -> str:
        """The quantity that is least, and how near a worst case that comes first is to the least one."""
        return f"average {measure} under the prior, worst case within {100 * self.slack:g}% of the least"

    def over(self, inputs: int) -> Lexicographic:
        """The same, uniform over so many inputs where nothing else is said."""
        return self if self.prior is not None else evolved(self, prior=np.full(inputs, 1 / inputs))


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


OverInputs = Worst | Average | Lexicographic
"""What is least over all inputs, or finitely many."""

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


class Aim(Enum):
    """What is least. The values are the words of files."""

    WORST = "worst case"
    AVERAGE = "average under the prior"
    AVERAGE_CAPPED = "average under the prior, worst case capped"
    AVERAGE_UNBIASED = "average variance under the prior, unbiased"
    OBJECTIVE = "objective"
    COUNT = "variance of the estimated count"
    WORKLOAD_AVERAGE = "noise of the workload, average over the types"
    WORKLOAD_WORST = "noise of the workload at the worst type"
    INFORMATION = "variance of an efficient estimate"


@frozen
class Criterion:
    """An aim.

    >>> Criterion(Aim.WORST).words
    'worst case'
    """

    aim: Aim

    @property
    def words(self) -> str:
        return self.aim.value

    @property
    def ranks_by(self) -> str:
        """Which of a mechanism's errors is compared."""
        return _RANKS_BY.get(self.aim, "worst")

    def headline(self, measure: str) -> str:
        """The quantity that is least."""
        return _HEADLINES.get(self.aim, "worst-case {measure}").format(measure=measure)


_RANKS_BY = {
    Aim.AVERAGE: "average",
    Aim.AVERAGE_UNBIASED: "average",
    Aim.WORKLOAD_AVERAGE: "average",
}
_HEADLINES = {
    Aim.AVERAGE: "average {measure} under the prior",
    Aim.AVERAGE_CAPPED: "average {measure} under the prior, worst case capped",
    Aim.OBJECTIVE: "objective",
    Aim.COUNT: "variance of the estimated count",
}


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
