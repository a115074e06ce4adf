"""Templates of sources, and long lists of numbers in lines.

A template is a file in its own language, in ``templates`` beside this module; Python's end in ``.in``, so that tools
which read every module leave them alone. The rules are three:

* A line of a comment ``@include name`` stands for another template.
* ``@name@`` is a place that is filled with a text. ``@NAME@``, in capitals, is the declaration of a constant.
* A line of a comment ``@if a b`` begins lines that are kept where one of these words holds; ``@else`` those that are
  kept where none does; ``@end`` ends them. They may stand inside each other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files

_PLACE = re.compile(r"@([A-Za-z_]+)@")
_INCLUDED = re.compile(r"^[^\w\n]*@include (.*)\n", re.MULTILINE)
_MARK = re.compile(r"\W*@(if|else|end)\b(.*)")


@cache
def template(name: str) -> str:
    """A template by the name of its file, with those that it includes."""
    return included(files(__package__).joinpath("templates", name).read_text(encoding="utf-8"))


def included(text: str) -> str:
    """The text of a template, with those of this folder that it includes."""
    return _INCLUDED.sub(lambda line: template(line[1]), text)


def chosen(text: str, words: Collection[str]) -> str:
    """The lines of a template that are kept where these words hold.

    >>> chosen("// @if circle sphere\\nround\\n// @else\\nflat\\n// @end\\n", {"sphere"})
    'round\\n'
    """
    kept: list[str] = []
    depths = [True]
    for line in text.splitlines(keepends=True):
        mark = _MARK.match(line)
        if mark is None:
            if all(depths):
                kept.append(line)
        elif mark[1] == "if":
            depths.append(not set(words).isdisjoint(mark[2].split()))
        elif mark[1] == "else":
            depths[-1] = not depths[-1]
        else:
            depths.pop()
    return "".join(kept)


def fill(text: str, values: Mapping[str, object]) -> str:
    """The text with every ``@name@`` replaced.

    >>> fill("int @name@ = @count@;", {"name": "a", "count": 3})
    'int a = 3;'
    """
    return _PLACE.sub(lambda place: str(values[place[1]]), text)


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
