"""Rivals: what they spend, exactly, as they should be and as the published code samples them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.places.discrete_rivals import (
    ATP,
    Points,
    channel_loss,
    exponential,
    grid_points,
    ngram,
    staircase,
)
from mechdesign.studies.places.paths import Paths, uniform_paths
from mechdesign.studies.places.regions import Rectangle
from mechdesign.studies.places.rivals import PlanarLaplace, published_sectors, published_strawman, strawman
from mechdesign.studies.places.tracs import DIRECTIONS, tracs_d

SQUARE = Rectangle(0, 1, 0, 1)
GRID = grid_points(SQUARE, 6)


def rng(seed=1):
    return np.random.default_rng(seed)


def test_the_published_sectors_spend_more_than_they_say():
    """4.22 for 2: the code's own steps, enumerated: keep, or one of six other numbers of which 6 means 0."""
    leave = 1 / (5 + math.exp(2))
    chances = np.zeros((6, 6))
    for own in range(6):
        chances[own, own] += 1 - leave
        for other in (number for number in range(7) if number != own):
            chances[own, other % 6] += leave / 6
    law = published_sectors(2.0, 6)
    assert law.probabilities == pytest.approx(chances)
    assert law.privacy_loss() == pytest.approx(4.2246, abs=1e-3)


def test_the_strawman_spends_its_epsilon_and_the_published_one_more():
    assert strawman(SQUARE, 2.0).privacy_loss() == pytest.approx(2.0, abs=1e-12)
    assert published_strawman(SQUARE, 2.0).privacy_loss() > 4


def test_sectors_integrate_to_one_and_keep_the_sector_with_the_chance_of_k_rr():
    direction, angles = strawman(SQUARE, 4.0).direction, np.linspace(0, DIRECTIONS.period, 6001)[:-1]
    density = direction.density(angles, np.full(6000, 1.2))
    assert density.mean() * DIRECTIONS.period == pytest.approx(1)
    e = math.exp(direction.epsilon)
    own = (angles >= math.pi / 3) & (angles < 2 * math.pi / 3)
    assert density[own].mean() * math.pi / 3 == pytest.approx(e / (e + 5))


def test_planar_laplace_spends_epsilon_between_the_farthest_places():
    """The density ratio at a report behind one of two opposite corners is e^eps; seed 1 checks the radius of the noise:
    its mean is 2 / rate, to five standard errors."""
    noise = PlanarLaplace(SQUARE, 2.0)
    assert noise.rate * math.sqrt(2) == pytest.approx(2.0)
    wide = PlanarLaplace(Rectangle(-1e6, 1e6, -1e6, 1e6), 2.0)
    told = wide.perturb(Paths.of_one(np.zeros((20_000, 2))), rng()).places
    distances = np.minimum(rng().gamma(2.0, 1 / wide.rate, 20_000), 1e6)
    assert np.hypot(*told.T).mean() == pytest.approx(distances.mean(), rel=0.3)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("make", [exponential, staircase])
def test_a_channel_over_points_spends_at_most_epsilon_and_nearly_all_of_it(make, epsilon):
    """By the channel itself, row by row: ratios of all pairs of inputs at every output."""
    mechanism = make(GRID, epsilon)
    rows = np.diff(mechanism.cumulative, axis=1, prepend=0.0)
    loss = max(float(np.log(rows[:, y, None] / rows[None, :, y]).max()) for y in range(rows.shape[1]))
    assert loss <= epsilon * (1 + 1e-9)
    assert loss > epsilon * (1 - 1e-6) or make is staircase  # three levels cannot spend any amount in every grid


@pytest.mark.parametrize(
    ("loss", "low", "high"),
    [
        (lambda: exponential(GRID, 2.0, published=True).privacy_loss(), 0.9, 1.2),
        (lambda: staircase(GRID, 2.0, published=True).privacy_loss(), 0.69, 1.1),
        (lambda: ngram(GRID, 2.0, published=True).privacy_loss(), math.inf, math.inf),
        (lambda: ngram(GRID, 2.0).privacy_loss(), 2.0, 2.0),
    ],
)
def test_published_rivals_do_not_spend_what_they_say(loss, low, high):
    assert low <= loss() <= high


def test_ngrams_channel_spends_at_most_epsilon_whatever_was_reported_before():
    epsilon, mechanism = 2.0, ngram(GRID, 2.0, 0.5)
    weights = np.exp(-epsilon / (2 * GRID.diameter) * GRID.distances)
    for before in range(len(GRID.table)):
        reachable = GRID.distances[before] <= mechanism.reach
        assert channel_loss(np.where(reachable, weights, 0.0)) <= epsilon


