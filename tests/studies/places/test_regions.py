"""Who is inside, and how far it is to the boundary, with every edge case of a reference on a side or in a corner."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.studies.places.regions import Disc, Globe, Parallelogram, Polygon, Rectangle, frame_of, require_places

SQUARE = Rectangle(0, 1, 0, 1)
CITY = Rectangle(139.47, 139.90, 35.51, 35.86)
SLANTED = Parallelogram((1.0, 2.0), (2.0, 0.5), (-0.5, 1.0))
TRIANGLE = Polygon(((0, 0), (2, 0), (0, 2)))
REGIONS = [SQUARE, CITY, SLANTED, Disc((1.0, -1.0), 2.5), TRIANGLE, Globe()]
STARS = REGIONS[:4]


def inside(region, count=200, seed=1):
    west, east, south, north = region.bounds
    rng = np.random.default_rng(seed)
    tries = np.array([west, south]) + rng.random((8 * count, 2)) * np.array([east - west, north - south])
    return tries[region.contains(tries)][:count]


def on_boundary(region, references, directions):
    reach = region.reach(references, directions)
    return references + reach[:, None] * directions


def unit(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_the_centre_and_the_bounds_are_of_the_region(region):
    assert region.contains(np.array([region.centre])).all()
    places = inside(region)
    west, east, south, north = region.bounds
    assert ((places >= [west, south]) & (places <= [east, north])).all()


@pytest.mark.parametrize("region", REGIONS[:5], ids=str)
def test_no_two_places_are_farther_apart_than_the_diameter(region):
    places = inside(region, 300)
    far = np.hypot(*(places[:, None] - places).transpose(2, 0, 1)).max()
    assert 0.5 * region.diameter < far <= region.diameter


@pytest.mark.parametrize("region", STARS, ids=str)
def test_a_ray_ends_on_the_boundary(region):
    references = inside(region)
    directions = unit(np.random.default_rng(2).uniform(0, 2 * math.pi, len(references)))
    reach = region.reach(references, directions)[:, None]
    step = 1e-9 * region.diameter
    assert region.contains(references + (reach - step) * directions).all()
    assert not region.contains(references + (reach + step) * directions).any()


@pytest.mark.parametrize("region", STARS, ids=str)
def test_a_share_of_the_way_leads_back_to_the_place(region):
    references, places = inside(region, seed=3), inside(region, seed=4)
    shares = region.shares(references, places)
    offset = places - references
    directions = offset / np.hypot(*offset.T)[:, None]
    back = references + (shares * region.reach(references, directions))[:, None] * directions
    assert np.abs(back - places).max() < 1e-11 * region.diameter


corner_or_side = st.sampled_from([0.0, 1.0, 0.5, 0.25, 5e-324, 1 - 2**-53])


@given(corner_or_side, corner_or_side, corner_or_side, corner_or_side)
def test_shares_in_a_rectangle_never_leave_the_unit_interval(a, b, x, y):
    share = SQUARE.shares(np.array([[a, b]]), np.array([[x, y]])).item()
    assert 0 <= share <= 1


@pytest.mark.parametrize(
    ("reference", "place", "share"),
    [
        ((0.3, 0.0), (0.9, 0.0), 6 / 7),  # along the bottom side, where the chapter's formula has no case
        ((1.0, 0.2), (1.0, 0.6), 0.5),  # along the right side
        ((0.0, 0.0), (1.0, 1.0), 1.0),  # from corner to corner
        ((0.0, 0.0), (0.0, 0.0), 0.0),  # the reference itself
        ((1.0, 1.0), (1.0, 0.0), 1.0),
        ((0.5, 1.0), (0.5, 0.5), 0.5),
    ],
)
def test_shares_from_sides_and_corners(reference, place, share):
    assert SQUARE.shares(np.array([reference]), np.array([place])).item() == pytest.approx(share, abs=1e-15)


@pytest.mark.parametrize("angle", [0.0, -math.pi / 4, -math.pi / 2, math.pi, 5 * math.pi / 4])
def test_a_ray_out_of_a_corner_has_no_length(angle):
    corner = {0.0: (1, 0), -math.pi / 4: (1, 0), -math.pi / 2: (0, 0), math.pi: (0, 1), 5 * math.pi / 4: (0, 0)}[angle]
    assert SQUARE.reach(np.array([corner], dtype=float), unit(np.array([angle]))).item() == pytest.approx(0, abs=1e-15)


def test_the_largest_of_four_cases_is_the_reach_of_the_chapter():
    """Equation 6.1 for references strictly inside: the least positive of the four distances."""
    references = inside(CITY)
    directions = unit(np.linspace(0.001, 6.28, len(references)))
    west, east, south, north = CITY.bounds
    (a, b), (c, s) = references.T, directions.T
    cases = np.array([(east - a) / c, (north - b) / s, (a - west) / -c, (b - south) / -s])
    assert CITY.reach(references, directions) == pytest.approx(np.where(cases > 0, cases, np.inf).min(axis=0))


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_the_nearest_place_is_inside_and_no_place_is_nearer(region):
    rng = np.random.default_rng(5)
    west, east, south, north = region.bounds
    size = np.array([east - west, north - south])
    outside = np.array([west, south]) + (3 * rng.random((50, 2)) - 1) * size
    moved = region.nearest(outside)
    assert region.contains(moved).all()
    if not isinstance(region, Globe):  # a longitude's nearest place is its own, written otherwise
        best = np.hypot(*(moved - outside).T)
        others = np.hypot(*(inside(region, 500)[:, None] - outside).transpose(2, 0, 1)).min(axis=0)
        assert (best <= others + 1e-9 * region.diameter).all()


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_places_inside_stay_where_they_are(region):
    places = inside(region)
    assert np.abs(region.nearest(places) - places).max() <= 1e-12 * region.diameter


@pytest.mark.parametrize("region", [SQUARE, CITY, SLANTED, Globe()], ids=str)
def test_coordinates_lead_back_to_the_place(region):
    places = inside(region)
    assert np.abs(region.from_parts(*region.to_parts(places)) - places).max() < 1e-12 * region.diameter


def test_a_polygon_contains_what_a_count_of_areas_says():
    """A place is in a triangle if its three triangles with the sides fill it."""
    places = np.random.default_rng(6).uniform(-0.5, 2.5, (500, 2))
    corners = np.array(TRIANGLE.corners, dtype=float)
    areas = sum(
        np.abs(
            (corners[k] - places)[:, 0] * (corners[(k + 1) % 3] - places)[:, 1]
            - (corners[k] - places)[:, 1] * (corners[(k + 1) % 3] - places)[:, 0]
        )
        / 2
        for k in range(3)
    )
    assert (TRIANGLE.contains(places) == (areas < 2 + 1e-9)).all()


def test_a_polygon_works_in_its_bounding_rectangle():
    assert frame_of(TRIANGLE) == Rectangle(0, 2, 0, 2)
    assert frame_of(SQUARE) is SQUARE


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_regions_are_values(region):
    assert pickle.loads(pickle.dumps(region)) == copy.deepcopy(region) == region
    assert hash(copy.deepcopy(region)) == hash(region)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rectangle(0, 0, 0, 1),
        lambda: Rectangle(0, 1, 2, 2),
        lambda: Rectangle(1, 0, 0, 1),
        lambda: Rectangle(0, math.nan, 0, 1),
        lambda: Parallelogram((0, 0), (1, 1), (2, 2)),
        lambda: Parallelogram((0, 0), (0, 0), (0, 1)),
        lambda: Disc((0, 0), 0),
        lambda: Disc((0, 0), math.inf),
        lambda: Polygon(((0, 0), (1, 1))),
        lambda: Polygon(((0, 0), (1, 1), (2, 2))),
        lambda: Polygon(((0, 0), (1, 1), (1, 0), (0, 1))),
    ],
)
def test_regions_without_an_area_are_refused(make):
    with pytest.raises(InvalidInput):
        make()


@pytest.mark.parametrize("bad", [[0.2, math.nan], [math.inf, 0.3], [0.123456, 1.7654321]])
def test_a_bad_location_is_named_by_its_row_and_never_shown(bad):
    with pytest.raises(InvalidInput, match="row 2") as caught:
        require_places(SQUARE, [[0.5, 0.5], bad])
    said = str(caught.value) + repr(caught.value) + repr(pickle.loads(pickle.dumps(caught.value)))
    assert "123456" not in said
    assert "7654321" not in said


def test_exchanged_longitude_and_latitude_are_suggested():
    with pytest.raises(InvalidInput, match="longitude before latitude"):
        require_places(CITY, [[35.6, 139.7]])
