"""Truncated mechanisms: where their expected loss bends."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.truncated import Truncated
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power


@pytest.mark.parametrize("base", [catalogue.laplace(1.0, Interval(0, 1)), catalogue.pm(1.0, Interval(0, 1))])
def test_half_a_period_from_both_ends_the_loss_of_what_is_moved_there_bends(base: object) -> None:
    law = Truncated(base)
    cuts = law.breakpoints(Power(1.0, period=1.5))
    assert {0.25, 0.75} <= set(cuts)
    assert cuts == tuple(sorted(set(cuts)))
    assert (min(cuts), max(cuts)) == (0.0, 1.0)
    assert {0.25, 0.75}.isdisjoint(law.breakpoints(Power(1.0)))


def test_between_its_breakpoints_a_periodic_loss_is_smooth() -> None:
    """Slopes of the expected loss jump at no other place than those."""
    law, loss = catalogue.truncated(catalogue.laplace(1.0, Interval(0, 1))), Power(1.0, period=1.5)
    grid = np.linspace(0, 1, 2001)
    slopes = np.diff(law.expected_loss(grid, loss)) / np.diff(grid)
    jumps = grid[1:-1][abs(np.diff(slopes)) > 0.05]
    cuts = np.array(law.breakpoints(loss))
    assert jumps.size > 0
    assert all(abs(cuts - x).min() < 2e-3 for x in jumps)
