"""Pictures of claims: errors over inputs or over eps, and printed numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.papers.claims.claim import Picture
from mechdesign.words.losses import Power

Lines = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""What is across and what is up, by name."""

_PLACES = 401


def over_inputs(
    title: str, laws: Callable[[], Mapping[str, tuple[ScalarMechanism, Power]]], ends: tuple[float, float]
) -> Picture:
    """The expected loss of several mechanisms, each with the loss it is measured by, at every value."""

    def draw(axes: Any) -> None:
        places = np.linspace(*ends, _PLACES)
        for (name, (mechanism, loss)), style in zip(laws().items(), _STYLES, strict=False):
            axes.plot(places, mechanism.expected_loss(places, loss), style, label=name)
        axes.set(title=title, xlabel="value x", ylabel="expected error")
        axes.set_ylim(bottom=0)
        axes.legend()

    return draw


def curves(
    title: str,
    xlabel: str,
    ylabel: str,
    lines: Callable[[], Lines],
    *,
    printed: Sequence[tuple[float, float]] = (),
    **scales: Any,
) -> Picture:
    """Lines by name, on top of the points that are printed; ``scales`` are further settings of the axes, such as
    ``yscale="log"``."""

    def draw(axes: Any) -> None:
        found = lines()
        if printed:
            axes.plot(*zip(*printed, strict=True), "kX", markersize=10, fillstyle="none", label="printed")
        for (name, (x, y)), style in zip(found.items(), _STYLES, strict=False):
            axes.plot(x, y, f"{style}o" if len(x) <= _FEW else style, label=name)
        axes.set(title=title, xlabel=xlabel, ylabel=ylabel, **scales)
        if len(found) > 1 or printed:
            axes.legend()

    return draw


def beside(
    title: str, unit: str, labels: Sequence[str], numbers: Callable[[], Mapping[str, Sequence[float]]]
) -> Picture:
    """A group of bars for each label, one of each series, such as what is printed and ours."""

    def draw(axes: Any) -> None:
        found = numbers()
        width, places = 0.8 / len(found), np.arange(len(labels))
        for k, ((name, heights), hatch) in enumerate(zip(found.items(), _HATCHES, strict=False)):
            axes.bar(places + (k - (len(found) - 1) / 2) * width, heights, width, label=name, hatch=hatch)
        highest = max(max(heights) for heights in found.values())
        axes.set(title=title, ylabel=unit, ylim=(0, 1.3 * highest))  # with room for the legend
        axes.set_xticks(places, labels, rotation=20 if sum(map(len, labels)) > _MANY_LETTERS else 0)
        axes.legend()

    return draw


_STYLES = ("-", "--", ":", "-.", "-", "--", ":")
_HATCHES = ("", "//", "..", "xx")
_MANY_LETTERS = 40
_FEW = 5  # points of a line that are marked
