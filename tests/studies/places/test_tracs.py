"""TraCS: exact privacy of the composition, its errors beside independent computations, and paths."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.studies.places.coordinates import COORDINATES, MOST_CERTIFIED, coordinate_mechanism
from mechdesign.studies.places.paths import Paths, uniform_paths, uniform_places
from mechdesign.studies.places.regions import Disc, Globe, Parallelogram, Polygon, Rectangle
from mechdesign.studies.places.tracs import (
    HEURISTIC_SHARE,
    TracsC,
    TracsD,
    perturb_whole_paths,
    share_of_location,
    simulated,
    tracs_c,
    tracs_d,
)
from mechdesign.studies.places.walk import from_the_system, tables_c
from mechdesign.tables import make_table, sample
from mechdesign.words.domains import Circle, Interval

SQUARE = Rectangle(0, 1, 0, 1)
LONG = Rectangle(0, 2, 0, 10)
TRIANGLE = Polygon(((0, 0), (2, 0), (0, 2)))
CORNERS = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.5, 0.0), (1.0, 0.3), (0.5, 0.5)]


def rng(seed=1):
    return np.random.default_rng(seed)


def edges_and_inside(region, count=40, seed=7):
    """Places inside, and on the four sides and corners."""
    west, east, south, north = region.bounds
    inner = uniform_places(region, count, rng(seed))
    sides = np.concatenate([inner * [1, 0] + [0, south], inner * [1, 0] + [0, north], inner * [0, 1] + [west, 0]])
    corners = [[west, south], [west, north], [east, south], [east, north]]
    return np.concatenate([inner, sides, corners])


@pytest.mark.parametrize("name", COORDINATES)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_a_location_of_tracs_c_spends_at_most_epsilon(name, epsilon):
    assert tracs_c(SQUARE, epsilon, name).privacy_loss() <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("name", COORDINATES)
@pytest.mark.parametrize("reference", CORNERS)
def test_density_ratios_of_tracs_d_stay_below_e_to_the_epsilon(name, reference):
    """Exact densities and masses of random outcomes from random pairs of places, references on the boundary too."""
    epsilon, tracs = 2.0, tracs_d(SQUARE, 2.0, name, start=reference)
    places = edges_and_inside(SQUARE)
    origin = np.broadcast_to(reference, places.shape)
    angles, shares = tracs.seen_from(origin, places)
    draw = simulated(rng(3))
    told_angles, told_shares = draw(tracs.direction, angles), draw(tracs.distance, shares)
    table = np.array(
        [
            tracs.likelihood(np.full(len(places), a), np.full(len(places), s), origin, places)
            for a, s in zip(told_angles[:60], told_shares[:60], strict=True)
        ]
    )
    assert (table > 0).all()
    ratio = table.max() if not len(table) else (table.max(axis=1) / table.min(axis=1)).max()
    assert ratio <= math.exp(epsilon) * (1 + 1e-9)
    if name == "ogpm":  # and the pairs are different enough to come near
        assert ratio > math.exp(0.9 * epsilon)


@pytest.mark.parametrize("name", COORDINATES)
def test_density_ratios_of_tracs_c_stay_below_e_to_the_epsilon(name):
    epsilon, tracs = 3.0, tracs_c(LONG, 3.0, name)
    places = edges_and_inside(LONG)
    reports = tracs.reports(places, simulated(rng(4)))[:60]
    table = np.array([tracs.likelihood(np.broadcast_to(y, places.shape), places) for y in reports])
    assert (table > 0).all()
    assert (table.max(axis=1) / table.min(axis=1)).max() <= math.exp(epsilon) * (1 + 1e-9)


def test_reports_of_cells_are_within_e_to_the_epsilon_from_any_two_places():
    """Independent of densities: chances of 9 cells of the square, by 200,000 reports from each of four places.

    Seed 11; chances are above 0.02, so a ratio's standard error is below 2.3% and the allowance of 12% is passed by
    luck with probability below 1e-5 in all 54 ratios.
    """
    epsilon, tracs, count = 1.0, tracs_d(SQUARE, 1.0, start=(0.0, 0.0)), 200_000
    chances = []
    for place in [(0.0, 0.0), (0.9, 0.9), (0.2, 0.8), (0.5, 0.0)]:
        places = np.tile(place, (count, 1))
        told = tracs.reports(places, np.zeros_like(places), simulated(rng(11)))
        cells = (np.minimum(told * 3, 2)).astype(int) @ [3, 1]
        chances.append(np.bincount(cells, minlength=9) / count)
    table = np.array(chances)[:, 1:]
    assert (table.max(axis=0) / table.min(axis=0)).max() < math.exp(epsilon) * 1.12


@pytest.mark.parametrize(
    ("epsilon", "from_corner", "coordinates"),
    [(2, 0.450, 0.393), (4, 0.324, 0.278), (6, 0.229, 0.189), (8, 0.166, 0.124), (10, 0.125, 0.080)],
)
def test_average_errors_are_those_computed_independently(epsilon, from_corner, coordinates):
    """1000 paths of 100 uniform points, seed 2; the reference values are rounded to .001 and drawn alike. Those of
    TraCS-D count the start as a location without an error, as the published code does: 100 of 101 have one. The
    allowance of .003 is two standard errors of either and the rounding."""
    paths = uniform_paths(SQUARE, 1000, 100, rng(2))

    def error(tracs):
        return np.hypot(*(tracs.perturb(paths, rng(3)).places - paths.places).T).mean()

    assert error(tracs_d(SQUARE, epsilon, start=(0, 0))) * 100 / 101 == pytest.approx(from_corner, abs=0.003)
    assert error(tracs_c(SQUARE, epsilon)) == pytest.approx(coordinates, abs=0.003)


def test_the_corner_keeps_half_of_the_first_reports():
    """The chance that a direction from (0, 0) leads out of the square, for uniform places: 51% at eps = 2.

    By the two heights of the density and the part of its window outside the quadrant, averaged over the angles of a
    grid of places; n = 20,000, seed 5, allowance five standard errors.
    """
    e = math.exp(2 * HEURISTIC_SHARE)
    high, half = math.sqrt(e) / (2 * math.pi), math.pi * (math.sqrt(e) - 1) / (e - 1)
    side = (np.arange(400) + 0.5) / 400
    angles = np.arctan2(side[:, None], side)
    outside = np.maximum(half - angles, 0) + np.maximum(half - (math.pi / 2 - angles), 0)
    chance = (high * (1 - 1 / e) * outside).mean() + high / e * 1.5 * math.pi
    paths = uniform_paths(SQUARE, 20_000, 1, rng(5))
    told = tracs_d(SQUARE, 2.0, start=(0, 0)).perturb(paths, rng(6)).places
    assert chance == pytest.approx(0.5118, abs=1e-3)
    assert (told == 0).all(axis=1).mean() == pytest.approx(chance, abs=0.018)
    assert not (tracs_d(SQUARE, 2.0).perturb(paths, rng(6)).places == 0.5).all(axis=1).any()


@pytest.mark.parametrize("epsilon", [2.0, 4.0, 6.0, 8.0, 10.0])
def test_the_certified_average_optimum_beats_the_printed_mechanism_in_tracs_c(epsilon):
    """Average errors of a coordinate under uniform places, exactly: less for the design at every eps."""
    from mechdesign.words.losses import Absolute

    printed, design = (tracs_c(SQUARE, epsilon, name).first for name in ("ogpm", "certified-uniform"))
    assert design.average_loss(Absolute()) < printed.average_loss(Absolute()) - 1e-4


REGIONS = [SQUARE, LONG, Disc((1, 1), 2), Parallelogram((0, 0), (2, 0.5), (-0.5, 1)), TRIANGLE]


@pytest.mark.parametrize("region", REGIONS, ids=str)
@pytest.mark.parametrize("follow", [True, False])
def test_reports_of_tracs_d_lie_in_the_region(region, follow):
    paths = uniform_paths(region, 50, 20, rng(8))
    assert region.contains(tracs_d(region, 1.0, follow=follow).perturb(paths, rng(9)).places).all()


@pytest.mark.parametrize("region", [SQUARE, LONG, REGIONS[3], TRIANGLE, Globe()], ids=str)
def test_reports_of_tracs_c_lie_in_the_region(region):
    paths = uniform_paths(region, 50, 20, rng(8))
    assert region.contains(tracs_c(region, 1.0).perturb(paths, rng(9)).places).all()


@pytest.mark.parametrize("region", [SQUARE, Disc((0, 0), 2), TRIANGLE], ids=str)
def test_much_epsilon_leaves_places_where_they_are(region):
    paths = uniform_paths(region, 20, 5, rng(8))
    told = tracs_d(region, 60.0, start=region.centre).perturb(paths, rng(9)).places
    assert np.abs(told - paths.places).max() < 1e-2 * region.diameter


def test_a_place_that_is_its_reference_has_direction_and_share_zero():
    angles, shares = tracs_d(SQUARE, 1.0).seen_from(np.array([[0.5, 0.5]]), np.array([[0.5, 0.5]]))
    assert angles.tolist() == shares.tolist() == [0.0]


def test_discs_around_the_reference_are_polar_coordinates():
    """From the centre of a disc TraCS-D is the product of the two mechanisms in polar coordinates."""
    disc = Disc((0, 0), 3.0)
    angles, shares = tracs_d(disc, 1.0).seen_from(np.zeros((1, 2)), np.array([[0.0, 1.5]]))
    assert angles.item() == pytest.approx(math.pi / 2)
    assert shares.item() == pytest.approx(0.5)


def test_paths_do_not_depend_on_each_other():
    """Reports of a path are the same law whatever paths stand beside it: references never cross paths."""
    paths = Paths.of([[[0.1, 0.1]] * 3, [[0.9, 0.9]] * 5, [[0.5, 0.2]]])
    told = tracs_d(SQUARE, 60.0).perturb(paths, rng(1))
    assert [len(path) for path in told] == [3, 5, 1]
    assert np.abs(told.places - paths.places).max() < 1e-2


def test_a_whole_path_spends_its_total_whatever_its_length():
    made = []
    paths = Paths.of([[[0.5, 0.5]] * 4, [[0.1, 0.1]], [[0.2, 0.2]] * 4])

    def make(epsilon):
        made.append(epsilon)
        return tracs_c(SQUARE, epsilon)

    told = perturb_whole_paths(paths, 4.0, make, rng())
    assert sorted(made) == [1.0, 4.0]
    assert np.array_equal(told.starts, paths.starts)


def test_the_heuristic_split_is_the_chapters():
    assert math.pi / (1 + math.pi) == HEURISTIC_SHARE
    tracs = tracs_d(SQUARE, 4.0)
    assert tracs.direction.epsilon == pytest.approx(4 * math.pi / (1 + math.pi))


def test_tables_serve_as_coordinates():
    """A draw from tables with the system's randomness in place of a generator: reports are outputs of the tables."""
    mechanism = catalogue.ogpm(1.0, Interval(0, 1))
    table = make_table(mechanism)
    tracs = TracsC(SQUARE, mechanism, mechanism)
    told = tracs.reports(np.full((100, 2), 0.5), lambda _, values: sample(table, values))
    assert SQUARE.contains(told).all()


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: tracs_c(Disc((0, 0), 1), 1.0), "region"),
        (lambda: tracs_d(Globe(), 1.0), "region"),
        (lambda: tracs_d(SQUARE, 1.0, start=(2, 2)), "start"),
        (lambda: tracs_d(SQUARE, 1.0, share=1.0), "share"),
        (lambda: tracs_d(SQUARE, -1.0), "eps"),
        (lambda: tracs_c(SQUARE, 1.0, "best"), "mechanism"),
        (lambda: TracsD(SQUARE, catalogue.ogpm_circle(1.0, Circle(1.0)), catalogue.ogpm(1.0), (0.5, 0.5)), "mechanism"),
    ],
)
def test_what_does_not_fit_is_refused(make, field):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert caught.value.field.startswith(field)


