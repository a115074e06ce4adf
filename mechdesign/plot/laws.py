"""Pictures of densities: over inputs and outputs, and in the plane for polar coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import product
from mechdesign.mechanisms.discrete import Discrete, TwoSidedGeometric
from mechdesign.mechanisms.protocol import Mechanism, require_law
from mechdesign.plot.canvas import COLOURS, HEAT, Floats, drawable, empty_figure, legend_right, nested_style
from mechdesign.words.domains import Circle, Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def densities(mechanism: Mechanism, inputs: Sequence[float] | None = None) -> Figure:
    """The density over outputs and inputs as a heat map, beside its profile at a few inputs."""
    domain = continuous_inputs(mechanism)
    figure = empty_figure(11.0, 4.2)
    picture, profile = figure.subplots(1, 2)
    chosen = [domain.lower, domain.middle, domain.upper] if inputs is None else list(inputs)
    y_low, y_high = _output_range(mechanism, domain)
    grid_x = np.linspace(domain.lower, domain.upper, 241)
    grid_y = np.linspace(y_low, y_high, 961)
    heights = mechanism.density(grid_y[:, None], grid_x[None, :])
    mesh = picture.pcolormesh(grid_x, grid_y, heights, cmap=HEAT, shading="nearest", rasterized=True)
    figure.colorbar(mesh, ax=picture, label="density")
    picture.set(xlabel="input x", ylabel="output y", title="Density of the output")
    for k, x in enumerate(chosen):
        _profile(profile, mechanism, grid_y, x, k, len(chosen))
    profile.set(xlabel="output y", ylabel="density", title="At a few inputs", xlim=(y_low, y_high))
    profile.set_ylim(bottom=0)
    legend_right(profile)
    figure.suptitle(f"{drawable(mechanism.name)}, ε = {mechanism.epsilon:g}")
    return figure


def polar_density(mechanism: product.Product, x: Sequence[float]) -> Figure:
    """The density of a (distance, angle) mechanism around one input, drawn in the plane."""
    distance, angle = mechanism.parts
    distances, angles = continuous_inputs(distance), continuous_inputs(angle)
    figure = empty_figure(6.0, 5.2)
    axes = figure.add_subplot(projection="polar")
    radii = np.linspace(distances.lower, distances.upper, 401)
    turns = np.linspace(0.0, angles.upper, 721)
    heights = distance.density(radii[:, None], x[0]) * angle.density(turns[None, :], x[1])
    scale = 2 * np.pi / angles.upper
    mesh = axes.pcolormesh(turns * scale, radii, heights, cmap=HEAT, shading="nearest", rasterized=True)
    axes.plot([x[1] * scale], [x[0]], marker="o", color="#D55E00", markeredgecolor="white", markersize=9)
    axes.grid(visible=False)
    axes.tick_params(axis="y", labelcolor="white")
    figure.colorbar(mesh, ax=axes, label="density", pad=0.1)
    axes.set_title(f"{drawable(mechanism.name)}, ε = {mechanism.epsilon:.3g}: density for the input at the dot")
    return figure


def continuous_inputs(mechanism: Mechanism) -> Interval | Circle:
    """The inputs of a mechanism on an interval or circle, or `InvalidInput`."""
    require_law(mechanism)
    if isinstance(mechanism, Discrete | TwoSidedGeometric) or not isinstance(mechanism.inputs, Interval | Circle):
        raise InvalidInput("mechanism", mechanism.name, "have a continuous domain to be drawn as a density")
    return mechanism.inputs


def _profile(axes: Axes, mechanism: Mechanism, grid: Floats, x: float, k: int, count: int) -> None:
    axes.plot(grid, mechanism.density(grid, x), label=f"x = {x:g}", **nested_style(k, count))
    atoms = {y: float(mechanism.mass(y, x)) for y in (grid[0], grid[-1]) if float(mechanism.mass(y, x)) > 0}
    for y, mass in atoms.items():
        axes.annotate(
            f"{mass:.2f}",
            (y, 0),
            xytext=(0, 6 + 10 * k),
            textcoords="offset points",
            color=COLOURS[k % len(COLOURS)],
            fontsize=8,
        )


def _output_range(mechanism: Mechanism, domain: Interval | Circle) -> tuple[float, float]:
    outputs = mechanism.outputs
    if isinstance(outputs, Interval | Circle):
        return outputs.lower, outputs.upper
    ends = mechanism.quantile(np.array([0.02, 0.98]), np.array([domain.lower, domain.upper]))
    return float(ends[0]), float(ends[1])
