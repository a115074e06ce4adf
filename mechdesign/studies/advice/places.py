"""Advice on places and paths: path mechanisms on the same places, simulated, beside the certified grid."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.intervals import CONFIDENCE, interval_of_runs
from mechdesign.studies.advice.answer import Advice, Expected, Rated, advice, ranked
from mechdesign.studies.advice.commands import command, number, pair
from mechdesign.studies.advice.near import advise_near
from mechdesign.studies.advice.question import NOT_PRIVATE, Question, proposed_bounds
from mechdesign.studies.places.files import found_columns, read_paths
from mechdesign.studies.places.metrics import average_error
from mechdesign.studies.places.paths import Paths, uniform_paths
from mechdesign.studies.places.plane import PlaneDesign
from mechdesign.studies.places.regions import Rectangle
from mechdesign.studies.places.study import CONTINUOUS, METHODS, fits, method
from mechdesign.studies.places.tracs import PathMechanism
from mechdesign.values.declare import Floats
from mechdesign.values.digits import rounded_down

_SPENDS_MORE = "strawman-published"  # than its epsilon
_SEED = 5
_FEW = 30  # samples of an average: fewer paths are reported several times
_PLACES, _PATHS, _LENGTH = 4000, 80, 50
_PERTURBED = {
    "tracs-d": {"method": "tracs-d"},
    "tracs-d-corner": {"method": "tracs-d"},
    "tracs-d-r-sw": {"method": "tracs-d", "mechanism": "r-sw"},
    "tracs-d-certified": {"method": "tracs-d", "mechanism": "certified-uniform"},
    "tracs-c": {"method": "tracs-c"},
    "tracs-c-minimax": {"method": "tracs-c", "mechanism": "certified"},
    "tracs-c-certified": {"method": "tracs-c", "mechanism": "certified-uniform"},
    "plane": {"method": "plane"},
    "laplace": {"method": "laplace"},
}


_NEARER = (
    "All of these hide every place from every other alike. The optimum for near places that need more protection than "
    "far ones is not rated here: it needs a list of places, and --per says for how many units of distance eps is."
)


def advise_place(question: Question) -> Advice:
    """The least average error of a reported place: alone, or along a path."""
    if question.per is not None:
        return advise_near(question)
    file, proposed = question.source, question.bounds is None
    if question.has_data and file is None:
        raise InvalidInput("data", "numbers", "be a file of places", "with columns id, x and y, or lon and lat")
    region = _region(question, file)
    alone = question.want == "place"
    if file is not None:
        paths = read_paths(file, found_columns(file), region)[0]
        if alone:
            paths = Paths(paths.places, np.arange(len(paths.places) + 1))
    else:
        shape = (_PLACES, 1) if alone else (_PATHS, _LENGTH)
        paths = uniform_paths(region, *shape, np.random.default_rng(_SEED))
    rated, floor, left_out = place_field(question.epsilon, region, paths)
    what, each = ("places", "place") if alone else ("paths", "location")
    made = "" if alone else f" of {_LENGTH} uniform places"
    seen = f"the {len(paths)} {what} in the data" if file is not None else f"{len(paths)} made {what}{made}"
    best = rated[0].mechanism
    least = None
    if floor is not None:
        least = f"No mechanism of any kind has an average error below {rounded_down(floor, 4)} over uniform places."
    why = (
        f"Of {len(rated)} mechanisms at eps = {number(question.epsilon)} a {each}, {best} ({METHODS[best]}) "
        f"has the least average error on {seen}.",
        least,
        None if alone else f"A path of L locations spends L times eps: {number(question.epsilon)} is for one of them.",
        None if not left_out else f"Not computed within limits: {', '.join(left_out)}.",
        _NEARER if alone else None,
        NOT_PRIVATE if proposed else None,
    )
    commands = _commands(question, region, [one.mechanism for one in rated])
    return advice(question.want, question.epsilon, question.users_asked, rated, why, commands)


def place_field(epsilon: float, region: Rectangle, paths: Paths) -> tuple[list[Rated], float | None, list[str]]:
    """Methods by average error on these paths; the certified floor, if there is one; and what was not computed."""
    rated, floor, left_out = [], None, []
    what = "places" if (paths.lengths == 1).all() else "paths"
    for name in CONTINUOUS:
        if name == _SPENDS_MORE or not fits(name, region):
            continue
        try:
            mechanism = method(name, region)(epsilon)
        except NoAnswer:
            left_out.append(name)
            continue
        rated.append(Rated(name, _average(_errors(mechanism, paths), what)))
        if isinstance(mechanism, PlaneDesign):
            floor = mechanism.floor
    return ranked(rated), floor, left_out


def _errors(mechanism: PathMechanism, paths: Paths) -> Floats:
    """The error of each path, reported once; of few paths the average error of all in each of several runs."""
    rng = np.random.default_rng(_SEED)
    if len(paths) >= _FEW:
        return average_error(paths, mechanism.perturb(paths, rng))
    return np.array([average_error(paths, mechanism.perturb(paths, rng)).mean() for _ in range(_FEW)])


def _average(errors: Floats, what: str) -> Expected:
    found = interval_of_runs(errors)
    assert found is not None
    over = f"{errors.size} {what}" if errors.size > _FEW else f"{_FEW} collections"
    basis = f"simulated: {100 * CONFIDENCE:g}% interval over {over}"
    return Expected(max(0.0, found[0]), found[1], "average distance to the true place", basis)


def _region(question: Question, file: Path | None) -> Rectangle:
    if question.bounds is not None:
        if len(question.bounds) != 4:
            step = "for example --bounds=139.47,139.9,35.51,35.86"
            raise InvalidInput("bounds", question.bounds, "be W,E,S,N for places: x from, to, y from, to", step)
        return Rectangle(*question.bounds)
    if file is None:
        raise InvalidInput("bounds", None, "be given as W,E,S,N", "the public rectangle: x from, to, y from, to")
    places = read_paths(file, found_columns(file), None)[0].places
    return Rectangle(*proposed_bounds(places[:, 0]), *proposed_bounds(places[:, 1]))


def _commands(question: Question, region: Rectangle, names: list[str]) -> tuple[str, ...]:
    eps, bounds, file = question.epsilon, pair(region.bounds), question.source
    three = ",".join(names[:3])
    shape: dict[str, object] = {"data": file} if file is not None else {}
    if question.want == "place" and file is None:
        shape = {"paths": _PLACES // 4, "length": 1}
    over = f"{number(eps / 2)},{number(eps)}"
    compared = command("trajectory compare", eps=eps, bounds=bounds, methods=three, seed=1, **shape)
    drawn = command("trajectory compare", eps=over, bounds=bounds, methods=three, seed=1, plot="places.png", **shape)
    usable = next(name for name in names if name in _PERTURBED)
    if file is None:
        table = command("table", eps=eps / 2, mechanism="ogpm", domain=pair(region.bounds[:2]), out="x.table.json")
        return compared, drawn, table
    flags = dict(_PERTURBED[usable])
    if usable == "tracs-d-corner":
        flags["start"] = pair((region.west, region.south))
    perturbed = command("trajectory perturb", str(file), eps=eps, bounds=bounds, out="reports.csv", **flags)
    return compared, perturbed, drawn
