"""A channel from numbers to cells of reports as a heat map: a column an input, its brightness the law of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mechdesign.plot.canvas import HEAT, drawable, empty_figure, legend_right, nested_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_FAINTEST = 1e-4


def channel_map(inputs: Floats, edges: Floats, matrix: Floats, title: str) -> Figure:
    """``P(report in a cell | x)`` over reports and inputs, beside the law at three inputs.

    ``matrix`` has a row for each of the equispaced ``inputs`` and a column for each cell between ``edges``.
    """
    figure = empty_figure(11.0, 4.4)
    picture, profile = figure.subplots(1, 2)
    step = float(inputs[1] - inputs[0])
    columns = np.append(inputs - step / 2, inputs[-1] + step / 2)
    brightest = float(matrix.max())
    seen = np.maximum(matrix.T, _FAINTEST * brightest)
    mesh = picture.pcolormesh(columns, edges, seen, cmap=HEAT, norm="log", vmax=brightest, rasterized=True)
    width = float(edges[1] - edges[0])
    figure.colorbar(mesh, ax=picture, label=f"probability in a cell of width {width:.4g}")
    picture.set(xlabel="input x", ylabel="report y", title="Law of the report, given the input")
    places = (0, inputs.size // 2, inputs.size - 1)
    for k, place in enumerate(places):
        style = nested_style(k, len(places))
        profile.stairs(matrix[place], edges, label=f"x = {inputs[place]:.4g}", **style)
    profile.set(xlabel="report y", ylabel="probability in a cell", title="At three inputs")
    profile.set_ylim(bottom=0)
    legend_right(profile)
    figure.suptitle(drawable(title))
    return figure
