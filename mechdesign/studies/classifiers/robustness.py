"""Boxes in which a classifier keeps its label: proven from its structure, or tested by asking it at random points.

**Tested** (definition 17). Uniform points of the box are asked for their label. Clopper-Pearson (the default) accepts
when the upper limit of the failure rate is at most tau; ``hoeffding`` is theorem 15 as printed, which needs
``ln(2/omega) / (2 (tau/2)^2)`` points a test. A search runs many tests, and its answer is one that passed: so each
test gets an equal share of omega, and with probability at least ``1 - omega`` *every* box that passed is as robust as
it is said to be. (With omega for each test, as printed, the chance that one of many passes wrongly is far larger.)

**Proven**. For linear models the least margin over a box is a closed form, for trees the box is cut into cells, and for
quadratic classifiers and networks of rectifiers, up to three columns, into boxes with bounded margins: tau and omega
are then 0.

**Which box.** The chapter grows the ball of the radius, one coordinate after the other, which may leave the first with
all the room and the others with none. `BoxSearch` has several boxes of a record, each of which passed, and gives every
mechanism the one that holds most of its reports: among tested boxes those grown from the ball and, in two orders of the
columns, from the record itself; where the structure is known also the heaviest proven one (`heaviest`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mechdesign.errors import InvalidInput, require_number
from mechdesign.studies.classifiers.cells import Boxes, decompose, is_kept
from mechdesign.studies.classifiers.concentration import Perturbation
from mechdesign.studies.classifiers.heaviest import Box, Obstacles, Weight, heaviest_linear
from mechdesign.studies.classifiers.linear import LinearRegion, linear_region
from mechdesign.studies.classifiers.margins import MarginRegion, margin_region
from mechdesign.studies.classifiers.models import Record
from mechdesign.studies.classifiers.trees import TreeRegion, tree_region
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.values.later import special

METHODS = ("clopper-pearson", "hoeffding")
PROVEN, TESTED = "proven", "tested"
TAU, OMEGA = 0.01, 0.05
_RADIUS_STEPS = 10
_ALLOWED = 2
_EXACT = 53  # halvings to the spacing of doubles
_BOUNDED = 12
_FIRST = 128
_ASKED_FIRST, _BOXES, _FEW = 64, 8192, 6
_CUT_WHOLLY, _FEW_COLUMNS, _MANY = 3, 4, 10  # columns


Region = LinearRegion | TreeRegion | MarginRegion


@frozen
class Robust:
    """A closed box of the coordinates that are sent, in [0, 1], and how sure it is that the label is kept there.

    A share of at most ``tau`` of the box (by volume) loses the label, with confidence ``1 - omega``.
    """

    lower: Floats = array(np.asarray)
    upper: Floats = array(np.asarray)
    basis: str
    tau: float = 0.0
    omega: float = 0.0
    predictions: int = 0


class BoxTest(Protocol):
    @property
    def basis(self) -> str: ...
    def __call__(self, lower: Floats, upper: Floats) -> bool: ...


@dataclass(slots=True)
class SampledTest:
    """Asks at uniform points whether a box keeps the label; ``tests`` is how many share the confidence."""

    record: Record
    rng: np.random.Generator
    tests: int
    tau: float = TAU
    omega: float = OMEGA
    method: str = METHODS[0]
    predictions: int = field(default=0, init=False)
    basis: str = field(default=TESTED, init=False)

    def __post_init__(self) -> None:
        self.tau, self.omega = require_tolerance(self.tau, self.omega)
        if self.method not in METHODS:
            raise InvalidInput("method", self.method, f"be {' or '.join(METHODS)}")

    def plan(self) -> tuple[int, int]:
        """Points of a test, and how many of them may fail."""
        share = self.omega / self.tests
        if self.method == "hoeffding":
            count = hoeffding_points(share, self.tau / 2)
            return count, math.floor(count * self.tau / 2)
        return clopper_pearson_points(share, self.tau, _ALLOWED), _ALLOWED

    def __call__(self, lower: Floats, upper: Floats) -> bool:
        count, allowed = self.plan()
        failed = done = 0
        while done < count and failed <= allowed:  # most boxes that fail do so soon
            size = min(count - done, max(_FIRST, done))
            points = lower + (upper - lower) * self.rng.random((size, lower.size))
            failed += int((~self.record.keeps(points)).sum())
            done += size
        self.predictions += done
        return failed <= allowed


@frozen
class ProvenTest:
    """Decides a box from the structure of the classifier."""

    region: Region
    basis: str = PROVEN

    def __call__(self, lower: Floats, upper: Floats) -> bool:
        if isinstance(self.region, LinearRegion):
            return self.region.is_kept(lower, upper)
        points = np.random.default_rng(0).random((_ASKED_FIRST, lower.size))  # most boxes that fail do so at once
        if not self.region.record.keeps(lower + (upper - lower) * points).all():
            return False
        return is_kept(self.region, lower, upper, _BOXES if lower.size <= _FEW else _BOXES // 8)


def structure(record: Record) -> Region | None:
    """The region where the classifier keeps the label, if its kind is known."""
    return linear_region(record) or tree_region(record) or margin_region(record)


def hoeffding_points(omega: float, tau: float) -> int:
    """Theorem 15: how many points bring the mean within tau with probability 1 - omega.

    >>> hoeffding_points(0.05, 0.01)
    18445
    """
    return math.ceil(math.log(2 / omega) / (2 * tau**2))


def clopper_pearson_points(omega: float, tau: float, allowed: int) -> int:
    """The least number of points of which ``allowed`` may fail for a rate proven to be at most tau.

    >>> clopper_pearson_points(0.05, 0.01, 0)
    299
    """
    low, high = allowed, allowed + 1
    while special.bdtr(allowed, high, tau) > omega:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if special.bdtr(allowed, middle, tau) <= omega else (middle, high)
    return high


def require_tolerance(tau: float, omega: float) -> tuple[float, float]:
    """tau and omega inside (0, 1)."""
    for name, value in (("tau", tau), ("omega", omega)):
        if not 0 < require_number(value, name) < 1:
            raise InvalidInput(name, value, "lie between 0 and 1", "for example 0.01 and 0.05")
    return float(tau), float(omega)


def radius(test: BoxTest, x: Floats, steps: int = _RADIUS_STEPS) -> float:
    """The largest radius found by halving whose ball, cut to [0, 1], passes; 0 if none does."""

    def passes(theta: float) -> bool:
        return test(np.maximum(x - theta, 0.0), np.minimum(x + theta, 1.0))

    if passes(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def rectangle(test: BoxTest, x: Floats, steps: int | None = None) -> Robust:
    """The ball of the radius, then every face moved outwards as far as the test passes, one after the other.

    All of [0, 1] is tried first for a face, then halvings. Every box on the way passed. For trees a face can only end
    at a threshold: these are searched, and the box is maximal, exactly.
    """
    theta = radius(test, x)
    ball = np.maximum(x - theta, 0.0), np.minimum(x + theta, 1.0)
    return _grown(test, ball, _face_steps(x.size) if steps is None else steps, range(x.size))


def _grown(test: BoxTest, start: Box, halvings: int, order: Sequence[int]) -> Robust:
    """Every face moved outwards, axis by axis in that order."""
    ends = _ends_of(test)
    lower, upper = start[0].copy(), start[1].copy()
    for axis in order:
        for faces, end in ((upper, 1.0), (lower, 0.0)):
            inner, outer = float(faces[axis]), end
            if inner == end:
                continue
            if ends is not None:
                faces[axis] = _farthest(test, lower, upper, faces, axis, _between(ends[axis], inner, end))
                continue
            for step in range(halvings + 1):
                tried = outer if step == 0 else (inner + outer) / 2
                faces[axis] = tried
                if test(lower, upper):
                    inner = tried
                    if step == 0:
                        break
                else:
                    outer = tried
            faces[axis] = inner
    tau, omega, asked = (test.tau, test.omega, test.predictions) if isinstance(test, SampledTest) else (0.0, 0.0, 0)
    return Robust(lower, upper, test.basis, tau, omega, asked)


def _ends_of(test: BoxTest) -> list[Floats] | None:
    region = test.region if isinstance(test, ProvenTest) else None
    return [region.thresholds(k) for k in range(region.dimensions)] if isinstance(region, TreeRegion) else None


def _between(thresholds: Floats, inner: float, end: float) -> Floats:
    """Where a face can end from ``inner`` on, the nearest first: cells are closed above and open below."""
    if end > inner:
        return np.concatenate([[inner], thresholds[(thresholds > inner) & (thresholds < end)], [end]])
    above = np.nextafter(thresholds, np.inf)
    return np.concatenate([[inner], above[(above < inner) & (above > end)][::-1], [end]])


def _farthest(test: BoxTest, lower: Floats, upper: Floats, faces: Floats, axis: int, places: Floats) -> float:
    """The farthest place of a face at which the box still passes; the first one does."""
    low, high = 0, places.size
    while high - low > 1:
        middle = high - 1 if low == 0 and high == places.size else (low + high) // 2
        faces[axis] = places[middle]
        low, high = (middle, high) if test(lower, upper) else (low, middle)
    return float(places[low])


@frozen
class BoxSearch:
    """Boxes of a record that passed, all of them with confidence ``1 - omega``, and what heavier ones are found by."""

    record: Record
    found: tuple[Robust, ...]
    region: Region | None = None
    cells: Boxes | None = None
    obstacles: Obstacles | None = None

    @classmethod
    def of(
        cls,
        record: Record,
        rng: np.random.Generator | None = None,
        tau: float = TAU,
        omega: float = OMEGA,
        *,
        black_box: bool = False,
        method: str = METHODS[0],
        steps: int | None = None,
    ) -> BoxSearch:
        """Proven boxes where the classifier's structure is known, else boxes tested with ``rng``."""
        tau, omega = require_tolerance(tau, omega)
        x, size = record.sent, len(record.columns)
        region = None if black_box else structure(record)
        if region is None:
            halvings = _face_steps(size) if steps is None else steps
            tests = most_box_tests(size, halvings, 1 + len(_orders(size)))
            test = SampledTest(record, rng or np.random.default_rng(), tests, tau, omega, method)
            return cls(record, _several(test, x, halvings))
        if isinstance(region, LinearRegion):
            return cls(record, (rectangle(ProvenTest(region), x, _EXACT),), region)
        if isinstance(region, MarginRegion):
            return cls(record, _several(ProvenTest(region), x, _BOUNDED if steps is None else steps), region)
        cells = decompose(region) if size <= _CUT_WHOLLY else None
        obstacles = None if cells is None else Obstacles.of(cells, x)
        if obstacles is not None and cells is not None and cells.is_exact:  # the heaviest box is among theirs
            return cls(record, (Robust(x, x, PROVEN),), region, cells, obstacles)
        return cls(record, _several(ProvenTest(region), x, _face_steps(size)), region, cells, obstacles)

    def box(self, law: Perturbation | None = None) -> Robust:
        """The box that holds most of the reports of a mechanism; without one, the box of most volume."""
        weight = Weight(self.record.sent, law)
        known = max(self.found, key=lambda one: weight.of((one.lower, one.upper)))
        box = known.lower, known.upper
        if isinstance(self.region, LinearRegion):
            box = heaviest_linear(self.region, weight, box)
        elif self.obstacles is not None:
            box = self.obstacles.heaviest(weight, box)
        return known if box[0] is known.lower else Robust(*box, PROVEN)


