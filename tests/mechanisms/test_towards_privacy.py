"""Tables of a formula in doubles keep their epsilon as rationals, and stay what the formula says."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.privacy import prove_privacy
from mechdesign.mechanisms import Discrete, rounded_towards_privacy
from mechdesign.words.domains import Finite

EPSILONS = st.one_of(st.floats(1e-3, 20), st.floats(1e-12, 1e-3), st.floats(20, 64))


def clamped_geometric(epsilon: float, last: int) -> list[list[float]]:
    """Noise ``P(z) ~ a^abs(z)`` on 0 to ``last``, what is beyond the ends moved to them."""
    a = math.exp(-epsilon / last)
    sizes = np.abs(np.subtract.outer(np.arange(last + 1), np.arange(last + 1)))
    rows = a**sizes * (1 - a) / (1 + a)
    rows[:, [0, last]] = a ** sizes[:, [0, last]] / (1 + a)
    return rows.tolist()


def randomised(ratio: Fraction, count: int) -> list[list[Fraction]]:
    rest = 1 / (ratio + count - 1)
    return [[rest * ratio if i == j else rest for j in range(count)] for i in range(count)]


@settings(max_examples=200, deadline=None)
@given(epsilon=EPSILONS, last=st.integers(1, 30))
def test_a_law_that_is_private_on_paper_is_private_in_rationals(epsilon: float, last: int) -> None:
    points = Finite(range(last + 1))
    assert prove_privacy(
        rounded_towards_privacy(epsilon, points, points, clamped_geometric(epsilon, last)), epsilon
    ).holds


@settings(max_examples=200, deadline=None)
@given(epsilon=st.floats(1e-2, 64), last=st.integers(1, 30))
def test_it_stays_what_the_formula_says(epsilon: float, last: int) -> None:
    rows, points = clamped_geometric(epsilon, last), Finite(range(last + 1))
    found = rounded_towards_privacy(epsilon, points, points, rows)
    assert found.probabilities == pytest.approx(np.array(rows), rel=1e-11)
    assert found.privacy_loss() == pytest.approx(epsilon, rel=1e-11)


def test_the_formula_as_it_stands_may_break_its_epsilon() -> None:
    """What the function is for: here the last bits of a table in doubles are one too many."""
    points, rows = Finite(range(6)), clamped_geometric(0.1, 5)
    with pytest.raises(CheckFailed, match="above the epsilon"):
        prove_privacy(Discrete(0.1, points, points, rows), 0.1)
    assert prove_privacy(rounded_towards_privacy(0.1, points, points, rows), 0.1).holds


def test_rationals_are_taken_too() -> None:
    points = Finite(range(3))
    found = rounded_towards_privacy(math.log(3), points, points, randomised(Fraction(3), 3), "mine")
    assert prove_privacy(found, math.log(3)).holds
    assert found.name == "mine"
    assert found.probabilities[0].tolist() == pytest.approx([0.6, 0.2, 0.2])


def test_an_output_that_nobody_reports_stays_so() -> None:
    two, three = Finite((0, 1)), Finite((0, 1, 2))
    rows = [[0.75, 0.0, 0.25], [0.25, 0.0, 0.75]]
    assert not rounded_towards_privacy(math.log(3), two, three, rows).probabilities[:, 1].any()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[0.8, 0.2], [0.2, 0.8]], "rows 0 and 1 in column 0"),
        ([[1.0, 0.0], [0.5, 0.5]], "column 1"),
        ([[0.5, 0.5], [0.5, 0.4]], "sum to 1"),
        ([[0.5, "x"], [0.5, 0.5]], "numbers"),
        ([[0.5, 0.5], [0.5, math.nan]], "finite"),
    ],
)
def test_what_no_rounding_explains_is_refused(rows: list[list[float]], words: str) -> None:
    points = Finite((0, 1))
    with pytest.raises(InvalidInput, match=words):
        rounded_towards_privacy(math.log(3), points, points, rows)


def test_rows_that_are_not_private_are_named_with_their_column() -> None:
    """The worst ratio is 6, of rows 2 and 0 in column 3; others are at most 3."""
    rows = [[0.3, 0.3, 0.3, 0.1], [0.3, 0.2, 0.3, 0.2], [0.15, 0.1, 0.15, 0.6]]
    with pytest.raises(InvalidInput, match="rows 2 and 0 in column 3"):
        rounded_towards_privacy(0.5, Finite(range(3)), Finite(range(4)), rows)
