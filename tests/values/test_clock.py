"""Time limits: none is endless, one that has passed is over and still leaves what solvers need."""

from __future__ import annotations

import math
import time

import pytest

from mechdesign.errors import InvalidInput
from mechdesign.values.clock import Clock


def test_without_a_limit_it_is_never_over() -> None:
    clock = Clock()
    assert clock.deadline is None
    assert clock.left() is None
    assert not clock.is_over
    assert clock.share(3).left() is None


def test_a_limit_ends_that_long_after_the_start() -> None:
    before = time.perf_counter()
    clock = Clock(60)
    assert before <= clock.started <= time.perf_counter()
    assert clock.deadline == clock.started + 60
    assert 0 < clock.left() <= 60 - clock.used + 1e-3
    assert not clock.is_over


def test_a_limit_that_has_passed_leaves_a_time_above_zero() -> None:
    clock = Clock(1e-9)
    while time.perf_counter() <= clock.started + 1e-9:
        pass
    assert clock.is_over
    assert clock.left() == 1e-6


def test_a_share_starts_anew_with_its_part_of_what_is_left() -> None:
    clock = Clock(60)
    part = clock.share(4)
    assert part.started >= clock.started
    assert 14 < part.seconds <= 15
    assert clock.share().deadline <= clock.deadline + 1e-3


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.inf, math.nan, "a"])
def test_limits_are_finite_and_above_zero(seconds: object) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        Clock(seconds)  # type: ignore[arg-type]
