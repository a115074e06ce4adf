"""What is published for places, measured on a problem: planar Laplace, exponential and geometric mechanisms, remaps.

A remap sends every report to the place that is best for it under the prior (Chatzikokolakis, ElSalamouny, Palamidessi
2017); it costs no privacy. The same computation gives a Bayesian adversary's expected error: what is left of the loss
for one who knows the prior and guesses as well as can be.

Planar Laplace (Andrés, Bordenabe, Chatzikokolakis, Palamidessi 2013) has the density ``rate^2 / (2 pi) e^(-rate |u|)``.
What squares of side h collect of it is enclosed: with r the distance to the middle, the mean of ``e^(-rate |u|)`` over
a square is at least ``e^(-rate sqrt(r^2 + h^2 / 6))`` (Jensen, twice) and at most ``e^(-rate r)`` times
``sinh(a) sinh(b) / (a b)``, a and b half of ``rate h`` times the cosines of the direction (as ``|u|`` is at least its
part along it). What lies beyond the squares has mass ``(1 + rate R) e^(-rate R)`` at most, at the largest loss.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.pairwise.problem import Distances, InPlane, PairwiseProblem
from mechdesign.domains import Finite
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.pairs import Metric
from mechdesign.places import EUCLIDEAN, distances
from mechdesign.values.declare import frozen

Floats = NDArray[np.float64]

EXPONENTIAL, GEOMETRIC, LAPLACE = "exponential", "geometric", "planar Laplace"
_REMAPPED = ", remapped"
_FINEST = 0.1  # of the decay length: side of the squares
_MOST_PRODUCTS = 8_000_000
_REACH = 18.0  # decay lengths beyond the places: what lies further has mass 3e-7
_EVEN = 1e-9


@frozen
class Measured:
    """The expected loss of a rival, between two ends: equal where it is computed from a table."""

    name: str
    lower: float
    upper: float


def tables(problem: PairwiseProblem) -> dict[str, Discrete]:
    """The rivals that are tables on the problem's outputs, by name."""
    privacy, places = problem.privacy, problem.places
    if not isinstance(privacy, Metric) or places is None:
        return {}
    apart = privacy.per_unit * distances(privacy.points, places, privacy.distance)
    law = np.exp(-apart / 2)
    found = {EXPONENTIAL: law / law.sum(axis=1, keepdims=True)}
    steps = np.diff(privacy.points[:, 0]) if privacy.points.shape[1] == 1 else np.empty(0)
    on_line = isinstance(problem.losses, Distances) and problem.losses.outputs is None
    if on_line and steps.size and (steps > 0).all() and np.ptp(steps) <= _EVEN * steps.max():
        found[GEOMETRIC] = truncated_geometric(len(privacy), float(privacy.per_unit * steps.mean()))
    every = dict(found)
    every |= {name + _REMAPPED: remapped(table, problem) for name, table in found.items()}
    return {name: _discrete(problem, table, name) for name, table in every.items()}


def truncated_geometric(size: int, rate: float) -> Floats:
    """Two-sided geometric noise on 0 .. size - 1, reports beyond the ends moved to them.

    >>> truncated_geometric(2, 1.0).round(6).tolist()
    [[0.731059, 0.268941], [0.268941, 0.731059]]
    """
    tail = math.exp(-rate)
    offset = np.abs(np.arange(size)[:, None] - np.arange(size))
    table = (1 - tail) / (1 + tail) * tail**offset
    table[:, 0] = tail ** offset[:, 0] / (1 + tail)
    table[:, -1] = tail ** offset[:, -1] / (1 + tail)
    return np.asarray(table)


def remapped(table: Floats, problem: PairwiseProblem) -> Floats:
    """Every report sent to the output that loses least under the prior (under equal weights for the worst case)."""
    best = np.argmin(_joint(table, problem).T @ problem.losses_up, axis=1)
    sent = np.zeros((len(table), problem.width))
    np.add.at(sent.T, best, table.T)
    return sent


def adversary_error(table: Floats, problem: PairwiseProblem) -> float | None:
    """The expected loss of who knows prior and mechanism and guesses an input from a report as well as can be.

    None where guesses are no inputs: where losses are a matrix.
    """
    privacy = problem.privacy
    if not isinstance(privacy, Metric) or isinstance(problem.losses, np.ndarray):
        return None
    losses = distances(privacy.points, privacy.points, privacy.distance) ** problem.losses.exponent
    return float((_joint(table, problem).T @ losses).min(axis=1).sum())


def _joint(table: Floats, problem: PairwiseProblem) -> Floats:
    weights = np.full(len(table), 1 / len(table)) if problem.prior is None else problem.prior
    return np.asarray(weights[:, None] * table)


