"""Ragged paths: their steps, and uniform places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.studies.places.paths import Paths, uniform_places
from mechdesign.studies.places.regions import Disc

lengths = st.lists(st.integers(1, 6), min_size=1, max_size=8)


@given(lengths)
def test_steps_name_every_row_once_and_in_the_order_of_its_path(counts):
    paths = Paths.of([np.zeros((count, 2)) for count in counts])
    rows = np.concatenate(list(paths.steps()))
    assert sorted(rows.tolist()) == list(range(sum(counts)))
    place = {row: step for step, some in enumerate(paths.steps()) for row in some.tolist()}
    assert all(
        place[row] == row - start
        for start, stop in zip(paths.starts, paths.starts[1:], strict=False)
        for row in range(start, stop)
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: Paths.of([]),
        lambda: Paths.of([np.zeros((0, 2))]),
        lambda: Paths.of([np.zeros((2, 3))]),
        lambda: Paths(np.zeros((3, 2)), np.array([0, 2])),
        lambda: Paths(np.zeros((3, 2)), np.array([0, 2, 2, 3])),
    ],
)
def test_paths_without_locations_are_refused(make):
    with pytest.raises(InvalidInput):
        make()


def test_uniform_places_of_a_disc_fill_it_evenly():
    """Seed 1, n = 40,000: a quarter of the area lies within half the radius, to five standard errors (.011)."""
    places = uniform_places(Disc((3, 3), 2), 40_000, np.random.default_rng(1))
    assert (np.hypot(*(places - 3).T) <= 1).mean() == pytest.approx(0.25, abs=0.011)
