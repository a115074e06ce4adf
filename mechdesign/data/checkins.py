"""Check-ins: who was where, a row each, from CSV files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from mechdesign.data.numbers import number_of
from mechdesign.data.text import place_of, text_rows
from mechdesign.errors import FileProblem, InvalidData
from mechdesign.values.declare import Floats, array, frozen

COLUMNS = (("user id", "userid", "user"), ("latitude", "lat"), ("longitude", "lon", "lng", "long"))
_BOUNDS = (math.inf, 90.0, 180.0)


@frozen
class CheckIns:
    """A number of the user, latitude and longitude, a row a check-in, as the file has them."""

    users: Floats = array(np.asarray)
    places: Floats = array(np.asarray)


def columns_of(header: list[str]) -> list[int] | None:
    """Where user, latitude and longitude stand; None if one of them is missing."""
    lower = [name.strip().lower() for name in header]
    found = [next((lower.index(name) for name in names if name in lower), None) for names in COLUMNS]
    return None if None in found else [place for place in found if place is not None]


def read_checkins(path: Path | str) -> CheckIns:
    """The rows of a CSV file with columns of users (numbers), latitude and longitude.

    Other columns may be in any encoding. A row that is short, a cell that is no number and a place off the globe is an
    `InvalidData` that names it.
    """
    target = Path(path)
    rows = text_rows(target, encoding="latin-1")
    header = next(rows, (0, []))[1]
    columns = columns_of(header)
    if columns is None:
        rule = "name columns for user, latitude and longitude in its first line"
        raise FileProblem("data file", str(target), rule, "for example User ID, Latitude and Longitude")
    found = []
    for line, cells in rows:
        if len(cells) != len(header):
            raise InvalidData(f"row {line} of {target.name}", "", f"have {len(header)} fields, and has {len(cells)}")
        bounds = zip(columns, _BOUNDS, strict=True)
        found.append([_number(cells[k], most, place_of(target, line, header[k].strip())) for k, most in bounds])
    if not found:
        raise FileProblem("data file", str(target), "hold at least one row of data")
    table = np.array(found)
    return CheckIns(table[:, 0], table[:, 1:])


def _number(cell: str, most: float, place: str) -> float:
    number = number_of(cell)
    if number is None or not math.isfinite(number):
        raise InvalidData(place, cell, "hold a finite number")
    if abs(number) > most:
        raise InvalidData(place, cell, f"be from {-most:g} to {most:g} degrees")
    return number
