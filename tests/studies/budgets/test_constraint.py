"""What a constraint accepts, and which side of the threshold is good."""

from __future__ import annotations

import math

import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets.constraint import Constraint
from mechdesign.studies.frequencies import metrics


def largest_error(truth, estimate):
    return max(abs(f - g) for f, g in zip(truth, estimate, strict=True))


def test_direction_follows_the_metric():
    assert Constraint("kendall", 0.5, 0.9).direction == "at least"
    assert Constraint("l1", 0.5, 0.9).direction == "at most"


def test_the_threshold_itself_is_good():
    for name in ("kendall", "l1"):
        assert Constraint(name, 0.5, 0.9).holds(0.5)
    assert not Constraint("kendall", 0.5, 0.9).holds(0.49)
    assert not Constraint("l1", 0.5, 0.9).holds(0.51)


def test_any_function_is_a_metric():
    wish = Constraint(largest_error, 0.1, 0.9, "at most")
    assert wish.words == "largest_error at most 0.1 with probability at least 0.9"
    assert wish.measure([0.5, 0.5], [0.7, 0.3]) == pytest.approx(0.2)


def test_every_metric_has_a_constraint():
    for name in metrics.METRICS:
        assert Constraint(name, 0.5, 0.9).measure is metrics.metric(name).measure


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kendall", 1.1, 0.9), r"range \[-1, 1\]"),
        (("top", -0.1, 0.9), r"range \[0, 1\]"),
        (("top:3", 1.5, 0.9), r"range \[0, 1\]"),
        (("l1", -1.0, 0.9), "range"),
        (("l1", math.nan, 0.9), "threshold"),
        (("l1", math.inf, 0.9), "finite"),
        (("l1", 0.1, 0.0), "strictly between"),
        (("l1", 0.1, 1.0), "strictly between"),
        (("l1", 0.1, math.nan), "probability"),
        (("l1", 0.1, 0.5, "at least"), "direction"),
        (("kendall", 0.1, 0.5, "at most"), "direction"),
        ((largest_error, 0.1, 0.5), "direction"),
        (("speed", 0.1, 0.5), "metric"),
        ((3, 0.1, 0.5), "metric"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value[1:]),
)
def test_bad_constraints_are_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        Constraint(*arguments)
