"""The picture of conditional noise: its table against the laws, and that it draws every kind of mechanism."""

from __future__ import annotations

import io

import numpy as np
import pytest

from mechdesign import catalogue
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.grid_prior import grid_weights
from mechdesign.methods.registry import solve
from mechdesign.plot.noise import noise_map, noise_table
from mechdesign.words.priors import normal
from tests.methods import problems

PRIOR = normal(0, 0.2, catalogue.SYMMETRIC)


@pytest.fixture(scope="module")
def noise() -> ConditionalNoise:
    mechanism = solve(problems.additive(2.0, PRIOR, bins=8)).mechanism
    assert isinstance(mechanism, ConditionalNoise)
    return mechanism


def test_the_table_holds_all_the_mass_and_the_variance_of_the_noise(noise: ConditionalNoise) -> None:
    cells, table = noise_table(noise.grid, noise.points, noise.rows())
    np.testing.assert_allclose(table.sum(axis=0), 1)
    np.testing.assert_allclose(cells @ table, 0, atol=1e-9)
    np.testing.assert_allclose(cells**2 @ table, noise.variance(noise.grid), rtol=1e-6)


def test_a_report_of_the_grid_has_a_cell_of_its_own() -> None:
    inputs = np.linspace(0.1, 0.7, 8)
    _, table = noise_table(inputs, inputs, np.eye(8)[::-1])
    assert (np.sort(table, axis=0)[-1] == 1).all()
    assert (table > 0).sum() == 8


def test_both_forms_are_drawn_with_titles_and_axes(noise: ConditionalNoise) -> None:
    free = solve(problems.unbiased_under(2.0, PRIOR), size=9).mechanism
    weights = grid_weights(PRIOR, catalogue.SYMMETRIC, 9)
    assert isinstance(free, UnbiasedWindow)
    for places, laws in ((noise.points, noise.rows()), (free.points, free.rows(noise.grid))):
        figure = noise_map(noise.grid, weights, places, laws, "cost: 2$")
        top, below = figure.axes[:2]
        assert "9 inputs" in top.get_title()
        assert (below.get_xlabel(), below.get_ylabel()) == ("input x", "noise A = Y - x")
        assert below.get_ylim()[0] < 0 < below.get_ylim()[1]
        figure.savefig(io.BytesIO(), format="png")
