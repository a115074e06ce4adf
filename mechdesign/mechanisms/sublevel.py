"""Where a loss is smallest: the sublevel set of a given measure, as intervals.

This is the bathtub principle's water surface. For a unimodal loss the set is one interval around the input; a loss with
several valleys gives several.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechdesign.domains import Interval
from mechdesign.losses import Custom, Loss

Floats = NDArray[np.float64]

_CELLS = 4096
_HALVINGS = 80


def sublevel_set(loss: Loss, x: float, outputs: Interval, measure: float) -> tuple[Floats, Floats]:
    """``(starts, widths)`` of intervals of total width ``measure`` holding the outputs of smallest ``loss(y, x)``.

    The level is found on a grid that includes the loss's kinks and the crossings are then refined by bisection. Where
    the loss is flat at the level, the flat part is filled from the left. The total width is exact whatever the loss.

    >>> from mechdesign.losses import Power
    >>> starts, widths = sublevel_set(Power(1.0), 0.25, Interval(0.0, 1.0), 0.2)
    >>> starts.round(9).tolist(), widths.round(9).tolist()
    ([0.15], [0.2])
    """
    if measure >= outputs.length:
        return np.array([outputs.lower]), np.array([outputs.length])
    kinks = loss.kinks(x) if isinstance(loss, Custom) else (x,)
    inner = [kink for kink in kinks if outputs.lower < kink < outputs.upper]
    nodes = np.unique(np.concatenate([np.linspace(outputs.lower, outputs.upper, _CELLS + 1), inner]))
    values = loss(nodes, x)
    below, above = _bracket_level(nodes, values, measure)
    sure = _intervals_under(loss, x, nodes, values, below)
    more = _intervals_under(loss, x, nodes, values, above)
    return _fill(sure, more, measure)


def _bracket_level(nodes: Floats, values: Floats, measure: float) -> tuple[float, float]:
    low, high = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    widths, rise = np.diff(nodes), np.maximum(high - low, 1e-300)

    def measure_under(level: float) -> float:
        return float(np.sum(widths * np.minimum(1.0, np.maximum(0.0, (level - low) / rise))))

    below, above = float(values.min()), float(values.max())
    for _ in range(_HALVINGS):
        level = below + (above - below) / 2
        if measure_under(level) <= measure:
            below = level
        else:
            above = level
    return below, above


def _intervals_under(loss: Loss, x: float, nodes: Floats, values: Floats, level: float) -> list[tuple[float, float]]:
    under = values <= level
    edges = np.flatnonzero(under[1:] != under[:-1])
    crossings = [_crossing(loss, x, float(nodes[k]), float(nodes[k + 1]), level, bool(under[k])) for k in edges]
    if under[0]:
        crossings.insert(0, float(nodes[0]))
    if under[-1]:
        crossings.append(float(nodes[-1]))
    return list(zip(crossings[0::2], crossings[1::2], strict=True))


def _crossing(loss: Loss, x: float, start: float, stop: float, level: float, start_is_under: bool) -> float:
    while True:
        middle = start + (stop - start) / 2
        if not start < middle < stop:
            return start if start_is_under else stop
        if bool(loss(middle, x) <= level) == start_is_under:
            start = middle
        else:
            stop = middle


def _fill(sure: list[tuple[float, float]], more: list[tuple[float, float]], measure: float) -> tuple[Floats, Floats]:
    """The sure intervals, topped up (or, by a rounding error, trimmed) to the measure from the left."""
    missing = measure - sum(stop - start for start, stop in sure)
    taken: list[list[float]] = []
    for outer_start, outer_stop in more:
        cursor = outer_start
        for start, stop in [*(pair for pair in sure if outer_start <= pair[0] < outer_stop), (outer_stop, outer_stop)]:
            grow = min(missing, start - cursor)
            if grow > 0:
                taken.append([cursor, cursor + grow])
                missing -= grow
            if stop > start:
                taken.append([start, stop])
            cursor = stop
    merged: list[list[float]] = []
    for start, stop in taken:
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(stop, merged[-1][1])
        else:
            merged.append([start, stop])
    if not merged:
        merged = [[more[0][0], more[0][0]]]
    starts = np.array([start for start, _ in merged])
    widths = np.array([stop - start for start, stop in merged])
    largest = int(np.argmax(widths))
    widths[largest] += measure - float(widths.sum())
    return starts, widths
