"""Paths of locations: perturbed under privacy, compared, and released with tables."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from mechdesign.cli import output
from mechdesign.cli.apply import counting_rows
from mechdesign.cli.options import Engines, Eps, parse_epsilons
from mechdesign.cli.sent import Drawn, Written
from mechdesign.cli.signatures import Part, completion, expanded
from mechdesign.cli.trajectory_options import (
    ERRORS,
    PERTURBING,
    Named,
    Reference,
    Rounded,
    Started,
    Where,
    make_mechanism,
    most_of_location,
    parse_interest,
    parse_methods,
    parse_metric,
    parse_pair,
    parse_seed,
)
from mechdesign.engine import Engine
from mechdesign.errors import FileProblem, InvalidInput, require_epsilon, require_whole, showing_values, shows_values
from mechdesign.intervals import LEAST_RUNS
from mechdesign.studies.places.coordinates import COORDINATES
from mechdesign.studies.places.files import FORMATS, Columns, read_paths
from mechdesign.studies.places.paths import Paths, uniform_paths
from mechdesign.studies.places.regions import Rectangle, Region
from mechdesign.studies.places.rounding import to_points
from mechdesign.studies.places.study import CONSTANT, LOCATION, METHODS, PATH, Cell, compare, constant_error
from mechdesign.studies.places.tracs import PathMechanism, require_total
from mechdesign.studies.places.walk import Walk, Walked, from_the_system, tables_c, tables_d, walk_file
from mechdesign.tables.table import load_table
from mechdesign.values import files
from mechdesign.values.codec import named
from mechdesign.values.declare import field, frozen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_SHOWN_PATHS, _SHOWN_LOCATIONS = 5, 40
_NOT_PROTECTED = "ids, times and the number of locations are not protected"

UNIT = Rectangle(0.0, 1.0, 0.0, 1.0)

Sources = Annotated[
    list[Path], typer.Argument(help="Paths: .csv, .parquet or .geojson; several, or a folder.", metavar="FILE...")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Of the simulation, to repeat it.", metavar="N")]
OutPath = Annotated[Path, typer.Option("--out", help="The file (or folder, for several files) of reports.")]


@frozen
class Reported:
    """Reports that were written: how many, and what they spend."""

    method: str
    mechanism: str
    region: str
    rows: int
    paths: int
    epsilon_location: float
    epsilon_longest_path: float
    files: tuple[str, ...]
    moved_inside: int
    released: bool


@frozen
class Study:
    """Methods over epsilon, which is that per location or per path, and the error of always giving the same answer."""

    region: str
    paths: int
    locations: int
    per: str
    metric: str
    constant: float = field(metadata=named(CONSTANT))
    cells: tuple[Cell, ...]


ANSWERS = {"perturb": ((Reported,),), "apply": ((Reported,),), "compare": ((Study,),)}
READS_DATA = True
EXAMPLES = {
    "perturb": """\
examples
trajectory perturb places.csv --eps 8 --bounds=139.47,139.90,35.51,35.86 --out told.csv""",
    "apply": """\
