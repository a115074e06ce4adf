"""Reports of files of paths: simulated by a method, or drawn for release from tables."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mechdesign.data.sources import Progress
from mechdesign.data.texts import paths
from mechdesign.engine import Engine, Local
from mechdesign.errors import FileProblem, InvalidInput, require_epsilon, showing_values, shows_values
from mechdesign.studies.path_options import (
    PERTURBING,
    ColumnOptions,
    Reference,
    ReferenceOptions,
    RegionOptions,
    RoundingOptions,
    make_mechanism,
    most_of_location,
    parse_pair,
    parse_seed,
    region_of,
)
from mechdesign.studies.places.coordinates import COORDINATES
from mechdesign.studies.places.files import FORMATS, read_paths
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Region
from mechdesign.studies.places.tracs import PathMechanism, require_total
from mechdesign.studies.places.walk import Walk, Walked, from_the_system, tables_c, tables_d, walk_file
from mechdesign.tables.table import load_table
from mechdesign.values import files
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import left_out, named
from mechdesign.values.declare import asked, field, finite, frozen, group, needed, option
from mechdesign.values.tables import Grid, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN_PATHS, _SHOWN_LOCATIONS = 5, 40
_NOT_PROTECTED = "ids, times and the number of locations are not protected"


@frozen
class Task:
    """A file of paths, and where its reports go."""

    source: Path
    out: Path


@frozen
class PerturbStudy:
    """Simulated reports of paths, location by location; not for release.

    The same seed gives the same reports, whatever the engine.
    """

    sources: tuple[Path, ...] = needed(
        "FILE", "Paths: .csv, .parquet or .geojson; several, or a folder.", read=paths, metavar="FILE..."
    )
    eps: float = finite("eps", metadata=option("--eps", "Privacy parameter, above 0."))
    out: Path = needed("--out", "The file (or folder, for several files) of reports.", read=Path)
    where: RegionOptions | Region = group(RegionOptions)
    columns: ColumnOptions = group(ColumnOptions)
    start: ReferenceOptions = group(ReferenceOptions)
    rounding: RoundingOptions = group(RoundingOptions)
    method: str = asked("--method", ", ".join(PERTURBING) + ".", default="tracs-c", words=lambda: PERTURBING)
    mechanism: str = asked(
        "--mechanism", "Inside TraCS: " + ", ".join(COORDINATES), default="ogpm", words=lambda: COORDINATES
    )
    whole_path: bool = field(
        default=False, metadata=option("--whole-path", "--eps is for a whole path, shared equally.")
    )
    seed: int | None = asked("--seed", "Of the simulation, to repeat it.", metavar="N")
    overwrite: bool = False
    engine: Engine = Local(1)

    doing: ClassVar[str] = "simulating reports"

    @property
    def reads(self) -> Sequence[Path]:
        return [task.source for task in self.tasks]

    @property
    def keeps(self) -> Sequence[Path]:
        return [task.out for task in self.tasks]

    @property
    def tasks(self) -> Sequence[Task]:
        """Every file of paths and that of its reports: one for one, or those of a folder."""
        found: list[Path] = []
        for source in self.sources:
            inside = (
                sorted(path for path in source.iterdir() if path.suffix.lower() in FORMATS)
                if source.is_dir()
                else [source]
            )
            if not inside:
                raise FileProblem("data folder", str(source), f"hold files that end in {', '.join(FORMATS)}")
            found.extend(inside)
        if len(found) == 1 and not self.sources[0].is_dir():
            return [Task(found[0], self.out)]
        if self.out.exists() and not self.out.is_dir():
            raise FileProblem("output folder", str(self.out), "be a folder for several files")
        if len({path.name for path in found}) < len(found):
            raise FileProblem("data files", str(self.out), "have different names", "their reports go to one folder")
        return [Task(path, self.out / path.name) for path in found]

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> PathReports:
        """The reports, in files."""
        epsilon = require_total(self.eps) if self.whole_path else require_epsilon(self.eps)
        region, reference = region_of(self.where), Reference.of(self.method, self.start)
        make = partial(make_mechanism, self.method, region, self.mechanism, reference)
        post = self.rounding.rounding(region)
        if self.whole_path:
            most = most_of_location(self.method, self.mechanism, reference)
            walk = Walk(region, None, make, epsilon, self.columns.project, post, most)
        else:
            walk = Walk(region, make(epsilon), None, None, self.columns.project, post)
        title = f"{self.method} at eps = {epsilon:g} {'a path' if self.whole_path else 'a location'}"
        seen = Map(self.tasks[0].source, self.columns, region, title)
        return PathReports.of(self._walked(walk, say), self.method, self.mechanism, seen)

    def _walked(self, walk: Walk, say: Say) -> Sequence[Walked]:
        """Every file with a seed of its own: the same reports for any number of workers."""
        tasks = self.tasks
        seeds = np.random.SeedSequence(parse_seed(self.seed)).spawn(len(tasks))
        one = partial(_reports, walk, self.columns, self.overwrite)
        if len(tasks) == 1:
            return [one(tasks[0], seeds[0], _counting(f"simulating reports of {tasks[0].source.name}", say))]
        self.out.mkdir(parents=True, exist_ok=True)
        for task in tasks:
            files.require_writable(task.out, overwrite=self.overwrite)
        done: dict[int, Walked] = {}
        say(f"0 of {len(tasks)} files")
        work = partial(_reports_or_error, one, shows_values())
        for position, result in self.engine(work, list(zip(tasks, seeds, strict=True))):
            if isinstance(result, InvalidInput):
                raise result
            done[position] = result
            say(f"{len(done)} of {len(tasks)} files")
        return [done[k] for k in range(len(tasks))]


@frozen
class ReleaseStudy:
    """Reports for release: drawn from two tables with the operating system's randomness, exactly private, no seed."""

    source: Path = needed("FILE", "Paths: .csv, .parquet or .geojson.", read=Path, metavar="FILE")
    out: Path = needed("--out", "The file of reports.", read=Path)
    where: RegionOptions | Region = group(RegionOptions)
    columns: ColumnOptions = group(ColumnOptions)
    start: ReferenceOptions = group(ReferenceOptions, "split", "candidates")
    rounding: RoundingOptions = group(RoundingOptions)
    x_table: Path | None = asked("--x-table", "TraCS-C: table of x over its bounds.", read=Path)
    y_table: Path | None = asked("--y-table", "TraCS-C: table of y over its bounds.", read=Path)
    direction: Path | None = asked("--direction", "TraCS-D: table of directions, on the circle [0, 2 pi).", read=Path)
    distance: Path | None = asked("--distance", "TraCS-D: table of shares, on [0, 1].", read=Path)
    overwrite: bool = False

    def __attrs_post_init__(self) -> None:
        given = [path for path in self.reads[1:] if path is not None]
        if len(given) != 2 or (self.x_table is None) != (self.y_table is None):
            rule = "be two: --x-table and --y-table, or --direction and --distance"
            raise InvalidInput("tables", len(given), rule)
        if self.x_table is not None and self.start != ReferenceOptions():
            raise InvalidInput("start", "given", "be left out for tables of x and y", "it belongs to TraCS-D")

    @property
    def doing(self) -> str:
        return f"reporting {printable(self.source.name)}"

    @property
    def reads(self) -> Sequence[Path]:
        tables = (self.x_table, self.y_table, self.direction, self.distance)
        return [self.source, *(path for path in tables if path is not None)]

    @property
    def keeps(self) -> Sequence[Path]:
        return [self.out]

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> PathReports:
        """The reports, in a file: a second run spends epsilon again."""
        region = region_of(self.where)
        first, second = (load_table(path) for path in self.reads[1:])
        if self.x_table is not None:
            tracs: PathMechanism = tables_c(region, first, second)
        else:
            start = parse_pair(self.start.start, "start")
            tracs = tables_d(region, first, second, start=start, follow=not self.start.fixed)
        walk = Walk(region, tracs, None, None, self.columns.project, self.rounding.rounding(region))
        columns = self.columns.columns(self.source)
        progress = _counting(self.doing, say)
        done = walk_file(
            self.source, self.out, columns, walk, from_the_system, overwrite=self.overwrite, progress=progress
        )
        seen = Map(self.source, self.columns, region, f"{tracs.name} at eps = {tracs.epsilon:g} a location")
        return PathReports.of([done], tracs.name, "tables", seen, released=True)


