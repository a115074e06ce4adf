"""The picture of directions shows the law: areas and bars sum to 1, and the favoured ones have their chance."""

from __future__ import annotations

import numpy as np
import pytest

import mechdesign as md
from mechdesign.plot.directions import cosines
from tests.methods.problems import vectors


@pytest.mark.parametrize("inputs", [md.Ball(10), md.Sphere(3), md.Sphere(1000)], ids=str)
def test_the_density_of_cosines_has_the_chance_of_the_cap(inputs: md.Ball) -> None:
    design = md.solve(vectors(2.0, inputs))
    law = design.mechanism
    along, density = cosines(law).axes[0].lines[0].get_data()
    step = along[1] - along[0]
    assert density.sum() * step == pytest.approx(1, abs=5e-3)
    assert density[along > law.reports.height].sum() * step == pytest.approx(law.favoured, abs=5e-3)
    assert design.plot().axes[0].get_title().startswith("direction")


def test_bars_of_signed_sets_are_their_chances() -> None:
    law = md.solve(vectors(2.0, md.CrossPolytope(10))).mechanism
    heights = np.array([bar.get_height() for bar in cosines(law).axes[0].patches])
    assert heights.reshape(2, 3).sum(axis=1) == pytest.approx(np.ones(2))
    assert heights[2] == pytest.approx(law.favoured)
    assert heights[2] == pytest.approx(law.ratio * heights[0])
