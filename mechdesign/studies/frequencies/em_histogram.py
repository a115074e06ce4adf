"""The shares of bins from the reports of a table, by EM: a histogram of what the users hold.

The chance of each report for a value in a bin is that of the table itself, so this serves every table whose reports lie
on a grid: square waves, whose reports EM was made for, and others. A value is spread evenly over its bin, at
``_PLACES`` places. Bins are reconstructed finer than they are told, and then joined.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from mechdesign.data.sources import Progress
from mechdesign.errors import InvalidInput, require_whole
from mechdesign.studies.frequencies.square_wave import EM_SLACK, TOLERANCE, em, ems
from mechdesign.tables.frames_files import cells_of_reports
from mechdesign.tables.kinds import Spread
from mechdesign.tables.table import Table
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.words.domains import Interval

MOST_BINS = 150
_FINE = 128
_PLACES = 8  # of a value in a fine bin
_RARE = 1e-9


@frozen
class BinShares:
    """The share of the users in each bin between two ``edges``, which sum to 1, as ``count`` reports make likely.

    Nobody knows how far off they are: a bias remains, and there is no interval.
    """

    edges: Floats = array()
    shares: Floats = array()
    count: int
    smooth: bool
    steps: int
    log_likelihood: float


def fine_bins(bins: int) -> int:
    """How many bins are reconstructed before they are joined: a multiple.

    >>> fine_bins(10), fine_bins(100), fine_bins(150)
    (130, 200, 150)
    """
    return bins * max(1, math.ceil(_FINE / bins))


def estimate_bins(
    table: Table,
    reports: Path | str,
    bins: int,
    column: str | None = None,
    *,
    smooth: bool = False,
    progress: Progress | None = None,
    skip_empty: bool = False,
) -> BinShares:
    """The shares of equal bins of the table's inputs from a file of reports, by EM, or by EM with smoothing.

    Smoothing suits shares that change little from bin to bin; without it peaks stay sharp and noise does, too.
    """
    law, inputs = table.law, table.domain
    if not isinstance(law, Spread) or not isinstance(inputs, Interval):
        rule = "take numbers of an interval and report numbers on a grid, for bins"
        step = "take one of square waves: table --mechanism sw; whole numbers and categories have --frequencies"
        raise InvalidInput("table", f"{table.kind} table on {inputs}", rule, step)
    require_whole(bins, "bins", 2, MOST_BINS)
    fine = fine_bins(bins)
    edges = np.linspace(*law.reach(inputs.lower, inputs.upper, _RARE), fine + 1)
    counts = cells_of_reports(table, reports, column, edges, progress, skip_empty)
    climb, slack = (ems, TOLERANCE) if smooth else (em, TOLERANCE * min(math.exp(table.epsilon), EM_SLACK))
    found = climb(counts, _channel(law, inputs, edges, fine), inputs, slack)
    shares = found.weights.reshape(bins, -1).sum(axis=1)
    around = np.linspace(inputs.lower, inputs.upper, bins + 1)
    return BinShares(around, shares, int(counts.sum()), smooth, found.steps, found.log_likelihood)


def _channel(law: Spread, inputs: Interval, edges: Floats, fine: int) -> Floats:
    """The chance of each cell of reports, a row for each fine bin."""
    places = inputs.lower + inputs.length * (np.arange(fine * _PLACES) + 0.5) / (fine * _PLACES)
    cells = law.cell_probabilities(places, edges).reshape(fine, _PLACES, -1).mean(axis=1)
    return np.asarray(np.maximum(cells, 0.0) / np.maximum(cells, 0.0).sum(axis=1, keepdims=True))
