"""The search for the share and the bins."""

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue as c
from mechdesign.studies.frequencies.tuning import tune_two_phase
from mechdesign.words.domains import Interval
from mechdesign.words.priors import Atoms, normal, uniform

SYMMETRIC = Interval(-1, 1)
NARROW = normal(0, 0.2, SYMMETRIC)


def hm_step(epsilon, prior):
    return c.hm(epsilon, SYMMETRIC)


def test_the_least_error_comes_first():
    found = tune_two_phase(4.0, 10_000, NARROW, SYMMETRIC, 0, [0.01, 0.1, 0.5], [4, 16], draws=2)
    errors = [choice.error for choice in found]
    assert errors == sorted(errors)
    assert len(found) == 6
    assert found[0].plan.share < 0.5
    assert found[0].plan.bins == 16


def test_without_a_choice_of_design_a_small_first_group_is_best():
    """A mechanism that ignores the descriptor: the error is the plan's own formula, no chance is left in it."""
    law = Atoms([-1.0, 0.2, 1.0], [0.3, 0.3, 0.4])
    found = tune_two_phase(1.0, 1000, law, SYMMETRIC, 0, [0.02, 0.1, 0.4], [4], draws=1, step=hm_step, weight=0.0)
    assert [choice.plan.share for choice in found] == [0.02, 0.1, 0.4]
    for choice in found:
        assert choice.error == pytest.approx(choice.plan.error_under(law, c.hm(1.0, SYMMETRIC)), rel=1e-12)


def test_the_same_seed_gives_the_same_choices():
    runs = [tune_two_phase(2.0, 500, NARROW, SYMMETRIC, seed, [0.1, 0.2], [4], draws=2) for seed in (1, 1, 2)]
    assert [choice.error for choice in runs[0]] == [choice.error for choice in runs[1]]
    assert [choice.error for choice in runs[0]] != [choice.error for choice in runs[2]]


@pytest.mark.parametrize(
    "changed",
    [
        {"shares": []},
        {"bins": []},
        {"bins": [1]},
        {"shares": [0.0]},
        {"draws": 0},
        {"seed": -1},
        {"seed": 1.5},
        {"guess": "normal"},
        {"guess": uniform(Interval(0, 5))},
        {"guess": Atoms([3.0], [1.0])},
        {"users": 3},
        {"epsilon": math.nan},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_searches_that_cannot_be_are_refused(changed):
    given = {"epsilon": 1.0, "users": 100, "guess": NARROW, "inputs": SYMMETRIC, "seed": 0} | changed
    with pytest.raises(InvalidInput):
        tune_two_phase(**given)


def test_priors_that_are_no_distributions_are_refused():
    for weights in ([0.5, 0.6], [-0.5, 1.5], [np.nan, 1.0]):
        with pytest.raises(InvalidInput, match="prior weights"):
            Atoms([0.0, 1.0], weights)
