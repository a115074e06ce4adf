"""Histogram encoding: Laplace noise on every entry of the one-hot vector, summed (SHE) or thresholded (THE)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_epsilon, require_finite
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments, pure
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.values.declare import Counts, Floats, frozen
from mechdesign.values.later import optimize

_DISTANCE = 2.0  # l1 distance of two one-hot vectors


@frozen
class NoisyHistogram:
    """The report of SHE and THE: the one-hot vector plus Laplace noise of scale ``2 / eps`` in each entry."""

    name: str
    epsilon: float
    size: int

    @property
    def scale(self) -> float:
        """Scale of the Laplace noise."""
        return _DISTANCE / self.epsilon

    @property
    def report_bits(self) -> float:
        return 64.0 * self.size

    def channel(self) -> Floats:
        raise _no_matrix(self.name)

    def privacy_loss(self) -> float:
        return _DISTANCE / self.scale

    def report(self, values: ArrayLike, rng: Randomness) -> Floats:
        """k noisy entries a user."""
        items = arguments.require_items(values, self.size)
        return _noisy_histograms(items, self.size, self.scale, require_randomness(rng))


@frozen
class SummedHistogram(NoisyHistogram):
    """SHE: the report is the one-hot vector plus Laplace noise of scale ``2 / eps`` in each entry; reports are summed.

    Support is a sum of noisy entries, not a count: its expectation is 1 from the own item, 0 from others, and its
    variance from one user is ``8 / eps^2`` whatever the item.

    *Guarantee.* One-hot vectors are at l1 distance 2, so the privacy loss is ``2 / scale = eps``. (In real numbers:
    Laplace noise in floating point is for simulation, not for devices.)

    >>> she(2.0, 10).variance([0.0, 1.0], 100).tolist()
    [0.02, 0.02]
    """

    @property
    def p(self) -> float:
        return 1.0

    @property
    def q(self) -> float:
        return 0.0

    def support(self, reports: ArrayLike) -> Floats:
        entries = arguments.require_reports(reports, (self.size,), "f", f"rows of {self.size} numbers")
        return np.asarray(entries.sum(axis=0))

    def simulate(self, counts: ArrayLike, rng: np.random.Generator) -> Floats:
        """A sum of n Laplace variables is the difference of two Gamma(n) variables: exact in law."""
        held, generator = arguments.require_counts(counts, self.size), require_generator(rng)
        gammas = generator.gamma(np.full((2, self.size), float(held.sum())), self.scale)
        return np.asarray(held + gammas[0] - gammas[1])

    def estimate(self, support: ArrayLike, n: int) -> Floats:
        """``support / n``."""
        return np.asarray(arguments.require_support(support, self.size) / arguments.require_users(n))

    def variance(self, f: ArrayLike, n: int) -> Floats:
        """``8 / (n eps^2)``."""
        share, users = arguments.require_shares(f, "f"), arguments.require_users(n)
        return np.full(share.shape, 2 * self.scale**2 / users)

    def covariance(self, frequencies: ArrayLike, n: int) -> Floats:
        return np.diag(self.variance(arguments.require_frequencies(frequencies, self.size), n))


@frozen
class ThresholdHistogram(NoisyHistogram):
    """THE: the histogram of SHE, of which an entry above the ``threshold`` supports its item.

    ``p = 1 - e^(eps (threshold - 1) / 2) / 2`` and ``q = e^(-eps threshold / 2) / 2``.

    *Guarantee.* The report is the noisy histogram, whose privacy loss is ``2 / scale = eps``, as in the literature.
    A device that sends only which entries are above spends less, `bits_loss`: unary encoding with these p and q, of
    which OUE at the same loss is the best.

    >>> round(the(1.0, 100).bits_loss(), 3)
    0.896
    """

    threshold: float

    def __attrs_post_init__(self) -> None:
        if not 0 <= require_finite(self.threshold, "threshold") <= 1:
            raise InvalidInput("threshold", self.threshold, "lie in [0, 1]", "leave it out for the best one")

    @property
    def p(self) -> float:
        return 1 - self.miss

    @property
    def miss(self) -> float:
        """``1 - p``."""
        return math.exp(self.epsilon * (self.threshold - 1) / 2) / 2

    @property
    def q(self) -> float:
        return math.exp(-self.epsilon * self.threshold / 2) / 2

    def bits_loss(self) -> float:
        """The privacy loss of a device that sends only which entries are above the threshold."""
        return pure.coin_loss(self.p, self.q, self.miss)

    def support(self, reports: ArrayLike) -> Counts:
        entries = arguments.require_reports(reports, (self.size,), "f", f"rows of {self.size} numbers")
        return np.asarray((entries > self.threshold).sum(axis=0), dtype=np.int64)

    simulate = pure.independent_coins
    estimate = pure.estimate
    variance = pure.variance
    covariance = pure.independent_covariance


def she(epsilon: float, size: int) -> SummedHistogram:
    """Summation with histogram encoding."""
    return SummedHistogram("SHE", require_epsilon(epsilon), arguments.require_item_count(size))


def the(epsilon: float, size: int, threshold: float | None = None) -> ThresholdHistogram:
    """Thresholding with histogram encoding; unless given, the threshold has the least exact total variance."""
    epsilon, size = require_epsilon(epsilon), arguments.require_item_count(size)
    chosen = best_threshold(epsilon, size) if threshold is None else threshold
    return ThresholdHistogram("THE", epsilon, size, chosen)


def best_threshold(epsilon: float, size: int) -> float:
    """The threshold in [1/2, 1] with the least total variance."""

    def total(threshold: float) -> float:
        law = ThresholdHistogram("THE", epsilon, size, threshold)
        # 1 - miss - q = [(1 - e^(-eps (1 - t) / 2)) + (1 - e^(-eps t / 2))] / 2
        gap = -(math.expm1(epsilon * (threshold - 1) / 2) + math.expm1(-epsilon * threshold / 2)) / 2
        return float(pure.total_variance(size, law.p, law.q, gap))

    found = optimize.minimize_scalar(total, bounds=(0.5, 1.0), method="bounded", options={"xatol": 1e-10})
    return min((0.5, float(found.x), 1.0), key=total)


def _noisy_histograms(items: Counts, size: int, scale: float, source: Randomness) -> Floats:
    """One-hot rows plus Laplace noise by inversion."""
    centred = source.random((items.size, size)) - 0.5
    noise = -scale * np.sign(centred) * np.log1p(-2 * np.minimum(np.abs(centred), 0.5 - 2.0**-54))
    noise[np.arange(items.size), items] += 1
    return np.asarray(noise)


def _no_matrix(name: str) -> InvalidInput:
    return InvalidInput("protocol", name, "have finitely many reports to have a channel matrix", "use p and q")
