"""Values as JSON and back, by the types of their declared fields.

Nothing is converted on the way: a text is no number, true is no 1, and a key too many or too few is refused. (That,
errors without quoted values, and arrays of numpy are why this is not cattrs or msgspec.) What is read passes the
converters and validators of its class, as if it had been written in Python.

=====================================  ===============================================================================
a field declared as                    is in JSON
=====================================  ===============================================================================
``float``, ``int``, ``bool``, ``str``  itself; infinities as ``"inf"`` and ``"-inf"``
``Fraction``                           a text ``"p/q"``, or ``"p"`` if it is whole
an array, ``tuple[T, ...]``            a list (of lists)
``Mapping[str, T]``                    an object
an `enum.Enum`                         its value
another value class                    an object with its fields and, if it has one, its ``kind``
a union                                that of its member: the ``kind`` of an object says which
a protocol                             a union of the classes that a `Codec` is given for it
=====================================  ===============================================================================

A class may have an ``echo``: keys beside its fields that say in other words what the fields mean. They are written for
readers; a file whose echo is not that of its fields is refused.
"""

from __future__ import annotations

import enum
import math
import re
import types
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import attrs
import numpy as np

from mechdesign.errors import FileProblem, InvalidInput

_INFINITIES = {"inf": math.inf, "-inf": -math.inf}
_SAME = 1e-9  # relative: how near two computers come
_KEY = "key"  # in the metadata of a field: its name in files, if another than its own
_IN_FILES = "in files"  # in the metadata of a field: whether files hold it
_IF_ANY = "if any"  # in the metadata of a field: files hold it where it is not None
_FRACTION = re.compile("-?[0-9]{1,4096}(/[0-9]{1,4096})?", re.ASCII)
_MOST_AXES = 8  # of an array
_MOST_LEVELS = 32  # of what may hold anything
_NEXT_STEP = "take a named loss or law (see mechdesign.words.losses and mechdesign.words.priors), or numbers"


def named(key: str) -> dict[str, str]:
    """The metadata of a field that has another name in files."""
    return {_KEY: key}


def left_out() -> dict[str, bool]:
    """The metadata of a field that files do not hold: where all others are data, they say what it is."""
    return {_IN_FILES: False}


def if_any() -> dict[str, bool]:
    """The metadata of a field that files hold where it is not None, which is its default."""
    return {_IF_ANY: True}


