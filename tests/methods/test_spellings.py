"""Problems take what the command line takes: names of losses and priors, and two numbers for an interval."""

from __future__ import annotations

from typing import Any

import pytest

import mechdesign as md
from mechdesign.words import priors
from mechdesign.words.losses import parse_loss
from tests.methods import problems
from tests.methods.problems import numbers

UNIT, AGES = md.Interval(0, 1), md.Interval(18, 90)
WITH_PRIOR = (problems.unbiased_under, problems.additive)


@pytest.mark.parametrize("name", ["absolute", "squared"])
def test_the_name_of_a_loss_is_the_loss(name: str) -> None:
    assert numbers(1.0, name) == numbers(1.0, parse_loss(name))


def test_a_power_has_a_name_too() -> None:
    assert numbers(1.0, "power:1.5") == numbers(1.0, md.Power(1.5))
    one, other = (md.Problem(inputs=(0, 1), loss=loss, privacy=md.Pure(1.0)) for loss in ("squared", md.Squared()))
    assert one == other


def test_on_a_circle_the_name_is_that_of_the_loss_round_it() -> None:
    assert problems.piecewise(1.0, "squared", md.Circle(360)).loss == md.Power(2.0, 360.0)


@pytest.mark.parametrize("ends", [(18, 90), (18.0, 90.0)])
def test_two_numbers_are_an_interval(ends: Any) -> None:
    assert numbers(1.0, inputs=tuple(ends)) == numbers(1.0, inputs=AGES)


def test_other_intervals_of_problems_and_of_priors_are_two_numbers_too() -> None:
    assert problems.piecewise(1.0, outputs=(-1, 2)) == problems.piecewise(1.0, outputs=md.Interval(-1, 2))
    assert md.Piecewise(outputs="-1,2") == md.Piecewise(outputs=(-1, 2))
    assert priors.uniform((0, 1)) == priors.uniform(UNIT)


@pytest.mark.parametrize("kind", WITH_PRIOR)
def test_the_name_of_a_prior_is_that_prior_on_the_inputs(kind: Any) -> None:
    law = priors.normal(40, 10, AGES)
    assert kind(1.0, "normal:40,10", inputs=(18, 90)).criterion.prior == law


def test_uniform_on_points_is_an_equal_weight_for_each() -> None:
    points = md.Finite((0, 1, 2, 5))
    assert numbers(1.0, inputs=points, criterion=md.Average("uniform")).weights.tolist() == [0.25] * 4


@pytest.mark.parametrize(
    ("kind", "said", "words"),
    [
        (numbers, {"loss": "mse"}, "did you mean squared?"),
        (numbers, {"loss": "l1"}, "did you mean absolute?"),
        (numbers, {"inputs": (1, 0)}, "swap or widen the ends"),
        (
            numbers,
            {"inputs": md.Finite((0, 1)), "criterion": md.Average("normal:0,1")},
            "be uniform on a finite domain",
        ),
        (problems.unbiased_under, {"prior": "gaussian"}, "be uniform, normal:MEAN,DEVIATION"),
    ],
)
def test_other_spellings_are_refused_with_what_may_be_meant(kind: Any, said: dict[str, Any], words: str) -> None:
    with pytest.raises(md.InvalidInput, match=words):
        kind(1.0, **said)
