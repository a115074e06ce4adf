"""Priors on equispaced inputs: rounding keeps mass and mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import Interval, catalogue
from mechdesign.errors import CheckFailed
from mechdesign.methods.grid_prior import grid_weights, weights_on_grid, with_grid_prior
from mechdesign.words.priors import Atoms, Density, beta, exponential, histogram, normal
from tests.methods import problems

S = catalogue.SYMMETRIC
PRIORS: dict[str, Density] = {
    "normal(0,0.1)": normal(0, 0.1, S),
    "normal(0,0.2)": normal(0, 0.2, S),
    "exponential(6) from -1": exponential(6, S),
    "beta(.5,.5)": beta(0.5, 0.5, S),
}


@given(st.lists(st.tuples(st.floats(-3, 5), st.floats(0.01, 1)), min_size=1, max_size=12), st.integers(3, 40))
@settings(deadline=None)
def test_rounding_atoms_keeps_their_mass_and_mean(data: list[tuple[float, float]], size: int) -> None:
    points, weights = np.array(data).T
    weights = weights / weights.sum()
    rounded = grid_weights(Atoms(points, weights), Interval(-3, 5), size)
    assert (rounded >= 0).all()
    assert rounded.sum() == pytest.approx(1)
    assert rounded @ np.linspace(-3, 5, size) == pytest.approx(points @ weights, abs=1e-12)


@pytest.mark.parametrize("name", list(PRIORS))
@pytest.mark.parametrize("size", [5, 33])
def test_rounding_a_density_keeps_its_mean(name: str, size: int) -> None:
    means = {"exponential(6) from -1": 1 / 6 - 1 - 2 / math.expm1(12)}
    rounded = grid_weights(PRIORS[name], S, size)
    assert rounded @ np.linspace(-1, 1, size) == pytest.approx(means.get(name, 0.0), abs=1e-8)


def test_rounding_the_arcsine_law_is_accurate_at_its_poles() -> None:
    """In the end cells, from the antiderivatives of the density and of x times the density."""
    grid = np.linspace(-1, 1, 33)
    mass = np.diff(np.arcsin(grid)) / math.pi
    moment = -np.diff(np.sqrt(np.maximum(1 - grid**2, 0))) / math.pi
    up = (moment - grid[:-1] * mass) / np.diff(grid)
    expected = np.append(mass - up, 0) + np.append(0, up)
    assert np.abs(grid_weights(PRIORS["beta(.5,.5)"], S, 33) - expected).max() < 1e-8


def test_a_histogram_inside_the_inputs_is_rounded_where_it_lives() -> None:
    rounded = grid_weights(histogram([0.2, 0.3, 0.5], [0.5, 0.5]), Interval(0, 1), 11)
    assert np.flatnonzero(rounded).tolist() == [2, 3, 4, 5]
    assert rounded[[2, 5]].tolist() == pytest.approx([0.25, 0.125])


@pytest.mark.parametrize("ends", [(0.1, 0.7), (-1, 1), (1.7e9, 1.7e9 + 86_400)])
@pytest.mark.parametrize("size", [7, 33])
def test_weights_on_the_inputs_are_kept_to_the_last_bit_far_from_zero_too(ends: tuple[float, float], size: int) -> None:
    weights = np.random.default_rng(3).random(size)
    prior = Atoms(np.linspace(*ends, size), weights / weights.sum())
    problem = problems.unbiased_under(1.0, prior, ends)
    assert with_grid_prior(problem, size) is problem
    assert weights_on_grid(problem, size).tolist() == prior.weights.tolist()


@pytest.mark.parametrize("name", list(PRIORS))
def test_a_prior_that_was_rounded_is_not_rounded_again(name: str) -> None:
    held = with_grid_prior(problems.unbiased_under(1.0, PRIORS[name]), 33)
    assert with_grid_prior(held, 33) is held
    assert weights_on_grid(held, 33).tolist() == grid_weights(PRIORS[name], S, 33).tolist()


@pytest.mark.parametrize("prior", [normal(0, 0.1, S), Atoms([0.3], [1.0])], ids=["density", "beside"])
def test_a_prior_that_is_not_on_the_inputs_is_not_taken_for_one(prior: Atoms | Density) -> None:
    with pytest.raises(CheckFailed, match="33 equispaced inputs"):
        weights_on_grid(problems.unbiased_under(1.0, prior), 33)
