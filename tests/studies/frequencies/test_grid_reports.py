"""Two or three numbers as a place on a grid: reports without bias, intervals that hold the means, and the errors."""

from __future__ import annotations

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import FileProblem
from mechdesign.studies.frequencies.grid_reports import GridCollection
from mechdesign.studies.frequencies.vector_designs import Guesses, VectorDesign, vector_designs
from mechdesign.words.domains import Interval
from tests.methods.problems import several

SIDES = (Interval(18, 90), Interval(0, 1))
LAWS = ("normal:54,20", "normal:0.3,0.1")


@pytest.fixture(scope="module")
def saved() -> md.Design:
    return md.solve(several(2.0), method="cube", levels=5)


@pytest.fixture(scope="module")
def found(saved: md.Design) -> VectorDesign:
    guesses = Guesses(LAWS, SIDES)
    return vector_designs(2.0, SIDES, (1.0, 1.0), guesses, by_guess=False, by="grid", saved=saved)[0]


def sent(found: VectorDesign, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return found.collection.reports(values, rng.random, lambda places: found.design.own_law.sample(places, rng))


def test_estimates_have_no_bias_at_any_place(found: VectorDesign) -> None:
    own = found.collection
    assert isinstance(own, GridCollection)
    exact = [
        float(sum(p * e for p, e in zip(row, own.estimates[:, 0], strict=True))) for row in own.channel.exact_rows()
    ]
    assert exact == pytest.approx(np.repeat(np.linspace(-1, 1, 5), 5), abs=1e-9)
    assert own.moments.sum(axis=1).max() - 2 <= found.worst


def test_people_are_rounded_to_the_places_around_them_without_bias(found: VectorDesign) -> None:
    """Uniform numbers on a grid: shares are met up to a step of it."""
    own = found.collection
    assert isinstance(own, GridCollection)
    marks = np.repeat((np.arange(1000) + 0.5)[:, None] / 1000, 2, axis=1)
    for value, cells in (((30.0, 0.9), (1 / 6 * 4, 3.6)), ((18.0, 0.0), (0, 0)), ((90.0, 1.0), (4, 4))):
        places = own.places(np.tile(value, (1000, 1)), marks)
        assert np.mean(np.divmod(places, 5), axis=1) == pytest.approx(cells, abs=2e-3)


def test_reports_have_the_mean_and_no_more_than_the_variance_that_is_said(found: VectorDesign) -> None:
    """Seed 3, n = 200,000 people who hold the same: comparisons of 5 standard errors, and of variances 2% above what is
    said, of which the standard error is 0.3%."""
    values = np.tile([30.0, 0.9], (200_000, 1))
    means = found.collection.means(sent(found, values, np.random.default_rng(3)), 0.95)
    total = 0.0
    for one, value, side in zip(means, values[0], SIDES, strict=True):
        assert one.standard_error is not None
        assert abs(one.value - value) <= 5 * one.standard_error
        total += 200_000 * (one.standard_error / side.length * 2) ** 2
    assert total <= 1.02 * found.worst


def test_intervals_hold_the_means_as_often_as_they_say_and_are_within_the_reach(found: VectorDesign) -> None:
    """Seed 6, 400 collections of 500 people, two numbers: of 800 intervals of 95% at least 92.5% hold, which all but
    one in 1,000 such runs have; intervals that are too short by a fifth hold in 88%."""
    rng = np.random.default_rng(6)
    values = np.column_stack([rng.uniform(18, 60, 500), rng.random(500) ** 2])
    hits = 0
    for _ in range(400):
        means = found.collection.means(sent(found, values, rng), 0.95)
        hits += sum(bool(one.covers(truth)) for one, truth in zip(means, values.mean(axis=0), strict=True))
        for one, reach in zip(means, found.collection.reach(500, 0.95), strict=True):
            assert one.standard_error is not None
            assert 1.96 * one.standard_error <= 1.2 * reach
    assert hits >= 0.925 * 800


def test_the_error_expected_is_that_of_people_who_are_as_guessed(found: VectorDesign) -> None:
    """Seed 4, n = 200,000: off by 2% in fewer than 1e-5 of all runs."""
    rng, own = np.random.default_rng(4), found.collection
    assert isinstance(own, GridCollection)
    held = np.column_stack([rng.normal(54, 20, 400_000), rng.normal(0.3, 0.1, 400_000)])
    held = held[(held >= [18, 0]).all(axis=1) & (held <= [90, 1]).all(axis=1)][:200_000]
    units = (held - own.middles) / own.halves
    errors = (own.estimates[sent(found, held, rng)[:, 0].astype(int)] - units) ** 2
    assert errors.sum(axis=1).mean() == pytest.approx(found.expected, rel=0.02)
    assert found.expected <= found.worst


def test_a_design_of_another_problem_or_method_is_refused(saved: md.Design) -> None:
    guesses = Guesses(LAWS, SIDES)
    for epsilon, design in ((2.5, saved), (2.0, md.solve(several(2.0)))):
        with pytest.raises(FileProblem, match="be that of these options, by a grid"):
            vector_designs(epsilon, SIDES, (1.0, 1.0), guesses, by_guess=False, by="grid", saved=design)
