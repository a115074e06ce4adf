"""Tiled linear algebra against numpy's own."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.design.unbiased.tiles import Cholesky, gram


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 130])
@pytest.mark.parametrize("size", [1, 64, 150])
def test_the_gram_matrix_is_numpy_s(count: int, size: int) -> None:
    columns = np.random.default_rng(count).normal(size=(size, count))
    assert np.abs(gram(columns) - columns.T @ columns).max() < 1e-12 * size


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 200])
def test_solutions_satisfy_the_system(count: int) -> None:
    rng = np.random.default_rng(count)
    matrix = gram(rng.normal(size=(2 * count + 5, count))) + 0.1 * np.eye(count)
    right = rng.normal(size=count)
    answer = Cholesky(matrix).solve(right)
    assert np.abs(answer - np.linalg.solve(matrix, right)).max() < 1e-9 * np.abs(answer).max()
    assert np.abs(matrix @ answer - right).max() < 1e-9


@pytest.mark.parametrize("place", [0, 70])
def test_a_matrix_that_is_not_positive_definite_is_refused(place: int) -> None:
    matrix = np.eye(100)
    matrix[place, place] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        Cholesky(matrix)
