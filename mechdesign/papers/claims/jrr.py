"""Chapter 4 of the refined mechanism design thesis: joint randomised response."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

from mechdesign.exact.collusion import all_lied_ratio, averaged_ratio
from mechdesign.exact.hidden import hidden_loss
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods.hidden_joint.search import ratio as hidden_ratio
from mechdesign.methods.joint.grouping import grouping_of
from mechdesign.methods.joint.search import heuristic, parts, ratio
from mechdesign.methods.registry import solve
from mechdesign.papers.claims.claim import AT_MOST, Claim, Item, Value, within
from mechdesign.papers.claims.drawing import Lines, beside, curves
from mechdesign.papers.claims.shared import number_of, picture_of
from mechdesign.words.classes import Together
from mechdesign.words.counts import Count
from mechdesign.words.privacy import Collusion, Hidden
from mechdesign.words.problem import Problem

PAPER = "Refined mechanism design, chapter 4 (JRR)"

_USERS = 10_000
_KOSARAK = (20_000, 659)
"""Users, and those with a one (table 4.3)."""
_SHARE, _COLLECTIONS = 0.8, 1000
REAL = {"Kosarak": _KOSARAK, "Amazon": (10_000, 762), "E-commerce": (23_486, 19_314), "Census": (10_000, 9_528)}
"""Table 4.3: users, and those with a one."""
_PRIVATE = (0.01, 0.1, 1.0)


def _examples() -> list[Value]:
    independent = JointResponse.pair(Fraction(4, 5), 0)
    together = JointResponse((Fraction(0), Fraction(2, 5), Fraction(3, 5)))
    return [independent.variance(2, 2), together.variance(2, 2)]


def _enumerated_variance() -> list[Value]:
    """Four users of whom one has a 1, p = .7, rho = -.25: all pairings and all truths, without theorem 4."""
    p, values = Fraction(7, 10), (1, 0, 0, 0)
    law = JointResponse.pair(p, Fraction(-1, 4))
    table = {(1, 1): law.weights[2], (1, 0): law.weights[1] / 2, (0, 1): law.weights[1] / 2, (0, 0): law.weights[0]}
    first, second = Fraction(0), Fraction(0)
    for pairing in ([(0, 1), (2, 3)], [(0, 2), (1, 3)], [(0, 3), (1, 2)]):
        for truths in itertools.product((0, 1), repeat=4):
            (a, b), (c, d) = ((truths[i], truths[j]) for i, j in pairing)
            chance = table[a, b] * table[c, d] / 3
            reports = sum(value if truth else 1 - value for value, truth in zip(values, truths, strict=True))
            estimate = (reports - 4 * (1 - p)) / (2 * p - 1)
            first, second = first + chance * estimate, second + chance * estimate**2
    return [first, second - first**2]


def _two_party_counts(law: JointResponse, bits: int) -> list[int]:
    """How many of the keys make T1, T2 of two users 11, 10, 01 and 00, by the bounds R_1 to R_3 of section 4.4.2."""
    both, one, _ = (law.weights[2], law.weights[1] / 2, law.weights[0])
    steps = [math.floor(chance * 2**bits) for chance in (both, one, one)]
    return [*steps, 2**bits - sum(steps)]


def _two_parties() -> list[Value]:
    """The largest difference between the protocol's chances and those of table 4.2, with 64 bits, at four p and rho;
    and that between counts and all pairs of keys of 6 bits, their sums compared as in the protocol."""
    apart, miscounted = Fraction(0), 0
    for p, rho in itertools.product((Fraction(3, 5), Fraction(9, 10)), (Fraction(0), Fraction(-1, 10))):
        law = JointResponse.pair(p, rho)
        table = (law.weights[2], law.weights[1] / 2, law.weights[1] / 2, law.weights[0])
        made = (Fraction(count, 2**64) for count in _two_party_counts(law, 64))
        apart = max(apart, *(abs(one - other) for one, other in zip(made, table, strict=True)))
        few = _two_party_counts(law, 6)
        seen = _opened(few, 6)
        miscounted += sum(abs(one * 64 - other) for one, other in zip(few, seen, strict=True))
    return [apart, float(miscounted)]


def _opened(counts: Sequence[int], bits: int) -> list[int]:
    """Step 2 for all pairs of keys: the indicators of R < R_1, R_2, R_3, and the outputs they add up to."""
    bounds, seen = list(itertools.accumulate(counts[:3])), [0, 0, 0, 0]
    for keys in itertools.product(range(2**bits), repeat=2):
        below = [int(sum(keys) % 2**bits < bound) for bound in bounds]
        first, second = below[1], below[0] + below[2] - below[1]  # I11 + I10 and I11 + I01
        seen[3 - 2 * first - second] += 1
    return seen


def _given_all() -> list[Value]:
    """Theorem 3's ratio among four users of whom two collude, and the true one given that both colluders lied."""
    law = JointResponse.pair(Fraction(7, 10), Fraction(-1, 5))
    bound, true = averaged_ratio(law, 4, 2), all_lied_ratio(law, 4, 2)
    assert bound is not None
    assert true is not None
    return [bound, true]


