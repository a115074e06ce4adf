"""Privacy for each pair of inputs: from a distance, a policy, a list of sensitive values or personal budgets.

``q(y|x) <= e^E(x,x') q(y|x')`` for all reports y and every pair of inputs, E at least 0. Infinite entries leave a pair
unprotected; E need not be symmetric. What holds along a path holds for its ends, so E means the lengths of shortest
paths, E*. The pairs that no path through others implies are the irreducible ones: they imply all.

Metric privacy: Chatzikokolakis, Andrés, Bordenabe, Palamidessi, *Broadening the scope of differential privacy using
metrics* (2013). Policies: He, Machanavajjhala, Ding, *Blowfish privacy* (2014).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import MAX_EPSILON, InvalidInput, require_epsilon, require_whole
from mechdesign.values.declare import array, finite, frozen, one_of, stored
from mechdesign.values.fingerprint import fingerprint
from mechdesign.values.later import sparse
from mechdesign.words.domains import require_numbers
from mechdesign.words.places import (
    DISTANCES,
    EUCLIDEAN,
    GREAT_CIRCLE,
    distances_down,
    distances_up,
    require_different,
    require_globe,
    require_places,
)

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MOST_INPUTS = 1024
"""Of a matrix. A distance says it in fewer words, see `Metric`."""

RESOLVED = 1e-9  # of the largest loss: what optima are known to
_SAME = 1e-9  # relative: paths shorter by less are roundings of sums


def require_pairs(said: ArrayLike) -> Floats:
    """A square matrix of epsilons: 0 on the diagonal, above 0 elsewhere, infinite where a pair is not protected."""
    matrix = require_numbers(said, "privacy matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise InvalidInput("privacy matrix", matrix.shape, "be square: a row and a column for each input")
    if len(matrix) > MOST_INPUTS:
        step = "say a distance: privacy.Metric(points, per_unit)"
        raise InvalidInput("privacy matrix", len(matrix), f"have at most {MOST_INPUTS} inputs", step)
    matrix = stored(matrix)
    bad = np.argwhere(~(matrix >= 0))
    if bad.size:
        row, column = bad[0].tolist()
        value = float(matrix[row, column])
        rule = "be a number, infinite where the pair is not protected" if math.isnan(value) else "be at least 0"
        raise InvalidInput(f"privacy matrix[{row}, {column}]", value, rule)
    own = np.flatnonzero(np.diagonal(matrix))
    if own.size:
        at = int(own[0])
        rule = "be 0: an input is as likely as itself"
        raise InvalidInput(f"privacy matrix[{at}, {at}]", float(matrix[at, at]), rule)
    merged = np.argwhere((matrix == 0) & ~np.eye(len(matrix), dtype=bool))
    if merged.size:
        row, column = merged[0].tolist()
        rule = f"be above 0: it merges inputs {row} and {column}, whose reports would have one law"
        step = "give the two one row, or a small epsilon such as 0.001"
        raise InvalidInput(f"privacy matrix[{row}, {column}]", 0.0, rule, step)
    small = np.argwhere((matrix > 0) & (matrix < LEAST))
    if small.size:
        row, column = small[0].tolist()
        rule = f"be at least {LEAST:g}: proofs do not resolve less"
        raise InvalidInput(f"privacy matrix[{row}, {column}]", float(matrix[row, column]), rule)
    return matrix


LEAST = 1e-6


@frozen
class Pairwise:
    """An epsilon for each pair, infinite without a limit: ``q(y|x) <= e^epsilons[x, x'] q(y|x')``, and along paths.

    >>> Pairwise([[0, 1, 9], [1, 0, 1], [9, 1, 0]]).closed[0, 2].item()
    2.0
    """

    kind: ClassVar[str] = "pairwise"
    resolved: ClassVar[float] = RESOLVED

    epsilons: Floats = array(require_pairs)

    def __len__(self) -> int:
        return len(self.epsilons)

    @property
    def closed(self) -> Floats:
        """E*, the epsilons that paths leave, in doubles."""
        return _closed(self)

    @property
    def at_most(self) -> Floats:
        """At least E*: what is said, and sums along paths rounded up. Bounds over all mechanisms rest on it."""
        return stored(np.where(self.closed < self.epsilons, self.closed * (1 + _SAME), self.epsilons))

    @property
    def epsilon(self) -> float:
        return largest(self)

    @property
    def inputs(self) -> int:
        """How many inputs it is about."""
        return len(self)

    @property
    def words(self) -> str:
        """As headings say it."""
        return "an eps for each pair"

    @property
    def told_apart(self) -> str:
        """What tells problems apart that say the same words."""
        return f"eps of the pairs: {fingerprint(self.epsilons)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the closure tightened, and what is not protected: to be said loudly."""
        return _notes(self)


