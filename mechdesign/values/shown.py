"""Values on one line: what `repr` says of them, short enough for a prompt, a log and an error.

>>> from mechdesign.values.declare import Floats, array, frozen
>>> @frozen
... class Weights:
...     of: Floats = array()
...     name: str = "weights"
>>> Weights([0.25, 0.75]), Weights([0.0] * 1000)
(Weights(of=[0.25, 0.75]), Weights(of=<array of shape (1000,)>))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

_MOST_ENTRIES = 6
_MOST_LETTERS = 60


def shown(value: Any) -> str:
    """A value of a declared class by its fields: those that are as if left out are left out, and long ones are cut."""
    fields = (field for field in attrs.fields(type(value)) if field.repr)
    said = ((field, getattr(value, field.name)) for field in fields)
    inside = ", ".join(f"{field.alias}={one_line(entry)}" for field, entry in said if not _is_default(field, entry))
    return f"{type(value).__qualname__.rpartition('>.')[2]}({inside})"


def one_line(value: Any) -> str:
    """`repr`, with the size of what has many entries in their place.

    >>> one_line(tuple(range(1000))), one_line({"a": 1})
    ('<tuple of 1000>', "{'a': 1}")
    """
    if isinstance(value, np.ndarray):
        few = value.ndim == 1 and value.size <= _MOST_ENTRIES
        return one_line(value.tolist()) if few else f"<array of shape {value.shape}>"
    if isinstance(value, tuple | list | Mapping) and type(value).__repr__ is not shown:
        return _entries(value)
    if isinstance(value, str | bytes) and len(value) > _MOST_LETTERS:
        return f"<{type(value).__name__} of {len(value)}>"
    if callable(value) and not attrs.has(type(value)):
        return f"<function {getattr(value, '__name__', type(value).__name__)}>"
    return repr(value)


def _entries(value: tuple[Any, ...] | list[Any] | Mapping[Any, Any]) -> str:
    if len(value) > _MOST_ENTRIES:
        return f"<{'mapping' if isinstance(value, Mapping) else type(value).__name__} of {len(value)}>"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{one_line(key)}: {one_line(entry)}' for key, entry in value.items())}}}"
    inside = ", ".join(map(one_line, value))
    if isinstance(value, list):
        return f"[{inside}]"
    return f"({inside},)" if len(value) == 1 else f"({inside})"


def _is_default(field: Any, value: Any) -> bool:
    """Whether the value is what the field holds if nothing is said, as far as that can be seen at once."""
    default = field.default
    if default is attrs.NOTHING or isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        return False
    return value is default or (type(value) is type(default) and not isinstance(value, np.ndarray) and value == default)
