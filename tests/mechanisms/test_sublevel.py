"""Where a loss is smallest: starts and widths."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.mechanisms.sublevel import _fill, sublevel_set
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Custom, Power


@pytest.mark.parametrize("x", [0.0, 0.25, 0.9, 1.0])
@pytest.mark.parametrize("measure", [1e-9, 0.2, 0.75])
def test_of_a_distance_it_is_one_interval_about_the_input_within_the_outputs(x: float, measure: float) -> None:
    starts, widths = sublevel_set(Power(1.0), x, Interval(0, 1), measure)
    assert starts == pytest.approx([min(max(x - measure / 2, 0), 1 - measure)], abs=1e-9)
    assert widths.tolist() == [measure]


def test_of_two_valleys_it_is_two_intervals_of_the_same_depth() -> None:
    loss = Custom(lambda y, x: np.minimum(np.abs(y - 0.2), 2 * np.abs(y - 0.8)), kinks=lambda x: (0.2, 0.6, 0.8))
    starts, widths = sublevel_set(loss, 0.5, Interval(0, 1), 0.3)
    assert starts == pytest.approx([0.1, 0.75], abs=1e-9)
    assert widths == pytest.approx([0.2, 0.1], abs=1e-9)


def test_nothing_to_fill_begins_where_the_first_valley_does() -> None:
    starts, widths = _fill([], [(0.2, 0.3), (0.7, 0.8)], 0.0)
    assert (starts.tolist(), widths.tolist()) == ([0.2], [0.0])


def test_what_is_missing_is_filled_from_the_left() -> None:
    starts, widths = _fill([(0.5, 0.6)], [(0.2, 0.3), (0.5, 0.9)], 0.4)
    assert starts == pytest.approx([0.2, 0.5])
    assert widths == pytest.approx([0.1, 0.3])
