"""How priors are cut into cells: then proofs hold for every prior with these cells."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.words.cells import AGREEMENT, MOST_CELLS, Cells, KnownPrior, distinct
from mechdesign.words.priors import Atoms, Density, Law

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_MARGIN = 0.1  # of that, for cells made here: another computer may round its exponentials otherwise
_MESH = 192  # cells that a density is cut into, beside those of its break points
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_FINEST_WEIGHT = 80  # bits after the point: less mass would only make the exact arithmetic slow


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
    if not disagreement(cells, density) <= AGREEMENT:
        raise CheckFailed(f"doubles do not give the cells of {density.name} between the cuts of the evidence")
    return cells


def as_held(prior: KnownPrior, cells: Cells) -> KnownPrior:
    """What a design holds of a prior that it is proven for by way of ``cells``: it, if a file can and doubles do.

    A density that is no named law, or whose cells quadrature gives too poorly, is held as the cells.
    """
    if not isinstance(prior, Density):
        return prior
    is_law = isinstance(prior.function, Law) and disagreement(cells, prior) <= _MARGIN * AGREEMENT
    return prior if is_law else cells


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
