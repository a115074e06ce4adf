"""Metrics by hand, rounding, expected errors, and the study."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.places.discrete_rivals import grid_points
from mechdesign.studies.places.expected import best_reference, best_split, expected_error
from mechdesign.studies.places.metrics import (
    EARTH_RADIUS,
    average_error,
    busiest_points,
    geodesic_error,
    hotspots_lost,
    within_range,
)
from mechdesign.studies.places.paths import Paths, uniform_paths, uniform_places
from mechdesign.studies.places.regions import Disc, Rectangle
from mechdesign.studies.places.rounding import to_cells, to_points
from mechdesign.studies.places.study import METHODS, compare, constant_error, method
from mechdesign.studies.places.tracs import tracs_c, tracs_d

SQUARE = Rectangle(0, 1, 0, 1)
TRUE = Paths.of([[[0, 0], [0, 1], [1, 1]], [[1, 0]]])
TOLD = Paths.of([[[0, 0], [0, 0.6], [0.7, 0.6]], [[0, 1]]])


def rng(seed=1):
    return np.random.default_rng(seed)


def test_the_average_error_is_along_each_path():
    assert average_error(TRUE, TOLD) == pytest.approx([(0 + 0.4 + 0.5) / 3, math.sqrt(2)])


def test_the_share_within_range_counts_locations():
    assert within_range(TRUE, TOLD, 0.45) == pytest.approx([2 / 3, 0])


def test_hotspots_are_lost_by_reports_elsewhere():
    points = np.array([[0, 0], [0, 1], [1, 1], [1, 0]], dtype=float)
    hot = busiest_points(Paths.of([[[0, 0], [0, 0], [1, 1], [1, 1]]]), points, 0.5)
    assert sorted(hot.tolist()) == [0, 2]
    told = Paths.of([[[0, 0], [0, 0.6], [1, 0.2]], [[0, 1]]])
    assert hotspots_lost(TRUE, told, points, hot).tolist() == [1.0, 0.0]


def test_one_degree_of_latitude_is_a_360th_of_the_way_round():
    north = geodesic_error(Paths.of_one([[7, 50]]), Paths.of_one([[7, 51]])).item()
    assert north == pytest.approx(2 * math.pi * EARTH_RADIUS / 360)


def test_longitudes_meet_at_180_degrees():
    east, west = Paths.of_one([[179.5, 0]]), Paths.of_one([[-179.5, 0]])
    assert geodesic_error(east, west).item() == pytest.approx(2 * math.pi * EARTH_RADIUS / 360)


def test_paths_of_other_lengths_cannot_be_compared():
    with pytest.raises(InvalidInput, match="lengths"):
        average_error(TRUE, Paths.of([[[0, 0]]]))


def test_rounding_goes_to_the_middle_of_the_cell_and_the_nearest_point():
    path = Paths.of_one([[0.1, 0.9], [1.0, 1.0]])
    assert to_cells(path, SQUARE, 4, 2).places.tolist() == [[0.125, 0.75], [0.875, 0.75]]
    assert to_points(path, [[0, 1], [0.4, 0.4]]).places.tolist() == [[0, 1], [0.4, 0.4]]


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_the_expected_error_agrees_with_a_simulation(epsilon):
    """Six places, 100,000 reports each, seed 2: five standard errors are below .005."""
    tracs, places = tracs_d(SQUARE, epsilon, start=(0.2, 0.1)), uniform_places(SQUARE, 6, rng())
    many = np.repeat(places, 100_000, axis=0)
    told = tracs_d(SQUARE, epsilon, start=(0.2, 0.1), follow=False).perturb(Paths.of_one(many), rng(2)).places
    simulated = np.hypot(*(told - many).T).reshape(6, -1).mean(axis=1)
    assert expected_error(tracs, places) == pytest.approx(simulated, abs=0.006)


def test_the_best_split_is_better_than_the_heuristic_one():
    share = best_split(SQUARE, 8.0, follow=False)
    places = uniform_places(SQUARE, 300, rng(3))
    best, heuristic = (
        expected_error(t, places).mean() for t in (tracs_d(SQUARE, 8.0, share=share), tracs_d(SQUARE, 8.0))
    )
    assert best < heuristic


@pytest.mark.parametrize(("epsilon", "low", "high"), [(2.0, 0.96, 0.99), (4.0, 0.85, 0.99), (10.0, 0.55, 0.66)])
def test_the_best_split_along_paths_is_where_other_paths_have_the_least_error(epsilon, low, high):
    """Between parts at which 1500 other paths of 40 places (seed 5) have about the same error, and .76 a larger one."""
    share, paths = best_split(SQUARE, epsilon), uniform_paths(SQUARE, 1500, 40, rng(5))
    assert low <= share <= high
    best, heuristic = (
        average_error(paths, t.perturb(paths, rng(6))).mean()
        for t in (tracs_d(SQUARE, epsilon, share=share), tracs_d(SQUARE, epsilon))
    )
    assert best < heuristic - 0.005


def test_the_best_reference_for_places_in_a_corner_is_near_them():
    candidates = [[0.05, 0.05], [0.5, 0.5], [0.95, 0.95]]
    chosen = best_reference(tracs_d(SQUARE, 6.0), candidates, visited=[[0.9, 0.99], [0.99, 0.9], [0.98, 0.98]])
    assert (chosen.start, chosen.follow) == ((0.95, 0.95), False)


def test_the_constant_answer_is_the_average_distance_to_the_centre():
    """Of the unit square: (sqrt 2 + ln(1 + sqrt 2)) / 6 = .3826, to five standard errors at n = 50,000, seed 1."""
    exact = (math.sqrt(2) + math.log(1 + math.sqrt(2))) / 6
    assert constant_error(uniform_paths(SQUARE, 500, 100, rng()), SQUARE) == pytest.approx(exact, abs=0.0032)


def test_every_method_of_a_study_runs_and_says_what_it_spends():
    paths, points = uniform_paths(SQUARE, 5, 6, rng()), grid_points(SQUARE, 5)
    cells = list(compare(paths, SQUARE, [2.0], list(METHODS), rng(), points=points))
    assert [cell.method for cell in cells] == list(METHODS)
    assert all(cell.low <= cell.mean <= cell.high for cell in cells)
    honest = [cell for cell in cells if not cell.method.endswith("published")]
    assert all(cell.privacy_loss <= 2.0 + 1e-9 for cell in honest)


def test_a_study_of_one_path_takes_its_interval_from_runs():
    cells = list(compare(uniform_paths(SQUARE, 1, 30, rng()), SQUARE, [4.0], ["tracs-c"], rng(), runs=5))
    assert cells[0].low < cells[0].mean < cells[0].high


@pytest.mark.parametrize(
    ("name", "region"), [("best", SQUARE), ("atp", SQUARE), ("plane", Disc((0, 0), 1)), ("tracs-c", Disc((0, 0), 1))]
)
def test_methods_that_do_not_fit_are_refused(name, region):
    with pytest.raises(InvalidInput):
        method(name, region)(2.0)


def test_the_certified_designs_of_a_study_stay_below_the_constant_answer():
    """At eps = 2 the printed TraCS-C and TraCS-D are worse than always answering the centre; these are not."""
    paths = uniform_paths(SQUARE, 300, 100, rng(6))
    names = ["tracs-c-certified", "plane", "tracs-c", "tracs-d"]
    errors = {cell.method: cell.mean for cell in compare(paths, SQUARE, [2.0], names, rng(7))}
    constant = constant_error(paths, SQUARE)
    assert errors["plane"] < errors["tracs-c-certified"] < constant < errors["tracs-c"] < errors["tracs-d"]
    assert average_error(paths, tracs_c(SQUARE, 2.0).perturb(paths, rng(8))).mean() > constant
