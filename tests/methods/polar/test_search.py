"""The split of epsilon between distance and angle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize

from mechdesign import Absolute, InvalidInput, Squared, catalogue, solve
from mechdesign.methods.polar.search import best_split
from tests.methods import problems

TOTAL = 1 + 2 * math.pi
AROUND = Squared(2 * math.pi)


def _best_under(line: object, circle: object) -> tuple[float, float]:
    found = optimize.minimize_scalar(
        lambda share: line(share).worst_case(Squared())[0] + circle(TOTAL - share).worst_case(AROUND)[0],  # type: ignore[operator]
        bounds=(0.1, TOTAL - 0.1),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(found.x), float(found.fun)


def test_printed_heights_give_the_corrected_split_of_example_c_2_6() -> None:
    share, _ = _best_under(catalogue.ogpm, catalogue.ogpm_circle)
    assert share == pytest.approx(1.299, abs=1e-3)
    assert TOTAL - share == pytest.approx(5.985, abs=1e-3)


def test_the_printed_split_does_not_add_up() -> None:
    assert abs(1.32 + 5.69 - TOTAL) > 0.25


def test_corrected_heights_give_a_better_value_at_another_split() -> None:
    design = solve(problems.polar(TOTAL))
    share, value = _best_under(catalogue.ogpm_squared, catalogue.ogpm_circle_squared)
    assert design.certificate.upper == pytest.approx(value, rel=1e-6)
    assert design.report.details["epsilon_distance"] == pytest.approx(share, abs=2e-3)
    assert design.certificate.upper < 0.82 * _best_under(catalogue.ogpm, catalogue.ogpm_circle)[1]


def test_no_split_on_a_grid_beats_the_lower_bound() -> None:
    design = solve(problems.polar(3.0, 1.0))
    shares = np.linspace(0.01, 2.99, 200)
    line, circle = Absolute(), Absolute(2 * math.pi)
    values = [
        catalogue.ogpm(s).worst_case(line)[0] + catalogue.ogpm_circle(3.0 - s).worst_case(circle)[0] for s in shares
    ]
    assert min(values) >= design.certificate.lower
    assert min(values) >= design.certificate.upper - 1e-9


def test_privacy_losses_of_the_coordinates_add_up_to_epsilon() -> None:
    design = solve(problems.polar(TOTAL))
    assert design.certificate.privacy_loss == pytest.approx(TOTAL, abs=1e-12)
    assert sum(part.epsilon for part in design.mechanism.parts) == pytest.approx(TOTAL)


@given(st.floats(0.2, 5.0), st.floats(0.2, 5.0), st.floats(0.5, 8.0))
@settings(deadline=None, max_examples=30)
def test_best_split_brackets_exponential_decays(first: float, second: float, total: float) -> None:
    split = best_split(total, lambda e: math.exp(-first * e), lambda e: math.exp(-second * e))
    shares = np.linspace(0, total, 4001)
    least = float(np.min(np.exp(-first * shares) + np.exp(-second * (total - shares))))
    assert split.lower <= least + 1e-12
    assert split.value >= split.lower
    assert split.value - split.lower <= 1.1e-6 * split.value


def test_an_epsilon_too_small_to_split_is_rejected() -> None:
    with pytest.raises(InvalidInput, match="split"):
        solve(problems.polar(1e-4))
