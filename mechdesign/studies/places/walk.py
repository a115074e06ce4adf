"""Reports of a file of paths: by a simulation's generator, or by tables and the system's randomness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.sources import Progress, open_data
from mechdesign.errors import MAX_EPSILON, FileProblem, InvalidInput
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.studies.places.files import (
    Batch,
    Columns,
    batches,
    format_of,
    lengths_of,
    read_geojson,
    read_paths,
    row_writer,
    write_paths,
)
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Point, Region
from mechdesign.studies.places.tracs import (
    DIRECTIONS,
    SHARES,
    Coordinate,
    Draw,
    PathMechanism,
    TracsC,
    TracsD,
    coordinates_of,
    share_of_location,
    simulated,
)
from mechdesign.tables.sampler import sample
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Circle, Finite, Interval

Slots = NDArray[np.intp]
Post = Callable[[Paths], Paths]


@frozen
class Walked:
    """What was written, and what it cost: ``epsilon`` is the most that one location spends, ``most`` a whole path.

    ``moved`` locations lay outside the region and were moved inside first.
    """

    rows: int
    paths: int
    longest: int
    epsilon: float
    most: float
    file: Path
    moved: int = 0


@frozen
class Walk:
    """How the locations of a file become reports.

    ``mechanism`` serves every location; or, if a whole path may spend ``total``, ``make`` gives the mechanism for the
    share of one location, which is at most ``most``. Reports may be rounded by ``post`` to public places.
    """

    region: Region
    mechanism: PathMechanism | None = None
    make: Callable[[float], PathMechanism] | None = None
    total: float | None = None
    project: bool = False
    post: Post | None = None
    most: float = MAX_EPSILON

    def __attrs_post_init__(self) -> None:
        if (self.mechanism is None) == (self.total is None) or (self.total is None) != (self.make is None):
            raise InvalidInput("walk", "neither or both", "have one mechanism, or a total and how to make them")

    def share(self, length: int) -> float:
        """What one location of a path of that length spends, where the whole path has a total."""
        assert self.total is not None
        return share_of_location(self.total, length, self.most)


@frozen
class TableCoordinate:
    """A table in the place of a coordinate's mechanism: reports have exactly its probabilities."""

    table: Table

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def inputs(self) -> Interval | Circle | Finite:
        return self.table.domain

    @property
    def epsilon(self) -> float:
        return float(self.table.epsilon)

    def likelihood_ratio(self) -> LikelihoodRatio:
        return LikelihoodRatio(self.table.ratio)


def tables_c(region: Region, first: Table, second: Table) -> TracsC:
    """TraCS-C from two tables whose domains are the region's coordinates.

    *Guarantee.* A location spends at most the sum of the tables' privacy losses, as exact rationals.
    """
    for table, part, name in zip((first, second), coordinates_of(region).parts, ("x", "y"), strict=True):
        if table.domain != part:
            step = _how_to_make(part) + ("" if isinstance(part, Circle) else ", or give its domain as the bounds")
            raise InvalidInput(f"table of {name}", str(table.domain), f"have the domain {part}", step)
    return TracsC(region, TableCoordinate(first), TableCoordinate(second), "TraCS-C (tables)")


def tables_d(
    region: Region, direction: Table, distance: Table, *, start: Point | None = None, follow: bool = True
) -> TracsD:
    """TraCS-D from a table of directions on the circle [0, 2 pi) and one of shares on [0, 1]."""
    for table, domain, name in ((direction, DIRECTIONS, "directions"), (distance, SHARES, "shares")):
        if table.domain != domain:
            raise InvalidInput(f"table of {name}", str(table.domain), f"have the domain {domain}", _how_to_make(domain))
    toward, away = TableCoordinate(direction), TableCoordinate(distance)
    origin = region.centre if start is None else start
    return TracsD(region, toward, away, origin, follow, "TraCS-D (tables)")


def _how_to_make(part: Interval | Circle) -> str:
    """The command of a table for a coordinate; those of circles are made of designs."""
    ends = ",".join(repr(end).removesuffix(".0") for end in (part.lower, part.upper))
    if isinstance(part, Interval):
        return f"make it with --domain {ends}"
    domain = "" if part == DIRECTIONS else f" --domain {ends}"
    return f"make it by ogpm --eps E --circular{domain} --out design.json, then table design.json"


def from_the_system(coordinate: Coordinate, values: Floats) -> Floats:
    """Reports of a `TableCoordinate` from the operating system's randomness: no seed, never twice the same."""
    if not isinstance(coordinate, TableCoordinate):
        raise InvalidInput("mechanism", coordinate.name, "be a table", "make one: mechanisms are for simulation")
    return sample(coordinate.table, values)