def _discrete(problem: PairwiseProblem, table: Floats, name: str) -> Discrete:
    used = np.flatnonzero((table > 0).any(axis=0))
    outputs = Finite(tuple(problem.outputs.points[int(k)] for k in used))
    rows = table[:, used]
    return Discrete(problem.epsilon, problem.inputs, outputs, rows / rows.sum(axis=1, keepdims=True), name)


def planar_laplace(problem: PairwiseProblem) -> tuple[Measured, ...]:
    """Planar Laplace noise as it is, with reports moved to the nearest output, and remapped; empty off the plane.

    >>> problem = PairwiseProblem(Metric([(0, 0), (1, 0)], 2.0), Distances())
    >>> planar_laplace(problem)[0]
    Measured(name='planar Laplace', lower=1.0, upper=1.0)
    """
    privacy, losses = problem.privacy, problem.losses
    if not isinstance(privacy, Metric) or isinstance(losses, np.ndarray):
        return ()
    if privacy.distance != EUCLIDEAN or privacy.points.shape[1] != 2:
        return ()
    rate = privacy.per_unit
    exact = 2 / rate if losses.exponent == 1 else 6 / rate**2
    found = [Measured(LAPLACE, exact, exact)]
    least, most = square_masses(problem)
    if least is None or most is None:
        return tuple(found)
    middles, below, above, beyond = least, most[0], most[1], most[2]
    places = problem.places
    assert places is not None
    loss, farthest = problem.losses_up, float(problem.losses_up.max())
    nearest = np.concatenate([_nearest(part, places) for part in np.array_split(middles, max(1, len(middles) // 4096))])
    weights = np.full(len(loss), 1 / len(loss)) if problem.prior is None else problem.prior
    ends = []
    for masses, extra in ((below, 0.0), (above, beyond * farthest)):
        errors = (masses * loss[:, nearest]).sum(axis=1) + extra
        ends.append(float(errors.max() if problem.prior is None else weights @ errors))
    found.append(Measured(f"{LAPLACE}, to the nearest place", *ends))
    if problem.prior is not None:
        ends = []
        for masses, extra in ((below, 0.0), (above, beyond * farthest)):
            total = 0.0
            for part in np.array_split(np.arange(len(middles)), max(1, len(middles) // 8192)):
                total += float(((weights[:, None] * masses[:, part]).T @ loss).min(axis=1).sum())
            ends.append(total + extra)
        found.append(Measured(LAPLACE + _REMAPPED, *ends))
    return tuple(found)


def _nearest(middles: Floats, places: Floats) -> NDArray[np.intp]:
    return np.asarray(distances(middles, places).argmin(axis=1))


def square_masses(problem: PairwiseProblem) -> tuple[Floats | None, tuple[Floats, Floats, float] | None]:
    """Middles of squares around the places, and what planar Laplace noise gives them: at least, at most, and beyond."""
    privacy = problem.privacy
    assert isinstance(privacy, Metric)
    rate, points = privacy.per_unit, privacy.points
    low, high = points.min(axis=0) - _REACH / rate, points.max(axis=0) + _REACH / rate
    side = _FINEST / rate
    area = float(np.prod(high - low))
    side = max(side, math.sqrt(area * len(points) / _MOST_PRODUCTS))
    if rate * side > 1:
        return None, None
    axes = [np.arange(a + side / 2, b + side, side) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    middles = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    below, above = np.empty((len(points), len(middles))), np.empty((len(points), len(middles)))
    scale = rate**2 / (2 * math.pi) * side**2
    for k, point in enumerate(points):
        gap = middles - point
        apart = np.sqrt((gap**2).sum(axis=1))
        below[k] = scale * np.exp(-rate * np.sqrt(apart**2 + side**2 / 6))
        with np.errstate(invalid="ignore", divide="ignore"):
            along = np.where(apart[:, None] > 0, gap / apart[:, None], 0.0) * (rate * side / 2)
        above[k] = scale * np.exp(-rate * apart) * _sinhc(along[:, 0]) * _sinhc(along[:, 1])
    return middles, (below, np.minimum(above, 1.0), (1 + _REACH) * math.exp(-_REACH))


def _sinhc(values: Floats) -> Floats:
    small = np.abs(values) < 1e-4
    return np.where(small, 1 + values**2 / 5, np.sinh(np.where(small, 1.0, values)) / np.where(small, 1.0, values))


__all__ = ["InPlane", "Measured", "adversary_error", "planar_laplace", "remapped", "tables", "truncated_geometric"]
