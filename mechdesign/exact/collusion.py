"""What joint randomised response gives away, exactly: on average over the grouping, and once partners are known.

Two different questions have two different answers:

* `averaged_ratio` is theorem 3 of the paper (and its analogue for larger groups and more categories): a user's partners
  are random, so how many of them collude is hypergeometric, and the worst case for each number is averaged. It is an
  average over the grouping and no more: the theorem is stated given all colluders' truths, and those also tell who is
  hardly paired with whom. With negative correlation two colluders who both lied are rarely a pair, so one of them is
  more likely one's own partner. `all_lied_ratio` has the exact number, which is then above theorem 3's from two
  colluders on (4.28 for 3.84 among 4 users); `told_ratio` has it for any group of few users.
* `conditional_ratio` is the loss once c partners of the user's own group are known to collude and have told their
  truthfulness. The paper's adversary learns who is paired with whom, so this one applies to whoever is unlucky. At
  the paper's heuristic ``rho = 1 - 1/p`` it is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.values.declare import frozen
from mechdesign.words.counts import require_population
from mechdesign.words.privacy import require_colluders

Ratio = Fraction | None
"""A likelihood ratio; None is infinite."""

MOST_TOLD = 200
"""Users for whom `told_ratio` adds up all that can have happened."""


@lru_cache(maxsize=1024)
def known_truth(law: JointResponse, known: int) -> tuple[Fraction, Fraction]:
    """The largest probability that a user is truthful, and that a user is not, over what ``known`` partners tell."""
    seen = [law.likelihoods(known, truthful) for truthful in range(known + 1)]
    possible = [(true, false) for true, false in seen if true + false > 0]
    return max(t / (t + f) for t, f in possible), max(f / (t + f) for t, f in possible)


def conditional_ratio(law: JointResponse, known: int) -> Ratio:
    """The largest likelihood ratio of a report between two values once ``known`` partners have told their truthfulness.

    A truthful report has likelihood ``P(T=1 | known)``, each other category ``P(T=0 | known) / (k-1)``.
    """
    return _worst_ratio(law, *known_truth(law, known))


def averaged_ratio(law: JointResponse, users: int, colluders: int) -> Ratio:
    """Theorem 3: the bound ``e^eps`` averaged over how many of ``colluders`` users are in one's own group.

    For pairs it is ``(m p_max + (n-m-1) p) / (m p_min + (n-m-1) q)``.

    >>> heuristic = JointResponse((0, Fraction(54, 100), Fraction(46, 100)))
    >>> averaged_ratio(heuristic, 10000, 0) == heuristic.truth / (1 - heuristic.truth)
    True
    """
    chances = collusion(users, colluders, law.group)
    extremes = [(h, *known_truth(law, known)) for known, h in enumerate(chances) if h]
    true = sum((h * most for h, most, _ in extremes), Fraction(0))
    false = sum((h * most for h, _, most in extremes), Fraction(0))
    return _worst_ratio(law, true, false)


def _worst_ratio(law: JointResponse, true: Fraction, false: Fraction) -> Ratio:
    if true == 1 or false == 1:
        return None
    others = law.categories - 1
    return max(others * true / (1 - true), false / (others * (1 - false)))


def all_lied_ratio(law: JointResponse, users: int, colluders: int) -> Ratio:
    """The exact likelihood ratio for pairs once all colluders have told that they lied, the pairing being unknown.

    Among ways to pair everybody those with k pairs of colluders have weight ``f^k``,
    ``f = P(both lie) / P(one lies)^2``. With negative correlation f < 1: lying colluders are less often each other's
    partners, hence more often one's own than ``m/(n-1)``, which theorem 3 takes. With rho <= 0 no other truths were
    found to tell more (by enumeration up to 6 users); with rho > 0 others do: that all were truthful gives 2.033 where
    that all lied gives 1.288 (one colluder among 4 users, p = .57, rho = .7).

    >>> law = JointResponse.pair(Fraction(7, 10), Fraction(-1, 5))
    >>> str(averaged_ratio(law, 4, 2)), str(all_lied_ratio(law, 4, 2))
    ('119/31', '77/18')
    """
    if law.group != 2:
        raise InvalidInput("group", law.group, "be 2")
    users, colluders = require_population(users, 2), require_colluders(colluders, users)
    others = users - colluders
    factor = law.weights[0] / (1 - law.truth) ** 2
    fewest = max(0, (colluders - others + 1) // 2)
    # the number of ways with k inner pairs, by ratios of neighbours
    weight, total, outside = Fraction(1), Fraction(0), Fraction(0)
    if factor == 0 and fewest:
        raise InvalidInput("colluders", colluders, f"be at most {users // 2}, or all of them cannot have lied")
    for pairs in range(fewest, colluders // 2 + 1):
        lonely = colluders - 2 * pairs
        total += weight
        outside += weight * lonely
        weight *= factor * Fraction(lonely * (lonely - 1), 2 * (pairs + 1) * (others - lonely + 2))
    chance = outside / (total * others)
    true, false = law.likelihoods(1, 0)
    likely = (1 - chance) * law.truth + chance * true / (true + false)
    return _worst_ratio(law, likely, 1 - likely)


def told_ratio(law: JointResponse, users: int, colluders: int) -> Ratio:
    """The exact likelihood ratio once the colluders have told whether they lied, whatever they did, at its worst.

    The grouping is random and unknown, so given how many of all users are truthful they are a uniformly random set: of
    the colluders only the number who lied matters. With S truthful users in all, "the user is, and l of m colluders
    lied, these ones" has the probability ``sum_S P(S) C(n-1-m, S-1-m+l) / C(n, S)``. For any group and few users: the
    law of S is added up group by group.

    >>> law = JointResponse.pair(Fraction(7, 10), Fraction(-1, 5))
    >>> str(told_ratio(law, 4, 2))
    '77/18'
    """
    users, colluders = require_population(users, law.group), require_colluders(colluders, users)
    if users > MOST_TOLD:
        raise InvalidInput("users", users, f"be at most {MOST_TOLD}", "all_lied_ratio takes any number, for pairs")
    chances = [Fraction(1)]
    for _ in range(users // law.group):
        grown = [Fraction(0)] * (len(chances) + law.group)
        for truthful, chance in enumerate(chances):
            for more, weight in enumerate(law.weights):
                grown[truthful + more] += chance * weight
        chances = grown
    rest, worst = users - 1 - colluders, Fraction(1)
    for lied in range(colluders + 1):
        told = colluders - lied
        true, false = (
            sum(
                (
                    chance * Fraction(comb(rest, others), comb(users, S))
                    for S, chance in enumerate(chances)
                    if 0 <= (others := S - told - own) <= rest
                ),
                Fraction(0),
            )
            for own in (1, 0)
        )
        if true + false == 0:
            continue
        ratio = _worst_ratio(law, true / (true + false), false / (true + false))
        if ratio is None:
            return None
        worst = max(worst, ratio)
    return worst


def collusion(users: int, colluders: int, group: int) -> tuple[Fraction, ...]:
    """The probabilities that 0, 1, ..., g-1 of a user's partners are among ``colluders`` other users.

    >>> [str(chance) for chance in collusion(10, 3, 2)]
    ['2/3', '1/3']
    """
    return _hypergeometric(require_population(users, group), require_colluders(colluders, users), group)


@lru_cache(maxsize=64)
def _hypergeometric(users: int, colluders: int, group: int) -> tuple[Fraction, ...]:
    total = comb(users - 1, group - 1)
    rest = users - 1 - colluders
    return tuple(Fraction(comb(colluders, c) * comb(rest, group - 1 - c), total) for c in range(group))


@frozen
class JointPrivacy:
    """What a law was found to give away, in epsilons rounded up.

    ``conditional[c]`` is the loss once c partners of one's own group are known; infinite where it is infinite.
    """

    users: int
    colluders: int
    averaged: float
    conditional: tuple[float, ...]

    @property
    def if_your_partner_colludes(self) -> float:
        return self.conditional[1]


def privacy_of(law: JointResponse, users: int, colluders: int = 0) -> JointPrivacy:
    """The averaged epsilon and the privacy profile, computed exactly.

    >>> law = JointResponse.pair(Fraction(3, 4), Fraction(-1, 3))
    >>> [round(epsilon, 9) for epsilon in privacy_of(law, 100).conditional]
    [1.098612289, inf]
    """
    users, colluders = require_population(users, law.group), require_colluders(colluders, users)
    conditional = tuple(log_up(conditional_ratio(law, known)) for known in range(law.group))
    return JointPrivacy(users, colluders, log_up(averaged_ratio(law, users, colluders)), conditional)


def prove_joint_privacy(
    law: JointResponse, epsilon: float, users: int, colluders: int, caps: Sequence[float | None] = ()
) -> None:
    """`CheckFailed` unless the averaged loss is at most ``epsilon`` and each cap holds with that many partners known.

    *Guarantee.* All ratios are exact and compared with a rational lower bound of ``e^eps``. ``caps[c-1]`` is the cap on
    the epsilon with c partners known, None for no cap.
    """
    averaged = averaged_ratio(law, users, colluders)
    if averaged is None or averaged > exp_lower(epsilon):
        raise CheckFailed(f"the averaged epsilon {log_up(averaged)!r} is above {epsilon!r}")
    for known, cap in enumerate(caps, start=1):
        if cap is None:
            continue
        ratio = conditional_ratio(law, known)
        if ratio is None or ratio > exp_lower(cap):
            raise CheckFailed(f"with {known} known the epsilon {log_up(ratio)!r} is above its cap {cap!r}")


def log_up(ratio: Ratio) -> float:
    """The least double v with ``ratio <= e^v`` proven; None is infinite."""
    if ratio is None:
        return math.inf
    if ratio <= 1:
        return 0.0
    near = math.log1p(ratio - 1) if ratio < 10**300 else math.log(ratio.numerator) - math.log(ratio.denominator)
    while exp_lower(near) < ratio:
        near = math.nextafter(near, math.inf)
    while exp_lower(below := math.nextafter(near, 0.0)) >= ratio:
        near = below
    return near
