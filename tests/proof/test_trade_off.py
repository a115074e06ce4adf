"""The bound under a cap: evidence as a value, prices that hurt, prices outside the inputs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from mechdesign import CheckFailed, Interval, InvalidInput, Squared, catalogue, priors
from mechdesign.errors import FileProblem
from mechdesign.mechanisms import Window
from mechdesign.proof.bins import BinsBound
from mechdesign.proof.cells import Cells
from mechdesign.proof.trade_off import TradeOffBound

UNIT = Interval(0, 1)
PRIOR = Cells.of_atoms([0.2, 0.5, 0.6], [0.25, 0.5, 0.25])


def test_without_prices_it_is_the_bound_under_the_prior() -> None:
    none = np.empty(0)
    assert TradeOffBound(1.0, 2, PRIOR, 0.2, none, none).value() == BinsBound(1.0, 2, PRIOR).value()


@pytest.mark.parametrize("price", [0.1, 1.0, 5.0, 100.0])
def test_no_mechanism_that_keeps_the_cap_beats_the_bound(price: float) -> None:
    prior = priors.Atoms(PRIOR.means, PRIOR.weights)
    for entry in catalogue.ON_INTERVALS:
        rival = entry.build(1.0, UNIT, Squared())
        cap = rival.worst_case(Squared())[0] * (1 + 1e-12)
        # an input of the prior among the priced ones: their weights add up
        bound = TradeOffBound(1.0, 2, PRIOR, cap, np.array([0.0, 0.5, 1.0]), price * np.array([1.0, 0.1, 2.0]))
        assert rival.average_loss(Squared(), prior) >= float(bound.value()) - 1e-12


def test_a_problem_with_another_cap_is_refused() -> None:
    from mechdesign.design.trade_off import TradeOffProblem

    problem = TradeOffProblem(1.0, priors.Atoms(PRIOR.means, PRIOR.weights), Squared(), cap=0.2).to_dict()
    none, mechanism = np.empty(0), Window(1.0, UNIT, [0.5], [1.0], 2.0)
    TradeOffBound(1.0, 2, PRIOR, 0.2, none, none).require_problem(problem, mechanism)
    TradeOffBound(1.0, 2, PRIOR, 0.3, none, none).require_problem(problem | {"cap": None}, mechanism)
    with pytest.raises(FileProblem):
        TradeOffBound(1.0, 2, PRIOR, 0.3, none, none).require_problem(problem, mechanism)


def test_a_mechanism_above_the_cap_is_refused() -> None:
    with pytest.raises(CheckFailed, match="above the cap"):
        TradeOffBound(1.0, 2, PRIOR, 0.2, np.empty(0), np.empty(0)).attained(Window(1.0, UNIT, [0.5], [1.0], 2.0))


def test_evidence_survives_its_dictionary() -> None:
    evidence = TradeOffBound(1.0, 2, Cells.of_atoms([0.5], [1.0]), 0.2, np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    assert TradeOffBound.from_dict(evidence.to_dict()) == evidence
    assert evidence.multiplier == 5.0


def test_prices_outside_the_inputs_are_refused() -> None:
    evidence = TradeOffBound(1.0, 2, Cells.of_atoms([0.5], [1.0]), 0.2, np.array([0.0, 2.0]), np.array([2.0, 3.0]))
    with pytest.raises(CheckFailed, match="prices inputs"):
        evidence.bound(Window(1.0, UNIT, [0.5], [1.0], 2.0))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"inputs": np.array([1.0, 0.0])}, "increasing"),
        ({"prices": np.array([1.0, 0.0])}, "above 0"),
        ({"prices": np.array([1.0])}, "one price"),
        ({"cap": math.inf}, "finite"),
        ({"exponent": 3}, "1 or 2"),
    ],
)
def test_malformed_evidence_is_refused(change: dict[str, object], word: str) -> None:
    good = TradeOffBound(1.0, 2, Cells.of_atoms([0.5], [1.0]), 0.2, np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    with pytest.raises(InvalidInput, match=word):
        dataclasses.replace(good, **change)  # type: ignore[arg-type]
