"""ATP as the published code samples it: its law given the neighbours' reports, written anew, and the truth it tells."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from mechdesign.studies.places.atp_published import PublishedATP
from mechdesign.studies.places.discrete_rivals import ATP, Points, between_copies, grid_points
from mechdesign.studies.places.metrics import average_error
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Rectangle

SQUARE = Rectangle(0, 1, 0, 1)
NINE = grid_points(SQUARE, 3)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def middle(epsilon: float, true: int, neighbours: tuple[int, int]) -> np.ndarray:
    """The law of a middle location, step by step: two turns among seven numbers, the points left, and their weights."""
    table = NINE.table
    leave = 1 / (5 + math.exp(epsilon * 0.5 * 0.75 / 2))
    turns = [1 - leave, *[leave / 6] * 6]

    def left(neighbour: int, turn: int) -> list[bool]:
        def angle(place: np.ndarray) -> float:
            return math.degrees(math.atan2(place[1] - table[neighbour][1], place[0] - table[neighbour][0]))

        away = [(angle(place) - angle(table[true]) - 60 * turn + 180) % 360 - 180 for place in table]
        return [abs(one) < 30 + 1e-6 for one in away]

    law = np.zeros(9)
    for first, second in product(range(7), repeat=2):
        both = np.array(left(neighbours[0], first)) & np.array(left(neighbours[1], second))
        some = both if both.any() else np.ones(9, bool)
        scores = np.array([-math.dist(table[true], place) for place in table])
        spread = np.ptp(scores[some]) or 1.0
        weights = np.where(some, np.exp(epsilon * 0.5 * 0.75 / 3 * scores / (2 * spread)), 0.0)
        law += turns[first] * turns[second] * weights / weights.sum()
    return law


@pytest.mark.parametrize(("true", "neighbours"), [(4, (0, 8)), (1, (3, 5)), (4, (4, 4))])
def test_a_middle_location_follows_the_published_steps(true: int, neighbours: tuple[int, int]) -> None:
    """Chi-square of copies whose neighbours reported so; 30,000 paths of four, seed 3, false positives 1e-6; 900 of
    them or more tell this law from that of `ATP`, which keeps k-RR's chance."""
    paths = Paths.of([NINE.table[[neighbours[0], true, neighbours[1], 2]]] * 30_000)
    told = PublishedATP(NINE, 6.0).copy(paths, NINE.of(paths.places), 0, rng(3)).reshape(-1, 4)
    mine = told[(told[:, 0] == neighbours[0]) & (told[:, 2] == neighbours[1])][:, 1]
    law = middle(6.0, true, neighbours)
    assert law.sum() == pytest.approx(1)
    assert len(mine) > 900
    assert stats.chisquare(np.bincount(mine, minlength=9), law * len(mine)).pvalue > 1e-6


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_one_copy_keeps_the_last_location_as_it_is(length: int) -> None:
    paths = Paths.of([NINE.table[[4] * length]] * 300)
    inputs = NINE.of(paths.places)
    law = PublishedATP(NINE, 0.5)
    told = [law.copy(paths, inputs, parity, rng(1)).reshape(-1, length) for parity in (1, 0)]
    kept = [(copy == 4).all(axis=0) for copy in told]
    assert [column.tolist() for column in kept].count([False] * length) == 1
    assert (kept[0] | kept[1]).tolist() == [False] * (length - 1) + [True]


def test_the_last_location_rules_reports_out() -> None:
    """The point nearest to the truth and to any other copy comes, in the table, no later than the truth."""
    law = PublishedATP(NINE, 1.0)
    assert law.privacy_loss() == math.inf
    for true in range(9):
        reports = between_copies(NINE, np.full(9, true), np.arange(9))
        assert reports.max() == true


def test_its_error_is_that_of_the_published_experiment() -> None:
    """Eleven points a side, paths of 100, eps = 6: the code's file has .382 for one path, and paths differ by .025.

    30 paths, seed 1: the mean is known to .005; `ATP`, which spends what it says, has .497.
    """
    side = np.linspace(0, 1, 11)
    points = Points(SQUARE, np.array(list(product(side, side))))
    paths = Paths(points.table[rng(1).integers(0, 121, 3000)], np.arange(31) * 100)
    errors = [average_error(paths, law(points, 6.0).perturb(paths, rng(2))).mean() for law in (PublishedATP, ATP)]
    assert abs(errors[0] - 0.382) < 0.03
    assert errors[1] == pytest.approx(0.497, abs=0.02)
