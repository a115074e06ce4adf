"""Boxes in which a classifier keeps its label: proven from its structure, or tested by asking it at random points.

**Tested** (definition 17). Uniform points of the box are asked for their label. Clopper-Pearson (the default) accepts
when the upper limit of the failure rate is at most tau; ``hoeffding`` is theorem 15 as printed, which needs
``ln(2/omega) / (2 (tau/2)^2)`` points a test. A search runs many tests, and its answer is one that passed: so each
test gets an equal share of omega, and with probability at least ``1 - omega`` *every* box that passed is as robust as
it is said to be. (With omega for each test, as printed, the chance that one of many passes wrongly is far larger.)

**Proven**. For linear models the least margin over a box is a closed form, for trees the box is cut into cells: tau and
omega are then 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy import special

from mechdesign.classifier.cells import is_kept
from mechdesign.classifier.linear import LinearRegion, linear_region
from mechdesign.classifier.models import Record
from mechdesign.classifier.trees import TreeRegion, tree_region
from mechdesign.errors import InvalidInput, require_number
from mechdesign.values.declare import Floats, array, frozen

METHODS = ("clopper-pearson", "hoeffding")
PROVEN, TESTED = "proven", "tested"
TAU, OMEGA = 0.01, 0.05
_RADIUS_STEPS = 10
_ALLOWED = 2
_EXACT = 53  # halvings to the spacing of doubles
_FIRST = 128
_ASKED_FIRST, _BOXES, _FEW = 64, 8192, 6


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

    region: LinearRegion | TreeRegion
    basis: str = PROVEN

    def __call__(self, lower: Floats, upper: Floats) -> bool:
        if isinstance(self.region, LinearRegion):
            return self.region.is_kept(lower, upper)
        points = np.random.default_rng(0).random((_ASKED_FIRST, lower.size))  # most boxes that fail do so at once
        if not self.region.record.keeps(lower + (upper - lower) * points).all():
            return False
        return is_kept(self.region, lower, upper, _BOXES if lower.size <= _FEW else _BOXES // 8)


def structure(record: Record) -> LinearRegion | TreeRegion | None:
    """The exact region where the classifier keeps the label, if its kind is known."""
    return linear_region(record) or tree_region(record)


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
    ends = _ends_of(test)
    halvings = _face_steps(x.size) if steps is None else steps
    theta = radius(test, x)
    lower, upper = np.maximum(x - theta, 0.0), np.minimum(x + theta, 1.0)
    for axis in range(x.size):
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


def robust_box(
    record: Record,
    rng: np.random.Generator | None = None,
    tau: float = TAU,
    omega: float = OMEGA,
    *,
    black_box: bool = False,
    method: str = METHODS[0],
    steps: int | None = None,
) -> Robust:
    """The box of a record: proven where the classifier's structure is known, else tested with ``rng``.

    >>> from mechdesign.classifier.models import Classifier
    >>> inside = Classifier(lambda points: (points[:, 0] >= 0.2) & (points[:, 0] <= 0.8), 1)
    >>> found = robust_box(Record(inside, np.array([0.5])), np.random.default_rng(1))
    >>> found.lower.round(2).tolist(), found.upper.round(2).tolist(), found.basis
    ([0.2], [0.8], 'tested')
    """
    tau, omega = require_tolerance(tau, omega)
    region = None if black_box else structure(record)
    size = len(record.columns)
    if region is not None:
        return rectangle(ProvenTest(region), record.sent, _EXACT if isinstance(region, LinearRegion) else steps)
    halvings = _face_steps(size) if steps is None else steps
    test = SampledTest(record, rng or np.random.default_rng(), most_box_tests(size, halvings), tau, omega, method)
    return rectangle(test, record.sent, halvings)


def most_box_tests(size: int, halvings: int) -> int:
    """The most tests a rectangle takes."""
    return 1 + _RADIUS_STEPS + 2 * size * (1 + halvings)


def _face_steps(size: int) -> int:
    """Halvings a face: fewer where there are many faces."""
    return 8 if size <= 10 else 4
