"""Methods compared on the same paths over epsilon, with the constant answer beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from mechdesign.errors import InvalidInput, require_epsilon, require_one_of, require_whole
from mechdesign.intervals import interval_of_runs
from mechdesign.studies.places.atp_published import PublishedATP
from mechdesign.studies.places.discrete_rivals import ATP, Points, exponential, ngram, staircase
from mechdesign.studies.places.metrics import average_error
from mechdesign.studies.places.near import near_design
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.plane import plane_design
from mechdesign.studies.places.regions import Disc, Globe, Polygon, Rectangle, Region, frame_of
from mechdesign.studies.places.rivals import PlanarLaplace, published_strawman, strawman
from mechdesign.studies.places.rounding import to_points
from mechdesign.studies.places.tracs import PathMechanism, perturb_whole_paths, share_of_location, tracs_c, tracs_d
from mechdesign.values.declare import Floats, frozen

Make = Callable[[float], PathMechanism]
Metric = Callable[[Paths, Paths], Floats]
"""A number for each path, from true and reported places."""
Perturb = Callable[[Paths, np.random.Generator], Paths]

METHODS: dict[str, str] = {
    "tracs-d": "TraCS-D as the chapter prints it, from the centre",
    "tracs-d-corner": "TraCS-D from the south west corner, as in the chapter's experiments",
    "tracs-d-r-sw": "TraCS-D with the redesigned square wave",
    "tracs-d-certified": "TraCS-D with the certified average optimum for distances",
    "tracs-c": "TraCS-C as the chapter prints it",
    "tracs-c-minimax": "TraCS-C with the certified worst-case optimum",
    "tracs-c-certified": "TraCS-C with the certified average optimum (uniform prior)",
    "plane": "the certified average optimum in two dimensions at once, on a grid",
    "laplace": "planar Laplace noise, moved back inside",
    "strawman": "6-RR over sectors for the direction, spending its epsilon",
    "strawman-published": "6-RR as the published code samples it: spends more",
    "metric": "the certified optimum that hides near places better, eps for the farthest, on a grid",
    "exponential": "exponential mechanism over points of interest",
    "l-srr": "staircase randomised response over points of interest",
    "ngram": "exponential mechanism over points reachable from the report before",
    "atp": "directions from the neighbours' reports over points of interest",
    "exponential-published": "as the published code samples it: spends about half",
    "l-srr-published": "as the published code samples it: spends about ln eps",
    "ngram-published": "as the published code samples it: infinite loss",
    "atp-published": "as the published code samples it: infinite loss, one copy keeps the last location",
}
"""Every method of a study, in words."""

CONTINUOUS = tuple(list(METHODS)[:10])
_BY_COORDINATES = ("tracs-c", "tracs-c-minimax", "tracs-c-certified")
_PUBLISHED = ("exponential-published", "l-srr-published", "ngram-published", "atp-published")
ON_POINTS = ("exponential", "l-srr", "ngram", "atp", *_PUBLISHED)
LOCATION, PATH = "location", "path"
CONSTANT = "centre"
_PLANE_CELLS = 12  # a second or two at every epsilon


@frozen
class Cell:
    """The average error of a method at an epsilon: the mean over paths, with a 95% interval where they are enough."""

    method: str
    epsilon: float
    mean: float
    low: float | None
    high: float | None
    privacy_loss: float


def method(name: str, region: Region, points: Points | None = None) -> Make:
    """The named method as a function of epsilon."""
    require_one_of(name, "method", METHODS)
    if name in ON_POINTS:
        if points is None:
            raise InvalidInput("method", name, "come with points of interest", "it knows no others")
        return _on_points(points)[name]
    makers: Mapping[str, Make] = {
        "tracs-d": lambda eps: tracs_d(region, eps),
        "tracs-d-corner": lambda eps: tracs_d(region, eps, start=(region.bounds[0], region.bounds[2])),
        "tracs-d-r-sw": lambda eps: tracs_d(region, eps, "r-sw"),
        "tracs-d-certified": lambda eps: tracs_d(region, eps, "certified-uniform"),
        "tracs-c": lambda eps: tracs_c(region, eps),
        "tracs-c-minimax": lambda eps: tracs_c(region, eps, "certified"),
        "tracs-c-certified": lambda eps: tracs_c(region, eps, "certified-uniform"),
        "plane": lambda eps: plane_design(_rectangle(region, "plane"), eps, cells=_PLANE_CELLS),
        "metric": lambda eps: near_design(_rectangle(region, "metric"), eps),
        "laplace": lambda eps: PlanarLaplace(region, eps),
        "strawman": lambda eps: strawman(region, eps),
        "strawman-published": lambda eps: published_strawman(region, eps),
    }
    return makers[name]


def fits(name: str, region: Region) -> bool:
    """Whether a method can work in a region: TraCS-C needs two coordinates, TraCS-D the plane, a grid a rectangle.

    >>> fits("tracs-c", Disc((0, 0), 1)), fits("tracs-d", Disc((0, 0), 1))
    (False, True)
    """
    frame = frame_of(region)
    if name in ("plane", "metric"):
        return isinstance(region, Rectangle)
    if name in _BY_COORDINATES:
        return not isinstance(frame, Disc)
    if name == "tracs-d-corner":
        return isinstance(frame, Rectangle)
    return name in ON_POINTS or name == "laplace" or not isinstance(frame, Globe)


def compare(
    paths: Paths,
    region: Region,
    epsilons: Sequence[float],
    methods: Sequence[str],
    rng: np.random.Generator,
    *,
    runs: int = 1,
    points: Points | None = None,
    metric: Metric = average_error,
    per: str = LOCATION,
) -> Iterator[Cell]:
    """The average error, or another metric, of each method at each epsilon, which is that ``per`` location or path.

    The locations of a path share an epsilon of the path equally; its loss is that of the path for which it is largest.

    With points of interest, all reports are rounded to them.

    Errors of one path in several runs are averaged first, so the interval is about other paths of the same kind; of a
    single path it is about other runs.
    """
    runs, per = require_whole(runs, "runs", 1, 10_000), require_one_of(per, "per", (LOCATION, PATH))
    for name in methods:
        make = method(name, region, points)
        for epsilon in epsilons:
            perturb, loss = _whole(make, epsilon, paths) if per == PATH else _single(make(require_epsilon(epsilon)))
            errors = np.empty((runs, len(paths)))
            for run in range(runs):
                reported = perturb(paths, rng)
                errors[run] = metric(paths, reported if points is None else to_points(reported, points.table))
            samples = errors.mean(axis=0) if len(paths) > 1 else errors[:, 0]
            low, high = interval_of_runs(samples) or (None, None)
            yield Cell(name, epsilon, float(samples.mean()), low, high, loss)


def constant_error(paths: Paths, region: Region, metric: Metric = average_error) -> float:
    """The average error (or another metric) of always answering the centre, which spends nothing."""
    same = paths.replaced(np.broadcast_to(region.centre, paths.places.shape).copy())
    return float(metric(paths, same).mean())


def _on_points(points: Points) -> Mapping[str, Make]:
    return {
        "exponential": lambda eps: exponential(points, eps),
        "l-srr": lambda eps: staircase(points, eps),
        "ngram": lambda eps: ngram(points, eps),
        "atp": lambda eps: ATP(points, eps),
        "exponential-published": lambda eps: exponential(points, eps, published=True),
        "l-srr-published": lambda eps: staircase(points, eps, published=True),
        "ngram-published": lambda eps: ngram(points, eps, published=True),
        "atp-published": lambda eps: PublishedATP(points, eps),
    }


def _rectangle(region: Region, name: str) -> Rectangle:
    frame = frame_of(region)
    if not isinstance(frame, Rectangle) or isinstance(region, Polygon):
        raise InvalidInput("method", name, "have a rectangle for its region", "take tracs-c or tracs-d")
    return frame


def _single(mechanism: PathMechanism) -> tuple[Perturb, float]:
    return mechanism.perturb, _loss(mechanism)


def _whole(make: Make, total: float, paths: Paths) -> tuple[Perturb, float]:
    """Paths that spend a total each, and what the one that spends most does."""
    made = cache(make)  # paths of one length share a mechanism, and so do runs
    lengths = np.unique(paths.lengths).tolist()
    losses = [length * _loss(made(share_of_location(total, length))) for length in lengths]
    return lambda some, rng: perturb_whole_paths(some, total, made, rng), max(losses)


def _loss(mechanism: PathMechanism) -> float:
    loss = getattr(mechanism, "privacy_loss", None)
    return mechanism.epsilon if loss is None else float(loss())
