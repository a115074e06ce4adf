"""Directions in closed form: the numbers of the theorem, the best sizes of sets, and what is said of them."""

from __future__ import annotations

import math
import re

import pytest

import mechdesign as md
from mechdesign import InvalidInput
from mechdesign.methods.sign_patterns.rivals import vector_rivals
from tests.methods.problems import vectors


@pytest.mark.parametrize(("epsilon", "noise"), [(1.0, 6.3265), (2.0, 1.6154), (4.0, 0.4346)])
def test_the_variance_of_1024_coordinates_is_known_to_the_last_digits(epsilon: float, noise: float) -> None:
    found = md.solve(vectors(epsilon, md.Sphere(1024)), gap=1e-9).certificate
    assert found.lower / 1024 == pytest.approx(noise, abs=5e-5)
    assert found.upper / 1024 == pytest.approx(noise, abs=5e-5)
    assert not found.claimed


@pytest.mark.parametrize("count", [2, 3, 17, 400])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.5, 6.0])
def test_signed_sets_have_the_best_of_all_sizes(count: int, epsilon: float) -> None:
    gain = math.expm1(epsilon)
    best = min((2 * count + gain * size) ** 2 / (gain**2 * size) for size in range(1, count + 1))
    found = md.solve(vectors(epsilon, md.CrossPolytope(count))).certificate
    assert found.upper == pytest.approx(best, rel=1e-9)
    assert found.lower == pytest.approx(best - 1, rel=1e-9, abs=1e-9)


def test_corners_of_a_cube_inside_the_ball_are_no_harder_than_the_ball() -> None:
    """PrivUnit on the ball around a cube is the design for a ball of that radius: both are the same numbers."""
    rival = next(one for one in vector_rivals(2.0, 10) if one.name.startswith("privunit"))
    sphere = md.solve(vectors(2.0, md.Sphere(10, math.sqrt(10.0)))).certificate
    assert rival.worst([1.0] * 10) == pytest.approx(sphere.upper + 10)


@pytest.mark.parametrize("epsilon", [1e-3, 8.0])
@pytest.mark.parametrize("inputs", [md.Sphere(2), md.Ball(100_000), md.CrossPolytope(100_000)], ids=str)
def test_the_ends_of_what_is_answered_are_answered(epsilon: float, inputs: md.Ball) -> None:
    found = md.solve(vectors(epsilon, inputs)).certificate
    assert 0 <= found.lower <= found.upper < math.inf
    assert found.privacy_loss <= epsilon


@pytest.mark.parametrize(
    ("inputs", "said"),
    [(md.Sphere(3), "a direction, with chance .* one of the cap above"), (md.CrossPolytope(9), "3 signed coordinates")],
)
def test_the_summary_says_how_reports_are_drawn(inputs: md.Sphere, said: str) -> None:
    assert re.search(said, md.solve(vectors(2.0, inputs)).summary())


def test_no_table_is_made_of_directions() -> None:
    with pytest.raises(InvalidInput, match=r"finitely many reports.*sign patterns"):
        md.make_table(md.solve(vectors(2.0, md.Sphere(3))))
