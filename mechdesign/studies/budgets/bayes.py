"""The least of a noisy function of a positive variable by a Gaussian process and expected improvement."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from mechdesign.errors import unusable_extra
from mechdesign.studies.budgets.ledger import Say
from mechdesign.values.later import special

_CANDIDATES = 2000
_NEAR = 200


def least(
    function: Callable[[float], float], low: float, high: float, first: int, rounds: int, seed: int, say: Say
) -> float:
    """The point with the least value among ``first`` random ones and ``rounds`` chosen by expected improvement.

    The surrogate is a Gaussian process with a Matern 5/2 kernel and noise, both fitted anew in every round, over the
    logarithm of the variable: the valley around a small epsilon is narrow, and over epsilon itself 40 points miss it.
    """
    try:
        process, kernels = import_module("sklearn.gaussian_process"), import_module("sklearn.gaussian_process.kernels")
        threads = import_module("threadpoolctl")
    except ImportError as error:
        raise unusable_extra("method 'bayes'", "bayes", error) from None
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2**31,)))
    points: list[float] = rng.uniform(low, high, first).tolist()
    values: list[float] = []
    for number, point in enumerate(points, start=1):
        say(f"{number} of {first + rounds}: eps {point:.4g}")
        values.append(function(point))
    kernel = kernels.ConstantKernel(1.0) * kernels.Matern(0.1, (1e-3, 10.0), nu=2.5) + kernels.WhiteKernel(
        1e-3, (1e-8, 1.0)
    )
    for number in range(first + 1, first + rounds + 1):
        model = process.GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
        # matrices this small lose time in threads; hyperparameters at their bounds are fine for a surrogate
        with threads.threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(_column(points, low, high), np.array(values))
            point = _most_promising(model, points, values, low, high, rng)
        say(f"{number} of {first + rounds}: eps {point:.4g}")
        points.append(point)
        values.append(function(point))
    return points[int(np.argmin(values))]


def _most_promising(
    model: Any, points: list[float], values: list[float], low: float, high: float, rng: np.random.Generator
) -> float:
    """The candidate with the largest expected improvement, everywhere and around the best so far."""
    best, ratio = points[int(np.argmin(values))], high / low
    near = best * ratio ** rng.normal(0.0, 0.01, _NEAR)
    even, small = rng.uniform(low, high, _CANDIDATES // 2), low * ratio ** rng.random(_CANDIDATES // 2)
    candidates = np.concatenate([even, small, near])
    candidates = candidates[(candidates >= low) & (candidates <= high)]
    mean, deviation = model.predict(_column(candidates, low, high), return_std=True)
    gain = min(values) - mean
    score = np.divide(gain, deviation, out=np.zeros_like(gain), where=deviation > 0)
    improvement = gain * special.ndtr(score) + deviation * np.exp(-(score**2) / 2) / np.sqrt(2 * np.pi)
    return float(candidates[int(np.argmax(improvement))])


def _column(points: Any, low: float, high: float) -> Any:
    return (np.log(np.asarray(points) / low) / np.log(high / low))[:, None]
