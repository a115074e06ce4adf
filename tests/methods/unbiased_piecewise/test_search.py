"""The unbiased piecewise optimum: unbiased, proven, and better than PM."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import (
    Absolute,
    Interval,
    InvalidInput,
    Squared,
    catalogue,
)
from mechdesign.methods.registry import solve
from mechdesign.values.declare import evolved
from mechdesign.words.classes import UnbiasedPiecewise
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem


def asked(epsilon: float, inputs: Interval) -> Problem:
    return Problem(inputs=inputs, loss="squared", privacy=Pure(epsilon), among=UnbiasedPiecewise())


@given(st.floats(0.01, 12.0), st.floats(-20, 20), st.floats(0.1, 30))
@settings(deadline=None, max_examples=40)
def test_reports_are_unbiased_and_the_bounds_close(epsilon: float, start: float, length: float) -> None:
    inputs = Interval(start, start + length)
    design = solve(asked(epsilon, inputs))
    x = np.linspace(inputs.lower, inputs.upper, 7)
    reach = design.mechanism.outputs.length
    assert np.abs(design.mechanism.mean(x) - x).max() < 1e-13 * reach + 1e-12 * (1 + abs(start))
    assert 0 <= design.certificate.relative_gap < 1e-8


@given(st.floats(0.05, 8.0))
@settings(deadline=None, max_examples=30)
def test_worst_case_variance_lies_at_the_ends_and_below_pm(epsilon: float) -> None:
    design = solve(asked(epsilon, catalogue.SYMMETRIC))
    worst, _ = design.mechanism.worst_case(Squared())
    assert worst == pytest.approx(design.certificate.upper, rel=1e-9)
    assert worst < catalogue.pm(epsilon).worst_case(Squared())[0]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_a_grid_over_reach_and_width_finds_nothing_better(epsilon: float) -> None:
    growth = math.expm1(epsilon)
    best = solve(asked(epsilon, catalogue.SYMMETRIC)).certificate.upper
    reach = np.linspace(1.0, 12.0, 1500)[:, None]
    width = np.linspace(1e-3, 12.0, 1500)[None, :]
    base = 1 / (2 * reach + growth * width)
    extra = growth * base * width
    variance = 2 * base * reach**3 / 3 + extra * (1 / extra**2 + width**2 / 12) - 1
    feasible = variance[1 / extra + width / 2 <= reach]
    assert feasible.min() >= best * (1 - 1e-12)
    assert feasible.min() <= best * 1.02


def test_the_share_of_pm_s_variance_that_is_saved() -> None:
    saved = {}
    for epsilon in (1.0, 4.0):
        best = solve(asked(epsilon, catalogue.SYMMETRIC)).certificate.upper
        saved[epsilon] = 1 - best / catalogue.pm(epsilon).worst_case(Squared())[0]
    assert saved[1.0] == pytest.approx(0.0302, abs=1e-4)
    assert saved[4.0] == pytest.approx(0.3294, abs=1e-4)


def test_theorem_10_has_several_times_the_variance_of_pm() -> None:
    unit = Interval(0, 1)
    assert catalogue.ogpm_unbiased(1.0, unit).variance(0.0) == pytest.approx(5.02, abs=5e-3)
    assert catalogue.pm(1.0, unit).variance(0.0) == pytest.approx(1.31, abs=5e-3)


@pytest.mark.parametrize(
    ("fields", "word"),
    [({"loss": Absolute()}, "Squared"), ({"inputs": None}, "interval"), ({"privacy": Pure(31)}, "at most 30")],
)
def test_bad_problems_name_the_field(fields: dict[str, object], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        solve(evolved(asked(1.0, Interval(0, 1)), **fields))


@pytest.mark.parametrize(("start", "length"), [(1e4, 1.0), (1e6, 1.0), (1.7e9, 86_400.0)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_domains_far_from_zero_work_up_to_the_spacing_of_doubles(epsilon: float, start: float, length: float) -> None:
    design = solve(asked(epsilon, Interval(start, start + length)))
    near = solve(asked(epsilon, Interval(0, length)))
    assert design.certificate.upper == pytest.approx(near.certificate.upper, rel=1e-6)
    assert abs(float(design.mechanism.mean(start)) - start) < 1e-8 * length + 4 * math.ulp(start)
