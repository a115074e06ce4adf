"""What is printed of a problem follows from its criterion, and from the words it has of its own."""

from __future__ import annotations

from typing import Any

import pytest

import mechdesign as md
from mechdesign.methods import words
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.privacy import Pure
from tests.methods import problems
from tests.methods.problems import numbers


class Bare:
    """A problem that says nothing of itself."""

    kind = "bare"
    epsilon = 1.0
    privacy = Pure(1.0)

    def __init__(self, aim: Aim) -> None:
        self.criterion = Criterion(aim)


class Worded(Bare):
    measure = "chance of a slip"


@pytest.mark.parametrize("aim", Aim)
def test_every_aim_has_a_headline(aim: Aim) -> None:
    said = words.headline(Bare(aim))  # type: ignore[arg-type]
    assert said
    assert "{" not in said


@pytest.mark.parametrize(
    ("aim", "said"),
    [
        (Aim.WORST, "worst-case chance of a slip"),
    ],
)
def test_the_measure_of_a_problem_is_what_its_headline_is_about(aim: Aim, said: str) -> None:
    problem: Any = Worded(aim)
    assert words.headline(problem) == said
    assert words.subject(problem) == ""
    assert words.prior_of(problem) is None
    assert words.labels_of(problem) is None


def test_the_loss_of_a_problem_is_its_measure_unless_it_says_another() -> None:
    assert words.headline(numbers(1.0, md.Squared())) == "worst-case squared error"
    assert words.headline(problems.polar(1.0)) == "worst-case squared error, sum of both"
    assert words.headline(numbers(1.0, criterion=md.Lexicographic(md.priors.uniform(md.Interval(0, 1)), cap=0.3))) == (
        "average absolute error under the prior, worst case at most 0.3"
    )