def _counting(message: str, say: Say) -> Progress:
    shown = printable(message)
    return lambda rows, in_all: say(f"{shown}: {rows:,} of {in_all:,} rows")


def _reports(
    walk: Walk,
    columns: ColumnOptions,
    overwrite: bool,
    task: Task,
    seed: np.random.SeedSequence,
    progress: Progress | None = None,
) -> Walked:
    rng, known = np.random.default_rng(seed), columns.columns(task.source)
    return walk_file(task.source, task.out, known, walk, rng, overwrite=overwrite, progress=progress)


def _reports_or_error(
    one: Callable[[Task, np.random.SeedSequence], Walked], show: bool, work: tuple[Task, np.random.SeedSequence]
) -> Walked | InvalidInput:
    """What was written, or what is wrong with the data: an error raised in a worker would be the worker's failure."""
    with showing_values() if show else contextlib.nullcontext():
        try:
            return one(*work)
        except InvalidInput as error:
            return error


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class Map:
    """What the picture of the first file needs to be drawn."""

    source: Path
    columns: ColumnOptions
    region: Region
    title: str

    def drawn(self, reports: Path) -> Figure:
        """The first few paths and their reports."""
        from mechdesign.plot.trajectory import map_of_paths

        known = self.columns.columns(self.source)
        true, names = read_paths(self.source, known, self.region, project=self.columns.project)
        told = read_paths(reports, known, None)[0]
        some, reported = (
            Paths.of([path[:_SHOWN_LOCATIONS] for path in islice(paths, _SHOWN_PATHS)]) for paths in (true, told)
        )
        return map_of_paths(self.region, some, reported, names, title=self.title, of=len(true))


@frozen
class PathReports(Answer):
    """Reports that were written: how many, and what they spend."""

    method: str
    mechanism: str
    region: str
    reports: int = field(metadata=named("rows"))
    paths: int
    epsilon_location: float
    epsilon_longest_path: float
    files: tuple[str, ...]
    moved_inside: int
    released: bool
    map: Map = field(metadata=left_out())

    @classmethod
    def of(
        cls, done: Sequence[Walked], method: str, mechanism: str, seen: Map, *, released: bool = False
    ) -> PathReports:
        rows, paths, moved = (sum(getattr(one, name) for one in done) for name in ("rows", "paths", "moved"))
        epsilon, most = max(one.epsilon for one in done), max(one.most for one in done)
        names = tuple(str(one.file) for one in done)
        return cls(method, mechanism, str(seen.region), rows, paths, epsilon, most, names, moved, released, seen)

    @property
    def rows(self) -> Sequence[PathReports]:
        return (self,)

    def plot(self) -> Figure:
        """The first paths as they were and as they were reported."""
        if len(self.files) > 1:
            raise InvalidInput("plot", f"{len(self.files)} files", "be asked of one file")
        return self.map.drawn(Path(self.files[0]))

    def shown(self) -> Iterator[Grid | str]:
        how = "drawn from tables with the system's randomness" if self.released else "simulated, not for release"
        yield f"{self.reports:,} reports of {self.paths:,} paths by {self.method} in {self.region}: {how}"
        yield (
            f"  a location spends at most eps = {self.epsilon_location:.6g}, "
            f"the longest path {self.epsilon_longest_path:.6g} in all"
        )
        yield f"  {_NOT_PROTECTED}" + ("; a second run spends it again: keep this file" if self.released else "")
        if self.moved_inside:
            yield f"  {self.moved_inside:,} locations lay outside and were moved inside first"


ANSWERS = ((PathReports,),)
