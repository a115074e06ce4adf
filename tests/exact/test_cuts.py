"""Cells of priors: what they may be, what they are cut from, and what a design holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign import Interval, InvalidInput
from mechdesign.exact.cuts import as_held, cells_of, density_cells, rounded_to_atoms
from mechdesign.words import priors
from mechdesign.words.cells import Cells
from mechdesign.words.priors import Atoms

UNIT = Interval(0, 1)


MANY = Atoms(np.linspace(0, 1, 12), np.full(12, 1 / 12))
NARROW = priors.normal(0.3, 0.001, UNIT)


def test_a_law_is_held_as_it_is_and_a_function_as_its_cells() -> None:
    law, function = priors.normal(0.3, 0.1, UNIT), priors.Density(lambda x: 2 * x, UNIT)
    cuts = np.linspace(0, 1, 33)
    assert as_held(law, density_cells(law, cuts)) == law
    assert as_held(MANY, cells_of(MANY, None)) == MANY
    cells = density_cells(function, cuts)
    assert as_held(function, cells) == cells
    coarse = density_cells(NARROW, np.array([0.0, 0.5, 1.0]))
    assert as_held(NARROW, coarse) == coarse


def test_rounding_cells_rounds_what_they_were_cut_from() -> None:
    function = priors.Density(lambda x: 2 * x, UNIT)
    atoms = rounded_to_atoms(function, 256)
    assert atoms.are_atoms
    assert atoms.mean == pytest.approx(2 / 3, abs=1e-12)
    assert atoms == rounded_to_atoms(as_held(function, density_cells(function, np.linspace(0, 1, 193))), 256)


GOOD = {"lows": [0.0, 0.5], "highs": [0.4, 0.9], "means": [0.2, 0.7], "weights": [0.5, 0.5], "variances": [0.01, 0.02]}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"means": [0.5, 0.7]}, "lie in the ranges"),
        ({"weights": [0.5, 0.0]}, "above 0"),
        ({"weights": [0.5, math.nan]}, "finite"),
        ({"lows": [0.0, 0.3]}, "sorted and apart"),
        ({"variances": [0.05, 0.02]}, "lie between 0"),
        ({"variances": [-0.01, 0.02]}, "lie between 0"),
        ({"weights": [0.5]}, "one a cell"),
    ],
)
def test_impossible_cells_are_refused(change: dict[str, list[float]], word: str) -> None:
    Cells(**{name: np.array(value) for name, value in GOOD.items()})
    with pytest.raises(InvalidInput, match=word):
        Cells(**{name: np.array(value) for name, value in (GOOD | change).items()})
