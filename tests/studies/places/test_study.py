"""Studies of path mechanisms: epsilon of a location, or of a path whose locations share it."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Rectangle
from mechdesign.studies.places.study import compare

SQUARE = Rectangle(0, 1, 0, 1)
UNEVEN = Paths.of([[[0.5, 0.5]] * 4, [[0.1, 0.1]], [[0.9, 0.2]] * 2])


def test_a_path_spends_its_epsilon_whatever_its_length_but_for_what_a_location_can_use() -> None:
    few, many = compare(UNEVEN, SQUARE, [8.0, 100.0], ["tracs-c"], np.random.default_rng(1), per="path")
    assert few.privacy_loss == pytest.approx(8.0)
    assert many.privacy_loss == pytest.approx(100.0)  # the path of four; the single location spends 64, not 100


def test_per_is_location_or_path() -> None:
    with pytest.raises(InvalidInput, match="per must be one of"):
        list(compare(UNEVEN, SQUARE, [1.0], ["tracs-c"], np.random.default_rng(1), per="person"))
