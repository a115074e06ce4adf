"""Joint randomised response (chapter 4 of the JRR paper): users answer in random groups whose truthfulness is joint.

In a group of g exchangeable users ``w_t`` is the probability that t of them are truthful; each is truthful with
probability ``p = sum_t t w_t / g`` and else reports one of the other k - 1 categories, all equally likely, each with
probability ``q = (1 - p) / (k - 1)``. The paper's pairs are g = 2 with ``w_2 = p^2 + rho p q``. Negative correlation
of truths makes the errors of a group cancel, which lowers the variance of the count of any category far from half.

Everything is exact: weights are Fractions. What the correlation costs in privacy is `mechdesign.exact.collusion`'s
matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput, require_number
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.values.declare import field, frozen
from mechdesign.words.counts import MOST_GROUP, require_categories, require_group, require_population

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = Fraction(1, 2**50)


def require_fraction(value: Fraction | float, field: str) -> Fraction:
    """An exact number, or `InvalidInput`."""
    if isinstance(value, Fraction):
        return value
    number = require_number(value, field)
    if number in (float("inf"), float("-inf")):
        raise InvalidInput(field, value, "be finite")
    return Fraction(int(value)) if isinstance(value, int | np.integer) else Fraction(number)


def _fractions(said: Iterable[Fraction | float]) -> tuple[Fraction, ...]:
    return tuple(require_fraction(weight, "weights") for weight in said)


@frozen
class JointResponse:
    """``weights[t]`` is the probability that exactly t of the g users of a group are truthful.

    >>> example = JointResponse((0, Fraction(2, 5), Fraction(3, 5)))  # example 3 of the paper
    >>> float(example.truth), float(example.rho), round(float(example.variance(users=2, count=2)), 2)
    (0.8, -0.25, 0.67)
    >>> independent = JointResponse.pair(Fraction(4, 5), 0)  # example 2
    >>> round(float(independent.variance(users=2, count=2)), 2)
    0.89
    """

    kind: ClassVar[str] = "joint"

    weights: tuple[Fraction, ...] = field(converter=_fractions)
    categories: int = field(default=2, converter=require_categories)

    def __attrs_post_init__(self) -> None:
        weights = self.weights
        if not 3 <= len(weights) <= MOST_GROUP + 1:
            rule = f"hold a probability for 0, 1, ... g truthful users, g from 2 to {MOST_GROUP}"
            raise InvalidInput("weights", len(weights), rule)
        if min(weights) < 0 or sum(weights) != 1:
            raise InvalidInput("weights", [float(w) for w in weights], "be at least 0 and add up to exactly 1")
        if self.truth <= Fraction(1, self.categories):
            rule = f"make a report truthful with probability above 1/{self.categories}"
            raise InvalidInput("weights", float(self.truth), rule, "nothing could be estimated otherwise")

    @classmethod
    def pair(cls, p: Fraction | float, rho: Fraction | float, categories: int = 2) -> Self:
        """The paper's tables: table 4.2 for two categories, section 4.5's for more.

        The correlation coefficient of the truths is ``rho / (k - 1)``: rho itself for k = 2 only.

        A rho that is a double and within its rounding of the least or the largest one is that one: the chapter's rule
        ``1 - 1/p`` as it is typed means that two of a pair never both lie.

        >>> [str(w) for w in JointResponse.pair(Fraction(3, 4), Fraction(-1, 3)).weights]
        ['0', '1/2', '1/2']
        >>> law = JointResponse.pair(0.731, 1 - 1 / 0.731)
        >>> law.weights[0], float(law.truth) == 0.731, law.rho == 1 - 1 / law.truth
        (Fraction(0, 1), True, True)
        """
        truth, coefficient = require_fraction(p, "p"), require_fraction(rho, "rho")
        k = require_categories(categories)
        if not Fraction(1, k) < truth <= 1:
            raise InvalidInput("p", p, f"lie above 1/{k} and be at most 1")
        if isinstance(rho, float):
            coefficient = _within_rounding(coefficient, rho_range(truth, k))
        lie = (1 - truth) / (k - 1)
        both = truth * truth + coefficient * truth * lie
        weights = (1 - 2 * truth + both, 2 * (truth - both), both)
        if min(weights) < 0:
            lowest, highest = rho_range(truth, k)
            rule = f"lie between {float(lowest):.6g} and {float(highest):.6g} for p = {float(truth):.6g}"
            raise InvalidInput("rho", rho, rule, "no joint table has such a correlation")
        return cls(weights, k)

    @classmethod
    def independent(cls, p: Fraction | float, group: int = 2, categories: int = 2) -> Self:
        """Randomised response: truths are independent."""
        truth = require_fraction(p, "p")
        if not 0 <= truth <= 1:
            raise InvalidInput("p", p, "lie in [0, 1]")
        g = require_group(group)
        return cls(tuple(comb(g, t) * truth**t * (1 - truth) ** (g - t) for t in range(g + 1)), categories)

    # -- the law of a group --------------------------------------------------------------------------------------------

    @property
    def group(self) -> int:
        return len(self.weights) - 1

    @property
    def truth(self) -> Fraction:
        """``p``: the probability that a user is truthful."""
        return sum((t * w for t, w in enumerate(self.weights)), Fraction(0)) / self.group

    @property
    def lie(self) -> Fraction:
        """``q``: the probability of each category that is not the user's."""
        return (1 - self.truth) / (self.categories - 1)

    @property
    def covariance(self) -> Fraction:
        """``Cov(T_i, T_j)`` of two users of a group."""
        both = sum((t * (t - 1) * w for t, w in enumerate(self.weights)), Fraction(0))
        return both / (self.group * (self.group - 1)) - self.truth**2

    @property
    def correlation(self) -> Fraction:
        """The correlation coefficient of the truths of two users of a group."""
        spread = self.truth * (1 - self.truth)
        return self.covariance / spread if spread else Fraction(0)

    @property
    def rho(self) -> Fraction:
        """The paper's rho, ``Cov / (p q)``: the correlation coefficient times k - 1."""
        return self.correlation * (self.categories - 1)

    def likelihoods(self, known: int, truthful: int) -> tuple[Fraction, Fraction]:
        """``(N1, N0)``: the probabilities that ``truthful`` given ones of ``known`` given partners are truthful, the
        others of those are not, and the user is (N1) or is not (N0) truthful.

        >>> law = JointResponse.pair(Fraction(3, 4), Fraction(-1, 3))
        >>> [str(n) for n in law.likelihoods(known=1, truthful=0)]  # the partner lied: the user surely did not
        ['1/4', '0']
        """
        if not 0 <= truthful <= known <= self.group - 1:
            raise InvalidInput("known", (known, truthful), f"hold 0 <= truthful <= known <= {self.group - 1}")
        both = likelihood_rows(self.group, known, truthful)
        worthy = [(t, weight) for t, weight in enumerate(self.weights) if weight]
        true, false = (sum((row[t] * weight for t, weight in worthy), Fraction(0)) for row in both)
        return true, false

    # -- estimation ----------------------------------------------------------------------------------------------------

    def estimate(self, reports: ArrayLike, users: int) -> Floats:
        """``(I_x - n q) / (p - q)``: unbiased for the number of users in a category, given how many reported it."""
        lie = float(self.lie)
        estimates = (np.asarray(reports, dtype=np.float64) - users * lie) / (float(self.truth) - lie)
        return np.asarray(estimates)

    def variance(self, users: int, count: int | Fraction) -> Fraction:
        """The exact variance of the estimate for a category of ``count`` users, theorem 4 for any g and k:

        ``(n_x p (1-p) + (n - n_x) q (1-q) + Cov B) / (p - q)^2``  with
        ``B = (g-1)/(n-1) ((n_x - r)^2 - n_x - r/(k-1))``,  ``r = (n - n_x)/(k-1)``.

        For k = 2 this is ``p q / (p-q)^2 (n + rho (g-1)/(n-1) ((2 n_1 - n)^2 - n))``.
        """
        users = require_population(users, self.group)
        own, p, q = require_fraction(count, "count"), self.truth, self.lie
        if not 0 <= own <= users:
            raise InvalidInput("count", count, f"lie between 0 and the {users} users")
        spread = own * p * (1 - p) + (users - own) * q * (1 - q)
        together = alignment(users, own, self.group, self.categories)
        return (spread + self.covariance * together) / (p - q) ** 2

    # -- sampling ------------------------------------------------------------------------------------------------------

    def truths(self, users: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Who of a whole population is truthful, after a grouping that is uniformly random."""
        require_population(users, self.group)
        require_generator(rng)
        order = rng.permutation(users).reshape(-1, self.group)
        counts = rng.choice(self.group + 1, size=order.shape[0], p=self.chances())
        result = np.empty(users, dtype=np.bool_)
        # members stand in random order in their group, so the first t of them are a random t
        result[order] = np.arange(self.group) < counts[:, None]
        return result

    def perturb(self, values: ArrayLike, rng: np.random.Generator) -> Ints:
        """The reports of a whole population; ``values`` are categories 0 .. k-1, one a user.

        *Guarantee.* Reports follow the joint law exactly up to the rounding of numpy's doubles (for simulation only).
        """
        data = require_values(values, self.categories)
        truthful = self.truths(data.size, rng)
        others = (data + rng.integers(1, self.categories, size=data.size)) % self.categories
        return np.asarray(np.where(truthful, data, others))

    def chances(self) -> Floats:
        """The weights as doubles that add up to 1, for sampling."""
        chances = np.array([float(weight) for weight in self.weights])
        return np.asarray(chances / chances.sum())

    # -- files ---------------------------------------------------------------------------------------------------------

    def echo(self) -> dict[str, Any]:
        """The size of a group, and what the weights make of truth and correlation."""
        return {"group": self.group, "p": float(self.truth), "rho": float(self.rho)}


def alignment(users: int, count: Fraction | int, group: int, categories: int) -> Fraction:
    """``B``: what one unit of covariance between truths adds to the variance of the reports of a category.

    With ``f = 1`` for users of the category and ``-1/(k-1)`` for the others, two users of one group have reports of
    covariance ``f f' Cov(T, T')``, and any two are in one group with probability ``(g-1)/(n-1)``. Positive wherever a
    category holds clearly more or less than its even share.

    >>> alignment(10, 9, 2, 2), alignment(10, 5, 2, 2)
    (Fraction(6, 1), Fraction(-10, 9))
    """
    own = Fraction(count)
    rest = (users - own) / (categories - 1)
    return Fraction(group - 1, users - 1) * ((own - rest) ** 2 - own - rest / (categories - 1))


def rho_range(p: Fraction, categories: int = 2) -> tuple[Fraction, Fraction]:
    """The values of the paper's rho for which its table has no negative entry.

    >>> [str(end) for end in rho_range(Fraction(3, 4))]
    ['-1/3', '1']
    """
    q = (1 - p) / (categories - 1)
    if q == 0:
        return Fraction(0), Fraction(0)
    return max(-p / q, -((categories - 1) ** 2) * q / p), Fraction(categories - 1)


def _within_rounding(rho: Fraction, ends: tuple[Fraction, Fraction]) -> Fraction:
    """The end that a double near it stands for, else the double: ``1 - 1/p`` rounds three times, p being rounded."""
    return next((end for end in ends if abs(rho - end) <= _ROUNDING * max(Fraction(1), abs(end))), rho)


@lru_cache(maxsize=8192)
def likelihood_rows(group: int, known: int, truthful: int) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Coefficients of ``N1`` and ``N0`` in the weights: ``C(g-1-c, t-1-s) / C(g, t)``, ``C(g-1-c, t-s) / C(g, t)``."""
    rest = group - 1 - known

    def row(taken: int) -> tuple[Fraction, ...]:
        inside = ((t, t - taken) for t in range(group + 1))
        return tuple(Fraction(comb(rest, left), comb(group, t)) if left >= 0 else Fraction(0) for t, left in inside)

    return row(truthful + 1), row(truthful)


# -- what is allowed ---------------------------------------------------------------------------------------------------


def require_values(values: ArrayLike, categories: int) -> Ints:
    """Categories of users as whole numbers from 0, or `InvalidInput`."""
    data = np.asarray(values)
    if data.ndim != 1 or data.size == 0 or data.dtype.kind not in "iub":
        raise InvalidInput("values", f"{data.dtype} of shape {data.shape}", "be a list of whole numbers, one a user")
    if data.min() < 0 or data.max() >= categories:
        place = int(np.argmax((data < 0) | (data >= categories)))
        raise InvalidData(f"values[{place}]", int(data[place]), f"lie between 0 and {categories - 1}")
    return np.asarray(data, dtype=np.int64)
