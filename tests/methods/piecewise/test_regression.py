"""Formulas for the central density by regression."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign import Absolute, InvalidInput, Squared, fit_height


def test_example_5_recovers_theorem_7() -> None:
    rng = np.random.default_rng(7)
    formula = fit_height(rng.uniform(0.1, 8.0, 50).tolist(), Absolute())
    assert formula.rate == pytest.approx(0.5, abs=1e-6)
    assert formula.shift == pytest.approx(0.0, abs=1e-5)
    assert formula.largest_residual <= 1e-2


def test_the_form_does_not_fit_the_squared_error_and_says_so() -> None:
    formula = fit_height(np.linspace(0.5, 8.0, 20).tolist(), Squared())
    assert formula.largest_residual > 0.05


def test_too_few_values_are_rejected() -> None:
    with pytest.raises(InvalidInput):
        fit_height([1.0, 1.0, 2.0], Absolute())
