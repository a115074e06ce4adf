"""What the options about paths say: regions, references, points of interest, methods and metrics."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.errors import MAX_EPSILON, FileProblem, InvalidInput, require_whole
from mechdesign.studies.places.coordinates import CERTIFIED, MOST_CERTIFIED
from mechdesign.studies.places.discrete_rivals import Points, grid_points
from mechdesign.studies.places.expected import best_reference, best_split
from mechdesign.studies.places.files import Columns, found_columns
from mechdesign.studies.places.metrics import average_error, busiest_points, geodesic_error, hotspots_lost, within_range
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.plane import plane_design
from mechdesign.studies.places.regions import Disc, Globe, Parallelogram, Polygon, Rectangle, Region
from mechdesign.studies.places.rivals import PlanarLaplace
from mechdesign.studies.places.rounding import require_points, to_cells, to_points
from mechdesign.studies.places.study import METHODS, ON_POINTS, Metric, fits
from mechdesign.studies.places.tracs import HEURISTIC_SHARE, PathMechanism, tracs_c, tracs_d
from mechdesign.values import files
from mechdesign.values.declare import field, frozen, option

PERTURBING = ("tracs-c", "tracs-d", "plane", "laplace")
_WITHOUT_POINTS = ("tracs-d", "tracs-c", "tracs-c-certified", "plane", "laplace", "strawman")
_WITH_POINTS = ("tracs-d", "tracs-c", "tracs-c-certified", "plane", "exponential", "l-srr", "ngram", "atp")
ERRORS = ("average error", "average error in metres")
METRICS = ("error", "metres", "range:", "hotspots:")
"""How the words of a metric begin; a number follows a colon."""


@frozen
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
    def of(cls, method: str, said: ReferenceOptions) -> Reference:
        split, start, candidates, fixed = said.split, said.start, said.candidates, said.fixed
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
    if mechanism not in CERTIFIED:
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


@frozen
class RegionOptions:
    """The options about the public region that holds all places."""

    bounds: str | None = field(
        default=None,
        metadata=option("--bounds", "The public rectangle: x from, to, y from, to.", metavar="W,E,S,N"),
    )
    disc: str | None = field(default=None, metadata=option("--disc", "A public disc instead.", metavar="X,Y,RADIUS"))
    polygon: Path | None = field(
        default=None,
        metadata=option("--polygon", "A public polygon instead: corners x,y in a .csv.", metavar="FILE"),
    )
    parallelogram: str | None = field(
        default=None,
        metadata=option("--parallelogram", "A corner and the sides from it instead.", metavar="X,Y,A,B,C,D"),
    )
    sphere: bool = field(default=False, metadata=option("--sphere", "Longitudes and latitudes of the whole sphere."))

    def region(self, usual: Region | None = None) -> Region:
        """The one that was said, or else the usual one."""
        said = [given for given in (self.bounds, self.disc, self.polygon, self.parallelogram) if given is not None]
        count = len(said) + self.sphere
        if count == 0 and usual is not None:
            return usual
        if count != 1:
            step = "for example --bounds=139.47,139.90,35.51,35.86; it is public and must not be taken from the data"
            rule = "be one of --bounds, --disc, --polygon, --parallelogram and --sphere"
            raise InvalidInput("region", f"{count} of them", rule, step)
        if self.bounds is not None:
            return Rectangle(*_numbers(self.bounds, "bounds", 4, "WEST,EAST,SOUTH,NORTH"))
        if self.disc is not None:
            x, y, radius = _numbers(self.disc, "disc", 3, "X,Y,RADIUS")
            return Disc((x, y), radius)
        if self.polygon is not None:
            return Polygon(tuple((float(x), float(y)) for x, y in _table_of_points(self.polygon, "polygon")))
        if self.parallelogram is not None:
            x, y, a, b, c, d = _numbers(self.parallelogram, "parallelogram", 6, "X,Y,A,B,C,D")
            return Parallelogram((x, y), (a, b), (c, d))
        return Globe()


@frozen
class ColumnOptions:
    """The options about what the columns of a file are called."""

    id: str | None = field(default=None, metadata=option("--id", "Column of path names (id).", metavar="NAME"))
    time: str | None = field(
        default=None, metadata=option("--time", "Column of times, checked (t, if there).", metavar="NAME")
    )
    x: str | None = field(default=None, metadata=option("--x", "Column of x or longitude (x, lon).", metavar="NAME"))
    y: str | None = field(default=None, metadata=option("--y", "Column of y or latitude (y, lat).", metavar="NAME"))
    project: bool = field(
        default=False, metadata=option("--project", "Move places outside to the nearest inside; else an error.")
    )

    def columns(self, source: Path) -> Columns:
        """Those of a file."""
        return found_columns(source, {"id": self.id, "x": self.x, "y": self.y, "time": self.time})


@frozen
class RoundingOptions:
    """The options about what reports are rounded to."""

    cells: str | None = field(
        default=None, metadata=option("--cells", "Round reports to a grid.", metavar="COLUMNS,ROWS")
    )
    points: Path | None = field(
        default=None, metadata=option("--points", "Public points of interest x,y in a .csv.", metavar="FILE")
    )

    def rounding(self, region: Region) -> Callable[[Paths], Paths] | None:
        return rounding_of(region, self.cells, self.points)


@frozen
class ReferenceOptions:
    """The options about where TraCS-D sees from."""

    start: str | None = field(
        default=None, metadata=option("--start", "TraCS-D: public first reference (the centre).", metavar="X,Y")
    )
    fixed: bool = field(
        default=False, metadata=option("--fixed", "TraCS-D: the start is the reference of every location.")
    )
    split: str | None = field(
        default=None, metadata=option("--split", "TraCS-D: part of eps for the direction, or best.", metavar="P|best")
    )
    candidates: Path | None = field(
        default=None,
        metadata=option("--candidates", "TraCS-D: public x,y, the best of which is the reference.", metavar="FILE"),
    )


def region_of(said: RegionOptions | Region, usual: Region | None = None) -> Region:
    """The region itself, or the one that options say."""
    return said.region(usual) if isinstance(said, RegionOptions) else said


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


def parse_seed(seed: int | None) -> int:
    return secrets.randbits(64) if seed is None else require_whole(seed, "seed", 0)
