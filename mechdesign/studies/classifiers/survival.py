"""How likely it is that a classifier keeps its label: the chapter's rho, what is proven, and what simulation sees.

**Bound or estimate.** The chapter's ``rho = Pr[M(x) in the box] (1 - tau)`` takes the share of the box that keeps the
label by *volume*. The mechanism's law inside the box is not uniform: if the part that fails lies where reports are
dense, more is lost than tau. So with tau > 0 rho is an **estimate**. What is proven is

    ``Pr[label kept] >= Pr[M(x) in the box] - sup { Pr[M(x) in F] : F in the box, volume(F) <= tau volume(box) }``

(with confidence 1 - omega): `Utility.bound`. The supremum takes the densest points first. For a piecewise mechanism
the density of d coordinates takes d + 1 values, so it is a finite sum; for others the largest density times the
volume bounds it. Points of mass have no volume, so a mechanism with such points has no bound from a tested box. With
tau = 0, a proven box, rho itself is a **bound**.

**Example** (eps = 4, theta = .3, tau = .01, OGPM at .5): rho claims .936, the worst part
keeps .902, and so says the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.intervals import clopper_pearson, require_confidence
from mechdesign.mechanisms.additive import Additive
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.studies.classifiers.cells import MOST_BOXES, Boxes, Enclosure, decompose, mass_of
from mechdesign.studies.classifiers.concentration import Perturbation, concentration
from mechdesign.studies.classifiers.linear import LinearRegion
from mechdesign.studies.classifiers.margins import MarginRegion
from mechdesign.studies.classifiers.models import Record
from mechdesign.studies.classifiers.robustness import Robust, structure
from mechdesign.studies.classifiers.trees import TreeRegion
from mechdesign.values.declare import Floats, array, frozen

BOUND, ESTIMATE = "bound", "estimate"
_EXACT_GAP = 1e-9
_BOUNDED_BOXES, _BOUNDED_GAP = 16_384, 1e-4


@frozen
class Utility:
    """The chapter's rho, what it is, and what is proven (0 where nothing is)."""

    rho: float
    says: str
    bound: float


@frozen
class Simulated:
    """The share of simulated reports that kept the label, with its exact (Clopper-Pearson) interval."""

    share: float
    lower: float
    upper: float
    samples: int


def utility(robust: Robust, law: Perturbation, x: Floats) -> Utility:
    """rho of a box, with its label."""
    inside = concentration(law, x, robust.lower, robust.upper)
    if robust.tau == 0:
        return Utility(inside, BOUND, inside)
    bound = max(0.0, inside - _densest(robust, law, x))
    return Utility(inside * (1 - robust.tau), ESTIMATE, bound)


def exact_survival(record: Record, law: Perturbation, most: int = MOST_BOXES, gap: float = _EXACT_GAP) -> Enclosure:
    """The probability that the label is kept: an interval, for most linear models and trees as narrow as rounding.

    `InvalidInput` for classifiers whose kind `structure` does not know.
    """
    region = structure(record)
    if region is None:
        step = "use simulate, or a model of scikit-learn that is linear or of trees; for others at most three columns"
        raise InvalidInput("classifier", record.classifier.name, "have a structure that can be read", step)
    if isinstance(region, LinearRegion):
        return region.survival(law, record.sent)
    if isinstance(region, MarginRegion):
        most, gap = min(most, _BOUNDED_BOXES), max(gap, _BOUNDED_GAP)
    return decompose(region, mass_of(law, record.sent), most, gap).survival(law, record.sent)


def all_cells(record: Record) -> Boxes | None:
    """The whole region of a tree or an ensemble, for many mechanisms at once; None where it has too many boxes."""
    region = structure(record)
    cells = decompose(region) if isinstance(region, TreeRegion) else None
    return cells if cells is not None and cells.is_exact else None


def simulate(
    record: Record, law: Perturbation, samples: int, rng: np.random.Generator, confidence: float = 0.95
) -> Simulated:
    """Reports drawn from the mechanism, labelled by the classifier."""
    kept = kept_of(record, law, samples, rng)
    lower, upper = clopper_pearson(np.array(float(kept)), samples, require_confidence(confidence))
    return Simulated(kept / samples, float(lower), float(upper), samples)


def kept_of(record: Record, law: Perturbation, samples: int, rng: np.random.Generator) -> int:
    """How many of the simulated reports keep the label."""
    require_whole(samples, "samples", 1, 10**7)
    return int(record.keeps(law.sample(np.tile(record.sent, (samples, 1)), rng)).sum())


