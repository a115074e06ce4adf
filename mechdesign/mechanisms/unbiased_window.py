"""Unbiased window mechanisms: a base measure, and extra mass on a window that is placed so that ``E[Y|x] = x``.

This is the form of every optimal unbiased mechanism for the variance (see `mechdesign.methods.unbiased.search`).
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.fill import ExactFill, Fill, Filled, Stretch
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.mechanisms.window import Window
from mechdesign.values.codec import named
from mechdesign.values.declare import array, epsilon, field, finite, frozen, numbers
from mechdesign.values.dyadic import dyadic
from mechdesign.words.domains import Interval, only
from mechdesign.words.losses import Loss

Floats = NDArray[np.float64]


@frozen
class UnbiasedWindow(Filled):
    """Every output has at least probability ``base``; what is left fills a window of outputs up to ``ratio * base``.

    With ``E = 1 - sum(base)`` the window is a stretch of length ``E / (ratio - 1)`` along the cumulative base, so its
    first and last output may be filled in part. As it moves right the mean grows continuously, linearly between the
    places where an end of the window meets an end of an output: for each input there is one place with ``E[Y|x] = x``.
    Among all laws between ``base`` and ``ratio * base`` with that mean, this one has the least variance. Samples cost
    O(log m), for every real input of the domain.

    *Guarantee.* Rows lie between ``base`` and ``ratio * base``, sum to one and have mean x, as rationals and for every
    real x: the likelihood ratio is at most ``ratio`` and the bias is zero. (What floating point returns is rounded.)

    >>> mechanism = UnbiasedWindow(1.0, Interval(-1, 1), [-5.0, 0.0, 5.0], [0.2, 0.1, 0.2], 2.5)
    >>> mechanism.mean([-1.0, 0.3, 1.0]).round(12).tolist()
    [-1.0, 0.3, 1.0]
    """

    kind: ClassVar[str] = "unbiased window"

    epsilon: float = epsilon()
    inputs: Interval = field(validator=only(Interval))
    points: Floats = array(numbers("outputs"), metadata=named("outputs"))
    base: Floats = array(numbers("base"))
    ratio: float = finite("ratio")
    name: str = "unbiased window"

    def __attrs_post_init__(self) -> None:
        Window(self.epsilon, self.inputs, self.points, self.base, self.ratio)  # the same rules hold
        first, last = exact_path(self).reach
        if not first <= Fraction(self.inputs.lower) < Fraction(self.inputs.upper) <= last:
            rule = f"allow every mean in {self.inputs}"
            raise InvalidInput("base", (float(first), float(last)), rule, "spread the outputs or shift base outwards")

    # -- the laws -----------------------------------------------------------------------------------------------------

    @property
    def _fill(self) -> Fill:
        return _track(self).fill

    def _start(self, x: ArrayLike) -> Floats:
        track = _track(self)
        return np.asarray(np.interp(self.inputs.require(x) - self.inputs.lower, track.offsets, track.starts))

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        ends = (self.inputs.lower, self.inputs.upper)
        kinks = np.concatenate([self.points, self.inputs.lower + _track(self).offsets])
        return (*np.unique(np.concatenate([ends, kinks[(kinks > ends[0]) & (kinks < ends[1])]])).tolist(),)

    # -- privacy ------------------------------------------------------------------------------------------------------

    def likelihood_ratio(self) -> LikelihoodRatio:
        """Exact: an output's probability rises while the window comes and falls while it goes."""
        return _likelihood_ratio(self)

    def exact_row(self, x: float | Fraction) -> list[Fraction]:
        """The law at one input as rationals."""
        path = exact_path(self)
        start = path.start(self._require_exact(x))
        return path.fill.row(start)

    def exact_variance(self, x: float | Fraction) -> Fraction:
        """``Var(Y|x)`` as a rational; the mean is x."""
        at = self._require_exact(x)
        return exact_path(self).second_moment(at) - at * at

    def exact_worst_variance(self) -> Fraction:
        """The largest ``Var(Y|x)`` over all real x, a rational.

        Between two kinks ``E[Y^2|x]`` is a line: less ``x^2`` it is largest where x is half of its slope, or at an end.
        """
        path = exact_path(self)
        size = path.fill.unit * path.scale
        ends = Fraction(self.inputs.lower), Fraction(self.inputs.upper)
        kinks = sorted({*ends, *(x for mean in path.means if ends[0] < (x := Fraction(mean, size)) < ends[1])})
        seconds = [path.second_moment(x) for x in kinks]
        largest = max(second - x * x for x, second in zip(kinks, seconds, strict=True))
        for (x, after), (low, high) in zip(pairwise(kinks), pairwise(seconds), strict=True):
            top = (high - low) / (after - x) / 2
            if x < top < after:
                largest = max(largest, low + 2 * top * (top - x) - top * top)
        return largest

    def _require_exact(self, x: float | Fraction) -> Fraction:
        if isinstance(x, Fraction) and not self.inputs.lower <= x <= self.inputs.upper:
            raise InvalidInput("x", x, f"lie in {self.inputs}")
        return x if isinstance(x, Fraction) else Fraction(float(self.inputs.require(x)))

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss


