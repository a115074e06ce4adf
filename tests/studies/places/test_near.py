"""Paths through an optimum of metric privacy: every pair of cells keeps its own epsilon, and noise does worse."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.exact.privacy import prove
from mechdesign.studies.places import Rectangle, average_error, uniform_paths
from mechdesign.studies.places.near import near_design
from mechdesign.studies.places.plane import cell_numbers, middles
from mechdesign.studies.places.regions import Disc
from mechdesign.studies.places.rivals import PlanarLaplace
from mechdesign.studies.places.study import method
from mechdesign.words.pairs import Metric

WIDE = Rectangle(0, 2, 1, 2)


def test_every_pair_of_cells_keeps_its_share_of_epsilon_and_the_farthest_have_all_of_it() -> None:
    design = near_design(WIDE, 3.0, cells=4)
    places = middles(WIDE, design.columns, design.rows)
    farthest = max(float(np.hypot(*(a - b))) for a in places for b in places)
    assert design.per_unit * farthest == pytest.approx(3.0)
    prove(Metric(places, design.per_unit), design.table)
    assert design.privacy_loss() <= 3.0


def test_reports_are_middles_with_the_chances_of_the_table() -> None:
    design = near_design(WIDE, 3.0, cells=3)
    rng = np.random.default_rng(3)
    paths = uniform_paths(WIDE, 1, 60_000, rng)
    reported = design.perturb(paths, rng)
    cells = cell_numbers(WIDE, design.columns, design.rows, paths.places)
    told = cell_numbers(WIDE, design.columns, design.rows, reported.places)
    law = design.table.probabilities / design.table.probabilities.sum(axis=1, keepdims=True)
    assert {tuple(place) for place in reported.places} <= {tuple(p) for p in middles(WIDE, design.columns, design.rows)}
    expected = np.zeros(design.columns * design.rows)
    expected[[int(place) for place in design.table.outputs.points]] = law[cells].sum(axis=0)
    # six standard deviations of counts of 60 000 for each cell: one false alarm in some tens of millions of runs
    assert (np.abs(np.bincount(told, minlength=expected.size) - expected) <= 6 * np.sqrt(expected) + 1e-9).all()


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_the_optimum_has_less_error_than_planar_laplace_noise(epsilon: float) -> None:
    rng = np.random.default_rng(5)
    paths = uniform_paths(WIDE, 200, 20, rng)
    ours, noise = (
        average_error(paths, made.perturb(paths, rng)).mean()
        for made in (method("metric", WIDE)(epsilon), PlanarLaplace(WIDE, epsilon))
    )
    assert ours < 0.95 * noise


def test_a_region_without_a_grid_or_too_many_cells_are_refused() -> None:
    with pytest.raises(InvalidInput, match="rectangle"):
        method("metric", Disc((0, 0), 1))(1.0)
    with pytest.raises(InvalidInput, match="rectangle"):
        near_design(Disc((0, 0), 1), 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="at most 128"):
        near_design(WIDE, 1.0, cells=12)
