"""Domains validate themselves once and then say exactly which value does not belong."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from mechdesign.errors import WITHHELD, InvalidInput
from mechdesign.words.domains import Circle, Finite, Interval, Line, Product, require_between, require_numbers

REAL = st.floats(-1e9, 1e9)


@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e9))
def test_an_interval_keeps_its_ends(lower, length):
    upper = lower + length
    interval = Interval(lower, upper)
    assert (interval.lower, interval.upper, interval.length) == (lower, upper, upper - lower)
    assert interval.lower <= interval.middle <= interval.upper


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(1, 1), (2, 1), (math.nan, 1), (0, math.nan), (0, math.inf), (-math.inf, 0), ("0", 1), (False, True), (None, 1)],
)
def test_empty_and_endless_intervals_are_refused(lower, upper):
    with pytest.raises(InvalidInput):
        Interval(lower, upper)


@pytest.mark.parametrize("length", [5e-324, 1e-101, 1e101, 1e308])
def test_lengths_whose_densities_or_squares_leave_the_doubles_are_refused(length):
    with pytest.raises(InvalidInput, match="rescale"):
        Interval(0, length)
    with pytest.raises(InvalidInput, match="rescale"):
        Circle(length)


@pytest.mark.parametrize("far", [1.0, -1e6, 1e15])
def test_intervals_too_far_away_for_doubles_to_resolve_are_refused(far):
    assert Interval(far, far + 2e-10 * abs(far)).length > 0
    with pytest.raises(InvalidInput, match="subtract the lower end"):
        Interval(far, far + 0.5e-10 * abs(far))


def test_both_ends_of_an_interval_belong_to_it():
    assert Interval(0, 1).require([0, 1]).tolist() == [0, 1]


@given(arrays(float, st.integers(1, 20), elements=st.floats(-3, 3)))
def test_an_interval_accepts_exactly_its_own_values(values):
    interval = Interval(-1, 2)
    bad = np.flatnonzero((values < -1) | (values > 2))
    if bad.size == 0:
        np.testing.assert_array_equal(interval.require(values), values)
        return
    with pytest.raises(InvalidInput) as caught:
        interval.require(values, "data")
    assert (caught.value.field, caught.value.value) == (f"data[{bad[0]}]", WITHHELD)
    assert f"{bad.size} of {values.size} values" in str(caught.value)


def test_a_single_value_outside_is_named_without_a_place():
    with pytest.raises(InvalidInput, match=r"^x must lie in \[0, 1\] \(got 2.0\)"):
        Interval(0, 1).require(2)


@pytest.mark.parametrize("domain", [Interval(0, 1), Circle(1), Finite((0, 1))], ids=str)
@pytest.mark.parametrize(
    "values", ["1", [True], None, 1j, ["a"], [[1], [1, 2]], [math.nan], ..., np.array(["1"])], ids=repr
)
def test_what_is_not_a_number_is_in_no_domain(domain, values):
    with pytest.raises(InvalidInput):
        domain.require(values)


@pytest.mark.parametrize("domain", [Interval(0, 1), Circle(1), Finite((0, 1))], ids=str)
def test_integers_and_short_floats_become_doubles(domain):
    for values in (1, [0, 1], np.array([0, 1], dtype=np.int8), np.float32(1), np.array([1], dtype=np.uint64)):
        assert domain.require(values).dtype == np.float64


def test_containment_is_by_both_ends():
    assert Interval(0, 2).contains(Interval(0, 1))
    assert Interval(0, 2).contains(Interval(0, 2))
    assert not Interval(0, 2).contains(Interval(-1, 1))
    assert not Interval(0, 2).contains(Interval(1, 3))


@given(REAL, st.floats(1e-3, 1e6))
def test_reducing_gives_the_same_point_inside_one_turn(value, period):
    reduced = float(Circle(period).reduce(value))
    assert 0 <= reduced < period
    turns = (value - reduced) / period
    assert turns == pytest.approx(round(turns), abs=1e-9 * (1 + abs(turns)))


def test_a_tiny_negative_angle_reduces_to_zero_not_to_the_period():
    assert Circle(360.0).reduce(-1e-20) == 0


@pytest.mark.parametrize("period", [0, -1, math.nan, math.inf, "1", True])
def test_periods_that_are_not_are_refused(period):
    with pytest.raises(InvalidInput):
        Circle(period)


def test_a_circle_has_one_turn():
    assert Circle().period == 2 * math.pi
    circle = Circle(24)
    assert (circle.lower, circle.upper, circle.length, circle.middle) == (0, 24, 24, 12)
    assert circle.require([0, 24]).tolist() == [0, 24]
    for beyond in (-0.1, 24.1):
        with pytest.raises(InvalidInput):
            circle.require(beyond)


@pytest.mark.parametrize("points", [(), (1, 1), (2, 1), (math.nan,), (math.inf,), ("a",), (True,), (0, None)])
def test_point_sets_that_are_not_increasing_numbers_are_refused(points):
    with pytest.raises(InvalidInput):
        Finite(points)


@given(st.lists(REAL, min_size=1, max_size=20, unique=True), st.data())
def test_positions_of_points_are_found(points, data):
    domain = Finite(tuple(sorted(points)))
    position = data.draw(st.integers(0, len(domain) - 1))
    assert domain.index(domain.points[position]) == position
    between = math.nextafter(domain.points[position], math.inf)
    if between not in domain.points:
        with pytest.raises(InvalidInput, match="points of the domain"):
            domain.index(between)


def test_a_single_point_has_length_zero():
    assert Finite((3,)).length == 0


def test_a_product_needs_a_part():
    with pytest.raises(InvalidInput):
        Product(())


def test_domains_print_as_a_reader_writes_them():
    assert str(Interval(-5, 3)) == "[-5, 3]"
    assert str(Circle(360)) == "circle [0, 360)"
    assert str(Finite((0, 1, 5))) == "{0, 1, 5}"
    assert str(Finite(tuple(range(9)))) == "{0, 1, ..., 8} (9 points)"
    assert str(Product((Interval(0, 1), Line()))) == "[0, 1] x (-inf, inf)"


def test_equal_domains_are_equal_whatever_their_number_types():
    assert Interval(0, 1) == Interval(0.0, np.float64(1))
    assert hash(Interval(0, 1)) == hash(Interval(0.0, 1.0))


def test_domains_cannot_be_changed():
    with pytest.raises(AttributeError):
        Interval(0, 1).lower = 2


def test_one_number_inside_is_required():
    assert require_between(0.5, Interval(0, 1), "at") == 0.5
    for value in ([0.5], "0.5", 2, math.nan, True):
        with pytest.raises(InvalidInput, match="at"):
            require_between(value, Interval(0, 1), "at")


def test_numbers_may_be_infinite_but_not_nan():
    assert require_numbers([1, math.inf], "y").tolist() == [1, math.inf]
    with pytest.raises(InvalidInput, match=r"y\[1\]"):
        require_numbers([1, math.nan], "y")


@pytest.mark.parametrize("domain", [Interval(0, 1), Circle(), Finite((0.0, 1.0))])
def test_masked_entries_are_missing_and_not_numbers(domain: Interval | Circle | Finite) -> None:
    with pytest.raises(InvalidInput, match="no masked entries"):
        domain.require(np.ma.masked_array([0.0, 1.0], [False, True]))
    assert domain.require(np.ma.masked_array([0.0, 1.0], False)).tolist() == [0, 1]


def test_whole_numbers_that_no_double_holds_are_refused() -> None:
    domain = Interval(0, 1e18)
    assert domain.require([2**53, 2**53 + 2]).tolist() == [2.0**53, 2.0**53 + 2]
    with pytest.raises(InvalidInput, match="numbers that doubles hold"):
        domain.require([0, 2**53 + 1])
