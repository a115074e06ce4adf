"""What an output costs: ``loss(y, x) >= 0``.

A loss that depends on the distance alone is a `Power` of it, on the line or (with a ``period``) on the circle. Anything
else is a `Custom` function of ``(y, x)``; it need not be unimodal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.numbers import require_number_text
from mechdesign.errors import InvalidInput, did_you_mean, require_finite
from mechdesign.panels import integrate_between
from mechdesign.values.declare import field, frozen, option

Floats = NDArray[np.float64]

NAMED = {"absolute": 1.0, "squared": 2.0}

SPELLINGS = "absolute, squared or power:P"
"""What `parse_loss` reads, as help and errors say it."""

OPTION = option("--loss", f"{SPELLINGS}.", words=lambda: NAMED)
"""How commands take a loss: `parse_loss` reads it."""


class Loss(Protocol):
    """A non-negative cost of reporting ``y`` for ``x``, vectorised over both."""

    @property
    def name(self) -> str: ...

    def __call__(self, y: ArrayLike, x: ArrayLike) -> Floats: ...

    def integral(self, start: ArrayLike, stop: ArrayLike, x: ArrayLike) -> Floats:
        """Integral of ``loss(x + z, x)`` over offsets ``start <= z <= stop``.

        Offsets, not outputs: a window of width 1e-14 around 0.7 would lose its digits as a pair of outputs.
        """
        ...


def _exponent(said: object) -> float:
    exponent = require_finite(said, "loss exponent")
    if not 0 < exponent <= 16:
        raise InvalidInput("loss exponent", exponent, "lie in (0, 16]", "use power:1 or power:2 if unsure")
    return exponent


def _period(said: object) -> float | None:
    if said is None:
        return None
    period = require_finite(said, "loss period")
    if not period > 0:
        raise InvalidInput("loss period", period, "be above 0")
    return period


@frozen
class Power:
    """``|y - x|^exponent``; with a ``period`` the distance is the shorter way round the circle.

    >>> Power(2.0)(0.25, 1.0).item()
    0.5625
    >>> Power(1.0, period=360.0)(350.0, 10.0).item()
    20.0
    """

    kind: ClassVar[str] = "power"

    exponent: float = field(converter=_exponent)
    period: float | None = field(default=None, converter=_period)

    @property
    def name(self) -> str:
        short = f"{self.exponent:g}"
        exponent = short if float(short) == self.exponent else repr(self.exponent)  # no two powers share a name
        base = {number: name for name, number in NAMED.items()}.get(self.exponent, f"power:{exponent}")
        return base if self.period is None else f"circular {base}"

    def distance(self, y: ArrayLike, x: ArrayLike) -> Floats:
        gap = np.abs(np.asarray(y, dtype=np.float64) - np.asarray(x, dtype=np.float64))
        if self.period is None:
            return gap
        gap = np.mod(gap, self.period)
        return np.minimum(gap, self.period - gap)

    def __call__(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return self._raise(self.distance(y, x), self.exponent)

    def integral(self, start: ArrayLike, stop: ArrayLike, x: ArrayLike) -> Floats:
        return self._primitive(np.asarray(stop, dtype=np.float64)) - self._primitive(
            np.asarray(start, dtype=np.float64)
        )

    def on_circle(self, period: float) -> Power:
        """The same power of the distance round a circle."""
        return Power(self.exponent, period)

    def on_line(self) -> Power:
        """The same power of the distance on the line."""
        return Power(self.exponent)

    def _primitive(self, offset: Floats) -> Floats:
        power = self.exponent + 1
        if self.period is None:
            return np.sign(offset) * self._raise(np.abs(offset), power) / power
        turns = np.round(offset / self.period)
        rest = offset - turns * self.period
        whole_turn = 2 * (self.period / 2) ** power / power
        return np.asarray(turns * whole_turn + np.sign(rest) * self._raise(np.abs(rest), power) / power)

    @staticmethod
    def _raise(base: Floats, power: float) -> Floats:
        if power == 1:
            return base
        if power == 2:
            return base * base
        if power == 3:
            return base * base * base
        return np.asarray(base**power)


def Absolute(period: float | None = None) -> Power:
    """``|y - x|``, the absolute error.

    >>> Absolute().name
    'absolute'
    """
    return Power(1.0, period)


def Squared(period: float | None = None) -> Power:
    """``(y - x)^2``, the squared error.

    >>> Squared(period=360.0).name
    'circular squared'
    """
    return Power(2.0, period)


@frozen
class Custom:
    """Any non-negative function of ``(y, x)``, vectorised in ``y``; integrals are taken numerically.

    ``kinks(x)`` may list the outputs where the function is not smooth, which sharpens the quadrature.

    >>> pinball = Custom(lambda y, x: np.where(y > x, 3 * (y - x), x - y), name="pinball", kinks=lambda x: (x,))
    >>> round(float(pinball.integral(-0.5, 0.5, 0.5)), 12)
    0.5
    """

    function: Callable[..., ArrayLike]
    name: str = "custom"
    kinks: Callable[[float], tuple[float, ...]] = field(default=lambda x: (x,))

    def __call__(self, y: ArrayLike, x: ArrayLike) -> Floats:
        outputs, inputs = np.asarray(y, dtype=np.float64), np.asarray(x, dtype=np.float64)
        values = np.asarray(self.function(outputs, inputs))
        if values.dtype.kind not in "fiu":
            raise InvalidInput("loss", values.dtype, "return numbers")
        values = values.astype(np.float64, copy=False)
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            worst = float(np.atleast_1d(values)[np.atleast_1d(bad)][0])
            raise InvalidInput("loss", worst, "be finite and at least 0 at every (y, x)")
        return np.broadcast_to(values, np.broadcast_shapes(values.shape, outputs.shape, inputs.shape))

    def integral(self, start: ArrayLike, stop: ArrayLike, x: ArrayLike) -> Floats:
        starts, stops, inputs = np.broadcast_arrays(
            np.asarray(start, dtype=np.float64), np.asarray(stop, dtype=np.float64), np.asarray(x, dtype=np.float64)
        )
        flat = [
            self._integral_at(a, b, centre)
            for a, b, centre in zip(starts.ravel(), stops.ravel(), inputs.ravel(), strict=True)
        ]
        return np.asarray(flat, dtype=np.float64).reshape(starts.shape)

    def _integral_at(self, start: float, stop: float, x: float) -> float:
        cuts = [kink - x for kink in self.kinks(x) if start < kink - x < stop]
        return integrate_between(lambda offset: self(x + offset, x), [start, *cuts, stop])


def parse_loss(text: str, period: float | None = None) -> Power:
    """The loss that a text names: ``absolute``, ``squared`` or ``power:P``.

    >>> parse_loss("power:1.5")
    Power(exponent=1.5)
    """
    name, _, argument = text.strip().lower().partition(":")
    if name in NAMED and not argument:
        return Power(NAMED[name], period)
    if name == "power" and argument:
        try:
            return Power(require_number_text(argument), period)
        except ValueError as error:
            if isinstance(error, InvalidInput):
                raise
    raise InvalidInput("loss", text, f"be {SPELLINGS}", did_you_mean(name, NAMED) or "for example power:1.5")
