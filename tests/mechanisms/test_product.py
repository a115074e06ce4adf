"""Independent mechanisms side by side: every method of a mechanism works, or says what to call."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign import Absolute, Circle, Interval, InvalidInput, Squared, solve
from mechdesign.mechanisms import Product, catalogue as c
from mechdesign.mechanisms.protocol import require_scalar
from mechdesign.words import priors
from tests.methods import problems

PAIR = Product((c.pm(1.0, Interval(-1, 1)), c.sw(2.0, Interval(0, 1))))
X = np.array([[0.5, 0.25], [-1.0, 1.0]])


@pytest.mark.parametrize("method", ["mean", "variance"])
def test_means_and_variances_are_those_of_the_coordinates(method: str) -> None:
    expected = [getattr(part, method)(X[:, k]) for k, part in enumerate(PAIR.parts)]
    assert np.array_equal(getattr(PAIR, method)(X), np.stack(expected, axis=-1))


def test_second_moments_are_variances_and_squared_means() -> None:
    assert PAIR.moment(X, 2) == pytest.approx(PAIR.variance(X) + PAIR.mean(X) ** 2)


def test_the_cdf_is_the_product_of_those_of_the_coordinates_and_quantiles_invert_each() -> None:
    levels = np.array([[0.3, 0.6], [0.9, 0.1]])
    y = PAIR.quantile(levels, X)
    assert PAIR.cdf(y, X) == pytest.approx(levels.prod(axis=1))


def test_a_density_has_no_mass_and_its_integral_over_a_box_is_that_of_the_cdf() -> None:
    lower = [float(part.outputs.lower) for part in PAIR.parts]
    top = np.array([0.2, 0.7])
    grids = [np.linspace(a, b, 1001) for a, b in zip(lower, top, strict=True)]
    middles = [(grid[:-1] + grid[1:]) / 2 for grid in grids]
    box = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    cell = math.prod(float(grid[1] - grid[0]) for grid in grids)
    assert PAIR.density(box, X[0]).sum() * cell == pytest.approx(float(PAIR.cdf(top, X[0])), rel=2e-3)
    assert PAIR.mass(top, X[0]) == 0


def test_break_points_and_averages_are_taken_coordinate_by_coordinate() -> None:
    losses = [Squared(), Absolute()]
    parts = list(zip(PAIR.parts, losses, strict=True))
    assert PAIR.breakpoints(losses) == tuple(part.breakpoints(loss) for part, loss in parts)
    laws = [priors.normal(0.2, 0.1, Interval(-1, 1)), priors.uniform(Interval(0, 1))]
    expected = sum(part.average_loss(loss, law) for (part, loss), law in zip(parts, laws, strict=True))
    assert PAIR.average_loss(losses, laws) == pytest.approx(expected)


@pytest.mark.parametrize("method", ["worst_case", "average_loss", "breakpoints"])
def test_one_loss_for_all_coordinates_is_refused_with_what_to_call(method: str) -> None:
    polar = solve(problems.polar(2.0, angles=Circle(360.0))).mechanism
    with pytest.raises(InvalidInput, match=r"one a coordinate .*\[Squared\(\), Squared\(360\.0\)\]"):
        getattr(polar, method)(Absolute())
    getattr(polar, method)([Squared(), Squared(360.0)])


def test_one_prior_for_all_coordinates_is_refused() -> None:
    with pytest.raises(InvalidInput, match="2 priors, one a coordinate"):
        PAIR.average_loss([Squared(), Squared()], priors.uniform(Interval(0, 1)))  # type: ignore[arg-type]


@pytest.mark.parametrize("ask", ["mean", "variance"])
def test_means_of_angles_are_refused(ask: str) -> None:
    polar = solve(problems.polar(2.0)).mechanism
    with pytest.raises(InvalidInput, match="circular loss"):
        getattr(polar, ask)([0.5, 1.0])


def test_where_one_number_is_wanted_a_product_says_where_those_are() -> None:
    with pytest.raises(InvalidInput, match=r"take one number.*\.parts"):
        require_scalar(PAIR)
    assert require_scalar(PAIR.parts[0]) is PAIR.parts[0]
