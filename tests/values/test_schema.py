"""Schemas say what the codec writes: every value fits the schema of its declaration, and other JSON does not."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from mechdesign.values import files
from mechdesign.values.codec import Codec, encoded, if_any, named
from mechdesign.values.declare import Floats, array, field, frozen, one_of, whole
from mechdesign.values.schema import Schemas, shaped
from mechdesign.words.domains import Circle, Finite, Interval


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@frozen
class Inner:
    kind: ClassVar[str] = "inner"

    share: Fraction


@frozen
class Everything:
    """All that a field may be."""

    number: float
    count: int = whole("count", 1, 9)
    flag: bool
    text: str
    colour: Colour
    word: Literal["a", "b"]
    known: str = one_of("known", ("x", "y"))
    inner: Inner
    domain: Interval | Circle | Finite | None
    table: Floats = array()
    pair: tuple[int, str]
    many: tuple[Inner, ...]
    shares: Mapping[str, float]
    renamed: int = field(metadata=named("for"))
    optional: int | None = field(default=None, metadata=if_any())


VALUE = Everything(
    math.inf, 3, True, "t", Colour.RED, "a", "x", Inner(Fraction(1, 3)), Interval(0, 1), [[1.0, 2.0]], (1, "b"),
    (Inner(Fraction(2)),), {"p": 0.5}, 7,
)  # fmt: skip


def validator(declared: Any) -> Draft202012Validator:
    schemas = Schemas()
    return Draft202012Validator(schemas.of(declared) | {"$defs": schemas.definitions})


def as_json(value: Any) -> Any:
    """What a file or an answer holds."""
    return json.loads(files.dump_json(encoded(value)))


def test_a_value_fits_the_schema_of_its_class() -> None:
    assert validator(Everything).is_valid(as_json(VALUE))


def test_an_optional_key_may_be_there() -> None:
    assert "optional" not in as_json(VALUE)
    assert validator(Everything).is_valid(as_json(VALUE) | {"optional": 1})


@pytest.mark.parametrize("key", sorted(as_json(VALUE)))
def test_a_key_that_is_missing_does_not_fit(key: str) -> None:
    document = as_json(VALUE)
    del document[key]
    assert not validator(Everything).is_valid(document)


@pytest.mark.parametrize("key", sorted(as_json(VALUE)))
def test_a_key_of_another_type_does_not_fit(key: str) -> None:
    assert not validator(Everything).is_valid(as_json(VALUE) | {key: [["nonsense"]]})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("count", 0),
        ("count", 10),
        ("colour", "green"),
        ("word", "c"),
        ("known", "z"),
        ("pair", [1]),
        ("pair", [1, "b", 2]),
        ("inner", {"kind": "outer", "share": "1/3"}),
        ("inner", {"kind": "inner", "share": "a third"}),
        ("number", "nan"),
        ("renamed", 7),
    ],
)
def test_what_breaks_the_declared_rule_does_not_fit(key: str, value: Any) -> None:
    assert not validator(Everything).is_valid(as_json(VALUE) | {key: value})


@given(st.lists(st.floats(allow_nan=False), min_size=1), st.booleans())
def test_whatever_the_codec_reads_fits(numbers: list[float], is_circle: bool) -> None:
    document = as_json(Finite(tuple(sorted({*np.clip(numbers, -1e9, 1e9).tolist(), 1e10}))))
    domain = as_json(Circle(2.0)) if is_circle else document
    assert Codec().decoded(Finite | Circle, domain, "domain") is not None
    assert validator(Finite | Circle).is_valid(domain)


def test_classes_of_one_name_are_two_definitions() -> None:
    @frozen
    class Interval:
        other: str

    Interval.__module__ = "elsewhere"
    schemas = Schemas()
    first, second = schemas.of(globals()["Interval"]), schemas.of(Interval)
    assert first != second
    assert len(schemas.definitions) == 3  # and that of numbers


def test_several_classes_are_merged_to_one_object() -> None:
    @frozen
    class More:
        extra: int

    said = Schemas().merged(Inner, More)
    assert said["required"] == ["kind", "share", "extra"]
    assert said["additionalProperties"] is False


def test_a_field_may_say_its_shape_itself() -> None:
    @frozen
    class Open:
        anything: Any = field(metadata=shaped(lambda schemas: {"type": "array"}))

    assert Schemas().merged(Open)["properties"]["anything"] == {"type": "array"}


def test_a_class_that_writes_more_than_its_fields_is_open() -> None:
    from mechdesign.mechanisms.hidden import PeakedResponse

    assert "additionalProperties" not in Schemas().merged(PeakedResponse)


def test_a_field_called_kind_is_a_field() -> None:
    @frozen
    class Table:
        kind: str

    assert encoded(Table("finite")) == {"kind": "finite"}
    assert Codec().decoded(Table, {"kind": "window"}, "table") == Table("window")
    assert Schemas().merged(Table)["properties"]["kind"] == {"type": "string"}


def test_a_key_that_may_be_left_out_is_read_as_none() -> None:
    @frozen
    class Sparse:
        always: int
        maybe: int | None = field(default=None, metadata=if_any())

    assert encoded(Sparse(1)) == {"always": 1}
    assert Codec().decoded(Sparse, {"always": 1}, "sparse") == Sparse(1)
    assert Codec().decoded(Sparse, {"always": 1, "maybe": 2}, "sparse") == Sparse(1, 2)
