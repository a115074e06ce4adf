"""Rivals: what they spend, exactly, as they should be and as the published code samples them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.trajectory.discrete_rivals import (
    ATP,
    Points,
    channel_loss,
    exponential,
    grid_points,
    ngram,
    staircase,
)
from mechdesign.trajectory.paths import Paths, uniform_paths
from mechdesign.trajectory.regions import Rectangle
from mechdesign.trajectory.rivals import PlanarLaplace, published_sectors, published_strawman, strawman
from mechdesign.trajectory.tracs import DIRECTIONS, tracs_d

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


def test_atp_spends_at_most_epsilon_on_the_middle_of_three_locations():
    """A path of three on 4 points: the law of all reports given the middle point, by 60,000 runs from each of the four
    (seed 3). Every report of three has a chance above .004, so the allowance of 30% is six standard errors."""
    points, epsilon, count = grid_points(SQUARE, 2), 4.0, 60_000
    law = []
    for middle in range(4):
        path = points.table[[0, middle, 3]]
        told = ATP(points, epsilon).perturb(Paths.of([path] * count), rng(3))
        numbers = points.of(told.places).reshape(count, 3)
        law.append(np.bincount(numbers[:, 1], minlength=4) / count)
    table = np.array(law)
    assert (table.max(axis=0) / table.min(axis=0)).max() < math.exp(epsilon) * 1.3


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
