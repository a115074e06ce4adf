"""Whether the first line of a column without a name is its name: one policy for every command."""

from __future__ import annotations

import csv
import difflib
import warnings
from collections.abc import Sequence
from pathlib import Path

from mechdesign.data.numbers import begins_like_a_number, is_missing

ONLY = "value"
"""What the only column of a file is called if the file does not say."""


_LONGEST = 1 << 16  # letters of a line of names


class TakenName(UserWarning):
    """The first line was taken for the name of the column: it can be no value, and could have been somebody's."""


def may_be_name(first: str, items: Sequence[str] | None = None) -> bool:
    """Whether the first cell of a column can only be its name, if nothing but numbers or ``items`` is below it.

    What is missing, begins like a number, or is nearly an item is a mistyped value: a user would be lost with it.

    >>> may_be_name("age"), may_be_name("7 kWh"), may_be_name("answer", ["yes", "no"]), may_be_name("Yes ", ["yes"])
    (True, False, True, False)
    """
    if is_missing(first) or begins_like_a_number(first):
        return False
    if items is None:
        return True
    folded = [item.strip().casefold() for item in items]
    return not difflib.get_close_matches(first.strip().casefold(), folded, n=1)


def header_of(path: Path) -> list[str]:
    """The names of the columns of a CSV file; none where it has no such line, or its first one holds values.

    >>> header_of(Path("no such file.csv"))
    []
    """
    if path.suffix.lower() != ".csv":
        return []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = [name.strip() for name in next(csv.reader([file.readline(_LONGEST)]), [])]
    except (OSError, UnicodeDecodeError, csv.Error):
        return []
    return names if all(map(may_be_name, names)) else []


def tell_of_name(source: str, *, items: bool, named: bool = True) -> None:
    """Say that the first line was taken for a name, without quoting what could be somebody's value.

    ``named``: the reader has a column to be named, which would settle it.
    """
    above = "items" if items else "numbers"
    step = "if it is somebody's value correct it" + ("; --column NAME says that it is a name" if named else "")
    warnings.warn(f"the first line of {source}, a word above {above}, was taken for a header; {step}", TakenName, 2)
