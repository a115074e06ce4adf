"""Pictures of mechanisms: densities, errors over inputs, worst cases over epsilon. Matplotlib is imported on use."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mechdesign import files
from mechdesign.domains import Circle, Interval
from mechdesign.errors import InvalidInput
from mechdesign.losses import Loss
from mechdesign.mechanisms.discrete import Discrete, TwoSidedGeometric
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

# Okabe and Ito's palette, told apart with every common kind of colour blindness; line styles tell apart the rest
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
_STYLES = ("-", "--", ":", "-.")
_FORMATS = ("png", "pdf", "svg")
_MOST_LINES = 8


def require_plot_format(path: Path | str) -> str:
    """The picture format a file name asks for."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in _FORMATS:
        raise InvalidInput("plot file", str(path), f"end in .{', .'.join(_FORMATS)}", "for example --plot errors.png")
    return suffix


def save(figure: Figure, path: Path | str, *, overwrite: bool = False) -> Path:
    """Write a figure in the format its file name asks for, all of it or nothing."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=require_plot_format(path), dpi=150)
    return files.write_atomically(path, buffer.getvalue(), overwrite=overwrite)


def densities(mechanism: Mechanism, inputs: Sequence[float] | None = None) -> Figure:
    """The density over outputs and inputs as a heat map, beside its profile at a few inputs."""
    figure = _figure(11.0, 4.2)
    picture, profile = figure.subplots(1, 2)
    domain = _continuous(mechanism)
    chosen = [domain.lower, domain.middle, domain.upper] if inputs is None else list(inputs)
    y_low, y_high = _output_range(mechanism, domain)
    grid_x = np.linspace(domain.lower, domain.upper, 241)
    grid_y = np.linspace(y_low, y_high, 961)
    heights = mechanism.density(grid_y[:, None], grid_x[None, :])
    mesh = picture.pcolormesh(grid_x, grid_y, heights, cmap="cividis", shading="nearest", rasterized=True)
    figure.colorbar(mesh, ax=picture, label="density")
    picture.set(xlabel="input x", ylabel="output y", title="Density of the output")
    for k, x in enumerate(chosen):
        _profile(profile, mechanism, grid_y, x, k)
    profile.set(xlabel="output y", ylabel="density", title="At a few inputs", xlim=(y_low, y_high))
    profile.set_ylim(bottom=0)
    _legend_right(profile)
    figure.suptitle(f"{mechanism.name}, ε = {mechanism.epsilon:g}")
    return figure


def errors_over_inputs(mechanisms: Mapping[str, Mechanism], loss: Loss, title: str = "") -> Figure:
    """Expected loss against the input, a line a mechanism."""
    figure = _figure(7.5, 4.6)
    axes = figure.subplots()
    draw_errors(axes, mechanisms, loss)
    axes.set_title(title or f"Expected {loss.name} error over the inputs")
    _legend_right(axes)
    return figure


def draw_errors(axes: Axes, mechanisms: Mapping[str, Mechanism], loss: Loss) -> None:
    """The lines of `errors_over_inputs` on given axes."""
    for k, (name, mechanism) in enumerate(mechanisms.items()):
        domain = _continuous(mechanism)
        grid = np.unique([*np.linspace(domain.lower, domain.upper, 401), *mechanism.breakpoints(loss)])
        axes.plot(grid, mechanism.expected_loss(grid, loss), label=name, **_line(k))
    axes.set(xlabel="input x", ylabel=f"expected {loss.name} error")
    axes.set_ylim(bottom=0)


def draw_worst_cases(axes: Axes, epsilons: Sequence[float], worst: Mapping[str, Sequence[float]], loss: Loss) -> None:
    """Worst-case error against epsilon on a logarithmic scale, a line a mechanism."""
    for k, (name, values) in enumerate(worst.items()):
        axes.plot(epsilons, values, marker="o" if len(epsilons) < 12 else "", markersize=3, label=name, **_line(k))
    axes.set(xlabel="privacy parameter ε", ylabel=f"worst-case {loss.name} error", yscale="log")
    for axis_ticks in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        axis_ticks("{x:.3g}")


def comparison(
    epsilons: Sequence[float],
    worst: Mapping[str, Sequence[float]],
    mechanisms: Mapping[str, Mechanism],
    loss: Loss,
    epsilon: float,
) -> Figure:
    """Worst case against epsilon, beside the error over all inputs at one epsilon: the eight best there."""
    position = list(epsilons).index(epsilon)
    ranked = sorted(worst, key=lambda name: worst[name][position])[:_MOST_LINES]
    figure = _figure(12.5, 4.8)
    left, right = figure.subplots(1, 2)
    draw_worst_cases(left, epsilons, {name: worst[name] for name in ranked}, loss)
    left.set_title("Worst case over the inputs" + _of_how_many(len(ranked), len(worst)))
    draw_errors(right, {name: mechanisms[name] for name in ranked}, loss)
    right.set_title(f"Over the inputs, ε = {epsilon:g}")
    _legend_right(right)
    return figure


def _of_how_many(shown: int, total: int) -> str:
    return "" if shown == total else f" (best {shown} of {total})"


def polar_density(mechanism: Product, x: Sequence[float]) -> Figure:
    """The density of a (distance, angle) mechanism around one input, drawn in the plane."""
    distance, angle = mechanism.parts
    distances, angles = _continuous(distance), _continuous(angle)
    figure = _figure(6.0, 5.2)
    axes = figure.add_subplot(projection="polar")
    radii = np.linspace(distances.lower, distances.upper, 401)
    turns = np.linspace(0.0, angles.upper, 721)
    heights = distance.density(radii[:, None], x[0]) * angle.density(turns[None, :], x[1])
    scale = 2 * np.pi / angles.upper
    mesh = axes.pcolormesh(turns * scale, radii, heights, cmap="cividis", shading="nearest", rasterized=True)
    axes.plot([x[1] * scale], [x[0]], marker="o", color="#D55E00", markeredgecolor="white", markersize=9)
    axes.grid(visible=False)
    axes.tick_params(axis="y", labelcolor="white")
    figure.colorbar(mesh, ax=axes, label="density", pad=0.1)
    axes.set_title(f"{mechanism.name}, ε = {mechanism.epsilon:.3g}: density for the input at the dot")
    return figure


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _line(k: int) -> dict[str, Any]:
    return {"color": _COLOURS[k % len(_COLOURS)], "linestyle": _STYLES[k % len(_STYLES)]}


def _legend_right(axes: Axes) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")


def _profile(axes: Axes, mechanism: Mechanism, grid: Floats, x: float, k: int) -> None:
    axes.plot(grid, mechanism.density(grid, x), label=f"x = {x:g}", linewidth=2.2, **_line(k))
    atoms = {y: float(mechanism.mass(y, x)) for y in (grid[0], grid[-1]) if float(mechanism.mass(y, x)) > 0}
    for y, mass in atoms.items():
        axes.annotate(
            f"{mass:.2f}", (y, 0), xytext=(0, 6 + 10 * k), textcoords="offset points", color=_COLOURS[k], fontsize=8
        )


def _continuous(mechanism: Mechanism) -> Interval | Circle:
    if isinstance(mechanism, Discrete | TwoSidedGeometric) or not isinstance(mechanism.inputs, Interval | Circle):
        raise InvalidInput("mechanism", mechanism.name, "have a continuous domain to be drawn as a density")
    return mechanism.inputs


def _output_range(mechanism: Mechanism, domain: Interval | Circle) -> tuple[float, float]:
    outputs = mechanism.outputs
    if isinstance(outputs, Interval | Circle):
        return outputs.lower, outputs.upper
    ends = mechanism.quantile(np.array([0.02, 0.98]), np.array([domain.lower, domain.upper]))
    return float(ends[0]), float(ends[1])