def walk_file(
    source: Path,
    out: Path,
    columns: Columns,
    walk: Walk,
    draw: Draw | np.random.Generator,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Walked:
    """Write the reports of a file of paths, in the order of its rows, or nothing.

    ``draw`` is a generator, or how a coordinate's reports are drawn (`from_the_system`).
    """
    format_of(out, "output file")
    files.require_writable(out, overwrite=overwrite)
    if out.exists() and files.is_same_file(source, out):
        raise FileProblem("output file", str(out), "differ from the data file", "the data is never overwritten")
    if format_of(source, "data file") == ".geojson":
        return _walk_geojson(source, out, columns, walk, draw, overwrite=overwrite)
    lengths = lengths_of(source, columns) if walk.total is not None else None
    memory = _Memory(walk, draw, lengths)
    counts = np.zeros(0, dtype=np.intp)
    rows, moved, in_all = 0, 0, open_data(source).rows_in_all
    with row_writer(out, columns, overwrite=overwrite, like=source) as write:
        for batch in batches(source, columns, walk.region, project=walk.project):
            write(batch, memory.reports(batch))
            some = np.bincount(batch.slots, minlength=len(counts))
            some[: len(counts)] += counts
            counts, rows, moved = some, rows + len(batch.slots), moved + batch.moved
            if progress is not None:
                progress(rows, in_all(rows))
    return _walked(walk, counts, out, moved)


def _walk_geojson(
    source: Path, out: Path, columns: Columns, walk: Walk, draw: Draw | np.random.Generator, *, overwrite: bool
) -> Walked:
    paths, names = read_paths(source, columns, walk.region, project=walk.project)
    moved = int((~walk.region.contains(read_geojson(source)[0].places)).sum()) if walk.project else 0
    slots = np.repeat(np.arange(len(paths)), paths.lengths)
    reports = _Memory(walk, draw, paths.lengths).reports(Batch(slots, paths.places, None))
    write_paths(out, paths.replaced(reports), names, overwrite=overwrite, like=source)
    return _walked(walk, paths.lengths, out, moved)


def _walked(walk: Walk, counts: Slots, out: Path, moved: int) -> Walked:
    longest = int(counts.max())
    if walk.total is None:
        assert walk.mechanism is not None
        epsilon = walk.mechanism.epsilon
        return Walked(int(counts.sum()), len(counts), longest, epsilon, epsilon * longest, out, moved)
    shares = {length: walk.share(length) for length in np.unique(counts).tolist()}
    spent = min(walk.total, max(share * length for length, share in shares.items()))
    return Walked(int(counts.sum()), len(counts), longest, max(shares.values()), spent, out, moved)


class _Memory:
    """The last report of every path, from which its next location is seen."""

    def __init__(self, walk: Walk, draw: Draw | np.random.Generator, lengths: Slots | None) -> None:
        self._walk, self._lengths = walk, lengths
        self._rng = draw if isinstance(draw, np.random.Generator) else None
        self._draw: Draw = simulated(draw) if isinstance(draw, np.random.Generator) else draw
        self._last = np.full((0, 2), np.nan)
        self._made: dict[int, PathMechanism] = {}

    def reports(self, batch: Batch) -> Floats:
        fresh = int(batch.slots.max()) + 1 - len(self._last)
        if fresh > 0:
            self._last = np.concatenate([self._last, np.full((fresh, 2), np.nan)])
        result = np.empty_like(batch.places)
        for mechanism, rows in self._shares(batch.slots):
            result[rows] = self._some(mechanism, batch.slots[rows], batch.places[rows])
        if self._walk.post is not None:
            result = self._walk.post(Paths.of_one(result)).places
        return result

    def _shares(self, slots: Slots) -> Sequence[tuple[PathMechanism, Slots]]:
        """Mechanisms and the rows they serve."""
        if self._walk.mechanism is not None:
            return [(self._walk.mechanism, np.arange(len(slots)))]
        assert self._lengths is not None
        lengths = self._lengths[slots]
        return [(self._of_length(n), np.flatnonzero(lengths == n)) for n in np.unique(lengths).tolist()]

    def _of_length(self, length: int) -> PathMechanism:
        if length not in self._made:
            assert self._walk.make is not None
            self._made[length] = self._walk.make(self._walk.share(length))
        return self._made[length]

    def _some(self, mechanism: PathMechanism, slots: Slots, places: Floats) -> Floats:
        if isinstance(mechanism, TracsD) and mechanism.follow:
            return self._followed(mechanism, slots, places)
        if isinstance(mechanism, TracsC):
            return mechanism.reports(places, self._draw)
        if isinstance(mechanism, TracsD):
            seen = mechanism.reports(places, np.broadcast_to(mechanism.start, places.shape), self._draw)
            return mechanism.region.nearest(seen)
        if self._rng is None:
            raise InvalidInput("method", mechanism.name, "be one of tables", "tracs-c or tracs-d")
        return mechanism.perturb(Paths.of_one(places), self._rng).places

    def _followed(self, mechanism: TracsD, slots: Slots, places: Floats) -> Floats:
        order = np.argsort(slots, kind="stable")
        counts = np.unique(slots[order], return_counts=True)[1]
        paths = Paths(places[order], np.concatenate([[0], np.cumsum(counts)]))
        told = np.empty_like(places)
        for step, rows in enumerate(paths.steps()):
            if step:
                references = told[rows - 1]
            else:
                last = self._last[slots[order[rows]]]
                references = np.where(np.isnan(last), mechanism.start, last)
            told[rows] = mechanism.reports(paths.places[rows], references, self._draw)
        ends = paths.starts[1:] - 1
        self._last[slots[order[ends]]] = told[ends]
        result = np.empty_like(places)
        result[order] = told
        return mechanism.region.nearest(result)
