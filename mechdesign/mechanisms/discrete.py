"""Mechanisms on finitely many inputs: a table of probabilities, and two-sided geometric noise on whole numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.ratio import INFINITE, LikelihoodRatio
from mechdesign.values.declare import array, epsilon, field, frozen, numbers
from mechdesign.values.dyadic import dyadic
from mechdesign.words.domains import Finite, Line, only
from mechdesign.words.losses import Loss

Floats = NDArray[np.float64]
Whole = NDArray[np.object_]


@frozen
class Discrete:
    """The table ``probabilities[i, j] = P(outputs[j] | inputs[i])``.

    Each row is divided by its exact sum, so that rows add up to one as rationals.

    *Guarantee.* The likelihood ratio is the exact rational maximum over pairs in a column; a zero beside a positive
    entry makes it infinite.

    >>> coin = Discrete(math.log(3), Finite((0, 1)), Finite((0, 1)), [[0.75, 0.25], [0.25, 0.75]])
    >>> coin.likelihood_ratio().ratio
    Fraction(3, 1)
    """

    kind: ClassVar[str] = "discrete"

    epsilon: float = epsilon()
    inputs: Finite = field(validator=only(Finite))
    outputs: Finite = field(validator=only(Finite))
    probabilities: Floats = array(numbers("probabilities"))
    name: str = "discrete"

    def __attrs_post_init__(self) -> None:
        table = self.probabilities
        shape = (len(self.inputs), len(self.outputs))
        if table.shape != shape:
            raise InvalidInput("probabilities", table.shape, f"have shape {shape}: a row an input, a column an output")
        bad = ~(np.isfinite(table) & (table >= 0))
        if bad.any():
            raise InvalidInput("probabilities", float(table[bad][0]), "be finite and at least 0")
        if (np.abs(table.sum(axis=1) - 1) > 1e-9).any():
            row = int(np.argmax(np.abs(table.sum(axis=1) - 1)))
            raise InvalidInput(f"probabilities[{row}]", float(table[row].sum()), "sum to 1")

    def exact_rows(self) -> list[list[Fraction]]:
        """The table as rationals, each row divided by its sum."""
        rows = [[Fraction(entry) for entry in row] for row in self.probabilities.tolist()]
        return [[entry / total for entry in row] for row in rows for total in [sum(row)]]

    def _law(self) -> Floats:
        """The table with each row divided by its sum."""
        return np.asarray(self.probabilities / self.probabilities.sum(axis=1, keepdims=True))

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(analysis.require_outputs(y).shape, self.inputs.require(x).shape))

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, rows = np.broadcast_arrays(analysis.require_outputs(y), self.inputs.index(x))
        grid = np.asarray(self.outputs.points)
        column = np.minimum(np.searchsorted(grid, outputs), len(grid) - 1)
        return np.where(grid[column] == outputs, self._law()[rows, column], 0.0)

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, rows = np.broadcast_arrays(analysis.require_outputs(y), self.inputs.index(x))
        reached = np.searchsorted(np.asarray(self.outputs.points), outputs, side="right")
        return np.asarray(self._cumulative()[rows, reached])

    def _cumulative(self) -> Floats:
        sums = np.cumsum(self.probabilities, axis=1)
        return np.concatenate([np.zeros((len(self.inputs), 1)), sums / sums[:, -1:]], axis=1)

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        probabilities, rows = np.broadcast_arrays(analysis.require_probabilities(u), self.inputs.index(x))
        cumulative, grid = self._cumulative()[:, 1:], np.asarray(self.outputs.points)
        # bisection in all rows at once, comparing u with the row's own sums: stacking the rows into one sorted array
        # would round small probabilities away
        first, last = np.zeros_like(rows), np.full_like(rows, len(grid) - 1)
        while (first < last).any():
            middle = (first + last) // 2
            enough = cumulative[rows, middle] >= probabilities
            first, last = np.where(enough, first, middle + 1), np.where(enough, middle, last)
        return np.asarray(grid[first])

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        # (0, 1]: the quantile at 0 would be the first output even where its probability is 0
        return self.quantile(1 - analysis.require_generator(rng).random(inputs.shape), inputs)

    def moment(self, x: ArrayLike, order: int) -> Floats:
        values = np.asarray(self.outputs.points) ** analysis.require_order(order)
        return np.asarray((self._law() @ values)[self.inputs.index(x)])

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        inputs, outputs = np.asarray(self.inputs.points), np.asarray(self.outputs.points)
        errors = np.sum(self._law() * loss(outputs[None, :], inputs[:, None]), axis=1)
        return np.asarray(errors[self.inputs.index(x)])

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        return self.inputs.points

    def likelihood_ratio(self) -> LikelihoodRatio:
        return _table_ratio(self)

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss


@lru_cache(maxsize=16)
def _table_ratio(mechanism: Discrete) -> LikelihoodRatio:
    used = mechanism.probabilities[:, (mechanism.probabilities > 0).any(axis=0)]
    if (used == 0).any():
        return INFINITE
    entries, _ = whole_numbers(used)
    sums = entries.sum(axis=1)
    # shares to 2^-256, far finer than doubles can tell: only rows that agree to that precision are compared exactly
    shares = (entries << 256 + int(max(sums)).bit_length()) // sums[:, None]
    worst = Fraction(1)
    for column, share in zip(entries.T, shares.T, strict=True):
        worst = max(
            worst, max(_exact(column, sums, share == share.max())) / min(_exact(column, sums, share == share.min()))
        )
    return LikelihoodRatio(worst)


def _exact(column: Whole, sums: Whole, rows: NDArray[np.bool_]) -> Iterator[Fraction]:
    return itertools.starmap(Fraction, set(zip(column[rows], sums[rows], strict=True)))


def whole_numbers(values: ArrayLike) -> tuple[Whole, int]:
    """Finite doubles as Python integers n and one exponent k, ``values = n 2^k`` exactly.

    >>> numbers, exponent = whole_numbers([[0.75, -2.0]])
    >>> (numbers * 2.0**exponent).tolist()
    [[0.75, -2.0]]
    """
    array = np.asarray(values, dtype=np.float64)
    numbers, places = dyadic(array.ravel())
    whole = np.empty(array.size, dtype=object)
    whole[:] = numbers
    return whole.reshape(array.shape), -places


@frozen
class TwoSidedGeometric:
    """``Y = x + Z`` on whole numbers, ``P(Z = z)`` proportional to ``e^(-rate |z|)``, rate = epsilon / range of inputs.

    *Guarantee.* The likelihood ratio is ``e^epsilon``: the ends of the inputs are ``range`` apart.

    >>> mechanism = TwoSidedGeometric(2.0, Finite((0, 1, 2)))
    >>> round(mechanism.cdf(1.0, 1.0).item(), 6)
    0.731059
    """

    kind: ClassVar[str] = "two-sided geometric"

    epsilon: float = epsilon()
    inputs: Finite = field(validator=only(Finite))
    name: str = "two-sided geometric"

    def __attrs_post_init__(self) -> None:
        if len(self.inputs) < 2 or any(point != int(point) for point in self.inputs.points):
            raise InvalidInput("domain", self.inputs.points, "be at least two whole numbers")

    @property
    def outputs(self) -> Line:
        return Line()

    @property
    def rate(self) -> float:
        """Decay of the probabilities a unit of distance."""
        return self.epsilon / self.inputs.length

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(analysis.require_outputs(y).shape, self.inputs.require(x).shape))

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs = analysis.require_outputs(y)
        offset = np.abs(outputs - self.inputs.require(x))
        return np.where(outputs == np.floor(outputs), math.tanh(self.rate / 2) * np.exp(-self.rate * offset), 0.0)

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        steps = np.floor(analysis.require_outputs(y)) - self.inputs.require(x)
        tail = np.exp(-self.rate * np.where(steps < 0, -steps, steps + 1)) / (1 + math.exp(-self.rate))
        return np.where(steps < 0, tail, 1 - tail)

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        probabilities, inputs = np.broadcast_arrays(analysis.require_probabilities(u), self.inputs.require(x))
        scale = 1 + math.exp(-self.rate)
        with np.errstate(divide="ignore"):
            below = np.ceil(np.log(probabilities * scale) / self.rate)
            above = np.ceil(-np.log((1 - probabilities) * scale) / self.rate - 1)
        guess = inputs + np.where(probabilities * scale <= math.exp(-self.rate), below, np.maximum(above, 0))
        # rounding in the logarithms may move the guess by one whole step
        guess = np.where(self.cdf(guess - 1, inputs) >= probabilities, guess - 1, guess)
        return np.where(self.cdf(guess, inputs) < probabilities, guess + 1, guess)

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        analysis.require_generator(rng)
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        stop = -math.expm1(-self.rate)
        return np.asarray(inputs + rng.geometric(stop, inputs.shape) - rng.geometric(stop, inputs.shape))

    def moment(self, x: ArrayLike, order: int) -> Floats:
        inputs = self.inputs.require(x)
        noise = self._noise_table()
        offsets = np.arange(noise.size, dtype=np.float64)
        total = np.zeros_like(inputs)
        for k in range(0, analysis.require_order(order) + 1, 2):
            share = float(2 * np.dot(noise, offsets**k)) - (noise[0] if k == 0 else 0.0)
            total += math.comb(order, k) * inputs ** (order - k) * share
        return total

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        inputs = self.inputs.require(x)[..., None]
        noise = self._noise_table()
        offsets = np.arange(noise.size, dtype=np.float64)
        both = loss(inputs + offsets, inputs) + np.where(offsets > 0, loss(inputs - offsets, inputs), 0.0)
        return np.asarray(np.sum(noise * both, axis=-1))

    def _noise_table(self) -> Floats:
        """Probabilities of 0, 1, 2, ... up to where even 16th moments have converged."""
        count = math.ceil(130 / self.rate)
        if count > 10**7:
            raise InvalidInput(
                "eps", self.epsilon, "be above 1.3e-5 times the range of the inputs for sums over outputs"
            )
        return np.asarray(math.tanh(self.rate / 2) * np.exp(-self.rate * np.arange(count)))

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        return self.inputs.points

    def likelihood_ratio(self) -> LikelihoodRatio:
        return LikelihoodRatio(Fraction(1), Fraction(self.epsilon))

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss
