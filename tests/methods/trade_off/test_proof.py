"""The bound under a cap: evidence as a value, prices that hurt, prices outside the inputs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import (
    CheckFailed,
    Interval,
    InvalidInput,
    Power,
    Squared,
    catalogue,
    priors,
)
from mechdesign.exact.bins import least_average
from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.mechanisms import Window
from mechdesign.methods.prior import BinsBound
from mechdesign.methods.registry import CODEC
from mechdesign.methods.trade_off import TradeOffBound
from mechdesign.methods.trade_off.supports import capped_of
from mechdesign.values.codec import encoded
from mechdesign.values.declare import evolved
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Average, Lexicographic
from mechdesign.words.problem import Problem
from tests.methods.problems import numbers
from tests.oracles.window_laws import average_error, worst_error

UNIT = Interval(0, 1)
PRIOR = priors.Atoms([0.2, 0.5, 0.6], [0.25, 0.5, 0.25])
NONE = np.empty(0)
MIDDLE = Window(1.0, UNIT, [0.5], [1.0], 2.0)


def _problem(cap: float | None = None, prior: priors.Prior = PRIOR, slack: float = 1e-3, exponent: int = 2) -> Problem:
    return numbers(1.0, Power(float(exponent)), criterion=Lexicographic(prior, slack=slack, cap=cap))


def test_without_prices_it_is_the_bound_under_the_prior() -> None:
    free = BinsBound().bound(numbers(1.0, Squared(), criterion=Average(PRIOR)), MIDDLE)
    assert TradeOffBound(NONE, NONE).bound(_problem(0.2), MIDDLE) == free


@pytest.mark.parametrize("price", [0.1, 1.0, 5.0, 100.0])
def test_no_mechanism_that_keeps_the_cap_beats_the_bound(price: float) -> None:
    # an input of the prior among the priced ones: their weights add up
    bound = TradeOffBound([0.0, 0.5, 1.0], price * np.array([1.0, 0.1, 2.0]))
    for entry in catalogue.ON_INTERVALS:
        rival = entry.build(1.0, UNIT, Squared())
        cap = rival.worst_case(Squared())[0] * (1 + 1e-12)
        assert rival.average_loss(Squared(), PRIOR) >= float(bound.value(capped_of(_problem(cap)))) - 1e-12


def test_the_cap_is_the_problem_s() -> None:
    evidence = TradeOffBound([0.0, 1.0], [0.01, 0.01])
    assert evidence.scope(_problem(0.25), MIDDLE).words == "all mechanisms with worst case at most 0.25"
    assert evidence.value(capped_of(_problem(0.25))) > evidence.value(capped_of(_problem(0.3)))
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
    higher = numbers(0.1, Squared())
    levels = _least(higher.epsilon)
    assert levels.least_worst_case(1.0, 2) < 0.2 < float(levels.least_worst_case(0.1, 2))
    with pytest.raises(CheckFailed, match="slack"):
        TradeOffBound(NONE, NONE, 0.25, levels).bound(_problem(slack=0.01), MIDDLE)


def test_a_rounded_prior_is_in_the_scope_and_in_the_file() -> None:
    problem = _problem(0.25, priors.uniform(UNIT))
    assert capped_of(problem).is_rounded
    assert not capped_of(_problem(0.25)).is_rounded
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
        with pytest.raises(CheckFailed, match="criterion must be Lexicographic"):
            method(numbers(1.0, Squared(), criterion=Average(PRIOR)), MIDDLE)


def test_evidence_survives_its_file() -> None:
    evidence = TradeOffBound([0.0, 1.0], [2.0, 3.0])
    for known in (evidence, evolved(evidence, cap=0.25, least=_least())):
        assert CODEC.decoded(TradeOffBound, encoded(known), "evidence") == known
    assert evidence.multiplier(capped_of(_problem(0.2))) == 5.0


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


# -- term by term, as the page says ------------------------------------------------------------------------------------


def _sums(*columns: np.ndarray) -> list[Fraction]:
    return [sum(map(Fraction, column.tolist()), Fraction(0)) for column in columns]


@given(
    st.dictionaries(st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.75, 1.0]), st.integers(1, 64), max_size=4),
    st.integers(0, 8),
    st.sampled_from([1, 2]),
)
@settings(deadline=None, max_examples=60)
def test_the_bound_is_the_average_under_prior_and_prices_less_what_the_cap_costs(
    prices: dict[float, int], cap: int, exponent: int
) -> None:
    problem = _problem((cap + 1) / 32, exponent=exponent)
    places = sorted(prices)
    bound = TradeOffBound(places, [prices[x] / 16 for x in places])
    weights = {x: Fraction(w) for x, w in zip(PRIOR.points.tolist(), PRIOR.weights.tolist(), strict=True)}
    for x in places:
        weights[x] = weights.get(x, Fraction(0)) + Fraction(prices[x], 16)
    both = Cells.of_atoms(sorted(weights), [float(weights[x]) for x in sorted(weights)])
    mass, paid = sum(weights.values()), Fraction(cap + 1, 32) * sum(Fraction(p, 16) for p in prices.values())
    expected = max(Fraction(0), mass * least_average(1.0, exponent, both) - paid)
    assert bound.value(capped_of(problem)) == expected
    found = bound.bound(problem, MIDDLE)
    assert Fraction(found) <= expected < Fraction(math.nextafter(found, math.inf))
    assert bound.multiplier(capped_of(problem)) == sum(prices.values()) / 16


def test_the_prior_counts_as_a_whole_whatever_it_sums_to() -> None:
    """Its weights are doubles: what they miss of 1 is divided out."""
    prior = priors.Atoms([0.2, 0.5, 0.6], [0.1, 0.7, 0.2])
    problem, bound = _problem(0.2, prior), TradeOffBound([0.0, 1.0], [0.5, 0.25])
    atoms = capped_of(problem).atoms
    both = Cells.of_atoms([0.0, *atoms.means, 1.0], [0.5, *atoms.weights, 0.25])
    total, mass = _sums(atoms.weights, both.weights)
    assert (
        bound.value(capped_of(problem))
        == (mass * least_average(1.0, 2, both) - Fraction(0.2) * Fraction(3, 4)) / total
        > 0
    )


def test_what_a_cap_costs_is_that_of_a_whole_prior() -> None:
    twice = Cells.of_atoms([0.2, 0.6], [1.0, 3.0])
    assert TradeOffBound([0.0, 1.0], [2.0, 3.0]).multiplier(capped_of(_problem(0.2, twice))) == 1.25  # type: ignore[arg-type]


def test_a_price_at_a_value_of_the_prior_is_added_rounded_down() -> None:
    atoms = Cells.of_atoms([0.0, 0.5], [1.0, 0.1])
    for price in (0.2, 0.7, 2.0**-60):
        mixed = TradeOffBound([0.5], [price])._mixture(atoms).weights.tolist()
        exact = Fraction(0.1) + Fraction(price)
        assert mixed[0] == 1.0
        assert Fraction(mixed[1]) <= exact < Fraction(math.nextafter(mixed[1], math.inf))


@pytest.mark.parametrize("exponent", [1, 2])
def test_what_is_attained_is_the_average_under_the_prior_rounded_up(exponent: int) -> None:
    window = Window(1.0, UNIT, [0.1, 0.45, 0.8], [0.1, 0.3, 0.2], 2.6)
    problem = _problem(0.7, exponent=exponent)
    exact, found = (
        average_error(window, capped_of(problem).atoms, exponent),
        TradeOffBound(NONE, NONE).attained(problem, window),
    )
    assert Fraction(math.nextafter(found, 0.0)) < exact <= Fraction(found)


def test_a_worst_case_of_exactly_the_cap_keeps_it() -> None:
    half, free = Window(1.0, UNIT, [0.25, 0.75], [0.25, 0.25], 2.5), TradeOffBound(NONE, NONE)
    assert worst_error(half, 1) == Fraction(7, 16)
    assert free.attained(_problem(7 / 16, exponent=1), half) > 0
    with pytest.raises(CheckFailed, match="above the cap"):
        free.attained(_problem(math.nextafter(7 / 16, 0.0), exponent=1), half)


def test_a_cap_is_up_to_one_and_a_half_times_the_slack_above_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, int]] = []

    def least(_: LevelledPrior, *said: float) -> Fraction:
        asked.append(said)  # type: ignore[arg-type]
        return Fraction(1, 4)

    monkeypatch.setattr(LevelledPrior, "least_worst_case", least)
    problem = _problem(slack=0.5)
    assert TradeOffBound(NONE, NONE, 0.4375, _least()).cap_of(capped_of(problem)) == 0.4375
    assert asked == [(1.0, 2)]
    with pytest.raises(CheckFailed, match="slack"):
        TradeOffBound(NONE, NONE, math.nextafter(0.4375, 1.0), _least()).cap_of(capped_of(problem))


@pytest.mark.parametrize("places", [[-0.25, 0.5], [0.5, 1.25]])
def test_prices_and_atoms_stand_among_the_inputs(places: list[float]) -> None:
    with pytest.raises(CheckFailed, match="not among the inputs"):
        TradeOffBound(places, [1.0, 1.0]).bound(_problem(0.3), MIDDLE)
    levels = LevelledPrior(places, [0.4, 0.4], [0.5, 0.5])
    with pytest.raises(CheckFailed, match="not among the inputs"):
        TradeOffBound(NONE, NONE, 0.01, levels).cap_of(capped_of(_problem()))
    assert TradeOffBound([0.0, 1.0], [1.0, 1.0]).bound(_problem(0.3), MIDDLE) >= 0


def test_a_cap_of_nothing_is_a_cap() -> None:
    assert TradeOffBound(NONE, NONE, 0.0, _least()).cap_of(capped_of(_problem())) == 0.0


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": np.array([0.5, 0.5])},
        {"inputs": np.array([0.5, math.nan])},
        {"prices": np.array([1.0, math.nan])},
        {"prices": np.array([1.0, math.inf])},
        {"inputs": np.array([[0.0], [1.0]]), "prices": np.array([[1.0], [1.0]])},
    ],
    ids=str,
)
def test_columns_are_finite_and_in_a_row(change: dict[str, np.ndarray]) -> None:
    with pytest.raises(InvalidInput, match="priced"):
        evolved(TradeOffBound([0.0, 1.0], [2.0, 3.0]), **change)
