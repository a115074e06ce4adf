"""Texts with places and loops, filled by Jinja: READMEs and SQL. A place without a value is an error, never a blank."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    return Environment(undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)


def render(text: str, **values: object) -> str:
    """The text with its places filled.

    >>> render("{% for x in xs %}{{ x }};{% endfor %}", xs=[1, 2])
    '1;2;'
    """
    return _environment().from_string(text).render(**values)


@cache
def text(name: str) -> str:
    """A text of this package's folder ``text``, by its name."""
    return files(__package__).joinpath("text", name).read_text(encoding="utf-8")
