"""The codec: values come back equal, and a file that says anything else than a value is refused with its place."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.values import files
from mechdesign.values.codec import Codec, encoded, is_same, left_out, named
from mechdesign.values.declare import array, epsilon, field, frozen, settle, whole
from mechdesign.words.domains import Circle, Finite, Interval, Line, Product
from mechdesign.words.losses import Custom, Power


class Shape(Protocol):
    @property
    def area(self) -> float: ...


@frozen
class Square:
    kind: ClassVar[str] = "square"

    side: float

    @property
    def area(self) -> float:
        return self.side**2


@frozen
class Disc:
    kind: ClassVar[str] = "disc"

    radius: float

    @property
    def area(self) -> float:
        return math.pi * self.radius**2


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@frozen
class Plain:
    """A class without a kind."""

    x: float


@frozen
class Everything:
    kind: ClassVar[str] = "everything"

    number: float
    count: int
    flag: bool
    text: str
    share: Fraction
    colour: Colour
    table: NDArray[np.float64] = array()
    pair: tuple[float, str]
    several: tuple[int, ...]
    numbers: Mapping[str, float] = field(eq=False)
    shape: Shape
    maybe: Square | float | None
    inner: Plain


EXAMPLE = Everything(
    0.1, 3, True, "\u00e9", Fraction(-1, 3), Colour.BLUE, [[1.0, 2.0], [3.0, 0.1]], (1.5, "a"), (1, 2), {"a": 1.0},
    Disc(2.0), None, Plain(0.5),
)  # fmt: skip
CODEC = Codec({Shape: (Square, Disc)})


def read(document: Any, declared: Any = Everything) -> Any:
    return CODEC.decoded(declared, document, "thing")


def through_file(document: dict[str, Any]) -> Any:
    return files.parse_json(files.dump_json(document).encode())


def test_a_value_comes_back_equal() -> None:
    again = read(through_file(encoded(EXAMPLE)))
    assert again == EXAMPLE
    assert dict(again.numbers) == {"a": 1.0}


def test_what_is_written_is_plain_json() -> None:
    assert encoded(EXAMPLE) == {
        "kind": "everything",
        "number": 0.1,
        "count": 3,
        "flag": True,
        "text": "\u00e9",
        "share": "-1/3",
        "colour": "blue",
        "table": [[1.0, 2.0], [3.0, 0.1]],
        "pair": [1.5, "a"],
        "several": [1, 2],
        "numbers": {"a": 1.0},
        "shape": {"kind": "disc", "radius": 2.0},
        "maybe": None,
        "inner": {"x": 0.5},
    }


WRONG: dict[str, list[Any]] = {
    "kind": [None, "square", "", 1, [], {}],
    "number": ["0.1", True, None, [0.1], {}, "nan", math.nan, 10**400, "infinity"],
    "count": [3.0, "3", True, None, [3]],
    "flag": [1, 0, "true", None],
    "text": [1, None, ["a"], "\ud800"],
    "share": [1, 0.5, "0.5", "1/0", "1/-2", "--1/2", "1//2", "", "1/2 ", "\u0661/2", "1e5", "9" * 5000, None],
    "colour": ["green", "RED", 1, None],
    "table": [
        "0.1", None, [[1.0], [1.0, 2.0]], [[1.0, "2"]], [[True]], [None], [math.nan], [[10**400]], [1.0, [2.0]],
        {"0": 1.0},
    ],
    "pair": [[1.5], [1.5, "a", "b"], ["a", 1.5], "1.5a", None, {}],
    "several": [[1.0], ["1"], [True], [None], 1, "12", [[1]]],
    "numbers": [[], None, {"a": "1"}, {"a": True}, {"\ud800": 1.0}],
    "shape": [None, 1.0, {}, {"kind": "line"}, {"kind": []}, {"kind": "disc"}, {"kind": "disc", "side": 1.0},
              {"kind": "disc", "radius": 1.0, "side": 1.0}, {"kind": "disc", "radius": "1"}, {"radius": 1.0}],
    "maybe": ["1.0", True, [], {"kind": "disc", "radius": 1.0}, {"side": 1.0}],
    "inner": [None, 0.5, [], {}, {"x": None}, {"kind": "plain", "x": 0.5}],
}  # fmt: skip


@pytest.mark.parametrize(("key", "said"), [(key, said) for key, several in WRONG.items() for said in several], ids=repr)
def test_what_is_not_of_the_declared_type_is_refused_at_its_place(key: str, said: Any) -> None:
    with pytest.raises(FileProblem) as refused:
        read(encoded(EXAMPLE) | {key: said})
    assert refused.value.field.startswith(f"thing {key}")


@pytest.mark.parametrize("key", list(encoded(EXAMPLE)))
def test_a_missing_key_is_named(key: str) -> None:
    with pytest.raises(FileProblem) as refused:
        read({name: said for name, said in encoded(EXAMPLE).items() if name != key})
    assert refused.value.field == f"thing {key}"


def test_a_key_too_many_is_named() -> None:
    with pytest.raises(FileProblem, match="thing note must be left out"):
        read(encoded(EXAMPLE) | {"note": "hello"})


@pytest.mark.parametrize("document", [None, 1, "everything", [], True])
def test_what_is_no_object_is_refused(document: Any) -> None:
    with pytest.raises(FileProblem, match="thing must be an object"):
        read(document)


@pytest.mark.parametrize("said", [2, 2.5, "inf", "-inf", -0.0])
def test_numbers_may_be_whole_or_infinite(said: Any) -> None:
    assert read(encoded(EXAMPLE) | {"number": said}).number == float(said)


@pytest.mark.parametrize(("text", "value"), [("2", Fraction(2)), ("-2/4", Fraction(-1, 2)), ("0", Fraction(0))])
def test_fractions_may_be_whole(text: str, value: Fraction) -> None:
    assert read(text, Fraction) == value


def test_an_array_nested_without_end_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(FileProblem, match="thing table"):
        read(encoded(EXAMPLE) | {"table": deep})


@pytest.mark.parametrize("said", [{"a": ["\ud800"]}, {"\ud800": 1}])
def test_what_may_hold_anything_holds_text_that_can_be_written_again(said: Any) -> None:
    with pytest.raises(FileProblem, match="UTF-8"):
        read(said, Mapping[str, Any])


@frozen
class Budgeted:
    kind: ClassVar[str] = "budgeted"

    epsilon: float = epsilon()
    count: int = whole("count", 1, 9)
    points: tuple[float, ...] = field(default=(), metadata=named("outputs"))

    def echo(self) -> dict[str, Any]:
        return {"twice": 2 * self.count, "half": self.count / 2, "even": self.count % 2 == 0}


def test_a_field_may_have_another_name_in_files() -> None:
    assert encoded(Budgeted(1.0, 2, (0.5,)))["outputs"] == [0.5]
    assert read(encoded(Budgeted(1.0, 2, (0.5,))), Budgeted) == Budgeted(1.0, 2, (0.5,))


@pytest.mark.parametrize(("change", "place"), [({"epsilon": -1.0}, "thing eps"), ({"count": 10}, "thing count")])
def test_the_rules_of_a_class_are_those_of_its_files(change: dict[str, Any], place: str) -> None:
    with pytest.raises(FileProblem) as refused:
        read(encoded(Budgeted(1.0, 2)) | change, Budgeted)
    assert refused.value.field == place


@pytest.mark.parametrize("change", [{"twice": 5}, {"twice": "4"}, {"half": 2.0}, {"even": 1}, {"even": None}])
def test_an_echo_that_is_not_what_the_fields_say_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(FileProblem, match=f"thing {next(iter(change))} must be"):
        read(encoded(Budgeted(1.0, 2)) | change, Budgeted)


@pytest.mark.parametrize("key", ["twice", "half", "even"])
def test_an_echo_that_is_missing_is_named(key: str) -> None:
    document = encoded(Budgeted(1.0, 2))
    del document[key]
    with pytest.raises(FileProblem, match=f"thing {key} must be there"):
        read(document, Budgeted)


@frozen
class Labelled:
    kind: ClassVar[str] = "labelled"

    side: float
    label: str = field(default="", metadata=left_out())

    def __attrs_post_init__(self) -> None:
        settle(self, label=f"side {self.side:g}")


def test_a_field_that_follows_from_the_others_is_left_out_of_files() -> None:
    assert encoded(Labelled(2.0)) == {"kind": "labelled", "side": 2.0}
    assert read(encoded(Labelled(2.0)), Labelled) == Labelled(2.0)
    with pytest.raises(FileProblem, match="thing label must be left out"):
        read(encoded(Labelled(2.0)) | {"label": "side 3"}, Labelled)


@pytest.mark.parametrize("value", [Custom(lambda y, x: abs(y - x)), print, object(), {1, 2}, 1j, b"a"], ids=type)
def test_what_is_no_data_is_not_written(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"thing.* must be data: a file cannot hold it.*; take a named"):
        encoded(value, "thing")


@pytest.mark.parametrize("said", [{"kind": "square", "side": 1.0}, {"side": 1.0}, 1.0])
def test_a_type_that_files_cannot_hold_is_not_read(said: Any) -> None:
    with pytest.raises(FileProblem, match="thing"):
        read(said, Callable[[float], float])


@pytest.mark.parametrize(
    "domain",
    [Interval(0, 1), Interval(-1e-9, 1e9), Circle(), Circle(24.0), Finite((0, 1, 5)), Finite((2,)), Line()],
)
def test_domains_survive_unchanged(domain: Any) -> None:
    document = json.loads(json.dumps(encoded(domain)))
    assert read(document, Interval | Circle | Finite | Line | Product) == domain
    assert read(encoded(Product((domain,))), Product) == Product((domain,))


@pytest.mark.parametrize("loss", [Power(1.0), Power(2.5), Power(0.5, 360.0)])
def test_losses_survive_unchanged(loss: Power) -> None:
    assert read(json.loads(json.dumps(encoded(loss))), Power) == loss


@pytest.mark.parametrize(
    ("said", "value", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (1, True, False),
        ([1, 2], [1, 2], True),
        ([1], [1, 2], False),
        ((1,), [1], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        ("1", 1, False),
        (None, None, True),
        (None, 0, False),
    ],
)
def test_numbers_are_the_same_by_value_and_truth_values_are_no_numbers(said: Any, value: Any, same: bool) -> None:
    assert is_same(said, value) is same


finite = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(codec="utf-8"), max_size=5)
shapes = st.one_of(st.builds(Square, finite), st.builds(Disc, finite))
things = st.builds(
    Everything,
    st.floats(allow_nan=False),
    st.integers(),
    st.booleans(),
    texts,
    st.fractions(),
    st.sampled_from(Colour),
    st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(finite, min_size=n, max_size=n), max_size=3)),
    st.tuples(finite, texts),
    st.lists(st.integers(), max_size=3).map(tuple),
    st.dictionaries(texts, finite, max_size=3),
    shapes,
    st.one_of(st.none(), finite, st.builds(Square, finite)),
    st.builds(Plain, finite),
)


@given(things)
def test_any_value_comes_back_equal_from_a_file(thing: Everything) -> None:
    again = read(through_file(encoded(thing)))
    assert again == thing
    assert hash(again.table.tobytes()) == hash(thing.table.tobytes())
    assert dict(again.numbers) == dict(thing.numbers)


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(10**400)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


@given(things, st.sampled_from(list(encoded(EXAMPLE))), anything)
def test_a_changed_entry_is_read_or_refused_and_nothing_else(thing: Everything, key: str, said: Any) -> None:
    try:
        again = read(encoded(thing) | {key: said})
    except FileProblem:
        return
    assert read(through_file(encoded(again))) == again
