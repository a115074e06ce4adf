"""Python: one module, standard library only, randomness from `os.urandom`."""

from __future__ import annotations

from mechdesign.deploy.export.layout import wrapped
from mechdesign.deploy.export.plan import Plan
from mechdesign.deploy.export.texts import python_text
from mechdesign.deploy.export.writing import Language, Value

_SHORT = 88
"""The longest line that no formatter splits."""

_KEPT = "  # fmt: skip"
"""Formatters would give every number a line of its own."""


def sources(plan: Plan) -> dict[str, str]:
    """File names and their text."""
    return LANGUAGE.sources(plan, {f"{plan.stem}.py": "sampler.py.in", f"{plan.stem}_replay.py": "replay.py.in"})


def module(plan: Plan) -> str:
    """The sampler."""
    return sources(plan)[f"{plan.stem}.py"]


def number(value: object) -> str:
    """The number as formatters write it, or the text.

    >>> number(1e20)
    '1e20'
    """
    return python_text(value) if isinstance(value, str) else repr(value).replace("e+", "e")


def _declared(name: str, value: Value) -> str:
    if not isinstance(value, tuple):
        return f"{name} = {number(value)}"
    if value and isinstance(value[0], tuple):
        rows = (wrapped(map(number, row), " " * 8) for row in value if isinstance(row, tuple))
        return f"{name} = (\n{''.join(f'    ({chr(10)}{row},{chr(10)}    ),{chr(10)}' for row in rows)}){_KEPT}"
    listed = [number(entry) for entry in value]
    short = f"{name} = ({', '.join(listed)}{',' * (len(listed) == 1)})"
    return short if len(short) <= _SHORT else f"{name} = (\n{wrapped(listed)},\n){_KEPT}"


def _words(plan: Plan) -> dict[str, str]:
    return {
        "taken": "float" if plan.input_labels is None else "str",
        "given": "float" if plan.output_labels is None else "str",
        "code": "x" if plan.input_labels is None else "POINTS[PLACES[x]]",
    }


LANGUAGE = Language(_declared, lambda plan: "sample_code" if plan.labelled else "sample", literal=number, words=_words)
