"""Any mechanism of this package as a frequency protocol: designed, published or shipped as a table."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism, require_scalar
from mechdesign.methods.result import Design
from mechdesign.studies.frequencies.protocols import arguments
from mechdesign.studies.frequencies.protocols.randomness import OperatingSystem, Randomness, require_randomness
from mechdesign.tables.kinds import Listed, Spread
from mechdesign.tables.sampler import sample_codes
from mechdesign.tables.table import Table
from mechdesign.values.declare import Counts, Floats, array, content, field, frozen
from mechdesign.words.domains import Circle, Finite, Interval, Line, require_numbers

Source = Design | Mechanism | Table

MOST_CELLS = 4096
_FAR = 1e-3  # share of the reports that may lie in each of the outer cells on a line
_WORST_INVERSE = 1e-6


@frozen
class Designed:
    """A mechanism whose items are k of its inputs; a report is the number of an output, or of a cell of outputs.

    Reports are decoded linearly: each adds its row of ``decoder`` (m x k) to the support, where ``A decoder = I`` for
    the channel A (k x m). So one report's expected support is 1 for its own item and 0 for others: ``p = 1`` and
    ``q = 0``. Of all such decoders this one has the least variances when all items are equally frequent. Where the
    reports do not tell the items apart (`has_inverse`) there is none: then only likelihoods use the reports.

    *Guarantee.* The channel's loss is `privacy_loss`; collecting outputs into cells never raises the mechanism's own.

    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> law = designed(randomised_response(1.0, Finite(range(4))))
    >>> from mechdesign.studies.frequencies.protocols.grr import grr
    >>> bool(np.allclose(law.variance([0.0, 0.3], 100), grr(1.0, 4).variance([0.0, 0.3], 100)))
    True
    """

    name: str
    epsilon: float
    items: Floats = array()
    matrix: Floats = array()
    edges: Floats | None = field(default=None, eq=content)
    table: Table | None = None

    def __attrs_post_init__(self) -> None:
        arguments.require_item_count(len(self.items))
        arguments.require_channel_size(self.matrix.shape[1], self.matrix.shape[0])

    @property
    def decoder(self) -> Floats:
        """The m x k matrix, made when it is first asked for; `InvalidInput` where there is none."""
        if not self.has_inverse:
            rank = int(np.linalg.matrix_rank(self.matrix, tol=_WORST_INVERSE * float(np.linalg.norm(self.matrix, 2))))
            rule = f"tell its {self.size} items apart by their {self.columns} reports, whose channel has rank {rank}"
            raise InvalidInput("mechanism", self.name, rule, "use fewer items, more cells, or maximum likelihood")
        return self._solved

    @property
    def has_inverse(self) -> bool:
        """Whether there is a decoder, in doubles: up to an error of 1e-6."""
        return self._solved.size > 0

    @cached_property
    def _solved(self) -> Floats:
        return _decoder(self.matrix)

    @property
    def size(self) -> int:
        return len(self.items)

    @property
    def p(self) -> float:
        return 1.0

    @property
    def q(self) -> float:
        return 0.0

    @property
    def columns(self) -> int:
        """The number of distinct reports."""
        return int(self.matrix.shape[1])

    @property
    def report_bits(self) -> float:
        return float((self.columns - 1).bit_length())

    def channel(self) -> Floats:
        return self.matrix.copy()

    def privacy_loss(self) -> float:
        """``ln`` of the largest ratio in a column of the channel."""
        used = self.matrix[:, self.matrix.max(axis=0) > 0]
        least = used.min(axis=0)
        return math.inf if (least == 0).any() else float(np.log((used.max(axis=0) / least).max()))

    def report(self, values: ArrayLike, rng: Randomness) -> Counts:
        """The number of an output for each user; a table's reports can come from the operating system, in integers."""
        places, source = arguments.require_items(values, self.size), require_randomness(rng)
        if isinstance(source, OperatingSystem):
            return self._shipped(places)
        reports = np.empty(places.size, dtype=np.int64)
        order = np.argsort(places, kind="stable")
        ends = np.searchsorted(places[order], np.arange(self.size + 1))
        for v in np.flatnonzero(np.diff(ends)).tolist():
            mine = order[ends[v] : ends[v + 1]]
            sums = np.cumsum(self.matrix[v])
            reports[mine] = np.searchsorted(sums / sums[-1], source.random(mine.size), side="right")
        return reports

    def _shipped(self, places: Counts) -> Counts:
        if self.table is None:
            rule = "be a numpy Generator for a mechanism that is no table"
            raise InvalidInput("rng", "OperatingSystem()", rule, "make a table of it first: make_table")
        outputs = sample_codes(self.table, self.items[places])
        if self.edges is None:
            assert isinstance(self.table.law, Listed)
            return np.searchsorted(np.array(self.table.law.outputs), outputs)
        return np.searchsorted(self.edges[1:-1], outputs, side="left")

    def histogram(self, reports: ArrayLike) -> Counts:
        """How often each output was reported."""
        return np.bincount(arguments.require_items(reports, self.columns, "reports"), minlength=self.columns)

    def support(self, reports: ArrayLike) -> Floats:
        return self.support_of_histogram(self.histogram(reports))

    def support_of_histogram(self, histogram: Counts) -> Floats:
        """The decoded reports."""
        return np.asarray(histogram @ self.decoder)

    def simulate(self, counts: ArrayLike, rng: np.random.Generator) -> Floats:
        return self.support_of_histogram(self.simulate_histogram(counts, rng))

    def simulate_histogram(self, counts: ArrayLike, rng: np.random.Generator) -> Counts:
        """How often each output is reported: a sum of multinomials, one an item."""
        held, generator = arguments.require_counts(counts, self.size), require_generator(rng)
        rows = self.matrix / self.matrix.sum(axis=1, keepdims=True)
        return np.asarray(generator.multinomial(held, rows).sum(axis=0), dtype=np.int64)

    def estimate(self, support: ArrayLike, n: int) -> Floats:
        """``support / n``."""
        return np.asarray(arguments.require_support(support, self.size) / arguments.require_users(n))

    def variance(self, f: ArrayLike, n: int) -> Floats:
        """The average over items of the variance at frequency f, the other items equally frequent.

        Items of a designed mechanism differ; `covariance` has the exact variance of each, for given frequencies.
        """
        share, users = arguments.require_shares(f, "f"), arguments.require_users(n)
        spread = self._spread()
        own = float(np.trace(spread)) / self.size
        other = (float(spread.sum()) - float(np.trace(spread))) / (self.size * (self.size - 1))
        return np.asarray((share * own + (1 - share) * other) / users)

    def _spread(self) -> Floats:
        """``Var(support of v from one report | item u)`` at row u and column v."""
        return np.asarray(self.matrix @ self.decoder**2 - np.eye(self.size))

    def covariance(self, frequencies: ArrayLike, n: int) -> Floats:
        shares, users = arguments.require_frequencies(frequencies, self.size), arguments.require_users(n)
        # of one report given its item: E[D D^T | u] - e_u e_u^T
        weights = shares @ self.matrix
        matrix = (self.decoder * weights[:, None]).T @ self.decoder - np.diag(shares)
        return np.asarray((matrix + matrix.T) / (2 * users))


