"""Where trips begin: files with a column of polylines, such as the taxis of Porto."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from mechdesign.data.columns import require_columns
from mechdesign.data.text import place_of, text_rows
from mechdesign.errors import FileProblem, InvalidData, InvalidInput, require_finite, require_whole
from mechdesign.values.declare import Counts, Floats, array, frozen

POLYLINE = "POLYLINE"
_START = re.compile(r"\s*\[\s*(?:\[\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*\]|\])", re.ASCII)

Box = tuple[float, float, float, float]
"""West, east, south and north."""


@frozen
class Starts:
    """Longitude and latitude of the first place of each trip that has one, and how many trips have none."""

    places: Floats = array(np.asarray)
    empty: int = 0


def trip_starts(path: Path | str, column: str = POLYLINE) -> Starts:
    """The first place of each trip of a CSV file; a polyline is ``[[longitude, latitude], ...]``, or ``[]``."""
    target = Path(path)
    rows = text_rows(target)
    header = [name.strip() for name in next(rows, (0, []))[1]]
    names = [name.upper() for name in header]
    require_columns([column.upper()], names, f"the first line of {target}")
    place, found, empty = names.index(column.upper()), [], 0
    for line, cells in rows:
        if len(cells) != len(header):
            raise InvalidData(f"row {line} of {target.name}", "", f"have {len(header)} fields, and has {len(cells)}")
        start = _START.match(cells[place])
        if start is None:
            rule = "begin with [[longitude, latitude], or be []"
            raise InvalidData(place_of(target, line, header[place]), cells[place], rule)
        if start[1] is None:
            empty += 1
        else:
            found.append((float(start[1]), float(start[2])))
    if not found:
        raise FileProblem("data file", str(target), "hold a trip with a place")
    return Starts(np.array(found), empty)


def cell_counts(places: Floats, box: Box, columns: int, rows: int) -> tuple[Counts, int]:
    """How many places lie in each cell of a grid over a box, row by row from the south west; and how many in none.

    >>> counts, outside = cell_counts(np.array([[0.1, 0.1], [0.9, 0.1], [2.0, 0.0]]), (0, 1, 0, 1), 2, 2)
    >>> counts.tolist(), outside
    ([1, 1, 0, 0], 1)
    """
    west, east, south, north = (require_finite(end, "box") for end in box)
    if not (west < east and south < north):
        raise InvalidInput("box", box, "be west, east, south and north, each pair in this order")
    across, up = require_whole(columns, "columns", 1, 10**4), require_whole(rows, "rows", 1, 10**4)
    parts = (places - [west, south]) / [east - west, north - south]
    inside = ((parts >= 0) & (parts < 1)).all(axis=1)
    column, row = np.floor(parts[inside] * [across, up]).astype(np.int64).T
    return np.bincount(row * across + column, minlength=across * up), int((~inside).sum())
