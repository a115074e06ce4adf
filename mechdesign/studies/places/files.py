"""Paths in files: CSV and Parquet rows of (id, time, x, y) in constant memory, and GeoJSON.

Rows of one id are a path, in the order in which they stand; rows of several ids may be mixed. Reports come out row by
row in that order, with the same columns and nothing else.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.columns import arrow, plain_array, require_columns, use_numbers
from mechdesign.data.sources import DataFile, form_of, open_data
from mechdesign.errors import FileProblem, InvalidData, InvalidInput, sealed
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Region, moved_inside, require_places, require_rows
from mechdesign.tables.frames_files import batch_writer
from mechdesign.values import files
from mechdesign.values.declare import Floats, array, frozen

Slots = NDArray[np.intp]

FORMATS = (".csv", ".parquet", ".geojson")
MOST_IN_GEOJSON = 2_000_000
_GEOJSON_BYTES = 2**29


@frozen
class Columns:
    """The names of the columns; ``time`` may be missing. None of them is protected but x and y."""

    id: str = "id"
    x: str = "x"
    y: str = "y"
    time: str | None = None

    @property
    def names(self) -> list[str]:
        return [self.id, *([] if self.time is None else [self.time]), self.x, self.y]


@frozen
class Batch:
    """Some rows of a file: the number of each row's path, in the order of first appearance, and its place.

    ``moved`` of them lay outside and were moved to the nearest place inside.
    """

    slots: Slots
    places: Floats = array(np.asarray)
    arrow: Any
    moved: int = 0


@dataclass(slots=True)
class _Seen:
    """Ids met so far, how many rows each had, and the time of its last."""

    slots: dict[str, int] = field(default_factory=dict)
    counts: Slots = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    times: Floats = field(default_factory=lambda: np.zeros(0))

    def number(self, ids: Sequence[str]) -> Slots:
        slots = self.slots
        numbers = np.fromiter((slots.setdefault(name, len(slots)) for name in ids), dtype=np.intp, count=len(ids))
        fresh = len(slots) - len(self.counts)
        self.counts = np.concatenate([self.counts, np.zeros(fresh, dtype=np.intp)])
        self.times = np.concatenate([self.times, np.full(fresh, -np.inf)])
        return numbers


def format_of(path: Path, what: str) -> str:
    """Which of the formats a file has, by its name: GeoJSON may end in .json, too."""
    return form_of(path.with_suffix(".geojson") if path.suffix.lower() == ".json" else path, what, FORMATS)


_USUAL = {
    "id": ("id", "user", "user_id", "trajectory"),
    "x": ("x", "lon", "longitude", "lng"),
    "y": ("y", "lat", "latitude"),
    "time": ("t", "time", "timestamp"),
}


def found_columns(path: Path, wanted: Mapping[str, str | None] | None = None) -> Columns:
    """The columns of a file: those wanted, by the fields of `Columns`, and for the others the usual names it has.

    GeoJSON has no columns: names wanted of it are refused.
    """
    asked = {field: name for field, name in (wanted or {}).items() if name is not None}
    if format_of(path, "data file") == ".geojson":
        if asked:
            raise InvalidInput("column", next(iter(asked.values())), "be left out", "GeoJSON has no columns")
        return Columns()
    data = open_data(path)
    folded = {name.casefold(): name for name in data.names}

    def known(field: str) -> str | None:
        return asked.get(field) or next((folded[name] for name in _USUAL[field] if name in folded), None)

    found = {field: known(field) or _USUAL[field][0] for field in ("id", "x", "y")}
    columns = Columns(**found, time=known("time"))
    require_columns(columns.names, data.names, data.name, data.hint)
    if len(set(columns.names)) < len(columns.names):
        raise InvalidInput("columns", tuple(columns.names), "be different ones")
    return columns


def batches(path: Path, columns: Columns, region: Region | None, *, project: bool = False) -> Iterator[Batch]:
    """The rows of a file, places inside the region or, with ``project``, moved to the nearest ones inside.

    Missing or non-finite coordinates, places outside, missing ids and times that do not rise along a path are an error
    that names the data row.
    """
    data, seen, before = open_data(path), _Seen(), 0
    require_columns(columns.names, data.names, data.name, data.hint)
    for batch in data.read(columns.names):
        slots = seen.number(_ids(batch.column(columns.id), data, columns.id, before))
        place = np.column_stack([_numbers(batch.column(name), data, name, before) for name in (columns.x, columns.y)])
        if columns.time is not None:
            _require_rising(seen, slots, _times(batch.column(columns.time), data, columns.time, before), data, before)
        inside, moved = _inside(region, place, data.name, before, project=project)
        yield Batch(slots, inside, batch, moved)
        before += batch.num_rows
    if not before:
        raise FileProblem("data file", data.name, "hold at least one row of data")


def lengths_of(path: Path, columns: Columns) -> Slots:
    """How many locations each path of a file has."""
    if format_of(path, "data file") == ".geojson":
        return read_geojson(path)[0].lengths
    counts = np.zeros(0, dtype=np.intp)
    for batch in batches(path, columns, None):
        some = np.bincount(batch.slots, minlength=len(counts))
        some[: len(counts)] += counts
        counts = some
    return counts


def read_paths(
    path: Path, columns: Columns, region: Region | None, *, project: bool = False
) -> tuple[Paths, list[str]]:
    """All paths of a file and their names, in memory: for pictures and studies."""
    if format_of(path, "data file") == ".geojson":
        paths, names = read_geojson(path)
        return paths.replaced(_inside(region, paths.places, str(path), 0, project=project)[0]), names
    parts = list(batches(path, columns, region, project=project))
    slots, places = np.concatenate([b.slots for b in parts]), np.concatenate([b.places for b in parts])
    order = np.argsort(slots, kind="stable")
    ids = [name for b in parts for name in plain_array(b.arrow.column(columns.id)).cast(arrow().string()).to_pylist()]
    names = list(dict.fromkeys(ids))
    return Paths(places[order], np.concatenate([[0], np.cumsum(np.bincount(slots))])), names


def _inside(region: Region | None, places: Floats, name: str, before: int, *, project: bool) -> tuple[Floats, int]:
    """Places inside the region, and how many were moved there."""
    if region is None:
        return require_rows(places, name, before), 0
    if not project:
        return require_places(region, places, name, before), 0
    return moved_inside(region, places, name, before), int((~region.contains(places)).sum())


Write = Callable[[Batch, Floats], None]
"""Takes rows and the reports of their places."""


@contextlib.contextmanager
def row_writer(out: Path, columns: Columns, *, overwrite: bool, like: Path) -> Iterator[Write]:
    """Takes batches and their reports to a file that appears when all is done; it can be read by whom ``like`` can."""
    form = format_of(out, "output file")
    with files.replacing(out, overwrite=overwrite, like=like) as stream, contextlib.ExitStack() as opened:
        if form == ".geojson":
            yield opened.enter_context(_gathering(stream, columns))
            return
        writer: Any = None

        def write(batch: Batch, reports: Floats) -> None:
            nonlocal writer
            told = with_reports(batch, reports, columns)
            writer = writer or opened.enter_context(batch_writer(stream, form, told.schema))
            writer.write_batch(told)

        yield write


def with_reports(batch: Batch, reports: Floats, columns: Columns) -> Any:
    """The columns of a batch with reports in place of the places."""
    pa = arrow()
    told = {columns.x: pa.array(reports[:, 0]), columns.y: pa.array(reports[:, 1])}
    arrays = [told.get(name, batch.arrow.column(name)) for name in columns.names]
    return pa.RecordBatch.from_arrays(arrays, columns.names)


@sealed
def read_geojson(path: Path) -> tuple[Paths, list[str]]:
    """The paths of a GeoJSON file: features that are lines, or points; those with one ``id`` are one path, in order.

    A line without an id is a path of its own, and points without one are a path together.
    """
    content = files.read_bytes(path, "data file", _GEOJSON_BYTES)
    try:
        document = files.parse_json(content, str(path))
    except FileProblem:  # whose words may quote the data
        rule = "hold one JSON object, with finite numbers and no key twice"
        raise FileProblem("data file", str(path), rule, "was it cut short, or edited by hand?") from None
    features = document.get("features") if document.get("type") == "FeatureCollection" else [document]
    lines: dict[tuple[str, str], list[Any]] = {}
    for number, feature in enumerate(features if isinstance(features, list) else [], 1):
        name, rows = _line(feature, number, path)
        lines.setdefault(name, []).extend(_position(row, path, number) for row in rows)
    if not lines or not all(lines.values()):
        raise FileProblem("data file", str(path), "hold features with at least one location each")
    return Paths.of(list(lines.values())), _names_of(list(lines))


def _names_of(keys: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each path, each once: a line without an id must not join the path whose id is the line's number."""
    taken = {name for kind, name in keys if kind == "id"}
    names = []
    for kind, name in keys:
        while kind != "id" and name in taken:
            name = f"{kind} {name}"
        taken.add(name)
        names.append(name)
    return names