def robust_box(
    record: Record,
    rng: np.random.Generator | None = None,
    tau: float = TAU,
    omega: float = OMEGA,
    *,
    law: Perturbation | None = None,
    black_box: bool = False,
    method: str = METHODS[0],
    steps: int | None = None,
) -> Robust:
    """The box of a record that holds most of the reports of ``law`` (or of most volume): proven where the classifier's
    structure is known, else tested with ``rng``.

    >>> from mechdesign.studies.classifiers.models import Classifier
    >>> inside = Classifier(lambda points: (points[:, 0] >= 0.2) & (points[:, 0] <= 0.8), 1)
    >>> found = robust_box(Record(inside, np.array([0.5])), np.random.default_rng(1))
    >>> found.lower.round(2).tolist(), found.upper.round(2).tolist(), found.basis
    ([0.2], [0.8], 'tested')
    """
    return BoxSearch.of(record, rng, tau, omega, black_box=black_box, method=method, steps=steps).box(law)


def given_box(
    record: Record,
    lower: Floats,
    upper: Floats,
    rng: np.random.Generator | None = None,
    tau: float = TAU,
    omega: float = OMEGA,
    *,
    black_box: bool = False,
    method: str = METHODS[0],
) -> Robust:
    """A box that was given, decided: proven, or tested where the structure is not known; else `InvalidInput`."""
    tau, omega = require_tolerance(tau, omega)
    box = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    size = len(record.columns)
    if any(side.shape != (size,) for side in box) or not ((box[0] >= 0) & (box[0] <= box[1]) & (box[1] <= 1)).all():
        raise InvalidInput("box", "other bounds", f"have bounds 0 <= LOWER <= UPPER <= 1 for each of {size} columns")
    outside = np.flatnonzero((record.sent < box[0]) | (record.sent > box[1]))
    if outside.size:
        column = record.columns[int(outside[0])]
        called = repr(record.classifier.names[column]) if record.classifier.names else str(column)
        step = "give a wider box, or fewer rows"
        raise InvalidInput("box", f"bounds of column {called}", f"hold the record in data row {record.row}", step)
    region = None if black_box else structure(record)
    if region is None:
        test: BoxTest = SampledTest(record, rng or np.random.default_rng(), 1, tau, omega, method)
        rule = f"pass the test that at most {tau:g} of it loses the label of data row {record.row}"
    else:
        test = ProvenTest(region)
        rule = f"be proven to keep the label of data row {record.row}"
    if not test(*box):
        bounds = ", ".join(f"{low:g}:{high:g}" for low, high in zip(*box, strict=True))
        raise InvalidInput("box", bounds, rule, "give a smaller one, or none: then one is searched")
    if isinstance(test, SampledTest):
        return Robust(*box, test.basis, tau, omega, test.predictions)
    return Robust(*box, test.basis)


def _several(test: BoxTest, x: Floats, halvings: int) -> tuple[Robust, ...]:
    """The rectangle of the ball, and those that grow from x itself."""
    return rectangle(test, x, halvings), *(_grown(test, (x, x), halvings, order) for order in _orders(x.size))


def _orders(size: int) -> list[Sequence[int]]:
    """Orders of the columns, the fewer the more columns there are: every test asks for many predictions."""
    orders: list[Sequence[int]] = [range(size)[::-1], range(size)]
    return orders[: 0 if size == 1 or size > _MANY else 2 if size <= _FEW_COLUMNS else 1]


def most_box_tests(size: int, halvings: int, boxes: int = 1) -> int:
    """The most tests that so many boxes take, the first of which grows from a ball."""
    return 1 + _RADIUS_STEPS + boxes * 2 * size * (1 + halvings)


def _face_steps(size: int) -> int:
    """Halvings a face: fewer where there are many faces."""
    return 8 if size <= _MANY else 4
