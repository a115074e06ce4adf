"""Joint randomised response whose grouping nobody learns: all that matters is how many of all users lie.

The liars are a uniformly random set of users, given how many there are. So one law of that number K is a mechanism for
the whole population, and the groups of `mechdesign.mechanisms.joint` are one way to draw it among others. A set of k
liars who each tell one of the c = categories - 1 wrong values has the probability ``P(K = k) / (C(n, k) c^k)``; what
that may be for everybody else to know is `mechdesign.exact.hidden`'s matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidData, InvalidInput, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.mechanisms.joint import JointResponse, require_fraction, require_values
from mechdesign.values.declare import Counts, Floats, field, frozen
from mechdesign.words.counts import require_categories

MOST_PEAKED = 10**6
"""Users of a peaked law: its sums grow with the square root of that."""

MOST_COUNTED = 2000
"""Users of a law that is written down number by number."""


def require_crowd(users: int, most: int = MOST_PEAKED) -> int:
    """A number of users whose answers are drawn together, or `InvalidInput`."""
    return require_whole(users, "users", 2, most)


def _ratio(said: Fraction | float) -> Fraction:
    ratio = require_fraction(said, "ratio")
    if not ratio > 1:
        raise InvalidInput("ratio", float(ratio), "be above 1", "pass exp_lower(eps)")
    return ratio


@frozen
class PeakedResponse:
    """Every *set* of k liars, with what they say, has probability proportional to ``ratio^-|k - peak|``.

    The exponential mechanism on the number of liars. With ``peak = 0`` users answer on their own.

    >>> law = PeakedResponse(1000, 308, Fraction(271828, 100000))
    >>> round(law.truth, 3), round(PeakedResponse(1000, 0, Fraction(3)).truth, 9)
    (0.688, 0.75)
    """

    kind: ClassVar[str] = "peaked joint"

    users: int = field(converter=require_crowd)
    peak: int
    ratio: Fraction = field(converter=_ratio)
    categories: int = field(default=2, converter=require_categories)

    def __attrs_post_init__(self) -> None:
        require_whole(self.peak, "peak", 0, self.users)
        if not self.truth > 1 / self.categories:
            rule = f"make a report truthful with probability above 1/{self.categories}"
            raise InvalidInput("peak", self.peak, rule, "take fewer liars")

    @property
    def truth(self) -> float:
        """``p``: the probability that a user is truthful, as a double."""
        least, chances = self.liars_law()
        return float(1 - np.dot(chances, least + np.arange(chances.size)) / self.users)

    def liars_law(self) -> tuple[int, Floats]:
        """The least number of liars that doubles see, and the probabilities of it and all larger ones."""
        return _peaked_chances(self.users, self.peak, math.log(self.ratio), math.log(self.categories - 1))

    def liars(self, rng: np.random.Generator, size: int) -> Counts:
        """Numbers of liars, one a collection."""
        return _drawn(self, rng, size)

    def perturb(self, values: ArrayLike, rng: np.random.Generator) -> Counts:
        """The reports of a whole population, up to the rounding of numpy's doubles (for simulation only)."""
        return _perturbed(self, values, rng)

    def estimate(self, reports: ArrayLike, users: int) -> Floats:
        """``(I_x - n q) / (p - q)``, unbiased, given how many reported a category and how many reported at all."""
        return _estimated(self, reports, users)

    def echo(self) -> dict[str, Any]:
        """The probability of the truth."""
        return {"p": self.truth}