examples
table --eps 2 --mechanism ogpm --domain 139.47,139.90 --out lon.json
table --eps 2 --mechanism ogpm --domain 35.51,35.86 --out lat.json
trajectory apply places.csv --x-table lon.json --y-table lat.json --bounds=139.47,139.90,35.51,35.86 --out told.csv""",
    "compare": "trajectory compare --eps 4 --paths 10 --length 20 --seed 1",
}


@app.command("perturb")
@expanded
def perturb(
    sources: Sources,
    eps: Eps,
    out: OutPath,
    where: Where,
    columns: Named,
    started: Started,
    rounded: Rounded,
    engines: Annotated[Engines, Part(workers="Processes, for several files.")],
    sent: Drawn,
    method: Annotated[
        str, typer.Option("--method", help=", ".join(PERTURBING) + ".", autocompletion=completion(lambda: PERTURBING))
    ] = "tracs-c",
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism",
            help="Inside TraCS: " + ", ".join(COORDINATES),
            autocompletion=completion(lambda: COORDINATES),
        ),
    ] = "ogpm",
    whole_path: Annotated[
        bool, typer.Option("--whole-path", help="--eps is for a whole path, shared equally.")
    ] = False,
    seed: Seed = None,
) -> None:
    """Simulated reports of paths, location by location. For data about people use `trajectory apply`."""
    sent.require_writable()
    epsilon = require_total(eps) if whole_path else require_epsilon(eps)
    region, reference = where.region(), Reference.of(method, started)
    make = partial(make_mechanism, method, region, mechanism, reference)
    post = rounded.rounding(region)
    if whole_path:
        most = most_of_location(method, mechanism, reference)
        walk = Walk(region, None, make, epsilon, columns.project, post, most)
    else:
        walk = Walk(region, make(epsilon), None, None, columns.project, post)
    tasks = _tasks(sources, out, columns, force=sent.force)
    if sent.plot is not None and len(tasks) > 1:
        raise InvalidInput("plot", str(sent.plot), "be left out for several files", "draw one of them")
    done = _walked(tasks, walk, seed, engines.engine(), force=sent.force, quiet=sent.quiet)
    _say(done, method, mechanism, region, as_json=sent.as_json)
    if sent.plot is not None:
        title = f"{method} at eps = {epsilon:g} {'a path' if whole_path else 'a location'}"
        sent.draw(_picture(tasks[0], region, title, walk))
        if not sent.as_json:
            sent.say_saved()


@app.command("apply")
@expanded
def apply(
    source: Annotated[Path, typer.Argument(help="Paths: .csv, .parquet or .geojson.", metavar="FILE")],
    out: OutPath,
    where: Where,
    columns: Named,
    started: Annotated[Started, Part("split", "candidates")],
    rounded: Rounded,
    sent: Written,
    x_table: Annotated[Path | None, typer.Option("--x-table", help="TraCS-C: table of x over its bounds.")] = None,
    y_table: Annotated[Path | None, typer.Option("--y-table", help="TraCS-C: table of y over its bounds.")] = None,
    direction: Annotated[
        Path | None, typer.Option("--direction", help="TraCS-D: table of directions, on the circle [0, 2 pi).")
    ] = None,
    distance: Annotated[Path | None, typer.Option("--distance", help="TraCS-D: table of shares, on [0, 1].")] = None,
) -> None:
    """Reports for release: drawn from two tables with the operating system's randomness, exactly private, no seed."""
    region = where.region()
    coordinates, polar = (x_table, y_table), (direction, distance)
    if all(coordinates) and not any(polar):
        if started != Started():
            raise InvalidInput("start", "given", "be left out for tables of x and y", "it belongs to TraCS-D")
        first, second = (load_table(path) for path in coordinates if path is not None)
        tracs: PathMechanism = tables_c(region, first, second)
    elif all(polar) and not any(coordinates):
        toward, away = (load_table(path) for path in polar if path is not None)
        start = parse_pair(started.start, "start")
        tracs = tables_d(region, toward, away, start=start, follow=not started.fixed)
    else:
        rule = "be two: --x-table and --y-table, or --direction and --distance"
        raise InvalidInput("tables", sum(path is not None for path in coordinates + polar), rule)
    walk = Walk(region, tracs, None, None, columns.project, rounded.rounding(region))
    wanted = columns.columns(source)
    output.require_outputs(out, force=sent.force)
    with output.ending_cleanly(), counting_rows(f"reporting {source.name}", quiet=sent.quiet) as progress:
        done = walk_file(source, out, wanted, walk, from_the_system, overwrite=sent.force, progress=progress)
    _say([done], tracs.name, "tables", region, as_json=sent.as_json, released=True)