def designed(
    source: Source, items: int | ArrayLike | None = None, cells: int | ArrayLike | None = None, name: str | None = None
) -> Designed:
    """A mechanism, a design or a table as a frequency protocol.

    ``items`` are the inputs that stand for the k items: all points of a finite domain unless given, and on an interval
    or circle a number k for the centres of k equal bins. Where the outputs are no finite list they are collected into
    ``cells``, a number of equal ones or their edges.
    """
    if isinstance(source, Table):
        if source.chances is not None:
            rule = "have rows of probabilities, and is a frequency protocol in two chances"
            raise InvalidInput("source", f"{source.kind} table", rule, "take as_protocol(table)")
        points = _items(source.domain, items)
        if isinstance(source.law, Listed):
            matrix, edges = source.law.probabilities(points), None
        else:
            assert isinstance(source.law, Spread)
            edges = _edges(source.law.reach(float(points[0]), float(points[-1]), _FAR), cells, points.size)
            matrix = source.law.cell_probabilities(points, edges)
        return Designed(name or source.name, float(source.epsilon), points, matrix, edges, source)
    law = source.own_law if isinstance(source, Design) else source
    if isinstance(law, Product) or not hasattr(law, "cdf"):
        raise InvalidInput("source", type(source).__name__, "be a mechanism with one coordinate, a design or a table")
    mechanism = require_scalar(law)
    points = _items(mechanism.inputs, items)
    if isinstance(mechanism.outputs, Finite):
        edges = None
        matrix = mechanism.mass(np.asarray(mechanism.outputs.points)[None, :], points[:, None])
    else:
        edges = _edges(_outputs(mechanism, points), cells, points.size)
        below = mechanism.cdf(edges[None, 1:-1], points[:, None])
        ends = np.zeros((points.size, 1)), np.ones((points.size, 1))
        matrix = np.diff(np.concatenate([ends[0], below, ends[1]], axis=1), axis=1)
    # differences of probabilities that are equal may round below zero
    return Designed(name or mechanism.name, float(mechanism.epsilon), points, np.maximum(matrix, 0.0), edges)