def simulate_all(
    records: Sequence[Record], law: Perturbation, samples: int, rng: np.random.Generator, confidence: float = 0.95
) -> tuple[Simulated, Simulated]:
    """The average over records and the worst of them.

    The reports of all records that kept the label are a sum of independent trials with chances of their own: their
    spread is at most that of equal chances (Hoeffding 1956), so the interval of the average holds at usual levels.
    The interval of the worst shares its error among the records.
    """
    level = require_confidence(confidence)
    kept = np.array([kept_of(record, law, samples, rng) for record in records], dtype=np.float64)
    total = samples * len(records)
    low, high = clopper_pearson(np.array(kept.sum()), total, level)
    lows, highs = clopper_pearson(kept, samples, 1 - (1 - level) / len(records))
    average = Simulated(float(kept.sum()) / total, float(low), float(high), total)
    return average, Simulated(float(kept.min()) / samples, float(lows.min()), float(highs.min()), samples)


@frozen
class UniformPoints:
    """Uniform points asked once (E.2.7): the chance that the label is kept, for any mechanism with a density.

    The region may be in many parts. The answer for an eps is an **estimate**: its standard error is that of these
    points, and where they are sparse beside the mechanism's window (many coordinates, large eps) it says nothing.

    >>> from mechdesign.studies.classifiers.concentration import perturbation
    >>> from mechdesign.studies.classifiers.models import Classifier
    >>> two = Record(Classifier(lambda points: abs(points[:, 0] - 0.5) > 0.25, 1), np.array([0.1]))
    >>> points = UniformPoints.asked(two, 40_000, np.random.default_rng(1))
    >>> law = perturbation("pm", 2.0)
    >>> share, error = points.survival(law)
    >>> abs(share - float(law.between(0.1, 0.0, 0.25) + law.between(0.1, 0.75, 1.0))) < 4 * error < 0.03
    True
    """

    x: Floats = array(np.asarray)
    kept: Floats = array(np.asarray)
    asked_in_all: int

    @classmethod
    def asked(cls, record: Record, count: int, rng: np.random.Generator) -> UniformPoints:
        """Ask the classifier at ``count`` uniform points."""
        points = rng.random((count, len(record.columns)))
        return cls(record.sent, points[record.keeps(points)], count)

    def survival(self, law: Perturbation) -> tuple[float, float]:
        """The estimate and its standard error."""
        if law.is_clipped or not isinstance(law.mechanism, Piecewise):
            step = "take a mechanism with a density on [0, 1] alone, such as pm or sw"
            raise InvalidInput("mechanism", law.name, "have no mass at single points", step)
        densities = np.prod(law.mechanism.density(self.kept, self.x), axis=1)
        share = float(densities.sum()) / self.asked_in_all
        spread = float((densities**2).sum()) / self.asked_in_all - share**2
        return share, math.sqrt(max(0.0, spread) / self.asked_in_all)


# -- the densest part of a box -----------------------------------------------------------------------------------------


def _densest(robust: Robust, law: Perturbation, x: Floats) -> float:
    """The most probability that a part of the box of share tau by volume can hold; 1 where nothing is known."""
    volume = robust.tau * float(np.prod(robust.upper - robust.lower))
    mechanism = law.mechanism
    if isinstance(mechanism, Piecewise) and not law.is_clipped:
        return _densest_of_pieces(mechanism, robust, volume, law, x)
    if not isinstance(mechanism, Additive):
        return 1.0
    touches = (robust.lower <= 0) | (robust.upper >= 1)
    if law.is_clipped and touches.any():
        return 1.0
    nearest = np.clip(x, robust.lower, robust.upper)
    return min(1.0, volume * float(np.prod(mechanism.density(nearest, x))))


def _densest_of_pieces(mechanism: Piecewise, robust: Robust, volume: float, law: Perturbation, x: Floats) -> float:
    """Densities are ``high^(d-k) low^k`` with k coordinates outside their windows: the volume goes to small k first."""
    ratio, low = mechanism.high / mechanism.low, mechanism.low
    lengths = robust.upper - robust.lower
    masses = law.between(x, robust.lower, robust.upper)
    inside = np.clip((masses - low * lengths) / (mechanism.high - low), 0.0, lengths) if ratio > 1 else lengths
    volumes = np.ones(1)
    for within, length in zip(inside, lengths, strict=True):
        volumes = np.convolve(volumes, [within, length - within])
    held = 0.0
    for outside, part in enumerate(volumes):
        taken = min(volume, float(part))
        held += taken * mechanism.high ** (x.size - outside) * low**outside
        volume -= taken
    return min(1.0, held)
