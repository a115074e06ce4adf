"""Meshes: masses are kept, refinement follows the jumps."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.methods.minimax.mesh import Mesh, excess


@pytest.mark.parametrize("fine", [64, 100, 1024])
def test_every_column_has_mass_one(fine: int) -> None:
    np.testing.assert_allclose(np.asarray(Mesh.coarse(fine).hats().sum(axis=0)).ravel(), 1.0)


def test_a_constant_density_is_represented_exactly() -> None:
    mesh = Mesh(256, np.array([0, 16, 20, 64, 128]))
    areas = Mesh._areas(mesh._shape())
    masses = np.concatenate([areas, [0.0]]) / areas.sum()
    spread = mesh.hats() @ masses
    np.testing.assert_allclose(spread[:-1], spread[0])
    assert spread[-1] == pytest.approx(spread[0] / 2)  # the middle is its own mirror image


def test_refinement_halves_the_cells_at_a_jump_only() -> None:
    mesh = Mesh.coarse(1024)
    areas = Mesh._areas(mesh._shape())
    density = np.where(mesh.nodes < 200, 1.0, 3.0)
    refined = mesh.refined(np.concatenate([density * areas, [0.0]]))
    assert refined is not None
    added = np.setdiff1d(refined.nodes, mesh.nodes)
    assert added.tolist() == [200]


def test_a_mesh_at_the_spacing_of_the_grid_has_nothing_to_refine() -> None:
    mesh = Mesh(64, np.arange(33))
    assert mesh.refined(np.arange(34.0)) is None
    assert mesh.halved_where(np.ones(33)) is None


def test_coarsening_drops_nodes_where_the_density_is_level() -> None:
    mesh = Mesh(1024, np.union1d(Mesh.coarse(1024).nodes, [200, 340]))
    areas = Mesh._areas(mesh._shape())
    density = np.where(mesh.nodes < 200, 1.0, 3.0)
    assert (
        mesh.coarsened(np.concatenate([density * areas, [0.0]])).nodes.tolist()
        == np.union1d(Mesh.coarse(1024).nodes, [200]).tolist()
    )


def test_a_finer_mesh_has_the_same_nodes_in_place() -> None:
    mesh = Mesh.coarse(128)
    np.testing.assert_array_equal(mesh.finer().nodes / mesh.finer().fine, mesh.nodes / mesh.fine)


def test_the_excess_is_the_average_over_mirror_images() -> None:
    value = excess(np.array([0.1]), np.array([[0.2]]), np.array([0.4]), 1.0, 3.0)[0, 0]
    near, far = abs(0.4 - 0.1) - 0.2, abs(0.6 - 0.1) - 0.2
    assert value == pytest.approx((min(near, 3 * near) + min(far, 3 * far)) / 2)