def exact_copy(table, epsilon, neighbours):
    """The law of one copy's location given its neighbours' reports, written anew: for every true point, the chance of
    every pair of told sectors and every point."""

    def sector(origin, place):
        return min(int(math.atan2(place[1] - origin[1], place[0] - origin[0]) / (2 * math.pi) % 1 * 6), 5)

    distances = np.array([[math.dist(a, b) for b in table] for a in table])
    seen = [[sector(table[k], place) for place in table] for k in neighbours]
    e = math.exp(epsilon * 3 / 16)  # three quarters of a half, for two directions
    law = np.zeros((len(table), 6, 6, len(table)))
    for true, first, second in product(range(len(table)), range(6), range(6)):
        told = math.prod((e if one[true] == s else 1) / (e + 5) for one, s in zip(seen, (first, second), strict=True))
        left = [one == first and other == second for one, other in zip(*seen, strict=True)]
        weights = np.exp(-epsilon / 8 / (2 * distances.max()) * distances[true]) * (left if any(left) else 1)
        law[true, first, second] = told * weights / weights.sum()
    return law


def test_a_copy_of_atp_spends_at_most_half_of_epsilon_whatever_its_neighbours_reported():
    """Exactly, with the told sectors, on 3 x 3 points and all pairs of neighbours' reports."""
    table = grid_points(SQUARE, 3).table
    for neighbours in product(range(9), repeat=2):
        law = exact_copy(table, 4.0, neighbours).reshape(9, -1)
        assert law.sum(axis=1) == pytest.approx(1)
        used = law.max(axis=0) > 0
        assert (law.max(axis=0)[used] / law.min(axis=0)[used]).max() <= math.exp(2.0)


def test_atp_samples_the_law_of_its_copies():
    """40,000 paths of three (seed 3): the middle's reports against the exact law given its neighbours' reports, by
    chi-square at a false-positive rate of 1e-6; 1,100 reports or more would show a law without directions."""
    points = grid_points(SQUARE, 3)
    paths = Paths.of([points.table[[0, 4, 8]]] * 40_000)
    told = ATP(points, 4.0)._copy(paths, points.of(paths.places), 0, rng(3)).reshape(-1, 3)
    mine = told[(told[:, 0] == 0) & (told[:, 2] == 8)][:, 1]
    known = exact_copy(points.table, 4.0, (0, 8))[4].sum(axis=(0, 1))
    assert len(mine) > 1100
    assert stats.chisquare(np.bincount(mine, minlength=9), known * len(mine)).pvalue > 1e-6


def test_a_location_of_atp_is_told_in_two_copies_only():
    """The report of every other location has the same law whatever this one is: those draws use no true place but their
    own. 20,000 paths of three (seed 5): shares of the last report agree to five standard errors."""
    points = grid_points(SQUARE, 3)
    shares = []
    for middle in (1, 7):
        told = ATP(points, 4.0).perturb(Paths.of([points.table[[0, middle, 8]]] * 20_000), rng(5 + middle))
        shares.append(np.bincount(points.of(told.places)[2::3], minlength=9) / 20_000)
    assert abs(shares[0] - shares[1]).max() < 5 * math.sqrt(0.5 / 20_000)


def test_points_near_each_other_have_a_staircase_although_no_ratio_spends_epsilon():
    points = Points(SQUARE, np.array([[0.5, 0.5], [0.51, 0.5], [0.5, 0.51]]))
    assert staircase(points, 2.0).privacy_loss() <= 2.0


def test_quantiles_of_sectors_invert_their_density():
    direction = strawman(SQUARE, 4.0).direction
    angles = direction.quantile(np.linspace(0.0005, 0.9995, 1000), np.full(1000, 1.2))
    own = (angles >= math.pi / 3) & (angles < 2 * math.pi / 3)
    e = math.exp(direction.epsilon)
    assert own.mean() == pytest.approx(e / (e + 5), abs=2e-3)
    assert (np.diff(angles) >= 0).all()


def test_reports_of_rivals_are_points():
    paths = uniform_paths(SQUARE, 20, 7, rng())
    for mechanism in (exponential(GRID, 2.0), staircase(GRID, 2.0), ngram(GRID, 2.0), ATP(GRID, 2.0)):
        told = mechanism.perturb(paths, rng()).places
        assert np.hypot(*(GRID.table[GRID.of(told)] - told).T).max() == 0


def test_reachable_is_seen_from_the_report_before():
    mechanism = ngram(GRID, 2.0, 0.3)
    told = mechanism.perturb(uniform_paths(SQUARE, 200, 5, rng()), rng()).places.reshape(200, 5, 2)
    assert np.hypot(*(told[:, 1:] - told[:, :-1]).transpose(2, 0, 1)).max() <= 0.3 + 1e-12


def test_points_outside_or_repeated_are_refused():
    with pytest.raises(InvalidInput, match="row 2"):
        Points(SQUARE, np.array([[0.5, 0.5], [1.5, 0.5]]))
    with pytest.raises(InvalidInput, match="each once"):
        Points(SQUARE, np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.1]]))


def test_tracs_d_loses_to_the_strawman_only_where_that_spends_more():
    """Average errors on 300 paths of 100 uniform points, seed 4, at eps = 6."""
    paths = uniform_paths(SQUARE, 300, 100, rng(4))
    errors = [
        np.hypot(*(m.perturb(paths, rng(5)).places - paths.places).T).mean()
        for m in (tracs_d(SQUARE, 6.0), strawman(SQUARE, 6.0))
    ]
    assert errors[0] < 0.9 * errors[1]
