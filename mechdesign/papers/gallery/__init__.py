"""The gallery: one file, one theorem or claim, the program that computes it, a second number to hold it against, and a
picture.

A file has its statement with formula and source as its docstring, and

* ``CHAPTER``: where it stands in the list;
* ``answer()``: our number, and the reference: a closed form, a published number or a computation of its own;
* ``TOLERANCE``: how near they must be, and on which side where one is a bound;
* ``picture(axes)``: what is drawn on matplotlib axes;
* ``PRINTED``, in the files about errata: what the literature prints instead, which the two disagree with.

Nothing is imported before it is asked for.

>>> one = entry("randomised_response")
>>> one.title
'Nothing asks a yes/no question better than randomised response.'
>>> found = one.judge()
>>> round(found.ours, 6), round(found.reference, 6), found.agrees
(0.268941, 0.268941, True)
"""

from __future__ import annotations

import ast
import difflib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from mechdesign.errors import InvalidInput

if TYPE_CHECKING:
    from mechdesign.papers.gallery.agreement import Tolerance

_ORDER = (
    "Categories",
    "Counting many reports",
    "Many rounds",
    "One number",
    "Directions and places",
    "Distributions",
    "Means",
    "Users who lie together",
    "How much epsilon",
    "Classifiers",
)
"""Chapters in the order in which they are best read; others follow."""
_CHAPTER = re.compile(r'^CHAPTER = "(.+)"$', re.MULTILINE)


def _chapters() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Chapters and the names of their files: a file says its own."""
    found: dict[str, list[str]] = {chapter: [] for chapter in _ORDER}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        said = _CHAPTER.search(path.read_text(encoding="utf-8"))
        if said:
            found.setdefault(said[1], []).append(path.stem)
    yield from ((chapter, tuple(names)) for chapter, names in found.items())


CHAPTERS: tuple[tuple[str, tuple[str, ...]], ...] = tuple(_chapters())


class Exhibit(Protocol):
    """What a gallery file holds."""

    TOLERANCE: Tolerance

    def answer(self) -> tuple[float, float]: ...
    def picture(self, axes: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """The two numbers of a file, what they are held to, and what the literature prints instead, if it does."""

    ours: float
    reference: float
    tolerance: Tolerance
    printed: float | None

    @property
    def agrees(self) -> bool:
        """Whether ours and the reference stand to each other as the file says."""
        return self.tolerance.holds(self.ours, self.reference)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the gallery; `exhibit` imports it, the rest does not."""

    name: str
    chapter: str

    @property
    def module(self) -> str:
        return f"{__name__}.{self.name}"

    @property
    def source(self) -> str:
        """The text of the file."""
        data = pkgutil.get_data(__name__, f"{self.name}.py")
        assert data is not None
        return data.decode()

    @property
    def statement(self) -> str:
        """The theorem or claim, its formula and where it is from: the docstring of the file."""
        return inspect.cleandoc(ast.get_docstring(ast.parse(self.source)) or "")

    @property
    def title(self) -> str:
        """The first line of the statement."""
        return self.statement.partition("\n")[0]

    def exhibit(self) -> Exhibit:
        """The file itself, imported."""
        from importlib import import_module

        return cast("Exhibit", import_module(self.module))

    def judge(self) -> Outcome:
        """Compute both numbers."""
        exhibit = self.exhibit()
        ours, reference = map(float, exhibit.answer())
        return Outcome(ours, reference, exhibit.TOLERANCE, getattr(exhibit, "PRINTED", None))


ENTRIES: tuple[Entry, ...] = tuple(Entry(name, chapter) for chapter, names in CHAPTERS for name in names)


def entry(name: str) -> Entry:
    """The file of that name."""
    known = {one.name: one for one in ENTRIES}
    key = name.strip().lower().replace("-", "_") if isinstance(name, str) else ""
    if key not in known:
        near = difflib.get_close_matches(key, known, n=3, cutoff=0.5)
        step = f"nearest: {', '.join(near)}" if near else "`mechdesign gallery` lists them"
        raise InvalidInput("gallery file", name, "be one of those listed", step)
    return known[key]
