"""Adaptive additive noise (AAA): the variance of reports, and the error of means."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from mechdesign.mechanisms import catalogue
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Certificate, Design
from mechdesign.papers.claims.claim import AT_LEAST, AT_MOST, Claim, Item, Value, within
from mechdesign.papers.claims.drawing import Lines, curves
from mechdesign.papers.claims.shared import number_of, picture_of
from mechdesign.studies.frequencies.mean_study import MeanStudy, StudyRow, run_study, verdicts
from mechdesign.studies.frequencies.tuning import tune_two_phase
from mechdesign.words.classes import OnGrid, Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Squared
from mechdesign.words.priors import Atoms, Density, Prior, beta, exponential, normal
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

PAPER = "Adaptive additive noise (AAA)"

_INPUTS = Interval(-1.0, 1.0)
_PRIOR = normal(0.0, 0.1, _INPUTS)
_WIDER = normal(0.0, 0.2, _INPUTS)
"""The Gaussian of section 7.2 on [-1, 1]: five deviations to either side."""
_LAWS = {"Gaussian": _PRIOR, "exponential": exponential(6.0, _INPUTS), "beta": beta(0.5, 0.5, _INPUTS)}
_FIGURE_3 = (0.1, 0.5, 1.0, 2.0, 4.0)
_BINS = 32
_SLACK = 2e-4
"""Twice the gap to which these optima are proven."""
_UNBIASED = ("laplace", "staircase", "duchi", "pm", "hm")


def _optimum(epsilon: float, law: Prior, among: Unbiased | OnGrid, gap: float = 1e-4, **options: Any) -> Design:
    criterion = Average(law)
    asked = Problem(inputs=_INPUTS, loss=Squared(), privacy=Pure(epsilon), criterion=criterion, among=among)
    return solve(asked, gap=gap, **options)


@cache
def _additive(epsilon: float, law: str = "Gaussian") -> Certificate:
    return _optimum(epsilon, _LAWS[law], OnGrid(_BINS)).certificate


@cache
def _free(epsilon: float) -> Certificate:
    return _optimum(epsilon, _PRIOR, Unbiased(), size=_BINS + 1).certificate


def _best_published(epsilon: float, prior: Density = _PRIOR) -> float:
    return min(_variance(name, epsilon, prior) for name in _UNBIASED)


def _variance(name: str, epsilon: float, prior: Density = _PRIOR) -> float:
    return catalogue.build(name, epsilon, _INPUTS, Squared()).average_loss(Squared(), prior)


def _half() -> list[Value]:
    """The least variance of additive noise, and of any unbiased mechanism, over the best published one's."""
    best = _best_published(1.0)
    return [(found.lower / best, found.upper / best) for found in (_additive(1.0), _free(1.0))]


def _gained(epsilon: float) -> tuple[float, float]:
    """How far the best published variance is above the least of any unbiased mechanism."""
    best, found = _best_published(epsilon), _free(epsilon)
    return best - found.upper, best - found.lower


def _growth() -> tuple[float, float]:
    """The variance that can be gained at eps = 0.1 over what can be at eps = 4."""
    (least, most), (low, high) = _gained(0.1), _gained(4.0)
    return least / high, most / low


def _growth_of_share() -> tuple[float, float]:
    """The same, each as a share of the best published variance."""
    (least, most), smaller = _growth(), _best_published(4.0) / _best_published(0.1)
    return least * smaller, most * smaller


def _tail() -> list[Value]:
    """The second moment of a geometric tail, summed term by term (M = 5, r = 1/2, sigma = 1)."""
    reach, ratio = 5, 0.5
    return [math.fsum((reach + k) ** 2 * ratio**k for k in range(200))]


def _rounded_too() -> list[Value]:
    """The share that equation (19) has of the variance of a report, values from N(0, 0.2^2) rounded to 9 edges.

    Who rounds x at random to the edges around it adds ``(x - x_i)(x_(i+1) - x)`` to the variance.
    """
    design = _optimum(4.0, _WIDER, OnGrid(8))
    whole = design.own_law.average_loss(Squared(), _WIDER)
    found = design.certificate
    return [(found.lower / whole, found.upper / whole)]