def _pairs(epsilon: float, share: float, colluders: int = 0, users: int = _USERS) -> Problem:
    return Problem(loss=Count(share), privacy=Collusion(epsilon, users, colluders), among=Together(group=2))


def _spent() -> list[Value]:
    rules = [heuristic(_pairs(1.0, 0.01, colluders=count)) for count in (0, 500)]
    return [rule.privacy.averaged for rule in rules]


def _partner() -> list[Value]:
    return [heuristic(_pairs(1.0, 0.01)).privacy.if_your_partner_colludes]


def _grouping_hidden() -> list[Value]:
    """The heuristic's epsilon at a delta of 1e-6 if nobody knows the pairing: 500, or all others, collude."""
    law = heuristic(_pairs(1.0, 0.033)).law
    losses = [hidden_loss(law, _USERS, colluders, 1e-6) for colluders in (500, _USERS - 1)]
    return [(loss.lower, loss.upper) for loss in losses]


def _left_on_the_table() -> list[Value]:
    """What is left of randomised response's variance: the chapter's pairs, and the optimum that keeps eps whoever
    colludes (eps = 1, n = 10^4, a share of .033)."""
    pairs = ratio(solve(_pairs(1.0, 0.033)))
    together = Problem(loss=Count(0.033), privacy=Hidden(1.0, _USERS), among=Together())
    return [pairs, hidden_ratio(solve(together))]


def _optimal_pair() -> list[Value]:
    _, law, _ = parts(solve(_pairs(1.0, 0.01)))
    return [law.truth, law.rho]


def _agreement() -> list[Value]:
    limits = [heuristic(_pairs(1.0, share)).agrees_up_to for share in (0.1, 0.9)]
    return [0.0 if limit is None else limit for limit in limits]  # None: it matches for no number of colluders


def _ratios() -> list[Value]:
    return [ratio(solve(_pairs(epsilon, 1.0))) for epsilon in (0.01, 0.1)]


def _percentiles() -> list[Value]:
    """The ARE that 80% of collections stay below, under the normal law of the exact variance.

    By equation 4.2 the ARE is the mean over both values; they are missed by the same number of users.
    """
    users, ones = _KOSARAK
    problem = _pairs(0.1, ones / users, users=users)
    reach = NormalDist().inv_cdf((1 + _SHARE) / 2) * (1 / ones + 1 / (users - ones)) / 2
    variances = heuristic(problem).variance, grouping_of(problem).independent_variance
    return [reach * math.sqrt(variance) for variance in variances]


