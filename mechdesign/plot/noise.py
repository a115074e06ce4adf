"""The noise a mechanism adds, for each input, under the prior it was designed for: the picture of the AAA paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechdesign.plot.canvas import HEAT, VERMILION, Floats, drawable, empty_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FAINTEST = 1e-3  # of the largest probability: below that one colour
_LEAST_ROOM = 4.0  # cells around zero that are always shown
_ROUNDING = 1e-9


def noise_map(inputs: Floats, weights: Floats, places: Floats, laws: Floats, title: str) -> Figure:
    """Conditional noise as a heat map over the prior: a column an input, its brightness the law of ``A = Y - x``.

    ``laws`` has a row for each of the equispaced ``inputs`` and a column for each of the ``places`` of reports; noise
    is gathered into cells as wide as the inputs are apart, so that a report on their grid has a cell of its own.
    """
    step = float(inputs[-1] - inputs[0]) / (inputs.size - 1)
    cells, table = noise_table(inputs, places, laws)
    shown = _worth_showing(cells / step, table.max(axis=1))
    figure = empty_figure(8.2, 6.6)
    grid = figure.add_gridspec(2, 1, height_ratios=(1.0, 3.2))
    top = figure.add_subplot(grid[0])
    below = figure.add_subplot(grid[1], sharex=top)
    top.bar(inputs, weights, width=0.9 * step, color=VERMILION)
    top.set(ylabel="probability", title=f"Prior, on {inputs.size} inputs")
    top.tick_params(labelbottom=False)
    edges = np.concatenate([inputs - step / 2, [inputs[-1] + step / 2]])
    levels = np.concatenate([cells[shown] - step / 2, [cells[shown][-1] + step / 2]])
    brightest = float(table.max())
    mesh = below.pcolormesh(
        edges,
        levels,
        np.maximum(table[shown], _FAINTEST * brightest),
        cmap=HEAT,
        norm="log",
        vmin=_FAINTEST * brightest,
        vmax=brightest,
        rasterized=True,
    )
    figure.colorbar(mesh, ax=below, label=f"probability in a cell of width {step:.4g}", extend="min")
    below.plot(edges[[0, -1]], [0.0, 0.0], color="white", linewidth=0.8, linestyle=":")
    below.set(xlabel="input x", ylabel="noise A = Y - x", title="Law of the noise, given the input")
    figure.suptitle(drawable(title))
    return figure


def noise_table(inputs: Floats, places: Floats, laws: Floats) -> tuple[Floats, Floats]:
    """The middles of the cells of noise, and the probability of each (row) for each input (column).

    >>> inputs, places = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    >>> cells, table = noise_table(inputs, places, np.array([[0.75, 0.25], [0.4, 0.6]]))
    >>> cells.tolist(), table.tolist()
    ([-1.0, 0.0, 1.0], [[0.0, 0.4], [0.75, 0.6], [0.25, 0.0]])
    """
    step = float(inputs[-1] - inputs[0]) / (inputs.size - 1)
    cell = np.floor((places - inputs[:, None]) / step + 0.5 + _ROUNDING).astype(np.intp)
    first, size = int(cell.min()), int(cell.max() - cell.min()) + 1
    columns = [np.bincount(row - first, weights=law, minlength=size) for row, law in zip(cell, laws, strict=True)]
    return step * (first + np.arange(size, dtype=np.float64)), np.stack(columns, axis=1)


def _worth_showing(steps: Floats, most: Floats) -> slice:
    """The cells between the first and the last that are no fainter than shown, those around zero included."""
    kept = np.flatnonzero((most >= _FAINTEST * most.max()) | (np.abs(steps) <= _LEAST_ROOM))
    return slice(int(kept[0]), int(kept[-1]) + 1)
