"""Planar Laplace noise is enclosed: closed forms and fine sums lie between the ends, wherever the places are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import quad
from scipy.special import k1

from mechdesign.methods.pairwise.planar import Plane, masses, planar_laplace
from mechdesign.methods.pairwise.rivals import Measured
from mechdesign.words.criteria import Average, named_criterion
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.places import distances
from mechdesign.words.problem import Problem


def holds(found: Measured, value: float) -> bool:
    return found.lower <= value <= found.upper


def beyond_a_line(distance: float) -> float:
    """The chance that noise of rate 1 passes a line: its part across the line has the density ``|t| K_1(|t|) / pi``."""
    return quad(lambda t: t * k1(t) / math.pi, distance, np.inf, epsabs=1e-12, epsrel=1e-12)[0]


@pytest.mark.parametrize(("exponent", "moment"), [(1.0, 2.0), (2.0, 6.0)])
def test_noise_as_it_is_loses_its_moment_and_the_others_are_narrow(exponent: float, moment: float) -> None:
    problem = Problem(loss=Distances(exponent), privacy=Metric([(0, 0), (2, 0), (0, 2)], 0.5), criterion=Average())
    plain, nearest, best = planar_laplace(problem)
    assert plain.lower == plain.upper == pytest.approx(moment / 0.5**exponent)
    for found in (nearest, best):
        assert found.lower <= found.upper <= found.lower * 1.02
    assert best.lower <= nearest.upper <= plain.upper


def test_a_moment_that_is_no_double_lies_between_its_neighbours() -> None:
    plain = planar_laplace(Problem(loss=Distances(), privacy=Metric([(0, 0), (1, 0)], 0.3), criterion=Average()))[0]
    assert math.nextafter(plain.lower, math.inf) == plain.upper


@pytest.mark.parametrize("criterion", ["prior", "worst"])
@pytest.mark.parametrize("corner", [(0.0, 0.0), (-3e6, 7e5)])
@pytest.mark.parametrize(("apart", "rate", "turn"), [(1.5, 1.0, 0.0), (0.25, 2.0, 0.4), (6.0, 1.0, 1.1)])
def test_two_places_are_confused_with_the_chance_of_a_half_plane(
    apart: float, rate: float, turn: float, corner: tuple[float, float], criterion: str
) -> None:
    places = np.array([corner, (corner[0] + apart * math.cos(turn), corner[1] + apart * math.sin(turn))])
    true = math.dist(*places)
    for found in planar_laplace(
        Problem(loss=Distances(), privacy=Metric(places, rate), criterion=named_criterion(criterion))
    )[1:]:
        assert holds(found, true * beyond_a_line(rate * true / 2))
        assert found.upper - found.lower < 0.02 * true


@given(st.lists(st.integers(1, 9), min_size=4, max_size=4), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=4, deadline=None)
def test_remaps_are_what_a_fine_sum_over_reports_says(weights: list[int], rate: float) -> None:
    """A midpoint sum at a thirtieth of the decay length is off by less than 1e-4 here, the ends are further apart."""
    points, prior = np.array([(0.0, 0.0), (1.0, 0.0), (0.3, 1.2), (2.0, 1.0)]), np.array(weights) / sum(weights)
    found = planar_laplace(Problem(loss=Distances(), privacy=Metric(points, rate), criterion=Average(prior)))
    step = 1 / (30 * rate)
    axes = [np.arange(a - 12 / rate, b + 12 / rate, step) for a, b in ((0, 2), (0, 1.2))]
    reports = np.stack([part.ravel() for part in np.meshgrid(*axes)], axis=1)
    chances = prior[:, None] * np.exp(-rate * distances(points, reports)) * (rate * step) ** 2 / (2 * math.pi)
    losses = distances(points, points)
    best = float((chances.T @ losses).min(axis=1).sum())
    nearest = float((chances * losses[:, distances(reports, points).argmin(axis=1)]).sum())
    assert found[1].lower - 1e-3 <= nearest <= found[1].upper + 1e-3
    assert found[2].lower - 2e-4 <= best <= found[2].upper + 2e-4
    assert found[2].upper - found[2].lower < 0.01


def test_squares_hold_the_mass_that_a_finer_sum_gives_them() -> None:
    middles = np.array([(0.0, 0.0), (0.5, 0.0), (1.5, -2.5), (-3.0, 4.0)])
    low, high = masses(np.zeros((1, 2)), middles, 0.5)
    fine = (np.arange(500) + 0.5) / 1000 - 0.25
    across, along = np.meshgrid(fine, fine)
    for k, (x, y) in enumerate(middles.tolist()):
        mass = float(np.exp(-np.hypot(x + across, y + along)).sum()) * 1e-6 / (2 * math.pi)
        assert low[0, k] <= mass <= high[0, k]


def test_places_that_would_need_too_many_squares_are_told_the_first_only() -> None:
    assert (
        len(planar_laplace(Problem(loss=Distances(), privacy=Metric([(0, 0), (1e7, 1e7)], 1.0), criterion=Average())))
        == 1
    )


def test_a_square_that_two_places_share_is_not_said_to_lose_more_than_its_parts() -> None:
    """Cut finely a square between two places loses less than it would as a whole: its least loss may not be more."""
    plane = Plane.of(Problem(loss=Distances(), privacy=Metric([(0, 0), (3, 0)], 1.0), criterion=Average([0.5, 0.5])))
    assert plane is not None
    between = plane.inputs.mean(axis=0)[None, :]
    parts = (np.arange(100) + 0.5) / 100 - 0.5
    fine = between + np.stack([part.ravel() for part in np.meshgrid(parts, parts)], axis=1)
    for ends_of in (plane.nearest, plane.remapped):
        low, high = ends_of(between, 1.0)
        least, most = (float(part.sum()) for part in ends_of(fine, 0.01))
        assert low[0] <= most
        assert least <= high[0]
        assert most < 1.06 * least
        assert high[0] > 1.05 * low[0]
