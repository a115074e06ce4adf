"""What proves the least noise of a workload: a matrix and prices, checked without any solver.

Write ``c = e^eps``, p for the prior, W for the queries (times the roots of their weights), and Q for the channel, one
row an output. An unbiased linear estimator V has ``V Q = W``, and for any k x q matrix X, as ``M = Q' D^-1 Q``,

    ``sum_x p_x sum_o Q_ox |V_o|^2  >=  tr(W M^-1 W')  >=  2 tr(W X) - tr(X' M X)``.

Every row of an epsilon-LDP channel has entries within a factor c, and ``q -> (q'Bq) / (p.q)``, with ``B = XX'``, is
convex and homogeneous, so that on such rows it is at most what mixtures of rows z in {1, c}^k have. If prices nu have

    ``z'Bz <= (nu.z)(p.z)`` for all z in {1, c}^k,

then ``tr(X'MX) <= nu.(sum of all rows) = sum(nu)``, and with ``t = tr(WX)`` and the best multiple of X

    **noise >= t^2 / sum(nu) - sum_x p_x |W_x|^2** for every epsilon-LDP mechanism with any outputs.

Where the inequality fails by at most ``d (p.z)^2`` it holds for ``nu + d p``: every X and nu prove something, and
what is wanting in them is paid for. With one query it is a sweep over one number at any k (`mechdesign.exact.sweep`),
with two or three a search of their plane or space beyond 24 types (`mechdesign.exact.paraboloids`),
where all types are alike only the number of entries c matters, up to 24 types every row is tried, and beyond that
sums of squares and splits bound it (`mechdesign.exact.bits`), for all rows at once or on each leaf of a tree whose
branches fix one entry each (`mechdesign.exact.branches`). The worst type has at least the noise of any average: there
p is part of the evidence.

What the mechanism attains is exact, too: its estimator is V0 + correction, where V0 are doubles and the correction
makes it unbiased without rounding; its size is bounded outward.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.bits import (
    MOST_BITS,
    BitQuadratic,
    are_alike,
    greatest_of_alike,
    greatest_of_all,
    shift_by_squares,
)
from mechdesign.exact.branches import fixed_bits, require_tree
from mechdesign.exact.paraboloids import least_in_space
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.sweep import greatest_share
from mechdesign.mechanisms.discrete import Discrete, whole_numbers
from mechdesign.methods.evidence import column, require_columns, require_mechanism
from mechdesign.methods.workload.decoder import decoder
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.codec import if_any
from mechdesign.values.declare import Floats, array, field, frozen, optional, stored
from mechdesign.words.criteria import Family, Scope, Worst
from mechdesign.words.domains import require_numbers
from mechdesign.words.problem import Problem

Whole = NDArray[np.object_]

_RATIO_BITS = 40  # of c, rounded up
_MOST_AXES = 3  # queries that are decided in their space: boxes of more dimensions would be too many


def _block(name: str, axes: int) -> Any:
    def convert(said: Any) -> Floats:
        numbers = stored(require_numbers(said, name))
        if numbers.ndim != axes or not np.isfinite(numbers).all():
            raise InvalidInput(name, numbers.shape, f"be finite numbers with {axes} axes")
        return numbers

    return convert


def _leaves(said: Any) -> tuple[Any, ...]:
    leaves = tuple(said) if isinstance(said, tuple | list) else ()
    if not leaves or not all(isinstance(leaf, Leaf) for leaf in leaves):
        raise InvalidInput("leaves", f"{len(leaves)} entries", "be leaves of a tree, at least one")
    return leaves


@frozen
class Leaf:
    """Some entries fixed (``0``: 1, ``1``: c, ``?``: free), and what bounds the rest: squares, or every row is tried.

    ``multipliers`` and ``splits`` are those of `mechdesign.exact.bits.shift_by_squares`, in the free entries.
    """

    fixed: str = field()
    multipliers: Floats | None = array(optional(_block("multipliers", 3)), default=None, metadata=if_any())
    splits: Floats | None = array(optional(_block("splits", 2)), default=None, metadata=if_any())

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.fixed, str):
            raise InvalidInput("fixed", self.fixed, "be a sign 0, 1 or ? for each type")

    def shift(self, quadratic: BitQuadratic) -> Fraction:
        """s with ``F(b) <= s (1 + sum b)`` for all b that have these entries."""
        left = quadratic.fixed(fixed_bits(self.fixed, len(quadratic.linear)))
        return _shift(left, self.multipliers, self.splits)


@frozen
class WorkloadBound:
    """X and nu; for the worst type also p; beyond 24 types, unless there are up to 3 queries, also the multipliers of a
    sum of squares, or leaves of a tree that have one each.

    ``dual`` is X, one column a query, where there are at most as many queries as types; else it is a symmetric k x k
    matrix Y, and ``X = Y W'``.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.privacy import Pure
    >>> from mechdesign.words.workloads import Histogram
    >>> problem = Problem(loss=Histogram(2), privacy=Pure(1.0), criterion=Average())
    >>> bound = WorkloadBound([[1.0, -0.3], [-0.3, 1.0]], [1.0, 1.0])
    >>> 0 < bound.value(problem) < 2 * math.e / (math.e - 1) ** 2  # of randomised response: 1.8413
    True
    """

    kind: ClassVar[str] = "workload"
    claimed: ClassVar[bool] = False

    dual: Floats = array(_block("dual", 2))
    prices: Floats = array(column("prices"))
    prior: Floats | None = array(optional(column("prior")), default=None)
    multipliers: Floats | None = array(optional(_block("multipliers", 3)), default=None)
    splits: Floats | None = array(optional(_block("splits", 2)), default=None, metadata=if_any())
    leaves: tuple[Leaf, ...] | None = field(default=None, converter=optional(_leaves), metadata=if_any())

    def value(self, problem: Problem) -> Fraction:
        """The bound, exactly."""
        types = workload_of(problem).size
        require_columns(types, prices=self.prices)
        asked = _Asked.of(problem, self.weights_of_types(problem))
        if self.dual.shape != (types, min(types, len(asked.queries))):
            raise CheckFailed(f"the evidence has a matrix of shape {self.dual.shape}, and the problem {types} types")
        dual = _Dual.of(asked, self.dual)
        prices, exponent = whole_numbers(self.prices)
        total = _scaled(int(prices.sum()), exponent) + self._wanting(problem, asked, dual, prices, exponent)
        if not (total > 0 and dual.trace > 0):
            return Fraction(0)
        return dual.trace**2 / total - asked.known

    def weights_of_types(self, problem: Problem) -> Floats:
        """p, up to a factor: that of the problem, or for the worst type that of the evidence."""
        types = workload_of(problem).size
        if problem.weights is not None:
            if self.prior is not None:
                raise CheckFailed("the evidence has a prior, and so has the problem")
            return problem.weights
        if self.prior is None:
            raise CheckFailed("evidence about the worst type needs a prior")
        require_columns(types, prior=self.prior)
        if (self.prior < 0).any() or not self.prior.any():
            raise CheckFailed("the prior of the evidence must be at least 0, with a positive sum")
        return self.prior

    def _wanting(self, problem: Problem, asked: _Asked, dual: _Dual, prices: Whole, exponent: int) -> Fraction:
        """The d for which ``z'Bz <= (nu.z)(p.z) + d (p.z)^2`` holds for all rows."""
        ratio = ratio_above(problem.epsilon)
        if dual.vector is not None:
            greatest = _greatest_by_sweep(dual, asked, prices, exponent, ratio)
            return max(Fraction(0), greatest)
        if self._is_in_space:
            return self._wanting_in_space(problem, asked, ratio)
        quadratic = _in_bits(dual, asked, prices, exponent, ratio)
        if self.leaves is not None:
            if self.multipliers is not None or self.splits is not None:
                raise CheckFailed("the evidence has multipliers of a whole, and leaves")
            require_tree([leaf.fixed for leaf in self.leaves], len(prices))
            return max(leaf.shift(quadratic) for leaf in self.leaves) * _most_bits(asked, ratio)
        if self.multipliers is not None or self.splits is not None:
            return _shift(quadratic, self.multipliers, self.splits) * _most_bits(asked, ratio)
        if are_alike(quadratic):
            return max(Fraction(0), greatest_of_alike(quadratic))
        if len(prices) > MOST_BITS:
            raise CheckFailed(f"with more than {MOST_BITS} types the evidence needs multipliers")
        return max(Fraction(0), greatest_of_all(quadratic))

    @property
    def _is_in_space(self) -> bool:
        """Whether there are few enough queries, too many rows to try them all, and nothing else that decides them."""
        types, queries = self.dual.shape
        has_more = self.multipliers is not None or self.splits is not None or self.leaves is not None
        return types > MOST_BITS and queries <= _MOST_AXES and not has_more

    def _wanting_in_space(self, problem: Problem, asked: _Asked, ratio: Fraction) -> Fraction:
        """Of few queries: ``z'Bz <= (nu.z)(p.z)`` iff ``(p.z) |y|^2 - 2 y.X'z + nu.z >= 0`` for all y."""
        shares = np.array([float(Fraction(count, asked.total)) for count in asked.types.tolist()])
        weights = workload_of(problem).weights
        axes = np.ones(self.dual.shape[1]) if weights is None else weights
        return Fraction(-least_in_space(shares, self.dual, self.prices, axes, ratio).level)

    def bound(self, problem: Any, mechanism: Any) -> float:
        return max(0.0, float_down(self.value(problem)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        workload_of(problem)
        table = require_mechanism(mechanism, Discrete, problem)
        return float_up(max(Fraction(0), attained_noise(problem, table, self.weights_of_types(problem))))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        workload_of(problem)
        return Scope(Family.UNBIASED_LINEAR)


def _shift(quadratic: BitQuadratic, multipliers: Floats | None, splits: Floats | None) -> Fraction:
    """At least 0, with ``F(b) <= s (1 + sum b)`` for all bits b."""
    if multipliers is not None:
        return max(Fraction(0), shift_by_squares(quadratic, multipliers, splits))
    if splits is not None:
        raise CheckFailed("the evidence has splits, and no multipliers beside them")
    if len(quadratic.linear) > MOST_BITS:
        raise CheckFailed(f"with more than {MOST_BITS} free types a leaf of the evidence needs multipliers")
    return max(Fraction(0), greatest_of_all(quadratic))


def ratio_above(epsilon: float) -> Fraction:
    """A short rational above ``e^epsilon``: it allows a little more than what is bounded."""
    ratio = exp_upper(epsilon) * (1 << _RATIO_BITS)
    return Fraction(-(-ratio.numerator // ratio.denominator), 1 << _RATIO_BITS)


# -- the lower bound ---------------------------------------------------------------------------------------------------


class _Asked:
    """Queries, their weights and the types' weights in whole numbers."""

    def __init__(self, queries: Whole, query_unit: int, weights: Whole, weight_unit: int, types: Whole) -> None:
        self.queries, self.query_unit = queries, query_unit
        self.weights, self.weight_unit = weights, weight_unit
        self.types, self.total = types, int(types.sum())

    @classmethod
    def of(cls, problem: Problem, prior: Floats) -> _Asked:
        workload = workload_of(problem)
        queries, query_unit = whole_numbers(workload.queries.matrix)
        weights = np.ones(len(queries)) if workload.weights is None else workload.weights
        return cls(queries, query_unit, *whole_numbers(weights), whole_numbers(prior)[0])

    @property
    def known(self) -> Fraction:
        """``sum_x p_x |W_x|^2``: what the answers vary by without any noise."""
        squares = self.weights @ self.queries**2
        return _scaled(int(squares @ self.types), 2 * self.query_unit + self.weight_unit) / self.total

    def gram(self) -> tuple[Whole, int]:
        """``G = W'W`` and the exponent of its unit."""
        left = (self.queries * self.weights[:, None]).T
        return _product(left, self.queries), 2 * self.query_unit + self.weight_unit


class _Dual:
    """``B = XX'`` in whole numbers, ``t = tr(WX)``, and X itself where it is one column."""

    def __init__(self, square: Whole | None, exponent: int, trace: Fraction, vector: Whole | None = None) -> None:
        self.square, self.exponent, self.trace, self.vector = square, exponent, trace, vector

    @classmethod
    def of(cls, asked: _Asked, dual: Floats) -> _Dual:
        whole, unit = whole_numbers(dual)
        if len(asked.queries) <= len(asked.types):
            trace = int((asked.queries * asked.weights[:, None] * whole.T).sum())
            traced = _scaled(trace, unit + asked.query_unit + asked.weight_unit)
            exponent = 2 * unit + asked.weight_unit
            if len(asked.queries) == 1:
                return cls(None, exponent, traced, whole[:, 0])
            return cls(_product(whole * asked.weights, whole.T), exponent, traced)
        if (whole != whole.T).any():
            raise CheckFailed("with more queries than types the matrix of the evidence must be symmetric")
        gram, gram_unit = asked.gram()
        traced = _scaled(int((gram * whole).sum()), unit + gram_unit)
        return cls(_product(_product(whole, gram), whole), 2 * unit + gram_unit, traced)


def _product(left: Whole, right: Whole) -> Whole:
    """The product of whole matrices, in doubles where those hold every sum exactly."""
    most = int(abs(left).max()) * int(abs(right).max()) * left.shape[1]
    if most < 1 << 53:
        exact = left.astype(np.float64) @ right.astype(np.float64)
        return np.asarray(exact.astype(np.int64).astype(object))
    return np.asarray(left @ right)


def _scaled(number: int, exponent: int) -> Fraction:
    return Fraction(number) * Fraction(2) ** exponent


def _greatest_by_sweep(dual: _Dual, asked: _Asked, prices: Whole, exponent: int, ratio: Fraction) -> Fraction:
    """``max of w (x.z)^2 / (p.z) - nu.z`` for one query of weight w: what is wanting in nu."""
    assert dual.vector is not None
    times = int(asked.weights[0]) * asked.total
    up = max(0, dual.exponent - exponent)
    x, p = (dual.vector * times) << up, (asked.types * times) << up
    nu = prices << max(0, exponent - dual.exponent)
    greatest = greatest_share(x.tolist(), p.tolist(), nu.tolist(), ratio)
    return greatest * Fraction(2) ** min(exponent, dual.exponent)


def _in_bits(dual: _Dual, asked: _Asked, prices: Whole, exponent: int, ratio: Fraction) -> BitQuadratic:
    """``z'Bz - (nu.z)(p.z)`` for ``z = 1 + (c - 1) b``, in units of ``1 / (2 sum(p) 2^80)`` and of a power of two."""
    assert dual.square is not None
    unit = min(dual.exponent, exponent)
    square = (2 * asked.total * dual.square) << (dual.exponent - unit)
    prices = prices << (exponent - unit)
    both = np.multiply.outer(prices, asked.types)
    form = square - both - both.T
    one = 1 << _RATIO_BITS
    gain = (ratio.numerator * (one // ratio.denominator)) - one
    sums = form.sum(axis=1)
    linear = 2 * gain * one * sums + gain * gain * np.diagonal(form)
    pairs = np.triu(2 * gain * gain * form, 1)
    small = Fraction(2) ** unit / (2 * asked.total * one * one)
    return BitQuadratic(int(sums.sum()) * one * one, linear, pairs, small)


def _most_bits(asked: _Asked, ratio: Fraction) -> Fraction:
    """The most that ``(1 + sum b) / (p.z)^2`` can be."""
    most, sums = Fraction(1), 0
    for count, weight in enumerate(sorted(asked.types.tolist()), start=1):
        sums += weight
        most = max(most, (1 + count) / (1 + (ratio - 1) * Fraction(sums, asked.total)) ** 2)
    return most


# -- what a mechanism attains ------------------------------------------------------------------------------------------


def attained_noise(problem: Problem, table: Discrete, prior: Floats) -> Fraction:
    """A rational at least the noise of the mechanism with its unbiased estimator: on average, or at the worst type."""
    channel = np.ascontiguousarray(table.probabilities)  # in whatever order it lies, doubles are summed in one
    sums = np.array([math.fsum(row) for row in channel.tolist()])
    guess = decoder(channel / sums[:, None], prior / prior.sum())
    asked = _Asked.of(problem, prior)
    workload = workload_of(problem)
    roots = np.ones(len(asked.queries)) if workload.weights is None else np.sqrt(workload.weights)
    queries = workload.queries.matrix
    if len(queries) <= len(sums):
        estimator = guess @ queries.T
        estimator = estimator + guess @ (queries.T - channel / sums[:, None] @ estimator)
        squares, unit = _squares(estimator, asked)
        correction = _missing(channel, estimator, queries.T * sums[:, None], roots) * _reliability(channel, guess, sums)
    else:
        squares, unit = _squares_of_shares(guess, asked)
        rest = _reliability(channel, guess, sums)
        size = math.sqrt(float((queries**2).sum(axis=1) @ roots**2)) * (1 + 1e-9)
        correction = size * _missing(channel, guess, np.diag(sums), np.ones(len(sums))) * rest
    entries, _ = whole_numbers(channel)
    moments = [_scaled(int(row @ squares), unit) / int(row.sum()) for row in entries]
    spread = ((channel / sums[:, None]) @ (guess**2).sum(axis=1) * (1 + 1e-9)).tolist()
    known = [
        _scaled(int(column), 2 * asked.query_unit + asked.weight_unit) for column in asked.weights @ asked.queries**2
    ]
    if isinstance(problem.criterion, Worst):
        return max(_widened(m, s, correction) - own for m, s, own in zip(moments, spread, known, strict=True))
    weights = [Fraction(int(w), asked.total) for w in asked.types]
    moment = sum((w * m for w, m in zip(weights, moments, strict=True)), Fraction(0))
    return _widened(moment, max(spread), correction) - asked.known


def _squares(estimator: Floats, asked: _Asked) -> tuple[Whole, int]:
    """``|V_o|^2`` for each report, exactly, of an estimator with one column a query."""
    whole, unit = whole_numbers(estimator)
    return whole**2 @ asked.weights, 2 * unit + asked.weight_unit


def _squares_of_shares(guess: Floats, asked: _Asked) -> tuple[Whole, int]:
    """The same for ``V_o = W L_o``."""
    whole, unit = whole_numbers(guess)
    gram, gram_unit = asked.gram()
    return (_product(whole, gram) * whole).sum(axis=1), 2 * unit + gram_unit


def _missing(channel: Floats, estimator: Floats, wanted: Floats, roots: Floats) -> float:
    """At least the norm of ``channel @ estimator - wanted``: what doubles find, and all that they may have lost."""
    lost = (4 * channel.shape[1] + 16) * 2.0**-53
    sizes = channel @ abs(estimator) + abs(wanted)
    missing = (abs(channel @ estimator - wanted) + lost * sizes) * roots
    return float(np.sqrt((missing**2).sum())) * (1 + 1e-6)


def _reliability(channel: Floats, guess: Floats, sums: Floats) -> float:
    """At least the norm of ``(Q L0)^-1``, or `CheckFailed` where L0 is too far from an inverse of Q."""
    off = _missing(channel, guess, np.diag(sums), np.ones(len(sums))) / float(sums.min())
    if not off < 0.5:
        raise CheckFailed("the channel is too near to one that does not tell the types apart")
    return (1 + 1e-6) / ((1 - off) * float(sums.min()))


def _widened(moment: Fraction, spread: float, correction: float) -> Fraction:
    """``(sqrt(moment) + correction sqrt(spread))^2``, rounded up: a correction moves no report's row by more."""
    more = correction * math.sqrt(spread) * (1 + 1e-9)
    return moment + Fraction(more * (2 * math.sqrt(float_up(moment)) + more) * (1 + 1e-9))
