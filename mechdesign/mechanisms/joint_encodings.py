"""Joint randomised response inside unary encoding (OUE) and inside local hashing (OLH), section 4.5.

**Unary encoding.** A 1 is reported as 1 with probability p, a 0 with probability q. Each bit of a user has a hidden
uniform number U and is truthful if ``U < p`` (where it is 1) or ``U < 1 - q`` (where it is 0). For every bit two users
of a pair use U and 1 - U with probability ``strength``, else independent numbers. Then two bits ``b, b'`` of a pair
are reported with covariance ``-strength f(b) f(b')``, ``f(1) = 1 - p``, ``f(0) = -q``. With ``p = 1 - q`` this is the
paper's binary JRR with ``rho = strength (1 - 1/p)``; with ``p = 1/2`` it is OUE, for which the paper's symmetric table
has no room.

**Local hashing.** The k-ary response on d hash values. A user outside a category supports it with probability 1/d
whether truthful or not, since the hash is random; so *only* users of the category itself have correlated support, and
the variance falls by a term in the square of the category's share: close to nothing for rare categories.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.mechanisms.joint import JointResponse, require_fraction, require_values
from mechdesign.values.declare import field, frozen
from mechdesign.words.counts import require_categories, require_population

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@frozen
class JointUnary:
    """Unary encoding whose bits two users answer jointly.

    >>> oue = JointUnary.optimised(Fraction(3), categories=10, strength=1)
    >>> gain = oue.variance(10000, 100) / oue.independent.variance(10000, 100)
    >>> float(oue.one), float(oue.zero), round(float(gain), 3)
    (0.5, 0.25, 0.687)
    """

    kind: ClassVar[str] = "joint unary"

    categories: int = field(converter=require_categories)
    one: Fraction = field(converter=partial(require_fraction, field="one"))
    zero: Fraction = field(converter=partial(require_fraction, field="zero"))
    strength: Fraction = field(converter=partial(require_fraction, field="strength"))

    def __attrs_post_init__(self) -> None:
        if not (Fraction(1, 2) <= self.one <= 1 and 0 < self.zero <= Fraction(1, 2) and self.zero < self.one):
            rule = "hold one from 1/2 to 1 and zero from 0 to 1/2, zero below one"
            raise InvalidInput("bits", (float(self.one), float(self.zero)), rule)
        if not 0 <= self.strength <= 1:
            raise InvalidInput("strength", float(self.strength), "lie in [0, 1]", "0 is independent, 1 the strongest")

    @classmethod
    def optimised(cls, ratio: Fraction, categories: int, strength: Fraction | float) -> Self:
        """OUE: p = 1/2, q = 1/(ratio + 1), whose marginal likelihood ratio is ``ratio = e^eps``."""
        if not ratio > 1:
            raise InvalidInput("ratio", float(ratio), "be above 1", "pass exp_lower(eps)")
        return cls(categories, Fraction(1, 2), 1 / (ratio + 1), Fraction(strength))

    @classmethod
    def of_binary(cls, p: Fraction, rho: Fraction, categories: int) -> Self:
        """The paper's binary JRR of (p, rho) on every bit, rho from 1 - 1/p to 0."""
        floor = 1 - 1 / p
        if not floor <= rho <= 0:
            raise InvalidInput("rho", float(rho), f"lie between {float(floor):.6g} and 0")
        return cls(categories, p, 1 - p, rho / floor if floor else Fraction(0))

    @property
    def independent(self) -> JointUnary:
        """The same bits without correlation."""
        return JointUnary(self.categories, self.one, self.zero, Fraction(0))

    # -- privacy -------------------------------------------------------------------------------------------------------

    def ratio(self) -> Fraction | None:
        """The likelihood ratio of a report between two values with nobody known: ``p (1-q) / ((1-p) q)``."""
        return None if self.one == 1 else self.one * (1 - self.zero) / ((1 - self.one) * self.zero)

    def conditional_ratio(self) -> Fraction | None:
        """The same once the partner's value and all its reports are known; None is infinite.

        Two values differ in two bits; the worst knowledge about either, of partners with at most one 1, is multiplied.
        Partners must learn their reports only: who knew the hidden number itself would know the other's.
        """
        worst: Fraction = Fraction(0)
        for first, second in product(product((0, 1), repeat=2), repeat=2):  # (partner's bit, partner's truth), twice
            if first[0] and second[0]:
                continue
            seen = [self._known(*first), self._known(*second)]
            if None in seen:
                continue
            up, down = seen[0], seen[1]
            assert up is not None
            assert down is not None
            gain = _largest_ratio(up, (1, 0))
            loss = _largest_ratio(down, (0, 1))
            if gain is None or loss is None:
                return None
            worst = max(worst, gain * loss)
        return worst

    def _known(self, partner_bit: int, partner_true: int) -> dict[int, Fraction] | None:
        """P(report 1) of one's own bit 0 and 1, given the partner's bit and truth; None if those cannot occur."""
        truth = {1: self.one, 0: 1 - self.zero}
        chance = truth[partner_bit] if partner_true else 1 - truth[partner_bit]
        if chance == 0:
            return None
        result = {}
        for bit in (0, 1):
            both = self._both_true(truth[bit], truth[partner_bit])
            true = (both if partner_true else truth[bit] - both) / chance
            result[bit] = true if bit else 1 - true
        return result

    def _both_true(self, first: Fraction, second: Fraction) -> Fraction:
        return self.strength * (first + second - 1) + (1 - self.strength) * first * second

    # -- utility -------------------------------------------------------------------------------------------------------

    def estimate(self, support: ArrayLike, users: int) -> Floats:
        """``(I_x - n q) / (p - q)``."""
        one, zero = float(self.one), float(self.zero)
        return np.asarray((np.asarray(support, dtype=np.float64) - users * zero) / (one - zero))

    def variance(self, users: int, count: int | Fraction) -> Fraction:
        """The exact variance of the estimated count of a category that ``count`` users hold."""
        require_population(users, 2)
        own, rest = Fraction(count), users - Fraction(count)
        p, q = self.one, self.zero
        total = (own * (1 - p) - rest * q) ** 2
        together = (total - own * (1 - p) ** 2 - rest * q**2) / (users - 1)
        return (own * p * (1 - p) + rest * q * (1 - q) - self.strength * together) / (p - q) ** 2

    def support(self, values: ArrayLike, rng: np.random.Generator) -> Ints:
        """How many users of a randomly paired population report each bit as 1."""
        data = require_values(values, self.categories)
        require_population(data.size, 2)
        pairs = data[rng.permutation(data.size)].reshape(-1, 2)
        counts = np.empty(self.categories, dtype=np.int64)
        truth = np.array([1 - float(self.zero), float(self.one)])
        for x in range(self.categories):
            hidden = rng.random(pairs.shape)
            joint = rng.random(pairs.shape[0]) < float(self.strength)
            hidden[joint, 1] = 1 - hidden[joint, 0]
            bits = (pairs == x).astype(np.int64)
            counts[x] = np.count_nonzero((hidden < truth[bits]) == bits)
        return counts


