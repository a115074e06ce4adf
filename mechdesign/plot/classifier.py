"""Pictures of classifiers under perturbed inputs: theory against simulation over eps, and labels against errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mechdesign.plot.canvas import BLACK, drawable, empty_figure, legend_right, line_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS = "os^Dv<>pPX"
_LABELS = "chance that the label is kept"


@dataclass(frozen=True, slots=True)
class Survival:
    """One mechanism over eps: the chapter's rho, the exact chances if known, and simulated (share, lower, upper)."""

    theory: Sequence[float]
    exact: Sequence[tuple[float, float]] | None
    simulated: Sequence[tuple[float, float, float]]


def survival(
    epsilons: Sequence[float],
    panels: Mapping[str, Mapping[str, Survival]],
    optimum: Mapping[str, Sequence[float]],
    title: str,
) -> Figure:
    """Panels by name (average, worst), mechanisms by name: lines are theory, marks simulations, crosses exact."""
    figure = empty_figure(5.2 * len(panels) + 2.2, 4.2)
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True).ravel()
    for axes, (name, lines) in zip(grid, panels.items(), strict=True):
        for k, (mechanism, line) in enumerate(lines.items()):
            style = line_style(k)
            axes.plot(epsilons, line.theory, label=f"{drawable(mechanism)}: theory", **style)
            shares = [share for share, _, _ in line.simulated]
            reach = [
                [share - low for share, low, _ in line.simulated],
                [high - share for share, _, high in line.simulated],
            ]
            axes.errorbar(
                epsilons,
                shares,
                yerr=reach,
                fmt=_MARKERS[k % len(_MARKERS)],
                color=style["color"],
                markersize=4.5,
                capsize=2.5,
                markerfacecolor="none",
                label=f"{drawable(mechanism)}: simulated",
            )
            if line.exact is not None:
                middles = [(low + high) / 2 for low, high in line.exact]
                widths = [(high - low) / 2 for low, high in line.exact]
                axes.errorbar(epsilons, middles, yerr=widths, fmt="x", color=BLACK, markersize=4, elinewidth=1)
        axes.plot(
            epsilons, optimum[name], color=BLACK, linewidth=2.2, label="best guarantee of any\nmechanism, every input"
        )
        axes.set(xlabel="privacy parameter ε of each coordinate", title=drawable(name), ylim=(0, 1.03))
    grid[0].set_ylabel(_LABELS)
    if any(line.exact is not None for lines in panels.values() for line in lines.values()):
        grid[-1].plot([], [], "x", color=BLACK, markersize=4, label="exact")
    legend_right(grid[-1])
    figure.suptitle(drawable(title))
    return figure


def label_against_error(
    caps: Sequence[float],
    attained: Sequence[float],
    bound: Sequence[float],
    mechanisms: Mapping[str, tuple[float, float]],
    optimum: float,
    title: str,
) -> Figure:
    """The certified curve of labels kept against the worst error of the value, and mechanisms as points."""
    figure = empty_figure(8.4, 4.4)
    axes = figure.subplots()
    found = [(cap, kept) for cap, kept in zip(caps, attained, strict=True) if kept > 0]
    axes.plot(
        [cap for cap, _ in found], [kept for _, kept in found], "k.-", linewidth=2.0, label="attained (certified)"
    )
    # chords of the attained are attained by mixing; the bound of a cap holds for smaller ones
    axes.step(caps, bound, where="pre", color=BLACK, linewidth=1.0, linestyle="--", label="bound for all mechanisms")
    axes.axhline(optimum, color=line_style(6)["color"], linestyle=":", label="no cap: randomised\nresponse on labels")
    for k, (name, (error, kept)) in enumerate(mechanisms.items()):
        axes.plot([error], [kept], _MARKERS[k % len(_MARKERS)], color=line_style(k)["color"], label=drawable(name))
    axes.set(xlabel="worst expected distance of the report from the value", ylabel=f"average {_LABELS}")
    axes.set_title(drawable(title))
    legend_right(axes)
    return figure