@app.command("compare")
@expanded
def compare_(
    where: Where,
    columns: Named,
    rounded: Annotated[Rounded, Part("cells")],
    sent: Drawn,
    eps: Annotated[str, typer.Option("--eps", help="A,B,C or FROM:TO:COUNT, of a location.")] = "2:10:5",
    whole_path: Annotated[
        bool, typer.Option("--whole-path", help="--eps is for a whole path, shared equally.")
    ] = False,
    methods: Annotated[
        str | None, typer.Option("--methods", help="A,B,...; all shows every one.", metavar="A,B")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Paths to compare on (else made).", metavar="FILE")
    ] = None,
    count: Annotated[int, typer.Option("--paths", help="Made paths, of uniform places.", metavar="N")] = 100,
    length: Annotated[int, typer.Option("--length", help="Locations of a made path.", metavar="N")] = 100,
    grid: Annotated[
        int | None, typer.Option("--grid", help="Points of interest on a grid, N a side.", metavar="N")
    ] = None,
    metric: Annotated[
        str, typer.Option("--metric", help="error, metres, range:R (share within R) or hotspots:SHARE (lost).")
    ] = "error",
    runs: Annotated[int, typer.Option("--runs", help="Collections of all paths.", metavar="N")] = 1,
    seed: Seed = None,
) -> None:
    """Path mechanisms beside each other over eps, on made or given paths, with the constant answer."""
    region = where.region(UNIT)
    epsilons = parse_epsilons(eps, require=require_total) if whole_path else parse_epsilons(eps)
    per = PATH if whole_path else LOCATION
    sent.require_writable()
    rng = np.random.default_rng(parse_seed(seed))
    if data is None:
        paths = uniform_paths(region, require_whole(count, "paths", 1, 10**6), length, rng)
    else:
        paths = read_paths(data, columns.columns(data), region, project=columns.project)[0]
    interest = parse_interest(region, rounded.points, grid)
    if interest is not None:
        paths = to_points(paths, interest.table)
    names = parse_methods(methods, region, interest)
    measure, words = parse_metric(metric, paths, interest)
    found: list[Cell] = []
    with output.progress("comparing", quiet=sent.quiet) as say:
        for name in names:
            say(f"comparing {name}")
            told = compare(paths, region, epsilons, [name], rng, runs=runs, points=interest, metric=measure, per=per)
            found.extend(told)
    constant = constant_error(paths, region, measure)
    if sent.plot is not None:
        from mechdesign.plot.trajectory import error_curves

        title = f"{len(paths)} paths, {len(paths.places)} locations in all, in {region}"
        sent.draw(error_curves(found, constant, title=title, words=words, per=per))
    if sent.as_json:
        output.print_json(Study(str(region), len(paths), len(paths.places), per, metric, constant, tuple(found)))
        return
    _print_study(found, constant, words, region, paths, epsilons, per)
    sent.say_saved()


def _print_study(
    found: Sequence[Cell],
    constant: float,
    words: str,
    region: Region,
    paths: Paths,
    epsilons: Sequence[float],
    per: str,
) -> None:
    table = {(cell.method, cell.epsilon): cell for cell in found}
    names = list(dict.fromkeys(cell.method for cell in found))
    rows = [[name, *(f"{table[name, eps].mean:.4g}" for eps in epsilons)] for name in names]
    rows.append([CONSTANT, *[f"{constant:.4g}"] * len(epsilons)])
    title = f"{words} of {len(paths)} paths, {len(paths.places)} locations in all, in {region}"
    output.print_table(title, [f"eps of a {per}", *(f"{eps:g}" for eps in epsilons)], rows)
    halves = [(c.high - c.low) / 2 / abs(c.mean) for c in found if c.mean and c.low is not None and c.high is not None]
    lines = [f"  {name}: {METHODS[name]}" for name in names]
    lines.append(f"  {CONSTANT}: always the same answer, which spends nothing")
    few = f"  no intervals: they take {LEAST_RUNS} paths, or so many --runs of one"
    lines.append(f"  intervals of 95% are at most +-{100 * max(halves):.1f}%" if halves else few)
    surely = [cell for cell in found if words in ERRORS and cell.low is not None and cell.low > constant]
    worse = [f"{cell.method} at {cell.epsilon:g}" for cell in surely]
    if worse:
        lines.append(f"  worse than always answering the centre: {', '.join(worse)}")
    over = [cell.method for cell in found if cell.privacy_loss > cell.epsilon * (1 + 1e-9)]
    if over:
        lines.append(f"  these spend more than they say: {', '.join(dict.fromkeys(over))}")
    output.console.print("\n".join(lines), soft_wrap=True)


@frozen
class _Task:
    source: Path
    out: Path
    columns: Columns


