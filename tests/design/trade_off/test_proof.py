"""The bound under a cap: evidence as a value, prices that hurt, prices outside the inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign import CheckFailed, Interval, InvalidInput, MinimaxProblem, Squared, TradeOffProblem, catalogue, priors
from mechdesign.design.prior import BinsBound, PriorProblem
from mechdesign.design.registry import CODEC
from mechdesign.design.trade_off import TradeOffBound
from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.mechanisms import Window
from mechdesign.values.codec import encoded
from mechdesign.values.declare import evolved

UNIT = Interval(0, 1)
PRIOR = priors.Atoms([0.2, 0.5, 0.6], [0.25, 0.5, 0.25])
NONE = np.empty(0)
MIDDLE = Window(1.0, UNIT, [0.5], [1.0], 2.0)


def _problem(cap: float | None = None, prior: priors.Prior = PRIOR, slack: float = 1e-3) -> TradeOffProblem:
    return TradeOffProblem(1.0, prior, Squared(), cap=cap, slack=slack)


def test_without_prices_it_is_the_bound_under_the_prior() -> None:
    free = BinsBound().bound(PriorProblem(1.0, PRIOR, Squared()), MIDDLE)
    assert TradeOffBound(NONE, NONE).bound(_problem(0.2), MIDDLE) == free


@pytest.mark.parametrize("price", [0.1, 1.0, 5.0, 100.0])
def test_no_mechanism_that_keeps_the_cap_beats_the_bound(price: float) -> None:
    # an input of the prior among the priced ones: their weights add up
    bound = TradeOffBound([0.0, 0.5, 1.0], price * np.array([1.0, 0.1, 2.0]))
    for entry in catalogue.ON_INTERVALS:
        rival = entry.build(1.0, UNIT, Squared())
        cap = rival.worst_case(Squared())[0] * (1 + 1e-12)
        assert rival.average_loss(Squared(), PRIOR) >= float(bound.value(_problem(cap))) - 1e-12


def test_the_cap_is_the_problem_s() -> None:
    evidence = TradeOffBound([0.0, 1.0], [0.01, 0.01])
    assert evidence.scope(_problem(0.25), MIDDLE).words == "all mechanisms with worst case at most 0.25"
    assert evidence.value(_problem(0.25)) > evidence.value(_problem(0.3))
    with pytest.raises(CheckFailed, match="another one"):
        TradeOffBound(NONE, NONE, 0.25, _least()).bound(_problem(0.25), MIDDLE)


def _least(epsilon: float = 1.0, upper: float = 1.0) -> LevelledPrior:
    """Two inputs at the ends: c / (1 + c)^2 = 0.1966 at epsilon 1."""
    ratio = math.exp(epsilon)
    radius = math.sqrt(ratio) / (1 + ratio)
    return LevelledPrior([0.0, upper], [radius, radius], [0.5, 0.5])


def test_a_problem_without_a_cap_needs_a_proof_of_the_least_worst_case() -> None:
    with pytest.raises(CheckFailed, match="does not prove what worst case is the least"):
        TradeOffBound(NONE, NONE).bound(_problem(), MIDDLE)
    for cap, least in ((0.25, None), (None, _least())):
        with pytest.raises(InvalidInput, match="both left out"):
            TradeOffBound(NONE, NONE, cap, least)


def test_a_cap_far_above_the_least_worst_case_is_refused() -> None:
    value = float(_least().least_worst_case(1.0, 2))
    assert 0.1 < value < 0.25
    slack = (0.25 / value - 1) / 1.5
    evidence = TradeOffBound(NONE, NONE, 0.25, _least())
    assert evidence.attained(_problem(slack=slack * 1.01), MIDDLE) > 0
    for method in (evidence.attained, evidence.bound, evidence.scope):
        with pytest.raises(CheckFailed, match="slack"):
            method(_problem(slack=slack * 0.99), MIDDLE)


def test_the_least_worst_case_is_that_of_the_problem_s_inputs() -> None:
    wide = TradeOffBound(NONE, NONE, 0.25, _least(upper=2.0))
    with pytest.raises(CheckFailed, match="not among the inputs"):
        wide.attained(_problem(slack=0.5), MIDDLE)


def test_the_least_worst_case_is_that_of_the_problem_s_epsilon() -> None:
    """At a smaller epsilon the worst case is larger: what is proven for it must not be taken for this one."""
    higher = MinimaxProblem(0.1, Squared())
    levels = _least(higher.epsilon)
    assert levels.least_worst_case(1.0, 2) < 0.2 < float(levels.least_worst_case(0.1, 2))
    with pytest.raises(CheckFailed, match="slack"):
        TradeOffBound(NONE, NONE, 0.25, levels).bound(_problem(slack=0.01), MIDDLE)


def test_a_rounded_prior_is_in_the_scope_and_in_the_file() -> None:
    problem = _problem(0.25, priors.uniform(UNIT))
    assert problem.is_rounded
    assert encoded(problem)["prior"]["rounded"] is True
    assert encoded(_problem(0.25))["prior"]["rounded"] is False
    words = TradeOffBound(NONE, NONE).scope(problem, MIDDLE).words
    assert words == "all mechanisms with worst case at most 0.25, under the prior rounded to 192 atoms"


def test_the_bound_is_that_of_the_problem_s_own_prior() -> None:
    """The same ends and mean, other weights."""
    first, second = (
        TradeOffBound(NONE, NONE).bound(_problem(0.25, priors.Atoms([0.2, 0.4, 0.6], weights)), MIDDLE)
        for weights in ([0.25, 0.5, 0.25], [0.375, 0.25, 0.375])
    )
    assert first != second


def test_a_mechanism_above_the_cap_is_refused() -> None:
    with pytest.raises(CheckFailed, match="above the cap"):
        TradeOffBound(NONE, NONE).attained(_problem(0.2), MIDDLE)


@pytest.mark.parametrize(
    "mechanism",
    [Window(1.0, Interval(0, 2), [0.5], [1.0], 2.0), Window(2.0, UNIT, [0.5], [1.0], 2.0), catalogue.pm(1.0)],
    ids=["inputs", "epsilon", "kind"],
)
def test_mechanisms_for_another_problem_are_refused(mechanism: object) -> None:
    with pytest.raises(CheckFailed):
        TradeOffBound(NONE, NONE).attained(_problem(0.5), mechanism)


def test_evidence_is_about_trade_offs_only() -> None:
    for method in (TradeOffBound(NONE, NONE).bound, TradeOffBound(NONE, NONE).attained):
        with pytest.raises(CheckFailed, match="about a TradeOffProblem"):
            method(PriorProblem(1.0, PRIOR, Squared()), MIDDLE)


def test_evidence_survives_its_file() -> None:
    evidence = TradeOffBound([0.0, 1.0], [2.0, 3.0])
    for known in (evidence, evolved(evidence, cap=0.25, least=_least())):
        assert CODEC.decoded(TradeOffBound, encoded(known), "evidence") == known
    assert evidence.multiplier(_problem(0.2)) == 5.0


def test_prices_outside_the_inputs_are_refused() -> None:
    with pytest.raises(CheckFailed, match="prices inputs"):
        TradeOffBound([0.0, 2.0], [2.0, 3.0]).bound(_problem(0.3), MIDDLE)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"inputs": np.array([1.0, 0.0])}, "increasing"),
        ({"prices": np.array([1.0, 0.0])}, "above 0"),
        ({"prices": np.array([1.0])}, "one price"),
        ({"cap": math.inf}, "finite"),
        ({"cap": -1.0, "least": _least()}, "at least 0"),
    ],
)
def test_malformed_evidence_is_refused(change: dict[str, object], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        evolved(TradeOffBound([0.0, 1.0], [2.0, 3.0]), **change)
