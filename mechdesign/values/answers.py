"""Questions about mechanisms and data: a study is a frozen value whose fields are its options, and it has an answer.

The fields are declared once: Python, the command line and the help pages say the same words. A text stands for a list
there as it does in a shell, ``"grr,oue"`` for ``("grr", "oue")``. An option without effect is refused by the rules that
stand beside the fields.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mechdesign.errors import plain, unusable_extra
from mechdesign.values import files, notebook
from mechdesign.values.codec import encoded, if_any
from mechdesign.values.declare import field
from mechdesign.values.tables import Grid

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

Say = Callable[[str], None]


def silent(_: str) -> None:
    """Where nobody wants to hear how far a study is."""


A = TypeVar("A", bound="Answer", covariant=True)


class Study(Protocol[A]):
    """A question: ``doing`` is what is said while it is worked on, ``reads`` and ``keeps`` are its files."""

    @property
    def doing(self) -> str: ...
    @property
    def reads(self) -> Sequence[Path | str]: ...
    @property
    def keeps(self) -> Sequence[Path]: ...
    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> A: ...


def merged(*parts: Any) -> dict[str, Any]:
    """The fields of all parts of an answer as one JSON object; None is no part."""
    said: dict[str, Any] = {}
    for part in parts:
        said |= {} if part is None else encoded(part)
    return said


def if_shown() -> Any:
    """A field that JSON holds where it was asked for."""
    return field(default=None, metadata=if_any())


class Answer:
    """What a study says. It reads as text and as HTML, is JSON and a data frame, and most draw themselves.

    All of that follows from `shown`, the tables and the lines beside them, and from `said`, the values whose fields are
    the JSON object. (This is a class to inherit from, as text, HTML and frame are the same for every answer.)
    """

    __slots__ = ()

    def shown(self) -> Iterator[Grid | str]:
        """Tables and lines, in the order in which they are read."""
        raise NotImplementedError

    @property
    def said(self) -> tuple[Any, ...]:
        """The values whose fields are those of the JSON object."""
        return (self,)

    @property
    def rows(self) -> Sequence[Any]:
        """The entries of the data frame."""
        raise NotImplementedError

    def plot(self) -> Figure:
        """The picture."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """The JSON object."""
        return merged(*self.said)

    def json(self) -> str:
        """The JSON object, written."""
        return files.dump_json(self.as_dict())

    def frame(self) -> Any:
        """The rows as a data frame of pandas."""
        try:
            import pandas
        except ImportError as error:
            raise unusable_extra("frame()", "data", error) from None
        return pandas.DataFrame([row if isinstance(row, dict) else encoded(row) for row in self.rows])

    def __str__(self) -> str:
        return "\n".join(plain(str(one), len(one)) if isinstance(one, str) else str(one) for one in self.shown())

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() if isinstance(one, Grid) else notebook.page(one) for one in self.shown())
