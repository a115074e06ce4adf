"""Conditional noise on a grid: values are rounded at random to the grid, then noise of their own law is added.

This is the form of the additive mechanisms of AAA (see `mechdesign.methods.additive.search`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow, exact_path
from mechdesign.values.declare import array, epsilon, field, finite, frozen, numbers, whole
from mechdesign.words.domains import Interval, Line, only
from mechdesign.words.losses import Loss, Power

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

LARGEST = 1 << 21
"""The most entries of the table of all laws: inputs of the grid times columns."""

MOST_TAIL = 10_000
_NOTHING = 130  # e^-130 is nothing, even beside a 16th power
_BLOCK = 1 << 20
_FARTHEST = 2.0**52  # steps, beyond which doubles are no longer whole numbers apart
_SQUARED = Power(2.0)


@frozen
class ConditionalNoise:
    """``Y = G + A``: G is x rounded at random to a grid of ``bins + 1`` inputs, A is noise with a law for each of them.

    In steps of the grid the inputs are 0, 1, ..., N and reports all whole numbers. Between the inputs, and up to
    ``M - 1 = reach - 1`` steps beyond them, each report has a ``base`` of its own. From M steps on the laws are
    geometric: the base of a whole tail is one entry, the first and the last, and probabilities in it decay by the ratio
    ``r = k / (k + 1)`` a step, ``k = tail``. The law of an input of the grid tops up a stretch of these columns from
    ``base`` to ``ratio * base``, placed so that its mean is the input: among all laws between the two it has the least
    variance. Tails are sampled, not cut.

    *Guarantee.* As rationals, and for every real x of the domain: probabilities of a report lie within ``ratio`` of
    each other, tails included, and ``E[Y|x] = x``. Rounding to the grid adds ``(x - a)(b - x)`` to the variance between
    its neighbours a and b. (A report is a whole number j; the double for ``lower + j * step`` is rounded.)

    >>> base = [0.05, 0.15, 0.02, 0.02, 0.04, 0.02, 0.02, 0.15, 0.05]
    >>> mechanism = ConditionalNoise(1.0, Interval(-1, 1), bins=2, reach=3, tail=1, base=base, ratio=2.7)
    >>> mechanism.mean([-1.0, 0.3, 1.0]).round(12).tolist()
    [-1.0, 0.3, 1.0]
    >>> first, second = mechanism.mass([6.0, 7.0], 0.3)  # in a tail each report has half the mass of the one before
    >>> float(second / first)
    0.5
    """

    kind: ClassVar[str] = "conditional noise"

    epsilon: float = epsilon()
    inputs: Interval = field(validator=only(Interval))
    bins: int = whole("bins", 1, LARGEST)
    reach: int = whole("reach", 1, LARGEST)
    tail: int = whole("tail", 1, MOST_TAIL)
    base: Floats = array(numbers("base"))
    ratio: float = finite("ratio")
    name: str = "conditional noise"

    def __attrs_post_init__(self) -> None:
        require_shape(self.bins, self.reach, self.tail)
        places = column_places(self.bins, self.reach, self.tail)
        if np.shape(self.base) != places.shape:
            rule = f"have {places.size} entries: every report between the tails, and the two tails"
            raise InvalidInput("base", np.shape(self.base), rule)
        UnbiasedWindow(self.epsilon, Interval(0, self.bins), places, self.base, self.ratio)  # the same rules hold

    @property
    def outputs(self) -> Line:
        return Line()

    @property
    def grid(self) -> Floats:
        """The inputs that values are rounded to."""
        return self._report(np.arange(self.bins + 1.0))

    @property
    def points(self) -> Floats:
        """The reports that have a base of their own, between the means of the two tails."""
        return self._report(column_places(self.bins, self.reach, self.tail))

    @property
    def step(self) -> Fraction:
        """The distance between neighbours on the grid, exactly."""
        return (Fraction(self.inputs.upper) - Fraction(self.inputs.lower)) / self.bins

    @property
    def decay(self) -> float:
        """The ratio r of neighbouring probabilities in the tails."""
        return self.tail / (self.tail + 1)

    @property
    def _stop(self) -> int:
        """Where the right tail begins, in steps."""
        return self.bins + self.reach

    def _report(self, steps: Floats) -> Floats:
        return np.asarray(self.inputs.lower + self.inputs.length * steps / self.bins)

    def _steps(self, y: Floats) -> Floats:
        """The last report up to y, in steps."""
        with np.errstate(over="ignore", invalid="ignore"):
            exact = (y - self.inputs.lower) / self.inputs.length * self.bins
        guess = np.floor(np.clip(exact, -_FARTHEST, _FARTHEST))
        guess = np.where((self._report(guess + 1) <= y) & (guess < _FARTHEST), guess + 1, guess)
        return np.where(self._report(guess) > y, guess - 1, guess)

    def _rounded(self, x: ArrayLike) -> tuple[Places, Floats]:
        """The neighbour on the left, and the probability of the one on the right."""
        place = (self.inputs.require(x) - self.inputs.lower) / self.inputs.length * self.bins
        left = np.minimum(place.astype(np.intp), self.bins - 1)
        return left, np.clip(place - left, 0.0, 1.0)

    # -- the laws -----------------------------------------------------------------------------------------------------

    def rows(self) -> Floats:
        """The law of each input of the grid: a row an input, a column a report, first and last a whole tail."""
        return _laws(self).rows

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(analysis.require_outputs(y).shape, self.inputs.require(x).shape))

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, left, share = np.broadcast_arrays(analysis.require_outputs(y), *self._rounded(x))
        steps = self._steps(outputs)
        column = np.clip(steps + self.reach, 0, self.base.size - 1).astype(np.intp)
        rows = _laws(self).rows
        masses = _mixed(rows[left, column], rows[left + 1, column], share)
        beyond = np.maximum(np.maximum(-self.reach - steps, steps - self._stop), 0.0)
        in_tail = (column == 0) | (column == self.base.size - 1)
        masses = np.where(in_tail, masses * (1 - self.decay) * self.decay**beyond, masses)
        return np.where(self._report(steps) == outputs, masses, 0.0)

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, left, share = np.broadcast_arrays(analysis.require_outputs(y), *self._rounded(x))
        return self._upto(self._steps(outputs), left, share)

    def _upto(self, steps: Floats, left: Places, share: Floats) -> Floats:
        """The probability of reports up to so many steps."""
        laws, last = _laws(self), self.base.size - 1
        count = np.clip(steps + self.reach + 1, 1, last).astype(np.intp)  # of whole columns
        inside = _mixed(laws.cumulative[left, count], laws.cumulative[left + 1, count], share)
        below = self._tail(0, left, share) * self.decay ** np.maximum(-self.reach - steps, 0.0)
        above = self._tail(last, left, share) * self.decay ** np.maximum(steps - self._stop + 1, 0.0)
        return np.where(steps <= -self.reach, below, np.where(steps < self._stop, inside, 1 - above))

    def _tail(self, column: int, left: Places, share: Floats) -> Floats:
        rows = _laws(self).rows
        return _mixed(rows[left, column], rows[left + 1, column], share)

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        probabilities, left, share = np.broadcast_arrays(analysis.require_probabilities(u), *self._rounded(x))
        cumulative, size = _laws(self).cumulative[:, 1:], self.base.size
        first, last = np.zeros_like(left), np.full_like(left, size - 1)
        while (first < last).any():
            middle = (first + last) // 2
            enough = _mixed(cumulative[left, middle], cumulative[left + 1, middle], share) >= probabilities
            first, last = np.where(enough, first, middle + 1), np.where(enough, middle, last)
        rate = math.log1p(1 / self.tail)
        with np.errstate(divide="ignore"):
            below = np.log(self._tail(0, left, share)) - np.log(probabilities)
            above = np.log(self._tail(size - 1, left, share)) - np.log(1 - probabilities)
        down = -self.reach - np.floor(np.maximum(below, 0.0) / rate)
        up = self._stop + np.maximum(np.ceil(above / rate) - 1, 0.0)
        steps = np.where(first == 0, down, np.where(first == size - 1, up, first - float(self.reach)))
        # rounding in the logarithms may move a place in a tail by one step
        sure = np.isfinite(steps)
        whole = np.where(sure, steps, 0.0)
        whole = np.where(self._upto(whole - 1, left, share) >= probabilities, whole - 1, whole)
        whole = np.where(self._upto(whole, left, share) < probabilities, whole + 1, whole)
        return np.where(sure, self._report(whole), steps)

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        left, share = self._rounded(analysis.inputs_for_sampling(self.inputs, x, size))
        rounded = left + (analysis.require_generator(rng).random(left.shape) < share)
        steps = np.array(_laws(self).window.quantile(1 - rng.random(left.shape), rounded))
        for place, first, sign in ((steps < -self.reach, -self.reach, -1), (steps > self._stop, self._stop, 1)):
            steps[place] = first + sign * (rng.geometric(1 / (self.tail + 1), int(place.sum())) - 1)
        return self._report(steps)

    # -- integrals ----------------------------------------------------------------------------------------------------

    def moment(self, x: ArrayLike, order: int) -> Floats:
        powers = self.points ** analysis.require_order(order)
        for end, places in ((0, self._tail_reports(-1)), (-1, self._tail_reports(1))):
            powers[end] = _laws(self).geometric @ places**order
        left, share = self._rounded(x)
        moments = _laws(self).rows @ powers
        return _mixed(moments[left], moments[left + 1], share)

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        inputs = self.inputs.require(x)
        left, share = self._rounded(inputs)
        if loss == _SQUARED:
            step = float(self.step)
            variances = _laws(self).variances * step**2
            return np.asarray(_mixed(variances[left], variances[left + 1], share) + share * (1 - share) * step**2)
        flat, where, weight = inputs.reshape(-1), left.reshape(-1), share.reshape(-1)
        width = max(1, _BLOCK // (self.base.size + _laws(self).geometric.size))
        blocks = [slice(k, k + width) for k in range(0, flat.size, width)]
        parts = [self._average(flat[block], where[block], weight[block], loss) for block in blocks]
        return np.concatenate(parts).reshape(inputs.shape) if parts else np.empty(inputs.shape)

    def _average(self, x: Floats, left: Places, share: Floats, loss: Loss) -> Floats:
        laws = _laws(self)
        costs = np.array(loss(self.points, x[:, None]))
        for end, places in ((0, self._tail_reports(-1)), (-1, self._tail_reports(1))):
            costs[:, end] = loss(places, x[:, None]) @ laws.geometric
        return np.asarray(np.sum(_mixed(laws.rows[left], laws.rows[left + 1], share[:, None]) * costs, axis=1))

    def _tail_reports(self, side: int) -> Floats:
        beyond = np.arange(float(_laws(self).geometric.size))
        return self._report(self._stop + beyond if side > 0 else -self.reach - beyond)

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        inner = self.grid[1:-1].tolist()
        return (self.inputs.lower, *inner, self.inputs.upper)

    # -- privacy ------------------------------------------------------------------------------------------------------

    def likelihood_ratio(self) -> LikelihoodRatio:
        """Exact, over the inputs of the grid: the laws of all others are mixtures of theirs."""
        return _likelihood_ratio(self)

    def exact_row(self, k: int) -> list[Fraction]:
        """The law of the k-th input of the grid as rationals, columns as in `rows`."""
        return _laws(self).window.exact_row(Fraction(k))

    def exact_variance(self, k: int) -> Fraction:
        """``Var(Y|x)`` at the k-th input of the grid as a rational; the mean is x."""
        window = _laws(self).window
        path = exact_path(window)
        start = path.start(Fraction(k))
        first, last = (path.fill.mass(j, start) for j in (0, self.base.size - 1))
        tails = Fraction(first + last, path.fill.unit)
        return (window.exact_variance(Fraction(k)) + tails * self.tail * (self.tail + 1)) * self.step**2

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss


def column_places(bins: int, reach: int, tail: int) -> Floats:
    """The columns in steps: all reports between the tails, and the means of the tails.

    >>> column_places(2, 2, 1).tolist()
    [-3.0, -1.0, 0.0, 1.0, 2.0, 3.0, 5.0]
    """
    inner = np.arange(-reach + 1, bins + reach, dtype=np.float64)
    return np.concatenate([[-reach - tail], inner, [bins + reach + tail]])


def require_shape(bins: int, reach: int, tail: int) -> None:
    """Whole numbers that make a table of laws that fits, or `InvalidInput`."""
    for name, value, most in (("bins", bins, LARGEST), ("reach", reach, LARGEST), ("tail", tail, MOST_TAIL)):
        require_whole(value, name, 1, most)
    size = (bins + 1) * (bins + 2 * reach + 1)
    if size > LARGEST:
        raise InvalidInput(
            "bins and reach", (bins, reach), f"make (N + 1)(N + 2M + 1) at most {LARGEST}", "lower either"
        )


class _Laws(NamedTuple):
    """What the laws of the grid's inputs look like in doubles, in steps."""

    window: UnbiasedWindow
    rows: Floats
    cumulative: Floats
    variances: Floats
    geometric: Floats


