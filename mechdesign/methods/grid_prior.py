"""A prior rounded to equispaced inputs, linearly and so without moving its mean: its weights there, and its words."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.panels import integrate_between
from mechdesign.values.declare import frozen, stored
from mechdesign.values.fingerprint import weights_in_words
from mechdesign.words.criteria import Criterion
from mechdesign.words.domains import Interval
from mechdesign.words.fits.words import counted
from mechdesign.words.priors import Atoms, Density, Law, Prior

Floats = NDArray[np.float64]

_NORMALISED = 1e-5  # how far from 1 the integral of a density may be
_WHOLE = 1e-12  # in steps between inputs
_SAME = 1e-9  # how near weights of one density come that two computers compute; those of atoms are exact


@frozen
class UnwrittenDensity:
    """The place of a density that is a function without a law, and so cannot be in a file.

    What is asked and proven is then about the ``weights`` of the problem, which it was rounded to.
    """

    kind: ClassVar[str] = "unwritten density"
    name: ClassVar[str] = "density"


GridPrior = Prior | UnwrittenDensity
"""What is rounded to equispaced inputs, or was."""


def grid_echo(criterion: Criterion, prior: GridPrior) -> dict[str, str]:
    """What problems about the variance under a prior say in other words."""
    kind = "atoms" if isinstance(prior, Atoms) else "density"
    return {"loss": "squared", "criterion": criterion.words, "prior": kind}


def weights_on_grid(weights: Floats) -> str:
    """A prior on a grid in words."""
    return f"{weights_in_words(weights)} on {weights.size} inputs"


def variance_headline(prior: GridPrior) -> str:
    """The certified quantity, with the prior in it: an optimum for one prior says little of another.

    >>> from mechdesign.words.priors import uniform
    >>> variance_headline(uniform(Interval(0, 1))), variance_headline(Atoms([0.0, 1.0], [0.5, 0.5]))
    ('variance under the uniform prior', 'variance under the prior on 2 points')
    """
    if isinstance(prior, Atoms):
        return f"variance under the prior on {counted(prior.points.size, 'point')}"
    law = prior.function.name if isinstance(prior, Density) and isinstance(prior.function, Law) else None
    return "variance under the prior density given" if law is None else f"variance under the {law} prior"


def prior_name(prior: GridPrior) -> str:
    """What reports call a prior: the name its user gave, which nothing decides."""
    return "atoms" if isinstance(prior, Atoms) else prior.name


def written(prior: GridPrior) -> GridPrior:
    """The prior, or the place of a density that no file can hold."""
    if isinstance(prior, Density) and not isinstance(prior.function, Law):
        return UnwrittenDensity()
    return prior


def settled_weights(prior: GridPrior, inputs: Interval, size: int, said: Floats | None) -> Floats:
    """The weights that a prior is rounded to: those that were said, if it can be rounded to them."""
    if said is None:
        if isinstance(prior, UnwrittenDensity):
            raise InvalidInput("weights", None, "be given where the density is not")
        return stored(grid_weights(prior, inputs, size))
    if said.shape != (size,) or not (said >= 0).all():
        raise InvalidInput("weights", said.shape, f"be {size} numbers of at least 0, one for each input")
    if isinstance(prior, UnwrittenDensity):
        if not abs(float(said.sum()) - 1) <= _NORMALISED:
            raise InvalidInput("weights", float(said.sum()), "sum to 1")
    elif not (np.abs(said - grid_weights(prior, inputs, size)) <= (0.0 if isinstance(prior, Atoms) else _SAME)).all():
        raise InvalidInput("weights", "other numbers", "be those that the prior is rounded to", "leave them out")
    return said


def grid_weights(prior: Prior, inputs: Interval, size: int) -> Floats:
    """The prior on ``size`` equispaced points: mass between two of them goes to both, in the ratio that keeps its mean.

    >>> grid_weights(Atoms([0.1, 1.0], [0.5, 0.5]), Interval(0, 1), 3).round(12).tolist()
    [0.4, 0.1, 0.5]
    """
    if isinstance(prior, Atoms):
        place = _places(prior, inputs, size)
        if _are_whole(place):
            place = np.round(place)
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


def is_on_grid(prior: GridPrior, inputs: Interval, size: int) -> bool:
    """Whether the prior is one on ``size`` equispaced points as it stands, so that nothing is rounded."""
    return isinstance(prior, Atoms) and _are_whole(_places(prior, inputs, size)[prior.weights > 0])


def _places(prior: Atoms, inputs: Interval, size: int) -> Floats:
    """The points of a prior in steps from the lower end."""
    places = (inputs.require(prior.points, "prior points") - inputs.lower) / inputs.length * (size - 1)
    return np.asarray(places, dtype=np.float64)


def _are_whole(places: Floats) -> bool:
    """Up to the rounding of equispaced doubles."""
    return bool((np.abs(places - np.round(places)) <= _WHOLE).all())


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
