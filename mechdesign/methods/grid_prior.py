"""A prior rounded to equispaced inputs, linearly and so without moving its mean, and averages under it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import float_up
from mechdesign.panels import integrate_between
from mechdesign.values.declare import evolved
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Interval
from mechdesign.words.priors import Atoms, Density, Prior
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_NORMALISED = 1e-5  # how far from 1 the integral of a density may be
_WHOLE = 1e-12  # in steps between inputs


def with_grid_prior(problem: Problem, size: int) -> Problem:
    """The same problem with its prior on ``size`` equispaced inputs: as it is if it is one on them, else rounded.

    Certificates are about the problem with the rounded prior, and files can hold it whatever the prior was.

    >>> import mechdesign as md
    >>> average = Average(Atoms([0.1, 1.0], [0.5, 0.5]))
    >>> problem = Problem(inputs=(0, 1), loss="squared", privacy=md.Pure(1), criterion=average, among=md.Unbiased())
    >>> with_grid_prior(problem, 3).criterion.prior.weights.round(12).tolist()
    [0.4, 0.1, 0.5]
    """
    inputs, prior = _interval(problem), cast(Prior, problem.criterion.prior)
    if isinstance(prior, Atoms) and _is_on_grid(prior, inputs, size):
        return problem
    rounded = Atoms(np.linspace(inputs.lower, inputs.upper, size), grid_weights(prior, inputs, size))
    return evolved(problem, criterion=Average(rounded))


def weights_on_grid(problem: Problem, size: int) -> Floats:
    """The prior of a problem that is one on so many equispaced inputs, or `CheckFailed`."""
    prior, inputs = problem.criterion.prior, _interval(problem)
    if not isinstance(prior, Atoms) or not _is_on_grid(prior, inputs, size):
        raise CheckFailed(f"the evidence is about {size} equispaced inputs, and the prior is not on them")
    return grid_weights(prior, inputs, size)


def average_variance(variance: Callable[[int], Fraction], weights: Floats) -> Fraction:
    """``sum p_k Var(Y|x_k) / sum p_k`` over equispaced inputs: each variance is exact, then rounded up to a double."""
    exact = [Fraction(weight) for weight in weights.tolist()]
    return sum((p * Fraction(float_up(variance(k))) for k, p in enumerate(exact) if p), Fraction(0)) / sum(exact)


def _interval(problem: Problem) -> Interval:
    assert isinstance(problem.inputs, Interval)
    return problem.inputs


def grid_weights(prior: Prior, inputs: Interval, size: int) -> Floats:
    """The prior on ``size`` equispaced points: mass between two of them goes to both, in the ratio that keeps its mean.

    >>> grid_weights(Atoms([0.1, 1.0], [0.5, 0.5]), Interval(0, 1), 3).round(12).tolist()
    [0.4, 0.1, 0.5]
    """
    if isinstance(prior, Atoms):
        place = _places(prior, inputs, size)
        left = np.minimum(place.astype(np.intp), size - 2)
        return _spread(left, prior.weights, prior.weights * (place - left), size)
    if not isinstance(prior, Density):
        raise InvalidInput("prior", prior, "be priors.Atoms or priors.Density")
    if not isinstance(prior.domain, Interval) or not inputs.contains(prior.domain):
        raise InvalidInput("prior", f"{prior.name} on {prior.domain}", f"live inside the inputs {inputs}")
    grid = np.linspace(inputs.lower, inputs.upper, size)
    cells = np.array([_mass_and_share(prior, *ends) for ends in pairwise(grid.tolist())])
    weights = _spread(np.arange(size - 1), cells[:, 0], cells[:, 1], size)
    total = float(weights.sum())
    if not abs(total - 1) <= _NORMALISED:
        raise InvalidInput("prior", total, "integrate to 1", "divide the density by its integral")
    return weights / total


def _is_on_grid(prior: Atoms, inputs: Interval, size: int) -> bool:
    """Whether the prior is one on ``size`` equispaced points as it stands, so that nothing is rounded."""
    places = _places(prior, inputs, size)[prior.weights > 0]
    return bool((places == np.round(places)).all())


def _places(prior: Atoms, inputs: Interval, size: int) -> Floats:
    """The points of a prior in steps from the lower end: whole numbers, if all are up to rounding."""
    places = (inputs.require(prior.points, "prior points") - inputs.lower) / inputs.length * (size - 1)
    whole = np.round(places)
    # far from zero equispaced doubles are not as near to equispaced numbers
    near = np.linspace(inputs.lower, inputs.upper, size)[whole.astype(np.intp)] == prior.points
    is_whole = bool((near | (np.abs(places - whole) <= _WHOLE)).all())
    return np.asarray(whole if is_whole else places, dtype=np.float64)


def _spread(left: NDArray[np.intp], masses: Floats, shares: Floats, size: int) -> Floats:
    """Each share of a mass goes to the right of its two points, the rest to the left one."""
    weights = np.bincount(left, masses - shares, size) + np.bincount(left + 1, shares, size)
    return np.asarray(np.maximum(weights, 0.0), dtype=np.float64)


def _mass_and_share(prior: Density, lower: float, upper: float) -> tuple[float, float]:
    """The mass in a cell, and what of it the upper end gets."""
    start, stop = max(lower, prior.domain.lower), min(upper, prior.domain.upper)
    if not start < stop:
        return 0.0, 0.0
    cuts = [start, *(cut for cut in prior.breakpoints if start < cut < stop), stop]
    mass = integrate_between(lambda x: _require_density(prior, x), cuts)
    share = integrate_between(lambda x: prior(x) * (x - lower) / (upper - lower), cuts)
    return mass, min(max(share, 0.0), mass)


def _require_density(prior: Density, x: Floats) -> Floats:
    values = prior(x)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise InvalidInput("prior", prior.name, "have a finite density of at least 0 inside its domain")
    return values
