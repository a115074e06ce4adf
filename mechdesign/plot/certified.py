"""Pictures of certified optima: base measures, laws, least-favourable priors, their structure over epsilon, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.plot.canvas import (
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    HEAT,
    VERMILION,
    Floats,
    drawable,
    empty_figure,
    nested_style,
)
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Loss
from mechdesign.words.priors import Atoms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_STEMS = 40
_MOST_THIN_STEMS = 400
_MOST_TICKS = 10
_MOST_CELLS = 12
_MOST_LETTERS = 16
_BINS = 60
_CELLS = 120
_MOST_MARKERS = 40
_MARKERS = "osD"
_LAWS = 3  # of the inputs a law is drawn at
_WORTHY = 1e-5  # shares below this are left out of ranges and colours


class Based(Mechanism, Protocol):
    """A mechanism on an interval with finitely many outputs and a base measure under all its laws."""

    @property
    def inputs(self) -> Interval: ...
    @property
    def points(self) -> Floats: ...
    @property
    def base(self) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Line:
    """A level worth comparing an error with: the certified optimum."""

    value: float
    label: str


def window_law(
    mechanism: Based,
    loss: Loss,
    prior: Atoms | None = None,
    prior_title: str | None = None,
    level: Line | None = None,
    criterion: str = "",
) -> Figure:
    """Base measure, the law at three inputs, the prior the proof rests on, and the error over all inputs.

    Few outputs are stems; many are gathered into steps, since most may be thin and a few carry much. ``criterion`` says
    in the title what the mechanism is best at.
    """
    inputs = mechanism.inputs
    figure = empty_figure(12.0, 7.4)
    grid = figure.add_gridspec(2, 2)
    top, law = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
    worthy = mechanism.points[mechanism.base > _WORTHY * mechanism.base.sum()]
    span = min(inputs.lower, float(worthy[0])), max(inputs.upper, float(worthy[-1]))
    margin = 0.02 * (span[1] - span[0])
    _draw_masses(top, mechanism.points, mechanism.base, span, BLUE, "base measure")
    top.set(title=f"Base measure: {_count(mechanism.points.size, 'output')}, mass {mechanism.base.sum():.4g}")
    for k, x in enumerate((inputs.lower, inputs.middle, inputs.upper)):
        masses = mechanism.mass(mechanism.points, x)
        shift = (k - 1) * 0.004 * (span[1] - span[0]) if mechanism.points.size <= _MOST_STEMS else 0.0
        _draw_masses(law, mechanism.points + shift, masses, span, COLOURS[k], f"x = {x:g}", k)
    law.set(title="Law of the output at three inputs")
    law.legend(frameon=False, fontsize="small")
    for axes in (top, law):
        axes.set(xlabel="output y", xlim=(span[0] - margin, span[1] + margin))
        axes.set_ylim(bottom=0)
    if prior is not None:
        bottom = figure.add_subplot(grid[1, 0])
        _draw_masses(bottom, prior.points, prior.weights, (inputs.lower, inputs.upper), VERMILION, "prior", thin=True)
        bottom.set(title=prior_title or f"Least-favourable prior: {_count(prior.points.size, 'atom')}")
        bottom.set(xlabel="input x", xlim=(span[0] - margin, span[1] + margin))
        bottom.set_ylim(bottom=0)
    error = figure.add_subplot(grid[1, :] if prior is None else grid[1, 1])
    places = np.unique([*np.linspace(inputs.lower, inputs.upper, 1201), *mechanism.breakpoints(loss)])
    error.plot(places, mechanism.expected_loss(places, loss), color=GREEN, linewidth=2.6, label="error at x")
    if level is not None:
        error.axhline(level.value, color=BLACK, linewidth=1.2, linestyle="--", label=level.label)
    error.set(xlabel="input x", ylabel=f"expected {loss.name} error", title="Error over the inputs")
    error.set(xlim=(span[0] - margin, span[1] + margin))
    error.set_ylim(0, 1.25 * error.get_ylim()[1])
    error.legend(frameon=False, fontsize="small", loc="upper right", ncols=2)
    title = f"{drawable(mechanism.name)}, ε = {mechanism.epsilon:g}, inputs {inputs}"
    figure.suptitle(f"{title}: {drawable(criterion)}" if criterion else title)
    return figure


def _draw_masses(
    axes: Axes,
    places: Floats,
    masses: Floats,
    span: tuple[float, float],
    colour: str,
    label: str,
    k: int = _LAWS - 1,
    *,
    thin: bool = False,
) -> None:
    if places.size <= _MOST_STEMS:
        axes.vlines(places, 0, masses, color=colour, linewidth=2)
        axes.plot(places, masses, marker=_MARKERS[(k + 1) % 3], linestyle="", color=colour, markersize=5, label=label)
        axes.set_ylabel("probability")
        return
    if thin and places.size <= _MOST_THIN_STEMS:  # bars would hold now more, now fewer of them, and show false peaks
        axes.vlines(places, 0, masses, color=colour, linewidth=1, label=label)
        axes.set_ylabel("probability")
        return
    heights, edges = np.histogram(places, bins=_BINS, range=span, weights=masses)
    width = nested_style(k, _LAWS)["linewidth"]
    axes.stairs(heights, edges, color=colour, linewidth=width, label=label, fill=False)
    axes.set_ylabel(f"probability in 1/{_BINS} of the range")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


@dataclass(frozen=True, slots=True)
class Slice:
    """The structure of one optimum: outputs with base masses, and the prior against which nothing does better."""

    epsilon: float
    outputs: Atoms
    prior: Atoms | None


def structure(slices: Sequence[Slice], title: str) -> Figure:
    """Outputs and base measure against epsilon, beside the least-favourable prior.

    Areas of markers, or colours where there are many points, show shares of the mass at each epsilon.
    """
    with_prior = all(cut.prior is not None for cut in slices)
    figure = empty_figure(13.0 if with_prior else 7.5, 5.4)
    panels = figure.subplots(1, 2 if with_prior else 1, squeeze=False)[0]
    epsilons = [cut.epsilon for cut in slices]
    _draw_structure(figure, panels[0], epsilons, [cut.outputs for cut in slices], BLUE)
    panels[0].set(ylabel="output y", title="Outputs, by share of the base measure")
    if with_prior:
        _draw_structure(figure, panels[1], epsilons, [cut.prior for cut in slices if cut.prior is not None], VERMILION)
        panels[1].set(ylabel="input x", title="Least-favourable prior, by weight")
    for axes in panels:
        axes.set_xlabel("privacy parameter ε")
    figure.suptitle(drawable(title))
    return figure


def _draw_structure(figure: Figure, axes: Axes, epsilons: Sequence[float], laws: Sequence[Atoms], colour: str) -> None:
    if all(law.points.size <= _MOST_MARKERS for law in laws):
        for epsilon, law in zip(epsilons, laws, strict=True):
            at = np.full(law.points.size, epsilon)
            axes.scatter(at, law.points, s=600 * law.weights, color=colour, alpha=0.6, linewidths=0)
        return
    worthy = np.concatenate([law.points[law.weights > _WORTHY] for law in laws])
    low, high = float(worthy.min()), float(worthy.max())
    shares = np.stack(
        [np.histogram(law.points, bins=_CELLS, range=(low, high), weights=law.weights)[0] for law in laws], axis=1
    )
    mesh = axes.pcolormesh(
        _edges(epsilons),
        np.linspace(low, high, _CELLS + 1),
        np.ma.masked_less(shares, _WORTHY),
        cmap=f"{HEAT}_r",
        norm="log",
        rasterized=True,
    )
    figure.colorbar(mesh, ax=axes, label=f"share of the mass in 1/{_CELLS} of the range")


def _edges(centres: Sequence[float]) -> Floats:
    """Cell edges half way between centres; a single one gets a cell of width 1."""
    places = np.asarray(centres, dtype=np.float64)
    if places.size == 1:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    inner = (places[:-1] + places[1:]) / 2
    return np.concatenate([[2 * places[0] - inner[0]], inner, [2 * places[-1] - inner[-1]]])


def probability_table(mechanism: Discrete, labels: tuple[Sequence[str], Sequence[str]] | None = None) -> Figure:
    """A finite mechanism's table as a heat map: a row an input, a column an output, with their names if few."""
    figure = empty_figure(7.6, 6.2)
    axes = figure.subplots()
    table = mechanism.probabilities / mechanism.probabilities.sum(axis=1, keepdims=True)
    mesh = axes.imshow(table, cmap=HEAT, aspect="auto", interpolation="nearest", vmin=0.0)
    figure.colorbar(mesh, ax=axes, label="probability")
    rows, columns = table.shape
    if rows <= _MOST_CELLS and columns <= _MOST_CELLS:
        bright = table.max() / 2
        for i in range(rows):
            for j in range(columns):
                ink = "black" if table[i, j] > bright else "white"
                axes.text(j, i, f"{table[i, j]:.3f}", ha="center", va="center", fontsize=8, color=ink)
    names = labels or ([f"{x:g}" for x in mechanism.inputs.points], [f"{y:g}" for y in mechanism.outputs.points])
    for axis, side in ((axes.yaxis, names[0]), (axes.xaxis, names[1])):
        step = 1 if len(side) <= _MOST_CELLS else -(-len(side) // _MOST_TICKS)
        axis.set_ticks(range(0, len(side), step), [drawable(str(name), _MOST_LETTERS) for name in side[::step]])
    if max(len(str(name)) for name in names[1]) > 6:
        axes.tick_params(axis="x", labelrotation=45)
    axes.set(
        xlabel="output",
        ylabel="input",
        title=f"{drawable(mechanism.name)}, ε = {mechanism.epsilon:g}: P(output | input)",
    )
    return figure
