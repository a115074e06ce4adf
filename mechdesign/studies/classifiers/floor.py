"""How often *any* mechanism can keep the label of a public classifier, and what an error cap on the value costs.

**Theorem.** Let h be public with m labels, all taken on [0, 1]^d, and M any eps-LDP mechanism for the whole point x
(eps counts all coordinates). Then ``min_x Pr[h(M(x)) = h(x)] <= e^eps / (e^eps + m - 1)``, and this is attained.

*Upper bound.* Grouping reports by their label is post-processing: for one x_k of each label k, ``T(j|k) =
Pr[h(M(x_k)) = j]`` has ``T(j|k) <= e^eps T(j|i)``. Let v be the least T(k|k). For j other than k, ``T(j|k) >= e^-eps
T(j|j) >= e^-eps v``; a row sums to 1, so ``v (1 + (m - 1) e^-eps) <= 1``.

*Attained.* Send h(x) through randomised response on the labels, and report any fixed point of the label that comes
out. The law depends on x through h(x) alone, with ratio e^eps, and the label is kept with the stated probability.

**Theorem (average).** If labels have probabilities ``w_1 >= ... >= w_m``, the largest average is ``max_s e^eps (w_1 +
... + w_s) / (e^eps + s - 1)``.

*Upper bound.* Let ``c = e^eps``, ``b_j = min_k T(j|k)``, B their sum. Then ``T(k|k) <= c b_k`` and, as the rest of
the row is at least its minima, ``T(k|k) <= 1 - B + b_k``. With ``u = (1 - B)/(c - 1)``, ``a_k = min(b_k, u)`` and
``r_k = b_k - a_k`` both together say ``T(k|k) <= c a_k + r_k``, and ``sum a + sum r + (c - 1) u = 1``. Maximise ``sum
w_k (c a_k + r_k)`` over all a in ``[0, u]^m``, r >= 0, u >= 0 with that sum: a linear function on a cone cut by one
equation takes its maximum on a ray. The rays are ``r = e_k`` (value w_k, the case s = 1), and ``u = 1, a = 1`` on a
set A, 0 off it (value ``c w(A) / (c + |A| - 1)``); the best A of a size has the largest weights.

*Attained.* Randomised response on the s likeliest labels; for other x, a uniform one of them. Ratios are ``c``
between the former and at most c to ``1/s``, as ``(c + s - 1)/s <= c``.

**With a cap on the error of the value** (one coordinate in [0, 1], ``E|M(x) - x| <= cap`` for all x) the two aims
compete. `trade_off` bounds the least average loss of labels from both sides. From above: a mechanism on midpoints of
cells, which is found. From below, for *all* mechanisms into [0, 1]: group reports by cell. A cell lies within one
label, and costs at least its distance from x, so the grouped table satisfies the same program with these smaller
costs, whose optimum is proven in rational arithmetic (`mechdesign.methods.convex.proof`). The cap is asked at the
points of the prior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, require_epsilon, require_finite, require_whole
from mechdesign.studies.classifiers.concentration import Perturbation
from mechdesign.studies.classifiers.models import Record
from mechdesign.studies.classifiers.robustness import structure
from mechdesign.studies.classifiers.trees import TreeRegion
from mechdesign.values.declare import Floats, array, frozen

_LOOKED_AT = 2001
_HALVINGS = 60
_MOST_CELLS = 100
_KEPT_WITHIN = 1e-6
_UP = 1 + 2.0**-50


def label_optimum(epsilon: float, labels: int, weights: ArrayLike | None = None) -> float:
    """The most that any eps-LDP mechanism keeps labels: at the worst point, or on average under label ``weights``.

    ``epsilon`` is for the whole point: d coordinates with eps each have d eps. Rounded up, so that it bounds.

    >>> round(label_optimum(math.log(3), 2), 12), round(label_optimum(math.log(3), 2, [0.9, 0.1]), 12)
    (0.75, 0.9)
    """
    ratio = math.exp(require_epsilon(epsilon))
    require_whole(labels, "labels", 1)
    if weights is None:
        return min(1.0, _UP / (1 + (labels - 1) / ratio))
    shares = np.sort(np.asarray(weights, dtype=np.float64))[::-1]
    if shares.shape != (labels,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
        raise InvalidInput("weights", weights, f"be {labels} numbers, at least 0, that sum to 1")
    sizes = np.arange(1, labels + 1)
    return min(1.0, _UP * float((np.cumsum(shares) / (1 + (sizes - 1) / ratio)).max()))


@frozen
class Zones:
    """A classifier along the one coordinate that is sent: label codes of the zones between the ``edges``."""

    edges: Floats = array(np.asarray)
    codes: NDArray[np.intp] = array(np.asarray)

    def code(self, values: ArrayLike) -> NDArray[np.intp]:
        """The zone's label code at points inside zones."""
        zone = np.searchsorted(self.edges[1:-1], np.asarray(values, dtype=np.float64), side="left")
        return np.asarray(self.codes[zone])


