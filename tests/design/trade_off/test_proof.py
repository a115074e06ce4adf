"""The bound under a cap: evidence as a value, prices that hurt, prices outside the inputs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from mechdesign import CheckFailed, Interval, InvalidInput, Squared, catalogue, priors
from mechdesign.design.minimax.proof import MinimaxBound
from mechdesign.design.prior.proof import BinsBound
from mechdesign.design.trade_off.proof import TradeOffBound
from mechdesign.errors import FileProblem
from mechdesign.exact.cells import Cells
from mechdesign.mechanisms import Window

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
    from mechdesign.design.trade_off.search import TradeOffProblem

    problem = TradeOffProblem(1.0, priors.Atoms(PRIOR.means, PRIOR.weights), Squared(), cap=0.2).to_dict()
    none, mechanism = np.empty(0), Window(1.0, UNIT, [0.5], [1.0], 2.0)
    TradeOffBound(1.0, 2, PRIOR, 0.2, none, none).statement(problem, mechanism)
    with pytest.raises(FileProblem):
        TradeOffBound(1.0, 2, PRIOR, 0.3, none, none).statement(problem, mechanism)


def _least(epsilon: float = 1.0) -> MinimaxBound:
    """Two inputs at the ends: c / (1 + c)^2 = 0.1966 at epsilon 1."""
    ratio = math.exp(epsilon)
    radius = math.sqrt(ratio) / (1 + ratio)
    ends, radii = np.array([0.0, 1.0]), np.array([radius, radius])
    return MinimaxBound(epsilon, 2, 0.0, 1.0, ends, radii, np.array([0.5, 0.5]))


def test_a_problem_without_a_cap_needs_a_proof_of_the_least_worst_case() -> None:
    from mechdesign.design.trade_off.search import TradeOffProblem

    problem = TradeOffProblem(1.0, priors.Atoms(PRIOR.means, PRIOR.weights), Squared(), slack=0.5).to_dict()
    none, mechanism = np.empty(0), Window(1.0, UNIT, [0.5], [1.0], 2.0)
    evidence = TradeOffBound(1.0, 2, PRIOR, 0.25, none, none, least=_least(), slack=0.5)
    evidence.statement(problem, mechanism)
    for other in (dataclasses.replace(evidence, least=None), dataclasses.replace(evidence, slack=0.6)):
        with pytest.raises(FileProblem):
            other.statement(problem, mechanism)


def test_a_cap_far_above_the_least_worst_case_is_refused() -> None:
    none, mechanism = np.empty(0), Window(1.0, UNIT, [0.5], [1.0], 2.0)
    least = _least()
    value = float(least.value())
    assert 0.1 < value < 0.25
    slack = (0.25 / value - 1) / 1.5
    near = TradeOffBound(1.0, 2, PRIOR, 0.25, none, none, least=least, slack=slack * 1.01)
    assert near.attained(mechanism) > 0
    with pytest.raises(CheckFailed, match="slack"):
        dataclasses.replace(near, slack=slack * 0.99).attained(mechanism)
    with pytest.raises(CheckFailed, match="other inputs"):
        dataclasses.replace(near, least=dataclasses.replace(least, upper=2.0)).attained(mechanism)
    with pytest.raises(InvalidInput, match="same epsilon"):
        dataclasses.replace(near, least=_least(0.5))


def test_a_rounded_prior_is_in_the_scope_and_in_the_problem() -> None:
    from mechdesign.design.trade_off.search import TradeOffProblem

    problem = TradeOffProblem(1.0, priors.uniform(UNIT), Squared(), cap=0.25)
    none, mechanism = np.empty(0), Window(1.0, UNIT, [0.5], [1.0], 2.0)
    evidence = TradeOffBound(1.0, 2, problem.atoms, 0.25, none, none, rounded=True)
    evidence.statement(problem.to_dict(), mechanism)
    assert evidence.scope(mechanism).endswith(", under the prior rounded to 192 atoms")
    said = problem.to_dict()
    for echo in (said, said | {"prior": said["prior"] | {"rounded": False}}):
        with pytest.raises(FileProblem):
            dataclasses.replace(evidence, rounded=False).statement(echo, mechanism)


def test_another_prior_with_the_same_ends_and_mean_is_refused() -> None:
    from mechdesign.design.trade_off.search import TradeOffProblem

    problem = TradeOffProblem(1.0, priors.Atoms([0.2, 0.4, 0.6], [0.25, 0.5, 0.25]), Squared(), cap=0.25).to_dict()
    other = Cells.of_atoms([0.2, 0.4, 0.6], [0.375, 0.25, 0.375])
    with pytest.raises(FileProblem, match="sha256"):
        TradeOffBound(1.0, 2, other, 0.25, np.empty(0), np.empty(0)).statement(
            problem, Window(1.0, UNIT, [0.5], [1.0], 2.0)
        )


def test_a_mechanism_above_the_cap_is_refused() -> None:
    with pytest.raises(CheckFailed, match="above the cap"):
        TradeOffBound(1.0, 2, PRIOR, 0.2, np.empty(0), np.empty(0)).attained(Window(1.0, UNIT, [0.5], [1.0], 2.0))


def test_evidence_survives_its_dictionary() -> None:
    evidence = TradeOffBound(1.0, 2, Cells.of_atoms([0.5], [1.0]), 0.2, np.array([0.0, 1.0]), np.array([2.0, 3.0]))
    for known in (evidence, dataclasses.replace(evidence, rounded=True, least=_least(), slack=0.5)):
        assert TradeOffBound.from_dict(known.to_dict()) == known
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
