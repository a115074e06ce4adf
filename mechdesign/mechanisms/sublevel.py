"""Where a loss is smallest: the sublevel set of a given measure, as intervals.

This is the bathtub principle's water surface. For a unimodal loss the set is one interval around the input; a loss with
several valleys gives several.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.words.domains import Interval
from mechdesign.words.losses import Custom, Loss

Floats = NDArray[np.float64]
Spans = list[tuple[float, float]]

_CELLS = 4096
_ENOUGH = 1e-15


def remembered_sublevel_set(loss: Loss, x: float, outputs: Interval, measure: float) -> tuple[Floats, Floats]:
    """`sublevel_set`, kept for the next question about the same input; losses are values and do not change."""
    try:
        key = _Key(loss, hash(loss))
    except TypeError:  # a function object that cannot be hashed
        return sublevel_set(loss, x, outputs, measure)
    return _remembered(key, x, outputs, measure)


class _Key(NamedTuple):
    loss: Loss
    digest: int


@lru_cache(maxsize=4096)
def _remembered(key: _Key, x: float, outputs: Interval, measure: float) -> tuple[Floats, Floats]:
    parts = sublevel_set(key.loss, x, outputs, measure)
    for part in parts:
        part.setflags(write=False)
    return parts


def sublevel_set(loss: Loss, x: float, outputs: Interval, measure: float) -> tuple[Floats, Floats]:
    """``(starts, widths)`` of intervals of total width ``measure`` holding the outputs of smallest ``loss(y, x)``.

    A grid that includes the loss's kinks tells valleys from hills; on it, the level whose sublevel set has the measure
    is found by bisection, the ends of the set at each level by bisection too. Where the loss is flat at the level, the
    flat part is filled from the left. The total width is exact whatever the loss.

    >>> from mechdesign.words.losses import Power
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

    def spans_under(level: float) -> Spans:
        return _spans_under(loss, x, nodes, values, level)

    # the set at ``below`` is too small, the one at ``above`` large enough
    below, sure = float(np.nextafter(values.min(), -1.0)), Spans()
    above, more = float(values.max()), [(outputs.lower, outputs.upper)]
    level, turn = float(np.quantile(values, measure / outputs.length)), 0
    while (least := float(np.nextafter(below, above))) < above:
        level = min(max(level, least), float(np.nextafter(above, below)))
        spans = spans_under(level)
        excess = _measure(spans) - measure
        if excess < 0:
            below, sure = level, spans
        else:
            above, more = level, spans
        if abs(excess) <= _ENOUGH * outputs.length:
            return _fill(spans, spans, measure)
        # false position and bisection in turn: the measure may jump where the loss is flat
        lack, turn = measure - _measure(sure), turn + 1
        share = 0.5 if turn % 2 else lack / (lack + _measure(more) - measure)
        level = below + (above - below) * share
    return _fill(sure, more, measure)


def _measure(spans: Spans) -> float:
    return sum(stop - start for start, stop in spans)


def _spans_under(loss: Loss, x: float, nodes: Floats, values: Floats, level: float) -> Spans:
    under = values <= level
    cells = np.flatnonzero(under[1:] != under[:-1])
    crossings = _crossings(loss, x, nodes[cells], nodes[cells + 1], level, under[cells]).tolist()
    if under[0]:
        crossings.insert(0, float(nodes[0]))
    if under[-1]:
        crossings.append(float(nodes[-1]))
    return list(zip(crossings[0::2], crossings[1::2], strict=True))


def _crossings(
    loss: Loss, x: float, starts: Floats, stops: Floats, level: float, from_under: NDArray[np.bool_]
) -> Floats:
    """For each cell, the last double under the level on the way up from the side that is under it."""
    while True:
        middles = starts + (stops - starts) / 2
        if not ((starts < middles) & (middles < stops)).any():
            return np.where(from_under, starts, stops)
        same = (loss(middles, x) <= level) == from_under
        starts, stops = np.where(same, middles, starts), np.where(same, stops, middles)


def _fill(sure: Spans, more: Spans, measure: float) -> tuple[Floats, Floats]:
    """The sure intervals, topped up to the measure from the left."""
    missing = measure - _measure(sure)
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
