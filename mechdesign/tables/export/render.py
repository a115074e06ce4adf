"""Texts with places and loops, filled by Jinja: READMEs, manifests and SQL. A place without a value is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from mechdesign.tables.export.runtime import runtime


@cache
def text(name: str) -> str:
    """A text of this package's folder ``text``, by its name."""
    return files(__package__).joinpath("text", name).read_text(encoding="utf-8")


def environment(
    filters: Mapping[str, Callable[..., object]] | None = None, tests: Mapping[str, Callable[..., bool]] | None = None
) -> Environment:
    """How templates are read, with filters and tests of their own; those they name are in the folder of runtimes."""
    made = Environment(
        loader=FunctionLoader(runtime),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(filters or {})
    made.tests.update(tests or {})
    return made


_ENVIRONMENT = environment()


def render(template: str, **values: object) -> str:
    """The text with its places filled.

    >>> render("{% for x in xs %}{{ x }};{% endfor %}", xs=[1, 2])
    '1;2;'
    """
    return _ENVIRONMENT.from_string(template).render(**values)