def _three_errors() -> float:
    """Three standard errors of that percentile of 1000 collections, as a share of it."""
    reach = NormalDist().inv_cdf((1 + _SHARE) / 2)
    return 3 * math.sqrt(_SHARE * (1 - _SHARE) / _COLLECTIONS) / (2 * NormalDist().pdf(reach)) / reach


def _relative_errors() -> list[Value]:
    """Shares of the ARE at 100 values of eps from 0.01 to 1, by theorem 4: of both values the same users are missed, so
    they are shares of the standard deviation. Without colluders; the more there are, the larger they are."""

    def deviations(users: int, percent: int) -> tuple[float, float]:
        growth = math.exp(percent / 100)
        p = Fraction(growth / (1 + growth))
        law, ones = JointResponse.pair(p, 1 - 1 / p), users // 100
        alone = JointResponse.pair(p, 0)
        return math.sqrt(law.variance(users, ones)), math.sqrt(alone.variance(users, ones))

    found = {users: [deviations(users, percent) for percent in range(1, 101)] for users in (10_000, 40_000, 80_000)}
    least = [min(ours / alone for ours, alone in rows) for rows in found.values()]
    rows = found[10_000]
    of_means = math.fsum(ours for ours, _ in rows) / math.fsum(alone for _, alone in rows)
    return [*least, math.fsum(ours / alone for ours, alone in rows) / len(rows), of_means]


def _improved() -> list[Value]:
    """The share of the n + 1 numbers of ones at which a negative correlation lowers the variance."""
    lowered = sum((2 * ones - _USERS) ** 2 > _USERS for ones in range(_USERS + 1))
    return [Fraction(lowered, _USERS + 1)]


def _ratio_of(epsilon: float, users: int, ones: int) -> float:
    """JRR's mean squared error as a share of randomised response's at the heuristic's p and rho, by theorem 4."""
    growth = math.exp(epsilon)
    p = Fraction(growth / (1 + growth))
    law, alone = JointResponse.pair(p, 1 - 1 / p), JointResponse.pair(p, 0)
    return float(law.variance(users, ones) / alone.variance(users, ones))


def _real_data() -> list[Value]:
    """The largest ratio on the four data sets; at eps = 0.01 the larger of Kosarak's and Census' over the others'."""
    ratios = {name: [_ratio_of(epsilon, *counts) for epsilon in _PRIVATE] for name, counts in REAL.items()}
    far, near = (max(ratios[a][0], ratios[b][0]) for a, b in (("Kosarak", "Census"), ("Amazon", "E-commerce")))
    return [max(map(max, ratios.values())), far / near]


def _ratios_on_real_data() -> dict[str, Sequence[float]]:
    return {f"eps = {epsilon:g}": [_ratio_of(epsilon, *counts) for counts in REAL.values()] for epsilon in _PRIVATE}


def _ratios_of_ones() -> Lines:
    epsilons = [k / 50 for k in range(1, 51)]
    shares = (1.0, 0.9, 0.7, 0.5)
    return {
        f"n1/n = {share:g}": (epsilons, [_ratio_of(e, _USERS, round(share * _USERS)) for e in epsilons])
        for share in shares
    }


def _percentile_curves() -> Lines:
    """The law of the ARE on Kosarak at eps = 0.1, under the normal law of the exact variance."""
    users, ones = _KOSARAK
    problem, normal = _pairs(0.1, ones / users, users=users), NormalDist()
    scale, shares = (1 / ones + 1 / (users - ones)) / 2, [k / 100 for k in range(1, 100)]
    both = {"JRR": heuristic(problem).variance, "RR": grouping_of(problem).independent_variance}
    return {
        name: ([normal.inv_cdf((1 + share) / 2) * scale * math.sqrt(variance) for share in shares], shares)
        for name, variance in both.items()
    }


def _variances_by_colluders() -> Lines:
    shares = [k / 50 for k in range(16)]
    problems = [_pairs(1.0, 0.1, colluders=round(share * _USERS)) for share in shares]
    return {
        "optimum": (shares, [solve(problem).certificate.upper for problem in problems]),
        "heuristic": (shares, [heuristic(problem).variance for problem in problems]),
        "randomised response": (shares, [grouping_of(problem).independent_variance for problem in problems]),
    }