@attrs.frozen
class Codec:
    """Writes and reads values; ``protocols`` says which classes may stand where a protocol is declared.

    >>> from mechdesign.words.domains import Finite, Interval
    >>> codec = Codec()
    >>> codec.encoded(Interval(0, 1))
    {'kind': 'interval', 'lower': 0.0, 'upper': 1.0}
    >>> codec.decoded(Interval | Finite, {"kind": "finite", "points": [0, 1]}, "inputs")
    Finite(points=(0.0, 1.0))
    """

    protocols: Mapping[Any, tuple[type, ...]] = attrs.field(factory=dict)

    def encoded(self, value: Any, place: str = "value") -> Any:
        """The JSON form of a value, or `InvalidInput` where it holds a function: files hold data only."""
        match value:
            case None | bool() | int() | str():
                return value
            case float() | np.floating():
                return float(value)
            case np.integer():
                return int(value)
            case Fraction():
                return str(value)
            case enum.Enum():
                return value.value
            case np.ndarray():
                return value.tolist()
            case tuple() | list():
                return [self.encoded(entry, place) for entry in value]
            case Mapping():
                return {str(key): self.encoded(entry, f"{place} {key}") for key, entry in value.items()}
        if attrs.has(type(value)):
            return self._encoded_fields(value, place)
        raise InvalidInput(place, f"a {type(value).__name__}", "be data: a file cannot hold it", _NEXT_STEP)

    def _encoded_fields(self, value: Any, place: str) -> dict[str, Any]:
        kind = kind_of(type(value))
        said: dict[str, Any] = {} if kind is None else {"kind": kind}
        for field in stored_fields(type(value)):
            content = getattr(value, field.name)
            if content is not None or not is_optional(field):
                said[key_of(field)] = self.encoded(content, f"{place} {key_of(field)}")
        return said | (self.encoded(value.echo()) if hasattr(value, "echo") else {})

    def decoded(self, declared: Any, said: Any, place: str) -> Any:
        """The value that ``said`` is the JSON of, or `FileProblem`; ``place`` is what errors call it."""
        origin, arguments = get_origin(declared), get_args(declared)
        if declared is Any:
            return _require_text_within(said, place)
        if declared in self.protocols:
            return self._decoded_union(self.protocols[declared], said, place)
        if origin in (Union, types.UnionType):
            return self._decoded_union(arguments, said, place)
        if origin is tuple:
            return self._decoded_tuple(arguments, said, place)
        if origin is np.ndarray:
            return _decoded_array(said, place)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            entries = _require(dict, said, place, "be an object")
            return {
                _decoded_plain(str, key, f"{place} key"): self.decoded(arguments[1], entry, f"{place} {key}")
                for key, entry in entries.items()
            }
        if isinstance(declared, type) and issubclass(declared, enum.Enum):
            return _decoded_enum(declared, said, place)
        if isinstance(declared, type) and attrs.has(declared):
            return self._decoded_fields(declared, said, place)
        return _decoded_plain(declared, said, place)

    def of_kind(self, members: tuple[type, ...], said: Any, place: str) -> Any:
        """The value of one of these classes, which the ``kind`` of the object names."""
        if not (isinstance(said, dict) and "kind" in said):
            raise FileProblem(place, type(said).__name__, "be an object with a kind")
        return self._decoded_union(members, said, place)

    def _decoded_fields(self, kind: type, said: Any, place: str) -> Any:
        fields = {key_of(field): field for field in stored_fields(kind)}
        name = kind_of(kind)
        entries = dict(_require(dict, said, place, f"be an object with {', '.join(fields) or 'a kind'}"))
        if name is not None and entries.pop("kind", None) != name:
            raise FileProblem(f"{place} kind", said.get("kind"), f"be {name!r}")
        for key, field in list(fields.items()):
            if key not in entries and is_optional(field):
                del fields[key]
            elif key not in entries:
                raise FileProblem(f"{place} {key}", None, "be there: it is missing")
        types_of = _types(kind)
        found = {
            field.alias: self.decoded(types_of[field.name], entries.pop(key), f"{place} {key}")
            for key, field in fields.items()
        }
        value, echo = self._made(kind, found, entries, place)
        if len(entries) < len(echo):
            missing = next(key for key in echo if key not in entries)
            raise FileProblem(f"{place} {missing}", None, "be there: it is missing")
        return value

    def asked(self, members: tuple[type, ...], said: Any, place: str) -> Any:
        """The value of one of these classes that somebody wrote by hand: what has a default may be left out.

        >>> from mechdesign.words.domains import Circle, Interval
        >>> Codec().asked((Circle, Interval), {"kind": "circle"}, "inputs").period
        6.283185307179586
        """
        kinds = {kind_of(member): member for member in members}
        entries = dict(_require(dict, said, place, f"be an object with a kind: {', '.join(sorted(map(str, kinds)))}"))
        name = entries.pop("kind", None)
        kind = kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            raise FileProblem(f"{place} kind", name, f"be one of {', '.join(sorted(map(str, kinds)))}")
        types_of, found = _types(kind), {}
        for field in stored_fields(kind):
            key = key_of(field)
            if key in entries:
                found[field.alias] = self.decoded(types_of[field.name], entries.pop(key), f"{place} {key}")
            elif field.default is attrs.NOTHING:
                raise FileProblem(f"{place} {key}", None, "be there: it is missing")
        return self._made(kind, found, entries, place)[0]

    def _made(self, kind: type, found: Mapping[str, Any], rest: Mapping[str, Any], place: str) -> tuple[Any, Any]:
        """The value with these fields and its echo, of which ``rest`` must be a part."""
        try:
            value = kind(**found)
        except InvalidInput as bad:
            inside = bad.field.removeprefix(place.split()[-1]).lstrip()  # the weights of a prior are "prior weights"
            raise FileProblem(f"{place} {inside}".rstrip(), bad.value, bad.rule, bad.next_step) from None
        echo = self.encoded(value.echo()) if hasattr(value, "echo") else {}
        for key, entry in rest.items():
            if key not in echo:
                raise FileProblem(f"{place} {key}", entry, "be left out: no such field is known")
            if not is_same(entry, echo[key]):
                raise FileProblem(f"{place} {key}", entry, f"be {echo[key]!r}, what the other fields say")
        return value, echo

    def _decoded_union(self, members: tuple[Any, ...], said: Any, place: str) -> Any:
        if said is None and type(None) in members:
            return None
        wide = [self.protocols.get(member, (member,)) for member in members if member is not type(None)]
        candidates = [member for members_of_one in wide for member in members_of_one]
        fitting = [member for member in candidates if _is_of(member, said)]
        kinds = {member.kind: member for member in candidates if kind_of(member) is not None}
        if kinds and isinstance(said, dict) and ("kind" in said or not fitting):
            name = said.get("kind")
            if type(name) is not str or name not in kinds:
                raise FileProblem(f"{place} kind", name, f"be one of {', '.join(sorted(kinds))}")
            return self.decoded(kinds[name], said, place)
        if not fitting:
            raise FileProblem(place, type(said).__name__, "be of a kind that is known here")
        return self.decoded(fitting[0], said, place)

    def _decoded_tuple(self, arguments: tuple[Any, ...], said: Any, place: str) -> tuple[Any, ...]:
        entries = _require(list, said, place, "be a list")
        if arguments[1:] == (...,):
            return tuple(self.decoded(arguments[0], entry, place) for entry in entries)
        if len(entries) != len(arguments):
            raise FileProblem(place, len(entries), f"hold {len(arguments)} entries")
        return tuple(self.decoded(kind, entry, place) for kind, entry in zip(arguments, entries, strict=True))


