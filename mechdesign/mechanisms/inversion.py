"""Sampling a window density by inversion, in place and in chunks that stay in the processor's cache.

The quantile function of "low, high on a window, low" is made of three lines: ``min(steep, max(flat, steep - jump))``,
where the steep lines have slope 1/low and the flat one slope 1/high.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechdesign.values.declare import frozen

Floats = NDArray[np.float64]

_CHUNK = 1 << 14


@frozen
class WindowDensity:
    """Density ``high`` on a window of the given width and ``low`` on the rest of ``[lower, upper]``."""

    low: float
    high: float
    width: float
    lower: float
    upper: float


def draw_on_line(
    density: WindowDensity, slope: float, offset: float, inputs: Floats, out: Floats, rng: np.random.Generator
) -> None:
    """Fill ``out``; the window of x is centred at ``slope x + offset`` and pushed back inside the outputs.

    ``inputs`` holds one input for all outputs, or one for each.
    """
    keep = 1 - density.low / density.high
    lower = density.lower
    # the flat line at u = 0, for a window that starts at s, is lower + keep (s - lower)
    per_input, constant = slope * keep, lower + keep * (offset - density.width / 2 - lower)
    most = lower + keep * (density.upper - density.width - lower)
    last = float(np.nextafter(density.upper, lower))
    for part, x, steep, flat in _chunks(out, inputs):
        rise = np.multiply(x, per_input, out=steep if x.size > 1 else None)
        rise += constant
        rise.clip(lower, most, out=rise)
        rng.random(out=part)
        _invert(density, rise, part, steep, flat)
        part.clip(lower, last, out=part)  # the three lines meet the ends up to rounding


def draw_on_circle(density: WindowDensity, inputs: Floats, out: Floats, rng: np.random.Generator) -> None:
    """Fill ``out`` with outputs on ``[0, upper)``: drawn around the middle of the circle, then turned to the input."""
    period = density.upper
    rise = np.array([(period - density.width) / 2 * (1 - density.low / density.high)])
    last = float(np.nextafter(period, 0.0))
    for part, x, steep, flat in _chunks(out, inputs):
        rng.random(out=part)
        _invert(density, rise, part, steep, flat)
        part += x
        part -= period / 2
        np.multiply(part, 1 / period, out=flat)
        np.floor(flat, out=flat)
        flat *= period
        part -= flat
        part.clip(0.0, last, out=part)


def _chunks(out: Floats, inputs: Floats) -> list[tuple[Floats, Floats, Floats, Floats]]:
    scratch = np.empty((2, min(_CHUNK, out.size)))
    cuts = [slice(first, min(first + _CHUNK, out.size)) for first in range(0, out.size, _CHUNK)]
    return [
        (
            out[cut],
            inputs[cut] if inputs.size == out.size else inputs,
            scratch[0, : cut.stop - cut.start],
            scratch[1, : cut.stop - cut.start],
        )
        for cut in cuts
    ]


def _invert(density: WindowDensity, rise: Floats, out: Floats, steep: Floats, flat: Floats) -> None:
    """Turn the uniforms in ``out`` into outputs; ``rise`` may live in ``steep``, which is overwritten last."""
    np.multiply(out, 1 / density.high, out=flat)
    flat += rise
    np.multiply(out, 1 / density.low, out=steep)
    steep += density.lower
    np.subtract(steep, (density.high - density.low) * density.width / density.low, out=out)
    np.maximum(out, flat, out=out)
    np.minimum(out, steep, out=out)