def _line(feature: Any, number: int, path: Path) -> tuple[tuple[str, str], list[Any]]:
    """The name of a feature's path, apart from names of another kind, and its positions."""
    feature = feature if isinstance(feature, dict) else {}
    geometry, properties = (feature.get(key) for key in ("geometry", "properties"))
    geometry, properties = (value if isinstance(value, dict) else {} for value in (geometry, properties))
    kind, coordinates = geometry.get("type"), geometry.get("coordinates")
    if kind not in ("LineString", "Point"):
        raise FileProblem("data file", str(path), f"hold LineString or Point features, feature {number} is neither")
    if not isinstance(coordinates, list):
        raise FileProblem("data file", str(path), f"hold a list of coordinates in feature {number}")
    given = feature.get("id") if feature.get("id") is not None else properties.get("id")
    if not isinstance(given, str | int | float | None):
        raise FileProblem("data file", str(path), f"have an id that is a text or a number in feature {number}")
    if given is not None:
        return ("id", str(given)), coordinates if kind == "LineString" else [coordinates]
    return (("line", str(number)), coordinates) if kind == "LineString" else (("points", "points"), [coordinates])


def _position(row: Any, path: Path, number: int) -> list[float]:
    pair = row[:2] if isinstance(row, list) else []
    if len(pair) == 2 and all(isinstance(value, int | float) and not isinstance(value, bool) for value in pair):
        with contextlib.suppress(OverflowError):
            return [float(value) for value in pair]
    raise FileProblem("data file", str(path), f"hold positions of two finite numbers or more in feature {number}")


