"""Values are shown on one line, by what is not as if left out, and by size where they are long."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import mechdesign as md
from mechdesign.values.declare import Floats, array, derived, field, frozen
from mechdesign.values.shown import one_line
from tests.methods import problems


@frozen
class Held:
    of: Floats = array()
    name: str = "held"
    more: tuple[float, ...] = ()
    size: int = derived(lambda held: held.of.size)


def test_fields_that_are_as_if_left_out_are_left_out() -> None:
    assert repr(Held([1.0])) == "Held(of=[1.0])"
    assert repr(Held([1.0], "other")) == "Held(of=[1.0], name='other')"


def test_an_array_is_shown_by_its_shape() -> None:
    assert repr(Held(np.zeros((40, 25)))) == "Held(of=<array of shape (40, 25)>)"


def test_a_long_tuple_is_shown_by_its_length() -> None:
    assert one_line(tuple(range(7))) == "<tuple of 7>"
    assert one_line((0, 1)) == "(0, 1)"
    assert one_line((0,)) == "(0,)"


def test_what_stands_inside_something_short_is_cut_too() -> None:
    assert one_line({"a": [0] * 100}) == "{'a': <list of 100>}"


def test_a_class_that_says_how_it_is_shown_is_shown_so() -> None:
    @frozen
    class Own:
        of: int = 0

        def __repr__(self) -> str:
            return "own"

    assert repr(Own()) == "own"


@pytest.mark.parametrize("value", [md.Interval(0, 1), problems.piecewise(2.0), md.Power(3.0), md.Finite((0, 1))])
def test_a_small_value_is_shown_as_it_is_written(value: object) -> None:
    names = {name: getattr(md, name) for name in ("Interval", "Problem", "Pure", "Piecewise", "Power", "Finite")}
    assert eval(repr(value), names) == value
    assert isinstance(ast.parse(repr(value), mode="eval").body, ast.Call)


def test_a_mechanism_with_thousands_of_numbers_is_one_short_line() -> None:
    domain = md.Finite(tuple(range(300)))
    said = repr(md.catalogue.randomised_response(1.0, domain))
    assert len(said) < 250
    assert "\n" not in said
    assert "(300, 300)" in said


def test_a_function_is_shown_by_its_name_and_not_by_its_address() -> None:
    @frozen
    class Holder:
        call: object = field()

    assert "0x" not in repr(Holder(test_a_function_is_shown_by_its_name_and_not_by_its_address))
