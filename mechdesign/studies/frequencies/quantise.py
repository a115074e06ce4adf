"""Randomised rounding of numbers to equispaced edges (Eq. 4-7 of the AAA paper)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_finite, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.methods.grid_prior import grid_weights
from mechdesign.values.declare import Floats, Whole
from mechdesign.words.domains import Interval, require_domain
from mechdesign.words.priors import Atoms

MOST_BINS = 512
_WHOLE = 1e-9


def edges_of(inputs: Interval, bins: int) -> Floats:
    """The edges ``x_j = lower + j sigma``, ``sigma = length / bins``, from 0 to ``bins``.

    >>> edges_of(Interval(-1, 1), 4).tolist()
    [-1.0, -0.5, 0.0, 0.5, 1.0]
    """
    require_domain(inputs, (Interval,))
    return np.linspace(inputs.lower, inputs.upper, require_bins(bins) + 1)


def bins_of_width(inputs: Interval, width: float) -> int:
    """How many bins of that width fill the interval, or `InvalidInput` if the width does not divide its length.

    >>> bins_of_width(Interval(-1, 1), 0.125)
    16
    """
    require_domain(inputs, (Interval,))
    size = require_finite(width, "bin width")
    if not 0 < size <= inputs.length * (1 + _WHOLE):
        raise InvalidInput("bin width", width, f"be above 0 and at most {inputs.length:g}, the length of the bounds")
    count = inputs.length / size
    if abs(count - round(count)) > _WHOLE * count:
        lower, upper = inputs.length / math.ceil(count), inputs.length / math.floor(count)
        step = f"{lower:.6g} and {upper:.6g} do"
        raise InvalidInput("bin width", width, f"divide the length {inputs.length:g} of the bounds", step)
    return require_bins(round(count))


def round_at_random(values: ArrayLike, inputs: Interval, bins: int, rng: np.random.Generator) -> Whole:
    """The number of an edge for each value: the nearest one to its right with chance ``(x - x_i) / sigma``, else left.

    *Guarantee.* ``E[x_j | x] = x`` (up to the rounding of doubles), with variance ``(x - x_i)(x_{i+1} - x)``.

    >>> round_at_random([-1.0, 0.5, 1.0], Interval(-1, 1), 4, np.random.default_rng(0)).tolist()
    [0, 3, 4]
    """
    left, share = _places(values, inputs, bins)
    drawn = require_generator(rng).random(left.shape)
    return np.asarray(left + (drawn < share), dtype=np.int64)


def rounding_variance(values: ArrayLike, inputs: Interval, bins: int) -> Floats:
    """What the rounding adds to the variance, ``(x - x_i)(x_{i+1} - x)``.

    >>> rounding_variance([0.0, 0.25], Interval(-1, 1), 4).tolist()
    [0.0, 0.0625]
    """
    share = _places(values, inputs, bins)[1]
    return np.asarray(share * (1 - share) * (inputs.length / bins) ** 2)


def quantised(values: ArrayLike, inputs: Interval, bins: int) -> Atoms:
    """The law of the rounded data on the edges, Eq. 7: ``p(x_j)`` is the average chance of being rounded to ``x_j``.

    >>> quantised([-1.0, 0.25], Interval(-1, 1), 4).weights.tolist()
    [0.5, 0.0, 0.25, 0.25, 0.0]
    """
    weights = grid_weights(Atoms.of_data(require_data(values, inputs)), inputs, require_bins(bins) + 1)
    return Atoms(edges_of(inputs, bins), weights / weights.sum())


def require_data(values: ArrayLike, inputs: Interval, least: int = 1) -> Floats:
    """Data inside the bounds as one row of floats, or `InvalidInput` that names the first value outside."""
    require_domain(inputs, (Interval,))
    data = inputs.require(values, "data").ravel()
    if data.size < least:
        raise InvalidInput("data", f"{data.size} values", f"hold at least {least}", "every value is one user's")
    return data


def require_bins(bins: int, least: int = 1) -> int:
    """A number of bins, or `InvalidInput`."""
    return require_whole(bins, "bins", least, MOST_BINS)


def _places(values: ArrayLike, inputs: Interval, bins: int) -> tuple[Whole, Floats]:
    """The edge to the left of each value, and how far it is to the next one in steps."""
    count = require_bins(bins)
    place = (require_data(values, inputs) - inputs.lower) / inputs.length * count
    near = np.round(place)
    # an edge stands for itself although its double is a rounding away from it
    place = np.where(np.abs(place - near) <= 1e-12 * count, near, place)
    left = np.minimum(np.floor(place).astype(np.int64), count - 1)
    return left, place - left
