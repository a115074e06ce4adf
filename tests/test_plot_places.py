"""The map of a mechanism on places: what it draws of a law, of errors and of pairs."""

from __future__ import annotations

import numpy as np
import pytest

import mechdesign as md
from mechdesign import plot
from mechdesign.plot.places import places_map

GRID = [(i, j) for i in range(3) for j in range(3)]


@pytest.fixture(scope="module")
def design() -> md.Design:
    return md.solve(md.Problem(loss=md.Distances(), privacy=md.Metric(GRID, 1.0), criterion=md.Average()))


def test_the_picture_of_a_design_for_places_is_a_map_of_law_errors_and_pairs(design: md.Design) -> None:
    law, errors, pairs = plot.of(design).axes[:3]
    table = design.mechanism.probabilities
    assert np.allclose(law.collections[0].get_array(), table[4] / table[4].sum())
    assert errors.collections[0].get_array().size == 9
    assert pairs.get_title() == "Pairs that bind: 72 of 72"


def test_the_law_of_any_place_can_be_drawn(design: md.Design) -> None:
    axes = places_map(design.problem, design.mechanism, 0).axes[0]
    assert axes.get_title() == "Reports of (0, 0)"
    assert np.allclose(axes.lines[0].get_xydata(), [[0, 0]])


def test_places_on_the_globe_have_longitude_across() -> None:
    found = md.solve(
        md.Problem(
            loss=md.Distances(),
            privacy=md.Metric([(52, 13), (52.1, 13.2), (52.2, 13)], 0.1, "great circle"),
            criterion=md.Average(),
        )
    )
    law = plot.of(found).axes[0]
    assert law.get_xlabel() == "longitude"
    assert law.collections[0].get_offsets()[0].tolist() == [13, 52]