CLAIMS = (
    Claim(
        "jrr.examples-2-3",
        PAPER,
        "examples 2 and 3",
        "two users, p = 0.8: variance 0.89 on their own, 0.67 if they never both lie",
        (Item("independent", "0.89"), Item("joint", "0.67")),
        _examples,
    ),
    Claim(
        "jrr.theorem-4",
        PAPER,
        "theorem 4",
        "the estimator is unbiased with variance pq/(p-q)^2 (n + rho ((2 n1 - n)^2 - n)/(n - 1)) (n = 4, n1 = 1)",
        (Item("mean", "1.000000"), Item("variance", "5.250000")),
        _enumerated_variance,
    ),
    Claim(
        "jrr.theorem-3",
        PAPER,
        "theorem 3",
        "the bound holds given the truthfulness of all who collude (n = 4, two collude, p = 0.7, rho = -0.2)",
        (Item("e^eps by the theorem", "3.84"), Item("e^eps if both lied", "3.84", "4.28")),
        _given_all,
        erratum=6,
    ),
    Claim(
        "jrr.theorem-5",
        PAPER,
        "section 4.4.2, theorem 5",
        "the two-party protocol makes truthfulness with the joint distribution of table 4.2 (its bounds are cut to 64 "
        "bits; p = .6 and .9, rho = 0 and -.1; all pairs of keys of 6 bits gone through)",
        (Item("largest difference of a chance", "0.000000000000"), Item("pairs of keys miscounted", "0")),
        _two_parties,
    ),
    Claim(
        "jrr.figure-4.1",
        PAPER,
        "section 4.3.4, figure 4.1",
        "with m = 0 colluders p = e^eps/(e^eps + 1), rho = 1 - 1/p is the optimum (eps = 1, n = 10^4, n1 = 100)",
        (Item("p", "0.731059"), Item("rho", "-0.367879")),
        _optimal_pair,
        picture=picture_of("jrr_pair"),
    ),
    Claim(
        "jrr.heuristic",
        PAPER,
        "section 4.3.4",
        "what theorem 3 makes of the heuristic for a budget of 1 (n = 10^4)",
        (Item("no colluders", "1.0000"), Item("500 collude", "1.0000", "1.0695")),
        _spent,
        erratum=6,
        beyond="the section derives it from n - 1 - rho m being about n - 1, and prints no budget for other m",
    ),
    Claim(
        "jrr.partner",
        PAPER,
        "sections 4.3.2 and 4.4.3",
        "theorem 3's eps = 1 covers an adversary who learns who is paired with a colluder (rho = 1 - 1/p)",
        (Item("eps, partner known", "1.0", "inf"),),
        _partner,
        erratum=6,
        picture=picture_of("jrr_partner"),
    ),
    Claim(
        "jrr.hidden-grouping",
        PAPER,
        "sections 4.3.2 and 4.4.3",
        "the heuristic's eps for an adversary who does not learn the pairing, at delta 1e-6 (eps = 1, n = 10^4)",
        (Item("500 collude", "1.0000", "1.0054"), Item("all others collude", "1.0000", "1.0356")),
        _grouping_hidden,
        erratum=6,
        beyond="the chapter's adversary learns who is paired with a colluder; in its protocol nobody does",
    ),
    Claim(
        "jrr.left-on-the-table",
        PAPER,
        "section 4.3.4",
        "the least share of randomised response's variance: pairs, and answers of all users together that keep eps "
        "whoever colludes (eps = 1, n = 10^4, n1/n = .033)",
        (Item("pairs", "0.679"), Item("all together", "0.202")),
        _left_on_the_table,
        beyond="the chapter draws pairs and groups only",
    ),
    Claim(
        "jrr.figure-4.2",
        PAPER,
        "section 4.3.4, figure 4.2",
        "the heuristic matches the optimum up to approximately 17% colluders at n1/n = 0.1, and 10% at 0.9 (theorem "
        "4 is the same for both; at n1/n = 0 it is 17%)",
        (Item("n1/n = .1", "0.17"), Item("n1/n = .9", "0.10")),
        _agreement,
        picture=curves(
            "Variance with colluders, eps = 1, n1/n = 0.1",
            "share of users who collude",
            "variance",
            _variances_by_colluders,
        ),
    ),
    Claim(
        "jrr.section-4.3.4",
        PAPER,
        "section 4.3.4",
        "among 10^4 users a negative correlation lowers the variance for 99% of all n1/n",
        (Item("share of the numbers of ones", "0.99"),),
        _improved,
    ),
    Claim(
        "jrr.figure-4.3",
        PAPER,
        "section 4.6.2, figure 4.3 and table 4.3",
        "on the four data sets JRR has a lower MSE than randomised response at eps = 0.01, 0.1 and 1, by a larger "
        "margin on Kosarak and Census than on Amazon and E-commerce (by theorem 4 from the table's counts)",
        (
            Item("largest ratio of MSE", "1", relation=AT_MOST),
            Item("Kosarak and Census over the others, eps = .01", "1", relation=AT_MOST),
        ),
        _real_data,
        picture=beside("JRR's MSE as a share of randomised response's", "share", list(REAL), _ratios_on_real_data),
    ),
    Claim(
        "jrr.figure-4.4",
        PAPER,
        "section 4.6.2, figure 4.4",
        "Kosarak, eps = 0.1: the 80th percentile of the ARE in 1000 runs is 0.7 for JRR and 1.45 for RR",
        (within("JRR", "0.7", _three_errors()), within("RR", "1.45", _three_errors())),
        _percentiles,
        picture=curves(
            "Kosarak, eps = 0.1",
            "ARE",
            "share of collections below",
            _percentile_curves,
            printed=((0.7, _SHARE), (1.45, _SHARE)),
        ),
    ),
    Claim(
        "jrr.figure-4.5",
        PAPER,
        "section 4.6.3, figure 4.5",
        "at n1/n = 1 the MSE is approximately 1% of randomised response's at eps = 0.01 and about 10% at 0.1",
        (Item("eps = .01", "0.01", units=0.5), Item("eps = .1", "0.10", units=0.5)),
        _ratios,
        picture=curves(
            "JRR's MSE as a share of randomised response's, n = 10^4",
            "eps",
            "share",
            _ratios_of_ones,
            printed=((0.01, 0.01), (0.1, 0.10)),
            ylim=(0, 1.05),
        ),
    ),
    Claim(
        "jrr.figure-4.6",
        PAPER,
        "section 4.6.3, figure 4.6",
        "at n1/n = 0.01 the ARE is on average 21.1%, 20.3% and 20.2% of randomised response's for three n (eps from "
        "0.01 to 1): then at some eps it is no more than that",
        (
            Item("least share, n = 10^4", "0.211", "0.2217", AT_MOST),
            Item("least share, n = 4 10^4", "0.203", "0.2217", AT_MOST),
            Item("least share, n = 8 10^4", "0.202", "0.2217", AT_MOST),
            Item("mean of the shares, n = 10^4", "0.211", "0.610"),
            Item("share of the means, n = 10^4", "0.211", "0.394"),
        ),
        _relative_errors,
        erratum=18,
        picture=picture_of("jrr_least_share"),
    ),
    Claim(
        "jrr.categories",
        PAPER,
        "section 4.5",
        "the k-ary table's truthfulness has correlation rho (k = 5, rho = -0.2)",
        (Item("correlation", "-0.20", "-0.05"),),
        lambda: [number_of("jrr_categories")],
        erratum=6,
        picture=picture_of("jrr_categories"),
    ),
)
