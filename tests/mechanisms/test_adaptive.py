"""Integrals of functions nothing is known of: exact answers known in closed form, jumps and roots included."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.mechanisms.adaptive import Panels, integrals

UNIT = Panels.between([np.array([0.0, 1.0])])


@given(st.floats(0, 1))
def test_a_jump_anywhere_is_found(place: float) -> None:
    found = integrals(lambda y, _: 1.0 + (y < place)[..., None], UNIT)
    assert found[0, 0] == pytest.approx(1 + place, abs=1e-9)


@pytest.mark.parametrize("share", [1e-6, 1e-4, 1e-3, 1e-2, 1 - 1e-3])
@pytest.mark.parametrize("panel", [1 / 2, 1 / 4, 1 / 1024])
def test_a_jump_beside_the_end_of_a_panel_is_not_overlooked(share: float, panel: float) -> None:
    place = panel + share * panel
    found = integrals(lambda y, _: (y < place)[..., None] * 1.0, UNIT)
    assert found[0, 0] == pytest.approx(place, abs=1e-9)


def test_smooth_functions_are_integrated_to_rounding() -> None:
    found = integrals(lambda y, _: np.exp(y)[..., None], UNIT)
    assert found[0, 0] == pytest.approx(math.e - 1, rel=1e-14)


def test_values_that_cancel_are_integrated_to_the_precision_of_their_sizes() -> None:
    found = integrals(lambda y, _: np.sign(y - 0.5)[..., None] * 3.0, UNIT)
    assert found[0, 0] == pytest.approx(0.0, abs=1e-9)


def test_a_root_is_integrated() -> None:
    found = integrals(lambda y, _: np.sqrt(y)[..., None], UNIT)
    assert found[0, 0] == pytest.approx(2 / 3, abs=1e-9)


def test_many_integrals_and_values_are_kept_apart() -> None:
    panels = Panels.between([np.array([0.0, 0.25, 1.0]), np.array([0.0, 2.0])])
    found = integrals(lambda y, k: np.stack([y * (k + 1), np.ones_like(y)], axis=-1), panels)
    assert found == pytest.approx(np.array([[0.5, 1.0], [4.0, 2.0]]))


def test_what_does_not_settle_is_refused() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(CheckFailed, match="does not settle"):
        integrals(lambda y, _: rng.random(y.shape)[..., None], UNIT)