def _largest_ratio(report_one: dict[int, Fraction], order: tuple[int, int]) -> Fraction | None:
    """The largest likelihood ratio of a bit's report between own bits ``order[0]`` and ``order[1]``."""
    top, bottom = report_one[order[0]], report_one[order[1]]
    ratios = []
    for over, under in ((top, bottom), (1 - top, 1 - bottom)):
        if over == 0:
            continue
        if under == 0:
            return None
        ratios.append(over / under)
    return max(ratios)


@frozen
class JointHashing:
    """Local hashing: each user hashes the value to one of ``response.categories`` and the joint response reports that.

    >>> best = JointResponse.pair(Fraction(1, 2), Fraction(-1, 2), categories=4)
    >>> hashing = JointHashing(best, categories=100)
    >>> float(hashing.variance(1000, 10)), float(hashing.variance(1000, 1000))
    (3009.93993993994, 3333.3333333333335)
    """

    kind: ClassVar[str] = "joint hashing"

    response: JointResponse
    categories: int = field(converter=require_categories)

    @property
    def hashes(self) -> int:
        return self.response.categories

    def estimate(self, support: ArrayLike, users: int) -> Floats:
        """``(C_x - n/d) / (p - 1/d)``."""
        other = 1 / self.hashes
        return np.asarray(
            (np.asarray(support, dtype=np.float64) - users * other) / (float(self.response.truth) - other)
        )

    def variance(self, users: int, count: int | Fraction) -> Fraction:
        """``(n_x p (1-p) + (n - n_x) (1/d)(1 - 1/d) + Cov n_x (n_x - 1) (g-1)/(n-1)) / (p - 1/d)^2``."""
        require_population(users, self.response.group)
        own, p, other = Fraction(count), self.response.truth, Fraction(1, self.hashes)
        together = own * (own - 1) * Fraction(self.response.group - 1, users - 1)
        spread = own * p * (1 - p) + (users - own) * other * (1 - other)
        return (spread + self.response.covariance * together) / (p - other) ** 2

    def support(self, values: ArrayLike, rng: np.random.Generator) -> Ints:
        """How many users of a randomly grouped population support each category, with ideal random hashes."""
        data = require_values(values, self.categories)
        own = rng.integers(0, self.hashes, size=data.size)
        reports = self.response.perturb(own, rng)
        counts = np.empty(self.categories, dtype=np.int64)
        for x in range(self.categories):
            hashed = np.where(data == x, own, rng.integers(0, self.hashes, size=data.size))
            counts[x] = np.count_nonzero(reports == hashed)
        return counts


def best_hashes(epsilon: float, users: int, share: float) -> int:
    """The number of hash values with the least variance of independent responses at one share, searched exactly.

    >>> best_hashes(1.0, 10000, 0.0), best_hashes(1.0, 10000, 0.3)
    (4, 3)
    """
    import math

    ratio = math.exp(require_epsilon(epsilon))

    def variance(d: int) -> float:
        p = ratio / (ratio + d - 1)
        return (share * p * (1 - p) + (1 - share) * (1 / d) * (1 - 1 / d)) / (p - 1 / d) ** 2

    return min(range(2, max(4, math.ceil(2 * ratio) + 4)), key=variance)