class ExactPath(NamedTuple):
    """The path of the window in whole numbers: masses times the unit of ``fill``, outputs times ``scale``.

    At start ``starts[k]`` the law has the moments ``means[k]`` and ``seconds[k]`` (times unit and scale), and both are
    linear in the start between one k and the next.
    """

    fill: ExactFill
    scale: int
    starts: list[int]
    means: list[int]
    seconds: list[int]

    @property
    def reach(self) -> tuple[Fraction, Fraction]:
        """The least and the largest mean."""
        size = self.fill.unit * self.scale
        return Fraction(self.means[0], size), Fraction(self.means[-1], size)

    def start(self, x: Fraction) -> Fraction:
        """Where the window starts for the mean ``x``."""
        return self._between(x, self.starts)

    def second_moment(self, x: Fraction) -> Fraction:
        """``E[Y^2|x]``."""
        return self._between(x, self.seconds) / (self.fill.unit * self.scale**2)

    def _between(self, x: Fraction, values: list[int]) -> Fraction:
        mean = x * (self.fill.unit * self.scale)
        if mean >= self.means[-1]:
            return Fraction(values[-1])
        # while the window is inside one output the mean stands still, and so does the law: the last start is as good
        k = bisect_right(self.means, mean) - 1
        step = self.means[k + 1] - self.means[k]
        return values[k] + (mean - self.means[k]) * Fraction(values[k + 1] - values[k], step)


@lru_cache(maxsize=64)
def exact_path(mechanism: UnbiasedWindow) -> ExactPath:
    """The path of the window of a mechanism, exactly."""
    fill = ExactFill.over(mechanism.base, mechanism.ratio)
    points, scale = dyadic(mechanism.points)
    stretches = fill.stretches()
    columns = [_window_sums(fill, stretches, [y**order for y in points]) for order in (1, 2)]
    return ExactPath(fill, 1 << scale, [stretch.start for stretch in stretches], *columns)


def _window_sums(fill: ExactFill, stretches: list[Stretch], values: list[int]) -> list[int]:
    """``sum of values`` over the base and over the window, for each stretch."""
    sums = list(accumulate((m * v for m, v in zip(fill.masses, values, strict=True)), initial=0))

    def upto(place: int, output: int) -> int:
        return fill.more * sums[output] + (place - fill.reached[output]) * values[output]

    everywhere = fill.one * sums[-1]
    return [everywhere + upto(stop, last) - upto(start, first) for start, stop, first, last in stretches]


class _Track(NamedTuple):
    """The path in doubles: means less the lower end of the inputs, and the window along the cumulative base."""

    offsets: Floats
    starts: Floats
    fill: Fill


@lru_cache(maxsize=64)
def _track(mechanism: UnbiasedWindow) -> _Track:
    path = exact_path(mechanism)
    exact = path.fill
    size = exact.unit * path.scale
    lower = Fraction(mechanism.inputs.lower) * size
    offsets = np.array([float((mean - lower) / size) for mean in path.means])
    # gain = (ratio - 1) base, so this turns the line of gains into the cumulative base
    line = exact.unit * (Fraction(mechanism.ratio) - 1)
    starts = np.array([float(start / line) for start in path.starts])
    cumulative = np.array([float(place / line) for place in exact.reached])
    fill = Fill(mechanism.points, mechanism.base, mechanism.ratio, cumulative, float(exact.extra / line))
    return _Track(offsets, starts, fill)


@lru_cache(maxsize=64)
def _likelihood_ratio(mechanism: UnbiasedWindow) -> LikelihoodRatio:
    path = exact_path(mechanism)
    first, last = (path.start(Fraction(end)) for end in (mechanism.inputs.lower, mechanism.inputs.upper))
    fill, worst = path.fill, Fraction(1)
    for j, base in enumerate(fill.base):
        ends = fill.span(j, first), fill.span(j, last)
        corners = fill.corners(j)
        is_passed = first <= corners[1] and corners[0] <= last
        most = min(fill.gain(j), fill.extra) if is_passed else max(ends)
        worst = max(worst, Fraction(base + most) / (base + min(ends)))
    return LikelihoodRatio(worst)