@frozen
class CountedResponse:
    """``chances[k]`` is the probability that exactly k of the users lie, a uniformly random set of them.

    >>> CountedResponse((Fraction(1, 2), Fraction(1, 2), Fraction(0))).truth
    0.75
    """

    kind: ClassVar[str] = "counted joint"

    chances: tuple[Fraction, ...] = field(converter=lambda said: _fractions(said))
    categories: int = field(default=2, converter=require_categories)

    def __attrs_post_init__(self) -> None:
        require_crowd(self.users, MOST_COUNTED)
        if min(self.chances) < 0 or sum(self.chances) != 1:
            raise InvalidInput("chances", f"{len(self.chances)} numbers", "be at least 0 and add up to exactly 1")
        if not self.mean_liars * self.categories < self.users * (self.categories - 1):
            rule = f"make a report truthful with probability above 1/{self.categories}"
            raise InvalidInput("chances", self.truth, rule, "take fewer liars")

    @property
    def users(self) -> int:
        return len(self.chances) - 1

    @property
    def mean_liars(self) -> Fraction:
        return sum((k * chance for k, chance in enumerate(self.chances)), Fraction(0))

    @property
    def truth(self) -> float:
        """``p``: the probability that a user is truthful, as a double."""
        return float(1 - self.mean_liars / self.users)

    def liars_law(self) -> tuple[int, Floats]:
        """0, and the probabilities of all numbers of liars as doubles."""
        chances = np.array([float(chance) for chance in self.chances])
        return 0, chances / chances.sum()

    def liars(self, rng: np.random.Generator, size: int) -> Counts:
        """Numbers of liars, one a collection."""
        return _drawn(self, rng, size)

    def perturb(self, values: ArrayLike, rng: np.random.Generator) -> Counts:
        """The reports of a whole population, up to the rounding of numpy's doubles (for simulation only)."""
        return _perturbed(self, values, rng)

    def estimate(self, reports: ArrayLike, users: int) -> Floats:
        """``(I_x - n q) / (p - q)``, unbiased, given how many reported a category and how many reported at all."""
        return _estimated(self, reports, users)

    def echo(self) -> dict[str, Any]:
        """The number of users and the probability of the truth."""
        return {"users": self.users, "p": self.truth}


HiddenResponse = PeakedResponse | CountedResponse
TogetherLaw = JointResponse | HiddenResponse
"""Laws of many users' reports: no user has one of one's own."""

M = TypeVar("M")


def require_own_law(mechanism: M | TogetherLaw) -> M:
    """The mechanism, if it is one user's own; `InvalidInput` for a joint response, of which no table can be made."""
    if isinstance(mechanism, TogetherLaw):
        rule = "have a law of each user's own report: a group draws its truths together, and no table holds that"
        step = "draw it between the users with run_parties (jrr --run-parties), or ship randomised_response at this eps"
        raise InvalidInput("mechanism", "a joint response", rule, step)
    return mechanism


def _fractions(said: Iterable[Fraction | float]) -> tuple[Fraction, ...]:
    return tuple(require_fraction(chance, "chances") for chance in said)


def _peaked_chances(users: int, peak: int, slope: float, wrong: float) -> tuple[int, Floats]:
    """Doubles of the law within about 40 standard deviations of its mode: beyond they are below 1e-300."""
    mode = _mode(users, peak, slope, wrong)
    reach = math.ceil(40 * math.sqrt(users / 4) + 800 / max(slope, 1e-3)) if users > 4000 else users
    k = np.arange(max(0, mode - reach), min(users, mode + reach) + 1)
    steps = np.log((users - k[:-1]) / (k[:-1] + 1.0)) + wrong + np.where(k[:-1] < peak, slope, -slope)
    at = int(mode - k[0])
    height = np.concatenate([-np.cumsum(steps[:at][::-1])[::-1], [0.0], np.cumsum(steps[at:])])
    chances = np.exp(height - height.max())
    return int(k[0]), np.asarray(chances / chances.sum())


def _mode(users: int, peak: int, slope: float, wrong: float) -> int:
    """Where the law is largest: at the peak, unless one of its two binomial pieces still rises beyond it."""
    before = (users + 1) / (1 + math.exp(min(-wrong - slope, 700.0)))
    after = (users + 1) / (1 + math.exp(min(-wrong + slope, 700.0)))
    return min(users, max(0, math.floor(min(max(peak, after), before) if peak > before else max(peak, after))))


def _drawn(law: Any, rng: np.random.Generator, size: int) -> Counts:
    require_generator(rng)
    least, chances = law.liars_law()
    return np.asarray(least + rng.choice(chances.size, size=size, p=chances), dtype=np.int64)


def _perturbed(law: Any, values: ArrayLike, rng: np.random.Generator) -> Counts:
    data = require_values(values, law.categories)
    if data.size != law.users:
        raise InvalidData("values", f"{data.size} of them", f"be one of each of the law's {law.users} users")
    lies = rng.permutation(data.size) < law.liars(rng, 1)[0]
    others = (data + rng.integers(1, law.categories, size=data.size)) % law.categories
    return np.asarray(np.where(lies, others, data), dtype=np.int64)


def _estimated(law: Any, reports: ArrayLike, users: int) -> Floats:
    truth = law.truth
    lie = (1 - truth) / (law.categories - 1)
    return np.asarray((np.asarray(reports, dtype=np.float64) - users * lie) / (truth - lie))
