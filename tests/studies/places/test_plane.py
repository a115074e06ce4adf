"""The certified plane: both ends of its interval, and the floor under all mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.places.metrics import average_error
from mechdesign.studies.places.paths import uniform_paths
from mechdesign.studies.places.plane import cell_numbers, middles, plane_design
from mechdesign.studies.places.regions import Disc, Rectangle
from mechdesign.studies.places.tracs import tracs_c

SQUARE = Rectangle(0, 1, 0, 1)


def test_the_table_is_private_and_its_loss_is_what_it_says():
    design = plane_design(SQUARE, 3.0, 6)
    rows = design.table.probabilities
    assert np.log((rows.max(axis=0) / rows.min(axis=0)).max()) <= 3.0 + 1e-12
    assert design.privacy_loss() <= 3.0


def test_the_upper_end_is_the_error_of_the_table():
    design = plane_design(SQUARE, 3.0, 6)
    places = middles(SQUARE, 6, 6)
    told = places[np.array(design.table.outputs.points).astype(int)]
    losses = np.hypot(*(places[:, None] - told).transpose(2, 0, 1))
    assert (design.table.probabilities * losses).sum(axis=1).mean() == pytest.approx(design.certificate.upper, abs=1e-9)


@pytest.mark.parametrize("epsilon", [2.0, 4.0, 6.0])
def test_the_plane_beats_tracs_c_and_stays_above_the_floor(epsilon):
    """400 paths of 50 uniform points, seed 1: the gap is more than fifty standard errors."""
    paths = uniform_paths(SQUARE, 400, 50, np.random.default_rng(1))
    design, tracs = plane_design(SQUARE, epsilon, 12), tracs_c(SQUARE, epsilon)
    ours, theirs = (average_error(paths, m.perturb(paths, np.random.default_rng(2))).mean() for m in (design, tracs))
    assert design.floor < ours < 0.8 * theirs


def test_the_floor_is_below_every_mechanism_in_the_limit_of_no_privacy_loss():
    """At a tiny epsilon all reports are one place: the best is the centre, at an average distance of .3826."""
    design = plane_design(SQUARE, 1e-3, 8)
    centre = (math.sqrt(2) + math.log(1 + math.sqrt(2))) / 6
    assert design.floor < centre < design.certificate.upper + 0.05


def test_cells_of_a_long_rectangle_are_nearly_square():
    design = plane_design(Rectangle(0, 2, 0, 10), 2.0, 10)
    assert (design.columns, design.rows) == (4, 25)


def test_places_on_the_far_sides_belong_to_the_last_cells():
    assert cell_numbers(SQUARE, 3, 2, np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])).tolist() == [5, 0, 2]


def test_only_rectangles_have_cells():
    with pytest.raises(InvalidInput, match="rectangle"):
        plane_design(Disc((0, 0), 1), 1.0)


def test_the_floor_of_the_worst_case_takes_off_half_a_diagonal_only():
    """At a tiny epsilon the least worst error of the square is that of its centre, half the diagonal."""
    design = plane_design(SQUARE, 1e-3, 8, "worst")
    assert design.floor == pytest.approx(design.certificate.lower - math.sqrt(2) / 16, abs=1e-12)
    assert design.floor < math.sqrt(0.5) < design.certificate.upper + math.sqrt(2) / 16


def test_the_average_distance_to_a_middle_is_bounded_by_its_root_mean_square():
    """Of the square: (sqrt 2 + ln(1 + sqrt 2)) / 6 below sqrt(1/6), which is 7% more."""
    exact = (math.sqrt(2) + math.log(1 + math.sqrt(2))) / 6
    design = plane_design(SQUARE, 1.0, 4)
    taken = design.certificate.lower - design.floor - math.sqrt(2) / 8
    assert exact / 4 < taken < 1.07 * exact / 4
