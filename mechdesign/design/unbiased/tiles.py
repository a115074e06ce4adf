"""Symmetric systems of a few hundred unknowns, in tiles so small that no BLAS spreads them over threads.

At this size threads gain nothing on a quiet machine, and on a busy one (parallel tests, a container with fewer cores
than it shows) threads that wait for each other made interior-point steps 40 times slower. All products here are of
64 x 64 tiles, which one thread computes at full speed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TILE = 64


def gram(columns: Floats) -> Floats:
    """``columns^T columns``.

    >>> gram(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[10.0, 14.0], [14.0, 20.0]]
    """
    size, count = columns.shape
    down, across = -(-size // _TILE), -(-count // _TILE)
    padded = np.zeros((down * _TILE, across * _TILE))
    padded[:size, :count] = columns
    tiles = np.ascontiguousarray(padded.reshape(down, _TILE, across, _TILE).transpose(2, 0, 1, 3))
    turned = np.ascontiguousarray(tiles.transpose(0, 1, 3, 2))
    product = np.empty((across, _TILE, across, _TILE))
    for i in range(across):
        for j in range(i + 1):
            tile = np.matmul(turned[i], tiles[j]).sum(axis=0)
            product[i, :, j], product[j, :, i] = tile, tile.T
    return product.reshape(across * _TILE, across * _TILE)[:count, :count]


class Cholesky:
    """The factor of a symmetric positive definite matrix; `numpy.linalg.LinAlgError` if it is not.

    >>> Cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])).solve(np.array([8.0, 8.0])).tolist()
    [1.5, 1.0]
    """

    def __init__(self, matrix: Floats) -> None:
        cuts = [*range(0, len(matrix), _TILE), len(matrix)]
        self.parts = [slice(*ends) for ends in zip(cuts[:-1], cuts[1:], strict=True)]
        self.below: list[list[Floats]] = []  # below[i][k]: the tile of the factor in row i and column k < i
        self.inverses: list[Floats] = []  # of the tiles on its diagonal
        for i, row in enumerate(self.parts):
            tiles: list[Floats] = []
            for k in range(i):
                rest = matrix[row, self.parts[k]] - _products(tiles, self.below[k])
                tiles.append(rest @ self.inverses[k].T)
            corner = matrix[row, row] - _products(tiles, [tile.copy() for tile in tiles])
            self.inverses.append(np.linalg.inv(np.linalg.cholesky(corner)))
            self.below.append(tiles)

    def solve(self, right: Floats) -> Floats:
        answer = right.copy()
        for i, part in enumerate(self.parts):
            for k in range(i):
                answer[part] -= self.below[i][k] @ answer[self.parts[k]]
            answer[part] = self.inverses[i] @ answer[part]
        for i in reversed(range(len(self.parts))):
            part = self.parts[i]
            for k in range(i + 1, len(self.parts)):
                answer[part] -= self.below[k][i].T @ answer[self.parts[k]]
            answer[part] = self.inverses[i].T @ answer[part]
        return answer


def _products(left: list[Floats], right: list[Floats]) -> Floats | float:
    return sum((a @ b.T for a, b in zip(left, right, strict=False)), 0.0)
