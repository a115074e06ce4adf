"""The bound of prices: never above what any private table attains, and term by term as the page states it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.hockey import hockey_excess
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.mechanisms import Discrete
from mechdesign.methods.approximate import HockeyBound
from mechdesign.words.domains import Finite

LOSSES = np.array([[0.0, 1.0, 3.0], [1.0, 0.25, 1.0], [2.0, 1.0, 0.0]])


def asked(criterion: object = None, delta: float = 0.2) -> md.Problem:
    return md.Problem(loss=LOSSES, privacy=md.Approximate(0.8, delta), criterion=criterion or md.Worst())


def _from_the_page(problem: md.Problem, weights: list[Fraction], prices: np.ndarray) -> Fraction:
    """``sum_x min_y (w_x loss + sum p[x, x', y] - c sum p[x', x, y]) - delta sum max_y p[x, x', y]``."""
    c, size = exp_upper(0.8), range(3)
    costs = [
        min(
            weights[x] * Fraction(LOSSES[x, y])
            + sum(Fraction(prices[x, o, y]) for o in size)
            - c * sum(Fraction(prices[o, x, y]) for o in size)
            for y in size
        )
        for x in size
    ]
    tops = sum(Fraction(prices[x, o].max()) for x in size for o in size)
    return sum(costs) - Fraction(problem.privacy.delta) * tops  # type: ignore[union-attr]


def _random_prices(rng: np.random.Generator) -> np.ndarray:
    prices = rng.random((3, 3, 3)) * (rng.random((3, 3, 3)) < 0.5)
    prices[np.arange(3), np.arange(3)] = 0
    return np.asarray(prices)


def _evidence(weights: np.ndarray, prices: np.ndarray) -> HockeyBound:
    places = [tuple(map(int, place)) for place in np.argwhere(prices > 0)]
    return HockeyBound(weights, places, [prices[place] for place in places])


def test_the_value_is_that_of_the_page() -> None:
    rng = np.random.default_rng(2)
    for criterion in (None, md.Average([0.2, 0.3, 0.5])):
        problem, weights, prices = asked(criterion), rng.random(3), _random_prices(rng)
        said = weights if criterion is None else criterion.prior
        exact = [Fraction(one) for one in said.tolist()]
        normal = [one / sum(exact) for one in exact]
        own = weights if criterion is None else np.zeros(3)
        assert _evidence(own, prices).value(problem) == _from_the_page(problem, normal, prices)


def test_no_prices_whatever_exceed_what_a_private_table_attains() -> None:
    rng, tried = np.random.default_rng(11), 0
    problem = asked()
    while tried < 60:
        rows = rng.dirichlet(np.ones(3), size=3)
        rows = 0.5 * rows + 0.5 * rows.mean(axis=0)
        mechanism = Discrete(0.8, Finite((0, 1, 2)), Finite((0, 1, 2)), rows)
        if hockey_excess(mechanism, exp_lower(0.8)) > Fraction(0.2):
            continue
        tried += 1
        bound = _evidence(rng.random(3) + 0.01, 0.3 * _random_prices(rng))
        assert bound.value(problem) <= bound.attained(problem, mechanism)


@pytest.mark.parametrize("price", [-0.1, float("nan"), float("inf")])
def test_prices_that_are_none_are_refused(price: float) -> None:
    with pytest.raises(InvalidInput):
        HockeyBound([1.0, 1.0, 1.0], [(0, 1, 0)], [price])


@pytest.mark.parametrize(
    "places", [[(0, 1, 0), (0, 1, 0)], [(0, 1)], [(0, 1, -1)], [(0, 1, 0.5)], [(0, True, 0)], [(0, 1, 0), (0, 2, 0)]]
)
def test_places_that_are_none_are_refused(places: object) -> None:
    with pytest.raises(InvalidInput):
        HockeyBound([1.0, 1.0, 1.0], places, [0.1] if len(places) != 2 or places[0] != places[1] else [0.1, 0.1])  # type: ignore[arg-type]


@pytest.mark.parametrize("place", [(0, 3, 0), (3, 0, 0), (0, 1, 3), (1, 1, 0)])
def test_places_outside_the_problem_are_refused(place: tuple[int, int, int]) -> None:
    with pytest.raises(CheckFailed, match="other inputs or outputs"):
        HockeyBound([1.0, 1.0, 1.0], [place], [0.1]).value(asked())


def test_evidence_about_another_problem_is_refused() -> None:
    bound = HockeyBound([1.0, 1.0, 1.0], [], [])
    others = (
        md.Problem(loss=LOSSES, privacy=md.Pure(0.8)),
        asked(md.Lexicographic([0.2, 0.3, 0.5])),
    )
    for problem in others:
        with pytest.raises(CheckFailed):
            bound.value(problem)
    with pytest.raises(CheckFailed):
        HockeyBound([1.0, 1.0], [], []).value(asked())
    with pytest.raises(CheckFailed, match="weights of its own"):
        bound.value(asked(md.Average([0.2, 0.3, 0.5])))
    with pytest.raises(CheckFailed, match="all 0"):
        HockeyBound([0.0, 0.0, 0.0], [], []).value(asked())


def test_a_table_onto_other_outputs_is_refused() -> None:
    bound = HockeyBound([1.0, 1.0, 1.0], [], [])
    other = Discrete(0.8, Finite((0, 1, 2)), Finite((5,)), np.ones((3, 1)))
    with pytest.raises(CheckFailed, match="no columns"):
        bound.attained(asked(), other)