def is_same(said: Any, value: Any) -> bool:
    """Equal, and of one JSON type: 1 is not true. Whole numbers and doubles of one value are the same number.

    Doubles that follow from others may differ in their last digits: computers do in exponentials and sums.
    """
    if isinstance(value, float) and type(said) in (int, float):
        try:
            return math.isclose(said, value, rel_tol=_SAME)
        except OverflowError:  # a whole number that no double holds
            return False
    if isinstance(value, dict):
        return isinstance(said, dict) and said.keys() == value.keys() and all(is_same(said[k], value[k]) for k in said)
    if isinstance(value, list):
        return isinstance(said, list) and len(said) == len(value) and all(map(is_same, said, value))
    return isinstance(said, bool) == isinstance(value, bool) and bool(said == value)


def stored_fields(kind: type) -> list[Any]:
    """The fields that files hold: those that the class is made from and that say something of their own."""
    return [field for field in attrs.fields(kind) if field.init and field.metadata.get(_IN_FILES, True)]


def kind_of(declared: Any) -> str | None:
    """What files call a class, if it has a ``kind``; a field of that name is another thing."""
    kind = getattr(declared, "kind", None)
    return kind if isinstance(kind, str) else None


def key_of(field: Any) -> str:
    """What a field is called in files."""
    return cast(str, field.metadata.get(_KEY, field.name))


def is_optional(field: Any) -> bool:
    """Whether files hold the field only where it is not None."""
    return bool(field.metadata.get(_IF_ANY, False))


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _require(kind: type, said: Any, place: str, rule: str) -> Any:
    if type(said) is not kind:
        raise FileProblem(place, type(said).__name__, rule)
    return said


