"""Directions: unbiased, as noisy as is said, with two densities, as enumeration, integrals and samples have it."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign import InvalidInput
from mechdesign.mechanisms.directions import CapReports, DirectionResponse, SignedSets


def _sets(count: int, size: int) -> np.ndarray:
    """All signed sets as directions."""
    rows = []
    for places in combinations(range(count), size):
        for signs in product((-1.0, 1.0), repeat=size):
            row = np.zeros(count)
            row[list(places)] = signs
            rows.append(row / math.sqrt(size))
    return np.array(rows)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("x", [[2.0, 0, 0, 0], [0.5, -0.75, 0.0, 0.25], [0.0] * 4])
def test_all_signed_sets_together_are_unbiased_and_private(size: int, x: list[float]) -> None:
    law = DirectionResponse(1.5, md.CrossPolytope(4, 2.0), SignedSets(size), math.exp(1.5) * (1 - 1e-12))
    reports = law.scale * _sets(4, size)
    chances = law.mass(reports, x)
    assert chances.sum() == pytest.approx(1)
    assert chances @ reports == pytest.approx(np.array(x))
    assert chances @ reports**2 == pytest.approx(law.moment(x, 2))
    assert chances @ ((reports - x) ** 2).sum(axis=1) == pytest.approx(float(law.expected_loss(x, md.Squared())))
    other = law.mass(reports, [0, 0, 0, -2.0])
    assert max((chances / other).max(), (other / chances).max()) <= math.exp(1.5)


@pytest.mark.parametrize("kind", [md.Sphere, md.Ball])
@pytest.mark.parametrize("height", [0.0, 0.4, 0.9])
def test_the_density_on_a_circle_is_unbiased_and_private(kind: Any, height: float) -> None:
    law = DirectionResponse(1.0, kind(2, 3.0), CapReports(height), 2.7)
    x = np.array([1.8, 2.4]) * (1.0 if kind is md.Sphere else 0.5)
    angles = (np.arange(400_000) + 0.5) * 2 * math.pi / 400_000
    reports = law.scale * np.column_stack([np.cos(angles), np.sin(angles)])
    density = law.density(reports, x)
    assert density.mean() == pytest.approx(1, rel=1e-4)
    assert (density[:, None] * reports).mean(axis=0) == pytest.approx(x, rel=1e-4)
    assert (density[:, None] * reports**2).mean(axis=0) == pytest.approx(law.moment(x, 2), rel=1e-4)
    assert density.max() / density.min() <= 2.7 * (1 + 1e-12)
    assert law.mass(reports[:2], x).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "law",
    [
        DirectionResponse(1.0, md.Sphere(2), CapReports(0.3), 2.7),
        DirectionResponse(2.0, md.Sphere(50, 2.0), CapReports(0.2), 7.3),
        DirectionResponse(2.0, md.Ball(5), CapReports(0.5), 7.3),
        DirectionResponse(1.0, md.CrossPolytope(5), SignedSets(5), 2.7),
        DirectionResponse(3.0, md.CrossPolytope(9), SignedSets(2), 20.0),
    ],
    ids=lambda law: f"{law.inputs} {law.reports}",
)
def test_samples_have_the_mean_the_squares_and_the_length_of_the_law(law: DirectionResponse) -> None:
    """Seed 11, n = 40,000: of 142 comparisons one is off by more than 5 standard errors with a chance below 1e-4; a
    chance of favoured reports that is off by .02 is found with a chance above .99."""
    x = np.zeros(law.inputs.count)
    x[:2] = law.inputs.radius * np.array([0.6, -0.8] if isinstance(law.inputs, md.Sphere) else [0.3, -0.5])
    found = law.sample(x, np.random.default_rng(11), 40_000)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.full(len(found), law.scale))
    for values, wanted in ((found, law.mean(x)), (found**2, law.moment(x, 2))):
        assert (abs(values.mean(axis=0) - wanted) <= 5 * values.std(axis=0) / 200 + 1e-12).all()
    own = law.inputs.corner(np.tile(x, (40_000, 1)), np.random.default_rng(12))
    reports = law.sample(law.inputs.radius * own, np.random.default_rng(13)) / law.scale
    height = law.reports.height if isinstance(law.reports, CapReports) else 0.0
    share = ((reports * own).sum(axis=1) > height).mean()
    assert abs(share - law.favoured) <= 5 * math.sqrt(law.favoured * (1 - law.favoured)) / 200


def test_the_worst_input_and_the_average_are_those_of_the_expected_loss() -> None:
    for inputs in (md.Sphere(6, 2.0), md.Ball(6, 2.0), md.CrossPolytope(6, 2.0)):
        reports = SignedSets(2) if isinstance(inputs, md.CrossPolytope) else CapReports(0.4)
        law = DirectionResponse(1.0, inputs, reports, 2.7)
        worst, place = law.worst_case(md.Squared())
        assert float(law.expected_loss(place, md.Squared())) == pytest.approx(worst)
        assert law.average_loss(md.Squared()) == pytest.approx(law.scale**2 - 4 * inputs.mean_square)
        assert law.variance(place).sum() == pytest.approx(worst)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DirectionResponse(1.0, md.Sphere(3), CapReports(0.5), 1.0),
        lambda: DirectionResponse(1.0, md.Sphere(3), SignedSets(1), 2.0),
        lambda: DirectionResponse(1.0, md.CrossPolytope(3), CapReports(0.1), 2.0),
        lambda: DirectionResponse(1.0, md.CrossPolytope(3), SignedSets(4), 2.0),
        lambda: CapReports(1.0),
        lambda: CapReports(-0.1),
        lambda: SignedSets(0),
        lambda: DirectionResponse(1.0, md.Sphere(90_000), CapReports(0.9), 2.0).scale,
    ],
)
def test_what_makes_no_law_is_refused(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()


def test_questions_that_directions_have_no_answer_to_are_refused() -> None:
    law = DirectionResponse(1.0, md.Sphere(3), CapReports(0.5), 2.0)
    x = [1.0, 0.0, 0.0]
    for ask in (
        lambda: law.cdf(x, x),
        lambda: law.quantile([0.5] * 3, x),
        lambda: law.moment(x, 3),
        lambda: law.expected_loss(x, md.Absolute()),
        lambda: law.average_loss(md.Squared(), "normal"),
        lambda: law.sample([x, x], np.random.default_rng(1), 2),
    ):
        with pytest.raises(InvalidInput):
            ask()
