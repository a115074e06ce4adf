"""The most information about one parameter: closed forms, brute force over all rows, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.design.information import (
    Cells,
    GaussianLocation,
    InformationBound,
    InformationProblem,
    LogisticLocation,
    optimal_information,
    sign_information,
)
from mechdesign.errors import InvalidInput
from tests.oracles.staircase_rows import all_rows


def _information(epsilon: float, cells: int = 40) -> tuple[float, float]:
    found = optimal_information(InformationProblem(epsilon, GaussianLocation(cells), gap=1e-8)).certificate
    return 1 / found.upper, 1 / found.lower


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_the_noisy_sign_is_best_for_small_epsilon(epsilon: float) -> None:
    low, high = _information(epsilon)
    closed = 2 / math.pi * math.tanh(epsilon / 2) ** 2
    assert low == pytest.approx(closed, rel=1e-7)
    assert high == pytest.approx(closed, rel=1e-7)


@pytest.mark.parametrize(("epsilon", "above"), [(2.2, 3.15), (3.0, 13.4), (4.0, 26.8)])
def test_the_sign_loses_beyond(epsilon: float, above: float) -> None:
    low, high = _information(epsilon)
    sign = sign_information(epsilon, GaussianLocation(40))
    assert 100 * (low / sign - 1) == pytest.approx(above, abs=0.06)
    assert high <= low * (1 + 1e-8)


def test_where_the_sign_stops_being_best_to_six_digits() -> None:
    """Of 40 cells: proven best at 2.01380, proven not to be at 2.01382."""
    _, most = _information(2.01380)
    assert most <= sign_information(2.01380, GaussianLocation(40)) * (1 + 1e-9)
    least, _ = _information(2.01382)
    assert least > sign_information(2.01382, GaussianLocation(40)) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_random_models_hold_what_a_program_over_all_rows_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, epsilon = int(rng.integers(2, 9)), float(rng.uniform(0.3, 4))
    chances = rng.dirichlet(np.ones(size))
    slopes = rng.normal(size=size)
    slopes -= slopes.mean()
    rows = all_rows(size, epsilon)
    found = linprog(-((rows @ slopes) ** 2) / (rows @ chances), A_eq=rows.T, b_eq=np.ones(size))
    certificate = optimal_information(InformationProblem(epsilon, Cells(chances, slopes))).certificate
    assert 1 / certificate.upper <= -found.fun * (1 + 1e-7)
    assert -found.fun <= 1 / certificate.lower * (1 + 1e-7)


def test_many_cells_are_proven_too() -> None:
    low, high = _information(4.0, 150)
    assert high <= low * (1 + 1e-8)
    assert low > _information(4.0, 40)[0] * 0.99


def test_no_report_tells_more_than_the_cells_themselves() -> None:
    for model in (GaussianLocation(10), LogisticLocation(10)):
        chances, slopes = model.chances, model.slopes
        found = optimal_information(InformationProblem(8.0, model)).certificate
        assert 1 / found.upper < float((slopes**2 / chances).sum()) < model.unbinned
        assert chances.sum() == pytest.approx(1)
        assert slopes.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("prices", [[0.0, 0.0], [1.0, -0.2], [0.3, 0.3]])
def test_no_prices_prove_less_than_the_optimum(prices: list[float]) -> None:
    model = GaussianLocation(2)
    best = 2 / math.pi * math.tanh(0.5) ** 2
    assert float(InformationBound(prices).most(InformationProblem(1.0, model))) >= best * (1 - 1e-9)


@pytest.mark.parametrize(
    ("chances", "slopes", "words"),
    [
        ([0.5, 0.5, 0.0], [-1.0, 0.5, 0.5], "information would be infinite"),
        ([0.5, 0.5], [0.0, 0.0], "tell something"),
        ([0.5, 0.5], [1.0, 1.0], "sum to 0"),
        ([0.5, 0.4], [1.0, -1.0], "sum to 1"),
        ([0.5, 0.5], [1.0, -1.0, 0.0], "one for each of the 2 cells"),
        ([0.5, math.nan], [1.0, -1.0], "chances"),
    ],
)
def test_models_that_are_none_are_refused(chances: Any, slopes: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Cells(chances, slopes)


def test_a_design_is_the_same_after_a_file(tmp_path: Any) -> None:
    design = optimal_information(InformationProblem(3.0, GaussianLocation(12)))
    assert md.load_design(design.save(tmp_path / "design.json")) == design