def _items(domain: Interval | Circle | Finite, items: int | ArrayLike | None) -> Floats:
    if items is None:
        if not isinstance(domain, Finite):
            raise InvalidInput("items", items, "be given where the inputs are no finite set", "for example items=10")
        return np.asarray(domain.points, dtype=np.float64)
    if isinstance(items, int | np.integer):
        count = arguments.require_item_count(items)
        if isinstance(domain, Finite):
            raise InvalidInput("items", items, "be left out, or a list of points of the finite domain")
        return np.asarray(domain.lower + (np.arange(count) + 0.5) / count * domain.length)
    points = domain.require(items, "items")
    if points.ndim != 1 or (np.diff(points) <= 0).any():
        raise InvalidInput("items", points.tolist(), "increase strictly")
    return points.copy()


def _outputs(mechanism: ScalarMechanism, points: Floats) -> tuple[float, float]:
    if not isinstance(mechanism.outputs, Line):
        return mechanism.outputs.lower, mechanism.outputs.upper
    low, high = mechanism.quantile(_FAR, points[0]), mechanism.quantile(1 - _FAR, points[-1])
    return float(low), float(high)


def _edges(outputs: tuple[float, float], cells: int | ArrayLike | None, size: int) -> Floats:
    if cells is None:
        cells = min(max(64, 4 * size), MOST_CELLS)
    if isinstance(cells, int | np.integer):
        count = require_whole(cells, "cells", size, MOST_CELLS, "at least as many as items")
        return np.linspace(outputs[0], outputs[1], count + 1)
    edges = require_numbers(cells, "cells").astype(np.float64)
    if edges.ndim != 1 or edges.size < 3 or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise InvalidInput("cells", cells, "be a whole number or strictly increasing edges")
    return edges


def _decoder(matrix: Floats) -> Floats:
    """The m x k matrix with ``A decoder = I`` and least variances under equal frequencies, or an empty one."""
    weights = matrix.mean(axis=0)
    scaled = np.divide(matrix, weights, out=np.zeros_like(matrix), where=weights > 0)
    try:
        decoder = scaled.T @ np.linalg.solve(scaled @ matrix.T, np.eye(matrix.shape[0]))
    except np.linalg.LinAlgError:
        return np.empty((0, 0))
    error = np.abs(matrix @ decoder - np.eye(matrix.shape[0])).max()
    if not error <= _WORST_INVERSE:
        return np.empty((0, 0))
    decoder.setflags(write=False)
    return np.asarray(decoder)
