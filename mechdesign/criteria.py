"""What is least, and among which mechanisms: values with words, which nobody has to parse."""

from __future__ import annotations

from enum import Enum

from mechdesign.values.declare import frozen


class Aim(Enum):
    """What is least. The values are the words of files."""

    WORST = "worst case"
    AT = "at"
    WORST_UNBIASED = "worst-case variance, unbiased"
    AVERAGE = "average under the prior"
    AVERAGE_CAPPED = "average under the prior, worst case capped"
    AVERAGE_UNBIASED = "average variance under the prior, unbiased"
    MATRIX_WORST = "worst"
    MATRIX_AVERAGE = "prior"
    MATRIX_LEXICOGRAPHIC = "lexicographic"
    OBJECTIVE = "objective"
    COUNT = "variance of the estimated count"
    WORKLOAD_AVERAGE = "noise of the workload, average over the types"
    WORKLOAD_WORST = "noise of the workload at the worst type"
    INFORMATION = "variance of an efficient estimate"


@frozen
class Criterion:
    """An aim, and for `Aim.AT` the input it is about.

    >>> Criterion(Aim.AT, 0.5).words
    'at 0.5'
    """

    aim: Aim
    x: float | None = None

    @property
    def words(self) -> str:
        return self.aim.value if self.x is None else f"{self.aim.value} {self.x!r}"


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
