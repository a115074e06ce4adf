"""Templates with ``@name@`` places, and long lists of numbers in lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_PLACE = re.compile(r"@([a-z_]+)@")


def fill(template: str, values: Mapping[str, object]) -> str:
    """The template with every ``@name@`` replaced.

    >>> fill("int @name@ = @count@;", {"name": "a", "count": 3})
    'int a = 3;'
    """
    return _PLACE.sub(lambda place: str(values[place[1]]), template)


def used(declarations: Mapping[str, str], text: str) -> list[str]:
    """The declarations of the names that occur in the text as words.

    >>> used({"low": "int low;", "high": "int high;"}, "low = highest;")
    ['int low;']
    """
    return [line for name, line in declarations.items() if re.search(rf"\b{name}\b", text)]


def wrapped(items: Iterable[str], indent: str = "    ", width: int = 110) -> str:
    """Items in indented lines of at most ``width`` characters, with commas between them.

    >>> print(wrapped(["1", "2", "3"], indent="  ", width=6))
      1, 2,
      3
    """
    return ",\n".join(indent + line for line in chunks(items, ", ", width - len(indent)))


def chunks(items: Iterable[str], separator: str, most: int) -> list[str]:
    """Items joined into strings of at most ``most`` characters.

    >>> chunks(["10", "20", "30"], " ", 6)
    ['10 20', '30']
    """
    parts: list[str] = []
    for item in items:
        if parts and len(parts[-1]) + len(separator) + len(item) <= most:
            parts[-1] += separator + item
        else:
            parts.append(item)
    return parts