@lru_cache(maxsize=16)
def _laws(mechanism: ConditionalNoise) -> _Laws:
    bins, tail = mechanism.bins, mechanism.tail
    places = column_places(bins, mechanism.reach, tail)
    inputs = np.arange(bins + 1.0)
    window = UnbiasedWindow(mechanism.epsilon, Interval(0, bins), places, mechanism.base, mechanism.ratio)
    rows = window.rows(inputs)
    cumulative = np.concatenate([np.zeros((bins + 1, 1)), np.cumsum(rows, axis=1)], axis=1)
    cumulative[:, -1] = 1.0
    np.minimum(cumulative, 1.0, out=cumulative)
    spreads = np.zeros(places.size)
    spreads[[0, -1]] = tail * (tail + 1)
    variances = np.sum(rows * ((places - inputs[:, None]) ** 2 + spreads), axis=1)
    beyond = np.arange(math.ceil(_NOTHING / math.log1p(1 / tail)))
    geometric = np.asarray((1 - mechanism.decay) * mechanism.decay**beyond, dtype=np.float64)
    for part in (rows, cumulative, variances, geometric):
        part.setflags(write=False)
    return _Laws(window, rows, cumulative, variances, geometric)


def _mixed(one: Floats, other: Floats, share: Floats) -> Floats:
    return np.asarray((1 - share) * one + share * other)


@lru_cache(maxsize=16)
def _likelihood_ratio(mechanism: ConditionalNoise) -> LikelihoodRatio:
    """A column's probability rises while the stretch comes and falls while it goes: the least is at an end."""
    path = exact_path(_laws(mechanism).window)
    starts = [path.start(Fraction(k)) for k in range(mechanism.bins + 1)]
    fill, worst = path.fill, Fraction(1)
    for j in range(len(fill.masses)):
        first = bisect_left(starts, fill.corners(j)[0])
        near = {max(first - 1, 0), min(first, mechanism.bins)}
        most = max(fill.mass(j, starts[k]) for k in near)
        least = min(fill.mass(j, starts[0]), fill.mass(j, starts[-1]))
        worst = max(worst, Fraction(most) / least)
    return LikelihoodRatio(worst)
