"""What sets of cells of a grid can have in its parts: against all sets, and against projections made by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.exact.grids import Grid, greatest_by_pairs

SHAPES = [(2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3), (5,)]


def _parts(grid: Grid) -> list[np.ndarray]:
    """Projections as Kronecker products of averages and what is left of them, added up by class."""
    found = [np.zeros((grid.size, grid.size)) for _ in grid.classes]
    for chosen in product((0, 1), repeat=len(grid.shape)):
        matrix = np.ones((1, 1))
        for size, is_in in zip(grid.shape, chosen, strict=True):
            mean = np.full((size, size), 1 / size)
            matrix = np.kron(matrix, np.eye(size) - mean if is_in else mean)
        counts = tuple(sum(c for c, own in zip(chosen, grid.shape, strict=True) if own == size) for size in grid.sizes)
        found[grid.classes.index(counts)] += matrix
    return found


@pytest.mark.parametrize("shape", [*SHAPES, (4, 2, 3), (3, 3, 2)])
def test_characters_are_those_of_kronecker_products(shape: tuple[int, ...]) -> None:
    grid = Grid(shape)
    for part, (characters, valency) in zip(
        _parts(grid), zip(grid.characters, grid.valencies, strict=True), strict=True
    ):
        assert characters.astype(float)[grid.relation] / grid.size == pytest.approx(part, abs=1e-12)
        assert np.trace(part) == pytest.approx(valency)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_set_keeps_every_inequality(shape: tuple[int, ...]) -> None:
    grid = Grid(shape)
    left, right = grid.inequalities
    for bits in product((False, True), repeat=grid.size):
        pairs = grid.counted(np.array(bits))[1:]
        assert (left @ pairs <= right[sum(bits)]).all()


@settings(max_examples=60)
@given(st.sampled_from(SHAPES), st.integers(0, 10**6), st.integers(1, 3), st.floats(1.01, 20))
def test_no_multipliers_prove_less_than_the_best_row(shape: tuple[int, ...], seed: int, count: int, c: float) -> None:
    grid, rng = Grid(shape), np.random.default_rng(seed)
    weights = rng.integers(0, 9, len(grid.classes) - 1)
    multipliers = rng.exponential(1.0, (count, len(grid.inequalities.left) + 1)) * rng.choice([0.0, 1.0], (count, 1))
    multipliers[:, 0] = rng.normal(0, 3, count)
    ratio = Fraction(c)
    bounds = greatest_by_pairs(grid, [Fraction(int(w)) for w in weights], multipliers, ratio)
    square = sum(w * part for w, part in zip(weights, _parts(grid)[1:], strict=True))
    rows = 1 + (c - 1) * np.array(list(product((0.0, 1.0), repeat=grid.size)))
    attained = np.einsum("ij,ij->i", rows @ square, rows) / rows.mean(axis=1) ** 2
    sizes = np.array([sum(bits) for bits in product((0, 1), repeat=grid.size)])
    for size, bound in enumerate(bounds):
        assert attained[sizes == size].max() <= float(bound) * (1 + 1e-9) + 1e-9


def test_multipliers_with_a_wrong_sign_or_of_another_shape_are_refused() -> None:
    grid = Grid((2, 2))
    count, weights = len(grid.inequalities.left) + 1, [Fraction(1)] * 2
    for wrong in (
        np.full((1, count), -1.0),
        np.zeros((1, count + 1)),
        np.zeros((0, count)),
        np.full((1, count), np.nan),
    ):
        with pytest.raises(CheckFailed):
            greatest_by_pairs(grid, weights, wrong, Fraction(2))


@pytest.mark.parametrize("shape", [(), (1, 3), (2,) * 11, (1025,)])
def test_grids_that_are_too_large_or_have_no_choice_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(CheckFailed):
        Grid(shape)
