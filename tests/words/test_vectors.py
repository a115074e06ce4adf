"""Vectors of bounded length: what is held, what is refused without being shown, and corners without bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mechdesign as md
from mechdesign import InvalidInput
from mechdesign.errors import InvalidData

KINDS = (md.Sphere, md.Ball, md.CrossPolytope)
INSIDE = {md.Sphere: [0.6, -0.8, 0.0], md.Ball: [0.3, -0.4, 0.2], md.CrossPolytope: [0.3, -0.4, 0.2]}


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_held_as_they_are_and_too_long_ones_refused_by_their_row(kind: Any) -> None:
    inside = 2.0 * np.array(INSIDE[kind])
    domain = kind(3, 2.0)
    assert domain.require(inside).tolist() == inside.tolist()
    with pytest.raises(InvalidData, match=r"x\[1\] must have.*1 of 2 vectors") as refused:
        domain.require([inside, 1.5 * inside + 1.7])
    assert "1.7" not in str(refused.value)
    with pytest.raises(InvalidInput, match="3 coordinates"):
        domain.require([1.0, 0.0])
    with pytest.raises(InvalidInput, match="be a number"):
        domain.require([1.0, 0.0, float("nan")])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("said", [(1,), (2.5,), (3, 0.0), (3, -1.0), (3, float("inf"))])
def test_no_coordinates_and_no_radius_are_refused(kind: Any, said: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidInput):
        kind(*said)


@pytest.mark.parametrize(
    ("kind", "at_zero"), [*((kind, False) for kind in KINDS), (md.Ball, True), (md.CrossPolytope, True)]
)
def test_corners_have_length_1_and_the_vector_as_their_mean(kind: Any, at_zero: bool) -> None:
    """Seed 3, n = 40,000: a coordinate is off by more than 5 standard errors with a chance below 6e-7, of 15."""
    x = 2.0 * np.array(INSIDE[kind]) * (not at_zero)
    found = kind(3, 2.0).corner(np.tile(x, (40_000, 1)), np.random.default_rng(3))
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(found)))
    assert (abs(found.mean(axis=0) - x / 2) <= 5 * found.std(axis=0) / 200 + 1e-12).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_square_is_that_of_uniform_vectors(kind: Any) -> None:
    """Seed 5, n = 40,000 points of a cube, those inside kept, or normal ones divided by their length."""
    rng = np.random.default_rng(5)
    if kind is md.Sphere:
        tried = rng.normal(size=(40_000, 3))
        tried /= np.linalg.norm(tried, axis=1, keepdims=True)
    else:
        tried = rng.uniform(-1, 1, (40_000, 3))
        tried = tried[np.linalg.norm(tried, axis=1, ord=1 if kind is md.CrossPolytope else 2) <= 1]
    squares = (tried**2).sum(axis=1)
    assert abs(squares.mean() - kind(3).mean_square) <= 5 * squares.std() / len(squares) ** 0.5 + 1e-12
