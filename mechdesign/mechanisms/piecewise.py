"""Piecewise mechanisms: density ``high`` on a window around the input, ``low`` everywhere else.

Every optimal m-piece mechanism has this form (see `mechdesign.methods.piecewise.search`), and so have PM and SW.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import analysis
from mechdesign.mechanisms.inversion import WindowDensity, draw_on_circle, draw_on_line
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.mechanisms.sublevel import remembered_sublevel_set
from mechdesign.values.declare import epsilon, evolved, field, finite, frozen
from mechdesign.words.domains import Circle, Interval, only, require_between, require_domain
from mechdesign.words.losses import Loss, Power

Floats = NDArray[np.float64]

_MOST_KINKS = 1 << 14
_Integral = Callable[[Floats, Floats, Floats], Floats]


@frozen
class AffineWindow:
    """A window centred at ``pivot + slope * (x - pivot) + offset``, pushed back inside the outputs where it sticks out.

    The pivot keeps the digits of domains far from zero.
    """

    kind: ClassVar[str] = "affine"

    slope: float = finite("window slope", default=1.0)
    offset: float = finite("window offset", default=0.0)
    pivot: float = finite("window pivot", default=0.0)


@frozen
class SublevelWindow:
    """The outputs of smallest ``loss(y, x)``: one interval for a unimodal loss, several for others."""

    kind: ClassVar[str] = "sublevel"

    loss: Loss


class Pieces(NamedTuple):
    """The density for one input: constant ``densities[i]`` between ``edges[i]`` and ``edges[i + 1]``."""

    edges: Floats
    densities: Floats


@frozen
class Piecewise:
    """Density ``high`` on a window, ``low`` on the other outputs; the window's width makes every law sum to one.

    *Guarantee.* The heights do not depend on the input, so the likelihood ratio is exactly ``high / low``. The window's
    width ``(1 - low * length) / (high - low)`` is a rational function of the two heights: the laws sum to one exactly.

    >>> mechanism = Piecewise(1.0, Interval(0, 1), Interval(0, 1), low=0.5, high=1.25)
    >>> mechanism.width
    0.6666666666666666
    >>> mechanism.pieces(0.5).edges.round(3).tolist()
    [0.0, 0.167, 0.833, 1.0]
    """

    kind: ClassVar[str] = "piecewise"

    epsilon: float = epsilon()
    inputs: Interval | Circle = field(validator=only(Interval, Circle))
    outputs: Interval | Circle = field(validator=only(Interval, Circle))
    low: float = finite("low density")
    high: float = finite("high density")
    window: AffineWindow | SublevelWindow = AffineWindow()
    name: str = "piecewise"

    def __attrs_post_init__(self) -> None:
        low, high = self.low, self.high
        if not 0 < low <= high:
            raise InvalidInput("densities", (low, high), "satisfy 0 < low <= high")
        slack = 1e-12 if low == high else 0.0
        if not low * self.outputs.length * (1 - slack) <= 1 <= high * self.outputs.length * (1 + slack):
            raise InvalidInput("densities", (low, high), f"average to 1 over outputs of length {self.outputs.length:g}")
        if isinstance(self.inputs, Circle) != isinstance(self.outputs, Circle):
            raise InvalidInput("outputs", self.outputs, "be a circle exactly when the inputs are one")
        if isinstance(self.inputs, Circle) and self.inputs != self.outputs:
            raise InvalidInput("outputs", self.outputs, f"be the circle of the inputs, {self.inputs}")
        if isinstance(self.inputs, Circle) and isinstance(self.window, AffineWindow) and self.window != AffineWindow():
            raise InvalidInput("window", self.window, "be centred at the input on a circle", "use AffineWindow()")
        if isinstance(self.window, AffineWindow) and not self.window.slope > 0:
            raise InvalidInput("window slope", self.window.slope, "be above 0")

    @property
    def width(self) -> float:
        """Total width of the window."""
        return float(self.exact_width())

    def exact_width(self) -> Fraction:
        """The window's total width, as the rational that makes every law sum to one."""
        low, high = Fraction(self.low), Fraction(self.high)
        if low == high:
            return Fraction(0)
        return (1 - low * Fraction(self.outputs.length)) / (high - low)

    # -- the laws -----------------------------------------------------------------------------------------------------

    def pieces(self, x: float) -> Pieces:
        """The density for the input ``x``, equal neighbours merged."""
        inputs = np.array([require_between(x, self.inputs, "x")])
        offsets, widths = self._windows(inputs)
        starts = (inputs[:, None] + offsets)[0]
        edges, densities = [self.outputs.lower], []
        order = np.argsort(starts, kind="stable")
        for start, width in zip(starts[order].tolist(), widths[0][order].tolist(), strict=True):
            if width <= 0:
                continue
            if start > edges[-1]:
                densities.append(self.low)
                edges.append(start)
            densities.append(self.high)
            edges.append(min(start + width, self.outputs.upper))
        if edges[-1] < self.outputs.upper:
            densities.append(self.low)
            edges.append(self.outputs.upper)
        return Pieces(np.array(edges), np.array(densities))

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, inputs = self._pair(y, x)
        offsets, widths = self._windows(inputs)
        place = (outputs - inputs)[..., None] - offsets
        high = ((place >= 0) & (place < widths)).any(axis=-1)
        inside = (outputs >= self.outputs.lower) & (outputs <= self.outputs.upper)
        return np.where(inside, np.where(high, self.high, self.low), 0.0)

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, _ = self._pair(y, x)
        return np.zeros_like(outputs)

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, inputs = self._pair(y, x)
        return self._mass_below(outputs, inputs)

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        probabilities, inputs = np.broadcast_arrays(analysis.require_probabilities(u), self.inputs.require(x))
        offsets, widths = self._windows(inputs)
        starts = inputs[..., None] + offsets
        stops = np.minimum(starts + widths, self.outputs.upper)
        answer = self.outputs.lower + probabilities / self.low
        gain = (self.high - self.low) * widths
        for k in range(starts.shape[-1]):
            start, stop, extra = starts[..., k], stops[..., k], gain[..., k]
            reached = self._mass_below(start, inputs)
            inside = np.minimum(start + (probabilities - reached) / self.high, stop)
            beyond = answer - extra / self.low
            answer = np.where(probabilities <= reached, answer, np.where(beyond < stop, inside, beyond))
        return np.minimum(np.maximum(answer, self.outputs.lower), self.outputs.upper)

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        analysis.require_generator(rng)
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        if isinstance(self.window, SublevelWindow):
            return self.quantile(rng.random(inputs.shape), inputs)
        out = np.empty(inputs.shape)
        flat_in = inputs.reshape(-1) if size is None else inputs[:1]
        density = WindowDensity(self.low, self.high, self.width, self.outputs.lower, self.outputs.upper)
        if isinstance(self.outputs, Circle):
            draw_on_circle(density, flat_in, out.reshape(-1), rng)
        else:
            at_zero = self.window.offset + self.window.pivot * (1 - self.window.slope)
            draw_on_line(density, self.window.slope, at_zero, flat_in, out.reshape(-1), rng)
        return out

    # -- integrals ----------------------------------------------------------------------------------------------------

    def moment(self, x: ArrayLike, order: int) -> Floats:
        return self.moment_between(x, order, self.outputs.lower, self.outputs.upper)

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        if isinstance(self.outputs, Circle) and isinstance(self.window, AffineWindow) and isinstance(loss, Power):
            analysis.require_matching_loss(loss, self.outputs)
            inputs, half, reach = self.inputs.require(x), self.width / 2, self.outputs.length / 2
            extra = (self.high - self.low) * loss.integral(-half, half, inputs)
            return np.asarray(np.broadcast_to(self.low * loss.integral(-reach, reach, inputs) + extra, inputs.shape))
        return self.loss_between(x, loss, self.outputs.lower, self.outputs.upper)

    def moment_between(self, x: ArrayLike, order: int, start: ArrayLike, stop: ArrayLike) -> Floats:
        power = analysis.require_order(order) + 1
        if isinstance(self.outputs, Circle) and order > 0:
            raise InvalidInput("moment", order, "be asked of outputs on a line", "use a circular loss instead")

        def integral(left: Floats, right: Floats, at: Floats) -> Floats:
            # (at + z)^order expanded about the input: powers of outputs would cancel for narrow windows
            terms = (
                math.comb(order, k) * at ** (order - k) * (right ** (k + 1) - left ** (k + 1)) / (k + 1)
                for k in range(power)
            )
            return np.asarray(sum(terms))

        return self._integrate(x, start, stop, integral)

    def loss_between(self, x: ArrayLike, loss: Loss, start: ArrayLike, stop: ArrayLike) -> Floats:
        analysis.require_matching_loss(loss, self.outputs)
        return self._integrate(x, start, stop, loss.integral)

    def _integrate(self, x: ArrayLike, start: ArrayLike, stop: ArrayLike, integral: _Integral) -> Floats:
        inputs, lower, upper = np.broadcast_arrays(
            self.inputs.require(x), np.maximum(start, self.outputs.lower), np.minimum(stop, self.outputs.upper)
        )
        lower, upper = lower - inputs, np.maximum(lower, upper) - inputs
        offsets, widths = self._windows(inputs)
        left = np.minimum(np.maximum(offsets, lower[..., None]), upper[..., None])
        right = np.minimum(np.maximum(offsets + widths, lower[..., None]), upper[..., None])
        windows = np.sum(integral(left, right, inputs[..., None]), axis=-1)
        return np.asarray(self.low * integral(lower, upper, inputs) + (self.high - self.low) * windows)

    def breakpoints(self, loss: Loss) -> tuple[float, ...]:
        """Inputs where the window starts or stops moving, or where a kink of the loss crosses an edge."""
        ends = (self.inputs.lower, self.inputs.upper)
        if isinstance(self.outputs, Circle) or isinstance(self.window, SublevelWindow):
            return ends
        lower, upper, half = self.outputs.lower, self.outputs.upper, self.width / 2
        slope, offset, pivot = self.window.slope, self.window.offset, self.window.pivot
        cuts = {pivot + (end - offset - pivot) / slope for end in (lower + half, upper - half)}
        for kink in self._loss_kinks(loss):
            cuts |= {edge + kink for edge in (lower, upper, lower + self.width, upper - self.width)}
            if slope != 1:
                cuts |= {pivot + (offset + side - kink) / (1 - slope) for side in (-half, half)}
        return (*sorted({*ends, *(cut for cut in cuts if ends[0] < cut < ends[1])}),)

    def _loss_kinks(self, loss: Loss) -> list[float]:
        """Distances ``y - x`` at which the loss bends: every half turn that can occur."""
        if not (isinstance(loss, Power) and loss.period is not None):
            return [0.0]
        half = loss.period / 2
        first = math.floor((self.outputs.lower - self.inputs.upper) / half)
        last = math.ceil((self.outputs.upper - self.inputs.lower) / half)
        if last - first > _MOST_KINKS:
            raise InvalidInput("loss period", loss.period, f"go at most {_MOST_KINKS // 2} times into the outputs")
        return [half * k for k in range(first, last + 1)]

    def edge_meets(self, outputs: tuple[float, ...]) -> tuple[float, ...]:
        """The inputs whose moving window has an edge at one of ``outputs``."""
        if not isinstance(self.window, AffineWindow):
            return ()
        slope, pivot = self.window.slope, self.window.pivot
        shifts = [self.window.offset + pivot + side for side in (-self.width / 2, self.width / 2)]
        return tuple(pivot + (y - shift) / slope for y in outputs for shift in shifts)

    # -- privacy ------------------------------------------------------------------------------------------------------

    def likelihood_ratio(self) -> LikelihoodRatio:
        return LikelihoodRatio(Fraction(self.high) / Fraction(self.low))

    # -- other domains ------------------------------------------------------------------------------------------------

    def moved_to(self, inputs: Interval) -> Piecewise:
        """The same mechanism for another input interval (Theorem 6: privacy and the order of errors are kept)."""
        require_domain(inputs, (Interval,))
        if not (isinstance(self.inputs, Interval) and isinstance(self.outputs, Interval)):
            raise InvalidInput("mechanism", self.name, "live on an interval to be moved to another one")
        scale = inputs.length / self.inputs.length
        outputs = Interval(
            inputs.lower + (self.outputs.lower - self.inputs.lower) * scale,
            inputs.upper + (self.outputs.upper - self.inputs.upper) * scale,
        )
        shift = (self.outputs.middle - self.inputs.middle) * scale
        return evolved(self._with_outputs(outputs, scale, inputs, shift), inputs=inputs)

    def compressed(self) -> Piecewise:
        """Outputs squeezed linearly onto the input interval (PM-C and SW-C)."""
        if not (isinstance(self.inputs, Interval) and isinstance(self.outputs, Interval)):
            raise InvalidInput("mechanism", self.name, "live on an interval to be compressed")
        scale = self.inputs.length / self.outputs.length
        return self._with_outputs(self.inputs, scale, self.inputs, 0.0)

    def _with_outputs(self, outputs: Interval, scale: float, inputs: Interval, shift: float) -> Piecewise:
        """Outputs stretched by ``scale`` onto ``outputs``, whose middle lies ``shift`` above that of ``inputs``."""
        if not isinstance(self.window, AffineWindow):
            raise InvalidInput("mechanism", self.name, "have an affine window to be moved or compressed")
        slope = self.window.slope * scale * self.inputs.length / inputs.length
        place = self.inputs.middle - self.window.pivot
        centre = self.window.pivot + self.window.slope * place + self.window.offset
        offset = (centre - self.outputs.middle) * scale + shift
        low = self.low / scale
        high = low * (self.high / self.low)
        while Fraction(high) * Fraction(self.low) > Fraction(self.high) * Fraction(low):
            high = math.nextafter(high, 0.0)  # rounding must not cost privacy, however often a mechanism is moved
        if self.low == self.high or not low * outputs.length <= 1 <= high * outputs.length:
            low = high = 1 / outputs.length
        return evolved(self, outputs=outputs, low=low, high=high, window=AffineWindow(slope, offset, inputs.middle))

    mean = analysis.mean
    variance = analysis.variance
    worst_case = analysis.worst_case
    average_loss = analysis.average_loss
    privacy_loss = analysis.privacy_loss

    # -- windows ------------------------------------------------------------------------------------------------------

    def _windows(self, inputs: Floats) -> tuple[Floats, Floats]:
        """``(offsets, widths)`` with one more axis: the intervals of each input's window, offsets from the input."""
        width = self.width
        if isinstance(self.window, SublevelWindow):
            return self._sublevel_windows(inputs, self.window)
        if isinstance(self.outputs, Circle):
            starts = self.outputs.reduce(inputs - width / 2)
            wrapped = np.maximum(starts + width - self.outputs.period, 0.0)
            # what wraps round lies at 0: windows are listed from left to right
            offsets = np.stack([-inputs, starts - inputs], axis=-1)
            return offsets, np.stack([wrapped, width - wrapped], axis=-1)
        free = (self.window.slope - 1) * (inputs - self.window.pivot) + (self.window.offset - width / 2)
        offsets = np.maximum(free, self.outputs.lower - inputs)
        offsets = np.minimum(offsets, (self.outputs.upper - inputs) - width)
        return offsets[..., None], np.full((*inputs.shape, 1), width)

    def _sublevel_windows(self, inputs: Floats, window: SublevelWindow) -> tuple[Floats, Floats]:
        interval = Interval(self.outputs.lower, self.outputs.upper)
        values, positions = np.unique(inputs, return_inverse=True)
        width = self.width
        sets = [remembered_sublevel_set(window.loss, value, interval, width) for value in values.tolist()]
        most = max((starts.size for starts, _ in sets), default=1)
        starts = np.array([np.pad(part, (0, most - part.size), mode="edge") for part, _ in sets]).reshape(-1, most)
        widths = np.array([np.pad(part, (0, most - part.size)) for _, part in sets]).reshape(-1, most)
        shape = (*inputs.shape, most)
        return starts[positions].reshape(shape) - inputs[..., None], widths[positions].reshape(shape)

    def _mass_below(self, outputs: Floats, inputs: Floats) -> Floats:
        offsets, widths = self._windows(inputs)
        place = (outputs - inputs)[..., None] - offsets
        covered = np.sum(np.minimum(np.maximum(place, 0.0), widths), axis=-1)
        reach = np.minimum(np.maximum(outputs - self.outputs.lower, 0.0), self.outputs.length)
        return np.asarray(np.minimum(self.low * reach + (self.high - self.low) * covered, 1.0), dtype=np.float64)

    def _pair(self, y: ArrayLike, x: ArrayLike) -> tuple[Floats, Floats]:
        outputs, inputs = np.broadcast_arrays(analysis.require_outputs(y), self.inputs.require(x))
        return outputs, inputs