def _is_of(member: Any, said: Any) -> bool:
    """Whether a JSON value without a kind can be of this member of a union."""
    origin = get_origin(member)
    if member is float:
        return type(said) in (int, float) or (type(said) is str and said in _INFINITIES)
    if origin in (tuple, np.ndarray):
        return type(said) is list
    if (
        member is Fraction
        or hasattr(member, "of_words")
        or (isinstance(member, type) and issubclass(member, enum.Enum))
    ):
        return type(said) is str
    if member in (int, bool, str):
        return type(said) is member
    return type(said) is dict and origin is not Callable and kind_of(member) is None


def _decoded_plain(declared: Any, said: Any, place: str) -> Any:
    if declared is float:
        if type(said) is str and said in _INFINITIES:
            return _INFINITIES[said]
        if type(said) not in (int, float) or said != said:
            raise FileProblem(place, type(said).__name__, "be a number")
        try:
            return float(said)
        except OverflowError:
            raise FileProblem(place, "a whole number", "be a number a double can hold") from None
    if declared is str:
        _require(str, said, place, "be a text")
        try:
            said.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which JSON lets through as an escape
            raise FileProblem(place, "a text", "be text that UTF-8 can hold") from None
        return said
    if declared is Fraction:
        return _decoded_fraction(_require(str, said, place, "be a text like '1/3'"), place)
    if declared in (int, bool):
        return _require(declared, said, place, "be a whole number" if declared is int else "be true or false")
    raise FileProblem(place, str(declared), "be of a type that files can hold")


def _require_text_within(said: Any, place: str, levels: int = _MOST_LEVELS) -> Any:
    """What may hold anything must at least be writable again: text that UTF-8 can hold, not nested without end."""
    if isinstance(said, list | dict):
        if not levels:
            raise FileProblem(place, type(said).__name__, f"be nested at most {_MOST_LEVELS} levels deep")
        for entry in (*said, *said.values()) if isinstance(said, dict) else said:
            _require_text_within(entry, place, levels - 1)
    return _decoded_plain(str, said, place) if isinstance(said, str) else said


def _decoded_fraction(said: str, place: str) -> Fraction:
    above, _, below = said.partition("/")
    if not _FRACTION.fullmatch(said) or (below and not int(below)):
        raise FileProblem(place, said, "be a fraction like '1/3'")
    return Fraction(int(above), int(below or 1))


def _decoded_enum(declared: type[enum.Enum], said: Any, place: str) -> enum.Enum:
    for member in declared:
        if is_same(said, member.value):
            return member
    raise FileProblem(place, said, f"be one of {', '.join(str(member.value) for member in declared)}")


def _decoded_array(said: Any, place: str) -> Any:
    """An array of doubles from a list of numbers, or of such lists of one length."""
    _require(list, said, place, "be a list")
    _require_numbers(said, place, _MOST_AXES)
    try:
        return np.array(_with_infinities(said), dtype=np.float64)
    except OverflowError:
        raise FileProblem(place, "a number beyond doubles", "hold numbers that fit a double") from None
    except ValueError:
        raise FileProblem(place, "lists of different lengths", "be rows of numbers, all of one length") from None


def _with_infinities(said: list[Any]) -> list[Any]:
    """Texts that stand for infinities in the place of numbers, as files write them."""
    return [
        _with_infinities(entry) if type(entry) is list else _INFINITIES[entry] if type(entry) is str else entry
        for entry in said
    ]


def _require_numbers(said: list[Any], place: str, axes: int) -> None:
    for entry in said:
        if type(entry) is list and axes > 1:
            _require_numbers(entry, place, axes - 1)
        elif entry != entry or (type(entry) not in (int, float) and not (type(entry) is str and entry in _INFINITIES)):
            raise FileProblem(place, "a list with other things than numbers", "hold numbers only")


def encoded(value: Any, place: str = "value") -> Any:
    """The JSON form of a value: writing needs no list of protocols."""
    return Codec().encoded(value, place)