def printed_on_a_line(epsilon, y, x):
    """The density of definition 10, written anew."""
    e, high = math.exp(epsilon), math.exp(epsilon / 2)
    half = (high - 1) / (2 * e - 2)
    start = np.clip(x - half, 0, 1 - 2 * half)
    return np.where((y >= start) & (y < start + 2 * half), high, high / e)


def printed_on_the_circle(epsilon, y, x):
    """The density of definition 9, written anew."""
    e, high = math.exp(epsilon), math.exp(epsilon / 2) / (2 * math.pi)
    half = math.pi * (math.exp(epsilon / 2) - 1) / (e - 1)
    return np.where(abs((y - x + math.pi) % (2 * math.pi) - math.pi) < half, high, high / e)


def shares_by_sides(region, reference, places):
    """How far each place is on the way to the first side that its ray meets, side by side."""
    sides = [(0, region.east, 1), (0, region.west, -1), (1, region.north, 1), (1, region.south, -1)]
    offset = places - reference
    found = np.zeros(len(places))
    for axis, side, sign in sides:
        going = sign * offset[:, axis] > 0
        found[going] = np.maximum(found[going], (offset[going, axis] / (side - reference[axis])))
    return found


def test_densities_of_tracs_d_are_the_printed_formulas_from_every_kind_of_reference():
    """Corners, sides, the middle and the report before: the composed density from its two printed formulas, and its
    largest ratio over places of every kind, never above e^eps and reaching it."""
    tracs, worst = tracs_d(LONG, 3.0), 0.0
    before = tracs.perturb(uniform_paths(LONG, 1, 3, rng(1)), rng(2)).places[-1]
    places = edges_and_inside(LONG)
    for reference in [(0, 0), (2, 0), (2, 10), (1, 0), (0, 4), (1, 5), before]:
        reference = np.array(reference, dtype=float)
        offset = places - reference
        angles, shares = np.arctan2(offset[:, 1], offset[:, 0]), shares_by_sides(LONG, reference, places)
        for angle, share in rng(3).random((100, 2)) * [2 * math.pi, 1]:
            known = printed_on_the_circle(3 * HEURISTIC_SHARE, angle, angles)
            known *= printed_on_a_line(3 * (1 - HEURISTIC_SHARE), share, shares)
            told = np.full(len(places), angle), np.full(len(places), share)
            found = tracs.likelihood(*told, np.broadcast_to(reference, places.shape), places)
            assert found == pytest.approx(known, rel=1e-12)
            worst = max(worst, known.max() / known.min())
    assert math.log(worst) == pytest.approx(3.0, abs=1e-9)


