"""What the options of `trajectory` say: regions, references, points of interest, methods and metrics."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.errors import FileProblem, InvalidInput, require_whole
from mechdesign.trajectory.discrete_rivals import Points, grid_points
from mechdesign.trajectory.expected import best_split
from mechdesign.trajectory.metrics import average_error, busiest_points, geodesic_error, hotspots_lost, within_range
from mechdesign.trajectory.paths import Paths
from mechdesign.trajectory.plane import plane_design
from mechdesign.trajectory.regions import Disc, Polygon, Rectangle, Region, Sphere
from mechdesign.trajectory.rivals import PlanarLaplace
from mechdesign.trajectory.rounding import require_points, to_cells, to_points
from mechdesign.trajectory.study import METHODS, ON_POINTS, Metric
from mechdesign.trajectory.tracs import HEURISTIC_SHARE, PathMechanism, tracs_c, tracs_d
from mechdesign.values import files

PERTURBING = ("tracs-c", "tracs-d", "plane", "laplace")
_WITHOUT_POINTS = ("tracs-d", "tracs-c", "tracs-c-certified", "plane", "laplace", "strawman")
_WITH_POINTS = ("tracs-d", "tracs-c", "tracs-c-certified", "plane", "exponential", "l-srr", "ngram", "atp")
ERRORS = ("average error", "average error in metres")
Wanted = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Reference:
    """Where TraCS-D sees from, and how it splits epsilon."""

    split: float | None = None
    best: bool = False
    start: tuple[float, float] | None = None
    follow: bool = True

    @classmethod
    def of(cls, method: str, split: str | None, start: str | None, *, fixed: bool) -> Reference:
        if method not in PERTURBING:
            raise InvalidInput("method", method, f"be one of {', '.join(PERTURBING)}")
        if method != "tracs-d" and (split is not None or start is not None or fixed):
            raise InvalidInput("method", method, "be tracs-d with --split, --start or --fixed", "they would do nothing")
        best = split == "best"
        if split is not None and not best and not _is_number(split):
            raise InvalidInput("split", split, "be a number or best", "for example --split 0.7")
        part = None if split is None or best else require_number_text(split)
        return cls(part, best, parse_pair(start, "start"), not fixed)


def make_mechanism(method: str, region: Region, mechanism: str, reference: Reference, epsilon: float) -> PathMechanism:
    if method == "tracs-c":
        return tracs_c(region, epsilon, mechanism)
    if method == "tracs-d":
        share = HEURISTIC_SHARE if reference.split is None else reference.split
        if reference.best:
            share = best_split(region, epsilon, mechanism, start=reference.start, follow=reference.follow)
        return tracs_d(region, epsilon, mechanism, share=share, start=reference.start, follow=reference.follow)
    if mechanism != "ogpm":
        raise InvalidInput("mechanism", mechanism, f"be left out for {method}", "it goes inside tracs-c and tracs-d")
    if method == "plane":
        if not isinstance(region, Rectangle):
            raise InvalidInput("method", method, "come with --bounds", "the plane is designed for rectangles")
        return plane_design(region, epsilon)
    return PlanarLaplace(region, epsilon)


def parse_region(bounds: str | None, disc: str | None, polygon: Path | None, *, sphere: bool) -> Region:
    given = [bounds is not None, disc is not None, polygon is not None, sphere]
    if sum(given) != 1:
        step = "for example --bounds=139.47,139.90,35.51,35.86; it is public and must not be taken from the data"
        raise InvalidInput(
            "region", f"{sum(given)} of them", "be one of --bounds, --disc, --polygon and --sphere", step
        )
    if bounds is not None:
        return Rectangle(*_numbers(bounds, "bounds", 4, "WEST,EAST,SOUTH,NORTH"))
    if disc is not None:
        a, b, radius = _numbers(disc, "disc", 3, "X,Y,RADIUS")
        return Disc((a, b), radius)
    if polygon is not None:
        return Polygon(tuple((float(a), float(b)) for a, b in _table_of_points(polygon, "polygon")))
    return Sphere()


def _numbers(text: str, field: str, count: int, form: str) -> list[float]:
    parts = text.split(",")
    try:
        numbers = [require_number_text(part.strip()) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise InvalidInput(
            field, text, f"be {count} numbers {form}", f"for example --{field}={','.join('0123'[:count])}"
        )
    return numbers


def parse_pair(text: str | None, field: str) -> tuple[float, float] | None:
    if text is None:
        return None
    first, second = _numbers(text, field, 2, "X,Y")
    return first, second


def _table_of_points(path: Path, field: str) -> np.ndarray:
    """Two columns of numbers of a small public file, with or without names above them."""
    try:
        text = files.read_bytes(path, field).decode("utf-8-sig")
        rows = [row for row in csv.reader(text.splitlines(), strict=True) if row]
    except (UnicodeDecodeError, csv.Error):
        raise FileProblem(field, str(path), "be a CSV file in UTF-8") from None
    start = 1 if rows and not any(map(_is_number, rows[0])) else 0  # names above the columns
    table = []
    for number, row in enumerate(rows[start:], start + 1):
        if len(row) < 2 or not (_is_number(row[0]) and _is_number(row[1])):
            raise FileProblem(field, str(path), f"hold two numbers x,y in line {number}")
        table.append((require_number_text(row[0].strip()), require_number_text(row[1].strip())))
    if not table:
        raise FileProblem(field, str(path), "hold rows of two numbers x,y")
    return np.array(table)


def _is_number(text: str) -> bool:
    try:
        require_number_text(text.strip())
    except ValueError:
        return False
    return True


def rounding_of(region: Region, cells: str | None, points: Path | None) -> Callable[[Paths], Paths] | None:
    """What reports are rounded to."""
    if cells is not None and points is not None:
        raise InvalidInput("cells", cells, "be left out beside --points")
    if points is not None:
        return partial(to_points, points=require_points(region, _table_of_points(points, "points")))
    if cells is None:
        return None
    if not isinstance(region, Rectangle):
        raise InvalidInput("cells", cells, "come with --bounds", "cells are of rectangles")
    try:
        columns, rows = (require_whole_text(part.strip()) for part in cells.split(","))
    except ValueError:
        raise InvalidInput("cells", cells, "be two whole numbers COLUMNS,ROWS", "for example --cells 20,10") from None
    columns, rows = (require_whole(count, "cells", 1, 10**6) for count in (columns, rows))
    return partial(to_cells, region=region, columns=columns, rows=rows)


def parse_interest(region: Region, points: Path | None, grid: int | None) -> Points | None:
    if points is not None and grid is not None:
        raise InvalidInput("grid", grid, "be left out beside --points")
    if points is not None:
        return Points(region, _table_of_points(points, "points"))
    return None if grid is None else grid_points(region, grid)


def parse_methods(text: str | None, interest: Points | None) -> list[str]:
    if text is None:
        return list(_WITHOUT_POINTS if interest is None else _WITH_POINTS)
    usable = [name for name in METHODS if interest is not None or name not in ON_POINTS]
    names = usable if text == "all" else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in usable:
            step = "add --points or --grid" if name in METHODS else ""
            raise InvalidInput("methods", name, f"be among {', '.join(usable)}", step)
    return list(dict.fromkeys(names))


def parse_metric(text: str, paths: Paths, interest: Points | None) -> tuple[Metric, str]:
    if text == "error":
        return average_error, ERRORS[0]
    if text == "metres":
        return geodesic_error, ERRORS[1]
    kind, _, limit = text.partition(":")
    if kind == "range" and _is_number(limit):
        return partial(within_range, range_=require_number_text(limit)), f"share within {limit}"
    if kind == "hotspots" and _is_number(limit):
        if interest is None:
            raise InvalidInput("metric", text, "come with points of interest", "add --points or --grid")
        busiest = busiest_points(paths, interest.table, require_number_text(limit))
        return partial(
            hotspots_lost, points=interest.table, hotspots=busiest
        ), f"visits of hotspots lost a path ({limit})"
    rule = "be error, range:R, hotspots:SHARE or metres"
    raise InvalidInput("metric", text, rule, "for example --metric range:0.1")


def wanted_columns(id_: str | None, x: str | None, y: str | None, time: str | None) -> Wanted:
    return {"id": id_, "x": x, "y": y, "time": time}


def parse_seed(seed: int | None) -> int:
    return secrets.randbits(64) if seed is None else require_whole(seed, "seed", 0)
