"""Places from CSV files: coordinates of a plane, latitude and longitude, or numbers, with names and weights."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from mechdesign.data.numbers import number_of
from mechdesign.data.text import place_of, text_rows
from mechdesign.errors import FileProblem, InvalidData
from mechdesign.values.declare import Floats, array, frozen

PLANE, GLOBE, LINE = "plane", "globe", "line"
_FORMS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    (GLOBE, (("latitude", "lat"), ("longitude", "lon", "lng", "long"))),
    (PLANE, (("x",), ("y",))),
    (LINE, (("x", "number", "value"),)),
)
_NAMES = ("name", "place", "label")


@frozen
class FoundPlaces:
    """Coordinates, a row a place, how they are to be read, the names of the places and a column of weights, if any."""

    points: Floats = array(np.asarray)
    form: str = PLANE
    names: tuple[str, ...] | None = None
    weights: Floats | None = array(lambda said: None if said is None else np.asarray(said), default=None)


def read_places(path: Path | str, weights: str | None = None) -> FoundPlaces:
    """The places in a CSV file whose first line names its columns.

    Columns ``x`` and ``y`` are a plane, ``latitude`` and ``longitude`` the globe, ``x`` alone numbers; ``name`` names
    the places, and ``weights`` is the column of a prior. A cell that is empty or no number is an error with its place.
    """
    target = Path(path)
    if target.suffix.lower() != ".csv":
        raise FileProblem("file of places", str(target), "end in .csv", "save the places as CSV")
    rows = text_rows(target, "file of places")
    header = [cell.strip() for cell in next(rows, (0, []))[1]]
    form, columns = _columns(header, target)
    named = next((k for k, cell in enumerate(header) if cell.lower() in _NAMES), None)
    weighed = None
    if weights is not None:
        if weights not in header:
            raise FileProblem("column of the prior", weights, f"be one of {', '.join(header)}", "see the first line")
        weighed = header.index(weights)
    points, names, shares = [], [], []
    for line, cells in rows:
        if len(cells) != len(header):
            raise InvalidData(f"row {line} of {target.name}", cells, f"have {len(header)} fields, and has {len(cells)}")
        points.append([_number(cells[k], target, line, header[k]) for k in columns])
        if named is not None:
            names.append(cells[named].strip())
        if weighed is not None:
            shares.append(_number(cells[weighed], target, line, header[weighed]))
    if not points:
        raise FileProblem("file of places", str(target), "hold a place: a line below the names of its columns")
    return FoundPlaces(
        np.array(points), form, tuple(names) if named is not None else None, np.array(shares) if shares else None
    )


def _columns(header: list[str], target: Path) -> tuple[str, list[int]]:
    lower = [cell.lower() for cell in header]
    for form, wanted in _FORMS:
        found = [next((lower.index(name) for name in names if name in lower), None) for names in wanted]
        if all(place is not None for place in found):
            return form, [place for place in found if place is not None]
        if form == GLOBE and any(place is not None for place in found):
            missing = "longitude" if found[0] is not None else "latitude"
            raise FileProblem("file of places", str(target), f"have a column {missing}, as it has the other one")
    rule = "name its columns in its first line: x and y; latitude and longitude; or x alone"
    raise FileProblem("file of places", str(target), rule, f"it has {', '.join(header) or 'nothing'}"[:200])


def _number(cell: str, target: Path, line: int, column: str) -> float:
    number = number_of(cell)
    if number is None or not math.isfinite(number):
        raise InvalidData(place_of(target, line, column), cell, "hold a finite number", "drop the row, or complete it")
    return number
