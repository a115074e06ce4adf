"""What is asked of a joint response of all users: how many, which share, and what everybody else may learn together."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from mechdesign.errors import InvalidInput
from mechdesign.exact.joint_variance import Goal
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.mechanisms.hidden import MOST_COUNTED, require_crowd
from mechdesign.mechanisms.joint import require_categories
from mechdesign.methods.joint.problem import Share, as_share, count_of, goal_of, require_share, share_words
from mechdesign.values.declare import epsilon, field, finite, frozen, one_of, option, settle, within
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.privacy import Hidden, require_delta

_ENCODED = {
    "response": "",
    "unary": "; each bit of symmetric unary encoding at half the eps",
    "hashing": "; hash values",
}
ENCODINGS = tuple(_ENCODED)
MOST_DELTA_USERS = 400
"""Users of a search at a delta above 0: a linear program in three times as many numbers, many times over."""

LEAST_DELTA, DELTA_GAP = 1e-7, 1e-4
"""The least delta above 0, and the least gap that is closed with one: solvers have doubles."""

_SHARE = option("--share", "The share of users with a 1, or LEAST,MOST for the worst (0.1).")
_DELTA = option("--delta", "A probability with which more than eps may be learnt.")


@frozen
class Objective:
    """A variance ``V`` of an estimate as a ratio: ``V = E h / d^2 - offset`` with ``h(K)`` quadratic in the liars.

    ``d = scale (p - floor)`` is what the estimate divides by, and ``E h = constant + linear p + pairs E[T T']`` for two
    users' truths. As the expectation of a square given K, h is nowhere negative.
    """

    users: int
    constant: Fraction
    linear: Fraction
    pairs: Fraction
    scale: Fraction
    floor: Fraction
    offset: Fraction

    def height(self) -> tuple[Fraction, Fraction, Fraction]:
        """``h(k)`` for k liars, as the coefficients of 1, k and k^2."""
        n = self.users
        each, two = self.linear / n, self.pairs / (n * (n - 1))
        return (
            self.constant + self.linear + self.pairs,
            -each - two * (2 * n - 1),
            two,
        )

    def divisor(self) -> tuple[Fraction, Fraction, Fraction]:
        """``d`` for k liars, likewise."""
        return self.scale * (1 - self.floor), -self.scale / self.users, Fraction(0)

    def most_divisor(self, ratio: Fraction, wrong: int) -> Fraction:
        """The largest d that a law can have: p is at most ``ratio / (ratio + wrong)``."""
        return self.scale * (ratio / (ratio + wrong) - self.floor)


@frozen
class HiddenJointProblem:
    """Estimate how many of ``users`` hold a category, by answers drawn for all of them together.

    ``share``, ``users`` and ``categories`` as in a `JointProblem`. The epsilon holds against everybody else together,
    who tell their values and their reports; ``delta`` is the probability with which more may be learnt.

    ``encoding`` is what is answered together: ``response``, the report of a category; ``unary``, each bit of unary
    encoding at half the epsilon; ``hashing``, the report of a hash value, of which there are ``categories``, with which
    the users of other values agree by chance.
    """

    kind: ClassVar[str] = "hidden joint"

    epsilon: float = epsilon()
    users: int = field(converter=require_crowd, metadata=option("--users", "How many users report (10000)."))
    share: Share = field(converter=as_share, metadata=_SHARE)
    categories: int = field(
        default=2,
        converter=require_categories,
        metadata=option("--categories", "How many values a user can have."),
    )
    encoding: str = one_of("encoding", ENCODINGS, default="response")
    delta: float = field(default=0.0, converter=require_delta, metadata=_DELTA)
    gap: float = finite("gap", default=1e-6, validator=within("gap", 1e-9, math.nextafter(1.0, 0.0)))

    def __attrs_post_init__(self) -> None:
        require_share(self.share, 2 if self.encoding == "unary" else self.categories)
        if self.encoding == "hashing" and isinstance(self.share, tuple):
            raise InvalidInput("share", self.share, "be a number or a prior for hash values")
        if self.delta and self.users > min(MOST_DELTA_USERS, MOST_COUNTED):
            rule = f"be at most {MOST_DELTA_USERS} with a delta above 0"
            raise InvalidInput("users", self.users, rule, "without --delta up to 1000000 are possible")
        if self.delta and self.encoding == "unary":
            raise InvalidInput("delta", self.delta, "be 0 for unary encoding", "leave --delta out")
        if 0 < self.delta < LEAST_DELTA:
            raise InvalidInput("delta", self.delta, f"be 0 or at least {LEAST_DELTA:g}", "a program sees no less")
        if self.delta:
            settle(self, gap=max(self.gap, DELTA_GAP))
        self.goal()

    @property
    def privacy(self) -> Hidden:
        """What every law must keep."""
        return Hidden(self.epsilon, self.users, self.delta, 2 if self.encoding == "unary" else 1)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.COUNT)

    @property
    def answers(self) -> int:
        """How many values a single answer can have."""
        return 2 if self.encoding == "unary" else self.categories

    @property
    def count(self) -> int | None:
        """The number of users in the category, if there is one number."""
        return count_of(self.share, self.users)

    def ratio(self, *, up: bool) -> Fraction:
        """``e^eps`` of a single answer, rounded."""
        each = Fraction(self.epsilon) / self.privacy.answers
        return exp_upper(each) if up else exp_lower(each)

    def goal(self) -> Goal:
        """What is to be small: all users are one group."""
        goal = goal_of(self.share, self.users, self.users, self.answers)
        if self.encoding != "hashing":
            return goal
        # only users of the category itself have support that is drawn together, and of those every two
        square = _mean_square(goal, self.answers)
        return Goal(self.users, self.users, self.answers, goal.own, square - goal.own, square - goal.own)

    @property
    def alignment(self) -> Fraction:
        """B of the bound: the least in question where that is above 0, and else none above what is in question."""
        goal = self.goal()
        return goal.low if goal.low > 0 else min(goal.high, Fraction(0))

    def objective(self, pairs: Fraction) -> Objective:
        """The variance at some alignment: at `alignment` no law has less of a variance than that."""
        goal, k = self.goal(), self.answers
        own, rest = goal.own, goal.users - goal.own
        if self.encoding == "hashing":
            offset = own + pairs
            spread = rest * Fraction(1, k) * (1 - Fraction(1, k)) + offset * Fraction(1, k) ** 2
            return Objective(
                goal.users, spread, own - 2 * offset * Fraction(1, k), pairs, Fraction(1), Fraction(1, k), offset
            )
        wrong = Fraction(k - 1)
        offset = (wrong / k) ** 2 * (own + rest / wrong**2 + pairs)
        constant = rest * (k - 2) / wrong**2 + offset / wrong**2
        linear = own - rest * (k - 3) / wrong**2 - 2 * k * offset / wrong**2
        return Objective(goal.users, constant, linear, pairs, k / wrong, Fraction(1, k), offset)

    def variance(self, truth: Fraction, covariance: Fraction) -> Fraction:
        """The variance of the estimate under a law: at its worst over a range of shares, on average under a prior."""
        goal, k = self.goal(), self.answers
        if self.encoding != "hashing":
            result: Fraction = goal.variance(truth, covariance)
            return result
        other, rest = Fraction(1, k), goal.users - goal.own
        spread = goal.own * truth * (1 - truth) + rest * other * (1 - other)
        return (spread + goal.low * covariance) / (truth - other) ** 2

    @property
    def independent_variance(self) -> float:
        """The variance of users who answer on their own at the same epsilon."""
        ratio = self.ratio(up=False)
        return float(self.variance(ratio / (ratio + self.answers - 1), Fraction(0)))

    @property
    def floor(self) -> float | None:
        """The share of independent answers' variance that is left however many users there are.

        None if nothing is known: the formula is one for a single share of two values that are reported as they are,
        and with a delta there are laws below it.
        """
        if self.delta or self.answers > 2 or self.encoding == "hashing" or not isinstance(self.share, float):
            return None
        return limit_ratio(self.share)

    @property
    def heading(self) -> str:
        """What is asked, on one line."""
        more = f", {self.categories} values" if self.categories > 2 else ""
        slack = f" but for a chance of {self.delta:g}" if self.delta else ""
        who = f"{self.users} users together{more}, {share_words(self.share, self.users)}"
        return f"Hidden joint response, eps = {self.epsilon:g}{slack}: {who}{_ENCODED[self.encoding]}"

    def echo(self) -> dict[str, int | None]:
        """The number of users that a share stands for."""
        return {"count": self.count}


def _mean_square(goal: Goal, categories: int) -> Fraction:
    """The mean square of the count, from the alignment ``B = (n_x - r)^2 - n_x - r/(k-1)``, ``r = (n - n_x)/(k-1)``."""
    wrong = categories - 1
    mean_rest = (goal.users - goal.own) / wrong
    square = goal.low + goal.own + mean_rest / wrong  # of n_x - r = (k n_x - n) / (k - 1)
    k, n = categories, goal.users
    result: Fraction = (square * wrong**2 + 2 * k * n * goal.own - n * n) / (k * k)
    return result


def expected_ratio(epsilon: float, users: int, share: float) -> float:
    """What is left of the variance for many users: ``4 s (1-s)`` and a term that falls like ``n^(-1/3)``.

    With ``q = 1/(1 + e^eps)`` the peak stands ``z`` users above the ``n q`` who lie on their own. Beyond it the law
    falls like a geometric one, by ``e^(-z / (n q (1-q)))`` a user, so ``Var K = (n q (1-q) / z)^2``, and each user by
    which z grows costs ``4 s (1-s) / (1-2q)^3``. The best z grows like ``n^(2/3)``.

    >>> round(expected_ratio(1.0, 10**6, 0.033), 3)  # the optimum is .1414
    0.141
    """
    q = 1 / (1 + math.exp(epsilon))
    price = 4 * share * (1 - share) / (1 - 2 * q) ** 3
    spread = ((1 - 2 * share) * q * (1 - q) / (1 - 2 * q)) ** 2
    own = q * (1 - q) / (1 - 2 * q) ** 2
    return limit_ratio(share) + 1.5 * price * math.cbrt(2 * spread / price / users) / own


def limit_ratio(share: float) -> float:
    """What is left of the variance of independent answers as users grow without limit: ``4 s (1 - s)``.

    >>> round(limit_ratio(0.033), 4)
    0.1276
    """
    return 4 * share * (1 - share)