_COIN = Atoms(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
_SHARES, _SIZES, _RATIOS = (0.05, 0.1, 0.2, 0.3, 0.4), (0.125, 0.25, 0.5, 1.0), (2, 4, 8, 16)
_DATA: dict[str, tuple[Prior, int]] = {"Gaussian": (_WIDER, 16), "Bernoulli": (_COIN, 2)}
"""Section 7.3's data and the bins of its figures 6a and 6c."""


@cache
def _errors(
    data: str, epsilon: float, users: int, shares: tuple[float, ...], bins: tuple[int, ...]
) -> dict[tuple[float, int | None], float]:
    """The error of the paper's estimate by split ratio and bins, exact but for the descriptors, of which four are
    drawn."""
    found = tune_two_phase(epsilon, users, _DATA[data][0], _INPUTS, 1, shares, bins, weight=0.0)
    return {(choice.plan.share, choice.plan.bins): choice.error for choice in found}


def _by_split(data: str) -> list[float]:
    """At the split ratios of figure 6a, n = 1000 and eps = 1."""
    bins = _DATA[data][1]
    found = _errors(data, 1.0, 1000, _SHARES, (bins,))
    return [found[share, bins] for share in _SHARES]


def _splits() -> list[Value]:
    """The error at s = 0.1 over the least one, of both data; the largest over the least for Bernoulli and Gaussian."""
    both = {data: _by_split(data) for data in _DATA}
    usual = [errors[_SHARES.index(0.1)] / min(errors) for errors in both.values()]
    ranges = {data: max(errors) / min(errors) for data, errors in both.items()}
    return [*usual, ranges["Bernoulli"] / ranges["Gaussian"]]


def _by_size(epsilon: float, users: int) -> list[float]:
    """The errors on Gaussian data at the bin sizes of figure 6b, s = 0.05."""
    bins = tuple(round(2 / size) for size in _SIZES)
    found = _errors("Gaussian", epsilon, users, (0.05,), bins)
    return [found[0.05, count] for count in bins]


def _best_sizes() -> list[Value]:
    """The best bin size for n = 1000 at eps = 1 and 4; for n = 10^4 at eps = 1 the error at .125 over the least."""
    few, sharp, many = (_by_size(*setting) for setting in ((1.0, 1000), (4.0, 1000), (1.0, 10_000)))
    return [_SIZES[int(np.argmin(few))], _SIZES[int(np.argmin(sharp))], many[0] / min(many)]


def _size_lines() -> Lines:
    settings = {"n = 1000, eps = 1": (1.0, 1000), "n = 1000, eps = 4": (4.0, 1000), "n = 10^4, eps = 1": (1.0, 10_000)}
    return {name: (_SIZES, _by_size(*setting)) for name, setting in settings.items()}


def _by_range(data: str, epsilon: float) -> list[float]:
    """The standard deviation of the best noise at the ratios of figure 6c: it reaches q / 2 domains to each side."""
    law, bins = _DATA[data]
    found = (_optimum(epsilon, law, OnGrid(bins, reach=q * bins // 2), gap=1e-3) for q in _RATIOS)
    return [math.sqrt(design.certificate.upper) for design in found]


def _ranges() -> list[Value]:
    """The largest over the least, by eps: at most this for both data at eps of 1 and 4, at least this at .5."""

    def spread(data: str, epsilon: float) -> float:
        errors = _by_range(data, epsilon)
        return max(errors) / min(errors)

    return [max(spread(data, epsilon) for data in _DATA for epsilon in (1.0, 4.0)), *(spread(d, 0.5) for d in _DATA)]


def _range_lines() -> Lines:
    return {f"{data}, eps = {e:g}": (_RATIOS, _by_range(data, e)) for data in _DATA for e in (0.5, 1.0, 4.0)}


def _split_lines() -> Lines:
    return {data: (_SHARES, _by_split(data)) for data in _DATA}


def _references() -> list[Value]:
    return [(_additive(epsilon).lower, _additive(epsilon).upper) for epsilon in (0.5, 1.0, 2.0, 4.0)]


def _shares_of_best(law: str) -> list[tuple[float, float]]:
    found = [(_additive(epsilon, law), _best_published(epsilon, _LAWS[law])) for epsilon in _FIGURE_3]
    return [(certificate.lower / best, certificate.upper / best) for certificate, best in found]


def _largest_shares() -> list[Value]:
    """Law by law the largest share over eps that the least variance of additive noise has of the best published."""
    return [max(_shares_of_best(law), key=lambda bounds: bounds[1]) for law in _LAWS]


def _shares_of_sw() -> list[Value]:
    """Law by law the same at eps = 1, of what the printed formula gives for SW."""
    against = {law: _variance("sw", 1.0, prior) for law, prior in _LAWS.items()}
    return [(_additive(1.0, law).lower / found, _additive(1.0, law).upper / found) for law, found in against.items()]


def _variance_lines() -> Lines:
    """Figure 3 on the first of its laws, with SW, which its section names."""
    law = next(iter(_LAWS))
    names = {"Laplace": "laplace", "Duchi": "duchi", "PM": "pm", "HM": "hm", "SW": "sw"}
    rivals = {shown: (_FIGURE_3, [_variance(name, e, _LAWS[law]) for e in _FIGURE_3]) for shown, name in names.items()}
    return {"least of additive noise": (_FIGURE_3, [_additive(e, law).upper for e in _FIGURE_3])} | rivals


def _hybrid_lines() -> Lines:
    epsilons = [k / 4 for k in range(1, 17)]
    names = {"PM": "pm", "HM": "hm", "Duchi": "duchi"}
    return {shown: (epsilons, [_variance(name, e) for e in epsilons]) for shown, name in names.items()}


_STUDY = MeanStudy(users=(1000,), trials=20, methods=("aaa-paper", "laplace", "staircase", "duchi", "pm", "hm", "sw"))


def _means() -> list[Value]:
    """In how many cells of distribution and epsilon the paper's estimate has the least exact error, n = 1000."""
    rows: list[StudyRow] = run_study(_STUDY)
    rivals = [method for method in _STUDY.methods if method != "aaa-paper"]
    found = verdicts(rows, "aaa-paper", rivals)
    small = [verdict.ratio for verdict in found if verdict.epsilon <= 1]
    return [sum(verdict.holds for verdict in found) / len(found), max(small)]


CLAIMS = (
    Claim(
        "aaa.equation-14",
        PAPER,
        "equation (14)",
        "the second moment of a tail is M^2/(1-r) + (2M-1) r/(1-r)^2 + 2r/(1-r)^3 (M = 5, r = 1/2)",
        (Item("second moment", "76.000000"),),
        _tail,
    ),
    Claim(
        "aaa.claim-3",
        PAPER,
        "section 5, claim 3",
        "if the distribution is known up to psi, the variance is known up to min(psi/(1 + psi), psi/(1 - psi)), which "
        "is the first (least noise on -1, 0, 1 at eps = 4, psi = .5: the ends are thought to have a quarter, not half)",
        (Item("relative error of the variance", "0.333", "0.391", AT_MOST),),
        lambda: [number_of("aaa_relative_error")],
        erratum=19,
        picture=picture_of("aaa_relative_error"),
    ),
    Claim(
        "aaa.equation-19",
        PAPER,
        "section 5, equation (19)",
        "the variance of a report is that of the noise at the edges, averaged (of the whole variance, rounding to the "
        "edges too; Gaussian data of section 7.2, its bin size of 0.25 for n = 1000, eps = 4)",
        (Item("share of the variance", "1.00", "0.85"),),
        _rounded_too,
        erratum=19,
    ),
    Claim(
        "aaa.section-7.1",
        PAPER,
        "section 7.1, figure 3(a)",
        "at eps = 1, N(0, 0.1^2), the expected variance is approximately half of the best competitor's",
        (Item("additive noise", "0.5", "0.906"), Item("any unbiased mechanism", "0.5", "0.906")),
        _half,
        erratum=5,
        picture=picture_of("aaa_half"),
    ),
    Claim(
        "aaa.section-7.1-small-eps",
        PAPER,
        "section 7.1, figure 3",
        "as eps goes to 0, the distance to other mechanisms expands rapidly (in variance, as figure 3 has it; "
        "Gaussian, eps = 0.1 and 4)",
        (Item("gain at .1 over that at 4", "1", relation=AT_LEAST),),
        lambda: [_growth()],
    ),
    Claim(
        "aaa.section-7.1-small-eps-share",
        PAPER,
        "section 7.1, figure 3",
        "the same, with the gain as a share of the best published variance",
        (Item("gain at .1 over that at 4", "1", relation=AT_LEAST),),
        lambda: [_growth_of_share()],
        beyond="figure 3 has variances, and the sentence is about them; it says nothing of shares",
    ),
    Claim(
        "aaa.figure-3",
        PAPER,
        "section 7.1, figure 3",
        "AAA has a lower expected variance, E (y - x)^2, than all competitors in all cases: N(0, 0.1^2), exponential, "
        "beta(.5, .5) (its optimum with all constraints, as a share of the best unbiased one's, largest over eps of .1 "
        "to 4, and of SW's, which section 7 names as a competitor)",
        (
            *(Item(law, "1", relation=AT_MOST) for law in _LAWS),
            Item("Gaussian, of SW's, eps = 1", "1", "6.4405", relation=AT_MOST),
            Item("exponential, of SW's, eps = 1", "1", "3.9096", relation=AT_MOST),
            Item("beta, of SW's, eps = 1", "1", "4.7555", relation=AT_MOST),
        ),
        lambda: [*_largest_shares(), *_shares_of_sw()],
        erratum=5,
        picture=curves(
            "N(0, 0.1^2): AAA's optimum and its rivals", "eps", "E (y - x)^2", _variance_lines, yscale="log"
        ),
    ),
    Claim(
        "aaa.figure-3-hybrid",
        PAPER,
        "section 7.1, figure 3(a)",
        "on N(0, 0.1^2) the hybrid mechanism is sometimes worse than the piecewise mechanism it mixes (eps = 1 and 4)",
        (
            Item("variance over PM's, eps = 1", "1", relation=AT_LEAST),
            Item("variance over PM's, eps = 4", "1", relation=AT_LEAST),
        ),
        lambda: [_variance("hm", epsilon) / _variance("pm", epsilon) for epsilon in (1.0, 4.0)],
        picture=curves("Average variance on N(0, 0.1^2)", "eps", "variance of a report", _hybrid_lines, yscale="log"),
    ),
    Claim(
        "aaa.section-7.2",
        PAPER,
        "section 7.2",
        "AAA has the least error on all synthetic data under all privacy constraints (AAA with its program as "
        "erratum 5 corrects it, since the printed one is not private; n = 1000 of 10^3 to 10^5, 20 runs of 100; "
        "against Laplace, staircase, Duchi, PM, HM and SW)",
        (Item("share of cells won", "1.00"), Item("worst ratio, eps <= 1", "1", relation=AT_MOST)),
        _means,
        slow=True,
    ),
    Claim(
        "aaa.figure-6a",
        PAPER,
        "section 7.3, figure 6a",
        "a small split ratio such as s = 0.1 is best (within a twentieth of the least error of s = .05 to .4), and "
        "Bernoulli data are more sensitive to it than Gaussian data (n = 1000, eps = 1)",
        (
            Item("error at .1 over the least, Gaussian", "1.05", relation=AT_MOST),
            Item("error at .1 over the least, Bernoulli", "1.05", relation=AT_MOST),
            Item("range of Bernoulli's errors over Gaussian's", "1", relation=AT_LEAST),
        ),
        _splits,
        slow=True,
        picture=curves(
            "AAA's error by split ratio, n = 1000, eps = 1", "split ratio s", "error of the mean", _split_lines
        ),
    ),
    Claim(
        "aaa.figure-6b",
        PAPER,
        "section 7.3, figure 6b",
        "n = 10^3: the best bin size at eps = 1 is 0.5, at eps = 4 a small one; n = 10^4, eps = 1: about 0.125 (its "
        "error within a hundredth of the least; Gaussian, s = 0.05, sizes of .125, .25, .5 and 1)",
        (
            Item("best size, n = 1000, eps = 1", "0.5"),
            Item("best size, n = 1000, eps = 4", "0.125"),
            Item("error at .125 over the least, n = 10^4", "1.01", relation=AT_MOST),
        ),
        _best_sizes,
        slow=True,
        picture=curves("AAA's error by bin size, Gaussian, s = 0.05", "bin size", "error of the mean", _size_lines),
    ),
    Claim(
        "aaa.figure-6c",
        PAPER,
        "section 7.3, figure 6c",
        "the noise range q = 2, 4, 8, 16 hardly matters except at small eps such as 0.5 (largest over least deviation "
        "of the best noise for the true distribution; a twentieth is hardly; tails as long as unbiasedness needs)",
        (
            Item("eps = 1 and 4, most", "1.05", relation=AT_MOST),
            Item("eps = .5, Gaussian", "1.05", relation=AT_LEAST),
            Item("eps = .5, Bernoulli", "1.05", relation=AT_LEAST),
        ),
        _ranges,
        slow=True,
        picture=curves(
            "Least noise by its range", "q", "standard deviation of a report", _range_lines, xscale="log", ylim=(0, 9)
        ),
    ),
    Claim(
        "aaa.reference",
        "Certified optima of this package (CERTIFIED.md, README)",
        "additive noise, N(0, 0.1^2), 33 inputs",
        "the least variance of additive noise at eps = 0.5, 1, 2, 4",
        (
            within("eps = 0.5", "15.7744", _SLACK),
            within("eps = 1", "3.35097", _SLACK),
            within("eps = 2", "0.52966", _SLACK),
            within("eps = 4", "0.047539", _SLACK),
        ),
        _references,
    ),
)
