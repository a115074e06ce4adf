"""The exact law of a shipped table's reports: probabilities of its outputs, or of cells of a continuum of them."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np

from mechdesign.deploy.table import Table
from mechdesign.domains import Circle
from mechdesign.values.declare import Floats

CONTINUOUS = ("pieces", "additive")


def output_points(table: Table) -> Floats:
    """The outputs of a table that has finitely many to list."""
    return np.array([float(text) for text in table.law["outputs"]])


def output_rows(table: Table, x: Floats) -> Floats:
    """``P(output | input)`` for tables of kind finite, window and unbiased, from the integers of the file."""
    whole = 1 << table.bits
    if table.kind == "finite":
        points = np.array([float(text) for text in table.document["domain"]["points"]])
        rows = [table.law["rows"][place] for place in np.searchsorted(points, x).tolist()]
        return np.array([[count / whole for count in row] for row in rows])
    law = table.law
    if table.kind == "window":
        thresholds = np.array([float(text) for text in law["thresholds"]])
        return np.array([_window_row(law, law["starts"][place], whole) for place in np.searchsorted(thresholds, x)])
    return np.array([_unbiased_row(law, float(value), table.bits) for value in x])


def _window_row(law: Any, start: int, whole: int) -> Floats:
    counts = [0, *accumulate(law["base"])]
    caps = [0, *accumulate(law["caps"])]
    extra = whole - counts[-1]
    reached = [n + min(max(h - n - start, 0), extra) for n, h in zip(counts, caps, strict=True)]
    return np.array([(b - a) / whole for a, b in zip(reached, reached[1:], strict=False)])


def _unbiased_row(law: Any, x: float, bits: int) -> Floats:
    """Between two rows, mixed so that the mean is the input."""
    means = law["means"]
    place = (x - float(law["offset"])) * 2.0 ** (law["shift"] + bits)
    row = min(max(sum(mean <= place for mean in means) - 1, 0), len(means) - 2)
    weight = (place - means[row]) / (means[row + 1] - means[row])
    lower, upper = (_window_row(law, law["starts"][i], 1 << bits) for i in (row, row + 1))
    return np.asarray((1 - weight) * lower + weight * upper)


def cell_rows(table: Table, x: Floats, edges: Floats) -> Floats:
    """``P(report in cell | input)`` for tables of kind pieces and additive; the outer cells reach to infinity."""
    below = _pieces_cdf(table, x, edges[1:-1]) if table.kind == "pieces" else _additive_cdf(table, x, edges[1:-1])
    ends = np.zeros((x.size, 1)), np.ones((x.size, 1))
    return np.diff(np.concatenate([ends[0], below, ends[1]], axis=1), axis=1)


def _pieces_cdf(table: Table, x: Floats, y: Floats) -> Floats:
    law = table.law
    cells, inside = law["cells"], law["inside"]
    heavy = law["weight"] / (1 << table.bits)
    anchor, scale, step = (float(law[name]) for name in ("anchor", "scale", "step"))
    place = np.floor((x - anchor) * scale)
    is_circle = isinstance(table.domain, Circle)
    start = np.mod(place, cells) if is_circle else np.clip(place, 0, cells - inside)
    upto = np.clip(np.floor(y / step - law["first"] + 0.5), 0, cells)[None, :]  # cells with centres at most y
    start = start[:, None]
    hit = np.clip(upto - start, 0, inside) + np.clip(upto - start + cells, 0, inside) * (start + inside > cells)
    hit -= np.where(start + inside > cells, np.clip(cells - start, 0, inside), 0)
    return np.asarray(heavy * hit / inside + (1 - heavy) * (upto - hit) / (cells - inside))


def _additive_cdf(table: Table, x: Floats, y: Floats) -> Floats:
    law = table.law
    step = math.ldexp(1.0, -law["shift"])
    at = (x - float(law["offset"])) / step
    lower, share = np.floor(at), at - np.floor(at)
    upto = np.floor((y - float(law["offset"])) / step)
    by_lower, by_upper = (_noise_cdf(law, table.bits, upto[None, :] - (lower + up)[:, None]) for up in (0, 1))
    return np.asarray((1 - share)[:, None] * by_lower + share[:, None] * by_upper)


def _noise_cdf(law: Any, bits: int, v: Floats) -> Floats:
    """``P(Z <= v)`` of the two-sided noise, blocks of whose magnitudes fall off geometrically."""
    whole, ratio = float(1 << bits), float(law["tail"]) / (1 << bits)
    weights = np.array(law["weights"], dtype=np.float64)
    rest = np.append(np.cumsum(weights[::-1])[::-1], 0.0)  # weight from each place of a block to its end
    total = whole / (1 - ratio)

    def tail(magnitude: Floats) -> Floats:
        block, place = np.divmod(magnitude, weights.size)
        return np.asarray(ratio**block * (rest[place.astype(np.int64)] + whole * ratio / (1 - ratio)))

    norm = 2 * total - weights[0]
    upper = tail(np.maximum(v + 1, 0)) / norm
    lower = tail(np.maximum(-v, 0)) / norm
    return np.asarray(np.where(v >= 0, 1 - upper, lower))
