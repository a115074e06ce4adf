"""Several items a user, a line each: click streams and market baskets, and one item made of each line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mechdesign.data.text import text_lines
from mechdesign.errors import FileProblem, InvalidData, require_whole
from mechdesign.values.declare import Counts, array, frozen

_BETWEEN = re.compile(r"[\s,]+")
_COMMENTS = ("%", "@", "#")
_ENDS = ("-1", "-2")  # of a visit and of a sequence, where files of sequences write them
_LONGEST_ITEM = 200


@frozen
class OneEach:
    """How many users hold each item once each is left with one, most frequent item first.

    ``left_out`` users have none of the items.
    """

    items: tuple[str, ...]
    counts: Counts = array(np.asarray)
    left_out: int = 0


def one_each(path: Path | str, most: int | None = None) -> OneEach:
    """One item a line: the most frequent of its own, among the ``most`` items that are most frequent in all lines.

    Items are separated by blanks or commas. Lines that begin with ``%``, ``@`` or ``#`` are comments, and what stands
    above the last one at the head of the file is a header, as in the MSNBC file; ``-1`` and ``-2`` end visits, as in
    files of sequences. Of equally frequent items the one that is met first is taken.

    A line without an item, and an item of more than 200 characters, is an `InvalidData` that names the line.
    """
    target = Path(path)
    kept = None if most is None else _most_frequent(target, require_whole(most, "most", 1))
    held: Counter[str] = Counter()
    left_out = 0
    for items in _lines(target):
        own = Counter(item for item in items if kept is None or item in kept)
        if own:
            held[own.most_common(1)[0][0]] += 1
        else:
            left_out += 1
    if not held:
        raise FileProblem("file of baskets", str(target), "hold a line of items")
    order = held.most_common()
    rest = [] if kept is None else [item for item in kept if item not in held]
    return OneEach(
        tuple([item for item, _ in order] + rest), np.array([count for _, count in order] + [0] * len(rest)), left_out
    )


def _most_frequent(path: Path, most: int) -> dict[str, int]:
    total: Counter[str] = Counter()
    for items in _lines(path):
        total.update(items)
    return dict(total.most_common(most))


def _lines(path: Path) -> Iterator[list[str]]:
    """The items of each line; empty lines may only end the file."""
    head, empty, is_started = _end_of_head(path), 0, False
    for number, line in text_lines(path, "file of baskets"):
        if number <= head or line.lstrip().startswith(_COMMENTS):
            continue
        if not line.strip():
            empty = empty or number
            continue
        if empty and is_started:
            raise InvalidData(f"line {empty} of {path.name}", "", "hold an item", "empty lines may only end the file")
        empty, is_started = 0, True
        yield _items(line, f"line {number} of {path.name}")


def _items(line: str, place: str) -> list[str]:
    items = [item for item in _BETWEEN.split(line.strip()) if item and item not in _ENDS]
    if not items:
        raise InvalidData(place, line, "hold an item")
    if max(map(len, items)) > _LONGEST_ITEM:
        raise InvalidData(place, line, f"hold items of at most {_LONGEST_ITEM} characters, between blanks or commas")
    return items


def _end_of_head(path: Path, among: int = 100) -> int:
    """The number of the last comment among the first lines; 0 if there is none."""
    last = 0
    for number, line in text_lines(path, "file of baskets"):
        if number > among:
            break
        if line.lstrip().startswith(_COMMENTS):
            last = number
    return last
