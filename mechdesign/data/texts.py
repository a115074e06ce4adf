"""Texts as a shell has them and the values they stand for: every converter takes either.

>>> names("protocol")("GRR, oue"), names("protocol")(("grr",))
(('grr', 'oue'), ('grr',))
>>> floats("tau")("0.1,0.2"), floats("tau")(0.1)
((0.1, 0.2), (0.1,))
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.errors import InvalidInput, require_epsilon

_MOST_POINTS = 1000
LABELS = """for example --labels 'no,"yes, but",yes'"""


def names(field: str) -> Callable[[Any], tuple[str, ...]]:
    """Names in small letters, each once; ``field`` is what errors call them."""

    def convert(said: Any) -> tuple[str, ...]:
        if not all(isinstance(name, str) for name in parts(said)):
            raise InvalidInput(field, said, "be a name, or a list A,B,C")
        return _filled(field, dict.fromkeys(name.strip().lower() for name in parts(said)))

    return convert


def columns(said: Any) -> tuple[str, ...]:
    """Names of columns as they stand in a file, each once; none at all is none.

    >>> columns("age, Hours"), columns(())
    (('age', 'Hours'), ())
    """
    found = tuple(parts(said))
    if not all(isinstance(name, str) and name.strip() for name in found):
        raise InvalidInput("columns", said, "be names of columns, A,B,C")
    return tuple(dict.fromkeys(name.strip() for name in found))


def _filled(field: str, entries: Iterable[Any]) -> tuple[Any, ...]:
    found = tuple(entries)
    if not found:
        raise InvalidInput(field, "nothing", "be a list of at least one")
    return found


def parts(said: Any) -> Iterable[Any]:
    if isinstance(said, str):
        return said.split(",")
    return said if isinstance(said, Iterable) else (said,)


def paths(said: Any) -> tuple[Path, ...]:
    """Files: one, or several.

    >>> paths("reports.csv") == paths([Path("reports.csv")])
    True
    """
    return (Path(said),) if isinstance(said, str | Path) else tuple(map(Path, said))


def float_list(field: str) -> Callable[[Any], tuple[float, ...]]:
    """Numbers, one a place; ``field`` is what errors call them.

    >>> float_list("weights")("4,1,1")
    (4.0, 1.0, 1.0)
    """

    def convert(said: Any) -> tuple[float, ...]:
        try:
            read = [require_number_text(one) if isinstance(one, str) else float(one) for one in parts(said)]
        except (TypeError, ValueError):
            raise InvalidInput(field, said, "be a number or a list A,B,C") from None
        return _filled(field, read)

    return convert


def floats(field: str) -> Callable[[Any], tuple[float, ...]]:
    """Numbers, each once; ``field`` is what errors call them."""
    read = float_list(field)
    return lambda said: tuple(dict.fromkeys(read(said)))


def wholes(field: str) -> Callable[[Any], tuple[int, ...]]:
    """Whole numbers; ``field`` is what errors call them."""

    def convert(said: Any) -> tuple[int, ...]:
        try:
            return _filled(field, (require_whole_text(one) if isinstance(one, str) else one for one in parts(said)))
        except ValueError:
            raise InvalidInput(field, said, "be whole numbers K,K,...", f"for example --{field} 50,100") from None

    return convert


def epsilons(option: str = "--eps", require: Callable[[float], float] = require_epsilon) -> Callable[[Any], Any]:
    """One epsilon, a list ``A,B,C`` or a range ``FROM:TO:COUNT``, increasing, each as ``require`` has it."""

    def convert(said: Any) -> tuple[float, ...]:
        return _filled("eps", parse_epsilons(said if isinstance(said, str) else parts(said), option, require))

    return convert


def parse_epsilons(
    said: str | Iterable[Any], option: str = "--eps", require: Callable[[float], float] = require_epsilon
) -> list[float]:
    """The numbers of `epsilons`."""
    example = f"for example {option} 0.5,1,2 or {option} 0.5:4:8"
    try:
        if isinstance(said, str) and ":" in said:
            start, stop, count = said.split(":")
            number = require_whole_text(count)
            first, last = (require(require_number_text(end)) for end in (start, stop))
            if not 2 <= number <= _MOST_POINTS:
                raise InvalidInput("eps", said, f"have a count from 2 to {_MOST_POINTS}", example)
            values = _evenly(first, last, number)
        else:
            values = [require(require_number_text(one) if isinstance(one, str) else one) for one in parts(said)]
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput("eps", said, "be a number, a list A,B,C or a range FROM:TO:COUNT", example) from None
    if any(a >= b for a, b in zip(values, values[1:], strict=False)):
        raise InvalidInput("eps", said, "increase", example)
    return values


def labels_of_line(text: str) -> tuple[str, ...]:
    """Categories from a line of CSV.

    >>> labels_of_line('no, "yes, but", yes')
    ('no', 'yes, but', 'yes')
    """
    try:
        lines = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise InvalidInput("--labels", text, f"be a line of CSV: {error}", LABELS) from None
    return tuple(name.strip() for name in lines[0]) if lines else ()


def _evenly(first: float, last: float, count: int) -> list[float]:
    """Numbers at even distances, as `numpy.linspace` has them."""
    step = (last - first) / (count - 1)
    return [*(first + k * step for k in range(count - 1)), last]
