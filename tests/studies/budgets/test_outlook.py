"""The four events at one epsilon."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets import Capacity, Outlook, outlook
from mechdesign.studies.budgets.mean_route import exceedance

BELOW = Capacity([0, 1], [600, 400], 500)
ABOVE = Capacity([0, 1], [400, 600], 500)


def exact(capacity: Capacity, epsilon: float) -> float:
    """Pr[ETC > cap] of binary randomised response, by convolving two binomials."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    zeros, ones = capacity.x.tolist()
    law = np.convolve(
        stats.binom.pmf(np.arange(ones + 1), ones, p), stats.binom.pmf(np.arange(zeros + 1), zeros, 1 - p)
    )
    n = zeros + ones
    return float(law[(np.arange(n + 1) - n * (1 - p)) / (2 * p - 1) > capacity.cap].sum())


@pytest.mark.parametrize("epsilon", [0.1, 0.8, 2.0])
@pytest.mark.parametrize(
    ("capacity", "right", "wrong", "impossible"), [(ABOVE, "TP", "FN", "TN FP"), (BELOW, "TN", "FP", "TP FN")]
)
def test_two_events_are_impossible_and_the_others_add_up_to_one(
    capacity: Capacity, right: str, wrong: str, impossible: str, epsilon: float
) -> None:
    found = outlook(capacity, "GRR", epsilon)
    assert [found.probability[event] for event in impossible.split()] == [0, 0]
    assert found.probability[right] + found.probability[wrong] == pytest.approx(1.0, abs=1e-12)
    above = exact(capacity, epsilon)
    assert found.probability["TP" if right == "TP" else "FP"] == pytest.approx(above, abs=1e-10)
    assert found.exact
    assert found.probability[wrong] <= found.chebyshev


def test_the_method_says_what_the_numbers_rest_on() -> None:
    methods = {name: outlook(ABOVE, name, 1.0) for name in ("grr", "oue", "ss", "pm")}
    assert {name: (seen.method, seen.exact) for name, seen in methods.items()} == {
        "grr": ("characteristic function", True),
        "oue": ("characteristic function", True),
        "ss": ("normal law", False),
        "pm": ("normal law", False),
    }
    assert methods["pm"].route == "mean"
    assert methods["grr"].error is None
    assert 0 < methods["pm"].error < 0.1


def test_simulated_sums_of_numeric_reports_agree_within_the_error() -> None:
    """2000 collections, seed 1: beyond the Berry-Esseen error by six standard errors with probability 2e-9."""
    from mechdesign import Interval, catalogue

    found, runs = outlook(ABOVE, "pm", 0.5), 2000
    rng = np.random.default_rng(1)
    law = catalogue.build("pm", 0.5, Interval(0, 1))
    values = np.repeat([0.0, 1.0], [400, 600])
    sums = np.array([law.sample(values, rng).sum() for _ in range(runs)])
    share = float(np.mean(sums > ABOVE.cap))
    assert abs(share - found.probability["TP"]) <= found.error + stats.norm.isf(1e-9) * 0.5 / math.sqrt(runs)
    assert exceedance(ABOVE, "pm", 0.5).value == found.probability["TP"]


def test_at_the_capacity_itself_chebyshev_says_nothing() -> None:
    found: Outlook = outlook(Capacity([0, 1], [500, 500], 500), "grr", 1.0)
    assert found.chebyshev == 1.0
    assert found.probability["FP"] + found.probability["TN"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("capacity", "name", "epsilon", "field"),
    [
        (ABOVE, "rsa", 1.0, "protocol"),
        (ABOVE, "grr", 0.0, "eps"),
        (ABOVE, "pm", float("nan"), "eps"),
        (Capacity([0, 1], [1, 1], -1), "grr", 1.0, "capacity"),
    ],
)
def test_bad_input_is_refused(capacity: Capacity, name: str, epsilon: float, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        outlook(capacity, name, epsilon)
    assert caught.value.field == field
