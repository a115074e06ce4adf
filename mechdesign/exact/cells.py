"""A prior as cells, for proofs that hold for every prior with these cells, and how cells are cut from other priors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.values.declare import array, frozen
from mechdesign.values.fingerprint import digest, fingerprint
from mechdesign.words.priors import Atoms, Density, HistogramLaw, Law, Prior

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_CELLS = 4000
"""More would make the proofs, which are quadratic in them, slow."""

_ROUNDING = 1e-9
_AGREEMENT = 1e-9  # of mass, of the range and of its square: cells this near to a density's are its own
_MARGIN = 0.1  # of that, for cells made here: another computer may round its exponentials otherwise
_MESH = 192  # cells that a density is cut into, beside those of its break points
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_FINEST_WEIGHT = 80  # bits after the point: less mass would only make the exact arithmetic slow


@frozen
class Cells:
    """A prior as cells, sorted: all of a cell's mass lies in its range; an atom is a cell without width.

    It is a prior itself: that of which only these cells are known. A density that is a function, and so cannot be in a
    file, is held by a design as the cells that the design was proven for.

    >>> Cells.of_atoms([0.0, 1.0], [0.5, 0.5]).are_atoms
    True
    """

    kind: ClassVar[str] = "cells"

    lows: Floats = array()
    highs: Floats = array()
    means: Floats = array()
    weights: Floats = array()
    variances: Floats = array()

    def __attrs_post_init__(self) -> None:
        columns = zip(("lows", "highs", "means", "weights", "variances"), self.arrays(), strict=True)
        for name, column in columns:
            if column.ndim != 1 or column.shape != self.means.shape or not 0 < column.size <= MOST_CELLS:
                raise InvalidInput(f"cell {name}", column.shape, f"be between 1 and {MOST_CELLS} numbers, one a cell")
            if not np.isfinite(column).all():
                raise InvalidInput(f"cell {name}", float(column[~np.isfinite(column)][0]), "be finite")
        if not (self.weights > 0).all():
            raise InvalidInput("cell weights", float(self.weights.min()), "be above 0", "drop cells without mass")
        if not ((self.lows <= self.means) & (self.means <= self.highs)).all():
            raise InvalidInput("cell means", "outside", "lie in the ranges of their cells")
        if not ((self.highs[:-1] <= self.lows[1:]) & (self.means[:-1] < self.means[1:])).all():
            raise InvalidInput("cells", "unsorted or overlapping", "be sorted and apart")
        most = (self.means - self.lows) * (self.highs - self.means)
        # the variance of all mass at the ends, plus what rounding the mean can do
        spacing = np.spacing(np.maximum(np.abs(self.lows), np.abs(self.highs)))
        most = most * (1 + _ROUNDING) + 4 * spacing * (self.highs - self.lows)
        if not ((self.variances >= 0) & (self.variances <= most)).all():
            raise InvalidInput("cell variances", "out of range", "lie between 0 and (mean - low)(high - mean)")

    @classmethod
    def of_atoms(cls, points: ArrayLike, weights: ArrayLike) -> Cells:
        places = np.asarray(points, dtype=np.float64)
        return cls(places, places, places, np.asarray(weights, dtype=np.float64), np.zeros_like(places))

    @property
    def are_atoms(self) -> bool:
        return bool((self.lows == self.highs).all())

    @property
    def mean(self) -> float:
        return float(np.dot(self.weights, self.means) / self.weights.sum())

    def arrays(self) -> tuple[Floats, ...]:
        return self.lows, self.highs, self.means, self.weights, self.variances

    def penalties(self, exponent: int) -> list[Fraction]:
        """What an edge inside a cell could save, for each of the places between cells (and before and after all)."""
        ends = (Fraction(float(self.lows[0])), Fraction(float(self.highs[-1])))
        scale = Fraction(1) if exponent == 1 else ends[1] - ends[0]
        inside = [_spread(*cell) * scale for cell in zip(*(column.tolist() for column in self.arrays()), strict=True)]
        return [left + right for left, right in zip([Fraction(0), *inside], [*inside, Fraction(0)], strict=True)]


KnownPrior = Prior | Cells
"""What a problem with a prior may hold: the prior, or the cells that are all that is known of it."""


def _spread(low: float, high: float, mean: float, weight: float, variance: float) -> Fraction:
    """At least ``weight * E|x - mean|``: what all mass at the ends would give, and the standard deviation."""
    if low == high:
        return Fraction(0)
    x, low_end, high_end = Fraction(mean), Fraction(low), Fraction(high)
    at_ends = 2 * (x - low_end) * (high_end - x) / (high_end - low_end)
    return Fraction(weight) * min(at_ends, Fraction(math.nextafter(math.sqrt(variance), math.inf)))


# -- cells of other priors --------------------------------------------------------------------------------------------


def cells_of(prior: KnownPrior, cuts: Floats | None) -> Cells:
    """The prior in cells, cut at these places; None leaves values as they are, each for itself.

    Values of a data set are cut where a value is in ``cuts``: it starts a cell. What cuts that do not fit are said to
    prove is nothing, and so they are `CheckFailed`.

    >>> cells_of(Atoms([0.0, 0.1, 1.0], [0.25, 0.25, 0.5]), np.array([1.0])).highs.tolist()
    [0.1, 1.0]
    """
    if isinstance(prior, Cells):
        if cuts is not None:
            raise CheckFailed("the prior is cells already, and the evidence cuts it again")
        return prior
    if isinstance(prior, Density):
        return _cells_of_law(prior, cuts)
    values, weights = distinct(prior)
    if cuts is None:
        if values.size > MOST_CELLS:
            raise CheckFailed(f"the prior has {values.size} values, and the evidence does not gather them in cells")
        return Cells.of_atoms(values, weights)
    starts = np.searchsorted(values, cuts)
    if not (np.isin(cuts, values[1:]).all() and (np.diff(starts) > 0).all()):
        raise CheckFailed("the evidence cuts the prior at places that are no values of it")
    return atom_cells(values, weights, np.concatenate([[0], starts, [values.size]]))


def _cells_of_law(density: Density, cuts: Floats | None) -> Cells:
    ends = density.domain.lower, density.domain.upper
    edges = np.concatenate([[ends[0]], [] if cuts is None else cuts, [ends[1]]])
    if not isinstance(density.function, Law) or not (np.diff(edges) > 0).all():
        raise CheckFailed(f"the evidence does not cut {density.name} into cells")
    cells = density_cells(density, edges)
    if not disagreement(cells, density) <= _AGREEMENT:
        raise CheckFailed(f"doubles do not give the cells of {density.name} between the cuts of the evidence")
    return cells


def as_held(prior: KnownPrior, cells: Cells) -> KnownPrior:
    """What a design holds of a prior that it is proven for by way of ``cells``: it, if a file can and doubles do.

    A density that is no named law, or whose cells quadrature gives too poorly, is held as the cells.
    """
    if not isinstance(prior, Density):
        return prior
    is_law = isinstance(prior.function, Law) and disagreement(cells, prior) <= _MARGIN * _AGREEMENT
    return prior if is_law else cells


def distinct(prior: Atoms) -> tuple[Floats, Floats]:
    """The values with weight, in increasing order, and their weights."""
    points, where = np.unique(prior.points, return_inverse=True)
    weights = np.bincount(where.ravel(), weights=prior.weights)
    return points[weights > 0], np.asarray(weights[weights > 0], dtype=np.float64)


def atom_cells(points: Floats, weights: Floats, cuts: Indices) -> Cells:
    """Runs of neighbouring values, from each of the cuts (the last is the number of values) to the next."""
    starts, sizes = cuts[:-1], np.diff(cuts)
    lows, highs = points[starts], points[cuts[1:] - 1]
    masses = np.add.reduceat(weights, starts)
    above = points - np.repeat(lows, sizes)
    means = lows + np.add.reduceat(weights * above, starts) / masses
    means = np.where(lows == highs, lows, np.clip(means, lows, highs))
    around = points - np.repeat(means, sizes)
    variances = np.add.reduceat(weights * around * around, starts) / masses
    variances = np.minimum(variances, (means - lows) * (highs - means))  # of subnormal weights
    return Cells(lows, highs, means, masses, np.where(lows == highs, 0.0, variances))


def first_runs(weights: Floats, most: int) -> Indices:
    """Cuts of up to ``most`` sorted values into each for itself, of more into runs of about equal weight."""
    if weights.size <= most:
        return np.arange(weights.size + 1)
    levels = np.linspace(0, weights.sum(), min(_MESH, most) + 1)[1:-1]
    return np.unique([0, *np.searchsorted(np.cumsum(weights), levels), weights.size])


def coarse_cells(prior: KnownPrior, most: int) -> Cells:
    """Each of up to ``most`` values for itself; else about as many cells, of equal weight or (of laws) of equal width.

    A density must have mass 1, or `InvalidInput`.
    """
    if isinstance(prior, Cells):
        return prior
    if isinstance(prior, Atoms):
        values, weights = distinct(prior)
        return atom_cells(values, weights, first_runs(weights, most))
    cells = density_cells(prior, first_cuts(prior))
    total = float(cells.weights.sum())
    if not abs(total - 1) <= 1e-6:
        raise InvalidInput("prior", f"{prior.name} of mass {total!r}", "have mass 1", "give its break points")
    return cells


def rounded_to_atoms(prior: KnownPrior, most: int) -> Cells:
    """The prior itself if it has at most ``most`` values, else the means of about as many cells: its mean is kept."""
    cells = coarse_cells(prior, most)
    if cells.are_atoms:
        return cells
    kept = np.append(True, np.diff(cells.means) > 0)
    return Cells.of_atoms(cells.means[kept], cells.weights[kept])


def density_cells(density: Density, cuts: Floats) -> Cells:
    """A density between ``cuts``: masses, means and variances are Gauss-Legendre sums in doubles."""
    lows, highs = cuts[:-1], cuts[1:]
    halves = (highs - lows) / 2
    offsets = halves[:, None] * (1 + _NODES)
    values = density(lows[:, None] + offsets) * _WEIGHTS
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InvalidInput("prior", density.name, "have a finite density, at least 0")
    sums = values.sum(axis=1)
    weights = np.ldexp(np.round(np.ldexp(halves * sums, _FINEST_WEIGHT)), -_FINEST_WEIGHT)
    safe = np.where(sums > 0, sums, 1.0)
    above = (values * offsets).sum(axis=1) / safe
    variances = (values * (offsets - above[:, None]) ** 2).sum(axis=1) / safe
    means = np.clip(lows + above, lows, highs)
    kept = weights > 0
    arrays = (lows, highs, means, weights, np.minimum(variances, (means - lows) * (highs - means)))
    return Cells(*(array[kept] for array in arrays))


def first_cuts(density: Density) -> Floats:
    """The ends of about 192 cells of equal width between the break points of a density, at least two each."""
    domain = density.domain
    kinks = [point for point in density.breakpoints if domain.lower < point < domain.upper]
    ends = np.unique([domain.lower, *kinks, domain.upper])
    counts = np.maximum(2, np.ceil(_MESH * np.diff(ends) / domain.length)).astype(int)
    parts = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(ends[:-1], ends[1:], counts, strict=True)]
    return np.unique(np.append(np.concatenate(parts), domain.upper))


def disagreement(cells: Cells, density: Density) -> float:
    """How far cells are from holding what a density has there, and all of it: in mass, range and square of the range.

    >>> from mechdesign.words.domains import Interval
    >>> from mechdesign.words.priors import normal, uniform
    >>> law = uniform(Interval(0, 1))
    >>> coarse = density_cells(law, np.array([0.0, 0.4, 1.0]))
    >>> disagreement(coarse, law) < 1e-12, disagreement(coarse, normal(0.5, 1.0, Interval(0, 1))) > 1e-3
    (True, True)
    """
    domain = density.domain
    if not (domain.lower <= cells.lows[0] and cells.highs[-1] <= domain.upper):
        return math.inf
    fine = density_cells(density, np.unique(np.concatenate([first_cuts(density), cells.lows, cells.highs])))
    place = np.searchsorted(cells.lows, fine.lows, side="right") - 1
    inside = (place >= 0) & (fine.highs <= cells.highs[place])
    count, reach = cells.means.size, domain.length
    place, mass = place[inside], fine.weights[inside]
    masses = np.bincount(place, mass, count)
    if not (masses > 0).all():
        return math.inf
    offsets = fine.means[inside] - cells.means[place]
    shifts = np.bincount(place, mass * offsets, count) / masses
    seconds = np.bincount(place, mass * (fine.variances[inside] + (offsets - shifts[place]) ** 2), count)
    return max(
        float(np.abs(masses - cells.weights).sum()) + float(fine.weights[~inside].sum()) + abs(float(masses.sum()) - 1),
        float((masses * np.abs(shifts)).sum()) / reach,
        float(np.abs(seconds - masses * cells.variances).sum()) / reach**2,
    )


# -- what files and people read of a prior ----------------------------------------------------------------------------


def prior_echo(prior: KnownPrior, cells: Cells) -> dict[str, Any]:
    """What files say of a prior for readers, beside the prior itself; range and mean are those of ``cells``."""
    said: dict[str, Any] = {"name": "cells", "values": None, "sha256": None, "law": None}
    match prior:
        case Atoms():
            values, weights = distinct(prior)
            columns = (values, values, values, weights, np.zeros_like(values))
            said |= {"name": "data", "values": int(prior.points.size), "sha256": digest(*columns)}
        case Density():
            said |= {"name": prior.name, "law": prior.law}
        case Cells():
            said |= {"sha256": digest(*prior.arrays())}
    return said | {"lower": float(cells.lows[0]), "upper": float(cells.highs[-1]), "mean": cells.mean}


def in_words(prior: KnownPrior) -> str:
    """What a prior is, and where it stands.

    >>> from mechdesign.words.domains import Interval
    >>> from mechdesign.words.priors import normal
    >>> in_words(normal(0.3, 0.1, Interval(0, 1)))
    'normal(0.3, 0.1) on [0, 1] (its cells agree with it to 1e-09)'
    """
    if isinstance(prior, Cells):
        return f"{prior.means.size} cells ({fingerprint(*prior.arrays())})"
    if isinstance(prior, Atoms):
        values, weights = distinct(prior)
        return f"{values.size} values ({fingerprint(values, weights)})"
    ends = f"[{prior.domain.lower + 0.0:g}, {prior.domain.upper + 0.0:g}]"  # no negative zero
    law = prior.function
    mark = f" ({fingerprint(law.edges, law.weights)})" if isinstance(law, HistogramLaw) else ""
    return f"{prior.name}{mark} on {ends} (its cells agree with it to {_AGREEMENT:g})"