def test_a_path_of_one_location_reports_what_its_start_says():
    """One-point paths beside longer ones: the first report of each has the start for its reference, by 20,000 paths of
    either kind (seed 4): mean reports agree to five standard errors."""
    tracs, place = tracs_d(SQUARE, 3.0, start=(0.1, 0.2)), [0.7, 0.6]
    short = tracs.perturb(Paths.of([[place]] * 20_000), rng(4)).places
    long = tracs.perturb(Paths.of([[place, [0.1, 0.9]]] * 20_000), rng(5)).places[::2]
    assert abs(short.mean(axis=0) - long.mean(axis=0)).max() < 5 * 0.35 * math.sqrt(2 / 20_000)


@pytest.mark.parametrize("epsilon", [2.0, 4.0, 6.0, 8.0, 10.0])
def test_the_certified_average_optimum_has_a_smaller_average_error_of_places(epsilon):
    """Of 1000 paths of 100 uniform places (seed 2), Euclidean: better by 3% at least. Noise is below .5%."""
    paths = uniform_paths(SQUARE, 1000, 100, rng(2))

    def error(name):
        return np.hypot(*(tracs_c(SQUARE, epsilon, name).perturb(paths, rng(3)).places - paths.places).T).mean()

    assert error("certified-uniform") < 0.97 * error("ogpm")


