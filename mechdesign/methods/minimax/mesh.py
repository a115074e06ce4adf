"""Masses on [0, 1] that are symmetric and piecewise linear between chosen nodes of a fine grid.

Optimal base measures and least-favourable priors are smooth but for a few jumps and atoms. So a design starts with few
nodes and adds some only where the density bends or jumps, down to the spacing of the fine grid: there a node is an
atom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

Floats = NDArray[np.float64]

_FIRST_CELLS = 32
_IDLE = 0.05  # cells whose indicator is below this share may be joined with a neighbour like them
_BULK = 0.15  # cells whose indicator is above this share of the largest are halved


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Nodes, as indices ``0 .. fine / 2`` of the grid with ``fine`` spacings on [0, 1]; the upper half is mirrored.

    A mass vector has one entry a node (the total mass of its hat function and the hat's mirror image) and one last
    entry for atoms at the two ends.

    >>> mesh = Mesh.coarse(128)
    >>> mesh.places().size, mesh.hats().shape
    (65, (65, 34))
    """

    fine: int
    nodes: NDArray[np.intp]

    @classmethod
    def coarse(cls, fine: int) -> Mesh:
        """Equal cells."""
        return cls(fine, np.unique(np.round(np.linspace(0, fine // 2, _FIRST_CELLS + 1)).astype(np.intp)))

    def places(self) -> Floats:
        """The fine grid on [0, 1/2]."""
        return np.asarray(np.arange(self.fine // 2 + 1) / self.fine)

    def hats(self) -> csr_array:
        """Columns of masses on the fine grid: hats of total mass 1, then the atom at 0."""
        shape = self._shape()
        scaled = csr_array(shape.multiply(1 / self._areas(shape)))
        scaled.eliminate_zeros()
        atom = csr_array(([1.0], ([0], [0])), shape=(shape.shape[0], 1))
        return csr_array(hstack([scaled, atom], format="csr"))

    def refined(self, masses: Floats) -> Mesh | None:
        """Cells across which the density of ``masses`` changes most are halved; None if no cell is left to halve."""
        density = masses[: self.nodes.size] / self._areas(self._shape())
        widths = np.diff(self.nodes)
        indicator = np.where(widths >= 2, np.abs(np.diff(density)) * widths.astype(np.float64) ** 2, 0.0)
        if not indicator.max(initial=0.0) > 0:
            return None
        chosen = indicator > _BULK * indicator.max()
        # a cell wider than a chosen neighbour would keep the neighbour's hat wide
        beside_left = np.concatenate([[False], chosen[:-1] & (widths[1:] > widths[:-1])])
        beside_right = np.concatenate([chosen[1:] & (widths[:-1] > widths[1:]), [False]])
        return self._halved(chosen | beside_left | beside_right)

    def coarsened(self, masses: Floats) -> Mesh:
        """Nodes between two cells across which the density hardly changes are dropped, but for those of `coarse`."""
        density = masses[: self.nodes.size] / self._areas(self._shape())
        indicator = np.abs(np.diff(density)) * np.diff(self.nodes).astype(np.float64) ** 2
        matters = indicator > _IDLE * indicator.max(initial=0.0)
        kept = np.concatenate([[True], matters[1:] | matters[:-1], [True]])
        return Mesh(self.fine, np.union1d(self.nodes[kept], Mesh.coarse(self.fine).nodes))

    def halved_where(self, values: Floats) -> Mesh | None:
        """Cells that hold the larger of positive ``values`` on the fine grid are halved; None if there are none."""
        largest = np.maximum.reduceat(values, self.nodes[:-1])
        return self._halved(largest > _BULK * max(0.0, float(values.max())))

    def _halved(self, chosen: NDArray[np.bool_]) -> Mesh | None:
        middles = (self.nodes[:-1] + self.nodes[1:])[chosen & (np.diff(self.nodes) >= 2)] // 2
        return Mesh(self.fine, np.union1d(self.nodes, middles)) if middles.size else None

    def finer(self) -> Mesh:
        """The same nodes on a grid of twice as many spacings."""
        return Mesh(2 * self.fine, 2 * self.nodes)

    def _shape(self) -> csr_array:
        """Hat functions of height 1; the middle of [0, 1] is its own mirror image and counts half."""
        grid = np.arange(self.fine // 2 + 1)
        cell = np.clip(np.searchsorted(self.nodes, grid, side="right") - 1, 0, self.nodes.size - 2)
        share = (grid - self.nodes[cell]) / (self.nodes[cell + 1] - self.nodes[cell])
        weight = np.where(grid == self.fine // 2, 0.5, 1.0)
        values = np.concatenate([(1 - share) * weight, share * weight])
        places = (np.concatenate([grid, grid]), np.concatenate([cell, cell + 1]))
        return csr_array((values, places), shape=(grid.size, self.nodes.size))

    @staticmethod
    def _areas(shape: csr_array) -> Floats:
        return np.asarray(shape.sum(axis=0), dtype=np.float64).ravel()


def excess(at: Floats, radii: Floats, others: Floats, exponent: float, ratio: float) -> Floats:
    """``phi(|y - x|^p - r^p)`` for each (x, r) or each y in rows, averaged over the others and their mirror images.

    ``at`` are the places of the rows and ``others`` those of the columns; ``radii`` belongs to the inputs and has the
    shape of the rows (as a column vector) or of the columns.
    """
    level = radii**exponent
    total: Floats = np.zeros((at.size, others.size))
    for place in (others, 1 - others):
        distance = np.abs(at[:, None] - place[None, :])
        gap = (distance if exponent == 1 else distance * distance if exponent == 2 else distance**exponent) - level
        total += np.minimum(gap, ratio * gap)
    return total / 2
