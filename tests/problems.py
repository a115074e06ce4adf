"""Problems that many tests ask, in fewer words."""

from __future__ import annotations

from typing import Any

import mechdesign as md

ROUND = md.Circle()


def piecewise(
    epsilon: float = 1.0,
    loss: Any = "absolute",
    inputs: Any = (0, 1),
    outputs: Any = None,
    at: float | None = None,
    pieces: int | None = None,
) -> md.Problem:
    """The best piecewise mechanism, in the worst case or at an input."""
    criterion, among = md.Worst() if at is None else md.At(at), md.Piecewise(pieces, outputs)
    return md.Problem(inputs=inputs, loss=loss, privacy=md.Pure(epsilon), criterion=criterion, among=among)


def polar(epsilon: float, exponent: float = 2.0, distances: Any = (0, 1), angles: md.Circle = ROUND) -> md.Problem:
    """The best pair of piecewise mechanisms for a distance and an angle."""
    inputs = md.Product((md.Interval(*distances), angles))
    return md.Problem(inputs=inputs, loss=md.Power(exponent), privacy=md.Pure(epsilon), among=md.Piecewise())