def zones_of(record: Record) -> Zones:
    """The zones of a record's one column, to the spacing of doubles.

    2001 points and every threshold of a tree are looked at, then halved between unlike neighbours until no third
    label is met. So all zones of trees are found, and of linear models, where a label has one zone. Of other
    classifiers zones narrower than 1/2000 may be missed: what is said about *all mechanisms* is then said for a
    classifier that has the zones that were seen.
    """
    if len(record.columns) != 1:
        raise InvalidInput("columns", len(record.columns), "be one for the trade-off of label and value")

    def labels(values: Floats) -> NDArray[Any]:
        return record.classifier.labels(record.filled(values[:, None]))

    region = structure(record)
    ends = region.thresholds(0) if isinstance(region, TreeRegion) else np.zeros(0)
    ends = ends[(ends > 0) & (ends < 1)]
    grid = np.unique(np.concatenate([np.linspace(0.0, 1.0, _LOOKED_AT), ends, np.nextafter(ends, 1.0)]))
    seen = labels(grid)
    for _ in range(_MOST_CELLS):  # every round finds another zone, or is the last
        changes = seen[1:] != seen[:-1]
        where = np.flatnonzero(changes & (grid[1:] > np.nextafter(grid[:-1], 1.0)))
        if not where.size or changes.sum() > _LOOKED_AT // 2:
            break
        low, high, own = grid[where], grid[where + 1], seen[where]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            same = labels(middle) == own
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        grid, first = np.unique(np.concatenate([grid, low, high]), return_index=True)
        seen = np.concatenate([seen, own, labels(high)])[first]
    if where.size:
        raise InvalidInput("classifier", "a label that keeps changing", f"have at most {_MOST_CELLS} zones")
    where = np.flatnonzero(seen[1:] != seen[:-1])
    codes = np.unique(seen, return_inverse=True)[1]
    return Zones(np.concatenate([[0.0], grid[where], [1.0]]), np.concatenate([codes[where], codes[-1:]]))


@frozen
class TradeOffPoint:
    """With the worst error at most ``cap``: the most that labels are kept on average lies in [attained, bound]."""

    cap: float
    attained: float
    bound: float


def trade_off(zones: Zones, epsilon: float, caps: Sequence[float], cells: int = 40) -> list[TradeOffPoint]:
    """The certified curve of labels kept against the worst error, for x uniform on the midpoints of the cells.

    ``attained`` is 0 where no mechanism on the midpoints was found that keeps the cap.

    >>> point = trade_off(Zones(np.array([0, 0.5, 1]), np.array([0, 1])), 2.0, [0.5], cells=8)[0]
    >>> round(point.attained, 3), round(label_optimum(2.0, 2), 3), point.bound >= point.attained
    (0.881, 0.881, True)
    """
    epsilon = require_epsilon(epsilon)
    edges = _refined(zones.edges, cells)
    middles = (edges[:-1] + edges[1:]) / 2
    codes = zones.code(middles)
    wrong = (codes[:, None] != codes[None, :]).astype(np.float64)
    far = np.abs(middles[:, None] - middles)
    near = np.maximum(np.maximum(edges[:-1] - middles[:, None], middles[:, None] - edges[1:]), 0.0)
    most = without_cap(zones, epsilon, cells)
    found = []
    for cap in caps:
        if not require_finite(cap, "cap") > 0:
            raise InvalidInput("cap", cap, "be above 0")
        attained = _least(epsilon, middles, wrong, far, cap, from_above=True)
        bound = _least(epsilon, middles, wrong, near, cap, from_above=False)
        found.append(TradeOffPoint(float(cap), 1 - attained, min(1 - bound, most)))
    # what keeps a cap keeps larger ones, and what none keeps under a cap none keeps under smaller ones
    return [
        TradeOffPoint(
            point.cap,
            max(other.attained for other in found if other.cap <= point.cap),
            min(other.bound for other in found if other.cap >= point.cap),
        )
        for point in found
    ]