def geojson(paths: Paths, names: Sequence[str]) -> bytes:
    """Paths as lines, as RFC 7946 writes them; a path of one location is a point."""
    features = [
        {
            "type": "Feature",
            "properties": {"id": name},
            "geometry": {"type": "LineString", "coordinates": path.tolist()}
            if len(path) > 1
            else {"type": "Point", "coordinates": path[0].tolist()},
        }
        for name, path in zip(names, paths, strict=True)
    ]
    return (json.dumps({"type": "FeatureCollection", "features": features}) + "\n").encode()


def write_paths(out: Path, paths: Paths, names: Sequence[str], *, overwrite: bool, like: Path) -> None:
    """Whole paths in a file: as lines of GeoJSON, or as rows of (id, x, y), one path after the other."""
    form, columns = format_of(out, "output file"), Columns()
    with files.replacing(out, overwrite=overwrite, like=like) as stream:
        if form == ".geojson":
            stream.write(geojson(paths, names))
            return
        pa = arrow()
        ids = pa.array(np.repeat(np.array(names, dtype=object), paths.lengths), pa.string())
        rows = pa.RecordBatch.from_arrays([ids, *map(pa.array, paths.places.T)], columns.names)
        with batch_writer(stream, form, rows.schema) as writer:
            writer.write_batch(rows)