def _tasks(sources: Sequence[Path], out: Path, columns: Named, *, force: bool) -> list[_Task]:
    found: list[Path] = []
    for source in sources:
        inside = (
            sorted(path for path in source.iterdir() if path.suffix.lower() in FORMATS) if source.is_dir() else [source]
        )
        if not inside:
            raise FileProblem("data folder", str(source), f"hold files that end in {', '.join(FORMATS)}")
        found.extend(inside)
    if len(found) == 1 and not sources[0].is_dir():
        output.require_outputs(out, force=force)
        return [_Task(found[0], out, columns.columns(found[0]))]
    if out.exists() and not out.is_dir():
        raise FileProblem("output folder", str(out), "be a folder for several files")
    targets = [out / path.name for path in found]
    if len(set(targets)) < len(targets):
        raise FileProblem("data files", str(out), "have different names", "their reports go to one folder")
    tasks = [_Task(path, target, columns.columns(path)) for path, target in zip(found, targets, strict=True)]
    out.mkdir(parents=True, exist_ok=True)
    for target in targets:
        files.require_writable(target, overwrite=force)
    return tasks


def _one(walk: Walk, force: bool, show: bool, work: tuple[_Task, np.random.SeedSequence]) -> Walked | InvalidInput:
    """What was written, or what is wrong with the data: an error raised in a worker would be the worker's failure."""
    task, seed = work
    rng = np.random.default_rng(seed)
    with showing_values() if show else contextlib.nullcontext():
        try:
            return walk_file(task.source, task.out, task.columns, walk, rng, overwrite=force)
        except InvalidInput as error:
            return error


def _walked(
    tasks: Sequence[_Task], walk: Walk, seed: int | None, engine: Engine, *, force: bool, quiet: bool
) -> list[Walked]:
    """Every file with a seed of its own: the same reports for any number of workers."""
    seeds = np.random.SeedSequence(parse_seed(seed)).spawn(len(tasks))
    if len(tasks) == 1:
        name = tasks[0].source.name
        with output.ending_cleanly(), counting_rows(f"simulating reports of {name}", quiet=quiet) as progress:
            rng, task = np.random.default_rng(seeds[0]), tasks[0]
            found = walk_file(task.source, task.out, task.columns, walk, rng, overwrite=force, progress=progress)
            return [found]
    done: dict[int, Walked] = {}
    with output.ending_cleanly(), output.progress(f"0 of {len(tasks)} files", quiet=quiet) as say:
        work = partial(_one, walk, force, shows_values())
        for position, result in engine(work, list(zip(tasks, seeds, strict=True))):
            if isinstance(result, InvalidInput):
                raise result
            done[position] = result
            say(f"{len(done)} of {len(tasks)} files")
    return [done[k] for k in range(len(tasks))]


def _say(
    done: Sequence[Walked], method: str, mechanism: str, region: Region, *, as_json: bool, released: bool = False
) -> None:
    rows, paths, moved = (sum(getattr(one, name) for one in done) for name in ("rows", "paths", "moved"))
    epsilon, most = max(one.epsilon for one in done), max(one.most for one in done)
    if as_json:
        names = tuple(str(one.file) for one in done)
        output.print_json(Reported(method, mechanism, str(region), rows, paths, epsilon, most, names, moved, released))
        return
    how = "drawn from tables with the system's randomness" if released else "simulated, not for release"
    output.console.print(
        f"{rows:,} reports of {paths:,} paths by {method} in {region}: {how}\n"
        f"  a location spends at most eps = {epsilon:.6g}, the longest path {most:.6g} in all\n"
        f"  {_NOT_PROTECTED}" + ("; a second run spends it again: keep this file" if released else ""),
        soft_wrap=True,
    )
    if moved:
        output.console.print(f"  {moved:,} locations lay outside and were moved inside first", soft_wrap=True)
    for one in done:
        output.say_saved(one.file)


def _picture(task: _Task, region: Region, title: str, walk: Walk) -> Figure:
    from mechdesign.plot.trajectory import map_of_paths

    true, names = read_paths(task.source, task.columns, region, project=walk.project)
    told = read_paths(task.out, task.columns, None)[0]
    some, reported = (
        Paths.of([path[:_SHOWN_LOCATIONS] for path in islice(paths, _SHOWN_PATHS)]) for paths in (true, told)
    )
    return map_of_paths(region, some, reported, names, title=title, of=len(true))
