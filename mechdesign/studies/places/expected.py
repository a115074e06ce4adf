"""Expected errors of TraCS-D, and what they decide: the split of epsilon and the reference.

Directions and shares are independent, so the error from a place is an integral over two uniform numbers, taken here by
the midpoint rule on quantiles. These are numbers for choosing parameters; nothing about privacy rests on them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput
from mechdesign.studies.places.coordinates import Maker
from mechdesign.studies.places.metrics import distances
from mechdesign.studies.places.paths import uniform_paths
from mechdesign.studies.places.regions import Point, Region, frame_of, require_places
from mechdesign.studies.places.tracs import TracsD, simulable, tracs_d
from mechdesign.values.declare import Floats, evolved
from mechdesign.values.later import optimize, stats

_NODES = 24
_PLACES = 256
_PATHS, _LENGTH = 1000, 25
_SHARES = (0.05, *(k / 10 for k in range(1, 10)), 0.95, 0.99)


def expected_error(tracs: TracsD, places: ArrayLike, reference: Point | None = None) -> Floats:
    """The expected Euclidean error of a report of each place, seen from one reference (the start).

    >>> from mechdesign.studies.places.regions import Disc
    >>> exact = expected_error(tracs_d(Disc((0, 0), 1), 50.0), [[0.5, 0.0]])
    >>> exact.item() < 1e-3
    True
    """
    table = require_places(frame_of(tracs.region), places)
    origin = np.broadcast_to(np.asarray(tracs.start if reference is None else reference, dtype=np.float64), table.shape)
    angles, shares = tracs.seen_from(origin, table)
    direction, distance = simulable(tracs.direction), simulable(tracs.distance)
    nodes = (np.arange(_NODES) + 0.5) / _NODES
    total = np.zeros(len(table))
    for u in nodes:
        turned = direction.quantile(np.full(len(table), u), angles)
        for v in nodes:
            gone = distance.quantile(np.full(len(table), v), shares)
            total += np.hypot(*(tracs.place(origin, turned, gone) - table).T)
    return total / _NODES**2


def best_split(
    region: Region, epsilon: float, mechanism: str | Maker = "ogpm", *, start: Point | None = None, follow: bool = True
) -> float:
    """The part of epsilon for the direction with the least expected error over uniform places.

    They are seen from the start, or, where references ``follow`` the reports, along made paths of uniform places (the
    same every time, by simulation). The error can have two valleys, so all parts are tried before the best is refined.

    >>> from mechdesign.studies.places.regions import Rectangle
    >>> 0.6 < best_split(Rectangle(0, 1, 0, 1), 10.0) < 0.7
    True
    """
    places = _spread(region)
    paths = uniform_paths(region, _PATHS, _LENGTH, np.random.default_rng(0))

    def error(share: float) -> float:
        tracs = tracs_d(region, epsilon, mechanism, share=share, start=start, follow=follow)
        if not follow:
            return float(expected_error(tracs, places).mean())
        return float(distances(paths, tracs.perturb(paths, np.random.default_rng(0))).mean())

    errors = [error(share) for share in _SHARES]
    best = int(np.argmin(errors))
    low, high = _SHARES[max(best - 1, 0)], _SHARES[min(best + 1, len(_SHARES) - 1)]
    found = optimize.minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 5e-3})
    return float(found.x) if found.fun < errors[best] else _SHARES[best]


def best_reference(tracs: TracsD, candidates: ArrayLike, visited: ArrayLike | None = None) -> TracsD:
    """The same mechanism seen from that public candidate from which the expected error is least, for all locations.

    The average is over the ``visited`` places, which must be public too (the candidates themselves if left out): a
    reference chosen from private data would say something about them.
    """
    table = require_places(frame_of(tracs.region), candidates, "candidates")
    seen = table if visited is None else require_places(frame_of(tracs.region), visited, "visited")
    if not len(table):
        raise InvalidInput("candidates", 0, "be at least one place")
    errors = [float(expected_error(tracs, seen, (float(x), float(y))).mean()) for x, y in table]
    x, y = table[int(np.argmin(errors))].tolist()
    return evolved(tracs, start=(x, y), follow=False)


def _spread(region: Region) -> Floats:
    """The same evenly spread places every time."""
    west, east, south, north = region.bounds
    unit = stats.qmc.Sobol(2, scramble=False).random_base2(int(np.log2(_PLACES)) + 2)
    places: Floats = np.array([west, south]) + (unit + 0.5 / len(unit)) * np.array([east - west, north - south])
    inside: Floats = places[region.contains(places)]
    return inside[:: max(1, len(inside) // _PLACES)]
