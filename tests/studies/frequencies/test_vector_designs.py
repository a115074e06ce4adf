"""Several numbers, some drawn and each reported as a number: reports, errors and the choice of a design."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.mechanisms.catalogue import hm
from mechdesign.studies.frequencies.number_reports import NumberCollection
from mechdesign.studies.frequencies.vector_designs import NUMBERS, Guesses, VectorDesign, vector_designs
from mechdesign.words.domains import Interval

SIDES = (Interval(18, 90), Interval(0, 1), Interval(-2, 2))


def by_numbers(epsilon: float, laws: tuple[str, ...], halves: tuple[float, ...]) -> VectorDesign:
    found = vector_designs(epsilon, SIDES, halves, Guesses(laws, SIDES), by_guess=True)
    return next(one for one in found if one.name.startswith(NUMBERS))


LAWS = ("normal:54,5", "normal:0.3,0.1", "normal:0,0.2")


def test_reports_of_drawn_numbers_have_the_mean_and_no_more_than_the_variance_that_is_said() -> None:
    """Seed 3, n = 200,000 people who hold the same: 3 comparisons of 5 standard errors and 3 of variances 3% above what
    is said, off by chance in 1e-5 of all runs; a bias of .02 of half a range is found with a chance above .99."""
    collection = by_numbers(4.0, LAWS, (1.0, 1.0, 1.0)).collection
    assert isinstance(collection, NumberCollection)
    rng, values = np.random.default_rng(3), np.tile([30.0, 0.9, 2.0], (200_000, 1))
    sent = collection.reports(values, rng.random, lambda units: collection.law.sample(units, rng))
    assert ((sent != 0).sum(axis=1) <= collection.drawn).all()
    worst = float(collection.worst)
    for found, value, side in zip(collection.means(sent, 0.95), values[0], SIDES, strict=True):
        assert found.standard_error is not None
        assert abs(found.value - value) <= 5 * found.standard_error
        assert 200_000 * (found.standard_error / side.length * 2) ** 2 <= 1.03 * worst


def test_the_error_expected_is_that_of_people_who_are_as_guessed() -> None:
    """Seed 4, n = 200,000: the squared errors of one report each, weighed; off by 2% in fewer than 1e-5 of all runs."""
    halves = (1.0, 2.0, 1.0)
    found = by_numbers(3.0, LAWS, halves)
    collection, rng, n = found.collection, np.random.default_rng(4), 200_000
    assert isinstance(collection, NumberCollection)
    held = np.column_stack([rng.normal(*one, n) for one in ((54, 5), (0.3, 0.1), (0, 0.2))])
    held = np.clip(held, [side.lower for side in SIDES], [side.upper for side in SIDES])
    sent = collection.reports(held, rng.random, lambda units: collection.law.sample(units, rng))
    units = (held - collection.middles) / collection.halves
    errors = (sent / collection.shares - units) ** 2 * np.array(halves) ** 2
    assert errors.sum(axis=1).mean() == pytest.approx(found.expected, rel=0.02)


@pytest.mark.parametrize("epsilon", [1.0, 2.5, 4.0])
def test_no_number_of_drawn_ones_with_hm_has_less_error_than_the_chosen_design(epsilon: float) -> None:
    """HM's variance is largest at the ends or the same everywhere: ``(d/k)(v(1) + 1) - 1`` of d = 3 with k drawn."""
    square = (Interval(-1, 1),) * 3
    found = vector_designs(epsilon, square, (1.0,) * 3, Guesses(("uniform",) * 3, square), by_guess=False)
    for drawn in (1, 2, 3):
        middle, end = hm(epsilon / drawn).variance(np.array([0.0, 1.0])).tolist()
        assert found[0].worst <= 1.001 * 3 * max(3 / drawn * middle, 3 / drawn * (end + 1) - 1)


def test_the_law_of_all_numbers_has_their_mean_squares_by_weight() -> None:
    """Rounding to 33 points keeps means, and adds at most a quarter of the square of a step."""
    guesses, halves = Guesses(LAWS, SIDES), (1.0, 3.0, 2.0)
    prior = guesses.prior(halves)
    weights = np.array([1.0, 9.0, 4.0]) / 14
    assert prior.weights @ prior.points == pytest.approx(weights @ guesses.means(lambda x: x), abs=1e-9)
    more = prior.weights @ prior.points**2 - weights @ guesses.means(np.square)
    assert 0 <= more <= (2 / 32) ** 2 / 4
