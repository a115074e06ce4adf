"""Whether reports fit the law they are said to come from, judged by what does not depend on the unknown shares.

*Sum.* With independent bits, hashes or noisy entries, how many items a report supports has one law, whatever the
user's item; in Hadamard response (of at most 1024 items) its mean is the same for all. So unbiased shares add to 1
within a known deviation. (The reports of GRR and SS support 1 and d items: their shares add to 1 always.)

*Range.* The support of an item of any share lies, in law, between that of an item nobody has and one everybody has;
of a support in [0, 1] with a known mean the coin has the largest ``E e^(t S)`` (Hoeffding 1963).

*Hashes.* Whatever the item, the hash value in a report of local hashing is uniform, and seeds hardly ever repeat.

*Noise.* Laplace noise has no memory: how far an entry of a summed histogram lies below 0 or above 1, if it does, is
exponential with the scale of the noise, whatever the item. (Of reports that were not rounded.)

Every bound on a chance is from above (Chernoff: ``P(S >= s) <= E e^(t S) e^(-t s)`` for every t > 0; a union over
items), for every n and all data, so reports of the law are refused with a chance of at most `REFUSED`. Hash functions
are taken to be ideal. What no test can see: reports of GRR or SS read with too *large* an eps give shares nearer to
uniform than they are, as other data would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mechdesign.errors import FileProblem
from mechdesign.studies.frequencies.protocols.hadamard import HadamardResponse
from mechdesign.studies.frequencies.protocols.hashing import LocalHashing
from mechdesign.studies.frequencies.protocols.histogram import SummedHistogram, ThresholdHistogram
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.protocols.unary import Unary
from mechdesign.studies.frequencies.reports import Counted
from mechdesign.values.declare import Floats, frozen
from mechdesign.values.later import optimize

REFUSED = 1e-9
"""The chance, at most, with which reports of the law they are said to come from are refused."""

DOUBTFUL = 1e-4
"""The chance, at most, with which such reports are called doubtful."""

_MOST_ITEMS = 1024  # of Hadamard response: its sum is judged by the whole channel
_LARGEST = 64.0  # of the t of a Chernoff bound: any t gives a valid one


@frozen
class Statistic:
    """One number with a known law: what was found, what is due, and how many standard deviations apart they are.

    ``chance`` bounds that of a number as far off. Inside a range that is allowed the number itself is due.
    """

    name: str
    found: float
    expected: float
    deviations: float
    chance: float


@frozen
class Fit:
    """All statistics. ``chance`` bounds that of any of them being as far off as the worst, if the law is right."""

    statistics: tuple[Statistic, ...]

    @property
    def worst(self) -> Statistic:
        return min(self.statistics, key=lambda one: (one.chance, -abs(one.deviations)))

    @property
    def deviations(self) -> float:
        """How many standard deviations the worst statistic is off."""
        return abs(self.worst.deviations)

    @property
    def chance(self) -> float:
        return min(1.0, len(self.statistics) * self.worst.chance)


def examine(law: FrequencyProtocol, counted: Counted, labels: Sequence[str]) -> Fit:
    """How well counted reports fit the law.

    >>> from mechdesign.studies.frequencies.protocols import protocol
    >>> sue = protocol("sue", 2.0, 3)
    >>> fit = examine(sue, Counted(np.array([800, 700, 600]), 1000), "abc")
    >>> fit.worst.name, round(fit.deviations, 1), fit.chance < REFUSED
    ('the shares add to', 34.2, True)
    """
    once = law.once if isinstance(law, Longitudinal) else law
    found = [*_sum(once, counted), *_range(once, counted, labels)]
    if isinstance(once, LocalHashing):
        found += [*_hashes(counted), *_seeds(counted)]
    if isinstance(once, SummedHistogram):
        found += _noise(once, counted)
    return Fit(tuple(found))


def require_fit(law: FrequencyProtocol, counted: Counted, labels: Sequence[str], source: str) -> Fit:
    """The fit, or `FileProblem` with the number of deviations if it is too bad to be chance."""
    fit = examine(law, counted, labels)
    if fit.chance < REFUSED:
        worst = fit.worst
        once = law.once if isinstance(law, Longitudinal) else law
        parameters = f", g = {once.hashes}" if isinstance(once, LocalHashing) else ""
        raise FileProblem(
            f"reports in {source}",
            f"{fit.deviations:.1f} deviations off: {worst.name} {worst.found:.4g}, not {worst.expected:.4g}",
            f"fit {law.name} with eps = {law.epsilon:g}{parameters} and {law.size} items",
            "check eps, the protocol and its parameters, the domain at the time of the reports, and --client",
        )
    return fit


# -- the sum of the shares ---------------------------------------------------------------------------------------------


def _sum(law: FrequencyProtocol, counted: Counted) -> list[Statistic]:
    n, k, p, q = counted.n, law.size, law.p, law.q
    total = float(np.asarray(counted.support, dtype=np.float64).sum())
    if isinstance(law, Unary | LocalHashing | ThresholdHistogram):
        mean, variance = p + (k - 1) * q, p * (1 - p) + (k - 1) * q * (1 - q)

        def growth(t: float) -> float:
            return _coin(p, t) + (k - 1) * _coin(q, t)

        most = _LARGEST
    elif isinstance(law, SummedHistogram):
        mean, variance, most = 1.0, 2 * k * law.scale**2, (1 - 1e-9) / law.scale

        def growth(t: float) -> float:
            return t - k * math.log1p(-((law.scale * t) ** 2))

    elif isinstance(law, HadamardResponse) and k <= _MOST_ITEMS:
        sums, channel = _sums_of_reports(law), law.channel()
        mean, most = p + (k - 1) * q, _LARGEST / math.sqrt(law.columns)
        variance = float((channel @ (sums - mean) ** 2).max())

        def growth(t: float) -> float:  # of the item for which it is largest: a bound for all data
            shift = max(t * float(sums.max()), t * float(sums.min()))
            return math.log(float((channel @ np.exp(t * sums - shift)).max())) + shift

    else:
        return []
    chance = min(1.0, 2 * math.exp(chernoff(growth, total / n, n, mean, most)))
    spread = math.sqrt(variance / n)
    gap = p - q
    deviations = (total / n - mean) / spread
    return [Statistic("the shares add to", (total / n - k * q) / gap, 1.0, deviations, chance)]


def chernoff(growth: Callable[[float], float], average: float, n: int, mean: float, most: float) -> float:
    """The logarithm of a bound on the chance of an average of n as far from the mean, on its side.

    ``growth(t)`` is at least ``ln E e^(t X)`` of one, whose mean is ``mean``, for all abs(t) <= most.

    >>> fair = lambda t: math.log((1 + math.exp(t)) / 2)
    >>> round(chernoff(fair, 0.75, 100, 0.5, 64.0), 6)  # -100 KL(3/4, 1/2)
    -13.081204
    """
    if average == mean:
        return 0.0
    side = math.copysign(1.0, average - mean)

    def exponent(logarithm: float) -> float:
        t = side * math.exp(logarithm)
        return growth(t) - t * average

    found = optimize.minimize_scalar(
        exponent, bounds=(math.log(most) - 35, math.log(most)), method="bounded", options={"xatol": 1e-6}
    )
    return min(0.0, n * float(found.fun))


def _coin(chance: float, t: float) -> float:
    """``ln(1 - chance + chance e^t)``."""
    if chance >= 1.0:
        return t
    return math.log1p(chance * math.expm1(t)) if t < 1 else t + math.log(chance + (1 - chance) * math.exp(-t))


def _sums_of_reports(law: HadamardResponse) -> Floats:
    """How much all items together are supported by each report."""
    return np.array([float(law.support([report]).sum()) for report in range(law.columns)])


# -- the range of each share -------------------------------------------------------------------------------------------


def _range(law: FrequencyProtocol, counted: Counted, labels: Sequence[str]) -> list[Statistic]:
    """The least and the largest share: items are alike, so these two are the farthest off."""
    support = np.asarray(counted.support, dtype=np.float64)
    low, high = int(np.argmin(support)), int(np.argmax(support))
    return [
        _share(law, float(support[low]), counted.n, labels[low], 0.0),
        _share(law, float(support[high]), counted.n, labels[high], 1.0),
    ]


def _share(law: FrequencyProtocol, support: float, n: int, label: str, limit: float) -> Statistic:
    """How far the share of an item is below 0, or above 1."""
    average = support / n
    mean = law.p if limit else law.q
    share = (average - law.q) / (law.p - law.q)
    name = f"the share of {label} is"
    if (average <= mean) if limit else (average >= mean):
        return Statistic(name, share, min(max(share, 0.0), 1.0), 0.0, 1.0)
    if isinstance(law, SummedHistogram):
        spread, most = math.sqrt(2 * law.scale**2 / n), (1 - 1e-9) / law.scale
        bound = chernoff(lambda t: t * limit - math.log1p(-((law.scale * t) ** 2)), average, n, limit, most)
    else:
        spread, bound = math.sqrt(mean * (1 - mean) / n), -n * divergence(average, mean)
    chance = min(1.0, law.size * math.exp(bound))
    return Statistic(name, share, limit, (average - mean) / spread if spread else math.inf, chance)


def divergence(found: float, chance: float) -> float:
    """``KL(found, chance)`` of two coins: n times it is the Chernoff exponent of n of them.

    >>> divergence(0.0, 0.5) == math.log(2)
    True
    """
    first = found * math.log(found / chance) if found > 0 else 0.0
    if found >= 1:
        return first
    return first + (1 - found) * (math.log1p(-found) - math.log1p(-chance)) if chance < 1 else math.inf


# -- noise -------------------------------------------------------------------------------------------------------------


def _noise(law: SummedHistogram, counted: Counted) -> list[Statistic]:
    """The scale of the noise, from m entries outside [0, 1]: P(average >= a) <= e^(-m (a - 1 - ln a)) for a > 1."""
    m = counted.outside
    if not m:
        return []
    average = counted.excess / m / law.scale
    chance = min(1.0, 2 * math.exp(-m * (average - 1 - math.log(average))))
    name = "the scale of the noise in unrounded reports is"
    return [Statistic(name, average * law.scale, law.scale, (average - 1) * math.sqrt(m), chance)]


# -- hashes ------------------------------------------------------------------------------------------------------------


def _hashes(counted: Counted) -> list[Statistic]:
    """How often each hash value was reported: binomial, with chance 1/g each."""
    if counted.hashes is None:
        return []
    n, g = counted.n, counted.hashes.size
    found = []
    for place in (int(np.argmin(counted.hashes)), int(np.argmax(counted.hashes))):
        average = int(counted.hashes[place]) / n
        chance = min(1.0, g * math.exp(-n * divergence(average, 1 / g)))
        deviations = (average - 1 / g) / math.sqrt((1 - 1 / g) / (g * n))
        found.append(Statistic(f"hash value {place} has the share", average, 1 / g, deviations, chance))
    return found


def _seeds(counted: Counted) -> list[Statistic]:
    """How many seeds of a chunk repeat others: m seeds of b bits have r repeats with chance (m^2 / 2^(b+1))^r / r!."""
    if counted.seed_bits is None:
        return []
    pairs = counted.chunk * (counted.chunk - 1) / 2 / 2.0**counted.seed_bits
    repeats = counted.repeats
    chunks = math.ceil(counted.n / counted.chunk)
    chance = 1.0
    if repeats:
        chance = min(1.0, chunks * math.exp(repeats * math.log(pairs) - math.lgamma(repeats + 1)))
    deviations = (repeats - pairs) / math.sqrt(pairs) if repeats else 0.0
    return [Statistic(f"seeds that repeat another among {counted.chunk} are", repeats, pairs, deviations, chance)]
