"""TraCS: what its comparison counts as hotspots, its sectors, and an epsilon for a whole path."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mechdesign.mechanisms import catalogue
from mechdesign.papers.claims.claim import AT_LEAST, AT_MOST, Claim, Item, Value
from mechdesign.papers.claims.drawing import Lines, curves
from mechdesign.papers.claims.shared import number_of, picture_of
from mechdesign.papers.claims.tracs import PAPER
from mechdesign.studies.places.discrete_rivals import ATP, grid_points, ngram, staircase
from mechdesign.studies.places.metrics import average_error
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Rectangle
from mechdesign.studies.places.rounding import to_points
from mechdesign.studies.places.tracs import tracs_c, tracs_d

_SMALL, _LARGE = 1.0, 8.0
_SECTORS = (6, 12)
_SQUARE, _SIDE, _PATHS, _LENGTH, _SEED = Rectangle(0, 1, 0, 1), 12, 40, 13, 20_261_119
_EPSILONS = (2.0, 4.0, 6.0, 8.0, 10.0)


def _sector(epsilon: float) -> tuple[float, float]:
    """The share of the circle that TraCS-D's dominant sector takes, and its probability."""
    law = catalogue.ogpm_circle(epsilon)
    share = law.width / (2 * math.pi)
    return share, law.high * law.width


def _kept(epsilon: float, sectors: int) -> float:
    return math.exp(epsilon) / (math.exp(epsilon) + sectors - 1)


def _trade() -> list[Value]:
    """Size and probability over those of k sectors: the least at a small eps; the largest size and the least
    probability at a large one."""
    (size, chance), (later_size, later_chance) = _sector(_SMALL), _sector(_LARGE)
    return [
        min(size * k for k in _SECTORS),
        min(chance / _kept(_SMALL, k) for k in _SECTORS),
        max(later_size * k for k in _SECTORS),
        min(later_chance / _kept(_LARGE, k) for k in _SECTORS),
    ]


def _sector_lines() -> Lines:
    epsilons = [k / 10 for k in range(5, 81)]
    own = [_sector(epsilon) for epsilon in epsilons]
    return {
        "TraCS-D: size": (epsilons, [size for size, _ in own]),
        "TraCS-D: probability": (epsilons, [chance for _, chance in own]),
        "6 sectors: size": (epsilons, [1 / 6 for _ in epsilons]),
        "6 sectors: probability": (epsilons, [_kept(epsilon, 6) for epsilon in epsilons]),
    }


@cache
def _errors_of_paths() -> dict[str, list[float]]:
    """Average errors where a path has eps times the average length in all, divided evenly among its locations."""
    rng, points = np.random.default_rng(_SEED), grid_points(_SQUARE, _SIDE)
    lengths = rng.integers(4, 2 * _LENGTH - 3, _PATHS)  # 13 on average
    paths = [points.table[rng.integers(0, len(points.table), length)] for length in lengths]
    makes: dict[str, Callable[[float], Any]] = {
        "TraCS-C": lambda e: tracs_c(_SQUARE, e),
        "TraCS-D": lambda e: tracs_d(_SQUARE, e, start=(0.0, 0.0)),
        "NGram": lambda e: ngram(points, e),
        "L-SRR": lambda e: staircase(points, e),
        "ATP": lambda e: ATP(points, e),
    }

    def error(name: str, epsilon: float) -> float:
        told = []
        for path in map(Paths.of_one, paths):
            said = makes[name](epsilon * _LENGTH / len(path.places)).perturb(path, rng)
            told.append(float(average_error(path, to_points(said, points.table))[0]))
        return float(np.mean(told))

    return {name: [error(name, epsilon) for epsilon in _EPSILONS] for name in makes}


def _whole_paths() -> list[Value]:
    """TraCS' lesser error over the least of the others: at eps = 2, and the largest from 6 on."""
    found = _errors_of_paths()
    ours = [min(found["TraCS-C"][k], found["TraCS-D"][k]) for k in range(len(_EPSILONS))]
    rivals = [min(found[name][k] for name in ("NGram", "L-SRR", "ATP")) for k in range(len(_EPSILONS))]
    shares = [own / other for own, other in zip(ours, rivals, strict=True)]
    return [shares[0], max(shares[2:])]


CLAIMS = (
    Claim(
        "tracs.hotspots",
        PAPER,
        "section 6.3.2, count difference CD, and figure 6.10",
        "a smaller CD indicates better trajectory utility; TraCS' is 4.1, the smallest (then an answer that tells "
        "nothing, always the busiest point, has more)",
        (Item("its CD", "4.1", "0.0", AT_LEAST),),
        lambda: [number_of("constant_hotspot")],
        erratum=13,
        picture=picture_of("constant_hotspot"),
    ),
    Claim(
        "tracs.figure-d.4",
        PAPER,
        "appendix D.2.4, figure D.4",
        "at small eps TraCS-D's dominant sector is larger than one of k, with a significantly higher probability; at "
        "large eps it is significantly smaller, with almost the same (eps = 1 and 8; k = 6 and 12)",
        (
            Item("size over 1/k, eps = 1, least", "1", relation=AT_LEAST),
            Item("probability over k-RR's, eps = 1, least", "1.25", relation=AT_LEAST),
            Item("size over 1/k, eps = 8, most", "0.5", relation=AT_MOST),
            Item("probability over k-RR's, eps = 8, least", "0.95", relation=AT_LEAST),
        ),
        _trade,
        picture=curves("Dominant sector of a direction", "eps", "share of the circle; probability", _sector_lines),
    ),
    Claim(
        "tracs.figure-d.7",
        PAPER,
        "appendix D.2.10, figure D.7",
        "with an eps for the whole path, divided evenly, TraCS has a larger error than NGram, L-SRR and ATP at small "
        "eps and less at large eps, from about 4 a location on (the best of the three at 2, and from 6 on)",
        (
            Item("TraCS' over the least of theirs, eps = 2", "1", relation=AT_LEAST),
            Item("the same at 6, 8 and 10, most", "1", relation=AT_MOST),
        ),
        _whole_paths,
        slow=True,
        stand_in="40 paths of 4 to 22 uniform points of 12 x 12, 13 on average as in the CHI data",
        picture=curves(
            "An eps for a whole path, 12 x 12 points",
            "eps times the average length, by location",
            "average error",
            lambda: {name: (_EPSILONS, errors) for name, errors in _errors_of_paths().items()},
        ),
    ),
)
