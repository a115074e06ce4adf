"""Problems that many tests ask, in as few words as they need."""

from __future__ import annotations

from typing import Any

import mechdesign as md
from mechdesign.words.models import Model


def information(epsilon: float, model: Model) -> md.Problem:
    """About one parameter of a model."""
    return md.Problem(loss=model, privacy=md.Pure(epsilon), criterion=md.Average())


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


def polar(
    epsilon: float, exponent: float = 2.0, distances: Any = (0, 1), angles: md.Circle | None = None
) -> md.Problem:
    """The best pair of piecewise mechanisms for a distance and an angle."""
    inputs = md.Product((md.Interval(*distances), angles or md.Circle()))
    return md.Problem(inputs=inputs, loss=md.Power(exponent), privacy=md.Pure(epsilon), among=md.Piecewise())


def unbiased(epsilon: float, inputs: md.Interval | None = None) -> md.Problem:
    """The least worst variance of an unbiased report."""
    inputs = md.Interval(-1, 1) if inputs is None else inputs
    return md.Problem(inputs=inputs, loss=md.Squared(), privacy=md.Pure(epsilon), among=md.Unbiased())