@contextlib.contextmanager
def _gathering(stream: BinaryIO, columns: Columns) -> Iterator[Write]:
    """A writer that holds everything until the end, as GeoJSON has no rows."""
    slots: list[Slots] = []
    places: list[Floats] = []
    names: dict[str, None] = {}

    def write(batch: Batch, reports: Floats) -> None:
        slots.append(batch.slots)
        places.append(reports)
        names.update(dict.fromkeys(plain_array(batch.arrow.column(columns.id)).cast(arrow().string()).to_pylist()))
        if sum(map(len, slots)) > MOST_IN_GEOJSON:
            rule = f"hold at most {MOST_IN_GEOJSON} locations as GeoJSON"
            raise InvalidInput("data file", "more", rule, "write .csv or .parquet")

    yield write
    numbers = np.concatenate(slots)
    order = np.argsort(numbers, kind="stable")
    paths = Paths(np.concatenate(places)[order], np.concatenate([[0], np.cumsum(np.bincount(numbers))]))
    stream.write(geojson(paths, list(names)))


def _ids(column: Any, data: DataFile, name: str, before: int) -> list[str]:
    array = plain_array(column).cast(arrow().string())
    values: list[str | None] = array.to_pylist()
    missing = next((k for k, value in enumerate(values) if value is None or not value.strip()), None)
    if missing is not None:
        raise InvalidData(_place(data, name, before + missing), None, "hold the name of a path", "drop or fill the row")
    return values  # type: ignore[return-value]


def _numbers(column: Any, data: DataFile, name: str, before: int) -> Floats:
    return use_numbers(column, data.reading, lambda values: values, f"column {name!r}", before)


def _times(column: Any, data: DataFile, name: str, before: int) -> Floats:
    """Times as numbers that rise as they do: numbers, time stamps, or texts of either kind."""
    pa = arrow()
    array = plain_array(column)
    if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("us")).cast(pa.int64())
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        texts, array = array, _read_times(array)
        if array is None:
            row = next((k for k in range(len(texts)) if _read_times(texts.slice(k, 1)) is None), 0)
            place = _place(data, name, before + row)
            raise InvalidData(place, texts[row].as_py(), _TIMES, "or leave the column of times out")
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        raise InvalidInput(f"column {name!r}", str(array.type), _TIMES, "or leave the column of times out")
    if array.null_count:
        row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise InvalidData(_place(data, name, before + row), None, "hold a time", "drop or fill the row")
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)


_TIMES = "hold numbers, or times such as 2026-01-31T12:00:00"


def _read_times(texts: Any) -> Any:
    pa = arrow()
    for kind in (pa.float64(), pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        with contextlib.suppress(pa.ArrowInvalid):
            array = texts.cast(kind)
            return array if kind == pa.float64() else array.cast(pa.int64())
    return None


def _require_rising(seen: _Seen, slots: Slots, times: Floats, data: DataFile, before: int) -> None:
    """Along each path every time is after the one before."""
    order = np.argsort(slots, kind="stable")
    mine, path = times[order], slots[order]
    first = np.concatenate([[True], path[1:] != path[:-1]])
    earlier = np.where(first, seen.times[path], np.concatenate([[0.0], mine[:-1]]))
    wrong = ~(mine > earlier)
    if wrong.any():
        row = int(order[wrong].min())
        same = bool((mine == earlier)[wrong][np.argmin(order[wrong])])
        what = "be after the time of the row before of its path" + (", and is the same" if same else "")
        step = "drop repeated rows" if same else "sort the rows of each path by time, or leave the column of times out"
        raise InvalidData(f"{data.name}, data row {before + row + 1},", float(times[row]), what, step)
    last = np.concatenate([path[1:] != path[:-1], [True]])
    seen.times[path[last]] = mine[last]


def _place(data: DataFile, name: str, row: int) -> str:
    return f"column {name!r} of {data.name}, data row {row + 1},"
