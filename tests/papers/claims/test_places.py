"""TraCS' sectors in closed form, and the hotspot count by loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.papers.claims import HOLDS, REPLACED, judge, named, places
from mechdesign.studies.places import Paths, hotspots_lost


def test_the_dominant_sector_is_that_of_theorem_9():
    """Of the circle it takes ``1 / (e^(eps/2) + 1)`` and has the rest of that as its probability."""
    for epsilon in (1.0, 8.0):
        half = math.exp(epsilon / 2)
        assert places._sector(epsilon) == pytest.approx((1 / (half + 1), half / (half + 1)))
    (claim,) = named(["tracs.figure-d.4"])
    assert judge(claim).verdict == HOLDS


def test_a_constant_answer_loses_no_hotspot_of_any_path():
    rng, points = np.random.default_rng(5), np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    paths = Paths.of([rng.random((length, 2)) for length in (3, 7, 12)])
    hot = {1, 2}
    constant = Paths(np.broadcast_to(points[1], paths.places.shape), paths.starts)
    assert hotspots_lost(paths, constant, points, sorted(hot)).tolist() == [0, 0, 0]

    def nearest(place):
        return min(range(4), key=lambda k: math.dist(place, points[k]))

    told = Paths(1 - paths.places, paths.starts)
    lost = [
        sum(nearest(t) in hot and nearest(r) not in hot for t, r in zip(true, said, strict=True))
        for true, said in zip(paths, told, strict=True)
    ]
    assert hotspots_lost(paths, told, points, sorted(hot)).tolist() == lost
    (claim,) = named(["tracs.hotspots"])
    assert judge(claim).verdict == REPLACED
