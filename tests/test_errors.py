"""Errors say which field, which value, which rule and what to do next."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import (
    MAX_EPSILON,
    MIN_EPSILON,
    BrokenExtra,
    CheckFailed,
    FileProblem,
    InvalidInput,
    MechDesignError,
    MissingExtra,
    NoAnswer,
    require_chance,
    require_epsilon,
    require_finite,
    require_name,
    require_number,
    require_one_of,
    require_whole,
    unusable_extra,
)


@pytest.mark.parametrize("kind", [InvalidInput, FileProblem, NoAnswer, CheckFailed, MissingExtra])
def test_every_error_belongs_to_the_tree(kind):
    assert issubclass(kind, MechDesignError)


def test_invalid_input_is_a_value_error_and_a_missing_extra_an_import_error():
    assert issubclass(FileProblem, InvalidInput)
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(MissingExtra, ImportError)


def test_invalid_input_carries_and_shows_its_parts():
    error = InvalidInput("eps", -1, "be above 0", "pass eps=1")
    assert (error.field, error.value, error.rule, error.next_step) == ("eps", -1, "be above 0", "pass eps=1")
    assert str(error) == "eps must be above 0 (got -1); pass eps=1"


def test_long_values_are_cut_short_in_messages():
    assert len(str(InvalidInput("x", "a" * 10_000, "be short"))) < 200


def test_numbers_too_long_to_print_still_make_a_message():
    assert "got a int" in str(InvalidInput("x", 10**5000, "be short"))


def test_no_answer_carries_the_bounds():
    error = NoAnswer("time is up", 0.1, 0.2)
    assert (error.lower, error.upper) == (0.1, 0.2)
    assert str(error) == "time is up; the optimum lies in [0.1, 0.2]"


@given(st.floats(MIN_EPSILON, MAX_EPSILON))
def test_epsilons_in_range_are_returned_unchanged(epsilon):
    assert require_epsilon(epsilon) == epsilon


@given(st.one_of(st.floats(max_value=0), st.floats(min_value=math.nextafter(MAX_EPSILON, 100)), st.just(math.nan)))
def test_epsilons_out_of_range_are_refused(epsilon):
    with pytest.raises(InvalidInput, match="eps"):
        require_epsilon(epsilon)


def test_an_epsilon_too_small_for_doubles_says_so():
    with pytest.raises(InvalidInput, match="at least 1e-12"):
        require_epsilon(math.nextafter(MIN_EPSILON, 0))


def test_the_field_is_named_as_the_caller_calls_it():
    with pytest.raises(InvalidInput, match=r"^budget must"):
        require_epsilon(0, "budget")


@pytest.mark.parametrize(
    "value", [1, 1.0, np.float64(1), np.float32(1), np.int8(1), np.array(1.0), Fraction(1), Decimal(1)]
)
def test_numbers_of_any_type_are_numbers(value):
    number = require_number(value, "a")
    assert (number, type(number)) == (1.0, float)


NOT_NUMBERS = [True, np.True_, "1", b"1", bytearray(b"1"), memoryview(b"1"), None, [1], (1,), {}, 1j, np.complex128(1)]
NOT_NUMBERS += [
    np.array([1.0]),
    np.array([[1.0]]),
    np.array("1"),
    np.datetime64(1, "s"),
    np.timedelta64(1, "s"),
    ...,
]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: type(value).__name__)
def test_what_is_not_a_number_is_refused(value):
    with pytest.raises(InvalidInput, match="be a number"):
        require_number(value, "a")


def test_nan_is_never_a_number():
    with pytest.raises(InvalidInput, match="NaN"):
        require_number(math.nan, "a")


def test_integers_beyond_doubles_are_refused():
    with pytest.raises(InvalidInput):
        require_number(10**400, "a")


def test_infinity_is_a_number_but_not_finite():
    assert require_number(-math.inf, "a") == -math.inf
    with pytest.raises(InvalidInput, match="finite"):
        require_finite(math.inf, "a")


@pytest.mark.parametrize(
    "error",
    [
        InvalidInput("eps", -1, "be above 0", "pass eps=1"),
        FileProblem("file", "a.json", "exist"),
        NoAnswer("the time is up", 0.1, 0.2),
        MissingExtra("this", "data"),
        BrokenExtra("this", "data", "no memory"),
        CheckFailed("it failed"),
    ],
)
def test_errors_survive_the_way_between_processes(error: Exception) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


@pytest.mark.parametrize("said", [True, np.True_, 3.0, np.float64(3), "3", None, np.array([3]), np.array(2.7)])
def test_only_whole_numbers_are_whole(said):
    with pytest.raises(InvalidInput, match="count must be a whole number of at least 1"):
        require_whole(said, "count", 1)


@pytest.mark.parametrize("said", [3, np.int32(3), np.uint64(3), np.array(3)])
def test_whole_numbers_of_any_kind_become_pythons(said):
    number = require_whole(said, "count", 1)
    assert type(number) is int
    assert number == 3


@pytest.mark.parametrize("said", [0, 1, -0.5, math.nan, "0.5", True])
def test_chances_lie_strictly_between_0_and_1(said):
    assert require_chance(0.5, "confidence") == 0.5
    with pytest.raises(InvalidInput, match="confidence must"):
        require_chance(said, "confidence")


@pytest.mark.parametrize("said", ["RAW", "", 7, None, ["raw"]])
def test_words_are_known_or_all_that_are_get_listed(said):
    assert require_one_of("raw", "method", ("raw", "ml")) == "raw"
    with pytest.raises(InvalidInput, match="method must be one of raw, ml"):
        require_one_of(said, "method", ("raw", "ml"))


@pytest.mark.parametrize("said", ["xyz", "", 7, None])
def test_names_are_known_in_either_case_or_refused(said):
    assert require_name(" OUE ", "protocol", ("grr", "oue")) == "oue"
    with pytest.raises(InvalidInput, match="protocol must be one of grr, oue"):
        require_name(said, "protocol", ("grr", "oue"))


def test_a_dependency_that_is_there_and_does_not_load_is_not_called_missing() -> None:
    error = unusable_extra("this", "data", ImportError("libarrow.so: failed to map segment from shared object"))
    assert type(error) is BrokenExtra
    assert "failed to map segment" in str(error)
    assert type(unusable_extra("this", "data", ModuleNotFoundError("No module named 'pyarrow'"))) is MissingExtra