def test_tables_are_not_simulated():
    table = make_table(catalogue.ogpm(2.0, Interval(0, 1)), 16)
    with pytest.raises(InvalidInput, match="simulated"):
        tables_c(SQUARE, table, table).perturb(uniform_paths(SQUARE, 1, 2, rng()), rng())
    with pytest.raises(InvalidInput, match="be a table"):
        from_the_system(catalogue.ogpm(2.0), np.zeros(1))


def test_the_loss_of_a_location_by_tables_is_the_exact_product_of_theirs():
    tables = [make_table(catalogue.ogpm(eps, Interval(0, 1)), 16) for eps in (1.0, 2.0)]
    assert tables_c(SQUARE, *tables).likelihood_ratio().ratio == tables[0].ratio * tables[1].ratio


@pytest.mark.parametrize("name", ["certified", "certified-squared", "certified-uniform"])
def test_certified_coordinates_answer_at_their_largest_epsilon_and_are_refused_beyond(name):
    made = coordinate_mechanism(name, MOST_CERTIFIED, Interval(0, 1))
    assert made.privacy_loss() <= MOST_CERTIFIED * (1 + 1e-12)
    with pytest.raises(InvalidInput, match="at most 10"):
        coordinate_mechanism(name, MOST_CERTIFIED + 0.1, Interval(0, 1))


@pytest.mark.parametrize("lengths", [(1, 3), (100, 1), (1000, 7)])
def test_no_path_spends_more_than_its_total(lengths):
    spent = [length * share_of_location(130.0, length) for length in lengths]
    assert all(total <= 130.0 * (1 + 1e-12) for total in spent)
    assert all(share_of_location(130.0, length) <= 64.0 for length in lengths)