def without_cap(zones: Zones, epsilon: float, cells: int = 40) -> float:
    """The most that labels are kept on average at the same points, whatever the error of the value."""
    edges = _refined(zones.edges, cells)
    counts = np.unique(zones.code((edges[:-1] + edges[1:]) / 2), return_counts=True)[1]
    return label_optimum(epsilon, int(counts.size), counts / counts.sum())


def where_it_lies(zones: Zones, law: Perturbation, cells: int = 40) -> tuple[float, float]:
    """A mechanism's worst error and how often it keeps the label on average, at the same points."""
    edges = _refined(zones.edges, cells)
    middles = (edges[:-1] + edges[1:]) / 2
    own = zones.code(middles)
    kept = np.zeros(middles.size)
    ends = zip(zones.edges[:-1], zones.edges[1:], zones.codes, strict=True)
    for k, (low, high, code) in enumerate(ends):
        # the first zone holds its left end, the others only their right ends
        share = law.between(middles, low, high) if k == 0 else law.above(middles, low, high)
        kept += np.where(own == code, share, 0.0)
    return float(_errors(law, middles).max()), float(kept.mean())


def _errors(law: Perturbation, x: Floats) -> Floats:
    """``E|M(x) - x|`` from the cdf: the integral of both tails over [0, 1]."""
    steps = 4000
    grid = (np.arange(steps) + 0.5) / steps
    cdf = law.cdf(grid[None, :], x[:, None])
    return np.asarray(np.where(grid[None, :] < x[:, None], cdf, 1 - cdf).sum(axis=1) / steps)


def _refined(edges: Floats, cells: int) -> Floats:
    """About ``cells`` cells, each within one zone."""
    require_whole(cells, "cells", 2, 90)
    parts = [
        np.linspace(low, high, max(1, round(cells * (high - low))), endpoint=False)
        for low, high in zip(edges[:-1], edges[1:], strict=True)
        if high > low
    ]
    found = np.concatenate([*parts, [1.0]])
    if found.size - 1 > _MOST_CELLS:
        step = "ask a smoother classifier"
        raise InvalidInput(
            "classifier",
            f"{edges.size - 1} zones",
            f"have at most {_MOST_CELLS} zones, wide ones cut into cells included",
            step,
        )
    return found


def _least(epsilon: float, points: Floats, wrong: Floats, costs: Floats, cap: float, *, from_above: bool) -> float:
    """The least average share of wrong labels under the cap: attained, or proven from below; 1 where none keeps it."""
    import cvxpy as cp

    from mechdesign.errors import NoAnswer
    from mechdesign.methods.registry import solve
    from mechdesign.words.criteria import Total
    from mechdesign.words.domains import Finite
    from mechdesign.words.objectives import Objective
    from mechdesign.words.privacy import Pure
    from mechdesign.words.problem import Problem

    weight = 1 / points.size
    # an answer may miss its constraints by the tolerance: what is attained must keep the cap itself
    limit = cap - _KEPT_WITHIN if from_above else cap

    def capped(q: Any) -> list[Any]:
        return [cp.sum(cp.multiply(costs, q), axis=1) <= limit]

    objective = Objective(lambda q: cp.sum(cp.multiply(wrong * weight, q)), capped, _KEPT_WITHIN)
    problem = Problem(inputs=Finite(tuple(points.tolist())), loss=objective, privacy=Pure(epsilon), criterion=Total())
    try:
        design = solve(problem, gap=1e-3)
    except NoAnswer as stopped:
        return min(1.0, stopped.upper) if from_above else max(0.0, stopped.lower)
    except InvalidInput as refused:
        if refused.field.startswith("constraints"):  # none found: nothing is attained, and nothing is proven
            return 1.0 if from_above else 0.0
        raise
    return min(1.0, design.certificate.upper) if from_above else max(0.0, design.certificate.lower)