def _points(said: ArrayLike) -> Floats:
    return require_places(said)


@frozen
class Metric:
    """``per_unit`` times the distance of two places: the nearer, the better protected.

    With ``distance`` "great circle" points are latitude and longitude in degrees, and a unit is a kilometre. The
    epsilons are rounded down, so that what is proven of them holds for the distances themselves.

    >>> Metric([[0, 0], [3, 4]], 0.5).epsilons.round(9).tolist()
    [[0.0, 2.5], [2.5, 0.0]]
    """

    kind: ClassVar[str] = "metric"
    resolved: ClassVar[float] = RESOLVED

    points: Floats = array(_points)
    per_unit: float = finite("eps per unit")
    distance: str = one_of("distance", DISTANCES, default=EUCLIDEAN)

    def __attrs_post_init__(self) -> None:
        if not self.per_unit > 0:
            raise InvalidInput("eps per unit", self.per_unit, "be above 0", "say what a unit of distance may tell")
        if self.distance == GREAT_CIRCLE:
            require_globe(self.points)
        require_different(self.points)
        apart = self.epsilons
        if len(self) > 1:
            far = apart + np.where(np.eye(len(self), dtype=bool), math.inf, 0)
            if not far.min() >= LEAST:
                row, column = np.unravel_index(int(np.argmin(far)), far.shape)
                rule = f"leave an epsilon of at least {LEAST:g} between places {row} and {column}"
                raise InvalidInput("eps per unit", self.per_unit, rule, "merge them, or say a larger unit")

    def __len__(self) -> int:
        return len(self.points)

    @property
    def epsilons(self) -> Floats:
        return _of_metric(self)

    @property
    def closed(self) -> Floats:
        """The same: a metric is closed under paths, but for its rounding."""
        return _of_metric(self)

    @property
    def at_most(self) -> Floats:
        """The epsilons rounded up. Bounds over all mechanisms rest on it."""
        apart = distances_up(self.points, self.points, self.distance)
        return stored(self.per_unit * apart * (1 + 2.0**-52))

    @property
    def epsilon(self) -> float:
        return largest(self)

    @property
    def inputs(self) -> int:
        """How many inputs it is about."""
        return len(self)

    @property
    def words(self) -> str:
        """As headings say it."""
        return f"eps = {self.per_unit:g} a {'kilometre' if self.distance == GREAT_CIRCLE else 'unit of distance'}"

    @property
    def told_apart(self) -> str:
        """What tells problems apart that say the same words."""
        return f"places: {fingerprint(self.points)}"

    @property
    def notes(self) -> tuple[str, ...]:
        return ()


Pairs = Pairwise | Metric
"""Every requirement on pairs: what is about pairs asks for these, and knows no kind of them."""


def largest(pairs: Pairs) -> float:
    """The epsilon between any two inputs: the largest of E*, at most 64.

    Reports keep that too. Where pairs are not protected at all it is 64, which every table on a computer keeps.
    """
    closed = pairs.closed
    return float(min(max(closed.max(), LEAST), MAX_EPSILON))


@lru_cache(maxsize=4)
def _of_metric(metric: Metric) -> Floats:
    return stored(metric.per_unit * distances_down(metric.points, metric.points, metric.distance) * (1 - 2.0**-52))


@lru_cache(maxsize=4)
def _closed(pairs: Pairwise) -> Floats:
    """Shortest paths, kept as they were said where a path is no shorter than its rounding."""
    said = pairs.epsilons
    found = sparse.csgraph.shortest_path(np.where(np.isfinite(said), said, 0.0), method="FW")
    np.fill_diagonal(found, 0.0)
    return stored(np.where(found < said * (1 - _SAME), found, said))


def _notes(pairs: Pairwise) -> tuple[str, ...]:
    said, closed = pairs.epsilons, pairs.closed
    notes = []
    shorter = np.argwhere(np.isfinite(said) & (closed < said))
    if shorter.size:
        row, column = shorter[0].tolist()
        notes.append(
            f"paths through other inputs protect {len(shorter)} pairs better than was said, such as inputs {row} and "
            f"{column}: eps {closed[row, column]:.6g}, not {said[row, column]:.6g}"
        )
    bare = np.argwhere(np.isinf(closed))
    if bare.size:
        row, column = bare[0].tolist()
        notes.append(
            f"NOT PROTECTED: {len(bare)} of {said.size - len(said)} ordered pairs have no limit, such as input {row} "
            f"against {column}: reports may tell input {row} from {column} for certain"
        )
    return tuple(notes)


