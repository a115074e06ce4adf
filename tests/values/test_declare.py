"""Value classes say which fields they have to who gives them others, and cost little for it."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable

import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput, WrongArguments
from mechdesign.values.declare import evolved, field, frozen


def test_a_problem_names_its_five_words_to_who_says_another() -> None:
    with pytest.raises(WrongArguments, match="be given inputs, loss, privacy, criterion, among"):
        md.Problem(eps=1.0)  # type: ignore[call-arg]


def test_a_field_is_found_by_what_commands_call_it() -> None:
    with pytest.raises(WrongArguments, match=r"did you mean inputs\?"):
        md.Problem(loss="squared", privacy=md.Pure(1.0), domain=md.Interval(0, 1))  # type: ignore[call-arg]


def test_a_field_that_is_like_no_other_is_only_refused() -> None:
    with pytest.raises(WrongArguments, match=r"got zzz\)$"):
        md.Pure(1.0, zzz=1)  # type: ignore[call-arg]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(WrongArguments, match=r"Problem must be given loss, privacy \(got inputs\)"):
        md.Problem(inputs=(0, 1))  # type: ignore[call-arg]
    with pytest.raises(WrongArguments, match=r"Pure must be given epsilon \(got nothing\)"):
        md.Pure()  # type: ignore[call-arg]


def test_too_many_and_repeated_arguments_are_named() -> None:
    with pytest.raises(WrongArguments, match="in this order, and no more"):
        md.Interval(0, 1, 2)  # type: ignore[call-arg]
    with pytest.raises(WrongArguments, match="lower twice"):
        md.Interval(0, lower=1)  # type: ignore[misc]


def test_wrong_arguments_are_a_type_error_as_in_python_and_an_invalid_input_as_here() -> None:
    assert issubclass(WrongArguments, TypeError)
    assert issubclass(WrongArguments, InvalidInput)


def test_changing_a_field_that_is_not_there_says_so() -> None:
    with pytest.raises(WrongArguments, match="did you mean upper"):
        evolved(md.Interval(0, 1), uper=2)


def test_the_error_comes_back_from_a_worker_as_it_was() -> None:
    with pytest.raises(WrongArguments) as error:
        md.Interval(0, uper=1)  # type: ignore[call-arg]
    again = pickle.loads(pickle.dumps(error.value))
    assert (type(again), str(again)) == (WrongArguments, str(error.value))


def test_a_type_error_from_inside_a_field_is_left_alone() -> None:
    def fail(_: object) -> Callable[[], object]:
        raise TypeError("mine")

    @frozen
    class Holder:
        of: object = field(converter=fail)

    with pytest.raises(TypeError, match=r"^mine$") as error:
        Holder(1)
    assert not isinstance(error.value, WrongArguments)


def test_the_signature_is_that_of_the_fields() -> None:
    assert list(inspect.signature(md.Interval).parameters) == ["lower", "upper"]


def test_a_question_without_what_is_wanted_names_it() -> None:
    with pytest.raises(WrongArguments, match=r"advise must be given want \(got eps\); did you mean epsilon\?"):
        md.advise(eps=1)  # type: ignore[call-arg]
    with pytest.raises(WrongArguments, match=r"advise must be given want \(got nothing\)"):
        md.advise()  # type: ignore[call-arg]
    with pytest.raises(WrongArguments, match="be given only want, epsilon"):
        md.advise("mean", 1.0)  # type: ignore[misc]
