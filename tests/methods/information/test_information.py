"""The most information about one parameter: closed forms, brute force over all rows, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.errors import InvalidInput
from mechdesign.methods.information import InformationBound, cells_tell_sign, sign_information
from mechdesign.words.models import Binned, GaussianLocation, LogisticLocation
from tests.methods.problems import information
from tests.oracles.staircase_rows import all_rows


def _information(epsilon: float, cells: int = 40) -> tuple[float, float]:
    found = md.solve(information(epsilon, GaussianLocation(cells)), gap=1e-8).certificate
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
    certificate = md.solve(information(epsilon, Binned(chances, slopes))).certificate
    assert 1 / certificate.upper <= -found.fun * (1 + 1e-7)
    assert -found.fun <= 1 / certificate.lower * (1 + 1e-7)


def test_many_cells_are_proven_too() -> None:
    low, high = _information(4.0, 150)
    assert high <= low * (1 + 1e-8)
    assert low > _information(4.0, 40)[0] * 0.99


def test_no_report_tells_more_than_the_cells_themselves() -> None:
    for model in (GaussianLocation(10), LogisticLocation(10)):
        chances, slopes = model.chances, model.slopes
        found = md.solve(information(8.0, model)).certificate
        assert 1 / found.upper < float((slopes**2 / chances).sum()) < model.unbinned
        assert chances.sum() == pytest.approx(1)
        assert slopes.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("prices", [[0.0, 0.0], [1.0, -0.2], [0.3, 0.3]])
def test_no_prices_prove_less_than_the_optimum(prices: list[float]) -> None:
    model = GaussianLocation(2)
    best = 2 / math.pi * math.tanh(0.5) ** 2
    assert float(InformationBound(prices).most(information(1.0, model))) >= best * (1 - 1e-9)


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
        Binned(chances, slopes)


def test_a_design_is_the_same_after_a_file(tmp_path: Any) -> None:
    design = md.solve(information(3.0, GaussianLocation(12)))
    assert md.load_design(design.save(tmp_path / "design.json")) == design


@pytest.mark.parametrize("cells", [2, 3, 4, 39, 40])
@pytest.mark.parametrize("model", [GaussianLocation, LogisticLocation])
def test_the_noisy_sign_is_that_of_the_observation_whatever_the_cells(model: Any, cells: int) -> None:
    """Its report is a coin whose chance moves with the density at 0."""
    kept = math.exp(1.5) / (1 + math.exp(1.5))
    density = 1 / math.sqrt(2 * math.pi) if model is GaussianLocation else 0.25
    slope, chance = (2 * kept - 1) * density, 0.5
    assert sign_information(1.5, model(cells)) == pytest.approx(slope**2 / (chance * (1 - chance)), rel=1e-12)


@pytest.mark.parametrize("rows", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_the_noisy_sign_of_a_file_does_not_depend_on_its_rows(rows: list[int]) -> None:
    chances, slopes = np.array([0.5, 0.2, 0.3]), np.array([1.0, 0.2, -1.2])
    expected = sign_information(1.0, Binned(chances, slopes))
    assert sign_information(1.0, Binned(chances[rows], slopes[rows])) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("model", "cells", "epsilon"), [(GaussianLocation, 2, 1.0), (GaussianLocation, 4, 0.5), (LogisticLocation, 6, 2.0)]
)
def test_a_sign_that_cells_tell_is_not_above_the_optimum(model: Any, cells: int, epsilon: float) -> None:
    certificate = md.solve(information(epsilon, model(cells))).certificate
    assert cells_tell_sign(model(cells))
    assert sign_information(epsilon, model(cells)) <= 1 / certificate.lower * (1 + 1e-12)


def test_the_sign_of_slopes_is_not_above_the_optimum_of_a_file() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        chances, slopes = rng.dirichlet(np.ones(5)), rng.normal(size=5)
        model = Binned(chances, slopes - slopes.mean())
        certificate = md.solve(information(1.0, model)).certificate
        assert sign_information(1.0, model) <= 1 / certificate.lower * (1 + 1e-9)


@pytest.mark.filterwarnings("error")
def test_a_cell_of_no_chance_divides_nothing() -> None:
    certificate = md.solve(information(1.0, Binned([0.5, 0.0, 0.5], [1.0, 0.0, -1.0]))).certificate
    ratio = math.tanh(0.5) ** 2  # one bit through randomised response: (2 * (2p - 1))^2
    assert certificate.lower <= 1 / (4 * ratio) <= certificate.upper * (1 + 1e-9)