def irreducible(pairs: Pairs, nearest: int | None = None) -> tuple[Places, Places]:
    """The pairs that no path through another input implies, as two lists of inputs; of each the ``nearest`` only.

    >>> [len(part) for part in irreducible(Metric([(i, j) for i in range(3) for j in range(3)], 1.0))]
    [56, 56]
    """
    closed = pairs.closed
    size = len(closed)
    firsts, seconds = [], []
    for first in range(size):
        near = np.flatnonzero(np.isfinite(closed[first]))
        near = near[near != first]
        legs = closed[first, near]
        order = near[np.argsort(legs, kind="stable")[:nearest]]
        kept: list[int] = []
        for second in order.tolist():
            through = np.array(kept, dtype=np.intp)
            # a path of two legs whose first is irreducible: the shortest first leg of any path is
            if kept and (closed[first, through] + closed[through, second]).min() <= closed[first, second] * (1 + _SAME):
                continue
            kept.append(second)
        firsts.append(np.full(len(kept), first))
        seconds.append(np.array(kept, dtype=np.intp))
    if not firsts:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    return np.concatenate(firsts).astype(np.intp), np.concatenate(seconds).astype(np.intp)


# -- where epsilons come from ------------------------------------------------------------------------------------------


def metric(points: ArrayLike, per_unit: float, distance: str = EUCLIDEAN) -> Metric:
    """``per_unit`` times the distance of points: geo-indistinguishability for places of a plane or the globe."""
    return Metric(_points(points), per_unit, distance)


def graph(size: int, edges: Iterable[tuple[int, int]], epsilon: float | Sequence[float]) -> Pairwise:
    """Only neighbours in a graph are said; the others follow along paths, and are not protected if there is none.

    >>> graph(3, [(0, 1), (1, 2)], 0.5).closed[0].tolist()
    [0.0, 0.5, 1.0]
    """
    count = require_whole(size, "size", 1, MOST_INPUTS)
    ends = [(require_whole(a, "edge", 0, count - 1), require_whole(b, "edge", 0, count - 1)) for a, b in edges]
    each: Sequence[Any] = [epsilon] * len(ends) if np.ndim(epsilon) == 0 else list(epsilon)  # type: ignore[arg-type]
    if len(each) != len(ends):
        raise InvalidInput("eps", len(each), f"be one, or one for each of the {len(ends)} edges")
    matrix = np.full((count, count), math.inf)
    np.fill_diagonal(matrix, 0.0)
    for (a, b), eps in zip(ends, each, strict=True):
        if a == b:
            raise InvalidInput("edge", (a, b), "join two different inputs")
        matrix[a, b] = matrix[b, a] = min(matrix[a, b], require_epsilon(eps))
    return Pairwise(matrix)


def sensitive(size: int, values: Iterable[int], epsilon: float) -> Pairwise:
    """Sensitive inputs hide among all inputs; a report may show for certain that an input is none of them.

    One-sided: ``q(y|x) <= e^epsilon q(y|x')`` for sensitive x and any x'.

    >>> sensitive(2, [0], 1.0).epsilons.tolist()
    [[0.0, 1.0], [inf, 0.0]]
    """
    count, eps = require_whole(size, "size", 1, MOST_INPUTS), require_epsilon(epsilon)
    hidden = sorted({require_whole(value, "sensitive value", 0, count - 1) for value in values})
    if not hidden:
        raise InvalidInput("sensitive values", "none", "be at least one")
    matrix = np.full((count, count), math.inf)
    matrix[hidden] = eps
    np.fill_diagonal(matrix, 0.0)
    return Pairwise(matrix)


def personal(epsilons: Iterable[float]) -> Pairwise:
    """An epsilon of its own for each input: two inputs have the smaller of theirs.

    >>> personal([1.0, 2.0, 3.0]).epsilons[2].tolist()
    [1.0, 2.0, 0.0]
    """
    each = np.array([require_epsilon(eps) for eps in epsilons])
    matrix = np.minimum(each[:, None], each)
    np.fill_diagonal(matrix, 0.0)
    return Pairwise(matrix)


def from_file(path: Any) -> Pairwise:
    """The matrix in a ``.csv`` or ``.npy`` file: ``inf`` where a pair is not protected."""
    from mechdesign.data.matrices import read_matrix

    return Pairwise(read_matrix(path, "privacy matrix", 0.0, most=math.inf).values)
