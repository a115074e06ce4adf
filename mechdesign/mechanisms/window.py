"""Window mechanisms: a base measure on finitely many outputs, and extra mass on the outputs nearest to the input.

This is the form of every optimal mechanism for a loss that grows with the distance (see
`mechdesign.methods.minimax.search`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.fill import ExactFill, Fill, Filled
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.mechanisms.sliding import Sliding
from mechdesign.values.codec import named
from mechdesign.values.declare import array, epsilon, field, finite, frozen, numbers
from mechdesign.values.dyadic import dyadic
from mechdesign.words.domains import Interval, only
from mechdesign.words.losses import Loss, Power
from mechdesign.words.priors import Prior

Floats = NDArray[np.float64]

_ROUNDING = 1e-12
_SUMMED = (Power(1.0), Power(2.0))
_MANY = 1 << 20  # entries of the rows, beyond which running sums take over


@frozen
class Window(Filled):
    """Every output has at least probability ``base``; what is left goes to the outputs nearest to the input.

    With ``E = 1 - sum(base)``, the nearest outputs are topped up to ``ratio * base`` each until E is spent; the last
    one may be topped up in part, and of two equally near outputs the left one is served first. Along the cumulative
    base the topped-up part is a window of constant length ``E / (ratio - 1)`` that moves right with the input, by jumps
    at midpoints of outputs; so the law is a step function of the input, defined for every real input of the domain,
    and samples cost O(log m).

    *Guarantee.* Rows lie between ``base`` and ``ratio * base`` and sum to one, as rationals: the likelihood ratio is at
    most ``ratio``.

    >>> mechanism = Window(1.0, Interval(0, 1), [0.25, 0.75], [0.25, 0.25], 2.5)
    >>> mechanism.mass([0.25, 0.75], 0.1).tolist()
    [0.625, 0.375]
    >>> mechanism.mass([0.25, 0.75], 0.9).tolist()
    [0.375, 0.625]
    """

    kind: ClassVar[str] = "window"

    epsilon: float = epsilon()
    inputs: Interval = field(validator=only(Interval))
    points: Floats = array(numbers("outputs"), metadata=named("outputs"))
    base: Floats = array(numbers("base"))
    ratio: float = finite("ratio")
    name: str = "window"

    def __attrs_post_init__(self) -> None:
        points, base = self.points, self.base
        if points.ndim != 1 or points.shape != base.shape or points.size == 0:
            raise InvalidInput("base", (points.shape, base.shape), "have one entry for each output, and an output")
        if not np.isfinite(points).all() or not (np.diff(points) > 0).all():
            raise InvalidInput("outputs", "unsorted or not finite", "be finite and strictly increasing")
        if not (np.isfinite(base) & (base > 0)).all():
            raise InvalidInput("base", float(np.nanmin(base)), "be finite and above 0", "drop outputs without mass")
        if not 1 <= self.ratio <= math.exp(self.epsilon) * (1 + _ROUNDING):
            raise InvalidInput("ratio", self.ratio, f"lie between 1 and e^eps = {math.exp(self.epsilon):g}")
        total = self.exact_total()
        if not total <= 1 <= Fraction(self.ratio) * total:
            raise InvalidInput("base", float(total), f"sum to between 1/ratio = {1 / self.ratio:g} and 1")

    def exact_total(self) -> Fraction:
        """The sum of the base measure, exactly."""
        base, shift = dyadic(self.base)
        return Fraction(sum(base), 1 << shift)

    @property
    def turns(self) -> Floats:
        """The inputs at which the law changes, in increasing order."""
        turns = _sliding(self).turns
        return turns[(turns > self.inputs.lower) & (turns < self.inputs.upper)]

    # -- the laws -----------------------------------------------------------------------------------------------------

    @property
    def _fill(self) -> Fill:
        return _sliding(self).fill

    def _start(self, x: ArrayLike) -> Floats:
        return _sliding(self).start(self.inputs.require(x))

    def reach(self, x: ArrayLike) -> Floats:
        """Distance from the input to the farthest output that gets more than its base."""
        return _sliding(self).levels(self.inputs.require(x))[0]

    # -- integrals ----------------------------------------------------------------------------------------------------

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        inputs = self.inputs.require(x)
        if loss in _SUMMED and inputs.size * self.points.size > _MANY:
            return _sliding(self).power_error(inputs.reshape(-1), int(loss.exponent)).reshape(inputs.shape)
        return Filled.expected_loss(self, inputs, loss)

    def worst_case(self, loss: Loss) -> tuple[float, float]:
        """The largest expected loss: at a turn or an end, since a loss convex in x is convex between turns."""
        if not (isinstance(loss, Power) and loss.period is None and loss.exponent >= 1):
            return analysis.worst_case(self, loss)
        candidates = np.array([self.inputs.lower, *self.turns, self.inputs.upper])
        values = self.expected_loss(candidates, loss)
        best = int(np.argmax(values))
        return float(values[best]), float(candidates[best])

    def average_loss(self, loss: Loss, prior: Prior | None = None) -> float:
        """The expected loss averaged over a prior, uniform on the inputs if none is given."""
        return analysis.average_loss(self, loss, prior)

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        ends = (self.inputs.lower, self.inputs.upper)
        kinks = self.points[(self.points > ends[0]) & (self.points < ends[1])]
        return (*np.unique(np.concatenate([ends, self.turns, kinks])).tolist(),)

    # -- privacy ------------------------------------------------------------------------------------------------------

    def likelihood_ratio(self) -> LikelihoodRatio:
        """Exact: an output is topped up most at the input nearest to it and least at an end of the inputs."""
        return _likelihood_ratio(self)

    def exact_row(self, x: float) -> list[Fraction]:
        """The law at one input as rationals, filled output by output from the nearest."""
        row, scale = self._scaled_row(x)
        return [Fraction(value, scale) for value in row]

    def _scaled_row(self, x: float) -> tuple[list[int], int]:
        """The law at one input as integers over a common scale."""
        fill = ExactFill.over(self.base, self.ratio)
        (at, *points), _ = dyadic([float(self.inputs.require(x)), *self.points.tolist()])
        row, left = fill.base, fill.extra
        for j in sorted(range(len(row)), key=lambda k: (abs(points[k] - at), k)):
            top = min(left, fill.gain(j))
            row[j] += top
            left -= top
            if not left:
                break
        return row, fill.unit

    mean = analysis.mean
    variance = analysis.variance
    privacy_loss = analysis.privacy_loss


@lru_cache(maxsize=64)
def _sliding(mechanism: Window) -> Sliding:
    return Sliding.over(mechanism.points, mechanism.base, mechanism.ratio)


@lru_cache(maxsize=64)
def _likelihood_ratio(mechanism: Window) -> LikelihoodRatio:
    fill = ExactFill.over(mechanism.base, mechanism.ratio)
    first, last = mechanism.inputs.lower, mechanism.inputs.upper
    worst = Fraction(1)
    rows = [mechanism._scaled_row(end)[0] for end in (first, last)]
    for j, (point, low, high) in enumerate(zip(mechanism.points.tolist(), *rows, strict=True)):
        at_its_point = fill.one * fill.masses[j] + min(fill.gain(j), fill.extra)
        most = high if point >= last else low if point <= first else at_its_point
        most, least = max(most, low, high), min(low, high)
        if most * worst.denominator > worst.numerator * least:
            worst = Fraction(most, least)
    return LikelihoodRatio(worst)
