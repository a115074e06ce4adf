"""Path mechanisms beside each other over epsilon, on made or given paths, with the constant answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mechdesign.data.texts import epsilons
from mechdesign.errors import require_epsilon
from mechdesign.intervals import LEAST_RUNS
from mechdesign.studies.path_options import (
    ERRORS,
    METRICS,
    ColumnOptions,
    RegionOptions,
    RoundingOptions,
    parse_interest,
    parse_methods,
    parse_metric,
    parse_seed,
    region_of,
)
from mechdesign.studies.places.files import read_paths
from mechdesign.studies.places.paths import uniform_paths
from mechdesign.studies.places.regions import Rectangle, Region
from mechdesign.studies.places.rounding import to_points
from mechdesign.studies.places.study import CONSTANT, LOCATION, METHODS, PATH, Cell, compare, constant_error
from mechdesign.studies.places.tracs import require_total
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import left_out, named
from mechdesign.values.declare import asked, field, frozen, group, option, whole
from mechdesign.values.rules import left_out_with, require_rules
from mechdesign.values.tables import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNIT = Rectangle(0.0, 1.0, 0.0, 1.0)
_MADE, _LENGTH = 100, 100
_RULES = (left_out_with("data", "paths", "length", why="the data are the paths"),)


@frozen
class PathStudy:
    """Methods over epsilon, which is that of a location or of a whole path.

    >>> found = PathStudy(eps=4, methods="tracs-c,laplace", paths=20, length=5, seed=1).answer()
    >>> [(cell.method, cell.mean < found.constant) for cell in found.cells]
    [('tracs-c', True), ('laplace', False)]
    """

    where: RegionOptions | Region = group(RegionOptions)
    columns: ColumnOptions = group(ColumnOptions)
    rounding: RoundingOptions = group(RoundingOptions, "cells")
    eps: tuple[float, ...] = asked(
        "--eps", "A,B,C or FROM:TO:COUNT, of a location.", read=epsilons(require=require_total), default="2:10:5"
    )
    whole_path: bool = field(
        default=False, metadata=option("--whole-path", "--eps is for a whole path, shared equally.")
    )
    methods: str | None = asked(
        "--methods", "A,B,...; all shows every one.", metavar="A,B", words=lambda: ("all", *METHODS)
    )
    data: Path | None = asked("--data", "Paths to compare on (else made).", read=Path, metavar="FILE")
    paths: int | None = asked("--paths", f"Made paths, of uniform places [{_MADE}].", metavar="N")
    length: int | None = asked("--length", f"Locations of a made path [{_LENGTH}].", metavar="N")
    grid: int | None = asked("--grid", "Points of interest on a grid, N a side.", metavar="N")
    metric: str = asked(
        "--metric",
        "error, metres, range:R (share within R) or hotspots:SHARE (lost).",
        default=METRICS[0],
        words=lambda: METRICS,
    )
    runs: int = whole("runs", 1, 10_000, default=1, metadata=option("--runs", "Collections of all paths.", metavar="N"))
    seed: int | None = asked("--seed", "Of the simulation, to repeat it.", metavar="N")

    doing: ClassVar[str] = "comparing"
    keeps: ClassVar[tuple[Path, ...]] = ()

    def __attrs_post_init__(self) -> None:
        require_rules(self, _RULES)
        if not self.whole_path:
            for epsilon in self.eps:
                require_epsilon(epsilon)

    @property
    def reads(self) -> Sequence[Path]:
        return () if self.data is None else (self.data,)

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> PathErrors:
        """The error of every method at every epsilon."""
        region = region_of(self.where, UNIT)
        rng = np.random.default_rng(parse_seed(self.seed))
        if self.data is None:
            made, length = (
                usual if said is None else said for said, usual in ((self.paths, _MADE), (self.length, _LENGTH))
            )
            paths = uniform_paths(region, made, length, rng)
        else:
            paths = read_paths(self.data, self.columns.columns(self.data), region, project=self.columns.project)[0]
        interest = parse_interest(region, self.rounding.points, self.grid)
        if interest is not None:
            paths = to_points(paths, interest.table)
        names = parse_methods(self.methods, region, interest)
        measure, words = parse_metric(self.metric, paths, interest)
        per = PATH if self.whole_path else LOCATION
        found: list[Cell] = []
        for name in names:
            say(f"comparing {name}")
            found += compare(
                paths, region, self.eps, [name], rng, runs=self.runs, points=interest, metric=measure, per=per
            )
        constant = constant_error(paths, region, measure)
        return PathErrors(
            str(region), len(paths), len(paths.places), per, self.metric, constant, tuple(found), self.eps, words
        )


@frozen
class PathErrors(Answer):
    """Methods over epsilon, which is that per location or per path, and the error of always giving the same answer."""

    region: str
    paths: int
    locations: int
    per: str
    metric: str
    constant: float = field(metadata=named(CONSTANT))
    cells: tuple[Cell, ...]
    eps: tuple[float, ...] = field(metadata=left_out())
    words: str = field(metadata=left_out())

    @property
    def rows(self) -> Sequence[Cell]:
        return self.cells

    @property
    def _about(self) -> str:
        return f"{self.paths} paths, {self.locations} locations in all, in {self.region}"

    def plot(self) -> Figure:
        """Errors over epsilon, a line a method."""
        from mechdesign.plot.trajectory import error_curves

        return error_curves(self.cells, self.constant, title=self._about, words=self.words, per=self.per)

    def shown(self) -> Iterator[Grid | str]:
        table = {(cell.method, cell.epsilon): cell for cell in self.cells}
        names = list(dict.fromkeys(cell.method for cell in self.cells))
        rows = [(name, *(f"{table[name, eps].mean:.4g}" for eps in self.eps)) for name in names]
        rows.append((CONSTANT, *[f"{self.constant:.4g}"] * len(self.eps)))
        headings = (f"eps of a {self.per}", *(f"{eps:g}" for eps in self.eps))
        yield Grid(f"{self.words} of {self._about}", headings, tuple(rows))
        for name in names:
            yield f"  {name}: {METHODS[name]}"
        yield f"  {CONSTANT}: always the same answer, which spends nothing"
        halves = [half for cell in self.cells if (half := _half(cell)) is not None]
        few = f"  no intervals: they take {LEAST_RUNS} paths, or so many --runs of one"
        yield f"  intervals of 95% are at most +-{100 * max(halves):.1f}%" if halves else few
        is_error = self.words in ERRORS
        surely = [cell for cell in self.cells if is_error and cell.low is not None and cell.low > self.constant]
        if surely:
            worse = ", ".join(f"{cell.method} at {cell.epsilon:g}" for cell in surely)
            yield f"  worse than always answering the centre: {worse}"
        over = [cell.method for cell in self.cells if cell.privacy_loss > cell.epsilon * (1 + 1e-9)]
        if over:
            yield f"  these spend more than they say: {', '.join(dict.fromkeys(over))}"


def _half(cell: Cell) -> float | None:
    """Half the width of the interval beside its mean."""
    if not cell.mean or cell.low is None or cell.high is None:
        return None
    return (cell.high - cell.low) / 2 / abs(cell.mean)


ANSWERS = ((PathErrors,),)
