"""The lasso that picks candidates: its optimality conditions, its penalty, and what is found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols.regression import _lasso, decode


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_the_lasso_is_at_its_optimum_whatever_the_sizes_of_its_columns(size: float) -> None:
    """In units of a column's norm: no pull is left where b is positive, and none above 0 where b is 0. Seed 3."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        design = (rng.random((30, 8)) < 0.4) * size * np.exp(rng.uniform(-2, 2, 8))
        design[0] += size
        target = design @ np.maximum(rng.normal(0, 3, 8), 0) / size + rng.normal(0, 1, 30)
        norms = np.linalg.norm(design, axis=0)
        b, converged = _lasso(design, target, norms * 0.5)
        left = (design.T @ (target - design @ b) - norms * 0.5) / norms
        assert converged
        assert (b >= 0).all()
        assert abs(left[b > 0]).max(initial=0.0) <= 1e-7 * abs(target).max()
        assert left[b == 0].max(initial=0.0) <= 1e-7 * abs(target).max()


@pytest.mark.parametrize(("count", "of"), [(1, 2), (2, 2), (3, 3), (10, 10)])
def test_a_candidate_is_picked_above_the_universal_penalty(count: int, of: int) -> None:
    """With one column a candidate it is ``sqrt(2 ln M)`` standard deviations, of at least two candidates."""
    level = math.sqrt(2 * math.log(of))
    strings, design, spread = [str(i) for i in range(count)], np.eye(count), np.full(count, 3.0)
    for factor, counted in ((0.99, 0.0), (1.01, 3.0 * 1.01 * level)):
        seen = np.zeros(count)
        seen[-1] = 3.0 * factor * level
        decoded = decode(strings, design, seen, spread, 0.05)
        assert decoded.counts.max() == pytest.approx(counted)
        assert decoded.standard_errors == pytest.approx(np.full(count, 3.0))


def test_what_is_found_is_beyond_its_share_of_the_error() -> None:
    """5% over 4 candidates: 2.2414 standard deviations one-sided."""
    spread = np.ones(4)
    for at, found in ((2.23, False), (2.25, True)):
        decoded = decode(list("abcd"), np.eye(4), np.array([0.0, at, 0.0, 0.0]), spread, 0.05)
        assert decoded.strings[0] == "b"
        assert decoded.found.tolist() == [found, False, False, False]


@pytest.mark.parametrize("strings", [[], ["a", "a"]])
def test_candidates_are_distinct_and_at_least_one(strings: list[str]) -> None:
    with pytest.raises(InvalidInput, match="distinct strings, at least one"):
        decode(
            strings, np.eye(max(1, len(strings))), np.ones(max(1, len(strings))), np.ones(max(1, len(strings))), 0.05
        )
