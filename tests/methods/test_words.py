"""What is printed of a problem follows from its criterion, and from the words it has of its own."""

from __future__ import annotations

import mechdesign as md
from tests.methods import problems
from tests.methods.problems import numbers


def test_the_loss_of_a_problem_is_its_measure_unless_it_says_another() -> None:
    assert numbers(1.0, md.Squared()).words.headline == "worst-case squared error"
    assert problems.polar(1.0).words.headline == "worst-case squared error, sum of both"
    capped = md.Lexicographic(md.priors.uniform(md.Interval(0, 1)), cap=0.3)
    headline = "average absolute error under the prior, worst case at most 0.3"
    assert numbers(1.0, criterion=capped).words.headline == headline
