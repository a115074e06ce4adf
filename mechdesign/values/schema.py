"""JSON schemas (draft 2020-12) of values, from the declarations that `mechdesign.values.codec` writes them by."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs
import numpy as np

from mechdesign.values.codec import is_optional, key_of, kind_of, stored_fields
from mechdesign.values.declare import WORDS, range_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_SHAPE = "shape"
_PLAIN: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    str: {"type": "string"},
    type(None): {"type": "null"},
    Any: {},
    Fraction: {"type": "string", "pattern": "^-?[0-9]+(/[0-9]+)?$"},
}
_DEFINED: dict[str, dict[str, Any]] = {
    "number": {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]},
    "array": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/number"}, {"$ref": "#/$defs/array"}]}},
}


def shaped(shape: Callable[[Schemas], dict[str, Any]]) -> dict[str, Any]:
    """The metadata of a field whose type says less than is known of its JSON: ``shape`` gives its schema."""
    return {_SHAPE: shape}


class Schemas:
    """Builds schemas; classes that are met on the way are defined once and referred to.

    >>> from mechdesign.words.domains import Interval
    >>> Schemas().of(tuple[int, ...])
    {'type': 'array', 'items': {'type': 'integer'}}
    >>> schemas = Schemas()
    >>> schemas.of(Interval), schemas.definitions["Interval"]["required"]
    ({'$ref': '#/$defs/Interval'}, ['kind', 'lower', 'upper'])
    """

    def __init__(self, protocols: Mapping[Any, tuple[type, ...]] | None = None) -> None:
        self.protocols = dict(protocols or {})
        self.definitions: dict[str, dict[str, Any]] = {}
        self._classes: dict[str, type] = {}

    def of(self, declared: Any) -> dict[str, Any]:
        """The schema of what is declared as this type."""
        origin, arguments = get_origin(declared), get_args(declared)
        if declared in self.protocols:
            return self.any_of(*self.protocols[declared])
        if declared in _PLAIN:
            return dict(_PLAIN[declared])
        if declared is float:
            return self._defined("number")
        if origin is np.ndarray:
            return self._defined("array")
        if origin in (Union, types.UnionType):
            return self.any_of(*arguments)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin is tuple:
            if arguments[1:] == (...,):
                return {"type": "array", "items": self.of(arguments[0])}
            return {
                "type": "array",
                "prefixItems": [self.of(entry) for entry in arguments],
                "minItems": len(arguments),
                "maxItems": len(arguments),
            }
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1])}
        if isinstance(declared, type) and issubclass(declared, enum.Enum):
            return {"enum": [member.value for member in declared]}
        if isinstance(declared, type) and attrs.has(declared):
            return self._class(declared)
        return {"type": "object"} if origin is not None or isinstance(declared, type) else {}

    def any_of(self, *members: Any) -> dict[str, Any]:
        """One of several types; functions are never in JSON."""
        said: list[dict[str, Any]] = []
        for member in members:
            schema = self.of(member)
            if schema not in said and not _is_function(member):
                said.append(schema)
        return said[0] if len(said) == 1 else {"anyOf": said}

    def merged(self, *kinds: type) -> dict[str, Any]:
        """One object with the fields of all these classes; keys of later ones stand for those of earlier ones."""
        properties: dict[str, Any] = {}
        required: dict[str, None] = {}
        is_open = False
        for kind in kinds:
            name = kind_of(kind)
            hints = get_type_hints(kind)
            if name is not None:
                properties["kind"] = {"const": name}
                required["kind"] = None
            for field in stored_fields(kind):
                key = key_of(field)
                properties[key] = self._field(field, hints[field.name])
                if not is_optional(field):
                    required[key] = None
            is_open = is_open or hasattr(kind, "echo")
        said = {"type": "object", "properties": properties, "required": list(required)}
        return said if is_open else said | {"additionalProperties": False}

    def _field(self, field: Any, declared: Any) -> dict[str, Any]:
        if _SHAPE in field.metadata:
            shape: dict[str, Any] = field.metadata[_SHAPE](self)
            return shape
        if WORDS in field.metadata:
            return {"enum": list(field.metadata[WORDS])}
        least, most = range_of(field)
        said = self.of(declared)
        ends = {name: end for name, end in (("minimum", least), ("maximum", most)) if end is not None}
        return said | ends if said.get("type") == "integer" else said

    def _class(self, kind: type) -> dict[str, Any]:
        name = kind.__name__.lstrip("_")
        if self._classes.setdefault(name, kind) is not kind:
            name = f"{kind.__module__}.{name}"
        if name not in self.definitions:
            self.definitions[name] = {}  # so that a class may hold its like
            self.definitions[name] = {"description": _about(kind)} | self.merged(kind)
        return {"$ref": f"#/$defs/{name}"}

    def _defined(self, name: str) -> dict[str, Any]:
        self.definitions["number"] = _DEFINED["number"]
        self.definitions[name] = _DEFINED[name]
        return {"$ref": f"#/$defs/{name}"}


def _about(kind: type) -> str:
    """What the class says it is, and what it repeats beside its fields."""
    first = " ".join((kind.__doc__ or "").strip().split("\n\n")[0].split())
    echo = getattr(kind, "echo", None)
    return first if echo is None else f"{first} Beside its fields: {' '.join(echo.__doc__.split())}"


def _is_function(member: Any) -> bool:
    return get_origin(member) is not None and isinstance(get_origin(member), type) and get_origin(member) is Callable
