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
from mechdesign.errors import MAX_EPSILON, FileProblem, InvalidInput, require_whole
from mechdesign.trajectory.coordinates import MOST_CERTIFIED
from mechdesign.trajectory.discrete_rivals import Points, grid_points
from mechdesign.trajectory.expected import best_reference, best_split
from mechdesign.trajectory.metrics import average_error, busiest_points, geodesic_error, hotspots_lost, within_range
from mechdesign.trajectory.paths import Paths
from mechdesign.trajectory.plane import plane_design
from mechdesign.trajectory.regions import Disc, Parallelogram, Polygon, Rectangle, Region, Sphere
from mechdesign.trajectory.rivals import PlanarLaplace
from mechdesign.trajectory.rounding import require_points, to_cells, to_points
from mechdesign.trajectory.study import METHODS, ON_POINTS, Metric, fits
from mechdesign.trajectory.tracs import HEURISTIC_SHARE, PathMechanism, tracs_c, tracs_d
from mechdesign.values import files

PERTURBING = ("tracs-c", "tracs-d", "plane", "laplace")
_WITHOUT_POINTS = ("tracs-d", "tracs-c", "tracs-c-certified", "plane", "laplace", "strawman")
_WITH_POINTS = ("tracs-d", "tracs-c", "tracs-c-certified", "plane", "exponential", "l-srr", "ngram", "atp")
ERRORS = ("average error", "average error in metres")
Wanted = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Reference:
    """Where TraCS-D sees from, and how it splits epsilon.

    Of public ``candidates`` that one serves all locations from which the candidates are seen with the least error.
    """

    split: float | None = None
    best: bool = False
    start: tuple[float, float] | None = None
    follow: bool = True
    candidates: tuple[tuple[float, float], ...] | None = None

    @classmethod
    def of(
        cls, method: str, split: str | None, start: str | None, candidates: Path | None = None, *, fixed: bool
    ) -> Reference:
        if method not in PERTURBING:
            raise InvalidInput("method", method, f"be one of {', '.join(PERTURBING)}")
        if method != "tracs-d" and (any(given is not None for given in (split, start, candidates)) or fixed):
            rule = "be tracs-d with --split, --start, --candidates or --fixed"
            raise InvalidInput("method", method, rule, "they would do nothing")
        if candidates is not None and (start is not None or fixed):
            rule = "be left out beside --start and --fixed"
            raise InvalidInput("candidates", candidates.name, rule, "they say the reference themselves")
        best = split == "best"
        if split is not None and not best and not _is_number(split):
            raise InvalidInput("split", split, "be a number or best", "for example --split 0.7")
        part = None if split is None or best else require_number_text(split)
        table = None if candidates is None else _table_of_points(candidates, "candidates").tolist()
        places = None if table is None else tuple((a, b) for a, b in table)
        return cls(part, best, parse_pair(start, "start"), not fixed, places)


def most_of_location(method: str, mechanism: str, reference: Reference) -> float:
    """The largest epsilon of a location for which there is such a mechanism, for paths that share a total."""
    if method == "plane":
        return MOST_CERTIFIED
    if not mechanism.startswith("certified"):
        return MAX_EPSILON
    if method == "tracs-c":
        return 2 * MOST_CERTIFIED
    if reference.best:
        return MOST_CERTIFIED  # whatever the split
    share = HEURISTIC_SHARE if reference.split is None else reference.split
    return min(MAX_EPSILON, MOST_CERTIFIED / (1 - share)) if share < 1 else MAX_EPSILON


def make_mechanism(method: str, region: Region, mechanism: str, reference: Reference, epsilon: float) -> PathMechanism:
    if method == "tracs-c":
        return tracs_c(region, epsilon, mechanism)
    if method == "tracs-d":
        share = HEURISTIC_SHARE if reference.split is None else reference.split
        if reference.best:
            share = best_split(region, epsilon, mechanism, start=reference.start, follow=reference.follow)
        tracs = tracs_d(region, epsilon, mechanism, share=share, start=reference.start, follow=reference.follow)
        return tracs if reference.candidates is None else best_reference(tracs, reference.candidates)
    if mechanism != "ogpm":
        raise InvalidInput("mechanism", mechanism, f"be left out for {method}", "it goes inside tracs-c and tracs-d")
    if method == "plane":
        if not isinstance(region, Rectangle):
            raise InvalidInput("method", method, "come with --bounds", "the plane is designed for rectangles")
        return plane_design(region, epsilon)
    return PlanarLaplace(region, epsilon)


def parse_region(
    bounds: str | None, disc: str | None, polygon: Path | None, parallelogram: str | None, *, sphere: bool
) -> Region:
    given = [bounds is not None, disc is not None, polygon is not None, parallelogram is not None, sphere]
    if sum(given) != 1:
        step = "for example --bounds=139.47,139.90,35.51,35.86; it is public and must not be taken from the data"
        rule = "be one of --bounds, --disc, --polygon, --parallelogram and --sphere"
        raise InvalidInput("region", f"{sum(given)} of them", rule, step)
    if bounds is not None:
        return Rectangle(*_numbers(bounds, "bounds", 4, "WEST,EAST,SOUTH,NORTH"))
    if disc is not None:
        a, b, radius = _numbers(disc, "disc", 3, "X,Y,RADIUS")
        return Disc((a, b), radius)
    if polygon is not None:
        return Polygon(tuple((float(a), float(b)) for a, b in _table_of_points(polygon, "polygon")))
    if parallelogram is not None:
        x, y, a, b, c, d = _numbers(parallelogram, "parallelogram", 6, "X,Y,A,B,C,D")
        return Parallelogram((x, y), (a, b), (c, d))
    return Sphere()


def _numbers(text: str, field: str, count: int, form: str) -> list[float]:
    parts = text.split(",")
    try:
        numbers = [require_number_text(part.strip()) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise InvalidInput(field, text, f"be {count} numbers {form}", f"for example --{field}={_EXAMPLES[field]}")
    return numbers


_EXAMPLES = {
    "bounds": "0,2,0,10",
    "disc": "0,0,2",
    "parallelogram": "0,0,2,0,1,1",
    "start": "0,0",
}


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


def parse_methods(text: str | None, region: Region, interest: Points | None) -> list[str]:
    fitting = [name for name in METHODS if fits(name, region)]
    usable = [name for name in fitting if interest is not None or name not in ON_POINTS]
    if text is None:
        return [name for name in (_WITHOUT_POINTS if interest is None else _WITH_POINTS) if name in usable]
    names = usable if text == "all" else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in usable:
            step = "add --points or --grid" if name in fitting else "others do not fit the region"
            raise InvalidInput("methods", name, f"be among {', '.join(usable)}", step if name in METHODS else "")
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
